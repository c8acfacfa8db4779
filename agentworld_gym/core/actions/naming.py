"""What things are called: actions by one word; in a dialect tools by `<server>-<tool>` or their own name, apps by title
or component."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.domain.action_spec import ActionSpec

_VERB = re.compile(r"[\w.\-]+")


def verb(action: str) -> str:
    """Return what an action does in one word: its tool, its type, or its first word.

    >>> verb('{"name": "read_file", "arguments": "{}"}'), verb('{"action_type": "click", "index": 3}')
    ('read_file', 'click')
    >>> verb("ls -la"), verb("browser.click(ref='e1')"), verb('[{"keystrokes": "cat a.txt\\\\n"}]'), verb("")
    ('ls', 'browser.click', 'cat', 'none')
    """
    text = action
    if action.lstrip().startswith(("{", "[")):
        try:
            value: Any = json.loads(action)
        except ValueError:
            value = None
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, dict):
            text = str(value.get("name") or value.get("action_type") or value.get("keystrokes") or "")
    word = _VERB.search(text)
    return word[0] if word else "none"


def called(name: str, spec: ActionSpec) -> str:
    """Return what a tool is called in a dialect.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> [called("shop-get_order", load_spec(f"mcp:{dialect}").action) for dialect in ("toolathlon", "mcpmark")]
    ['shop-get_order', 'get_order']
    """
    return name.partition("-")[2] or name if spec.bare_tool_names else name


def renamed(tools: Sequence[Mapping[str, Any]], spec: ActionSpec) -> list[dict[str, Any]]:
    """Return tools under the names that they have in a dialect."""
    if not spec.bare_tool_names:
        return [dict(tool) for tool in tools]
    return [{**tool, "name": called(str(tool.get("name")), spec)} for tool in tools]


def callable_tools(spec: ActionSpec, tools: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the tools of a domain and those of a task, under the names that they have in the dialect."""
    return tuple(renamed([*spec.tools, *tools], spec))


def full_names(tools: Sequence[Mapping[str, Any]], spec: ActionSpec) -> dict[str, str]:
    """Return the full name behind each name that a dialect shortens; the first of several tools of a name counts."""
    names: dict[str, str] = {}
    for tool in tools if spec.bare_tool_names else ():
        names.setdefault(called(str(tool.get("name")), spec), str(tool.get("name")))
    return names


def with_component(action: Mapping[str, Any], spec: ActionSpec) -> Mapping[str, Any]:
    """Return an action that names an app by its component, where the dialect has one for the title or the package.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> opened = {"action_type": "open_app", "app_name": "clock"}
    >>> with_component(opened, load_spec("android:droidbot").action)["app_name"]
    'com.google.android.deskclock/com.google.android.deskclock.MainActivity'
    >>> with_component(opened, load_spec("android").action)["app_name"]
    'clock'
    """
    if not spec.components:
        return action
    name = str(action.get("app_name", "")).strip().casefold()
    for title, component in spec.components.items():
        if name in (title.casefold(), component.partition("/")[0].casefold()):
            return {**action, "app_name": component}
    return action
