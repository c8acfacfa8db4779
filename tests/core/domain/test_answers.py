"""An answer is one answer: who names everything that could be right has answered nothing, in any domain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Check, Expect, Task, load_task
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.options import EnvOptions

DOMAINS = ("android", "desktop", "mcp", "search", "swe", "terminal", "web")
HANDWRITTEN = sorted((Path(__file__).parents[3] / "domain_specs" / "tasks").glob("*/*.yaml"))
JOINTS = ("\n", "\n\n", "; ", ", ", " or ", " and ", " | ", " ", "\r\n", "\u2028", "\v")


@cache
def tasks_of(domain: str) -> tuple[Task, ...]:
    """One generated task of every family at two levels, and the hand-written ones."""
    made = [generate(domain, family, level, 3) for family in sorted(families(domain)) for level in (1, 3)]
    return (*made, *(load_task(path, domain) for path in HANDWRITTEN if path.parent.name == domain))


def answers_in(task: Task, actions: Iterable[str]) -> list[str]:
    """The answers that some actions of a task give, each once."""
    parser = ActionParser(load_spec(task.domain))
    read = (parser.parse(text, task.tools).answer for text in actions if "@{" not in text)
    return list(dict.fromkeys(answer for answer in read if answer))


def shotguns(task: Task) -> Iterator[str]:
    """All answers on offer in one, in both orders."""
    answers = answers_in(task, task.menu)
    for joint in JOINTS:
        yield joint.join(answers)
        yield joint.join(reversed(answers))


def answered(task: Task, answer: str) -> bool:
    """Whether an answer passes every check of the answer of a task in full."""
    return all(check.answer.holds(answer, task.instruction) for check in task.success if check.answer is not None)


@pytest.mark.parametrize("domain", DOMAINS)
def test_naming_every_answer_on_offer_is_no_answer(domain: str) -> None:
    asking = [task for task in tasks_of(domain) if any(check.answer is not None for check in task.success)]
    assert asking or domain == "terminal"
    for task in asking:
        assert answered(task, answers_in(task, task.expert)[-1]), task.id
        if len(answers_in(task, task.menu)) > 1:
            for shot in shotguns(task):
                assert not answered(task, shot), (task.id, shot)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    "hedge", ["not {}", "not {} but unknown", "{} or none", "{} unknown", "between {} and unknown", "maybe {}"]
)
def test_denying_or_doubting_the_right_answer_is_no_answer(domain: str, hedge: str) -> None:
    for task in tasks_of(domain):
        if any(check.answer is not None for check in task.success):
            said = hedge.format(answers_in(task, task.expert)[-1])
            assert not answered(task, said), (task.id, said)


@pytest.mark.parametrize("joint", JOINTS)
def test_a_note_of_every_name_is_no_note(joint: str) -> None:
    """What is kept in the memory of the search is tested as strictly as the answer."""
    for task in tasks_of("search"):
        right = {text for text in task.expert if '"add"' in text}
        kept = [check for check in task.success if check.probe is not None and '"retrieve"' in str(check.probe)]
        notes = [text for text in task.menu if '"operation": "add"' in text]
        values = list(
            dict.fromkeys(value for text in notes for value in json.loads(text)["arguments"]["dict"].values())
        )
        for check in kept:
            assert check.expect is not None
            if len(values) > 1 and right:
                assert not check.expect.holds(joint.join(values)), (task.id, values)


def test_anchors_mean_the_whole_text_unless_lines_are_asked_for() -> None:
    assert not Expect(matches="^b$").holds("a\nb\nc")
    assert Expect(matches="(?m)^b$").holds("a\nb\nc")


def test_the_pattern_of_an_answer_describes_all_of_it() -> None:
    check = Check(answer=Expect(matches="(?i)(?:the )?tin goose"))
    assert check.answer is not None
    assert [check.answer.holds(text) for text in ("The Tin Goose", " tin goose\n", "tin goose or wet foot")] == [
        True,
        True,
        False,
    ]


def test_one_name_among_others_earns_nothing_where_one_is_asked_for() -> None:
    one, two = Expect(items=("Ada",)), Expect(items=("Ada", "Bo"))
    assert (one.score("ada."), one.score("Ada; Bo; Cy"), two.score("Ada")) == (1.0, 0.0, pytest.approx(2 / 3))


def test_an_answer_that_only_has_to_contain_something_is_refused() -> None:
    plain = {"id": "t", "domain": "d", "instruction": "Say.", "success": [{"answer": {"contains": "Ada"}}]}
    with pytest.raises(SpecError, match=r"success.0.answer.contains"):
        validated(Task, plain, "task.yaml")


def test_an_answer_is_no_action() -> None:
    """`lighthouse-lens` wants a page opened: naming the page in the answer, or in an unreadable text, opens nothing."""
    runner = EnvOptions(spec="search").runner()
    path = next(path for path in HANDWRITTEN if path.stem == "lighthouse-lens")
    right = "finish: Aldermoor Glassworks of Sunderby, replaced in 1928"
    opened = '{"name": "web_extractor", "arguments": {"url": "https://archive.pharology.example/journal/41/harrowgate-lenses"}}'
    named = '{"name": "web_search", "arguments": {"query": "web_extractor pharology.example/journal/41"}}'
    try:
        for actions, reached in (
            ((right,), 0.8),
            ((f"{right}, web_extractor pharology.example/journal/41",), 0.0),
            (("web_extractor https://pharology.example/journal/41", right), 0.8),
            ((named, right), 0.8),
            ((opened, right), 1.0),
        ):
            (episode, _, _) = runner.start([1], {"task": str(path)})[0]
            for action in actions:
                info = runner.advance([episode], [action])[0].info
            assert info["score"] == pytest.approx(reached), actions
            episode.session.close()
    finally:
        runner.close()
