"""Sessions of the grounded worlds: recorded by one tree, and replayed from the recording by either.

Every call of an environment is written down with what it returned, as one line of JSON. A replay makes the same calls
in the recorded world, so its lines must be those of the recording.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentworld_gym  # noqa: F401  (registers the ids)
from trees.sizes import DOMAINS, Size

Call = dict[str, Any]

POLICIES = ("expert", "erring", "disturbed", "wild")
"""The expert, the expert that errs, the expert under controls, and random actions with broken ones among them."""

NOISE = (
    "",
    "nothing",
    "finish",
    '{"name": "none", "arguments": {}}',
    "<|im_end|>",
    "</predicted_observation>",
    "é漢 \t",
)
MOST_STEPS = 14
ERRORS = 0.3


class Player:
    """Makes calls of one environment, and of a fork of it."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        self.env: Any = env.unwrapped
        self._twin: Any = None

    def make(self, call: Call) -> Any:
        """What a call returned, as JSON has it."""
        match call:
            case {"reset": options, "seed": seed}:
                self._twin = None
                return json.loads(json.dumps(self.env.reset(seed=seed, options=options)))
            case {"step": action}:
                return json.loads(json.dumps(self.env.step(action)))
            case {"fork": action}:
                self._twin = self.env.fork()
                answer = json.loads(json.dumps(self._twin.step(action)))
                self._twin.close()
                return answer
        raise ValueError(f"no such call: {call}")


@dataclass(frozen=True)
class Plan:
    """One session: the task's family and level, who plays it, and the seed of both."""

    family: str
    level: int
    policy: str
    seed: int


def plans(env: Any, size: Size) -> Iterator[Plan]:
    """The sessions of one domain."""
    families = sorted(env.domain.tasks.families)
    turn = 0
    for number, family in enumerate(families[: size.families or len(families)]):
        for level in size.levels:
            for _ in range(size.policies):
                policy = POLICIES[turn % len(POLICIES)]
                turn += 1
                yield Plan(family, level, policy, seed=100 * number + turn)


def calls(player: Player, plan: Plan) -> Iterator[tuple[Call, Any]]:
    """Play one session and give each call with what it returned.

    The expert's actions are put into the menu of the task, because the menu is where an environment says which element
    of the screen an action means.
    """
    rng = random.Random(f"{plan}")
    env = player.env
    env.reset(seed=plan.seed, options={"family": plan.family, "level": plan.level})
    task = env.task.model_dump(mode="json")
    expert = len(task["expert"])
    # An environment refuses a pattern of a given task that matches nothing of what the expert changes.
    options: dict[str, Any] = {"task": {**task, "menu": [*task["expert"], *task["menu"]], "free_values": []}}
    if plan.policy == "disturbed" and env.domain.controls:
        names = rng.sample(sorted(env.domain.controls), min(2, len(env.domain.controls)))
        options |= {"controls": dict.fromkeys(names, 0.5), "control_seed": plan.seed}
    yield from _made(player, {"reset": options, "seed": plan.seed})
    way = iter(range(expert))
    for step in range(MOST_STEPS):
        action = _action(plan.policy, env.menu, expert, way, rng)
        if step == 2:
            yield from _made(player, {"fork": action})
        ((call, result),) = _made(player, {"step": action})
        yield call, result
        if result[2] or result[3]:
            return


def _made(player: Player, call: Call) -> Iterator[tuple[Call, Any]]:
    yield call, player.make(call)


def _action(policy: str, menu: Any, expert: int, way: Iterator[int], rng: random.Random) -> str:
    """The next action: an entry of the menu, whose first entries are the expert's, or noise."""
    offered = [entry for entry in menu[expert:] if entry is not None and not entry.startswith("finish")]
    if policy == "wild" or (policy == "erring" and rng.random() < ERRORS):
        if not offered or rng.random() < ERRORS:
            return rng.choice(NOISE)
        action = rng.choice(offered)
        cut = rng.randrange(len(action) + 1)
        return str(action if rng.random() > ERRORS else action[:cut] + action[cut + 1 :])
    return next((menu[place] for place in way if menu[place] is not None), "finish")


def worlds(size: Size) -> Iterator[tuple[str, str, str]]:
    """The name, the id and the world of everything that is recorded; SWE has two sandboxes for Python."""
    for domain in size.domains:
        yield domain, DOMAINS[domain], "grounded:monty" if domain == "swe" else "grounded"
        if domain == "swe" and size.models:
            yield "swe_sandbox", DOMAINS[domain], "grounded"


def record(size: Size) -> None:
    """Record the sessions of every domain: `sessions/NAME.jsonl` has the calls, `recordings/NAME.jsonl` the world's."""
    for folder in ("sessions", "recordings"):
        Path(folder).mkdir()
    for name, env_id, world in worlds(size):
        env = gym.make(env_id, world=f"record:recordings/{name}.jsonl+{world}", levels=[1, 2, 3])
        player = Player(env)
        with open(f"sessions/{name}.jsonl", "w", encoding="utf-8") as file:
            for plan in plans(player.env, size):
                for call, result in calls(player, plan):
                    file.write(json.dumps({"call": call, "result": result}) + "\n")
        env.close()


def replay(size: Size) -> None:
    """Make the calls of the other tree's sessions in its recordings, which lie in `given`, and write what returned."""
    Path("replays").mkdir()
    for name, env_id, _ in worlds(size):
        env = gym.make(env_id, world=f"recorded:given/recordings/{name}.jsonl", levels=[1, 2, 3])
        player = Player(env)
        with (
            open(f"given/sessions/{name}.jsonl", encoding="utf-8") as given,
            open(f"replays/{name}.jsonl", "w", encoding="utf-8") as file,
        ):
            for line in given:
                call = json.loads(line)["call"]
                file.write(json.dumps({"call": call, "result": player.make(call)}) + "\n")
        env.close()
