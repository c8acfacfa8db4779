"""References to what a search engine finds: a search is written as what it is about, and the index prints the hits.

    @                                       what the call asks for: its queries, or the page at its address
    @? lake orvel depth                     the hits of this query; a line for each of several queries
    @https://lake.example/orvel             what the page reader shows at that address where nothing fails

Such a reference is a whole answer. A world model writes it, so that it says what is looked for, and the index ranks
and prints what there is. An answer to a call that keeps or asks for notes names their keys: `{key}`, `{key/1}`, or all
of them as `{keys}`. Everything else of an answer refers to the state, as other texts do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.syntaxes import read_json
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.domain.index import IndexedWeb
from agentworld_gym.llm.prompting.references.blocks import TextBlocks
from agentworld_gym.llm.prompting.references.contract import MARK, UnknownReference
from agentworld_gym.llm.prompting.state_references import References as Values

SEARCH = f"{MARK}? "
"""Begins the reference to the hits of a query."""

_ADDRESS = re.compile(rf"{MARK}([a-z][a-z0-9+.-]*://\S+)", re.IGNORECASE)


class SearchReferences:
    """References to the hits and pages of an indexed web, beside those to the state.

    Args:
        web: The web of the task.
        known: The references to the state; None where it has nothing to refer to.
    """

    def __init__(self, web: IndexedWeb, known: TextBlocks | None = None) -> None:
        self._web = web
        self._known = known or TextBlocks({})

    def refer(self, text: str, action: str | None = None) -> str:
        """Replace what is known by references.

        Args:
            text: The text.
            action: The call that it answers, as the agent wrote it; None where that is not known.
        """
        arguments = _arguments(action)
        if self._answers(arguments, text):
            return MARK
        short = self._known.refer(text)
        # Where a control changes a page, its address does not mean what the state holds.
        plain = short if self._reads_alike(short) else TextBlocks({}).refer(text)
        keys = _keys(arguments)
        return str(Values(keys, {}).with_names(plain, "")) if keys else plain

    def resolve(self, text: str, action: str | None = None) -> str:
        """Return the text that a text with references stands for: the inverse of `refer` with the same action.

        Raises:
            AnswerError: A reference names nothing that is known, or a search has more queries than the engine takes.
        """
        arguments = _arguments(action)
        keys = _keys(arguments)
        if keys:
            try:
                text = str(Values(keys, {}).meant(text, ""))
            except (LookupError, ValueError) as error:
                raise UnknownReference(text, f"names of keys in braces ({error})") from error
        if text == MARK:
            return self._asked(arguments)
        if text.startswith(SEARCH):
            return self._web.hits([_query(line) for line in text.split("\n")])
        if address := _ADDRESS.fullmatch(text):
            return self._web.read_page(address[1])
        return self._known.resolve(text)

    def _asked(self, arguments: Mapping[str, Any]) -> str:
        """Return what a call asks for, where nothing fails.

        Raises:
            AnswerError: It asks for nothing that the web has, or for more than it finds at once.
        """
        url, queries = arguments.get("url"), _queries(arguments)
        if isinstance(url, str):
            return self._web.read_page(url)
        if not queries:
            raise UnknownReference(MARK, "a call that searches, or opens a page")
        return self._web.hits(queries)

    def _answers(self, arguments: Mapping[str, Any], text: str) -> bool:
        try:
            return self._asked(arguments) == text
        except AnswerError:
            return False

    def _reads_alike(self, short: str) -> bool:
        return not _ADDRESS.fullmatch(short) or self.resolve(short) == self._known.resolve(short)


def _keys(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of notes that a call keeps or asks for, by name."""
    given = arguments.get("dict") or arguments.get("key_list")
    if not isinstance(given, Mapping | list):
        return {}
    keys = list(dict.fromkeys(key for key in given if isinstance(key, str)))
    each = {f"key/{number}" if number else "key": key for number, key in enumerate(keys)}
    return {"keys": str(keys), **each} if keys else {}


def _query(line: str) -> str:
    """The query of one line of a reference.

    Raises:
        UnknownReference: The line is no query.
    """
    query = line.removeprefix(SEARCH)
    if query == line or not query:
        raise UnknownReference(line, f"a query after {SEARCH!r} in each line of a search")
    return query


def _arguments(action: str | None) -> Mapping[str, Any]:
    try:
        call = read_json(action or "")
        arguments = call.get("arguments") if isinstance(call, dict) else None
        arguments = read_json(arguments) if isinstance(arguments, str) else arguments
    except UnreadableAction:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _queries(arguments: Mapping[str, Any]) -> Sequence[str]:
    several = arguments.get("queries")
    asked = [*(several if isinstance(several, list) else [several]), arguments.get("query")]
    return [query for query in asked if isinstance(query, str)]
