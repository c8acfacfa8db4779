"""What an agent meets in every environment: spaces, seeds, menus, hostile texts, experts, forks and recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from hostile import HOSTILE
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_sessions import recorder, session_task, sessions
from worlds import dream, grounded_world, make, predicted

from agentworld_gym.agents.policies.trial import try_task
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains import COMPOSED, DOMAINS
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.llm.rows.row import Row


def env_of(domain: str, **options: object) -> Any:
    """The bare environment of a domain."""
    return make(load_spec(domain).env_id, **options)


def test_gymnasiums_own_checker_accepts_it(domain: str) -> None:
    check_env(env_of(domain, world="scripted"))


def test_gymnasiums_own_checker_accepts_the_grounded_world(grounded: str) -> None:
    check_env(env_of(grounded, world="grounded"))


def test_a_spec_survives_json(domain: str) -> None:
    env = gym.make(load_spec(domain).env_id, world="scripted", max_steps=3)
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec is not None
    assert again.reset(seed=5) == env.reset(seed=5)
    assert again.spec.kwargs == env.spec.kwargs


def test_what_every_level_shows_lies_in_the_observation_space_and_follows_the_seed(grounded: str) -> None:
    env = env_of(grounded, world=grounded_world(grounded))
    for level in (1, 2, 3):
        shown = [env.reset(seed=seed, options={"level": level})[0] for seed in (123, 456)]
        assert env.reset(seed=123, options={"level": level})[0] == shown[0]
        shown.append(env.step(env.action_space.sample())[0])
        assert all(one in env.observation_space for one in shown)
    env.close()


@settings(max_examples=3, deadline=None)
@given(level=st.integers(1, 3), seed=st.integers(0, 2**31 - 1))
def test_equal_seeds_give_equal_tasks_and_other_seeds_others(domain: str, level: int, seed: int) -> None:
    others = (1,) if domain in (*DOMAINS, *COMPOSED) else (1, 2, 3)  # A small domain may have few states.
    for family in sorted(families(domain)):
        task = generate(domain, family, level, seed)
        assert generate(domain, family, level, seed) == task
        assert task.model_validate_json(task.model_dump_json()) == task
        assert any(generate(domain, family, level, seed + more).state != task.state for more in others)


def test_the_menu_and_samples_of_actions_can_be_carried_out(grounded: str) -> None:
    env = env_of(grounded, world=grounded_world(grounded))
    env.action_space.seed(0)
    for seed in range(3):
        env.reset(seed=seed)
        drawn = {env.action_space.sample() for _ in range(30)}
        assert drawn <= {entry for entry in env.menu if entry is not None}
        parser = env.runner.parser
        assert all(parser.parse(action, env.task.tools).error is None for action in drawn)
    env.close()


@pytest.mark.parametrize("world", ["grounded", "dreamt"])
def test_a_hostile_action_gives_an_observation_or_a_clear_error(grounded: str, world: str) -> None:
    handle = grounded_world(grounded) if world == "grounded" else dream("calm", lambda request: predicted("calm"))
    env = env_of(grounded, world=handle, max_steps=len(HOSTILE))
    env.reset(seed=1)
    task = env.task.model_copy(update={"max_steps": len(HOSTILE)})
    env.reset(seed=1, options={"task": task})
    for text in HOSTILE:
        if world == "dreamt":  # It keeps what is typed, so that each text meets a fresh episode.
            env.reset(seed=1, options={"task": task})
        observation, reward, terminated, truncated, info = env.step(text)
        assert isinstance(observation, str), text[:40]
        if terminated:
            assert text.upper().startswith(("FINISH", "DONE", "FAIL"))
            assert env.episode.actions[-1].startswith(("finish", "DONE", "FAIL"))
            assert not info["success"]
        else:
            assert reward <= 0, text[:40]
            told = observation == "calm" or info.get("action_error") == observation or "failure" in info
            assert told or world == "grounded", text[:40]
            assert "root:x:0:0" not in observation
        if terminated or truncated:
            env.reset(seed=1, options={"task": task})
    env.close()


def test_the_expert_of_each_family_succeeds_and_a_fork_in_the_middle_agrees(grounded: str) -> None:
    env = AgentWorldEnv(spec=grounded, world=grounded_world(grounded))
    for number, family in enumerate(sorted(families(grounded))):
        trial = try_task(env, {"family": family, "level": 1 + number % 3}, seed=number)
        assert trial.success and trial.departure is None, trial
    env.close()


def test_finishing_at_once_is_no_success(grounded: str) -> None:
    env = env_of(grounded, world=grounded_world(grounded))
    for family in sorted(families(grounded)):
        env.reset(seed=2, options={"family": family})
        assert env.step("finish")[4]["success"] is False, family
    env.close()


def test_a_recording_replays_exactly_forks_and_probes_included(grounded: str, tmp_path: Path) -> None:
    row = sessions(grounded)[0]

    def played(world: str) -> list[Any]:
        env = env_of(grounded, world=world, max_steps=len(row.actions) + 1)
        seen = [env.reset(seed=3, options={"task": session_task(row)})]
        for number, text in enumerate(row.actions):
            if number == 1:
                twin = env.fork()
                seen.append(twin.step(text))
                twin.close()
            seen.append(env.step(text))
        seen.append(env.step("finish"))
        env.close()
        return seen

    recorded = played(f"record:{tmp_path}/r.jsonl+{grounded_world(grounded)}")
    assert played(f"recorded:{tmp_path}/r.jsonl") == recorded


def test_sessions_are_recorded_alike_each_alone(grounded: str) -> None:
    rows = sessions(grounded)
    assert rows and recorder(grounded).row(rows[-1].number or 0) == rows[-1]
    for row in rows:
        assert row.domain == grounded and len(row.changes) == row.turn_idx
        assert Row.model_validate_json(row.model_dump_json()) == row
