"""Many environments, one wave a step."""

from __future__ import annotations

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from worlds import dream, make, predicted

from agentworld_gym import Failure, FailureKind, SpecError, register_world
from agentworld_gym.envs.vector import AgentWorldVectorEnv
from agentworld_gym.llm.generators import ScriptedGenerator

ENV_ID = "AgentWorld/Terminal-v0"


def vector(num_envs: int = 3, **options: object) -> gym.vector.VectorEnv:
    return gym.make_vec(ENV_ID, num_envs=num_envs, **{"world": "grounded", **options})


def test_members_see_what_single_environments_see():
    envs, single = vector(), make(world="grounded")
    observations, _ = envs.reset(seed=10)
    stepped = envs.step(["ls", "pwd", "cat nothing"])
    for member, action in enumerate(["ls", "pwd", "cat nothing"]):
        assert single.reset(seed=10 + member)[0] == observations[member]
        assert single.step(action)[0] == stepped[0][member]


def test_observations_and_actions_belong_to_the_batched_spaces():
    envs = vector()
    observations, _ = envs.reset(seed=1)
    assert observations in envs.observation_space
    assert ("ls", "pwd", "finish") in envs.action_space
    envs.action_space.seed(1)
    assert envs.step(envs.action_space.sample())[0] in envs.observation_space


def test_next_step_autoreset_begins_the_episode_in_the_step_after_the_end():
    envs = vector(autoreset_mode="NextStep")
    envs.reset(seed=1)
    _, _, terminated, _, infos = envs.step(["ls", "finish", "ls"])
    assert terminated.tolist() == [False, True, False]
    assert infos["_success"].tolist() == [False, True, False]
    first, rewards, terminated, truncated, infos = envs.step(["ls", "ignored", "ls"])
    assert rewards[1] == 0.0
    assert not terminated[1]
    assert not truncated[1]
    assert infos["_instruction"].tolist() == [False, True, False]
    assert first[1].startswith(infos["instruction"][1])
    assert infos["steps"].tolist() == [2, 0, 2]


def test_same_step_autoreset_keeps_the_end_in_final_obs_and_final_info():
    envs = vector(autoreset_mode="SameStep")
    envs.reset(seed=1)
    envs.step(["ls", "pwd", "ls"])
    observations, _, terminated, _, infos = envs.step(["ls", "finish", "ls"])
    assert terminated.tolist() == [False, True, False]
    assert infos["final_obs"][1].split("\n")[0].endswith("$ pwd")
    assert infos["final_info"]["success"][1] == False  # noqa: E712  (a NumPy bool)
    assert infos["_final_info"].tolist() == [False, True, False]
    assert observations[1].startswith(infos["instruction"][1])
    assert infos["steps"].tolist() == [2, 0, 2]


def test_disabled_autoreset_resets_the_members_of_a_mask():
    envs = vector(autoreset_mode="Disabled")
    envs.reset(seed=1)
    envs.step(["ls", "finish", "ls"])
    with pytest.raises(gym.error.ResetNeeded, match="reset_mask"):
        envs.step(["ls", "ls", "ls"])
    mask = np.array([False, True, False])
    observations, _ = envs.reset(seed=[None, 7, None], options={"reset_mask": mask})
    assert observations[1] == make(world="grounded").reset(seed=7)[0]
    assert observations[0].split("\n")[0].endswith("$ ls")
    assert envs.step(["ls", "ls", "ls"])[4]["steps"].tolist() == [2, 1, 2]


def test_one_failed_member_leaves_the_others_alone():
    def answer(request):
        if "bad" in request.messages[-1]["content"]:
            return Failure(FailureKind.MALFORMED, "not JSON")
        return predicted("fine\ndev@box:~$")

    envs = vector(world=dream("one_bad", answer))
    envs.reset(seed=1)
    observations, rewards, terminated, truncated, infos = envs.step(["good", "bad", "good"])
    assert truncated.tolist() == [False, True, False]
    assert not terminated.any()
    assert rewards[1] == 0.0
    assert [o.startswith("fine") for o in observations] == [True, False, True]
    assert infos["failure"]["kind"][1] == "malformed"


def test_a_wave_asks_the_generator_once():
    waves = []

    def answer(request):
        return predicted("x\ndev@box:~$")

    name = dream("waves", answer)
    envs = vector(8, world=name)
    generator = envs.unwrapped.world.generator
    submit = generator.submit
    generator.submit = lambda requests: waves.append(len(requests)) or submit(requests)
    envs.reset(seed=1)
    envs.step(["ls"] * 8)
    assert waves == [8]


def test_the_step_limit_can_be_given_in_gymnasiums_words():
    envs = gym.make_vec(ENV_ID, num_envs=2, world="grounded", max_episode_steps=2)
    envs.reset(seed=1)
    envs.step(["ls", "ls"])
    assert envs.step(["ls", "ls"])[3].all()


def test_a_list_of_seeds_fixes_later_episodes_too():
    def second_tasks():
        envs = vector(2, autoreset_mode="SameStep")
        envs.reset(seed=[1, 2])
        envs.step(["finish", "finish"])
        return [task.id for task in envs.unwrapped.tasks]

    assert second_tasks() == second_tasks()


def test_a_mask_that_is_none_names_itself():
    envs = vector(autoreset_mode="Disabled")
    envs.reset(seed=1)
    for mask in ([0, 2], np.array([0, 2]), np.zeros(3, dtype=bool)):
        with pytest.raises(SpecError, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})


def test_the_spec_says_whether_the_world_is_deterministic():
    register_world("sampled", lambda options: options.language(ScriptedGenerator(str, deterministic=False)))
    assert vector().spec.nondeterministic is False
    assert vector(world="sampled").spec.nondeterministic is True


def test_wrong_use_names_itself():
    envs = vector()
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(["ls"] * 3)
    envs.reset(seed=1)
    with pytest.raises(SpecError, match="3 strings"):
        envs.step(["ls"])
    with pytest.raises(SpecError, match=r"actions\.1"):
        envs.step(["ls", 3, "ls"])
    for wrong in (0, "2", True, 2.0):
        with pytest.raises(SpecError, match="num_envs"):
            AgentWorldVectorEnv(wrong, spec="terminal")
    with pytest.raises(SpecError, match="autoreset_mode"):
        vector(autoreset_mode="Never")
    envs.close()
    envs.close()


@pytest.mark.parametrize("actions", ["ls", b"ls", {"a": 1, "b": 2}, 3, None])
def test_what_is_no_sequence_of_actions_is_refused(actions):
    envs = vector(2)
    envs.reset(seed=1)
    with pytest.raises(SpecError, match=r"actions: got .*, expected 2 strings"):
        envs.step(actions)
    assert envs.step(np.array(["pwd", "ls"]))[4]["steps"].tolist() == [1, 1]
    envs.close()


def test_another_process_makes_it_again_from_its_options():
    envs = vector(2, autoreset_mode="SameStep", levels=[2], max_episode_steps=5)
    envs.reset(seed=1)
    with pytest.warns(UserWarning, match="episode under way is not pickled"):
        again = pickle.loads(pickle.dumps(envs))
    assert again.reset(seed=4)[0] == envs.reset(seed=4)[0]
    assert again.autoreset_mode is AutoresetMode.SAME_STEP
    assert again.runner.limit(again.tasks[0]) == 5
    assert again.spec == envs.spec


def test_the_autoreset_mode_is_an_attribute():
    assert vector().autoreset_mode is AutoresetMode.NEXT_STEP
    assert vector(autoreset_mode="Disabled").autoreset_mode is AutoresetMode.DISABLED


@pytest.mark.parametrize("seed", [5, [5, 6]])
def test_a_members_episodes_depend_on_its_own_seed_alone(seed):
    """Member 1 meets the tasks of a single environment with its seed, whatever member 0 does."""
    single = make(world="grounded")
    wanted = [single.reset(seed=6)[1]["task_id"], *(single.reset()[1]["task_id"] for _ in range(2))]
    for other in ("finish", "ls"):
        envs = vector(2, autoreset_mode="SameStep")
        envs.reset(seed=seed)
        met = []
        for _ in range(3):
            met.append(envs.tasks[1].id)
            envs.step([other, "finish"])
        assert met == wanted


def test_seeding_one_member_leaves_the_streams_of_the_others_alone():
    def third_task(seeds):
        envs = vector(2, autoreset_mode="Disabled")
        envs.reset(seed=1)
        for seed in seeds:
            envs.reset(seed=[seed, None], options={"reset_mask": np.array([True, False])})
        envs.reset(options={"reset_mask": np.array([False, True])})
        return envs.tasks[1].id

    assert third_task([]) == third_task([7, None])


@pytest.mark.parametrize("kind", [AsyncVectorEnv, SyncVectorEnv])
@pytest.mark.parametrize("copy", [True, False])
def test_gymnasiums_own_vector_environments_show_the_same_texts(kind, copy):
    options = {"shared_memory": True} if kind is AsyncVectorEnv else {}
    ours = vector(2)
    theirs = kind([lambda: gym.make(ENV_ID, world="grounded")] * 2, copy=copy, **options)
    try:
        assert tuple(theirs.reset(seed=3)[0]) == ours.reset(seed=3)[0]
        actions = ("printf 'a \\u2603 \\n\\n b'", "true")
        assert tuple(theirs.step(actions)[0]) == ours.step(actions)[0]
        assert tuple(theirs.step(("finish", "pwd"))[0]) == ours.step(("finish", "pwd"))[0]
    finally:
        theirs.close()


@pytest.mark.parametrize("face", [make, vector, lambda **options: gym.make(ENV_ID, **options)])
def test_an_unknown_option_is_a_type_error_in_pythons_wording(face):
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'frameskip'") as caught:
        face(frameskip=1)
    assert isinstance(caught.value, SpecError)
    assert all(word in str(caught.value) for word in ("frameskip: got 1", "one of", "max_steps", "render_mode"))
    assert "frameskip" in str(pickle.loads(pickle.dumps(caught.value)))


def test_a_vector_tells_the_tools_of_every_member_and_samples_from_its_menu():
    envs = gym.make_vec("AgentWorld/MCP-v0", num_envs=3, autoreset_mode="SameStep")
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(1)
    for _ in range(2):
        for member, tools in enumerate(envs.tools):
            assert list(tools) == infos["tools"][member]
        for _ in range(10):
            for member, action in enumerate(envs.action_space.sample()):
                assert action in envs.menus[member]
        *_, infos = envs.step(["finish"] * 3)
    envs.close()


@pytest.mark.parametrize("wrong", ["ab", 1.5, [1.5, 2], ["1", "2"], [1], True, [True, False], -1, [0, -1]])
def test_a_seed_that_is_none_is_named_and_changes_nothing(wrong):
    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world="scripted")
    envs.reset(seed=1)
    before = envs.np_random_seed
    with pytest.raises(SpecError, match=r"reset: seed: got .* expected an integer"):
        envs.reset(seed=wrong)
    assert envs.np_random_seed == before


def test_an_array_without_members_is_no_list_of_actions():
    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world="scripted")
    envs.reset(seed=1)
    with pytest.raises(SpecError, match=r"step: actions: got .* expected 2 strings"):
        envs.step(np.array("ls"))
