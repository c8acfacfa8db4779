"""Rollouts on a cluster of several nodes: what a lost node and a dead replica cost, and what stays as it is without."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from fault_server import FaultServer, Handler, answer
from loopback import servers
from processes import background, lives, wait_until
from typer.testing import CliRunner
from worlds import predicted

pytest.importorskip("ray")

import ray
from ray.cluster_utils import Cluster

from agentworld_gym.agents.policies.playing import FunctionPolicy, Played, play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.documents.json_lines import read_jsonl
from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.cost import total_of
from agentworld_gym.evaluation.results.agent import AgentResult
from agentworld_gym.evaluation.results.fidelity import FidelityResult
from agentworld_gym.integrations.ray import MOST_LOSSES, play_on_ray
from agentworld_gym.llm.rows.parquet import read_parquet
from agentworld_gym.llm.rows.row_reading import read_rows

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

EXPERT = partial(open_policy, "expert", load_spec("terminal"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A node for the driver without a CPU for others, and three with one CPU each."""
    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    for _ in range(3):
        cluster.add_node(num_cpus=1, object_store_memory=small["object_store_memory"])
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], FaultServer]]:
    with servers(FaultServer) as start:
        yield start


async def slow_shell(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    """A world model that is deterministic and takes its time."""
    await asyncio.sleep(0.3)
    return answer(predicted(f"{body['seed']}\nuser@host:~$ "))


def without_ray(options: EnvOptions, seeds: range) -> list[Played]:
    runner = options.runner()
    try:
        return in_order(play(runner, EXPERT(), seeds))
    finally:
        runner.close()


def in_order(played: Iterator[Played]) -> list[Played]:
    """The episodes in the order of their seeds; which worker played them does not count."""
    return sorted((replace(one, id="") for one in played), key=lambda one: one.place)


def test_episodes_are_those_that_are_played_without_ray(cluster):
    options = EnvOptions(spec="terminal", levels=[1, 2])
    assert in_order(play_on_ray(options, EXPERT, range(3, 27), wave=2)) == without_ray(options, range(3, 27))


def test_a_node_that_is_killed_loses_no_finished_episode_and_others_play_the_rest(cluster, serve, caplog):
    options = EnvOptions(spec="terminal", world=serve(slow_shell).url, max_steps=6)
    played: list[Played] = []
    with closing(play_on_ray(options, EXPERT, range(24), wave=2)) as playing, caplog.at_level(logging.WARNING):
        while len({worker_of(one) for one in played}) < 3:
            played.append(next(playing))
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        played += playing
    cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    assert re.search(r"worker-\d is lost with [1-9]\d* episodes under way", caplog.text)
    assert sorted(one.place for one in played) == list(range(24)), "each is handed out once"
    assert not any(one.failure for one in played)
    assert in_order(iter(played)) == without_ray(options, range(24))


def worker_of(played: Played) -> str:
    return played.id.split("/")[0]


def test_the_episodes_of_a_dead_replica_move_to_another_and_none_fails(cluster, serve):
    one, other = serve(slow_shell), serve(slow_shell)
    options = EnvOptions(
        spec="terminal", world=f"{one.url},{other.url}", language={"generator": {"backoff_s": 0.01}}, max_steps=6
    )
    with closing(play_on_ray(options, EXPERT, range(12), wave=2)) as playing:
        played = [next(playing)]
        assert one.bodies and other.bodies
        one.stop()
        played += playing
    assert not any(episode.failure for episode in played)
    alone = options.changed(world=other.url)
    assert in_order(iter(played)) == without_ray(alone, range(12))


@pytest.mark.parametrize(("name", "value"), [("workers", 0), ("workers", -1), ("wave", 0)])
def test_numbers_that_leave_nobody_to_play_are_refused(name, value):
    with pytest.raises(SpecError, match=f"{name}.*{value}.*at least 1"):
        next(play_on_ray(EnvOptions(spec="terminal"), EXPERT, range(1), **{name: value}))


def test_a_worker_that_cannot_play_says_why_and_an_episode_that_kills_its_workers_is_named(cluster):
    def deadly() -> FunctionPolicy:
        return FunctionPolicy("deadly", lambda episode: os._exit(1))

    class Unreadable:
        def __reduce__(self) -> Any:
            return os._exit, (1,)

    with pytest.raises(SpecError, match="no_such_family"):
        list(play_on_ray(EnvOptions(spec="terminal", families=["no_such_family"]), EXPERT, range(2)))
    with pytest.raises(AgentWorldError, match=f"place 0 was under way .* {MOST_LOSSES} workers"):
        list(play_on_ray(EnvOptions(spec="terminal"), deadly, range(1), workers=1))
    with pytest.raises(AgentWorldError, match="in a row were lost before they played"):
        list(play_on_ray(EnvOptions(spec="terminal"), partial(deadly, Unreadable()), range(1), workers=1))


def test_workers_write_traces_of_their_own_which_are_read_as_one_run(cluster, tmp_path):
    played = list(play_on_ray(EnvOptions(spec="terminal", traces=str(tmp_path)), EXPERT, range(6), wave=1))
    for one in played:
        worker, name = one.id.split("/")
        assert f'"{name}"' in next((tmp_path / worker).glob("*.agent.jsonl")).read_text()
    assert total_of(tmp_path).episodes == 6


def test_ctrl_c_keeps_what_was_finished_and_leaves_no_worker_on_the_cluster(cluster, tmp_path):
    command = ["rollout", "terminal", "--policy", "menu", "-n", "100000", "--ray", "--width", "2"]
    program = [sys.executable, "-m", "agentworld_gym", *command, "--out", str(tmp_path)]
    over = re.compile('"(terminated|truncated)": ?true')
    process = background(program, {"RAY_ADDRESS": cluster.address})
    try:
        wait_until(
            lambda: sum(len(over.findall(log.read_text())) for log in tmp_path.glob("*/*.agent.jsonl")) >= 8, 120
        )
        os.killpg(process.pid, signal.SIGINT)
        table, said = process.communicate(timeout=60)
    finally:
        if lives(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130 and said.endswith("Stopped.\n") and "Traceback" not in said
    finished = int(re.search(r"^all +(\d+) ", table, re.MULTILINE)[1])
    seed, episodes = map(int, re.search(r"To go on: --seed (\d+) --episodes (\d+)", said).groups())
    assert 0 < seed <= finished <= total_of(tmp_path).episodes and seed + episodes == 100_000
    wait_until(lambda: ray.available_resources().get("CPU") == ray.cluster_resources()["CPU"])


def test_the_command_prints_the_same_table_with_ray_and_without(cluster):
    runner = CliRunner()
    arguments = ["rollout", "terminal", "-n", "8", "--policy", "menu"]
    plain, on_ray = (runner.invoke(app, [*arguments, *more]) for more in ([], ["--ray", "--workers", "2"]))
    assert on_ray.exit_code == 0 and on_ray.stdout == plain.stdout and "8" in plain.stdout
    alone = runner.invoke(app, [*arguments, "--workers", "2"])
    assert alone.exit_code == 2 and "--ray beside it" in alone.stderr


class TestALostNode:
    """A node that is killed while a command plays on the cluster costs time, and no episode."""

    @pytest.fixture
    def through_a_loss(self, cluster: Cluster) -> Iterator[Callable[..., str]]:
        """What runs a command, kills a node once something has begun, and returns what the command printed."""

        def ran(command: list[str], begun: Callable[[], bool]) -> str:
            program = [sys.executable, "-m", "agentworld_gym", *command, "--ray"]
            process = background(program, {"RAY_ADDRESS": cluster.address})
            try:
                wait_until(begun, 120)
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
                shown, said = process.communicate(timeout=120)
            finally:
                if lives(process.pid):
                    os.killpg(process.pid, signal.SIGKILL)
            assert process.returncode == 0 and re.search(r"is lost with [1-9]\d* episodes under way", said), said
            return shown

        yield ran
        cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)

    def test_leaves_the_records_of_eval_agent_whole(self, through_a_loss, serve, tmp_path):
        out = tmp_path / "mine.json"
        records = out.with_suffix(".episodes.jsonl")
        command = ["eval", "agent", "--agent", "expert", "--world", serve(slow_shell).url, "--domains", "terminal"]
        command += ["--tasks", "18", "--level", "1", "--seed", "7", "--width", "2", "--out"]
        through_a_loss([*command, str(out)], lambda: records.exists() and len(played_in(records)) >= 3)
        played = played_in(records)
        assert len(played) == 18 == len({line["seed"] for line in played}), "each is played and kept once"
        alone = CliRunner().invoke(app, [*command, str(tmp_path / "alone.json")])
        assert alone.exit_code == 0, alone.output
        assert AgentResult.read(out).episodes == AgentResult.read(tmp_path / "alone.json").episodes

    def test_leaves_the_table_of_a_rollout_whole(self, through_a_loss, serve):
        server = serve(slow_shell)
        command = ["rollout", "terminal", "--world", server.url, "-n", "18", "--width", "2"]
        shown = through_a_loss(command, lambda: len(server.bodies) >= 30)
        # In a process that Ray has no line to, as it writes of the dead node wherever it has one.
        program = [sys.executable, "-m", "agentworld_gym", *command]
        table = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120).stdout.split()
        assert "18" in table and shown.split()[-len(table) :] == table

    def test_leaves_a_recording_whole(self, through_a_loss, tmp_path):
        there, here = tmp_path / "there", tmp_path / "here"
        command = ["collect", "terminal", "-n", "60", "--no-card", "--out"]
        begun = there / "train.jsonl"
        through_a_loss(
            [*command, str(there), "--shard", "25"], lambda: begun.exists() and begun.read_bytes().count(b"\n") >= 8
        )
        alone = CliRunner().invoke(app, [*command, str(here)])
        assert alone.exit_code == 0, alone.output
        assert begun.read_bytes() == (here / "train.jsonl").read_bytes(), "each session is there once"
        shards = sorted(there.glob("train-*.parquet"))
        assert [row for shard in shards for row in read_parquet(shard)] == list(read_rows(begun))

    def test_leaves_the_figures_of_eval_fidelity_whole(self, through_a_loss, serve, tmp_path):
        server = serve(slow_shell)
        command = ["eval", "fidelity", "terminal", "--world", server.url, "--tasks", "9", "--plans", "3"]
        command += ["--nearest", "0", "--width", "2", "--out"]
        through_a_loss([*command, str(tmp_path / "there.json")], lambda: len(server.bodies) >= 20)
        alone = CliRunner().invoke(app, [*command, str(tmp_path / "here.json")])
        assert alone.exit_code == 0, alone.output
        there, here = (FidelityResult.read(tmp_path / f"{name}.json").domains for name in ("there", "here"))
        assert there == here


def played_in(records: Path) -> list[dict[str, Any]]:
    """The episodes of an evaluation."""
    return [line for line in read_jsonl(records) if "task" in line]


def test_eval_agent_finds_the_same_with_ray_and_without(cluster, tmp_path):
    found = []
    for name, more in (("here", []), ("there", ["--ray", "--workers", "2"])):
        command = ["eval", "agent", "--agent", "menu", "--domains", "terminal", "--tasks", "4", "--seed", "7", *more]
        done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / f"{name}.json")])
        assert done.exit_code == 0, done.output
        found.append(AgentResult.read(tmp_path / f"{name}.json").episodes)
    assert len(found[0]) == 4 and found[0] == found[1]
