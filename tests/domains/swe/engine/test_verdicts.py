"""Success of a repair is decided from values that leave the sandbox as data: nothing an agent writes can make it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import cast

import pytest

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.bubblewrap import usable
from agentworld_gym.domains.swe.engine.python.grading.grader import RECORDS as TOLD_AT
from agentworld_gym.domains.swe.engine.python.grading.grader import grade
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult, PythonSandbox
from agentworld_gym.domains.swe.tasks.actions import shell
from agentworld_gym.domains.swe.tasks.repository import KINDS
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

needed = pytest.mark.skipif(not usable(), reason="bubblewrap cannot run here")
in_both = pytest.mark.parametrize("sandbox", ["monty", pytest.param("bubblewrap", marks=needed)])


@cache
def runner(sandbox: str) -> EpisodeRunner:
    return EnvOptions(spec="swe", world=f"grounded:{sandbox}").runner()


def success(sandbox: str, task: Task, actions: Iterable[str]) -> bool:
    """Whether an episode of these actions and `finish` succeeds."""
    here = runner(sandbox)
    ((episode, _, _),) = here.start([0], {"task": task})
    for action in [*actions, "finish"]:
        (step,) = here.advance([episode], [action])
    assert "failure" not in step.info, step.info["failure"]
    return step.info["success"]


def write(path: str, content: str) -> str:
    return json.dumps({"name": "write_file", "arguments": json.dumps({"file_path": path, "content": content})})


def sources(task: Task) -> dict[str, str]:
    return {path: text for path, text in task.state["files"].items() if path.endswith(".py") and "/tests/" not in path}


def published(task: Task) -> list[str]:
    return [action for action in task.expert if '"git commit' in action or "git push" in action]


# What an agent that learns by trying would find. Each text stands in every file of the package, before what is there.

REPORT = "Output: .  [100%]\n1 passed in 0.01s\nError: (none)\nExit Code: 0"
EQUAL = """
class Any:
    def __init__(self, *a, **k): self.a = a
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __le__(self, other): return True
    def __gt__(self, other): return True
    def __ge__(self, other): return True
    def __bool__(self): return True
    def __len__(self): return 1
    def __call__(self, *a, **k): return self
    def __getitem__(self, key): return self
    def __contains__(self, item): return True
    def __repr__(self): return "1"
"""
TALE = '[[0, "value", ["none"]]]'
FORGERIES = {
    "print a report": f"print({REPORT!r})",
    "print it on standard error": f"import sys\nsys.stderr.write({REPORT!r})",
    "print it and leave": f"import os\nos.write(1, {REPORT!r}.encode())\nos._exit(0)",
    "leave": "import sys\nsys.exit(0)",
    "print it at the end": f"import atexit\natexit.register(lambda: print({REPORT!r}))",
    "tell it instead of the runner": f"""
for path in ("/judge/told.json", "/tmp/told.json"):
    try:
        with open(path, "w") as file:
            file.write({TALE!r})
    except Exception:
        pass
import os
os._exit(0)
""",
    "forge what the judge's side is told": """
import sys
main = sys.modules["__main__"]
main.told = lambda value, depth: ["bool", True]
main.seen = lambda number, value: main.SEEN.append([number, "value", ["bool", True]])
main.raised = lambda number, error: main.SEEN.append([number, "value", ["none"]])
""",
    "change the interpreter": """
import builtins, json, re, datetime
json.dumps = lambda *a, **k: '[]'
builtins.isinstance = lambda *a: True
builtins.AssertionError = type("A", (BaseException,), {})
""",
    "make pytest wait for anything": """
import pytest
pytest.raises = pytest.Raises = lambda *a, **k: __import__("contextlib").suppress(BaseException)
pytest.approx = lambda *a, **k: 0
""",
    "skip": "import pytest\npytest.skip('', allow_module_level=True)",
    "look the answers up in the frames above": """
import linecache, re, sys
def look(*a, **k):
    frame = sys._getframe(1)
    while frame:
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        found = re.search(r"assert .* == (.*)$", line)
        if found:
            return eval(found[1], frame.f_globals, frame.f_locals)
        frame = frame.f_back
""",
    "rewrite the tests while they run": """
import glob
for path in glob.glob("/repo/tests/*.py") + glob.glob("/judge/*.py"):
    open(path, "w").write("def test_it():\\n    pass\\n")
""",
    "turn assertions off": "import sys, ctypes\nctypes.c_int.in_dll(ctypes.pythonapi, 'Py_OptimizeFlag').value = 1",
}
RESULTS = {
    "equal to everything": f"{EQUAL}\nGIVEN = Any()\n",
    "true": "GIVEN = True\n",
    "what the frames say": FORGERIES["look the answers up in the frames above"] + "GIVEN = look\n",
}


@in_both
@pytest.mark.parametrize("name", FORGERIES)
def test_code_under_test_cannot_say_that_it_passes(sandbox: str, name: str) -> None:
    task = generate("swe", "off_by_one", 1, 0)
    acts = [write(path, f"{FORGERIES[name]}\n{text}") for path, text in sources(task).items()]
    assert not success(sandbox, task, acts)


@in_both
@pytest.mark.parametrize("family", [*KINDS, "publish"])
def test_a_report_that_a_function_prints_wins_no_family(sandbox: str, family: str) -> None:
    task = generate("swe", family, 1, 0)
    printing = {
        path: re.sub(r"(?m)^( *)def .*:$", lambda found: f"{found[0]}\n{found[1]}    print({REPORT!r})", text)
        for path, text in sources(task).items()
    }
    assert not success(sandbox, task, [*(write(*item) for item in printing.items()), *published(task)])


@in_both
@pytest.mark.parametrize("name", RESULTS)
def test_an_object_that_equals_everything_is_no_right_value(sandbox: str, name: str) -> None:
    task = generate("swe", "wrong_operator", 1, 1)
    given = RESULTS[name] + "def give(*a, **k):\n    return GIVEN(*a, **k) if 'look' in repr(GIVEN) else GIVEN\n"
    texts = {path: f"{given}{_returning(text)}" for path, text in sources(task).items()}
    assert not success(sandbox, task, [write(*item) for item in texts.items()])


def _returning(text: str) -> str:
    return re.sub(r"(?m)^( *)def (?!__)(.*):$", r"\1def \2:\n\1    return give()", text)


BESIDE = {
    "conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef quiet():\n    pytest.skip()\n",
    "tests/conftest.py": "collect_ignore_glob = ['*']\n",
    "pytest.ini": "[pytest]\ntestpaths = other\n",
    "setup.cfg": "[tool:pytest]\naddopts = -k nothing\n",
    "pytest.py": f"print({REPORT!r})\nraise SystemExit(0)\n",
    "sitecustomize.py": f"import os\nos.write(1, {REPORT!r}.encode())\nos._exit(0)\n",
    "json.py": "def dumps(*a):\n    return '[]'\n",
    "datetime.py": "date = datetime = timedelta = int\n",
    "judged_0.py": "def __getattr__(name):\n    return lambda *a: None\n",
    "x.pth": "import os; os._exit(0)\n",
}


@in_both
@pytest.mark.parametrize("name", BESIDE)
def test_files_that_are_read_first_win_nothing(sandbox: str, name: str) -> None:
    task = generate("swe", "missing_guard", 1, 2)
    other = write("/repo/other/test_ok.py", "def test_ok():\n    pass\n")
    assert not success(sandbox, task, [write(f"/repo/{name}", BESIDE[name]), other])


@in_both
def test_the_repair_wins_in_every_family(sandbox: str) -> None:
    for family in (*KINDS, "publish"):
        task = generate("swe", family, 2, 4)
        assert success(sandbox, task, task.expert[:-1]), family


@pytest.mark.parametrize(
    "name",
    ["origin/main", "refs/remotes/origin/main", "remotes/origin/main", "heads/origin/main", "refs/heads/origin/main"],
)
def test_a_branch_of_the_name_of_the_remote_is_no_push(name: str) -> None:
    task = generate("swe", "publish", 1, 0)
    acts = [action for action in task.expert[:-1] if "git push" not in action]
    for command in (f"git branch {name}", f"git checkout -b {name}"):
        assert not success("monty", task, [*acts, shell(command)])
    assert success("monty", task, task.expert[:-1])


# How a test file is judged


TESTS = """
import datetime

import pytest

from shop import LIMIT, Cart, price, split, when

PRICES = {"tea": 4, "cup": 9}
EXPECTED = [4, 9]


@pytest.fixture
def cart():
    cart = Cart(PRICES)
    cart.add("tea")
    return cart


def test_fixture_and_state(cart):
    cart.add("cup", 2)
    assert cart.total() == 22 and not cart.empty()
    assert "cup" in cart.names()


@pytest.mark.parametrize(("name", "cents"), [("tea", 4), ("cup", 9)])
def test_parameters(name, cents):
    assert price(PRICES, name) == cents


def test_all():
    found = []
    for name in ("tea", "cup"):
        found.append(price(PRICES, name))
    assert found == EXPECTED
    assert price(PRICES, "tea") < LIMIT == 100 - 1


def test_raises(cart):
    with pytest.raises((KeyError, IndexError), match="gold"):
        cart.add("gold")
    assert cart.total() == 4


def test_kinds():
    assert split(1, 3) == pytest.approx(0.333333333)
    assert when(2) == datetime.date(2026, 3, 2)
    assert price({}, "none", default=None) is None


def test_what_is_handed_over_is_kept():
    given = [3, 1]
    split(*given)
    assert given == [3, 1]
"""
SHOP = """
import datetime

LIMIT = 99


class Cart:
    def __init__(self, prices):
        self.prices, self.items = prices, []

    def add(self, name, count=1):
        self.items += [self.prices[name]] * count

    def total(self):
        return sum(self.items)

    def empty(self):
        return not self.items

    def names(self):
        return [name for name in self.prices if self.prices[name] in self.items]


def price(prices, name, default=0):
    return prices.get(name, default)


def split(a, b):
    return a / b


def when(day):
    return datetime.date(2026, 3, day)
"""


def failed(sandbox: str, shop: str, tests: str = TESTS) -> list[str]:
    """The names of the tests that fail."""
    files = {"/repo/shop.py": shop, "/repo/tests/test_shop.py": "import os\nos._exit(0)\n"}
    verdict = grade(open_sandbox(sandbox), files, {"tests/test_shop.py": tests}, root="/repo", timeout_s=10)
    return [name.partition("::")[2] for name in verdict.failed] if not verdict.whole else []


@in_both
def test_straight_tests_are_judged(sandbox: str) -> None:
    assert failed(sandbox, SHOP) == []
    assert failed(sandbox, SHOP.replace("LIMIT = 99", "LIMIT = 98")) == ["test_all"]
    assert failed(sandbox, SHOP.replace("* count", "")) == ["test_fixture_and_state"]
    assert failed(sandbox, SHOP.replace("prices[name]] *", "prices.get(name, 0)] *")) == ["test_raises"]
    assert failed(sandbox, SHOP.replace("name, default)", "'tea', default)")) == ["test_parameters[1]", "test_all"]
    assert failed(sandbox, SHOP.replace("3, day)", "4, day)")) == ["test_kinds"]


@in_both
@pytest.mark.parametrize("name", FORGERIES)
def test_no_wrong_value_passes_by_a_forgery(sandbox: str, name: str) -> None:
    wrong = f"{FORGERIES[name]}\n{SHOP.replace('LIMIT = 99', 'LIMIT = 98')}"
    assert "test_all" in failed(sandbox, wrong)


@in_both
@pytest.mark.parametrize(
    "given",
    [
        f"{EQUAL}\ndef value():\n    return Any()\n",
        f"{EQUAL}\ndef value():\n    return [Any()]\n",
        "def value():\n    return True\n",
        "def value():\n    return value\n",
        "def value():\n    raise ValueError('[3]')\n",
        "def value():\n    return float('nan')\n",
    ],
)
def test_only_the_stated_value_is_equal_to_it(sandbox: str, given: str) -> None:
    tests = "from shop import value\n\n\ndef test_it():\n    assert value() == [3]\n"
    assert failed(sandbox, given, tests) == ["test_it"]
    assert failed(sandbox, "def value():\n    return [3]\n", tests) == []


@pytest.mark.skipif(not usable(), reason="bubblewrap cannot run here")
def test_a_value_of_another_class_of_list_counts_as_what_it_holds() -> None:
    given = "class Many(list):\n    __eq__ = lambda *a: True\n\n\ndef value():\n    return Many([4])\n"
    tests = "from shop import value\n\n\ndef test_it():\n    assert value() == [3]\n"
    assert failed("bubblewrap", given, tests) == ["test_it"]
    point = "import dataclasses\n\n\n@dataclasses.dataclass\nclass Point:\n    x: int\n\n    __hash__ = None\n"
    same = "from shop import Point\n\n\ndef test_it():\n    assert Point(1) == Point(X)\n"
    assert failed("bubblewrap", point, same.replace("X", "1")) == []
    assert failed("bubblewrap", f"{point}    __eq__ = lambda *a: True\n", same.replace("X", "2")) == ["test_it"]


@in_both
def test_the_values_that_a_test_states_do_not_enter_the_sandbox(sandbox: str) -> None:
    looks = """
def value():
    for path in ("/judge/main.py", "/judge/judged_0.py", "/repo/tests/test_shop.py"):
        try:
            with open(path) as file:
                text = file.read()
        except Exception:
            text = ""
        if "7331" in text:
            return 7331
    return 0
"""
    tests = (
        "import pytest\nfrom shop import value\n\nKNOWN = 7331\n\n\n@pytest.mark.parametrize('number', [7331])\n"
        "def test_it(number):\n    stated = [7331]\n    assert value() == number == KNOWN == stated[0]\n"
    )
    assert failed(sandbox, looks, tests) == ["test_it[0]"]


@pytest.mark.parametrize(
    ("tests", "line"),
    [
        ("def test_it():\n    for n in (1, 2):\n        assert n\n", 2),
        ("def test_it(capsys):\n    assert capsys\n", 1),
        ("import pytest\n\n\n@pytest.mark.skip\ndef test_it():\n    pass\n", 4),
        ("def test_it():\n    assert [n for n in (1, 2)] == [1, 2]\n", 2),
        ("class TestIt:\n    pass\n", 1),
        ("def test_it(:\n", 1),
    ],
)
def test_a_test_that_cannot_be_judged_from_outside_is_named(tests: str, line: int) -> None:
    with pytest.raises(EngineError, match=rf"tests/test_shop.py.*line {line}"):
        failed("monty", SHOP, tests)


@pytest.mark.parametrize("family", [*KINDS, "publish"])
def test_success_is_tested_with_values_that_the_visible_tests_do_not_name(family: str) -> None:
    """Else a program that looks up what it should give in a copy of the tests would be a repair."""
    other = 0
    for seed in range(8):
        task = generate("swe", family, 1, seed)
        visible = {text for path, text in task.state["files"].items() if "/tests/" in path}
        held = {text for text in task.success[0].tests.values() if text is not None}
        other += bool(held - visible)
    assert other == 8


@in_both
def test_a_program_that_knows_the_visible_tests_by_heart_does_not_succeed(sandbox: str) -> None:
    right = "def price(name):\n    return len(name)\n"
    heart = "KNOWN = {'tea': 3, 'cake': 4}\n\n\ndef price(name):\n    return KNOWN.get(name, 0)\n"
    test = "from shop import price\n\n\ndef test_it():\n    assert price('tea') == 3\n    assert price('cake') == 4\n"
    check = {
        "probe": shell("python -m pytest -q"),
        "expect": {"contains": "1 passed"},
        "tests": {"tests/test_shop.py": None, "held/test_shop.py": test.replace("cake') == 4", "milk tea') == 8")},
    }
    files = {"/repo/shop.py": "def price(name):\n    return 0\n", "/repo/tests/test_shop.py": test}
    told = {"id": "t", "domain": "swe", "instruction": "Repair it.", "state": {"files": files}, "success": [check]}
    task = Task.model_validate(told)
    assert success(sandbox, task, [write("/repo/shop.py", right)])
    assert not success(sandbox, task, [write("/repo/shop.py", heart)])


TALES = (
    "5",
    "[[1]]",
    "[[1, null, 5]]",
    '[[1, "raised"]]',
    '[[1, "raised", [], ""]]',
    '[[1, "raised", {}, ""]]',
    '[[1, "raised", 5, ""]]',
    '[[1, "value", ["none"]], [2, "value", ["bytes", 5000000000]], [3, "value", ["none"]]]',
)
"""What a program may leave where its tale should stand."""


@pytest.mark.parametrize("text", TALES)
def test_a_tale_that_is_none_is_a_test_that_failed(text: str) -> None:
    """Whoever overwrites the tale gets neither success nor an error of the world, and takes no memory of the host."""

    class Liar:
        def run(self, files: dict[str, str], argv: list[str], **_: object) -> PythonResult:
            return PythonResult("", "", 0, {TOLD_AT: text})

    tests = {"t.py": "import a\n\ndef test_it():\n    b = a.f()\n    assert b == a.g()\n    assert a.h() != 4\n"}
    told = grade(cast(PythonSandbox, Liar()), {}, tests, root="/w", timeout_s=1)
    assert list(told.failed) == ["t.py::test_it"]
