"""Stable-Baselines3: a menu to choose from, vectors to look at, many episodes in one wave."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctrl_c
import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentworld_gym  # noqa: F401
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.domain.task import split_of
from agentworld_gym.core.registration import ENV_IDS
from agentworld_gym.envs.text_encoder import TextEncoder

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env

from agentworld_gym.agents.policies.menu_network import MenuNetwork
from agentworld_gym.agents.policies.menu_policy import MenuPolicy, MenuQPolicy
from agentworld_gym.base.statistics.bootstrap import bootstrap_interval
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.menu_env import menu_spaces
from agentworld_gym.integrations.sb3.evaluate import PolicyEvaluation, evaluate_policy
from agentworld_gym.integrations.sb3.ppo import train_ppo
from agentworld_gym.integrations.sb3.vec_env import AgentWorldVecEnv, MenuEnv, make_sb3_env

TERMINAL = "AgentWorld/Terminal-v0"
torch.set_num_threads(1)


def choose(env: AgentWorldVecEnv, actions: Sequence[str]) -> np.ndarray:
    """The choices that mean these action texts."""
    tasks = env.get_attr("task")
    return np.array([task.menu.index(action) for task, action in zip(tasks, actions, strict=True)])


class Experts:
    """An agent that knows the answer: it follows each task's expert."""

    def __init__(self, env: AgentWorldVecEnv) -> None:
        self.env, self.done = env, [0] * env.num_envs

    def step(self) -> tuple[Any, ...]:
        tasks = self.env.get_attr("task")
        actions = [task.expert[turn] for task, turn in zip(tasks, self.done, strict=True)]
        observations, rewards, dones, infos = self.env.step(choose(self.env, actions))
        self.done = [0 if over else turn + 1 for turn, over in zip(self.done, dones, strict=True)]
        return observations, rewards, dones, infos


# Imports


def test_without_the_extra_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None; from agentworld_gym.integrations.sb3 import make_sb3_env"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install -e '.[sb3]'" in run.stderr.splitlines()[-1]


def test_the_package_itself_and_its_encoder_need_no_extra():
    code = (
        "import sys; import agentworld_gym.integrations.sb3 as w; w.TextEncoder()\n"
        "assert not {'torch', 'stable_baselines3'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The encoder


WORDS = st.text(st.characters(codec=None), max_size=60)


@settings(deadline=None, max_examples=60)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=5, unique=True), st.lists(WORDS, max_size=4))
def test_any_text_gives_a_finite_vector_that_is_the_same_again(instruction, menu, outputs):
    encoder = TextEncoder(max_menu=5)
    vectors = []
    for _ in range(2):
        memory = encoder.begin(instruction, menu)
        for turn, output in enumerate(outputs):
            encoder.update(memory, turn % len(menu), output)
        vectors.append(encoder.encode(memory))
    assert vectors[0].dtype == np.float32 and np.isfinite(vectors[0]).all()
    assert np.array_equal(*vectors)


@settings(deadline=None, max_examples=30)
@given(st.permutations(["cp a.txt b.txt", "mv a.txt b.txt", "cat notes", "finish"]))
def test_a_shuffled_menu_shuffles_the_entries_and_nothing_else(menu):
    encoder = TextEncoder(max_menu=4)

    def parts(order: Sequence[str]) -> tuple[np.ndarray, dict[str, bytes]]:
        memory = encoder.begin("Copy a.txt to b.txt, as notes say.", order)
        encoder.update(memory, order.index("cat notes"), "keep a.txt")
        vector = encoder.encode(memory)
        entries = vector[encoder.context_size :].reshape(4, encoder.entry_size)
        return vector[: encoder.context_size], {text: row.tobytes() for text, row in zip(order, entries, strict=True)}

    context, entries = parts(menu)
    usual_context, usual_entries = parts(sorted(menu))
    assert np.allclose(context, usual_context) and entries == usual_entries


def test_encodings_are_the_same_in_another_process():
    code = (
        "from agentworld_gym.envs.text_encoder import TextEncoder as T; import zlib\n"
        "e = T(max_menu=3); m = e.begin('Copy a.txt', ['cp a.txt b', 'ls', 'finish']); e.update(m, 1, 'a.txt c')\n"
        "print(zlib.crc32(e.encode(m).tobytes()))"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"PYTHONHASHSEED": "1", "PYTHONPATH": str(Path.cwd())}, {"PYTHONPATH": str(Path.cwd())})
    }
    assert len(runs) == 1


def test_what_was_read_before_marks_the_entries_that_use_it():
    encoder = TextEncoder(max_menu=3)
    memory = encoder.begin("Copy the file that list names.", ["cp a.txt b", "cp c.txt b", "cat list"])
    before = encoder.encode(memory).copy()
    encoder.update(memory, 2, "c.txt")
    encoder.update(memory, 2, "")
    change = np.abs(encoder.encode(memory) - before)[encoder.context_size :].reshape(3, -1).sum(1)
    assert change[1] > change[0]


def test_a_blind_encoder_shows_nothing_whatever_happens():
    encoder = TextEncoder(max_menu=2, blind=True)
    memory = encoder.begin("Do it.", ["ls", "finish"], "text")
    encoder.update(memory, 0, "more text")
    assert not encoder.encode(memory).any()


@pytest.mark.parametrize("menu", [[], ["a", "b", "c"]])
def test_a_menu_that_does_not_fit_is_refused(menu):
    with pytest.raises(SpecError, match="menu: got"):
        TextEncoder(max_menu=2).begin("Do it.", menu)


# One environment


@pytest.mark.parametrize("env_id", sorted(ENV_IDS))
def test_stable_baselines_accepts_every_domain(env_id):
    env = MenuEnv(gym.make(env_id, world="scripted"))
    check_env(env)
    env.close()


def test_stable_baselines_accepts_the_grounded_terminal():
    env = MenuEnv(gym.make(TERMINAL, world="grounded", levels=[1, 2]))
    check_env(env)
    env.close()


def test_the_expert_choices_solve_a_grounded_task():
    env = MenuEnv(gym.make(TERMINAL, world="grounded"))
    env.reset(seed=3)
    task = env.unwrapped.task
    for action in task.expert:
        *_, reward, terminated, truncated, info = env.step(task.menu.index(action))
    assert terminated and not truncated and info["success"] and reward > 0
    env.close()


def test_masks_rule_out_what_the_menu_does_not_have():
    env = MenuEnv(gym.make(TERMINAL, world="scripted"))
    with pytest.raises(gym.error.ResetNeeded):
        env.action_masks()
    env.reset(seed=1)
    assert env.action_masks().sum() == len(env.unwrapped.task.menu)
    assert env.action_masks()[: len(env.unwrapped.task.menu)].all()
    env.close()


# Many


@pytest.fixture
def terminal():
    env = make_sb3_env(TERMINAL, num_envs=3, seed=0, world="grounded")
    yield env
    env.close()


def test_an_episode_that_ends_is_followed_by_the_next_in_the_same_step(terminal):
    terminal.reset()
    experts = Experts(terminal)
    first = terminal.get_attr("task")
    for _ in range(12):
        observations, rewards, dones, infos = experts.step()
        if dones[0]:
            break
    info = infos[0]
    assert info["is_success"] and not info["TimeLimit.truncated"]
    assert info["episode"]["l"] == len(first[0].expert)
    assert info["episode"]["r"] == pytest.approx(1.0, abs=0.3)
    assert info["terminal_observation"].shape == observations[0].shape
    assert not np.array_equal(info["terminal_observation"], observations[0])
    assert terminal.get_attr("task")[0].id == terminal.reset_infos[0]["task_id"] != first[0].id
    assert rewards.dtype == np.float32 and dones.dtype == bool


@pytest.mark.parametrize("bootstrap", [True, False])
def test_the_step_limit_is_a_time_limit_unless_it_is_said_to_be_an_end(bootstrap: bool):
    env = make_sb3_env(TERMINAL, 2, seed=0, bootstrap_at_limit=bootstrap, world="scripted", max_steps=2)
    env.reset()
    waiting = [next(a for a in task.menu if a != "finish") for task in env.get_attr("task")]
    choices = choose(env, waiting)
    *_, dones, _ = env.step(choices)
    assert not dones.any()
    *_, dones, infos = env.step(choices)
    assert dones.all() and [info["TimeLimit.truncated"] for info in infos] == [bootstrap] * 2
    env.close()


def test_equal_seeds_give_equal_episodes_and_other_seeds_others():
    def ids(seed: int) -> list[str]:
        env = make_sb3_env(TERMINAL, num_envs=4, world="scripted")
        env.seed(seed)
        env.reset()
        found = [task.id for task in env.get_attr("task")]
        env.step(choose(env, ["finish"] * 4))
        found += [task.id for task in env.get_attr("task")]
        env.close()
        return found

    assert ids(0) == ids(0) != ids(100)


def test_training_draws_from_the_training_split_only():
    env = make_sb3_env(TERMINAL, num_envs=8, seed=0, world="scripted")
    env.reset()
    seeds = []
    for _ in range(5):
        seeds += [task.seed for task in env.get_attr("task")]
        env.step(choose(env, ["finish"] * 8))
    assert {split_of(seed) for seed in seeds} == {"train"}
    env.close()


def test_options_reach_the_next_reset_only(terminal):
    terminal.set_options({"family": "archive", "level": 2})
    terminal.reset()
    assert {(task.family, task.level) for task in terminal.get_attr("task")} == {("archive", 2)}
    for _ in range(3):
        terminal.reset()
    assert {task.level for task in terminal.get_attr("task")} == {1}


def test_masks_of_all_members_reach_maskable_ppo(terminal):
    terminal.reset()
    assert is_masking_supported(terminal)
    assert get_action_masks(terminal).sum(1).tolist() == [len(task.menu) for task in terminal.get_attr("task")]
    with pytest.raises(AttributeError, match="no attribute"):
        terminal.get_attr("no_such_thing")
    with pytest.raises(AttributeError, match="no method"):
        terminal.env_method("no_such_thing")


@pytest.mark.parametrize("bootstrap", [True, False])
def test_a_world_that_fails_is_a_time_limit_without_reward(terminal, bootstrap: bool):
    terminal.bootstrap_at_limit = bootstrap
    observations = terminal.reset()
    world = terminal.runner.world
    step = world.step

    def failing(sessions: Any, actions: Any) -> Any:
        answers = step(sessions, actions)
        return [Failure(FailureKind.TIMEOUT, "too slow"), *answers[1:]]

    world.step = failing
    before = observations.copy()
    _, rewards, dones, infos = terminal.step(choose(terminal, [task.expert[0] for task in terminal.get_attr("task")]))
    world.step = step
    assert dones.tolist() == [True, False, False] and rewards[0] == 0.0
    assert infos[0]["TimeLimit.truncated"] and infos[0]["failure"]["kind"] == "timeout"
    assert "is_success" not in infos[0]
    assert np.array_equal(infos[0]["terminal_observation"], before[0])


def test_closing_twice_is_fine():
    env = make_sb3_env(TERMINAL, num_envs=1, world="scripted")
    env.close()
    env.close()


# Policies


def test_the_menu_network_scores_entries_alike_wherever_they_stand():
    encoder = TextEncoder(max_menu=6)
    network = MenuNetwork(encoder.size, 6, encoder.context_size, 16)
    torch.nn.init.normal_(network.score.weight)
    vectors = torch.randn(2, encoder.size)
    entries = vectors[:, encoder.context_size :].reshape(2, 6, -1)
    entries[:, :, 0] = 1.0
    order = torch.randperm(6)
    moved = torch.cat([vectors[:, : encoder.context_size], entries[:, order].reshape(2, -1)], 1)
    scores, value = network(vectors)
    moved_scores, moved_value = network(moved)
    assert torch.allclose(scores[:, order], moved_scores, atol=1e-5)
    assert torch.allclose(value, moved_value, atol=1e-5)


def test_a_network_that_any_library_trains_is_evaluated_as_it_is_and_chooses_only_what_is_on_offer():
    encoder = TextEncoder()
    network = MenuNetwork(encoder.size, encoder.max_menu)
    assert len(evaluate_policy(network, TERMINAL, range(2), world="grounded", max_steps=3).episodes) == 2
    vectors = np.zeros((50, encoder.size), np.float32)
    vectors[:, encoder.context_size + 2 * encoder.entry_size] = 1.0
    for deterministic in (True, False):
        assert set(network.predict(vectors, deterministic)[0]) == {2}


def test_dqn_values_a_place_that_is_not_on_offer_as_the_entry_that_is_taken_in_its_stead():
    encoder = TextEncoder(max_menu=6)
    torch.manual_seed(0)
    policy = MenuQPolicy(*menu_spaces(encoder), lambda _: 0.0)
    for parameter in policy.q_net.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    vectors = torch.randn(1, encoder.size)
    there = vectors[:, encoder.context_size :].view(1, 6, -1)[..., 0]
    there[:] = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    with torch.no_grad():
        [values] = policy.q_net(vectors)
    assert values[0] == values[1] == values[4] == values[5] != values[2] == values[3]


MENU = ("cp a.txt b.txt", "mv a.txt b.txt", "cat notes", "finish")


def probabilities(policy: MenuPolicy, encoder: TextEncoder, menu: Sequence[str], *seen: tuple[str, str]) -> list[float]:
    """The probability of each entry, after some entries were chosen and printed something."""
    memory = encoder.begin("Copy a.txt to b.txt, as notes say.", menu)
    for entry, output in seen:
        encoder.update(memory, menu.index(entry), output)
    with torch.no_grad():
        found = policy.get_distribution(torch.from_numpy(encoder.encode(memory)).unsqueeze(0))
    return found.distribution.probs[0].tolist()


@pytest.fixture(scope="module")
def policy_and_encoder() -> tuple[MenuPolicy, TextEncoder]:
    encoder = TextEncoder(max_menu=6)
    torch.manual_seed(0)
    policy = MenuPolicy(*menu_spaces(encoder), lambda _: 0.0)
    for parameter in policy.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return policy, encoder


@settings(deadline=None, max_examples=24)
@given(st.permutations(MENU))
def test_a_shuffled_menu_has_the_same_probabilities_in_its_own_order(policy_and_encoder, menu):
    seen = ("cat notes", "keep a.txt")
    usual = dict(zip(MENU, probabilities(*policy_and_encoder, MENU, seen), strict=False))
    found = dict(zip(menu, probabilities(*policy_and_encoder, menu, seen), strict=False))
    assert found == pytest.approx(usual, abs=1e-5)
    assert max(usual.values()) > min(usual.values()) + 0.01


def test_an_entry_that_is_not_there_is_never_drawn_even_without_masks(policy_and_encoder):
    found = probabilities(*policy_and_encoder, MENU)
    assert sum(found[:4]) == pytest.approx(1) and found[4:] == [0, 0]


@pytest.mark.parametrize("name", ["PPO", "A2C"])
def test_algorithms_without_masks_take_the_policy_of_menus_and_keep_to_them(name, monkeypatch, tmp_path):
    import stable_baselines3

    env = make_sb3_env(TERMINAL, num_envs=2, seed=0, world="scripted", max_steps=4)
    offered: list[bool] = []
    entry = Menu.entry

    def watched(menu: Menu, choice: int) -> int:
        offered.append(bool(menu.masks()[choice]))
        return entry(menu, choice)

    monkeypatch.setattr(Menu, "entry", watched)
    kind = getattr(stable_baselines3, name)
    batch = {"batch_size": 16} if name == "PPO" else {}
    model = kind(MenuPolicy, env, n_steps=8, seed=0, device="cpu", **batch).learn(32)
    assert len(offered) >= 32 and all(offered)
    model.save(tmp_path / "agent")
    vectors = env.reset()
    again, _ = kind.load(tmp_path / "agent", device="cpu").predict(vectors, deterministic=True)
    assert np.array_equal(again, model.predict(vectors, deterministic=True)[0])
    env.close()


def test_a_policy_of_menus_refuses_the_vectors_of_another_encoder():
    spaces = menu_spaces(TextEncoder(word_buckets=8))
    with pytest.raises(SpecError, match=r"context_size: got 176, expected that of the TextEncoder"):
        MenuPolicy(*spaces, lambda _: 0.0)


def test_a_policy_of_menus_has_no_noise_to_explore():
    with pytest.raises(SpecError, match="use_sde: got True"):
        MenuPolicy(*menu_spaces(TextEncoder()), lambda _: 0.0, use_sde=True)


@pytest.mark.parametrize("policy", [MenuPolicy, "MlpPolicy"])
def test_training_gives_a_curve_and_a_model_that_survives_saving(policy, tmp_path):
    env = make_sb3_env(TERMINAL, num_envs=4, seed=0, world="scripted", max_steps=4)
    seen = []
    training = train_ppo(env, 64, policy=policy, n_steps=8, batch_size=16, on_progress=seen.append)
    assert [point.steps for point in training.curve] == [32, 64] == [point.steps for point in seen]
    assert not training.interrupted
    training.model.save(tmp_path / "agent")
    loaded = MaskablePPO.load(tmp_path / "agent", device="cpu")
    vectors, masks = env.reset(), env.action_masks()
    expected, _ = training.model.predict(vectors, deterministic=True, action_masks=masks)
    found, _ = loaded.predict(vectors, deterministic=True, action_masks=masks)
    assert np.array_equal(expected, found)
    env.close()


@pytest.mark.parametrize(("press", "steps"), [(ctrl_c.pressed, 64), (ctrl_c.lost, 66)])
def test_ctrl_c_keeps_the_model_so_far(press: Callable[[], None], steps: int):
    env = make_sb3_env(TERMINAL, num_envs=2, seed=0, world="scripted")

    def interrupt(point: Any) -> None:
        if point.steps >= 64:
            press()

    training = train_ppo(env, 1000, n_steps=16, batch_size=16, on_progress=interrupt)
    assert training.interrupted and training.model.num_timesteps == steps
    env.close()


def test_ppo_learns_a_grounded_family_that_chance_does_not_solve():
    options: dict[str, Any] = {"world": "grounded", "families": ["copy_move"], "levels": [1]}
    env = make_sb3_env(TERMINAL, num_envs=8, seed=0, max_steps=12, **options)
    untrained = train_ppo(env, 0).model
    trained = train_ppo(env, 3000).model
    env.close()
    before = evaluate_policy(untrained, TERMINAL, range(30), deterministic=False, **options)
    after = evaluate_policy(trained, TERMINAL, range(30), **options)
    assert before.success < 0.3 and after.success > before.success + 0.3
    assert {episode.task.family for episode in after.episodes} == {"copy_move"}


# Evaluation


class Random:
    """An agent that draws from the masks."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def predict(self, observation: Any, *, deterministic: bool = False, action_masks: Any = None) -> tuple[Any, None]:
        return np.array([self.rng.choice(np.flatnonzero(row)) for row in action_masks]), None


def test_evaluation_covers_every_seed_once_in_order_whatever_the_wave():
    results = [
        evaluate_policy(Random(), TERMINAL, range(24), world="scripted", levels=[1, 2], wave=wave, max_steps=6)
        for wave in (5, 100)
    ]
    for result in results:
        assert [episode.seed for episode in result.episodes] == list(range(24))
        assert {episode.task.level for episode in result.episodes} == {1, 2}
        assert 0.0 <= result.interval()[0] <= result.success <= result.interval()[1] <= 1.0
        assert result.failures == 0 and set(result.by_family()) == {e.task.family for e in result.episodes}
    assert [e.task.id for e in results[0].episodes] == [e.task.id for e in results[1].episodes]


def test_episodes_whose_world_failed_count_in_no_mean():
    result = evaluate_policy(Random(), TERMINAL, range(4), world="scripted", max_steps=6)
    steps, reward = result.steps, result.reward
    failed = replace(result.episodes[0], success=None, failure="timeout", reward=-100.0, actions=())
    mixed = PolicyEvaluation((*result.episodes, failed))
    assert (mixed.failures, mixed.success, mixed.steps, mixed.reward) == (1, result.success, steps, reward)
    nothing = PolicyEvaluation((failed,))
    assert all(np.isnan([nothing.success, nothing.reward, nothing.steps, *nothing.interval()]))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40), min_size=1, max_size=4))
def test_an_interval_holds_the_mean_of_equal_runs_and_stays_within_bounds(runs):
    low, high = bootstrap_interval(runs, samples=500)
    assert 0.0 <= low <= high <= 1.0
    if len(runs) == 1:
        assert low - 1e-9 <= np.mean(runs[0]) <= high + 1e-9


def test_no_runs_have_no_interval():
    assert all(np.isnan(bootstrap_interval([])))


@pytest.mark.parametrize("domain", ["Terminal", "Android"])
def test_backplay_begins_some_episodes_on_the_experts_way(domain):
    env = make_sb3_env(f"AgentWorld/{domain}-v0", num_envs=12, seed=3, world="grounded", backplay=0.7)
    env.reset()
    ahead = [episode.steps for episode in env._episodes.values()]
    tasks = env.get_attr("task")
    assert 0 in ahead and max(ahead) > 1
    assert all(steps < len(task.expert) for steps, task in zip(ahead, tasks, strict=True))
    seen, infos = {}, [{} for _ in tasks]
    for _ in range(max(len(task.expert) for task in tasks)):
        choices = []
        for index, task in enumerate(tasks):
            step = env._episodes[index].steps
            choices.append(task.menu.index(task.expert[step]) if index not in seen and step < len(task.expert) else 0)
        _, _, dones, infos = env.step(np.array(choices))
        for index in np.flatnonzero(dones):
            seen.setdefault(int(index), infos[index])
    assert all(seen[index]["is_success"] and seen[index]["backplay"] == ahead[index] for index in range(len(tasks)))
    assert [seen[index]["episode"]["l"] for index in seen] == [len(tasks[i].expert) - ahead[i] for i in seen]
    env.close()


def test_backplay_is_a_share():
    with pytest.raises(SpecError, match="backplay"):
        make_sb3_env("AgentWorld/Terminal-v0", world="grounded", backplay=2)


@pytest.mark.parametrize("name", ["PPO", "A2C", "DQN", "QRDQN", "TRPO", "MaskablePPO", "RecurrentPPO"])
def test_every_algorithm_can_be_evaluated(name):
    import sb3_contrib
    import stable_baselines3

    kind = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name)
    policy = "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
    small = {"buffer_size": 10} if name.endswith("DQN") else {}
    model = kind(policy, gym.make("AgentWorld/TerminalMenu-v0", world="scripted"), seed=0, **small)
    for deterministic in (True, False):
        result = evaluate_policy(
            model, TERMINAL, range(5), world="scripted", max_steps=4, wave=3, deterministic=deterministic
        )
        assert [episode.seed for episode in result.episodes] == list(range(5))


def test_a_model_of_the_dict_form_can_be_evaluated():
    from stable_baselines3 import DQN

    env = gym.make("AgentWorld/TerminalMenu-v0", world="scripted", dict_keys=["obs", "mask"])
    model = DQN("MultiInputPolicy", env, seed=0, buffer_size=10)
    result = evaluate_policy(model, TERMINAL, range(2), world="scripted", max_steps=2)
    assert len(result.episodes) == 2


class Counting:
    """A recurrent agent whose state is the number of steps that it has acted in an episode."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        count = np.zeros((1, len(observation), 1)) if state is None else state[0]
        count = np.where(np.asarray(episode_start)[None, :, None], 0, count)
        return count[0, :, 0].astype(int), (count + 1,)


def test_a_recurrent_agent_keeps_the_state_of_each_episode_whatever_the_wave():
    def actions(wave):
        played = evaluate_policy(Counting(), TERMINAL, range(7), world="scripted", max_steps=5, wave=wave).episodes
        for episode in played:
            assert list(episode.actions) == [episode.task.menu[turn] for turn in range(len(episode.actions))]
        return [episode.actions for episode in played]

    assert actions(2) == actions(7)


@pytest.mark.parametrize("keys", [None, ["obs", "mask"]])
def test_an_agent_sees_the_normalized_observations_that_it_was_trained_on(keys, tmp_path):
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    def envs() -> DummyVecEnv:
        return DummyVecEnv([lambda: gym.make("AgentWorld/TerminalMenu-v0", world="scripted", dict_keys=keys)])

    normalized = VecNormalize(envs(), norm_obs_keys=keys and ["obs"])
    policy = "MlpPolicy" if keys is None else "MultiInputPolicy"
    PPO(policy, normalized, n_steps=8, batch_size=8, seed=0).learn(8).save(tmp_path / "agent")
    normalized.save(str(tmp_path / "statistics"))
    model = PPO.load(tmp_path / "agent", env=VecNormalize.load(str(tmp_path / "statistics"), envs()))
    seen: list[Any] = []
    predict = model.predict

    def watched(observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False) -> Any:
        seen.append(observation)
        return predict(observation, state, episode_start, deterministic)

    model.predict = watched  # type: ignore[method-assign]
    evaluate_policy(model, TERMINAL, [3], split="train", world="scripted", max_steps=1)
    first = envs()
    first.seed(3)
    expected = normalized.normalize_obs(first.reset())  # type: ignore[arg-type]
    for key in keys or [None]:
        shown, wanted = (seen[0], expected) if key is None else (seen[0][key], expected[key])
        assert shown.dtype == wanted.dtype and np.array_equal(shown, wanted)
