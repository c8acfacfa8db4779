"""Small repositories that are drawn from templates, and the bugs that they can have.

A template is a folder below `domain_specs/scenarios/swe`: `template.yaml` with its parameters, files and mutations, and
one Jinja text for each file. A mutation is a piece of healthy text, what stands in its place where the bug is, and
some repairs that do not repair it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2 import Template as CompiledTemplate
from pydantic import Field

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Split

ROOT = "/repo"
COMMON = "common"
KINDS = (
    "off_by_one",
    "wrong_operator",
    "missing_guard",
    "swapped_arguments",
    "stale_default",
    "wrong_exception",
    "broken_import",
    "lost_update",
)
"""The kinds of bugs in a repository; each is a family of tasks."""


class Mutation(Strict):
    """One bug. Every text but `id` and `kind` is a Jinja template over the parameters."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    kind: str = Field(pattern="^(" + "|".join(KINDS) + ")$")
    file: str
    right: str
    """The healthy text, which occurs once in the file."""
    broken: str
    """The text in its place where the bug is, which occurs once there."""
    wrong: tuple[str, ...] = Field(min_length=2)
    """Texts in its place that leave some test failing."""
    function: str
    test: str
    """The test that fails, as it is written for pytest."""
    symptom: str
    """The bug as a user sees it."""

    def rendered(self, render: Render) -> Mutation:
        """Fill the templates for one repository."""
        texts = {name: render(getattr(self, name), name) for name in ("file", "right", "broken", "function", "test")}
        wrong = tuple(render(text, "wrong") for text in self.wrong)
        return self.model_copy(update={**texts, "symptom": render(self.symptom, "symptom"), "wrong": wrong})


class TemplateFile(Strict):
    """The contents of `template.yaml`: what a repository is about, what is drawn for it, its files and its bugs."""

    summary: str
    parameters: dict[str, tuple[str | int, ...]]
    """The values from which each parameter is drawn."""
    held_out: dict[Split, dict[str, tuple[str | int, ...]]] = Field(default_factory=dict)
    """The values of parameters for the splits from which no model learns; the other parameters have the usual ones."""
    files: dict[str, str]
    """The texts of the folder by the paths that they get in the repository."""
    mutations: tuple[Mutation, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A template with the texts of its files."""

    name: str
    path: Path
    spec: TemplateFile
    texts: Mapping[str, str]

    def parameters(self, split: Split) -> Mapping[str, tuple[str | int, ...]]:
        """Return the values from which each parameter is drawn in a split."""
        return {**self.spec.parameters, **self.spec.held_out.get(split, {})}

    def kinds(self) -> set[str]:
        """Return the kinds of bugs that the template offers."""
        return {mutation.kind for mutation in self.spec.mutations}


@dataclass(frozen=True, slots=True)
class Render:
    """A function that fills the Jinja texts of one template with one set of values."""

    path: Path
    values: Mapping[str, Any]

    def __call__(self, text: str, key: str) -> str:
        """Fill a text.

        Raises:
            SpecError: the text is no template, or names an unknown parameter.
        """
        try:
            return _compiled(text).render(self.values)
        except TemplateError as error:
            raise SpecError(self.path, key, text, f"a Jinja text over the parameters ({error})") from error


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository drawn from a template: its healthy files by their paths, and its possible bugs."""

    template: Template
    values: Mapping[str, Any]
    files: Mapping[str, str]
    mutations: tuple[Mutation, ...]
    held: Mapping[str, str]
    """The tests with other names and numbers where the sources leave them open; no agent sees these tests."""

    def broken(self, *mutations: Mutation) -> dict[str, str]:
        """Return the files with some bugs by their absolute paths.

        Raises:
            SpecError: the text of a mutation does not occur exactly once.
        """
        files = dict(self.files)
        for mutation in mutations:
            files[mutation.file] = self._exchanged(files, mutation, mutation.right, mutation.broken, "right")
            self._exchanged(files, mutation, mutation.broken, mutation.right, "broken")
        return {f"{ROOT}/{path}": text for path, text in files.items()}

    def _exchanged(self, files: Mapping[str, str], mutation: Mutation, old: str, new: str, key: str) -> str:
        text = files.get(mutation.file, "")
        if text.count(old) != 1:
            where = f"mutations.{mutation.id}.{key}"
            raise SpecError(self.template.path, where, old, f"a text that occurs once in {mutation.file}")
        return text.replace(old, new)


@cache
def templates() -> Mapping[str, Template]:
    """Read all templates; return them by their names, sorted.

    >>> len(templates()) >= 6, all(template.kinds() for template in templates().values())
    (True, True)

    Raises:
        SpecError: a template is wrong; the error names the file, the key, its value and what was expected.
    """
    folder = data_folder("domain_specs") / "scenarios" / "swe"
    names = sorted(path.parent.name for path in folder.glob("*/template.yaml"))
    return {name: load_template(folder / name, folder / COMMON) for name in names}


def load_template(folder: Path, common: Path) -> Template:
    """Read one template; the files of the folder `common` belong to every repository.

    Raises:
        SpecError: the template is wrong; the error names the file, the key, its value and what was expected.
    """
    path = folder / "template.yaml"
    spec = validated(TemplateFile, read_yaml(path), path)
    if "package" not in spec.parameters:
        raise SpecError(path, "parameters", sorted(spec.parameters), "a parameter called package")
    for split, values in spec.held_out.items():
        if unknown := values.keys() - spec.parameters.keys():
            raise SpecError(path, f"held_out.{split}", sorted(unknown), f"some of {', '.join(spec.parameters)}")
    texts = {}
    for target, name in spec.files.items():
        if not (folder / name).is_file():
            raise SpecError(path, f"files.{target}", name, "the name of a file beside it")
        texts[target] = (folder / name).read_text(encoding="utf-8")
    for file in sorted(common.glob("*.j2")):
        texts[file.name.removesuffix(".j2")] = file.read_text(encoding="utf-8")
    return Template(folder.name, path, spec, texts)


def draw_repository(rng: random.Random, template: Template, split: Split = "train") -> Repository:
    """Draw a repository with random parameters, whose names are those of a split.

    >>> repository = draw_repository(random.Random(1), templates()["till"])
    >>> sorted(repository.files)[:2], len(repository.files)
    (['CHANGELOG.md', 'README.md'], 8)
    """
    parameters = template.parameters(split)
    values: dict[str, Any] = {name: rng.choice(choices) for name, choices in parameters.items()}
    values["version"] = f"0.{rng.randint(1, 9)}.{rng.randint(0, 9)}"
    values["summary"] = template.spec.summary
    render = Render(template.path, values)
    files = {render(target, "files"): render(text, target) for target, text in template.texts.items()}
    mutations = tuple(mutation.rendered(render) for mutation in template.spec.mutations)
    return Repository(template, values, files, mutations, _held(template, values, parameters))


def listing(files: Iterable[str]) -> str:
    """Return what is shown at the start: the folders and files at the root of a repository."""
    inside = [path.removeprefix(f"{ROOT}/").split("/") for path in files]
    folders = sorted({parts[0] for parts in inside if len(parts) > 1})
    names = sorted(parts[0] for parts in inside if len(parts) == 1)
    rows = "\n".join([*(f"[DIR] {folder}" for folder in folders), *names])
    return f"Working directory: {ROOT}\nDirectory listing for {ROOT}:\n{rows}"


def _held(
    template: Template, values: Mapping[str, Any], parameters: Mapping[str, Sequence[str | int]]
) -> dict[str, str]:
    """Return the tests with the next value of every parameter that no source names."""
    sources = [text for target, text in template.texts.items() if not target.startswith("tests/")]
    names = meta.find_undeclared_variables(BoundedEnvironment().parse("\n".join([*sources, *template.texts])))
    other = dict(values)
    for name, choices in parameters.items():
        if name not in names:
            other[name] = choices[(choices.index(values[name]) + 1) % len(choices)]
    render = Render(template.path, other)
    tests = ((render(target, "files"), text) for target, text in template.texts.items() if target.startswith("tests/"))
    return {f"held/{path.removeprefix('tests/')}": render(text, path) for path, text in tests}


@cache
@lru_cache(maxsize=1024)
def _compiled(text: str) -> CompiledTemplate:
    environment = BoundedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    return environment.from_string(text)
