"""The single-file PPO of the examples beside the PPO of Stable-Baselines3 and random choices, on the same tasks.

    python benchmarks/research/single_file_ppo.py [--steps 16384] [--seeds 0 1 2]

All train on the families of `examples/clients/cleanrl_ppo.py` for the same steps on as many environments, and play the
same unseen tasks once. Stable-Baselines3 runs with `MenuPolicy`, which scores the menu's entries by their texts as the
single file does, and with its own `MlpPolicy`, which has one output for each place of the menu. Intervals are Wilson's
for one run, and bootstrapped over runs and episodes for all of them.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path
from typing import Any

import torch
from stable_baselines3 import PPO

from agentworld_gym.agents.policies.playing import play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.sb3 import MenuPolicy, bootstrap_interval, evaluate_policy, make_sb3_env
from agentworld_gym.integrations.sb3.ppo import DEFAULTS

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "clients" / "cleanrl_ppo.py"
POLICIES: dict[str, Any] = {"MenuPolicy": MenuPolicy, "MlpPolicy": "MlpPolicy"}


def single_file() -> Any:
    """Import the example."""
    spec = importlib.util.spec_from_file_location("cleanrl_ppo", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stable_baselines3(example: Any, policy: str, steps: int, seed: int) -> list[bool]:
    """Train PPO of Stable-Baselines3, and return the success on each of the unseen tasks."""
    tasks = {"families": example.FAMILIES, "levels": [1], "max_steps": 12}
    env = make_sb3_env("AgentWorld/Terminal-v0", example.MEMBERS, 1000 * seed, **tasks)
    model = PPO(POLICIES[policy], env, seed=seed, device="cpu", **DEFAULTS).learn(steps)
    env.close()
    played = evaluate_policy(model, "AgentWorld/Terminal-v0", range(example.TESTED), **tasks)
    return [bool(one.success) for one in played.episodes]


def at_random(example: Any, seed: int) -> list[bool]:
    """Return the success of random choices on each of the unseen tasks."""
    tasks: dict[str, Any] = {"families": example.FAMILIES, "levels": [1], "max_steps": 12}
    runner = EnvOptions(spec="terminal", world="grounded", split="test", **tasks).runner()
    played = list(play(runner, open_policy("menu", runner.spec, seed), range(example.TESTED)))
    runner.close()
    return [bool(one.success) for one in played]


def main() -> None:
    """Measure, and print a line for each run and each agent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=16_384)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--agents", nargs="+", default=["single file", *POLICIES, "random"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    example = single_file()
    for agent in options.agents:
        runs = []
        for seed in options.seeds:
            began = time.process_time()
            if agent == "single file":
                share = example.main(options.steps, seed)
                solved = round(share * example.TESTED)
                successes = [True] * solved + [False] * (example.TESTED - solved)
            elif agent == "random":
                successes = at_random(example, seed)
            else:
                successes = stable_baselines3(example, agent, options.steps, seed)
            runs.append([float(one) for one in successes])
            print(f"{agent}, seed {seed}: {proportion(successes)}, {time.process_time() - began:.0f} s", flush=True)
        low, high = bootstrap_interval(runs)
        mean = sum(map(sum, runs)) / sum(map(len, runs))
        print(f"{agent}: {mean:.3f} ({low:.3f} to {high:.3f}) in {len(runs)} runs", flush=True)


if __name__ == "__main__":
    main()
