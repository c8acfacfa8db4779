"""Kinds of answers, and answers as templates: texts with slots for what the action gave, and a mark for the rest."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from agentworld_gym.core.actions.naming import verb
from agentworld_gym.llm.worldbook.steps import MISSING, Step, places, values_at

LONGEST = 400
"""How many characters of a text tell its kind."""

WILD = "\N{HORIZONTAL ELLIPSIS}"
"""What stands in a template for words that differ from answer to answer."""

_NAME = re.compile(r"\w*\d\w*|[\w.-]*[._/][\w./-]*")
"""What changes from answer to answer of one kind: numbers, paths and file names."""

_SLOT = re.compile(r"\{([A-Za-z_$][\w$-]*(?:\.[\w$-]+|\[\])*)(:[02])?\}")
_TOKEN = re.compile(r"\w+|\W")
_MOST_SLOTS = 200
_COMPARED = 50
_FORMATS: dict[str, dict[str, Any]] = {"": {}, ":0": {"separators": (",", ":")}, ":2": {"indent": 2}}
_FAILED = re.compile(
    r"\b(error|errno|invalid|not found|no such|not exist|cannot|can't|could not|couldn't|unable|denied|unknown|failed|"
    r"failure|refused|forbidden|traceback|exception|usage:)",
    re.IGNORECASE,
)


def answer_kind(action: str, observation: str) -> str:
    """Return what kind of answer an observation is: what the action did, and what the answer holds beside values.

    Of JSON the names and types count, not how often they stand there. Of a text its words count, without those that
    the action had, numbers and paths.

    >>> ask = '{"name": "get", "arguments": {"name": "Emma"}}'
    >>> answer_kind(ask, '[{"name": "Emma", "age": 3}]') == answer_kind(ask, '[{"age": 4, "name": "x"}, {"age": 1}]')
    True
    >>> answer_kind(ask, "no Emma, 3 others") == answer_kind(ask.replace("Emma", "Dune"), "no Dune, 14 others")
    True
    >>> answer_kind(ask, "[]") == answer_kind(ask, "[3]")
    False
    """
    try:
        shape = " ".join(sorted(set(_paths(json.loads(observation), ""))))
    except (ValueError, RecursionError):
        given = set(re.findall(r"\w+", action))
        words = re.findall(r"\w+", _NAME.sub("*", observation[:LONGEST]))
        shape = " ".join(dict.fromkeys("*" if word in given else word for word in words))
    return f"{verb(action)}: {shape}"


def _paths(value: Any, place: str) -> Iterator[str]:
    """Yield the names and the types in a document."""
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _paths(inner, f"{place}.{key}")
        case list() if value:
            for inner in value:
                yield from _paths(inner, f"{place}[]")
        case _:
            empty = isinstance(value, str | dict | list) and not value
            yield f"{place} {type(value).__name__}{' empty' if empty else ''}"


def is_error(observation: str) -> bool:
    """Return whether an answer says that the action failed, as far as its first line or its keys tell.

    >>> is_error("cat: a.txt: No such file or directory"), is_error('{"error": "full"}'), is_error('[{"error": 1}]')
    (True, True, False)
    """
    try:
        value = json.loads(observation)
    except (ValueError, RecursionError):
        return _FAILED.search(observation.lstrip().partition("\n")[0][:200]) is not None
    return isinstance(value, dict) and bool(
        value.get("error") or value.get("errors") or value.get("isError") or value.get("success") is False
    )


def templated(answer: str, step: Step) -> str:
    """Return an answer with slots for what its action gave: `{path}` for a text or for JSON in one line, `{path:0}` for
    JSON without spaces, `{path:2}` for JSON on several lines.

    >>> templated("cat: a.txt: No such file", Step.of("cat a.txt", "", []))
    'cat: {words[]}: No such file'
    """
    slots: dict[str, str] = {}
    for path, value in places(step.arguments):
        for name, text in _written(value).items():
            if len(text) > 1 and len(slots) < _MOST_SLOTS:
                slots.setdefault(text, f"{{{path}{name}}}")
    texts = sorted((text for text in slots if text in answer), key=len, reverse=True)
    if not texts:
        return answer
    return re.sub("|".join(map(_whole, texts)), lambda found: slots[found[0]], answer)


def rendered(template: str, step: Step) -> str | None:
    """Return the answer that a template stands for; None where a part of it is not known.

    A slot stands for the first value at its place that nothing has shown before, or else for the first.

    >>> step = Step.of("rm a.txt b.txt", "a.txt", [])
    >>> rendered("rm: {words[]}: no such file", step), rendered("{path}", step), rendered("at … o'clock", step)
    ('rm: b.txt: no such file', None, None)
    """
    if WILD in template:
        return None
    try:
        return _SLOT.sub(lambda found: _filled(found, step), template)
    except LookupError:
        return None


def common(templates: Sequence[str]) -> str:
    """Return the template of most answers, or else what they have in common.

    >>> common(["saved a.txt", "saved a.txt", "saved {path}"]), common(["took 3 s", "took 4 s"]), common(["ab", "c d"])
    ('saved a.txt', 'took … s', '…')
    """
    counts = Counter(templates)
    first, count = counts.most_common(1)[0]
    if (2 * count >= len(templates) and count > 1) or len(counts) == 1:
        return first
    texts = [_TOKEN.findall(text) for text in list(counts)[:_COMPARED]]
    if len(set(map(len, texts))) == 1:
        columns = [set(column) for column in zip(*texts, strict=True)]
        tokens = [next(iter(column)) if len(column) == 1 else WILD for column in columns]
    else:
        begin = _alike(texts)
        end = _alike([text[begin:][::-1] for text in texts])
        tokens = [*texts[0][:begin], WILD, *texts[0][len(texts[0]) - end :]]
    return re.sub(f"{WILD}(?:[^\\w\\n{{}}]*{WILD})+", WILD, "".join(tokens))


def _alike(texts: Sequence[Sequence[str]]) -> int:
    """Return how many tokens all texts begin with."""
    return next((n for n, column in enumerate(zip(*texts, strict=False)) if len(set(column)) > 1), min(map(len, texts)))


def _written(value: Any) -> dict[str, str]:
    """Return how a value may be written, by the name of the format."""
    if isinstance(value, str):
        return {"": value}
    if value is None or isinstance(value, bool):
        return {}
    return {name: json.dumps(value, ensure_ascii=False, **asked) for name, asked in _FORMATS.items()}


def _whole(text: str) -> str:
    """Return a pattern that finds a text where it is no part of a longer word."""
    before, after = (r"(?<!\w)" if text[0].isalnum() else ""), (r"(?!\w)" if text[-1].isalnum() else "")
    return before + re.escape(text) + after


def _filled(slot: re.Match[str], step: Step) -> str:
    values = [value for value in values_at(step.arguments, slot[1]) if value is not MISSING]
    fresh = (value for value in values if isinstance(value, str) and not step.has_seen(value))
    value = next(fresh, values[0]) if values else MISSING
    if value is MISSING:
        raise LookupError(slot[1])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, **_FORMATS[slot[2] or ""])
