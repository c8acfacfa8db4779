"""Agents by handle: one registry, the same in every command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fault_server import FaultServer, answer
from loopback import servers
from typer.testing import CliRunner

from agentworld_gym.agents.policies.language_agent import LanguageAgent
from agentworld_gym.agents.policies.registry import HANDLES, open_policy
from agentworld_gym.base.errors import SpecError, UnknownOption
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec

TERMINAL = load_spec("terminal")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """The server of a model that finishes at once."""

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer("finish")

    with servers(FaultServer) as serve:
        yield serve(chat)


@pytest.mark.parametrize(
    ("handle", "said"),
    [
        ("expertt", ", ".join(HANDLES)[:40]),
        ("missing.zip", "one of expert, mixed"),
        ("python:no_such_module:make", "No module named 'no_such_module'"),
        ("python:json:make", "has no attribute 'make'"),
        ("python:json", "python:MODULE:FACTORY"),
    ],
)
def test_a_handle_that_names_no_agent_is_refused_with_what_was_expected(handle: str, said: str):
    with pytest.raises(SpecError) as refused:
        open_policy(handle, TERMINAL)
    assert handle in str(refused.value) and said in str(refused.value)


def test_the_options_of_a_language_model_are_those_of_sampling_generator_and_history():
    options = {"temperature": 0.2, "max_tokens": 9, "deadline_s": 5, "overflow": "drop", "calls": "text"}
    agent = open_policy("http://localhost:1/v1#m", TERMINAL, options=options)
    assert isinstance(agent, LanguageAgent)
    assert (agent.sampling.temperature, agent.sampling.max_tokens, agent.overflow) == (0.2, 9, "drop")
    agent.close()
    with pytest.raises(SpecError, match="overflow: got 'wait', expected one of stop, drop"):
        open_policy("http://localhost:1/v1", TERMINAL, options={"overflow": "wait"})
    with pytest.raises(SpecError, match="temperature: got -1"):
        open_policy("http://localhost:1/v1", TERMINAL, options={"temperature": -1})
    with pytest.raises(UnknownOption, match="heat"):
        open_policy("http://localhost:1/v1", TERMINAL, options={"heat": 1})
    with pytest.raises(SpecError, match="expert is no language model"):
        open_policy("expert", TERMINAL, options={"temperature": 1})


@pytest.mark.parametrize(
    "command",
    [
        "rollout terminal -n 2 --policy AGENT --agent-option temperature=0",
        "eval transfer mcp --world grounded --tasks 2 --policy AGENT --agent-option temperature=0 --out OUT/t.json",
        "eval agent --domains terminal --tasks 2 --agent AGENT --sampling temperature=0 --out OUT/a.json",
        "collect terminal -n 2 --agent AGENT --sampling temperature=0 --no-card --out OUT/rows.jsonl",
    ],
)
def test_a_language_model_plays_in_every_command_and_samples_as_it_is_asked_to(
    command: str, server: FaultServer, tmp_path: Path
):
    words = command.replace("AGENT", server.url).replace("OUT", str(tmp_path)).split()
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert server.bodies and {body["temperature"] for body in server.bodies} == {0.0}


def test_episodes_that_the_agents_server_failed_enter_no_rate_of_a_rollout(server: FaultServer):
    async def gone(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return web.Response(status=500)

    server.chat = gone
    words = ["rollout", "terminal", "-n", "2", "--policy", server.url, "--agent-option", "retries=0"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1 and "the agent's server failed in 2 episodes" in done.stderr
    assert re.search(r"1 +\d +- +- +-", done.stdout), "no rate, no return, no steps"


def test_a_scripted_agent_records_as_well(tmp_path: Path):
    rows = tmp_path / "rows.jsonl"
    done = CliRunner().invoke(
        app, ["collect", "terminal", "-n", "2", "--agent", "expert", "--no-card", "--out", str(rows)]
    )
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["policy"], row["success"]) for row in found] == [("expert", True)] * 2
