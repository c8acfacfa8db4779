"""The book of a ledger: what is malformed, what the history excludes, and what is written again unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import dream, language_world, make, predicted

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import Failure, FailureKind, Observation
from agentworld_gym.domain.ledger_check import LedgerCheck
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.task import Task
from agentworld_gym.evaluation.fidelity.measure import Plan, measure, record
from agentworld_gym.options import EnvOptions
from agentworld_gym.prompting.ledger import LedgerBook
from agentworld_gym.prompting.ledger.notations import Told, file_entries, json_entries
from agentworld_gym.prompting.ledger.readings import shown_entries
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.recipe.collect.config import SmallModelSessions
from agentworld_gym.recipe.collect.recorder import Recorder
from agentworld_gym.sessions.rerendering import prompts_for, task_of
from agentworld_gym.worlds.recordings.format import packed, unpacked

TASK = Task(
    id="t",
    domain="terminal",
    instruction="Sort.",
    state={"cwd": "/srv/app", "files": {"/srv/app/a.txt": "b\na\n", "/etc/motd": "hi\n"}, "dirs": ["/srv/app/empty"]},
    success=[{"answer": {"equals": "1"}}],
)
IDLE = "dev@box:/srv/app$"


def book(profile: Any = "compact", **fields: Any) -> LedgerBook:
    task = TASK.model_copy(update=fields)
    found = Prompts(load_spec("terminal"), profile=profile, ledger=True).ledger_book(task)
    assert found is not None
    return found


def shown(command: str, *lines: str) -> str:
    return "\n".join([f"{IDLE} {command}", *lines, IDLE])


def check(ledger: str, command: str = "true", *lines: str, after: LedgerBook | None = None) -> tuple[int, int, int]:
    found = (after or book()).check(command, shown(command, *lines), ledger)
    return found.malformed, found.contradictions, found.unchanged


@pytest.mark.parametrize(
    ("ledger", "counts"),
    [
        ("", (0, 0, 0)),
        ("= b.txt\nx\n= empty/\n", (0, 0, 1)),
        ("= a.txt\nb\nc\n", (0, 0, 0)),
        ("= a.txt\nb\na\n", (0, 0, 1)),
        ("= a.txt ...\n", (0, 0, 0)),
        ("- a.txt\n- empty/\n", (0, 0, 0)),
        ("- ghost.txt\n", (0, 1, 0)),
        ("- \n", (1, 0, 0)),
        ("- a.txt\n- a.txt\n", (1, 1, 0)),
        ("- /etc/motd\n- /etc/hosts\n", (0, 0, 0)),
        ("lost\n= b.txt\n- one\n- two\n", (1, 0, 0)),
        ("= list\n- one\n- a.txt\n", (0, 0, 0)),
    ],
)
def test_what_is_wrong_with_files_in_a_ledger(ledger: str, counts: tuple[int, int, int]) -> None:
    assert check(ledger) == counts


def test_values_in_json_are_read_too_and_what_was_never_told_may_be_anything() -> None:
    full = book("full")
    assert check('= /srv/app/a.txt: "b\\na\\n"\n- /srv/app/ghost\n= cwd: "/srv"\n', after=full) == (0, 0, 1)
    later, _ = full.turned("true", IDLE, "- /srv/app/a.txt\n")
    assert check("- /srv/app/a.txt\n= no json: x\nlost\n", after=later) == (2, 1, 0)


def test_a_file_that_shows_another_content_than_the_history_says_is_a_contradiction() -> None:
    assert check("", "cat a.txt", "b", "a") == (0, 0, 0)
    assert check("", "cat a.txt", "a", "b") == (0, 1, 0)
    assert check("", "cat a.txt", "cat: a.txt: No such file or directory") == (0, 1, 0)
    later, _ = book().turned("sort a.txt > s", shown("sort a.txt > s"), "= s\na\nb\n- a.txt\n")
    assert check("", "cat ./s", "a", "b", after=later) == (0, 0, 0)
    assert check("", "cat s", "b", after=later) == (0, 1, 0)
    assert check("", "cat a.txt", "cat: a.txt: No such file or directory", after=later) == (0, 0, 0)
    assert check("", "cat a.txt", "b", "a", after=later) == (0, 1, 0)
    assert check("", "cat unheard_of", "anything", after=later) == (0, 0, 0)


MISSING = "No such file or directory"


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("mv a.txt b.txt", "mv: cannot stat 'a.txt'"),
        ("rm ./a.txt", "rm: cannot remove './a.txt'"),
        ("chmod 600 /srv/app/a.txt", "chmod: cannot access '/srv/app/a.txt'"),
        ("stat -c %a a.txt", "stat: cannot statx 'a.txt'"),
        ("head -n 1 a.txt", "head: cannot open 'a.txt' for reading"),
        ("sort a.txt", "sort: cannot read: a.txt"),
        ("sed -i s/a/b/ a.txt", "sed: can't read a.txt"),
        ("grep -l b *.txt", "grep: *.txt"),
        ("wc -l < a.txt", "bash: a.txt"),
        ("cd empty", "bash: cd: empty"),
        ("echo hi > empty/new.txt", "bash: empty/new.txt"),
    ],
)
def test_an_error_that_denies_what_is_there_is_a_contradiction(command: str, error: str) -> None:
    assert check("", command, f"{error}: {MISSING}") == (0, 1, 0)
    gone, _ = book().turned("true", IDLE, "- a.txt\n- empty/\n")
    assert check("", command, f"{error}: {MISSING}", after=gone) == (0, 0, 0)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("cat b.txt", "cat: b.txt"),
        ("echo hi > lost/a.txt", "bash: lost/a.txt"),
        ("grep b */a.txt", "grep: */a.txt"),
        ("rm a.txt; cat a.txt", "cat: a.txt"),
        ("rm -r empty a.txt", "rm: cannot remove 'a.txt'"),
        ("mv a.txt a.txt b", "mv: cannot stat 'a.txt'"),
        ("cat '*.txt'", "cat: '*.txt'"),
    ],
)
def test_an_error_that_may_be_true_is_none(command: str, error: str) -> None:
    assert check("", command, f"{error}: {MISSING}") == (0, 0, 0)


def test_what_was_read_is_history() -> None:
    later, _ = book().turned("cat b.txt", shown("cat b.txt", "one"), "")
    assert check("= b.txt\none\n", after=later) == (0, 0, 1)
    assert check("", "cat b.txt", "two", after=later) == (0, 1, 0)
    assert book().entries == book().entries and "/srv/app/b.txt" not in book().entries


def test_under_a_control_an_observation_may_show_something_else() -> None:
    assert check("", "cat a.txt", "b", "...", after=book(controls={"truncated-output": 1.0})) == (0, 0, 0)


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ("cat a.txt | sort", shown("cat a.txt | sort", "a")),
        ("cat a.txt b.txt", shown("cat a.txt b.txt", "a")),
        ("cat *.txt", shown("cat *.txt", "a")),
        ("cat ../a.txt", shown("cat ../a.txt", "a")),
        ("cat a.txt", f"{IDLE} cat a.txt\na"),
        ("cat a.txt", shown("cat a.txt", "\x1b[1ma")),
        ("cat a.txt", "a"),
        ("cat a.txt", ""),
    ],
)
def test_nothing_is_read_from_what_is_not_plainly_one_whole_file(action: str, observation: str) -> None:
    assert shown_entries("terminal", action, observation) == {}


def test_a_file_is_read_in_the_folder_of_the_prompt_and_up_to_the_prompt_behind_it() -> None:
    seen = "dev@box:~/d$ cat b\nno line feeddev@box:~/d$"
    assert shown_entries("terminal", "cat b", seen, "/home/dev") == {"/home/dev/d/b": "no line feed"}


def test_a_note_that_is_retrieved_alone_is_read() -> None:
    call = {"name": "dict_memory", "arguments": {"operation": "retrieve", "key_list": ["a"]}}
    assert shown_entries("search", json.dumps(call), "a: 1\n2") == {"memory/a": "1\n2"}
    assert shown_entries("search", json.dumps(call), "Key not found") == {"memory/a": Told.GONE}
    call["arguments"]["key_list"].append("b")  # type: ignore[index]
    assert shown_entries("search", json.dumps(call), "a: 1\nb: 2") == shown_entries("search", "web_search", "x") == {}


@given(st.text(), st.text(), st.sampled_from([file_entries, json_entries]))
def test_every_text_can_be_checked(observation: str, ledger: str, notation: Any) -> None:
    found = LedgerBook("terminal", notation, here="/srv/").check("cat a", observation, ledger)
    assert min(found.as_dict().values()) >= 0


@pytest.mark.parametrize("domain", ["terminal", "search"])
@pytest.mark.parametrize("profile", ["compact", "full"])
def test_nothing_is_wrong_with_the_true_ledger_of_recorded_sessions(domain: str, profile: Any) -> None:
    recorder = Recorder([load_spec(domain)], SmallModelSessions(max_turns=10), seed=3)
    for row in filter(None, map(recorder.row, range(3))):
        task, prompts = task_of(row), prompts_for(row, profile, ledger=True)
        assert task is not None
        held = prompts.ledger_book(task)
        for action, observation, changes in zip(row.actions, row.observations, row.changes, strict=True):
            assert held is not None
            held, found = held.turned(action, observation, prompts.ledger(task, changes))
            assert found == LedgerCheck()


def test_a_template_of_the_user_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "ledger.j2").write_text("whatever")
    assert Prompts(load_spec("terminal"), tmp_path, ledger=True).ledger_book(TASK) is None
    assert Prompts(load_spec("terminal")).ledger_book(TASK) is None


def world_that_says(*answers: str | Failure, **sampling: Any) -> Any:
    said = iter(answers)
    world = language_world(lambda _: next(said), profile="compact", ledger=True)
    world.sampling = replace(world.sampling, **sampling)
    (session,) = world.begin([TASK], [0])

    def step(command: str, on: Any = session) -> LedgerCheck | None:
        (observed,) = world.step([on], [ActionParser(load_spec("terminal")).parse(command)])
        assert isinstance(observed, Observation)
        assert unpacked(packed(observed)).told_ledger == observed.told_ledger
        return observed.ledger_check

    return world, session, step


def test_a_world_checks_each_turn_against_its_own_history_and_a_correction_changes_that() -> None:
    world, session, step = world_that_says(
        f"{IDLE}\n<ledger>\n= s\na\n", f"cat s\nb\n{IDLE}", f"cat s\na\n{IDLE}", f"cat s\nb\n{IDLE}"
    )
    assert step("sort a.txt > s") == LedgerCheck()
    twin = session.fork()
    assert step("cat s") == LedgerCheck(contradictions=1)
    assert step("cat s", twin) == LedgerCheck()
    world.correct(twin, shown("cat s", "b"))
    assert step("cat s", twin) == LedgerCheck(), "what was read last is the history"


DENIED = f"mv a.txt b\nmv: cannot stat 'a.txt': {MISSING}\n{IDLE}"
MOVED = f"mv a.txt b\n{IDLE}\n<ledger>\n= b\nb\na\n- a.txt\n"


def test_an_answer_that_contradicts_the_history_is_asked_for_again() -> None:
    world, session, _ = world_that_says(DENIED, "", MOVED, reasks=2)
    [observed] = world.step([session], [ActionParser(load_spec("terminal")).parse("mv a.txt b")])
    assert isinstance(observed, Observation)
    assert (observed.text, observed.reasks) == (shown("mv a.txt b"), 2)
    assert observed.ledger_check == LedgerCheck()


def test_where_every_answer_contradicts_the_history_the_first_one_stands() -> None:
    world, session, _ = world_that_says(DENIED, f"{DENIED}\n<ledger>\n= b\n", "", reasks=2)
    [observed] = world.step([session], [ActionParser(load_spec("terminal")).parse("mv a.txt b")])
    assert isinstance(observed, Observation)
    assert (observed.text, observed.reasks) == (f"{IDLE} {DENIED}", 2)
    assert (observed.ledger, observed.ledger_check) == ("", LedgerCheck(contradictions=1))


def test_a_server_that_fails_when_it_is_asked_again_takes_no_answer_away() -> None:
    world, session, _ = world_that_says(DENIED, Failure(FailureKind.TIMEOUT, "no answer"), reasks=2)
    [observed] = world.step([session], [ActionParser(load_spec("terminal")).parse("mv a.txt b")])
    assert isinstance(observed, Observation)
    assert (observed.text, observed.reasks) == (f"{IDLE} {DENIED}", 1)


def test_info_and_traces_hold_what_is_wrong(tmp_path: Path) -> None:
    answers = iter([f"{predicted(IDLE)}\n<ledger>\n= /x: 1\nlost\n</ledger>", predicted(IDLE)])
    env = make(world=dream("sloppy_keeper", lambda _: next(answers)), ledger=True, judge="none", traces=str(tmp_path))
    env.reset(seed=0)
    told = {"entries": "= /x: 1\nlost\n", "malformed": 1, "contradictions": 0, "unchanged": 0}
    assert env.step("touch x")[4]["ledger"] == told
    assert env.step("ls")[4]["ledger"] == {**told, "entries": "", "malformed": 0}
    env.close()
    lines = [json.loads(line) for file in tmp_path.rglob("*.jsonl") for line in file.read_text().splitlines()]
    assert sum(line.get("ledger") == told for line in lines) == 1
    assert sum(line.get("info", {}).get("ledger") == told for line in lines) == 1


def test_fidelity_counts_what_is_wrong_with_both_histories() -> None:
    world = dream("careless_keeper", lambda _: f"{predicted(IDLE)}\n<ledger>\nlost\n</ledger>")
    options = EnvOptions(spec="terminal", world=world, ledger=True, split="test")
    found, _ = measure(options, Plan(record("terminal", 1)))
    for run in (found.taught, found.free):
        assert run is not None and run.ledgers is not None and run.measures is not None
        assert run.ledgers.malformed == run.measures.exact.count > 0 == run.ledgers.sound.share
        assert run.ledgers.exact is not None and run.ledgers.exact.share == 0
