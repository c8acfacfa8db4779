"""What a server can hold and knows: its limits are learnt once, and what it refuses is not sent to it again."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web
from fault_server import FaultServer, Handler, answer
from loopback import connections, servers

from agentworld_gym.base.errors import GeneratorError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ServerGenerator
from agentworld_gym.llm.generators.server.refusals import unknown_fields

CONTEXT = 4096
PROMPT = "a long history " * 60


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], FaultServer]]:
    with servers(FaultServer) as start:
        yield start


@pytest.fixture
def connect() -> Iterator[Callable[..., ServerGenerator]]:
    with connections() as open_:
        yield open_


def ask(generator: ServerGenerator, text: str = PROMPT, **sampling: Any) -> Completion | Failure:
    fields = {"max_tokens": 32768, **sampling}
    ((_, found),) = generator.submit([ChatRequest([{"role": "user", "content": text}], Sampling(**fields))])
    return found


def tokens_of(body: dict[str, Any]) -> int:
    """Four letters a token, as in English."""
    return sum(len(message["content"]) for message in body["messages"]) // 4


REFUSALS: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "vLLM": lambda prompt, asked: {
        "message": f"'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's maximum context "
        f"length is {CONTEXT} tokens and your request has {prompt} input tokens ({asked} > {CONTEXT} - {prompt})."
    },
    "vLLM, which stops counting early": lambda prompt, asked: {
        "message": f"This model's maximum context length is {CONTEXT} tokens. However, you requested {asked} output "
        f"tokens and your prompt contains at least {max(1, CONTEXT - asked + 1)} input tokens, for a total of at "
        f"least {max(asked + 1, CONTEXT + 1)} tokens."
    },
    "vLLM, which looks at the answer first": lambda prompt, asked: {
        "message": f"max_tokens={asked} cannot be greater than max_model_len={CONTEXT}. Please request fewer output "
        "tokens."
        if asked > CONTEXT
        else f"You passed {prompt} input tokens and requested {asked} output tokens. However, the model's context "
        f"length is only {CONTEXT} tokens, resulting in a maximum input length of {CONTEXT - asked} tokens."
    },
    "OpenAI": lambda prompt, asked: {
        "error": {
            "message": f"This model's maximum context length is {CONTEXT} tokens. However, you requested "
            f"{prompt + asked} tokens ({prompt} in the messages, {asked} in the completion).",
            "code": "context_length_exceeded",
        }
    },
    "OpenAI, of completions": lambda prompt, asked: {
        "error": {
            "message": f"max_tokens is too large: {asked}. This model supports at most 2048 completion tokens, whereas "
            f"you provided {asked}.",
            "code": "invalid_value",
        }
    },
    "SGLang": lambda prompt, asked: {
        "message": f"Requested token count exceeds the model's maximum context length of {CONTEXT} tokens. You "
        f"requested a total of {prompt + asked} tokens: {prompt} tokens from the input messages and {asked} "
        "tokens for the completion."
    },
    "TGI": lambda prompt, asked: {
        "error": f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {CONTEXT}. Given: {prompt} "
        f"`inputs` tokens and {asked} `max_new_tokens`",
        "error_type": "validation",
    },
    "llama-cpp-python": lambda prompt, asked: {
        "error": {
            "message": f"This model's maximum context length is {CONTEXT} tokens, however you requested "
            f"{prompt + asked} tokens ({prompt} in your prompt; {asked} for the completion). Please reduce your "
            "prompt; or completion length.",
            "code": "context_length_exceeded",
        }
    },
    "OpenRouter": lambda prompt, asked: {
        "error": {
            "message": f"This endpoint's maximum context length is {CONTEXT} tokens. However, you requested about "
            f"{prompt + asked} tokens ({prompt} of text input, {asked} in the output)."
        }
    },
    "Anthropic's": lambda prompt, asked: {
        "error": {"message": f"input length and `max_tokens` exceed context limit: {prompt} + {asked} > {CONTEXT}"}
    },
    "DashScope": lambda prompt, asked: {"error": {"message": "Range of max_tokens should be [1, 2048]"}},
    "DeepSeek": lambda prompt, asked: {
        "error": {"message": "Invalid max_tokens value, the valid range of max_tokens is [1, 2048]"}
    },
    "Groq": lambda prompt, asked: {
        "error": {"message": "`max_tokens` must be less than or equal to `2048`, the maximum value for `max_tokens`"}
    },
}
"""What servers write where prompt and answer do not fit together."""


def limited(refuse: Callable[[int, int], dict[str, Any]], status: int = 400) -> Handler:
    """A server with `CONTEXT` tokens of context, of which an answer may have half."""

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        prompt, asked = tokens_of(body), body["max_tokens"]
        capped = "2048" in json.dumps(refuse(1, 1))
        if prompt + asked > CONTEXT or (capped and asked > 2048):
            return web.json_response(refuse(prompt, asked), status=status)
        return answer("fits")

    return chat


@pytest.mark.parametrize("who", REFUSALS)
def test_the_limit_is_learnt_from_the_first_refusal_and_said_once(serve, connect, caplog, who):
    caplog.set_level(logging.WARNING)
    server = serve(limited(REFUSALS[who], 422 if who == "TGI" else 400))
    generator = connect(server)
    assert ask(generator).text == "fits"
    refused = len(server.bodies) - 1
    assert 1 <= refused <= 2
    assert server.bodies[-1]["max_tokens"] >= 1500, "an answer gets what the prompt leaves of the context"
    for _ in range(3):
        assert ask(generator, PROMPT + "and more").text == "fits"
    assert len(server.bodies) == refused + 4, "no later step is sent twice"
    assert len([record for record in caplog.records if "tokens" in record.getMessage()]) == 1


def test_a_context_counts_as_full_only_once_the_prompt_is_counted(serve, connect):
    async def chat(server, body, request):
        cut = {"message": {"content": "a"}, "finish_reason": "length"}
        usage = {"prompt_tokens": tokens_of(body), "completion_tokens": body["max_tokens"]}
        return web.json_response({"choices": [cut], "usage": usage})

    server = serve(chat)
    server.models = [{"id": "m", "max_model_len": CONTEXT}]
    generator = connect(server)
    generator.describe()
    cut = ask(generator, "word" * 1500)
    estimated, counted = (body["max_tokens"] for body in server.bodies)
    assert estimated < counted == CONTEXT - cut.usage.prompt_tokens == 2596
    assert cut.filled and cut.lost.completion_tokens == estimated
    short = ask(generator, "word", max_tokens=8)
    assert short.finish_reason == "length" and not short.filled, "its own limit cut it off"


def test_the_tokens_of_every_try_are_counted_once(serve, connect, monkeypatch):
    monkeypatch.setattr("agentworld_gym.llm.generators.server.generator._LESSONS", 2)
    told = []

    async def chat(server, body, request):
        finish = "abort" if len(told) % 2 else "length"
        told.append((tokens_of(body), body["max_tokens"]))
        usage = dict(zip(("prompt_tokens", "completion_tokens"), told[-1], strict=True))
        return web.json_response({"choices": [{"message": {"content": "a"}, "finish_reason": finish}], "usage": usage})

    server = serve(chat)
    server.models = [{"id": "m", "max_model_len": CONTEXT}]
    generator = connect(server, retries=0)
    generator.describe()
    failure = ask(generator, "word" * 1500)
    assert len(told) == 2 and failure.kind == "server", "an answer is cut off, and the next one is given up"
    assert failure.spent == Usage(*map(sum, zip(*told, strict=True)))


def test_a_prompt_that_seems_too_long_and_fits_is_answered(serve, connect):
    server = serve(limited(REFUSALS["vLLM, which looks at the answer first"]))
    server.models = [{"id": "m", "max_model_len": CONTEXT}]
    generator = connect(server)
    generator.describe()
    prompt = "word" * 2500
    assert 2 * len(prompt) > 4 * CONTEXT, "by two bytes a token nothing would be left"
    assert ask(generator, prompt).text == "fits"
    assert [body["max_tokens"] for body in server.bodies] == [CONTEXT // 2, CONTEXT - 2500]


@pytest.mark.parametrize("length", [CONTEXT, 32768])
def test_the_limit_that_the_list_of_models_tells_spares_every_refusal(serve, connect, length, caplog):
    caplog.set_level(logging.WARNING)

    async def chat(server, body, request):
        fits = tokens_of(body) + body["max_tokens"] <= length
        return answer("fits") if fits else web.json_response({"message": "context length"}, status=400)

    server = serve(chat)
    server.models = [{"id": "other", "max_model_len": 64}, {"id": "m", "max_model_len": length}]
    generator = connect(server)
    generator.describe()
    assert [ask(generator).text for _ in range(3)] == ["fits"] * 3
    assert len(server.bodies) == 3 and caplog.text.count(f"holds {length} tokens") == 1
    assert ask(generator, max_tokens=100).text == "fits" and server.bodies[-1]["max_tokens"] == 100


def test_a_limit_that_leaves_room_for_everything_changes_nothing(serve, connect, caplog):
    async def chat(server, body, request):
        return answer("x")

    server = serve(chat)
    server.models = [{"id": "m", "max_model_len": 262144}]
    generator = connect(server)
    generator.describe()
    ask(generator)
    assert server.bodies[0]["max_tokens"] == 32768 and "262144" not in caplog.text


@pytest.mark.parametrize(
    "message",
    [
        "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
        "`inputs` must have less than 1024 tokens. Given: 1168",
        "Requested tokens (2285) exceed context window of 2048",
        "The decoder prompt (length 25938) is longer than the maximum model length of 4096.",
        "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
        "the input length exceeds the context length",
        "prompt too long; exceeded max context length by 12 tokens",
        "prompt is too long: 205000 tokens > 200000 maximum",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Trying to keep the first 6491 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_a_prompt_that_is_too_long_alone_is_an_overflow_after_one_request(serve, connect, message, status):
    async def full(server, body, request):
        return web.json_response({"error": {"message": message, "type": "x"}}, status=status)

    server = serve(full)
    found = ask(connect(server))
    assert (found.kind, found.retryable) == (FailureKind.OVERFLOW, False) and message[:20] in found.message
    assert len(server.bodies) == 1


UNKNOWN: dict[str, Callable[[str], tuple[int, dict[str, Any]]]] = {
    "OpenAI": lambda name: (400, {"error": {"message": f"Unrecognized request argument supplied: {name}"}}),
    "OpenAI, newer": lambda name: (400, {"error": {"message": f"Unknown parameter: '{name}'.", "param": name}}),
    "pydantic": lambda name: (
        422,
        {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]},
    ),
    "NIM": lambda name: (422, {"detail": f"body -> {name}\n  Extra inputs are not permitted (type=extra_forbidden)"}),
    "Groq": lambda name: (400, {"error": {"message": f"property '{name}' is unsupported"}}),
    "Go": lambda name: (400, {"error": f'json: unknown field "{name}"'}),
    "serde": lambda name: (
        422,
        {
            "error": f"Failed to deserialize the JSON body into the target type: unknown field `{name}`, expected one "
            "of `messages`, `model`, `seed`, `top_k`, `chat_template_kwargs`"
        },
    ),
    "Gemini": lambda name: (
        400,
        {"error": {"message": f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'}},
    ),
}
"""What servers write about a field that they do not know."""


@pytest.mark.parametrize("who", UNKNOWN)
def test_a_field_that_a_server_does_not_know_is_left_out_from_then_on(serve, connect, caplog, who):
    caplog.set_level(logging.WARNING)

    async def strict(server, body, request):
        for name in ("chat_template_kwargs", "seed", "top_k"):
            if name in body:
                status, told = UNKNOWN[who](name)
                return web.json_response(told, status=status)
        return answer("at last")

    server = serve(strict)
    generator = connect(server)
    assert ask(generator, seed=3, top_k=4).text == "at last"
    assert len(server.bodies) == 4 and {"messages", "temperature", "max_tokens"} <= set(server.bodies[-1])
    assert ask(generator, seed=4, top_k=4).text == "at last"
    assert len(server.bodies) == 5
    for name in ("chat_template_kwargs", "seed", "top_k"):
        assert caplog.text.count(f"does not know {name}") == 1


def test_all_fields_that_one_refusal_names_are_left_out_together(serve, connect):
    async def strict(server, body, request):
        extra = [name for name in ("chat_template_kwargs", "seed") if name in body]
        told = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"} for name in extra]
        return web.json_response({"detail": told}, status=422) if extra else answer("at last")

    server = serve(strict)
    assert ask(connect(server), seed=3).text == "at last" and len(server.bodies) == 2


def test_what_the_user_adds_to_a_request_is_never_left_out_silently(serve, connect):
    async def strict(server, body, request):
        return web.json_response({"error": {"message": "Unknown parameter: 'min_p'."}}, status=400)

    server = serve(strict)
    found = ask(connect(server, extra_body={"min_p": 0.1}))
    assert found.kind is FailureKind.REJECTED and "min_p" in found.message and len(server.bodies) == 1


def test_a_refusal_for_another_reason_leaves_every_field_where_it_is(serve, connect):
    async def refuse(server, body, request):
        return web.json_response({"error": {"message": "seed must be an integer below 2**31"}}, status=400)

    server = serve(refuse)
    assert ask(connect(server), seed=3).kind is FailureKind.REJECTED and len(server.bodies) == 1


def test_the_fields_that_a_refusal_lists_as_known_are_not_those_it_refuses():
    told = "unknown field `top_k`, expected one of `messages`, `seed`"
    assert unknown_fields(told, ["seed", "top_k"]) == ["top_k"]
    assert unknown_fields("the seeds are bad, unknown error", ["seed"]) == []


def test_a_server_that_calls_the_limit_by_its_newer_name_gets_it_so(serve, connect):
    async def newer(server, body, request):
        if "max_tokens" in body:
            told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
            return web.json_response({"error": {"message": f"{told} instead."}}, status=400)
        return answer(str(body["max_completion_tokens"]))

    server = serve(newer)
    generator = connect(server)
    assert [ask(generator, max_tokens=7).text for _ in range(2)] == ["7", "7"] and len(server.bodies) == 3


def test_only_what_the_user_or_the_spec_states_is_sent(serve, connect):
    async def chat(server, body, request):
        return answer("x")

    server = serve(chat)
    ask(connect(server))
    ask(connect(server), top_p=1.0)
    assert ["top_p" in body for body in server.bodies] == [False, True]


@pytest.mark.parametrize(
    ("status", "body"), [(404, b"not found"), (200, b'{"data": []}'), (200, b"<html>"), (500, b"")]
)
def test_a_server_without_a_list_of_models_needs_none_where_a_model_is_named(serve, connect, status, body):
    async def chat(server, sent, request):
        return answer(sent["model"])

    server = serve(chat)
    server.models = lambda: web.Response(status=status, body=body)
    named = connect(server, "mine", retries=0)
    assert named.describe()["model"] == ("mine", False) and ask(named).text == "mine"
    with pytest.raises(GeneratorError, match=r"#NAME.*\"generator\": \{\"model\": \"NAME\"\}"):
        connect(server, None, retries=0).describe()
