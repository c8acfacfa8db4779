"""What a world model or a judge wrote, read leniently."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.escaping import unescape

NO_OUTPUT = "No output"
"""What a benchmark puts where a completion holds no observation."""

MARKER = "**Environment Observation:**"
OUTPUT_TAG = "predicted_observation"
JUDGE_TAG = "final_evaluation"
DIMENSIONS = ("format", "factuality", "consistency", "realism", "quality")

_THINK = re.compile(r"<(/?)think\s*>", re.IGNORECASE)
_OUTPUT = re.compile(rf"<(/?){OUTPUT_TAG}\s*>", re.IGNORECASE)
_ORPHAN = re.compile(rf"<(?:think|({OUTPUT_TAG}))\s*>", re.IGNORECASE)
_JUDGE = re.compile(rf"<(/?){JUDGE_TAG}\s*>", re.IGNORECASE)
_MARKER = re.compile(r"\s*" + re.escape(MARKER) + r"[ \t]*\r?\n?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*(?:/\s*5\s*)?")


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


def strip_thinking(text: str) -> str:
    """The text without its thinking.

    That is: pairs of tags with what they enclose (nested too), what stands before a closing tag that was never opened,
    and what follows an opening tag that is never closed, up to the next output tag.

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
    return _without(text, _orphans(text)) if opened else text


def _orphans(text: str) -> list[tuple[int, int]]:
    """The spans that opening tags without a closing one make thinking: up to the next output tag, else to the end."""
    spans, start = [], None
    for tag in _ORPHAN.finditer(text):
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
    """The judgement in a judge's answer, or nothing if there is no score in it.

    Scores are whole numbers from 1 to 5; others are rounded and clamped, `"4/5"` counts as 4, and a dimension that is
    zero or not a number is left out. `dimensions` keeps those alone.

    >>> parse_judgement('<final_evaluation>{"scores": {"format": "4/5", "realism": 9, "quality": 0}}').scores
    {'format': 4, 'realism': 5}
    """
    rest = strip_thinking(text)
    block = _last_block(rest, _JUDGE)
    data = _first_object(rest if block is None else block)
    if data is None:
        return None
    given = data.get("scores")
    if not isinstance(given, Mapping):
        given = {name: data[name] for name in dimensions or DIMENSIONS if name in data}
    names = {name.lower(): name for name in dimensions} if dimensions else None
    scores = {}
    for key, value in given.items():
        name = key.strip().lower() if names is None else names.get(key.strip().lower())
        score = _score(value)
        if name and score:
            scores[name] = score
    if not scores:
        return None
    known = ("scores", "strengths", "weaknesses", *DIMENSIONS)
    extra = {key: value for key, value in data.items() if key not in known}
    return Judgement(scores, _prose(data.get("strengths")), _prose(data.get("weaknesses")), extra)


def _first_object(text: str) -> dict[str, Any] | None:
    """The outermost JSON object in a text that may have prose or a fence around it."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    for _ in range(16):
        if start < 0:
            return None
        try:
            value, _end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _score(value: Any) -> int | None:
    """A score from 1 to 5, or nothing for zero and for what is no number."""
    if isinstance(value, Mapping):
        value = value.get("score")
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value == 0 or math.isnan(value):
        return None
    return round(min(max(value, 1), 5))


def _prose(value: Any) -> str:
    """Prose, given as a text or as a list of texts."""
    if isinstance(value, str):
        return unescape(value).strip()
    if isinstance(value, list):
        return "\n".join(unescape(item).strip() for item in value if isinstance(item, str))
    return ""
