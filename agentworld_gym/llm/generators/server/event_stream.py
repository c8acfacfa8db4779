"""Server-sent events as one answer: some servers stream whatever they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

_MARKS = (b"data:", b"event:", b"id:", b"retry:", b":")
_END = b"[DONE]"


def is_event_stream(data: bytes) -> bool:
    """Return whether a body is a stream of events and not JSON.

    >>> is_event_stream(b'data: {"choices": []}'), is_event_stream(b'{"data": []}')
    (True, False)
    """
    return data.lstrip()[:6].startswith(_MARKS)


def assembled(data: bytes) -> dict[str, Any]:
    r"""Return the chat completion that a stream of chunks stands for.

    >>> stream = b'data: {"choices": [{"delta": {"content": "$ "}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    >>> assembled(stream)["choices"][0]["message"]["content"]
    '$ '

    Args:
        data: The whole stream.

    Raises:
        ValueError: A chunk is no JSON, or the stream ends before the completion does.
    """
    texts: dict[str, list[str]] = {}
    logprobs: list[Any] = []
    calls: dict[Any, dict[str, Any]] = {}
    finish: Any = None
    answer: dict[str, Any] = {}
    ended = False
    for event in _events(data):
        if event == _END:
            ended = True
            break
        chunk = orjson.loads(event)
        if not isinstance(chunk, dict):
            raise ValueError("an event is no object")
        if "error" in chunk:
            return {"error": chunk["error"]}
        if chunk.get("usage"):
            answer["usage"] = chunk["usage"]
        for choice in chunk.get("choices") or ():
            if not isinstance(choice, Mapping) or choice.get("index"):
                continue
            # A server that streams by mistake may send a whole message in one event.
            part = choice.get("delta") or choice.get("message") or {}
            for name in ("content", "reasoning", "reasoning_content"):
                if isinstance(text := part.get(name), str):
                    texts.setdefault(name, []).append(text)
            for call in part.get("tool_calls") or ():
                _add(calls, call)
            scored = choice.get("logprobs")
            if isinstance(scored, Mapping) and isinstance(scored.get("content"), list):
                logprobs += scored["content"]
            finish = choice.get("finish_reason") or finish
    if finish is None and not ended:
        raise ValueError("the stream of events ends before the answer does")
    message: dict[str, Any] = {name: "".join(parts) for name, parts in texts.items()}
    if calls:
        message["tool_calls"] = list(calls.values())
    whole: dict[str, Any] = {"message": message, "finish_reason": finish}
    if logprobs:
        whole["logprobs"] = {"content": logprobs}
    return {**answer, "choices": [whole]}


def _add(calls: dict[Any, dict[str, Any]], part: Any) -> None:
    """Add a piece of a call to the call that it belongs to."""
    if not isinstance(part, Mapping) or not isinstance(piece := part.get("function"), Mapping):
        raise ValueError("a call of a tool is no object")
    call = calls.setdefault(part.get("index", len(calls)), {"id": part.get("id"), "function": {"name": ""}})
    function, arguments = call["function"], piece.get("arguments")
    function["name"] += piece.get("name") or ""
    if arguments is not None:
        before = function.get("arguments")
        joined = isinstance(before, str) and isinstance(arguments, str)
        function["arguments"] = before + arguments if joined else arguments


def _events(data: bytes) -> Iterator[bytes]:
    """Yield the data of each event; lines of one event are joined by a line feed."""
    lines: list[bytes] = []
    for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        if line.startswith(b"data:"):
            lines.append(line.removeprefix(b"data:").removeprefix(b" "))
        elif not line and lines:
            yield b"\n".join(lines).strip()
            lines = []
    if lines:
        yield b"\n".join(lines).strip()
