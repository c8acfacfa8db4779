"""What a server's refusal says, in the wordings of common servers: limits of tokens, and fields it does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum context|maximum model length|maximum allowed length"
    r"|exceeds? .{0,40}context|prompt (?:is )?too long|`inputs` (?:must have less than|tokens \+ `max_new_tokens`)"
    r"|input token count .{0,40}exceeds|greater than max_model_len",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context length (?:is|of)(?: only)? (\d+)"  # vLLM, OpenAI, SGLang, OpenRouter, LM Studio
    r"|context length \(?(\d+)"  # SGLang and vLLM, of a prompt alone
    r"|maximum model length of (\d+)"  # vLLM, of a prompt alone
    r"|max_model_len ?= ?(\d+)"  # vLLM, of an answer alone
    r"|context (?:window|size)(?: of|:)? \(?(\d+)"  # llama.cpp and its server in Python
    r"|n_ctx\W{1,3}(\d+)"  # llama.cpp
    r"|`max_new_tokens` must be <= (\d+)\. Given"  # TGI
    r"|context limit: \d+ \+ \d+ > (\d+)"  # Anthropic's
)
_PROMPT = re.compile(
    r"(?<!at least )\b(\d+) (?:input tokens|in the messages|tokens from the input|in your prompt|of text input)"
    r"|Given: (\d+) `inputs` tokens"
    r"|context limit: (\d+) \+"
)
_BOTH = re.compile(r"output tokens|completion|max_tokens|max_new_tokens|in the output", re.IGNORECASE)
_COMPLETION = re.compile(
    r"at most (\d+) completion tokens"  # OpenAI
    r"|range of max_tokens (?:is|should be) \[1, ?(\d+)\]"  # DeepSeek, DashScope
    r"|max_tokens: \d+ > (\d+)"  # Anthropic's
    r"|max_tokens`? must be less than or equal to `?(\d+)",  # Groq
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"unrecogni[sz]ed|unknown|unsupported|not supported|not permitted|extra_forbidden|extra inputs|unexpected",
    re.IGNORECASE,
)
_KNOWN = re.compile(r"\bexpected one of\b|\bsupported (?:fields|parameters|arguments)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """What a refusal tells of tokens; None where it does not tell."""

    context: int | None = None
    """The tokens of prompt and completion together."""

    prompt: int | None = None
    """The tokens of the prompt that was refused."""

    completion: int | None = None
    """The tokens of any completion."""

    both: bool = False
    """Whether the prompt was refused together with the completion that was asked for."""


def token_limits(message: str) -> TokenLimits:
    """Read the limits of tokens in a refusal.

    >>> limits = token_limits("You passed 300 input tokens and requested 900 output tokens. However, the model's "
    ...                       "context length is only 1024 tokens.")
    >>> limits.context, limits.prompt, limits.both
    (1024, 300, True)
    >>> limits = token_limits("max_tokens=32768 cannot be greater than max_model_len=4096.")
    >>> limits.context, limits.prompt, limits.both
    (4096, None, True)
    >>> token_limits("max_tokens is too large: 900. This model supports at most 512 completion tokens.").completion
    512
    """
    context = _number(_CONTEXT, message)
    return TokenLimits(
        context, _number(_PROMPT, message), _number(_COMPLETION, message), context is not None and _has_both(message)
    )


def _has_both(message: str) -> bool:
    return _BOTH.search(message) is not None


def _number(pattern: re.Pattern[str], message: str) -> int | None:
    found = pattern.search(message)
    digits = next((group for group in found.groups() if group), "") if found else ""
    return int(digits) if 0 < len(digits) < 12 else None


def is_overflow(message: str) -> bool:
    """Return whether the error message of any server says that the prompt is too long for the model.

    >>> is_overflow("This model's maximum context length is 64 tokens."), is_overflow("bad temperature")
    (True, False)
    """
    return _OVERFLOW.search(message) is not None


def unknown_fields(message: str, names: Iterable[str]) -> list[str]:
    """Return which of some fields of a request a refusal names as unknown.

    >>> unknown_fields("Unrecognized request argument supplied: seed", ["seed", "top_k"])
    ['seed']
    """
    refused = _KNOWN.split(message)[0]
    if _UNKNOWN.search(refused) is None:
        return []
    return [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", refused)]
