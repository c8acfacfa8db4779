"""A server as a generator: what is sent, what comes back, and every way in which a server can fail."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web
from fault_server import FaultServer, Handler, answer
from loopback import connections, servers

from agentworld_gym.base.errors import ClosedError, GeneratorError, SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ServerGenerator
from agentworld_gym.llm.generators.server.background_loop import background_loop

SECRET = "sk-very-secret-123"


def said(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


async def echo(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    return answer(f"saw {said(body)}")


def ask(*texts: str, **sampling: Any) -> list[ChatRequest]:
    return [ChatRequest([{"role": "user", "content": text}], Sampling(**sampling)) for text in texts]


def wave(generator: ServerGenerator, *texts: str, **sampling: Any) -> list[Completion | Failure]:
    answers = dict(generator.submit(ask(*texts, **sampling)))
    assert sorted(answers) == list(range(len(texts)))
    return [answers[index] for index in range(len(texts))]


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], FaultServer]]:
    with servers(FaultServer) as start:
        yield start


@pytest.fixture
def connect() -> Iterator[Callable[..., ServerGenerator]]:
    with connections() as open_:
        yield open_


def test_a_wave_gets_an_answer_each(serve, connect):
    generator = connect(serve(echo))
    first, second = wave(generator, "a", "b")
    assert (first.text, second.text) == ("saw a", "saw b")
    assert first.finish_reason == "stop"
    assert first.usage.as_dict() == {"prompt": 7, "completion": 3, "cached": 5}
    assert list(generator.submit([])) == []


def test_the_model_is_looked_up_once_when_none_is_given(serve, connect):
    server = serve(echo)
    generator = connect(server, None)
    wave(generator, "a", "b")
    assert {body["model"] for body in server.bodies} == {"world-model"}
    assert generator.describe() == {"generator": ("server vllm 0.32.0", False), "model": ("world-model", False)}
    assert str(server.port) not in str(generator.describe()), "the same server at another address is the same world"


def test_the_sampling_reaches_the_server(serve, connect):
    server = serve(echo)
    sampling = Sampling(0.7, 0.9, 20, 64, False, ("\n$",), 11)
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    list(connect(server).submit([ChatRequest([{"role": "user", "content": "x"}], sampling, schema)]))
    (body,) = server.bodies
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    sent = {key: body[key] for key in ("temperature", "top_p", "top_k", "max_tokens", "stop", "seed")}
    assert sent == {"temperature": 0.7, "top_p": 0.9, "top_k": 20, "max_tokens": 64, "stop": ["\n$"], "seed": 11}
    assert body["response_format"]["json_schema"]["schema"] == schema


def test_what_is_not_set_is_not_sent(serve, connect):
    server = serve(echo)
    generator = connect(server, extra_body={"seed": None, "chat_template_kwargs": None, "user": "me"})
    assert not generator.supports_seed
    wave(generator, "x", seed=3)
    assert not {"seed", "top_k", "stop", "response_format", "chat_template_kwargs"} & set(server.bodies[0])
    assert server.bodies[0]["user"] == "me"


def test_fields_of_the_body_are_part_of_the_fingerprint(serve, connect):
    server = serve(echo)
    plain = connect(server).describe()
    assert connect(server, confidence=True).describe() == plain, "log-probabilities change nothing that is written"
    other = connect(server, extra_body={"top_p": None, "min_p": 0.1}).describe()
    assert other == plain | {"extra_body": ('{"min_p": 0.1, "top_p": null}', True)}


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_thinking_that_comes_apart_is_kept_apart(serve, connect, field):
    async def think(server, body, request):
        return answer("", message={"content": "$ ", field: "a shell prompt follows"})

    (completion,) = wave(connect(serve(think)), "x")
    assert (completion.text, completion.reasoning) == ("$ ", "a shell prompt follows")


def test_thinking_that_never_ended_is_a_cut_off_completion(serve, connect):
    async def think(server, body, request):
        return answer("", message={"content": None, "reasoning": "hm"}, finish_reason="length")

    (completion,) = wave(connect(serve(think)), "x")
    assert (completion.text, completion.finish_reason) == ("", "length")


def _scored(*logprobs: object) -> dict[str, object]:
    return {"logprobs": {"content": [{"token": "x", "logprob": value} for value in logprobs]}}


@pytest.mark.parametrize(
    ("choice", "mean"),
    [
        (_scored(-0.5, -0.25, 0.0), -0.25),
        (_scored(), None),
        (_scored("high"), None),
        (_scored(None), None),
        ({"logprobs": None}, None),
        ({"logprobs": {"content": None}}, None),
        ({"logprobs": [1]}, None),
        ({}, None),
    ],
)
def test_log_probabilities_are_asked_for_on_request_and_averaged(serve, connect, choice, mean):
    async def score(server, body, request):
        return answer("$ ", **choice)

    server = serve(score)
    (completion,) = wave(connect(server, confidence=True), "x")
    assert (completion.text, completion.logprob) == ("$ ", mean)
    wave(connect(server), "x")
    assert [body.get("logprobs") for body in server.bodies] == [True, None]


def test_answers_are_yielded_as_they_come(serve, connect):
    released = asyncio.Event()

    async def slow_first(server, body, request):
        if said(body) == "slow":
            await released.wait()
        return answer(said(body))

    answers = connect(serve(slow_first)).submit(ask("slow", "fast"))
    assert next(answers)[0] == 1
    background_loop().loop.call_soon_threadsafe(released.set)
    assert next(answers)[0] == 0
    assert list(answers) == []


def test_a_wave_starts_before_its_first_answer_is_asked_for(serve, connect):
    seen = threading.Event()

    async def note(server, body, request):
        seen.set()
        return answer("x")

    answers = connect(serve(note)).submit(ask("x"))
    assert seen.wait(10)
    assert len(list(answers)) == 1


def test_the_bound_on_open_requests_holds_over_several_waves(serve, connect):
    async def linger(server, body, request):
        await asyncio.sleep(0.02)
        return answer("x")

    server = serve(linger)
    generator = connect(server, concurrency=4)
    waves = [generator.submit(ask(*"abcdefgh")) for _ in range(2)]
    assert all(isinstance(a, Completion) for answers in waves for _, a in answers)
    assert server.most_open == 4


def test_a_small_limit_of_open_files_bounds_the_connections_and_says_so(serve, connect, monkeypatch, caplog):
    async def linger(server, body, request):
        await asyncio.sleep(0.02)
        return answer("x")

    monkeypatch.setattr(resource, "getrlimit", lambda which: (131, 131))
    server = serve(linger)
    assert all(isinstance(a, Completion) for a in wave(connect(server), *"abcdefgh"))
    assert server.most_open == 3 and "ulimit -n" in caplog.text


def test_a_busy_server_is_asked_again_when_it_says(serve, connect):
    async def busy_once(server, body, request):
        if len(server.bodies) == 1:
            return web.Response(status=429, headers={"Retry-After": "0"}, text="slow down")
        return answer("at last")

    server = serve(busy_once)
    (completion,) = wave(connect(server, backoff_s=3600), "x")
    assert completion.text == "at last" and len(server.bodies) == 2


def test_a_storm_of_server_errors_passes(serve, connect):
    async def storm(server, body, request):
        if len(server.bodies) <= 6:
            return web.Response(status=(500, 502, 503)[len(server.bodies) % 3])
        return answer("calm")

    answers = wave(connect(serve(storm)), "a", "b")
    assert [a.text for a in answers] == ["calm", "calm"]


def test_server_errors_without_end_are_a_failure(serve, connect):
    async def broken(server, body, request):
        return web.json_response({"error": {"message": "engine is dead"}}, status=503)

    server = serve(broken)
    (failure,) = wave(connect(server, retries=2), "x")
    assert (failure.kind, failure.retryable) == (FailureKind.SERVER, True)
    assert "503" in failure.message and "engine is dead" in failure.message and "3 attempts" in failure.message
    assert len(server.bodies) == 3


def test_a_member_that_hangs_fails_at_the_deadline_and_the_others_do_not(serve, connect):
    async def hang(server, body, request):
        if said(body) == "hang":
            await asyncio.sleep(3600)
        return answer("here")

    hung, fine = wave(connect(serve(hang), deadline_s=0.5), "hang", "fine")
    assert (hung.kind, hung.retryable) == (FailureKind.TIMEOUT, True)
    assert "0.5 s" in hung.message
    assert fine.text == "here"


def test_a_deadline_says_what_happened_before_it(serve, connect):
    async def busy(server, body, request):
        return web.Response(status=429, headers={"Retry-After": "3600"}, text="queue is full")

    (failure,) = wave(connect(serve(busy), deadline_s=0.3), "x")
    assert failure.kind is FailureKind.TIMEOUT and "queue is full" in failure.message


def test_a_connection_reset_inside_an_answer_is_retried(serve, connect):
    async def cut_once(server, body, request):
        if len(server.bodies) > 1:
            return answer("whole")
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        request.transport.abort()
        return response

    server = serve(cut_once)
    (completion,) = wave(connect(server), "x")
    assert completion.text == "whole" and len(server.bodies) == 2


@pytest.mark.parametrize(
    "body",
    [
        b"<html>proxy</html>",
        b'{"choices": []}',
        b"[]",
        b"null",
        b"",
        b'{"choices": [{"message": {}}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "many"}}',
        b'{"choices": [{"message": {"content": "x"}}], "usage": [1]}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b'{"choices": [{"message": {"content": "' + b"x" * 100,
    ],
)
def test_an_answer_that_breaks_the_protocol_is_a_failure_of_its_member_alone(serve, connect, body):
    async def malformed(server, sent, request):
        if said(sent) == "bad":
            return web.Response(body=body, content_type="application/json")
        return answer("good")

    bad, good = wave(connect(serve(malformed)), "bad", "good")
    assert bad.kind is FailureKind.MALFORMED
    assert good.text == "good"


@pytest.mark.parametrize(
    "body",
    [
        {
            "error": {
                "message": "This model's maximum context length is 2048 tokens. However, your prompt contains 9000"
            }
        },
        {"object": "error", "message": "This model's maximum context length is 64 tokens.", "code": 400},
        {"error": {"message": "too long", "code": "context_length_exceeded"}},
        {"detail": "the request exceeds the available context size"},
    ],
)
def test_a_history_that_does_not_fit_is_an_overflow(serve, connect, body):
    async def full(server, sent, request):
        return web.json_response(body, status=400) if said(sent) == "long" else answer("fits")

    server = serve(full)
    long, short = wave(connect(server), "long", "short")
    assert (long.kind, long.retryable) == (FailureKind.OVERFLOW, False)
    assert short.text == "fits" and len(server.bodies) == 2


@pytest.mark.parametrize(
    "message",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is 4096 "
        "tokens and your request has 96 input tokens (32768 > 4096 - 96).",
        "This model's maximum context length is 4096 tokens. However, you requested 32864 tokens (96 in the messages, "
        "32768 in the completion). Please reduce the length of the messages or completion.",
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
        "32864 tokens: 96 tokens from the input messages and 32768 tokens for the completion.",
        "You passed 96 input tokens and requested 32768 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 0 tokens.",
    ],
)
def test_a_completion_is_cut_to_what_the_context_leaves(serve, connect, message):
    async def full(server, sent, request):
        return answer("fits") if sent["max_tokens"] <= 4000 else web.json_response({"message": message}, status=400)

    server = serve(full)
    ((_, found),) = connect(server).submit(
        [ChatRequest([{"role": "user", "content": "x"}], Sampling(max_tokens=32768))]
    )
    assert found.text == "fits"
    assert [body["max_tokens"] for body in server.bodies] == [32768, 4000]


@pytest.mark.parametrize(("status", "advice"), [(400, "bad temperature"), (401, "AGENTWORLD_API_KEY"), (404, "/v1")])
def test_a_refused_request_is_not_repeated_and_says_what_to_do(serve, connect, status, advice):
    async def refuse(server, body, request):
        return web.json_response({"error": {"message": "bad temperature"}}, status=status)

    server = serve(refuse)
    (failure,) = wave(connect(server), "x")
    assert (failure.kind, failure.retryable) == (FailureKind.REJECTED, False)
    assert advice in failure.message and len(server.bodies) == 1


def test_a_redirect_does_not_carry_the_request_elsewhere(serve, connect):
    async def away(server, body, request):
        return web.Response(status=307, headers={"Location": "http://example.invalid/"})

    (failure,) = wave(connect(serve(away)), "x")
    assert failure.kind is FailureKind.REJECTED


def test_where_no_server_is_the_failure_says_what_to_do(serve, connect):
    server = serve(echo)
    server.stop()
    generator = connect(server, None, retries=1)
    (failure,) = wave(generator, "x")
    assert (failure.kind, failure.retryable) == (FailureKind.CONNECTION, True)
    assert server.url in failure.message and "vllm serve" in failure.message
    with pytest.raises(GeneratorError, match="vllm serve"):
        generator.describe()
    server.start()
    assert wave(generator, "x")[0].text == "saw x", "the generator recovers with its server"


def test_a_server_killed_inside_a_wave_and_restarted_loses_no_member(serve, connect):
    arrived = threading.Event()

    async def die_with_the_first(server, body, request):
        if len(server.bodies) <= 8:
            if len(server.bodies) == 8:
                arrived.set()
            await asyncio.sleep(3600)
        return answer(said(body))

    server = serve(die_with_the_first)
    answers = connect(server, retries=6, backoff_s=0.05).submit(ask(*"abcdefgh"))
    assert arrived.wait(10)
    server.stop()
    server.start()
    assert sorted((index, a.text) for index, a in answers) == list(enumerate("abcdefgh"))


def test_the_key_comes_from_the_environment_and_shows_nowhere(serve, connect, monkeypatch, caplog):
    monkeypatch.setenv("AGENTWORLD_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)

    async def tell(server, body, request):
        return web.json_response({"error": {"message": f"wrong key {SECRET}"}}, status=int(said(body)))

    server = serve(tell)
    generator = connect(server, retries=1)
    failures = wave(generator, "401", "500", "429")
    assert all(headers["Authorization"] == f"Bearer {SECRET}" for headers in server.headers)
    shown = f"{failures} {caplog.text} {generator!r} {vars(generator)} {generator.describe()}"
    assert SECRET not in shown and "wrong key ***" in shown


def test_without_a_key_no_authorization_is_sent(serve, connect, monkeypatch):
    monkeypatch.delenv("AGENTWORLD_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server = serve(echo)
    wave(connect(server), "x")
    assert "Authorization" not in server.headers[0], "a key for one service never goes to another by itself"
    wave(connect(server, api_key_env="OPENAI_API_KEY"), "x")
    assert server.headers[1]["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    "address", ["localhost:8000", "ftp://x/v1", "http://", "http://x:99999/v1", "http://[::1/v1", ""]
)
def test_a_broken_address_is_refused(address):
    with pytest.raises(SpecError, match="http://localhost:8000/v1"):
        ServerGenerator(address)


def test_a_key_inside_an_address_is_refused_without_showing_it():
    with pytest.raises(SpecError) as refused:
        ServerGenerator(f"http://me:{SECRET}@host/v1")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("text", ["\ud800 lone", "a\x00b", "\u202e bidi", "x" * 1_000_000, '"}]}', "\x1b[31m"])
def test_whatever_a_message_holds_arrives_as_one_message(serve, connect, text):
    server = serve(echo)
    (completion,) = wave(connect(server), text)
    expected = text.encode("utf-8", "replace").decode()
    assert said(server.bodies[0]) == expected and len(server.bodies[0]["messages"]) == 1
    assert completion.text == f"saw {expected}"


def test_a_lone_surrogate_in_an_answer_becomes_a_question_mark(serve, connect):
    async def surrogate(server, body, request):
        return web.Response(body=json.dumps({"choices": [{"message": {"content": "a\ud800b"}}]}).encode())

    (completion,) = wave(connect(serve(surrogate)), "x")
    assert completion.text == "a?b"


def test_an_interrupt_cancels_what_is_open_and_leaves_the_generator_usable(serve, connect):
    async def interrupt(server, body, request):
        if said(body) == "wait":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.sleep(3600)
        return answer("again")

    server = serve(interrupt)
    generator = connect(server)
    with pytest.raises(KeyboardInterrupt):
        list(generator.submit(ask("wait")))
    assert wave(generator, "go")[0].text == "again"


def test_a_wave_that_is_dropped_is_cancelled(serve, connect):
    started, cancelled = threading.Event(), threading.Event()

    async def wait(server, body, request):
        started.set()
        try:
            while request.transport is not None and not request.transport.is_closing():
                await asyncio.sleep(0.01)
        finally:
            cancelled.set()
        return answer("too late")

    answers = connect(serve(wait)).submit(ask("x"))
    assert started.wait(10)
    del answers
    assert cancelled.wait(10)


def test_after_close_it_refuses_and_open_waves_end(serve, connect):
    async def hang(server, body, request):
        await asyncio.sleep(3600)
        return answer("never")

    generator = connect(serve(hang), retries=0)
    answers = generator.submit(ask("x"))
    generator.close()
    generator.close()
    with pytest.raises(ClosedError):
        list(answers)
    with pytest.raises(ClosedError):
        generator.submit(ask("x"))


def test_it_works_where_an_event_loop_runs_already(serve, connect):
    generator = connect(serve(echo))

    async def inside_jupyter() -> Any:
        return wave(generator, "x")

    assert asyncio.run(inside_jupyter())[0].text == "saw x"


def test_several_threads_share_a_generator(serve, connect):
    generator = connect(serve(echo))
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        results[number] = [a.text for a in wave(generator, *(f"{number}-{i}" for i in range(8)))]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [f"saw {n}-{i}" for i in range(8)] for n in range(4)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_makes_connections_of_its_own(serve, connect):
    generator = connect(serve(echo))
    wave(generator, "parent")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        text = wave(generator, "child")[0].text
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "saw child"
    os.waitpid(child, 0)
    assert wave(generator, "parent")[0].text == "saw parent"
