"""Ten wordings of a system prompt, which say the same in other words.

Wordings are data. `wordings.yaml` beside the templates of a domain, and `prompts/shared/wordings.yaml` for the parts
that domains share, name lines of a template by how they begin and give nine other texts for each. Number 0 is the
template as it stands; number 3 takes the third text of every such line. All other lines (tools, state, rules of the
format) are the same in every wording, so that no fact is written down twice. The mark of a list at the start of a line
stays.

Training draws a wording per sample (Qwen-AgentWorld, arXiv 2606.24597), so that a model reads a prompt and does not
only recognise it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import BaseLoader, Environment

from agentworld_gym.base.documents.plain_yaml import load_yaml
from agentworld_gym.base.errors import SpecError

if TYPE_CHECKING:
    Source = tuple[str, str | None, Callable[[], bool] | None]

WORDINGS = 10
"""How many wordings there are, including the template as it stands."""

FILE = "wordings.yaml"

_MARK = re.compile(r"(?:\d+\. |- )?")


def drawn_wording(key: str) -> int:
    """Draw the number of a wording, from 0 to 9, which depends on the key alone.

    >>> drawn_wording("terminal-train-0-7") == drawn_wording("terminal-train-0-7") in range(WORDINGS)
    True
    """
    return int.from_bytes(hashlib.blake2b(f"wording/{key}".encode(), digest_size=8).digest()) % WORDINGS


class Reworded(BaseLoader):
    """Templates whose lines are taken from a wording.

    Args:
        loader: The loader of the templates as they stand.
        folders: The folders of templates: the first one that has a file of wordings counts.
        domain: The folder of the domain's templates inside them.
        number: The number of the wording, from 1 to 9.

    Raises:
        SpecError: There is no such number, the domain has no wordings, or a file of them is broken.
    """

    def __init__(self, loader: BaseLoader, folders: Sequence[Path], domain: str, number: int) -> None:
        if not 0 < number < WORDINGS:
            raise SpecError("prompts", "wording", number, f"a number from 0 to {WORDINGS - 1}")
        self._loader = loader
        self._lines: dict[str, dict[str, str]] = {}
        for part in (domain, "shared"):
            file = next((folder / part / FILE for folder in folders if (folder / part / FILE).is_file()), None)
            if file is None:
                raise SpecError(f"{part}/{FILE}", "wording", number, f"that file, or wording 0, in {part}")
            for template, lines in read_wordings(file).items():
                chosen = {start: texts[number - 1] for start, texts in lines.items()}
                self._lines[f"{part}/{template}"] = chosen

    def get_source(self, environment: Environment, template: str) -> Source:
        """Return the source of a template with its lines in this wording.

        Raises:
            SpecError: A line that is to be replaced does not stand in the template just once.
            TemplateNotFound: There is no such template.
        """
        source, path, current = self._loader.get_source(environment, template)
        for start, text in self._lines.get(template, {}).items():
            source = _replaced(path or template, source, start, text)
        return source, path, current

    def list_templates(self) -> list[str]:
        """Return the names of all templates."""
        return self._loader.list_templates()


def read_wordings(file: Path) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Read the nine other texts of each line, by the name of the template and how the line begins.

    Raises:
        SpecError: The file cannot be read, or an entry does not have nine different texts of one line each.
    """
    try:
        return _parsed(file, file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise SpecError(file, "file", str(error), "YAML") from error


@lru_cache(maxsize=64)
def _parsed(file: Path, text: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    data = load_yaml(text, file)
    if not isinstance(data, dict) or not all(isinstance(lines, dict) for lines in data.values()):
        raise SpecError(file, "file", data, "a mapping of templates to mappings of lines to texts")
    for template, lines in data.items():
        for start, texts in lines.items():
            good = isinstance(texts, list) and len(texts) == WORDINGS - 1 and all(map(_is_line, texts))
            if not good or len(set(texts)) < len(texts):
                expected = f"{WORDINGS - 1} different texts of one line each"
                raise SpecError(file, f"{template}: {start}", texts, expected)
    return data


def _is_line(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and "\n" not in text


def _replaced(template: str, source: str, start: str, text: str) -> str:
    lines = source.split("\n")
    found = [number for number, line in enumerate(lines) if _unmarked(line).startswith(start)]
    if len(found) != 1:
        raise SpecError(template, "wording", start, f"the start of just one line, not of {len(found)}")
    line = lines[found[0]]
    lines[found[0]] = line[: len(line) - len(_unmarked(line))] + text
    return "\n".join(lines)


def _unmarked(line: str) -> str:
    match = _MARK.match(line)
    return line[match.end() :] if match else line
