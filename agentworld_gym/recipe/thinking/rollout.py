"""One rollout of a generator, read: its thinking, its answer, and the observation that the answer means."""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import Completion, Failure, FailureKind
from agentworld_gym.kit.matching.compare import is_valid
from agentworld_gym.llm.prompting.parsing import OUTPUT_TAG, in_output_tag, parse_completion, strip_thinking
from agentworld_gym.llm.rows.rerendering import observation_meant
from agentworld_gym.recipe.thinking.queries import TurnQuery

CUT_OFF = Failure(FailureKind.LENGTH, "the rollout was cut off")
EMPTY = Failure(FailureKind.EMPTY, "the rollout holds no observation")
UNTHOUGHT = Failure(FailureKind.EMPTY, "the rollout holds no thinking")
ILL_FORMED = Failure(FailureKind.MALFORMED, "the rollout has not the form of this domain's observations")


@dataclass(frozen=True, slots=True)
class ThinkingRollout:
    """A usable rollout."""

    thinking: str
    """The thinking."""

    answer: str
    """The assistant message without the thinking."""

    observation: str
    """The observation that the answer means."""

    @property
    def length(self) -> int:
        """The number of characters, by which one of equally good rollouts is chosen."""
        return len(self.thinking) + len(self.answer)


def read_rollout(
    query: TurnQuery, completion: Completion, thinking: bool = True
) -> ThinkingRollout | tuple[str, Failure]:
    """Read a rollout, or say where it fails and how: in the `rollout`, the `thinking` (there has to be some) or the
    `form`.

    Only predictions that have the form of the domain are ever shown to a judge.
    """
    if completion.finish_reason == "length":
        return "rollout", CUT_OFF
    answer = parse_completion(completion.text)
    if answer is None:
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
    return ThinkingRollout(thought, _format_answer(query, answer), observation)


def _format_answer(query: TurnQuery, answer: str) -> str:
    """Write an answer as the samples of these prompts write it: in the output tag where they ask for it."""
    if f"<{OUTPUT_TAG}>" in query.plain.messages[-1]["content"]:
        return in_output_tag(answer)
    return escape(answer) if query.prompts is None else query.prompts.observation(answer)


def thinking_of(text: str) -> str:
    """Return what stands before the answer as thinking.

    >>> thinking_of("<think>It is a\\nfile.</think> a.txt"), thinking_of("a.txt"), thinking_of("so</think>x")
    ('It is a\\nfile.', '', 'so')
    """
    rest = strip_thinking(text)
    head = text[: len(text) - len(rest)] if rest and text.endswith(rest) else ""
    return head.strip().removeprefix("<think>").removesuffix("</think>").strip()
