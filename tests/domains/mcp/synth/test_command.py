"""`agentworld synth` against a server: it asks side by side, a kill loses no answer, and tables tell what happened."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fault_server import FaultServer
from synth_author import Author
from typer.testing import CliRunner

from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.domains.mcp.synth.journal import FILE, read_journal

ROOT = Path(__file__).resolve().parents[4]
WORLDS = ["tool_library", "vet_clinic", "print_queue"]


def agentworld(*arguments: str) -> Any:
    return CliRunner(env={"COLUMNS": "160", "AGENTWORLD_WORLD": ""}).invoke(app, ["synth", *arguments])


REFUSALS = {401: "Incorrect API key provided", 404: "The model author does not exist"}
"""What a server says that answers with a status."""


@pytest.fixture
def refused() -> dict[int, int]:
    """From which request on the server refuses with which status; a test enters it here."""
    return {}


@pytest.fixture
def server(refused: dict[int, int]) -> Iterator[FaultServer]:
    author = Author(WORLDS)

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        number = len(server.bodies)
        await asyncio.sleep(0.02)
        for first, status in refused.items():
            if number >= first:
                return web.json_response({"error": {"message": REFUSALS[status]}}, status=status)
        written = author.answer(ChatRequest(body["messages"], Sampling()))
        message = {"message": {"role": "assistant", "content": written.text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": written.usage.prompt_tokens, "completion_tokens": written.usage.completion_tokens}
        return web.json_response({"choices": [message], "usage": usage})

    made = FaultServer(chat)
    yield made
    made.stop()


def options(server: FaultServer, out: Path) -> list[str]:
    return ["make", "--out", str(out), "--generator", f"{server.url}#author", "-n", "3", "--tasks", "2"]


def test_worlds_are_made_side_by_side_reported_and_checked(server: FaultServer, tmp_path: Path) -> None:
    done = agentworld(*options(server, tmp_path), "--price-in", "1000", "--price-out", "2000")
    assert done.exit_code == 0, done.output
    assert "3 worlds begun, 3 made, 0 given up" in done.stdout and "cost: " in done.stdout
    assert server.most_open >= 3
    told = agentworld("report", str(tmp_path)).stdout
    assert "verifier" in told and "6 of 6" in told and "in the paper of AWM" in told
    assert "cost" not in told, "without prices nothing is said of it"
    checked = agentworld("check", str(tmp_path))
    assert checked.exit_code == 0 and checked.stdout.count("2 of 2") == 3
    (tmp_path / "worlds" / "print_queue" / "schema.sql").write_text("CREATE nonsense;")
    checked = agentworld("check", str(tmp_path))
    assert checked.exit_code == 1 and "print_queue: " in checked.stdout and "syntax error" in checked.stdout


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on(server: FaultServer, tmp_path: Path, stop: signal.Signals) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "agentworld_gym", "synth", *options(server, tmp_path)]
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / FILE
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and sum(1 for _ in read_journal(journal)) >= 5:
            break
        time.sleep(0.01)
    process.send_signal(stop)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGKILL, 130), errors
    kept = {entry.key: entry.text for entry in read_journal(journal)}
    asked = len(server.bodies)
    assert agentworld(*options(server, tmp_path)).exit_code == 2
    done = agentworld(*options(server, tmp_path), "--resume")
    assert done.exit_code == 0, done.output
    entries = list(read_journal(journal))
    assert len({entry.key for entry in entries}) == len(entries) == 1 + 3 * 5 + 3 * 2
    assert all(kept[entry.key] == entry.text for entry in entries if entry.key in kept)
    assert len(server.bodies) - asked == len(entries) - len(kept)


def test_a_server_that_is_away_is_told_and_the_run_can_begin_later(server: FaultServer, tmp_path: Path) -> None:
    away = ["make", "--out", str(tmp_path), "--generator", "http://127.0.0.1:9/v1#author", "-n", "3", "--tasks", "2"]
    done = agentworld(*away)
    assert done.exit_code == 1 and "no server answers" in done.output
    assert agentworld(*options(server, tmp_path)).exit_code == 0


@pytest.mark.parametrize("status", REFUSALS)
def test_a_server_that_refuses_costs_no_try_and_is_asked_again(
    server: FaultServer, refused: dict[int, int], tmp_path: Path, status: int
) -> None:
    refused[7] = status
    stopped = agentworld(*options(server, tmp_path))
    assert stopped.exit_code == 1
    assert f"the server refused the request with {status}: {REFUSALS[status]}" in stopped.output
    assert "0 given up" in stopped.output
    kept = list(read_journal(tmp_path / FILE))
    assert len(kept) == 6 and not any(entry.failure for entry in kept)
    refused.clear()
    done = agentworld(*options(server, tmp_path), "--resume")
    assert done.exit_code == 0, done.output
    assert all(entry.key.attempt == 1 for entry in read_journal(tmp_path / FILE))


def test_wrong_options_are_told(tmp_path: Path) -> None:
    assert agentworld("make", "--out", str(tmp_path), "--generator", "nobody").exit_code == 2
    assert agentworld("report", str(tmp_path)).exit_code == 2
    assert agentworld("check", str(tmp_path / "nowhere")).exit_code == 2
    file = tmp_path / "scenario.yaml"
    file.write_text("title: Tool library", encoding="utf-8")
    for command in ("check", "report"):
        refused = agentworld(command, str(file))
        assert refused.exit_code == 2 and "is a file" in " ".join(refused.output.split())
