"""The policy that scores menu entries by their texts, beside the index policy, on shuffled menus and unseen names.

    python benchmarks/research/menu_policies.py  # both policies, MaskablePPO and PPO, three seeds
    python benchmarks/research/menu_policies.py --algorithms MaskablePPO --seeds 0 --steps 20000

`MenuPolicy` scores each entry by its text. `MlpPolicy` sees the same vectors and has one output for each place of the
menu. Both train on the grounded terminal for the same steps, and play one episode on each of the same unseen tasks
three times: as they are; with each menu in another random order; and with every name and content word replaced by an
invented one, which no training task contains. A task whose expert no longer succeeds with invented names is left out.
The 95 % intervals are bootstrapped over runs and episodes.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

from agentworld_gym.agents.policies.menu_agent import MenuAgent
from agentworld_gym.agents.policies.playing import Played, Policy, play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.text_encoder import ATOM
from agentworld_gym.integrations.sb3 import MenuPolicy, bootstrap_interval, make_sb3_env
from agentworld_gym.integrations.sb3.ppo import DEFAULTS
from agentworld_gym.kit.vocabulary import FOLDERS, NAMES, STEMS, WORDS

TERMINAL = "AgentWorld/Terminal-v0"
ALGORITHMS = {"MaskablePPO": MaskablePPO, "PPO": PPO}
POLICIES: dict[str, Any] = {"MenuPolicy": MenuPolicy, "MlpPolicy": "MlpPolicy"}
IDENTITY = {"id", "domain", "family", "split", "level", "seed"}
"""The fields of a task that are no part of what an agent meets."""

console = Console()
Alter = Callable[[Task], Task]


def shuffled(task: Task) -> Task:
    """Return the task with its menu in another random order."""
    return task.model_copy(update={"menu": tuple(random.Random(f"{task.id} again").sample(task.menu, len(task.menu)))})


@cache
def invented_names() -> dict[str, str]:
    """Return an invented word for every word of the terminal's vocabulary, in the same alphabetical order."""
    known, chance, found = sorted({*WORDS, *NAMES, *STEMS, *FOLDERS}), random.Random(0), set()
    while len(found) < len(known):
        word = "".join(chance.choice(letters) for letters in ("bdfgklmnprstvz", "aeiou") * 3) + "x"
        found |= {word} - set(known)
    return dict(zip(known, sorted(found), strict=True))


def renamed(task: Task) -> Task:
    """Return the task with invented names, and its menu in another random order."""

    def deep(value: Any) -> Any:
        if isinstance(value, str):
            return ATOM.sub(lambda found: ".".join(map(new_name, found[0].split("."))), value)
        if isinstance(value, Mapping):
            return {deep(key): deep(one) for key, one in value.items()}
        return [deep(one) for one in value] if isinstance(value, list | tuple) else value

    def new_name(word: str) -> str:
        return invented_names().get(word, word)

    fields = task.model_dump()
    return shuffled(Task.model_validate({name: one if name in IDENTITY else deep(one) for name, one in fields.items()}))


class AlteredTasks(TaskSource):
    """The tasks of another source, each altered."""

    def __init__(self, source: TaskSource, alter: Alter) -> None:
        self.source, self.alter = source, alter

    def pick(self, seed: int, options: Mapping[str, Any]) -> Task:
        """Return the altered task of a seed."""
        return self.alter(self.source.pick(seed, options))


TESTS: dict[str, Alter] = {"as they are": lambda task: task, "shuffled": shuffled, "invented names": renamed}


def tested(policy_of: Callable[[Any], Policy], alter: Alter, seeds: Sequence[int], levels: list[int]) -> list[Played]:
    """Let a policy play each seed's altered test task once."""
    envs: Any = gym.make_vec(TERMINAL, num_envs=1, world="grounded", split="test", levels=levels)
    runner = envs.unwrapped.runner
    runner.source = AlteredTasks(runner.source, alter)
    try:
        return sorted(play(runner, policy_of(runner.spec), seeds), key=lambda one: one.place)
    finally:
        envs.close()


def sound_seeds(episodes: int, levels: list[int]) -> list[int]:
    """Return the seeds whose expert succeeds with invented names too."""
    played = tested(lambda spec: open_policy("expert", spec), renamed, range(episodes), levels)
    return [one.seed for one in played if one.success]


def measure(algorithm: str, policy: str, seed: int, seeds: list[int], arguments: argparse.Namespace) -> dict[str, Any]:
    """Train one agent and let it play the three tests."""
    env = make_sb3_env(TERMINAL, 32, 1000 * seed, levels=arguments.levels, world="grounded", max_steps=12)
    begun = time.perf_counter()
    model = ALGORITHMS[algorithm](POLICIES[policy], env, seed=seed, device="cpu", **DEFAULTS).learn(arguments.steps)
    seconds = time.perf_counter() - begun
    env.close()
    plays = {
        name: tested(lambda spec: MenuAgent(policy, model, spec), alter, seeds, arguments.levels)
        for name, alter in TESTS.items()
    }
    same = [one.actions == two.actions for one, two in zip(plays["as they are"], plays["shuffled"], strict=True)]
    return {
        "agent": f"{policy}, {algorithm}",
        "seed": seed,
        "seconds": round(seconds, 1),
        "successes": {name: [float(bool(one.success)) for one in found] for name, found in plays.items()},
        "same_actions": sum(same) / len(same),
    }


def table(runs: Sequence[dict[str, Any]]) -> Table:
    """Success of each agent in each test, over all seeds."""
    rows = Table("agent", "runs", "seconds", *TESTS, "same actions when shuffled")
    for agent in dict.fromkeys(run["agent"] for run in runs):
        own = [run for run in runs if run["agent"] == agent]
        cells = []
        for name in TESTS:
            values = [run["successes"][name] for run in own]
            mean = sum(map(sum, values)) / sum(map(len, values))
            cells.append("{:.3f} ({:.3f} to {:.3f})".format(mean, *bootstrap_interval(values)))
        seconds = sum(run["seconds"] for run in own) / len(own)
        same = sum(run["same_actions"] for run in own) / len(own)
        rows.add_row(agent, str(len(own)), f"{seconds:.0f}", *cells, f"{same:.3f}")
    return rows


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=40_000, help="training steps of each run")
    parser.add_argument("--levels", type=int, nargs="+", default=[1])
    parser.add_argument("--episodes", type=int, default=200, help="unseen test seeds")
    parser.add_argument("--out", type=Path, help="write everything measured to this JSON file")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    seeds = sound_seeds(arguments.episodes, arguments.levels)
    console.print(f"{len(seeds)} of {arguments.episodes} test tasks keep their meaning with invented names")
    runs: list[dict[str, Any]] = []
    for seed in arguments.seeds:
        for algorithm in arguments.algorithms:
            for policy in arguments.policies:
                runs.append(measure(algorithm, policy, seed, seeds, arguments))
                if arguments.out:
                    arguments.out.write_text(json.dumps(runs, indent=1))
                console.print(table(runs[-1:]))
    console.print(table(runs))


if __name__ == "__main__":
    main()
