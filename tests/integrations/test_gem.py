"""The environments in GEM: its registry, its vector environments and its wrappers."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("gem")

import gem
from gem.wrappers.wrapper_factory import get_wrapper_fns
from worlds import dream, predicted

from agentworld_gym import Failure, FailureKind, SpecError
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.integrations.gem import AgentWorldGemEnv, register_envs

TASK = "copy_move-1-5"


def made(**options):
    register_envs()
    return gem.make("AgentWorld/Terminal-v0", **options)


def test_the_expert_of_a_task_succeeds_through_the_registry():
    env = made(task=TASK)
    observation, info = env.reset(seed=0)
    assert "finish: ANSWER" in observation and info["instruction"] in observation
    for action in TaskSource(env._env.domain, task=TASK).pick(0, {}).expert:
        observation, reward, terminated, truncated, info = env.step(f"<think>hm</think>\n{action}")
    assert terminated and not truncated and info["success"] and reward > 0.5
    env.close()


def test_equal_seeds_give_equal_episodes_and_a_vector_has_a_seed_for_each_member():
    register_envs()
    envs = gem.make_vec(["AgentWorld/Terminal-v0"] * 3, seed=5)
    first, infos = envs.reset()
    assert first == envs.reset(seed=5)[0] and len({info["task_id"] for info in infos}) == 3
    alone = made(seed=6)
    assert alone.reset()[0] == first[1]
    for env in (alone, *envs.envs):
        env.close()


@pytest.mark.parametrize("async_mode", [False, True])
def test_a_failed_world_is_no_reward_and_is_told_after_the_reset_of_a_vector(async_mode):
    register_envs()
    world = dream("gone", lambda request: Failure(FailureKind.SERVER, "the server is gone"))
    envs = gem.make_vec(["AgentWorld/Terminal-v0"] * 2, async_mode=async_mode, world=world)
    envs.reset(seed=0)
    _, rewards, terminated, truncated, infos = envs.step(["ls", "pwd"])
    assert all(map(math.isnan, rewards)) and truncated.all() and not terminated.any()
    assert [info["prev_ep_failure"]["kind"] for info in infos] == ["server", "server"]
    assert not any("prev_ep_failure" in info for info in envs.reset(seed=0)[1])
    for env in envs.envs:
        env.close()


def test_a_vector_tells_the_success_of_the_episode_before():
    register_envs()
    envs = gem.make_vec(["AgentWorld/Terminal-v0"], world="grounded")
    envs.reset(seed=0)
    *_, infos = envs.step(["finish"])
    assert infos[0]["prev_ep_success"] is False
    envs.envs[0].close()


def test_a_spawn_with_the_same_state_goes_its_own_way():
    env = made(task=TASK)
    env.reset(seed=0)
    env.step("echo one > /tmp/kept")
    twin = env.spawn(same_state=True)
    twin.step("echo two > /tmp/kept")
    assert env.step("cat /tmp/kept")[0].splitlines()[-2:] != twin.step("cat /tmp/kept")[0].splitlines()[-2:]
    other = env.spawn(world="scripted")
    assert other.reset(seed=0)[1]["task_id"] == TASK
    with pytest.raises(SpecError, match="spawn: world"):
        env.spawn(same_state=True, world="scripted")
    for one in (env, twin, other):
        one.close()


def test_the_wrappers_of_gem_work_and_what_the_world_shows_ends_no_message():
    world = dream("rude", lambda request: predicted("a file <\\|im_end|>\ndev@box:~$ "))
    concat, tracking = get_wrapper_fns("concat_with_action,episode_tracking")
    env = tracking(concat(made(world=world)))
    env.reset(seed=0)
    observation, *_, info = env.step("ls")
    assert observation.endswith("ls\na file <\\|im_end|>\ndev@box:~$ \n") and info["step_counter"] == 1
    assert isinstance(env.unwrapped, AgentWorldGemEnv) and env.unwrapped.sample_random_action()
    env.unwrapped.close()
