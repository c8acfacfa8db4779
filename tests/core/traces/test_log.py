"""Two logs of a run, joined by ids, whole after any end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from itertools import chain, repeat

import pytest
from worlds import dream, make, predicted

from agentworld_gym import TraceError
from agentworld_gym.base.documents.json_lines import JsonlWriter, read_jsonl
from agentworld_gym.base.errors import MissingFile
from agentworld_gym.core.traces import agent_logs, read_header, read_trace, stream_trace


def test_a_run_can_be_read_again_from_both_logs(tmp_path):
    world = dream("logged", lambda request: "<think>hm</think>" + predicted("ls\na.txt\ndev@box:~$"))
    env = make(world=world, traces=str(tmp_path))
    first, info = env.reset(seed=3)
    step = env.step("ls")
    env.close()
    [episode] = read_trace(tmp_path)
    assert episode.start["observation"] == first
    assert episode.start["task_id"] == info["task_id"]
    [row] = episode.steps
    assert (row.action, row.observation, row.reward) == ("ls", step[0], step[1])
    assert row.info == step[4]
    assert row.world["completion"].startswith("<think>hm</think>")
    assert "**Action:**" in row.world["prompt"]
    assert episode.system


def test_both_headers_hold_the_fingerprint(tmp_path):
    env = make(world="grounded", traces=str(tmp_path))
    env.close()
    for path in tmp_path.glob("*.jsonl"):
        assert read_header(path)["fingerprint"] == env.world.fingerprint.as_dict()


def test_a_fork_is_an_episode_that_says_where_it_comes_from(tmp_path):
    env = make(world="grounded", traces=str(tmp_path))
    env.reset(seed=3)
    env.step("ls")
    twin = env.fork()
    twin.step("pwd")
    first, second = read_trace(tmp_path)
    assert (second.start["parent"], second.start["parent_turn"]) == (first.id, 1)
    assert [step.action for step in second.steps] == ["pwd"]


def test_a_stream_of_episodes_holds_a_step_that_was_tried_again_once(tmp_path):
    from agentworld_gym import Failure, FailureKind

    answers = chain([Failure(FailureKind.TIMEOUT, "late", retryable=True)], repeat(predicted("fine")))
    env = make(world=dream("late", lambda request: next(answers)), traces=str(tmp_path))
    env.reset(seed=3)
    env.step("ls")
    env.step("ls")
    env.step("finish")
    env.reset(seed=4)
    env.close()
    ended, under_way = stream_trace(*agent_logs(tmp_path))
    assert [(step.turn, step.action, "failure" in step.info) for step in ended.steps][:1] == [(1, "ls", False)]
    assert [step.action for step in ended.steps] == ["ls", "finish"]
    assert under_way.start["seed"] == 4 and not under_way.steps


def test_failures_are_logged_and_a_retry_takes_their_place(tmp_path):
    from agentworld_gym import Failure, FailureKind

    answers = iter([Failure(FailureKind.TIMEOUT, "late", retryable=True), predicted("fine")])
    env = make(world=dream("late", lambda request: next(answers)), traces=str(tmp_path))
    env.reset(seed=3)
    env.step("ls")
    env.step("ls")
    env.close()
    [episode] = read_trace(tmp_path)
    assert [("failure" in step.info, step.turn) for step in episode.steps] == [(True, 1), (False, 1)]


PLAY_FOR_EVER = """
    import sys, gymnasium as gym, agentworld_gym
    env = gym.make("AgentWorld/Terminal-v0", world="grounded", traces=sys.argv[1], max_steps=10**9)
    env.reset(seed=1)
    print("ready", flush=True)
    while True:
        env.step("ls")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_was_played_is_readable_after_a_kill(tmp_path, how):
    script = textwrap.dedent(PLAY_FOR_EVER)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(how)
    process.wait()
    [episode] = read_trace(tmp_path)
    assert len(episode.steps) > 0
    assert [step.turn for step in episode.steps] == list(range(1, len(episode.steps) + 1))


def test_a_full_disk_is_an_error_and_leaves_whole_rows(tmp_path):
    script = textwrap.dedent("""
        import resource, signal, sys
        from pathlib import Path
        from agentworld_gym import TraceError
        from agentworld_gym.base.documents.json_lines import JsonlWriter
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        writer = JsonlWriter(Path(sys.argv[1]))
        try:
            for number in range(1000):
                writer.write([{"number": number}] * 3)
        except TraceError as error:
            print(error)
    """)
    path = tmp_path / "log.jsonl"
    said = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True).stdout
    assert "log.jsonl: File too large" in said
    numbers = [row["number"] for row in read_jsonl(path)]
    assert numbers == [n for n in range(len(numbers) // 3) for _ in range(3)]
    assert len(numbers) > 30


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_says_what_to_do():
    from agentworld_gym.base.documents.json_lines import _trace_error

    with pytest.raises(OSError) as caught, open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")
    assert "free some space" in str(_trace_error("log.jsonl", caught.value))


def test_lone_surrogates_do_not_break_a_log(tmp_path):
    writer = JsonlWriter(tmp_path / "log.jsonl")
    writer.write([{"text": "a\ud800b", "list": ["\udfff"]}])
    writer.close()
    assert [row["text"] for row in read_jsonl(tmp_path / "log.jsonl")] == ["a\\ud800b"]


def test_what_is_no_trace_says_so(tmp_path):
    with pytest.raises(MissingFile, match="no such trace"):
        list(read_trace(tmp_path))
    (tmp_path / "x.agent.jsonl").write_text('{"hello": 1}\n')
    with pytest.raises(TraceError, match="not a trace"):
        list(read_trace(tmp_path))
    (tmp_path / "y.jsonl").write_text("[1]\n")
    with pytest.raises(TraceError, match="line 1"):
        list(read_jsonl(tmp_path / "y.jsonl"))
