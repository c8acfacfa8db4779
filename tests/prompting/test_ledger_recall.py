"""Probes that are read off the ledger: what stands in the history is not asked again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import dream, language_world, make, predicted

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import ChatRequest, Observation, Source
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.task import Task
from agentworld_gym.prompting.ledger import LedgerBook, recalled
from agentworld_gym.prompting.ledger.notations import Told, file_entries, json_entries
from agentworld_gym.prompting.ledger.readings import shown_entries
from agentworld_gym.recipe.collect.config import SmallModelSessions
from agentworld_gym.recipe.collect.recorder import Recorder
from agentworld_gym.sessions.rerendering import prompts_for, task_of
from agentworld_gym.worlds.recordings.format import packed, unpacked

IDLE = "dev@box:/srv/app$"
FILES = {
    "/srv/app/": True,
    "/srv/app/a.txt": "1 \n2\n",
    "/srv/app/bare": "no line feed",
    "/srv/app/odd": "\x1b[1m",
    "/srv/app/big": Told.UNTOLD,
    "/srv/app/old": Told.GONE,
    "/srv/app/d/": True,
    "/srv/app/d/.hidden": "h\n",
    "/home/dev/x": "home\n",
}
BOOK = LedgerBook("terminal", file_entries, here="/srv/app/", home="/home/dev", entries=FILES)


@pytest.mark.parametrize(
    ("action", "output"),
    [
        ("cat a.txt", "1\n2\n"),
        ("cat ./a.txt", "1\n2\n"),
        ("cat /home/dev/x", "home\n"),
        ("cat bare", "no line feed"),
        ("head -n 1 a.txt", "1\n"),
        ("head -n 9 a.txt", "1\n2\n"),
        ("ls -1", "a.txt\nbare\nbig\nd\nodd\n"),
        ("ls -1 d", ""),
    ],
)
def test_a_look_at_what_the_book_tells_whole_is_answered_as_a_terminal_does(action: str, output: str) -> None:
    assert recalled(BOOK, action, f"hello\n{IDLE}") == f"{IDLE} {action}\n{output}{IDLE}"


@pytest.mark.parametrize(
    "action",
    [
        *("cat big", "cat old", "cat unknown", "cat odd", "cat ../a.txt", "cat a.txt bare", "cat a.txt | sort"),
        *("head a.txt", "head -n 1 big", "ls", "ls -1 ..", "ls -1 /home/dev", "ls -1 nowhere", "rm a.txt", ""),
    ],
)
def test_anything_else_is_asked(action: str) -> None:
    assert recalled(BOOK, action, IDLE) is None


def test_without_an_idle_prompt_everything_is_asked() -> None:
    assert recalled(BOOK, "cat a.txt", "still running") is None


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1), st.booleans())
def test_what_is_recalled_is_read_back_as_the_same_entry(content: str, ended: bool) -> None:
    text = content + "\n" * ended
    shown = recalled(LedgerBook("terminal", file_entries, entries={"/srv/app/a": text}), "cat a", IDLE)
    assert shown is not None
    assert shown_entries("terminal", "cat a", shown) == {"/srv/app/a": text}


def test_a_note_is_recalled_under_its_key() -> None:
    call = memory("retrieve", key_list=["a"])
    for entries, shown in (({"memory/a": "1\n2"}, "a: 1\n2"), ({"memory/a": Told.GONE}, "Key not found"), ({}, None)):
        assert recalled(LedgerBook("search", json_entries, entries=entries), call, "") == shown
    assert recalled(LedgerBook("search", json_entries, entries={"memory/a": "1"}), "web_search", "") is None


def test_with_true_ledgers_the_recalled_is_what_a_terminal_shows() -> None:
    recorder = Recorder([load_spec("terminal")], SmallModelSessions(max_turns=12), seed=4)
    compared = 0
    for row in filter(None, map(recorder.row, range(6))):
        task, prompts = task_of(row), prompts_for(row, "compact", ledger=True)
        assert task is not None
        book, before = prompts.ledger_book(task), row.first_observation
        for action, observation, changes in zip(row.actions, row.observations, row.changes, strict=True):
            assert book is not None
            known = recalled(book, action, before)
            compared += known is not None
            assert known in (None, observation)
            book, _ = book.turned(action, observation, prompts.ledger(task, changes))
            before = observation
    assert compared


def memory(operation: str, **arguments: Any) -> str:
    return json.dumps({"name": "dict_memory", "arguments": {"operation": operation, **arguments}})


def test_a_memory_shows_what_is_recalled_of_it() -> None:
    env = make("AgentWorld/Search-v0", world="grounded")
    env.reset(seed=0)
    env.step(memory("add", dict={"depth": "112 m\n"}))
    book = LedgerBook("search", json_entries, entries={"memory/depth": "112 m\n", "memory/width": Told.GONE})
    for key in ("depth", "width"):
        call = memory("retrieve", key_list=[key])
        assert recalled(book, call, "") == env.step(call)[0]
    env.close()


TASK = Task(
    id="t",
    domain="terminal",
    instruction="Sort.",
    state={"cwd": "/srv/app", "files": {"/srv/app/a.txt": "b\na\n"}},
    success=[
        {"probe": "cat sorted.txt", "expect": {"equals": "a\nb"}},
        {"probe": "stat -c %a sorted.txt", "expect": {"equals": "600"}},
    ],
)


def model(asked: list[str]) -> Any:
    def answer(request: ChatRequest) -> str:
        asked.append(next(line for line in request.messages[-1]["content"].split("\n") if line))
        ledger = "" if len(asked) > 1 else "\n<ledger>\n= sorted.txt\na\nb\n</ledger>"
        return f"{predicted(f'{IDLE} x{chr(10)}600{chr(10)}{IDLE}')}{ledger}"

    return answer


def test_a_probe_reads_the_ledger_and_the_agent_asks_the_model() -> None:
    asked: list[str] = []
    world = language_world(model(asked), profile="compact", ledger=True)
    [session] = world.begin([TASK], [0])
    act = ActionParser(load_spec("terminal")).parse
    world.step([session], [act("sort a.txt > sorted.txt")])
    [read] = world.step([session.probe()], [act("cat sorted.txt")])
    assert len(asked) == 1
    assert isinstance(read, Observation)
    assert (read.text, read.source) == (f"{IDLE} cat sorted.txt\na\nb\n{IDLE}", Source.LEDGER)
    assert unpacked(packed(read)) == read
    [shown] = world.step([session], [act("cat sorted.txt")])
    assert len(asked) == 2
    assert isinstance(shown, Observation)
    assert shown.source is None


@pytest.mark.parametrize("ledger", [True, None])
def test_info_counts_which_probes_were_read_and_which_were_asked(ledger: bool | None) -> None:
    asked: list[str] = []
    env = make(world=dream("that_sorts", model(asked)), task=TASK, profile="compact", ledger=ledger)
    env.reset(seed=0)
    env.step("sort a.txt > sorted.txt")
    info = env.step("finish")[4]
    env.close()
    assert info.get("probes") == ({"asked": 1, "ledger": 1} if ledger else None)
    assert len(asked) == (2 if ledger else 3)


def test_under_a_control_probes_are_asked() -> None:
    asked: list[str] = []
    world = language_world(model(asked), profile="compact", ledger=True)
    [session] = world.begin([TASK.model_copy(update={"controls": {"truncated-output": 1.0}})], [0])
    world.step([session.probe()], [ActionParser(load_spec("terminal")).parse("cat a.txt")])
    assert len(asked) == 1
