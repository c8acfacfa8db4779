"""MaskablePPO on a family of tasks for server-memory: live, in an adopted dream of it, and random choices.

    python benchmarks/research/live_memory.py live memory.yaml --steps 4096
    python benchmarks/research/live_memory.py dream memory.yaml --world runs/memory/world --steps 4096
    python benchmarks/research/live_memory.py random memory.yaml

A task names two people of whom one knows the other. The agent has to make both and the relation, among wrong calls with
other people and the other way round. All are tested live, on people whose names are words of the test split.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np

import agentworld_gym  # noqa: F401
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.integrations.sb3 import MenuPolicy, TextEncoder, evaluate_policy, make_sb3_env
from agentworld_gym.kit.vocabulary import WORDS

ENV, MENU = "AgentWorld/MCP-v0", "AgentWorld/MCPMenu-v0"
ENCODER = TextEncoder(max_menu=16)
MAX_STEPS = 6
TRAIN_TASKS = 500
PPO = {"n_steps": 32, "batch_size": 128, "n_epochs": 6, "learning_rate": 1e-3, "gamma": 0.98, "ent_coef": 0.02}


def task(number: int, split: Literal["train", "test"]) -> dict[str, Any]:
    """Return a task with two people and two others, whose names are words of a split."""
    rng = random.Random(f"{split}/{number}")
    one, other, *strangers = rng.sample(sorted(WORDS.of(split)), 4)

    def call(tool: str, **arguments: Any) -> str:
        return json.dumps({"name": f"memory-{tool}", "arguments": arguments})

    def made(*people: str) -> str:
        return call(
            "create_entities", entities=[{"name": name, "entityType": "person", "observations": []} for name in people]
        )

    def knows(knower: str, known: str) -> str:
        return call("create_relations", relations=[{"from": knower, "to": known, "relationType": "knows"}])

    right = [made(one, other), knows(one, other)]
    wrong = [made(one, strangers[0]), made(strangers[1], other), made(*strangers)]
    wrong += [knows(other, one), knows(one, strangers[0]), knows(strangers[1], other), knows(*strangers)]
    wrong += [call("read_graph"), call("search_nodes", query=one), call("delete_entities", entityNames=[other])]
    menu = [*right, *wrong]
    rng.shuffle(menu)
    entities = [{"name": name, "entityType": "person", "observations": []} for name in (one, other)]
    graph = {"entities": entities, "relations": [{"from": one, "to": other, "relationType": "knows"}]}
    probe = call("read_graph")
    return {
        "id": f"{split}-{number}",
        "family": "acquaintances",
        "instruction": f"{one} and {other} are people. {one} knows {other}. Note both, who knows whom, and no more.",
        "menu": [*menu, "finish"],
        "expert": [*right, "finish"],
        "success": [
            {"probe": probe, "expect": {"contains": f'"from": "{one}",\n      "to": "{other}"'}},
            {"probe": probe, "expect": {"equals": json.dumps(graph, indent=2)}},
        ],
    }


def at_random(live: dict[str, Any], episodes: int, seed: int) -> list[bool]:
    """Return which episodes random choices win."""
    dice, won = np.random.default_rng(seed), []
    env: Any = gym.make(MENU, world="live", live=live, max_steps=MAX_STEPS, encoder=ENCODER)
    with closing(env):
        for number in range(episodes):
            _, info = env.reset(seed=number)
            over = False
            while not over:
                choice = int(dice.choice(np.flatnonzero(info["action_mask"])))
                _, _, terminated, truncated, info = env.step(choice)
                over = terminated or truncated
            won.append(info.get("success") is True)
    return won


def main() -> None:
    """Train, and print the success live on unseen tasks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("who", choices=("live", "dream", "random"))
    parser.add_argument("config", type=Path)
    parser.add_argument("--world", help="the folder `world` of the adoption")
    parser.add_argument("--steps", type=int, default=4096)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--episodes", type=int, default=100)
    asked = parser.parse_args()
    config = read_yaml(asked.config, "a live system")

    def live(split: Literal["train", "test"], tasks: int) -> dict[str, Any]:
        folder = str(asked.config.parent.absolute())
        return {**config, "paths_from": folder, "tasks": [task(number, split) for number in range(tasks)]}

    tests = live("test", asked.episodes)
    for seed in asked.seeds:
        if asked.who == "random":
            won = at_random(tests, asked.episodes, seed)
        else:
            world = "live" if asked.who == "live" else asked.world
            options: Any = {"live": live("train", TRAIN_TASKS), "world": world, "max_steps": MAX_STEPS}
            env = make_sb3_env(ENV, 8, seed, encoder=ENCODER, **options)
            began = time.monotonic()
            from sb3_contrib import MaskablePPO

            model = MaskablePPO(MenuPolicy, env, device="cpu", seed=seed, **PPO).learn(asked.steps)  # type: ignore[arg-type]
            print(f"{asked.who}: {asked.steps / (time.monotonic() - began):.0f} steps/s with learning", flush=True)
            env.close()
            tested: Any = {"live": tests, "world": "live", "split": "train", "max_steps": MAX_STEPS, "encoder": ENCODER}
            found = evaluate_policy(model, ENV, range(asked.episodes), deterministic=False, **tested)
            won = [success == 1.0 for success in found.successes]
        print(f"{asked.who}, seed {seed}: {proportion(won)} of {len(won)} unseen tasks", flush=True)


if __name__ == "__main__":
    main()
