"""What an answer in words says: the answer itself, out of its dress and out of a sentence that repeats the question.

People and language models write `**Tin Goose**`, `{"answer": "Tin Goose"}` or "The ship that sank is the Tin Goose."
All of them name one thing. A text that names two things, or that takes something back, names none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from agentworld_gym.base.documents.plain_json import read_unique
from agentworld_gym.core.domain.answer_scoring import is_hedge, plain_text

LONGEST = 600
"""Characters of a text beyond which it is read as it stands alone."""

_MOST_WORDS = 60
_MOST_CUTS = 8
"""How many words that repeat the question may belong to the answer, on each side of what is new."""

_WORD = re.compile(r"\S+")
_DRESS = (
    re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL),
    re.compile(r"<(answer|final_answer)>(.*?)</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(r"\$*\\boxed\{(?:\\text\{)?([^{}]*)\}?\}\$*"),
    re.compile(r"\$([^$]+)\$"),
)
_EMPHASIS = re.compile(r"\*\*|__|`")
_HALF_OF_DAY = re.compile(r"\b([ap])\. ?m\b\.?", re.IGNORECASE)
_STOPS = ".,;:! "
_EDGES = "\"'*_.,;:!?()[]{}<>"
_JOINED = re.compile(r"'(?:s|re)$")

_COPULAS = frozenset(_WORD.findall("is was are were be equals = : comes amounts"))
_ARTICLES = frozenset(_WORD.findall("the a an"))
_SHORTENED = frozenset(_WORD.findall("it's that's this's he's she's they're these're"))
_PRONOUNS = frozenset(_WORD.findall("it this that they these those he she"))
_GENERIC = frozenset(_WORD.findall("answer result name value number total sum"))
_FUNCTION = (
    _COPULAS
    | _ARTICLES
    | _PRONOUNS
    | frozenset(
        _WORD.findall(
            "of in on at by to from for with and as its their them his her i my me we our you your been "
            "being has have had do does did will would so then there here which who whom whose what where when "
            "also all both only exactly than final correct right after now still"
        )
    )
)
_MARKS = re.compile(r"[;|/\n]")
_SUFFIX = re.compile(r"(?:ing|ed|es|s)$")


def readings(answer: str, question: str = "") -> tuple[str, ...]:
    """Return what an answer may say, first the text as it stands.

    A part of the answer is left out where it repeats words of the question, as people do who answer in a sentence. What
    is left out may hold neither a choice nor a denial, and has to describe: "The captain is Bo" and "Bo is the captain"
    say Bo, while "Ada or Bo" and "Ada is Bo" are read as they stand.

    Args:
        answer: What the agent wrote.
        question: The instruction that asks for it.

    >>> question = "Who is the captain of the Tin Goose?"
    >>> [
    ...     "Bo" in readings(answer, question)
    ...     for answer in ("The captain is **Bo**.", "Bo is the captain.", "Ada or Bo", "Ada is Bo", "Not Ada but Bo")
    ... ]
    [True, True, False, False, False]
    """
    return (answer,) if len(answer) > LONGEST else _readings(answer, question)


@lru_cache(maxsize=64)
def _readings(answer: str, question: str) -> tuple[str, ...]:
    """Return the readings of a text that is not too long; it is compared with one right answer after the other."""
    bare = _undressed(plain_text(answer).strip())
    cores = (core.rstrip(_STOPS) for core in (bare, *_cores(bare, _words_of(question))))
    return tuple(dict.fromkeys((answer, bare, *cores)))


@dataclass(frozen=True, slots=True)
class _Question:
    """The words of a question by their stems: all of them, and those that describe, as names do not."""

    stems: frozenset[str]
    describing: frozenset[str]

    def repeats(self, word: str) -> bool:
        """Whether a word stands in the question, or says nothing of its own."""
        return word in _FUNCTION or word in _GENERIC or _stem(word) in self.stems

    def describes(self, word: str) -> bool:
        """Whether a word of the question is one that describes what is asked for."""
        return word in _GENERIC or (word not in _FUNCTION and _stem(word) in self.describing)


@lru_cache(maxsize=256)
def _words_of(question: str) -> _Question:
    tokens = (_JOINED.sub("", token.strip(_EDGES)) for token in _WORD.findall(plain_text(question)))
    words = [word for token in tokens if (word := token.strip(_EDGES))]
    small = {_stem(word) for word in words if word.islower() and word.isalpha() and word not in _FUNCTION}
    return _Question(frozenset(_stem(word.casefold()) for word in words), frozenset(small))


def _stem(word: str) -> str:
    word = _JOINED.sub("", word)
    return _SUFFIX.sub("", word) if len(word) > 4 else word


def _undressed(text: str) -> str:
    """Return a text without the fence, tag, box, emphasis or JSON around it."""
    for pattern in _DRESS:
        if match := pattern.fullmatch(text):
            text = match[match.lastindex or 0].strip()
    if text.startswith("{"):
        try:
            value = read_unique(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and len(value) == 1:
            (inner,) = value.values()
            text = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
    return _HALF_OF_DAY.sub(r"\1m", _EMPHASIS.sub("", re.sub(r":\s*\n\s*", ": ", text))).strip()


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of an answer, where it stands, and what it is without marks."""

    start: int
    end: int
    text: str
    word: str

    @property
    def links(self) -> bool:
        """Whether the word joins what is described with what it is."""
        return self.word in _COPULAS or self.text in ("=", ":") or self.text.endswith(":") or self.word in _SHORTENED


def _cores(text: str, question: _Question) -> Iterator[str]:
    """Yield what a sentence says, where the rest of it describes what was asked for."""
    tokens = _tokens(text)
    if not 1 < len(tokens) <= _MOST_WORDS or text[0] in "{[":  # JSON is no sentence.
        return
    # What is new in the description beside a link is no answer, so both are not tried on one text.
    for part in list(_linked(text, tokens, question)) or [text]:
        yield part
        yield from _new(part, _tokens(part), question)


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(match.start(), match.end(), match[0], match[0].strip(_EDGES).casefold())
        for match in _WORD.finditer(text)
    ]


def _linked(text: str, tokens: Sequence[_Token], question: _Question) -> Iterator[str]:
    """Yield what a description is said to be, or what is said to be as described."""
    links = [place for place, token in enumerate(tokens) if token.links]
    if not links:
        return
    if _opens(tokens, question):
        for place in links:
            if place + 1 < len(tokens) and _plainly(text, tokens[: place + 1], end=False):
                yield text[tokens[place + 1].start :]
        return
    place, behind = links[0], tokens[links[0] + 1 :]
    described = _opens(behind, question) and all(question.repeats(token.word) for token in _until_name(behind))
    if place and described and _plainly(text, tokens[place:], end=True):
        yield text[: tokens[place].start]


def _until_name(tokens: Sequence[_Token]) -> Sequence[_Token]:
    """Return the words up to the first one that begins with a capital."""
    place = next((place for place, token in enumerate(tokens) if token.text.lstrip("\"'(")[:1].isupper()), len(tokens))
    return tokens[:place]


def _new(text: str, tokens: Sequence[_Token], question: _Question) -> Iterator[str]:
    """Yield what is new in a sentence, with as many words beside it as may belong to it."""
    new = [place for place, token in enumerate(tokens) if token.word and not question.repeats(token.word)]
    if not new:
        return
    first, last = new[0], new[-1]
    starts = range(first, max(-1, first - _MOST_CUTS), -1)
    ends = range(last + 1, min(len(tokens), last + _MOST_CUTS) + 1)
    starts_plainly = [place for place in starts if _plainly(text, tokens[:place], end=False)]
    ends_plainly = [place for place in ends if _plainly(text, tokens[place:], end=True)]
    for start, end in product(starts_plainly, ends_plainly):
        if _adds_nothing((*tokens[:start], *tokens[end:]), question):
            yield text[tokens[start].start : tokens[end - 1].end]


def _adds_nothing(tokens: Sequence[_Token], question: _Question) -> bool:
    """Whether words of the question describe; words that are names alone might be an answer too."""
    words = [token.word for token in tokens if token.word]
    return bool(words) and (all(word in _FUNCTION for word in words) or any(map(question.describes, words)))


def _opens(tokens: Sequence[_Token], question: _Question) -> bool:
    """Whether some words begin with a description, behind an article."""
    word = next((token.word for token in tokens if token.word and token.word not in _ARTICLES | {"so", "thus"}), "")
    word = _JOINED.sub("", word)
    return word in _PRONOUNS or question.describes(word)


def _plainly(text: str, tokens: Sequence[_Token], end: bool) -> bool:
    """Whether words that are left out hold no choice, no denial and no end of a sentence but that of the text."""
    if not tokens:
        return True
    if _MARKS.search(text, tokens[0].start, tokens[-1].end) or any(
        is_hedge(token.word) or token.text == "may" for token in tokens
    ):
        return False
    if end and any(token.text.endswith(":") for token in tokens):
        return False
    inner = tokens[:-1] if end else tokens
    return not any(token.text[-1] in ".!?" and len(token.text) > 4 for token in inner)
