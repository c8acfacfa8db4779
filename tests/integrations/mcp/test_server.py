"""The official client plays episodes: in process, over stdio and over HTTP, to the end or until somebody leaves."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import mcp
from typer.testing import CliRunner

from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.traces import EpisodeResult, episodes_of
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.mcp import EpisodeHost
from agentworld_gym.integrations.mcp.server import episode_server
from agentworld_gym.worlds.scripted import ScriptedWorld

COMMAND = [sys.executable, "-m", "agentworld_gym", "mcp", "serve"]
CLIENT = {"read_timeout_seconds": 60}


def outcomes(folder: Path) -> list[tuple[int, str, bool | None, int, int]]:
    """Seed, ending, success, steps and refused actions of every episode."""

    def of(one: EpisodeResult) -> tuple[int, str, bool | None, int, int]:
        return one.seed, one.ending, one.success, one.steps, one.refused

    return sorted(map(of, episodes_of(folder)))


async def texts(client: Any, name: str, **arguments: Any) -> tuple[list[str], bool]:
    """What a call shows, and whether that is an error."""
    result = await client.call_tool(name, arguments)
    return [part.text for part in result.content], result.is_error


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("domain", "tool", "shows"),
    [
        ("terminal", "act", {"action": "pwd"}),
        ("web", "browser_snapshot", {}),
        ("search", "dict_memory", {"operation": "retrieve_all"}),
    ],
)
def test_a_client_reads_the_task_and_plays_it_with_the_tools_of_the_domain(
    domain: str, tool: str, shows: dict[str, Any], mode: str
) -> None:
    runner = EnvOptions(spec=domain).runner()

    async def play(host: EpisodeHost) -> None:
        played = host.begin().result()
        async with mcp.Client(episode_server(host, played), mode=mode, **CLIENT) as client:
            (prompt,) = (await client.list_prompts()).prompts
            told = (await client.get_prompt(prompt.name)).messages[0].content.text
            assert told == client.instructions and played.episode.task.instruction in told
            listed = (await client.list_tools()).tools
            assert [one.name for one in listed] == [one["name"] for one in played.tools]
            assert all(one.input_schema["type"] == "object" and "anyOf" not in one.input_schema for one in listed)
            shown, error = await texts(client, tool, **shows)
            assert not error and shown == [played.episode.observation]
            assert (await texts(client, "nothing"))[1]
            with pytest.raises(mcp.MCPError, match="Unknown prompt"):
                await client.get_prompt("other")
            assert await texts(client, "finish") == (["The episode has ended."], False)
            assert (await texts(client, "finish"))[1]

    with EpisodeHost(runner) as host:
        asyncio.run(play(host))
    runner.close()


def test_a_dead_world_is_an_error_result() -> None:
    dead = Failure(FailureKind.SERVER, "connection refused", retryable=False)
    runner = EnvOptions(spec="terminal").runner(ScriptedWorld(lambda task, actions: dead if actions else "$"))

    async def play(host: EpisodeHost) -> None:
        async with mcp.Client(episode_server(host, host.begin().result()), **CLIENT) as client:
            (text,), error = await texts(client, "act", action="ls")
            assert error and "The world failed" in text and "connection refused" in text

    with EpisodeHost(runner) as host:
        asyncio.run(play(host))
    runner.close()


def test_over_stdio_an_episode_is_scored_when_its_agent_leaves(tmp_path: Path) -> None:
    arguments = [*COMMAND[1:], "--env", "terminal", "--seed", "1", "--traces", str(tmp_path)]

    async def play() -> None:
        server = mcp.StdioServerParameters(command=COMMAND[0], args=arguments)
        async with mcp.Client(server, **CLIENT) as client:
            assert (await texts(client, "act", command="ls"))[1]

    asyncio.run(play())
    assert outcomes(tmp_path) == [(1, "left", False, 2, 1)]


def test_a_signal_ends_an_episode_over_stdio_with_its_score(tmp_path: Path) -> None:
    messages = [
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
        '"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}',
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "act", "arguments": {"action": "ls"}}}',
    ]
    command = [*COMMAND, "--env", "terminal", "--traces", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("\n".join([*messages, ""]))
        process.stdin.flush()
        assert '"serverInfo"' in process.stdout.readline() and '"isError":false' in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130 and "no success, score 0.00, 2 steps, 0 refused" in told
    assert "Traceback" not in told
    assert outcomes(tmp_path) == [(0, "left", False, 2, 0)]


@contextmanager
def http_server(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of episodes on a free port, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with subprocess.Popen([*COMMAND, *options, "--http", port], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found is not None
            yield process, found[0]
        finally:
            process.kill()


def test_over_http_every_session_is_an_episode_and_ctrl_c_scores_those_under_way(tmp_path: Path) -> None:
    async def play(address: str) -> None:
        async with mcp.Client(address, **CLIENT) as first, mcp.Client(address, **CLIENT) as second:
            await asyncio.gather(texts(first, "act", action="echo one > own"), texts(second, "act", action="ls"))
            shown, _ = await texts(second, "act", action="cat own")
            assert "No such file" in shown[0]
            assert not (await texts(first, "finish"))[1]

    def status(address: str, data: bytes | None = None, **headers: str) -> int:
        request = urllib.request.Request(address, data, {"Content-Type": "application/json", **headers})
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(request, timeout=30)
        return raised.value.code

    async def stay(address: str, process: subprocess.Popen[str]) -> str:
        async with mcp.Client(address, **CLIENT) as client:
            await client.call_tool("act", {"action": "pwd"})
            process.send_signal(signal.SIGINT)
            return await asyncio.to_thread(lambda: process.communicate(timeout=30)[1])

    with http_server("--env", "terminal", "--seed", "5", "--traces", str(tmp_path)) as (process, address):
        asyncio.run(play(address))
        assert status(address) == 404 and status(address, b"{}", Origin="http://elsewhere.example") == 403
        told = asyncio.run(stay(address, process))
        assert process.returncode == 130 and "Traceback" not in told
    assert outcomes(tmp_path) == [
        (5, "finish", False, 2, 0),
        (6, "left", False, 3, 0),
        (7, "left", False, 2, 0),
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "SCENARIO: got None, expected the name of a scenario, or --env"),
        (["--env", "casino"], "expected one of"),
        (["--env", "terminal", "--size", "full"], "--size: got 'full', expected nothing: an episode is served"),
        (["shop", "--level", "2"], "--level: got [2], expected nothing: a scenario is served"),
    ],
)
def test_a_wrong_option_ends_with_one_line(arguments: list[str], complaint: str) -> None:
    run = CliRunner().invoke(app, ["mcp", "serve", *arguments])
    assert run.exit_code == 2 and complaint in run.stderr and "Traceback" not in run.stderr
