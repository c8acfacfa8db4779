"""What a client reads of a tool's result: each piece once, as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def text_of_result(result: CallToolResult) -> str:
    """Return the text of a result.

    Texts stand as they are, one below the other. Structured content that no text tells is added as JSON on one line. Of
    what is no text, only its type and its size are shown.
    """
    texts = [block.text for block in result.content if block.type == "text"]
    shown = [_shown(block) for block in result.content]
    structured = result.structured_content
    if structured is not None and not is_told(structured, texts):
        shown.append(json.dumps(structured, ensure_ascii=False))
    return "\n".join(shown)


def _shown(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}: {block.mime_type}, {_size(block.data)} bytes]"
        case "resource_link":
            return f"[resource: {block.uri}, {block.name}]"
        case "resource":
            inner = block.resource
            text = getattr(inner, "text", None)
            if text is not None:
                return f"[resource: {inner.uri}]\n{text}"
            return f"[resource: {inner.uri}, {inner.mime_type or 'binary'}, {_size(getattr(inner, 'blob', ''))} bytes]"
    return f"[{block.type}]"


def _size(encoded: str) -> int:
    """Return how many bytes a text in Base64 stands for."""
    return len(encoded) * 3 // 4 - encoded[-2:].count("=")


def is_told(structured: Any, texts: Sequence[str]) -> bool:
    """Return whether texts tell a structured content: as its JSON, or as that of its only value, a text for each item.

    >>> is_told({"a": 1}, ['{"a":1}']), is_told({"result": [1, 2]}, ["1", "2"]), is_told({"result": "x"}, ["x"])
    (True, True, True)
    >>> is_told({"a": 1}, ["done"])
    False
    """
    if not texts:
        return False
    read = [_read(text) for text in texts]
    forms: list[Any] = [read, [*texts], "\n".join(texts), *([read[0], texts[0]] if len(texts) == 1 else [])]
    inner = next(iter(structured.values())) if isinstance(structured, dict) and len(structured) == 1 else structured
    return any(_equal(told, form) for told in (structured, inner) for form in forms)


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
