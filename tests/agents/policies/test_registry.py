"""Agents by handle: one registry, the same in every command."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fault_server import FaultServer, answer
from loopback import servers
from typer.testing import CliRunner

from agentworld_gym.agents.planning.planner import Planner, PolicyProposer
from agentworld_gym.agents.planning.search import BestOfN
from agentworld_gym.agents.policies.language_agent import LanguageAgent
from agentworld_gym.agents.policies.playing import play
from agentworld_gym.agents.policies.registry import HANDLES, open_policy
from agentworld_gym.agents.policies.users_policy import PolicyError
from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.envs.options import EnvOptions

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
        ("missing.zip", "no such file, expected a MaskablePPO"),
        ("python:no_such_module:make", "No module named 'no_such_module'"),
        ("python:json:make", "has no attribute 'make'"),
        ("python:json", "python:MODULE:FACTORY"),
        ("python:time:time", "takes no arguments"),
    ],
)
def test_a_handle_that_names_no_agent_is_refused_with_what_was_expected(handle: str, said: str):
    with pytest.raises(SpecError) as refused:
        open_policy(handle, TERMINAL)
    assert handle in str(refused.value) and said in str(refused.value)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise LookupError('no server')", r"raised LookupError: no server \(.*faulty.py, line 3\)"),
        ("return None", "returned None"),
        ("return ['ls']", r"returned \['ls'\]"),
    ],
)
def test_an_error_of_a_users_function_names_it_and_what_was_expected(
    code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "faulty.py").write_text(f"def make(spec):\n    def act(episode):\n        {code}\n    return act\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "faulty", raising=False)
    runner = EnvOptions(spec="terminal", world="scripted").runner()
    with pytest.raises(PolicyError, match=rf"python:faulty:make: {said}, expected an action as a text") as raised:
        list(play(runner, open_policy("python:faulty:make", TERMINAL), range(2)))
    assert isinstance(raised.value.__cause__, LookupError) == ("raise" in code)
    runner.close()


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
    known = r"one of .*deadline_s, .*overflow, .*temperature, .*; did you mean temperature\?"
    with pytest.raises(SpecError, match=f"^command line: agent's option temperatur: got 1, expected {known}"):
        open_policy("http://localhost:1/v1", TERMINAL, options={"temperatur": 1})
    with pytest.raises(SpecError, match="expert is no language model"):
        open_policy("expert", TERMINAL, options={"temperature": 1})


@pytest.mark.parametrize(
    "command",
    [
        "rollout terminal -n 2 --policy AGENT --agent-option temperature=0",
        "eval transfer mcp --world grounded --tasks 2 --policy AGENT --agent-option temperature=0 --out OUT/t.json",
        "eval agent --domains terminal --tasks 2 --agent AGENT --sampling temperature=0 --out OUT/a.json",
        "collect terminal -n 2 --agent AGENT --sampling temperature=0 --no-card --out OUT/rows.jsonl",
        "play terminal --watch AGENT --agent-option temperature=0",
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


@pytest.fixture
def handles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An agent of each kind that needs no server."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO

    from agentworld_gym.integrations.sb3 import make_sb3_env

    (tmp_path / "own_agent.py").write_text("def make(spec):\n    return lambda episode: 'finish'\n")
    monkeypatch.chdir(tmp_path)
    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=1, seed=0)
    MaskablePPO("MlpPolicy", env, n_steps=2, batch_size=2, seed=0, device="cpu").save(tmp_path / "agent.zip")
    env.close()
    scripted = {name: name for name in ("expert", "mixed", "menu", "explore", "nothing")}
    return {**scripted, "zip": "agent.zip", "python": "python:own_agent:make"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_agent_plays_where_agents_play(handles: dict[str, str], tmp_path: Path):
    from agentworld_gym.integrations.pettingzoo import AgentWorldDirectorEnv

    runner = EnvOptions(spec="terminal", world="grounded", max_steps=3).runner()
    director = AgentWorldDirectorEnv("regretted-shell", max_steps=3)
    for kind, handle in handles.items():
        words = ["-n", "1", "--agent", handle, "--no-card", "--out", str(tmp_path / f"{kind}.jsonl")]
        recorded = CliRunner().invoke(app, ["collect", "terminal", *words])
        assert recorded.exit_code == 0, recorded.output
        watched = CliRunner().invoke(app, ["play", "terminal", "--watch", handle])
        assert watched.exit_code == 0 and re.search(r"\d steps?, return", watched.output), watched.output
        assert "» " in watched.output

        policy = open_policy(handle, runner.spec)
        [planned] = play(runner, Planner(runner, BestOfN(n=2, depth=2), proposer=PolicyProposer(policy, draws=2)), [0])
        assert planned.actions

        director.reset(seed=0)
        director.step("{}")
        solver, kept = director.agent_selection, policy.begin(director.episode)
        while not (director.terminations[solver] or director.truncations[solver]):
            director.step(policy.act([director.episode], [kept])[0])
    runner.close()
    director.close()


def test_a_script_goes_on_in_an_episode_that_has_a_past():
    runner = EnvOptions(spec="terminal", world="grounded").runner()
    ((episode, _, _),) = runner.start([0], {})
    expert = open_policy("expert", TERMINAL)
    runner.advance([episode], [episode.task.expert[0]])
    assert expert.act([episode], [expert.begin(episode)]) == [episode.task.expert[1]]
    episode.session.close()
    runner.close()


def test_a_saved_agent_draws_by_the_number_of_the_draw_and_the_episode_alone(handles: dict[str, str]):
    runner = EnvOptions(spec="terminal", world="grounded", max_steps=6).runner()

    def drawn(draw: int, wave: int = 8) -> list[tuple[str, ...]]:
        agent = open_policy("agent.zip", TERMINAL, draw, {"deterministic": False})
        return [one.actions for one in sorted(play(runner, agent, range(4), wave=wave), key=lambda one: one.place)]

    assert drawn(0) == drawn(0, wave=1) != drawn(1)
    best = [open_policy("agent.zip", TERMINAL, draw) for draw in range(2)]
    one, other = ([played.actions for played in play(runner, agent, [0])] for agent in best)
    assert one == other, "the best choice is the same in every draw"
    runner.close()
    with pytest.raises(SpecError, match="expected deterministic, the option of a MaskablePPO"):
        open_policy("agent.zip", TERMINAL, options={"temperature": 1})
