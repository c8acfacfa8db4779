"""Tasks that repair a repository, commit the repair and push it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from agentworld_gym.core.domain.task import Check, Split
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.swe.tasks.actions import edit, fix, read, shell
from agentworld_gym.domains.swe.tasks.checks import SUITE, prints, suite_passes
from agentworld_gym.domains.swe.tasks.repairs import PYTHON
from agentworld_gym.domains.swe.tasks.repository import (
    ROOT,
    Mutation,
    Repository,
    draw_repository,
    listing,
    templates,
)

MENU = {1: 11, 2: 13, 3: 16}
REMOTE = "refs/remotes/origin/main"
NEWS_MESSAGE = "Say who answers questions"
NEWS = "\nQuestions go to the people in AUTHORS.\n"
AUTHORS = "Rosa Lindqvist\nTomas Keller\n"


def publish(rng: random.Random, level: int, split: Split) -> TaskDraft:
    """The agent repairs a bug, or two at level 3, commits and pushes; from level 2 on the remote is ahead."""
    template = rng.choice(list(templates().values()))
    repository = draw_repository(rng, template, split)
    bugs = _bugs(rng, repository.mutations, 2 if level == 3 else 1)
    package = str(repository.values["package"])
    message = rng.choice(("Repair {}", "Fix {}", "Make {} right again")).format(package)
    files = repository.broken(*bugs)
    commit, push, pull = shell(f"git commit -am '{message}'"), shell("git push"), shell("git pull")
    expert = [*([pull] if level > 1 else []), shell(SUITE)]
    for bug in bugs:
        expert += [read(f"{ROOT}/{bug.file}"), fix(bug), shell(SUITE)]
    expert += [commit, push]
    wrong = [edit(f"{ROOT}/{bug.file}", bug.broken, text) for bug in bugs for text in bug.wrong[:2]]
    distractors = [
        *wrong,
        shell(f"git commit -am '{message.lower()}'"),
        shell("git checkout -- ."),
        shell("git log --oneline"),
        shell("git status"),
        shell("git push --force"),
    ]
    remote = {"name": "origin", "url": f"https://git.example.com/tools/{package}.git"}
    news = [
        {
            "message": NEWS_MESSAGE,
            "files": {"README.md": files[f"{ROOT}/README.md"] + NEWS, "AUTHORS": AUTHORS},
        }
    ]
    return TaskDraft(
        instruction=_instruction(bugs, level, message),
        state={
            "root": ROOT,
            "python": PYTHON,
            "git": {
                "branch": "main",
                "commits": [{"message": f"Import {package} {repository.values['version']}"}],
                "remote": {**remote, "commits": news} if level > 1 else remote,
            },
            "files": files,
        },
        success=_checks(repository, message, level),
        expert=tuple(expert),
        distractors=tuple(distractors),
        first_observation=listing(files),
        menu_max=MENU[level],
    )


def _bugs(rng: random.Random, mutations: Sequence[Mutation], count: int) -> list[Mutation]:
    """Draw bugs in different files; a broken import comes first, because it hides the other bug."""
    first = rng.choice(mutations)
    others = [other for other in mutations if other.file != first.file and other.kind != first.kind]
    bugs = [first, rng.choice(others)] if count > 1 else [first]
    return sorted(bugs, key=lambda bug: (bug.kind != "broken_import", bug.test))


def _instruction(bugs: Sequence[Mutation], level: int, message: str) -> str:
    symptoms = " And: ".join(bug.symptom for bug in bugs)
    where = f" `python -m pytest -q {bugs[0].test}` shows it." if level == 1 else ""
    before = " Others have pushed to origin in the meantime: pull before you change anything." if level > 1 else ""
    what = "both" if len(bugs) > 1 else "it"
    return (
        f"{symptoms}{where}{before} Repair {what} in {ROOT} without changing the tests, so that "
        f'the whole suite passes, commit the repair with the message "{message}" and push it to origin.'
    )


def _checks(repository: Repository, message: str, level: int) -> tuple[Check, ...]:
    """Return the checks that the repository is repaired and that the remote has the repair.

    The remote is asked by its full name, which no branch can take. It has to have one commit more than before, and no
    commit may be left unpushed.
    """
    command = f"git fetch -q; git diff --stat {REMOTE} | wc -l; git status --porcelain | wc -l"
    command += f"; git log -1 --format=%s {REMOTE}; git rev-list --count {REMOTE}; git rev-list --count {REMOTE}..HEAD"
    report = f"0\n0\n{message}\n{2 if level == 1 else 3}\n0\n"
    if level > 1:  # What others have pushed is still there.
        command += f"; git log --format=%s {REMOTE} | grep -c '^{NEWS_MESSAGE}$'"
        report += "1\n"
    return suite_passes(repository, 0.5), prints(command, report, 0.5)
