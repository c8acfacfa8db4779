"""Menus: choices instead of texts, vectors instead of screens, in single and in vector environments, by id."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TimeAwareObservation
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from worlds import dream, predicted

from agentworld_gym import Failure, FailureKind, SpecError
from agentworld_gym.core.registration import ENV_IDS, all_domains
from agentworld_gym.integrations.sb3 import MenuEnv, MenuVectorEnv, TextEncoder

MENU_IDS = sorted(domain.menu_id for domain in all_domains().values())

TERMINAL, MENU = "AgentWorld/Terminal-v0", "AgentWorld/TerminalMenu-v0"

# The checker of Gymnasium remarks that a menu is a wrapper.
pytestmark = pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")


def choices(tasks: Any, actions: list[str]) -> np.ndarray:
    """The choices that mean these texts."""
    return np.array([task.menu.index(action) for task, action in zip(tasks, actions, strict=True)])


# By id


def test_every_domain_has_an_id_with_a_menu():
    assert sorted(env_id.replace("-v0", "Menu-v0") for env_id in ENV_IDS) == MENU_IDS


@pytest.mark.parametrize("env_id", MENU_IDS)
def test_gymnasium_accepts_every_menu(env_id):
    env = gym.make(env_id, world="scripted")
    assert isinstance(env.observation_space, gym.spaces.Box) and isinstance(env.action_space, gym.spaces.Discrete)
    check_env(env, skip_render_check=True)


def test_a_whole_episode_of_choices_solves_a_task():
    env = gym.make(MENU, levels=[1])
    observation, info = env.reset(seed=3)
    task = env.unwrapped.task
    for action in task.expert:
        assert info["action_mask"].tolist() == [int(place < len(task.menu)) for place in range(16)]
        assert env.action_space.sample(mask=info["action_mask"]) < len(task.menu)
        observation, reward, terminated, _, info = env.step(task.menu.index(action))
    assert terminated and info["success"] and reward > 0 and observation in env.observation_space
    env.close()


def test_an_id_and_a_wrapper_are_the_same_environment():
    by_id, by_hand = gym.make(MENU, world="scripted"), MenuEnv(gym.make(TERMINAL, world="scripted"))
    for env in (by_id, by_hand):
        env.reset(seed=1)
    assert np.array_equal(by_id.step(0)[0], by_hand.step(0)[0])


@pytest.mark.parametrize("make", [lambda **o: gym.make(MENU, **o), lambda **o: MenuEnv(gym.make(TERMINAL), **o)])
def test_a_spec_makes_the_same_menu_again(make):
    env = make(encoder={"max_menu": 20, "word_buckets": 8}, dict_keys=["obs", "mask"])
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.observation_space == env.observation_space and again.action_space == env.action_space
    assert again.reset(seed=2)[1]["text"] == env.reset(seed=2)[1]["text"]


def test_menus_need_no_stable_baselines():
    code = (
        "import sys; sys.modules['stable_baselines3'] = sys.modules['torch'] = None\n"
        "import gymnasium as gym, agentworld_gym\n"
        f"env = gym.make({MENU!r}, world='scripted'); env.reset(seed=1); env.step(0)\n"
        f"envs = gym.make_vec({MENU!r}, num_envs=2, world='scripted'); envs.reset(seed=1); envs.step([0, 1])\n"
        "from agentworld_gym.integrations.sb3 import evaluate_policy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# With the mask


def test_the_dict_form_holds_vector_and_mask_under_the_given_names():
    env = gym.make(MENU, dict_keys=("observations", "action_mask"), world="scripted")
    check_env(env, skip_render_check=True)
    observation, info = env.reset(seed=1)
    plain, _ = gym.make(MENU, world="scripted").reset(seed=1)
    assert set(observation) == {"observations", "action_mask"} == set(env.observation_space.spaces)
    assert np.array_equal(observation["observations"], plain)
    assert np.array_equal(observation["action_mask"], info["action_mask"])
    assert observation["action_mask"].dtype == np.int8


@pytest.mark.parametrize("wrong", ["obs", ["obs"], ["obs", "obs"], [1, 2], 3])
def test_names_that_are_none_are_refused(wrong):
    with pytest.raises(SpecError, match="dict_keys"):
        gym.make(MENU, dict_keys=wrong, world="scripted")


@pytest.mark.parametrize("wrong", [{"max_menus": 3}, {"max_menu": "3"}, "big", {"max_menu": 0}])
def test_an_encoder_that_is_none_is_refused(wrong):
    with pytest.raises(SpecError, match="encoder"):
        gym.make(MENU, encoder=wrong, world="scripted")


def test_a_copy_in_the_middle_of_an_episode_sees_what_the_original_sees():
    env = gym.make(MENU)
    env.reset(seed=3)
    first = env.unwrapped.task.menu.index(env.unwrapped.task.expert[0])
    env.step(first)
    twin = copy.deepcopy(env)
    assert np.array_equal(env.step(first)[0], twin.step(first)[0])


# Many


@pytest.mark.parametrize("dict_keys", [None, ("obs", "mask")])
def test_members_see_what_single_menus_see(dict_keys):
    envs, single = gym.make_vec(MENU, num_envs=3, dict_keys=dict_keys), gym.make(MENU)
    observations, infos = envs.reset(seed=10)
    stepped, *_, later = envs.step([0, 1, 2])
    for member in range(3):
        for batch, masks, (vector, info) in (
            (observations, infos["action_mask"], single.reset(seed=10 + member)),
            (stepped, later["action_mask"], single.step(member)[::4]),
        ):
            found = batch if dict_keys is None else batch["obs"]
            assert np.array_equal(found[member], vector)
            assert np.array_equal(masks[member], info["action_mask"])
            assert dict_keys is None or np.array_equal(batch["mask"][member], info["action_mask"])
    assert observations in envs.observation_space and stepped in envs.observation_space
    envs.close()


def test_one_step_of_all_members_asks_the_generator_once():
    waves: list[int] = []
    envs = gym.make_vec(MENU, num_envs=8, world=dream("menu_waves", lambda request: predicted("x\ndev@box:~$")))
    generator = envs.unwrapped.world.generator
    submit = generator.submit
    generator.submit = lambda requests: waves.append(len(requests)) or submit(requests)
    envs.reset(seed=1)
    tasks = envs.unwrapped.tasks
    envs.step(choices(tasks, [next(entry for entry in task.menu if entry != "finish") for task in tasks]))
    assert waves == [8]


def test_next_step_autoreset_shows_the_next_menu_in_the_step_after_the_end():
    envs = gym.make_vec(MENU, num_envs=2)
    envs.reset(seed=1)
    ended, _, terminated, _, _ = envs.step(choices(envs.unwrapped.tasks, ["finish", "finish"]))
    assert terminated.all()
    begun, rewards, terminated, _, infos = envs.step([0, 0])
    assert not terminated.any() and not rewards.any() and (begun != ended).any(1).all()
    single = gym.make(MENU)
    single.reset(seed=1)
    vector, info = single.reset()
    assert np.array_equal(begun[0], vector) and infos["text"][0] == info["text"]
    envs.close()


@pytest.mark.parametrize("dict_keys", [None, ("obs", "mask")])
def test_same_step_autoreset_keeps_the_last_vector_in_final_obs(dict_keys):
    envs = gym.make_vec(MENU, num_envs=2, autoreset_mode="SameStep", dict_keys=dict_keys)
    envs.reset(seed=1)
    tasks = envs.unwrapped.tasks
    entries = choices(tasks, ["finish", next(entry for entry in tasks[1].menu if entry != "finish")])
    observations, _, terminated, _, infos = envs.step(entries)
    assert terminated.tolist() == [True, False]
    single = gym.make(MENU, dict_keys=dict_keys)
    single.reset(seed=1)
    last = single.step(entries[0])[0]
    now, _ = single.reset()
    if dict_keys is None:
        last, now, first, final = {"obs": last}, {"obs": now}, {"obs": observations}, {"obs": infos["final_obs"][0]}
    else:
        first, final = observations, infos["final_obs"][0]
    for key in last:
        assert np.array_equal(final[key], last[key]) and np.array_equal(first[key][0], now[key])
    assert infos["final_obs"][1] is None
    assert envs.unwrapped.autoreset_mode is AutoresetMode.SAME_STEP
    envs.close()


def test_disabled_autoreset_begins_the_members_of_a_mask():
    envs = gym.make_vec(MENU, num_envs=2, autoreset_mode="Disabled")
    envs.reset(seed=1)
    before, *_ = envs.step(choices(envs.unwrapped.tasks, ["finish", envs.unwrapped.tasks[1].menu[0]]))
    after, _ = envs.reset(seed=[9, None], options={"reset_mask": np.array([True, False])})
    assert np.array_equal(after[0], gym.make(MENU).reset(seed=9)[0]) and np.array_equal(after[1], before[1])


def test_a_member_whose_world_failed_has_seen_nothing_of_it():
    def answer(request: Any) -> Any:
        return Failure(FailureKind.MALFORMED, "not JSON")

    for mode in ("NextStep", "SameStep"):
        envs = gym.make_vec(MENU, num_envs=2, world=dream("menu_failing", answer), autoreset_mode=mode)
        before, _ = envs.reset(seed=1)
        tasks = envs.unwrapped.tasks
        entries = choices(tasks, [next(entry for entry in task.menu if entry != "finish") for task in tasks])
        after, _, _, truncated, infos = envs.step(entries)
        last = after if mode == "NextStep" else np.stack(infos["final_obs"])
        assert truncated.all() and np.array_equal(before, last)


def test_masks_pass_through_the_wrappers_of_gymnasium():
    envs = RecordEpisodeStatistics(gym.make_vec(MENU, num_envs=2))
    _, infos = envs.reset(seed=1)
    assert infos["action_mask"].shape == (2, 16) and infos["_action_mask"].all()
    *_, infos = envs.step(choices(envs.unwrapped.tasks, ["finish", "finish"]))
    assert infos["action_mask"].sum(1).tolist() == [len(task.menu) for task in envs.unwrapped.tasks]
    assert infos["episode"]["l"].tolist() == [1, 1]


def test_a_vector_of_menus_can_be_pickled_and_wrapped_by_hand():
    envs = MenuVectorEnv(gym.make_vec(TERMINAL, num_envs=2, world="scripted"), TextEncoder(word_buckets=8))
    again = pickle.loads(pickle.dumps(envs))
    assert again.observation_space == envs.observation_space
    assert np.array_equal(again.reset(seed=1)[0], envs.reset(seed=1)[0])


def test_a_vector_of_menus_wants_one_choice_a_member_after_a_reset():
    envs = gym.make_vec(MENU, num_envs=2, world="scripted")
    with pytest.raises(gym.error.ResetNeeded):
        envs.step([0, 0])
    envs.reset(seed=1)
    for wrong in ([0], [0, 0, 0], [[0, 0]], [0.5, 0.5], ["ls", "ls"], 0):
        with pytest.raises(SpecError, match="actions"):
            envs.step(wrong)


# Clients that take an id


@pytest.mark.parametrize("wrong", ["ls", 0.5, None, [0, 1]])
def test_a_menu_wants_an_integer(wrong):
    env = gym.make("AgentWorld/TerminalMenu-v0", disable_env_checker=True)
    env.reset(seed=0)
    with pytest.raises(SpecError, match=r"step: action: got .*, expected an integer"):
        env.step(wrong)
    env.close()


def test_stable_baselines_takes_a_menu_by_its_id():
    sb3 = pytest.importorskip("stable_baselines3")
    model = sb3.PPO("MlpPolicy", MENU, n_steps=8, batch_size=8).learn(8)
    assert model.num_timesteps == 8
    multi = sb3.PPO("MultiInputPolicy", gym.make(MENU, dict_keys=["obs", "mask"]), n_steps=8, batch_size=8).learn(8)
    assert multi.num_timesteps == 8


@pytest.mark.parametrize("domain", ["Terminal", "Web"])
def test_stable_baselines_on_texts_is_told_which_id_to_take(domain):
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    env_id = f"AgentWorld/{domain}-v0"
    for attempt in (
        lambda: sb3.PPO("MlpPolicy", env_id),
        lambda: sb3.DQN("MlpPolicy", gym.make(env_id, world="scripted")),
        lambda: make_vec_env(env_id, 2),
    ):
        with pytest.raises(TypeError, match=f"AgentWorld/{domain}Menu-v0"):
            attempt()


def test_torchrl_takes_a_menu_by_its_id():
    libs = pytest.importorskip("torchrl.envs.libs.gym")
    env = libs.GymEnv(MENU)
    rollout = env.rollout(3)
    assert rollout["observation"].shape[-1] == TextEncoder().size
    assert json.dumps(list(rollout.batch_size))
    env.close()


# What clients ask of the members of a vector


@pytest.mark.parametrize("env_id", [TERMINAL, MENU])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_vector_says_how_its_members_are_reset(env_id, mode):
    envs: Any = gym.make_vec(env_id, num_envs=2, world="scripted", autoreset_mode=mode)
    assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is mode


def test_the_members_of_a_vector_have_the_attributes_of_single_environments():
    envs: Any = gym.make_vec(MENU, num_envs=2, render_mode="ansi")
    with pytest.raises(gym.error.ResetNeeded):
        envs.get_attr("task")
    envs.reset(seed=[3, 4])
    for member, seed in enumerate((3, 4)):
        single: Any = gym.make(MENU, render_mode="ansi")
        single.reset(seed=seed)
        for name in ("task", "tools", "render_mode", "domain", "observation_space", "action_space"):
            assert envs.get_attr(name)[member] == single.get_wrapper_attr(name)
        assert envs.call("render")[member] == single.render()
        assert np.array_equal(envs.call("action_masks")[member], single.get_wrapper_attr("action_masks")())
        assert envs.get_attr("menu")[member].actions == single.get_wrapper_attr("menu").actions
        single.close()
    texts = envs.unwrapped
    assert texts.get_attr("menu") == texts.menus
    assert texts.get_attr("action_space") == (texts.single_action_space,) * 2
    envs.close()


def test_a_member_of_a_vector_keeps_what_was_set():
    envs: Any = gym.make_vec(MENU, num_envs=2, world="scripted")
    envs.set_attr("shaping", [0.1, 0.2])
    envs.set_attr("name", "both")
    assert (envs.get_attr("shaping"), envs.call("name")) == ((0.1, 0.2), ("both", "both"))
    with pytest.raises(ValueError, match="2"):
        envs.set_attr("shaping", [0.1])
    for name in ("step", "task"):
        with pytest.raises(AttributeError, match=name):
            envs.set_attr(name, 1)
    for name in ("step", "reset", "nothing"):
        with pytest.raises(AttributeError, match=f"'{name}'.*action_masks.*task"):
            envs.call(name)


def test_torchrl_takes_texts_as_they_are():
    envs = pytest.importorskip("torchrl.envs")
    env = envs.GymWrapper(gym.make(TERMINAL, world="scripted"))
    assert isinstance(env.reset()["observation"], str)
    assert env.rollout(3).batch_size == (3,)


def test_torchrl_plays_a_vector_of_menus():
    envs = pytest.importorskip("torchrl.envs")
    env = envs.GymWrapper(gym.make_vec(MENU, num_envs=2, autoreset_mode="Disabled"))
    assert env.rollout(3, break_when_any_done=False).batch_size == (2, 3)


def test_the_callback_of_stable_baselines_keeps_the_successes_of_menus(tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.callbacks import EvalCallback
    from stable_baselines3.common.monitor import Monitor

    callback = EvalCallback(Monitor(gym.make(MENU)), n_eval_episodes=3, eval_freq=8, log_path=str(tmp_path))
    sb3.PPO("MlpPolicy", MENU, n_steps=8, batch_size=8).learn(8, callback)
    assert [len(successes) for successes in callback.evaluations_successes] == [3]


def test_a_menu_says_at_the_end_whether_it_was_a_success():
    env: Any = gym.make(MENU)
    env.reset(seed=0)
    core = env.unwrapped
    *_, terminated, _, info = env.step(core.task.menu.index("finish"))
    assert terminated and info["is_success"] is info["success"] is False
    env.reset(seed=0)
    infos = [env.step(core.task.menu.index(entry))[-1] for entry in core.task.expert]
    assert len(infos) > 1 and [info.get("is_success") for info in infos] == [None] * (len(infos) - 1) + [True]


def test_a_spec_orders_no_time_limit_beside_that_of_the_environment():
    env = gym.make(MENU, max_steps=3)
    again: Any = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec.max_episode_steps is None and "TimeLimit" not in str(again)
    assert again.unwrapped.runner.limit(None) == 3


def test_a_wrapper_that_counts_steps_is_given_the_limit():
    alone: Any = gym.make(MENU, max_steps=3)
    limited: Any = TimeAwareObservation(gym.make(MENU, max_steps=3, max_episode_steps=3), normalize_time=True)
    assert limited.spec.max_episode_steps == 3
    alone.reset(seed=0)
    limited.reset(seed=0)
    for step in range(3):
        _, *shown, info = alone.step(0)
        vector, *same, told = limited.step(0)
        assert (same, told.get("success")) == (shown, info.get("success"))
        assert np.isclose(vector[-1], (step + 1) / 3)
    assert shown[-1] and info["success"] is False
