"""One rollout of a generator, read: its thinking, its answer, and the observation that it means."""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.contracts import Completion, Failure, FailureKind
from agentworld_gym.errors import AnswerError
from agentworld_gym.matching.forms import is_valid
from agentworld_gym.prompting.parsing import OUTPUT_TAG, in_output_tag, parse_completion, strip_thinking
from agentworld_gym.recipe.thinking.queries import Query
from agentworld_gym.sessions.rerendering import observation_meant
from agentworld_gym.text.escaping import escape

CUT_OFF = Failure(FailureKind.LENGTH, "the rollout was cut off")
EMPTY = Failure(FailureKind.EMPTY, "the rollout holds no observation")
UNTHOUGHT = Failure(FailureKind.EMPTY, "the rollout holds no thinking")
ILL_FORMED = Failure(FailureKind.MALFORMED, "the rollout has not the form of this domain's observations")


@dataclass(frozen=True, slots=True)
class Rollout:
    """A usable rollout. `answer` is the assistant message without thinking, `observation` what it means."""

    thinking: str
    answer: str
    observation: str

    @property
    def length(self) -> int:
        """Characters, by which equally good rollouts are told apart."""
        return len(self.thinking) + len(self.answer)


def read_rollout(query: Query, completion: Completion, thinking: bool = True) -> Rollout | tuple[str, Failure]:
    """A rollout, or where it fails and how: `rollout`, `thinking` (there has to be some) or `form`.

    Only what has the form that is due in the domain is ever shown to a judge.
    """
    if completion.finish_reason == "length":
        return "rollout", CUT_OFF
    answer = parse_completion(completion.text)
    if not answer:
        return "rollout", EMPTY
    thought = completion.reasoning.strip() or thinking_of(completion.text)
    if thinking and not thought:
        return "thinking", UNTHOUGHT
    row, prompts = query.row, query.prompts
    try:
        observation = answer if prompts is None else observation_meant(row, prompts, query.before, answer)
    except AnswerError as error:
        return "form", Failure(FailureKind.MALFORMED, str(error))
    if not is_valid(row.domain, observation, row.observations[-1], query.before):
        return "form", ILL_FORMED
    return Rollout(thought, _written(query, answer), observation)


def _written(query: Query, answer: str) -> str:
    """An answer as the samples of these prompts write it: in the output tag where they ask for it."""
    if f"<{OUTPUT_TAG}>" in query.plain.messages[-1]["content"]:
        return in_output_tag(answer)
    return escape(answer) if query.prompts is None else query.prompts.observation(answer)


def thinking_of(text: str) -> str:
    """What stands before the answer as thinking.

    >>> thinking_of("<think>It is a\\nfile.</think> a.txt"), thinking_of("a.txt"), thinking_of("so</think>x")
    ('It is a\\nfile.', '', 'so')
    """
    rest = strip_thinking(text)
    head = text[: len(text) - len(rest)] if rest and text.endswith(rest) else ""
    return head.strip().removeprefix("<think>").removesuffix("</think>").strip()
