"""Tasks that repair a repository: the agent repairs a bug that a test or a symptom shows, or two bugs with a note."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from agentworld_gym.core.domain.task import Check, Split
from agentworld_gym.core.tasks.family import Family, TaskDraft
from agentworld_gym.domains.swe.tasks.actions import call, edit, fix, read, shell
from agentworld_gym.domains.swe.tasks.checks import SUITE, prints, suite_passes
from agentworld_gym.domains.swe.tasks.repository import (
    ROOT,
    Mutation,
    Repository,
    draw_repository,
    listing,
    templates,
)

PYTHON = "3.11.9, pytest 8.3.3, no other packages installed"
MENU = {1: 11, 2: 12, 3: 16}


def repair(kind: str) -> Family:
    """Return the family of tasks with bugs of one kind."""

    def family(rng: random.Random, level: int, split: Split) -> TaskDraft:
        template = rng.choice([template for template in templates().values() if kind in template.kinds()])
        repository = draw_repository(rng, template, split)
        bug = rng.choice([mutation for mutation in repository.mutations if mutation.kind == kind])
        if level == 3:
            others = [other for other in repository.mutations if other.file != bug.file and other.kind != kind]
            return _two_bugs(rng, repository, [bug, rng.choice(others)])
        return _one_bug(rng, repository, bug, level)

    return family


def _one_bug(rng: random.Random, repository: Repository, bug: Mutation, level: int) -> TaskDraft:
    path = f"{ROOT}/{bug.file}"
    if level == 1:
        instruction = (
            f"`python -m pytest -q {bug.test}` fails. {bug.symptom} Repair {_plain(bug.function)} in {path} without "
            "changing the tests, so that the whole suite passes."
        )
        looks = [shell(f"python -m pytest -q {bug.test}")]
    else:
        instruction = (
            f"{bug.symptom} Find the cause in {ROOT} and repair it without changing the tests. In the end the whole "
            "suite has to pass."
        )
        looks = [
            shell(SUITE),
            call("search_file_content", pattern=_plain(bug.function), path=f"{ROOT}/{_package(repository)}"),
        ]
    expert = [*looks, read(path), fix(bug), shell(SUITE)]
    distractors = [*_wrong(rng, bug, 3), *_breaking(rng, repository, [bug], 2), *_spoiling(rng, [bug])]
    distractors += [shell("git diff"), read(f"{ROOT}/README.md")]
    return _draft(repository, [bug], instruction, expert, distractors, [suite_passes(repository)], MENU[level])


def _two_bugs(rng: random.Random, repository: Repository, bugs: Sequence[Mutation]) -> TaskDraft:
    first, second = sorted(bugs, key=lambda bug: (bug.kind != "broken_import", bug.test))
    paths = sorted((first.file, second.file))
    symptoms = [first.symptom, second.symptom]
    rng.shuffle(symptoms)
    instruction = (
        f"Two things are wrong in {ROOT}. {symptoms[0]} And: {symptoms[1]} Repair both without changing the tests, so "
        "that the whole suite passes. Then add a line for each file that you repaired to CHANGELOG.md, right below "
        "Unreleased and in alphabetical order: `- Fix PATH.`, with the path from the root of the repository."
    )
    changes = f"{ROOT}/CHANGELOG.md"
    heading, note = "## Unreleased\n", _note(paths)
    other = rng.choice([path for path in sorted(repository.files) if path.endswith(".py") and path not in paths])
    expert = [
        shell(SUITE),
        read(f"{ROOT}/{first.file}"),
        fix(first),
        shell(SUITE),
        read(f"{ROOT}/{second.file}"),
        fix(second),
        shell(SUITE),
        read(changes),
        edit(changes, heading, f"{heading}\n{note}"),
    ]
    wrong_note = _note(sorted([rng.choice(paths), other]))
    distractors = [
        *_wrong(rng, first, 2),
        *_wrong(rng, second, 2),
        edit(changes, heading, f"{heading}\n{wrong_note}"),
        *_breaking(rng, repository, bugs, 1),
        *_spoiling(rng, [first, second]),
    ]
    # Where blank lines stand is nobody's concern, and all else is.
    told = repository.files["CHANGELOG.md"].replace(heading, f"{heading}{note}").replace("\n\n", "\n")
    checks = [suite_passes(repository, 0.7), prints("grep -v '^$' CHANGELOG.md", told, 0.3)]
    draft = _draft(repository, [first, second], instruction, expert, distractors, checks, MENU[3])
    return replace(draft, free_values=(changes,))


def _draft(
    repository: Repository,
    bugs: Sequence[Mutation],
    instruction: str,
    expert: Sequence[str],
    distractors: Sequence[str],
    checks: Sequence[Check],
    menu: int,
) -> TaskDraft:
    files = repository.broken(*bugs)
    version = repository.values["version"]
    return TaskDraft(
        instruction=instruction,
        state={
            "root": ROOT,
            "python": PYTHON,
            "git": {"branch": "main", "commits": [{"message": f"Import {_package(repository)} {version}"}]},
            "files": files,
        },
        success=tuple(checks),
        expert=tuple(expert),
        distractors=tuple(distractors),
        first_observation=listing(files),
        menu_max=menu,
    )


def _note(paths: Sequence[str]) -> str:
    """Return the lines that tell which files were repaired."""
    return "".join(f"- Fix {path}.\n" for path in paths)


def _wrong(rng: random.Random, bug: Mutation, count: int) -> list[str]:
    """Draw edits of the right place that do not repair it."""
    return [edit(f"{ROOT}/{bug.file}", bug.broken, text) for text in rng.sample(bug.wrong, min(count, len(bug.wrong)))]


def _breaking(rng: random.Random, repository: Repository, bugs: Sequence[Mutation], count: int) -> list[str]:
    """Draw edits of healthy places that break them."""
    taken = {(bug.file, bug.right) for bug in bugs}
    files = repository.broken(*bugs)
    others = [
        other
        for other in repository.mutations
        if (other.file, other.right) not in taken and files[f"{ROOT}/{other.file}"].count(other.right) == 1
    ]
    picked = rng.sample(others, min(count, len(others)))
    return [edit(f"{ROOT}/{other.file}", other.right, other.broken) for other in picked]


def _spoiling(rng: random.Random, bugs: Sequence[Mutation]) -> list[str]:
    """Draw actions that silence a test or lose the work."""
    file = rng.choice(bugs).test.partition("::")[0]
    quiet = rng.choice([f"rm {file}", f"sed -i 's/^def test_/def check_/' {file}"])
    return [shell(quiet), shell("git checkout -- .")]


def _plain(function: str) -> str:
    """Return the last part of a dotted name."""
    return function.rpartition(".")[2]


def _package(repository: Repository) -> str:
    return str(repository.values["package"])
