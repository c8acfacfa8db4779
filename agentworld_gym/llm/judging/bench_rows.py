"""The rows of a benchmark, turn by turn: the official files of AgentWorldBench, or recorded sessions."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Literal

import orjson

from agentworld_gym.base.documents.json_lines import problem_of
from agentworld_gym.base.errors import AnswerError, SpecError
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.core.contracts import Message
from agentworld_gym.core.domain.spec import Profile
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens import is_graphical
from agentworld_gym.core.screens.sight import last_screen
from agentworld_gym.llm.bundled_models import BundledModel
from agentworld_gym.llm.prompting.answers import AnswerCodec, answer_codec
from agentworld_gym.llm.prompting.changes import CHANGE, FULL, SAME
from agentworld_gym.llm.prompting.parsing import MARKER
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.rerendering import (
    may_refer,
    prompts_for,
    rerendered,
    spec_of,
    task_of,
    task_referred_to,
)
from agentworld_gym.llm.rows.row import ContentSpan, Row
from agentworld_gym.llm.rows.row_reading import completed, row_of

Turns = Literal["last", "all", "drawn"]
"""Which turns of a row are predicted: the turn of the row, all turns up to it, or one of them, drawn by seed and id."""

Key = tuple[str, str, int, int]
"""The domain, the id, the turn and the line, which is counted on from file to file. It is needed because the official
rows, and some recordings, repeat the other three."""

_CHANGES = (CHANGE, FULL, SAME)
_KEYS = frozenset(Row.model_fields)


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One turn to predict."""

    key: Key
    """What tells the turn from all others."""

    request: tuple[Message, ...]
    """The messages that the model is sent."""

    current: str
    """The user message of the turn without its closing request, as the judge sees it behind the same history."""

    truth: str
    """The true observation, as plain text."""

    spans: tuple[ContentSpan, ...] = ()
    """The pieces of the truth that are not deterministic."""

    shown: tuple[str, ...] = ()
    """All observations before the action, the first one first."""

    profile: Profile | None = None
    """The profile of the prompts; None where it is not known."""

    action: str | None = None
    """The action as the agent wrote it; None where it is not known."""

    recorded: Row | None = field(default=None, compare=False, repr=False)
    """The row itself, where answers may refer to the state of its task."""

    @property
    def domain(self) -> str:
        """The id of the domain in this package."""
        return self.key[0]

    @property
    def session(self) -> tuple[str, str]:
        """The trajectory that the turn belongs to; intervals are drawn over trajectories."""
        return self.key[:2]

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages before that of the turn."""
        return self.request[:-1]

    @property
    def before(self) -> str:
        """What was on the screen before the action."""
        return last_screen(self.domain, self.shown) if self.shown else ""

    def observation(self, answer: str) -> str:
        """Return the observation that a model's answer stands for.

        An answer that does not fit the screen or the state stays as it was written. In a graphical domain an answer is
        read as a change where it is marked as one, and always where the prompts are compact, because small models may
        forget the mark.

        Raises:
            SpecError: Recorded answers refer to the task of the row, and it cannot be generated again.
        """
        task = None if self.recorded is None else task_referred_to(self.recorded)
        try:
            return self._codec(answer).read(task, self.before, answer, self.action)
        except AnswerError:
            return answer

    def _codec(self, answer: str) -> AnswerCodec:
        changes = is_graphical(self.domain) and (self.profile == "compact" or answer.startswith(_CHANGES))
        options = PromptOptions(self.profile or "full", "change" if changes else "full")
        return answer_codec(self.domain, options.for_domain(self.domain))


@dataclass(frozen=True)
class BenchRows:
    """The turns of some files, which are read from disk in every iteration.

    Lines end at line feeds alone, so that rows may hold any other separator. Keys that no row has are passed over.

    Args:
        files: The files, as `files_of` gives them.
        turns: The turns of each recorded session that are predicted. A row without plain actions, such as an official
            one, stands for its own turn alone.
        domains: The ids of the domains to keep; None keeps all.
        limit: The number of turns of each domain that are kept, the first ones; None keeps all.
        seed: The seed of the turns that are drawn.
        tiny: The bundled model that reads the rows, if one does. Sessions that were recorded in other prompts than it
            knows are then rendered anew.
    """

    files: tuple[Path, ...]
    turns: Turns = "last"
    domains: frozenset[str] | None = None
    limit: int | None = None
    seed: int = 0
    tiny: BundledModel | None = None

    def __iter__(self) -> Iterator[BenchRow]:
        """Read all turns, in the order of the files.

        Raises:
            SpecError: A line is no row: the error names file, line, key, value and what was expected.
        """
        for line, row, turns in self._picked():
            shown = rerendered(row, _known_to(self.tiny, row)) if self.tiny and _is_foreign(row, self.tiny) else row
            for turn in turns:
                yield bench_row(shown.at(turn), line)

    def _picked(self) -> Iterator[tuple[int, Row, Sequence[int]]]:
        """Read the rows of which turns are kept, each with its line and these turns."""
        taken: Counter[str] = Counter()
        for line, row in _rows(self.files):
            if self.domains is not None and row.domain not in self.domains:
                continue
            turns = self._turns(row)
            if self.limit is not None:
                turns = turns[: self.limit - taken[row.domain]]
            taken[row.domain] += len(turns)
            if turns:
                yield line, row, turns

    def _turns(self, row: Row) -> Sequence[int]:
        if self.turns == "last" or not row.actions:
            return (row.turn_idx,)
        if self.turns == "all":
            return range(1, row.turn_idx + 1)
        return (random.Random(f"{self.seed}/{row.task}/{row.id}").randint(1, row.turn_idx),)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of turns of each domain.

        Raises:
            SpecError: There are none, or the answers of one refer to a task that cannot be generated again.
        """
        found: Counter[str] = Counter()
        for _, row, turns in self._picked():
            found[row.domain] += len(turns)
            if may_refer(row):
                task_referred_to(row.at(turns[-1]))
        if not found:
            there = {row.domain for _, row, _ in replace(self, domains=None)._picked()}
            wanted = f"rows of {', '.join(sorted(self.domains))}" if self.domains else "at least one row"
            wanted += f"; there are some of {', '.join(sorted(there))}" if there else ""
            raise SpecError(", ".join(map(str, self.files)), "rows", 0, wanted)
        return dict(sorted(found.items()))

    @cached_property
    def rendered(self) -> int:
        """The number of rows that are rendered anew, because a bundled model does not know their prompts.

        Raises:
            SpecError: A row cannot be rendered anew: the error names the row, its profile, and what helps.
        """
        if not self.tiny:
            return 0
        profile = self.tiny.profile
        foreign = [row for _, row, _ in self._picked() if _is_foreign(row, self.tiny)]
        for row in foreign:
            if find_domain(row.domain) is None or task_of(row) is None:
                expected = f"{profile}, which a bundled model reads, or a session that can be rendered anew in it"
                hint = f"`agentworld collect ENV --profile {profile}` records some"
                raise SpecError(f"row {row.id}", "profile", row.profile, f"{expected}; {hint}")
        return len(foreign)

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits over what is asked: the content of the files, the choice of turns, and whether any row
        is rendered anew. `domains` and `limit` do not count."""
        chosen = f"{self.turns} {self.seed if self.turns == 'drawn' else ''}{' anew' if self.rendered else ''}"
        digest = hashlib.sha256(chosen.encode())
        for file in self.files:
            with file.open("rb") as data:
                digest.update(hashlib.file_digest(data, "sha256").digest())
        return digest.hexdigest()[:16]


def files_of(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files that some paths name: a file itself, and of a folder its `*_test.jsonl`, or else its `*.jsonl`.

    Raises:
        SpecError: A path names no file.
    """
    found: list[Path] = []
    for path in paths:
        inside = [path] if path.is_file() else sorted(path.glob("*_test.jsonl")) or sorted(path.glob("*.jsonl"))
        if not inside:
            raise SpecError("command line", "ROWS", str(path), "a .jsonl file, or a folder that holds some")
        found += inside
    return tuple(dict.fromkeys(found))


def bench_row(row: Row, line: int) -> BenchRow:
    """Return the turn that a row reaches to.

    >>> row = Row(task="os", id="a", system_str="", prompt=["noop, please"], current_prompt="noop", turn_idx=1,
    ...           response=["**Environment Observation:**\\nx"], total_turns=1)
    >>> found = bench_row(row, 7)
    >>> found.key, found.request, found.current, found.truth
    (('desktop', 'a', 1, 7), ({'role': 'user', 'content': 'noop, please'},), 'noop', 'x')
    """
    request = row.request()
    seen = row.observations or tuple(map(_plain, row.response))
    return BenchRow(
        key=(row.domain, row.id, row.turn_idx, line),
        request=tuple(request if row.system_str else request[1:]),
        current=row.current_prompt,
        truth=seen[-1],
        spans=row.spans[-1] if row.spans else (),
        shown=(row.first_observation, *seen[:-1]),
        profile=row.profile,
        action=row.actions[-1] if row.actions else None,
        recorded=row if may_refer(row) else None,
    )


def _known_to(model: BundledModel, row: Row) -> Prompts:
    form = model.form(spec_of(row))
    if form == "state":
        raise SpecError("rows", "form", form, "a model that writes screens or changes of them")
    if row.domain not in model.domains:
        expected = f"{', '.join(model.domains)}, which the bundled model {model.name} knows"
        raise SpecError(f"row {row.id}", "domain", row.domain, expected)
    return prompts_for(row, model.profile, form)


def _is_foreign(row: Row, model: BundledModel) -> bool:
    """Whether a row was recorded with other prompts than a bundled model knows."""
    if find_domain(row.domain) is None:
        return True
    known = _known_to(model, row)
    return (row.profile, row.form or "full") != (known.profile, known.form)


def _plain(response: str) -> str:
    """Return the observation in an assistant message."""
    head = response.lstrip()
    return unescape(head.removeprefix(MARKER).removeprefix("\n") if head.startswith(MARKER) else response)


def _rows(files: Sequence[Path]) -> Iterator[tuple[int, Row]]:
    """Read the rows of some files, each with its line, which is counted on from one file to the next."""
    lines = count(1)
    for file in files:
        with file.open("rb") as opened:
            for (number, text), line in zip(enumerate(opened, 1), lines, strict=False):
                if not text.strip():
                    continue
                try:
                    data = orjson.loads(text)
                except orjson.JSONDecodeError as error:
                    found, reason = problem_of(text, error)
                    torn = not text.endswith(b"\n") and "end of data" in error.msg
                    cut = "the file ends within the line: " if torn else ""
                    raise SpecError(file, f"line {number}", found, f"JSON ({cut}{reason})") from error
                yield line, row_of(_known_keys(data) if isinstance(data, dict) else data, file, f"line {number}")


def _known_keys(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a row without the keys that no row has."""
    return completed({key: value for key, value in data.items() if key in _KEYS})
