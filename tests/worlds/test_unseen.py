"""A small world model that is asked about what it never saw says so, instead of fluent nonsense."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.task import Task
from agentworld_gym.engines.mcp.scenario import scenario_folder
from agentworld_gym.engines.mcp.service import load_service
from agentworld_gym.errors import UnseenWarning
from agentworld_gym.generators import ScriptedGenerator
from agentworld_gym.tasks import families, generate
from agentworld_gym.worlds.bundled import bundled_models
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world

if not bundled_models():
    pytest.skip("this installation has no bundled model", allow_module_level=True)

ASKED: list[str] = []


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that notes that it is asked, and answers what no view can print."""
    ASKED.clear()

    def answer(request: object) -> str:
        ASKED.append("asked")
        return 'said = {"nothing": {}}'

    monkeypatch.setattr(WorldOptions, "open_generator", lambda options, handle: ScriptedGenerator(answer))


@pytest.fixture
def own_server(tmp_path: Path) -> Task:
    """A task on a tool server of a user's own: the tools of a kiln, which no shipped scenario has."""
    folder = tmp_path / "kiln"
    shutil.copytree(scenario_folder() / "shop", folder)
    tools = folder / "tools.yaml"
    tools.write_text(tools.read_text().replace("name: list_orders", "name: list_firings"))
    service = load_service(str(folder))
    return Task(
        id="own",
        domain="mcp",
        instruction="Finish with the number of firings.",
        state={"scenario": str(folder), "size": "small", "seed": 1},
        tools=service.listed,
        success=({"answer": {"number": 2}},),
    )


def opened(domain: str, **options: Any) -> LanguageWorld:
    """The bundled world of a domain."""
    world = open_world("tiny", WorldOptions(load_spec(domain), **options))
    assert isinstance(world, LanguageWorld)
    return world


def stepped(world: LanguageWorld, task: Task, action: str) -> Observation | Failure:
    """What a world answers to the first action of a task."""
    [session] = world.begin([task], [0])
    assert not isinstance(session, Failure)
    parsed: Action = ActionParser(world.spec).parse(action, task.tools)
    assert parsed.error is None
    [answer] = world.step([session], [parsed])
    return answer


def test_tools_that_no_training_data_held_are_named_at_reset(own_server: Task) -> None:
    with pytest.warns(UnseenWarning, match=r"tiny-mcp-state held no such tools as .*kiln-"):
        opened("mcp").begin([own_server], [0])


def test_a_call_of_such_a_tool_is_a_failure_that_names_it_and_the_model_is_not_asked(own_server: Task) -> None:
    world = opened("mcp")
    with pytest.warns(UnseenWarning):
        answer = stepped(world, own_server, '{"name": "kiln-list_firings", "arguments": {}}')
    assert isinstance(answer, Failure)
    assert answer.kind is FailureKind.UNSEEN and not answer.retryable
    assert answer.message.endswith("did not hold the tool kiln-list_firings")
    assert not ASKED


def test_a_guard_that_grounds_has_it_carried_out(own_server: Task) -> None:
    world = opened("mcp", guard={"least": 0.5, "remedy": "ground"})
    with pytest.warns(UnseenWarning):
        answer = stepped(world, own_server, '{"name": "kiln-list_firings", "arguments": {}}')
    assert isinstance(answer, Observation)
    assert "orders" in json.loads(answer.text)


def test_a_site_that_no_training_data_held_is_named() -> None:
    task = generate("web", min(families("web")), 1, 0)
    call = json.dumps({"name": "browser_navigate", "arguments": {"url": "http://kiln.example/firings"}})
    answer = stepped(opened("web"), task, call)
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.message.endswith("did not hold the site kiln.example")) == (FailureKind.UNSEEN, True)
    assert not ASKED


@pytest.mark.parametrize("family", ["pay_bill", "answer_mail", "roll_sprint"])
def test_tools_of_the_library_are_known(family: str) -> None:
    task = generate("mcp", family, 1, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        answer = stepped(opened("mcp"), task, task.expert[0])
    assert ASKED
    assert isinstance(answer, Failure) and answer.kind is FailureKind.MALFORMED


def test_what_cannot_be_printed_is_told_in_words() -> None:
    task = generate("mcp", "pay_bill", 1, 0)
    answer = stepped(opened("mcp"), task, task.expert[0])
    assert isinstance(answer, Failure)
    assert "Error" not in answer.message
