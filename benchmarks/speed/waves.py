"""Steps a second against a server whose latencies are log-normal: synchronous waves, and `send` with `recv`.

    python benchmarks/speed/waves.py [--envs 256] [--seconds 60] [--latency 0.5] [--sigma 1]

The bound is what continuous batching could give: every environment always has a request open, so that there are
`envs / mean latency` steps a second, with the mean of the latencies that the server drew while the row was measured.
The exit status tells whether `send` and `recv` reach 0.9 of their bound.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import stub

import agentworld_gym  # noqa: F401  (registers the ids)

ANSWER = "<predicted_observation>\nuser@host:~$ ls\nnotes.txt  report.txt\nuser@host:~$ \n</predicted_observation>"
TARGET = 0.9


def synchronous(envs: Any, seconds: float) -> tuple[int, float]:
    """Steps, and the seconds of the waves that they took."""
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        envs.step(["ls -la"] * envs.num_envs)
        steps += envs.num_envs
    return steps, time.perf_counter() - began


def as_they_come(envs: Any, seconds: float) -> tuple[int, float]:
    """Steps that were handed out, and the seconds that they took."""
    began, steps = time.perf_counter(), 0
    envs.send(["ls -la"] * envs.num_envs)
    while time.perf_counter() - began < seconds:
        infos = envs.recv()[4]
        steps += len(infos["env_id"])
        envs.send(["ls -la"] * len(infos["env_id"]), infos["env_id"])
    return steps, time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--latency", type=float, default=0.5, help="the median in seconds")
    parser.add_argument("--sigma", type=float, default=1.0)
    options = parser.parse_args()
    stub.raise_open_files()
    rows: list[tuple[str, Callable[[Any, float], tuple[int, float]]]] = [
        ("`step`, synchronous waves", synchronous),
        ("`send` and `recv`", as_they_come),
    ]
    print("| | steps/s | bound | share of the bound |\n|---|---|---|---|")
    share = 0.0
    with stub.server(options.latency, ANSWER, options.sigma) as base:
        for name, run in rows:
            made = gym.make_vec("AgentWorld/Terminal-v0", options.envs, world=f"{base}/v1", max_steps=100_000)
            envs: Any = made.unwrapped
            envs.reset(seed=0)
            stub.mean_latency(base)
            steps, seconds = run(envs, options.seconds)
            bound = options.envs / stub.mean_latency(base)
            envs.close()
            stub.taken(base)
            share = steps / seconds / bound
            print(f"| {name} | {steps / seconds:,.0f} | {bound:,.0f} | {share:.3f} |", flush=True)
    return 0 if share >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
