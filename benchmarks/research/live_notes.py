"""MaskablePPO on a family of tasks at server-memory: in its live world, in an adopted dream, and random choices.

    python benchmarks/research/live_notes.py live memory.yaml --steps 4096
    python benchmarks/research/live_notes.py dream memory.yaml --world runs/memory/world --steps 4096
    python benchmarks/research/live_notes.py random memory.yaml

`memory.yaml` is the configuration of the server, with a graph that is empty at the start of an episode. A task names
three people, of whom two have to be given what they like; the menu also has other things that they may like, and ways
to lose them. Half of the people and of the things are those of unseen tasks. What the graph holds at the end is asked
of the server by `run`, and of a dream by a probe, so that no step of a dream is done in the server. All are tested
live.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
import yaml

PEOPLE = ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gia", "Hal", "Ida", "Jon", "Kim", "Leo")
THINGS = ("tea", "coffee", "rain", "snow", "chess", "jazz", "figs", "bread", "maps", "stars", "soap", "wool")
MAX_STEPS = 4
CHOICES = 12
PPO = {"n_steps": 32, "batch_size": 128, "n_epochs": 6, "learning_rate": 1e-3, "gamma": 0.98, "ent_coef": 0.02}
MEMBERS = 8


def call(name: str, **arguments: Any) -> str:
    """Write a call of the server."""
    return json.dumps({"name": f"memory_server-{name}", "arguments": arguments})


def noted(person: str, thing: str) -> str:
    """Write the call that gives a person what they like."""
    return call("add_observations", observations=[{"entityName": person, "contents": [f"likes {thing}"]}])


def task(number: int, unseen: bool, asks: str) -> dict[str, Any]:
    """Return a task whose graph is asked by `run` or by `probe`."""
    draw, half = random.Random(f"{unseen}/{number}"), slice(6, 12) if unseen else slice(0, 6)
    people, things = draw.sample(PEOPLE[half], 3), draw.sample(THINGS[half], 2)
    right = [*zip(draw.sample(people, 2), things, strict=False)]
    menu = [noted(person, thing) for person in people for thing in things]
    menu += [call("delete_entities", entityNames=[person]) for person in people]
    draw.shuffle(menu)
    entities = [{"name": person, "entityType": "person", "observations": []} for person in people]
    held = {person: thing for person, thing in right}
    lists = [rf'"name": "{person}",[^\[]*"observations": \[\s*{_likes(held.get(person))}\]' for person in people]
    told = " and that ".join(f"{person} likes {thing}" for person, thing in right)
    return {
        "id": f"notes-{number}",
        "family": "notes",
        "instruction": f"Note that {told}.",
        "state": {"calls": [{"name": "memory_server-create_entities", "arguments": {"entities": entities}}]},
        "menu": [*menu, "finish"],
        "success": [{asks: call("read_graph"), "expect": {"matches": one}} for one in lists],
    }


def _likes(thing: str | None) -> str:
    return "" if thing is None else rf'"likes {thing}"\s*'


def options(asked: argparse.Namespace, unseen: bool, asks: str = "run") -> dict[str, Any]:
    """Return the options of the environment with the tasks of a part."""
    with open(asked.config, encoding="utf-8") as file:
        keys = yaml.safe_load(file)
    keys.pop("domain", None)
    live = {**keys, "tasks": [task(number, unseen, asks) for number in range(200)]}
    return {"live": live, "max_steps": MAX_STEPS}


def success_of(choose: Callable[[Any, Any], Any], asked: argparse.Namespace) -> tuple[int, int]:
    """Return how many of the unseen tasks are solved live by who chooses by a vector and a mask."""
    encoder = {"max_menu": CHOICES}
    env: Any = gym.make("agentworld_gym:AgentWorld/MCPMenu-v0", encoder=encoder, **options(asked, True))
    won = 0
    with closing(env):
        for seed in range(asked.episodes):
            vector, info = env.reset(seed=seed)
            over = False
            while not over:
                vector, _, terminated, truncated, info = env.step(int(choose(vector, info["action_mask"])))
                over = terminated or truncated
            won += info.get("success") is True
    return won, asked.episodes


def trained(asked: argparse.Namespace) -> None:
    """Train with each seed, and print the success on unseen tasks."""
    from sb3_contrib import MaskablePPO

    from agentworld_gym.base.statistics.bootstrap import wilson
    from agentworld_gym.integrations.sb3 import MenuPolicy, TextEncoder, make_sb3_env

    total = 0
    for seed in asked.seeds:
        dreamt = asked.what == "dream"
        given = options(asked, False, "probe") | {"world": asked.world} if dreamt else options(asked, False)
        encoder = TextEncoder(max_menu=CHOICES)
        env = make_sb3_env("AgentWorld/MCP-v0", MEMBERS, seed, encoder=encoder, **given)
        began = time.monotonic()
        model = MaskablePPO(MenuPolicy, env, device="cpu", seed=seed, **PPO)  # type: ignore[arg-type]
        model.learn(asked.steps)
        rate = asked.steps / (time.monotonic() - began)
        env.close()

        def choose(vector: Any, mask: Any, model: Any = model) -> Any:
            return model.predict(vector, action_masks=mask.astype(bool), deterministic=True)[0]

        won, episodes = success_of(choose, asked)
        total += won
        print(f"{asked.what}, seed {seed}: {asked.steps} steps at {rate:.1f}/s, {won / episodes:.2f} won", flush=True)
    episodes = len(asked.seeds) * asked.episodes
    print(f"{asked.what}: {total / episodes:.2f} of {episodes}", wilson(total / episodes, episodes))


def main() -> None:
    """Do what the command says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("live", "dream", "random"))
    parser.add_argument("config")
    parser.add_argument("--world")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=4096)
    parser.add_argument("--episodes", type=int, default=100)
    asked = parser.parse_args()
    if asked.what != "random":
        trained(asked)
        return
    dice = np.random.default_rng(0)
    won, episodes = success_of(lambda _, mask: dice.choice(np.flatnonzero(mask)), asked)
    print(f"random: {won / episodes:.2f} of {episodes}")


if __name__ == "__main__":
    main()
