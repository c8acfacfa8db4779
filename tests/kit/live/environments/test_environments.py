"""Text environments as live worlds, with a small one that lies in `tests/helpers/live_environment.py`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner
from worlds import dream, predicted

from agentworld_gym import SpecError, WorldNotConfigured
from agentworld_gym.agents.collect.config import CollectConfig, SmallModelSessions
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.agents.planning.planner import Planner
from agentworld_gym.agents.planning.search import TreeSearch
from agentworld_gym.base.errors import MissingFile
from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import ChatRequest, Completion
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import split_seed
from agentworld_gym.core.engines import InexactFork
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.cost import read_plan
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure, record
from agentworld_gym.evaluation.live_check import check_live
from agentworld_gym.kit.live.environments import ENVIRONMENT_SPEC
from agentworld_gym.kit.live.environments.engine import EnvironmentSession
from agentworld_gym.kit.live.environments.worker import file_of
from agentworld_gym.kit.live.pool import STARTS
from agentworld_gym.kit.live.process_watch import family_of
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.data.preparation import Preparation
from agentworld_gym.recipe.training.world_card import world_card
from agentworld_gym.worlds import LanguageWorld, WorldOptions, register_world

HELPERS = Path(__file__).parents[3] / "helpers"
CORRIDOR: dict[str, Any] = {"env": "python:live_environment:make", "path": [str(HELPERS)], "ahead": 0}
sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
pytestmark = sandboxed


@contextmanager
def opened(seed: int = 1, **changes: Any) -> Iterator[AgentWorldEnv]:
    """Open the corridor, and begin an episode."""
    given = {key: changes.pop(key) for key in ("language", "split", "task", "traces", "world") if key in changes}
    env = gym.make("AgentWorld/Custom-v0", live={**CORRIDOR, **changes}, reading="exact", **given)
    try:
        env.reset(seed=seed)
        core: Any = env.unwrapped
        yield core
    finally:
        env.close()


def east_of(env: AgentWorldEnv) -> str:
    """Return the way to the lamp, which the seed of the episode decides."""
    return "east" if split_seed("train", env.episode.seed) % 2 else "west"


def test_rewards_ends_and_success_are_those_of_the_environment() -> None:
    with opened() as env:
        way = east_of(env)
        for _ in range(2):
            _, reward, terminated, _, info = env.step(way)
            assert (reward, terminated) == (0.0, False)
        assert info["admissible"] == ["east", "west", "take lamp"]
        text, reward, terminated, truncated, info = env.step("take lamp")
        assert (text, reward, terminated, truncated) == ("You have the lamp.", 1.0, True, False)
        assert info["success"] is True and info["reward_parts"]["environment"] == 1.0


def test_a_lost_game_ends_without_success_and_may_cost_something() -> None:
    with opened() as env:
        _, reward, terminated, _, info = env.step("fall")
        assert (reward, terminated, info["success"]) == (-1.0, True, False)


def test_a_dream_pays_and_ends_as_the_environment_does_in_which_its_actions_are_done_too() -> None:
    dream("hall", lambda request: predicted("A hall."))
    with opened(world="hall") as env:
        assert env.episode.offers == ("east", "west"), "the environment tells them from the first screen on"
        way = east_of(env)
        assert env.step(way)[:3] == ("A hall.", 0.0, False)
        twin = env.fork()
        for played in (env, twin):
            assert played.step(way)[:3] == ("A hall.", 0.0, False)
            text, reward, terminated, _, info = played.step("take lamp")
            assert (text, reward, terminated, info["success"]) == ("A hall.", 1.0, True, True)
            assert info["reward_parts"]["environment"] == 1.0
        twin.close()
        env.reset(seed=2)
        _, reward, terminated, _, info = env.step("fall")
        assert (reward, terminated, info["success"]) == (-1.0, True, False)


def test_planning_asks_for_forks_and_is_refused_where_a_system_gives_none() -> None:
    with opened() as env:
        planner = Planner(env.runner, TreeSearch(simulations=6))
        assert planner.act([env.episode], [planner.begin(env.episode)])[0] in ("east", "west")
    with opened(forks=False) as env:
        planner = Planner(env.runner, TreeSearch(simulations=6))
        with pytest.raises(InexactFork, match="forks: false"):
            planner.act([env.episode], [planner.begin(env.episode)])


def test_a_model_that_learned_to_pay_pays_and_ends_a_dream_and_the_environment_does_no_step() -> None:
    def answer(request: ChatRequest) -> str:
        taken = "take lamp" in request.messages[-1]["content"]
        return predicted(
            "You have the lamp.\n[reward 1; over; success]" if taken else 'A hall.\n[reward 0; can "west", "take lamp"]'
        )

    register_world("payer", lambda options: options.language(ScriptedGenerator(answer), pays="success"))
    with opened(world="payer") as env:
        assert env.episode.offers == ("east", "west"), "the first screen is that of the system"
        *told, info = env.step("east")
        assert told[:3] == ["A hall.", 0.0, False]
        assert info["admissible"] == ["west", "take lamp"] and env.episode.offers == ("west", "take lamp")
        twin = env.fork()
        twin.step("take lamp")
        assert env.episode.offers == ("west", "take lamp") and twin.episode.offers is None
        twin.close()
        text, reward, terminated, _, info = env.step("take lamp")
        assert (text, reward, terminated, info["success"]) == ("You have the lamp.", 1.0, True, True)
        assert info["reward_parts"]["environment"] == 1.0
        assert env.episode.session.twin is None
        env.reset(seed=2)
        env.step("east")
        info = env.step("finish")[4]
        assert info["success"] is False


def test_a_dream_of_many_begins_with_as_few_sessions_of_the_system_as_start_at_a_time() -> None:
    register_world("payer", lambda options: options.language(ScriptedGenerator(lambda _: ""), pays="success"))
    live = {**CORRIDOR, "sessions": STARTS, "limits": {"start_seconds": 5}}
    envs = gym.make_vec("AgentWorld/Custom-v0", num_envs=3 * STARTS, world="payer", live=live)
    shown, _ = envs.reset(seed=1)
    assert len(shown) == 3 * STARTS and all("Corridor" in one for one in shown)
    envs.close()


def test_sessions_hold_what_was_paid_and_a_world_is_right_that_says_so_too(tmp_path: Path) -> None:
    file = tmp_path / "corridor.yaml"
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR}))
    sessions = tmp_path / "sessions.jsonl"
    config = SmallModelSessions(world=f"live:{file}", policies={"explore": 1.0})
    collect([load_spec(ENVIRONMENT_SPEC)], sessions, 12, 0, config, "test")
    rows = list(read_rows(sessions))
    paid = [row for row in rows if any(line not in ("", "[reward 0]") for line in row.verdicts)]
    assert paid
    assert paid[0].response[-1].endswith(f"\n{paid[0].verdicts[-1]}")
    assert "[reward" not in paid[0].observations[-1]
    card = world_card([sessions], [], Preparation())
    assert card is not None and card["pays"] == "success"
    told = {
        tuple(m["content"] for m in row.at(n).request()): row.response[n - 1]
        for row in rows
        for n in range(1, row.turn_idx + 1)
    }

    def exact(said: Callable[[str], str]) -> float:
        def answer(request: ChatRequest) -> str:
            return said(told[tuple(message["content"] for message in request.messages)])

        def world(options: WorldOptions) -> LanguageWorld:
            return options.language(ScriptedGenerator(answer), "compact", pays="success", thinking=False)

        register_world("parrot", world)
        options = EnvOptions(spec=ENVIRONMENT_SPEC, live=str(file), world="parrot")
        found, _ = measure(options, FidelityPlan(rows, free=False))
        assert found.taught is not None and found.taught.measures is not None
        return found.taught.measures.exact.share

    assert exact(lambda text: text) == 1.0
    assert exact(lambda text: text.replace("[reward 1; over; success]", "[reward 1]")) < 1.0


def test_sessions_that_an_environment_cannot_begin_are_left_out_of_a_recording(tmp_path: Path, caplog: Any) -> None:
    file, sessions = tmp_path / "corridor.yaml", tmp_path / "sessions.jsonl"
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR, "env": "python:live_environment:broken"}))
    config = SmallModelSessions(world=f"live:{file}", policies={"explore": 1.0})
    collect([load_spec(ENVIRONMENT_SPEC)], sessions, 12, 0, config, "train")
    assert len(list(read_rows(sessions))) == 12, "others are played instead"
    assert "is left out: " in caplog.text and "no such corridor" in caplog.text


def test_recorded_sessions_are_measured_by_a_command(tmp_path: Path) -> None:
    file, sessions, out = (tmp_path / name for name in ("corridor.yaml", "sessions.jsonl", "found.json"))
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR}))
    collect([load_spec(ENVIRONMENT_SPEC)], sessions, 3, 0, SmallModelSessions(world=f"live:{file}"), "test")
    asked = ["eval", "fidelity", "custom", "--world", f"live:{file}", "--data", str(sessions), "--out", str(out)]
    done = CliRunner().invoke(app, [*asked, "--plans", "0", "--nearest", "0"])
    assert done.exit_code == 0, done.output
    [found] = json.loads(out.read_text())["domains"]
    assert found["sessions"] == 3 and found["free"]["measures"]["exact"]["share"] == 1.0


def test_plans_for_a_world_that_tells_success_are_those_of_explorers(tmp_path: Path) -> None:
    file = tmp_path / "corridor.yaml"
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR}))
    world = f"live:{file}"
    rows = record(ENVIRONMENT_SPEC, 2, levels=(1,), world=world)
    found, _ = measure(EnvOptions(spec=ENVIRONMENT_SPEC, world=world), FidelityPlan(rows, plans=range(4)))
    assert found.consistency is not None and found.consistency.tasks == 4
    assert found.consistency.policy == "explore" and found.consistency.ratio in (None, 1.0)


def test_a_dream_that_tells_no_actions_has_no_plans(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "corridor.yaml"
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR, "env": "python:live_environment:Crowded"}))
    caplog.set_level("INFO")
    rows = record(ENVIRONMENT_SPEC, 8, levels=(1,), world=f"live:{file}")
    assert any(row.success is not None for row in rows), "such a system tells success, so that there could be plans"
    assert any("can " in line for row in rows for line in row.verdicts), "elsewhere it tells fewer actions"
    hall = ScriptedGenerator(lambda _: predicted("A hall.\n[reward 0]"))
    register_world("hall", lambda options: options.language(hall, pays="success"))
    options = EnvOptions(spec=ENVIRONMENT_SPEC, live=str(file), world="hall")
    found, _ = measure(options, FidelityPlan(rows, free=False, plans=range(2)))
    assert found.consistency is None and "no plans: the dream tells no actions" in caplog.text


def test_a_handle_of_a_system_needs_no_spec(tmp_path: Path) -> None:
    file = tmp_path / "corridor.yaml"
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR}))
    env = gym.make("AgentWorld/Custom-v0", world=f"live:{file}")
    assert env.reset(seed=1)[1]["instruction"]
    env.close()
    with pytest.raises(SpecError, match="expected the path of a YAML spec"):
        gym.make("AgentWorld/Custom-v0", world="grounded")


def test_a_dream_whose_environment_breaks_fails_and_pays_nothing() -> None:
    dream("hall", lambda request: predicted("A hall."))
    envs = gym.make_vec("AgentWorld/Custom-v0", num_envs=3, world="hall", live=CORRIDOR, reading="exact")
    try:
        envs.reset(seed=1)
        texts, rewards, _, truncated, infos = envs.step(["die", "fall", "east"])
        assert list(truncated) == [True, False, False] and list(rewards) == [0.0, -1.0, 0.0]
        assert infos["failure"]["kind"][0] == "connection" and texts[2] == "A hall."
    finally:
        envs.close()


def test_nothing_of_an_episode_is_left_in_the_next_one() -> None:
    with opened(seed=1) as env:
        assert env.episode.observation.endswith("Episode 1.")
        env.reset(seed=2)
        assert env.episode.observation.endswith("Episode 1.")


def test_files_of_an_episode_are_seen_by_no_other_one_and_by_no_fork() -> None:
    with opened() as env:
        early = env.fork()
        assert env.step("log a")[0] == "a" and env.step("log b")[0] == "ab"
        late = env.fork()
        assert [twin.step("log c")[0] for twin in (early, late)] == ["c", "abc"]
        assert env.step("log d")[0] == "abd" and early.step("log e")[0] == "ce"
        env.reset(seed=1)
        twin = env.fork()
        env.reset(seed=2)
        assert twin.step("log f")[0] == "f" and env.step("log g")[0] == "g"
        for copy in (early, late, twin):
            copy.close()


def test_the_splits_share_no_seed() -> None:
    seeds = {}
    for split in ("train", "test"):
        with opened(split=split) as env:
            texts = [env.reset(seed=seed)[0] for seed in range(3)]
        seeds[split] = {text.split("Corridor ")[1].split(".")[0] for text in texts}
    assert seeds["train"] == {"0", "1", "2"} and seeds["test"] == {"9", "19", "29"}


def test_a_fork_is_exact_and_goes_its_own_way() -> None:
    with opened() as env:
        env.step("write a")
        twin = env.fork()
        assert env.world.engines.usual.exact_forks is None  # type: ignore[attr-defined]  # Nothing was played again.
        assert env.step("write b")[0].endswith("Notes: a b.") and twin.step("write c")[0].endswith("Notes: a c.")
        env.reset(seed=5)
        assert twin.step("write d")[0].endswith("Notes: a c d.")
        twin.close()


def test_an_episode_is_played_again_for_a_fork_where_its_process_cannot_be_copied() -> None:
    given = {**CORRIDOR, "env": "python:live_environment:threaded"}
    with opened(**given) as env:
        env.step("write a")
        twin = env.fork()
        assert env.step("write b")[0].endswith("Notes: a b.") and twin.step("write c")[0].endswith("Notes: a c.")
        twin.close()


@pytest.mark.parametrize(
    ("action", "kind"), [("raise", "engine"), ("die", "connection"), ("infinity", "engine"), ("hang", "timeout")]
)
def test_an_environment_that_breaks_fails_alone(action: str, kind: str) -> None:
    limits = {"step_seconds": 1.0}
    live = {**CORRIDOR, "limits": limits}
    envs = gym.make_vec("AgentWorld/Custom-v0", num_envs=2, live=live, vector_kwargs=None, reading="exact")
    try:
        envs.reset(seed=1)
        texts, _, _, truncated, infos = envs.step([action, "write a"])
        assert list(truncated) == [True, False] and texts[1].endswith("Notes: a.")
        assert infos["failure"]["kind"][0] == kind
        assert envs.step(["east", "write b"])[0][1].endswith("Notes: a b.")
    finally:
        envs.close()


def test_an_environment_that_takes_too_much_memory_is_ended() -> None:
    with opened(limits={"memory_mb": 100}) as env:
        _, _, _, truncated, info = env.step("eat")
        assert truncated and "limits.memory_mb" in info["failure"]["message"]


def test_a_killed_process_is_no_loss_for_the_next_episode() -> None:
    with opened() as env:
        machine: Any = env.episode.session.machine  # type: ignore[attr-defined]
        os.kill(machine._session().pids[0], signal.SIGKILL)
        infos = (env.step("write")[4] for _ in range(1000) if not env.episode.over)
        # The sandbox ends a moment after the process around it.
        assert next(info["failure"]["kind"] for info in infos if "failure" in info) == "connection"
        assert env.reset(seed=3)[0] and env.step("east")[1] == 0.0


def test_what_it_prints_is_none_of_its_answers_and_host_files_are_hidden(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    with opened() as env:
        assert env.step("print")[0].startswith("Place 0")
        assert env.step(f"read {secret}")[0] == "no" and env.step("read /usr/bin/env")[0] == "yes"


def test_no_process_is_left(tmp_path: Path) -> None:
    with opened() as env:
        machine: Any = env.episode.session.machine  # type: ignore[attr-defined]
        (pid,) = machine._session().pids
        twin = env.fork()
        twin.step("east")
        twin.close()
    until = time.monotonic() + 5
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < until:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{pid}")


def test_the_end_of_an_environment_is_no_failed_reset(caplog: pytest.LogCaptureFixture) -> None:
    with opened() as env:
        env.step("east")
    assert caplog.text == ""


def test_what_a_trusted_environment_writes_to_temporary_files_is_gone_with_it() -> None:
    with opened(trusted=True) as env:
        place = Path(env.step("keep")[0])
        assert place.is_dir()
    assert not place.exists()


def test_menus_hold_the_actions_that_can_be_done() -> None:
    live = {**CORRIDOR, "menu": ["west", "east"]}
    env = gym.make("AgentWorld/CustomMenu-v0", live=live)
    _, info = env.reset(seed=1)
    core: Any = env.unwrapped
    way = ["west", "east"].index(east_of(core))
    assert info["action_mask"].tolist()[:3] == [1, 1, 0]
    env.step(way)
    _, _, _, _, info = env.step(way)
    assert info["action_mask"].tolist()[:3] == [1, 1, 1]
    _, reward, terminated, _, info = env.step(2)
    assert (reward, terminated, info["is_success"]) == (1.0, True, True)
    env.close()


def test_a_vector_of_menus_is_reset_where_its_members_end() -> None:
    envs = gym.make_vec("AgentWorld/CustomMenu-v0", num_envs=2, live={**CORRIDOR, "menu": ["east", "west"]})
    _, infos = envs.reset(seed=1)
    rewards = 0.0
    for _ in range(40):
        choices = [int(np.flatnonzero(row)[-1]) for row in infos["action_mask"]]
        _, paid, _, _, infos = envs.step(np.array(choices))
        rewards += float(paid.sum())
    envs.close()
    assert rewards > 0


def test_traces_and_recordings_hold_what_the_environment_said(tmp_path: Path) -> None:
    file, folder = tmp_path / "r.jsonl", tmp_path / "traces"
    actions = ["east", "write a", "fall"]
    with opened(world=f"record:{file}+live", traces=str(folder)) as env:
        played = [env.step(action)[:4] for action in actions]
        task = env.task.model_dump(mode="json")
    with opened() as env:
        (differences,) = replay(folder, env.runner)
        assert differences.agreed
    with opened(world=f"recorded:{file}", task=task) as env:
        assert env.reset(seed=1)[1]["admissible"] == ["east", "west"]
        assert [env.step(action)[:4] for action in actions] == played


def test_tasks_name_seeds_and_options_and_test_what_they_want() -> None:
    task = {
        "id": "greet",
        "instruction": "Write hello.",
        "state": {"seed": 3, "options": {"greeting": "Good day."}},
        "success": [{"observation": {"contains": "hello"}, "when": "step"}],
    }
    with opened(tasks=[task]) as env:
        assert env.episode.observation == "Write hello.\n\nGood day."
        _, reward, terminated, _, info = env.step("write hello")
        assert (reward, terminated, info["success"]) == (1.0, True, True)


def test_the_seed_of_a_task_decides_which_file_is_played_and_each_split_has_its_own() -> None:
    asked: list[Any] = []
    task = {
        "id": "third",
        "instruction": "Look.",
        "state": {"seed": 3},
        "success": [{"observation": {"contains": "x"}}],
    }
    shown = EnvironmentSession._shown

    def noted(self: EnvironmentSession, request: Mapping[str, Any], seconds: float) -> str:
        asked.append(request)
        return shown(self, request, seconds)

    with pytest.MonkeyPatch.context() as patch, opened(tasks=[task]) as env:
        patch.setattr(EnvironmentSession, "_shown", noted)
        for seed in (1, 7):
            env.reset(seed=seed)
    assert [(request["seed"], request["index"]) for request in asked] == [(3, 3), (3, 3)]
    files = [f"{number}.z8" for number in range(4)]
    played = {split: {file_of(files, index, split) for index in range(9)} for split in ("train", "validation", "test")}
    assert played == {"train": {"0.z8", "1.z8"}, "validation": {"2.z8"}, "test": {"3.z8"}}


def test_options_that_an_environment_does_not_take_are_refused() -> None:
    task = {
        "id": "o",
        "instruction": "Look.",
        "state": {"options": {"hue": 1}},
        "success": [{"answer": {"equals": "x"}}],
    }
    env = gym.make("AgentWorld/Custom-v0", live={**CORRIDOR, "env": "python:live_environment:plain", "tasks": [task]})
    with pytest.raises(SpecError, match=r"options\.hue: got 1, expected none"):
        env.reset(seed=0)
    env.close()


def test_the_fingerprint_of_an_environment_holds_the_digest_of_its_code(tmp_path: Path) -> None:
    told = []
    for text in ("LENGTH = 2", "LENGTH = 3"):
        (tmp_path / "lengths.py").write_text(text)
        make = "from live_environment import Corridor\nimport lengths\ndef make():\n    return Corridor(lengths.LENGTH)"
        (tmp_path / "halls.py").write_text(make)
        with opened(env="python:halls:make", path=[str(tmp_path), str(HELPERS)]) as env:
            told.append(env.world.fingerprint)
    assert told[0] != told[1] and "live code" in str(told[0])


def test_an_environment_of_gymnasium_is_played_by_the_names_of_its_actions() -> None:
    names = ["left", "down", "right", "up"]
    live = {"env": "FrozenLake-v1", "settings": {"is_slippery": False}, "actions": names}
    env = gym.make("AgentWorld/Custom-v0", live=live)
    assert env.reset(seed=1)[1]["admissible"] == names
    assert [env.step(action)[0] for action in ("down", "right")] == ["4", "5"]
    env.close()


def test_an_explorer_of_admissible_commands_records_sessions_without_tasks(tmp_path: Path) -> None:
    config = tmp_path / "corridor.yaml"
    config.write_text(json.dumps({**CORRIDOR, "domain": "custom"}), encoding="utf-8")
    recorder = Recorder([load_spec(ENVIRONMENT_SPEC)], CollectConfig(world=f"live:{config}"), 0, "test")
    try:
        rows = [row for row in recorder.rows(range(3)) if row is not None]
    finally:
        recorder.close()
    assert len({row.first_observation for row in rows}) == 3
    assert all(" " in row.first_observation and int(row.first_observation.split()[1][:-1]) % 10 == 9 for row in rows)
    assert {action for row in rows for action in row.actions} <= {"east", "west", "take lamp"}
    assert {row.success for row in rows if row.actions[-1] == "take lamp"} <= {True}


def ended(pid: int) -> None:
    """Kill a process, and wait until those below it have gone too, so that none of them answers any more."""
    family = [one for one in family_of(pid) if one != pid]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{one}").exists() for one in family) and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_session_whose_process_is_killed_is_recorded_as_if_nothing_had_happened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config, rows = tmp_path / "corridor.yaml", []
    config.write_text(json.dumps({**CORRIDOR, "domain": "custom"}), encoding="utf-8")
    for kills in (0, 2):
        recorder = Recorder([load_spec(ENVIRONMENT_SPEC)], CollectConfig(world=f"live:{config}"), 0)
        domain: Any = recorder._domains[0]
        started = domain._runner.world.begin

        def begin(*asked: Any, started: Any = started, left: list[int] = [0] * kills) -> Any:
            (session,) = started(*asked)
            if left:
                left.pop()
                ended(session.machine.pids[0])
            return [session]

        domain._runner.world.begin = begin
        rows.append(recorder.row(0))
        recorder.close()
    assert rows[0] == rows[1] is not None
    assert caplog.text.count("it is played again") == 2


def test_sessions_of_a_split_repeat_and_a_dream_of_them_begins_as_they_did(tmp_path: Path) -> None:
    file = tmp_path / "corridor.yaml"
    file.write_text(yaml.safe_dump({"domain": "custom", **CORRIDOR}))
    config = CollectConfig(world=f"live:{file}", policies={"explore": 1.0})
    with closing(Recorder([load_spec(ENVIRONMENT_SPEC)], config, 0, "test")) as recorder:
        rows = [row for row in map(recorder.row, range(4)) if row is not None]
    assert len({row.first_observation for row in rows}) > 1
    options = EnvOptions(spec=ENVIRONMENT_SPEC, world=f"live:{file}")
    found, _ = measure(options, FidelityPlan(rows))
    assert found.stale == 0
    assert found.free is not None and found.free.measures is not None and found.free.measures.exact.share == 1.0
    dream("calm", lambda request: predicted("calm"))
    with opened(seed=7) as env, opened(seed=7, world="calm") as dreamed:
        assert dreamed.episode.observation == env.episode.observation
        assert dreamed.step("write a")[0] == "calm"


def test_a_step_that_a_guard_grounds_is_done_once_in_an_environment_that_pays() -> None:
    dream("unsure", lambda request: Completion(predicted("who knows"), logprob=-5.0))
    guard = {"guard": {"least": 0.9, "remedy": "ground"}}
    with opened(world="unsure", language=guard) as env:
        assert env.step("write a")[0].endswith("Notes: a.")
        way = east_of(env)
        env.step(way), env.step(way)
        text, reward, terminated, _, info = env.step("take lamp")
        assert (text, reward, terminated) == ("You have the lamp.", 1.0, True)
        assert info["source"] == "grounded"


def test_a_check_tells_what_the_explorer_met() -> None:
    options = EnvOptions(spec=ENVIRONMENT_SPEC, live=CORRIDOR)
    met = check_live(options, 2).coverage
    assert set(met.actions) <= {"east", "west", "take"} and met.screens > 1 and set(met.kinds) == {"text"}
    assert met.tools == 0 and not met.unmet and not met.pages


def test_an_environment_that_tells_no_commands_is_explored_by_its_menu(tmp_path: Path) -> None:
    (tmp_path / "cave.py").write_text(
        "class Cave:\n"
        "    def reset(self, seed=None, options=None):\n        self.place = 0\n        return 'You are at 0.'\n"
        "    def step(self, action):\n        self.place += action == 'go'\n        return f'Now at {self.place}.'\n"
    )
    live = {"env": "python:cave:Cave", "path": [str(tmp_path)], "menu": ["go", "wait"], "ahead": 0}
    config = tmp_path / "cave.yaml"
    config.write_text(json.dumps({**live, "domain": "custom"}), encoding="utf-8")
    report = check_live(EnvOptions(spec=ENVIRONMENT_SPEC, live=live), 2)
    assert set(report.coverage.actions) == {"go", "wait"} and report.actions >= 16
    assert report.system == "python:cave:Cave"
    assert (
        collect([load_spec(ENVIRONMENT_SPEC)], tmp_path / "rows.jsonl", 3, 0, CollectConfig(world=f"live:{config}"))
        == 3
    )
    config.write_text(json.dumps({**live, "menu": [], "domain": "custom"}), encoding="utf-8")
    with pytest.raises(SpecError, match=r"menu: got .*, expected the actions to try"):
        collect([load_spec(ENVIRONMENT_SPEC)], tmp_path / "none.jsonl", 3, 0, CollectConfig(world=f"live:{config}"))


def test_free_play_is_planned_with_an_explorer(tmp_path: Path) -> None:
    config = tmp_path / "corridor.yaml"
    config.write_text(json.dumps({**CORRIDOR, "domain": "custom"}), encoding="utf-8")
    command = ["cost", "plan", "custom", "--world", f"live:{config}", "--measure", "12", "-n", "10000000"]
    told = tmp_path / "plan.json"
    more = ["--hours", "1", "--node-hour", "0.5", "--rows", "2", "--width", "2", "--out", str(told)]
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*command, *more])
    assert done.exit_code == 0, done.output
    plan = read_plan(told)
    assert plan.episodes == 10_000_000 and plan.nodes > 1 and plan.seconds is not None
    assert plan.seconds <= 3600 < plan.seconds * plan.nodes
    assert plan.row_bytes and plan.trace_bytes and f"price of {plan.nodes} nodes" in done.stdout


def test_errors_name_the_key_and_what_was_expected() -> None:
    with pytest.raises(WorldNotConfigured, match="no_such_module"):
        gym.make("AgentWorld/Custom-v0", live={"env": "python:no_such_module:make"})
    with pytest.raises(WorldNotConfigured, match="actions: 5 names; the environment has 4 actions"):
        gym.make("AgentWorld/Custom-v0", live={"env": "FrozenLake-v1", "actions": [*"abcde"]})
    with pytest.raises(WorldNotConfigured, match=r"expected an environment, got .* without reset and step"):
        gym.make("AgentWorld/Custom-v0", live={"env": "python:collections:OrderedDict"})
    with pytest.raises(MissingFile, match=r"path: .*nowhere: no such folder"):
        gym.make("AgentWorld/Custom-v0", live={**CORRIDOR, "path": "nowhere"})
    with pytest.raises(SpecError, match=r"env: got 'textworld:no/\*\.z8', expected files of games; /.* has none"):
        gym.make("AgentWorld/Custom-v0", live={"env": "textworld:no/*.z8"})
    with pytest.raises(SpecError, match="sitings"):
        gym.make("AgentWorld/Custom-v0", live={**CORRIDOR, "sitings": {}})
    with pytest.raises(SpecError, match="env: got 'textworld:tw-simple', expected variables by name"):
        gym.make("AgentWorld/Custom-v0", live={"env": "textworld:tw-simple", "environment": "FrozenLake-v1"})
    with pytest.raises(SpecError, match="domain: got 'mcp', expected custom"):
        gym.make("AgentWorld/Custom-v0", live={**CORRIDOR, "domain": "mcp"})
    with pytest.raises(SpecError, match="path of a YAML spec"):
        gym.make("AgentWorld/Custom-v0")
