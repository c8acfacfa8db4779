"""A snapshot of a page is no turn: a language world answers it by itself where it can, and rows are without it."""

from __future__ import annotations

from typing import Any

import pytest
from worlds import language_world, predicted

from agentworld_gym.agents.collect.acting import Script
from agentworld_gym.agents.collect.session_recording import SessionRecording
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ChatRequest, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import in_one_wave
from agentworld_gym.core.tasks import generate
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.importers.importer import Importer
from agentworld_gym.worlds import LanguageWorld
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world

SPEC = load_spec("web")
PARSER = ActionParser(SPEC)
LOOK = "browser_snapshot()"
TYPED = "### Ran Playwright code\n```js\nawait page.getByRole('textbox').fill('tea');\n```"
FILLED = '### Page\n- Page URL: http://a.example/\n### Snapshot\n```yaml\n- textbox "Name" [ref=e4]: tea\n```'
FIRST = FILLED.replace(": tea", "")
CLICKED = f"### Ran Playwright code\n```js\nawait page.goBack();\n```\n{FILLED}\n### Events\n- [LOG] ready"


class Model:
    """Answers requests with given texts and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[ChatRequest]()

    def __call__(self, request: ChatRequest) -> str:
        self.asked.append(request)
        return predicted(self.answers[len(self.asked) - 1])


def begun(world: LanguageWorld, first: str | None = FIRST, **more: Any) -> Any:
    task = Task(
        id="t", domain="web", instruction="i", first_observation=first, success=[{"answer": {"equals": "x"}}], **more
    )
    return world.begin([task], [0])[0]


def act(world: LanguageWorld, session: Any, text: str) -> str:
    [answer] = world.step([session], [PARSER.parse(text)])
    assert isinstance(answer, Observation)
    return answer.text


def said(session: Any) -> list[str]:
    return [message["content"] for message in session.history if message["role"] == "assistant"]


def test_a_page_that_was_just_shown_is_shown_again_without_asking() -> None:
    model = Model(CLICKED)
    world = language_world(model, "web")
    session = begun(world)
    assert act(world, session, LOOK) == FIRST and session.turn == 0 and len(session.history) == 1
    assert act(world, session, "browser_navigate_back()") == CLICKED
    assert act(world, session, LOOK) == FILLED
    assert len(model.asked) == 1 and session.turn == 1
    assert said(session) == [f"**Environment Observation:**\n{FILLED}"]


def test_a_page_that_was_not_shown_is_asked_for_and_folds() -> None:
    model = Model(TYPED, FILLED, CLICKED)
    world = language_world(model, "web")
    session = begun(world)
    act(world, session, 'browser_type(ref="e4", text="tea")')
    assert said(session) == [f"**Environment Observation:**\n{TYPED}"]
    assert act(world, session, LOOK) == FILLED
    assert "**Action:**\n```text\nbrowser_snapshot()\n```" in model.asked[1].messages[-1]["content"]
    assert session.turn == 1 and said(session) == [f"**Environment Observation:**\n{FILLED}"]
    act(world, session, "browser_navigate_back()")
    asked = model.asked[2].messages[-1]["content"]
    assert asked.startswith(
        f"### Turn 2\n**Current State:**\n{FILLED}\n\n**Action:**\n```text\nbrowser_navigate_back()"
    )
    turns = [(PARSER.parse('browser_type(ref="e4", text="tea")'), TYPED), (PARSER.parse(LOOK), FILLED)]
    last = PARSER.parse("browser_navigate_back()")
    assert world.prompts.messages(session.task, turns, last) == list(model.asked[2].messages)


@pytest.mark.parametrize(("first", "controls"), [(None, {}), (FIRST, {"slow-loading": 0.5})])
def test_without_a_page_or_under_a_control_the_model_is_asked(first: str | None, controls: dict[str, float]) -> None:
    model = Model(FILLED)
    world = language_world(model, "web")
    session = begun(world, first, controls=controls)
    assert act(world, session, LOOK) == FILLED == session.screen
    assert len(model.asked) == 1 and session.turn == 0 and len(session.history) == 1


def test_a_refused_look_stays_a_turn() -> None:
    world = language_world(Model('### Error\nError: Tool "browser_snapshot" does not handle the modal state.'), "web")
    session = begun(world, None)
    act(world, session, LOOK)
    assert session.turn == 1


def test_a_look_can_be_corrected() -> None:
    world = language_world(Model(TYPED), "web")
    session = begun(world)
    act(world, session, LOOK)
    world.correct(session, FILLED)
    assert session.screen == session.observation == FILLED
    act(world, session, 'browser_type(ref="e4", text="tea")')
    world.accept(session, PARSER.parse(LOOK), Observation(FILLED))
    world.correct(session, FIRST)
    assert said(session) == [f"**Environment Observation:**\n{FIRST}"] and session.turn == 1


def test_a_recorded_session_is_without_its_snapshots() -> None:
    task = generate("web", "buy_goods", 2, 3)
    world = open_world("grounded", WorldOptions(SPEC))
    recording = SessionRecording(EpisodeRunner(SPEC, world, TaskSource(SPEC)), Prompts(SPEC), task)
    script = Script(action for action in [LOOK, *task.expert])
    assert in_one_wave([recording.playing(script)]) == [True]
    fields = recording.fields()
    recording.close()
    assert sum("browser_snapshot" in action for action in task.expert) == 2
    assert len(fields["actions"]) == len(task.expert) - 3 == fields["turn_idx"]  # nor is `finish` a turn
    assert not any("browser_snapshot" in text for text in (*fields["actions"], *fields["prompt"]))
    searched = fields["observations"][0]
    assert searched.startswith("### Page\n") and fields["response"][0].endswith(searched)
    assert "Ran Playwright code" in fields["observations"][1]
    assert any(change.field == "tab/0/url" for change in fields["changes"][0])
    assert fields["success"] is True
    Row(task="web", id="r", **fields)


def test_an_imported_session_is_without_its_snapshots(tmp_path: Any) -> None:
    import orjson

    def called(number: int, name: str, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        return {"role": "assistant", "tool_calls": [{"id": str(number), "type": "function", "function": function}]}

    calls = [
        ("browser_navigate", '{"url": "http://a.example/"}', CLICKED),
        ("browser_type", '{"ref": "e4", "text": "tea"}', TYPED),
        ("browser_snapshot", "{}", FILLED),
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Write tea."}]
    for number, (name, arguments, shown) in enumerate(calls):
        messages += [called(number, name, arguments), {"role": "tool", "tool_call_id": str(number), "content": shown}]
    path = tmp_path / "chat.jsonl"
    path.write_bytes(orjson.dumps({"messages": messages}))
    [row] = Importer().rows(path)
    assert row.domain == "web" and row.turn_idx == 2 and row.observations == (CLICKED, FILLED)
    assert '```text\nbrowser_type(ref="e4", text="tea")\n```' in row.current_prompt
