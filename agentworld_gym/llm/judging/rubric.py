"""Judges that score episodes by a rubric: a model behind any generator, and the protocol of all others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agentworld_gym.core.contracts import Action, ChatRequest, Completion, Failure, FailureKind, Generator, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import Request, Work, in_one_wave
from agentworld_gym.llm.prompting.parsing import parse_class, parse_verdict
from agentworld_gym.llm.prompting.prompt import Prompts

SHOWN = 600
"""The characters of a verdict that an error shows."""


def score_names(criteria: Mapping[str, str] | Sequence[str]) -> list[str]:
    """Return the names of the scores of a verdict: those of the criteria, or "1", "2" and so on for questions."""
    return list(criteria) if isinstance(criteria, Mapping) else [str(n) for n in range(1, len(criteria) + 1)]


def verdict_schema(criteria: Mapping[str, str] | Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of a verdict: one score from 1 to 5 for each criterion.

    The scores of questions are named "1", "2" and so on.

    >>> list(verdict_schema(["Is it polite?"])["properties"]["scores"]["properties"])
    ['1']
    """
    names = score_names(criteria)
    scores = {name: {"type": "integer", "minimum": 1, "maximum": 5} for name in names}
    return {
        "type": "object",
        "required": ["strengths", "weaknesses", "scores"],
        "properties": {
            "strengths": {"type": "string"},
            "weaknesses": {"type": "string"},
            "scores": {"type": "object", "required": names, "properties": scores},
        },
    }


def class_schema(classes: Collection[str]) -> dict[str, Any]:
    """Return the JSON Schema of a verdict that is one of some classes.

    >>> class_schema(["done", "failed"])["properties"]["classification"]
    {'enum': ['done', 'failed']}
    """
    return {
        "type": "object",
        "required": ["reasoning", "classification"],
        "properties": {"reasoning": {"type": "string"}, "classification": {"enum": list(classes)}},
    }


@dataclass(frozen=True)
class JudgedEpisode:
    """One episode to judge, and what to look for in it."""

    task: Task
    """The task of the episode."""

    criteria: Mapping[str, str] | Sequence[str]
    """What the judge looks for: texts by the name of their score, or questions."""

    turns: Sequence[tuple[Action, str]]
    """Each action and observation, without any thinking."""

    answer: str | None
    """The agent's answer; None where it gave none."""

    classes: Mapping[str, float | None] = field(default_factory=dict)
    """The classes that the judge chooses from in place of scores, each with what it is worth; None stands for a failure
    of the world."""


@dataclass(frozen=True)
class JudgeVerdict:
    """What a judge said of an episode."""

    score: float
    """The score, from 0 to 1."""

    usage: Usage
    """The tokens that the verdict took."""


class EpisodeJudge(Protocol):
    """Who scores the rubrics of an environment."""

    def judging(self, case: JudgedEpisode) -> Work[JudgeVerdict | Failure]:
        """Judge one case, as a piece of work."""
        ...

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return what makes the judge what it is: values by name, each with whether this process verified it."""
        ...

    def close(self) -> None:
        """Free what the judge holds."""
        ...


@dataclass
class RubricJudge:
    """Asks a generator for a verdict on each case.

    A verdict that is not whole (see `agentworld_gym.llm.prompting.parsing.parse_verdict` and `parse_class`) is asked
    for again.

    Args:
        prompts: The prompts of the domain, which have a template for the judge.
        generator: The generator that judges.
        sampling: The sampling of the verdicts; thinking is kept apart and never read.
        tries: How often a verdict is asked for before it is a failure.
    """

    prompts: Prompts
    generator: Generator
    sampling: Sampling
    tries: int = 3

    def judge(self, cases: Sequence[JudgedEpisode]) -> list[JudgeVerdict | Failure]:
        """Return one verdict or failure for each case, in order."""
        return in_one_wave(map(self.judging, cases))

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the parts of the generator."""
        return self.generator.describe()

    def close(self) -> None:
        """Close the generator."""
        self.generator.close()

    def judging(self, case: JudgedEpisode) -> Work[JudgeVerdict | Failure]:
        """Judge one case, as a piece of work that asks the generator."""
        spent, said = Usage(), ""
        for attempt in range(self.tries):
            answer = yield Request(self.generator, self._request(case, attempt))
            if isinstance(answer, Failure):
                return answer
            spent, said = spent + answer.usage, answer.text
            verdict = self._read(answer, case, spent)
            if verdict is not None:
                return verdict
        message = f"the verdict cannot be read, in {self.tries} tries; the last one was: {shortened(said)}"
        return Failure(FailureKind.MALFORMED, message, retryable=True, spent=spent)

    def _request(self, case: JudgedEpisode, attempt: int) -> ChatRequest:
        messages = self.prompts.judge(case.task, case.turns, case.criteria, case.answer, tuple(case.classes))
        seed = attempt if self.generator.supports_seed else None
        schema = class_schema(case.classes) if case.classes else verdict_schema(case.criteria)
        schema_or_none = schema if self.generator.supports_schema else None
        return ChatRequest(messages, replace(self.sampling, seed=seed), schema_or_none)

    def _read(self, answer: Completion, case: JudgedEpisode, spent: Usage) -> JudgeVerdict | Failure | None:
        """Return what an answer says of a case; None where it cannot be read."""
        if not case.classes:
            judgement = parse_verdict(answer.text, score_names(case.criteria))
            return None if judgement is None else JudgeVerdict(judgement.score, spent)
        chosen = parse_class(answer.text, case.classes)
        if chosen is None:
            return None
        worth = case.classes[chosen]
        if worth is None:
            return Failure(FailureKind.ENGINE, f"the judge holds the world to have failed: {chosen}", spent=spent)
        return JudgeVerdict(worth, spent)


def shortened(text: str, most: int = SHOWN) -> str:
    """Return a text in quotes as an error shows it: of a long one the beginning and the end.

    >>> shortened("It is fine."), shortened("a" * 30 + "b" * 30, most=8)
    ("'It is fine.'", "'aaaa' … 'bbbb' (60 characters)")
    """
    if len(text) <= most:
        return repr(text)
    return f"{text[: most // 2]!r} … {text[-(most // 2) :]!r} ({len(text)} characters)"
