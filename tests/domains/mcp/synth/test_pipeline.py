"""The pipeline with a scripted author: good answers, bad ones that are told and mended, absurd ones, kills."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import synth_author
import yaml
from synth_author import Author, Fault, dumped, instead, nothing, prose, refusal, replaced, without_tool

import agentworld_gym  # noqa: F401
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.domains.mcp.synth.backends.declarative import DeclarativeBackend
from agentworld_gym.domains.mcp.synth.config import SynthConfig
from agentworld_gym.domains.mcp.synth.journal import FILE, JournalEntry, read_journal
from agentworld_gym.domains.mcp.synth.pipeline import WORLDS, Synthesis
from agentworld_gym.domains.mcp.synth.report import GenerationPrices, SynthReport
from agentworld_gym.llm.generators import ScriptedGenerator

WORLD = "tool_library"


def synthesis(folder: Path, author: Author | ScriptedGenerator, worlds: int = 1, **config: Any) -> Synthesis:
    generator = author.generator() if isinstance(author, Author) else author
    return Synthesis(generator, DeclarativeBackend(), folder, SynthConfig(**{"worlds": worlds, "tasks": 2, **config}))


def entries(folder: Path, stage: str) -> list[JournalEntry]:
    return [entry for entry in read_journal(folder / FILE) if entry.key.stage == stage]


def stage_of(report: SynthReport, name: str) -> Any:
    return next(stage for stage in report.stages if stage.stage == name)


def verifier(**changes: Any) -> Fault:
    """Change keys of the answer of the verifier."""

    def fault(answer: str) -> str:
        data = yaml.safe_load(answer.removeprefix("```yaml\n").removesuffix("\n```"))
        return dumped({**data, **changes})

    return fault


def test_a_made_world_is_played_by_gym_make(tmp_path: Path) -> None:
    report = synthesis(tmp_path, Author([WORLD, "vet_clinic"]), 2).run()
    assert report.made == (WORLD, "vet_clinic") and not report.given_up
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": tmp_path / WORLDS})
    seen = set()
    for seed in range(4):
        env.reset(seed=seed)
        task = env.unwrapped.task  # type: ignore[attr-defined]
        seen.add(task.id)
        for action in task.expert:
            _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated, info["success"]) == (1.0, True, True)
    assert seen == {"tool_library-1", "tool_library-2", "vet_clinic-1", "vet_clinic-2"}


def test_doing_nothing_does_not_pay_in_a_made_world(tmp_path: Path) -> None:
    synthesis(tmp_path, Author([WORLD])).run()
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": tmp_path / WORLDS / WORLD})
    env.reset(seed=0)
    assert env.step("finish")[1] == 0.0


def test_prose_and_thinking_around_an_answer_are_passed_over(tmp_path: Path) -> None:
    stages = ("tasks", "schema", "sample data", "interface", "implementation", "verifier")
    report = synthesis(tmp_path, Author([WORLD], {(WORLD, stage): [prose] for stage in stages})).run()
    assert all(stage.made == stage.first == stage.asked for stage in report.stages)


BORROWED = {"name": "list_loans", "arguments": {"member_id": 1}}

FAULTS: Sequence[tuple[str, Fault, str]] = (
    ("tasks", nothing, "the answer is empty"),
    ("tasks", refusal, "the answer is no mapping"),
    ("tasks", instead("```yaml\ntasks: [Lend a tool to Ida.]\n```"), "there are 1 tasks, 2 are wanted"),
    ("tasks", instead("```yaml\ntasks: [Lend a tool to Ida., Lend a tool to Ida]\n```"), "are the same but for"),
    ("schema", replaced("email TEXT NOT NULL UNIQUE\n", "email TEXT NOT NULL,,\n"), "syntax error"),
    ("schema", instead("```sql\nCREATE TABLE tools (tool_id INTEGER PRIMARY KEY);\n```"), "at least 3 are wanted"),
    ("schema", replaced("REFERENCES members (member_id)", "REFERENCES people (person_id)"), "there is no table people"),
    ("schema", replaced("REFERENCES members (member_id)", "REFERENCES members (name)"), "neither its primary key nor"),
    ("schema", replaced("member_id INTEGER PRIMARY KEY AUTOINCREMENT", "member_id INTEGER"), "no primary key"),
    ("schema", replaced("due TEXT NOT NULL", "due TEXT DEFAULT CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP"),
    (
        "schema",
        replaced("CREATE INDEX", "ATTACH DATABASE 'x' AS y; CREATE INDEX"),
        "only CREATE TABLE and CREATE INDEX",
    ),
    ("sample data", replaced("(2, 2, 2, '2026-01-05', 0)", "(2, 2, 99, '2026-01-05', 0)"), "FOREIGN KEY constraint"),
    ("sample data", replaced("'power', 'in')", "'electric', 'in')"), "CHECK constraint failed"),
    ("sample data", replaced("tomas@example.com", "ida@example.com"), "UNIQUE constraint failed: members.email"),
    ("sample data", instead("```sql\nDELETE FROM tools;\n```"), "only INSERT INTO is run"),
    ("sample data", replaced("'2025-12-01'", "date('now')"), "gives other rows at every time"),
    ("sample data", replaced("'2025-12-01'", "x'00ff'"), "due holds bytes"),
    ("interface", replaced("name: find_members", "name: list_tools"), "there are 2 of this name"),
    ("interface", replaced("text: Ida", "word: Ida"), "the right call does not fit the parameters"),
    ("interface", replaced("type: string", "type: word"), "a JSON Schema"),
    ("interface", replaced("  wrong:\n    loan_id: 1\n", ""), "there is no wrong call"),
    ("implementation", without_tool("mark_broken"), "tool mark_broken: it has no implementation"),
    ("implementation", replaced("FROM members", "FROM persons"), "no such table: persons"),
    ("implementation", replaced("state = 'broken'", "state = 'in'"), "changes nothing, and the tool is said to write"),
    ("implementation", replaced("AND returned = 1", "AND returned = 5"), "the wrong call"),
    ("implementation", replaced("status: 404", "status: fine"), "valid integer"),
    (
        "implementation",
        replaced("AND returned = 1", "AND CASE :loan_id WHEN 1 THEN json('{') END"),
        "is an error inside the tool, and no refusal",
    ),
    ("verifier", verifier(free=["lend_tool.due"]), "lend_tool.due cannot be free"),
    ("verifier", verifier(free=["lend_tool.member_id"]), "lend_tool.member_id cannot be free"),
    ("verifier", verifier(solution=[]), "changes nothing and has no answer"),
    ("verifier", verifier(solution=[{"name": "return_tool", "arguments": {"loan_id": 9}}]), "is refused"),
    ("verifier", verifier(success=[{"probe": BORROWED, "expect": {"matches": "(a+)+b"}}]), "no such key"),
    ("verifier", verifier(success=[{"probe": BORROWED, "has": [{"loans": [1]}]}]), "valid"),
    ("verifier", verifier(solution=[BORROWED] * 41), "at most 40"),
    ("verifier", verifier(success=[{"answer": {"excludes": "nothing of it"}}]), "no such key"),
    ("verifier", verifier(success=[{"answer": {"equals": "yes"}}]), "refuses the solution"),
    (
        "verifier",
        verifier(success=[{"probe": {"name": "list_tools"}, "expect": {"contains": "tool"}}]),
        "test 1 holds at the start already",
    ),
    (
        "verifier",
        verifier(success=[{"probe": {"name": "return_tool"}, "has": [{"loan_id": 2}]}]),
        "only reads is wanted",
    ),
    (
        "verifier",
        verifier(
            success=[
                {"probe": {"name": "list_loans", "arguments": {"member_id": 2}}, "has": [{"returned": 1, "loan_id": 2}]}
            ]
        ),
        "half-way state",
    ),
    (
        "verifier",
        verifier(success=[{"probe": BORROWED, "has": [{"tool_id": 2, "returned": 0}]}]),
        "a wrong solution: lend_tool with due",
    ),
)


@pytest.mark.parametrize(("stage", "fault", "told"), FAULTS)
def test_a_fault_is_told_and_the_next_answer_is_taken(tmp_path: Path, stage: str, fault: Fault, told: str) -> None:
    author = Author([WORLD], {(WORLD, stage): [fault]})
    report = synthesis(tmp_path, author).run()
    first, second = [entry for entry in entries(tmp_path, stage) if entry.key.part == 0]
    assert told in first.problem
    assert not second.problem and report.made == (WORLD,)
    assert stage_of(report, stage).tries == stage_of(report, stage).asked + 1


def test_the_generator_is_shown_its_answer_and_the_fault(tmp_path: Path) -> None:
    requests: list[ChatRequest] = []
    author = Author([WORLD], {(WORLD, "schema"): [instead("CREATE nonsense;")]})

    def answer(request: ChatRequest) -> Completion:
        requests.append(request)
        return author.answer(request)

    synthesis(tmp_path, ScriptedGenerator(answer)).run()
    again = next(request for request in requests if len(request.messages) == 4)
    assert again.messages[2]["content"] == "CREATE nonsense;"
    assert "only CREATE TABLE and CREATE INDEX are run" in again.messages[3]["content"]


def test_a_world_is_given_up_after_five_tries_and_the_others_are_made(tmp_path: Path) -> None:
    author = Author([WORLD, "vet_clinic"], {(WORLD, "schema"): [refusal] * 5})
    report = synthesis(tmp_path, author, 2).run()
    assert report.made == ("vet_clinic",)
    assert report.given_up == {
        WORLD: "schema: I am sorry, I cannot help with that.: only CREATE TABLE and CREATE INDEX are run"
    }
    assert author.asked[(WORLD, "schema", "")] == 5


def test_a_task_that_never_holds_is_left_out(tmp_path: Path) -> None:
    report = synthesis(tmp_path, Author([WORLD], {(WORLD, "verifier"): [nothing] * 5}), tasks=1).run()
    assert report.given_up == {WORLD: "0 of 1 tasks hold; task 1: verifier: the answer is empty"}

    first = synth_author.sheet(WORLD)["tasks"][0]["sentence"]
    author = Author([WORLD])

    def answer(request: ChatRequest) -> Completion:
        return Completion("") if f"> {first}" in request.messages[1]["content"] else author.answer(request)

    report = synthesis(tmp_path / "other", ScriptedGenerator(answer)).run()
    assert report.made == (WORLD,) and report.tasks == 1
    assert [path.name for path in (tmp_path / "other" / WORLDS / WORLD / "tasks").iterdir()] == ["2.yaml"]


def test_a_scenario_like_another_one_is_not_taken(tmp_path: Path) -> None:
    twin = {**synth_author.brief(WORLD), "name": "library_tool", "title": "Library, tools"}
    author = Author(
        [WORLD, "vet_clinic"],
        {("scenarios", "scenario"): [instead(dumped({"scenarios": [synth_author.brief(WORLD), twin]}))]},
    )
    report = synthesis(tmp_path, author, 2).run()
    assert report.made == (WORLD, "vet_clinic")


def test_a_world_with_the_tables_and_tools_of_another_one_is_refused(tmp_path: Path) -> None:
    copied = {
        stage: instead(synth_author.right_answer(stage, WORLD)) for stage in ("schema", "sample data", "interface")
    }
    author = Author([WORLD, "vet_clinic"], {("vet_clinic", stage): [fault] * 5 for stage, fault in copied.items()})
    report = synthesis(tmp_path, author, 2).run()
    assert report.made == (WORLD,)
    assert "too much like tool_library" in report.given_up["vet_clinic"]


# Kills


class Killed(Exception):
    """Stands for the end of the process."""


def killed_after(count: int, author: Author) -> ScriptedGenerator:
    left = iter(range(count))

    def answer(request: ChatRequest) -> Completion:
        if next(left, None) is None:
            raise Killed
        return author.answer(request)

    return ScriptedGenerator(answer, name="author")


@pytest.mark.parametrize("count", [0, 1, 4, 9, 12])
def test_a_killed_run_goes_on_and_asks_for_nothing_twice(tmp_path: Path, count: int) -> None:
    worlds = [WORLD, "vet_clinic"]
    whole = Author(worlds)
    expected = synthesis(tmp_path / "whole", whole, 2).run()
    author = Author(worlds)
    with pytest.raises(Killed):
        synthesis(tmp_path / "run", killed_after(count, author), 2).run()
    report = synthesis(tmp_path / "run", author, 2).run(resume=True)
    assert author.asked == whole.asked
    assert {one.key for one in read_journal(tmp_path / "run" / FILE)} == {
        one.key for one in read_journal(tmp_path / "whole" / FILE)
    }
    assert report.made == expected.made
    assert _texts(tmp_path / "run" / WORLDS) == _texts(tmp_path / "whole" / WORLDS)


def test_a_run_that_goes_on_compares_with_worlds_whose_turn_comes_later(tmp_path: Path) -> None:
    """The kill came when the interface of the second world was checked, and that of the first one only answered."""
    copied = {
        stage: instead(synth_author.right_answer(stage, WORLD)) for stage in ("schema", "sample data", "interface")
    }
    author = Author([WORLD, "vet_clinic"], {("vet_clinic", stage): [fault] * 5 for stage, fault in copied.items()})
    synthesis(tmp_path, author, 2).run()
    rows = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    first = next(row for row in rows if row["key"][:2] == [WORLD, "interface"] and "value" in row)
    before = [row for row in rows if row["key"][1] in ("scenario", "tasks", "schema", "sample data")]
    answers = [row for row in rows if row["key"][1] == "interface" and row["key"][3] == 1 and "text" in row]
    held = {**first, "key": ["vet_clinic", "interface", 0, 1]}
    (tmp_path / FILE).write_text("".join(json.dumps(row) + "\n" for row in (*before, *answers, held)))
    synthesis(tmp_path, Author([WORLD, "vet_clinic"]), 2).run(resume=True)
    assert "too much like vet_clinic" in entries(tmp_path, "interface")[0].problem


def test_a_torn_line_of_the_journal_is_asked_for_again(tmp_path: Path) -> None:
    author = Author([WORLD])
    synthesis(tmp_path, author).run()
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-40])
    report = synthesis(tmp_path, author).run(resume=True)
    assert report.made == (WORLD,)


def _texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.*"))}


def test_a_finished_run_asks_nothing_more(tmp_path: Path) -> None:
    synthesis(tmp_path, Author([WORLD])).run()

    def answer(request: ChatRequest) -> Completion:
        raise AssertionError("asked again")

    assert synthesis(tmp_path, ScriptedGenerator(answer, name="author")).run(resume=True).made == (WORLD,)


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    synthesis(tmp_path, Author([WORLD])).run()
    with pytest.raises(SpecError, match="expected a folder without a run, or resume"):
        synthesis(tmp_path, Author([WORLD])).run()
    with pytest.raises(SpecError, match=r"config.tasks: got 2, expected 1, or another folder"):
        synthesis(tmp_path, Author([WORLD]), tasks=1).run(resume=True)


def test_a_generator_that_is_away_costs_no_world(tmp_path: Path) -> None:
    author, away = Author([WORLD]), [True]

    def answer(request: ChatRequest) -> Completion | Failure:
        if away and "Write the tables" in request.messages[1]["content"]:
            return Failure(FailureKind.CONNECTION, "nobody is there", retryable=True)
        return author.answer(request)

    report = synthesis(tmp_path, ScriptedGenerator(answer, name="author")).run()
    assert report.unfinished == {WORLD: "connection: nobody is there"} and not report.made and not report.given_up
    away.clear()
    assert synthesis(tmp_path, ScriptedGenerator(answer, name="author")).run(resume=True).made == (WORLD,)
    assert author.asked[(WORLD, "tasks", "")] == 1


def test_a_failure_of_one_answer_is_a_try(tmp_path: Path) -> None:
    author, faults = Author([WORLD]), [Failure(FailureKind.LENGTH, "cut off")]

    def answer(request: ChatRequest) -> Completion | Failure:
        if faults and "Write the tables" in request.messages[1]["content"]:
            return faults.pop()
        return author.answer(request)

    assert synthesis(tmp_path, ScriptedGenerator(answer)).run().made == (WORLD,)
    assert entries(tmp_path, "schema")[0].problem == "there was no answer (length: cut off)"


def test_the_report_adds_up_tokens_and_cost(tmp_path: Path) -> None:
    report = synthesis(tmp_path, Author([WORLD])).run()
    found = list(read_journal(tmp_path / FILE))
    assert sum(stage.tries for stage in report.stages) == len(found) == 8
    tokens = sum(entry.tokens["prompt"] for entry in found), sum(entry.tokens["completion"] for entry in found)
    assert report.cost(GenerationPrices(prompt=1e6, completion=0)) == pytest.approx(tokens[0])
    assert report.cost(GenerationPrices(prompt=0, completion=2e6)) == pytest.approx(2 * tokens[1])
    assert (report.tables, report.tools, report.tasks) == (3, 6, 2)


@pytest.mark.parametrize("parallel", [1, 2])
def test_every_world_has_its_turn_however_few_are_made_side_by_side(tmp_path: Path, parallel: int) -> None:
    worlds = [WORLD, "vet_clinic", "print_queue"]
    run = synthesis(tmp_path, Author(worlds), 3, batch=2)
    run.parallel = parallel
    assert run.run().made == tuple(worlds)


def test_progress_is_told_world_by_world(tmp_path: Path) -> None:
    told: list[str] = []
    progress: Callable[[str], None] = told.append
    synthesis(tmp_path, Author([WORLD, "vet_clinic"]), 2).run(progress=progress)
    assert sorted(told) == [WORLD, "vet_clinic"]
