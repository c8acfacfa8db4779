"""How many steps a second a small world model answers through transformers, with and without its shortcuts.

    python benchmarks/speed/tiny_speed.py [--world tiny] [--envs 64] [--steps 12] [--threads 2]
    python benchmarks/speed/tiny_speed.py --domains terminal search android     # a row for each, with everything on

A wave of terminals takes random actions of their tasks' menus. Each row of the table plays the same episodes: first
with the prefix cache and the guesses by copying, then without guesses, then without both, and at last one session
alone. With `--vllm` the same episodes are played by vLLM in this process too. The exit status tells whether the wave
with everything on makes at least 60 steps a second. Beside other busy processes look at the processor's time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

import agentworld_gym  # noqa: F401  (registers the ids)
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.spec import load_spec

TARGET = 60.0


@dataclass(frozen=True)
class Speed:
    """What one run took; tokens are means over all steps. `first` is the processor's time of the first wave, which
    reads whole prompts; later waves read what is new."""

    steps: int
    seconds: float
    processor: float
    first: float
    prompt: float
    cached: float
    written: float
    failed: int


def play(domain: str, world: str, count: int, steps: int, **language: Any) -> Speed:
    """Play random menu actions in `count` environments at once."""
    env_id = load_spec(domain).env_id
    envs: Any = gym.make_vec(env_id, num_envs=count, world=world, language=language, judge="none")
    envs.reset(seed=7)
    rng = random.Random(7)
    seconds, processor, first, failed = 0.0, 0.0, 0.0, 0
    tokens: dict[str, list[float]] = {"prompt": [], "cached": [], "completion": []}
    for _ in range(steps):
        actions = [rng.choice(acts(menu)) for menu in envs.unwrapped.menus]
        began, busy = time.perf_counter(), time.process_time()
        infos = envs.step(actions)[4]
        seconds, processor = seconds + time.perf_counter() - began, processor + time.process_time() - busy
        first = first or processor
        failed += int(np.sum(infos.get("_failure", np.zeros(1))))
        for name, values in tokens.items():
            values.append(float(np.mean(infos["tokens"][name])) if "tokens" in infos else 0.0)
    envs.close()
    means = {name: float(np.mean(values)) for name, values in tokens.items()}
    return Speed(
        count * steps, seconds, processor, first, means["prompt"], means["cached"], means["completion"], failed
    )


def acts(menu: tuple[str | None, ...]) -> list[str]:
    """The entries of a menu that are on offer and do not end the episode, or else one that does."""
    return [entry for entry in menu if entry and not finishes(entry)] or ["finish"]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", default="tiny", help="tiny, or transformers:DIR")
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--domains", nargs="+", help="domains, in place of the terminal with and without shortcuts")
    parser.add_argument("--vllm", metavar="DIR", help="a model directory that vLLM plays too")
    given = parser.parse_args()

    import torch

    torch.set_num_threads(given.threads)
    runs: list[tuple[str, str, str, int, dict[str, Any]]] = [
        ("cache and guesses", "terminal", given.world, given.envs, {}),
        ("cache alone", "terminal", given.world, given.envs, {"lookup": False}),
        ("neither", "terminal", given.world, given.envs, {"lookup": False, "cache_tokens": 0}),
        ("one session alone", "terminal", given.world, 1, {}),
    ]
    if given.domains:
        runs = [(domain, domain, given.world, given.envs, {}) for domain in given.domains]
    if given.vllm:
        engine = {"max_model_len": 4096, "enforce_eager": True}
        runs.append(("vLLM", "terminal", f"vllm:{given.vllm}", given.envs, engine))
    fast = 0.0
    form = "{:<20}{:>9}{:>10}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}{:>8}"
    heads = ("steps/s", "ms a wave", "CPU ms", "the first", "the others", "prompt", "cached", "written", "failed")
    sys.stdout.write(form.format("", *heads) + "\n")
    for name, domain, world, count, generator in runs:
        extra: dict[str, Any] = {}
        if world.startswith("vllm:"):
            extra = {"profile": "compact", "sampling": {"temperature": 0.0, "thinking": False, "max_tokens": 512}}
        speed = play(domain, world, count, given.steps, generator=generator, **extra)
        rate = speed.steps / speed.seconds
        fast = fast or rate
        wave, busy = 1000 * speed.seconds / given.steps, 1000 * speed.processor / given.steps
        later = 1000 * (speed.processor - speed.first) / max(given.steps - 1, 1)
        row = (name, f"{rate:.1f}", f"{wave:.0f}", f"{busy:.0f}", f"{1000 * speed.first:.0f}", f"{later:.0f}")
        row += (f"{speed.prompt:.0f}", f"{speed.cached:.0f}")
        sys.stdout.write(form.format(*row, f"{speed.written:.1f}", speed.failed) + "\n")
        sys.stdout.flush()
    return 0 if fast >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
