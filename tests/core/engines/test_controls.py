"""Controls: when they strike, what they do to each grounded world, and that success is tested without them."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import grounded_world

from agentworld_gym.agents.policies.following import play
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.core.tasks.control_cases import ControlCase, control_cases
from agentworld_gym.domains import COMPOSED
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

CASES = [
    pytest.param(domain, case, id=f"{domain}-{case.control}-{case.family}")
    for domain in engine_names()
    for case in control_cases(domain)
]
FAULTY = [domain for domain in engine_names() if domain not in COMPOSED]
"""The domains that have controls; those that are composed of others have none."""

SEEDS, MOST_SEEDS = 3, 8
"""How many seeds a control is tried with, and how many at most until it has struck."""


@pytest.fixture(scope="module")
def runners() -> Iterator[dict[str, EpisodeRunner]]:
    """A runner of test tasks for each domain."""
    made = {
        domain: EnvOptions(spec=domain, world=grounded_world(domain), split="test", max_steps=60).runner()
        for domain in engine_names()
    }
    yield made
    for runner in made.values():
        runner.close()


@given(st.integers(), st.floats(0, 1), st.text(max_size=20))
def test_a_draw_is_a_function_of_seed_control_and_key(seed: int, strength: float, key: str) -> None:
    once, again = (Controls({"stale-data": strength}, seed) for _ in range(2))
    assert once.strikes("stale-data", key) == again.strikes("stale-data", key)
    assert 0 <= once.draw("stale-data", key) < 1
    assert not once.strikes("pagination", key)


@pytest.mark.parametrize("strength", [0.0, 0.2, 0.7, 1.0])
def test_the_strength_is_the_share_of_occasions(strength: float) -> None:
    controls = Controls({"slow-service": strength}, seed=3)
    share = sum(controls.strikes("slow-service", number) for number in range(4000)) / 4000
    assert abs(share - strength) < 0.03


def test_nothing_strikes_while_controls_are_suspended() -> None:
    controls = Controls({"slow-service": 1.0})
    with suspended():
        assert not controls
        assert not controls.strikes("slow-service", 1)
    assert controls.strikes("slow-service", 1)


@pytest.mark.parametrize("domain", FAULTY)
def test_every_control_of_a_grounded_domain_has_a_case(domain: str) -> None:
    names = set(load_spec(domain).controls)
    assert len(names) >= 5
    assert {case.control for case in control_cases(domain)} == names


@pytest.mark.parametrize(("domain", "case"), CASES)
def test_a_control_shows_costs_the_unaware_and_can_be_coped_with(
    domain: str, case: ControlCase, runners: dict[str, EpisodeRunner]
) -> None:
    runner = runners[domain]
    calm = {"family": case.family, "level": case.level}
    under = {**calm, "controls": {case.control: case.strength}}
    shown = lost = False
    for seed in range(MOST_SEEDS):
        success, before = play(runner, case.naive, seed, calm)
        survived, after = play(runner, case.naive, seed, under)
        assert success and play(runner, case.aware, seed, under)[0]
        shown, lost = shown or before != after, lost or not survived
        if shown and lost and seed + 1 >= SEEDS:
            break
    assert shown and lost


@pytest.mark.parametrize("domain", FAULTY)
def test_strength_zero_changes_nothing(domain: str) -> None:
    runner = EnvOptions(spec=domain, world=grounded_world(domain)).runner()
    case = control_cases(domain)[0]
    calm = {"family": case.family, "level": case.level}
    nought = {**calm, "controls": dict.fromkeys(runner.spec.controls, 0.0)}
    assert play(runner, case.naive, 0, calm) == play(runner, case.naive, 0, nought)
    runner.close()


@pytest.mark.parametrize("domain", FAULTY)
def test_forks_and_equal_seeds_see_the_same_faults(domain: str) -> None:
    controls = dict.fromkeys(load_spec(domain).controls, 0.5)
    shown = []
    for twin in (False, True):
        env = gym.make(load_spec(domain).env_id, world=grounded_world(domain)).unwrapped
        env.reset(seed=3, options={"controls": controls})
        texts = []
        for action in env.task.expert[:-1]:
            if twin:
                fork = env.fork()
                texts.append(fork.step(action)[0])
                fork.close()
                assert env.step(action)[0] == texts[-1]
            else:
                texts.append(env.step(action)[0])
        shown.append(texts)
        env.close()
    assert shown[0] == shown[1]


@pytest.mark.parametrize("domain", FAULTY)
def test_a_closed_fork_leaves_its_original_as_it_was(domain: str) -> None:
    spec = load_spec(domain)
    envs = [gym.make(spec.env_id, world=grounded_world(domain)).unwrapped for _ in range(2)]
    for control in spec.controls:
        shown: list[list[str]] = [[], []]
        for forked, (env, texts) in enumerate(zip(envs, shown, strict=True)):
            env.reset(seed=4, options={"controls": {control: 1.0}})
            for action in env.task.expert[:-1]:
                texts.append(env.step(action)[0])
                if forked:
                    env.fork().close()
        assert shown[0] == shown[1], control
    for env in envs:
        env.close()


def test_the_seed_of_the_controls_can_be_set_apart() -> None:
    def seen(**options: object) -> list[str]:
        env = gym.make("AgentWorld/Terminal-v0").unwrapped
        env.reset(seed=1, options={"controls": {"intermittent-errors": 0.5}, **options})
        texts = [env.step("pwd")[0], *(env.step(f"echo {n}")[0] for n in range(6))]
        env.close()
        return texts

    assert seen(control_seed=5) == seen(control_seed=5)
    assert len({tuple(seen(control_seed=n)) for n in range(6)}) > 3
    with pytest.raises(SpecError, match="control_seed"):
        seen(control_seed="x")


def test_success_is_tested_without_controls() -> None:
    env = gym.make("AgentWorld/Terminal-v0", families=["copy_move"]).unwrapped
    env.reset(seed=0, options={"controls": {"intermittent-errors": 1.0}})
    for action in env.task.expert[:-1]:
        env.step(action)
        env.step(action)  # the second try of a command always works
    *_, info = env.step("finish")
    assert info["success"] is True
    env.close()
