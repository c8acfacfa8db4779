"""Measures the tool servers on one core: steps, forks, starts, the memory of live sessions, and every tool by itself.

python benchmarks/speed/mcp_speed.py [--sessions 1000] [--tools shop]

The steps are the menus of generated tasks, right and wrong actions in random order, in all scenarios alike.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import time
from typing import Any

from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.mcp.engine import ToolMachine, generated, load_service, scenario_names

Episode = tuple[dict[str, Any], list[dict[str, Any]]]
"""A state and the actions of one session."""


def episode(task: Task) -> Episode:
    """Every action of a task's menu, twice over."""
    return dict(task.state), 2 * [json.loads(action) for action in task.menu if not finishes(action)]


def steps(episodes: list[Episode], controls: Controls) -> tuple[float, float]:
    """Steps per second without and with the start of each session."""
    count, acting, starting = 0, 0.0, 0.0
    for state, actions in episodes:
        began = time.process_time()
        machine = ToolMachine.start(state, 0, controls)
        started = time.process_time()
        for action in actions:
            machine.act(action)
        acting += time.process_time() - started
        starting += started - began
        count += len(actions)
        machine.close()
    return count / acting, count / (acting + starting)


def fork_ms(state: dict[str, Any], count: int = 300) -> float:
    """Milliseconds of one fork and of the first call on it."""
    machine = ToolMachine.start(state, 0)
    action = {"name": next(iter(machine.service.tools)), "arguments": {}}
    began = time.process_time()
    for _ in range(count):
        fork = machine.fork()
        fork.act(action)
        fork.close()
    return (time.process_time() - began) / count * 1000


def start_ms(state: dict[str, Any], count: int = 200) -> float:
    """Milliseconds of one start."""
    began = time.process_time()
    for _ in range(count):
        ToolMachine.start(state, 0).close()
    return (time.process_time() - began) / count * 1000


def live(episodes: list[Episode], count: int) -> float:
    """Mebibytes that many live sessions take, each some steps old."""
    gc.collect()
    before = resident()
    machines = []
    for number in range(count):
        state, actions = episodes[number % len(episodes)]
        machines.append(ToolMachine.start(state, number))
        for action in actions[:8]:
            machines[-1].act(action)
    taken = resident() - before
    for machine in machines:
        machine.close()
    return taken


def resident() -> float:
    """Mebibytes of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def each(episodes: list[Episode], scenario: str) -> None:
    """Microseconds of every tool that the tasks of a scenario use, refused calls included."""
    spent: dict[str, list[float]] = {}
    for state, actions in episodes:
        if state["scenario"] == scenario:
            machine = ToolMachine.start(state, 0)
            for action in actions:
                began = time.perf_counter()
                machine.act(action)
                spent.setdefault(action["name"], []).append(time.perf_counter() - began)
            machine.close()
    for name, times in sorted(spent.items()):
        print(f"  {sum(times) / len(times) * 1e6:7.0f} µs  {name}  ({len(times)} calls)")


def main() -> None:
    """Print all measurements (CPU time of this process)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--tools", choices=scenario_names(), help="also measure every tool of this scenario")
    options = parser.parse_args()
    episodes = [
        episode(generate("mcp", family, level, seed))
        for family in families("mcp")
        for level in (1, 2, 3)
        for seed in range(8)
    ]
    for name in ("calm", "every control at 0.2"):
        controls = Controls({} if name == "calm" else dict.fromkeys(load_spec("mcp").controls, 0.2))
        acting, whole = steps(episodes, controls)
        print(f"steps, {name}: {acting:,.0f}/s; with the start of each session: {whole:,.0f}/s")
    for scenario in scenario_names():
        small = next(state for state, _ in episodes if state["scenario"] == scenario)
        full = {"scenario": scenario, "size": "full", "seed": 0}
        tools, size = len(load_service(scenario).tools), len(generated(scenario, "full", 0)) / 1024
        print(
            f"{scenario} ({tools} tools; {size:.0f} KiB at full size): start from told rows {start_ms(small):.2f} ms, "
            f"fork and a call {fork_ms(small):.2f} ms, at full size {fork_ms(full):.2f} ms"
        )
    if options.tools:
        each(episodes, options.tools)
    print(f"{options.sessions:,} live sessions: {live(episodes, options.sessions):,.0f} MiB")


if __name__ == "__main__":
    main()
