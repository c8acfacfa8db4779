"""A scenario served by the official SDK: its own client reads the very text that the engine gives."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentworld_gym.cli.app import app
from agentworld_gym.domains.mcp.engine import ToolMachine, load_service

mcp = pytest.importorskip("mcp")

COMMAND = [sys.executable, "-m", "agentworld_gym", "mcp", "serve", "shop", "--seed", "1"]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("shop-list_orders", {"limit": 3}),
    ("shop-find_customer", {"query": "a"}),
    ("shop-create_customer", {"name": "Zoë Çelik", "email": "zoe@example.com"}),
    ("shop-get_order", {"order_id": 9999}),
    ("shop-get_order", {"order_id": "abc"}),
    ("shop-get_order", {}),
    ("shop-get_order", {"order_id": 2**70}),
    ("shop-nothing", {"x": [1, {"y": None}]}),
    ("shop-hide_review", {"review_id": 1}),
]


def expected() -> list[tuple[str, bool]]:
    """What the engine answers, and whether it is a refusal."""
    machine = ToolMachine.start({"scenario": "shop", "size": "small", "seed": 1}, seed=1)
    return [(machine.act({"name": name, "arguments": arguments}), machine.refused) for name, arguments in CALLS]


async def talk(server: Any) -> tuple[list[Any], list[tuple[str, bool]]]:
    """The tools a client lists, and the answers it gets."""
    async with mcp.Client(server, read_timeout_seconds=30) as client:
        tools = (await client.list_tools()).tools
        results = [await client.call_tool(name, arguments) for name, arguments in CALLS]
    return tools, [(result.content[0].text, result.is_error) for result in results]


def customers(path: Path) -> int:
    """How many customers a saved database holds."""
    return int(sqlite3.connect(path).execute("SELECT count(*) FROM customers").fetchone()[0])


def check(tools: list[Any], answers: list[tuple[str, bool]]) -> None:
    listed = [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in tools]
    assert listed == list(load_service("shop").listed)
    assert answers == expected()
    assert any(refused for _, refused in answers)
    assert not all(refused for _, refused in answers)


def test_over_stdio_the_client_reads_what_the_engine_writes(tmp_path: Path) -> None:
    before, after = tmp_path / "before.db", tmp_path / "after.db"
    arguments = [*COMMAND[1:], "--save-initial", str(before), "--save-final", str(after)]
    check(*asyncio.run(talk(mcp.StdioServerParameters(command=COMMAND[0], args=arguments))))
    assert customers(after) == customers(before) + 1


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server that can be reached."""
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_over_http_too_and_a_signal_ends_it_with_everything_saved(
    tmp_path: Path, port: int, end: signal.Signals
) -> None:
    after = tmp_path / "after.db"
    options = ["--http", str(port), "--save-final", str(after)]
    with served([*COMMAND, *options], port) as process:
        check(*asyncio.run(talk(f"http://127.0.0.1:{port}/mcp")))
        process.send_signal(end)
        _, complaints = process.communicate(timeout=20)
        assert process.returncode == 130
        assert b"Traceback" not in complaints
    assert customers(after) == customers_at_start() + 1


def customers_at_start() -> int:
    machine = ToolMachine.start({"scenario": "shop", "size": "small", "seed": 1}, seed=1)
    return sum(field.endswith("/email") for field in machine.state() if field.startswith("customers/"))


def test_ctrl_c_ends_a_server_that_waits_on_stdin() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
        process.stdin.write(ping)
        process.stdin.flush()
        process.stdout.readline()  # it is up
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130


@pytest.mark.parametrize("redirection", ["< /dev/null", "<&-", "< {file}", "< /dev/null >&-"])
def test_a_server_that_nobody_can_speak_to_ends_at_once(tmp_path: Path, redirection: str) -> None:
    silent, after = tmp_path / "silent", tmp_path / "after.db"
    silent.touch()
    line = shlex.join([*COMMAND, "--save-final", str(after)]) + " " + redirection.format(file=silent)
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert customers(after) == customers_at_start()


def test_a_client_that_does_not_wait_for_an_answer_ends_the_server_too() -> None:
    nobody, answers = os.pipe()
    os.close(nobody)
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    run = subprocess.run(
        COMMAND, input=ping, stdout=answers, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(answers)
    assert (run.returncode, run.stderr) == (0, "")


def test_without_the_sdk_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    run = CliRunner().invoke(app, ["mcp", "serve", "shop", "--save-initial", str(tmp_path / "before.db")])
    assert run.exit_code == 1
    assert "pip install -e '.[mcp]'" in run.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["casino"], "one of bank"),
        (["shop", "--save-final", "/nowhere/x.db"], "a file in a folder that is there"),
        (["shop", "--save-final", "/proc/x.db"], "--save-final: got '/proc/x.db', expected a file that can be written"),
    ],
)
def test_a_wrong_option_ends_with_one_line(arguments: list[str], complaint: str) -> None:
    run = subprocess.run(
        [*COMMAND[:5], *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    assert run.returncode == 2
    assert complaint in run.stderr
    assert "Traceback" not in run.stderr
