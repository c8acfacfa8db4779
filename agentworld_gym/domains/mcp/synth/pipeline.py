"""The pipeline: scenarios first, then all worlds side by side, each stage asked again until its check holds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import ChatRequest, Failure, Generator, Message
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.flow import Flow, Request, Work
from agentworld_gym.domains.mcp.synth.answers import document
from agentworld_gym.domains.mcp.synth.backends.backend import Backend
from agentworld_gym.domains.mcp.synth.config import SynthConfig
from agentworld_gym.domains.mcp.synth.database import bound_heap
from agentworld_gym.domains.mcp.synth.draft import NOW, USER, Brief, Briefs, DatabaseSchema, Interface, WorldDraft
from agentworld_gym.domains.mcp.synth.faults import AnswerFault
from agentworld_gym.domains.mcp.synth.journal import FILE, Journal, JournalEntry, Key
from agentworld_gym.domains.mcp.synth.journaled_generator import JournaledGenerator
from agentworld_gym.domains.mcp.synth.prompts import SynthPrompts
from agentworld_gym.domains.mcp.synth.report import SynthReport, report_of
from agentworld_gym.domains.mcp.synth.similarity import Profile, alike_brief
from agentworld_gym.domains.mcp.synth.stages import (
    INTERFACE,
    SCENARIO,
    SCHEMA,
    VERIFIER,
    WorldStage,
    WorldStages,
    profile_of,
)
from agentworld_gym.recipe.run_folder import ensure_same_settings

logger = logging.getLogger(__name__)

WORLDS = "worlds"
"""The folder of the finished worlds in the folder of a run."""

NO_WORLD = "(scenarios)"
"""What stands in a report instead of a world, where not enough scenarios were found."""

REPORT = "report.json"
"""The file of the report in the folder of a run."""


class _GivenUp(Exception):
    """All tries of a stage failed."""


class _Unreached(Exception):
    """The generator did not answer."""


@dataclass
class _Outcome:
    """The outcome of a world, or of the scenarios that were not found."""

    draft: WorldDraft | None = None
    """The finished world."""

    given_up: str = ""
    """Why it was given up."""

    unreached: str = ""
    """Why it waits for the generator."""


@dataclass
class Synthesis:
    """A run of the pipeline in a folder; killed at any time, it goes on where it was.

    Args:
        generator: Who writes the worlds.
        backend: The form of the implementation.
        folder: The folder of the run: its settings, journal and report, and the finished worlds.
        config: What is made.
        sampling: How the generator samples; each request has a seed of its own.
        prompts: The templates.
        parallel: How many worlds are made side by side.
    """

    generator: Generator
    backend: Backend
    folder: Path
    config: SynthConfig = field(default_factory=SynthConfig)
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=16_384))
    prompts: SynthPrompts = field(default_factory=SynthPrompts)
    parallel: int = 16

    def run(self, resume: bool = False, progress: Callable[[str], None] = lambda name: None) -> SynthReport:
        """Make the worlds, write those that hold, and return the report.

        Args:
            resume: Whether the folder may hold a run that was stopped; it goes on with that one.
            progress: A function that gets the name of each finished world.

        Raises:
            SpecError: The folder holds a run and `resume` is not given, or the run has other settings.
            TraceError: The journal cannot be read or written, or another run has it open.
        """
        bound_heap()
        path = self.folder / FILE
        if path.exists() and not resume:
            raise SpecError("options", "folder", str(self.folder), "a folder without a run, or resume")
        ensure_same_settings(self.folder / "run.yaml", self._settings())
        journal = Journal(path)
        try:
            making = _Making(self, journal)
            try:
                making.all(progress)
            finally:
                report = self._finished(making, journal)
        finally:
            journal.close()
        return report

    def _settings(self) -> dict[str, Any]:
        described = {name: value for name, (value, _) in self.generator.describe().items()}
        sampling = {**self.sampling.as_dict(), "seed": self.sampling.seed or 0}
        settings = {"config": self.config.model_dump(mode="json"), "sampling": sampling, "generator": described}
        return {**settings, "prompts": self.prompts.digest}

    def _finished(self, making: _Making, journal: Journal) -> SynthReport:
        made = [outcome.draft for outcome in making.outcomes.values() if outcome.draft is not None]
        self.backend.write(self.folder / WORLDS, made)
        outcomes = {NO_WORLD: making.without_scenarios, **making.outcomes}
        given_up = {name: one.given_up for name, one in outcomes.items() if one.given_up}
        waiting = {name: one.unreached for name, one in outcomes.items() if one.unreached}
        waiting |= {brief.name: "stopped" for brief in making.briefs if brief.name not in outcomes}
        report = report_of(journal.entries.values(), len(making.briefs), made, given_up, waiting)
        write_atomically(self.folder / REPORT, report.model_dump_json(indent=2) + "\n")
        return report


class _Making:
    """The work of a run."""

    def __init__(self, run: Synthesis, journal: Journal) -> None:
        self._run, self._journal = run, journal
        self._journaled = JournaledGenerator(run.generator, journal)
        self._profiles: dict[str, Profile] = {}
        self._stages = WorldStages(run.backend, run.config, self._others)
        self.briefs: list[Brief] = []
        self.outcomes: dict[str, _Outcome] = {}
        self.without_scenarios = _Outcome()

    def all(self, progress: Callable[[str], None]) -> None:
        """Make all worlds; they enter `outcomes` in the order of their scenarios."""
        flow: Flow[Any] = Flow()
        ended: dict[str, _Outcome] = {}
        try:
            flow.send([(SCENARIO, self._all_briefs())])
            flow.recv()
            self._profiles = self._profiles_of_before()
            waiting = iter(self.briefs)
            flow.send(self._some(waiting, self._run.parallel))
            while flow.under_way:
                done = flow.recv()
                for name, outcome in done:
                    ended[name] = outcome
                    progress(name)
                flow.send(self._some(waiting, len(done)))
        finally:
            flow.close()
            self.outcomes = {brief.name: ended[brief.name] for brief in self.briefs if brief.name in ended}

    def _some(self, waiting: Iterator[Brief], most: int) -> list[tuple[str, Work[_Outcome]]]:
        return [(brief.name, self._world(brief)) for brief in islice(waiting, most)]

    def _profiles_of_before(self) -> dict[str, Profile]:
        """Return the profiles of the worlds whose interface the journal holds, by name.

        Worlds whose turn comes later are compared with as well, so that a run that goes on takes no two alike.
        """
        made = {entry.key[:2]: entry.value for entry in self._journal.entries.values() if entry.value is not None}
        drafts = (
            WorldDraft(
                brief,
                schema=DatabaseSchema.model_validate(made[brief.name, SCHEMA]),
                interface=Interface.model_validate(made[brief.name, INTERFACE]),
            )
            for brief in self.briefs
            if (brief.name, SCHEMA) in made and (brief.name, INTERFACE) in made
        )
        return {draft.name: profile_of(draft) for draft in drafts}

    def _others(self, draft: WorldDraft) -> list[Profile]:
        return [profile for name, profile in self._profiles.items() if name != draft.name]

    # Scenarios

    def _all_briefs(self) -> Work[None]:
        """Ask for scenarios until there are enough, or a batch fails."""
        config, number = self._run.config, 0
        try:
            while len(self.briefs) < config.worlds:
                number += 1
                yield from self._batch(number, min(config.batch, config.worlds - len(self.briefs)))
        except _GivenUp as error:
            self.without_scenarios.given_up = str(error)
        except _Unreached as error:
            self.without_scenarios.unreached = str(error)

    def _batch(self, number: int, wanted: int) -> Work[None]:
        def made(draft: WorldDraft, text: str) -> Briefs:
            return self._new_briefs(document(text, Briefs).scenarios, wanted)

        def entered(draft: WorldDraft, briefs: Briefs) -> WorldDraft:
            self.briefs += briefs.scenarios
            return draft

        nobody = WorldDraft(Brief(name="scenarios", title="Scenarios", description="Scenarios that are asked for."))
        stage = WorldStage(SCENARIO, "scenario", Briefs, made, entered)
        values = {"wanted": wanted, "about": self._run.config.about, "others": [b.model_dump() for b in self.briefs]}
        yield from self._stage(stage, nobody, str(number), 0, values)

    def _new_briefs(self, given: tuple[Brief, ...], wanted: int) -> Briefs:
        """Return the scenarios that are like none before.

        Raises:
            Fault: Each of the given scenarios is too much like another one.
        """
        new: list[Brief] = []
        alike: list[str] = []
        for brief in given:
            other = alike_brief(brief, [*self.briefs, *new])
            if other is None:
                new.append(brief)
            else:
                alike.append(f"{brief.name} is too much like {other.name}")
        if not new:
            raise AnswerFault("\n".join(alike))
        return Briefs(scenarios=tuple(new[:wanted]))

    # Worlds

    def _world(self, brief: Brief) -> Work[_Outcome]:
        draft = WorldDraft(brief)
        try:
            for stage in self._stages.in_order:
                draft = yield from self._stage(stage, draft, draft.name, 0, self._values(draft))
                if stage.name == INTERFACE:
                    self._profiles[draft.name] = profile_of(draft)
            parts: list[WorldDraft | Exception] = yield [
                self._task(draft, number) for number in range(len(draft.tasks))
            ]
        except _GivenUp as error:
            return _Outcome(given_up=str(error))
        except _Unreached as error:
            return _Outcome(unreached=str(error))
        solved = tuple(one for part in parts if isinstance(part, WorldDraft) for one in part.solved)
        for part in parts:
            if isinstance(part, _Unreached):
                return _Outcome(unreached=str(part))
        if len(solved) < self._run.config.fewest_tasks:
            failed = next(str(part) for part in parts if isinstance(part, Exception))
            return _Outcome(given_up=f"{len(solved)} of {len(parts)} tasks hold; {failed}")
        return _Outcome(replace(draft, solved=solved))

    def _task(self, draft: WorldDraft, number: int) -> Work[WorldDraft | Exception]:
        values = {**self._values(draft), "task": draft.tasks[number]}
        try:
            return (yield from self._stage(self._stages.verifier(number), draft, draft.name, number, values))
        except (_GivenUp, _Unreached) as error:
            return error

    def _values(self, draft: WorldDraft) -> dict[str, Any]:
        """Return what the templates show of a world."""
        config = self._run.config
        return {
            "brief": draft.brief.model_dump(),
            "tasks": list(draft.tasks),
            "schema": draft.sql,
            "rows": "\n".join(f"{statement};" for statement in draft.statements),
            "tools": [sketch.model_dump() for sketch in draft.sketches],
            "implementation": draft.implementation.model_dump() if draft.implementation else {},
            "config": config.model_dump(),
            "now": NOW,
            "user": USER,
        }

    # One stage

    def _stage(
        self, stage: WorldStage, draft: WorldDraft, world: str, part: int, values: dict[str, Any]
    ) -> Work[WorldDraft]:
        """Ask until the check of a stage holds, and return the draft with what it made.

        Raises:
            _GivenUp: No try held.
            _Unreached: The generator did not answer.
        """
        asked = [self._run.prompts.system(), self._run.prompts.user(stage.template, **values)]
        messages: list[Message] = asked
        problem = ""
        for attempt in range(1, self._run.config.tries + 1):
            entry = yield from self._answer(Key(world, stage.name, part, attempt), messages)
            if not entry.checked:
                self._check(stage, draft, entry)
            if not entry.problem:
                return stage.enter(draft, stage.kind.model_validate(entry.value))
            problem = entry.problem
            wrong = Message(role="assistant", content=escape(entry.text) or "(nothing)")
            messages = [
                *asked,
                wrong,
                self._run.prompts.user("retry", problem=problem, left=self._run.config.tries - attempt),
            ]
        place = f"task {part + 1}: " if stage.name == VERIFIER else ""
        raise _GivenUp(f"{place}{stage.name}: {problem}")

    def _answer(self, key: Key, messages: list[Message]) -> Work[JournalEntry]:
        """Return the answer to a request: that of the journal, or else one that is asked for."""
        prompt = digest_of([dict(message) for message in messages])
        entry = self._journal.find(key, prompt)
        if entry is not None:
            return entry
        seed = crc32(f"{self._run.sampling.seed or 0}/{key}".encode()) if self._journaled.supports_seed else None
        request = self._journaled.expect(ChatRequest(messages, self._run.sampling.seeded(seed)), key, prompt)
        answer: JournalEntry | Failure = yield Request(self._journaled, request)
        if isinstance(answer, Failure):
            raise _Unreached(f"{answer.kind}: {answer.message}")
        return answer

    def _check(self, stage: WorldStage, draft: WorldDraft, entry: JournalEntry) -> None:
        """Make of an answer what the stage wants, and enter the verdict into the journal."""
        began = time.perf_counter()
        problem, value = "", None
        if entry.failure:
            problem = f"there was no answer ({entry.failure})"
        else:
            try:
                value = stage.made(draft, entry.text).model_dump(mode="json")
            except AnswerFault as fault:
                problem = f"the answer was cut off at the limit of tokens; {fault}" if entry.cut_off else str(fault)
            except Exception as error:  # A defect of a check costs one answer, not the run.
                logger.exception("the check of %s failed", entry.key)
                problem = f"the check failed: {type(error).__name__}: {error}"
        self._journal.judged(entry, problem, value, time.perf_counter() - began)
