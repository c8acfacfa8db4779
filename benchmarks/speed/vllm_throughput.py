"""What the environments' way to vLLM costs beside a bare `LLM.chat`, and what the prefix cache saves.

    python benchmarks/speed/vllm_throughput.py [MODEL_DIR] [--envs 64] [--turns 10] [--tokens 64] [--repeats 3]

Terminal environments step in a world that vLLM plays in this process (MODEL_DIR, or the bundled small world model).
After each wave the same engine answers the very same prompts again, through the generator and through a bare
`LLM.chat`, in turns and several times, with its prefix cache brought back each time to what the wave found: emptied,
then filled by the wave before. What the environments add is their step less its wave. The exit
status tells whether the throughput is at least 0.95 of the bare one, and whether at least 0.85 of the last turn's
prompts came from the cache.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import gymnasium as gym

import agentworld_gym  # noqa: F401  (registers the ids)
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.bundled_models import bundled_models
from agentworld_gym.llm.generators import open_generator

ID = "AgentWorld/Terminal-v0"
ACTIONS = (
    "ls -la",
    "pwd",
    "mkdir -p out",
    "ls",
    "whoami",
    "touch out/a.txt",
    "ls out",
    "rm out/a.txt",
    "ls -a",
    "cd out",
)
THROUGHPUT, CACHED = 0.95, 0.85
Answer = Completion | Failure


class Watched:
    """Stands before an engine's `submit`: keeps each wave, and how long it took from submission to last answer."""

    def __init__(self, submit: Callable[[Sequence[ChatRequest]], Iterator[tuple[int, Answer]]]) -> None:
        self.submit = submit
        self.waves: list[list[tuple[ChatRequest, Answer]]] = []
        self.seconds: list[float] = []

    def __call__(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Answer]]:
        started = time.perf_counter()
        kept = []
        for index, answer in self.submit(requests):
            kept.append((requests[index], answer))
            yield index, answer
        self.seconds.append(time.perf_counter() - started)
        self.waves.append(kept)


def through_chat(llm: Any, requests: Sequence[ChatRequest]) -> list[str]:
    from vllm import SamplingParams

    params = [SamplingParams(temperature=0.0, max_tokens=request.sampling.max_tokens) for request in requests]
    conversations = [list(request.messages) for request in requests]
    outputs = llm.chat(conversations, params, use_tqdm=False, chat_template_kwargs={"enable_thinking": False})
    return [output.outputs[0].text for output in outputs]


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cached_share(wave: Sequence[tuple[ChatRequest, Answer]], turn: int) -> tuple[float, int]:
    """Of the prompts of this turn, the share of tokens from the prefix cache, and how many prompts these are."""
    usages = [a.usage for r, a in wave if isinstance(a, Completion) and len(r.messages) == 2 * turn]
    return sum(u.cached_tokens for u in usages) / max(1, sum(u.prompt_tokens for u in usages)), len(usages)


def main() -> int:
    parser = argparse.ArgumentParser(description="Throughput beside LLM.chat, and the prefix cache's share.")
    parser.add_argument("model", nargs="?", default=bundled_models()["tiny-terminal-state"].folder)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "0")
    handle = f"vllm:{options.model}"
    lease = open_generator(handle)  # the environments share this engine
    engine: Any = lease.generator
    watched = engine.submit = Watched(engine.submit)
    sampling = {"temperature": 0.0, "thinking": False, "max_tokens": options.tokens}
    envs = gym.make_vec(
        ID,
        num_envs=options.envs,
        world=handle,
        language={"profile": "compact", "form": "full", "sampling": sampling},
        max_steps=options.turns + 1,
    )
    envs.reset(seed=0)
    llm, submit = engine._llm, watched.submit
    before = [ChatRequest([{"role": "user", "content": "warm up"}], Sampling(max_tokens=4))] * options.envs
    totals = dict.fromkeys(("environments", "generator", "chat"), 0.0)
    through_chat(llm, before)
    for turn in range(1, options.turns + 1):
        step = timed(lambda turn=turn: envs.step((ACTIONS[(turn - 1) % len(ACTIONS)],) * options.envs))
        wave, added = watched.waves[-1], step - watched.seconds[-1]
        requests = [request for request, _ in wave]
        seconds: dict[str, list[float]] = {"generator": [], "chat": []}
        ways = {
            "generator": lambda requests=requests: list(submit(requests)),
            "chat": lambda requests=requests: through_chat(llm, requests),
        }
        for repeat in range(options.repeats):
            for name in sorted(ways, reverse=bool((turn + repeat) % 2)):
                llm.reset_prefix_cache()
                through_chat(llm, before)
                seconds[name].append(timed(ways[name]))
        generator, chat = median(seconds["generator"]), median(seconds["chat"])
        for name, spent in (("environments", generator + added), ("generator", generator), ("chat", chat)):
            totals[name] += spent
        share, prompts = cached_share(wave, turn)
        print(
            f"turn {turn}: environments add {added * 1000:.0f} ms, generator {generator:.2f} s, LLM.chat {chat:.2f} s; "
            f"{share:.2f} of {prompts} prompts cached",
            flush=True,
        )
        before = requests
    parts = lease.describe()
    envs.close()
    lease.close()
    ratio = totals["chat"] / totals["environments"]
    print(f"\n{options.envs} environments, {options.turns} turns, {parts['generator'][0]}, {parts['dtype'][0]}")
    print(f"generator: {totals['chat'] / totals['generator']:.3f} of the throughput of LLM.chat")
    print(f"environments: {ratio:.3f} of the throughput of LLM.chat (target {THROUGHPUT})")
    print(f"prompts of turn {options.turns} from the prefix cache: {share:.3f} (target {CACHED}; {prompts} prompts)")
    return 0 if ratio >= THROUGHPUT and share >= CACHED else 1


if __name__ == "__main__":
    sys.exit(main())
