"""The prompts of the stages: the templates in `prompts/synth`, filled with what is there of a world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from jinja2 import FileSystemLoader, StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape_all
from agentworld_gym.core.contracts import Message


class SynthPrompts:
    """The templates.

    >>> prompts = SynthPrompts()
    >>> "SQLite" in prompts.system()["content"]
    True

    Args:
        folder: The folder of the templates; None takes those of the package.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_folder("prompts") / "synth"
        self._environment = SandboxedEnvironment(
            loader=FileSystemLoader(self._folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
        )
        self._environment.filters["yaml"] = _yaml
        self._environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """The digest of all templates."""
        return digest_of([[path.name, path.read_text(encoding="utf-8")] for path in sorted(self._folder.glob("*.j2"))])

    def system(self) -> Message:
        """Return the system message."""
        return Message(role="system", content=self._template("system").render())

    def user(self, stage: str, **values: Any) -> Message:
        """Return the request of a stage, with every value escaped.

        Args:
            stage: The name of the template.
            values: What the template shows.
        """
        return Message(role="user", content=self._template(stage).render(**escape_all(values)))

    def _template(self, name: str) -> Template:
        return self._environment.get_template(f"{name}.j2")


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110).rstrip()
