"""Servers of many kinds behind an environment, each with the outcome that its user expects."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import pytest
from aiohttp import web
from loopback import servers

import agentworld_gym  # noqa: F401
from agentworld_gym.base.errors import GeneratorError
from agentworld_gym.llm.generators.server.background_loop import background_loop

SCREEN = "/srv/app\ndev@box:/srv/app$"
ANSWER = f"<predicted_observation>\n{SCREEN}\n</predicted_observation>"

Chat = Callable[["Server", dict[str, Any], web.Request], Awaitable[web.StreamResponse]]


def completion(
    content: Any = ANSWER, *, usage: Any = None, finish: str | None = "stop", **message: Any
) -> dict[str, Any]:
    counts = {"prompt_tokens": 900, "completion_tokens": 9} if usage is None else usage
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}], "usage": counts}


def reply(content: Any = ANSWER, **options: Any) -> web.Response:
    return web.json_response(completion(content, **options))


def refusal(status: int, message: str, **more: Any) -> web.Response:
    return web.json_response({"error": {"message": message, **more}}, status=status)


def events(*chunks: dict[str, Any] | bytes, kind: str = "text/event-stream") -> web.Response:
    lines = (b"data: " + (chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode()) for chunk in chunks)
    return web.Response(body=b": hello\n\n" + b"\n\n".join(lines) + b"\n\n", content_type=kind)


def delta(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


@dataclass
class Kind:
    """A kind of server and what a user of it sees."""

    chat: Chat
    shown: str | None = SCREEN
    """The observation; None where the step fails."""

    failure: str = ""
    """The kind of the failure."""

    says: str = ""
    """What the message of the failure says."""

    asked: int = 1
    """The number of requests for two steps' worth of answers, less one."""

    models: Any = field(default_factory=lambda: {"data": [{"id": "world", "max_model_len": 131072}]})
    """The answer to the list of models, or its status."""

    options: dict[str, Any] = field(default_factory=dict)
    """The options of the generator."""

    tokens: dict[str, int] | None = None
    """What `info["tokens"]` says."""


class Server:
    """A server on loopback of some kind, which counts the requests for chat."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.bodies = kind, list[dict[str, Any]]()
        background_loop().run(self._start())

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self.runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}/v1"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/models"):
            listed = self.kind.models
            return web.Response(status=listed) if isinstance(listed, int) else web.json_response(listed)
        if not request.path.endswith("/chat/completions"):
            return web.Response(status=404, text="<html>no such page</html>", content_type="text/html")
        self.bodies.append(await request.json())
        return await self.kind.chat(self, self.bodies[-1], request)

    def stop(self) -> None:
        background_loop().run(self.runner.cleanup())


@pytest.fixture
def serve() -> Iterator[Callable[[Kind], Server]]:
    with servers(Server) as start:
        yield start


def always(make: Callable[[], web.StreamResponse]) -> Chat:
    async def chat(server: Server, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        return make()

    return chat


def first(make: Callable[[], web.StreamResponse]) -> Chat:
    """A server that answers so once, and well from then on."""

    async def chat(server: Server, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        return make() if len(server.bodies) == 1 else reply()

    return chat


def unless(fits: Callable[[dict[str, Any]], bool], refused: Callable[[dict[str, Any]], web.Response]) -> Chat:
    """A server that refuses some requests."""

    async def chat(server: Server, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        return reply() if fits(body) else refused(body)

    return chat


def within(tokens: int) -> Callable[[dict[str, Any]], bool]:
    return lambda body: body.get("max_tokens", 0) + 2000 <= tokens


async def slow(server: Server, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return reply()


def dying(times: int) -> Chat:
    async def chat(server: Server, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        if len(server.bodies) > times:
            return reply()
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        assert request.transport is not None
        request.transport.abort()
        return response

    return chat


NO_LENGTH = {"data": [{"id": "world"}]}
HTML = "<html><h1>502 Bad Gateway</h1></html>"

KINDS: dict[str, Kind] = {
    "vLLM": Kind(always(reply), tokens={"prompt": 900, "completion": 9, "cached": 0}),
    "vLLM with a short context, which its list of models tells": Kind(
        unless(within(32768), lambda body: refusal(400, "maximum context length")),
        models={"data": [{"id": "world", "max_model_len": 32768}]},
    ),
    "vLLM with a short context behind a gateway without a list": Kind(
        unless(
            within(32768),
            lambda body: refusal(
                400,
                f"'max_tokens' is too large: {body['max_tokens']}. This model's maximum context length is 32768 tokens "
                "and your request has 2000 input tokens.",
            ),
        ),
        models=404,
        options={"model": "world"},
        asked=2,
    ),
    "SGLang with a short context": Kind(
        unless(
            within(8192),
            lambda body: refusal(
                400,
                "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a "
                f"total of {2000 + body['max_tokens']} tokens: 2000 tokens from the input messages and "
                f"{body['max_tokens']} tokens for the completion.",
            ),
        ),
        models=NO_LENGTH,
        asked=2,
    ),
    "TGI with a short context": Kind(
        unless(
            within(16384),
            lambda body: web.json_response(
                {
                    "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 16384. Given: 2000 "
                    f"`inputs` tokens and {body['max_tokens']} `max_new_tokens`",
                    "error_type": "validation",
                },
                status=422,
            ),
        ),
        models=404,
        options={"model": "tgi"},
        asked=2,
    ),
    "llama.cpp with less context than the prompt": Kind(
        always(
            lambda: refusal(
                400,
                "the request exceeds the available context size, try increasing it",
                code=400,
                type="exceed_context_size_error",
                n_prompt_tokens=2000,
                n_ctx=1024,
            )
        ),
        shown=None,
        failure="overflow",
        says="n_ctx 1024",
        models=NO_LENGTH,
    ),
    "LM Studio with less context than the prompt": Kind(
        always(
            lambda: web.json_response(
                {
                    "error": "Trying to keep the first 6491 tokens when context the overflows. However, the model is "
                    "loaded with context length of only 4096 tokens, which is not enough."
                },
                status=400,
            )
        ),
        shown=None,
        failure="overflow",
        says="4096",
    ),
    "OpenAI, which knows no switch of thinking": Kind(
        unless(
            lambda body: "chat_template_kwargs" not in body,
            lambda body: refusal(400, "Unrecognized request argument supplied: chat_template_kwargs"),
        ),
        models=NO_LENGTH,
        asked=2,
    ),
    "OpenAI, with the newer name of the limit": Kind(
        unless(
            lambda body: "max_completion_tokens" in body,
            lambda body: refusal(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
            ),
        ),
        asked=2,
    ),
    "a model that answers in at most 8,192 tokens": Kind(
        unless(
            lambda body: body["max_tokens"] <= 8192,
            lambda body: refusal(400, "Range of max_tokens should be [1, 8192]"),
        ),
        models=NO_LENGTH,
        asked=2,
    ),
    "a strict server that refuses every field it does not know, one by one": Kind(
        unless(
            lambda body: not {"chat_template_kwargs", "seed"} & set(body),
            lambda body: web.json_response(
                {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "seed" if "seed" in body else "chat_template_kwargs"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                },
                status=422,
            ),
        ),
        asked=3,
    ),
    "no list of models, and the model is named": Kind(always(reply), models=404, options={"model": "mine"}),
    "an empty list of models, and the model is named": Kind(
        always(reply), models={"data": []}, options={"model": "mine"}
    ),
    "one that streams whatever it is asked": Kind(
        always(
            lambda: events(
                delta("", reasoning="pwd prints "),
                delta("", reasoning="the folder"),
                *(delta(letter) for letter in ANSWER),
                delta("", "stop"),
                {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 9}},
                b"[DONE]",
            )
        ),
        tokens={"prompt": 900, "completion": 9, "cached": 0},
    ),
    "one that streams as JSON's content type": Kind(
        always(lambda: events(delta(ANSWER, "stop"), b"[DONE]", kind="application/json"))
    ),
    "one whose stream is cut off": Kind(
        always(lambda: events(delta("<predicted_observation>\n/srv"))),
        shown=None,
        failure="malformed",
        says="ends before the answer does",
    ),
    "one whose stream ends in an error": Kind(
        always(lambda: events(delta("/srv"), {"error": {"message": "out of memory", "code": 500}})),
        shown=None,
        failure="server",
        says="out of memory",
        asked=3,
    ),
    "one whose content is a list of parts": Kind(
        always(
            lambda: reply(
                [{"type": "text", "text": ANSWER[:30]}, {"type": "text", "text": ANSWER[30:]}],
            )
        )
    ),
    "one whose thinking is a part of the content": Kind(
        always(
            lambda: reply(
                [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "the folder"}]},
                    {"type": "text", "text": ANSWER},
                ]
            )
        )
    ),
    "thinking in `reasoning`": Kind(always(lambda: reply(reasoning="hm"))),
    "thinking in `reasoning_content`": Kind(always(lambda: reply(reasoning_content="hm"))),
    "thinking in the text": Kind(always(lambda: reply(f"<think>a <predicted_observation>b</think>\n{ANSWER}"))),
    "thinking that used up every token": Kind(
        always(lambda: reply(None, reasoning="hm", finish="length")), shown=None, failure="length"
    ),
    "negative usage": Kind(
        always(
            lambda: reply(
                usage={"prompt_tokens": -5, "completion_tokens": -7, "prompt_tokens_details": {"cached_tokens": -1}}
            )
        ),
        tokens={"prompt": 0, "completion": 0, "cached": 0},
    ),
    "more cached tokens than there are": Kind(
        always(
            lambda: reply(
                usage={
                    "prompt_tokens": 5,
                    "completion_tokens": 0,
                    "prompt_tokens_details": {"cached_tokens": 50},
                }
            )
        ),
        tokens={"prompt": 5, "completion": 0, "cached": 5},
    ),
    "no usage": Kind(always(lambda: reply(usage={})), tokens={}),
    "half a usage": Kind(always(lambda: reply(usage={"prompt_tokens": 5})), tokens={}),
    "slow": Kind(slow, shown=None, failure="timeout", says="0.5 s", options={"deadline_s": 0.5}),
    "one that dies within an answer and comes back": Kind(dying(1), asked=2),
    "one that dies within every answer": Kind(dying(99), shown=None, failure="connection", says="was lost", asked=3),
    "a gateway that answers 502 in HTML for a moment": Kind(
        first(lambda: web.Response(status=502, text=HTML, content_type="text/html")), asked=2
    ),
    "a gateway that answers 502 in HTML for ever": Kind(
        always(lambda: web.Response(status=502, text=HTML, content_type="text/html")),
        shown=None,
        failure="server",
        says="502 Bad Gateway",
        asked=3,
    ),
    "a page of HTML with status 200": Kind(
        always(lambda: web.Response(text="<html>Log in</html>", content_type="text/html")),
        shown=None,
        failure="malformed",
        says="Log in",
    ),
    "429 with Retry-After": Kind(
        first(lambda: web.Response(status=429, headers={"Retry-After": "0"}, text="slow down")),
        options={"backoff_s": 3600},
        asked=2,
    ),
    "an answer without choices": Kind(
        always(lambda: web.json_response({"choices": []})), shown=None, failure="malformed", says="no chat completion"
    ),
    "an error with status 200": Kind(
        always(lambda: web.json_response({"error": {"message": "no credits left", "code": 402}})),
        shown=None,
        failure="rejected",
        says="no credits left",
    ),
    "a content of null": Kind(always(lambda: reply(None)), shown=None, failure="empty", says="no text"),
    "an answer of nothing": Kind(always(lambda: reply("")), shown=None, failure="empty"),
    "an answer that was cut off": Kind(
        always(lambda: reply("<predicted_observation>\n/srv", finish="length")), shown=None, failure="length"
    ),
    "a content filter": Kind(
        always(lambda: reply("", finish="content_filter")), shown=None, failure="rejected", says="filter"
    ),
    "one without end": Kind(
        always(lambda: reply("x" * 2**24)),
        shown=None,
        failure="malformed",
        says="longer than",
    ),
    "gzip": Kind(
        always(
            lambda: web.Response(
                body=gzip.compress(json.dumps(completion()).encode()),
                headers={"Content-Encoding": "gzip"},
                content_type="application/json",
            )
        )
    ),
    "a wrong content type": Kind(
        always(lambda: web.Response(text=json.dumps(completion()), content_type="text/plain"))
    ),
    "blank lines before the answer, to keep the connection open": Kind(
        always(lambda: web.Response(text="\n\n  \n" + json.dumps(completion())))
    ),
    "a mark of the byte order before the answer": Kind(
        always(lambda: web.Response(body=b"\xef\xbb\xbf" + json.dumps(completion()).encode()))
    ),
    "one that wants a key": Kind(
        always(lambda: refusal(401, "no key")), shown=None, failure="rejected", says="AGENTWORLD_API_KEY"
    ),
    "one that serves another model": Kind(
        always(lambda: refusal(404, "The model `mine` does not exist")),
        shown=None,
        failure="rejected",
        says="is the model one of the server's",
    ),
    "one that sends elsewhere": Kind(
        always(lambda: web.Response(status=307, headers={"Location": "/elsewhere"})), shown=None, failure="rejected"
    ),
}


def test_there_are_more_than_twenty_kinds_of_servers():
    assert len(KINDS) > 21


@pytest.mark.parametrize("name", KINDS)
def test_a_step_on_a_server_of_each_kind_shows_what_its_user_expects(serve, name):
    kind = KINDS[name]
    server = serve(kind)
    options = {"retries": 2, "backoff_s": 0.01, "deadline_s": 30, **kind.options}
    sampling = {"max_tokens": 4096} if name == "one without end" else {}
    env = gym.make("AgentWorld/Terminal-v0", world=server.url, language={"generator": options, "sampling": sampling})
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("pwd")
    assert len(server.bodies) == kind.asked
    if kind.shown is None:
        assert truncated and reward == 0 and not terminated
        assert info["failure"]["kind"] == kind.failure and kind.says in info["failure"]["message"]
    else:
        assert "failure" not in info and observation.endswith(kind.shown) and "think" not in observation
        env.step("pwd")
        assert len(server.bodies) == kind.asked + 1, "what was learnt at the first step holds at the second"
    if kind.tokens is not None:
        assert info["tokens"] == kind.tokens
    env.close()


@pytest.mark.parametrize("models", [404, {"data": []}, {"data": "none"}, {"models": ["world"]}])
def test_a_server_whose_models_are_not_told_asks_its_user_to_name_one(serve, models):
    server = serve(Kind(always(reply), models=models))
    with pytest.raises(GeneratorError, match="lists no model: name one, as in http://HOST:PORT/v1#NAME"):
        gym.make("AgentWorld/Terminal-v0", world=server.url).reset(seed=1)
    env = gym.make("AgentWorld/Terminal-v0", world=f"{server.url}#mine")
    env.reset(seed=1)
    assert env.step("pwd")[0].endswith(SCREEN) and server.bodies[0]["model"] == "mine"
    env.close()
