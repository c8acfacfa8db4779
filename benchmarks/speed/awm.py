"""Worlds of Agent World Model here, and beside them AWM's own way of running them, on the same world in the same run.

    AGENTWORLD_AWM_PYTHON=awm/bin/python python benchmarks/speed/awm.py [--worlds awm:DIR] [--rounds 5]

AWM's way is a server process for each world, called over MCP: `pip install fastapi-mcp==0.4.0 mcp==1.13.1` beside the
libraries of constraints-awm.txt. Without them only this package is measured. `--worlds` measures a folder of AWM's own
worlds; otherwise the world of the usual size from the tests is taken. Memory is measured by `awm_memory.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))

import awm_worlds  # noqa: E402

from agentworld_gym.core.actions.toolset import example_call  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.libraries import VARIABLE  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine, act_all  # noqa: E402

SERVER = Path(__file__).with_name("awm_server.py")
CALLS = 60
"""The calls of a round."""

WAVE = 128
"""The sessions of a wave."""

KEEPING, REMEMBER = "keeping", "SEEN.append(word)\nreturn {'seen': SEEN}"
"""The world that keeps a list in its module, so that each session has a process, and the body of its endpoint."""

KEPT = 128
"""The sessions of that world that are begun."""


def eight_worlds(folder: Path) -> Path:
    """Write the world of the usual size under eight names."""
    worlds = []
    for number in range(8):
        world = awm_worlds.harbor(40 + number)
        for rows in world.values():
            for row in rows:
                key = "name" if "name" in row else "scenario"
                row[key] = f"{row[key]} {number}"
        worlds.append(world)
    return awm_worlds.write(folder, *worlds, awm_worlds.attacks({"remember": REMEMBER}, KEEPING))


def reading_calls(tools: Any) -> list[dict[str, Any]]:
    """Return a call with the fewest arguments for each tool that lists or reads."""
    calls = [json.loads(example_call(tool)) for tool in tools]
    return [call for call in calls if call["name"].startswith(("list", "get", "search", "read", "find"))] or calls


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that an action took, and its result."""
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def family_of(root: int) -> list[int]:
    """Return a process and all below it."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += parents.get(pid, [])
    return found


def cpu_of(root: int) -> float:
    """Return the seconds of CPU time that a process and all below it took, those that have ended included."""
    total = 0.0
    for pid in family_of(root):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def memory_of(root: int) -> float:
    """Return the memory of a process and all below it in MiB, shared pages counted once."""
    total = 0.0
    for pid in family_of(root):
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(float(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))
    return total


class AwmServer:
    """A world as AWM runs it."""

    def __init__(self, engine: AwmEngine, name: str, folder: Path) -> None:
        self.python = os.environ.get(VARIABLE, sys.executable)
        self.folder = folder
        about = engine.server(name).about
        (folder / "world.py").write_text(engine.files.scenario(name).code)
        (folder / "world.db").write_bytes(about.initial)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        paths = str(folder / "world.py"), str(folder / "world.db"), str(self.port)
        began = time.perf_counter()
        self.process = subprocess.Popen([self.python, str(SERVER), "serve", *paths], stderr=subprocess.DEVNULL)
        while not self._answers():
            if self.process.poll() is not None or time.perf_counter() - began > 60:
                raise RuntimeError("the server of AWM does not start: is fastapi-mcp installed?")
            time.sleep(0.01)
        self.start_seconds = time.perf_counter() - began

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/openapi.json", timeout=5).close()
        except (urllib.error.URLError, OSError):
            return False
        return True

    def called(self, calls: list[dict[str, Any]], count: int) -> tuple[list[float], float]:
        """Return the seconds of some calls, and the CPU time that the client took for them."""
        path = self.folder / "calls.json"
        path.write_text(json.dumps(calls))
        command = [self.python, str(SERVER), "call", str(self.port), str(path), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        return told["seconds"], told["cpu"]

    def bare(self, calls: list[dict[str, Any]], count: int) -> tuple[list[float], float]:
        """Return the seconds of some calls of the bare app in one process, and the CPU time that they took."""
        path = self.folder / "calls.json"
        path.write_text(json.dumps(calls))
        paths = str(self.folder / "world.py"), str(self.folder / "world.db"), str(path)
        command = [self.python, str(SERVER), "bare", *paths, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        return told["seconds"], told["cpu"]

    def close(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait()


def has_fastapi_mcp() -> bool:
    """Return whether AWM's own way can be measured."""
    code = "import importlib.util as u, sys; sys.exit(not (u.find_spec('fastapi_mcp') and u.find_spec('mcp')))"
    return not subprocess.run([os.environ.get(VARIABLE, sys.executable), "-c", code], check=False).returncode


def show(name: str, value: float, unit: str) -> None:
    """Print one figure."""
    print(f"{name:<58}{value:>10.2f} {unit}", flush=True)


def measure(engine: AwmEngine, rounds: int, folder: Path) -> None:
    """Measure and print everything."""
    name = next(name for name in engine.files.names if name != KEEPING)
    started, _ = timed(engine._sandbox_of_worlds)
    show("the pre-loaded process starts", started, "s")
    first, machine = timed(lambda: engine.start(name, 0))
    show("the first session of a world", first, "s")
    begun = [timed(lambda: engine.start(name, 1)) for _ in range(50)]
    show("the next session (median)", 1e3 * statistics.median(seconds for seconds, _ in begun), "ms")
    forked = [timed(machine.fork) for _ in range(50)]
    show("a fork (median)", 1e3 * statistics.median(seconds for seconds, _ in forked), "ms")
    for _, made in (*begun, *forked):
        made.close()
    if KEEPING in engine.files.names:
        keeping(engine)
    calls = reading_calls(machine.tools)
    steps(engine, name, machine, calls, rounds, folder)


def keeping(engine: AwmEngine) -> None:
    """Measure sessions that have a process each."""
    engine.start(KEEPING, 0).close()
    spent = cpu_of(os.getpid())
    begun = [timed(lambda: engine.start(KEEPING, 1)) for _ in range(KEPT)]
    show("a world that keeps state: the next session (median)", 1e3 * middle(begun), "ms")
    show("the same, CPU time", 1e3 * (cpu_of(os.getpid()) - spent) / KEPT, "ms")
    begun[0][1].act({"name": "remember", "arguments": {"word": "a"}})
    spent = cpu_of(os.getpid())
    forked = [timed(begun[0][1].fork) for _ in range(50)]
    show("the same, a fork (median)", 1e3 * middle(forked), "ms")
    show("the same, CPU time", 1e3 * (cpu_of(os.getpid()) - spent) / 50, "ms")
    for _, machine in (*begun, *forked):
        machine.close()


def middle(made: list[tuple[float, Any]]) -> float:
    """Return the median of the seconds of some actions."""
    return statistics.median(seconds for seconds, _ in made)


def steps(
    engine: AwmEngine, name: str, machine: AwmMachine, calls: list[dict[str, Any]], rounds: int, folder: Path
) -> None:
    """Measure a step here, alone and in a wave, and a step of AWM, in turns: its seconds, and its CPU time.

    CPU time is that of all processes that take part. It hardly depends on what else the machine does. A call with an
    argument that no tool has is answered as without it, but was not made before.
    """
    fresh = count()
    wave = [engine.start(name, seed) for seed in range(WAVE)]
    asked = [calls[place % len(calls)] for place in range(WAVE)]

    def new(call: dict[str, Any]) -> dict[str, Any]:
        return {**call, "arguments": {**call["arguments"], "none_such": next(fresh)}}

    def single(made: list[dict[str, Any]]) -> list[float]:
        return [timed(partial(machine.act, call, check=False))[0] for call in made]

    def waved(made: list[dict[str, Any]]) -> list[float]:
        return [timed(lambda: act_all(wave, [(call, False) for call in made]))[0] / WAVE] * WAVE

    ways: dict[str, Callable[[], list[float]]] = {
        "first": lambda: single([new(call) for call in calls * 6]),
        "again": lambda: single(calls * 6),
        "first in a wave": lambda: waved([new(call) for call in asked]),
        "again in a wave": lambda: waved(asked),
    }
    seconds: dict[str, list[float]] = {kind: [] for kind in (*ways, "the bare app", "AWM")}
    spent = dict.fromkeys(seconds, 0.0)
    server = AwmServer(engine, name, folder) if has_fastapi_mcp() else None
    single(calls)
    for _ in range(rounds):
        for kind, way in ways.items():
            before = cpu_of(os.getpid())
            seconds[kind] += way()
            spent[kind] += cpu_of(os.getpid()) - before
        if server is not None:
            before = cpu_of(server.process.pid)
            told, cpu = server.called(calls, CALLS)
            seconds["AWM"] += told
            spent["AWM"] += cpu + cpu_of(server.process.pid) - before
            told, cpu = server.bare(calls, CALLS)
            seconds["the bare app"] += told
            spent["the bare app"] += cpu
    for each in wave:
        each.close()
    medians = {kind: statistics.median(each) for kind, each in seconds.items() if each}
    costs = {kind: spent[kind] / len(each) for kind, each in seconds.items() if each}
    for kind, median in medians.items():
        ratios = f"{medians['AWM'] / median:8.1f} x{costs['AWM'] / costs[kind]:8.1f} x" if server else ""
        line = f"a step, {kind:<20}{1e3 * median:8.2f} ms (median){1e3 * costs[kind]:8.2f} ms of CPU"
        print(line + ratios, flush=True)
    if server is None:
        print("AWM's own way is not measured: fastapi-mcp is not installed")
        return
    show("AWM: its server starts", server.start_seconds, "s")
    show("AWM: memory of the server of one world", memory_of(server.process.pid), "MiB")
    server.close()


def main() -> None:
    """Run the benchmark."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--worlds", help="a folder of AWM's worlds, as awm:DIR")
    options.add_argument("--rounds", type=int, default=5, help="how often each way is measured")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        worlds = Path(chosen.worlds.removeprefix("awm:")) if chosen.worlds else eight_worlds(folder / "worlds")
        engine = AwmEngine(AwmFiles(worlds), processes=2 * KEPT)
        try:
            print(", ".join(f"{library} {version}" for library, version in engine.libraries.versions))
            measure(engine, chosen.rounds, folder)
        finally:
            engine.close()


if __name__ == "__main__":
    main()
