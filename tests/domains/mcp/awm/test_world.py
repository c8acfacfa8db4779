"""The worlds of AWM behind `gym.make`: their tasks, rewards, failures, forks, waves and recordings."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awm_worlds
import gymnasium as gym
import pytest

import agentworld_gym  # noqa: F401
from agentworld_gym.base.errors import AgentWorldError, SpecError, WorldNotConfigured
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.domains.mcp.awm.world import AwmWorld
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.judging.rubric import RubricJudge
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.worlds import WorldOptions, open_world

BORROW = '{"name": "borrow_book", "arguments": {"book_id": 1}}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two worlds."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    return awm_worlds.write(tmp_path_factory.mktemp("awm"), awm_worlds.library(), awm_worlds.harbor())


@pytest.fixture(scope="module")
def env(folder: Path) -> Iterator[AgentWorldEnv]:
    """Return an environment of the easy world."""
    made = AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"scenario": "Corner Library"})
    yield made
    made.close()


def test_an_episode_is_played_and_its_verifier_pays(env: AgentWorldEnv) -> None:
    observation, info = env.reset(options={"task": "corner_library-0"})
    assert observation.startswith("Borrow the book Emma.\n\nConnected to server corner_library.")
    assert [tool["name"] for tool in info["tools"]] == ["list_books", "get_book", "borrow_book", "return_book"]
    observation, reward, terminated, _, _ = env.step(BORROW)
    assert json.loads(observation)["book_id"] == 1 and reward == 0.0 and not terminated
    assert env.step("finish")[1:3] == (1.0, True)


def test_the_answer_reaches_the_verifier(env: AgentWorldEnv) -> None:
    for answer, reward in (("There are 2 copies.", 1.0), ("none", 0.0)):
        env.reset(options={"task": "corner_library-1"})
        assert env.step(f"finish: {answer}")[1] == reward


def test_a_verifier_that_crashes_is_a_failure_and_never_a_reward(env: AgentWorldEnv) -> None:
    env.reset(options={"task": "corner_library-3"})
    _, reward, _, truncated, info = env.step("finish")
    assert (reward, truncated, "success" in info) == (0.0, True, False)
    assert info["failure"]["kind"] == "unjudged" and "OperationalError" in info["failure"]["message"]


def test_tasks_that_the_start_satisfies_are_dropped_and_counted(env: AgentWorldEnv) -> None:
    drawn = {env.runner.source.pick(seed, {}).id for seed in range(12)}
    assert drawn == {"corner_library-0", "corner_library-1", "corner_library-3"}
    assert env.world.tasks.dropped == {  # type: ignore[attr-defined]
        "corner_library": {
            2: "the database satisfies it at the start",
            4: "only a judge can decide it, and there is none: pass judge=",
        }
    }


def test_a_vector_run_without_a_judge_meets_no_task_that_needs_one(folder: Path) -> None:
    envs = gym.make_vec(
        "AgentWorld/MCP-v0", num_envs=8, world=f"awm:{folder}", world_options={"scenario": "corner_library"}
    )
    for _ in range(2):
        envs.reset(seed=0)
        infos = envs.step(["finish"] * 8)[4]
        assert set(infos["task_id"]) <= {f"corner_library-{number}" for number in (0, 1, 3)}
    envs.close()


def test_with_a_judge_all_tasks_are_played(folder: Path) -> None:
    made = AgentWorldEnv(
        spec="mcp", world=f"awm:{folder}", world_options={"scenario": "corner_library"}, judge="http://localhost:1/v1"
    )
    assert "corner_library-4" in {made.runner.source.pick(seed, {}).id for seed in range(8)}
    made.close()


def test_where_a_judge_shall_decide_all_one_must_be_named(folder: Path) -> None:
    expected = r"judge: got None, expected a judge: with world_options=\{'verifier': 'judge'\}"
    with pytest.raises(SpecError, match=expected):
        AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"verifier": "judge"})


def test_a_task_that_a_judge_has_to_read_says_so_without_one(env: AgentWorldEnv) -> None:
    with pytest.raises(AgentWorldError, match=r"corner_library-4 is scored by a rubric; pass judge="):
        env.reset(options={"task": "corner_library-4"})


def test_a_judge_reads_what_the_code_found(folder: Path) -> None:
    read: list[str] = []

    def verdict(request: ChatRequest) -> str:
        read.append("\n".join(message["content"] for message in request.messages))
        return judged_as("complete")

    spec = load_spec("mcp")
    world = open_world(
        f"awm:{folder}", WorldOptions(spec, world_options={"scenario": "corner_library", "verifier": "judge"})
    )
    assert isinstance(world, AwmWorld)
    judge = RubricJudge(Prompts(spec), ScriptedGenerator(verdict), spec.sampling.sampling())
    runner = EpisodeRunner(spec, world, TaskSource(spec, pool=world.tasks), judge=judge)
    [(episode, _, _)] = runner.start([0], {"task": "corner_library-0"})
    runner.advance([episode], [BORROW])
    [transition] = runner.advance([episode], ["finish"])
    assert (transition.reward, transition.info["success"]) == (1.0, True)
    assert '"loans": 1' in read[-1] and "Borrow the book Emma." in read[-1]
    runner.close()


def judged_as(classification: str) -> str:
    """Return the answer of a judge."""
    return f"<final_evaluation>{json.dumps({'reasoning': 'a', 'classification': classification})}</final_evaluation>"


@pytest.mark.parametrize(
    ("classification", "reward", "failure"),
    [
        ("complete", 1.0, None),
        ("incomplete", 0.1, None),
        ("agent_error", 0.0, None),
        ("server_error", 0.0, "engine"),
        ("perfect", 0.0, "malformed"),
    ],
)
def test_a_judge_names_a_class_of_awm_and_an_error_of_the_server_is_no_reward(
    folder: Path, classification: str, reward: float, failure: str | None
) -> None:
    spec = load_spec("mcp")
    world = open_world(
        f"awm:{folder}", WorldOptions(spec, world_options={"scenario": "corner_library", "verifier": "judge"})
    )
    judge = RubricJudge(Prompts(spec), ScriptedGenerator(lambda _: judged_as(classification)), spec.sampling.sampling())
    runner = EpisodeRunner(spec, world, TaskSource(spec, pool=world.tasks), judge=judge)  # type: ignore[attr-defined]
    [(episode, _, _)] = runner.start([0], {"task": "corner_library-0"})
    [transition] = runner.advance([episode], ["finish"])
    assert transition.reward == reward
    assert transition.info.get("failure", {}).get("kind") == failure  # type: ignore[attr-defined]
    assert ("success" in transition.info) is (failure is None)
    runner.close()


def test_an_episode_without_an_answer_has_an_empty_one_as_in_awm(tmp_path: Path) -> None:
    tables, rows = awm_worlds.LIBRARY_TABLES, awm_worlds.LIBRARY_ROWS
    counted = awm_worlds.decides('final_answer == "" and len(rows("final", "SELECT * FROM loans")) == 1')
    tasks = [("Borrow a book and say nothing.", counted)]
    awm_worlds.write(tmp_path, awm_worlds.scenario("quiet", awm_worlds.LIBRARY, tables, rows, tasks))
    made = AgentWorldEnv(spec="mcp", world=f"awm:{tmp_path}")
    made.reset(options={"task": "quiet-0"})
    made.step(BORROW)
    assert made.step("finish")[1] == 1.0
    made.close()


def test_a_verifier_is_what_it_returns_at_the_start_whatever_file_it_stands_in(tmp_path: Path) -> None:
    deciding = awm_worlds.decides('len(rows("final", "SELECT * FROM loans")) == 1')
    done = awm_worlds.decides("True")
    tasks = [("Borrow a book.", deciding), ("Do nothing.", done), ("Look around.", awm_worlds.TELLS)]
    world = awm_worlds.scenario("mixed", awm_worlds.LIBRARY, awm_worlds.LIBRARY_TABLES, awm_worlds.LIBRARY_ROWS, tasks)
    world["gen_verifier.jsonl"] = world.pop("gen_verifier.pure_code.jsonl")
    for name, files in (("judged", world), ("decided", {**world, "gen_verifier.jsonl": []})):
        if name == "decided":
            files["gen_verifier.pure_code.jsonl"] = world["gen_verifier.jsonl"]
        folder = awm_worlds.write(tmp_path / name, files)
        made = AgentWorldEnv(spec="mcp", world=f"awm:{folder}")
        made.reset(seed=0)
        assert made.task.id == "mixed-0"
        made.step(BORROW)
        assert made.step("finish")[1] == 1.0
        assert made.world.tasks.dropped["mixed"] == {  # type: ignore[attr-defined]
            1: "the database satisfies it at the start",
            2: "only a judge can decide it, and there is none: pass judge=",
        }
        made.close()


def test_what_is_no_fitting_call_gets_the_words_of_the_server(env: AgentWorldEnv) -> None:
    env.reset(options={"task": "corner_library-0"})
    for action, answer in (
        ('{"name": "get_book", "arguments": {"book_id": "x"}}', "Input validation error: 'x' is not of type 'integer'"),
        ('{"name": "buy_book", "arguments": {}}', "Unknown tool: buy_book"),
        (
            '{"name": "get_book", "arguments": {"book_id": 9}}',
            'Error calling get_book. Status code: 404. Response: {"',
        ),
    ):
        assert env.step(action)[0].startswith(answer)


def test_a_fork_goes_its_own_way(env: AgentWorldEnv) -> None:
    env.reset(options={"task": "corner_library-0"})
    twin = env.fork()
    env.step(BORROW)
    assert (env.step("finish")[1], twin.step("finish")[1]) == (1.0, 0.0)
    twin.close()


def test_many_environments_step_as_one_wave_over_all_scenarios(folder: Path) -> None:
    envs = gym.make_vec("AgentWorld/MCP-v0", num_envs=6, world=f"awm:{folder}", task=None)
    envs.reset(seed=0, options={"task": "harbor_logistics-2"})
    call = '{"name": "update_port", "arguments": {"number": 3, "berths": 103}}'
    envs.step([call] * 6)
    assert envs.step(["finish"] * 6)[1].tolist() == [1.0] * 6
    tasks = {envs.unwrapped.runner.source.pick(seed, {}).state["scenario"] for seed in range(2)}  # type: ignore[attr-defined]
    assert tasks == {"corner_library", "harbor_logistics"}
    envs.close()


def test_the_meta_tools_list_and_call(folder: Path) -> None:
    made = AgentWorldEnv(
        spec="mcp", world=f"awm:{folder}", world_options={"scenario": "corner_library", "meta_tools": True}
    )
    _, info = made.reset(options={"task": "corner_library-0"})
    assert [tool["name"] for tool in info["tools"]] == ["list_tools", "call_tool"]
    listed = made.step('{"name": "list_tools", "arguments": {}}')[0]
    assert "mcp_tool_mcp_server_borrow_book" in listed and "- book_id: integer (required): Number of the book" in listed
    arguments = {"tool_name": "mcp_tool_mcp_server_borrow_book", "arguments": '{"book_id": 1}'}
    made.step(json.dumps({"name": "call_tool", "arguments": arguments}))
    assert made.step("finish")[1] == 1.0
    made.close()


def test_databases_before_and_after_are_kept_where_that_is_asked_for(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"snapshots": str(tmp_path)}
    made = AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"scenario": "corner_library", **options})
    made.reset(options={"task": "corner_library-0"})
    made.step(BORROW)
    made.step("finish")
    made.close()
    counts = []
    for name in ("initial", "final"):
        connection = sqlite3.connect(tmp_path / "corner_library-0-1" / f"{name}.db")
        counts.append(connection.execute("SELECT count(*) FROM loans").fetchone()[0])
        connection.close()
    assert counts == [0, 1]


def test_a_recording_replays_observations_and_verdicts_without_the_sandbox(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    options = {"scenario": "corner_library"}
    made = AgentWorldEnv(spec="mcp", world=f"record:{path}+awm:{folder}", world_options=options)
    made.reset(seed=3, options={"task": "corner_library-0"})
    shown = [made.step(action)[:3] for action in (BORROW, "finish")]
    task = made.task
    made.close()
    replay = AgentWorldEnv(spec="mcp", world=f"recorded:{path}", task=task)
    replay.reset(seed=3)
    assert [replay.step(action)[:3] for action in (BORROW, "finish")] == shown
    replay.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"world_options": {"scenario": "nowhere"}}, "scenario: got 'nowhere', expected one of 2"),
        ({"world_options": {"meta": True}}, "meta"),
        ({"world_options": {"processes": 0}}, "processes: got 0, expected an integer of at least 1"),
        ({"world_options": {"loaded": 1.5}}, r"loaded: got 1\.5, expected an integer of at least 1"),
        ({"families": ["pay_bill"]}, r"families: got .*, expected its default: the world brings its tasks"),
        ({"families": ["nope"]}, r"families: got .*, expected its default: the world brings its tasks"),
        ({"levels": [2]}, r"levels: got \(2,\), expected its default: the world brings its tasks"),
        ({"split": "test"}, "split: got 'test', expected its default: the world brings its tasks"),
        ({"task": "corner_library-99"}, "got 'corner_library-99', expected the id of a task that the world brings, "),
        ({"spec": "terminal"}, r"world: got 'awm:.*', expected a world of AgentWorld/Terminal-v0"),
        ({"language": {"form": "change"}}, "form: got 'change', expected None"),
    ],
)
def test_wrong_options_are_named(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        AgentWorldEnv(**{"spec": "mcp", "world": f"awm:{folder}", **options})


def test_how_many_processes_there_may_be_is_no_part_of_what_the_world_answers(folder: Path) -> None:
    def made(**options: int) -> AgentWorldEnv:
        return AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"scenario": "Corner Library", **options})

    few, usual = made(processes=2, loaded=1, worlds=3), made()
    server = few.world.engine.server("corner_library")  # type: ignore[attr-defined]
    assert [limit.most for limit in server.limits] == [2, 1, 3]
    assert few.world.fingerprint.digest == usual.world.fingerprint.digest
    few.close(), usual.close()


def test_options_of_these_worlds_are_refused_in_another_one() -> None:
    with pytest.raises(SpecError, match=r"world_options\.meta_tools: got True, expected scenario alone: only a world"):
        AgentWorldEnv(spec="mcp", world_options={"meta_tools": True})
    with pytest.raises(SpecError, match=r"world_options\.scenarios: got 'x', .*; did you mean scenario\?"):
        AgentWorldEnv(spec="mcp", world_options={"scenarios": "x"})


def test_without_bubblewrap_the_world_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    awm_worlds.write(tmp_path, awm_worlds.library())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorldNotConfigured, match=r"bubblewrap, which is not installed: apt install bubblewrap"):
        AgentWorldEnv(spec="mcp", world=f"awm:{tmp_path}")
