"""A command that may break the shell runs in a process apart, and what comes back is plain data that is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.process.disposable import Disposable
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.domains.swe.engine import SweMachine, shell
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.episode_transfer import SeenParts, packed, unpacked
from agentworld_gym.domains.swe.engine.files import MAX_CHARS, MAX_FILES
from agentworld_gym.domains.terminal.engine.isolated_shell import LineLost
from tests.helpers.hostile_workers import RAW
from tests.helpers.repositories import ENGINE, STATE, call, started
from tests.helpers.repositories import shell as command

APART = "bash -c 'echo more >> new.txt; git add new.txt; git commit -qm New; sleep 1 &'"
COMMANDS = (
    APART,
    "git add -A; git commit -qm All",
    "git stash",
    "git stash pop",
    "git checkout -qb other",
    "git checkout -q --detach",
    "git checkout -q main",
    "git commit -q --amend --allow-empty -m Again",
    "git revert --no-edit HEAD",
    "git config user.name Eve; git config alias.st status",
    "git fetch; git pull -q; git push -q",
    "git rm -q README.md",
    "git merge -q other",
    "git tag v1; git branch -d other",
    "rm -rf .git",
    "git init -q",
    "mkdir -p a/b/c && touch a/b/d && chmod 400 a/b/d",
    "rm -rf a",
    "mv shop.py market.py; cp market.py shop.py",
    "printf '\\377\\376' > bytes.bin",
    "echo '\u00e9\U0001f600' >> shop.py; truncate -s 0 README.md",
    "sleep 100 & sleep 200 & echo $!",
    "kill 4211",
    "python -m pytest -q -x",
    "ps; date; ls -l",
)
"""Commands that change all that a command can change."""


def whole(episode: RepositoryEpisode) -> dict[str, Any]:
    """All that an episode holds, to be compared."""
    fields = {name: value for name, value in vars(episode).items() if name != "sandbox"}
    history = episode.history
    return {
        **fields,
        "files": [*episode.files.items()],
        "folders": (episode.files.folders, episode.files.kept_folders),
        "history": history and {**vars(history), "order": [*history.commits]},
    }


def disturbed(machine: SweMachine) -> SweMachine:
    controls = Controls({"permission-denied": 0.5, "stale-data": 0.5, "partial-failure": 1.0, "slow-service": 1.0}, 3)
    remote = {"commits": [{"message": "Theirs", "files": {"theirs.txt": "x\n"}}]}
    machine.close()
    return ENGINE.start({**STATE, "git": {**STATE.get("git", {}), "remote": remote}}, 3, controls)


@pytest.fixture
def machine() -> Iterator[SweMachine]:
    with closing(started()) as made:
        yield made


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(COMMANDS), max_size=8))
def test_an_episode_that_travelled_is_the_same(commands: list[str]) -> None:
    with closing(disturbed(started())) as machine:
        for line in commands:
            machine.act(command(line))
        episode = machine._open()
        sent, there = SeenParts(), SeenParts()
        plain = json.loads(json.dumps(packed(episode, sent)))
        other = unpacked(plain, there, episode.sandbox)
        stays = {name: getattr(episode, name) for name in ("todos", "shells", "memories", "failures", "initial")}
        assert whole(other) | stays == whole(episode)
        back = json.loads(json.dumps(packed(other, there)))
        assert back["texts"] == back["files"] == back["commits"] == []
        assert whole(unpacked(back, sent, episode.sandbox)) | stays == whole(episode)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(COMMANDS), max_size=5))
def test_what_runs_apart_is_what_would_have_been_here(commands: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch, closing(disturbed(started())) as apart, closing(apart.fork()) as here:
        apart.act(call("todo_write", todos=[{"id": "1", "content": "Look", "status": "pending"}]))
        here.act(call("todo_write", todos=[{"id": "1", "content": "Look", "status": "pending"}]))
        for line in commands:
            patch.setattr(shell, "is_safe_script", lambda *_: False)
            text = apart.act(command(line))
            patch.setattr(shell, "is_safe_script", lambda *_: True)
            assert here.act(command(line)) == text
        assert whole(apart._open()) == whole(here._open())


def test_an_answer_is_never_unpickled(machine: SweMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "_APART", "tests.helpers.hostile_workers:in_repository")
    machine.act(command(APART))
    before = whole(machine._open())
    with pytest.raises(LineLost, match="no answer"):
        machine.act(command(f"bash -c 'echo x > x'  # pickle {tmp_path / 'owned'}"))
    assert not (tmp_path / "owned").exists()
    assert whole(machine._open()) == before
    assert "Exit Code: 0" in machine.act(command(APART))


@pytest.mark.parametrize("way", RAW)
def test_what_is_no_answer_costs_the_command_alone(
    machine: SweMachine, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(shell, "_APART", "tests.helpers.hostile_workers:in_repository")
    before, text = whole(machine._open()), machine.observation
    with pytest.raises(LineLost):
        machine.act(command(f"bash -c 'echo x > x'  # {way}"))
    assert (whole(machine._open()), machine.observation) == (before, text)
    assert "Exit Code: 0" in machine.act(command(APART))


def answered(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Let processes apart answer with what a function makes of their true answer."""

    def call_(self: Disposable, job: Any, seconds: float, begins: Any = None) -> Any:
        answer = json.loads(json.dumps(shell.done(json.loads(json.dumps(job)))))
        return change(answer)

    monkeypatch.setattr(Disposable, "call", call_)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value within a value."""
    if above:
        yield above
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if type(value) is list else ():
        yield from places(inner, (*above, key))


JUNK = st.one_of(
    st.sampled_from((None, True, -1, 10**30, 1.5, float("nan"), "", "\ud800", "/", "../../x", "a\0b", [], {}, [[]])),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    ),
)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_forged_answer_is_refused_or_leaves_an_episode_that_can_be_played(data: st.DataObject) -> None:
    def forge(answer: Any) -> Any:
        forged = deepcopy(answer)
        *way, last = data.draw(st.sampled_from([*places(answer)]))
        inner = forged
        for key in way:
            inner = inner[key]
        if data.draw(st.booleans()):
            del inner[last]
        else:
            inner[last] = data.draw(JUNK)
        return forged

    with pytest.MonkeyPatch.context() as patch, closing(started()) as machine:
        machine.act(command("echo one > one.txt; git add one.txt; git stash; git stash apply; sleep 9 &"))
        before = whole(machine._open())
        answered(patch, forge)
        try:
            machine.act(command(APART))
        except LineLost:
            assert whole(machine._open()) == before
        patch.undo()
        for line in (
            "git log --all; git status; git stash list; git diff; git branch",
            "ls -laR; ps",
            "git commit -am x",
        ):
            machine.act(command(line))
        json.dumps(machine.structured_state(), ensure_ascii=False)
        machine.state()
        machine.fork().close()


def _loop(answer: Any) -> None:
    """Two commits of one name, each before the other: no walk along them would end."""
    first = answer["episode"]["commits"][0]
    answer["episode"]["commits"].append([first[0], [1], *first[2:]])


FORGERIES = {
    "too many files": lambda answer: answer["episode"].update(
        files=[[f"/repo/{n}", 0, 0, 0o644] for n in range(MAX_FILES + 1)], tree=[*range(MAX_FILES + 3)]
    ),
    "files that are too long": lambda answer: answer["episode"]["texts"].__setitem__(0, "x" * (MAX_CHARS + 1)),
    "a file above a file": lambda answer: answer["episode"]["files"][0].__setitem__(0, "/repo/shop.py/x"),
    "a file outside": lambda answer: answer["episode"]["files"][0].__setitem__(0, "/repo/../x"),
    "commits in a circle": _loop,
    "a commit without a parent": lambda answer: answer["episode"]["history"]["own"].pop(0),
    "a branch without a commit": lambda answer: answer["episode"]["history"]["branches"].update(x=99),
    "nothing checked out": lambda answer: answer["episode"]["history"].update(branch="x"),
    "no outcome": lambda answer: answer.pop("outcome"),
    "a status in words": lambda answer: answer["outcome"].update(exit_code="0"),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_what_no_episode_can_be_is_refused(machine: SweMachine, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    before = whole(machine._open())
    answered(monkeypatch, lambda answer: (FORGERIES[kind](answer), answer)[1])
    with pytest.raises(LineLost, match="no answer"):
        machine.act(command(APART))
    assert whole(machine._open()) == before


def test_what_a_command_cannot_change_stays_whatever_comes_back(
    machine: SweMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = whole(machine._open())
    answered(
        monkeypatch,
        lambda answer: {
            **answer,
            "episode": {**answer["episode"], "root": "/", "seed": 9, "step": 10**9, "controls": [{"x": 1.0}, 4]},
            "outcome": {**answer["outcome"], "command": "true", "directory": "/"},
        },
    )
    assert machine.act(command(APART)).startswith(f"Command: {APART}\nDirectory: (root)\n")
    after = whole(machine._open())
    assert [after[name] for name in ("root", "seed", "controls", "initial")] == [
        before[name] for name in ("root", "seed", "controls", "initial")
    ]
    assert after["step"] == before["step"] + 1


def test_controls_that_are_suspended_strike_nowhere_apart() -> None:
    with closing(ENGINE.start(STATE, 0, Controls({"truncated-output": 1.0}))) as machine:
        seen = machine.act(command("bash -c 'seq 200'"))
        with suspended():
            whole_ = machine.act(command("bash -c 'seq 200'"))
    assert "lines left out" in seen and "lines left out" not in whole_
