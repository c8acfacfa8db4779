"""Checks of success: which of them are due, how much of each is passed, and the score that they add up to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.task import Check, Task, total_weight

DUE = {"step": {"step"}, "end": {"step", "end"}, "finish": {"step", "end", "finish"}}


def due(task: Task, moment: str) -> list[int]:
    """Return the indices of the checks that are due at a moment.

    The moments are `step`, `end` and `finish`; a later one includes the earlier ones.

    >>> due(Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "1"}}]), "step")
    []
    """
    return [index for index, check in enumerate(task.success) if check.when in DUE[moment]]


def passed(
    check: Check, actions: Sequence[str], observations: Sequence[str], answer: str | None, question: str = ""
) -> float:
    """Return how much of a check of the answer, the actions or the observations is passed, from 0 to 1.

    Args:
        check: The check.
        actions: The actions that were carried out, as `carried_out` gives them.
        observations: What these actions brought about, as `brought_about` gives it.
        answer: What followed `finish:`; None where nothing did.
        question: The instruction, whose words an answer may repeat.
    """
    if check.answer is not None:
        return 0.0 if answer is None else check.answer.score(answer, question)
    if check.action is not None:
        return max((check.action.score(text) for text in actions), default=0.0)
    if check.observation is not None:
        return max((check.observation.score(text) for text in observations), default=0.0)
    raise ValueError("probes and rubrics are not pattern checks")


def carried_out(actions: Iterable[Action]) -> list[str]:
    """Return the actions of an episode that its world carried out, as texts to test.

    A JSON object is written in one notation. An action that ends the episode, or that could not be read, is left out,
    whatever it names.

    >>> read = Action('{"name":"pay"}', parsed={"name": "pay"})
    >>> carried_out([read, Action("ls"), Action("finish: pay", kind=ActionKind.FINISH, answer="pay")])
    ['{"name": "pay"}', 'ls']
    """
    return [
        json.dumps(action.parsed, ensure_ascii=False) if isinstance(action.parsed, dict) else action.raw
        for action in actions
        if is_deed(action)
    ]


def brought_about(actions: Sequence[Action], observations: Sequence[str]) -> list[str]:
    """Return the observation of each action that the world carried out.

    The first observation holds the instruction, and the answer to an action that could not be read may repeat its
    words. Neither shows anything that the agent has done.

    Args:
        actions: All actions of an episode.
        observations: The observation before the first action, and the one after each action.

    >>> done, ended = Action("ls"), Action("finish", kind=ActionKind.FINISH)
    >>> brought_about([done, ended], ["Find a.txt.", "a.txt", "a.txt"])
    ['a.txt']
    """
    return [shown for action, shown in zip(actions, observations[1:], strict=True) if is_deed(action)]


def is_deed(action: Action) -> bool:
    """Whether a world carried out an action: it could be read, and does not end the episode."""
    return action.kind is ActionKind.ACT and action.error is None


def score(task: Task, reached: Mapping[int, float]) -> float:
    """Return the weighted share of the checks that are passed, from 0 to 1.

    Args:
        task: The task with its checks.
        reached: How much of each check is passed, by its index; a list, a table or a judge may give a part.

    >>> task = Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "1"}, "weight": 3},
    ...                                                           {"answer": {"equals": "2"}}])
    >>> score(task, {0: 1.0, 1: 0.0})
    0.75
    """
    gained = sum(task.success[index].weight * value for index, value in reached.items())
    return gained / total_weight(task.success)


def output_of(observation: str, pattern: re.Pattern[str] | None) -> str:
    """Return the part of an observation that a probe tests: the group `output` of the domain's pattern, or all of it.

    >>> output_of("echo hi\\nhi\\n$", re.compile(r"(?s)^[^\\n]*\\n(?P<output>.*)\\n\\$$"))
    'hi'
    """
    match = pattern.search(observation) if pattern else None
    return observation if match is None else match.group("output") or ""
