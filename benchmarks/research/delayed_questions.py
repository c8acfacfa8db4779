"""Delayed questions to a dream of server-memory: write, some other steps, read.

    python benchmarks/research/delayed_questions.py runs/memory/world --gaps 0 5 10 20 --questions 40

An agent makes two entities and adds something to the first. It searches for other words, and then opens the first
entity. What the dream answers to that last call is compared with what the live server does after the same calls. All
words are of the test split.
"""

from __future__ import annotations

import argparse
import json
import random
from contextlib import closing
from typing import Any

import gymnasium as gym

import agentworld_gym  # noqa: F401
from agentworld_gym.base.statistics.bootstrap import interval
from agentworld_gym.kit.vocabulary import WORDS
from agentworld_gym.worlds.own_tasks import ADOPTED


def questions(rng: random.Random, gap: int, server: str) -> list[str]:
    """Return the calls of an episode, of which the last one asks."""
    first, second, kind, fact, later, *others = rng.sample(WORDS.of("test"), 30)
    entities = [
        {"name": first, "entityType": kind, "observations": [fact]},
        {"name": second, "entityType": kind, "observations": []},
    ]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": entities}),
        ("add_observations", {"observations": [{"entityName": first, "contents": [later]}]}),
        *(("search_nodes", {"query": word}) for word in others[:gap]),
        ("open_nodes", {"names": [first]}),
    ]
    return [json.dumps({"name": f"{server}-{name}", "arguments": arguments}) for name, arguments in calls]


def last_answers(world: str, episodes: list[list[str]]) -> list[str]:
    """Play episodes one by one, and return what the last call of each showed."""
    env: Any = gym.make("AgentWorld/MCP-v0", world=world, max_steps=200)
    found = []
    with closing(env):
        for number, calls in enumerate(episodes):
            env.reset(seed=number)
            found.append([env.step(call)[0] for call in calls][-1])
    return found


def main() -> None:
    """Ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", help="the folder `world` of the adoption")
    parser.add_argument("--server", default="memory", help="how the configuration names the server")
    parser.add_argument("--gaps", type=int, nargs="*", default=[0, 5, 10, 20])
    parser.add_argument("--questions", type=int, default=40)
    asked = parser.parse_args()
    print("| other steps | right | of |\n|---|---|---|")
    for gap in asked.gaps:
        rng = random.Random(f"delayed/{gap}")
        episodes = [questions(rng, gap, asked.server) for _ in range(asked.questions)]
        truth = last_answers(f"live:{asked.world}/{ADOPTED}", episodes)
        dreamed = last_answers(asked.world, episodes)
        right = interval([real == dreamt for real, dreamt in zip(truth, dreamed, strict=True)])
        print(f"| {gap} | {right} | {right.count} |", flush=True)


if __name__ == "__main__":
    main()
