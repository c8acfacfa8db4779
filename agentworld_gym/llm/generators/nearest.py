"""A table in place of a model: it answers as the recorded turn whose words are most alike was answered.

It learns nothing, and what it knows is what it was given. It is asked like a model and its answers are read like a
model's, so that what it gets right is what the form of the answers, the names and the view do by themselves.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure

TRIED = 32
"""The most different answers that are tried where the first cannot be read."""

MOST = 512
"""The most turns whose answers are looked at for these."""

_IDENTICAL = 2.0
"""How alike the same message is: more than another one of the same words, which has an index of 1."""

_WORD = re.compile(r"\w+|[^\w\s]")


class NearestGenerator:
    """Answers each request as the recorded request was answered whose last message shares most words with its own.

    Alike is what has a high Jaccard index: the words that two messages share, over the words of both. The same message,
    to the letter, is more alike than one of the same words; of equally alike ones the first that was recorded answers.
    Where a request tells what can be read, as it tells a model's decoding, the most alike answer that can be read is
    given.

    >>> from agentworld_gym.core.domain.sampling import Sampling
    >>> table = NearestGenerator([("cat a.txt", "apple"), ("ls -a", "a.txt b.txt")])
    >>> [(_, answer)] = table.submit([ChatRequest([{"role": "user", "content": "cat b.txt"}], Sampling())])
    >>> answer.text, len(table)
    ('apple', 2)

    Args:
        answers: The last message of each recorded request, and its answer.
        name: The name of the table, for errors.

    Raises:
        SpecError: There are no answers.
    """

    supports_seed = False
    supports_schema = False
    deterministic = True
    constrains = True

    def __init__(self, answers: Iterable[tuple[str, str]], name: str | Path = "nearest") -> None:
        self._numbers: dict[str, int] = {}
        self._answers: list[str] = []
        self._same: dict[bytes, int] = {}
        sizes, content = array("i"), blake2b(digest_size=8)
        places: list[array[int]] = []
        for turn, (asked, answer) in enumerate(answers):
            self._answers.append(answer)
            content.update(orjson.dumps([_plain(asked), _plain(answer)]))
            self._same.setdefault(_digest(asked), turn)
            words = _words(asked)
            sizes.append(len(words))
            for word in words:
                number = self._numbers.setdefault(word, len(places))
                if number == len(places):
                    places.append(array("i"))
                places[number].append(turn)
        if not self._answers:
            raise SpecError(name, "samples", 0, "answers of recorded turns, as `agentworld samples` writes them")
        self._turns = [np.frombuffer(held, dtype=np.int32) for held in places]
        self._sizes = np.frombuffer(sizes, dtype=np.int32)
        self._digest, self._closed = content.hexdigest(), False

    def __len__(self) -> int:
        return len(self._answers)

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Answer each request in order."""
        if self._closed:
            raise ClosedError("this NearestGenerator is closed")
        return ((index, Completion(self._answer(request))) for index, request in enumerate(requests))

    def _answer(self, request: ChatRequest) -> str:
        alike = self._alike(request.messages[-1]["content"])
        best = self._answers[int(alike.argmax())]
        if request.allows is None or request.allows(best, True):
            return best
        ranked = (self._answers[place] for place in np.argsort(-alike, kind="stable"))
        others = islice(dict.fromkeys(islice(ranked, MOST)), 1, TRIED)
        return next((answer for answer in others if request.allows(answer, True)), best)

    def _alike(self, asked: str) -> NDArray[np.float64]:
        words = _words(asked)
        shared = np.zeros(len(self._answers), dtype=np.int32)
        for word in words:
            if (number := self._numbers.get(word)) is not None:
                shared[self._turns[number]] += 1
        index: NDArray[np.float64] = shared / np.maximum(self._sizes + len(words) - shared, 1)
        if (same := self._same.get(_digest(asked))) is not None:
            index[same] = _IDENTICAL
        return index

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the digest of all that the table holds."""
        return {"generator": ("nearest", True), "model": (self._digest, True)}

    def close(self) -> None:
        """Refuse further requests."""
        self._closed = True


def open_nearest(path: str) -> NearestGenerator:
    """Open a table of the samples that `agentworld samples` made of recorded sessions.

    Raises:
        SpecError: There is no such file, a line is no sample, or no sample has an answer.
    """
    return NearestGenerator(_answers_of_file(Path(path)), path)


def answers_of(messages: Sequence[Mapping[str, Any]], weights: Sequence[float]) -> Iterator[tuple[str, str]]:
    """Yield what was asked and answered in the turns of a sample; a turn of weight 0 is context only.

    >>> chat = [{"role": role, "content": text} for role, text in (("user", "ls"), ("assistant", "a.txt"))]
    >>> list(answers_of(chat, [1.0])), list(answers_of(chat, [0.0]))
    ([('ls', 'a.txt')], [])
    """
    told = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    for place, weight in zip(told, weights, strict=True):
        if weight and place:
            yield messages[place - 1]["content"], messages[place]["content"]


def _answers_of_file(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    sample = orjson.loads(line)
                    yield from answers_of(sample["messages"], sample["weights"])
                except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                    expected = "a sample, as `agentworld samples` writes it"
                    raise SpecError(path, f"line {number}", line[:80].decode("utf-8", "replace"), expected) from error
    except OSError as error:
        raise SpecError(path, "file", path.name, f"samples that `agentworld samples` wrote ({error})") from error


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _digest(text: str) -> bytes:
    return blake2b(_plain(text).encode(), digest_size=16).digest()


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
