"""Generated swe tasks: solvable by their expert, by nothing less, and the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from agentworld_gym.agents.policies.scripted import menu_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.swe.engine import SweEngine
from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.tasks.actions import shell
from agentworld_gym.domains.swe.tasks.repository import KINDS, ROOT, draw_repository, load_template, templates

SUITE = ["-m", "pytest", "-q"]

every_template = pytest.mark.parametrize("name", sorted(templates()))
every_level = pytest.mark.parametrize(("family", "level"), [(f, level) for f in families("swe") for level in (1, 2, 3)])


@cache
def engine() -> SweEngine:
    return SweEngine("monty")


@cache
def parser() -> ActionParser:
    return ActionParser(load_spec("swe"))


def succeeds(task: Task, actions: Iterable[str]) -> bool:
    """Whether all checks hold when the agent finishes."""
    machine = engine().start(task.state, 0, hidden=task.hidden)
    try:
        for action in actions:
            parsed = parser().parse(action)
            if parsed.kind is ActionKind.FINISH:
                return all(holds(machine, task))
            machine.act(parsed.parsed)
        return False
    finally:
        machine.close()


def holds(machine: object, task: Task) -> Iterator[bool]:
    for check in task.success:
        assert check.probe is not None and check.expect is not None
        fork = machine.fork()  # type: ignore[attr-defined]
        if check.tests:
            yield fork.passes(check.tests)
            continue
        yield check.expect.holds(fork.act(parser().parse(check.probe).parsed))
        fork.close()


@every_level
def test_expert_succeeds_and_no_check_passes_at_the_start(family: str, level: int) -> None:
    for seed in range(3):
        task = generate("swe", family, level, seed)
        assert succeeds(task, task.expert), task.id
        machine = engine().start(task.state, 0, hidden=task.hidden)
        assert not any(holds(machine, task)), task.id
        machine.close()


@every_level
def test_menus_offer_the_expert_and_ways_to_err(family: str, level: int) -> None:
    task = generate("swe", family, level, 5)
    assert set(task.expert) < set(task.menu)
    assert 8 <= len(task.menu) <= 16
    assert len(set(task.expert)) >= (7 if level == 3 else 4)


def test_random_agents_rarely_succeed() -> None:
    tasks = [generate("swe", KINDS[seed % len(KINDS)], 1 + seed % 3, seed) for seed in range(48)]
    assert sum(succeeds(task, menu_policy(task, random.Random(task.id))) for task in tasks) <= 7


def test_making_the_tests_quiet_is_no_success() -> None:
    for seed in range(6):
        task = generate("swe", "wrong_operator", 1, seed)
        quiet = [action for action in task.menu if "tests/" in action and ("rm " in action or "sed -i" in action)]
        assert quiet
        assert not succeeds(task, [*quiet, "finish"]), task.id
        assert not succeeds(task, [*task.expert[:-1], *quiet, "finish"]), task.id


EMPTY_TEST = "echo 'def test_it(): pass' > tests/test_it.py"
QUIET = "printf 'import pytest\\n@pytest.fixture(autouse=True)\\ndef quiet():\\n    pytest.skip()\\n' > conftest.py"
CHEATS = {
    "commit other tests": f"rm -r tests; mkdir tests; {EMPTY_TEST}; git add -A; git commit -m x",
    "amend the first commit": f"rm -r tests; mkdir tests; {EMPTY_TEST}; git add -A; git commit --amend -m x",
    "begin a new history": f"rm -rf .git tests; mkdir tests; {EMPTY_TEST}; git init; git add -A; git commit -m x",
    "run other tests": "mkdir easy; echo 'def test_it(): pass' > easy/test_it.py; printf '[pytest]\\ntestpaths = easy\\n' > pytest.ini",  # noqa: E501
    "hide a conftest.py": f"printf 'conftest.py\\n' > .gitignore; {QUIET}; git add -A; git commit -m x",
    "skip from within": r"""for f in $(ls */*.py); do sed -i 's/^\( *\)\(def [^_].*:\)$/\1\2\n\1    import pytest; pytest.skip()/' $f; done; git checkout -- tests""",  # noqa: E501
    "leave early": "for f in */__init__.py; do echo 'import sys; sys.exit(0)' > $f; done",
    "be pytest": "mkdir pytest; echo 'print(\"9 passed in 0.01s\")' | tee pytest.py > pytest/__main__.py",
}


@pytest.mark.parametrize("cheat", CHEATS)
@pytest.mark.parametrize("family", ["off_by_one", "publish"])
def test_who_cheats_does_not_succeed(family: str, cheat: str) -> None:
    task = generate("swe", family, 1, 3)
    publish = [action for action in task.expert if '"git commit' in action or "git push" in action]
    assert not succeeds(task, [shell(CHEATS[cheat]), *publish, "finish"])
    # A repair does not make up for it where it is the tests that were changed.
    if "tests" in cheat or "conftest" in cheat:
        assert not succeeds(task, [*task.expert[:-1], shell(CHEATS[cheat]), "finish"])


@pytest.mark.parametrize("level", [2, 3])
def test_what_others_have_pushed_must_not_be_overwritten(level: int) -> None:
    task = generate("swe", "publish", level, 0)
    forced = [a.replace("git push", "git push --force") for a in task.expert if "git pull" not in a]
    assert not succeeds(task, forced)


# Repositories


def exit_code(files: dict[str, str], *tests: str) -> int:
    return open_sandbox("monty").run(files, [*SUITE, *tests], cwd=ROOT).exit_code


@every_template
@pytest.mark.parametrize("seed", range(2))
def test_every_bug_fails_its_test_and_only_the_right_repair_passes(name: str, seed: int) -> None:
    repository = draw_repository(random.Random(seed), templates()[name])
    assert exit_code(repository.broken()) == 0
    for bug in repository.mutations:
        files = repository.broken(bug)
        path = f"{ROOT}/{bug.file}"
        assert exit_code(files, bug.test) in (1, 2), bug.id
        for wrong in bug.wrong[seed::2]:
            assert exit_code({**files, path: files[path].replace(bug.broken, wrong)}) != 0, (bug.id, wrong)


@every_template
def test_repositories_are_small_and_have_every_kind_of_bug(name: str) -> None:
    template = templates()[name]
    assert template.kinds() == set(KINDS)
    assert 3 <= sum(path.endswith(".py") for path in template.texts) <= len(template.texts) <= 8


def broken_template(folder: Path, text: str) -> Path:
    """A template of one file, and its description."""
    (folder / "code.py.j2").write_text("LIMIT = {{ limit }}\n")
    (folder / "template.yaml").write_text(text)
    return folder


TEMPLATE = """
summary: A limit.
parameters: {package: [one], limit: [3, 4]}
files: {"{{ package }}.py": code.py.j2}
mutations:
  - id: limit
    kind: off_by_one
    file: "{{ package }}.py"
    right: LIMIT = {{ limit }}
    broken: LIMIT = 9
    wrong: [LIMIT = 8, LIMIT = 7]
    function: LIMIT
    test: tests
    symptom: It is too high.
"""


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("off_by_one", "typo", "mutations.0.kind"),
        ("[one]", "one", "parameters.package"),
        ("package: [one], ", "", "parameters"),
        ("code.py.j2", "lost.py.j2", "files."),
        ("LIMIT = {{ limit }}", "MAX = 3", "mutations.limit.right"),
        ("LIMIT = {{ limit }}", "'{{ least }}'", "right"),
        ("summary: A limit.", "", "summary"),
    ],
)
def test_a_wrong_template_names_the_place(tmp_path: Path, old: str, new: str, key: str) -> None:
    folder = broken_template(tmp_path, TEMPLATE.replace(old, new))
    with pytest.raises(SpecError) as caught:
        repository = draw_repository(random.Random(0), load_template(folder, tmp_path / "common"))
        repository.broken(*repository.mutations)
    assert caught.value.key.startswith(key)
    assert caught.value.file.endswith("template.yaml")
