"""Texts as vectors of hashed features, for agents that choose from a menu.

Words are hashed with CRC-32, so that an encoding is the same in every process. What generalises to names that were
never seen is not a word itself but where it stands: "the word after `to` in the instruction", "the word after `copy` in
a line that `cat` printed". Every menu entry is described by the places of its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError

ATOM = re.compile(r"\$?\w+(?:[.\-]\w+)*|--?\w+|[|<>&;]+")
NUMBERS = 16
# Overlaps mean the same in every task and hashed words do not, so overlaps are louder and are learned first.
LOUD, QUIET = 4.0, 0.1
Vector = NDArray[np.float32]


def atoms(text: str) -> list[str]:
    """Return the words, flags and operators of a text, in order.

    >>> atoms("sort -u a.txt > out/b.txt")
    ['sort', '-u', 'a.txt', '>', 'out', 'b.txt']
    """
    return ATOM.findall(text)


@dataclass(slots=True)
class Memory:
    """What the encoder keeps of one episode."""

    instruction: dict[str, int]
    words: list[str]
    menu: list[list[str]]
    sets: list[frozenset[str]]
    arguments: list[frozenset[str]]
    slots: list[list[tuple[str, str]]]
    context: Vector
    entries: Vector
    verbs: list[int]
    executed: list[int]
    offered: tuple[bool, ...] = ()
    last: int = -1
    steps: int = 0
    seen: set[str] = field(default_factory=set)
    latest: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    noted: set[tuple[int, str]] = field(default_factory=set)


@dataclass(frozen=True)
class TextEncoder:
    """Hashed features of an instruction, the observations so far, the actions so far and every menu entry.

    A vector is `context_size` numbers about the episode, then `entry_size` numbers for each of `max_menu` entries
    (zeros where the menu is shorter). The first number of an entry is 1 where the entry is on offer: it exists, and
    `Memory.offered`, where that is given, does not rule it out. A `blind` encoder gives only zeros, which is what an
    agent that sees nothing gets.

    >>> encoder = TextEncoder(max_menu=4)
    >>> memory = encoder.begin("Copy a.txt to b.txt", ["cp a.txt b.txt", "ls", "finish"])
    >>> before = encoder.encode(memory)
    >>> encoder.update(memory, 1, "a.txt")
    >>> before.shape == (encoder.size,), bool((before != encoder.encode(memory)).any())
    (True, True)
    """

    max_menu: int = 16
    word_buckets: int = 32
    role_buckets: int = 64
    max_chars: int = 2000
    blind: bool = False

    @property
    def context_size(self) -> int:
        """The count of numbers about the episode: instruction (twice as many buckets), last output, last and all
        actions.
        """
        return 5 * self.word_buckets + NUMBERS

    @property
    def entry_size(self) -> int:
        """The count of numbers about one menu entry."""
        return NUMBERS + self.word_buckets + 2 * self.role_buckets

    @property
    def size(self) -> int:
        """The length of a whole vector."""
        return self.context_size + self.max_menu * self.entry_size

    def begin(self, instruction: str, menu: Sequence[str], observation: str = "") -> Memory:
        """Return the memory of an episode that starts.

        Raises:
            SpecError: The menu is empty or longer than `max_menu`.
        """
        if not 1 <= len(menu) <= self.max_menu:
            raise SpecError("task", "menu", len(menu), f"between 1 and {self.max_menu} entries (TextEncoder.max_menu)")
        words = atoms(instruction)
        actions = [_words_of(entry) for entry in menu]
        verbs = [action[0] for action in actions]
        memory = Memory(
            instruction={word: place for place, word in reversed(list(enumerate(words)))},
            words=words,
            menu=actions,
            sets=[frozenset(action) for action in actions],
            arguments=[_arguments(action) for action in actions],
            slots=[_slots(action) for action in actions],
            context=np.zeros(self.context_size, np.float32),
            entries=np.zeros((self.max_menu, self.entry_size), np.float32),
            verbs=[verbs.count(verb) for verb in verbs],
            executed=[0] * len(menu),
        )
        if not self.blind:
            self._describe(memory)
            self._read(memory, observation, producer=None)
        return memory

    def place(self, memory: Memory, place: int, entry: str) -> None:
        """Put an entry at a place of the menu, instead of what stood there, or behind all others.

        >>> encoder = TextEncoder(max_menu=4)
        >>> memory = encoder.begin("Copy a.txt", ["ls"])
        >>> encoder.place(memory, 1, "cp a.txt b.txt")
        >>> memory.menu
        [['ls'], ['cp', 'a.txt', 'b.txt']]
        """
        action = _words_of(entry)
        memory.menu[place : place + 1] = [action]
        memory.sets[place : place + 1] = [frozenset(action)]
        memory.arguments[place : place + 1] = [_arguments(action)]
        memory.slots[place : place + 1] = [_slots(action)]
        memory.executed[place : place + 1] = [0]
        if memory.last == place:
            memory.last = -1
        memory.noted = {note for note in memory.noted if note[0] != place}
        verbs = [one[0] for one in memory.menu]
        memory.verbs = [verbs.count(verb) for verb in verbs]
        memory.entries[place] = 0.0
        if not self.blind:
            self._describe_entry(memory, place)

    def update(self, memory: Memory, choice: int, output: str) -> None:
        """Take in that an entry was chosen and what it printed."""
        if self.blind:
            return
        memory.executed[choice] += 1
        memory.last = choice
        memory.steps += 1
        memory.used |= memory.sets[choice]
        shape = memory.entries[choice, NUMBERS : NUMBERS + self.word_buckets]
        size = self.word_buckets
        memory.context[3 * size : 4 * size] = shape
        memory.context[4 * size : 5 * size] += 0.5 * shape
        self._read(memory, output, producer=choice)

    def encode(self, memory: Memory, out: Vector | None = None) -> Vector:
        """Return the vector of the current moment, written to `out` if that is given."""
        vector = np.zeros(self.size, np.float32) if out is None else out
        if self.blind:
            vector[:] = 0.0
            return vector
        count = len(memory.menu)
        memory.entries[:count, :NUMBERS] = self._numbers(memory)
        if memory.offered:
            memory.entries[:count, 0] = memory.offered
        memory.entries[:count, 1:NUMBERS] *= LOUD
        memory.context[-1] = min(memory.steps, 30) / 10
        memory.context[-2] = float(bool(memory.latest))
        vector[: self.context_size] = memory.context
        vector[self.context_size :] = memory.entries.ravel()
        return vector

    def _describe(self, memory: Memory) -> None:
        """Compute what holds for a whole episode: the instruction, the entries, and where their words stand in it."""
        lowered = [word.lower() for word in memory.words]
        pairs = (f"{a} {b}" for a, b in pairwise(lowered))
        _add(memory.context[: 2 * self.word_buckets], [*lowered, *pairs])
        for number in range(len(memory.menu)):
            self._describe_entry(memory, number)

    def _describe_entry(self, memory: Memory, number: int) -> None:
        """Compute what holds for an entry as long as it has its place."""
        roles, row = NUMBERS + self.word_buckets, memory.entries[number]
        _add(row[NUMBERS:roles], memory.menu[number])
        features = []
        for word, slot in memory.slots[number]:
            place = memory.instruction.get(word)
            if place is None:
                features.append(f"{slot} absent")
                continue
            before = memory.words[place - 1].lower() if place else "^"
            after = memory.words[place + 1].lower() if place + 1 < len(memory.words) else "$"
            features += [f"{slot} after {before}", f"{slot} before {after}"]
        _add(row[roles : roles + self.role_buckets], features)

    def _read(self, memory: Memory, output: str, producer: int | None) -> None:
        """Note where the words of the menu stand in an output, and which action printed it."""
        size, roles = self.word_buckets, NUMBERS + self.word_buckets + self.role_buckets
        if len(output) > self.max_chars:
            output = output[: self.max_chars // 2] + "\n" + output[-self.max_chars // 2 :]
        lines = [line for line in map(atoms, output.split("\n")) if line]
        memory.latest = {word for line in lines for word in line}
        memory.seen |= memory.latest
        bag = memory.context[2 * size : 3 * size]
        bag[:] = 0.0
        _add(bag, sorted(memory.latest))
        if not memory.latest:
            return
        origin = self._origin(memory, producer)
        places: dict[str, list[str]] = {}
        for number, line in enumerate(lines):
            where = f"line {min(number, 3)}", "last line" if number + 1 == len(lines) else "more lines"
            for index, word in enumerate(line):
                before = line[index - 1] if index else "^"
                after = line[index + 1] if index + 1 < len(line) else "$"
                places.setdefault(word, []).extend((f"after {before}", f"before {after}", *where, *origin))
        for entry, slots in enumerate(memory.slots):
            features = []
            for word, slot in slots:
                for place in places.get(word, ()):
                    note = f"{slot} {place}"
                    if (entry, note) not in memory.noted:
                        memory.noted.add((entry, note))
                        features.append(note)
            _add(memory.entries[entry, roles:], features)

    @staticmethod
    def _origin(memory: Memory, producer: int | None) -> list[str]:
        """Return who printed an output: its verb, and where its arguments stand in the instruction."""
        if producer is None:
            return ["shown at the start"]
        origin = [f"by {memory.menu[producer][0]}"]
        for word in memory.menu[producer][1:]:
            place = memory.instruction.get(word)
            if place:
                origin.append(f"by what stands after {memory.words[place - 1].lower()}")
        return origin

    @staticmethod
    def _numbers(memory: Memory) -> list[list[float]]:
        """Compute how the words of each entry overlap with everything else."""
        instruction = memory.instruction.keys()
        known = instruction | memory.seen
        previous = memory.sets[memory.last] if memory.last >= 0 else frozenset()
        unknown = [len(arguments - known) for arguments in memory.arguments]
        untold = [len(arguments - instruction) for arguments in memory.arguments]
        fewest: dict[str, tuple[int, int]] = {}
        for action, *counts in zip(memory.menu, unknown, untold, strict=True):
            best = fewest.get(action[0], (99, 99))
            fewest[action[0]] = min(best[0], counts[0]), min(best[1], counts[1])
        rows = []
        entries = zip(memory.menu, memory.sets, memory.arguments, strict=True)
        for index, (action, words, arguments) in enumerate(entries):
            count = max(len(arguments), 1)
            places = [memory.instruction[word] for word in action if word in instruction]
            pairs = list(pairwise(places))
            rows.append(
                [
                    1.0,
                    min(memory.executed[index], 3) / 3,
                    float(memory.executed[index] > 0),
                    float(index == memory.last),
                    len(arguments & instruction) / count,
                    len(arguments & memory.latest) / count,
                    len(arguments & memory.seen) / count,
                    len(words & memory.used) / len(words),
                    len(words & previous) / len(words),
                    min(unknown[index], 3) / 3,
                    min(unknown[index] - fewest[action[0]][0], 3) / 3,
                    min(untold[index] - fewest[action[0]][1], 3) / 3,
                    sum(a < b for a, b in pairs) / max(len(pairs), 1),
                    sum(b - a == 1 for a, b in pairs) / max(len(pairs), 1),
                    memory.verbs[index] / 4,
                    len(action) / 10,
                ]
            )
        return rows


def _words_of(entry: str) -> list[str]:
    return atoms(entry) or [entry]


def _arguments(action: Sequence[str]) -> frozenset[str]:
    """Return the words of an action that are neither its verb, nor flags or operators."""
    return frozenset(word for word in action[1:] if word[0] not in "-|<>&;")


def _slots(action: Sequence[str]) -> list[tuple[str, str]]:
    """Return each argument with its slot: the verb, and the flag before it or its number.

    >>> _slots(["sort", "-o", "a", "b"])
    [('-o', 'sort 1'), ('a', 'sort -o'), ('b', 'sort 3')]
    """
    verb, slots = action[0], []
    for index, word in enumerate(action[1:], 1):
        before = action[index - 1]
        slots.append((word, f"{verb} {before if before[0] in '-|<>&;' else min(index, 5)}"))
    return slots


def _add(buckets: Vector, features: Iterable[str]) -> None:
    """Count features in buckets, each with a sign of its own, so that collisions cancel on average."""
    size = len(buckets)
    for feature in features:
        code = crc32(feature.encode("utf-8", "surrogatepass"))
        buckets[(code >> 1) % size] += QUIET if code & 1 else -QUIET
