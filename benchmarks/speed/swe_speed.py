"""Measures the software engineering engine on one core: steps, forks, and the memory of live sessions.

python benchmarks/speed/swe_speed.py [auto|bubblewrap|monty]
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from itertools import cycle, islice
from typing import Any

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.swe.engine import SweEngine, SweMachine

Call = dict[str, Any]


def shell(command: str) -> Call:
    """A command line."""
    return {"name": "run_shell_command", "arguments": {"command": command}}


def tool(name: str, **arguments: Any) -> Call:
    """Any other tool."""
    return {"name": name, "arguments": arguments}


CALENDAR = "/repo/duedate/calendar.py"
OLD, NEW = "return date.replace(year=year, month=month)", "return date.replace(year=year, month=month, day=1)"
CALLS = (
    tool("list_directory", path="/repo"),
    tool("read_file", absolute_path=CALENDAR),
    tool("search_file_content", pattern="add_months"),
    tool("glob", pattern="**/*.py"),
    shell("ls -la"),
    tool("edit", file_path=CALENDAR, old_string=OLD, new_string=NEW),
    shell("git diff"),
    shell("grep -rn last_day . | head -5"),
    tool("todo_write", todos=[{"id": "1", "content": "Fix", "status": "pending"}]),
    shell("git status --short"),
    tool("write_file", file_path="/repo/notes.txt", content="seen\n"),
    shell("cat README.md | wc -l; sed -n 1,5p duedate/terms.py"),
    tool("read_file", absolute_path="/repo/tests/test_calendar.py", offset=3, limit=5),
    shell("git log --oneline; git stash; git stash pop"),
    tool("edit", file_path=CALENDAR, old_string=NEW, new_string=OLD),
    shell("git add -A && git commit -qm notes"),
)
TESTS = shell("python -m pytest -q")


def state() -> dict[str, Any]:
    """The repository of a hand-written task."""
    return next(dict(task.state) for task in load_spec("swe").handwritten_tasks() if task.id == "month-overflow")


def steps(engine: SweEngine, count: int) -> float:
    """Steps per second over sessions of thirty steps, their start included."""
    start, began = state(), time.process_time()
    machine = engine.start(start, 0)
    for number, call in enumerate(islice(cycle(CALLS), count)):
        if number % 30 == 0:
            machine.close()
            machine = engine.start(start, number)
        machine.act(call)
    machine.close()
    return count / (time.process_time() - began)


def each(engine: SweEngine, repeat: int = 50) -> None:
    """Milliseconds of every call by itself."""
    for call in CALLS:
        machine = engine.start(state(), 0)
        began = time.process_time()
        for _ in range(repeat):
            machine.act(call)
        taken = (time.process_time() - began) / repeat * 1e3
        print(f"  {taken:6.2f} ms  {call['name']} {json.dumps(call['arguments'])[:60]}")


def runs(engine: SweEngine, count: int = 30) -> float:
    """Milliseconds of wall-clock time of a test run, a changed file each time."""
    machine = engine.start(state(), 0)
    machine.act(TESTS)
    began = time.perf_counter()
    for number in range(count):
        machine.act(tool("write_file", file_path="/repo/notes.txt", content=str(number)))
        machine.act(TESTS)
    return (time.perf_counter() - began) / count * 1e3


def forks(engine: SweEngine, count: int = 2_000) -> float:
    """Milliseconds of a fork."""
    machine = engine.start(state(), 0)
    for call in CALLS:
        machine.act(call)
    began = time.process_time()
    for _ in range(count):
        machine.fork().close()
    return (time.process_time() - began) / count * 1e3


def live(engine: SweEngine, count: int) -> float:
    """Mebibytes that many live sessions take, each some steps old."""
    gc.collect()
    before = resident()
    machines: list[SweMachine] = [engine.start(state(), seed) for seed in range(count)]
    for machine in machines:
        for call in CALLS[:8]:
            machine.act(call)
    taken = resident() - before
    for machine in machines:
        machine.close()
    return taken


def resident() -> float:
    """Mebibytes of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    """Print all measurements (CPU time of this process, test runs in wall-clock time)."""
    engine = SweEngine(sys.argv[1] if len(sys.argv) > 1 else "auto")
    print(f"Python runs under {engine.variant}")
    each(engine)
    print(f"steps without a test run: {steps(engine, 3_000):,.0f}/s")
    print(f"a fork: {forks(engine):.4f} ms")
    print(f"a test run: {runs(engine):.1f} ms")
    print(f"1,000 live sessions: {live(engine, 1_000):,.0f} MiB (whole process {resident():,.0f} MiB)")


if __name__ == "__main__":
    main()
