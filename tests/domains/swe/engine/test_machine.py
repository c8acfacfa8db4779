"""A repository behind file tools: what each tool returns, what persists, what a fork and a control do."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, EngineError
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.core.tasks import generate
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver, control_cases
from agentworld_gym.domains.swe.engine import SweEngine, SweMachine
from agentworld_gym.domains.swe.engine.patterns import BadPattern, LinearPattern, glob_matches

SPEC = load_spec("swe")
PARSER = ActionParser(SPEC)
TASKS = SPEC.handwritten_tasks()
FILES = {
    "/repo/README.md": "# Sums\n",
    "/repo/sums/__init__.py": "",
    "/repo/sums/adding.py": (
        '"""Adds."""\n\n\ndef add(a, b):\n    return a - b\n\n\ndef double(a):\n    return add(a, a)\n'
    ),
    "/repo/tests/test_adding.py": "from sums.adding import add\n\n\ndef test_add():\n    assert add(2, 1) == 3\n",
}
ADDING = "/repo/sums/adding.py"


@pytest.fixture(scope="module")
def engine() -> SweEngine:
    """The engine whose Python runs everywhere."""
    return SweEngine("monty")


@pytest.fixture
def machine(engine: SweEngine) -> SweMachine:
    """A small repository."""
    return engine.start({"files": FILES}, 0)


def use(machine: SweMachine, tool: str, **arguments: Any) -> str:
    """Call a tool."""
    return machine.act({"name": tool, "arguments": arguments})


def run(machine: SweMachine, command: str, **more: Any) -> str:
    """What a command printed."""
    text = use(machine, "run_shell_command", command=command, **more)
    return text.partition("\nOutput: ")[2].rpartition("\nError: ")[0].removesuffix("(none)")


# Tools


def test_an_episode_begins_with_the_listing_of_the_root(machine: SweMachine) -> None:
    assert machine.observation == (
        "Working directory: /repo\nDirectory listing for /repo:\n[DIR] sums\n[DIR] tests\nREADME.md"
    )


def test_reading_shows_the_lines_themselves(machine: SweMachine) -> None:
    assert use(machine, "read_file", absolute_path=ADDING) == FILES[ADDING].removesuffix("\n")
    part = use(machine, "read_file", absolute_path=ADDING, offset=3, limit=2)
    assert part == "Showing lines 4-5 of 9 total lines.\n\n---\n\ndef add(a, b):\n    return a - b"


def test_several_files_are_read_at_once(machine: SweMachine) -> None:
    assert use(machine, "read_many_files", paths=["*.md", "tests/*.py", "nothing"]) == (
        "--- /repo/README.md ---\n\n# Sums\n\n--- /repo/tests/test_adding.py ---\n\n"
        + FILES["/repo/tests/test_adding.py"]
        + "\n\n--- End of content ---"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("read_file", {"absolute_path": "/repo/no.py"}, "File not found: /repo/no.py"),
        ("read_file", {"absolute_path": "/repo/sums"}, "Path is a directory, not a file: /repo/sums"),
        ("read_file", {"absolute_path": "a.py"}, "File path must be absolute: a.py"),
        ("read_file", {"absolute_path": "/repo/sums/__init__.py"}, ""),
        (
            "read_file",
            {"absolute_path": ADDING, "offset": 50},
            f"Error: offset 50 is behind the end of {ADDING}, which has 9 lines",
        ),
        ("write_file", {"file_path": ADDING, "content": "x\n"}, f"Successfully overwrote file: {ADDING}."),
        (
            "write_file",
            {"file_path": "/repo/a/b/c.py", "content": "x\n"},
            "Successfully created and wrote to new file: /repo/a/b/c.py.",
        ),
        (
            "write_file",
            {"file_path": f"{ADDING}/x", "content": ""},
            f"Error writing to file: {ADDING}/x: Not a directory",
        ),
        ("write_file", {"file_path": "/usr/x", "content": ""}, "Error writing to file: /usr/x: Permission denied"),
        (
            "edit",
            {"file_path": ADDING, "old_string": "a + b", "new_string": "c"},
            f"Failed to edit, 0 occurrences found for old_string in {ADDING}. No edits made. The exact text in "
            "old_string was not found. Ensure you're not escaping content incorrectly and check whitespace, "
            "indentation, and context. Use read_file tool to verify.",
        ),
        (
            "edit",
            {"file_path": ADDING, "old_string": "return", "new_string": "give"},
            f"Failed to edit, expected 1 occurrence but found 2 for old_string in file: {ADDING}",
        ),
        (
            "edit",
            {"file_path": ADDING, "old_string": "a", "new_string": "a"},
            f"No changes to apply. The old_string and new_string are identical in file: {ADDING}",
        ),
        ("edit", {"file_path": "/repo/n.py", "old_string": "a", "new_string": "b"}, "File not found: /repo/n.py"),
        ("list_directory", {"path": "/repo", "ignore": ["*.md", "tests"]}, "Directory listing for /repo:\n[DIR] sums"),
        ("list_directory", {"path": "/nope"}, "Directory not found: /nope"),
        ("glob", {"pattern": "*.rs"}, 'No files found matching pattern "*.rs" within /repo'),
        ("search_file_content", {"pattern": "zebra"}, 'No matches found for pattern "zebra" in path ".".'),
        ("search_file_content", {"pattern": "("}, "Invalid regular expression pattern: ("),
        ("no_such_tool", {}, 'Tool "no_such_tool" not found in registry.'),
    ],
)
def test_what_a_tool_returns(machine: SweMachine, tool: str, arguments: dict[str, Any], answer: str) -> None:
    assert use(machine, tool, **arguments) == answer


def test_an_edit_counts_its_replacements_and_moves_the_lines_below(machine: SweMachine) -> None:
    shown = use(
        machine, "edit", file_path=ADDING, old_string="    return a - b\n", new_string="    c = a\n    return c + b\n"
    )
    assert shown == f"Successfully modified file: {ADDING} (1 replacements)."
    assert "L9: def double(a):" in use(machine, "search_file_content", pattern=r"def double\(")
    more = {"old_string": "return", "new_string": "yield", "expected_replacements": 2}
    assert use(machine, "edit", file_path=ADDING, **more) == f"Successfully modified file: {ADDING} (2 replacements)."
    assert (
        machine.state()[ADDING]
        == '"""Adds."""\n\n\ndef add(a, b):\n    c = a\n    yield c + b\n\n\ndef double(a):\n    yield add(a, a)\n'
    )


def test_searches_agree_with_the_files(machine: SweMachine) -> None:
    assert use(machine, "search_file_content", pattern="add", include="*.py", path="/repo/tests") == (
        'Found 3 matches for pattern "add" in path "tests" (filter: "*.py"):\n---\nFile: tests/test_adding.py\n'
        "L1: from sums.adding import add\nL4: def test_add():\nL5: assert add(2, 1) == 3\n---"
    )
    use(machine, "write_file", file_path="/repo/zz.py", content="add\n")
    newest = use(machine, "glob", pattern="**/*.py").split("\n")
    assert newest[0] == 'Found 4 file(s) matching "**/*.py" within /repo, sorted by modification time (newest first):'
    assert newest[1] == "/repo/zz.py"


def test_ignored_files_are_not_searched(engine: SweEngine) -> None:
    machine = engine.start({"files": {**FILES, "/repo/.gitignore": "*.log\n", "/repo/x.log": "add\n"}}, 0)
    assert "x.log" not in use(machine, "search_file_content", pattern="add")
    assert "x.log" not in use(machine, "glob", pattern="*")


def test_the_list_of_things_to_do_is_replaced_as_a_whole(machine: SweMachine) -> None:
    entry = {"id": "1", "content": "Look", "status": "in_progress"}
    assert use(machine, "todo_write", todos=[entry]).startswith("Todos have been modified successfully. Ensure that ")
    assert machine.state()["todo/1/status"] == "in_progress"
    use(machine, "todo_write", todos=[])
    assert "todo/1/status" not in machine.state()


def test_a_fix_changes_the_outcome_of_its_test(machine: SweMachine) -> None:
    assert "1 failed" in run(machine, "python -m pytest -q")
    use(machine, "edit", file_path=ADDING, old_string="a - b", new_string="a + b")
    assert "1 passed" in run(machine, "python -m pytest -q")
    assert run(machine, "python -c 'from sums.adding import double; print(double(4))'") == "8"


@given(st.text("ab*?[]{},/.", max_size=12), st.text("ab/.", max_size=12))
@settings(deadline=None)
def test_globs_and_patterns_of_any_kind_are_answered(pattern: str, path: str) -> None:
    assert glob_matches(pattern, path) in (True, False)
    with suppress(BadPattern):
        assert LinearPattern(pattern).matches(path) in (True, False)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", r"(\w+\s?)*$"])
def test_a_pattern_that_backtracks_elsewhere_is_linear_here(pattern: str) -> None:
    LinearPattern(pattern).matches("a" * 50_000 + "!")


# State, forks, spans


def test_a_fork_goes_its_own_way(machine: SweMachine) -> None:
    use(machine, "write_file", file_path="/repo/a.txt", content="a\n")
    twin = machine.fork()
    run(twin, "rm a.txt; git commit -qam gone; git stash list")
    assert machine.state()["/repo/a.txt"] == "a\n"
    assert twin.state() != machine.state()


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_equal_actions_on_both_give_equal_observations(seed: int) -> None:
    rng = random.Random(seed)
    calls = [
        ("run_shell_command", {"command": "echo $RANDOM >> r.txt; git add r.txt; git commit -qm r; git log -1"}),
        ("run_shell_command", {"command": "date; mktemp; ls -la; git status"}),
        ("edit", {"file_path": ADDING, "old_string": "a - b", "new_string": "a + b"}),
        ("run_shell_command", {"command": "git stash; git stash pop; sleep 3 &"}),
        ("glob", {"pattern": "**"}),
        ("search_file_content", {"pattern": "a"}),
    ]
    controls = Controls({"incomplete-results": 0.5, "intermittent-errors": 0.5, "permission-denied": 0.5}, seed)
    one = SweEngine("monty").start({"files": FILES}, seed, controls)
    for _ in range(3):
        use(one, *rng.choice(calls)[:1], **rng.choice(calls)[1])
    two = one.fork()
    for _ in range(4):
        tool, arguments = rng.choice(calls)
        assert use(one, tool, **arguments) == use(two, tool, **arguments)
    assert one.state() == two.state()


def test_only_what_the_moment_decides_is_marked(machine: SweMachine) -> None:
    run(machine, "git log; sleep 100 &")
    text = machine.observation
    marked = [text[span.start : span.end] for span in machine.spans]
    group = text.rpartition("Process Group PGID: ")[2]
    assert [len(marked[0]), *marked[1:]] == [40, "Mon Mar 2 08:00:00 2026 +0000", "4211", group]
    run(machine, "pip list")
    assert [span.kind for span in machine.spans] == ["pre-existing", "metadata"]
    use(machine, "read_file", absolute_path=ADDING)
    assert machine.spans == ()


def test_a_closed_machine_says_so(machine: SweMachine) -> None:
    machine.close()
    machine.close()
    with pytest.raises(EngineError, match="after close"):
        use(machine, "glob", pattern="*")


@pytest.mark.parametrize(
    ("state", "key", "expected"),
    [
        ({"files": {"a.py": ""}}, "files", "absolute paths"),
        ({"files": {"/repo/a": "", "/repo/a/b": ""}}, "files", "not below another file"),
        ({"files": {"/etc/passwd": ""}}, "files", "outside the system folders"),
        ({"files": {"/repo/.git/HEAD": ""}}, "the whole document", "no files below .git"),
        ({"root": "/usr/x"}, "root", "outside the system folders"),
        ({"git": {"commits": []}}, "git.commits", "at least one commit"),
        ({"git": {"commits": [{"message": "x", "date": "soon"}]}}, "git.commits.0.date", "an ISO time"),
        ({"git": {"commits": [{"message": "x", "files": {"../x": ""}}]}}, "git.commits.0.files", "from the root"),
        ({"git": {"user": "me"}}, "git.user", "a name and an address"),
        ({"python": "snake"}, "python", "begins with a version"),
        ({"colour": "red"}, "colour", "no such key"),
    ],
)
def test_a_wrong_state_is_told_by_its_key(engine: SweEngine, state: dict[str, Any], key: str, expected: str) -> None:
    with pytest.raises(SpecError, match="task state") as caught:
        engine.start(state, 0)
    assert caught.value.key == key
    assert expected in caught.value.expected


def test_commits_tell_what_was_different_then(engine: SweEngine) -> None:
    commits = [{"message": "One", "files": {"a.txt": "old\n", "b.txt": None}}, {"message": "Two"}]
    machine = engine.start({"files": {"/repo/a.txt": "new\n", "/repo/b.txt": "b\n"}, "git": {"commits": commits}}, 0)
    assert run(machine, "git show --format=%s --name-status HEAD") == "Two\n\nM\ta.txt\nA\tb.txt"
    assert run(machine, "git show HEAD~1:a.txt; git status -s") == "old"


def test_the_engine_names_its_sandbox(engine: SweEngine) -> None:
    assert engine.variant == "monty"
    assert SweEngine("auto").variant in ("bubblewrap", "monty")


# Tasks


def score(machine: SweMachine, task: Task, answer: str | None) -> float:
    """The share of a task's checks that pass; as in a grounded world, no control strikes while they are tested."""
    total = 0.0
    for check in task.success:
        if check.tests:
            total += check.weight * machine.fork().passes(check.tests)
        elif check.probe is not None and check.expect is not None:
            with suspended():
                total += check.weight * check.expect.score(machine.fork().act(PARSER.parse(check.probe).parsed))
        elif check.answer is not None and answer is not None:
            total += check.weight * check.answer.score(answer)
    return total / sum(check.weight for check in task.success)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_handwritten_task_is_won_by_its_expert_and_not_by_doing_nothing(engine: SweEngine, task: Task) -> None:
    machine = engine.start(task.state, 0)
    assert machine.observation == (task.first_observation or "").strip("\n")
    assert score(machine, task, None) < 0.6
    *actions, finish = map(PARSER.parse, task.expert)
    for action in actions:
        machine.act(action.parsed)
    assert score(machine, task, finish.answer) == 1.0


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_repair_is_published_by_the_expert_alone(engine: SweEngine, level: int) -> None:
    task = generate("swe", "publish", level, 5)
    machine = engine.start(task.state, 0)
    assert machine.observation == task.first_observation
    assert score(machine, task, None) == 0.0
    for text in task.expert[:-1]:
        machine.act(PARSER.parse(text).parsed)
    assert score(machine, task, None) == 1.0


# Controls


def played(engine: SweEngine, task: Task, solver: Solver, controls: Controls) -> tuple[float, list[str]]:
    """The score of a solver, and what it saw."""
    machine = engine.start(task.state, 0, controls)
    steps, seen = solver(task), list[str]()
    action = PARSER.parse(next(steps))
    while action.kind is not ActionKind.FINISH and len(seen) < (task.max_steps or 40):
        seen.append(machine.act(action.parsed))
        action = PARSER.parse(steps.send(seen[-1]))
    return score(machine, task, action.answer), seen


def test_every_control_is_shown() -> None:
    assert {case.control for case in control_cases("swe")} == set(SPEC.controls)


@pytest.mark.parametrize("case", control_cases("swe"), ids=lambda case: case.control)
def test_who_knows_a_control_succeeds_and_who_does_not_loses(engine: SweEngine, case: ControlCase) -> None:
    lost, differs = 0, False
    for seed in range(3):
        task, controls = generate("swe", case.family, case.level, seed), Controls({case.control: case.strength}, seed)
        calm, seen = played(engine, task, case.naive, Controls())
        assert calm == 1.0
        disturbed, other = played(engine, task, case.naive, controls)
        lost += disturbed < 1.0
        differs = differs or seen != other
        assert played(engine, task, case.aware, controls)[0] == 1.0
    assert lost > 0
    assert differs


@pytest.mark.parametrize("name", sorted(SPEC.controls))
def test_a_control_of_no_strength_changes_nothing(engine: SweEngine, name: str) -> None:
    plain, weak = (engine.start({"files": FILES}, 0, controls) for controls in (Controls(), Controls({name: 0.0}, 3)))
    for command in ("ls -la", "git status", "python -m pytest -q", "git log", "seq 100", "echo x >> README.md"):
        assert run(plain, command) == run(weak, command)
    assert plain.state() == weak.state()


@pytest.mark.parametrize("variant", ["monty", "bubblewrap"])
def test_a_program_lists_a_folder_in_one_order(variant: str) -> None:
    from agentworld_gym.domains.swe.engine.python.bubblewrap import usable

    if variant == "bubblewrap" and not usable():
        pytest.skip("bubblewrap cannot run here")
    files = {f"/repo/{name}.txt": "x" for name in "edcbaghf"}
    command = {"command": "python -c 'import os; print(os.listdir(\"/repo\"))'"}
    shown = set()
    for _ in range(4):
        machine = SweEngine(variant).start({"files": files}, 0)
        shown.add(machine.act({"name": "run_shell_command", "arguments": command}))
    assert len(shown) == 1
    assert "a.txt" in shown.pop()
