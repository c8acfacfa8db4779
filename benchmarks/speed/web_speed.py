"""Measures the web engine on one core: steps, forks, starts, and the memory of live sessions.

python benchmarks/speed/web_speed.py [--sessions 1000] [--steps 3000]

The steps are random walks over all sites: links, searches, forms, drop-down lists, dialogs, tabs, keys, Back. What is
done is chosen beforehand, so that choosing costs nothing.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from typing import Any

from web_walk import Action, next_action, states

from agentworld_gym.domains.web.engine.machine import WebMachine

Walk = tuple[dict[str, Any], int, list[Action]]


def walks(count: int, length: int) -> list[Walk]:
    """That many random walks: a state, a seed, and the actions."""
    found: list[Walk] = []
    for number, state in enumerate(states(count)):
        machine, rng, actions = WebMachine.start(state, number), random.Random(number), []
        for _ in range(length):
            actions.append(next_action(machine.observation, rng))
            machine.act(actions[-1])
        machine.close()
        found.append((state, number, actions))
    return found


def steps(episodes: list[Walk]) -> tuple[float, float]:
    """Steps per second without and with the start of each session."""
    count, acting, starting = 0, 0.0, 0.0
    for state, seed, actions in episodes:
        began = time.process_time()
        machine = WebMachine.start(state, seed)
        started = time.process_time()
        for action in actions:
            machine.act(action)
        acting += time.process_time() - started
        starting += started - began
        count += len(actions)
        machine.close()
    return count / acting, count / (acting + starting)


def fork_ms(episodes: list[Walk]) -> tuple[float, float]:
    """Milliseconds of one fork, and of one fork with the first action on it."""
    forking, acting, count = 0.0, 0.0, 0
    for state, seed, actions in episodes:
        machine = WebMachine.start(state, seed)
        for action in actions:
            began = time.process_time()
            fork = machine.fork()
            forked = time.process_time()
            fork.act(action)
            acting += time.process_time() - began
            forking += forked - began
            fork.close()
            machine.act(action)
            count += 1
        machine.close()
    return forking / count * 1000, acting / count * 1000


def live(episodes: list[Walk], count: int) -> float:
    """Mebibytes that many live sessions take, each some steps old."""
    gc.collect()
    before = resident()
    machines = []
    for number in range(count):
        state, seed, actions = episodes[number % len(episodes)]
        machines.append(WebMachine.start(state, seed))
        for action in actions[:8]:
            machines[-1].act(action)
    taken = resident() - before
    for machine in machines:
        machine.close()
    return taken


def resident() -> float:
    """Mebibytes of memory that the process holds at present."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sessions", type=int, default=1000, help="how many live sessions")
    parser.add_argument("--steps", type=int, default=3000, help="how many steps are timed")
    options = parser.parse_args()
    episodes = walks(max(1, options.steps // 25), 25)
    gc.collect()
    acting, with_starts = steps(episodes)
    fork, fork_and_act = fork_ms(episodes[:: max(1, len(episodes) // 16)])
    result = {
        "steps a second": round(acting),
        "steps a second with starts": round(with_starts),
        "fork ms": round(fork, 3),
        "fork and first action ms": round(fork_and_act, 3),
        f"MiB of {options.sessions} live sessions": round(live(episodes, options.sessions)),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
