r"""MaskablePPO on tasks at a tool server, `server-memory`: in an adopted dream, live, and random choices.

A task names a thing and its type, and in the family `note` what to note of it, among calls for other things, types and
notes. Success is the content of the graph, which the live server tells (`run`), and in the dream the model (`probe`).
With `--guard` the live server carries out the steps whose answers the model doubts, probes among them.

    agentworld adopt memory.yaml --out runs/memory --minutes 48
    python benchmarks/research/live_server.py dream memory.yaml --world runs/memory/world --seeds 0 1 2
    python benchmarks/research/live_server.py live memory.yaml --seeds 0 1 2
    python benchmarks/research/live_server.py live memory.yaml --seeds 0 1 2 --steps 512
    python benchmarks/research/live_server.py random memory.yaml
    python benchmarks/research/live_server.py dream memory.yaml --world runs/memory/world --family note --guard 0.99 \
        --seeds 0 1 2 --steps 4096
    python benchmarks/research/live_server.py live memory.yaml --family note --seeds 0 1 2 --steps 4096

All are tested live, on tasks in words that no training task has.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import yaml

import agentworld_gym  # noqa: F401

ENV, MENU = "AgentWorld/MCP-v0", "AgentWorld/MCPMenu-v0"
CHOICES, MAX_STEPS, MEMBERS = 12, 8, 8
PPO = {"n_steps": 32, "batch_size": 128, "n_epochs": 8, "learning_rate": 1e-3, "gamma": 0.95, "ent_coef": 0.02}
WORDS = {
    "train": "anchor basket candle dragon engine forest garden hammer island jacket kettle ladder magnet needle orange "
    "pencil quartz ribbon saddle tunnel umbrella violin window yogurt zipper apple bridge copper desert eagle",
    "test": "acorn beacon cactus donkey emerald falcon gravel hermit igloo jigsaw kiosk lantern meadow nutmeg oyster "
    "parrot quiver raisin shovel tulip urchin velvet walnut yonder zephyr almond bamboo cobalt dagger ember",
}


def call(tool: str, key: str, **fields: Any) -> str:
    """Return a call of the server with one item."""
    return json.dumps({"name": f"memory_server-{tool}", "arguments": {key: [fields]}})


def task(family: str, split: str, number: int, check: str) -> dict[str, Any]:
    """Return a task, with its menu.

    Args:
        family: `make` or `note`.
        split: Whose words it has.
        number: Its number.
        check: `run`, which the live server answers, or `probe`, which the model of a dream does.
    """
    dice = random.Random(f"{split}/{number}")
    name, other, kind, wrong, note, lie = dice.sample(WORDS[split].split(), 6)
    create = [call("create_entities", "entities", name=one, entityType=of, observations=[])
              for one, of in ((name, kind), (name, wrong), (other, kind))]  # fmt: skip
    add = [call("add_observations", "observations", entityName=one, contents=[text])
           for one, text in ((name, note), (name, lie), (other, note))]  # fmt: skip
    opened = json.dumps({"name": "memory_server-open_nodes", "arguments": {"names": [name]}})
    noted = family == "note"
    entity = {"name": name, "entityType": kind, "observations": [note] if noted else []}
    shown = json.dumps({"entities": [entity], "relations": []}, indent=2)
    menu = [*create, *add, opened]
    dice.shuffle(menu)
    return {
        "id": f"{split}-{number}",
        "domain": "mcp",
        "family": family,
        "split": split,
        "instruction": f"Make {name} of the type {kind}" + (f", and note of {name}: {note}." if noted else "."),
        "menu": [*menu, "finish"],
        "expert": [create[0], *add[:noted], "finish"],
        "success": [{check: opened, "expect": {"contains": shown}}],
    }


def tasks(family: str, split: str, count: int, check: str) -> Iterator[dict[str, Any]]:
    """Yield tasks."""
    return (task(family, split, number, check) for number in range(count))


def success_of(choose: Callable[[Any, Any], Any], system: dict[str, Any], family: str, episodes: int) -> float:
    """Return the share of unseen tasks that are solved live by who chooses by a vector and a mask."""
    live = {**system, "tasks": list(tasks(family, "test", episodes, "run"))}
    options: Any = {"live": live, "max_steps": MAX_STEPS, "encoder": {"max_menu": CHOICES}}
    env: Any = gym.make(MENU, world="live", **options)
    won = 0
    with closing(env):
        for number in range(episodes):
            vector, info = env.reset(seed=number, options={"task": f"test-{number}"})
            over = False
            while not over:
                vector, _, terminated, truncated, info = env.step(int(choose(vector, info["action_mask"])))
                over = terminated or truncated
            won += info.get("success") is True
    return won / episodes


def main() -> None:
    """Train with each seed, and print the success on unseen tasks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("who", choices=("dream", "live", "random"))
    parser.add_argument("config", type=Path, help="the configuration of the server")
    parser.add_argument("--world", help="the folder of the adopted world to dream in")
    parser.add_argument("--family", choices=("make", "note"), default="make")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--guard", type=float, help="the least probability of an answer that is not grounded")
    parser.add_argument("--steps", type=int, default=2048)
    parser.add_argument("--episodes", type=int, default=100)
    asked = parser.parse_args()
    if asked.guard is not None and asked.who != "dream":
        parser.error("--guard: for a dream alone")
    system = yaml.safe_load(asked.config.read_text()) | {"paths_from": str(asked.config.absolute().parent)}
    if asked.who == "random":
        dice = np.random.default_rng(0)
        won = success_of(lambda _, mask: dice.choice(np.flatnonzero(mask)), system, asked.family, asked.episodes)
        print(f"random, {asked.family}: {won:.2f} of {asked.episodes}")
        return
    from sb3_contrib import MaskablePPO

    from agentworld_gym.integrations.sb3 import MenuPolicy, TextEncoder, make_sb3_env

    dream: dict[str, Any] = {"world": asked.world if asked.who == "dream" else "live"}
    if asked.guard is not None:
        guard = {"least": asked.guard, "remedy": "ground"}
        dream["language"] = {"guard": guard, "generator": {"confidence": True}}
    live = {**system, "tasks": list(tasks(asked.family, "train", 200, "probe" if asked.who == "dream" else "run"))}
    for seed in asked.seeds:
        encoder = TextEncoder(max_menu=CHOICES)
        env = make_sb3_env(ENV, MEMBERS, seed, encoder=encoder, live=live, max_steps=MAX_STEPS, **dream)
        began = time.monotonic()
        model = MaskablePPO(MenuPolicy, env, device="cpu", seed=seed, **PPO)  # type: ignore[arg-type]
        grounded = Counter[str]()

        def count(told: dict[str, Any], _: Any, grounded: Counter[str] = grounded) -> bool:
            infos = told["infos"]
            grounded["steps"] += sum(info.get("source") == "grounded" for info in infos)
            grounded["probes"] += sum(info.get("probes", {}).get("grounded", 0) for info in infos)
            return True

        model.learn(asked.steps, count)
        rate = model.num_timesteps / (time.monotonic() - began)
        env.close()

        def choose(vector: Any, mask: Any, model: Any = model) -> Any:
            return model.predict(vector, action_masks=mask.astype(bool), deterministic=True)[0]

        won = success_of(choose, system, asked.family, asked.episodes)
        told = f"{asked.who}, {asked.family}, seed {seed}: {model.num_timesteps} steps at {rate:.1f}/s"
        told += f", grounded {dict(grounded)}" if asked.guard is not None else ""
        print(f"{told}, {won:.2f} of {asked.episodes}", flush=True)


if __name__ == "__main__":
    main()
