"""The protocol of OpenAI-compatible chat servers: request bodies, answers and errors, without any network."""

from __future__ import annotations

import codecs
import email.utils
import json
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, ToolCall, Usage
from agentworld_gym.llm.generators.server.event_stream import assembled, is_event_stream
from agentworld_gym.llm.generators.server.refusals import is_overflow

_RETRYABLE = frozenset({408, 425, 429})
_COUNTS = ("n_prompt_tokens", "n_ctx")
"""What llama.cpp tells of tokens beside its message."""


def request_fields(request: ChatRequest, model: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of one request; a field that `extra` sets to None is left out.

    >>> from agentworld_gym.core.domain.sampling import Sampling
    >>> greedy = ChatRequest([{"role": "user", "content": "hi"}], Sampling(temperature=0.0, max_tokens=8))
    >>> sorted(request_fields(greedy, "m", {"chat_template_kwargs": None}))
    ['max_tokens', 'messages', 'model', 'temperature']
    """
    sampling = request.sampling
    fields: dict[str, Any] = {
        "model": model,
        "messages": request.messages,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "chat_template_kwargs": {"enable_thinking": sampling.thinking},
    }
    if sampling.top_p is not None:
        fields["top_p"] = sampling.top_p
    if sampling.top_k:
        fields["top_k"] = sampling.top_k
    if sampling.stop:
        fields["stop"] = sampling.stop
    if sampling.seed is not None:
        fields["seed"] = sampling.seed
    if request.tools:
        fields["tools"] = [{"type": "function", "function": dict(tool)} for tool in request.tools]
    if request.schema is not None:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {key: value for key, value in {**fields, **extra}.items() if value is not None}


def request_body(fields: Mapping[str, Any]) -> bytes:
    """Return the JSON body of a request with some fields.

    >>> request_body({"seed": 3})
    b'{"seed":3}'
    """
    try:
        return orjson.dumps(fields)
    except TypeError:
        # A lone surrogate has no UTF-8 form; it becomes a question mark.
        return json.dumps(fields, ensure_ascii=False, default=dict).encode("utf-8", "replace")


def read_answer(data: bytes) -> Completion | Failure:
    """Return what a server answered with status 200: a completion, or why there is none.

    >>> read_answer(b'{"choices": [{"message": {"content": "$ "}, "finish_reason": "stop"}]}').text
    '$ '
    >>> read_answer(b'{"choices": []}').kind
    <FailureKind.MALFORMED: 'malformed'>
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        answer = assembled(data) if is_event_stream(data) else _loads(data)
    except (ValueError, RecursionError) as error:
        return malformed(f"not JSON ({error})", data)
    if isinstance(answer, dict) and answer.get("error") and not answer.get("choices"):
        return _error_in_answer(answer["error"], data)
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text, thoughts = _texts(message.get("content"))
        calls = tuple([_call(call, number) for number, call in enumerate(message.get("tool_calls") or ())])
        reasoning = message.get("reasoning") or message.get("reasoning_content") or thoughts
        finish = choice.get("finish_reason")
        usage = _usage(answer.get("usage") or {})
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        return malformed(f"no chat completion ({type(error).__name__}: {error})", data)
    if text is None and (reasoning or calls or finish == "length"):
        text = ""
    if text is None and "content" in message:
        return replace(malformed("the message has no text", data), kind=FailureKind.EMPTY, spent=usage)
    if not isinstance(text, str) or not isinstance(reasoning, str):
        return replace(malformed("the message has no text", data), spent=usage)
    if finish in ("error", "abort"):
        message = f"the server gave up on this request (finish_reason {finish})"
        return Failure(FailureKind.SERVER, message, retryable=True, spent=usage)
    if finish == "content_filter":
        return Failure(FailureKind.REJECTED, "the server's content filter stopped the answer", spent=usage)
    logprob = _mean_logprob(choice.get("logprobs"))
    ended = "length" if finish == "length" else "stop"
    return Completion(text, ended, usage, reasoning, calls, logprob=logprob)


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    """Return a call of a tool; some servers leave out ids, or give the arguments as an object."""
    function = call["function"]
    name, arguments = function["name"], function.get("arguments")
    if not isinstance(name, str):
        raise TypeError("a call without the name of a tool")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(str(call.get("id") or f"call_{number}"), name, written)


def _texts(content: Any) -> tuple[Any, str]:
    """Return the text of a message and the thinking in it; a content may be a list of parts."""
    if not isinstance(content, list):
        return content, ""
    texts, thoughts = [], []
    for part in content:
        if part["type"] in ("thinking", "reasoning"):
            thought = part.get("thinking") or part.get("text") or ""
            thoughts.append(thought if isinstance(thought, str) else str(_texts(thought)[0]))
        elif part["type"] in ("text", "output_text"):
            texts.append(part["text"])
    return ("".join(texts) if texts else None), "".join(thoughts)


def _error_in_answer(error: Any, data: bytes) -> Failure:
    """Return the failure of an error that came with status 200."""
    code = error.get("code") if isinstance(error, dict) else None
    message = _message(data if not is_event_stream(data) else orjson.dumps({"error": error}))
    if is_overflow(message):
        return Failure(FailureKind.OVERFLOW, message)
    passing = not isinstance(code, int) or code in _RETRYABLE or code >= 500
    kind = FailureKind.SERVER if passing else FailureKind.REJECTED
    return Failure(kind, f"the server answered with an error: {message}", retryable=passing)


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
    """Return the tokens that a server tells of; some tell of none."""
    if usage.get("prompt_tokens") is None or usage.get("completion_tokens") is None:
        return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), known=False)
    details = usage.get("prompt_tokens_details") or {}
    prompt = _count(usage.get("prompt_tokens"))
    return Usage(prompt, _count(usage.get("completion_tokens")), min(prompt, _count(details.get("cached_tokens"))))


def _count(tokens: Any) -> int:
    """Return a number of tokens; a negative one says as little as none."""
    return max(0, int(tokens or 0))


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
    if status in (400, 413, 422, 500) and is_overflow(message):  # llama.cpp answered 500 for long
        return Failure(FailureKind.OVERFLOW, message)
    if status in _RETRYABLE or status >= 500:
        return Failure(FailureKind.SERVER, f"the server answered {status}: {message}", retryable=True)
    advice = ""
    if status in (401, 403):
        advice = f" (set the environment variable {key_name} to the server's key)"
    elif status == 404:
        advice = " (is the model one of the server's, and does the address end in /v1?)"
    return Failure(FailureKind.REJECTED, f"the server refused the request with {status}: {message}{advice}")


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
        counts = "".join(f" ({name} {error[name]})" for name in _COUNTS if isinstance(error.get(name), int))
        error = error if text is None else f"{text}{counts}" + (f" [{code}]" if isinstance(code, str) else "")
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
