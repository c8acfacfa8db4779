"""The library's own cost of a step, with a generator that answers at once: rendering, parsing, checks and logs.

    python benchmarks/speed/step_cost.py

Prints microseconds for one environment, and per member for a wave of 1,024, at turns 2 and 50, logging included.
"""

from __future__ import annotations

import argparse
import tempfile
import time

import gymnasium as gym

from agentworld_gym import register_world
from agentworld_gym.llm.generators import ScriptedGenerator

ENV_ID = "AgentWorld/Terminal-v0"
ANSWER = (
    "<predicted_observation>ls -la\ntotal 8\n-rw-r--r-- 1 dev dev 12 a.txt\ndev@box:~/work$</predicted_observation>"
)


def single(traces: str, turns: int) -> list[float]:
    env = gym.make(ENV_ID, world="instant", max_steps=10_000, traces=traces)
    env.reset(seed=0)
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        env.step("ls -la")
        times.append((time.perf_counter() - began) * 1e6)
    env.close()
    return times


def wave(traces: str, turns: int, members: int) -> list[float]:
    envs = gym.make_vec(ENV_ID, num_envs=members, world="instant", max_steps=10_000, traces=traces)
    envs.reset(seed=0)
    actions = ["ls -la"] * members
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        envs.step(actions)
        times.append((time.perf_counter() - began) / members * 1e6)
    envs.close()
    return times


def median(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def around(turns: list[list[float]], turn: int) -> float:
    """The median over repeats and the turns next to one."""
    return median([time for run in turns for time in run[turn - 2 : turn + 1]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    register_world("instant", lambda options: options.language(ScriptedGenerator(lambda request: ANSWER)))
    with tempfile.TemporaryDirectory() as traces:
        singles = [single(traces, 60) for _ in range(args.repeats * 3)]
        waves = [wave(traces, 52, args.members) for _ in range(args.repeats)]
    print("| microseconds a step | turn 2 | turn 50 | ratio |")
    print("|---|---|---|---|")
    for name, runs in (("one environment", singles), (f"a member of a wave of {args.members}", waves)):
        early, late = around(runs, 3), around(runs, 50)
        print(f"| {name} | {early:.0f} | {late:.0f} | {late / early:.2f} |")


if __name__ == "__main__":
    main()
