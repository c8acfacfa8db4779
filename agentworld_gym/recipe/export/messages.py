"""Sessions as chat messages, in which the agent is the assistant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentworld_gym.base.text.escaping import escape, escape_all
from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.actions.function_calls import calls_in
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.syntaxes import function_call
from agentworld_gym.core.actions.tagged_calls import read_tagged_call
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.llm.prompting.agent_prompt import takes_calls
from agentworld_gym.recipe.export.agent_session import AgentSession
from agentworld_gym.recipe.export.session_prompt import SessionPrompt, session_prompt

ChatMessage = dict[str, Any]
"""A message with `role`, `content` and `train`, whether it is learned; calls of tools have further keys."""


class ExportedTurn(NamedTuple):
    """One turn of an agent."""

    action: Action
    """The action as it was read."""

    text: str
    """The action as an agent of the session's dialect writes it."""

    shown: str | None
    """What the action showed; None where the session ends with it."""


class ToolChat(NamedTuple):
    """A session whose actions are calls of tools."""

    messages: list[ChatMessage]
    """The messages."""

    tools: Sequence[Mapping[str, Any]]
    """The tools in the form of OpenAI."""


def turns(session: AgentSession, shown: Sequence[str] | None = None) -> Iterator[ExportedTurn]:
    """Yield the turns of a session.

    Args:
        session: The session.
        shown: What the agent saw at the start and after each action; None takes what was recorded.
    """
    observations = session.observations if shown is None else shown[1:]
    parser, screen = session_prompt(session).parser, session.first
    last = len(session.actions) - 1
    for place, raw in enumerate(session.actions):
        taken = session.taken(place)
        action = taken if isinstance(taken, Action) else parser.parse(raw, session.tools, shown=screen)
        text = in_dialect(parser, action, screen, session)
        screen = observations[place] if place < last else ""
        yield ExportedTurn(action, text, screen if place < last else None)


def chat(session: AgentSession, shown: Sequence[str] | None = None) -> list[ChatMessage]:
    """Return a session as messages of text.

    The system message is that of `agentworld_gym.agent_prompt`, what the world shows are messages of the user, and
    actions are those of the assistant. An action that could not be read is there to be seen, and is not learned.

    Args:
        session: The session.
        shown: What the agent saw at the start and after each action; None takes what was recorded.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> session = AgentSession("a", load_spec("terminal"), (), "Count.", "$ ", ("ls", "finish: 2"), ("a b",), True, 1.0,
    ...                        "", "", None, None, "train", "", "", lambda: None)
    >>> [(message["role"], message["content"], message["train"]) for message in chat(session)[2:]]
    [('assistant', 'ls', True), ('user', 'a b', False), ('assistant', 'finish: 2', True)]
    """
    first = session.opening if shown is None else shown[0]
    messages = [_message("system", session_prompt(session).system), _message("user", escape(first))]
    for turn in turns(session, shown):
        messages.append({**_message("assistant", escape(turn.text)), "train": turn.action.error is None})
        if turn.shown is not None:
            messages.append(_message("user", escape(turn.shown)))
    return messages


def task_prompt(session: AgentSession) -> list[dict[str, Any]]:
    """Return the messages before the first action of a session, the last of which names its task.

    `agentworld_gym.integrations.trl.EnvironmentRollout` begins that task: TRL's `rollout_func` gets prompts and no
    other column.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> session = AgentSession("a", load_spec("terminal"), (), "Count.", "$ ", ("ls",), (), True, 1.0, "copy_move-1-5",
    ...                        "copy_move", 1, 5, "train", "", "", lambda: None)
    >>> task_prompt(session)[1]["task"], task_prompt(session)[1]["task_seed"]
    ('copy_move-1-5', 5)
    """
    # `datasets` wants the same keys in every message.
    return [
        {"role": "system", "content": session_prompt(session).system, "task_seed": None, "task": None},
        {
            "role": "user",
            "content": escape(session.opening),
            "task_seed": session.seed or 0,
            "task": session.task_id,
        },
    ]


def tool_chat(session: AgentSession) -> ToolChat | str:
    """Return a session as calls of tools and their results; or why it cannot be written so.

    `finish` is a tool among the tools. A text that is no call stays a text, and what the world says to it is the
    user's.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> call = '{"name": "web_search", "arguments": {"queries": ["a"]}}'
    >>> session = AgentSession("a", load_spec("search"), (), "Find.", "", (call, "finish: 2"), ("b",), True, 1.0, "",
    ...                        "", None, None, "train", "", "", lambda: None)
    >>> [message["tool_calls"][0]["function"] for message in tool_chat(session).messages if "tool_calls" in message]
    [{'name': 'web_search', 'arguments': {'queries': ['a']}}, {'name': 'finish', 'arguments': {'answer': '2'}}]
    """
    if not takes_calls(session.spec):
        return "its actions are no calls of tools"
    known = session_prompt(session)
    messages = [_message("system", known.caller), _message("user", escape(session.opening))]
    for number, turn in enumerate(turns(session), 1):
        calls = _calls(turn, known)
        if len(calls) > 1:
            return "several calls in one action"
        learned = turn.action.error is None
        if not calls:
            messages.append({**_message("assistant", escape(turn.text)), "train": learned})
            if turn.shown is not None:
                messages.append(_message("user", escape(turn.shown)))
            continue
        # Some chat templates want ids of nine letters and digits.
        name = f"call{number:05d}"
        call = {"id": name, "type": "function", "function": escape_all(calls[0])}
        messages.append({**_message("assistant", ""), "train": learned, "tool_calls": [call]})
        if turn.shown is not None:
            result = {"tool_call_id": name, "name": call["function"]["name"]}
            messages.append({**_message("tool", escape(turn.shown)), **result})
    return ToolChat(messages, known.tools)


def in_dialect(parser: ActionParser, action: Action, screen: str, session: AgentSession) -> str:
    """Return an action as the dialect of a session writes it, if that can be read.

    Scripts write actions in the first dialect of a domain, and every dialect reads them. An agent is to learn its own.

    Args:
        parser: The parser of the dialect.
        action: The action as it was read.
        screen: What was on the screen when the agent acted.
        session: The session.
    """
    if session.spec.speaks_first_dialect or action.error is not None or action.parsed is None:
        return action.raw
    text = parser.action_block(action, screen)
    if (call := _as_json(text)) is not None:
        text = json.dumps(call, ensure_ascii=False)
    return text if parser.parse(text, session.tools, shown=screen).error is None else action.raw


def _message(role: str, content: str) -> ChatMessage:
    return {"role": role, "content": content, "train": False}


def _calls(turn: ExportedTurn, known: SessionPrompt) -> list[Mapping[str, Any]]:
    """Return the calls of an action; none where it is no call."""
    action = turn.action
    if action.kind is ActionKind.FINISH:
        return [{"name": VERB, "arguments": {} if action.answer is None else {"answer": action.answer}}]
    if action.kind is ActionKind.ASK:
        return [action.parsed]
    if (call := _as_json(turn.text)) is not None:
        return [call]
    if "<tool_call>" in turn.text and (tagged := read_tagged_call(turn.text)) is not None:
        return [{"name": tagged[0], "arguments": tagged[1]}]
    return [call for text in calls_in(turn.text)[0] if (call := _as_function(text, known.toolset)) is not None]


def _as_json(text: str) -> dict[str, Any] | None:
    """Return a call that is written as JSON, its arguments as an object; None for any other text."""
    try:
        call = json.loads(text)
        arguments = call.get("arguments") if isinstance(call, dict) else None
        arguments = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else arguments or {}
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not isinstance(arguments, dict):
        return None
    return {"name": call["name"], "arguments": arguments}


def _as_function(text: str, toolset: Toolset) -> dict[str, Any] | None:
    try:
        return function_call(text, toolset)
    except UnreadableAction:
        return None
