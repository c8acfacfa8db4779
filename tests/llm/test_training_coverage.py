"""A small world model that is asked about what it never saw says so, instead of fluent nonsense."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentworld_gym.base.errors import SpecError, UnseenWarning
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.mcp.engine.scenario import scenario_folder
from agentworld_gym.domains.mcp.engine.service import load_service
from agentworld_gym.domains.web.engine.sites.site import site_folder
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.bundled_models import bundled_models
from agentworld_gym.llm.generators import ScriptedGenerator
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


def test_what_options_name_is_told_as_a_world_is_made_and_not_again(own_server: Task) -> None:
    folder = Path(str(own_server.state["scenario"]))
    (folder / "tasks").mkdir()
    (folder / "tasks" / "1.yaml").write_text("instruction: Count the firings.\nsuccess: [{answer: {number: 2}}]\n")
    known = r"held no such tools as .*kiln-.* \(it held those of bank, hr, office, shop, tracker\)"
    for options in ({"world_options": {"scenario": str(folder)}}, {"task": own_server}):
        with pytest.warns(UnseenWarning, match=known) as told:
            runner = EnvOptions(spec="mcp", world="tiny", **options).runner()
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnseenWarning)
            runner.start([1], {})
        runner.close()


def test_tasks_of_a_reset_are_told_of_then(own_server: Task) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        env = gym.make("AgentWorld/MCP-v0", world="tiny", families=["pay_bill"])
        env.reset(seed=1)
    with pytest.warns(UnseenWarning, match="kiln-"):
        env.reset(seed=1, options={"task": own_server})
    env.close()


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


def test_an_address_that_no_site_of_the_task_has_is_one_of_nobody_which_training_shows() -> None:
    task = generate("web", min(families("web")), 1, 0)
    stepped(opened("web"), task, json.dumps({"name": "browser_navigate", "arguments": {"url": "http://kiln.example/"}}))
    assert len(ASKED) == 1


def test_a_page_of_such_a_site_is_told_as_a_world_is_made_and_fails_whatever_is_done_there(tmp_path: Path) -> None:
    folder = tmp_path / "kiln"
    shutil.copytree(site_folder() / "wiki", folder)
    shutil.copytree(site_folder() / "_common", tmp_path / "_common")
    about = (folder / "site.yaml").read_text()
    (folder / "site.yaml").write_text(about.replace("wiki.example", "kiln.example"))
    state = {"open": "http://kiln.example/", "sites": {str(folder): None}}
    success = ({"answer": {"equals": "done"}},)
    task = Task(id="own", domain="web", instruction="Look around.", state=state, success=success)
    with pytest.warns(UnseenWarning, match=r"held no such sites as kiln\.example \(it held forum\.example, .*wiki\."):
        runner = EnvOptions(spec="web", world="tiny", task=task).runner()
    answer = stepped(
        runner.world, task, json.dumps({"name": "browser_click", "arguments": {"element": "x", "ref": "e4"}})
    )
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.message.endswith("did not hold the site kiln.example")) == (FailureKind.UNSEEN, True)
    opening = json.dumps({"name": "browser_navigate", "arguments": {"url": "kiln.example/firings"}})
    answer = stepped(runner.world, task, opening)
    assert isinstance(answer, Failure) and answer.message.endswith("did not hold the site kiln.example")
    assert not ASKED


def own_model(folder: Path, domain: str, seen: dict[str, list[str]]) -> str:
    """The handle of a model of a user's own, which learned this and nothing else."""
    card = {"domains": [domain], "forms": {domain: "state"}, "seen": seen}
    folder.mkdir(exist_ok=True)
    (folder / "world.yaml").write_text(json.dumps(card))
    return f"transformers:{folder}"


def made(domain: str, handle: str, task: Task) -> LanguageWorld:
    """The world that an environment of one task has."""
    world = EnvOptions(spec=domain, world=handle, task=task).runner().world
    assert isinstance(world, LanguageWorld)
    return world


def test_apps_of_a_phone_that_a_model_never_saw_are_named_and_are_failures(tmp_path: Path) -> None:
    task = generate("android", min(families("android")), 1, 0)
    handle = own_model(tmp_path, "android", {"apps": ["Notes", "Messages", "Contacts", "Settings"]})
    with pytest.warns(
        UnseenWarning, match=r"no such apps as .*Pantry.* \(it held Notes, Messages, Contacts, Settings\)"
    ):
        world = made("android", handle, task)
    (icon,) = (node.handle for node in read_screen("android", str(task.first_observation)) if node.label == "Clock")
    asks = {
        '{"action_type": "open_app", "app_name": "pantry"}': "the app Pantry",
        json.dumps({"action_type": "click", "index": icon}): "the app Clock",
    }
    for action, what in asks.items():
        answer = stepped(world, task, action)
        assert isinstance(answer, Failure) and answer.kind is FailureKind.UNSEEN
        assert answer.message.endswith(f"did not hold {what}")
    assert not ASKED
    for known in ("Notes", "Chess"):  # An app that is on no phone opens on none, which training shows.
        stepped(world, task, json.dumps({"action_type": "open_app", "app_name": known}))
    assert len(ASKED) == 2


def test_programs_of_a_desktop_that_a_model_never_saw_are_named_and_are_failures(tmp_path: Path) -> None:
    task = generate("desktop", "change_settings", 1, 0)
    handle = own_model(tmp_path, "desktop", {"apps": ["Files", "Settings"], "hosts": ["shop.example"]})
    with pytest.warns(UnseenWarning, match=r"no such apps as .*Terminal.* \(it held Files, Settings\)"):
        world = made("desktop", handle, task)
    nodes = read_screen("desktop", str(task.first_observation))
    boxes = {node.label: node.box.centre for node in nodes if node.box is not None and node.role == "push-button"}
    asks = {
        "subprocess.Popen(['eog', '/home/user/a.png'])": "the app Document Viewer",
        "pyautogui.click({}, {})".format(*boxes["Terminal"]): "the app Terminal",
        "CalcTools.save()": "the app LibreOffice Calc",
        "subprocess.Popen(['xdg-open', 'http://wiki.example/all'])": "the site wiki.example",
    }
    for action, what in asks.items():
        answer = stepped(world, task, action)
        assert isinstance(answer, Failure) and answer.kind is FailureKind.UNSEEN, action
        assert answer.message.endswith(f"did not hold {what}")
    assert not ASKED
    for known in ("subprocess.Popen(['nautilus'])", "pyautogui.click({}, {})".format(*boxes["Settings"])):
        stepped(world, task, known)
    assert len(ASKED) == 2


def test_a_file_of_a_program_that_a_model_never_saw_cannot_be_opened() -> None:
    """The package's model saw no pictures and no PDF files, for the tasks of its training have none."""
    generated = generate("desktop", "change_settings", 1, 0)
    files = {"/home/user/Desktop/offer.pdf": "An offer.", "/home/user/Desktop/todo.txt": "Milk"}
    world = opened("desktop")
    task = generated.model_copy(update={"state": {**generated.state, "files": files}})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)  # No program on the dock is unknown.
        [session] = world.begin([task], [0])
    assert not isinstance(session, Failure)
    icons = {
        node.label: node.box.centre for node in read_screen("desktop", session.observation) if node.box is not None
    }
    twice = "pyautogui.doubleClick({}, {})"
    answer = stepped(world, task, twice.format(*icons["offer.pdf"]))
    assert isinstance(answer, Failure) and answer.message.endswith("did not hold the app Document Viewer")
    assert not ASKED
    stepped(world, task, twice.format(*icons["todo.txt"]))
    stepped(world, task, twice.format(*icons["offer.pdf"]).replace("doubleClick", "click"))
    assert len(ASKED) == 2


def test_a_card_names_apps_that_there_are(tmp_path: Path) -> None:
    handle = own_model(tmp_path, "android", {"apps": ["Notes", "Chess"]})
    with pytest.raises(SpecError, match=r"seen\.apps.*Notes.*which Chess is not"):
        EnvOptions(spec="android", world=handle).runner()


@pytest.mark.parametrize("domain", ["android", "desktop", "web"])
def test_what_shipped_tasks_bring_is_known(domain: str) -> None:
    world = opened(domain)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        world.begin([generate(domain, family, 1, 0) for family in families(domain)], [0] * len(families(domain)))


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
