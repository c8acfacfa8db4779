"""Checks of a dream that need no model: elements that are not there, the format, and contradictions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from worlds import dream, language_world, make, predicted, quick_variant

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, AnswerSource, ChatRequest, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import generate
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.worlds.checks import REASONS, CheckOptions, Checks, OwnWords
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession


def page(title: str) -> str:
    return (
        f"### Page\n- Page URL: http://shop.example/\n- Page Title: {title}\n### Snapshot\n```yaml\n"
        f'- generic [active] [ref=e1]:\n  - heading "{title}" [level=1] [ref=e2]\n  - link "Cart" [ref=e3]\n```'
    )


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


HOME, CONTACT = page("Home"), page("Contact")
SHOP = Task(id="t", domain="web", instruction="Look.", family="free_play", success=(), first_observation=HOME)
FOLDER = Task(
    id="t", domain="terminal", instruction="Look.", family="free_play", success=(), state={"cwd": "/srv", "files": {}}
)
NOWHERE, CART = call("browser_click", element="Buy", ref="e618"), call("browser_click", element="Cart", ref="e3")
REFUSED = "### Error\nError: Ref e618 not found in the current page snapshot. Try capturing new snapshot."
SERVER = [{"name": "shop-get_order", "parameters": {"type": "object", "properties": {"order_id": {"type": "integer"}}}}]


class Model:
    """Gives one answer after another, the last one for ever, and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def __call__(self, request: ChatRequest) -> str:
        self.asked.append(request.messages[-1]["content"])
        return predicted(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])


def played(
    model: Callable[[ChatRequest], str], task: Task, *actions: str, **checks: Any
) -> list[Observation | Failure]:
    world = language_world(model, task.domain, checks=checks)
    [session] = world.begin([task], [0])
    parser = ActionParser(load_spec(task.domain))
    return [world.step([session], [parser.parse(action, task.tools)])[0] for action in actions]


def test_a_click_on_nothing_is_asked_for_again_with_the_reason_in_the_prompt() -> None:
    model = Model(CONTACT, REFUSED)
    [answer] = played(model, SHOP, NOWHERE)
    assert isinstance(answer, Observation)
    assert (answer.text, answer.source, answer.repairs) == (REFUSED, None, {"reasks": 1, "elements": 1})
    assert [REASONS["elements"] in asked for asked in model.asked] == [False, True]


def test_an_element_that_is_there_may_lead_anywhere_and_a_click_on_nothing_back_to_the_same_page() -> None:
    for action, shown in ((CART, CONTACT), (NOWHERE, HOME), (NOWHERE, REFUSED)):
        [answer] = played(model := Model(shown), SHOP, action)
        assert isinstance(answer, Observation)
        assert (answer.text, answer.repairs, len(model.asked)) == (shown, {}, 1)


def test_what_stays_impossible_is_a_failure_of_the_world() -> None:
    name = dream("that_opens_everything", Model(CONTACT))
    env = make("AgentWorld/Web-v0", world=name, task=SHOP, language={"checks": {"reasks": 2}})
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(NOWHERE)
    env.close()
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["failure"]["kind"] == FailureKind.IMPOSSIBLE
    assert info["failure"]["message"] == REASONS["elements"]


def test_the_system_refuses_in_its_own_words_where_sessions_have_them(tmp_path: Path) -> None:
    other = call("browser_click", element="Pay", ref="e900")
    row = Row(
        task="web",
        id="a",
        system_str="",
        prompt=["a"],
        response=["b"],
        current_prompt="a",
        turn_idx=1,
        total_turns=1,
        actions=[other],
        first_observation=HOME,
        observations=[REFUSED.replace("e618", "e900")],
    )
    (tmp_path / "rows.jsonl").write_text(row.model_dump_json() + "\n")
    [answer] = played(Model(CONTACT), SHOP, NOWHERE, words=str(tmp_path / "rows.jsonl"))
    assert isinstance(answer, Observation)
    assert (answer.text, answer.source) == (REFUSED, AnswerSource.CHECKED)
    with pytest.raises(SpecError, match="whose words are asked for"):
        OwnWords(load_spec("android"), [row])


def test_a_question_is_answered_as_before_while_nothing_changed() -> None:
    one, other = (f"dev@box:/srv$ ls\n{name}\ndev@box:/srv$" for name in ("a.txt", "b.txt"))
    written = "dev@box:/srv$ rm a.txt\ndev@box:/srv$"
    _, second = played(Model(one, other), FOLDER, "ls", "ls")
    assert isinstance(second, Observation)
    assert (second.text, second.source, second.broken) == (one, AnswerSource.CHECKED, ("contradictions",) * 2)
    *_, last = played(Model(one, written, other), FOLDER, "ls", "rm a.txt", "ls")
    assert isinstance(last, Observation)
    assert (last.text, last.broken) == (other, ())


def test_a_fork_remembers_answers_of_its_own() -> None:
    session = LanguageSession(FOLDER, 0, [], None)  # type: ignore[arg-type]
    session.answered["ls"] = "a"
    session.seen = language_world(Model("a")).begin([FOLDER], [0])[0].seen  # type: ignore[union-attr]
    session.fork().answered.clear()
    assert session.answered == {"ls": "a"}


def test_a_broken_screen_a_lost_prompt_and_broken_json_are_not_taken() -> None:
    torn, mended = CONTACT.removesuffix("\n```"), CONTACT
    [answer] = played(Model(torn, mended), SHOP, CART)
    assert isinstance(answer, Observation)
    assert (answer.text, answer.broken) == (mended, ("format",))
    [failure] = played(Model("a.txt"), FOLDER, "ls")
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.message) == (FailureKind.IMPOSSIBLE, REASONS["format"])
    server = Task(id="t", domain="mcp", instruction="Look.", family="free_play", success=(), tools=SERVER)
    [answer] = played(Model('{"order_id": 4', '{"order_id": 4}'), server, call("shop-get_order", order_id=4))
    assert isinstance(answer, Observation)
    assert (answer.text, answer.broken) == ('{"order_id": 4}', ("format",))


def test_each_check_can_be_turned_off() -> None:
    for action, task, text, check in (
        (NOWHERE, SHOP, CONTACT, "elements"),
        ("ls", FOLDER, "a.txt", "format"),
    ):
        [answer] = played(model := Model(text), task, action, **{check: False})
        assert isinstance(answer, Observation)
        assert (answer.text, len(model.asked)) == (text, 1)
    one, other = (f"dev@box:/srv$ ls\n{name}\ndev@box:/srv$" for name in ("a.txt", "b.txt"))
    _, second = played(Model(one, other), FOLDER, "ls", "ls", contradictions=False)
    assert isinstance(second, Observation)
    assert second.text == other


def test_a_call_that_breaks_the_schema_of_its_tool_reaches_no_model() -> None:
    server = Task(id="t", domain="mcp", instruction="Look.", family="free_play", success=(), tools=SERVER)
    [answer] = played(model := Model("{}"), server, call("shop-get_order", order_id="four"))
    assert isinstance(answer, Observation)
    assert "Input should be a valid integer" in answer.text
    assert not model.asked


def test_unknown_checks_are_refused_and_the_fingerprint_names_the_made_ones() -> None:
    with pytest.raises(SpecError, match="elments"):
        language_world(Model(""), checks={"elments": False})
    digests = {language_world(Model(""), checks=checks).fingerprint.digest for checks in (None, {}, {"format": False})}
    assert len(digests) == 3
    with pytest.raises(SpecError, match="only a language world is checked"):
        make("AgentWorld/Terminal-v0", language={"checks": {}})


@pytest.mark.parametrize("domain", ["terminal", "mcp", "search", "swe", "web", "android", "desktop"])
def test_what_a_grounded_world_answers_breaks_no_check(domain: str) -> None:
    variant = {domain: quick_variant(domain)} if quick_variant(domain) else {}
    config = CollectConfig(policies={"refusals": 1.0, "menu": 1.0}, engines=variant)
    spec, checks = load_spec(domain), Checks(CheckOptions(), domain)
    recorder, parser = Recorder([spec], config, 5), ActionParser(spec)
    world: LanguageWorld = language_world(Model(""), domain)
    for row in filter(None, map(recorder.row, range(4))):
        task = generate(domain, row.family, row.level or 1, row.seed or 0)
        [session] = world.begin([task], [0])
        session.seen.first = session.seen.screen = row.first_observation
        for text, shown in zip(row.actions, row.observations, strict=True):
            action: Action = parser.parse(text, task.tools)
            if action.error is None:
                assert checks.broken(session, action, Observation(shown)) is None, (text, shown)
                checks.remember(session, action, shown)
            session.seen.append(action, shown)
    recorder.close()
