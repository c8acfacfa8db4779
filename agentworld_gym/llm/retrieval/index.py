"""An index over recorded steps: a folder of memory-mapped arrays, ranked by BM25.

meta.json            format, digest, how many sessions and steps, the domains
sessions.jsonl       one recorded session a line
sessions.npy         where each line starts; keys.npy: 64-bit hashes of where each session comes from
DOMAIN/steps.npy     session and turn of each step
DOMAIN/{action,state}/   vocabulary.txt, and a BM25 score for each word and step (compressed columns)
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.screens.sight import last_screen
from agentworld_gym.llm.retrieval.steps import Features, RecordedStep

FORMAT = 1
META, SESSIONS, OFFSETS, KEYS, STEPS = "meta.json", "sessions.jsonl", "sessions.npy", "keys.npy", "steps.npy"
ACTION, STATE = "action", "state"
VOCABULARY, SCORES = "vocabulary.txt", ("data.npy", "indices.npy", "indptr.npy")
STATE_SHARE = 0.3
"""How much the words of the state count: they only break ties between actions."""

HEAD = 3
"""How many of the first words of an action count twice, because they say what it does."""

RAREST = 3.0
"""The highest inverse document frequency (as Lucene defines it), which is that of a word in 5 % of the steps.

Rarer words are names and values, which are those of another episode anyway."""

_AT_ONCE = 64
"""How many steps are ranked at first; more are ranked if these do not suffice."""

_LOOKED_AT = 8
"""How many steps are looked at, for each one that is wanted, to find one that is not like another."""


class StepIndex:
    """Finds recorded steps on disk that resemble an action in a state.

    Only the vocabularies are read into memory. Equal questions get equal answers: of steps with equal scores the one
    that was recorded first comes first. `digest` depends on the recorded content. `dialects` names the dialect of each
    domain; an index of an earlier version is in the first ones and has none.

    Args:
        folder: The folder that `build_index` wrote.

    Raises:
        SpecError: There is no index in the folder, or one of another format.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / META
        try:
            meta = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            raise SpecError(path, "file", None, "an index that `agentworld index` wrote") from None
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise SpecError(path, "format", meta, f"format {FORMAT}; write the index again")
        self.digest = str(meta["digest"])
        self.sessions, self.steps = int(meta["sessions"]), int(meta["steps"])
        self.domains: tuple[str, ...] = tuple(meta["domains"])
        self.dialects: dict[str, str] = meta.get("dialects", {})
        self._domains: dict[str, _Domain] = {}
        self._keys: NDArray[np.uint64] = np.load(self.folder / KEYS, mmap_mode="r")
        self._offsets: NDArray[np.int64] = np.load(self.folder / OFFSETS, mmap_mode="r")

    def __len__(self) -> int:
        return self.steps

    def search(
        self, domain: str, action: str, state: str, k: int = 3, exclude: Iterable[str] = ()
    ) -> list[RecordedStep]:
        """Find the recorded steps of a domain that resemble an action most, the best first, no two of them alike.

        Args:
            domain: The id of the domain.
            action: The action as the agent wrote it.
            state: The screen before the action, or the last observation.
            k: How many steps are returned at most.
            exclude: Origins, as `origin_of_row` and `origin_of_task` give them; sessions that share one are left out.
        """
        if domain not in self.domains or k < 1:
            return []
        part = self._domain(domain)
        scores = part.scores(action, state)
        barred = {key_of(origin) for origin in exclude}
        recorded: list[RecordedStep] = []
        seen: set[tuple[str, str]] = set()
        for number in islice(self._ranked(part, scores, barred), k * _LOOKED_AT):
            step = self._step(part, number)
            if (step.action, step.observation) not in seen:
                seen.add((step.action, step.observation))
                recorded.append(step)
                if len(recorded) == k:
                    break
        return recorded

    def _ranked(self, part: _Domain, scores: NDArray[np.float32], barred: set[int]) -> Iterator[int]:
        """Return the numbers of steps, the best first, without those of barred sessions."""
        given, count = 0, _AT_ONCE
        while given < count:
            best = _best(scores, count)
            for number in best[given:]:
                if not barred.intersection(self._keys[part.steps[number, 0]].tolist()):
                    yield int(number)
            given, count = len(best), 4 * count if len(best) == count else 0

    def _domain(self, name: str) -> _Domain:
        if name not in self._domains:
            self._domains[name] = _Domain(name, self.folder / name)
        return self._domains[name]

    @cached_property
    def _text(self) -> mmap.mmap:
        with (self.folder / SESSIONS).open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _step(self, part: _Domain, number: int) -> RecordedStep:
        session, turn = (int(value) for value in part.steps[number])
        data = orjson.loads(self._text[int(self._offsets[session]) : int(self._offsets[session + 1])])
        before = last_screen(part.name, [data["first"], *data["observations"][: turn - 1]])
        action = data["actions"][turn - 1]
        target = part.features.target(action, before)
        return RecordedStep(part.name, data["id"], turn, action, before, data["observations"][turn - 1], target)


class _Domain:
    """The steps of one domain."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.features = Features(name)
        self.steps: NDArray[np.int32] = np.load(folder / STEPS, mmap_mode="r")
        self._fields = [_Field(folder / ACTION), _Field(folder / STATE)]

    def scores(self, action: str, state: str) -> NDArray[np.float32]:
        """Score how much each step resembles an action in a state; 0 where they share no word of the action."""
        asked, there = self.features.words(action, state)
        found = self._fields[0].scores(asked, len(self.steps)) + self._fields[0].scores(asked[:HEAD], len(self.steps))
        return np.where(found > 0, found + STATE_SHARE * self._fields[1].scores(there, len(self.steps)), found)


class _Field:
    """The words of one kind, with the score of each step that holds them."""

    def __init__(self, folder: Path) -> None:
        words = (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1]
        self._numbers = {word: number for number, word in enumerate(words)}
        data, indices, indptr = (np.load(folder / name, mmap_mode="r") for name in SCORES)
        self._columns: dict[str, Any] = {"data": data, "indices": indices, "indptr": indptr}

    def scores(self, words: Iterable[str], steps: int) -> NDArray[np.float32]:
        """Return the BM25 score of every step for some words. A word counts once, and very rare words are capped."""
        numbers = [self._numbers[word] for word in dict.fromkeys(words) if word in self._numbers]
        found = np.zeros(steps, dtype=np.float32)
        data, indices, indptr = (self._columns[name] for name in ("data", "indices", "indptr"))
        for number in numbers:
            span = slice(int(indptr[number]), int(indptr[number + 1]))
            count = span.stop - span.start
            rarity = math.log(1 + (steps - count + 0.5) / (count + 0.5))
            found[indices[span]] += data[span] * min(1.0, RAREST / rarity)
        return found


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the numbers of the highest scores above 0, the best first; of equal scores the lower number comes
    first."""
    places = np.flatnonzero(scores > 0)
    if len(places) > count:
        least = np.partition(scores[places], len(places) - count)[len(places) - count]
        places = places[scores[places] >= least]
    return places[np.argsort(-scores[places], kind="stable")][:count]


def key_of(origin: str) -> int:
    """Return 64 bits that stand for an origin of a session."""
    return int.from_bytes(blake2b(origin.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big")
