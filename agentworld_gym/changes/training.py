"""Recorded turns as training examples in the change form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentworld_gym.changes.writing import diff
from agentworld_gym.escaping import escape
from agentworld_gym.screens.sight import current

if TYPE_CHECKING:
    from agentworld_gym.contracts import Action, Message
    from agentworld_gym.prompt import Prompts
    from agentworld_gym.task import Task


def change_messages(prompts: Prompts, task: Task, turns: Sequence[tuple[Action, str]]) -> tuple[list[Message], str]:
    """One turn of a recorded session for training in the change form: the messages, and the completion to learn.

    `turns` are all up to this one, as (action, observation) with full observations, which recorded rows hold; `prompts`
    are those of the change form.

    >>> from agentworld_gym.actions import ActionParser
    >>> from agentworld_gym.prompt import Prompts
    >>> from agentworld_gym.spec import load_spec
    >>> spec = load_spec("android")
    >>> task, act = spec.handwritten_tasks()[0], ActionParser(spec).parse('{"action_type": "wait"}')
    >>> screen = spec.observation.examples[0]
    >>> messages, completion = change_messages(Prompts(spec, form="change"), task, [(act, screen), (act, screen)])
    >>> print(completion)
    <predicted_observation>
    @@ same
    </predicted_observation>
    """
    *past, (action, observation) = turns
    before = prompts.first_observation(task)
    for _, shown in past:
        before = current(task.domain, before, shown)
    change = escape(diff(before, observation))
    completion = f"<predicted_observation>\n{change}\n</predicted_observation>"
    return prompts.messages(task, past, action), completion
