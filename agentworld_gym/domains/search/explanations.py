"""Explains the answers of web search: which pages match, what a page holds, and what the memory keeps."""

from __future__ import annotations

import re

from agentworld_gym.core.engines import Scalar
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, amount, read_call, several

_RESULT = re.compile(r"^\[\d+\] (\S+)\nTitle: (.*)$", re.MULTILINE)


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about an observation of the domain Search."""
    name, arguments = read_call(turn.action)
    if name == "dict_memory":
        return _memory(turn, arguments)
    if name == "web_extractor":
        return _page(turn, str(arguments.get("url", "")))
    queries = arguments.get("queries", [])
    asked = [*(queries if isinstance(queries, list) else [queries]), arguments.get("query", "")]
    texts = several([turn.cite(str(query)) for query in asked if query]) or "nothing"
    return Explanation(f"The agent searches the web for {texts}", _matches(turn), [], _results(turn))


def _matches(turn: Situation) -> list[str]:
    results = _RESULT.findall(turn.observation)
    fixed = [turn.cite(title, 80) or turn.cite(address, 80) for address, title in results]
    quotes = [quote for quote in fixed if quote]
    reads = (
        [f"Of the pages that the state fixes, those that share most words with it are {several(quotes)}"]
        if quotes
        else []
    )
    if len(quotes) < len(results):
        reads.append(
            "The other results are pages that nothing fixes: they have to be believable and to fit their sites"
        )
    return reads


def _results(turn: Situation) -> str:
    results = _RESULT.findall(turn.observation)
    if not results:
        return f"So the answer is {turn.show(turn.observation)}" if turn.observation else "So there is no answer"
    return (
        f"So I write {amount(len(results), 'result')}, numbered from one on, each with its address, title, snippet and "
        f"date, the best match {turn.show(results[0][1], 80)} at the top; snippets quote the page around "
        "the words asked for and hand no answer over"
    )


def _page(turn: Situation, address: str) -> Explanation:
    asks = f"The agent opens {turn.cite(address, 120) or 'a page'}"
    text = turn.observation
    if text.startswith("Error"):
        struck = "404" not in text and "403" not in text and "resolve" not in text and turn.disturbed
        reason = (
            "The connection fails, as the conditions of this episode allow" if struck else "Nothing can be read there"
        )
        return Explanation(asks, [reason], [], f"So the reader reports {turn.show(text)}")
    fixed = (
        "The state fixes this page" if turn.cite(text) or turn.cite(text.lstrip("# ")) else "Nothing fixes this page"
    )
    lines = [line for line in text.split("\n") if line.strip()]
    rows = sum(line.startswith("|") for line in lines)
    parts = f"with a table of {amount(rows, 'line')} in it" if rows else f"of {amount(len(lines), 'line')}"
    return Explanation(
        asks,
        [fixed + ", and the same address always shows the same"],
        ["the page counts as opened"] if turn.changes else [],
        f"So I give it back as markdown, {parts}, from the heading {turn.show(lines[0] if lines else '', 80)} "
        f"to {turn.show(lines[-1]) if lines else 'its end'}",
    )


def _memory(turn: Situation, arguments: dict[str, object]) -> Explanation:
    operation, keys = str(arguments.get("operation", "")), _keys(arguments)
    asks = f"The agent asks the memory to {turn.cite(operation) or 'do something'}"
    asks += f" {several([turn.cite(key) for key in keys], 4)}" if any(map(turn.cite, keys)) else ""
    notes = {field.removeprefix("memory/"): value for field, value in _notes(turn)}
    known = [key for key in keys if key in notes]
    if not notes:
        reads = ["The memory is empty"]
    elif known:
        texts = several([turn.cite(notes[key]) for key in known], 4)
        reads = [f"The memory holds {amount(len(known), 'such key')}, with {texts or 'a text'}"]
    else:
        held = several([turn.cite(name) for name in notes], 4)
        reads = [f"The memory holds {held or 'other keys'}" + (", and nothing else" if keys else "")]
    changes = []
    for change in turn.changes:
        if change.field.startswith("memory/"):
            verb = {"added": "is kept", "removed": "is forgotten"}.get(change.kind, "gets another text")
            value = turn.cite(change.after) if change.kind != "removed" else ""
            name = turn.cite(change.field.removeprefix("memory/")) or "a key"
            changes.append(f"{name} {verb}" + (f", with {value}" if value else ""))
    if operation.startswith("retrieve") and (known or (notes and not keys)):
        return Explanation(asks, reads, changes, "So the answer is each note on a line of its own, behind its key")
    failed = turn.observation.startswith(("Error", "Key not found"))
    sentence = "the fixed sentence of this error" if failed else "the fixed sentence for it"
    return Explanation(asks, reads, changes, f"So the answer is {sentence}, {turn.show(turn.observation)}")


def _notes(turn: Situation) -> list[tuple[str, Scalar]]:
    return [item for item in turn.state.items() if item[0].startswith("memory/")] if turn.state else []


def _keys(arguments: dict[str, object]) -> list[str]:
    items, keys = arguments.get("dict"), arguments.get("key_list")
    return [str(key) for key in (items if isinstance(items, dict) else keys if isinstance(keys, list) else ())]
