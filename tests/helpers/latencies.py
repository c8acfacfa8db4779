"""Worlds whose answers come in any order, as those of a model that thinks for different lengths of time do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
from worlds import predicted

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.core.flow.request_stream import Deliver
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds import register_world

Answer = Callable[[ChatRequest], str | Failure]


def drawn(request: ChatRequest) -> float:
    """A number from 0 to 1 that follows the request and its seed."""
    return random.Random(f"{request.sampling.seed} {request.messages[-1]['content']}").random()


def fickle(request: ChatRequest) -> str | Failure:
    """A model that is deterministic under its seed, and fails at times."""
    draw = drawn(request)
    if draw < 0.1:
        return Failure(FailureKind.SERVER, "busy", retryable=True)
    return predicted(f"out {draw}\ndev@box:~$")


def steady(request: ChatRequest) -> str:
    """A model that is deterministic under its seed and never fails."""
    return predicted(f"out {drawn(request)}\ndev@box:~$")


class Held(ScriptedGenerator):
    """A generator whose answers come one at a time, in any order; by hand they come when `release` is called."""

    def __init__(self, order: random.Random, answer: Answer) -> None:
        super().__init__(answer)
        self.order, self.by_hand = order, False

    def stream(self, deliver: Deliver) -> HeldStream:
        self.opened = HeldStream(self, deliver)
        return self.opened

    @property
    def waiting(self) -> dict[int, ChatRequest]:
        return self.opened.waiting

    def release(self, number: int) -> None:
        said = self._answer(self.waiting.pop(number))
        self.opened.deliver([(number, Completion(said) if isinstance(said, str) else said)])


class HeldStream:
    """The requests of one stream, each held until its answer is released."""

    def __init__(self, generator: Held, deliver: Deliver) -> None:
        self.generator, self.deliver = generator, deliver
        self.waiting: dict[int, ChatRequest] = {}

    def send(self, requests: Any) -> None:
        self.waiting.update(requests)

    def work(self) -> None:
        if self.waiting and not self.generator.by_hand:
            self.generator.release(self.generator.order.choice(sorted(self.waiting)))

    def close(self) -> None:
        self.waiting.clear()


def register_held(draws: random.Random, answer: Answer = fickle) -> Held:
    """Register the world `held`, whose answers come in an order that is drawn, and return its generator."""
    generator = Held(draws, answer)
    register_world("held", lambda options: options.language(generator))
    return generator


@contextmanager
def held_world(
    draws: random.Random, num_envs: int, *, world: str = "held", answer: Answer = fickle, **options: Any
) -> Iterator[tuple[Any, Held]]:
    """A vector environment in a world `held`, whose answers come in an order, and the generator of that world.

    The option `world` may name one around it, as in `record:PATH+held`, or a recording of it.
    """
    generator = register_held(draws, answer)
    envs: Any = gym.make_vec("AgentWorld/Terminal-v0", num_envs=num_envs, world=world, **options)
    yield envs.unwrapped, generator
    envs.close()
