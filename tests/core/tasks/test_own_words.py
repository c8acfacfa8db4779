"""Words of one's own: what an agent writes into a world, or notes, is judged by what it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.core.domain.task import Task, load_task
from agentworld_gym.core.tasks import generate
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

WRITTEN = Path(__file__).parents[3] / "domain_specs" / "tasks"
Play = Callable[..., bool]


@pytest.fixture(scope="module")
def won() -> Iterator[Play]:
    """Whether the expert of a task wins after its calls were changed: `tool__argument=value`, or another `finish`."""
    runners: dict[str, EpisodeRunner] = {}

    def play(task: Task, finish: str | None = None, **changed: Any) -> bool:
        runner = runners.setdefault(task.domain, EnvOptions(spec=task.domain).runner())
        ((episode, _, _),) = runner.start([0], {"task": task})
        for text in task.expert[:-1]:
            call = json.loads(text)
            for name, value in changed.items():
                tool, _, argument = name.partition("__")
                if call["name"].endswith(tool):
                    call["arguments"] |= {argument: value}
                    call["arguments"] = {key: given for key, given in call["arguments"].items() if given is not None}
            runner.advance([episode], [json.dumps(call)])
        (end,) = runner.advance([episode], [task.expert[-1] if finish is None else f"finish: {finish}"])
        episode.session.close()
        return bool(end.info["success"])

    yield play
    for runner in runners.values():
        runner.close()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "letter",
    [
        "{}",
        "Hello,\n\nhere is the answer:\n{}\n\nRegards\nNora",
        'You asked for "this": {}.',
        "Dear all,\r\n\t{} – as our list says.",
        "hello, {}!",
    ],
)
def test_a_letter_may_be_worded_and_set_as_its_writer_likes(won: Play, letter: str, seed: int) -> None:
    task = generate("mcp", "answer_mail", 1, seed)
    value = task.expert[-1].removeprefix("finish: ")
    number, _, unit = value.partition(" ")
    other = {"euros": f"€{number}.00", "June": f"June {number}"}.get(unit, value.replace("-", "\u2011").capitalize())
    assert won(task, reply_to_message__body=letter.format(value))
    assert won(task, other, reply_to_message__body=letter.format(other))
    assert not won(task, reply_to_message__body=letter.format("something else"))


def test_a_letter_that_names_two_values_answers_nothing(won: Play) -> None:
    task = generate("mcp", "answer_mail", 1, 0)
    assert task.expert[-1] == "finish: 3 June"
    for letter in ("3 June or 10 June", "the 10th of June\n3 June", "3 June (or 2026-06-10)", "June 3rd, or the 10th"):
        assert not won(task, reply_to_message__body=letter), letter


@pytest.mark.parametrize(
    ("words", "wins"), [("{}", True), ("{}.", True), ("'{}'", True), ("{} again", False), ("", False)]
)
def test_prescribed_words_may_have_a_capital_and_a_stop(won: Play, words: str, wins: bool) -> None:
    task = generate("mcp", "handle_return", 2, 0)
    said = words.format("The colour is wrong") or "-"
    assert "the colour is wrong" in task.instruction
    assert won(task, open_return__reason=said) is wins


@pytest.mark.parametrize(
    ("title", "wins"),
    [
        ("Prepare: Supplier call", True),
        ("Prepare 'Supplier call'", True),
        ('prepare "supplier call"', True),
        ("Supplier call", False),
        ("Prepare Website relaunch", False),
    ],
)
def test_a_to_do_is_told_by_its_words(won: Play, title: str, wins: bool) -> None:
    task = generate("mcp", "tidy_invitations", 3, 0)
    assert won(task, create_todo__title=title) is wins


@pytest.mark.parametrize("letter", [605, 602, None])
def test_a_to_do_may_be_tied_to_a_letter_or_to_none(won: Play, letter: int | None) -> None:
    task = load_task(WRITTEN / "mcp" / "office-unpaid-invoices.yaml", "mcp")
    assert won(task, create_todo__message_id=letter)
    assert not won(task, create_todo__message_id=letter, create_todo__due="2026-05-23")


@pytest.mark.parametrize(
    ("said", "wins"),
    [
        ("2026-04-29T14:00:00Z", True),
        ("29 April 2026, 14:00 UTC", True),
        ("The interview is on Wednesday, 29 April 2026, at 14:00.", True),
        ("**April 29, 2026 at 2:00 PM UTC**", True),
        ("2026-04-29 10:00", False),
        ("2026-04-29 10:00 or 14:00", False),
        ("2026-04-28 14:00", False),
    ],
)
def test_a_day_and_an_hour_may_be_said_in_any_notation(won: Play, said: str, wins: bool) -> None:
    assert won(load_task(WRITTEN / "mcp" / "hr-interview-slot.yaml", "mcp"), said) is wins


@pytest.mark.parametrize("family", ["lookup", "bridge", "aggregate", "listing"])
def test_a_name_and_a_note_may_be_typeset(won: Play, family: str) -> None:
    """Language models write hyphens, blanks and apostrophes that no keyboard has."""
    task = generate("search", family, 2, 0)
    answer = task.expert[-1].removeprefix("finish: ")
    ((key, note),) = next(json.loads(text)["arguments"]["dict"] for text in task.expert if '"add"' in text).items()
    set_ = {ord("-"): "\u2011", ord("'"): "\u2019", ord(" "): "\u00a0"}
    assert won(task, answer.translate(set_), dict_memory__dict={key: note.translate(set_)})
    assert won(task, f"**{answer}**", dict_memory__dict={key: f"The {key} is {note}."})
    assert not won(task, answer, dict_memory__dict={key: f"{note} or another"})


@pytest.mark.parametrize("note", [1258, "1,258 kg", "1\u202f258", "The weight is 1,258 kg."])
def test_a_number_may_be_noted_as_one_or_in_words(won: Play, note: object) -> None:
    task = generate("search", "lookup", 1, 1)
    assert task.expert[-1] == "finish: 1258"
    assert won(task, dict_memory__dict={"weight": note})
