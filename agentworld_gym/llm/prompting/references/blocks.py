r"""References to texts that the state holds by name, such as pages, and to some of their lines.

>>> known = TextBlocks({"a.txt": ("one apple", "two pears", "three melons", "four figs")})
>>> print(known.refer("So:\none apple\ntwo pears\nthree melons\nand no more"))
So:
@a.txt:1-3
and no more
>>> known.resolve("@a.txt")
'one apple\ntwo pears\nthree melons\nfour figs'
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agentworld_gym.llm.prompting.references.contract import ESCAPE, LONGEST, MARK, Room, UnknownReference

LEAST = 3
"""How many lines the shortest part of a block has that is referred to."""

OFTEN = 8
"""Lines that stand in more places than this are too common to refer to one of them."""

_MARKED = re.compile(rf"((?:\[[0-9]+\] )?)(\\*){MARK}")
_BLOCK = re.compile(rf"{MARK}(.+)", re.DOTALL)
_HIT = re.compile(rf"(\[[0-9]+\] ){MARK}(.+)", re.DOTALL)
_PART = re.compile(r"(.+):([0-9]{1,9})(?:-|\.\.)([0-9]{1,9})", re.DOTALL)


class PageHit(NamedTuple):
    """What every search shows of a page."""

    title: str
    date: str

    def around(self, number: str, address: str, snippet: str) -> list[str]:
        """Return the lines of a hit; `number` is its beginning."""
        return [f"{number}{address}", f"Title: {self.title}", f"Snippet: {snippet}", f"Date: {self.date}"]


class _Run(NamedTuple):
    """Lines of a text, `start` to `end`, that are those of a block from `first` on, counted from 0."""

    start: int
    end: int
    name: str
    first: int


class TextBlocks:
    """Texts by name, line by line, and hits of searches by address.

    Args:
        blocks: The lines of each text; a name with a line feed in it, and a text without a line, are left out.
        hits: What searches show of pages, by address.
    """

    def __init__(self, blocks: Mapping[str, Sequence[str]], hits: Mapping[str, PageHit] | None = None) -> None:
        self._blocks = {name: list(lines) for name, lines in blocks.items() if lines and _is_name(name)}
        self._hits = {address: hit for address, hit in (hits or {}).items() if _is_name(address)}
        self._whole: dict[str, list[str]] = defaultdict(list)
        self._places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        for name, lines in self._blocks.items():
            self._whole["\n".join(lines)].append(name)
            for first in range(len(lines) - LEAST + 1):
                self._places[tuple(lines[first : first + LEAST])].append((name, first))

    def refer(self, text: str) -> str:
        """Replace known blocks, parts of them and hits by references.

        A text longer than `LONGEST` gets none.
        """
        if len(text) > LONGEST:
            return "\n".join(map(_escaped, text.split("\n")))
        same = self._whole.get(text, ())
        if len(same) == 1 and len(MARK + same[0]) < len(text) and self._stands_for(MARK + same[0], text):
            return MARK + same[0]
        lines = text.split("\n")
        short: list[str] = []
        literal = at = 0
        while at < len(lines):
            if found := self._hit(lines[at : at + 4]):
                short += [*self._runs(lines, literal, at), *found]
                literal = at = at + 4
            else:
                at += 1
        return "\n".join([*short, *self._runs(lines, literal, len(lines))])

    def resolve(self, text: str) -> str:
        """Return the text that a text with references stands for; `..` is read like `-` between the numbers of lines.

        Raises:
            UnknownReference: A block or an address is not known, a block does not have the lines, a hit has no
                snippet, or references stand for more than `LONGEST` characters.
        """
        found: list[str] = []
        room = Room(text)
        lines = iter(text.split("\n"))
        for line in lines:
            if hit := _HIT.fullmatch(line):
                told = self._hit_lines(hit[1], hit[2], next(lines, None))
                room.take(_size(told))
                found += told
            elif block := _BLOCK.fullmatch(line):
                part = self._lines(block[1])
                room.take(_size(part))
                found += part
            else:
                found.append(_MARKED.sub(_unmarked, line, count=1) if _MARKED.match(line) else line)
        return "\n".join(found)

    def _hit_lines(self, number: str, address: str, snippet: str | None) -> list[str]:
        if address not in self._hits or snippet is None:
            raise UnknownReference(number + MARK + address, "the address of a known page, and a snippet below it")
        return self._hits[address].around(number, address, snippet)

    def _lines(self, name: str) -> list[str]:
        """The lines that a reference names, which is without its mark here."""
        if name in self._blocks:
            return self._blocks[name]
        part = _PART.fullmatch(name)
        if part is None or part[1] not in self._blocks:
            example = next(iter(self._blocks), None)
            expected = "no reference, as the state holds no texts"
            if example is not None:
                expected = f"one of {len(self._blocks)} names, such as {example}"
            raise UnknownReference(MARK + name, expected)
        lines, first, last = self._blocks[part[1]], int(part[2]), int(part[3])
        if not 1 <= first <= last <= len(lines):
            raise UnknownReference(MARK + name, f"lines from 1 to {len(lines)}")
        return lines[first - 1 : last]

    def _stands_for(self, reference: str, text: str) -> bool:
        return "\n".join(self._lines(reference.removeprefix(MARK))) == text

    def _hit(self, lines: Sequence[str]) -> list[str]:
        """A known hit as its reference and its snippet; nothing where the lines are none."""
        number, bracket, address = lines[0].partition("] ")
        hit = self._hits.get(address)
        if hit is None or len(lines) < 4 or not lines[2].startswith("Snippet: "):
            return []
        reference, snippet = f"{number}{bracket}{MARK}{address}", lines[2].removeprefix("Snippet: ")
        told = _HIT.fullmatch(reference)
        return [reference, snippet] if told and hit.around(told[1], address, snippet) == list(lines) else []

    def _runs(self, lines: Sequence[str], start: int, end: int) -> Iterator[str]:
        """Some lines of a text, with known runs as references: the longest ones, and then those between them."""
        chosen: list[_Run] = []
        parts = [(start, end)]
        while parts:
            first, last = parts.pop()
            if found := _apart(self._candidates(lines, first, last)):
                chosen += found
                ends = [first, *(place for run in found for place in (run.start, run.end)), last]
                parts += zip(ends[::2], ends[1::2], strict=True)
        at = start
        for run in sorted(chosen, key=lambda run: run.start):
            yield from map(_escaped, lines[at : run.start])
            yield self._reference(run)
            at = run.end
        yield from map(_escaped, lines[at:end])

    def _candidates(self, lines: Sequence[str], start: int, end: int) -> Iterator[_Run]:
        """The longest run from each line on that is known from one place alone, where a reference is shorter."""
        # By block and shift, because all lines of a run share its end.
        stops: dict[tuple[str, int], int] = {}
        for at in range(start, end - LEAST + 1):
            places = self._places.get(tuple(lines[at : at + LEAST]), ())
            if not places or len(places) > OFTEN:
                continue
            for name, first in places:
                if stops.get((name, first - at), at) <= at:
                    stops[name, first - at] = at + self._length(lines, at, end, name, first)
            ends = [(stops[name, first - at] - at, name, first) for name, first in places]
            longest = max(length for length, _, _ in ends)
            _, name, first = next(place for place in ends if place[0] == longest)
            run = _Run(at, at + longest, name, first)
            only = sum(length == longest for length, _, _ in ends) == 1
            if only and not self._goes_on(lines, run, start) and self._pays(lines, run):
                yield run

    def _length(self, lines: Sequence[str], at: int, end: int, name: str, first: int) -> int:
        """How many lines from one on are those of a block from a place on, the first few of which are known to be."""
        block = self._blocks[name]
        most = min(end - at, len(block) - first)
        return next((n for n in range(LEAST, most) if lines[at + n] != block[first + n]), most)

    def _goes_on(self, lines: Sequence[str], run: _Run, start: int) -> bool:
        """Whether a run is a part of one that begins a line earlier."""
        if run.start == start or not run.first:
            return False
        return lines[run.start - 1] == self._blocks[run.name][run.first - 1]

    def _pays(self, lines: Sequence[str], run: _Run) -> bool:
        reference, told = self._reference(run), "\n".join(lines[run.start : run.end])
        return len(reference) < len(told) and self._stands_for(reference, told)

    def _reference(self, run: _Run) -> str:
        count = run.end - run.start
        part = "" if count == len(self._blocks[run.name]) else f":{run.first + 1}-{run.first + count}"
        return f"{MARK}{run.name}{part}"


def _apart(runs: Iterable[_Run]) -> list[_Run]:
    """The runs that share no line with a longer one, in their order."""
    chosen: list[_Run] = []
    taken: set[int] = set()
    for run in sorted(runs, key=lambda run: (run.start - run.end, run.start)):
        if run.start not in taken and run.end - 1 not in taken:  # No run can lie around a longer one.
            chosen.append(run)
            taken.update(range(run.start, run.end))
    return sorted(chosen, key=lambda run: run.start)


def _size(lines: Sequence[str]) -> int:
    """Characters of lines and of the line feeds between them."""
    return sum(map(len, lines)) + len(lines) - 1


def _is_name(name: str) -> bool:
    return bool(name) and "\n" not in name


def _escaped(line: str) -> str:
    return _MARKED.sub(rf"\1{ESCAPE * 2}\2{MARK}", line, count=1) if _MARKED.match(line) else line


def _unmarked(found: re.Match[str]) -> str:
    return found[1] + found[2].removeprefix(ESCAPE) + MARK
