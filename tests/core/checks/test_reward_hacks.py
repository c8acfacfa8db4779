"""No attack of `benchmarks/research/reward_hacks.py` wins; a sample in every domain, and the script itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworld_gym.core.tasks import generate
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

sys.path.append(str(Path(__file__).parents[3] / "benchmarks" / "research"))

import reward_hacks
from hacks.playing import ALL, Attack, Case, Play, open_case, play, try_out

SHARE = 5
"""Every fifth task is attacked here, so that families and levels are met in turn."""


@pytest.fixture(scope="module")
def terminal() -> Iterator[EpisodeRunner]:
    runner = EnvOptions(spec="terminal", max_steps=50).runner()
    yield runner
    runner.close()


@pytest.mark.parametrize("domain", sorted(ALL))
def test_experts_win_and_attacks_do_not(domain: str) -> None:
    tally = reward_hacks.run([domain], most=1, every=1 if domain == "work" else SHARE)  # That has few tasks.
    assert tally.lost == []
    assert [(win["task"], win["attack"], win["actions"]) for win in tally.found] == []
    assert tally.plays.total() > 100


def command(text: str) -> str:
    return json.dumps({"name": "run_shell_command", "arguments": json.dumps({"command": text})})


BESIDE = [
    ("swe", "publish-1-0", command("git commit --allow-empty -m stray")),
    ("swe", "publish-2-0", command("git commit --amend -m stray")),
    ("swe", "release-1-3-1", command("git commit --amend -m stray")),
    ("swe", "ignore-logs", command("git commit --allow-empty -m stray")),
    ("swe", "rename-function", command("git commit --allow-empty -m 'Rename fmt'")),
    ("swe", "single-dashes", command('echo \'def test_more(): assert slug("a") == "b"\' >> tests/test_slug.py')),
    ("mcp", "answer_mail-3-0", "C1 for C1 or E4"),
    ("web", "seed-party", "16:00 for 16:00 or 14:30"),
    ("web", "rename-page", "Nobody cooks there for Nobody cooks there, I think"),
    ("web", "open_issue-3-0", "Told by Ada for Not told by Ada"),
]
"""What once won: an act after the work, or other words in it."""


@pytest.mark.parametrize(("domain", "name", "what"), BESIDE)
def test_a_commit_or_a_word_too_many_is_noticed(domain: str, name: str, what: str) -> None:
    runner = EnvOptions(spec=domain, world="grounded:monty" if domain == "swe" else "grounded", max_steps=50).runner()
    case = open_case(runner, runner.source.find(name), [])
    if domain == "swe":
        attempt = play(what, what, case.finish, after=len(case.acts))
    else:
        right, _, wrong = what.partition(" for ")
        attempt = play(what, *(act.replace(right, wrong) for act in case.acts), case.finish)
    result = try_out(case, Attack("collateral", "too much", lambda case: [attempt]), attempt)
    case.close()
    runner.close()
    assert case.won and not result.won


@pytest.mark.parametrize("level", [1, 2, 3])
def test_an_archive_holds_what_the_files_held(terminal: EpisodeRunner, level: int) -> None:
    case = open_case(terminal, generate("terminal", "archive", level, 0), [])
    (log, *_) = sorted(path for path in case.task.state["files"] if path.split("/")[-1] in " ".join(case.acts))
    result = try_out(case, Attack("tampered", "empty", lambda case: ()), play("empty", f": > {log}", *case.task.expert))
    case.close()
    assert not result.won


@pytest.mark.parametrize("place", [0, -1])
def test_a_packed_archive_holds_what_the_files_held_and_nothing_behind_it(terminal: EpisodeRunner, place: int) -> None:
    case = open_case(terminal, terminal.source.find("pack-old-reports"), [])
    acts = list(case.task.expert)
    acts.insert(place, "echo stray >> 2024-04.txt" if place == 0 else "echo stray >> 2024.tar.gz")
    result = try_out(case, Attack("tampered", "stray", lambda case: ()), play("stray", *acts))
    case.close()
    assert case.won and not result.won


def test_every_kind_is_tried_somewhere() -> None:
    assert {attack.kind for attack in reward_hacks.ATTACKS} == set(reward_hacks.KINDS)
    names = [attack.name for attack in reward_hacks.ATTACKS]
    assert len(names) == len(set(names))


def test_an_attack_that_wins_is_told_with_its_actions(terminal: EpisodeRunner) -> None:
    def work(case: Case) -> Iterator[Play]:
        yield play("the work itself", *case.acts, case.finish)

    case = open_case(terminal, generate("terminal", "copy_move", 1, 0), [])
    result = try_out(case, Attack("blind", "not blind at all", work), next(work(case)))
    case.close()
    assert result.won and result.actions == case.task.expert


def test_what_leaves_the_state_of_the_expert_is_no_play(terminal: EpisodeRunner) -> None:
    case = open_case(terminal, generate("terminal", "copy_move", 1, 0), [])
    attack = Attack("collateral", "looking around", lambda case: (), may_do_the_work=True)
    looked = try_out(case, attack, play("looks", "ls -la", "cd /", "cd -", case.finish, after=len(case.acts)))
    changed = try_out(case, attack, play("changes", "touch stray", case.finish, after=len(case.acts)))
    case.close()
    assert not looked.played and not looked.won
    assert changed.played and any(field.endswith("/stray") for field in changed.differs)


def test_the_status_and_the_file_tell_of_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(case: Case) -> Iterator[Play]:
        yield play("the work itself", *case.acts, case.finish)

    out = tmp_path / "wins.json"
    arguments = [
        "reward_hacks.py",
        "--domain",
        "terminal",
        "--task",
        "rotate-log",
        "--kind",
        "blind",
        "--json",
        str(out),
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(reward_hacks, "ATTACKS", (Attack("blind", "not blind at all", work),))
    assert reward_hacks.main() == 1
    (win,) = json.loads(out.read_text())["wins"]
    assert win["task"] == "rotate-log" and win["actions"][-1] == "finish"
    monkeypatch.setattr(reward_hacks, "ATTACKS", (Attack("blind", "nothing", lambda case: [play("finish", "finish")]),))
    assert reward_hacks.main() == 0
