"""Record against anything, replay with nothing."""

from __future__ import annotations

import itertools

import gymnasium as gym
import orjson
import pytest
from worlds import dream, make, predicted

from agentworld_gym import RecordingError, TraceError
from agentworld_gym.base.documents.json_lines import read_jsonl, sealed
from agentworld_gym.base.errors import MissingFile
from agentworld_gym.core.contracts import Completion, Usage

ACTIONS = ("ls", "pwd", "cat nothing", "finish")


def play(world: str, seed: int = 3, actions=ACTIONS):
    env = make(world=world)
    seen = [env.reset(seed=seed), *[env.step(action) for action in actions]]
    env.close()
    return seen


def test_a_replay_of_the_grounded_world_is_bitwise_equal(tmp_path):
    recorded = play(f"record:{tmp_path}/r.jsonl+grounded")
    assert play(f"recorded:{tmp_path}/r.jsonl") == recorded == play("grounded")


@pytest.mark.parametrize("usage", [Usage(7, 3, 5), Usage(known=False)], ids=["counted", "tokens unknown"])
def test_a_replay_of_a_sampled_world_is_bitwise_equal_probes_included(tmp_path, usage):
    numbers = itertools.count()
    world = dream("sampling", lambda request: Completion(predicted(f"out {next(numbers)}\ndev@box:~$"), usage=usage))
    recorded = play(f"record:{tmp_path}/r.jsonl+{world}")
    assert play(f"recorded:{tmp_path}/r.jsonl") == recorded


def test_the_first_completion_wins_within_a_wave_and_over_runs(tmp_path):
    numbers = itertools.count()
    dream("counting_up", lambda request: predicted(f"out {next(numbers)}\ndev@box:~$"))
    world = f"record:{tmp_path}/r.jsonl+counting_up"
    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world=world)
    envs.reset(seed=[3, 3])
    observations = envs.step(["ls", "ls"])[0]
    assert observations[0] == observations[1]
    second = envs.step(["pwd", "pwd"])[0]
    envs.close()
    env = make(world=world)
    env.reset(seed=3)
    assert env.step("ls")[0] == observations[0]
    assert env.step("pwd")[0] == second[0]


def test_forks_are_recorded_and_replayed(tmp_path):
    def run(world):
        env = make(world=world)
        env.reset(seed=3)
        env.step("ls")
        twin = env.fork()
        return env.step("pwd"), twin.step("whoami")

    assert run(f"record:{tmp_path}/r.jsonl+grounded") == run(f"recorded:{tmp_path}/r.jsonl")


def test_a_missing_transition_says_what_differs(tmp_path):
    play(f"record:{tmp_path}/r.jsonl+grounded")
    env = make(world=f"recorded:{tmp_path}/r.jsonl")
    with pytest.raises(RecordingError, match=r"no episode of task|under seeds \[3\], not 4"):
        env.reset(seed=4)
    env.reset(seed=3)
    env.step("ls")
    failure = env.step("whoami")[4]["failure"]
    assert failure["kind"] == "recording"
    assert "turn 2: no answer to 'whoami'; recorded here: 'pwd'" in failure["message"]
    assert env.step("pwd")[4]["steps"] == 2


def test_a_file_that_is_none_or_of_another_world_is_refused(tmp_path):
    with pytest.raises(MissingFile, match=r"record:.*\+WORLD"):
        make(world=f"recorded:{tmp_path}/none.jsonl")
    (tmp_path / "other.jsonl").write_text('{"format": "something else"}\n')
    with pytest.raises(RecordingError, match="not a recording"):
        make(world=f"recorded:{tmp_path}/other.jsonl")
    play(f"record:{tmp_path}/r.jsonl+grounded")
    with pytest.raises(RecordingError, match="record to another file"):
        make(world=f"record:{tmp_path}/r.jsonl+scripted")


def test_fields_of_a_concept_that_is_gone_are_ignored_and_its_source_of_answers_is_refused(tmp_path):
    recorded = play(f"record:{tmp_path}/r.jsonl+grounded")
    lines = list(read_jsonl(tmp_path / "r.jsonl"))

    def written(name, **more):
        digest = ""
        with open(tmp_path / name, "wb") as file:
            for line in lines:
                held = {key: value for key, value in line.items() if key != "digest"}
                whole = sealed(held | more if "action" in held else held, digest)
                digest = whole["digest"]
                file.write(orjson.dumps(whole) + b"\n")
        return f"recorded:{tmp_path / name}"

    assert play(written("fields.jsonl", ledger="= a\n", ledger_check={"malformed": 0})) == recorded
    with pytest.raises(RecordingError, match="line 3: source: got 'ledger', expected state or grounded"):
        make(world=written("source.jsonl", source="ledger"))


def test_a_recording_that_holds_nothing_yet_can_be_opened_again_and_again(tmp_path):
    for _ in range(3):
        make(world=f"record:{tmp_path}/r.jsonl+grounded").close()
    assert play(f"record:{tmp_path}/r.jsonl+grounded") == play(f"recorded:{tmp_path}/r.jsonl")


def test_a_recording_has_one_writer_at_a_time(tmp_path):
    env = make(world=f"record:{tmp_path}/r.jsonl+grounded")
    with pytest.raises(TraceError, match="another writer"):
        make(world=f"record:{tmp_path}/r.jsonl+grounded")
    env.close()


def test_what_is_no_valid_unicode_is_replayed_as_it_was(tmp_path):
    dream("surrogate", lambda request: predicted("a <U+D800> b"))
    recorded = play(f"record:{tmp_path}/r.jsonl+surrogate", actions=("ls",))
    assert play(f"recorded:{tmp_path}/r.jsonl", actions=("ls",)) == recorded


def test_a_torn_last_line_is_cut_and_the_recording_goes_on(tmp_path):
    path = tmp_path / "r.jsonl"
    play(f"record:{path}+grounded", actions=("ls",))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "half a ro')
    play(f"record:{path}+grounded", actions=("ls", "pwd"))
    assert path.read_bytes().startswith(whole)
    assert [row["action"] for row in read_jsonl(path) if "action" in row] == ["ls", "pwd"]


def test_a_recording_keeps_the_fingerprint_of_its_world(tmp_path):
    play(f"record:{tmp_path}/r.jsonl+grounded")
    grounded = make(world="grounded").world.fingerprint
    make(world=f"recorded:{tmp_path}/r.jsonl", lock=grounded.digest)
