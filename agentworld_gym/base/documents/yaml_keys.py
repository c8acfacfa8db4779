"""Sets keys of a YAML file, whose other lines stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from agentworld_gym.base.documents.plain_yaml import load_yaml


def with_keys(text: str, keys: Mapping[str, Any], file: str | Path = "") -> str | None:
    """Return a YAML text with other values of some of its outermost keys.

    Args:
        text: The text, with keys by name.
        keys: The keys, which stand at its end then, and their values.
        file: The file in which the text stood, for errors.

    Returns:
        The text; None where it does not say the same but for these keys, as where all of it stands within braces.

    Raises:
        SpecError: It is no YAML.

    >>> with_keys("masks: [\\n  a\\n]\\ncolour: red  # or not\\n", {"masks": ["b"]})
    'colour: red  # or not\\nmasks:\\n- b\\n'
    >>> with_keys("{masks: [a]}", {"masks": ["b"]}) is None
    True
    """
    before = load_yaml(text, file)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    lines = text.splitlines()
    for key, value in reversed(root.value):
        if key.value in keys:
            del lines[key.start_mark.line : _last_line(value) + 1]
    while lines and lines[-1].strip() in ("", "..."):
        lines.pop()
    added = yaml.safe_dump(dict(keys), sort_keys=False, allow_unicode=True)
    written = "\n".join([*lines, added])
    try:
        same = load_yaml(written, file) == {**before, **keys}
    except ValueError:
        same = False
    return written if same else None


def _last_line(node: yaml.Node) -> int:
    """Return the number of the last line of a value; the end of a block lies where the next one begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    end = node.end_mark
    return end.line if end.column or end.line == node.start_mark.line else end.line - 1
