"""Which code serves several sessions in one process, and which does not."""

from __future__ import annotations

import awm_worlds
import pytest

from agentworld_gym.domains.mcp.awm.engine.inside.answers import is_seen
from agentworld_gym.domains.mcp.awm.engine.inside.sharing_analysis import guards, reasons_against


@pytest.mark.parametrize("world", [awm_worlds.library(), awm_worlds.harbor(1)])
def test_generated_apps_share_a_process(world: dict[str, list[dict[str, str]]]) -> None:
    assert reasons_against(world["gen_envs.jsonl"][0]["full_code"]) == []


HARMLESS = [
    "LIMITS = {'a': 1}\nNAMES = ['x']\ndef f(k):\n    return LIMITS.get(k, LIMITS['a']), k in NAMES, sorted(NAMES)",
    "NAMES = ['x']\nPLAN = {'a': 1}\ndef f():\n    return [*NAMES, 'y'], {**PLAN, 'b': 2}, PLAN.copy()",
    "NAMES = ['x']\ndef f():\n    return f\"one of {', '.join(NAMES)}\"",
    "WORDS = {'a': 'x', 'b': ['y']}\ndef f():\n    return {WORDS['a']: 1}",
    "def f(row, data):\n    row.name = data['name']\n    data['seen'] = True\n    setattr(row, 'x', 1)",
    "import os\nPATH = os.getenv('DATABASE_PATH', 'x')\ndef f():\n    return PATH",
    "class A:\n    __tablename__ = 'a'\n    def f(self):\n        self._x = 1",
    "PLANS = {'a': {'price': 1}}\ndef f(k):\n    return PLANS[k]['price'], PLANS.get(k, {}).get('price'), len(PLANS)",
    "VALID = [one.value for one in Kind]\nALSO = list(VALID)\ndef f(k):\n    return k in VALID, [x for x in ALSO]",
    "def f(x: int = Query(1, examples=[1]), words: list[str] = Query([]), user=Depends(me)):\n    return x",
    "from functools import wraps\ndef d(f):\n @wraps(f)\n def g():\n  return f()\n return g\n@d\ndef h(): 1",
    "def f(rows):\n    counts = {}\n    return sorted(rows, key=lambda row: counts[row.id])",
    "class A(BaseModel):\n    items: list[str] = []\n    model_config = {'from_attributes': True}",
    "class A(Base):\n    __table_args__ = ({'x': [1]},)\n    def name(self):\n        return self.__class__.__name__",
    "import os\nHERE = os.path.dirname(os.path.abspath(__file__))",
    "MOVES = {'open': ['done'], 'done': []}\ndef f(k):\n    moves = MOVES[k]\n    return moves, {'all': MOVES}",
    "KINDS = ['a']\ndef f(query):\n    return query.filter(Row.kind.in_(KINDS)), g(KINDS), KINDS or None, [*KINDS]",
    "WORDS = {'a': ['x']}\ndef f(text):\n    return [k for k, words in WORDS.items() if any(w in text for w in words)]",
    "class Settings(BaseSettings):\n    n: int = 1\nsettings = Settings()\ndef f():\n    return settings.n, settings",
    "class A(BaseHTTPMiddleware):\n    async def dispatch(self, request, call_next):\n"
    "        answer = await call_next(request)\n        answer.headers['X-A'] = '1'\n        return answer"
    "\napp = FastAPI()\napp.add_middleware(A)",
    "links = Table('links', Base.metadata, Column('a', Integer))\ndef f(s):\n    return s.execute(select(links))",
    "class Service:\n    KINDS = ['a', 'b']\n    def f(self, kind):\n        return kind in self.KINDS",
    "import asyncio\nasync def f():\n    await asyncio.sleep(1)\n    return await asyncio.gather(g(), g())",
    "import uvicorn\napp = FastAPI()\ndef main():\n    uvicorn.run(app, port=8000)",
    "from functools import wraps\nimport logging\nlogger = logging.getLogger('x')\ndef f():\n    logger.info('x')",
]


@pytest.mark.parametrize("code", HARMLESS)
def test_code_that_keeps_nothing_shares(code: str) -> None:
    assert reasons_against(code) == []


KEEPING = [
    "SEEN = []\ndef f(x):\n    SEEN.append(x)",
    "SEEN = {}\ndef f(x):\n    SEEN[x] = 1",
    "SEEN = {}\ndef f(x):\n    also = SEEN\n    also[x] = 1",
    "SEEN = {}\ndef f(x):\n    keep(SEEN, x)",
    "COUNT = 0\ndef f():\n    global COUNT\n    COUNT += 1",
    "import itertools\nNUMBERS = itertools.count()\ndef f():\n    return next(NUMBERS)",
    "from functools import lru_cache\n@lru_cache\ndef f(x):\n    return x",
    "import functools\n@functools.cache\ndef f(x):\n    return x",
    "def f(x, seen=[]):\n    seen.append(x)",
    "class A:\n    pass\ndef f(x):\n    A.last = x",
    "class A:\n    pass\ndef f(x):\n    kind = A\n    kind.last = x",
    "def f(x):\n    type(x).last = x",
    "app = FastAPI()\ndef f(x):\n    app.state.last = x",
    "def f(x):\n    f.last = x",
    "store = Store()\ndef f(x):\n    store.keep(x)",
    "def f(request):\n    request.app.state.last = request",
    "def f(request):\n    request.app.state.seen.append(request)",
    "app = FastAPI()\napp.state.seen = []",
    "class A:\n    seen = []\ndef f(x):\n    A.seen.append(x)",
    "class A:\n    count = 0\n    @classmethod\n    def f(cls):\n        cls.count += 1",
    "class A:\n    def f(self):\n        self.__class__.count += 1",
    "import itertools\nclass A:\n    numbers = itertools.count()\ndef f():\n    return next(A.numbers)",
    "class A:\n    def __call__(self):\n        self.count += 1\ndef f(a=Depends(A())):\n    return a",
    "class A:\n    def __call__(self):\n        self.count += 1\napp = FastAPI()\napp.add_middleware(A)",
    "SEEN = {'a': []}\ndef f(x):\n    SEEN['a'].append(x)",
    "SEEN = {'a': []}\ndef f(x):\n    for seen in SEEN.values():\n        seen.append(x)",
    "SEEN = {'a': []}\ndef f(x):\n    return {**SEEN}['a'].append(x)",
    "SEEN = {'a': []}\ndef f(x):\n    SEEN.copy()['a'].append(x)",
    "SEEN = [[]]\ndef f(x):\n    [*SEEN][0].append(x)",
    "SEEN = []\ndef f(x):\n    return {'seen': SEEN, **x}",
    "SEEN = []\nALSO = SEEN\ndef f(x):\n    ALSO.append(x)",
    "store = Store()\ndef f(x):\n    return store.get(x)",
    "def f(x, seen=dict()):\n    seen[x] = 1",
    "def f(x):\n    f.seen.append(x)\nf.seen = []",
    "def d(f):\n    seen = []\n    def g(x):\n        seen.append(x)\n    return g\n@d\ndef h(): pass",
    "KINDS = ['a']\ndef f(x):\n    KINDS.append(x)",
    "KINDS = ['a']\ndef f(x):\n    KINDS[0] = x",
    "KINDS = ['a']\ndef f(x):\n    also = KINDS\n    also.append(x)",
    "class A:\n    kinds = ['a']\ndef f(x):\n    A.kinds[0] = x",
    "class A:\n    def __init__(self):\n        self.seen = []\nstore = A()\ndef f(x):\n    store.seen.append(x)",
    "class A:\n    def keep(self, x):\n        self.last = x\nstore = A()\ndef f(x):\n    store.keep(x)",
    "class A(BaseHTTPMiddleware):\n    async def dispatch(self, request, call_next):\n        self.last = request\n"
    "        return await call_next(request)\napp = FastAPI()\napp.add_middleware(A)",
    "class A(BaseHTTPMiddleware):\n    pass\napp = FastAPI()\napp.add_middleware(A, seen=[])",
    "class A:\n    pass\nsettings = A()\ndef f(x):\n    settings.last = x",
    "class A:\n    pass\nsettings = A()\ndef f(x):\n    also = settings\n    also.last = x",
    "def make(seen):\n    def f(x):\n        seen.append(x)\n    return f\napp.get('/x')(make([]))",
    "def make():\n    app = FastAPI()\n    def f(x):\n        app.state.last = x\n    return app\napp = make()",
    "def make():\n    def f(x):\n        f.last = x\n    return f\ng = make()",
    "def g():\n    pass\nKINDS = {'a': g}\ndef f(x):\n    kind = KINDS['a']\n    kind.__doc__ = x",
    "class A(Base):\n    __tablename__ = 'a'\ndef f(x):\n    A.__table__.info.update(last=x)",
    "def make():\n class A:\n  kinds = ['a']\n def f(x):\n  also = A.kinds\n  also.append(x)\nmake()",
    "class A:\n    pass\ndef make():\n    def f(x, a=Depends(A())):\n        a.last = x\nmake()",
    "class A:\n    def __del__(self):\n        SessionLocal().add(self.row)",
    "lock = asyncio.Lock()\nasync def f():\n    await lock.acquire()",
    "def outer():\n    seen = 0\n    def f():\n        nonlocal seen\n        seen += 1\n    return f",
]
REACHING = [
    "import gc",
    "import sys\ndef f():\n    return sys.modules",
    "from sys import _getframe",
    "from sys import modules",
    "from pydantic import ImportString",
    "import threading",
    "from os import environ, system",
    "import os\ndef f():\n    os._exit(1)",
    "import os\ndef f():\n    return os.listdir('/')",
    "import typing\ndef f():\n    return typing.sys",
    "from logging import sys",
    "def f(x):\n    return x.__globals__",
    "def f(x):\n    return x._connection",
    "def f(x):\n    return '{0.__globals__}'.format(x)",
    "def f():\n    return globals()",
    "def f():\n    return open('/etc/passwd')",
    "def f():\n    return __import__('gc')",
    "def f():\n    return eval('1')",
    "from sqlalchemy import *",
    "import os as system\ndef f():\n    return system.listdir('/')",
    "import os\nsystem = os\ndef f():\n    return system.listdir('/')",
    "from os import path\ndef f():\n    return path.os.listdir('/')",
    "import asyncio\nasync def f():\n    asyncio.create_task(g())",
    "import asyncio\nasync def f():\n    await asyncio.to_thread(g)",
    "from starlette.concurrency import anyio",
    "import traceback\ndef f():\n    return traceback.sys",
    "__name__ = 'other'",
    "class A:\n    def __class__(self):\n        return list",
]


@pytest.mark.parametrize("code", [*KEEPING, *REACHING])
def test_other_code_gets_a_process_for_each_session(code: str) -> None:
    assert reasons_against(code) != []


@pytest.mark.parametrize("code", ["import time", "from uuid import uuid4", "def f():\n    import random"])
def test_answers_of_code_that_draws_by_itself_are_not_kept(code: str) -> None:
    assert not is_seen(code)


@pytest.mark.parametrize("name", ["__globals__", "_connection", "sys"])
def test_names_that_are_made_at_run_time_lead_nowhere(name: str) -> None:
    with pytest.raises(AttributeError, match="cannot be reached"):
        guards()["getattr"](object(), name)


def test_nothing_is_set_on_a_class() -> None:
    class Row:
        pass

    with pytest.raises(AttributeError, match="cannot be reached"):
        guards()["setattr"](Row, "last", 1)
