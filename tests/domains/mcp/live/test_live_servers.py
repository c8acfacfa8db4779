"""Tool servers of one's own, run for real: what they answer, how they fail, and what they cannot reach."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import yaml
from live_servers import needs_live_servers, served
from processes import wait_until
from worlds import make

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.engines import InexactFork
from agentworld_gym.domains.mcp.live.config import ServerConfig
from agentworld_gym.kit.live import LiveMachine
from agentworld_gym.kit.live.process_watch import family_of
from agentworld_gym.worlds import concurrency

MCP = "AgentWorld/MCP-v0"


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    needs_live_servers()


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    """An environment of a note keeper, for tests that leave its episodes as they found them."""
    env = make(MCP, live=served(limits={"step_seconds": 2, "memory_mb": 100, "output_chars": 2000}), max_steps=100)
    yield env
    env.close()


def call(tool: str, **arguments: Any) -> str:
    return json.dumps({"name": f"notes-{tool}", "arguments": arguments})


def test_tools_come_from_the_server_and_an_episode_without_tasks_is_free_play(env: Any) -> None:
    observation, info = env.reset(seed=1)
    assert observation.endswith("Connected to server note-keeper 1.0.")
    assert {"notes-add_note", "notes-count_nodes"} <= {tool["name"] for tool in info["tools"]}
    assert env.step(call("add_note", text="milk"))[0] == "Note 1 added"
    assert env.step(call("list_notes"))[0] == "milk"
    _, reward, terminated, _, info = env.step("finish")
    assert (reward, terminated, info["untested"]) == (0.0, True, "free play: the task tests nothing")
    assert "success" not in info


def test_each_kind_of_result_is_shown_once(env: Any) -> None:
    env.reset(seed=1)
    tree = {"name": "a", "children": [{"name": "b"}, {"name": "c", "children": []}]}
    shown = {
        call("count_nodes", root=tree, depth=None): "3",
        call("picture"): "A dot:\n[image: image/png, 70 bytes]",
        call("structured"): 'done\n{"count": 0}',
        call("told_twice"): '{"count":0}',
        call("fail"): "there is no such thing",
        call("refuse"): "MCP error -32603: refused",
    }
    assert {action: env.step(action)[0] for action in shown} == shown
    assert "98250 characters are left out" in env.step(call("long"))[0]


def test_a_call_that_breaks_the_schema_is_answered_by_the_server_itself(env: Any) -> None:
    env.reset(seed=1)
    observation, *_, info = env.step(call("count_nodes", root={"children": []}))
    assert observation == "1" and "Field required" in info["action_error"]
    assert env.step('{"name": "elsewhere-add", "arguments": {}}')[0] == "Unknown tool: elsewhere-add"


def test_a_tool_that_the_server_adds_later_is_told_and_can_be_called(env: Any) -> None:
    env.reset(seed=1)
    observation = env.step(call("grow"))[0]
    assert observation.startswith('grown\nThe server now has the tool {"name": "notes-harvest"')
    assert env.step(call("harvest"))[0] == "harvested"


@pytest.mark.parametrize(
    ("tool", "kind", "why"),
    [
        ("crash", "connection", "it wrote: about to die"),
        ("hang", "timeout", "took longer than 2 s to answer hang; it wrote: deep in thought"),
        ("flood", "connection", "a line of more than 8 MiB"),
        ("eat", "connection", "limits.memory_mb is 100"),
    ],
)
def test_a_server_that_fails_is_a_typed_failure_of_its_member_alone(env: Any, tool: str, kind: str, why: str) -> None:
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(call(tool))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["failure"]["kind"] == kind and why in info["failure"]["message"]
    assert env.reset(seed=1)[0].endswith("note-keeper 1.0.")


def test_a_server_sees_nothing_of_this_machine(env: Any, tmp_path: Path) -> None:
    env.reset(seed=1)
    (tmp_path / "secret").write_text("secret")
    assert env.step(call("read_file", text=str(tmp_path / "secret")))[0] == "FileNotFoundError"
    assert "user:x:1000" in env.step(call("read_file", text="/etc/passwd"))[0]
    assert set(env.step(call("environment"))[0].split()) <= {"HOME", "LANG", "PATH", "PWD", "TERM", "TZ", "USER"}


def test_a_fork_plays_the_episode_again_unless_the_server_does_not_repeat_itself(env: Any) -> None:
    env.reset(seed=1)
    env.step(call("add_note", text="milk"))
    twin = env.fork()
    assert twin.step(call("add_note", text="eggs"))[0] == "Note 2 added"
    assert (twin.step(call("list_notes"))[0], env.step(call("list_notes"))[0]) == ("milk\neggs", "milk")
    twin.close()
    env.step(call("clock"))
    with pytest.raises(InexactFork, match="does not repeat itself"):
        env.fork()


def test_controls_act_out_where_they_can(env: Any) -> None:
    env.reset(seed=1, options={"controls": {"intermittent-errors": 1.0}})
    assert '"code": 503' in env.step(call("list_notes"))[0]
    assert env.step(call("list_notes"))[0] == "no notes"
    with pytest.raises(SpecError, match="slow-service"):
        env.reset(seed=1, options={"controls": {"slow-service": 0.5}})


TASK = {
    "instruction": "Note milk.",
    "state": {"calls": [{"name": "notes-add_note", "arguments": {"text": "eggs"}}]},
    "success": [
        {"probe": call("list_notes"), "expect": {"equals": "eggs\nmilk"}, "weight": 2},
        {"run": call("list_notes"), "expect": {"contains": "milk"}},
        {"run": call("told_twice")},
    ],
    "expert": [call("add_note", text="milk"), "finish"],
}


def test_a_task_names_its_server_and_is_checked_by_probes_on_a_fork_and_by_commands(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text(yaml.safe_dump(served()))
    (tmp_path / "milk.yaml").write_text(yaml.safe_dump({**TASK, "state": {**TASK["state"], "live": "notes.yaml"}}))
    env = make(MCP, world="live", task=str(tmp_path / "milk.yaml"))
    for number, (actions, score) in enumerate([(["finish"], 0.25), (TASK["expert"], 1.0)]):
        env.reset(seed=number)
        for action in actions:
            *_, info = env.step(action)
        assert (info["score"], info["success"]) == (score, score == 1.0)
    env.close()


def test_a_probe_in_a_world_that_does_not_repeat_itself_is_a_failure_and_no_reward() -> None:
    task = {"instruction": "Look.", "success": [{"probe": call("list_notes"), "expect": {"equals": "no notes"}}]}
    env = make(MCP, live=served(tasks=[task]))
    env.reset(seed=0)
    env.step(call("clock"))
    _, reward, _, truncated, info = env.step("finish")
    assert truncated and reward == 0.0 and "success" not in info
    assert "a probe needs a fork" in info["failure"]["message"]
    env.close()


def test_a_vector_steps_live_servers_side_by_side_and_one_that_dies_fails_alone() -> None:
    envs = gym.make_vec(MCP, num_envs=3, live=served(ahead=0))
    envs.reset(seed=0)
    observations, *_, truncated, infos = envs.step([call("add_note", text="a"), call("crash"), call("list_notes")])
    assert list(truncated) == [False, True, False]
    assert observations[0] == "Note 1 added" and observations[2] == "no notes"
    assert infos["_failure"].tolist() == [False, True, False]
    envs.close()


def test_no_member_of_a_wave_waits_for_another_while_there_is_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "PATIENCE", 60.0)  # No thread comes later.
    meeting, act = threading.Barrier(3, timeout=10), LiveMachine.act

    def met(machine: LiveMachine, action: Any) -> str:
        meeting.wait()  # None of them acts unless all of them do.
        return act(machine, action)

    envs = gym.make_vec(MCP, num_envs=3, live=served())
    envs.reset(seed=0)
    monkeypatch.setattr(LiveMachine, "act", met)
    assert envs.step([call("list_notes")] * 3)[0] == ("no notes",) * 3
    envs.close()


def test_a_member_that_hangs_holds_nobody_up() -> None:
    envs = gym.make_vec(MCP, num_envs=3, live=served(limits={"step_seconds": 2})).unwrapped
    envs.reset(seed=0)
    envs.send([call("hang"), call("add_note", text="a"), call("list_notes")])
    observations, *_, infos = envs.recv(min_ready=2)
    assert dict(zip(infos["env_id"].tolist(), observations, strict=True)) == {1: "Note 1 added", 2: "no notes"}
    *_, infos = envs.recv()
    assert infos["failure"]["kind"].tolist() == ["timeout"]
    envs.close()


@pytest.mark.parametrize(
    ("words", "reset"),
    [
        ((), {"tool": "notes-clear_notes"}),
        (("--broken",), {"tool": "notes-clear_notes"}),
        ((), {"command": ["true"]}),
        ((), {"command": ["false"]}),
        ((), {"command": ["true"], "trusted": True}),
    ],
    ids=["right tool", "broken tool", "idle command", "failing command", "trusted idle command"],
)
def test_a_reset_is_checked_before_a_session_is_used_again(words: tuple[str, ...], reset: dict[str, Any]) -> None:
    keys = {key: reset[key] for key in reset if key == "trusted"}
    reset = {**{key: reset[key] for key in reset.keys() - keys}, "verify": {"tool": "notes-list_notes"}}
    env = make(MCP, live=served(*words, reset=reset, sessions=2, network="command" in reset, **keys))
    for seed in range(3):
        env.reset(seed=seed)
        assert env.step(call("list_notes"))[0] == "no notes"
        env.step(call("add_note", text="milk"))
    env.close()


VERIFY = {"tool": "notes-list_notes"}


@pytest.mark.parametrize(
    ("reset", "error"),
    [
        (
            {"command": ["true"], "verify": VERIFY},
            r"reset\.command: got 'true', expected network: true or trusted: true",
        ),
        ({"tool": "notes-clear_notes"}, r"reset\.verify: got None, expected a call"),
        ({"tool": "notes-clear_note", "verify": VERIFY}, r"reset\.tool: .*; did you mean notes-clear_notes\?"),
        ({"tool": "notes-clear_notes", "verify": {"tool": "list_notes"}}, r"reset\.verify\.tool: got 'list_notes'"),
        ({"tool": "notes-clear_notes", "verify": {"tool": "notes-fail"}}, r"reset\.verify: .* a call that succeeds"),
        ({"comand": ["true"]}, r"reset: got .*, expected one of restart, \{tool: \.\.\.\}, \{command: \.\.\.\}"),
        ({"tool": "notes-clear_notes", "verfy": VERIFY}, r"reset\.verfy: got .*; did you mean verify\?"),
    ],
    ids=[
        "command that reaches nothing",
        "no verify",
        "no such tool",
        "no such tool of verify",
        "verify fails",
        "no such form",
        "no such key",
    ],
)
def test_a_reset_that_would_reset_nothing_is_refused(reset: dict[str, Any], error: str) -> None:
    with pytest.raises(SpecError, match=error):
        make(MCP, live=served(reset=reset))


def test_a_reset_that_fails_is_told(caplog: pytest.LogCaptureFixture) -> None:
    env = make(MCP, live=served(reset={"tool": "notes-fail", "verify": VERIFY}))
    for seed in range(2):
        env.reset(seed=seed)
    told = "the servers cannot be reset: notes-fail answers 'there is no such thing'"
    wait_until(lambda: told in caplog.text)
    env.close()


def test_nothing_is_left_after_close_nor_after_a_kill() -> None:
    def left() -> list[str]:
        found = []
        for arguments in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if b"live_server.py\0marked" in arguments.read_bytes():
                    found.append(arguments.parent.name)
        return found

    env = make(MCP, live=served("marked", ahead=1))
    env.reset(seed=0)
    killed = [pid for one in env.unwrapped.episode.session.machine.pids for pid in family_of(one)]
    assert killed
    for pid in killed:
        with suppress(ProcessLookupError):  # It has died with its parent.
            os.kill(pid, signal.SIGKILL)
    observation, _, _, _, info = env.step(call("list_notes"))
    assert info.get("failure", {"kind": observation})["kind"] == "connection"
    env.reset(seed=0)
    assert left()
    env.close()
    assert left() == []


def test_several_servers_are_told_apart_by_their_names() -> None:
    one = {key: value for key, value in served().items() if key == "command"}
    env = make(MCP, live={**served(), "command": None, "name": None, "servers": {"a": one, "b": one}})
    _, info = env.reset(seed=0)
    assert len({tool["name"].partition("-")[0] for tool in info["tools"]}) == 2
    env.step('{"name": "a-add_note", "arguments": {"text": "x"}}')
    shown = [env.step(json.dumps({"name": f"{name}-list_notes", "arguments": {}}))[0] for name in "ab"]
    assert shown == ["x", "no notes"]
    env.close()


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"comand": ["x"]}, "comand"),
        ({"command": ["no-such-program-here"]}, "command"),
        ({"command": ["python3"], "network": ["example.org"]}, "network"),
        ({"url": "https://example.org/mcp"}, "network"),
        ({"command": ["python3"], "url": "http://localhost:1/mcp"}, "command"),
        ({}, "command"),
        ({"url": "http://[bad"}, r"url: got .*, expected a URL"),
        ({"url": "http://localhost:99999/mcp"}, r"url: got .*, expected a URL"),
    ],
)
def test_a_wrong_key_is_named(keys: dict[str, Any], named: str) -> None:
    with pytest.raises(SpecError, match=named):
        make(MCP, live=keys)


def test_a_host_folder_needs_a_key(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="read"):
        make(MCP, live={"command": ["python3"], "read": [str(tmp_path / "gone")]})


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo no way >&2; exit 3", "ended with status 3; it wrote: no way"),
        ("echo ready; exec sleep 9", "longer than 1 s to start; it printed what is no message of the protocol: ready"),
        (
            r"""exec sed -u 's/.*"id": *\([0-9]*\).*/{"jsonrpc":"2.0","id":\1,"result":{}}/'""",
            "InitializeResult: .*: Field required",
        ),
    ],
    ids=["it ends", "it speaks otherwise", "its answer is wrong"],
)
def test_a_server_that_cannot_be_started_says_why(script: str, why: str) -> None:
    limits = {"start_seconds": 1 if "echo ready" in script else 20}
    with pytest.raises(WorldNotConfigured, match=why):
        make(MCP, live={"command": ["sh", "-c", script], "limits": limits})


@pytest.mark.parametrize("world", ["live", "live:", "live+"])
def test_a_handle_without_a_configuration_says_what_is_missing(world: str) -> None:
    with pytest.raises(SpecError, match=r"expected the configuration of a live system|expected live, live:FILE"):
        make(MCP, world=world).reset(seed=0)


def test_a_domain_without_live_worlds_says_which_have_one() -> None:
    with pytest.raises(WorldNotConfigured, match=r"has no live world; .*AgentWorld/MCP-v0"):
        make("AgentWorld/Custom-v0", spec="work", live={})


def test_a_command_may_be_one_text() -> None:
    assert ServerConfig(command="npx -y 'a b'").command == ("npx", "-y", "a b")


def test_a_program_that_fetches_what_it_runs_needs_the_network(tmp_path: Path, monkeypatch: Any) -> None:
    npx = tmp_path / "npx"
    npx.write_text("#!/bin/sh\n")
    npx.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SpecError, match="network: got False, expected true, as npx fetches what it runs"):
        make("AgentWorld/MCP-v0", live={"command": ["npx", "-y", "some-server"]})
