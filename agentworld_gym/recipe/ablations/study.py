"""An ablation study in one table: arms trained from one configuration, one seed, the same sessions and the same time.

Every arm is trained from scratch and tested on the same turns of sessions that no training saw. A turn is exact if
greedy decoding writes the true observation character for character, given the true history. Pairs of arms are compared
turn by turn, with 95% intervals bootstrapped over sessions. The questions are those that Qwen-AgentWorld (arXiv
2606.24597) leaves open for small models.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentworld_gym.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.documents.atomic_files import write_atomically
from agentworld_gym.documents.strict import validated
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.task import Split
from agentworld_gym.errors import AnswerError
from agentworld_gym.generators import open_generator
from agentworld_gym.prompting.parsing import parse_completion
from agentworld_gym.recipe.ablations.arms import Arm, ArmData, arms_for
from agentworld_gym.recipe.ablations.table import AblationConfig, ArmResult, Table, TurnOutcome, comparison_table
from agentworld_gym.recipe.collect.recording_file import collect
from agentworld_gym.recipe.saved_settings import ensure_same_settings
from agentworld_gym.recipe.training.exact_match import exact_answers
from agentworld_gym.recipe.training.metrics import Metrics
from agentworld_gym.recipe.training.model import model_of_run, tokenizer_of_run
from agentworld_gym.recipe.training.pipeline import fit
from agentworld_gym.recipe.training.stage_config import CptConfig
from agentworld_gym.retrieval.build import build_index
from agentworld_gym.retrieval.index import META, StepIndex
from agentworld_gym.retrieval.steps import steps_of
from agentworld_gym.sessions.rerendering import observation_meant
from agentworld_gym.sessions.row import Row
from agentworld_gym.sessions.row_reading import read_rows
from agentworld_gym.sessions.samples import Sample, read_samples, write_samples

SETTINGS, ROWS, INDEX, SAMPLES, RESULT = "settings.yaml", "rows", "index", "samples.jsonl", "result.json"
MAX_ANSWER = 1024

Say = Callable[[str], None]


@dataclass(frozen=True)
class AblationStudy:
    """All arms, in one folder. What is there already is used again: a run that was stopped goes on with its arm.

    Raises:
        SpecError: The folder is of other settings.
    """

    config: AblationConfig
    """What the arms share."""

    folder: Path
    """The folder of the study: one folder for each arm, the recorded sessions, and the index of their steps."""

    say: Say = lambda _: None
    """A function that is called with what is being done."""

    def run(self) -> Table:
        """Train and test what is missing, then compare."""
        self._claim()
        results = [self._arm(arm) for arm in self._chosen()]
        return comparison_table(self.config, results)

    def _chosen(self) -> list[Arm]:
        possible = arms_for(self.config.domains)
        return [arm for arm in possible if not self.config.arms or arm.name in self.config.arms]

    def _claim(self) -> None:
        """Settle that this folder is for these settings. Arms may be added; nothing else may differ."""
        ensure_same_settings(self.folder / SETTINGS, self.config.model_dump(mode="json", exclude={"arms"}))

    def _arm(self, arm: Arm) -> ArmResult:
        path = self.folder / arm.name / RESULT
        if path.is_file():
            return validated(ArmResult, json.loads(path.read_text(encoding="utf-8")), path)
        rows, unseen = self._rows("train"), self._rows("test")
        data = ArmData(
            arm,
            self._index(rows) if arm.retrieval else None,
            self.config.recipe.collect.profile,
            self.config.turns,
            self.config.recipe.preparation.context_weight,
        )
        recipe = self._recipe(arm)
        run = self.folder / arm.name / "run"
        self.say(f"{arm.name}: {self.config.minutes:g} minutes of training")

        last: Metrics = {}

        def progress(metrics: Metrics) -> None:
            last.update(metrics)
            if "loss" in metrics:
                self.say(f"{arm.name}: {metrics['progress']:.0%}, step {metrics['step']}, loss {metrics['loss']:.3f}")

        outcome = fit(recipe, run, self._learned(data, rows), lambda: (), progress)
        if outcome.model is None:
            raise KeyboardInterrupt
        self.say(f"{arm.name}: testing")
        if arm.thinking:
            turns = tuple(_decoded(data, unseen, outcome.model, self.config))
        else:
            turns = tuple(_by_forward(data, unseen, run, self.config))
        result = ArmResult(
            arm=arm.name,
            steps=outcome.steps,
            tokens=last.get("tokens", 0),
            seconds=last.get("seconds", 0.0),
            loss=last.get("loss"),
            turns=turns,
        )
        write_atomically(path, result.model_dump_json())
        return result

    def _recipe(self, arm: Arm) -> CptConfig:
        """Return the configuration of an arm's run; its samples are made here."""
        recipe = self.config.recipe
        plain = recipe.model_dump()
        plain["name"] = arm.name
        plain["data"] |= {"domains": self.config.domains, "rows": (), "samples": (), "held_out": (), "validation": 0}
        plain["train"] |= {"max_seconds": 60 * self.config.minutes}
        return validated(CptConfig, plain, "ablations")

    def _learned(self, data: ArmData, rows: Iterable[Row]) -> Callable[[], Iterator[Sample]]:
        """Return a function that reads the samples of an arm, which are made once and read more often."""
        path = self.folder / data.arm.name / SAMPLES

        def samples() -> Iterator[Sample]:
            if not path.is_file():
                self.say(f"{data.arm.name}: samples")
                write_samples(path, data.learned(rows))
            return read_samples(path)

        return samples

    def _rows(self, split: Split) -> _Recorded:
        episodes = self.config.episodes if split == "train" else self.config.unseen
        path = self.folder / ROWS / f"{split}.jsonl"
        recorded = _Recorded(path, episodes)
        if path.is_file() and sum(1 for _ in recorded) == episodes:
            return recorded
        path.parent.mkdir(parents=True, exist_ok=True)
        recipe = self.config.recipe
        self.say(f"{split}: {episodes} sessions")
        specs = [load_spec(domain) for domain in self.config.domains]
        collect(specs, path, episodes, recipe.train.seed, recipe.collect, split, recipe.data.workers)
        return recorded

    def _index(self, rows: Iterable[Row]) -> StepIndex:
        folder = self.folder / INDEX
        return StepIndex(folder) if (folder / META).is_file() else build_index(rows, folder)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The sessions of a file, read as often as they are asked for."""

    path: Path
    count: int

    def __iter__(self) -> Iterator[Row]:
        return read_rows(self.path, 0, self.count)


def _by_forward(data: ArmData, rows: Iterable[Row], run: Path, config: AblationConfig) -> Iterator[TurnOutcome]:
    """Test each turn by one forward pass over each sample."""
    import torch

    by_id = {row.id: row for row in rows}
    samples = [sample for row in by_id.values() for sample in data.tested(row, config.tested_turns)]
    model: Any = model_of_run(run)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    context = model.config.max_position_embeddings
    for sample, exact in exact_answers(model, tokenizer_of_run(run), samples, context):
        name, turn = _place(sample)
        flags = enumerate(exact, 1) if turn is None else [(turn, exact[-1])]
        for number, flag in flags:
            yield _turn(by_id[name], number, bool(flag), FailureKind.OVERFLOW if flag is None else None)


def _decoded(data: ArmData, rows: Iterable[Row], model: Path, config: AblationConfig) -> Iterator[TurnOutcome]:
    """Test some turns by decoding them as a language world does."""
    by_id = {row.id: row for row in rows}
    samples = [sample for row in by_id.values() for sample in data.tested(row, config.tested_turns)]
    samples = random.Random(config.recipe.train.seed).sample(samples, min(config.decoded, len(samples)))
    sampling = Sampling(temperature=0.0, max_tokens=MAX_ANSWER, thinking=True)
    generator = open_generator(f"transformers:{model}")
    try:
        requests = [ChatRequest(sample.messages[:-1], sampling) for sample in samples]
        for index, answer in generator.submit(requests):
            name, turn = _place(samples[index])
            row = by_id[name]
            yield _read(data, row, turn or row.turn_idx, answer)
    finally:
        generator.close()


def _read(data: ArmData, row: Row, turn: int, answer: Completion | Failure) -> TurnOutcome:
    _, before, truth = list(steps_of(row))[turn - 1]
    if isinstance(answer, Failure):
        return _turn(row, turn, False, answer.kind)
    if answer.finish_reason == "length":
        return _turn(row, turn, False, FailureKind.LENGTH)
    written = parse_completion(answer.text)
    if written is None:
        return _turn(row, turn, False, FailureKind.EMPTY)
    try:
        predicted = observation_meant(row.at(turn), data.prompts(row.domain), before, written)
    except AnswerError:
        return _turn(row, turn, False, FailureKind.MALFORMED)
    return _turn(row, turn, predicted == truth)


def _place(sample: Sample) -> tuple[str, int | None]:
    """Return the session of a sample, and its turn where it has one."""
    name, slash, turn = sample.id.rpartition("/")
    return (name, int(turn)) if slash else (sample.id, None)


def _turn(row: Row, turn: int, exact: bool, failure: FailureKind | None = None) -> TurnOutcome:
    fixed = not (row.spans and row.spans[turn - 1])
    return TurnOutcome(row=row.id, turn=turn, domain=row.domain, fixed=fixed, exact=exact, failure=failure)


def smoke(recipe: CptConfig, domains: tuple[str, ...] = ("terminal", "android")) -> AblationConfig:
    """Return settings that run through every arm within seconds, to see that all of it works; the figures mean
    nothing.
    """
    plain: dict[str, Any] = recipe.model_dump()
    plain["collect"] |= {"levels": {1: 1.0}, "max_turns": 3}
    plain["data"] |= {"workers": 1, "max_tokens": 8192}
    plain["model"]["shape"] |= {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "vocab_size": 600,
        "max_position_embeddings": 8192,
    }
    plain["model"]["layers_of"] = None
    plain["train"] |= {"max_steps": 2, "batch_tokens": 8192, "compile": False, "tensorboard": False}
    small = validated(CptConfig, plain, "smoke")
    return AblationConfig(
        domains=domains, minutes=1, episodes=3 * len(domains), unseen=len(domains), decoded=2, turns=1, recipe=small
    )
