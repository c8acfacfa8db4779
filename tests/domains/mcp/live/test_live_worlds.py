"""What can be done with a live world: dreams of its tasks, recordings, fidelity, the check, servers behind a URL."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from live_servers import needs_live_servers, served
from typer.testing import CliRunner
from worlds import dream, make, predicted

from agentworld_gym.agents.policies.playing import FunctionPolicy
from agentworld_gym.cli.app import app
from agentworld_gym.core.engines import EngineError, InexactFork, SystemLost
from agentworld_gym.domains.mcp.engine.sdk_server import ServerCard, serve_http
from agentworld_gym.domains.mcp.live import open_live
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure, record
from agentworld_gym.evaluation.transfer import transfer
from agentworld_gym.kit.live import LiveSource
from agentworld_gym.llm.rows.row_reading import read_rows

MCP = "AgentWorld/MCP-v0"
READING = ["add_note", "list_notes", "count_nodes", "structured"]


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    needs_live_servers()


def written(folder: Path, **keys: Any) -> Path:
    """The file of a configuration."""
    path = folder / "notes.yaml"
    path.write_text("# My notes.\n" + yaml.safe_dump({"domain": "mcp", **served(**keys)}, sort_keys=False))
    return path


def call(tool: str, **arguments: Any) -> str:
    return json.dumps({"name": f"notes-{tool}", "arguments": arguments})


def test_a_dream_plays_the_tasks_of_the_live_world_and_commands_run_in_that(tmp_path: Path) -> None:
    task = {"instruction": "Note milk.", "success": [{"run": call("list_notes"), "expect": {"equals": "milk"}}]}
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "milk.yaml").write_text(yaml.safe_dump(task))
    dream("calm", lambda request: predicted("calm"))
    env = make(MCP, world="calm", live=str(written(tmp_path, tasks=["tasks/*.yaml"])))
    assert env.options.world == "live+calm"
    _, info = env.reset(seed=0)
    assert info["task_id"] == "milk"
    assert "notes-add_note" in {tool["name"] for tool in info["tools"]}
    assert env.step(call("add_note", text="milk"))[0] == "calm"
    assert env.step("finish")[4]["success"] is True
    env.close()


def test_a_task_that_names_its_system_is_checked_there(tmp_path: Path) -> None:
    task = {
        "instruction": "Note milk.",
        "state": {"live": written(tmp_path).name},
        "success": [{"run": call("list_notes"), "expect": {"equals": "milk"}}],
        "expert": [call("add_note", text="milk"), "finish"],
    }
    file = tmp_path / "milk.yaml"
    file.write_text(yaml.safe_dump(task))
    found = CliRunner().invoke(app, ["tasks", "check", str(file), "--env", "mcp"])
    assert found.exit_code == 0 and "the expert solves it in 2 steps" in found.output
    file.write_text(yaml.safe_dump({**task, "expert": [call("add_note", text="tea"), "finish"]}))
    found = CliRunner().invoke(app, ["tasks", "check", str(file), "--env", "mcp"])
    assert found.exit_code == 2 and "success.0" in found.output


def test_what_was_recorded_of_a_live_world_replays_without_it(tmp_path: Path) -> None:
    def played(world: str, task: Any, **options: Any) -> tuple[list[Any], Any]:
        env = make(MCP, world=world, task=task, **options)
        first, _ = env.reset(seed=3)
        task = env.task
        shown = [first, env.step(call("add_note", text="milk"))[0], env.step("finish")[4]["success"]]
        env.close()
        return shown, task

    given = {"instruction": "Note milk.", "success": [{"run": call("list_notes"), "expect": {"equals": "milk"}}]}
    recorded, task = played(f"record:{tmp_path}/r.jsonl+live", given, live=served())
    assert recorded[1:] == ["Note 1 added", True]
    assert played(f"recorded:{tmp_path}/r.jsonl", task)[0] == recorded


def test_sessions_of_a_live_world_are_recorded_and_the_live_world_is_true_to_itself(tmp_path: Path) -> None:
    world = f"live:{written(tmp_path, tools=READING)}"
    done = CliRunner().invoke(app, ["collect", "mcp", "--world", world, "-n", "3", "--out", f"{tmp_path}/rows.jsonl"])
    assert done.exit_code == 0, done.output
    rows = list(read_rows(tmp_path / "rows.jsonl"))
    assert {row.policy for row in rows} == {"explore"} and {row.success for row in rows} == {None}
    assert rows[0].provenance.libraries["notes"] == "note-keeper 1.0"
    plan = FidelityPlan(record("mcp", 2, levels=(1,), world=world), plans=range(3))
    found, _ = measure(EnvOptions(spec="mcp", world=world), plan)
    assert found.free is not None and found.free.measures is not None
    assert found.free.measures.exact.share == 1.0
    assert found.consistency is None, "nothing tells whether free play is solved"


def test_a_task_with_an_expert_is_recorded_as_experts_and_clumsier_agents_play_it(tmp_path: Path) -> None:
    note = {
        "instruction": "Note tea.",
        "expert": [call("add_note", text="tea"), "finish"],
        "success": [{"run": call("list_notes"), "expect": {"equals": "tea"}}],
    }
    world = f"live:{written(tmp_path, tasks=[note], tools=READING)}"  # Other tools sleep, or die.
    done = CliRunner().invoke(app, ["collect", "mcp", "--world", world, "-n", "9", "--out", f"{tmp_path}/rows.jsonl"])
    assert done.exit_code == 0, done.output
    rows = list(read_rows(tmp_path / "rows.jsonl"))
    assert len({row.policy for row in rows} & {"expert", "mixed", "blend"}) > 1
    assert any(row.success for row in rows)


def test_the_truth_of_transfer_is_the_live_world(tmp_path: Path) -> None:
    answer = {"instruction": "Note tea, and tell how.", "success": [{"answer": {"equals": "Note 1 added"}}]}

    def act(episode: Episode) -> str:
        return f"finish: {episode.observation}" if episode.steps else call("add_note", text="tea")

    dream("calm", lambda request: predicted("calm"))
    world = f"live:{written(tmp_path, tasks=[answer])}"
    found = transfer(FunctionPolicy("noting", act), EnvOptions(spec="mcp", world=f"{world}+calm"), range(1))
    assert found.grounded.world == world and found.grounded.success.share == 1.0
    assert found.dream.success.share == 0.0


def test_the_check_says_that_a_system_writes_where_it_cannot(tmp_path: Path) -> None:
    config = written(tmp_path, tools=["keep"])
    done = CliRunner().invoke(app, ["live", "check", str(config), "-n", "2"])
    assert done.exit_code == 0, done.output
    assert "read-only file system: the system wants to write where it cannot" in done.output


def test_the_check_tells_how_far_it_is_and_in_plain_words_how_sessions_go_back(tmp_path: Path) -> None:
    reset = {"tool": "notes-clear_notes", "verify": {"tool": "notes-list_notes"}}
    config = written(tmp_path, tools=["add_note", "list_notes", "clear_notes"], reset=reset)
    done = CliRunner().invoke(app, ["live", "check", str(config), "-n", "2"])
    assert "reset       tool notes-clear_notes, checked by `verify`; " in done.stdout
    assert done.stderr.startswith("checking: done")
    config.write_text(config.read_text().replace("domain: mcp", "domain: mpc"))
    done = CliRunner().invoke(app, ["live", "check", str(config)])
    assert done.exit_code == 2 and "notes.yaml: domain: got 'mpc', expected one of mcp, " in done.stderr


def test_the_check_learns_what_varies_and_writes_it_down(tmp_path: Path) -> None:
    config = written(tmp_path, tools=[*READING, "clock"])
    done = CliRunner().invoke(app, ["live", "check", str(config), "-n", "3", "--write", "--out", f"{tmp_path}/r.json"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["again"]["masked"] == report["again"]["answers"] > report["again"]["equal"]
    assert report["forks"] == "exact, by playing again" and report["memory_mb"] > 1
    assert report["coverage"]["tools"] == 5 and not report["coverage"]["unmet"] and not report["failures"]
    data = yaml.safe_load(config.read_text())
    assert config.read_text().startswith("# My notes.\n")
    assert data["masks"] == report["masks"] and data["deterministic"] is False
    again = CliRunner().invoke(app, ["live", "check", str(config), "-n", "2"])
    assert "Fit for training" in again.output


class Notes:
    """Notes that all clients of a server share; `forgets` says whether they can be cleared."""

    def __init__(self) -> None:
        self.notes, self.forgets, self.refused, self.observation = list[str](), True, False, ""
        schema = {"type": "object", "properties": {}}
        tools = [{"name": name, "description": name, "parameters": schema} for name in ("add", "list", "clear")]
        self.card = ServerCard("notes", "Notes", "Keeps notes.", tools)

    def act(self, action: Any) -> str:
        """Add a note, or clear all of them."""
        if action["name"] == "add":
            self.notes.append("a note")
        elif action["name"] == "clear" and self.forgets:
            self.notes.clear()
        return f"{len(self.notes)} notes"


def test_a_server_that_episodes_share_is_reset_and_verified_when_one_begins() -> None:
    notes, port = Notes(), free_port()
    threading.Thread(target=serve_http, args=(notes, "127.0.0.1", port), daemon=True).start()
    _wait_for(port)
    notes.notes.append("left over")
    reset = {"tool": "here-clear", "verify": {"tool": "here-list"}}
    live = {"url": f"http://127.0.0.1:{port}/mcp", "name": "here", "reset": reset}
    engine = open_live(LiveSource.of(live))
    try:
        machine = engine.start({}, 0)
        assert machine.act({"name": "here-add", "arguments": {}}) == "1 notes"
        with pytest.raises(InexactFork, match="all episodes share this system"):
            machine.fork()
        following = engine.start({}, 1)
        assert following.act({"name": "here-list", "arguments": {}}) == "0 notes"
        with pytest.raises(SystemLost, match="another episode has reset the servers"):
            machine.act({"name": "here-list", "arguments": {}})
        machine.close()
        notes.forgets, notes.notes = False, ["stays"]
        with pytest.raises(
            EngineError, match="did not bring the servers back: verify shows '1 notes', and at first '0"
        ):
            engine.start({}, 2)
    finally:
        engine.close()


def test_a_server_behind_a_url_answers_as_the_machine_that_it_serves() -> None:
    from agentworld_gym.domains.mcp.engine import ToolMachine

    machine = ToolMachine.start({"scenario": "shop", "size": "small", "seed": 1}, seed=0)
    twin = machine.fork()
    port = free_port()
    threading.Thread(target=serve_http, args=(machine, "127.0.0.1", port), daemon=True).start()
    _wait_for(port)
    env = make(MCP, live={"url": f"http://127.0.0.1:{port}/mcp", "name": "here", "ahead": 0})
    _, info = env.reset(seed=0)
    for tool, arguments in (("shop-list_orders", {"limit": 2}), ("shop-get_order", {"order_id": 9999})):
        assert f"here-{tool}" in {one["name"] for one in info["tools"]}
        shown = env.step(json.dumps({"name": f"here-{tool}", "arguments": arguments}))[0]
        assert shown == twin.act({"name": tool, "arguments": arguments})
    env.close()


def test_the_client_with_headers_is_closed_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    from agentworld_gym.domains.mcp.live.connection import Connection

    clients: list[httpx2.AsyncClient] = []

    class Kept(httpx2.AsyncClient):
        def __init__(self, *args: Any, **keys: Any) -> None:
            super().__init__(*args, **keys)
            clients.append(self)

    monkeypatch.setattr(httpx2, "AsyncClient", Kept)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EngineError):  # Nobody listens; the client was made all the same.
        Connection(None, f"http://127.0.0.1:{port}/mcp", {"X-Key": "sesame"}, (5.0, 5.0))
    assert clients and all(client.is_closed for client in clients)


def free_port() -> int:
    """A port of this machine at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
