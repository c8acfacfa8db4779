"""The change form on real screens: whether it is exact, and how short it is.

    python benchmarks/research/change_form.py [--pairs 10000] [--domains web desktop android]

Experts and random menu agents play tasks of every family and level; each two observations in a row are a pair. For all
of them `apply(a, diff(a, b)) == b` must hold. An edit is local if the page, the windows or the app's screen stay the
same while something on them changes. A share is the change's characters by those of the whole next state. Domains
without an engine are skipped.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from statistics import mean
from typing import Any

from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import has_engine
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.prompting.changes import SAME, apply, diff, numbered

DOMAINS = ("web", "desktop", "android")
TARGET = 15.0
WINDOWS = {"frame", "window", "dialog", "alert", "file-chooser"}

_URL = re.compile(r"^(?:- Page URL|URL): (.*)$", re.MULTILINE)


def place(domain: str, observation: str, state: Mapping[str, Any]) -> object:
    """What stays the same while edits are local: address, windows, or app, screen and title; None without a screen."""
    if domain == "web":
        found = _URL.search(observation)
        return found and found[1]
    if domain == "desktop":
        windows = (node for node in read_screen(domain, observation) if node.role in WINDOWS)
        return [(node.role, node.name.lstrip("*"), node.box) for node in windows] or None
    front = state.get("front")
    names = [name for key, name in state.items() if key.startswith((f"tasks/{front}/", "above/")) and "/name" in key]
    title = next((node.text for node in read_screen(domain, observation) if node.text), "")
    return (front, names, title) if names else None


def seen(runner: EpisodeRunner, task: Task, actions: ActionStream) -> Iterator[tuple[str, object]]:
    """The screens of an episode, each with its place."""
    ((episode, _, _),) = runner.start([task.seed or 0], {"task": task})
    machine = episode.session.machine  # type: ignore[attr-defined]
    shown = episode.session.observation
    going = on_screen(actions, task.domain, shown)
    action = next(going, None)
    yield shown, place(task.domain, shown, machine.state())
    while action is not None and not finishes(action):
        (step,) = runner.advance([episode], [action])
        yield step.observation, place(task.domain, step.observation, machine.state())
        try:
            action = None if step.terminated or step.truncated else going.send(step.observation)
        except StopIteration:
            break
    episode.session.close()


def pairs(runner: EpisodeRunner, count: int) -> Iterator[tuple[str, str, bool]]:
    """Screens before and after an action, and whether the place stayed; experts and random agents by turns."""
    domain, names, seed = runner.spec.id, sorted(families(runner.spec.id)), 0
    while True:
        for name in names:
            task = generate(domain, name, seed % 3 + 1, seed)
            actions = expert_policy(task) if seed % 2 else menu_policy(task, random.Random(f"change/{task.id}"))
            for (before, here), (after, there) in itertools.pairwise(seen(runner, task, actions)):
                yield before, after, here is not None and here == there
                count -= 1
                if not count:
                    return
        seed += 1


def average(shares: Sequence[float]) -> float:
    """The mean; not a number where there is nothing."""
    return mean(shares) if shares else nan


def main() -> int:
    """Print a table; 1 if a pair is not exact or local edits are too long on average."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=DOMAINS)
    parser.add_argument("--pairs", type=int, default=10_000)
    options = parser.parse_args()
    domains = [domain for domain in options.domains if has_engine(domain) and families(domain)]
    met, total = True, list[float]()
    print(
        "| domain | pairs | exact | state | local edits: share | all that changes: share | unchanged | numbers | ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for domain in domains:
        runner = EnvOptions(spec=domain, max_steps=60).runner()
        exact, sizes, numbers, local, changed, same, spent = 0, [], [], [], [], 0, 0.0
        for before, after, stays in pairs(runner, options.pairs // len(domains)):
            began = time.perf_counter()
            change = diff(before, after)
            spent += time.perf_counter() - began
            exact += apply(before, change) == after
            sizes.append(len(after))
            numbers.append(len(numbered(before)) / max(len(before), 1) - 1)
            share = 100 * len(change) / max(len(after), 1)
            if change == SAME:
                same += 1
                continue
            changed.append(share)
            if stays:
                local.append(share)
        runner.close()
        met = met and exact == len(sizes)
        total += local
        print(
            f"| {domain} | {len(sizes)} | {exact} | {mean(sizes):.0f} characters "
            f"| {average(local):.1f} % of {len(local)} | {average(changed):.1f} % of {len(changed)} "
            f"| {same} | {100 * mean(numbers):+.1f} % | {1000 * spent / len(sizes):.2f} |",
            flush=True,
        )
    print(f"\nLocal edits of all domains: {average(total):.1f} % of {len(total)}, aim under {TARGET:.0f} %")
    return 0 if met and average(total) < TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
