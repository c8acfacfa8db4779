"""The Jinja templates of a domain: where they lie, which parts they include, and how their errors read."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    meta,
)

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape_all
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.changes import diff, numbered
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.tool_definitions import tool_definitions
from agentworld_gym.llm.prompting.wordings import Reworded

MOST_INDENT = 8
"""How far JSON may be indented."""

_TICKS = re.compile("`{3,}")


class Templates:
    """The templates of one domain and profile.

    `sources` holds the text of every template that was loaded, and of every part that it includes, by its name.

    The first folder that has a template wins: that of the options, the folder `prompts` beside the file of the spec, or
    the shipped one.

    Args:
        spec: The domain, whose file errors name.
        options: The folder, the profile and the wording of the prompts.
    """

    def __init__(self, spec: DomainSpec, options: PromptOptions) -> None:
        own = [] if options.folder is None else [Path(options.folder)]
        folders = [*own, spec.path.parent / "prompts", data_folder("prompts")]
        loader: BaseLoader = FileSystemLoader([path for path in folders if path.is_dir()])
        if options.wording:
            loader = Reworded(loader, folders, spec.prompts, options.wording)
        self._environment = _environment(loader)
        self._spec, self._folders, self._profile = spec, folders, options.profile
        self.sources: dict[str, str] = {}

    def load(self, name: str, optional: bool = False) -> Any:
        """Load a template by its path in the folders; None if it is optional and not there.

        Raises:
            SpecError: It is missing or broken, or it includes a template by a computed name.
        """
        try:
            pending = [name]
            while pending:
                part = pending.pop()
                if part in self.sources:
                    continue
                file = self.path(part)
                source = _source(self._environment, part, file)
                self.sources[part] = source
                for reference in _references(source, part):
                    if reference is None:
                        raise SpecError(file, "include", "a computed name", "the name of a template, written out")
                    pending.append(reference)
            return self._environment.get_template(name)
        except TemplateNotFound as error:
            if optional and error.name == name:
                return None
            raise self.missing(str(error.name)) from error
        except TemplateSyntaxError as error:
            file = self.path(error.name or name)
            raise SpecError(file, f"line {error.lineno}", error.message, "a Jinja template") from error

    def load_own_or_shared(self, name: str) -> Any:
        """Load a template from the domain's folder, or from the folder `shared` where the domain has none of that name.

        Raises:
            SpecError: Neither has it, or it is broken; see `load`.
        """
        own = f"{self._spec.prompts}/{name}"
        template = self.load(own, optional=True) or self.load(f"shared/{name}", optional=True)
        if template is None:
            raise self.missing(own)
        return template

    def path(self, name: str) -> Path:
        """Return the file of a template by its path in the folders."""
        return next((folder / name for folder in self._folders if (folder / name).is_file()), Path(name))

    def inline(self, source: str, key: str) -> Template:
        """Compile a template that stands in the spec under a key.

        Raises:
            SpecError: It is broken.
        """
        try:
            template = self._environment.from_string(source)
        except TemplateSyntaxError as error:
            raise SpecError(self._spec.path, key, source, f"a Jinja template ({error.message})") from error
        template.filename = f"{self._spec.path}: {key}"
        return template

    def reads(self, variable: str) -> bool:
        """Whether any template that was loaded reads a variable."""
        return any(variable in _variables(source, name) for name, source in self.sources.items())

    def missing(self, name: str) -> SpecError:
        """Return the error for a template that lies in none of the folders."""
        where = " or ".join(str(folder) for folder in self._folders)
        return SpecError(
            self._spec.path, f"the template {name} ({self._profile} profile)", None, f"that file in {where}"
        )


def render(template: Template, **variables: Any) -> str:
    """Render a template.

    Raises:
        SpecError: It cannot show the variables.
    """
    try:
        return template.render(variables)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        file = template.filename or "a template"
        raise SpecError(file, "rendering", str(error), "data that the template can show") from error


def escaped_fields(task: Task) -> dict[str, Any]:
    """Return a task as templates see it, with every text escaped."""
    fields: dict[str, Any] = escape_all(task.model_dump())
    return fields


def ticks(text: str) -> str:
    """Return a fence of backticks that a text cannot close.

    >>> ticks("plain"), ticks("a ```` b")
    ('```', '`````')
    """
    return "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(text))])


def _environment(loader: BaseLoader) -> BoundedEnvironment:
    environment = BoundedEnvironment(
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        autoescape=False,
    )
    environment.add_filters({"tojson": _tojson, "ticks": ticks, "numbered": numbered, "diff": diff})
    environment.filters["tool_definitions"] = tool_definitions
    return environment


def _tojson(value: Any, indent: int | None = None) -> str:
    """Write JSON for people; the filter of Jinja writes it for HTML, with \\u003c for <."""
    return json.dumps(value, indent=None if indent is None else min(indent, MOST_INDENT), ensure_ascii=False)


def _source(environment: BoundedEnvironment, name: str, file: Path) -> str:
    if environment.loader is None:
        raise TemplateNotFound(name)
    try:
        return environment.loader.get_source(environment, name)[0]
    except UnicodeDecodeError as error:
        raise SpecError(file, "file", str(error), "a UTF-8 text") from error


@lru_cache(maxsize=256)
def _references(source: str, name: str) -> tuple[str | None, ...]:
    """Return the names of the templates that a template includes; None stands for a computed name."""
    return tuple(meta.find_referenced_templates(_environment(BaseLoader()).parse(source, name)))


@lru_cache(maxsize=256)
def _variables(source: str, name: str) -> frozenset[str]:
    """Return the names of the variables that a template reads."""
    return frozenset(meta.find_undeclared_variables(_environment(BaseLoader()).parse(source, name)))
