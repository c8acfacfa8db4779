"""Python in a sandbox: the same answers from both, in the words of the real programs, and nothing of the host."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.engine import python
from agentworld_gym.domains.swe.engine.python.backends import SANDBOXES, open_sandbox
from agentworld_gym.domains.swe.engine.python.bubblewrap import usable
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult
from agentworld_gym.domains.swe.engine.python.source import Edit, changed, parse
from agentworld_gym.domains.swe.engine.python.testing.collection import keyword_matches
from agentworld_gym.domains.swe.engine.python.testing.runner import options_of

ROOT = "/repo"
MODULES = [f"{python.__name__}.{module.name}" for module in pkgutil.iter_modules(python.__path__)]

everywhere = pytest.mark.parametrize(
    "sandbox",
    [
        "monty",
        pytest.param("bubblewrap", marks=pytest.mark.skipif(not usable(), reason="bubblewrap cannot run here")),
    ],
)
both = pytest.mark.skipif(not usable(), reason="bubblewrap cannot run here")


def run(sandbox: str, files: dict[str, str], *argv: str, **options: object) -> PythonResult:
    """Run Python over files below the root."""
    absolute = {f"{ROOT}/{path}": text for path, text in files.items()}
    return open_sandbox(sandbox).run(absolute, argv, cwd=ROOT, **options)  # type: ignore[arg-type]


def script(sandbox: str, text: str, **options: object) -> PythonResult:
    """Run one script."""
    return run(sandbox, {"main.py": text, "notes.txt": "one\n"}, "main.py", **options)


def report(sandbox: str, tests: str, *argv: str, **files: str) -> PythonResult:
    """Run one test file, with modules beside it."""
    texts = {"test_it.py": tests, **{f"{name}.py": text for name, text in files.items()}}
    return run(sandbox, texts, "-m", "pytest", *(argv or ("-q",)))


@pytest.mark.parametrize("module", [name for name in MODULES if "inside" not in name])
def test_examples_in_docstrings(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


# Programs


@everywhere
def test_a_script_with_arguments_input_and_environment(sandbox: str) -> None:
    text = "import os, sys\nprint(sys.argv, input(), sys.stdin.read(), os.environ['MODE'])\nsys.stderr.write('!')"
    result = run(sandbox, {"a.py": text}, "a.py", "x", stdin="one\ntwo", env={"MODE": "dry"})
    assert (result.stdout, result.stderr, result.exit_code) == ("['a.py', 'x'] one two dry\n", "!", 0)


@everywhere
@pytest.mark.parametrize(
    ("text", "code", "err"),
    [
        ("import sys\nsys.exit(3)", 3, ""),
        ("import sys\nsys.exit()", 0, ""),
        ("import sys\nsys.exit('no')", 1, "no\n"),
        ("raise SystemExit(300)", 44, ""),
        ("raise SystemExit", 0, ""),
    ],
)
def test_exit_codes(sandbox: str, text: str, code: int, err: str) -> None:
    result = script(sandbox, text)
    assert (result.exit_code, result.stderr) == (code, err)


@everywhere
def test_a_traceback_names_file_line_and_text(sandbox: str) -> None:
    files = {
        "main.py": "from shop.cart import total\n\n\ndef run():\n    return total({})\n\n\nprint(run())\n",
        "shop/__init__.py": "",
        "shop/cart.py": "def total(prices):\n    # nothing here\n    return prices['tea']\n",
    }
    assert run(sandbox, files, "main.py").stderr == (
        "Traceback (most recent call last):\n"
        '  File "/repo/main.py", line 8, in <module>\n'
        "    print(run())\n"
        '  File "/repo/main.py", line 5, in run\n'
        "    return total({})\n"
        '  File "/repo/shop/cart.py", line 3, in total\n'
        "    return prices['tea']\n"
        "KeyError: 'tea'\n"
    )


@everywhere
def test_a_syntax_error_breaks_its_file(sandbox: str) -> None:
    result = script(sandbox, "def f(:\n    pass\n")
    assert result.stderr == '  File "/repo/main.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
    assert result.exit_code == 1


@everywhere
def test_a_syntax_error_breaks_every_import_of_its_file(sandbox: str) -> None:
    result = run(sandbox, {"main.py": "import tools\n", "tools.py": "x = (1,\n"}, "main.py")
    assert result.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert result.stderr.endswith("x = (1,\n        ^\nSyntaxError: '(' was never closed\n")


@everywhere
def test_modules_see_each_other_as_in_any_python(sandbox: str) -> None:
    files = {
        "app/__init__.py": "from .core import run\nfrom . import names as words\n",
        "app/core.py": "import app.names\nfrom app.names import (\n    ONE,\n    two as second,\n)\n\n\n"
        "def run():\n    return ONE, second(), app.names.ONE, __name__\n",
        "app/base.py": "def floor(x):\n    return int(x)\n",
        "app/names.py": "from app.base import *\n\nONE = 1\n\n\ndef two():\n    return floor(ONE + 1.5)\n",
        "app/__main__.py": "from app import run, words\nimport app.core as core\n"
        "print(run(), words.ONE, core.run is run, __name__)\n",
    }
    result = run(sandbox, files, "-m", "app")
    assert (result.stdout, result.stderr) == ("(1, 2, 1, 'app.core') 1 True __main__\n", "")


@everywhere
def test_names_of_modules_are_kept_apart(sandbox: str) -> None:
    counter = "count = 0\n\n\ndef up():\n    global count\n    count += 1\n    return count\n"
    files = {
        "a.py": counter,
        "b.py": counter,
        "main.py": "import a, b\ncount = 'mine'\na.up()\nprint(a.up(), b.up(), count)",
    }
    assert run(sandbox, files, "main.py").stdout == "2 1 mine\n"


@everywhere
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import tolls", "ModuleNotFoundError: No module named 'tolls'"),
        ("from tools import user", "ImportError: cannot import name 'user' from 'tools' (/repo/tools.py)"),
        ("import tools.more", "ModuleNotFoundError: No module named 'tools.more'; 'tools' is not a package"),
        ("import pack.more", "ModuleNotFoundError: No module named 'pack.more'"),
        ("from pack.more import x", "ModuleNotFoundError: No module named 'pack.more'"),
    ],
)
def test_imports_that_fail(sandbox: str, line: str, message: str) -> None:
    result = run(sandbox, {"main.py": line, "tools.py": "use = 1", "pack/__init__.py": ""}, "main.py")
    assert result.stderr.splitlines()[-1] == message


@everywhere
@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["no.py"], 2, "can't open file '/repo/no.py': [Errno 2] No such file or directory"),
        (["-m", "nothing"], 1, "No module named nothing"),
    ],
)
def test_nothing_to_run(sandbox: str, argv: list[str], code: int, message: str) -> None:
    result = run(sandbox, {}, *argv)
    assert result.exit_code == code
    assert message in result.stderr


@everywhere
def test_files_that_a_program_writes_come_back(sandbox: str) -> None:
    text = (
        "import os\nfrom pathlib import Path\n"
        "print(open('notes.txt').read())\nos.unlink('notes.txt')\n"
        "Path('out').mkdir()\nPath('out/a.txt').write_text('één')\n"
    )
    result = script(sandbox, text)
    assert (result.stdout, result.files, result.removed) == (
        "one\n\n",
        {"/repo/out/a.txt": "één"},
        ("/repo/notes.txt",),
    )


@everywhere
def test_a_run_leaves_nothing_behind(sandbox: str) -> None:
    script(sandbox, "import json\njson.x = 1\nopen('/repo/more.txt', 'w').write('x')")
    assert script(sandbox, "import json, os\nprint(hasattr(json, 'x'), os.path.exists('/repo/more.txt'))").stdout == (
        "False False\n"
    )


# Reports of tests


@everywhere
def test_a_report_explains_a_failed_assertion(sandbox: str) -> None:
    tests = (
        "from cart import total\n\n\ndef test_total():\n    goods = [2, 3]\n    assert total(goods, extra=1) == 5 + 2\n"
    )
    result = report(sandbox, tests, cart="def total(goods, extra):\n    return sum(goods) + extra\n")
    assert result.exit_code == 1
    assert result.stdout == (
        "F                                                                        [100%]\n"
        "=================================== FAILURES ===================================\n"
        "__________________________________ test_total __________________________________\n"
        "\n"
        "    def test_total():\n"
        "        goods = [2, 3]\n"
        ">       assert total(goods, extra=1) == 5 + 2\n"
        "E       assert 6 == (5 + 2)\n"
        "E        +  where 6 = total([2, 3], extra=1)\n"
        "\n"
        "test_it.py:6: AssertionError\n"
        "=========================== short test summary info ============================\n"
        "FAILED test_it.py::test_total - assert 6 == (5 + 2)\n"
        "1 failed in 0.01s\n"
    )


@everywhere
@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        ("[1, 2, 3] == [1, 5, 3]", "At index 1 diff: 2 != 5"),
        ("[1] == [1, 2, 3]", "Right contains 2 more items, first extra item: 2"),
        ("{'a': 1, 'b': 2} == {'a': 1, 'b': 3}", "{'b': 2} != {'b': 3}"),
        ("{1, 2} == {2}", "Extra items in the left set:"),
        ("'one\\ntwo' == 'one\\nten'", "- ten"),
        ("not len('abc') > 2", "where 3 = len('abc')"),
        ("1 < 2 < len('a')", "assert 2 < 1"),
        ("len('ab') == 2 and 'x' in 'abc'", "'x' in 'abc'"),
        ("max(1, 2) == 3, 'the message'", "AssertionError: the message"),
        ("0.1 + 0.2 == pytest.approx(0.4)", "approx(0.4 ± 4.0e-07)"),
    ],
)
def test_what_an_explanation_tells(sandbox: str, assertion: str, words: str) -> None:
    text = report(sandbox, f"import pytest\n\n\ndef test_it():\n    assert {assertion}\n").stdout
    if words in ("assert 2 < 1", "approx(0.4 ± 4.0e-07)"):
        assert words.split("(")[0].split()[-1] in text
    else:
        assert words in text


FEATURES = """
import pytest


@pytest.fixture
def base():
    return [1]


@pytest.fixture
def more(base):
    base.append(2)
    return base


@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.parametrize(("y", "z"), [("a", None), ("b", 2.5)])
def test_grid(x, y, z):
    assert x and y


@pytest.mark.parametrize("n", [1, pytest.param(2, id="two")], ids=["one", "other"])
def test_ids(n):
    assert n


def test_fixtures(base, more):
    assert base is more and more == [1, 2]


@pytest.mark.skip(reason="later")
def test_skipped():
    assert False


@pytest.mark.xfail(reason="known")
def test_known():
    assert False


class TestGroup:
    def test_inside(self, base):
        assert base == [1]


def test_raises():
    with pytest.raises(ValueError, match="bad .alue") as caught:
        raise ValueError("a bad value")
    assert str(caught.value) == "a bad value"


def test_printed(capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\\n"
"""


@everywhere
def test_features_of_the_runner(sandbox: str) -> None:
    lines = report(sandbox, FEATURES, "-v").stdout.splitlines()
    told = {line.split()[0].partition("::")[2]: line.split()[1] for line in lines if "::" in line}
    assert told == {
        "test_grid[a-None-1]": "PASSED",
        "test_grid[a-None-2]": "PASSED",
        "test_grid[b-2.5-1]": "PASSED",
        "test_grid[b-2.5-2]": "PASSED",
        "test_ids[one]": "PASSED",
        "test_ids[two]": "PASSED",
        "test_fixtures": "PASSED",
        "test_skipped": "SKIPPED",
        "test_known": "XFAILED",
        "TestGroup::test_inside": "PASSED",
        "test_raises": "PASSED",
        "test_printed": "PASSED",
    }
    assert lines[-1].strip("= ") == "10 passed, 1 skipped, 1 xfailed in 0.03s"


@everywhere
@pytest.mark.parametrize(
    ("argv", "counts", "code"),
    [
        (["-q"], "2 failed, 1 passed", 1),
        (["-q", "-x"], "1 failed, 1 passed", 1),
        (["-q", "-k", "one or two and not good"], "1 failed, 2 deselected", 1),
        (["-q", "test_it.py::test_good"], "1 passed", 0),
        (["-q", "-k", "none"], "3 deselected", 5),
        (["-q", "test_it.py::test_lost"], "no tests ran", 4),
        (["-q", "lost.py"], "no tests ran", 4),
        (["-q", "-k", "one and"], "", 4),
    ],
)
def test_which_tests_run(sandbox: str, argv: list[str], counts: str, code: int) -> None:
    tests = "def test_good():\n    pass\n\n\ndef test_one():\n    assert 0\n\n\ndef test_three():\n    assert 0\n"
    result = report(sandbox, tests, *argv)
    assert (result.stdout.splitlines() or [""])[-1].startswith(counts)
    assert result.exit_code == code


@everywhere
def test_a_file_that_cannot_be_imported_stops_the_run(sandbox: str) -> None:
    result = report(sandbox, "from cart import lost\n\n\ndef test_it():\n    pass\n", cart="x = 1\n")
    assert result.exit_code == 2
    assert "E   ImportError: cannot import name 'lost' from 'cart' (/repo/cart.py)" in result.stdout
    assert "Interrupted: 1 error during collection" in result.stdout


@everywhere
def test_an_exception_that_no_block_waits_for_tells_where_it_came_from(sandbox: str) -> None:
    tests = (
        "import pytest\nfrom cart import pay\n\n\ndef test_pay():\n    with pytest.raises(KeyError):\n        pay(0)\n"
    )
    text = report(sandbox, tests, cart="def pay(x):\n    raise ValueError('no')\n").stdout
    assert ">       raise ValueError('no')" in text
    assert "cart.py:2: ValueError" in text


ODDITIES = {
    "wrong type": "def test_a():\n    assert 1 + len('a') == 'x'\n",
    "not raised": "import pytest\n\n\ndef test_a():\n    with pytest.raises((KeyError, ValueError)):\n        x = 1\n",
    "no fixture": "def test_a(lost):\n    pass\n",
    "deep": "def f(n):\n    return f(n + 1)\n\n\ndef test_a():\n    f(0)\n",
    "output": "import sys\n\n\ndef test_a():\n    print('out')\n    print('err', file=sys.stderr)\n    assert False\n",
    "syntax": "def test_a(:\n    pass\n",
    "error on import": "x = 1 // 0\n",
    "several lines": "def test_a():\n    assert [\n        1,\n        2,\n    ] == [\n        1,\n        3,\n    ]\n",
    "fail": "import pytest\n\n\ndef test_a():\n    pytest.fail('told so')\n",
    "helper": "def check(x):\n    assert x == 2, f'not {x}'\n\n\ndef test_a():\n    for x in (2, 3):\n        check(x)\n",  # noqa: E501
    "empty": "",
}


@both
@pytest.mark.parametrize("name", ODDITIES)
@pytest.mark.parametrize("argv", [["-v", "-rA"], ["-q", "--tb=short"]])
def test_both_sandboxes_report_alike(name: str, argv: list[str]) -> None:
    assert report("monty", ODDITIES[name], *argv) == report("bubblewrap", ODDITIES[name], *argv)


def test_options_and_keywords() -> None:
    assert options_of(["-qqx", "-kfoo", "--tb=no", "a.py"]) == options_of(
        ["-q", "-q", "-x", "-k", "foo", "--tb", "no", "a.py"]
    )
    assert options_of(["--nonsense"]).bad == "unrecognized arguments: --nonsense"
    assert not keyword_matches("not (cart or basket)", "tests/test_cart.py::test_x")
    with pytest.raises(ValueError):
        keyword_matches("cart and", "x")


# Containment

HOSTILE = {
    "a file of the host": "print(open('/etc/passwd').read())",
    "the home folder": f"import os\nprint(os.listdir({str(Path.home())!r}))",
    "this repository": f"print(open({__file__!r}).read())",
    "a connection": "import socket\nsocket.create_connection(('1.1.1.1', 53), timeout=1)",
    "a process": "import subprocess\nsubprocess.run(['/bin/true'], check=True)",
    "a fork bomb": "import os\nwhile True:\n    os.fork()",
    "a memory bomb": "x = []\nwhile True:\n    x.append('a' * 10_000_000)",
    "one huge object": "x = ' ' * (10**12)",
    "endless recursion": "def f():\n    return f()\nf()",
    "a full disk": "n = 0\nwhile True:\n    n += 1\n    open(f'/repo/{n}', 'w').write('x' * 3_000_000)",
    "a wild pointer": "import ctypes\nctypes.string_at(0)",
}


@everywhere
@pytest.mark.parametrize("attempt", HOSTILE)
def test_hostile_programs_fail_inside(sandbox: str, attempt: str) -> None:
    result = script(sandbox, HOSTILE[attempt], timeout_s=8.0)
    assert result.exit_code != 0
    assert not result.timed_out
    assert "root:" not in result.stdout
    assert sum(map(len, result.files.values())) <= 20_000_000


@both
def test_the_guard_of_a_program_is_out_of_its_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "opensesame")
    attempts = """
import os, signal

for number in os.listdir("/proc"):
    for name in ("environ", "fd/1", "mem"):
        try:
            with open(f"/proc/{number}/{name}", "rb" if name == "environ" else "r+b") as file:
                print(file.read() if name == "environ" else number.isdigit() and int(number) != os.getpid())
        except OSError:
            pass
for sign in (signal.SIGSTOP, signal.SIGKILL):
    os.kill(1, sign)
print("over")
"""
    result = script("bubblewrap", attempts)
    assert "opensesame" not in result.stdout
    assert "True" not in result.stdout
    assert result.stdout.endswith("over\n")
    assert (result.exit_code, result.timed_out) == (0, False)


@both
@pytest.mark.parametrize(
    "told", ["5", '{"ids": 5, "outcomes": []}', '{"ids": ["x"], "outcomes": [{"number": 7}]}', "["]
)
def test_outcomes_that_a_program_tells_in_place_of_the_runner_are_no_outcomes(told: str) -> None:
    text = f"import os\nwith open('/tmp/told.json', 'w') as file:\n    file.write({told!r})\nos._exit(0)\n"
    result = report("bubblewrap", "import cart\n\n\ndef test_it():\n    assert 0\n", cart=text)
    assert result.exit_code == 5
    assert "no tests ran" in result.stdout


@everywhere
def test_endless_programs_are_stopped(sandbox: str) -> None:
    result = script(sandbox, "print('begun', flush=True)\nwhile True:\n    pass", timeout_s=0.5)
    assert (result.stdout, result.exit_code, result.timed_out) == ("begun\n", 124, True)
    assert script(sandbox, "print('next')").stdout == "next\n"


@everywhere
def test_output_is_bounded(sandbox: str) -> None:
    result = script(sandbox, "while True:\n    print('x' * 10_000)", timeout_s=2.0)
    assert result.exit_code != 0
    assert len(result.stdout) <= 1_100_000


@everywhere
def test_the_environment_of_the_host_stays_outside(sandbox: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "told")
    assert "told" not in script(sandbox, "import os\nprint(sorted(os.environ.items()))").stdout


@everywhere
def test_tests_that_do_not_end_are_stopped(sandbox: str) -> None:
    files = {f"{ROOT}/test_it.py": "def test_a():\n    pass\n\n\ndef test_b():\n    while True:\n        pass\n"}
    result = open_sandbox(sandbox).run(files, ["-m", "pytest", "-q"], cwd=ROOT, timeout_s=0.5)
    assert (result.exit_code, result.timed_out) == (124, True)


def test_a_dead_worker_is_replaced() -> None:
    sandbox = open_sandbox("monty")
    for _ in range(3):
        assert script("monty", "x = ' ' * 200_000_000 + ' ' * 200_000_000").exit_code != 0
    assert sandbox.run({}, ["-c", "print(1)"], cwd="/").stdout == "1\n"
    sandbox.close()
    assert sandbox.run({}, ["-c", "print(2)"], cwd="/").stdout == "2\n"


def test_a_sandbox_survives_a_fork() -> None:
    assert script("monty", "print(1)").stdout == "1\n"
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if script("monty", "print(2)").stdout == "2\n" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert script("monty", "print(3)").stdout == "3\n"


# Chance and time

CHANCE = {
    "time": "print(time.time(), time.time_ns(), time.monotonic(), time.gmtime(), time.strftime('%c'))",
    "dates": "print(datetime.now(), datetime.now(timezone.utc), date.today())",
    "numbers": "print(random.random(), random.Random().random(), random.sample(range(99), 9))",
    "bytes": "print(os.urandom(8), os.urandom(0))",
    "order": "print({'a', 'b', 'c', 'd', 'e', 'f'})",
}
ONLY_REAL = {
    "ids": "import uuid, secrets\nprint(uuid.uuid4(), uuid.uuid1(), secrets.token_hex())",
    "names": "import tempfile\nprint(tempfile.mkdtemp())",
    "process": "print(os.getpid(), random.SystemRandom().random(), hash('a'))",
    "clocks": "print(time.clock_gettime(0), time.process_time(), time.ctime(), time.asctime(), datetime.today())",
    "log": "import logging\nlogging.basicConfig(format='%(asctime)s %(msecs)s')\nlogging.error('')",
    "objects": "class A:\n    pass\nprint(re.sub('0x[0-9a-f]+', '', repr(A())), datetime.utcnow())",
}
NEEDED = "import os, random, re, time\nfrom datetime import date, datetime, timezone\n"


@everywhere
@pytest.mark.parametrize("program", CHANCE)
def test_two_runs_are_equal(sandbox: str, program: str) -> None:
    first, second = (script(sandbox, NEEDED + CHANCE[program]) for _ in range(2))
    assert first.exit_code == 0
    assert first == second


@both
@pytest.mark.parametrize("program", ONLY_REAL)
def test_two_runs_of_a_whole_python_are_equal(program: str) -> None:
    files, env = {"main.py": NEEDED + ONLY_REAL[program]}, {"PYTHONHASHSEED": "random"}
    first, second = (run("bubblewrap", files, *argv, env=env) for argv in (["main.py"], ["-m", "main"]))
    assert (first.exit_code, first.stdout + first.stderr != "") == (0, True)
    assert first == second


@both
@pytest.mark.parametrize("show", ["time.time()", "datetime.now()", "date.today()", "random.random()", "os.urandom(8)"])
def test_both_sandboxes_begin_alike(show: str) -> None:
    assert script("monty", f"{NEEDED}print({show})").stdout == script("bubblewrap", f"{NEEDED}print({show})").stdout
    told = [report(sandbox, f"{NEEDED}def test_it():\n    assert {show} == 0\n").stdout for sandbox in SANDBOXES]
    assert told[0] == told[1]


@everywhere
def test_sleep_takes_no_time(sandbox: str) -> None:
    result = script(sandbox, "import time\ntime.sleep(3600)\nprint('awake')", timeout_s=8.0)
    assert (result.stdout, result.timed_out) == ("awake\n", False)


@both
def test_the_clock_moves_by_what_a_program_sleeps() -> None:
    text = """
import asyncio, queue, sched, threading, time

begin = time.time()
time.sleep(2)
print(round(time.time() - begin, 2))

async def wait():
    await asyncio.gather(asyncio.sleep(600), asyncio.sleep(100))
    return await asyncio.wait_for(asyncio.to_thread(lambda: 7), 600)

print(asyncio.run(wait()), round(time.time() - begin, 2))
plan = sched.scheduler(time.time, time.sleep)
plan.enter(600, 1, print, ("due",))
plan.run()
try:
    queue.Queue().get(timeout=0.01)
except queue.Empty:
    print("empty")
waiting = [threading.Thread(target=lambda s=s: (time.sleep(s), print(s))) for s in (0.4, 0.01)]
for thread in waiting:
    thread.start()
for thread in waiting:
    thread.join()
end = time.monotonic() + 0.01
while time.monotonic() < end:
    pass
"""
    result = script("bubblewrap", text)
    assert (result.stdout.split(), result.stderr) == (["2.0", "7", "602.0", "due", "empty", "0.01", "0.4"], "")


@both
def test_a_date_with_time_is_one_as_ever() -> None:
    text = """
import copy, datetime, pickle
from datetime import timedelta

class Own(datetime.datetime):
    pass

kind, now = datetime.datetime, datetime.datetime.now()
made = [now, kind.min, kind.max, now + timedelta(1), kind.strptime("2024", "%Y"), now.astimezone(datetime.timezone.utc)]
made += [now.replace(year=2020), kind.combine(now.date(), now.time()), pickle.loads(pickle.dumps(now)), copy.copy(now)]
assert all(type(one) is kind and isinstance(one, datetime.date) for one in made)
assert isinstance(Own.now(), Own) and type(now.date()) is datetime.date
print(repr(kind(2024, 2, 29)), kind, kind.__name__, Own.__name__, now.tzinfo)
for attempt in ("kind(2024, 2, 31)", "now - now.date()", "now.year_"):
    try:
        eval(attempt)
    except Exception as error:
        print(error)
"""
    result = script("bubblewrap", text)
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "datetime.datetime(2024, 2, 29, 0, 0) <class 'datetime.datetime'> datetime Own None",
        "day is out of range for month",
        "unsupported operand type(s) for -: 'datetime.datetime' and 'datetime.date'",
        "'datetime.datetime' object has no attribute 'year_'",
    ]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_is_answered(text: str, argument: str) -> None:
    files = {"main.py": text, "test_it.py": f"def test_a():\n    assert {text}\n"}
    assert isinstance(run("monty", files, "main.py", argument, stdin=text).exit_code, int)
    assert isinstance(run("monty", files, "-m", "pytest", argument).exit_code, int)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["(", "[", "-", "not ", "lambda:", "x if ", "f'{", "a.", "1+", "\n ", "async "]),
    st.integers(1, 50_000),
)
def test_deep_sources_are_refused_or_parsed(piece: str, times: int) -> None:
    source = parse("/repo/a.py", piece * times)
    assert source.tree is not None or "Error" in source.report


@pytest.mark.parametrize("test", ["1" + "+1" * 3000, "-" * 900 + "1 == 2", "a" + ".b" * 2000, "(" * 150 + ")" * 150])
@pytest.mark.parametrize("size", [1, 3])
def test_deep_assertions_are_answered(test: str, size: int) -> None:
    text = test[: len(test) // size]
    assert report("monty", f"def test_a():\n    assert {text}\n").exit_code in (0, 1, 2, 3)


def test_edits_keep_lines_in_place() -> None:
    text = "é = [1,\n     2]\n"
    assert changed(text, [Edit((1, 5), (2, 7), "f(\n)")]) == "é = f(\n)\n"


def test_an_unknown_sandbox_is_refused() -> None:
    with pytest.raises(EngineError, match="no sandbox 'jail'"):
        open_sandbox("jail")
