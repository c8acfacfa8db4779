"""Success checks: which are due at a moment, what their probes need, and how much of the score they give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from agentworld_gym.contracts import Action, ActionKind
from agentworld_gym.domain.task import Check, Task, total_weight

DUE = {"step": {"step"}, "end": {"step", "end"}, "finish": {"step", "end", "finish"}}


def due(task: Task, moment: str) -> list[int]:
    """Indices of the checks to test at a moment (`step`, `end` or `finish`; a later one includes the earlier).

    >>> due(Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "1"}}]), "step")
    []
    """
    return [index for index, check in enumerate(task.success) if check.when in DUE[moment]]


def passed(check: Check, actions: Sequence[str], observations: Sequence[str], answer: str | None) -> float:
    """How much of a pattern check over the answer, the actions or the observations of an episode passes, 0 to 1.

    Args:
        check: the check.
        actions: the actions that were carried out, as `carried_out` gives them.
        observations: what these actions brought about, as `brought_about` gives it.
        answer: what followed `finish:`; None where nothing did.
    """
    if check.answer is not None:
        return 0.0 if answer is None else check.answer.score(answer)
    if check.action is not None:
        return max((check.action.score(text) for text in actions), default=0.0)
    if check.observation is not None:
        return max((check.observation.score(text) for text in observations), default=0.0)
    raise ValueError("probes and rubrics are not pattern checks")


def carried_out(actions: Iterable[Action]) -> list[str]:
    """The actions of an episode that a world acted on, as texts to test; a JSON object is written in one form.

    What ends an episode and what could not be read is no deed, whatever it names.

    >>> read = Action('{"name":"pay"}', parsed={"name": "pay"})
    >>> carried_out([read, Action("ls"), Action("finish: pay", kind=ActionKind.FINISH, answer="pay")])
    ['{"name": "pay"}', 'ls']
    """
    return [
        json.dumps(action.parsed, ensure_ascii=False) if isinstance(action.parsed, dict) else action.raw
        for action in actions
        if _is_deed(action)
    ]


def brought_about(actions: Sequence[Action], observations: Sequence[str]) -> list[str]:
    """What was shown after each action that a world acted on.

    What is shown before the first action holds the instruction, and the answer to what could not be read may hold its
    words: neither is anything that the agent has done.

    Args:
        actions: those of an episode.
        observations: what was shown at the start, and after each action.

    >>> done, ended = Action("ls"), Action("finish", kind=ActionKind.FINISH)
    >>> brought_about([done, ended], ["Find a.txt.", "a.txt", "a.txt"])
    ['a.txt']
    """
    return [shown for action, shown in zip(actions, observations[1:], strict=True) if _is_deed(action)]


def _is_deed(action: Action) -> bool:
    return action.kind is ActionKind.ACT and action.error is None


def score(task: Task, reached: Mapping[int, float]) -> float:
    """Weighted share of the checks passed, 0 to 1.

    `reached` maps a check's index to 0..1 (a list, a table or a judge may give part).

    >>> task = Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "1"}, "weight": 3},
    ...                                                           {"answer": {"equals": "2"}}])
    >>> score(task, {0: 1.0, 1: 0.0})
    0.75
    """
    gained = sum(task.success[index].weight * value for index, value in reached.items())
    return gained / total_weight(task.success)


def score_with_collateral(task: Task) -> float:
    """The most that an episode scores which changed what its task does not ask for: as if the lightest check failed.

    >>> task = Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "1"}, "weight": 3},
    ...                                                           {"answer": {"equals": "2"}}])
    >>> score_with_collateral(task)
    0.75
    """
    return 1.0 - min(check.weight for check in task.success) / total_weight(task.success)


def output_of(observation: str, pattern: re.Pattern[str] | None) -> str:
    """The part of an observation that a probe tests: the group `output` of the domain's pattern, or all of it.

    >>> output_of("echo hi\\nhi\\n$", re.compile(r"(?s)^[^\\n]*\\n(?P<output>.*)\\n\\$$"))
    'hi'
    """
    found = pattern.search(observation) if pattern else None
    return observation if found is None else found.group("output") or ""
