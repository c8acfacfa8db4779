"""Samples of own history: the world's own errors are read, and the true observations are learned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner
from worlds import dream

from agentworld_gym.cli import app
from agentworld_gym.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.domain.spec import Form, Profile, load_spec
from agentworld_gym.errors import SpecError
from agentworld_gym.options import EnvOptions
from agentworld_gym.recipe.collect.config import CollectConfig
from agentworld_gym.recipe.collect.recorder import Recorder
from agentworld_gym.recipe.data.own_history import OwnHistory
from agentworld_gym.recipe.data.samples_from_rows import cpt_sample, turn_samples
from agentworld_gym.recipe.data.turn_weights import Weighting
from agentworld_gym.sessions.rerendering import prompts_for, task_of
from agentworld_gym.sessions.row import Row
from agentworld_gym.sessions.samples import Sample, read_samples
from agentworld_gym.sessions.shown_states import shown_states

WRONG: dict[str, str] = {"full": "?", "change": "same", "state": "same"}
"""Answers that can be read, by form, and that say of no action of these sessions what it does."""

EQUAL = Weighting(rule="equal")
FORMS = [("terminal", "full"), ("android", "change"), ("android", "state")]
names = map("own_history_{}".format, count())

Said = Callable[[int], str | Completion | Failure | None]
"""A function that gives what a model says in a turn, counted from 1; None for the truth."""


@cache
def session(domain: str) -> Row:
    """A session of an expert whose first actions all show something that was not shown before."""
    config = CollectConfig(profile="compact", policies={"expert": 1.0})
    with closing(Recorder([load_spec(domain)], config, 0)) as recorder:
        rows = filter(None, map(recorder.row, range(20)))
        return next(row for row in rows if len({row.first_observation, *row.observations[:4]}) == 5)


def truths(row: Row, profile: Profile, form: Form) -> list[str]:
    """What a model should write in each turn of a session, given its true history."""
    return [sample.messages[-1]["content"] for sample in turn_samples(row, prompts_for(row, profile, form))]


def played(
    row: Row, said: Said, form: Form = "full", profile: Profile = "compact", **options: int
) -> tuple[list[Sample], OwnHistory, list[ChatRequest]]:
    """The samples of a session in a world whose model says the truth in all turns but some, and what it was asked."""
    true, asked = truths(row, profile, form), list[ChatRequest]()

    def answer(request: ChatRequest) -> str | Completion | Failure:
        asked.append(request)
        turn = len(request.messages) // 2
        return told if (told := said(turn)) is not None else true[turn - 1]

    given = EnvOptions(spec=row.domain, world=dream(next(names), answer), profile=profile, form=form, judge="none")
    with closing(given.runner()) as runner:
        own = OwnHistory(runner, EQUAL, **options)
        return list(own.samples([row])), own, asked


@pytest.mark.parametrize(("domain", "form"), FORMS)
def test_a_world_that_never_errs_learns_the_session_as_it_was_recorded(domain: str, form: Form) -> None:
    row = session(domain)
    (sample,), own, _ = played(row, lambda turn: None, form)
    recorded = cpt_sample(row, prompts_for(row, form=form), EQUAL)
    assert (sample.messages, sample.weights, sample.group) == (recorded.messages, recorded.weights, recorded.group)
    assert own.counts == {"sessions": 1, "right": row.turn_idx}


def test_an_error_stays_in_the_history_without_a_loss_and_the_truth_is_learned_in_its_place() -> None:
    row = session("terminal")
    truth = truths(row, "compact", "full")[1]
    echo, prompt = truth.rsplit("\n", 1)
    error = f"{echo}\nno such thing\n{prompt}"
    (whole, wrong), own, asked = played(row, lambda turn: error if turn == 2 else None)
    assert whole.messages[4]["content"] == error and wrong.messages[-1]["content"] == truth
    assert whole.weights == (1, 0, *[1] * (row.turn_idx - 2)) and wrong.weights == (0, 1)
    assert list(wrong.messages[:-1]) == list(asked[1].messages)
    assert own.counts == {"sessions": 1, "right": row.turn_idx - 1, "wrong": 1}


@pytest.mark.parametrize(("domain", "form"), FORMS)
def test_an_answer_to_learn_means_the_true_observation_on_the_screen_that_the_world_has_in_mind(
    domain: str, form: Form
) -> None:
    row = session(domain)
    samples, _, _ = played(row, lambda turn: WRONG[form] if turn in (1, 2) else None, form)
    last, prompts, task = samples[-1], prompts_for(row, form=form), task_of(row)
    assert last.id.endswith("/own/2") and task is not None
    seen = list(row.observations)
    before = row.first_observation
    if form == "state":
        with closing(EnvOptions(spec=domain).runner()) as runner:
            before, seen, _ = shown_states(row, task, runner.parser)
    if form == "full":
        before = "?"  # What the first turn showed; the screens of the others are as they were.
    assert prompts.read(task, before, last.messages[-1]["content"], row.actions[1]) == seen[1]


def test_as_many_turns_of_a_session_are_put_right_as_were_asked_for_the_first_ones() -> None:
    row = session("terminal")
    for corrections in (0, 1, 3):
        samples, own, _ = played(row, lambda turn: "?" if turn > 1 else None, corrections=corrections)
        assert [sample.id for sample in samples[1:]] == [f"{row.id}/own/{turn}" for turn in range(2, 2 + corrections)]
        assert own.counts["wrong"] == row.turn_idx - 1


def test_an_answer_that_cannot_be_read_ends_the_session_and_is_put_right() -> None:
    row = session("terminal")
    (whole, wrong), own, asked = played(row, lambda turn: Completion("?", "length") if turn == 3 else None)
    assert whole.weights == (1, 1) and wrong.weights == (0, 0, 1) and len(asked) == 3
    assert own.counts == {"sessions": 1, "right": 2, "length": 1, "unplayed": row.turn_idx - 3}


def test_nothing_is_learned_from_the_failure_of_a_server() -> None:
    row = session("terminal")
    down = Failure(FailureKind.CONNECTION, "the server is down")
    samples, own, _ = played(row, lambda turn: down)
    assert samples == [] and own.counts == {"sessions": 1, "connection": 1, "unplayed": row.turn_idx - 1}


def test_histories_that_are_written_otherwise_than_answers_teach_what_was_wrong_alone() -> None:
    row = session("terminal")
    (wrong,), _, asked = played(
        row, lambda turn: "<predicted_observation>?</predicted_observation>" if turn == 2 else None, profile="full"
    )
    assert wrong.messages[-1]["content"] == truths(row, "full", "full")[1]
    assert list(wrong.messages[:-1]) == list(asked[1].messages)


def test_sessions_come_in_their_order_however_many_are_played_at_a_time() -> None:
    with closing(Recorder([load_spec("terminal")], CollectConfig(profile="compact"), 0)) as recorder:
        rows = list(filter(None, map(recorder.row, range(5))))
    world = dream(next(names), lambda request: "?")
    with closing(EnvOptions(spec="terminal", world=world, profile="compact", judge="none").runner()) as runner:
        one, many = (list(OwnHistory(runner, wave=wave).samples(iter(rows))) for wave in (1, 4))
    assert one == many and list(dict.fromkeys(sample.id.split("/own")[0] for sample in one)) == [row.id for row in rows]


def test_only_a_world_that_a_model_plays_has_a_history_of_its_own_and_only_of_its_own_domain() -> None:
    with closing(EnvOptions(spec="terminal").runner()) as runner, pytest.raises(SpecError, match="GroundedWorld"):
        OwnHistory(runner)
    world = dream(next(names), lambda request: "?")
    with closing(EnvOptions(spec="terminal", world=world, judge="none").runner()) as runner:
        with pytest.raises(SpecError, match="android"):
            list(OwnHistory(runner).samples([session("android")]))
        gone = session("terminal").model_copy(update={"task_id": "no-such-task"})
        with pytest.raises(SpecError, match="no-such-task"):
            list(OwnHistory(runner).samples([gone]))


def test_the_command_plays_the_sessions_of_one_domain_and_says_what_became_of_them(tmp_path: Path) -> None:
    file, out = tmp_path / "train.jsonl", tmp_path / "own.jsonl"
    rows = [session("android"), session("terminal")]
    file.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    world = dream(next(names), lambda request: "?")
    command = ["own-history", "terminal", str(file), "--out", str(out), "--stage", "all", "--world", world]
    done = CliRunner().invoke(app, [*command, "--profile", "compact", "--corrections", "1"])
    assert done.exit_code == 0 and f"1 sample of 1 session; turns: {rows[1].turn_idx} wrong" in done.output
    assert [sample.id for sample in read_samples(out)] == [f"{rows[1].id}/own/1"]
    assert CliRunner().invoke(app, [*command[:2], str(file), "--out", str(file), "--world", world]).exit_code == 2


def test_a_world_without_a_model_is_told_by_the_option_that_named_it(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(session("terminal").model_dump_json() + "\n")
    command = ["own-history", "terminal", str(tmp_path / "train.jsonl"), "--out", str(tmp_path / "own.jsonl")]
    done = CliRunner().invoke(app, [*command, "--world", "grounded"])
    assert done.exit_code == 2 and not (tmp_path / "own.jsonl").exists()
    assert "command line: --world: got 'grounded', expected a language world, such as tiny" in " ".join(
        done.output.split()
    )


def test_a_world_that_answers_nothing_is_an_error_and_leaves_the_earlier_samples(tmp_path: Path) -> None:
    file, out = tmp_path / "train.jsonl", tmp_path / "own.jsonl"
    file.write_text(session("terminal").model_dump_json() + "\n")
    out.write_text("{}\n")
    world = dream(next(names), lambda request: Failure(FailureKind.CONNECTION, "the server is down"))
    command = ["own-history", "terminal", str(file), "--out", str(out), "--stage", "all", "--world", world]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1 and "1 connection" in done.output and out.read_text() == "{}\n"


def test_sessions_of_another_domain_alone_are_an_error_and_leave_the_earlier_samples(tmp_path: Path) -> None:
    file, out = tmp_path / "train.jsonl", tmp_path / "own.jsonl"
    file.write_text(session("terminal").model_dump_json() + "\n")
    out.write_text("{}\n")
    world = dream(next(names), lambda request: "?")
    done = CliRunner().invoke(app, ["own-history", "android", str(file), "--out", str(out), "--world", world])
    assert done.exit_code == 1 and "no session of android" in done.output and out.read_text() == "{}\n"
