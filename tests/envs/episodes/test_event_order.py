"""The order in which `recv` hands out members: recorded, and given again bit for bit, however long answers take."""

from __future__ import annotations

import random
from pathlib import Path

import gymnasium as gym
import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latencies import fickle, held_world, steady

from agentworld_gym.base.errors import MissingFile, RecordingError, SpecError

ID = "AgentWorld/Terminal-v0"
ACTIONS = ("ls", "pwd", "cat notes.txt", "date", "finish")
NEXT_STEP = gym.vector.AutoresetMode.NEXT_STEP
SAME_STEP = gym.vector.AutoresetMode.SAME_STEP


def batches(envs, count: int, min_ready: int = 1) -> list[bytes]:
    """Play a while as a user would, and return every batch that `recv` handed out, as bytes."""
    first, _ = envs.reset(seed=3)
    sent = np.zeros(envs.num_envs, int)
    envs.send([ACTIONS[0]] * envs.num_envs)
    got = [repr(first).encode()]
    for _ in range(count):
        shown, rewards, terminated, truncated, infos = envs.recv(min_ready)
        members = infos["env_id"]
        sent[members] += 1
        told = orjson.dumps(infos, default=lambda value: value.tolist(), option=orjson.OPT_SORT_KEYS)
        arrays = (rewards.tobytes(), terminated.tobytes(), truncated.tobytes(), members.tobytes())
        got.append(b"|".join([repr(shown).encode(), *arrays, told]))
        envs.send([ACTIONS[(sent[member] + member) % len(ACTIONS)] for member in members], members)
    return got


def played(world: str, latencies: int, count: int = 30, answer=steady, **options) -> list[bytes]:
    """Play in a world whose answers come in an order of their own."""
    with held_world(random.Random(latencies), 5, world=world, answer=answer, **options) as (envs, _):
        return batches(envs, count, min_ready=2)


@settings(max_examples=6)
@given(latencies=st.lists(st.integers(0, 10_000), min_size=2, max_size=2, unique=True))
@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
def test_a_replay_hands_out_the_recorded_batches_bit_for_bit(latencies, mode, tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    order = {"autoreset_mode": mode, "order": f"recorded:{folder}/order.jsonl"}
    recording = {"autoreset_mode": mode, "order": f"record:{folder}/order.jsonl"}
    recorded = played(f"record:{folder}/world.jsonl+held", latencies[0], **recording)
    assert played(f"recorded:{folder}/world.jsonl", 0, **order) == recorded, "over recorded observations"
    assert played("held", latencies[1], **order) == recorded, "in the world itself, with other latencies"


def test_without_the_recorded_order_other_latencies_give_other_batches(tmp_path):
    recorded = played("held", 1, order=f"record:{tmp_path}/order.jsonl")
    assert played("held", 2) != recorded


def test_a_replay_holds_for_worlds_that_fail(tmp_path):
    recorded = played("held", 1, answer=fickle, order=f"record:{tmp_path}/order.jsonl")
    assert any(b'"failure"' in batch for batch in recorded)
    assert played("held", 2, answer=fickle, order=f"recorded:{tmp_path}/order.jsonl") == recorded


def test_the_file_names_the_steps_of_every_batch(tmp_path):
    played("held", 1, count=4, order=f"record:{tmp_path}/order.jsonl")
    header, *rows = map(orjson.loads, (tmp_path / "order.jsonl").read_bytes().splitlines())
    assert (header["format"], header["env"], len(rows)) == ("agentworld-order-1", ID, 4)
    steps = [tuple(step) for row in rows for step in row["steps"]]
    assert len(set(steps)) == len(steps) >= 8
    for name in {name for name, _ in steps}:
        numbers = [number for other, number in steps if other == name]
        assert numbers == list(range(1, len(numbers) + 1)), "the steps of an episode stay in order"


def test_a_replay_that_goes_another_way_is_refused(tmp_path):
    path = tmp_path / "order.jsonl"
    with held_world(random.Random(1), 2, answer=steady, order=f"record:{path}") as (envs, _):
        batches(envs, 3, min_ready=2)
    with held_world(random.Random(1), 2, answer=steady, order=f"recorded:{path}") as (envs, _):
        envs.reset(seed=3)
        envs.send(["ls"], [1])
        with pytest.raises(RecordingError, match="line 2: e0 has no step under way in the replay"):
            envs.recv()
        envs.send(["ls"], [0])
        assert len(envs.recv()[0]) == 2, "what was recorded can still be handed out"
    replay = held_world(random.Random(1), 2, answer=steady, order=f"recorded:{path}")
    with replay as (envs, _), pytest.raises(RecordingError, match="ends after 3 batches"):
        batches(envs, 4, min_ready=2)


def test_an_order_is_that_of_one_world_and_one_recording(tmp_path):
    path = tmp_path / "order.jsonl"
    gym.make_vec(ID, num_envs=1, world="scripted", order=f"record:{path}").close()
    with pytest.raises(RecordingError, match="fingerprint"):
        gym.make_vec(ID, num_envs=1, world="grounded", order=f"recorded:{path}")
    with pytest.raises(RecordingError, match="env: got 'AgentWorld/Terminal-v0'"):
        gym.make_vec("AgentWorld/MCP-v0", num_envs=1, world="scripted", order=f"recorded:{path}")
    with pytest.raises(RecordingError, match="holds something already"):
        gym.make_vec(ID, num_envs=1, world="scripted", order=f"record:{path}")
    with pytest.raises(MissingFile, match="no such recorded order"):
        gym.make_vec(ID, num_envs=1, world="scripted", order=f"recorded:{tmp_path}/none.jsonl")
    Path(path).write_text('{"format": "something"}\n')
    with pytest.raises(RecordingError, match="not a recorded order"):
        gym.make_vec(ID, num_envs=1, world="scripted", order=f"recorded:{path}")
    with pytest.raises(SpecError, match="record:PATH or recorded:PATH"):
        gym.make_vec(ID, num_envs=1, world="scripted", order="sometimes")


def test_a_single_environment_has_no_order(tmp_path):
    with pytest.raises(SpecError, match="only steps of a vector environment"):
        gym.make(ID, world="scripted", order=f"record:{tmp_path}/order.jsonl")
    assert not (tmp_path / "order.jsonl").exists()
