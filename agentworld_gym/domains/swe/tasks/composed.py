"""Repository tasks of levels 4 and 5: several bugs in one large repository, whose orders are files of its issues."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentworld_gym.core.domain.task import Check, Split
from agentworld_gym.core.tasks.composition import (
    Absent,
    Job,
    Orders,
    composed,
    composing,
    draft_of,
    instruction_of,
    job_of,
)
from agentworld_gym.core.tasks.family import Finding, TaskDraft
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.swe.tasks.actions import call, edit, fix, read, shell
from agentworld_gym.domains.swe.tasks.checks import SUITE, prints, suite_passes
from agentworld_gym.domains.swe.tasks.publishing import REMOTE
from agentworld_gym.domains.swe.tasks.repairs import PYTHON
from agentworld_gym.domains.swe.tasks.repository import (
    KINDS,
    ROOT,
    Mutation,
    Repository,
    draw_repository,
    listing,
    templates,
)
from agentworld_gym.kit.vocabulary import common_pool

WHERE = "the name of the file that the cause was in, without its folder"
CHANGES = f"{ROOT}/CHANGELOG.md"
HEADING = "## Unreleased\n"
FAULTS = {"incomplete-results": 0.5, "partial-failure": 0.3, "slow-service": 0.3, "truncated-output": 0.5}
"""The faults of level 5; none of them spoils an action of the expert, who does not act on what they hide."""

REPAIRS = 4
"""How many bugs are repaired, each in a package of its own; one more package has a bug that nobody may repair."""


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    repositories = [draw_repository(rng, template, split) for template in templates().values()]
    rng.shuffle(repositories)
    bugs = _bugs(rng, repositories[: REPAIRS + 1], lead if lead in KINDS else rng.choice(KINDS))
    files = _joined(repositories, bugs, _copies(rng, repositories, split))
    publishes = lead == "publish" or (level == 5 and rng.random() < 0.5)
    *jobs, barred = [_repair(repository, bug, files) for repository, bug in zip(repositories, bugs, strict=False)]
    changed = sorted({bug.file for bug in bugs[:REPAIRS]})
    version = str(repositories[0].values["version"])
    jobs.append(_note(files, changed, version))
    package = str(repositories[0].values["package"])
    if publishes:
        jobs.append(_publish(f"Repair {package} and others", len(changed) + 1))
    others = {path.rpartition("/")[2] for path in files if path.endswith(".py") and path not in changed}
    strangers = [_stranger(rng, repositories[-1], name) for name in sorted(others)]
    undone = rng.randint(0, 1) if level == 4 else 1
    orders = Orders(
        f"the file {ROOT}/issues/NAME.md",
        lambda name: [read(f"{ROOT}/issues/{name}.md")],
        common_pool("people").of(split),
    )
    task = composed(
        rng, level, jobs, strangers, orders, 0 if publishes else undone, barred=[barred],
        absent=_absent(rng, files, split), state=str(files),
    )  # fmt: skip
    for name, text in task.orders.items():
        files[f"issues/{name}.md"] = f"# {name}\n\n{text}\n"
    state: dict[str, Any] = {
        "root": ROOT,
        "python": PYTHON,
        "git": {
            "branch": "main",
            "commits": [{"message": f"Import {package} {version}"}],
            "remote": {"name": "origin", "url": f"https://git.example.com/tools/{package}.git"},
        },
        "files": {f"{ROOT}/{path}": text for path, text in files.items()},
    }
    faults = sorted(rng.sample(sorted(FAULTS), 2)) if level == 5 else []
    return draft_of(
        task,
        instruction_of(task, orders, f"The repository {ROOT} has several packages."),
        state,
        jobs,
        first_observation=listing(state["files"]),
        controls={name: FAULTS[name] for name in faults},
        control_seed=rng.getrandbits(31) if faults else None,
    )


def _bugs(rng: random.Random, repositories: Sequence[Repository], kind: str) -> list[Mutation]:
    """Draw a bug of each repository, all in files of different names, and one of the given kind.

    Raises:
        Unfit: there are none.
    """
    bugs: list[Mutation] = []
    for repository in repositories:
        wanted = [one for one in repository.mutations if one.kind == kind] if not bugs else []
        bugs.append(rng.choice(wanted or list(repository.mutations)))
    if bugs[0].kind != kind or len({_name(bug) for bug in bugs}) < len(bugs):
        raise Unfit("no such bugs")
    return bugs


def _copies(rng: random.Random, repositories: Sequence[Repository], split: Split) -> dict[str, str]:
    """Return the code of packages like those of the repository, which nothing uses, by their paths."""
    names = {str(one.values["package"]) for one in repositories}
    copies: dict[str, str] = {}
    for template in templates().values():
        other = draw_repository(rng, template, split)
        if (package := str(other.values["package"])) not in names:
            paths = {path.removeprefix(f"{ROOT}/"): text for path, text in other.files.items()}
            copies |= {path: text for path, text in paths.items() if path.startswith(f"{package}/")}
    return copies


def _joined(repositories: Sequence[Repository], bugs: Sequence[Mutation], copies: Mapping[str, str]) -> dict[str, str]:
    """Return the files of one repository with all packages, the bugs, and copies of code, by their paths from its root.

    Raises:
        Unfit: two packages have one name.
    """
    if len({str(one.values["package"]) for one in repositories}) < len(repositories):
        raise Unfit("two packages have one name")
    files: dict[str, str] = {}
    for place, repository in enumerate(repositories):
        broken = repository.broken(*bugs[place : place + 1])
        files = {path.removeprefix(f"{ROOT}/"): text for path, text in broken.items()} | files
    files |= {f"vendor/{path}": text for path, text in copies.items()}
    parts = [f"- {one.values['package']}: {one.values['summary']}" for one in repositories]
    return {**dict(sorted(files.items())), "README.md": "\n".join(["# Tools", "", *sorted(parts), ""])}


def _repair(repository: Repository, bug: Mutation, files: dict[str, str]) -> Job:
    """Return the job to repair a bug, of which a user tells."""
    tests = sorted(path for path in repository.files if path.startswith("tests/"))
    run, path = shell(f"{SUITE} {' '.join(tests)}"), f"{ROOT}/{bug.file}"
    seek = call("search_file_content", pattern=_plain(bug), path=f"{ROOT}/{repository.values['package']}")
    own = {name: repository.files[name] for name in tests} | {"pyproject.toml": files["pyproject.toml"]}
    return job_of(
        TaskDraft(
            f"In the package {repository.values['package']}: {bug.symptom} Find the cause and repair it without "
            "changing the tests.",
            {},
            (suite_passes(replace(repository, files=own)),),
            (run, seek, read(path), fix(bug), run),
            tuple(edit(path, bug.broken, text) for text in bug.wrong[:2]),
            found=Finding(WHERE, _name(bug)),
        )
    )


def _note(files: dict[str, str], changed: Sequence[str], version: str) -> Job:
    """Return the job to say in the list of changes what was repaired."""
    lines = "".join(f"- Fix {path}.\n" for path in changed)
    told = files["CHANGELOG.md"].replace(HEADING, f"{HEADING}{lines}").replace("\n\n", "\n")
    return job_of(
        TaskDraft(
            "Add a line for each file that the jobs before this one repaired to CHANGELOG.md, right below Unreleased "
            "and in alphabetical order: `- Fix PATH.`, with the path from the root of the repository.",
            {},
            (prints("grep -v '^$' CHANGELOG.md", told),),
            (read(CHANGES), edit(CHANGES, HEADING, f"{HEADING}\n{lines}")),
            (edit(CHANGES, HEADING, f"{HEADING}\n- Fix {changed[0]}.\n"),),
            free_values=(CHANGES,),
            found=Finding("which version stands below Unreleased", version),
        )
    )


def _publish(message: str, count: int) -> Job:
    """Return the job to commit all changes and push them."""
    command = f"git fetch -q; git diff --stat {REMOTE} | wc -l; git status --porcelain | wc -l"
    command += f"; git log -1 --format=%s {REMOTE}; git rev-list --count {REMOTE}; git rev-list --count {REMOTE}..HEAD"
    check: Check = prints(command, f"0\n0\n{message}\n2\n0\n")
    return job_of(
        TaskDraft(
            f'Commit all changes, once and with the message "{message}", and push them to origin.',
            {},
            (check,),
            (shell(f"git commit -am '{message}'"), shell("git push")),
            (shell("git push --force"), shell("git status")),
            found=Finding("how many files that commit changes", str(count)),
        )
    )


def _stranger(rng: random.Random, repository: Repository, file: str) -> Job:
    """Return a job about a bug that the repository does not have, and the file that it is said to be in."""
    bug = rng.choice(repository.mutations)
    text = f"In the package {repository.values['package']}: {bug.symptom} Find the cause and repair it without changing"
    return job_of(TaskDraft(f"{text} the tests.", {}, (), (), (), found=Finding(WHERE, file)))


def _absent(rng: random.Random, files: Mapping[str, str], split: Split) -> Absent | None:
    """Return a job about a package that is nowhere in the repository; None where all that were drawn are there."""
    for template in rng.sample(list(templates().values()), len(templates())):
        other = draw_repository(rng, template, split)
        if not any(f"{other.values['package']}/" in path for path in files):
            return Absent(_stranger(rng, other, "").text, (shell("ls"),))
    return None


def _name(bug: Mutation) -> str:
    """Return the name of a bug's file, without its folder."""
    return bug.file.rpartition("/")[2]


def _plain(bug: Mutation) -> str:
    """Return the last part of the dotted name of a bug's function."""
    return bug.function.rpartition(".")[2]


COMPOSITION = composing(compose, "swe")
"""The composed tasks of a family, by its name."""
