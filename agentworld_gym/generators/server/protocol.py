"""The protocol of OpenAI-compatible chat servers: request bodies, answers and errors, without any network."""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from typing import Any

import orjson

from agentworld_gym.contracts import ChatRequest, Completion, Failure, FailureKind, Usage

_OVERFLOW = re.compile(r"context[ _](?:length|window|size)|exceeds? .{0,40}context", re.IGNORECASE)
_CONTEXT = re.compile(r"context length (?:is|of)(?: only)? (\d+)")
_INPUT = re.compile(r"(\d+) (?:input tokens|in the messages|tokens from the input)")
_RETRYABLE = frozenset({408, 425, 429})


def request_body(request: ChatRequest, model: str, extra: Mapping[str, Any]) -> bytes:
    """Return the JSON body of one request; a field that `extra` sets to None is left out.

    >>> from agentworld_gym.domain.sampling import Sampling
    >>> greedy = ChatRequest([{"role": "user", "content": "hi"}], Sampling(temperature=0.0, max_tokens=8))
    >>> sorted(orjson.loads(request_body(greedy, "m", {"chat_template_kwargs": None})))
    ['max_tokens', 'messages', 'model', 'temperature', 'top_p']
    """
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": request.messages,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "chat_template_kwargs": {"enable_thinking": sampling.thinking},
    }
    if sampling.top_k:
        body["top_k"] = sampling.top_k
    if sampling.stop:
        body["stop"] = sampling.stop
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if request.schema is not None:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if extra:
        body = {key: value for key, value in {**body, **extra}.items() if value is not None}
    try:
        return orjson.dumps(body)
    except TypeError:
        # A lone surrogate has no UTF-8 form; it becomes a question mark.
        return json.dumps(body, ensure_ascii=False, default=dict).encode("utf-8", "replace")


def read_answer(data: bytes) -> Completion | Failure:
    """Return what a server answered with status 200: a completion, or why there is none.

    >>> read_answer(b'{"choices": [{"message": {"content": "$ "}, "finish_reason": "stop"}]}').text
    '$ '
    >>> read_answer(b'{"choices": []}').kind
    <FailureKind.MALFORMED: 'malformed'>
    """
    try:
        answer = _loads(data)
    except (ValueError, RecursionError) as error:
        return malformed(f"not JSON ({error})", data)
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text = message.get("content")
        reasoning = message.get("reasoning") or message.get("reasoning_content") or ""
        finish = choice.get("finish_reason")
        usage = _usage(answer.get("usage") or {})
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        return malformed(f"no chat completion ({type(error).__name__}: {error})", data)
    if text is None and (reasoning or finish == "length"):
        text = ""
    if not isinstance(text, str) or not isinstance(reasoning, str):
        return malformed("the message has no text", data)
    if finish in ("error", "abort"):
        return Failure(FailureKind.SERVER, f"the server gave up on this request (finish_reason {finish})", True)
    if finish == "content_filter":
        return Failure(FailureKind.REJECTED, "the server's content filter stopped the answer")
    logprob = _mean_logprob(choice.get("logprobs"))
    return Completion(text, "length" if finish == "length" else "stop", usage, reasoning, logprob=logprob)


def _loads(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # The escape of a lone surrogate is JSON all the same; it becomes a question mark.
        if rb"\u" not in data:
            raise
        clean = json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace")
        return orjson.loads(clean)


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
        int(details.get("cached_tokens") or 0),
    )


def _mean_logprob(logprobs: Any) -> float | None:
    """Return the mean of the log-probabilities that came with an answer; None where there are none."""
    try:
        values = [float(token["logprob"]) for token in logprobs["content"]]
    except (KeyError, TypeError, ValueError):
        return None
    mean = sum(values) / len(values) if values else math.nan
    return round(mean, 6) if math.isfinite(mean) else None


def malformed(why: str, data: bytes = b"") -> Failure:
    """Return the failure of an answer that does not follow the protocol, with the beginning of the answer.

    >>> malformed("cut off").message
    "the server's answer is cut off"
    """
    beginning = f": {data[:200].decode('utf-8', 'replace')!r}" if data else ""
    return Failure(FailureKind.MALFORMED, f"the server's answer is {why}{beginning}", retryable=True)


def read_error(status: int, data: bytes, key_name: str) -> Failure:
    """Return the failure that an error status means; it is retryable where asking again may help.

    >>> read_error(400, b'{"error": {"message": "This model\\'s maximum context length is 64 tokens."}}', "KEY").kind
    <FailureKind.OVERFLOW: 'overflow'>
    """
    message = _message(data)
    if status in _RETRYABLE or status >= 500:
        return Failure(FailureKind.SERVER, f"the server answered {status}: {message}", retryable=True)
    if status in (400, 413, 422) and is_overflow(message):
        return Failure(FailureKind.OVERFLOW, message)
    advice = ""
    if status in (401, 403):
        advice = f" (set the environment variable {key_name} to the server's key)"
    elif status == 404:
        advice = " (is the model one of the server's, and does the address end in /v1?)"
    return Failure(FailureKind.REJECTED, f"the server refused the request with {status}: {message}{advice}")


def is_overflow(message: str) -> bool:
    """Return whether the error message of any server says that the prompt is too long for the model.

    >>> is_overflow("This model's maximum context length is 64 tokens."), is_overflow("bad temperature")
    (True, False)
    """
    return _OVERFLOW.search(message) is not None


def room_left(message: str) -> int | None:
    """Return how many tokens a completion may have, where a server refuses a prompt and the completion asked for
    together although the prompt alone would fit; None where the message does not say so.

    >>> room_left("You passed 300 input tokens and requested 900 output tokens. However, the model's context length "
    ...           "is only 1024 tokens.")
    724
    >>> room_left("This model's maximum context length is 64 tokens.")
    """
    context, input_tokens = _CONTEXT.search(message), _INPUT.search(message)
    room = int(context[1]) - int(input_tokens[1]) if context and input_tokens else 0
    return room if room > 0 else None


def _message(data: bytes) -> str:
    """Return the message of an error body, whatever its shape, in at most 600 characters."""
    try:
        error: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        error = data[:600].decode("utf-8", "replace")
    if isinstance(error, dict):
        error = error.get("error", error)
    if isinstance(error, dict):
        code, text = error.get("code"), error.get("message", error.get("detail"))
        error = error if text is None else text if not isinstance(code, str) else f"{text} [{code}]"
    return " ".join(str(error).split())[:600] or "no message"


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or by a date; None without any.

    >>> retry_after("3"), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0), retry_after("soon")
    (3.0, 10.0, None)
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = email.utils.parsedate_to_datetime(value).timestamp()
        except ValueError:
            return None
        seconds = when - (time.time() if now is None else now)
    return max(0.0, seconds) if seconds == seconds else None
