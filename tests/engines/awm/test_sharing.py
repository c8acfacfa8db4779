"""Which code serves several sessions in one process, and which does not."""

from __future__ import annotations

import awm_worlds
import pytest

from agentworld_gym.engines.awm.inside.sharing import guards, is_seen, reasons_against


@pytest.mark.parametrize("world", [awm_worlds.library(), awm_worlds.harbor(1)])
def test_generated_apps_share_a_process(world: dict[str, list[dict[str, str]]]) -> None:
    assert reasons_against(world["gen_envs.jsonl"][0]["full_code"]) == []


HARMLESS = [
    "LIMITS = {'a': 1}\nNAMES = ['x']\ndef f(k):\n    return LIMITS.get(k, LIMITS['a']), k in NAMES, sorted(NAMES)",
    "def f(row, data):\n    row.name = data['name']\n    data['seen'] = True\n    setattr(row, 'x', 1)",
    "import os\nPATH = os.getenv('DATABASE_PATH', 'x')\ndef f():\n    return PATH",
    "class A:\n    __tablename__ = 'a'\n    def f(self):\n        self._x = 1",
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
    "def outer():\n    seen = 0\n    def f():\n        nonlocal seen\n        seen += 1\n    return f",
]
REACHING = [
    "import gc",
    "import sys",
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
