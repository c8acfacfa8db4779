"""An agent program that somebody else wrote plays an episode unchanged, offline: Gemini CLI, with a scripted model.

npm install -g @google/gemini-cli
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from aiohttp import web
from typer.testing import CliRunner

from agentworld_gym.cli.app import app
from agentworld_gym.core.traces import episodes_of
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.results.agent import AgentResult
from agentworld_gym.llm.generators.server.background_loop import background_loop

GEMINI = shutil.which("gemini")
SEED = 7

pytestmark = [pytest.mark.slow, pytest.mark.skipif(GEMINI is None, reason="Gemini CLI is not installed")]


class ScriptedModel:
    """A server of Gemini's protocol whose model calls some tools, one after the other, and then says that it is done.

    A tool of a server `world` has a name that ends with its own one.
    """

    def __init__(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        self.calls, self.bodies = calls, []  # type: ignore[var-annotated]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if "countTokens" in request.path:
            return web.json_response({"totalTokens": 1})
        self.bodies.append(body)
        answered = sum("functionResponse" in part for content in body["contents"] for part in content["parts"])
        part: dict[str, Any] = {"text": "Done."}
        if answered < len(self.calls):
            name, arguments = self.calls[answered]
            offered = [one["name"] for tool in body["tools"] for one in tool["functionDeclarations"]]
            part = {
                "functionCall": {"name": next(one for one in offered if one.endswith(f"_{name}")), "args": arguments}
            }
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        answer = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1}}
        if "stream" not in request.path:
            return web.json_response(answer)
        return web.Response(text=f"data: {json.dumps(answer)}\n\n", content_type="text/event-stream")


@pytest.fixture
def serve() -> Iterator[Any]:
    """What serves a model on loopback and returns its address."""
    runners: list[web.AppRunner] = []

    async def started(model: ScriptedModel) -> str:
        made = web.Application(client_max_size=2**26)
        made.router.add_post("/{path:.*}", model.answer)
        runners.append(web.AppRunner(made))
        await runners[-1].setup()
        await web.TCPSite(runners[-1], "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runners[-1].addresses[0][1]}"

    yield lambda model: background_loop().run(started(model))
    for runner in runners:
        background_loop().run(runner.cleanup())


def test_gemini_cli_wins_an_episode_and_its_trace_becomes_a_result(serve: Any, tmp_path: Path) -> None:
    runner = EnvOptions(spec="terminal", levels=(1,)).runner()
    expert = runner.source.pick(SEED, {}).expert
    runner.close()
    acts = [("act", {"action": one}) for one in expert if not one.startswith("finish")]
    answer = expert[-1].partition(":")[2].strip()
    model = ScriptedModel([("observe", {}), *acts, ("finish", {"answer": answer} if answer else {})])
    traces = tmp_path / "traces"
    command = ["-m", "agentworld_gym", "mcp", "serve", "--env", "terminal", "--level", "1", "--seed", str(SEED)]
    server = {"command": sys.executable, "args": [*command, "--traces", str(traces)], "trust": True}
    home = tmp_path / "home"
    (home / ".gemini").mkdir(parents=True)
    settings = {
        "mcpServers": {"world": server},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    environment = {
        **os.environ,
        "HOME": str(home),
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": serve(model),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    assert GEMINI is not None
    done = subprocess.run(
        [
            GEMINI,
            "--model",
            "gemini-2.5-flash",
            "--approval-mode",
            "yolo",
            "--prompt",
            "Call observe, and do the task.",
        ],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0 and "Done." in done.stdout, done.stdout + done.stderr
    (result,) = [one for one in episodes_of(traces) if one.steps]
    assert (result.seed, result.ending, result.success, result.steps) == (SEED, "finish", True, len(acts) + 1)
    out = tmp_path / "gemini.json"
    command = ["eval", "agent", "--from", str(traces), "--split", "train", "--agent", "gemini-cli", "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    found = AgentResult.read(out)
    assert found.whole.success is not None and found.whole.success.share == 1.0
