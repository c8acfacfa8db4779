"""PPO in the grounded terminal: an agent that learns to read files before it writes them.

    python examples/ppo_terminal.py                                   # one family
    python examples/ppo_terminal.py --steps 120000 --levels 1 2 --families all
    python examples/ppo_terminal.py --world http://localhost:8000/v1  # train inside a language world model

The script reads from top to bottom. It needs `pip install -e '.[sb3]'` in a clone.
"""

from __future__ import annotations

import argparse

import torch
from sb3_contrib import MaskablePPO

from agentworld_gym.agents.policies.menu_policy import MenuPolicy
from agentworld_gym.agents.progress import live
from agentworld_gym.integrations.sb3.evaluate import evaluate_policy
from agentworld_gym.integrations.sb3.ppo import DEFAULTS, CurveCallback, CurvePoint
from agentworld_gym.integrations.sb3.vec_env import make_sb3_env

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--world", default="grounded", help="who plays the terminal")
parser.add_argument("--lock", help="stop if the world is another one than this file pins (agentworld lock)")
parser.add_argument("--families", nargs="+", default=["copy_move"], help="names of families, or: all")
parser.add_argument("--levels", nargs="+", type=int, default=[1])
parser.add_argument("--steps", type=int, default=16_000)
parser.add_argument("--num-envs", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--save", help="a file for the trained agent")
parser.add_argument("--tensorboard", help="a folder for the curves of the run")
arguments = parser.parse_args()

# The matrices are small: one thread is faster than two, and leaves the other core free.
torch.set_num_threads(1)
families = None if arguments.families == ["all"] else arguments.families
tasks = {"families": families, "levels": arguments.levels, "world": arguments.world, "lock": arguments.lock}

# This VecEnv steps all members in one wave of the world. The agent sees vectors instead of texts, and chooses from the
# task's menu instead of writing actions. Twelve steps are more than any of these tasks needs; a lower limit gives more
# episodes.
env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=arguments.num_envs, seed=arguments.seed, max_steps=12, **tasks)

# `MenuPolicy` scores all entries of a menu with the same weights, so that it works on menus and names it never saw.
# Stable-Baselines3's own "MlpPolicy" takes the same environment.
model = MaskablePPO(
    MenuPolicy,
    env,
    policy_kwargs={"context_size": env.encoder.context_size},
    seed=arguments.seed,
    device="cpu",
    **DEFAULTS,
)


def show(point: CurvePoint) -> None:
    """Print one line of the learning curve."""
    print(f"{point.steps:>7} steps  success {point.success:.2f}  reward {point.reward:.2f}  length {point.length:.1f}")


before = evaluate_policy(model, "AgentWorld/Terminal-v0", range(50), deterministic=False, **tasks)
try:
    # The tally counts every step of the runner behind the environment: success, parts of the reward, failures, tokens.
    with live("training", tensorboard=arguments.tensorboard, window=200) as tally:
        tally.watch(env.runner)
        model.learn(arguments.steps, callback=CurveCallback([], show))
except KeyboardInterrupt:
    print("stopped; the agent so far is evaluated")
env.close()

# The agent never trains on test seeds: of every ten task seeds, eight train, one validates and one tests.
after = evaluate_policy(model, "AgentWorld/Terminal-v0", range(100), **tasks)
low, high = after.interval()
print(f"success on unseen tasks: {before.success:.2f} before, {after.success:.2f} after ({low:.2f} to {high:.2f})")
for family, success in after.by_family().items():
    print(f"  {family:<16}{success:.2f}")
if arguments.save:
    model.save(arguments.save)
