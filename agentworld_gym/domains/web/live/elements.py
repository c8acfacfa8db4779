"""What can be done with the elements of a page, for menus and for who explores."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.web.screen_texts import read

MOST = 100
"""How many actions are told."""

TEXTS = 3
"""How many of the texts that an instruction quotes are offered for each field."""

CLICKED = frozenset({"button", "checkbox", "link", "option", "radio", "switch", "tab", "treeitem"}) | frozenset(
    {"menuitem", "menuitemcheckbox", "menuitemradio"}
)
TYPED = frozenset({"searchbox", "spinbutton", "textbox"})

_PLAIN = re.compile(r"[\w][\w .,:+-]{0,60}")
_QUOTED = re.compile(r'"([^"\n]{1,80})"|\u201c([^\u201d\n]{1,80})\u201d')


def actions_on(nodes: Sequence[ScreenNode], instruction: str = "") -> tuple[str, ...]:
    """Return clicks on elements, the choices of lists, and what an instruction quotes for each field, in page order.

    Args:
        nodes: The elements of the page.
        instruction: What the agent is asked to do.

    >>> actions_on([ScreenNode("button", "Save", handle="e3")])
    ('{"name": "browser_click", "arguments": {"element": "Save button", "ref": "e3"}}',)
    """
    return tuple(dict.fromkeys(_actions(nodes, instruction)))[:MOST]


def actions_shown(screen: str, instruction: str) -> tuple[str, ...] | None:
    r"""Return what can be done with the elements of a page, as `actions_on`, from the text that shows it; None where it
    shows no page.

    >>> actions_shown("### Snapshot\n```yaml\n- button \"Save\" [ref=e3]\n```", "Save it.")
    ('{"name": "browser_click", "arguments": {"element": "Save button", "ref": "e3"}}',)
    """
    nodes = read(screen)
    return actions_on(nodes, instruction) if nodes else None


def named_actions(nodes: Sequence[ScreenNode]) -> tuple[str, ...]:
    """Return clicks on elements that have a role and a name for themselves, which name them by both, for menus.

    >>> [action] = named_actions([ScreenNode("button", "Save", handle="e3"), ScreenNode("link", "", handle="e4")])
    >>> json.loads(action)["arguments"]["ref"]
    "@{button 'Save'}"
    """
    alike = Counter((node.role, node.name) for node in nodes)
    found = (
        _call("browser_click", element=f"{node.name} {node.role}", ref=f"@{{{node.role} '{node.name}'}}")
        for node in nodes
        if node.role in CLICKED and node.handle and _PLAIN.fullmatch(node.name) and alike[node.role, node.name] == 1
    )
    return tuple(found)[:MOST]


def _actions(nodes: Sequence[ScreenNode], instruction: str) -> Iterator[str]:
    quoted = [one or other for one, other in _QUOTED.findall(instruction)][:TEXTS]
    listed = ""
    for node in nodes:
        if node.role == "combobox":
            listed = str(node.handle or "")
        told = " ".join(filter(None, (node.name or node.text, node.role)))
        if node.role == "option" and node.handle is None:
            if listed:
                yield _call("browser_select_option", element=told, ref=listed, values=[node.name or node.text])
        elif node.handle is None or "disabled" in node.flags:
            continue
        elif node.role in TYPED:
            yield _call("browser_click", element=told, ref=node.handle)
            for text in quoted:
                yield _call("browser_type", element=told, ref=node.handle, text=text)
        elif node.role in CLICKED or "cursor=pointer" in node.flags:
            yield _call("browser_click", element=told, ref=node.handle)


def _call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
