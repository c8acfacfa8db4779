"""The order in which `recv` hands out members: recorded, and given again bit for bit, however long answers take."""

from __future__ import annotations

import random

import gymnasium as gym
import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latencies import held_world, steady

from agentworld_gym.base.documents.json_lines import sealed
from agentworld_gym.base.errors import RecordingError
from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.worlds.recordings.format import FORMAT, read_recording

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
@given(latencies=st.integers(0, 10_000))
@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
def test_a_replay_hands_out_the_recorded_batches_bit_for_bit(latencies, mode, tmp_path_factory):
    path = tmp_path_factory.mktemp("order") / "world.jsonl"
    recorded = played(f"record:{path}+held", latencies, autoreset_mode=mode)
    assert played(f"recorded:{path}", 0, autoreset_mode=mode) == recorded


def test_without_the_recorded_order_other_latencies_give_other_batches():
    assert played("held", 2) != played("held", 1)


def test_the_recording_names_the_steps_of_every_batch(tmp_path):
    played(f"record:{tmp_path}/world.jsonl+held", 1, count=4)
    (order,) = read_recording(tmp_path / "world.jsonl").orders.values()
    steps = [step for batch in order for step in batch.steps]
    assert len(order) == 4 and len(set(steps)) == len(steps) >= 8
    for name in {name for name, _ in steps}:
        numbers = [number for other, number in steps if other == name]
        assert numbers == list(range(1, len(numbers) + 1)), "the steps of an episode stay in order"


def test_a_recording_of_whole_waves_holds_no_order(tmp_path):
    with held_world(random.Random(1), 2, world=f"record:{tmp_path}/world.jsonl+held", answer=steady) as (envs, _):
        envs.reset(seed=3)
        envs.step(["ls", "pwd"])
    assert read_recording(tmp_path / "world.jsonl").orders == {}


def test_a_recording_that_is_continued_gives_the_order_of_the_last_run(tmp_path):
    path = tmp_path / "world.jsonl"
    first, last = (played(f"record:{path}+held", latencies) for latencies in (1, 2))
    assert first != last
    assert played(f"recorded:{path}", 3) == last


def test_a_replay_takes_the_order_of_its_own_run_and_not_of_a_later_one_with_other_episodes(tmp_path):
    path = tmp_path / "world.jsonl"

    def training(world: str, latencies: int) -> list[bytes]:
        with held_world(random.Random(latencies), 4, world=world, answer=steady) as (envs, _):
            return batches(envs, 12)

    recorded = training(f"record:{path}+held", 1)
    with held_world(random.Random(2), 2, world=f"record:{path}+held", answer=steady) as (envs, _):
        evaluated = batches(envs, 6)
    with held_world(random.Random(3), 3, world=f"record:{path}+held", answer=steady) as (envs, _):
        envs.reset(seed=9)
        envs.step(["ls", "pwd", "date"])
    assert training(f"recorded:{path}", 4) == recorded
    with held_world(random.Random(5), 2, world=f"recorded:{path}") as (envs, _):
        assert batches(envs, 6) == evaluated


def test_a_replay_that_begins_with_other_episodes_than_any_recorded_order_leaves_it_and_says_so(recording, caplog):
    with held_world(random.Random(1), 1, world=recording) as (envs, _):
        envs.reset(seed=3)
        envs.send(["ls"])
        envs.recv()
    assert caplog.text.count("leaves the recorded order at batch 1: no run in it") == 1


def test_no_member_starves_that_the_recorded_run_never_sent(tmp_path, caplog):
    path = tmp_path / "world.jsonl"
    with held_world(random.Random(1), 2, world=f"record:{path}+held", answer=steady) as (envs, _):
        envs.reset(seed=3)
        for action in ACTIONS[:4]:
            envs.send([action], [0])
            envs.recv()
        envs.step(["ls", "ls"])
    with held_world(random.Random(1), 2, world=f"recorded:{path}") as (envs, _):
        envs.reset(seed=3)
        envs.send(["ls", "ls"])
        assert envs.recv()[-1]["env_id"].tolist() == [0, 1]
    assert "2 steps are under way in the replay, and 1 were in the run" in caplog.text


@pytest.fixture
def recording(tmp_path) -> str:
    """A recording of three batches of one or two members."""
    with held_world(random.Random(1), 2, world=f"record:{tmp_path}/world.jsonl+held", answer=steady) as (envs, _):
        batches(envs, 3)
    return f"recorded:{tmp_path}/world.jsonl"


def test_a_replay_that_goes_another_way_leaves_the_order_and_says_where(recording, caplog):
    with held_world(random.Random(1), 2, world=recording) as (envs, _):
        envs.reset(seed=3)
        (order,) = envs.runner.world.orders.values()
        name, _ = order[0].steps[0]
        envs.send(["ls"], [1 if name == "e0" else 0])
        assert len(envs.recv()[0]) == 1
    assert f"leaves the recorded order at batch 1: {name} has no step under way" in caplog.text


def test_a_replay_that_waits_for_more_members_leaves_the_order(recording, caplog):
    with held_world(random.Random(1), 2, world=recording) as (envs, _):
        envs.reset(seed=3)
        envs.send(["ls", "ls"])
        assert len(envs.recv(2)[0]) == 2
    assert "leaves the recorded order at batch 1: the replay waits for 2 steps" in caplog.text


def test_a_replay_goes_on_behind_the_end_of_the_order_and_says_so(recording, caplog):
    with held_world(random.Random(1), 2, world=recording) as (envs, _):
        batches(envs, 3)
        assert "leaves" not in caplog.text
        assert len(envs.recv(2)[0]) == 2
    assert caplog.text.count("leaves the recorded order at batch 4: it ends here") == 1


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ({"begins": ["a"], "steps": [["e0"]]}, r"line 2: steps: got \['e0'\], expected the name of an episode and"),
        ({"begins": ["a"], "steps": [[0, 1]]}, r"steps: got \[0, 1\]"),
        ({"begins": ["a"], "steps": 3}, "steps: got '3', expected list"),
        ({"begins": None, "steps": [["e0", 1]]}, "begins: got None"),
    ],
)
def test_a_line_of_the_order_that_is_malformed_is_named(tmp_path, line, error):
    path = tmp_path / "world.jsonl"
    header = sealed({"format": FORMAT, "fingerprint": Fingerprint({}).as_dict()})
    lines = [header, sealed({"under_way": 1, **line}, header["digest"])]
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in lines))
    with pytest.raises(RecordingError, match=error):
        read_recording(path)
