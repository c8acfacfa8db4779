"""A language world of recorded tasks plays without a system, and refuses what needs one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from worlds import make, predicted

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.llm.bundled_models import tiny_model
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds.own_tasks import truth_of, unfolded, with_live
from agentworld_gym.worlds.registry import register_world

TOOL = {"name": "shelf-lend", "description": "", "parameters": {"type": "object", "properties": {"title": {}}}}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The folder of an adopted world that recordings alone made; its model is a link to one that ships."""
    common = {"domain": "mcp", "instruction": "Try it.", "first_observation": "Connected.", "family": "free_play"}
    tasks = [{"id": split, "split": split, "success": [], **common} for split in ("train", "test")]
    (tmp_path / "tasks.json").write_text(json.dumps({"domain": "mcp", "tools": [TOOL], "tasks": tasks}))
    model = tiny_model("search")
    assert model is not None
    (tmp_path / "model").symlink_to(model)
    return tmp_path


def opened(world: Path, **options: Any) -> Any:
    return make("AgentWorld/MCP-v0", world=f"tasks:{world / 'tasks.json'}+transformers:{world / 'model'}", **options)


@pytest.mark.parametrize("split", ["train", "test"])
def test_episodes_have_the_tasks_of_their_split_with_the_tools_that_were_called(world: Path, split: str) -> None:
    pytest.importorskip("torch")
    env = opened(world, split=split)
    observation, info = env.reset(seed=3)
    assert (info["task_id"], observation.endswith("Connected.")) == (split, True)
    assert [tool["name"] for tool in info["tools"]] == ["shelf-lend"]
    env.close()


def test_a_guard_cannot_ground_steps_in_a_system_that_is_not_there(world: Path) -> None:
    guard = {"guard": {"least": 0.9, "remedy": "ground"}}
    with pytest.raises(SpecError, match=r"guard\.remedy: got 'ground', expected end, or live=.* recordings alone"):
        opened(world, language=guard)


def test_nothing_plays_the_tasks_without_a_language_world(world: Path) -> None:
    with pytest.raises(WorldNotConfigured, match=r"no system runs these tasks; pass tasks:.*\+WORLD"):
        make("AgentWorld/MCP-v0", world=f"tasks:{world / 'tasks.json'}")


def test_the_tasks_of_another_domain_are_refused(world: Path) -> None:
    with pytest.raises(SpecError, match="got 'terminal', expected mcp, the domain of the tasks"):
        make("AgentWorld/Terminal-v0", world=f"{world}/")


def test_the_folder_is_a_handle_and_takes_its_system_once_that_is_at_hand(world: Path) -> None:
    handle = f"tasks:{world / 'tasks.json'}+transformers:{world / 'model'}"
    assert unfolded(str(world)) == handle
    assert truth_of(str(world)) == f"tasks:{world / 'tasks.json'}"
    assert with_live(str(world)) == f"live+transformers:{world / 'model'}"


@pytest.mark.parametrize("pays", ["success", None])
def test_pages_that_pay_offer_what_can_be_done_on_them(pays: str | None, tmp_path: Path) -> None:
    page = '### Snapshot\n```yaml\n- button "{}" [ref=e2]\n```'
    shown = {"first_observation": page.format("Send"), "instruction": "Send it.", "success": []}
    tasks = [{"id": "send", "split": "train", "domain": "web", "family": "free_play", **shown}]
    (tmp_path / "tasks.json").write_text(json.dumps({"domain": "web", "tasks": tasks}))
    register_world("paying", lambda options: options.language(ScriptedGenerator(answer), pays=pays))

    def answer(request: ChatRequest) -> str:
        return predicted(page.format("Sent") + ("\n[reward 1; over; success]" if pays else ""))

    env = make("AgentWorld/Web-v0", world=f"tasks:{tmp_path / 'tasks.json'}+paying")
    _, info = env.reset(seed=0)
    send = '{"name": "browser_click", "arguments": {"element": "Send button", "ref": "e2"}}'
    assert info.get("admissible") == ([send] if pays else None)
    _, reward, _, _, info = env.step(send)
    assert (reward, info.get("admissible")) == ((1.0, [send.replace("Send", "Sent")]) if pays else (0.0, None))
    env.close()
    spoken = make("AgentWorld/Web-v0", world=f"tasks:{tmp_path / 'tasks.json'}+paying", dialect="browsergym")
    assert "admissible" not in spoken.reset(seed=0)[1], "actions are written as the first dialect writes them"
    spoken.close()
