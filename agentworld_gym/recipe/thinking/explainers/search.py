"""Explains the answers of web search: which pages match, what a page holds, and what the memory keeps."""

from __future__ import annotations

import re

from agentworld_gym.engines import Scalar
from agentworld_gym.recipe.thinking.explainers.explanation import Explanation
from agentworld_gym.recipe.thinking.situation import Situation, amount, read_call, several

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
    shown = several([turn.cite(str(query)) for query in asked if query]) or "nothing"
    return Explanation(f"The agent searches the web for {shown}", _matches(turn), [], _results(turn))


def _matches(turn: Situation) -> list[str]:
    found = _RESULT.findall(turn.observation)
    fixed = [turn.cite(title, 80) or turn.cite(address, 80) for address, title in found]
    known = [quote for quote in fixed if quote]
    reads = (
        [f"Of the pages that the state fixes, those that share most words with it are {several(known)}"]
        if known
        else []
    )
    if len(known) < len(found):
        reads.append(
            "The other results are pages that nothing fixes: they have to be believable and to fit their sites"
        )
    return reads


def _results(turn: Situation) -> str:
    found = _RESULT.findall(turn.observation)
    if not found:
        return f"So the answer is {turn.show(turn.observation)}" if turn.observation else "So there is no answer"
    lists = turn.observation.count("Results for ")
    layout = "a list for each query" if lists > 1 else amount(len(found), "result")
    return (
        f"So I write {layout}, each with its address, title, snippet and date, the best match "
        f"{turn.show(found[0][1], 80)} at the top; snippets quote the page around "
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
    known = (
        "The state fixes this page" if turn.cite(text) or turn.cite(text.lstrip("# ")) else "Nothing fixes this page"
    )
    lines = [line for line in text.split("\n") if line.strip()]
    rows = sum(line.startswith("|") for line in lines)
    parts = f"with a table of {amount(rows, 'line')} in it" if rows else f"of {amount(len(lines), 'line')}"
    return Explanation(
        asks,
        [known + ", and the same address always shows the same"],
        ["the page counts as opened"] if turn.changes else [],
        f"So I give it back as markdown, {parts}, from the heading {turn.show(lines[0] if lines else '', 80)} "
        f"to {turn.show(lines[-1]) if lines else 'its end'}",
    )


def _memory(turn: Situation, arguments: dict[str, object]) -> Explanation:
    operation, key = str(arguments.get("operation", "")), str(arguments.get("key", ""))
    asks = f"The agent asks the memory to {turn.cite(operation) or 'do something'}"
    asks += f" the key {turn.cite(key)}" if key and turn.cite(key) else ""
    notes = {field.removeprefix("memory/"): value for field, value in _notes(turn)}
    if not notes:
        reads = ["The memory is empty"]
    elif key in notes:
        value = turn.cite(notes[key]) if str(notes[key]) != turn.observation else "the text that is asked for"
        reads = [f"The memory holds that key, with {value or 'a text'}"]
    else:
        held = several([turn.cite(name) for name in notes], 4)
        reads = [f"The memory holds {held or 'other keys'}" + (", and not that one" if key else "")]
    changes = []
    for change in turn.changes:
        if change.field.startswith("memory/"):
            verb = {"added": "is kept", "removed": "is forgotten"}.get(change.kind, "gets another text")
            value = turn.cite(change.after) if change.kind != "removed" else ""
            name = turn.cite(change.field.removeprefix("memory/")) or "a key"
            changes.append(f"{name} {verb}" + (f", with {value}" if value else ""))
    if operation.startswith("retrieve") and notes and (key in notes or not key):
        text = (
            "each note on a line of its own"
            if operation == "retrieve_all"
            else "the stored text alone, without its key"
        )
        return Explanation(asks, reads, changes, f"So the answer is {text}")
    failed = turn.observation.startswith("Error")
    sentence = "the fixed sentence of this error" if failed else "the fixed sentence for it"
    return Explanation(asks, reads, changes, f"So the answer is {sentence}, {turn.show(turn.observation)}")


def _notes(turn: Situation) -> list[tuple[str, Scalar]]:
    return [item for item in turn.state.items() if item[0].startswith("memory/")] if turn.state else []
