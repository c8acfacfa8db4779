"""What code changes of that which looked constant is noticed, by whatever way it was changed."""

from __future__ import annotations

import json
import logging
import sys
import types
from contextlib import suppress
from typing import Any

import awm_worlds
import pytest

from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles
from agentworld_gym.domains.mcp.awm.engine.inside.mutation_watch import Watch
from agentworld_gym.domains.mcp.awm.engine.inside.sharing_analysis import reasons_against

CHANGING = {
    "by a part of it": "PLANS = {'a': ['x']}\ndef f():\n    part = PLANS['a']\n    part.append(1)",
    "by a loop": "PLANS = {'a': ['x']}\ndef f():\n    for part in PLANS.values():\n        part.append(1)",
    "by an argument": "NAMES = ['x']\ndef g(names):\n    names.append(1)\ndef f():\n    g(NAMES)",
    "by a result": "NAMES = ['x']\ndef g():\n    return NAMES\ndef f():\n    g().append(1)",
    "by a method of its class": "NAMES = ['x']\ndef f():\n    list.append(*[NAMES, 1])",
    "by a subclass": "class L(list):\n    pass\nNAMES = ['x']\ndef f():\n    L.append(*(NAMES, 1))",
    "by an item": "PLANS = {'a': {'b': 1}}\ndef f():\n    part = PLANS['a']\n    part['b'] = 2",
    "by the order of items": "PLANS = {'a': 1, 'b': 2}\ndef g(x):\n    x['a'] = x.pop('a')\ndef f():\n    g(PLANS)",
    "by an equal value of another type": "PLANS = {'a': 1}\ndef g(x):\n    x['a'] = True\ndef f():\n    g(PLANS)",
    "by a library": "from random import Random\nNAMES = [3, 1, 2]\ndef f():\n    NAMES and Random(1).shuffle(*[NAMES])",
    "by a heap": "from heapq import heappush\nNAMES = [1, 2]\ndef f():\n    heappush(NAMES, 0)",
    "a set": "KINDS = {'a'}\ndef g(x):\n    x.discard('a')\ndef f():\n    g(KINDS)",
    "a list in a tuple": "KINDS = ('a', ['b'])\ndef g(x):\n    x[1].append('c')\ndef f():\n    g(KINDS)",
    "a class": "class A:\n    pass\nKINDS = {'a': A}\ndef f():\n    kind = KINDS['a']\n    kind.last = 1",
    "a class by an argument": "class A:\n    pass\ndef g(x):\n    x.last = 1\ndef f():\n    g(A)",
    "a function": "def g():\n    pass\nKINDS = {'a': g}\ndef f():\n    kind = KINDS['a']\n    kind.last = 1",
    "a method": "class A:\n    def g(self):\n        pass\ndef h(x):\n    x.last = 1\ndef f():\n    h(A.g)",
    "a member of an enum": (
        "from enum import Enum\nclass Kind(Enum):\n    one = 'one'\ndef f():\n    kind = Kind('one')\n    kind.last = 1"
    ),
    "an object": (
        "class Settings:\n    def __init__(self):\n        self.size = 1\nsettings = Settings()\n"
        "def get():\n    return settings\ndef f():\n    own = get()\n    own.size = 2"
    ),
    "an object by a new member": (
        "class Settings:\n    pass\nsettings = Settings()\ndef g(x):\n    setattr(x, 'a', 1)\ndef f():\n    g(settings)"
    ),
    "an object in an object": (
        "class Inner:\n    pass\nclass Settings:\n    def __init__(self):\n        self.inner = Inner()\n"
        "settings = Settings()\ndef g(x):\n    x.inner.last = 1\ndef f():\n    g(settings)"
    ),
    "a list of an object": (
        "class Settings:\n    names = ('a',)\n    def __init__(self):\n        self.names = ['a']\n"
        "settings = Settings()\ndef f():\n    settings.names.append(1)"
    ),
    "a model": (
        "from pydantic import BaseModel\nclass Settings(BaseModel):\n    names: list[str] = []\nsettings = Settings()\n"
        "def f():\n    settings.names.append('a')"
    ),
    "the fields that a model was given": (
        "from pydantic import BaseModel\nclass Settings(BaseModel):\n    name: str = ''\nsettings = Settings()\n"
        "def f():\n    settings.model_fields_set.add('a')"
    ),
    "a function of a library": "import json\ndef g(x):\n    x.last = 1\ndef f():\n    g(json.dumps)",
    "an imported function": "from json import dumps\ndef g(x):\n    x.last = 1\ndef f():\n    g(dumps)",
    "a module": "import json\ndef g(x):\n    x.last = 1\ndef f():\n    g(json)",
    "a module of a library": "import json\ndef g(x):\n    x.last = 1\ndef f():\n    g(json.encoder)",
    "a class of a library": "import json\ndef g(x):\n    x.last = 1\ndef f():\n    g(json.JSONEncoder)",
    "a logger": (
        "import logging\nlogger = logging.getLogger('awm_world')\ndef g(x):\n    x.last = 1\ndef f():\n    g(logger)"
    ),
}
"""Code that seems to keep nothing and does, when its function `f` is called."""


def loaded(code: str) -> types.ModuleType:
    """Return a module with some code, as worlds are loaded."""
    module = types.ModuleType("awm_world")
    sys.modules[module.__name__] = module
    exec(compile(code, "/awm_world.py", "exec"), vars(module))
    return module


@pytest.fixture(autouse=True)
def forgotten() -> Any:
    yield
    sys.modules.pop("awm_world", None)
    for changed in (json, json.encoder, json.dumps, json.JSONEncoder, logging.getLogger("awm_world")):
        with suppress(AttributeError):
            del changed.last


@pytest.mark.parametrize("name", CHANGING)
def test_a_change_is_noticed(name: str) -> None:
    code = CHANGING[name]
    assert reasons_against(code) == []
    module = loaded(code)
    watch = Watch(module, None, code)
    assert (watch.changed(), watch.unknown) == ("", "")
    module.f()
    assert watch.changed() != ""


READING = [
    "NAMES = ['x']\nPLANS = {'a': {'b': [1]}}\ndef g(x):\n    return [*x]\ndef f():\n    return g(NAMES), PLANS['a']",
    "class Settings:\n    def __init__(self):\n        self.n = 1\none = Settings()\ndef f():\n    return one",
    "from decimal import Decimal\nRATES = {'a': Decimal('0.1')}\ndef f():\n    return {'rates': RATES}",
]


@pytest.mark.parametrize("code", READING)
def test_what_is_only_read_stays_what_it_was(code: str) -> None:
    assert reasons_against(code) == []
    module = loaded(code)
    watch = Watch(module, None, code)
    module.f()
    assert watch.changed() == ""


def test_what_a_library_keeps_privately_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import json\ndef f(x):\n    return json.JSONEncoder"
    watch = Watch(loaded(code), None, code)
    for holder in (json, json.JSONEncoder):
        monkeypatch.setattr(holder, "_made_at_the_first_use", 1, raising=False)
    assert watch.changed() == ""
    assert reasons_against(f"{code}._made_at_the_first_use") != []
    assert reasons_against("import json\ndef f(x):\n    kind = json.JSONEncoder\n    kind._last = x") != []


HIDING = {
    "a counter": "import itertools\nclass A:\n    def __init__(self):\n        self.numbers = itertools.count()\n",
    "a closure": "class A:\n    def __init__(self):\n        kept = [1]\n        self.f = lambda x: kept.append(x)\n",
    "slots": "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A:\n    x: int = 1\n",
    "an order": (
        "from collections import OrderedDict\nclass A:\n"
        "    def __init__(self):\n        self.kept = OrderedDict(a=1, b=2)\n"
    ),
    "a factory": (
        "from collections import defaultdict\nclass A:\n"
        "    def __init__(self):\n        self.kept = defaultdict(int, a=1)\n"
    ),
    "a state of a library": "import random\nclass A(random.Random):\n    pass\n",
}


@pytest.mark.parametrize("name", HIDING)
def test_an_object_that_may_hide_something_is_not_shared(name: str) -> None:
    code = f"{HIDING[name]}one = A()\ndef f():\n    return one"
    assert reasons_against(code) != [] or Watch(loaded(code), None, code).unknown != ""


STATE = """
from starlette.middleware.base import BaseHTTPMiddleware
ALLOWED = {"open": ["done", "lost"], "done": []}
class Settings(BaseModel):
    names: List[str] = ["a"]
settings = Settings()
class Taking(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        if request.query_params.get("word") == "taken":
            setattr(self, "last", request)
        response = await call_next(request)
        response.headers["X-Size"] = "1"
        return response
app.add_middleware(Taking)
"""
BODIES = {
    "read": "return {'allowed': ALLOWED, 'names': settings.names}",
    "change": "part = ALLOWED['open']\npart.append(word)\nreturn {'allowed': ALLOWED}",
    "change_and_fail": "part = ALLOWED['open']\npart.append(word)\nraise SystemExit(1)",
}


@pytest.fixture
def watched(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return an engine with a world that seems to keep nothing; nobody else plays it."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    world = awm_worlds.attacks(BODIES, "watched", STATE)
    engine = AwmEngine(AwmFiles(awm_worlds.write(tmp_path_factory.mktemp("watched"), world)))
    yield engine
    engine.close()


def read(machine: Any) -> Any:
    return json.loads(machine.act({"name": "read", "arguments": {}}))


AT_START = {"allowed": {"open": ["done", "lost"], "done": []}, "names": ["a"]}


@pytest.mark.parametrize("attempt", [("change", "secret"), ("change_and_fail", "secret"), ("read", "taken")])
def test_a_session_that_changes_the_code_is_set_apart_and_no_other_sees_it(watched: AwmEngine, attempt: Any) -> None:
    machine, others = watched.start("watched", 0), [watched.start("watched", seed) for seed in (1, 2)]
    assert [read(each) for each in (machine, *others)] == [AT_START] * 3
    assert watched.server("watched").about.alone == ()
    assert len({each.place().worker.pid for each in (machine, *others)}) == 1
    name, word = attempt
    action = {"name": name, "arguments": {"word": word}}
    if name == "change_and_fail":
        with pytest.raises(Exception, match="tried to end its process"):
            machine.act(action)
    else:
        machine.act(action)
    assert "was changed by a call" in watched.server("watched").about.alone[0]
    assert [read(each) for each in (*others, watched.start("watched", 3))] == [AT_START] * 3
    after = [*AT_START["allowed"]["open"], *([word] if name == "change" else [])]
    assert [read(each)["allowed"]["open"] for each in (machine, machine.fork())] == [after] * 2
    assert len({each.place().worker.pid for each in (machine, *others)}) == 3


def test_calls_that_wait_behind_a_change_are_made_in_other_processes(watched: AwmEngine) -> None:
    from agentworld_gym.domains.mcp.awm.engine.machine import act_all

    machines = [watched.start("watched", seed) for seed in range(4)]
    change, look = {"name": "change", "arguments": {"word": "x"}}, {"name": "read", "arguments": {}}
    answers = act_all(machines, [(action, False) for action in (look, change, look, look)])
    texts = [json.loads(answer.text)["allowed"]["open"] for answer in answers]
    assert texts == [["done", "lost"], ["done", "lost", "x"], ["done", "lost"], ["done", "lost"]]
