"""`send` and `recv`: every member goes on as its own answer comes, and plays what it plays in synchronous waves."""

from __future__ import annotations

import random
import signal
import threading

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latencies import fickle, held_world
from worlds import predicted

from agentworld_gym.base.errors import ClosedError, SpecError, UnderWayError
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds import register_world

ID = "AgentWorld/Terminal-v0"
ACTIONS = ("ls", "pwd", "cat notes.txt", "finish")


def by_waves(num_envs: int, steps: int) -> list[list[tuple]]:
    """What each member sees in synchronous waves."""
    register_world("whole", lambda options: options.language(ScriptedGenerator(fickle)))
    envs = gym.make_vec(ID, num_envs=num_envs, world="whole").unwrapped
    envs.reset(seed=3)
    seen: list[list[tuple]] = [[] for _ in range(num_envs)]
    for step in range(steps):
        shown, rewards, terminated, truncated, _ = envs.step([ACTIONS[step % len(ACTIONS)]] * num_envs)
        for member, one in enumerate(zip(shown, rewards, terminated, truncated, strict=True)):
            seen[member].append(one)
    envs.close()
    return seen


@settings(max_examples=8)
@given(seed=st.integers(0, 1000), min_ready=st.integers(1, 4))
def test_in_any_order_of_answers_each_member_plays_what_it_plays_in_waves(seed, min_ready):
    count, steps = 4, 6
    seen: list[list[tuple]] = [[] for _ in range(count)]
    with held_world(random.Random(seed), count) as (envs, _):
        envs.reset(seed=3)
        envs.send([ACTIONS[0]] * count)
        left = count
        while left:
            shown, rewards, terminated, truncated, infos = envs.recv(min(min_ready, left))
            for member, *one in zip(infos["env_id"], shown, rewards, terminated, truncated, strict=True):
                seen[member].append(tuple(one))
                if len(seen[member]) < steps:
                    envs.send([ACTIONS[len(seen[member]) % len(ACTIONS)]], [member])
                else:
                    left -= 1
    assert seen == by_waves(count, steps)


def test_one_slow_answer_holds_up_nobody_else():
    with held_world(random.Random(0), 3) as (envs, generator):
        envs.reset(seed=0)
        generator.by_hand, generator._answer = True, lambda request: predicted("fine")
        envs.send(["ls", "ls", "ls"])
        slow, *others = sorted(generator.waiting)
        for number in others:
            generator.release(number)
        assert envs.recv()[4]["env_id"].tolist() == [1, 2]
        envs.send(["pwd"], [2])
        generator.release(max(generator.waiting))
        assert envs.recv()[4]["env_id"].tolist() == [2]
        generator.release(slow)
        assert envs.recv()[4]["env_id"].tolist() == [0]


def test_misuse_is_refused_and_changes_nothing():
    with held_world(random.Random(0), 2) as (envs, _):
        with pytest.raises(gym.error.ResetNeeded, match="before send"):
            envs.send(["ls", "ls"])
        envs.reset(seed=0)
        with pytest.raises(UnderWayError, match="nothing is under way"):
            envs.recv()
        with pytest.raises(SpecError, match="numbers of members"):
            envs.send(["ls"], [2])
        with pytest.raises(SpecError, match="1 strings"):
            envs.send(["ls", "pwd"], [0])
        with pytest.raises(UnderWayError):
            envs.send(["ls", "ls"], [0, 0])
        envs.send(["ls"], [1])
        with pytest.raises(UnderWayError, match="under way"):
            envs.send(["ls", "ls"])
        with pytest.raises(UnderWayError, match=r"before step\(\)"):
            envs.step(["ls", "ls"])
        with pytest.raises(UnderWayError, match="forked"):
            envs.runner.fork(envs.episodes[1])
        with pytest.raises(SpecError, match="min_ready"):
            envs.recv(0)
        assert envs.recv(5)[4]["env_id"].tolist() == [1]
        assert [len(episode.actions) for episode in envs.episodes] == [0, 1]


def test_an_interrupted_recv_loses_nothing_and_can_be_called_again():
    with held_world(random.Random(0), 2) as (envs, generator):
        envs.reset(seed=0)
        generator.by_hand = True
        envs.send(["ls", "ls"])
        timer = threading.Timer(0.2, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            envs.recv()
        assert [episode.session.turn for episode in envs.episodes] == [0, 0]
        for number in sorted(generator.waiting):
            generator.release(number)
        assert envs.recv(2)[4]["env_id"].tolist() == [0, 1]


def test_a_reset_drops_what_is_under_way():
    with held_world(random.Random(0), 2) as (envs, _):
        envs.reset(seed=0)
        envs.send(["ls", "ls"])
        first, _ = envs.reset(seed=0)
        assert envs.step(["ls", "ls"])[0] != first


def test_close_with_steps_under_way_is_clean():
    with held_world(random.Random(0), 2) as (envs, _):
        envs.reset(seed=0)
        envs.send(["ls", "ls"])
        envs.close()
        with pytest.raises(ClosedError):
            envs.recv()


@pytest.mark.parametrize("mode", list(gym.vector.AutoresetMode))
def test_a_member_that_ended_is_reset_as_the_mode_says(mode):
    envs = gym.make_vec(ID, num_envs=2, world="scripted", autoreset_mode=mode).unwrapped
    envs.reset(seed=0)
    envs.send(["finish"], [1])
    shown, _, terminated, _, infos = envs.recv()
    assert terminated.tolist() == [True]
    if mode is gym.vector.AutoresetMode.SAME_STEP:
        assert "final_info" in infos and shown == (envs.episodes[1].observation,)
    elif mode is gym.vector.AutoresetMode.NEXT_STEP:
        envs.send(["this is discarded"], [1])
        shown, rewards, terminated, _, infos = envs.recv()
        assert (rewards.tolist(), terminated.tolist(), infos["env_id"].tolist()) == ([0.0], [False], [1])
        assert envs.episodes[1].steps == 0
    else:
        with pytest.raises(gym.error.ResetNeeded):
            envs.send(["ls"], [1])
        envs.reset(options={"reset_mask": np.array([False, True])})
        envs.send(["ls"], [1])
        assert envs.recv()[0] == ("[1] ls",)
    envs.close()


def test_a_grounded_world_is_ready_at_once():
    envs = gym.make_vec(ID, num_envs=3, world="grounded").unwrapped
    envs.reset(seed=0)
    envs.send(["pwd"] * 3, np.arange(3))
    assert envs.recv()[4]["env_id"].tolist() == [0, 1, 2]
    envs.close()
