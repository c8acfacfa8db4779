"""Several servers of one model: which is asked, where an episode stays, and what a dead one costs."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest
from aiohttp import web
from fault_server import FaultServer, Handler, answer
from hypothesis import given
from hypothesis import strategies as st
from loopback import servers
from worlds import predicted

import agentworld_gym  # noqa: F401
from agentworld_gym.base.errors import ClosedError, GeneratorError, SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion, Conversation, Failure, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ServerGenerator, open_generator
from agentworld_gym.llm.generators.server.background_loop import background_loop
from agentworld_gym.llm.generators.server.replicas import TRIES, ReplicaGenerator, Router


async def shell(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    return answer(predicted(f"turn {len(body['messages'])}\ndev@box:~$ "))


async def broken(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": {"message": "the engine died"}}, status=500)


async def refuses(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": {"message": "bad temperature"}}, status=400)


async def never(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return answer("late")


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], FaultServer]]:
    with servers(FaultServer) as start:
        yield start


def handle(*some: FaultServer) -> str:
    return ",".join(server.url for server in some)


def opened(*some: FaultServer, **options: Any) -> Any:
    return open_generator(handle(*some), **{"backoff_s": 0.01, **options})


def named(text: str, conversation: Conversation | None = None) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], Sampling(), conversation=conversation)


def ask(count: int) -> list[ChatRequest]:
    return [named("hi") for _ in range(count)]


def wave(generator: Any, requests: list[ChatRequest]) -> list[Completion | Failure]:
    return [said for _, said in sorted(generator.submit(requests), key=lambda one: one[0])]


def test_a_wave_is_spread_over_all_replicas_alike(serve):
    some = [serve(shell) for _ in range(4)]
    generator = opened(*some)
    assert all(isinstance(said, Completion) for said in wave(generator, ask(32)))
    assert [len(server.bodies) for server in some] == [8, 8, 8, 8]
    generator.close()


def test_a_conversation_stays_with_its_replica(serve):
    some = [serve(shell) for _ in range(3)]
    generator = opened(*some)
    conversations = {f"c{number}": Conversation() for number in range(6)}
    for _ in range(4):
        wave(generator, [named(name, conversation) for name, conversation in conversations.items()])
    asked = [Counter(body["messages"][0]["content"] for body in server.bodies) for server in some]
    assert [sorted(counts.values()) for counts in asked] == [[4, 4]] * 3
    generator.close()


def test_an_episode_of_a_world_and_its_forks_are_one_conversation(serve):
    some = [serve(shell) for _ in range(3)]
    env: Any = gym.make("AgentWorld/Terminal-v0", world=handle(*some)).unwrapped
    env.reset(seed=0)
    for _ in range(2):
        env.step("ls")
        env.fork().step("pwd")
    assert sorted(len(server.bodies) for server in some) == [0, 0, 4]
    env.close()


@pytest.mark.parametrize("how", ["dead", "broken"])
def test_the_episodes_of_a_replica_that_is_gone_move_and_nothing_fails(serve, caplog, how):
    some = [serve(shell), serve(shell)]
    options = {"world": handle(*some), "language": {"generator": {"backoff_s": 0.01}}, "max_steps": 50}
    envs: Any = gym.make_vec("AgentWorld/Terminal-v0", 4, **options)
    envs.reset(seed=0)
    first = envs.step(["ls"] * 4)[0]
    if how == "dead":
        some[0].stop()
    else:
        some[0].chat = broken
    with caplog.at_level(logging.WARNING):
        observations, _, _, truncated, infos = envs.step(["ls"] * 4)
    assert not truncated.any() and "failure" not in infos and observations != first
    assert sum("the episode moves to" in record.message for record in caplog.records) == 2
    met = len(some[0].bodies)
    envs.step(["ls"] * 4)
    assert len(some[0].bodies) == met and len(some[1].bodies) == 2 + 4 + 4, "a replica that failed rests"
    envs.close()


def test_what_no_replica_answers_fails_with_its_kind_and_what_is_refused_moves_nowhere(serve):
    some = [serve(broken), serve(broken)]
    generator = opened(*some, retries=0)
    [failure] = wave(generator, ask(1))
    assert (failure.kind, failure.retryable) == ("server", True)
    assert [len(server.bodies) for server in some] == [1, 1]
    for server in some:
        server.chat = refuses
    [failure] = wave(generator, ask(1))
    assert failure.kind == "rejected" and sum(len(server.bodies) for server in some) == 3
    generator.close()


def test_the_tokens_that_failed_replicas_took_are_counted_once(serve):
    async def gives_up(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        return answer("half", finish_reason="abort")

    some = [serve(gives_up), serve(gives_up)]
    generator = ReplicaGenerator([ServerGenerator(one.url, backoff_s=0.01, retries=1) for one in some])
    [failure] = wave(generator, ask(1))
    assert failure.spent == Usage(28, 12, 20), "two tries at each of two replicas"
    some[1].chat = shell
    generator.router.rest([1])
    [said] = wave(generator, ask(1))
    assert isinstance(said, Completion) and (said.usage, said.lost) == (Usage(7, 3, 5), Usage(14, 6, 10))
    generator.close()


def test_a_request_that_breaks_every_server_fails_after_some_and_leaves_the_others_to_their_work(serve):
    async def poisoned(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        made = broken if body["messages"][0]["content"] == "poison" else shell
        return await made(server, body, request)

    some = [serve(poisoned) for _ in range(TRIES + 2)]
    generator = opened(*some, retries=0)
    *_, failure = wave(generator, [*ask(8), named("poison")])
    assert (failure.kind, failure.retryable) == ("server", True) and f"{TRIES} replicas" in failure.message
    poison = [[body["messages"][0]["content"] for body in server.bodies].count("poison") for server in some]
    assert sorted(poison) == [0, 0, *[1] * TRIES]
    before = [len(server.bodies) for server in some]
    assert all(isinstance(said, Completion) for said in wave(generator, ask(10)))
    assert [len(server.bodies) - met for server, met in zip(some, before, strict=True)] == [2] * 5, "none rests"
    generator.close()


def test_which_replica_comes_first_by_chance_leaves_the_draws_of_the_user_alone():
    random.seed(7)
    expected = random.Random(7).random()
    firsts = {Router(4).take(Conversation()) for _ in range(60)}
    assert random.random() == expected and len(firsts) > 1


def test_closing_while_a_request_moves_leaves_nothing_open(serve, monkeypatch):
    async def fails_first(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        asked.append(server)
        return await (broken if len(asked) == 1 else never)(server, body, request)

    asked: list[FaultServer] = []
    some = [serve(fails_first), serve(fails_first)]
    generator = opened(*some, retries=0)
    router = generator.generator.router
    moving, closed, take = threading.Event(), threading.Event(), router.take

    def slowly(conversation, tried=()):
        if tried:
            moving.set()
            closed.wait(0.1)
        return take(conversation, tried)

    monkeypatch.setattr(router, "take", slowly)
    stream = generator.stream(lambda answers: None)
    stream.send(list(enumerate(ask(1))))
    assert moving.wait(10)
    stream.close()
    closed.set()
    background_loop().run(asyncio.sleep(0.05))
    assert router._open == [0, 0] and [server.open for server in some] == [0, 0]
    with pytest.raises(ClosedError):
        stream.send(list(enumerate(ask(1))))
    generator.close()


def test_whoever_waits_while_the_generator_is_closed_is_told(serve):
    generator = opened(serve(never), serve(never))
    answers = generator.submit(ask(2))
    threading.Timer(0.05, generator.close).start()
    with pytest.raises(ClosedError):
        next(answers)


def test_a_stream_that_is_closed_leaves_no_replica_looking_busy(serve):
    generator = opened(serve(never), serve(shell))
    stream = generator.stream(lambda answers: None)
    stream.send(list(enumerate(ask(4))))
    stream.close()
    router = generator.generator.router
    assert router._open == [0, 0]
    generator.close()


def test_replicas_have_one_fingerprint_and_one_that_is_down_is_left_out(serve, caplog):
    some = [serve(shell), serve(shell)]
    alone = open_generator(some[0].url).describe()
    generator = opened(*some, retries=0)
    assert generator.describe() == alone
    some[0].stop()
    later = opened(*some, retries=0, deadline_s=77.0)
    with caplog.at_level(logging.WARNING):
        assert later.describe() == alone
    assert "going on without a replica" in caplog.text
    for one in (generator, later):
        one.close()


def test_replicas_of_different_models_are_refused(serve, monkeypatch):
    some = [serve(shell), serve(shell)]
    generator = opened(*some)
    inner: ReplicaGenerator = generator.generator
    monkeypatch.setattr(inner.replicas[1], "describe", lambda: {"model": ("another", False)})
    with pytest.raises(GeneratorError, match=rf"{some[1].url} serves .*another"):
        generator.describe()
    generator.close()


def test_addresses_and_options_of_replicas_are_checked():
    with pytest.raises(SpecError, match="concurency"):
        open_generator("http://a/v1,http://b/v1", concurency=3)
    with pytest.raises(SpecError, match="got 'b', expected the address of a server"):
        open_generator("http://a/v1,b")


@given(st.lists(st.tuples(st.sampled_from(["new", "again", "done", "fail"]), st.integers(0, 9)), max_size=60))
def test_a_router_keeps_conversations_and_takes_the_least_busy(script):
    clock = [0.0]
    router = Router(3, rest_s=10.0, clock=lambda: clock[0])
    conversations: list[Conversation] = []
    homes: dict[Conversation, int] = {}
    opened: list[int] = []
    rested: dict[int, float] = {}
    for what, number in script:
        clock[0] += 1.0
        awake = [place for place in range(3) if rested.get(place, 0.0) <= clock[0]] or [0, 1, 2]
        if what in ("new", "again"):
            if what == "new" or not conversations:
                conversations.append(Conversation())
            conversation = conversations[number % len(conversations)] if what == "again" else conversations[-1]
            busy = Counter(opened)
            place = router.take(conversation)
            if homes.get(conversation) in awake:
                assert place == homes[conversation]
            else:
                assert place in awake and busy[place] == min(busy[other] for other in awake)
            homes[conversation] = place
            opened.append(place)
        elif opened:
            place = opened.pop(number % len(opened))
            router.done(place)
            if what == "fail":
                router.rest([place])
                rested[place] = clock[0] + 10.0


def test_a_router_forgets_conversations_that_are_over():
    router = Router(2)
    router.take(Conversation())
    gc.collect()
    assert not router._homes
