"""A server that means harm: bodies without end, bombs, redirects, and answers that repeat the key."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
import resource
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from loopback import connections, servers

from agentworld_gym.base.errors import GeneratorError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ServerGenerator
from agentworld_gym.llm.generators.server.background_loop import background_loop
from agentworld_gym.llm.generators.server.key_masking import masked

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
KEY = 'sk-"quokka/wombat"+key_42'
MIB = 2**20


class Hostile:
    """A server on loopback that answers every address with one handler, and counts the bytes that it could send."""

    def __init__(self, handler: Handler) -> None:
        self.handler, self.sent, self.asked = handler, 0, list[str]()
        background_loop().run(self._start())

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self.runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}/v1"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        await request.read()
        return await self.handler(request)

    def stop(self) -> None:
        background_loop().run(self.runner.cleanup())


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], Hostile]]:
    with servers(Hostile) as start:
        yield start


@pytest.fixture
def connect() -> Iterator[Callable[..., ServerGenerator]]:
    with connections(deadline_s=20) as open_:
        yield open_


def ask(generator: ServerGenerator, **sampling: Any) -> Completion | Failure:
    request = ChatRequest([{"role": "user", "content": "x"}], Sampling(**sampling))
    ((_, answer),) = generator.submit([request])
    return answer


def chat(text: str, **message: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text, **message}, "finish_reason": "stop"}]}).encode()


def grown(do: Callable[[], Any]) -> tuple[Any, float]:
    """What a function gives, and by how many MiB the most memory that this process ever took has grown."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = do()
    return result, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def endless(status: int, server: list[Hostile], most: int = 400 * MIB) -> Handler:
    """A body that goes on until the reader hangs up (or, so that a test ends, at `most` bytes)."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status)
        await response.prepare(request)
        while server[0].sent < most:
            await response.write(b" " * MIB)
            server[0].sent += MIB
        return response

    return answer


@pytest.mark.parametrize("status", [200, 400, 503])
def test_a_body_without_end_is_read_up_to_a_bound(serve, connect, status):
    servers: list[Hostile] = []
    servers.append(serve(endless(status, servers)))
    answer, mib = grown(lambda: ask(connect(servers[0], retries=0)))
    assert isinstance(answer, Failure)
    if status == 200:
        assert answer.kind is FailureKind.MALFORMED and "longer than" in answer.message
    assert servers[0].sent < 64 * MIB and mib < 100


def test_the_list_of_models_is_read_up_to_a_bound(serve, connect):
    servers: list[Hostile] = []
    servers.append(serve(endless(200, servers)))
    generator = connect(servers[0], None, retries=0)
    with pytest.raises(GeneratorError, match="longer than"):
        generator.describe()
    assert isinstance(ask(generator), Failure)
    assert servers[0].sent < 64 * MIB


def bomb(form: str, mib: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if form == "gzip" else 15)
    return b"".join(packer.compress(b" " * MIB) for _ in range(mib)) + packer.flush()


@pytest.mark.parametrize("form", ["gzip", "deflate"])
def test_a_compressed_body_is_unpacked_up_to_the_same_bound(serve, connect, form):
    packed = bomb(form, 600)

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=packed, headers={"Content-Encoding": form})

    server = serve(answer)
    failure, mib = grown(lambda: ask(connect(server, retries=0)))
    assert failure.kind is FailureKind.MALFORMED and "longer than" in failure.message
    assert mib < 100


@pytest.mark.parametrize("form", ["gzip", "deflate", "raw deflate"])
def test_an_honest_compressed_answer_is_read(serve, connect, form):
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = {
        "gzip": gzip.compress(chat("hello")),
        "deflate": zlib.compress(chat("hello")),
        "raw deflate": raw.compress(chat("hello")) + raw.flush(),
    }[form]

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=packed, headers={"Content-Encoding": form.split()[-1]})

    assert ask(connect(serve(answer))).text == "hello"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", b"no gzip"), ("br", b"\x0b"), ("gzip, gzip", b""), ("gzip", gzip.compress(b"{", mtime=0)[:9])],
)
def test_a_body_that_cannot_be_unpacked_is_a_failure(serve, connect, encoding, body):
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, headers={"Content-Encoding": encoding})

    failure = ask(connect(serve(answer), retries=0))
    assert failure.kind is FailureKind.MALFORMED and encoding in failure.message


def test_the_bound_grows_with_the_tokens_that_were_asked_for(serve, connect):
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=chat("x" * MIB))

    server = serve(answer)
    assert isinstance(ask(connect(server, retries=0), max_tokens=16), Failure)
    assert ask(connect(server), max_tokens=8192).text == "x" * MIB
    assert ask(connect(server, confidence=True), max_tokens=1024).text == "x" * MIB
    assert ask(connect(server, extra_body={"max_tokens": 8192}), max_tokens=16).text == "x" * MIB


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_by_any_request(serve, connect, status):
    async def away(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": "/elsewhere"})

    server = serve(away)
    assert ask(connect(server)).kind is FailureKind.REJECTED
    with pytest.raises(GeneratorError, match=f"{status}"):
        connect(server, None).describe()
    assert not any("elsewhere" in path for path in server.asked)


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000 + rb"\u0041", b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1e999}}'],
    ids=["deep", "infinite usage"],
)
def test_json_that_breaks_a_reader_is_a_malformed_answer(serve, connect, body):
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body)

    assert ask(connect(serve(answer), retries=0)).kind is FailureKind.MALFORMED


# The key


def _base64(text: str, before: str = "") -> str:
    return base64.b64encode((before + text).encode()).decode()


ECHOES = {
    "as it is": KEY,
    "within a text": f"Bearer {KEY}.",
    "as JSON": json.dumps(KEY),
    "as JSON within JSON": json.dumps(json.dumps(KEY)),
    "as JSON with every character escaped": "".join(f"\\u{ord(c):04x}" for c in KEY),
    "as JSON with capital digits": "".join(f"\\u{ord(c):04X}" for c in KEY),
    "in an address": quote(KEY, safe=""),
    "in an address, small digits": quote(KEY, safe="").lower(),
    "in an address twice": quote(quote(KEY, safe=""), safe=""),
    "in an address, every character": "".join(f"%{ord(c):02X}" for c in KEY),
    "in HTML": KEY.replace('"', "&quot;"),
    "in HTML by number": "".join(f"&#{ord(c)};" for c in KEY),
    "as base64": _base64(KEY),
    "as base64 behind one byte": _base64(KEY, "x"),
    "as base64 behind a name": _base64(KEY, "me:"),
    "as base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode(),
    "as hexadecimal": KEY.encode().hex(),
    "as capital hexadecimal": KEY.encode().hex().upper(),
}


def _tells(text: str) -> bool:
    """Whether the key can be read in a text by undoing what `ECHOES` does to it."""
    return any(form in text for form in [*ECHOES.values(), "quokka", "wombat", _base64("quokka/wombat")[2:-4]])


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_whatever_a_server_says_of_the_key_is_masked(serve, connect, monkeypatch, caplog, echo):
    monkeypatch.setenv("AGENTWORLD_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    status = 200

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("models"):
            return web.json_response({"data": [{"id": f"model {echo}"}]})
        if request.path.endswith("version"):
            return web.json_response({"version": echo})
        return web.Response(status=status, body=chat(f"a {echo} b", reasoning=echo) if status == 200 else echo.encode())

    server = serve(answer)
    generator = connect(server, None, retries=0, extra_body={"user": KEY})
    shown = [repr(ask(generator)), repr(generator.describe()), repr(generator)]
    for status in (302, 401, 404, 500):  # noqa: B007 - what the handler answers with
        shown.append(repr(ask(generator)))
    assert "***" in shown[0]
    for text in [*shown, caplog.text]:
        assert not _tells(text), text


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("body", ["not JSON: {}", '{{"choices": [{{"message": {{"content": 3, "x": "{}"}}}}]}}'])
def test_a_malformed_answer_does_not_tell_it_either(serve, connect, monkeypatch, echo, body):
    monkeypatch.setenv("AGENTWORLD_API_KEY", KEY)

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body.format(echo.replace('"', '\\"')).encode())

    assert not _tells(repr(ask(connect(serve(answer), retries=0))))


@pytest.mark.parametrize("key", ["two\nlines", "päss wörd", "\x00"])
def test_a_key_that_no_header_can_hold_is_named_by_its_variable_alone(serve, connect, monkeypatch, caplog, key):
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=chat("x"))

    monkeypatch.setattr(os, "environ", {**os.environ, "AGENTWORLD_API_KEY": key})
    failure = ask(connect(serve(answer), retries=0))
    assert failure.kind is FailureKind.REJECTED and "AGENTWORLD_API_KEY" in failure.message
    assert key not in repr(failure) and key not in caplog.text


def test_nothing_that_an_environment_keeps_tells_the_key(serve, monkeypatch, tmp_path):
    """The observation, the information, the traces and what stands in the fingerprint."""
    import gymnasium as gym

    import agentworld_gym  # noqa: F401

    monkeypatch.setenv("AGENTWORLD_API_KEY", KEY)

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("models"):
            return web.json_response({"data": [{"id": KEY}]})
        if request.path.endswith("version"):
            return web.json_response({"version": _base64(KEY)})
        said = f"<predicted_observation>{KEY} {_base64(KEY)} {json.dumps(KEY)}</predicted_observation>"
        return web.Response(body=chat(said))

    server = serve(answer)
    env = gym.make("AgentWorld/Terminal-v0", world=server.url, traces=str(tmp_path))
    env.reset(seed=1)
    seen = env.step("env")
    env.close()
    assert "***" in seen[0] and not _tells(repr(seen))
    kept = [file for file in Path(tmp_path).rglob("*") if file.is_file()]
    assert kept
    for file in kept:
        assert not _tells(file.read_text()), file


def test_a_word_that_is_no_secret_is_left_alone():
    assert masked("EMPTY", "EMPTY") == "EMPTY", "what vLLM's documentation gives for a server without a key"
    assert masked("nothing here", KEY) == "nothing here"
    assert masked("nothing here", "") == "nothing here"
