"""Reads what a world model or a judge wrote, and passes over small errors of form."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.base.documents.plain_json import FoundObject, loose_objects
from agentworld_gym.base.text.escaping import escape, unescape

NO_OUTPUT = "No output"
"""The text that a benchmark takes as the observation of a completion without one."""

MARKER = "**Environment Observation:**"
OUTPUT_TAG = "predicted_observation"
JUDGE_TAG = "final_evaluation"
DIMENSIONS = ("format", "factuality", "consistency", "realism", "quality")

_THINK = re.compile(r"<(/?)think\s*>", re.IGNORECASE)
_OUTPUT = re.compile(rf"<(/?){OUTPUT_TAG}\s*>", re.IGNORECASE)
_STRAY = re.compile(rf"(?:\r?\n)?</{OUTPUT_TAG}\s*>", re.IGNORECASE)
_ORPHAN = {tag: re.compile(rf"<(?:think|({tag}))\s*>", re.IGNORECASE) for tag in (OUTPUT_TAG, JUDGE_TAG)}
_JUDGE = re.compile(rf"<(/?){JUDGE_TAG}\s*>", re.IGNORECASE)
_MARKER = re.compile(r"\s*" + re.escape(MARKER) + r"[ \t]*\r?\n?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*([+-]?\d{1,6}(?:\.\d{1,6})?)\s*(?:/\s*5\b.*)?", re.DOTALL)
_KEY = re.compile(r"[\"']?\bscores[\"']?\s*:")
_SCORES = re.compile(_KEY.pattern + r"\s*\Z")
_NEAR = 32
_FENCE = re.compile(r"```(?:json)?")


def parse_completion(text: str) -> str | None:
    r"""Return the observation that a completion holds; None if it holds none.

    Thinking is dropped first. Then the last output block counts: it runs to the end where it is not closed, and without
    a tag that opens one it is the whole text, from which tags that close one are taken out. A leading marker is
    dropped, and the escaping is undone. One line break at either end of a block belongs to its layout. Tags are read in
    any letter case.

    An observation may be empty or blank, as that of a silent command: then a tag or the marker says that this is the
    answer. A completion of white space alone holds none.

    >>> parse_completion("<think>easy</think>\n<predicted_observation>\nREADME.md\n</predicted_observation>")
    'README.md'
    >>> parse_completion("README.md")
    'README.md'
    >>> parse_completion("<predicted_observation></predicted_observation>"), parse_completion("<think>easy</think>")
    ('', None)
    """
    rest = strip_thinking(text)
    block = _last_block(rest, _OUTPUT)
    if block is None and _STRAY.search(rest):
        block = _STRAY.sub("", rest)
    is_marked = block is not None
    if block is not None:
        block = _without_layout(block)
    elif rest is text:
        block = text
    else:
        block = rest.lstrip("\r\n")
    marker = _MARKER.match(block)
    if marker:
        block = block[marker.end() :]
    return unescape(block) if is_marked or marker or block.strip() else None


def in_output_tag(observation: str) -> str:
    """Return the completion that a closing request asks for, from which `parse_completion` reads the observation.

    >>> parse_completion(in_output_tag("a.txt"))
    'a.txt'
    """
    return f"<{OUTPUT_TAG}>\n{escape(observation)}\n</{OUTPUT_TAG}>"


def strip_thinking(text: str, answer: str = OUTPUT_TAG) -> str:
    """Return a text without its thinking.

    Thinking is what a pair of tags encloses, nested ones too; what stands before a closing tag that was never opened;
    and what follows an opening tag that is never closed, up to the next tag that opens an `answer`.

    Args:
        text: The completion.
        answer: The tag of an answer: `OUTPUT_TAG` or `JUDGE_TAG`.

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
    """Return the spans of thinking whose tag is never closed: each ends at the next answer, or at the end."""
    spans, start = [], None
    for tag in _ORPHAN[answer].finditer(text):
        if start is None and not tag[1]:
            start = tag.start()
        elif start is not None and tag[1]:
            spans.append((start, tag.start()))
            start = None
    return spans if start is None else [*spans, (start, len(text))]


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text without some spans, which are sorted and may lie within each other."""
    kept, position = [], 0
    for start, end in spans:
        if end > position:
            kept.append(text[position:start])
            position = end
    return "".join([*kept, text[position:]])


def _last_block(text: str, pattern: re.Pattern[str]) -> str | None:
    """Return what the last opening tag encloses, to the end where it is never closed; None without an opening tag."""
    opening = closing = None
    for tag in pattern.finditer(text):
        if not tag[1]:
            opening, closing = tag, None
        elif closing is None:
            closing = tag
    if opening is None:
        return None
    return text[opening.end() : closing.start() if closing else len(text)]


def _without_layout(block: str) -> str:
    """Return a block without one line break at either end."""
    end = "\r\n" if block.startswith("\r\n") else "\n"
    return block.removeprefix(end).removesuffix(end)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scores of a judge, and why it gave them.

    >>> Judgement({"format": 5, "quality": 3}).score
    0.75
    """

    scores: Mapping[str, int]
    """Scores from 1 to 5, by dimension."""

    strengths: str = ""
    """What the judge liked."""

    weaknesses: str = ""
    """What the judge disliked."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """All other keys of the judge's answer."""

    @property
    def score(self) -> float:
        """The mean of the scores, from 0 to 1."""
        return (sum(self.scores.values()) / len(self.scores) - 1) / 4


def parse_judgement(text: str, dimensions: Sequence[str] | None = None) -> Judgement | None:
    """Read the judgement in a judge's answer as a benchmark reads it; None if there is no score in it.

    The last object with `scores` in the last block counts, whatever the judge quoted before it, and loosely written
    JSON is read. Scores are whole numbers from 1 to 5: others are rounded and clamped, `"4/5 - good"` counts as 4, and
    a dimension whose score is zero or no number is left out. An object that holds a key twice is no judgement, and
    neither is one with a score that is infinite or too large to tell from it.

    Args:
        text: The answer.
        dimensions: The dimensions to keep; None keeps all.

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
    """Read the judgement that a reward is made of; None where there is any doubt.

    The answer must have exactly one block, or be one JSON object and nothing else. In it stands exactly one object with
    `scores`, and no key stands twice. Every criterion has a whole number from 1 to 5, which may stand as `"4/5"`.

    Args:
        text: The judge's answer.
        criteria: The names of the scores.

    >>> parse_verdict('<final_evaluation>{"scores": {"1": 4}}</final_evaluation>', ["1"]).score
    0.75
    >>> parse_verdict('<final_evaluation>{"scores": {"1": 40}}</final_evaluation>', ["1"]) is None
    True
    """
    one = _only_object(text, "scores")
    if one is None:
        return None
    given = _by_name(one.value["scores"], criteria)
    scores = {name: _exact_score(given[name]) for name in criteria if given and name in given}
    whole = {name: score for name, score in scores.items() if score is not None}
    return _judgement(one.value, whole) if criteria and len(whole) == len(criteria) else None


def parse_class(text: str, classes: Collection[str]) -> str | None:
    """Read the class that a judge chose for an episode; None where there is any doubt, as in `parse_verdict`.

    Args:
        text: The judge's answer.
        classes: The classes that there are.

    >>> parse_class('<final_evaluation>{"classification": "done"}</final_evaluation>', ["done", "failed"])
    'done'
    >>> parse_class('{"classification": "well done"}', ["done", "failed"]) is None
    True
    """
    one = _only_object(text, "classification")
    chosen = None if one is None else one.value["classification"]
    return chosen if isinstance(chosen, str) and chosen in classes else None


def _only_object(text: str, key: str) -> FoundObject | None:
    """Return the only object with a key in the only block of an answer, or in an answer that is nothing else."""
    rest = strip_thinking(text, JUDGE_TAG)
    tags = [tag[1] for tag in _JUDGE.finditer(rest)]
    if tags not in ([], [""], ["", "/"]):
        return None
    block = _last_block(rest, _JUDGE)
    try:
        found = [one for one in loose_objects(rest if block is None else block) if key in one.value]
    except ValueError:
        return None
    if len(found) != 1 or found[0].repeats:
        return None
    one = found[0]
    around = rest[: one.start] + rest[one.end :]
    return None if block is None and _FENCE.sub("", around).strip() else one


def _last_judgement(text: str, dimensions: Sequence[str] | None) -> Judgement | None:
    """Read the last object with scores in a text."""
    last: FoundObject | None = None
    for found in loose_objects(text):
        if "scores" in found.value:
            last = found
        elif _SCORES.search(text, max(0, found.start - _NEAR), found.start):
            # The object around it cannot be read, say for quotes within a string.
            last = replace(found, value={"scores": found.value})
    if last is None or last.repeats or _KEY.search(text, last.end):
        return None
    given = _by_name(last.value["scores"], dimensions) or {}
    if any(map(_is_boundless, given.values())):
        return None
    scores = {name: score for name, value in given.items() if (score := _score(value))}
    return _judgement(last.value, scores) if scores else None


def _by_name(given: Any, names: Sequence[str] | None) -> dict[str, Any] | None:
    """Return scores by the names they were asked for; None where one is given twice."""
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
    """Return a score from 1 to 5; None for zero and for a value that is no number."""
    number = _number(value)
    return None if not number else round(min(max(number, 1), 5))


def _is_boundless(value: Any) -> bool:
    """Return whether a score is a number that is not finite, such as 1e400."""
    value = value.get("score") if isinstance(value, Mapping) else value
    try:
        return isinstance(value, float | str) and math.isinf(float(value))
    except ValueError:
        return False


def _exact_score(value: Any) -> int | None:
    """Return a whole number from 1 to 5; None for any other value."""
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
    """Return prose that is given as a text or as a list of texts."""
    if isinstance(value, str):
        return unescape(value).strip()
    if isinstance(value, list):
        return "\n".join(unescape(item).strip() for item in value if isinstance(item, str))
    return ""
