"""Inspectors, paths, connections and kept settings: which uses may be shared by sessions, and which may not."""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import awm_worlds
import pytest

from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles
from agentworld_gym.domains.mcp.awm.engine.inside.mutation_watch import Watch
from agentworld_gym.domains.mcp.awm.engine.inside.sharing_analysis import reasons_against

PATH = "from pathlib import Path\nDB = Path(__file__).resolve().parent / 'a.db'\n"
SETTINGS = "from functools import lru_cache\nclass Settings(BaseModel):\n    n: int = 1\n"
ENGINE = "from sqlalchemy import create_engine, inspect\nengine = create_engine('sqlite://')\n"

HARMLESS = [
    f"{ENGINE}if not inspect(engine).get_table_names():\n    Base.metadata.create_all(engine)",
    f"{ENGINE}tables = inspect(engine)\nprint(tables.get_table_names())",
    f"{ENGINE}def init():\n    found = inspect(engine)\n    return 'a' in found.get_table_names()\ninit()",
    "from sqlalchemy import create_engine, inspect as look\nbind = create_engine('a')\nlook(bind).has_table('b')",
    f"{PATH}engine = create_engine(f'sqlite:///{{DB}}')",
    f"{PATH}URL = f'sqlite:///{{DB}}'\ndef f():\n    return URL, str(DB), DB.name, DB.parent.exists()",
    f"{PATH}DB.parent.mkdir(parents=True, exist_ok=True)\nif not DB.exists():\n    make()",
    f"{PATH}import sqlite3\ndef connect():\n    return sqlite3.connect(DB)",
    "import pathlib\nBASE: pathlib.Path = pathlib.Path('data')\nDB = str(BASE.parents[1] / f'{1}.db')",
    "from pathlib import Path as FilePath\nfrom fastapi import Path\ndef f(x: int = Path(...)):\n    return x",
    "import sqlite3\nfrom typing import Generator\ndef get_db() -> Generator[sqlite3.Connection, None, None]:\n"
    "    db: sqlite3.Connection = sqlite3.connect('a.db')\n    db.row_factory = sqlite3.Row\n"
    "    try:\n        yield db\n    except sqlite3.IntegrityError as error:\n        raise ValueError from error\n"
    "    finally:\n        db.close()\ndef f(db: sqlite3.Connection = Depends(get_db)):\n    return db.cursor()",
    "from sqlite3 import Connection, connect\nDb = Annotated[Connection, Depends(f)]\ndef f():\n"
    "    with connect('a') as db:\n        return db.cursor()\ndef g(db: Db | None):\n    return db",
    f"{SETTINGS}@lru_cache\ndef get():\n    return Settings()\ndef f(x=Depends(get)):\n    return get().n, x",
    f"{SETTINGS}@lru_cache(maxsize=1)\ndef get():\n    'The settings.'\n    return Settings(n=2)",
    "import functools\n@functools.lru_cache()\ndef get():\n    return {'a': [1]}\ndef f():\n    return get()['a']",
    "from functools import cache\n@cache\ndef get():\n    return ('a', 'b')",
]

READING = [
    f"{ENGINE}def f(x):\n    return inspect(x).mapper",
    f"{ENGINE}def f(engine):\n    return inspect(engine)",
    f"{ENGINE}look = inspect\ndef f(x):\n    return look(x)",
    f"{ENGINE}tables = inspect(engine)\ndef f(x):\n    tables.info_cache[x] = 1",
    f"{ENGINE}def f(x, tables=inspect(engine)):\n    tables.info_cache[x] = 1",
    "from sqlalchemy import create_engine, inspect\ndef f():\n    engine = keep()\n    return inspect(engine)",
    "import inspect\ndef f():\n    return inspect.stack()",
    f"{PATH}def f():\n    return DB.read_bytes()",
    f"{PATH}read = DB.read_bytes\ndef f():\n    return read()",
    f"{PATH}read = Path('/proc/self/mem').open\ndef f():\n    return read('rb')",
    f"{PATH}def f():\n    return Path('/proc/self/mem').read_bytes()",
    f"{PATH}ALL = [DB]\ndef f():\n    return ALL[0].read_bytes()",
    f"{PATH}def f():\n    return g(DB)",
    f"{PATH}def f(x=DB):\n    return x.read_bytes()",
    f"{PATH}def f(x=Path('a')):\n    return x.read_bytes()",
    f"{PATH}def f(x: Path):\n    return get_type_hints(f)['x']('/proc/self/mem').read_bytes()",
    f"{PATH}make = Path\ndef f():\n    return make('/proc/self/mem').read_bytes()",
    f"{PATH}class A:\n    def __rtruediv__(self, x):\n        return x.read_bytes()\ndef f():\n    return DB / A()",
    f"{PATH}class A:\n    def __eq__(self, x):\n        return x.read_bytes()\ndef f():\n    return DB == A()",
    f"{PATH}def str(x):\n    return x\ndef f():\n    return str(DB).read_bytes()",
    f"{PATH}class A:\n    OTHER = DB\ndef f():\n    return A.OTHER.read_bytes()",
    f"{PATH}import sqlite3\ndef f(sqlite3):\n    return sqlite3.connect(DB)",
    "import pathlib\ndef f():\n    return pathlib.os",
    "from pathlib import os",
    "import pathlib as p\ndef f():\n    return p.Path('a')",
    "import sqlite3\nconn = sqlite3.connect('a')\ndef f():\n    return conn.execute('SELECT 1')",
    "import sqlite3\nwith sqlite3.connect('a') as conn:\n    pass\ndef f():\n    return conn.execute('SELECT 1')",
    "import sqlite3\ndef f(conn=sqlite3.connect('a')):\n    return conn",
    "import sqlite3\ndef f():\n    return sqlite3.Connection('file:a?mode=memory&cache=shared', uri=True)",
    "import sqlite3\nmake = sqlite3.Connection\ndef f():\n    return make(':memory:')",
    "import sqlite3\nclass Mine(sqlite3.Connection):\n    pass",
    "import sqlite3\nopen_it = sqlite3.connect\ndef f():\n    return open_it('a')",
    "import sqlite3\ndef f():\n    sqlite3.register_adapter(list, str)",
    "from sqlite3 import register_converter",
    "import sqlite3\ndef f(conn):\n    conn.setlimit(7, 1)",
    "import sqlite3\ndef f(conn):\n    return type(conn).mro()",
    "import sqlite3 as sql\ndef f():\n    return sql.connect('a')",
    f"{SETTINGS}@lru_cache\ndef f(x):\n    return Settings()",
    f"{SETTINGS}@lru_cache\ndef f():\n    return Settings(n=g())",
    f"{SETTINGS}@lru_cache\ndef f():\n    return []",
    f"{SETTINGS}@lru_cache\ndef f():\n    return {{'seen': []}}",
    f"{SETTINGS}@lru_cache\ndef f():\n    return g()",
    f"{SETTINGS}@lru_cache\ndef f():\n    x = SessionLocal()\n    return x",
    f"{SETTINGS}class A:\n    @lru_cache\n    def f():\n        return Settings()",
    f"{SETTINGS}def f():\n    keep = lru_cache(g)\n    return keep()",
    "from functools import lru_cache as memo\n@memo\ndef f(x):\n    return x",
    "from functools import lru_cache\nclass A:\n    def keep(self, x):\n        self.last = x\n"
    "@lru_cache\ndef get():\n    return A()\ndef f(x):\n    get().keep(x)",
]


@pytest.mark.parametrize("code", HARMLESS)
def test_uses_that_only_read_are_shared(code: str) -> None:
    assert reasons_against(code) == []


@pytest.mark.parametrize("code", READING)
def test_uses_that_may_carry_something_are_not_shared(code: str) -> None:
    assert reasons_against(code) != []


CHANGING = {
    "a setting": "own = get()\n    own.n = 2",
    "a list of a setting": "own = get()\n    own.names.append('b')",
    "what is kept": "get.cache_clear()",
    "what is kept, which is made again": "get.cache_clear()\n    get()",
    "the function that keeps": "g(get)",
}
KEPT = (
    "from functools import lru_cache\nfrom pydantic import BaseModel\nclass Settings(BaseModel):\n    n: int = 1\n"
    "    names: list[str] = ['a']\n@lru_cache\ndef get():\n    return Settings()\ndef g(x):\n    x.last = 1\n"
)


@pytest.mark.parametrize("change", CHANGING.values(), ids=CHANGING)
def test_a_change_of_kept_settings_is_noticed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"{KEPT}def read():\n    return get().n\ndef f():\n    {change}"
    assert reasons_against(code) == []
    module = types.ModuleType("awm_world")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, "/awm_world.py", "exec"), vars(module))
    watch = Watch(module, None, code)
    module.read()
    assert (watch.changed(), watch.unknown) == ("", "")
    module.f()
    assert watch.changed() != ""


TOP = """
import sqlite3
from functools import lru_cache
from pathlib import Path as FilePath
from sqlalchemy import inspect
HOME = FilePath(__file__).resolve().parent
DB = HOME / "world.db"
HOME.mkdir(parents=True, exist_ok=True)
if "books" not in inspect(engine).get_table_names():
    raise RuntimeError("there are no books")

class Settings(BaseModel):
    names: List[str] = ["a"]

@lru_cache()
def get_settings() -> Settings:
    return Settings()

def get_db() -> sqlite3.Connection:
    db: sqlite3.Connection = sqlite3.connect(DB)
    db.row_factory = sqlite3.Row
    return db
"""
BODIES = {
    "add": "with get_db() as db:\n    db.execute('INSERT INTO books (title) VALUES (?)', (word,))\nreturn word",
    "look": (
        "rows = get_db().execute('SELECT title FROM books WHERE id > 3').fetchall()\n"
        "return {'titles': [row['title'] for row in rows], 'names': get_settings().names, 'file': DB.name}"
    ),
    "change": "own = get_settings()\nown.names.append(word)\nreturn {'names': own.names}",
    "make": "from typing import get_type_hints\nreturn {'made': str(get_type_hints(get_db)['return'](':memory:'))}",
}


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return an engine with a world that uses all of these parts; nobody else plays it."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    world = awm_worlds.attacks(BODIES, "parts", TOP)
    engine = AwmEngine(AwmFiles(awm_worlds.write(tmp_path_factory.mktemp("parts"), world)))
    yield engine
    engine.close()


def told(machine: Any, name: str, word: str = "") -> Any:
    text = machine.act({"name": name, "arguments": {"word": word}})
    return text if machine.refused else json.loads(text)


def test_sessions_that_share_these_parts_see_their_own_databases_alone_until_one_changes_what_is_kept(
    engine: AwmEngine,
) -> None:
    one, other, third = (engine.start("parts", seed) for seed in range(3))
    assert engine.server("parts").about.alone == ()
    assert one.place().worker is other.place().worker
    assert told(one, "add", "mine") == "mine"
    assert told(one, "look") == {"titles": ["mine"], "names": ["a"], "file": "world.db"}
    assert told(other, "look") == {"titles": [], "names": ["a"], "file": "world.db"}
    assert told(third, "make").startswith("Error calling make. Status code: 500.")
    assert told(one, "change", "secret") == {"names": ["a", "secret"]}
    assert "was changed by a call" in engine.server("parts").about.alone[0]
    assert told(other, "look")["names"] == ["a"] and told(one, "look")["names"] == ["a", "secret"]
