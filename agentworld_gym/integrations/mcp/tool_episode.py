"""An episode whose agent calls tools: what it can call, what a call is as an action, and what it reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentworld_gym.core.actions.finish import FINISH_TOOL, VERB
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.user import ASK, ASK_TOOL
from agentworld_gym.envs.episodes.runner import EpisodeRunner, after_instruction
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.llm.prompting.agent_prompt import role_of_caller

ACT, OBSERVE = "act", "observe"

_OBSERVE_TOOL: Mapping[str, Any] = {
    "name": OBSERVE,
    "description": "Shows the task, and what the world showed last. It is no step of the task.",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
}

ENDED = "The episode has ended."
_NOTHING_COUNTS = f"{ENDED} Nothing that is called now counts."
_WORLD_FAILED = "The world failed, which is no fault of yours, and the episode ends without a verdict"


class Answer(NamedTuple):
    """What an agent reads after a call."""

    texts: tuple[str, ...]
    """What the world shows, and what there is to say beside it."""

    refused: bool = False
    """Whether the call was refused, or the world failed."""


class ToolEpisode:
    """One episode whose agent calls tools.

    The tools are those of the domain and the task where actions call tools, or else `act`, which takes an action as
    text, and `ask` where the task has a user. `finish` and `observe` stand beside them. A call is read as an action of
    the domain, and a wrong one gets the error that the domain prints.

    Args:
        runner: The runner of the episode.
        seed: The seed of the task, the initial state and the world's requests.

    Raises:
        AgentWorldError: The world cannot begin, or a task does not fit.

    >>> from agentworld_gym.envs.options import EnvOptions
    >>> runner = EnvOptions(spec="terminal", world="scripted").runner()
    >>> episode = ToolEpisode(runner, seed=0)
    >>> [tool["name"] for tool in episode.tools]
    ['act', 'finish', 'observe']
    >>> def call(name, **arguments):
    ...     (step,) = runner.advance([episode.episode], [episode.action(name, arguments)])
    ...     return episode.answer(step)
    >>> call("act", action="ls"), call("act", command="ls").refused, call("finish", answer=3).texts
    (Answer(texts=('[1] ls',), refused=False), True, ('The episode has ended.',))
    >>> runner.close()
    """

    def __init__(self, runner: EpisodeRunner, seed: int) -> None:
        ((self.episode, first, _),) = runner.start([seed], {})
        self._parser, self._failed = runner.parser, False
        self.called = False
        """Whether the agent called a tool, and not only looked at what there is."""
        action = runner.spec.action
        own = [dict(tool) for tool in self.episode.tools]
        self.acts = not (own and calls_tools(action.syntax))
        if self.acts:
            own = [_act_tool(action.description), *(tool for tool in own if tool == ASK_TOOL)]
        self._own = {str(tool["name"]) for tool in own}
        self.tools = [*own, *(dict(tool) for tool in (FINISH_TOOL, _OBSERVE_TOOL) if tool["name"] not in self._own)]
        self.brief = f"{role_of_caller(runner.spec)}\n\n{first}"
        """How to act, the task, and what the world shows at the start."""

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.episode.over or self._failed

    def action(self, name: str, arguments: Mapping[str, Any]) -> str | Action | None:
        """Return a call as an action of the domain, for `EpisodeRunner.advance`; None for a call of `observe`."""
        self.called = True
        call = json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)
        if name not in self._own and name == OBSERVE:
            return None
        if name not in self._own and name == VERB:
            known = arguments.keys() <= {"answer"}
            problem = f"{VERB} takes one argument, 'answer'"
            return _finish(arguments.get("answer")) if known else self._refused(call, problem)
        if name == ASK and name in self._own:
            fits = arguments.keys() == {"question"} and isinstance(arguments["question"], str)
            return call if fits else self._refused(call, f"{ASK} takes one argument, 'question'")
        if not self.acts:
            return call
        if name != ACT:
            return self._refused(call, f"Unknown tool: {name}")
        if arguments.keys() != {"action"}:
            return self._refused(call, f"{ACT} takes one argument, 'action'")
        return _text(arguments["action"])

    def _refused(self, call: str, problem: str) -> Action:
        return Action(call, error=self._parser.refused(problem, call, self.episode.session.observation))

    def shown(self) -> Answer:
        """Return the task and what the world showed last."""
        shown = self.episode.observation  # The first one begins with the instruction.
        return Answer((after_instruction(self.episode.task, shown) if self.episode.actions else shown,))

    def too_late(self) -> Answer:
        """Return what an agent reads that calls a tool after the end."""
        return Answer((_NOTHING_COUNTS,), refused=True)

    def answer(self, step: Transition) -> Answer:
        """Return what the agent reads after a step: never a reward, and no verdict."""
        if (failure := step.info.get("failure")) is not None:
            self._failed = True
            return Answer((f"{_WORLD_FAILED}: {failure['message']}",), refused=True)
        ended = (ENDED,) if self.over else ()
        if self.episode.taken[-1].kind is ActionKind.FINISH:
            return Answer(ended)
        return Answer((step.observation, *ended), "action_error" in step.info)

    def leaving(self) -> Action | None:
        """Return the action that has the episode scored after its agent has left; None where there is nothing to score.

        It is a `finish` of which the agent wrote nothing, as its field `written` says. Who has called no
        tool is not scored: programs also connect to list tools.
        """
        if self.over or not self.called:
            return None
        return Action(VERB, kind=ActionKind.FINISH, written="")


def _act_tool(description: str) -> dict[str, Any]:
    action = {"type": "string", "description": description}
    schema = {"type": "object", "properties": {"action": action}, "required": ["action"], "additionalProperties": False}
    return {"name": ACT, "description": "Does one action, and returns what the world shows then.", "parameters": schema}


def _finish(answer: Any) -> str:
    text = "" if answer is None else _text(answer)
    return f"{VERB}: {text}" if text.strip() else VERB


def _text(value: Any) -> str:
    """Return a text as it is, and any other value, which a model may write all the same, as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
