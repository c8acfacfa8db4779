"""Memory of sessions in worlds of Agent World Model: where they share a process, and where each has its own.

    AGENTWORLD_AWM_PYTHON=awm/bin/python python benchmarks/speed/awm_memory.py [--sessions 1024] [--processes 64]
        [--steps 4]
    AGENTWORLD_AWM_PYTHON=awm/bin/python python benchmarks/speed/awm_memory.py --worlds 128 [--kept 128]

First, sessions over eight worlds that share processes call tools that read and write. Then the same is done in a world
with a list in its module, which gives each session a process of its own; what such a process holds by itself is told
after some calls, and then the CPU time of a step where there are more sessions than processes. All worlds are the one
of the usual size from the tests.

With `--worlds`, one session each of that many worlds that differ in all they have is played instead, and at most
`--kept` of them have processes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))

import awm_many  # noqa: E402
import awm_worlds  # noqa: E402
from awm import KEEPING, cpu_of, eight_worlds, family_of, memory_of, show  # noqa: E402

from agentworld_gym.core.actions.toolset import example_call  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine, act_all  # noqa: E402
from agentworld_gym.domains.mcp.awm.engine.process_limit import PROCESSES, WORLDS  # noqa: E402

LOOKS = (0, 1, 2, 10, 50)
"""After how many calls the memory of a process is looked at."""

KEEPS = "\nSEEN = []\n\ndef remember(word):\n    SEEN.append(word)\n"


def keeping_world() -> Any:
    """Return the world of the usual size, with a list in its module."""
    world = awm_worlds.harbor()
    world["gen_envs.jsonl"][0]["full_code"] += KEEPS
    return world


def calls_of(machine: AwmMachine) -> list[dict[str, Any]]:
    """Return a call of each tool."""
    return [json.loads(example_call(tool)) for tool in machine.tools]


def of_one(engine: AwmEngine, name: str) -> None:
    """Tell what the process of a session holds that it shares with no other one, after some calls."""
    engine.start(name, 0).close()
    known = set(family_of(os.getpid()))
    machine, _other = engine.start(name, 0), engine.start(name, 1)
    pid = min(set(family_of(os.getpid())) - known)
    calls = calls_of(machine)
    for made in range(LOOKS[-1] + 1):
        if made in LOOKS:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            held = sum(float(line.split()[1]) / 1024 for line in lines if line.startswith("Private_Dirty:"))
            show(f"a process of its own after {made} calls", held, "MiB")
        machine.act(calls[made % len(calls)], check=False)
    machine.close()
    _other.close()


def of_many(engine: AwmEngine, names: Sequence[str], sessions: int, steps: int) -> None:
    """Tell the memory of many sessions, this process included, and the CPU time of a step of each."""
    machines = [engine.start(names[seed % len(names)], seed) for seed in range(sessions)]
    calls = calls_of(machines[0])
    for step in range(steps):
        before = cpu_of(os.getpid())
        act_all(machines, [(calls[(step + number) % len(calls)], False) for number in range(sessions)])
        show(f"step {step + 1} of {sessions} sessions, CPU time", 1e3 * (cpu_of(os.getpid()) - before) / sessions, "ms")
    show(f"memory of {sessions} sessions over {len(names)} worlds", memory_of(os.getpid()), "MiB")
    own = sum(bool(engine.server(name).about.alone) for name in names)
    show("worlds of these in which each session has a process", own, "")


def of_worlds(engine: AwmEngine, steps: int) -> None:
    """Tell the memory of sessions of many worlds as these are begun, and again when each has made some calls."""
    machines, most, alone = list[AwmMachine](), 0.0, memory_of(os.getpid())
    looks = {2**power for power in range(12)} | {len(engine.files.names)}
    for number, name in enumerate(engine.files.names, 1):
        began = cpu_of(os.getpid())
        machines.append(engine.start(name, number))
        seconds = cpu_of(os.getpid()) - began
        if number in looks:
            most = max(most, memory_of(os.getpid()))
            show(f"memory of {number} worlds that were begun", memory_of(os.getpid()), "MiB")
            show("CPU time to load the last of them", seconds, "s")
    calls = [calls_of(machine) for machine in machines]
    for step in range(steps):
        began = cpu_of(os.getpid())
        for number, machine in enumerate(machines):
            machine.act(calls[number][step % len(calls[number])], check=False)
        mean = 1e3 * (cpu_of(os.getpid()) - began) / len(machines)
        now = memory_of(os.getpid())
        most = max(most, now)
        show(f"step {step + 1} of all, CPU time of each", mean, "ms")
        show("memory after it", now, "MiB")
    show("the most memory at these moments", most, "MiB")
    kept = min(len(machines), engine.limits.worlds.most)
    show("of it, for each world that has processes", (most - alone) / kept, "MiB")
    for machine in machines:
        machine.close()
    now = memory_of(os.getpid())
    show("memory when all worlds are loaded and nobody plays", now, "MiB")
    show("of it, for each world that stays loaded", (now - alone) / kept, "MiB")


def main() -> None:
    """Run the benchmark."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--sessions", type=int, default=1024)
    options.add_argument("--processes", type=int, default=PROCESSES)
    options.add_argument("--steps", type=int, default=4)
    options.add_argument("--worlds", type=int, default=0)
    options.add_argument("--kept", type=int, default=WORLDS)
    chosen = options.parse_args()
    if chosen.worlds:
        with tempfile.TemporaryDirectory() as folder:
            many = map(awm_many.different, range(chosen.worlds))
            engine = AwmEngine(AwmFiles(awm_worlds.write(Path(folder), *many)), loaded=chosen.kept, worlds=chosen.kept)
            try:
                of_worlds(engine, chosen.steps)
            finally:
                engine.close()
        return
    with tempfile.TemporaryDirectory() as folder:
        engine = AwmEngine(AwmFiles(eight_worlds(Path(folder))))
        try:
            of_many(engine, [name for name in engine.files.names if name != KEEPING], chosen.sessions, chosen.steps)
        finally:
            engine.close()
    with tempfile.TemporaryDirectory() as folder:
        engine = AwmEngine(AwmFiles(awm_worlds.write(Path(folder), keeping_world())), chosen.processes)
        try:
            [name] = engine.files.names
            of_one(engine, name)
            of_many(engine, [name], chosen.sessions, chosen.steps)
        finally:
            engine.close()


if __name__ == "__main__":
    main()
