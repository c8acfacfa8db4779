"""Measures the search engine on one core: steps of a mix of actions, forks, and the memory of live sessions.

python benchmarks/speed/search_speed.py [--sessions 1000] [--steps 6000]
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import time
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.search.engine.fictional_world import build_world
from agentworld_gym.domains.search.engine.index import index_of
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.theme import theme_names

Call = dict[str, Any]
HIDDEN = {"question": "How many are there?", "answer": "1,740"}
MIX = ("search", "open", "search", "note", "batch", "open", "search", "open", "note", "all")
"""Four searches, one of them of three queries, three pages and three uses of the memory in every ten steps."""


def calls(world: Any, rng: random.Random) -> Callable[[str, int], Call]:
    """Makes actions about the things of a world, hardly one of them twice."""
    pages = world.pages

    def query() -> str:
        subject = rng.choice(pages).title.rpartition(" - ")[0]
        words = [word for word in rng.choice(pages).body.split() if word.isalpha()]
        return f"{subject} {rng.choice(words or ['year'])} {rng.choice(words or ['year'])}"

    def call(kind: str, number: int) -> Call:
        if kind == "search":
            return {"name": "web_search", "arguments": {"query": query()}}
        if kind == "batch":
            return {"name": "web_search", "arguments": {"queries": [query() for _ in range(3)]}}
        if kind == "open":
            return {"name": "web_extractor", "arguments": {"url": rng.choice(pages).url}}
        if kind == "note":
            return {"name": "dict_memory", "arguments": {"operation": "add", "dict": {f"k{number}": "1,740 t"}}}
        return {"name": "dict_memory", "arguments": {"operation": "retrieve_all"}}

    return call


def state_of(world: Any) -> dict[str, Any]:
    """A state as tasks have it: theme, seed, and eight pages in play."""
    pages = [{"url": p.url, "title": p.title, "date": p.date, "content": p.body} for p in world.pages[::40][:8]]
    return {"theme": world.theme, "seed": world.seed, "pages": pages}


def steps(count: int, controls: Controls = Controls()) -> float:  # noqa: B008
    """Steps per second over sessions of twenty steps in a few worlds of every theme, their start included."""
    rng = random.Random(0)
    worlds = [build_world(theme, seed) for theme in theme_names() for seed in range(3)]
    for world in worlds:
        index_of(world.theme, world.seed)
    plans = []
    for number in range(count // 20):
        world = worlds[number % len(worlds)]
        call = calls(world, rng)
        plans.append((state_of(world), [call(kind, n) for n, kind in enumerate(islice(cycle(MIX), 20))]))
    began = time.process_time()
    for number, (state, actions) in enumerate(plans):
        machine = SearchMachine.start(state, number, controls, HIDDEN)
        for action in actions:
            machine.act(action)
        machine.close()
    return count / (time.process_time() - began)


def each(repeat: int = 400) -> None:
    """Microseconds of every kind of action by itself, and of a start and a fork."""
    world = build_world(theme_names()[0], 0)
    call = calls(world, random.Random(1))
    machine = SearchMachine.start(state_of(world), 0, Controls(), HIDDEN)
    for kind in ("search", "batch", "open", "note", "all"):
        actions = [call(kind, number) for number in range(repeat)]
        began = time.process_time()
        for action in actions:
            machine.act(action)
        print(f"  {(time.process_time() - began) / repeat * 1e6:7.0f} µs  {kind}")
    began = time.process_time()
    for _ in range(repeat):
        machine.fork()
    print(f"  {(time.process_time() - began) / repeat * 1e3:7.4f} ms  fork of a session with {repeat} notes")
    state = state_of(world)
    began = time.process_time()
    for number in range(repeat):
        SearchMachine.start(state, number, Controls(), HIDDEN)
    print(f"  {(time.process_time() - began) / repeat * 1e6:7.0f} µs  start in a world that is indexed")


def live(count: int) -> tuple[float, float]:
    """Mebibytes that many live sessions take, each in a world of its own, and the seconds to start and use them."""
    gc.collect()
    before, began = resident(), time.process_time()
    rng, machines, themes = random.Random(2), [], theme_names()
    for number in range(count):
        world = build_world(themes[number % len(themes)], 1_000 + number // len(themes))
        call = calls(world, rng)
        machine = SearchMachine.start(state_of(world), number, Controls(), HIDDEN)
        for n, kind in enumerate(MIX):
            machine.act(call(kind, n))
        machines.append(machine)
    return resident() - before, time.process_time() - began


def resident() -> float:
    """Mebibytes of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    """Print all measurements (CPU time of this process)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--steps", type=int, default=6_000)
    options = parser.parse_args()
    themes = len(theme_names())
    print(f"{themes} themes; of ten steps {', '.join(MIX)}")
    each()
    print(f"steps: {steps(options.steps):,.0f}/s")
    everything = Controls(
        dict.fromkeys(("pagination", "stale-data", "misleading-snippets", "truncated-output", "slow-service"), 0.3)
    )
    print(f"steps under five controls: {steps(options.steps // 2, everything):,.0f}/s")
    taken, seconds = live(options.sessions)
    print(
        f"{options.sessions:,} live sessions, each in a world of its own: {taken:,.0f} MiB ({seconds:.0f} s to build)"
    )


if __name__ == "__main__":
    main()
