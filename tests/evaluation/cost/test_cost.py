"""What a run will cost agrees with what it did cost, on a server whose latencies are known."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from fault_server import FaultServer, answer
from hypothesis import given
from hypothesis import strategies as st
from loopback import servers
from typer.testing import CliRunner
from worlds import predicted

from agentworld_gym import SpecError
from agentworld_gym.base.errors import MissingFile
from agentworld_gym.cli.app import app
from agentworld_gym.core.traces import episodes_of
from agentworld_gym.evaluation.cost import GpuPrice, RunPlan, planned, rates_of, total_of
from agentworld_gym.evaluation.cost.plan import makespan
from agentworld_gym.evaluation.cost.rates import nonnegative_fit

PER_TOKEN, PER_STEP = 0.001, 0.05
THINKING = "hm " * 100


async def metered(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    """Answers in a time that follows the tokens that it writes, which vary."""
    thinks = body["chat_template_kwargs"]["enable_thinking"]
    draw = random.Random(body["seed"])
    text = predicted("word " * draw.randrange(20, 60) + "\ndev@box:~$")
    reasoning = THINKING if thinks else ""
    written = (len(text) + len(reasoning)) // 4
    read = sum(len(message["content"]) for message in body["messages"]) // 4
    await asyncio.sleep(PER_STEP + PER_TOKEN * written)
    usage = {"prompt_tokens": read, "completion_tokens": written, "prompt_tokens_details": {"cached_tokens": read // 2}}
    message = {"role": "assistant", "content": text, "reasoning": reasoning}
    return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with servers(FaultServer) as start:
        yield start(metered).url


@pytest.fixture(scope="module")
def measured(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "measured"
    done = agentworld("rollout", "terminal", "--world", url, "-n", "12", "--width", "4", "--out", str(folder))
    assert done.exit_code == 0, done.stderr
    return folder


def agentworld(*arguments: str) -> Any:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)


def test_a_calibrated_plan_agrees_with_the_run(url: str, tmp_path: Path) -> None:
    plan, runs = str(tmp_path / "plan.json"), str(tmp_path / "runs")
    common = ("terminal", "--world", url, "-n", "24", "--width", "8")
    done = agentworld("cost", "plan", *common, "--measure", "64", "--gpu-hour", "36", "--gpus", "2", "--out", plan)
    assert done.exit_code == 0, done.stderr
    assert agentworld("rollout", *common, "--out", runs).exit_code == 0
    compared = agentworld("cost", "run", runs, "--plan", plan, "--gpu-hour", "36", "--gpus", "2")
    assert compared.exit_code == 0, compared.stderr
    rows = [re.split(r"\s{2,}", line.strip()) for line in compared.stdout.splitlines()[2:]]
    ratios = {row[0]: row[-1] for row in rows}
    for name in ("steps", "steps: prompt tokens", "steps: completion tokens", "steps: of these thinking tokens"):
        assert 0.8 < float(ratios[name]) < 1.25, name
    assert 0.5 < float(ratios["time"]) < 2.0, "the machine may be busy"


@pytest.mark.parametrize("options", [("--policy", "expert"), ("--policy", "menu"), ("--steps", "2")])
def test_measuring_sends_at_most_so_many_steps(options: tuple[str, ...], url: str) -> None:
    done = agentworld("cost", "plan", "terminal", "--world", url, "--measure", "9", "--width", "4", *options)
    assert done.exit_code == 0, done.stderr
    measured = re.search(r"measured: (\d+) step", done.stderr)
    assert measured and int(measured[1]) <= 8, "one more went ahead"


def test_the_live_line_counts_the_same_steps_as_what_was_measured() -> None:
    done = agentworld("cost", "plan", "terminal", "--world", "scripted", "--measure", "20")
    *_, live = re.findall(r"measuring, at most 20 steps: .*, (\d+) steps", done.stderr)
    measured = re.search(r"measured: (\d+) steps", done.stderr)
    assert measured and live == measured[1], done.stderr


@pytest.mark.parametrize(
    ("option", "value", "wrong"),
    [
        ("--generator", "concurency=1", "concurency"),
        ("--control", "no-such-control=0.5", "no-such-control"),
        ("--judge", "nobody", "--judge: got 'nobody', expected same, none, or one of"),
        ("--scenario", "shop", "scenarios belong to mcp, not to terminal"),
    ],
)
def test_a_plan_takes_the_options_of_the_run_that_it_is_for(option: str, value: str, wrong: str, url: str) -> None:
    for command in (["cost", "plan"], ["rollout"]):
        done = agentworld(*command, "terminal", "--world", url, "-n", "1", option, value)
        assert done.exit_code != 0 and wrong in done.stderr


def test_a_plan_is_measured_under_the_controls_of_its_run(url: str, tmp_path: Path) -> None:
    strong = ("--control", "intermittent-errors=1", "--generator", "retries=1", "--judge", "none")
    plain, disturbed = (
        agentworld("cost", "plan", "terminal", "--world", url, "--measure", "3", "--no-thinking", *more)
        for more in ((), strong)
    )
    prompts = [re.search(r"steps: prompt tokens +([\d,]+)", done.stdout) for done in (plain, disturbed)]
    assert prompts[0] and prompts[1] and prompts[0][1] != prompts[1][1], "a model is told of them"


def test_the_totals_of_a_run_are_those_of_its_steps(measured: Path) -> None:
    found = total_of(measured)
    assert found.episodes == 12
    assert found.world.cached == pytest.approx(found.world.prompt / 2, rel=0.01)
    assert found.checks.prompt > 0, "probes ask the world model too"
    assert 0 < found.world.thinking < found.world.completion
    assert found.seconds is not None and found.width is not None
    assert found.waited > PER_STEP * found.steps + PER_TOKEN * found.world.completion
    assert 1 < found.width <= 4


def test_without_thinking_a_plan_costs_what_was_not_thought(measured: Path) -> None:
    rates = rates_of(measured)
    full, plain = (planned(rates, RunPlan(episodes=200, steps=5, thinking=on)) for on in (None, False))
    assert plain.world.thinking == 0
    assert plain.world.completion == full.world.completion - full.world.thinking
    assert full.seconds is not None and plain.seconds is not None and plain.seconds < full.seconds


def test_longer_episodes_read_longer_prompts(measured: Path) -> None:
    rates = rates_of(measured)
    short, long = (planned(rates, RunPlan(episodes=10, steps=steps)) for steps in (2, 20))
    assert long.world.prompt > 10 * short.world.prompt
    assert planned(rates, RunPlan(episodes=10, steps=20, cached=1.0)).world.cached == long.world.prompt


def test_thinking_that_was_never_measured_cannot_be_planned(url: str, tmp_path: Path) -> None:
    run = ("rollout", "terminal", "--world", url, "-n", "1", "--sampling", "thinking=false", "--out", str(tmp_path))
    assert agentworld(*run).exit_code == 0
    with pytest.raises(SpecError, match="measure it with thinking on"):
        planned(rates_of(tmp_path), RunPlan(episodes=1, thinking=True))
    done = agentworld("cost", "plan", "--from", str(tmp_path), "--thinking")
    assert done.exit_code == 2 and "thinking" in done.stderr


def test_tokens_that_a_server_does_not_tell_of_are_unknown(tmp_path: Path) -> None:
    async def silent(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
        return answer(predicted("\ndev@box:~$"), tells=False)

    runs, plan = str(tmp_path / "runs"), tmp_path / "plan.json"
    with servers(FaultServer) as start:
        run = agentworld("rollout", "terminal", "--world", start(silent).url, "-n", "2", "--out", runs)
    assert run.exit_code == 0 and "unknown" in run.stdout
    assert [one.world_tokens for one in episodes_of(Path(runs))] == [None, None]
    planned_ = agentworld("cost", "plan", "--from", runs, "-n", "10", "--gpu-hour", "1", "--out", str(plan))
    assert planned_.exit_code == 0 and re.search(r"steps: prompt tokens +unknown", planned_.stdout)
    found = json.loads(plan.read_bytes())
    assert set(found["world"].values()) == {None} and found["seconds"] > 0
    spent = agentworld("cost", "run", runs, "--plan", str(plan))
    assert re.search(r"checks: completion tokens +unknown +unknown +-", spent.stdout)


def test_a_dead_server_leaves_no_rates_and_says_why(tmp_path: Path) -> None:
    with servers(FaultServer) as start:
        server = start(lambda *_: broken())
        done = agentworld("cost", "plan", "terminal", "--world", server.url, "--measure", "2")
    assert done.exit_code == 1
    assert "no step was answered" in done.stderr and "401" in done.stderr


async def broken() -> web.StreamResponse:
    return web.json_response({"error": "no"}, status=401)


def test_traces_without_times_have_no_time(measured: Path, tmp_path: Path) -> None:
    for path in measured.iterdir():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lines = [json.dumps({key: value for key, value in row.items() if key != "at"}) + "\n" for row in rows]
        (tmp_path / path.name).write_text("".join(lines), encoding="utf-8")
    assert total_of(tmp_path).seconds is None
    assert agentworld("cost", "run", str(tmp_path), "--gpu-hour", "2").exit_code == 0
    with pytest.raises(MissingFile):
        total_of(tmp_path / "nothing")


def test_a_plan_that_is_not_there_is_named(measured: Path) -> None:
    done = agentworld("cost", "run", str(measured), "--plan", "missing.json")
    assert done.exit_code == 2 and "missing.json: no such file, expected a plan" in done.stderr


@pytest.mark.parametrize(
    "text", ["format: agentworld lock 1\nenv: AgentWorld/Terminal-v0\n", "steps: 5\n", "- 1\n", ""]
)
def test_a_file_that_is_no_plan_is_told_to_be_none(text: str, measured: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(text, encoding="utf-8")
    done = agentworld("cost", "run", str(measured), "--plan", str(path))
    assert done.exit_code == 2 and "the whole document: got " in done.stderr
    assert "expected a plan that `agentworld cost plan --out` kept, with the keys episodes, steps, " in done.stderr


@pytest.mark.parametrize(("later", "runs"), [(0.0, 1.0), (1000.0, 2.0)])
def test_workers_that_play_at_the_same_time_take_the_time_of_one_run(
    measured: Path, tmp_path: Path, later: float, runs: float
) -> None:
    for number in range(2):
        worker = tmp_path / f"worker-{number}"
        worker.mkdir()
        for path in measured.iterdir():
            first, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            header = json.loads(first)
            header["opened"] += number * later
            (worker / path.name).write_text("".join([json.dumps(header) + "\n", *lines]), encoding="utf-8")
    one, both = total_of(measured), total_of(tmp_path)
    assert both.episodes == 2 * one.episodes and both.world == one.world + one.world
    assert one.seconds and both.seconds == pytest.approx(runs * one.seconds, abs=0.01)
    [shown] = agentworld("trace", "view", str(tmp_path), "--out", str(tmp_path / "run.html")).stdout.splitlines()
    assert "24 episodes" in shown


def test_an_episode_that_was_under_way_when_its_run_stopped_does_not_tell_how_long_episodes_are(
    measured: Path, tmp_path: Path
) -> None:
    cut = json.loads(next(measured.glob("*.agent.jsonl")).read_text(encoding="utf-8").splitlines()[1])["episode"]
    for path in measured.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if (row := json.loads(line)).get("episode") != cut or row["turn"] < 2]
        (tmp_path / path.name).write_text("".join(kept), encoding="utf-8")
    whole, found = rates_of(measured), rates_of(tmp_path)
    assert len(found.lengths) == len(whole.lengths) - 1 and min(found.lengths) > 1
    assert total_of(tmp_path).episodes == 12


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=30), st.integers(1, 8))
def test_a_run_takes_as_long_as_its_work_and_its_longest_episode(durations: list[float], width: int) -> None:
    took = makespan(durations, width)
    assert took >= max(max(durations), sum(durations) / width) - 1e-9
    assert took <= sum(durations) / width + max(durations) + 1e-9


def test_the_price_is_that_of_all_gpus_by_time() -> None:
    assert GpuPrice(hour=3.0, gpus=4).of(600) == 2.0


def test_a_fit_finds_the_rates_of_a_server() -> None:
    rng = np.random.default_rng(0)
    columns = np.stack([np.ones(50), rng.uniform(0, 1000, 50), rng.uniform(0, 300, 50)], axis=1)
    assert np.allclose(nonnegative_fit(columns, columns @ [0.1, 0.0, 0.02]), [0.1, 0.0, 0.02], atol=1e-6)
