"""Steps a second of MaskablePPO against a server whose latencies are log-normal: rollouts in waves, and asynchronous.

    python benchmarks/speed/sb3_rollouts.py [--envs 64] [--steps 32] [--rollouts 2] [--latency 0.5] [--sigma 1]

Both learn from the same number of steps, and the time of the updates counts. The bound is what continuous batching
could give: every environment always has a request open.
"""

from __future__ import annotations

import argparse
import time

import stub
import torch
from sb3_contrib import MaskablePPO
from waves import ANSWER

from agentworld_gym.integrations.sb3 import asynchronous, make_sb3_env, train_ppo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--steps", type=int, default=32, help="steps of each environment in a rollout")
    parser.add_argument("--rollouts", type=int, default=2)
    parser.add_argument("--latency", type=float, default=0.5, help="the median in seconds")
    parser.add_argument("--sigma", type=float, default=1.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    stub.raise_open_files()
    total = options.envs * options.steps * options.rollouts
    print("| rollouts | steps/s | bound | share of the bound |\n|---|---|---|---|")
    with stub.server(options.latency, ANSWER, options.sigma) as base:
        for name, algorithm in (("in waves", MaskablePPO), ("asynchronous", asynchronous(MaskablePPO))):
            world = f"{base}/v1"
            env = make_sb3_env("AgentWorld/Terminal-v0", options.envs, seed=0, world=world, max_steps=12)
            stub.mean_latency(base)
            began = time.perf_counter()
            train_ppo(env, total, algorithm=algorithm, n_steps=options.steps, batch_size=256, n_epochs=2)
            steps = total / (time.perf_counter() - began)
            bound = options.envs / stub.mean_latency(base)
            env.close()
            stub.taken(base)
            print(f"| {name} | {steps:,.1f} | {bound:,.0f} | {steps / bound:.3f} |", flush=True)


if __name__ == "__main__":
    main()
