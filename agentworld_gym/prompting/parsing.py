"""What a world model or a judge wrote, read leniently."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.documents.plain_json import Found, loose_objects
from agentworld_gym.text.escaping import escape, unescape

NO_OUTPUT = "No output"
"""What a benchmark puts where a completion holds no observation."""

MARKER = "**Environment Observation:**"
OUTPUT_TAG = "predicted_observation"
JUDGE_TAG = "final_evaluation"
DIMENSIONS = ("format", "factuality", "consistency", "realism", "quality")

_THINK = re.compile(r"<(/?)think\s*>", re.IGNORECASE)
_OUTPUT = re.compile(rf"<(/?){OUTPUT_TAG}\s*>", re.IGNORECASE)
_ORPHAN = {tag: re.compile(rf"<(?:think|({tag}))\s*>", re.IGNORECASE) for tag in (OUTPUT_TAG, JUDGE_TAG)}
_JUDGE = re.compile(rf"<(/?){JUDGE_TAG}\s*>", re.IGNORECASE)
_MARKER = re.compile(r"\s*" + re.escape(MARKER) + r"[ \t]*\r?\n?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*([+-]?\d{1,6}(?:\.\d{1,6})?)\s*(?:/\s*5\b.*)?", re.DOTALL)
_KEY = re.compile(r"[\"']?\bscores[\"']?\s*:")
_SCORES = re.compile(_KEY.pattern + r"\s*\Z")
_NEAR = 32
_FENCE = re.compile(r"```(?:json)?")


def parse_completion(text: str) -> str:
    r"""The observation a completion holds; empty if it holds none.

    Thinking goes first, then the last output block counts (unclosed, it runs to the end; without a tag the whole text
    does), then a leading marker is dropped and the escaping undone. One line break at either end of a block belongs to
    its layout. Tags are read in any letter case.

    >>> parse_completion("<think>easy</think>\n<predicted_observation>\nREADME.md\n</predicted_observation>")
    'README.md'
    >>> parse_completion("README.md")
    'README.md'
    """
    rest = strip_thinking(text)
    block = _last_block(rest, _OUTPUT)
    if block is not None:
        block = _without_layout(block)
    elif rest is text:
        block = text
    else:
        block = rest.lstrip("\r\n")
    marker = _MARKER.match(block)
    if marker:
        block = block[marker.end() :]
    return unescape(block) if block.strip() else ""


def in_output_tag(observation: str) -> str:
    """Return the completion that a closing request asks for, from which `parse_completion` reads the observation.

    >>> parse_completion(in_output_tag("a.txt"))
    'a.txt'
    """
    return f"<{OUTPUT_TAG}>\n{escape(observation)}\n</{OUTPUT_TAG}>"


def strip_thinking(text: str, answer: str = OUTPUT_TAG) -> str:
    """The text without its thinking.

    That is: pairs of tags with what they enclose (nested too), what stands before a closing tag that was never opened,
    and what follows an opening tag that is never closed, up to the next tag that opens an `answer` (`OUTPUT_TAG` or
    `JUDGE_TAG`).

    >>> strip_thinking("a</think>b<think>c<think>d</think></think>e<think>f")
    'be'
    """
    opened: list[int] = []
    gone: list[tuple[int, int]] = []
    for tag in _THINK.finditer(text):
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            gone.append((opened.pop(), tag.end()))
        else:
            gone = [(0, tag.end())]
    if gone:
        text = _without(text, sorted(gone))
    return _without(text, _orphans(text, answer)) if opened else text


def _orphans(text: str, answer: str) -> list[tuple[int, int]]:
    """The spans that opening tags without a closing one make thinking: up to the next answer, else to the end."""
    spans, start = [], None
    for tag in _ORPHAN[answer].finditer(text):
        if start is None and not tag[1]:
            start = tag.start()
        elif start is not None and tag[1]:
            spans.append((start, tag.start()))
            start = None
    return spans if start is None else [*spans, (start, len(text))]


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without some spans, which are sorted and may lie within each other."""
    kept, position = [], 0
    for start, end in spans:
        if end > position:
            kept.append(text[position:start])
            position = end
    return "".join([*kept, text[position:]])


def _last_block(text: str, pattern: re.Pattern[str]) -> str | None:
    """What the last opening tag encloses; with closing tags alone what stands before the first; without any, None."""
    opening = closing = None
    for tag in pattern.finditer(text):
        if not tag[1]:
            opening, closing = tag, None
        elif closing is None:
            closing = tag
    if opening is None and closing is None:
        return None
    return text[opening.end() if opening else 0 : closing.start() if closing else len(text)]


def _without_layout(block: str) -> str:
    """The block without one line break at either end."""
    end = "\r\n" if block.startswith("\r\n") else "\n"
    return block.removeprefix(end).removesuffix(end)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge found: scores from 1 to 5 by dimension, and why.

    >>> Judgement({"format": 5, "quality": 3}).score
    0.75
    """

    scores: Mapping[str, int]
    strengths: str = ""
    weaknesses: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The mean over the dimensions that were scored, from 0 to 1."""
        return (sum(self.scores.values()) / len(self.scores) - 1) / 4


def parse_judgement(text: str, dimensions: Sequence[str] | None = None) -> Judgement | None:
    """The judgement in a judge's answer, read as a benchmark reads it; nothing if there is no score in it.

    The last object with `scores` in the last block counts, whatever the judge quoted before it; loosely written JSON is
    read. Scores are whole numbers from 1 to 5: others are rounded and clamped, `"4/5 - good"` counts as 4, and a
    dimension that is zero or no number is left out. An object that holds a key twice is no judgement. `dimensions`
    keeps those alone.

    >>> parse_judgement('<final_evaluation>{"scores": {"format": "4/5", "realism": 9, "quality": 0}}').scores
    {'format': 4, 'realism': 5}
    """
    rest = strip_thinking(text, JUDGE_TAG)
    block = _last_block(rest, _JUDGE)
    try:
        return _last_judgement(rest if block is None else block, dimensions)
    except ValueError:
        return None


def parse_verdict(text: str, criteria: Sequence[str]) -> Judgement | None:
    """The judgement in a judge's answer, where a reward is made of it; nothing where there is any doubt.

    The answer has exactly one block, or is one JSON object and nothing else. In it stands exactly one object with
    `scores`, and no key stands twice. Every criterion has a whole number from 1 to 5, be it as `"4/5"`.

    >>> parse_verdict('<final_evaluation>{"scores": {"1": 4}}</final_evaluation>', ["1"]).score
    0.75
    >>> parse_verdict('<final_evaluation>{"scores": {"1": 40}}</final_evaluation>', ["1"]) is None
    True
    """
    rest = strip_thinking(text, JUDGE_TAG)
    tags = [tag[1] for tag in _JUDGE.finditer(rest)]
    if tags not in ([], [""], ["", "/"]):
        return None
    block = _last_block(rest, _JUDGE)
    try:
        found = [one for one in loose_objects(rest if block is None else block) if "scores" in one.value]
    except ValueError:
        return None
    if len(found) != 1 or found[0].repeats:
        return None
    one = found[0]
    around = rest[: one.start] + rest[one.end :]
    if block is None and _FENCE.sub("", around).strip():
        return None
    given = _by_name(one.value["scores"], criteria)
    scores = {name: _exact_score(given[name]) for name in criteria if given and name in given}
    whole = {name: score for name, score in scores.items() if score is not None}
    return _judgement(one.value, whole) if criteria and len(whole) == len(criteria) else None


def _last_judgement(text: str, dimensions: Sequence[str] | None) -> Judgement | None:
    """The last object with scores in a text; an object of scores alone where no other is left."""
    last: Found | None = None
    alone: Found | None = None
    for found in loose_objects(text):
        if "scores" in found.value:
            last = found
        elif _SCORES.search(text, max(0, found.start - _NEAR), found.start):
            # The object around it cannot be read, say for quotes within a string.
            last = replace(found, value={"scores": found.value})
        elif any(name in found.value for name in dimensions or DIMENSIONS):
            alone = found
    if last is None and alone is not None:
        names = [name for name in dimensions or DIMENSIONS if name in alone.value]
        last = replace(alone, value={**alone.value, "scores": {name: alone.value[name] for name in names}})
    if last is None or last.repeats or _KEY.search(text, last.end):
        return None
    given = _by_name(last.value["scores"], dimensions)
    scores = {name: score for name, value in (given or {}).items() if (score := _score(value))}
    return _judgement(last.value, scores) if scores else None


def _by_name(given: Any, names: Sequence[str] | None) -> dict[str, Any] | None:
    """The scores that were given, by the names they were asked for; nothing where one is given twice."""
    if not isinstance(given, Mapping):
        return None
    known = None if names is None else {name.lower(): name for name in names}
    found: dict[str, Any] = {}
    for key, value in given.items():
        plain = key.strip().lower()
        name = plain if known is None else known.get(plain)
        if name is None:
            continue
        if name in found:
            return None
        found[name] = value
    return found


def _judgement(data: Mapping[str, Any], scores: Mapping[str, int]) -> Judgement:
    known = ("scores", "strengths", "weaknesses", *DIMENSIONS)
    extra = {key: value for key, value in data.items() if key not in known}
    return Judgement(scores, _prose(data.get("strengths")), _prose(data.get("weaknesses")), extra)


def _score(value: Any) -> int | None:
    """A score from 1 to 5, or nothing for zero and for what is no number."""
    number = _number(value)
    return None if not number else round(min(max(number, 1), 5))


def _exact_score(value: Any) -> int | None:
    """A whole number from 1 to 5, or nothing."""
    number = _number(value)
    return int(number) if number in (1, 2, 3, 4, 5) else None


def _number(value: Any) -> int | float | None:
    if isinstance(value, Mapping):
        value = value.get("score")
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _prose(value: Any) -> str:
    """Prose, given as a text or as a list of texts."""
    if isinstance(value, str):
        return unescape(value).strip()
    if isinstance(value, list):
        return "\n".join(unescape(item).strip() for item in value if isinstance(item, str))
    return ""
