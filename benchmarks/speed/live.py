"""Many live systems at once: how long they take to start, steps a second, and memory.

    python benchmarks/speed/live.py ENV CONFIG ACTION [--members 64] [--steps 20] [--async-members 16]

`CONFIG` is the YAML file of a live system and ENV its environment; every member takes the same action again and again.
The vector environment of this package is measured beside Gymnasium's `AsyncVectorEnv` over the same system, which has a
Python process for each member. Memory is that of this process and of all that it started, beside what it held before;
what several processes share counts by its share.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentworld_gym.core.registration import find_domain
from agentworld_gym.kit.live.process_watch import family_of


def main() -> None:
    """Measure both, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env", help="the domain, such as mcp")
    parser.add_argument("config")
    parser.add_argument("action")
    parser.add_argument("--members", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--async-members", type=int, default=16)
    asked = parser.parse_args()
    domain = find_domain(asked.env)
    if domain is None:
        parser.error(f"{asked.env} is no domain")
    options = {"world": f"live:{os.path.abspath(asked.config)}", "max_steps": asked.steps + 1}
    name = f"agentworld_gym:{domain.env_id}"
    print(f"load before: {os.getloadavg()[0]:.0f}")
    print(f"{'':24} members   start s   steps/s   MiB a member")
    ours = partial(gym.make_vec, name, num_envs=asked.members, **options)
    _measure("one vector environment", ours, asked.members, asked.action, asked.steps)
    if asked.async_members:
        each = partial(gym.make, name, **options)
        others = partial(gym.vector.AsyncVectorEnv, [each] * asked.async_members, shared_memory=False)
        _measure("AsyncVectorEnv", others, asked.async_members, asked.action, asked.steps)


def _measure(name: str, make: Callable[[], Any], members: int, action: str, steps: int) -> None:
    before = _held()
    began = time.perf_counter()
    envs = make()
    envs.reset(seed=list(range(members)))
    started = time.perf_counter() - began
    began = time.perf_counter()
    failed = 0
    for _ in range(steps):
        failed += int(envs.step([action] * members)[3].sum())
    seconds = time.perf_counter() - began
    held = _held() - before
    envs.close()
    rate = members * steps / seconds
    print(f"{name:24} {members:7} {started:9.2f} {rate:9.0f} {held / members / (1 << 20):14.0f}", flush=True)
    if failed:
        print(f"  {failed} steps failed")


def _held() -> int:
    return sum(map(_proportional, family_of(os.getpid())))


def _proportional(pid: int) -> int:
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return 0


if __name__ == "__main__":
    main()
