"""The prompt of a recorded session: the system message of its agent, and the tools that it can call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from agentworld_gym.base.text.escaping import escape_all
from agentworld_gym.core.actions.naming import callable_tools
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.toolset import Toolset
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.agent_prompt import role_of_agent, role_of_caller, takes_calls, with_finish
from agentworld_gym.recipe.export.agent_session import AgentSession, Tools

TRIED = 3
"""How many tasks have to agree on their tools before further ones are taken to have the same."""


class SessionPrompt(NamedTuple):
    """The prompt of a session, and what reads the actions of its agent."""

    parser: ActionParser
    """The exact parser of the domain, in the dialect of the session."""

    toolset: Toolset
    """The tools that can be called, under the names that they have in the dialect."""

    system: str
    """The system message of an agent that writes its actions as text."""

    caller: str
    """The system message of an agent that gets the tools apart from it."""

    tools: Sequence[Mapping[str, Any]]
    """The tools in the form of OpenAI: `finish` is one of them."""


def session_prompt(session: AgentSession) -> SessionPrompt:
    """Return the prompt of a session.

    >>> from agentworld_gym.recipe.export.agent_session import AgentSession
    >>> session = AgentSession("a", load_spec("terminal"), (), "Count.", "$ ", ("ls",), (), True, 1.0, "", "", None,
    ...                        None, "train", "", "", lambda: None)
    >>> session_prompt(session).system.splitlines()[-2], session_prompt(session).tools
    ('When the task is done, write: finish', [])
    """
    return _prompt_of(session.spec.source, orjson.dumps(session.tools))


@lru_cache(maxsize=64)
def _prompt_of(source: str, written: bytes) -> SessionPrompt:
    spec, tools = load_spec(source), orjson.loads(written)
    known = callable_tools(spec.action, tools)
    called: Any = []
    if takes_calls(spec):
        called = [{"type": "function", "function": escape_all(_whole(tool))} for tool in with_finish(known)]
    return SessionPrompt(
        parser=ActionParser(spec),
        toolset=Toolset(known, spec.path),
        system=role_of_agent(spec, known),
        caller=role_of_caller(spec),
        tools=called,
    )


def _whole(tool: Any) -> dict[str, Any]:
    """Return a tool with the parameters that every chat template looks for."""
    return {**tool, "parameters": tool.get("parameters") or {"type": "object", "properties": {}}}


class TaskTools:
    """The tools of tasks.

    To make a task takes up to some tens of milliseconds, and all tasks of a family have the same tools as a rule. Where
    the first few of a family agree, none is made any more, nor where the first few of a domain bring none; where they
    do not agree, each of them is made.
    """

    def __init__(self) -> None:
        self._tried: dict[tuple[str, str], dict[str, Tools]] = {}

    def of(self, domain: str, family: str, task_id: str, find_task: Callable[[], Task | None]) -> Tools | None:
        """Return the tools of a task; None where the task cannot be made again.

        Args:
            domain: The id of the domain.
            family: The family that made the task; empty where none did.
            task_id: The id of the task.
            find_task: A function that makes the task.
        """
        in_domain, in_family = self._tried.setdefault((domain, ""), {}), self._tried.setdefault((domain, family), {})
        if family and _agree(in_domain) and not any(in_domain.values()):
            return ()
        if family and _agree(in_family):
            return next(iter(in_family.values()))
        task = find_task()
        if task is None:
            return None
        for tried in (in_domain, in_family) if family else ():
            if len(tried) < TRIED:
                tried[task_id] = task.tools
        return task.tools


def _agree(tried: Mapping[str, Tools]) -> bool:
    """Whether enough tasks were made, and have the same tools."""
    first, *others = tried.values() or [()]
    return len(tried) >= TRIED and all(tools == first for tools in others)
