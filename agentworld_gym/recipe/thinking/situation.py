"""One recorded turn as the writer of its reasoning trace sees it: what is known, what comes of it, how to quote both,
and the explanation that an explainer of a domain returns.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.core.actions.function_calls import read_call_text
from agentworld_gym.core.engines import Scalar
from agentworld_gym.llm.rows.row import ContentSpan, Row, StateChange
from agentworld_gym.recipe.rl.verifiers.truth import screen_before

LONGEST = 60
"""The most characters of a quotation; a longer one is cut at the end of a word."""

MOST_WORDS = 12
"""The most words of a quotation."""

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORD = re.compile(r"\S+")
_CALL = re.compile(r"\s*(\w+)\s*\(")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Situation:
    """A turn: what is known before it, what the agent does, and what comes of it."""

    domain: str
    """The domain."""

    action: str
    """The action."""

    observation: str
    """The observation."""

    before: str = ""
    """The screen or the last observation before the action."""

    prompt: str = ""
    """The whole prompt of a model."""

    state: Mapping[str, Scalar] = field(default_factory=dict)
    """The flat state before the action."""

    changes: Sequence[StateChange] = ()
    """The changes of the state."""

    spans: Sequence[ContentSpan] = ()
    """The kinds of the observation's content by place."""

    disturbed: bool = False
    """Whether controls are in force."""

    @classmethod
    def of(cls, row: Row, prompt: str | None = None) -> Situation:
        """Return the situation of the last turn of a row.

        Args:
            row: The row.
            prompt: The prompt of a model; None takes the messages of the row.
        """
        prompt_text = "\n".join(message["content"] for message in row.request()) if prompt is None else prompt
        return cls(
            row.domain,
            row.actions[-1],
            row.observations[-1],
            screen_before(row),
            unescape(prompt_text),
            row.state_after(row.turn_idx - 1),
            row.changes[-1] if row.changes else (),
            row.spans[-1] if row.spans else (),
            bool(row.controls),
        )

    def cite(self, value: Scalar, longest: int = LONGEST) -> str:
        """Return a value in quotes if the prompt or the action holds it, else an empty text."""
        text = self._part(cut(plain(value), longest))
        return quoted(text) if text and (stands(text, self.prompt) or stands(text, self.action)) else ""

    def show(self, text: str, longest: int = LONGEST) -> str:
        """Return a piece of the observation in quotes; where it is the whole observation, only its first words."""
        piece = self._part(cut(text, longest))
        return quoted(piece) if piece and stands(piece, self.observation) else ""

    def either(self, value: Scalar) -> str:
        """Return a value in quotes, from what is known or from what comes of it; else an empty text."""
        return self.cite(value) or self.show(plain(value))

    def count(self, number: int, thing: str, things: str | None = None) -> str:
        """Return a number with its noun: in words, or in digits where what is known or what comes of it has that
        number.
        """
        text = str(number)
        if number < len(_WORDS) or not (stands(text, self.prompt) or stands(text, self.observation)):
            return amount(number, thing, things)
        return f"{text} {things or thing + 's'}"

    def _part(self, text: str) -> str:
        """Return the text itself, or its first words if it is the whole observation."""
        if text and text == self.observation.strip():
            words = text.split(" ")
            return " ".join(words[: len(words) // 2])
        return text

    def numbers(self) -> list[float]:
        """Return the numbers in the action."""
        return [float(found) for found in _NUMBER.findall(self.action) if found.count(".") < 2 and len(found) < 16]


def plain(value: Scalar) -> str:
    """Return a value as the observations write it.

    >>> plain(True), plain(None), plain("a"), plain(3)
    ('true', 'null', 'a', '3')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cut(text: str, longest: int = LONGEST) -> str:
    r"""Return the first line that is not blank, up to a limit of characters and words, ending with a whole word.

    >>> cut("\n one two three", 8), cut("12345678 1", 4)
    ('one two', '')
    """
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    ends = [found.end() for found in islice(_WORD.finditer(line), MOST_WORDS)]
    line = line[: ends[-1]] if ends else line
    if len(line) <= longest:
        return line
    end = longest
    while end and line[end - 1].isalnum() and line[end].isalnum():
        end -= 1
    return line[:end].strip()


def stands(text: str, source: str) -> bool:
    """Whether a text stands in another one as a whole, not as a part of a longer word or number.

    >>> stands("12", "a 12 b"), stands("12", "a 123 b"), stands("12", "3.12")
    (True, False, False)
    """
    start = source.find(text)
    while start >= 0:
        end = start + len(text)
        before, after = source[start - 1 : start], source[end : end + 1]
        inside = (text[0].isalnum() and before.isalnum()) or (text[-1].isalnum() and after.isalnum())
        decimal = text[0].isdigit() and before == "." and source[start - 2 : start - 1].isdigit()
        decimal |= text[-1].isdigit() and after == "." and source[end + 1 : end + 2].isdigit()
        if not inside and not decimal:
            return True
        start = source.find(text, start + 1)
    return False


def quoted(text: str) -> str:
    """Return a text in backticks, in more of them than it holds in a row.

    >>> quoted("ls"), quoted("echo `date` now")
    ('`ls`', '``echo `date` now``')
    """
    mark = "`" * max([1, *(len(run) + 1 for run in re.findall("`+", text))])
    blank = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{mark}{blank}{text}{blank}{mark}"


def several(items: Sequence[str], most: int = 3) -> str:
    """Join quotations; those beyond a number are left out, which the text says.

    >>> several(["`a`", "`b`"]), several(["`a`", "", "`b`", "`c`", "`d`"], 2)
    ('`a` and `b`', '`a`, `b` and others')
    """
    quotes = list(dict.fromkeys(item for item in items if item))
    if len(quotes) > most:
        return ", ".join(quotes[:most]) + " and others"
    return " and ".join(filter(None, (", ".join(quotes[:-1]), *quotes[-1:])))


def amount(number: int, thing: str, things: str | None = None) -> str:
    """Return a number of things in words, without digits.

    >>> amount(1, "line"), amount(3, "line"), amount(40, "line"), amount(0, "entry", "entries")
    ('one line', 'three lines', 'many lines', 'no entries')
    """
    word = _WORDS[number] if number < len(_WORDS) else "many"
    return f"{word} {thing if number == 1 else things or thing + 's'}"


def read_call(action: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of a tool call, in JSON or as `name(...)`; both are empty where it is no call.

    >>> read_call('{"name": "edit", "arguments": "{\\\\"path\\\\": 1}"}'), read_call("click('12')")
    (('edit', {'path': 1}), ('click', {'0': '12'}))
    """
    try:
        data = json.loads(action)
    except ValueError:
        call = read_call_text(action)
        return _parse_action(action) if call is None else (call[0], {key: json.loads(call[1][key]) for key in call[1]})
    if not isinstance(data, dict):
        return "", {}
    arguments = data.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {}
    return str(data.get("name", "")), arguments if isinstance(arguments, dict) else {}


def _parse_action(action: str) -> tuple[str, dict[str, Any]]:
    call_match = _CALL.match(action)
    if call_match is None:
        return "", {}
    try:
        call = ast.parse(action.strip(), mode="eval").body
        assert isinstance(call, ast.Call)
        values: dict[str, Any] = {str(place): ast.literal_eval(value) for place, value in enumerate(call.args)}
        values |= {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        return call_match[1], {}
    return call_match[1], values


@dataclass(frozen=True, slots=True)
class Explanation:
    """What leads from an action to what it shows, in clauses without a full stop."""

    asks: str
    """What the agent does."""

    reads: list[str] = field(default_factory=list)
    """What of the state decides the outcome."""

    changes: list[str] = field(default_factory=list)
    """What the action changes in the state."""

    shows: str = ""
    """What the observation is made of."""
