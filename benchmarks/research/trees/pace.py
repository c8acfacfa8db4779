"""Slices of work to be timed: `python -m trees.pace` reads names of works, and answers each with a slice's seconds.

Seconds are those of the processor that this process took (`time.process_time`), so that other processes count little.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym

import agentworld_gym
from trees.sizes import DOMAINS

ANSWER = (
    "<predicted_observation>ls -la\ntotal 8\n-rw-r--r-- 1 dev dev 12 a.txt\ndev@box:~/work$</predicted_observation>"
)
FAMILIES = 6
"""Families of tasks whose actions make a slice of an engine."""

Slice = Callable[[], float]
"""Does a slice of work, and gives the seconds that counted."""


class Instant:
    """A generator that answers at once."""

    supports_seed = True
    supports_schema = False
    deterministic = True

    def submit(self, requests: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """The same answer to all."""
        return ((index, agentworld_gym.Completion(ANSWER)) for index in range(len(requests)))

    def describe(self) -> dict[str, tuple[str, bool]]:
        """What stands in the fingerprint."""
        return {"generator": ("scripted", True), "model": ("instant", False)}

    def close(self) -> None:
        """Hold nothing."""


def timed(work: Callable[[], object]) -> float:
    """The seconds that a piece of work takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def steps(world: str, traces: str | None, count: int) -> Slice:
    """Steps of one environment of the terminal, from a fresh episode on."""
    env = gym.make(DOMAINS["terminal"], world=world, max_steps=10_000, traces=traces)

    def work() -> None:
        for _ in range(count):
            env.step("ls -la")

    def run() -> float:
        env.reset(seed=0)
        return timed(work)

    return run


def wave(members: int, count: int) -> Slice:
    """Steps of a vector environment of the terminal in a language world, from fresh episodes on."""
    envs = gym.make_vec(DOMAINS["terminal"], num_envs=members, world="instant", max_steps=10_000)
    actions = ["ls -la"] * members

    def work() -> None:
        for _ in range(count):
            envs.step(actions)

    def run() -> float:
        envs.reset(seed=0)
        return timed(work)

    return run


class Listener:
    """Stands instead of a machine, and keeps the actions that it is asked for."""

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self.actions: list[Any] = []

    def act(self, action: Any) -> Any:
        """Keep the action, and do it."""
        self.actions.append(action)
        return self._machine.act(action)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)


def engine(domain: str, least: float) -> Slice:
    """Actions of experts in the engine of a domain, without environments and prompts around it.

    The machines and the actions are taken from episodes: an action is what the engine is given for it. A slice acts on
    fresh forks, as often as it takes `least` seconds in the first slice of all.
    """
    world = "grounded:monty" if domain == "swe" else "grounded"
    env: Any = gym.make(DOMAINS[domain], world=world, levels=[1, 2]).unwrapped
    episodes = []
    families = sorted(env.domain.tasks.families)
    for family in families[:: max(1, len(families) // FAMILIES)][:FAMILIES]:
        chosen = {"family": family, "level": 2}
        env.reset(seed=1, options=chosen)
        task = env.task.model_dump(mode="json")
        env.reset(seed=1, options={"task": {**task, "menu": task["expert"]}})
        session = env.episode.session
        start, listener = session.machine.fork(), Listener(session.machine)
        session.machine = listener
        for place in range(len(task["expert"])):
            action = env.menu[place]
            if action is None or action.startswith("finish"):
                break
            env.step(action)
        episodes.append((start, listener.actions))

    def once() -> float:
        spent = 0.0
        for start, actions in episodes:
            machine = start.fork()
            began = time.process_time()
            for action in actions:
                machine.act(action)
            spent += time.process_time() - began
            machine.close()
        return spent

    once()
    times = max(1, round(least / max(once(), 1e-6)))

    def run() -> float:
        return sum(once() for _ in range(times)) / times

    return run


def works(least: float) -> dict[str, Callable[[], Slice]]:
    """How each slice is made ready, by name."""
    folder = tempfile.TemporaryDirectory()
    found: dict[str, Callable[[], Slice]] = {
        "step, scripted world": lambda: steps("scripted", None, round(least * 20_000)),
        "step, language world with traces": lambda: steps("instant", folder.name, round(least * 8_000)),
        "wave of 64": lambda: wave(64, max(2, round(least * 120))),
        "wave of 256": lambda: wave(256, max(2, round(least * 30))),
    }
    for domain in DOMAINS:
        found[f"engine, {domain}"] = lambda domain=domain: engine(domain, least)
    return found


def main() -> None:
    """Answer every line, the name of a work, with the seconds of a slice; the first slice of a work warms it up."""
    core, least = int(sys.argv[1]), float(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    agentworld_gym.register_world("instant", lambda options: options.language(Instant()))
    makers, ready = works(least), {}
    print(json.dumps(list(makers)), flush=True)
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            ready[name] = makers[name]()
            ready[name]()
        gc.collect()
        print(json.dumps(ready[name]()), flush=True)


if __name__ == "__main__":
    main()
