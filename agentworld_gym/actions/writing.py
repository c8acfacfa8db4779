"""Writes parsed actions in the syntaxes of dialects, as a world model sees them: the inverse of the readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.actions.agent_calls import agent_code
from agentworld_gym.actions.browser_calls import browsergym_text, call_text
from agentworld_gym.actions.coding_calls import in_claude_code
from agentworld_gym.actions.phones import droidbot, droidrun
from agentworld_gym.domain.action_spec import Syntax


def claude_code_call(parsed: Any) -> str:
    """Write a call with the tools of Claude Code; what is no call is written as JSON."""
    if isinstance(parsed, dict) and isinstance(parsed.get("arguments"), dict):
        call = in_claude_code(parsed)
        parsed = {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)}
    return json.dumps(parsed, indent=2, ensure_ascii=False)


WRITERS: Mapping[Syntax, Callable[[Any], str]] = {
    "agent_code": agent_code,
    "claude_code_call": claude_code_call,
    "playwright_call": call_text,
    "browsergym_call": browsergym_text,
}
"""The writer of each syntax that needs one. An action of any other syntax is shown as JSON or as it was written."""

ON_SCREEN: Mapping[Syntax, Callable[[Any, str], str]] = {
    "droidrun_call": droidrun.write,
    "droidbot_event": droidbot.write,
}
"""The writers that look at the screen on which the agent acts, beside those of `WRITERS`. They write only actions of
other dialects; what was written in the syntax itself is shown as it stands."""
