"""Worlds in AWM's form: code and verifiers of an author run in the sandbox only, and what they try is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import awm_worlds
import gymnasium as gym
import pytest
import synth_author
from synth_author import fenced, right_answer

import agentworld_gym  # noqa: F401
from agentworld_gym.domains.mcp.synth.backends.awm import AwmBackend
from agentworld_gym.domains.mcp.synth.check.folders import examine
from agentworld_gym.domains.mcp.synth.config import SynthConfig
from agentworld_gym.domains.mcp.synth.database import check_rows, check_schema
from agentworld_gym.domains.mcp.synth.draft import Brief, DatabaseSchema, Implementation, InitialRows, WorldDraft
from agentworld_gym.domains.mcp.synth.faults import AnswerFault
from agentworld_gym.domains.mcp.synth.pipeline import WORLDS, Synthesis
from agentworld_gym.domains.mcp.synth.stages import WorldStages

WORLD = "tool_library"
TASK = synth_author.sheet(WORLD)["tasks"][0]["sentence"].strip()


@pytest.fixture(scope="module")
def backend() -> Iterator[AwmBackend]:
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    made = AwmBackend()
    yield made
    made.close()


@pytest.fixture(scope="module")
def draft(backend: AwmBackend) -> WorldDraft:
    """A world whose app is there, and whose tasks are not proved."""
    made = WorldDraft(Brief(**synth_author.brief(WORLD)))
    for stage in WorldStages(backend, SynthConfig(backend="awm", tasks=2)).in_order:
        made = stage.enter(made, stage.made(made, right_answer(stage.name, WORLD, awm=True)))
    return made


@pytest.fixture(scope="module")
def run(backend: AwmBackend, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that made one world."""
    folder = tmp_path_factory.mktemp("run")
    generator = synth_author.Author([WORLD]).generator()
    report = Synthesis(generator, backend, folder, SynthConfig(backend="awm", worlds=1, tasks=2)).run()
    assert report.made == (WORLD,) and report.tasks == 2
    return folder


def test_a_made_world_is_played_as_a_world_of_awm(run: Path) -> None:
    env = gym.make("AgentWorld/MCP-v0", world=f"awm:{run / WORLDS}", world_options={"scenario": WORLD})
    for number, task in enumerate(synth_author.sheet(WORLD)["tasks"]):
        env.reset(seed=number)
        for call in task["solution"]:
            env.step(str(call).replace("'", '"'))
        answer = f"finish: {task['answer']}" if "answer" in task else "finish"
        assert env.step(answer)[1] == 1.0
        env.reset(seed=number)
        assert env.step(answer)[1] == 0.0
    env.close()


def test_a_made_world_passes_the_check(run: Path) -> None:
    [world] = examine(run)
    assert (world.problems, world.answered, world.held, world.unproved) == ((), 6, 2, 0)


def changed(old: str, new: str) -> Callable[[str], str]:
    def change(answer: str) -> str:
        assert old in answer, old
        return answer.replace(old, new, 1)

    return change


def first_line(code: str) -> Callable[[str], str]:
    return changed("import os\n", f"import os\n{code}\n")


CODE: Sequence[tuple[Callable[[str], str], str]] = (
    (changed("import os\n", "import os\nthis is no Python\n"), "no Python"),
    (lambda answer: "I would rather not.", "no Python"),
    (changed('operation_id="mark_broken"', 'operation_id="break_tool"'), "no endpoint has this operation_id"),
    (changed("due: str", "until: str"), "its parameters are member_id, tool_id, until"),
    (changed("status_code=404", "status_code=200"), "the wrong call"),
    (
        lambda answer: answer.replace("session.commit()", "session.rollback()"),
        "changes nothing, and the tool is said to write",
    ),
    (first_line("open('/etc/passwd').read()"), "cannot be loaded"),
    (first_line("import subprocess; subprocess.run(['ls'])"), "cannot be loaded"),
    (first_line("import socket; socket.create_connection(('example.com', 80))"), "cannot be loaded"),
    (first_line("os._exit(0)"), "the code of tool_library"),
    (first_line("SEEN = []\n\ndef see(x):\n    SEEN.append(x)"), "keeps more than its database"),
)


@pytest.mark.parametrize(("change", "told"), CODE)
def test_code_that_is_wrong_or_reaches_for_the_host_is_told(
    backend: AwmBackend, draft: WorldDraft, change: Callable[[str], str], told: str
) -> None:
    answer = right_answer("implementation", WORLD, awm=True)
    with pytest.raises(AnswerFault, match=told):
        backend.implementation(replace(draft, implementation=None), change(answer))


def test_an_error_inside_a_tool_is_told_with_the_lines_that_led_there(backend: AwmBackend, draft: WorldDraft) -> None:
    answer = right_answer("implementation", WORLD, awm=True)
    with pytest.raises(AnswerFault) as caught:
        backend.implementation(
            replace(draft, implementation=None), answer.replace("session.commit()", "session.comit()")
        )
    told = str(caught.value)
    assert "Internal Server Error" in told and "session.comit()" in told
    assert "AttributeError: 'Session' object has no attribute 'comit'" in told


CLOCKED = """
CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    day TEXT NOT NULL DEFAULT (date('now', 'localtime')), hour TEXT DEFAULT (strftime('%H')))"""
CLOCKED_ROWS = ("INSERT INTO rooms (room_id) VALUES (1)", "INSERT INTO rooms VALUES (2, datetime('now'), date(), '9')")


def test_tables_and_rows_may_ask_for_the_time_of_the_episode(backend: AwmBackend) -> None:
    check_schema(CLOCKED, 1, backend.clock)
    check_rows(CLOCKED, CLOCKED_ROWS, backend.clock)
    code = f"{awm_worlds.HEAD}\n@app.get('/api/x', operation_id='x')\nasync def x(): return 1\n"
    draft = WorldDraft(
        Brief(**synth_author.brief(WORLD)),
        schema=DatabaseSchema(sql=CLOCKED),
        rows=InitialRows(statements=CLOCKED_ROWS),
    )
    with backend.start(replace(draft, implementation=Implementation(code=code))) as machine:
        state = machine.state()
    assert {state[f"rooms/{number}/made"] for number in (1, 2)} == {"2026-01-01 09:00:00"}
    assert {state[f"rooms/{number}/day"] for number in (1, 2)} == {"2026-01-01"}


def test_the_other_form_has_no_clock_and_advises_nothing_that_tables_do_not_have() -> None:
    with pytest.raises(
        AnswerFault, match="CURRENT_TIMESTAMP gives another value at every time; leave it out"
    ) as caught:
        check_schema(CLOCKED, 1)
    assert ":now" not in str(caught.value)
    with pytest.raises(AnswerFault, match=r"random\( gives another value"):
        check_schema("CREATE TABLE a (x INTEGER PRIMARY KEY, y INTEGER DEFAULT (random()))", 1, "2026-01-01T09:00:00Z")


def verifier(body: str) -> str:
    return fenced(
        "python", f"import os, sqlite3\n\ndef verify_task_completion(initial, final, answer=None):\n    {body}"
    )


VERIFIERS: Sequence[tuple[str, str]] = (
    ('return {"result": "complete"}', "the verifier accepts the start"),
    ('return {"result": "others"}', "the verifier refuses the solution"),
    ("return True", "expected"),
    ("raise RuntimeError('no')", "RuntimeError: no"),
    ("return open('/etc/passwd').read()", "the verifier"),
    ("os.system('touch /tmp/here'); return {'result': 'complete'}", "the verifier"),
    (
        'return {"result": "complete" if sqlite3.connect(final).execute('
        '"SELECT returned FROM loans WHERE loan_id = 2").fetchone()[0] else "others"}',
        "half-way state",
    ),
    (
        'return {"result": "complete" if sqlite3.connect(final).execute('
        '"SELECT count(*) FROM loans WHERE tool_id = 2 AND member_id = 1").fetchone()[0] else "others"}',
        "a wrong solution: lend_tool with due",
    ),
)


@pytest.mark.parametrize(("body", "told"), VERIFIERS)
def test_a_verifier_that_does_not_tell_is_told(backend: AwmBackend, draft: WorldDraft, body: str, told: str) -> None:
    solution = right_answer("verifier", WORLD, TASK)
    solution = solution[: solution.index("success:")] + "```"
    with pytest.raises(AnswerFault, match=told):
        backend.solved(draft, 0, f"{solution}\n\n{verifier(body)}")


def test_a_check_names_what_fails_in_awms_own_files(backend: AwmBackend, tmp_path: Path) -> None:
    [world] = examine(awm_worlds.write(tmp_path, awm_worlds.library()))
    told = "\n".join(world.problems)
    assert "INSERT INTO loans (id, book_id, user_id) VALUES (1, 99, 1);: FOREIGN KEY constraint failed" in told
    assert re.search(r"tool return_book: .*Internal Server Error", told)
    assert "task 2: the verifier accepts the start" in told
    assert "task 3: the verifier raised OperationalError" in told


def test_a_check_lists_errors_inside_for_likely_arguments_alone_and_counts_the_others(
    backend: AwmBackend, tmp_path: Path
) -> None:
    names = [f"made_{number}" for number in range(12)]
    endpoints = "".join(
        f"@app.get('/api/{name}', operation_id='{name}')\nasync def {name}(token: str):\n    return {{}}[token]\n"
        for name in names
    )
    failing = (
        "@app.get('/api/titles/{book_id}', operation_id='read_title')\n"
        "async def read_title(book_id: int):\n    return SessionLocal().get(Book, book_id).heading\n"
    )
    world = awm_worlds.library()
    code = world["gen_envs.jsonl"][0]["full_code"]
    world["gen_envs.jsonl"][0]["full_code"] = code.replace("if __name__", f"{endpoints}{failing}\nif __name__")
    [found] = examine(awm_worlds.write(tmp_path, world))
    inside = [problem for problem in found.problems if "Internal Server Error" in problem]
    assert len(inside) == 2
    assert "tool read_title: {'book_id': 1}: " in inside[0] and "has no attribute 'heading'" in inside[0]
    assert inside[1].startswith("tools return_book, made_0, ") and "made_11" in inside[1]
