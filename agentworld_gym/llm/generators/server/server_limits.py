"""What requests have taught of one server: the tokens that it can hold, and the fields that it does not know."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.contracts import Completion, Failure, FailureKind
from agentworld_gym.llm.generators.server.refusals import token_limits, unknown_fields

log = logging.getLogger(__name__)

_OWN = ("chat_template_kwargs", "seed", "top_k", "logprobs", "response_format")
"""The fields that a server may lack. All others are the request itself, or what the user added to it."""

_LIMIT, _NEWER_LIMIT = "max_tokens", "max_completion_tokens"
_LEAST = 256
"""The room that is worth a request. Where less seems to be left, half of the context is asked for. A server that has
less than that says how long the prompt is; one that is asked for more than its context may name that alone."""

_DENSE, _SPARSE, _CAREFUL = 2.0, 4.0, 0.9
"""The bytes of a token before any was counted, the most that are ever assumed, and the part of what was counted."""


class ServerLimits:
    """The limits of one server, learnt from its list of models and its refusals. Each is logged once.

    A completion gets what its prompt leaves of the context. Prompts are counted by their bytes, and the bytes of a
    token are learnt from the server's own counts, so that a request that does not fit is seldom sent.

    Args:
        name: The name of the server in the log.
        added: The fields that the user adds to every request, or takes out.

    >>> limits = ServerLimits("a server", {})
    >>> limits.hold(4096)
    >>> limits.adapted({"messages": [], "max_tokens": 32768, "seed": 3}, 1000)["max_tokens"]
    3596
    """

    def __init__(self, name: str, added: Mapping[str, Any]) -> None:
        self._name, self._added = name, added
        self._context: int | None = None
        self._completion: int | None = None
        self._density = _DENSE
        self._counted = False
        self._unknown: set[str] = set()
        self._is_newer = self._tells = False

    def hold(self, tokens: int) -> None:
        """Take note of how many tokens prompt and completion may have together."""
        self._context = tokens

    def counted(self, size: int, tokens: int) -> None:
        """Take note of how many tokens the server counts in a prompt of some bytes."""
        if tokens > 0 and size > 0:
            density = min(_SPARSE, max(1.0, _CAREFUL * size / tokens))
            self._density = min(self._density, density) if self._counted else density
            self._counted = True

    def adapted(self, body: Mapping[str, Any], size: int, room: int | None = None) -> dict[str, Any]:
        """Return the fields of a request without those that the server does not know, with a limit that it can keep.

        Args:
            body: The fields.
            size: The bytes of the prompt.
            room: The tokens that the server has left for this completion, where it told.
        """
        fields = {name: value for name, value in body.items() if name not in self._unknown}
        if _LIMIT in fields and _LIMIT not in self._added:
            asked = fields.pop(_LIMIT)
            fields[_NEWER_LIMIT if self._is_newer else _LIMIT] = self._bounded(asked, size, room)
        return fields

    def _bounded(self, asked: int, size: int, room: int | None) -> int:
        bounded = asked if self._completion is None else min(asked, self._completion)
        if room is None and self._context is not None:
            left = self._context - int(size / self._density)
            room = left if left >= min(_LEAST, asked) else max(1, self._context // 2)
        if room is None or room >= bounded:
            return bounded
        if self._context is not None and not self._tells:
            self._tells = True
            log.warning(
                "%s holds %d tokens, prompt and answer together: an answer gets what its prompt leaves, and not %d",
                self._name,
                self._context,
                bounded,
            )
        return room

    def left(self, answer: Completion, body: Mapping[str, Any], sent: Mapping[str, Any]) -> int | None:
        """Return how many tokens the context has left beside an answer that was cut off because it seemed to be full.

        That may be more than none, because the limit that was sent rests on an estimate of the prompt's length. None
        where the answer was cut off by another limit, or not at all.

        Args:
            answer: The answer.
            body: The fields of the request.
            sent: The fields that were sent instead.
        """
        if answer.finish_reason != "length":
            return None
        asked, allowed = body.get(_LIMIT), sent.get(_LIMIT, sent.get(_NEWER_LIMIT))
        own = [limit for limit in (asked, self._completion) if isinstance(limit, int)]
        lowered = isinstance(allowed, int) and bool(own) and allowed < min(own)
        used = answer.usage.prompt_tokens + answer.usage.completion_tokens
        if self._context is None or not answer.usage.prompt_tokens:
            return 0 if lowered else None
        left = self._context - used
        if left < _LEAST and (lowered or left <= 0):
            return 0
        return left if lowered else None

    def learn(self, failure: Failure, body: Mapping[str, Any], size: int) -> int | None:
        """Learn from a refusal; return the tokens that the server has left for this completion, where it told.

        Args:
            failure: The refusal.
            body: The fields that were sent.
            size: The bytes of the prompt.
        """
        if failure.kind not in (FailureKind.OVERFLOW, FailureKind.REJECTED):
            return None
        if failure.kind is FailureKind.REJECTED:
            self._learn_fields(failure.message, body)
        limits = token_limits(failure.message)
        if limits.completion is not None and limits.completion != self._completion:
            self._completion = limits.completion
            log.warning("%s gives an answer at most %d tokens", self._name, limits.completion)
        if limits.context is not None:
            self._context = limits.context
        if limits.prompt is not None:
            self.counted(size, limits.prompt)
            room = (self._context or 0) - limits.prompt
            return room if room > 0 else None
        return self._smaller(body, size) if limits.both else None

    def _smaller(self, body: Mapping[str, Any], size: int) -> int | None:
        """Return a smaller limit than the refused one, where the server does not tell how long the prompt is."""
        sent = body.get(_LIMIT, body.get(_NEWER_LIMIT))
        if not isinstance(sent, int) or sent <= _LEAST:
            return None
        if self._context is not None and (left := self._context - int(size / self._density)) >= _LEAST and left < sent:
            return left
        return min(sent, self._context or sent) // 2

    def _learn_fields(self, message: str, body: Mapping[str, Any]) -> None:
        own = [name for name in _OWN if name in body and name not in self._added]
        for name in unknown_fields(message, own):
            self._unknown.add(name)
            log.warning("%s does not know %s, which it is not sent any more (%s)", self._name, name, message)
        if _NEWER_LIMIT in message and _LIMIT not in self._added and unknown_fields(message, [_LIMIT]):
            self._is_newer = True
