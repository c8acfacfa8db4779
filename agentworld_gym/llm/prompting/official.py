"""The official prompts of Qwen-AgentWorld, read from a copy of them; this package holds none of their text.

A copy is the folder `prompts` of a checkout: `<domain>/system_prompt.txt` and `<domain>/judge_system_prompt.txt`, where
the desktop is called `os`. A system prompt is filled as in the rows of AgentWorldBench: the definitions of the tools
stand at `{tool_definitions}`, and recorded calls of them at `{demonstrations}`. A whole checkout has the request to
judges too, in the script of its evaluation. The request that ends a prompt is in no checkout; a user may add it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.registration import official_name
from agentworld_gym.llm.prompting.official_fetching import NAME, official_folder

PREFIX = "official"
"""What the value of the option `prompts` begins with, as in `official:DIR`."""

VARIABLE = "AGENTWORLD_OFFICIAL_PROMPTS"
"""The environment variable that names the folder where `official` stands alone; without it that in the cache counts."""

GET = f"`agentworld prompts get {NAME}`"
"""The command that fetches the folder into the cache."""

SYSTEM, JUDGE = "system_prompt.txt", "judge_system_prompt.txt"
CLOSING = "closing_request.txt"
"""The file with the words that end a request, which the folder of the makers does not have."""

SCRIPT, REQUEST = "eval/lwm_eval_utils/task_configs.py", "JUDGE_USER_PROMPT"
"""Where a checkout has the request to judges, beside the folder `prompts`: the file, and the name of the text in it."""

_FILES = "a file of the folder `prompts` of Qwen-AgentWorld"
_PARTS = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_PLACES = re.compile(r"\{(tool_definitions|demonstrations)\}")
_TRAINED_WITH_THEM = re.compile(r"qwen[-_ ]?agent[-_ ]?world", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OfficialPrompts:
    """The official prompts in a folder."""

    folder: Path
    """The folder, with one folder for each domain."""

    @classmethod
    def named(cls, value: str | os.PathLike[str] | None) -> Self | None:
        """Return the prompts that an option names, where `~` is the user's home; None where it names something else.

        >>> OfficialPrompts.named("official:Qwen-AgentWorld/prompts").folder.name
        'prompts'
        >>> OfficialPrompts.named("my_prompts")

        Raises:
            SpecError: The option is `official` alone, no folder is named by the environment variable, and none was
                fetched into the cache.
        """
        if not isinstance(value, str) or not (value == PREFIX or value.startswith(PREFIX + ":")):
            return None
        folder = value.removeprefix(PREFIX).removeprefix(":") or os.environ.get(VARIABLE, "").strip()
        if folder:
            return cls(Path(folder).expanduser())
        if official_folder().is_dir():
            return cls(official_folder())
        expected = f"the texts that {GET} fetches, official:DIR, or a folder in the variable {VARIABLE}"
        raise SpecError("options", "prompts", value, expected)

    def system(self, domain: str) -> str:
        """Read the system prompt of a domain, with its places for tools and calls.

        Raises:
            SpecError: There is no such file, or it is no text.
        """
        return self._read(domain, SYSTEM)

    def judge(self, domain: str) -> str:
        """Read the system prompt of the judge of a domain.

        Raises:
            SpecError: There is no such file, or it is no text.
        """
        return self._read(domain, JUDGE)

    def need_judges(self, domains: Iterable[str]) -> None:
        """Require a judge prompt for each of some domains, and at least one.

        Raises:
            SpecError: There is none.
        """
        for domain in domains:
            self.judge(domain)
        if not self.texts(JUDGE):
            raise MissingFile(self.folder / "*" / JUDGE, _FILES)

    def closing_request(self, domain: str) -> str | None:
        """Read the closing request of a domain that the user put beside its prompts, or beside the folders of all
        domains, without line breaks at its ends; None where there is no such file.

        Raises:
            SpecError: The file is no text, or an empty one.
        """
        for folder in (self.folder / official_name(domain), self.folder):
            path = folder / CLOSING
            if path.is_file():
                if text := _text(path).replace("\r\n", "\n").strip("\n"):
                    return text
                raise SpecError(path, "file", "", "the request, or no such file")
        return None

    def judge_request(self) -> str | None:
        """Read the request that the official script sends a judge, with its places in braces; None where the folder
        is not that of a checkout which has the script.

        The script is read and never run.

        Raises:
            SpecError: The script is no Python.
        """
        path = self.folder.absolute().parent / SCRIPT
        if not path.is_file():
            return None
        try:
            statements = ast.parse(_text(path)).body
        except (SyntaxError, ValueError) as error:
            raise SpecError(path, "file", str(error), "a module of Python") from error
        for one in statements:
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))) if name == REQUEST:
                    return text
        return None

    def texts(self, file: str) -> Mapping[str, str]:
        """Read the files of a name, by the domains that have one."""
        return {path.parent.name: _text(path) for path in sorted(self.folder.glob(f"*/{file}"))}

    def _read(self, domain: str, file: str) -> str:
        return _text(self.folder / official_name(domain) / file)


def was_trained_with_them(model: str) -> bool:
    """Return whether a model's name is that of one that was trained with the official prompts.

    >>> was_trained_with_them("Qwen/Qwen-AgentWorld-35B-A3B"), was_trained_with_them("Qwen/Qwen3-32B")
    (True, False)
    """
    return _TRAINED_WITH_THEM.search(model) is not None


def filled(template: str, tool_definitions: str, few_shots: str) -> str:
    """Fill a system prompt. Text that is filled in is not looked through for further places.

    >>> filled("Tools:\\n{tool_definitions}\\nEnd.\\n{demonstrations}", "### 1. f {demonstrations}", "")
    'Tools:\\n### 1. f {demonstrations}\\nEnd.\\n'
    """
    texts = {"tool_definitions": tool_definitions, "demonstrations": few_shots}
    return _PLACES.sub(lambda place: texts[place[1]], template)


def formatted(template: str, parts: Mapping[str, str]) -> str:
    """Fill a template of `str.format` whose places are names alone. Braces in what is filled in stay as they are.

    >>> formatted("{context}: {{}}", {"context": "{x}"})
    '{x}: {}'

    Raises:
        SpecError: It has another place.
    """

    def part(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        if found[1] not in parts:
            raise SpecError(SCRIPT, REQUEST, found[0], f"only {', '.join(parts)}")
        return parts[found[1]]

    return _PARTS.sub(part, template)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise SpecError(path, "file", str(error), "a UTF-8 text") from error
    except OSError as error:
        raise MissingFile(path, _FILES) from error
