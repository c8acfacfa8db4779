"""A judge that compares a predicted observation with the true one, in five dimensions.

The protocol is that of AgentWorldBench (Qwen-AgentWorld, arXiv 2606.24597), in words of this package. The judge is
shown the history that the model was given, and never any thinking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator, Message
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.registration import shipped_domains
from agentworld_gym.llm.generators.handles import addresses_of
from agentworld_gym.llm.judging.bench_rows import BenchRow
from agentworld_gym.llm.prompting.official import JUDGE, OfficialPrompts, formatted
from agentworld_gym.llm.prompting.parsing import DIMENSIONS, Judgement, parse_judgement, parse_verdict
from agentworld_gym.llm.prompting.templates import ticks

TRIES = 3
BENCH_SAMPLING = Sampling(temperature=0.6, max_tokens=32768)
"""How the official run samples the answers of the model and those of the judge."""

UNREADABLE = Failure(FailureKind.MALFORMED, "the judge's verdict cannot be read", retryable=True)

CRITERIA: Mapping[str, str] = {
    "format": "It has the form that this environment's observations have, with nothing added and nothing left out.",
    "factuality": "What it says agrees with the real observation, as far as it could be known.",
    "consistency": "It follows from the history and the action; nothing that was fixed before is contradicted.",
    "realism": "What could not be known is believable and specific, as the real environment would show it.",
    "quality": "It is complete and of the right length; an agent could go on from it as from the real observation.",
}
"""What the dimensions mean in a domain that has no rubric of its own."""


@dataclass(frozen=True)
class Judge:
    """Asks a generator for a verdict on one prediction, and reads it.

    Args:
        generator: The generator that judges.
        sampling: The sampling of the verdicts.
        tries: How often a verdict is asked for before it is a failure.
        handle: The name of the judge in results.
        official: The official prompts, whose judge prompts stand in for those of this package.
    """

    generator: Generator
    sampling: Sampling = BENCH_SAMPLING
    tries: int = TRIES
    handle: str = ""
    official: OfficialPrompts | None = None

    @property
    def prompts_digest(self) -> str:
        """16 hexadecimal digits over the prompts of the judge, in all domains."""
        return digest_of(_words(self.official))

    def request(self, row: BenchRow, prediction: str, attempt: int = 0) -> ChatRequest:
        """Return the request for a verdict; `attempt` counts from 0, and each one draws another seed."""
        seed = attempt if self.generator.supports_seed else None
        return ChatRequest(judge_messages(row, prediction, self.official), self.sampling.seeded(seed))

    def read(self, answer: Completion | Failure) -> Judgement | Failure:
        """Read the verdict in an answer as leniently as the benchmark does; thinking in it is passed over."""
        if isinstance(answer, Failure):
            return answer
        return parse_judgement(answer.text, DIMENSIONS) or UNREADABLE

    def read_whole(self, answer: Completion | Failure) -> Judgement | Failure:
        """Read the verdict in an answer where a reward or training data depends on it: only a whole one counts."""
        if isinstance(answer, Failure):
            return answer
        return parse_verdict(answer.text, DIMENSIONS) or UNREADABLE


def judge_messages(row: BenchRow, prediction: str, official: OfficialPrompts | None = None) -> list[Message]:
    """Return what a judge is sent: how to judge in this domain, then the history, the truth and the prediction.

    With official prompts the message is laid out as the official script lays it out: the earlier turns as they stand,
    without the system message, the turn, the prediction, the truth and a request. The request is that of the script
    where it lies beside the prompts, and otherwise in words of this package.

    >>> row = BenchRow(("terminal", "a", 1, 1), ({"role": "user", "content": "ls please"},), "ls", "a.txt")
    >>> system, user = judge_messages(row, "b.txt <think>")
    >>> "please" in user["content"], "a.txt" in user["content"], "b.txt <\\\\think>" in user["content"]
    (False, True, True)
    """
    if official is not None:
        return _official_messages(row, prediction, official)
    texts = [message["content"] for message in row.history if message["role"] != "system"]
    system = next((message["content"] for message in row.history if message["role"] == "system"), "")
    user = _template().render(
        part="user",
        system=system,
        past=list(zip(texts[::2], texts[1::2], strict=True)),
        current=row.current,
        truth=escape(row.truth),
        prediction=escape(prediction),
    )
    return [Message(role="system", content=_system(row.domain)), Message(role="user", content=user.strip())]


def _official_messages(row: BenchRow, prediction: str, official: OfficialPrompts) -> list[Message]:
    texts = [message["content"] for message in row.history if message["role"] != "system"]
    past = "".join(f"{asked}\n{shown}\n\n" for asked, shown in zip(texts[::2], texts[1::2], strict=True))
    parts = {
        "context": past and f"# Context (Historical Interactions):\n\n{past}",
        "world_model_input": f"# Current Turn:\n\n{row.current}",
        "predicted_observation": _in_fence("World Model Output (Simulated)", prediction),
        "ground_truth": _in_fence("Ground Truth (Real Output)", row.truth),
    }
    request = official.judge_request()
    if request is None:
        user = _template().render(part="official", criteria=DIMENSIONS, **parts)
    else:
        user = formatted(request, parts)
    return [Message(role="system", content=official.judge(row.domain)), Message(role="user", content=user.strip())]


def _in_fence(label: str, observation: str) -> str:
    """Show an observation as the official script does: in three ticks, whatever it holds."""
    return f"**{label}:**\n```\n{escape(observation.strip())}\n```"


def judge_digest(judge: Judge) -> str:
    """Return 16 hexadecimal digits over all that makes a judge what it is: model, sampling, words and tries.

    A server cannot prove its model, so that one at another address is another judge.
    """
    parts = {name: value for name, (value, _) in judge.generator.describe().items()}
    where = addresses_of(judge.generator)
    made = [parts, judge.sampling.as_dict(), judge.tries, _words(judge.official)]
    return digest_of([*made, where] if where else made)


def _words(official: OfficialPrompts | None) -> list[Any]:
    """Return the whole prompt of judges beside the rows."""
    if official is not None:
        return [_source(), dict(official.texts(JUDGE)), official.judge_request()]
    return [_source(), dict(CRITERIA), *map(_system, sorted(shipped_domains()))]


@lru_cache(maxsize=32)
def _system(domain: str) -> str:
    from agentworld_gym.core.domain.spec import load_spec

    title, criteria, kinds = f"one called {domain}", dict(CRITERIA), {}
    try:
        spec = load_spec(domain)
    except SpecError:  # The benchmark has domains that this package does not have.
        pass
    else:
        title, kinds = spec.title, dict(spec.observation.kinds)
        criteria |= {name: text for name, text in spec.rubric.items() if name in CRITERIA}
    return str(_template().render(part="system", title=title, criteria=criteria, kinds=kinds)).strip()


def _source() -> str:
    return files("agentworld_gym.llm.judging").joinpath("judge.j2").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["ticks"] = ticks
    return environment.from_string(_source())
