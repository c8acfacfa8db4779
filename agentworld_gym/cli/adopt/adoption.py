"""Adopts a live system: checks it, records it, trains a model on the recordings, and measures that model.

Recordings alone are adopted as well, without a check and without a system behind the world.

Every stage leaves its result in the folder of the adoption, and one that is there is not done again. So the same call
goes on where an earlier one was stopped.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import orjson
import yaml
from pydantic import Field

from agentworld_gym.agents.collect.config import CollectConfig, SmallModelSessions
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.agents.policies.registry import opened_policy
from agentworld_gym.agents.progress import Tally
from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.strict import Positive, Strict, read_yaml, validated
from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.base.fingerprint import installed
from agentworld_gym.cli.adopt.answer_kinds import AnswerKinds
from agentworld_gym.cli.adopt.summary import AdoptedSystem, page_of
from agentworld_gym.cli.adopt.traces import characters_of, take, tokens_of
from agentworld_gym.cli.adopt.worldbook_choice import WorldbookChoice, choose
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure
from agentworld_gym.evaluation.live_check import LiveReport, check_live
from agentworld_gym.evaluation.report import write_page
from agentworld_gym.evaluation.results.fidelity import FidelityResult
from agentworld_gym.kit.live import LiveSource
from agentworld_gym.kit.live.config import EXTENDS
from agentworld_gym.kit.live.environments import ENVIRONMENT_SPEC
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.config_files import load_config
from agentworld_gym.recipe.training.metrics import Metrics
from agentworld_gym.recipe.training.stage_config import CptConfig
from agentworld_gym.recipe.training.train_config import PRETRAINED
from agentworld_gym.worlds.own_tasks import ADOPTED, BOOK, MODEL, RECORDED, TASKS, model_of

SEED = 0
HELD_OUT = 100
"""How many sessions are recorded to measure on, and as many to watch the training by."""

HELD_OUT_SPLITS: tuple[Split, ...] = ("validation", "test")
"""The splits of these sessions."""

CHOSEN = "chosen.json"
"""The file of who answers: the model alone, or the worldbook first."""

FIDELITY = "fidelity.json"
"""The file of what was measured."""

EPISODES = 20
"""How many episodes the check plays."""

FIRST, GROWTH = 1000, 1.25
"""How many sessions are recorded before new kinds of answers are counted, and by which factor they grow. Fewer may meet
all kinds, and still show too little of each to learn from."""

AGENT_SHARE = 0.3
"""The share of the recorded sessions that an agent plays, where there is one; an explorer plays the others."""

PLANS = 25
"""The most tasks of which plans are drawn for the consistency ratio."""

UNMET = 0.001
"""The share of answers of kinds not met so far at which recording ends."""


class Budget(Strict):
    """What an adoption may take.

    >>> Budget(sessions=500).minutes
    30.0
    """

    sessions: Positive = 2000
    """The most sessions that are recorded to learn from."""

    minutes: float = Field(default=30.0, gt=0)
    """The minutes of training."""

    tokens: Positive | None = None
    """The most tokens to train on; None sets no such bound."""


class Followed(Protocol):
    """Who is told how an adoption goes on."""

    def begin(self, what: str, unit: str, total: int) -> Tally:
        """Return what counts a stage that begins, which has so many units."""
        ...

    def training(self) -> AbstractContextManager[Callable[[Metrics], None] | None]:
        """Return a context that shows a training, and yields a function that takes its metrics."""
        ...

    def say(self, text: str) -> None:
        """Take a sentence of what was found, or of what comes next."""
        ...


class Unwatched:
    """Tells nobody how an adoption goes on."""

    def begin(self, what: str, unit: str, total: int) -> Tally:
        """Return what counts a stage."""
        return Tally(total)

    @contextmanager
    def training(self) -> Iterator[Callable[[Metrics], None] | None]:
        """Yield nothing that takes metrics."""
        yield None

    def say(self, text: str) -> None:
        """Take a sentence."""


@dataclass(frozen=True)
class Adoption:
    """What to adopt, and where the result goes."""

    config: Path | None
    """The configuration of the live system; None where there are recordings alone."""

    out: Path
    """The folder of the adoption."""

    source: str
    """The spec of its environment: a domain, or the path of a spec."""

    traces: tuple[Path, ...] = ()
    """The recordings, where there is no live system: files of rows, and folders of them."""

    chosen: bool = False
    """Whether the user chose the domain, so that recordings of others are left out."""

    budget: Budget = field(default_factory=Budget)
    """What it may take."""

    model: str | None = None
    """The model that learns: a folder, or the name of a model that was fetched; None takes that of `adopt.yaml`."""

    agent: str | None = None
    """The handle of an agent that plays `AGENT_SHARE` of the sessions that are recorded; None lets the explorer play
    them all."""

    @cached_property
    def spec(self) -> DomainSpec:
        """The domain.

        Raises:
            SpecError: There is no such spec.
        """
        return load_spec(self.source)

    @property
    def world(self) -> Path:
        """The folder of the adopted world, which `gym.make(..., world=FOLDER)` plays."""
        return self.out / "world"

    @property
    def live(self) -> str:
        """The handle of the live system, with what the check learned of it."""
        return f"live:{self.world / ADOPTED}"

    @property
    def tasks(self) -> str:
        """The handle of who has its tasks: the live system, or the recordings."""
        return f"{TASKS}{self.world / RECORDED}" if self.config is None else self.live

    def sessions(self, split: Split) -> Path:
        """Return the file of the sessions of a split."""
        return self.out / "sessions" / f"{split}.jsonl"


def adopt(adoption: Adoption, followed: Followed | None = None) -> AdoptedSystem:
    """Adopt a live system, or recordings of one.

    Args:
        adoption: What to adopt, and where the result goes.
        followed: Who is told how it goes on; None tells nobody.

    Returns:
        What was found, as `adopted.json` and `README.md` of the folder hold it.

    Raises:
        SpecError: A key of the configuration is wrong, or the folder holds another adoption.
        GeneratorError: The model to start from cannot be read.
        WorldNotConfigured: The system cannot run here.
        AgentWorldError: The system cannot be learned from: too many of its actions fail.
        KeyboardInterrupt: The training was stopped; the same call goes on.
    """
    told = followed or Unwatched()
    if adoption.model is not None:
        from agentworld_gym.recipe.training.model import load_tokenizer_of, must_have_model

        base = _configuration(adoption).model
        must_have_model(base)
        load_tokenizer_of(base)  # A model that cannot be read costs no recordings.
    if adoption.agent is not None:
        with opened_policy(adoption.agent, adoption.spec):
            pass
    _ensure_same(adoption)
    report = None if adoption.config is None else _checked(adoption, adoption.config, told)
    met = _taken(adoption, told) if report is None else _recorded(adoption, report, told)
    trained = _trained(adoption, told)
    choice = _chosen(adoption, told)
    result = _measured(adoption, told)
    spec = adoption.spec
    found = AdoptedSystem(
        package=installed("agentworld-gym"),
        system=", ".join(map(str, adoption.traces)) if report is None else report.system,
        world=str(adoption.world),
        env_id=spec.env_id,
        dialect=None if spec.speaks_first_dialect else spec.dialect,
        check=report,
        sessions=met.sessions,
        kinds=met.kinds,
        unmet=met.unmet,
        trained=trained,
        choice=choice,
        fidelity=result.domains[0],
    )
    found.write(adoption.out / "adopted.json")
    write_atomically(adoption.out / "README.md", page_of(found))
    return found


def _ensure_same(adoption: Adoption) -> None:
    """Note what is adopted, and refuse the folder of another adoption."""
    note = adoption.out / "adoption.yaml"
    config = None if adoption.config is None else str(adoption.config.resolve())
    spec = adoption.spec.id if adoption.source == ENVIRONMENT_SPEC else adoption.source  # Installations move.
    asked: dict[str, Any] = {"config": config, "spec": spec, "model": adoption.model}
    if adoption.traces:
        asked["traces"] = [str(path.resolve()) for path in adoption.traces]
    if adoption.agent is not None:
        asked["agent"] = adoption.agent
    if note.exists():
        held = read_yaml(note)
        for key in {**asked, **held}:
            value = asked.get(key)
            if held.get(key) != value:
                raise SpecError(
                    adoption.out, key, value, f"{held.get(key)!r}, which the folder holds; or another --out"
                )
        return
    write_atomically(note, yaml.safe_dump(asked, sort_keys=False))


def _checked(adoption: Adoption, config: Path, told: Followed) -> LiveReport:
    """Check the system, and write its configuration with what varies into the folder of the world."""
    path = adoption.out / "check.json"
    if path.exists():
        return validated(LiveReport, orjson.loads(path.read_bytes()), path)
    most, minutes = adoption.budget.sessions, adoption.budget.minutes
    told.say(
        f"{EPISODES} episodes to check the system; then at most {most:,} sessions to learn from and "
        f"{2 * _held_out(most)} others; {minutes:g} minutes to train; a few more to measure"
    )
    tally = told.begin("checking", "percent", 100)

    def follow(stage: str, done: int, share: float) -> None:
        tally.note = stage
        tally.reached(int(100 * share), 0, {})

    options = EnvOptions(spec=adoption.source, world=f"live:{config}")
    report = check_live(options, EPISODES, SEED, follow)
    tally.reached(100, 0, {})
    if sum(report.failures.values()) > report.actions // 10 or report.cannot_write:
        raise AgentWorldError(f"{config}: {report.verdict}")
    known = LiveSource.of(config).data
    # All sessions begin with the same files: the model learns them by heart, and its short context need not hold them.
    learned = {
        EXTENDS: str(config.resolve()),
        "told_chars": known.get("told_chars", 0),
        **report.learned(known),
    }
    write_atomically(adoption.world / ADOPTED, yaml.safe_dump(learned, sort_keys=False, allow_unicode=True))
    write_atomically(path, report.model_dump_json(indent=1) + "\n")
    told.say(report.verdict)
    return report


def _held_out(most: int) -> int:
    """Return how many sessions are recorded to measure on, and as many to watch the training by."""
    return min(HELD_OUT, max(10, most // 4))


def _recorded(adoption: Adoption, report: LiveReport, told: Followed) -> AnswerKinds:
    """Record sessions until new ones bring hardly any new kinds of answers, and return what kinds there are."""
    path, done = adoption.sessions("train"), adoption.out / "recorded.json"
    if done.exists():
        return AnswerKinds(**orjson.loads(done.read_bytes()))
    length, most = report.actions / report.episodes, adoption.budget.sessions
    seconds = length / max(report.steps_per_second, 0.01) + report.start_seconds
    held_out = _held_out(most)
    every = most + 2 * held_out
    told.say(
        f"at most {every:,} sessions of {length:.0f} actions: about {every * seconds / 60:.0f} minutes to record; "
        f"{adoption.budget.minutes:g} to train"
    )
    settings = SmallModelSessions(world=adoption.live)
    if adoption.agent is not None:
        settings = SmallModelSessions(world=adoption.live, agent=adoption.agent, agent_share=AGENT_SHARE)
        asked = AGENT_SHARE * every
        told.say(f"{adoption.agent} plays about {asked:,.0f} of them, and is asked once an action; add its time")
    for split in HELD_OUT_SPLITS:
        _record(adoption, split, held_out, settings, told)
    held = adoption.sessions("test")
    each = list(map(characters_of, read_rows(held)))
    size, characters = held.stat().st_size / len(each), sum(each) / len(each)
    told.say(f"{most:,} such sessions have {most * size / 1e6:.1f} MB, {tokens_of(most * characters)}")
    for target in _targets(most):
        _record(adoption, "train", target, settings, told)
        met = _met(path)
        told.say(f"{target:,} sessions: {met.kinds} kinds of answers; {met.unmet:.2%} of further ones would be new")
        if met.unmet <= UNMET:
            break
    write_atomically(done, orjson.dumps(asdict(met), option=orjson.OPT_INDENT_2).decode() + "\n")
    return met


def _targets(most: int) -> Iterator[int]:
    """Yield how many sessions there are each time that kinds of answers are counted.

    >>> list(_targets(2000)), list(_targets(500))
    ([1000, 1250, 1562, 1952, 2000], [500])
    """
    target = min(FIRST, most)
    while target < most:
        yield target
        target = int(target * GROWTH)
    yield most


def _taken(adoption: Adoption, told: Followed) -> AnswerKinds:
    """Take sessions from recordings, and return what kinds of answers those to learn from show."""
    path, done = adoption.sessions("train"), adoption.out / "recorded.json"
    if done.exists():
        return AnswerKinds(**orjson.loads(done.read_bytes()))
    tasks = adoption.world / RECORDED
    most = adoption.budget.sessions
    taken = take(adoption.traces, adoption.spec, path.parent, tasks, most, HELD_OUT, adoption.chosen)
    told.say(f"{taken.told}; {adoption.budget.minutes:g} minutes to train, a few more to measure")
    met = _met(path)
    told.say(f"{met.kinds} kinds of answers; {met.unmet:.2%} of further ones would be new")
    write_atomically(done, orjson.dumps(asdict(met), option=orjson.OPT_INDENT_2).decode() + "\n")
    return met


def _met(path: Path) -> AnswerKinds:
    """Return what kinds of answers the sessions of a file show."""
    return AnswerKinds.of({"actions": row.actions, "observations": row.observations} for row in read_rows(path))


def _record(adoption: Adoption, split: Split, count: int, settings: CollectConfig, told: Followed) -> None:
    tally = told.begin(f"recording, {split}", "sessions", count)

    def begin(held: int) -> None:
        tally.before = min(held, count) - tally.episodes

    def ended(row: Mapping[str, Any]) -> None:
        tally.ended(row["success"], row["score"] or 0.0, len(row["actions"]))

    collect([adoption.spec], adoption.sessions(split), count, SEED, settings, split, progress=begin, on_row=ended)


def _trained(adoption: Adoption, told: Followed) -> dict[str, float]:
    """Train the model, or go on with it where there is more to spend, and return the last metrics."""
    note, run, budget = adoption.out / "trained.json", adoption.out / "training", adoption.budget
    spent = {"minutes": budget.minutes, "tokens": budget.tokens}
    if note.exists():
        held = orjson.loads(note.read_bytes())
        if held["budget"] == spent:
            metrics: dict[str, float] = held["metrics"]
            return metrics
    from agentworld_gym.recipe.training.cpt import train

    with told.training() as measured:
        outcome = train(_configuration(adoption), run, measured)
    if outcome.model is None:
        raise KeyboardInterrupt
    for stale in (adoption.out / FIDELITY, adoption.out / CHOSEN, adoption.world / BOOK):
        stale.unlink(missing_ok=True)
    shutil.rmtree(adoption.world / MODEL, ignore_errors=True)
    shutil.copytree(outcome.model, adoption.world / MODEL, copy_function=_linked)
    numbers = {key: value for key, value in outcome.metrics.items() if isinstance(value, int | float)}
    metrics = {key: value if isinstance(value, int) else float(value) for key, value in numbers.items()}
    told_of = {"budget": spent, "metrics": metrics}
    write_atomically(note, orjson.dumps(told_of, option=orjson.OPT_INDENT_2).decode() + "\n")
    return metrics


def _linked(source: str, target: str) -> None:
    """Link a file, so that weights take no room twice; copy it where files cannot be linked."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _configuration(adoption: Adoption) -> CptConfig:
    """Return how the model is trained: as the configuration `adopt` says, on what was recorded."""
    budget = adoption.budget
    changes: dict[str, Any] = {
        "name": adoption.out.resolve().name,
        "data.rows": [str(adoption.sessions("train"))],
        "data.held_out": [str(adoption.sessions("validation"))],
        "train.max_seconds": 60 * budget.minutes,
        "train.max_tokens": budget.tokens,
    }
    if adoption.model is not None:
        changes |= {"model": {"path": adoption.model}}
        changes |= {f"train.{key}": value for key, value in PRETRAINED.items()}
    return load_config("adopt", CptConfig, changes)


def _chosen(adoption: Adoption, told: Followed) -> WorldbookChoice | None:
    """Let the worldbook answer before the model, if sessions that no figure comes from are answered better so."""
    note = adoption.out / CHOSEN
    if note.exists():
        held = orjson.loads(note.read_bytes())
        return None if held is None else validated(WorldbookChoice, held, note)
    learned, others = (list(read_rows(adoption.sessions(split))) for split in ("train", "validation"))
    alone = _asked(adoption, f"{adoption.tasks}+{model_of(adoption.world)}")
    choice = choose(alone, adoption.world / BOOK, learned, others, told.begin)
    data = None if choice is None else choice.model_dump()
    (adoption.out / FIDELITY).unlink(missing_ok=True)
    write_atomically(note, orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n")
    return choice


def _asked(adoption: Adoption, world: str) -> EnvOptions:
    """Return how a world is asked that is measured."""
    return EnvOptions(spec=adoption.source, world=world, language={"generator": {"confidence": True}})


def _measured(adoption: Adoption, told: Followed) -> FidelityResult:
    """Measure the world on sessions that no training saw."""
    path = adoption.out / FIDELITY
    if path.exists():
        return FidelityResult.read(path)
    rows = list(read_rows(adoption.sessions("train")))
    held = list(read_rows(adoption.sessions("test")))
    plans = range(PLANS) if adoption.config is not None else ()
    plan = FidelityPlan(held, rows, len(rows), plans=plans, planner=adoption.agent or "explore")
    found, interrupted = measure(_asked(adoption, str(adoption.world)), plan, on_stage=told.begin)
    if interrupted:
        raise KeyboardInterrupt
    result = FidelityResult(
        package=installed("agentworld-gym"),
        world=str(adoption.world),
        split="test",
        source=f"{found.sessions} sessions that the model never saw",
        domains=(found,),
    )
    result.write(path)
    write_page(path.with_suffix(".html"), [result])
    return result
