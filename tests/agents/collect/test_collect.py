"""Recording sessions: a session is a function of its number, and a recording goes on where it was stopped."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import deadly_sessions
import gymnasium as gym
import pytest
from parallel_work import killed, pids, refusing, slow_when_even
from processes import background, lives, wait_until

from agentworld_gym.agents.collect.config import CollectConfig, PolicyName
from agentworld_gym.agents.collect.policies import AWARE, policy_actions
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.documents.json_lines import JsonlWriter
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import AgentWorldError, SpecError, TraceError
from agentworld_gym.base.process.parallel import batches
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import Profile, load_spec
from agentworld_gym.core.domain.task import split_of
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.tasks import generate
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.config_files import load_collect
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world

ROOT = Path(__file__).resolve().parents[3]
SPEC = load_spec("terminal")
CUSTOM = Path(__file__).resolve().parents[3] / "examples" / "custom_domain" / "spec.yaml"
"""A domain without a grounded world."""
CONFIG = load_collect("terminal-state")
SESSIONS = [row for number in range(44) if (row := Recorder([SPEC], CONFIG, seed=5).row(number)) is not None][:40]


def test_a_recording_does_not_depend_on_workers_or_interruptions(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    counts: list[int] = []
    assert collect([SPEC], whole, 40, 5, CONFIG, workers=2, progress=counts.append) == 40
    assert counts == sorted(counts) and (counts[0], counts[-1]) == (0, 40)
    collect([SPEC], parts, 30, 5, CONFIG)
    parts.write_bytes(parts.read_bytes()[:-20])
    assert len(list(read_rows(parts))) == 29
    assert collect([SPEC], parts, 40, 5, CONFIG) == 11
    assert collect([SPEC], parts, 40, 5, CONFIG) == 0
    assert parts.read_bytes() == whole.read_bytes()
    assert list(read_rows(whole, 0, 30)) == SESSIONS[:30]


RECORD = """
import sys
from contextlib import suppress
from pathlib import Path
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.core.domain.spec import load_spec

if __name__ == "__main__":
    collect([load_spec("terminal")], Path(sys.argv[1]), 100_000, 5, workers=2)
"""


@pytest.mark.parametrize("world", ["tiny", "http://localhost:9/v1"])
def test_a_language_world_is_refused_before_it_is_opened(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentworld_gym.agents.collect.recorder.open_world", lambda *_: pytest.fail("it was opened"))
    with pytest.raises(SpecError, match=rf"collect: world: got '{world}', expected grounded or live:FILE or awm:DIR"):
        Recorder([SPEC], CollectConfig(world=world), seed=0)


def test_a_recording_survives_a_kill_and_leaves_no_worker_behind(tmp_path: Path) -> None:
    script, out, whole = tmp_path / "record.py", tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    script.write_text(RECORD)
    process = background([sys.executable, str(script), str(out)])
    wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") >= 8)
    process.kill()  # the parent alone: its workers have to notice
    process.wait()
    wait_until(lambda: not lives(process.pid))
    kept = out.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    total = kept.count(b"\n") + 8
    collect([SPEC], out, total, 5)
    collect([SPEC], whole, total, 5)
    assert out.read_bytes().startswith(kept)
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_session_that_ends_its_process_is_left_out_and_named_when_the_recording_is_started_again(
    tmp_path: Path, workers: str
) -> None:
    out, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    command = [sys.executable, deadly_sessions.__file__, str(out), "10", workers]

    def recorded() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    first = recorded()
    assert first.returncode == (-signal.SIGABRT if workers == "1" else 1)
    again = recorded()
    assert again.returncode == 0, again.stderr
    assert f"session {deadly_sessions.DEADLY} is left out" in again.stderr
    collect([SPEC], whole, 11, 5)
    wanted = [row for row in read_rows(whole) if row.number != deadly_sessions.DEADLY]
    assert list(read_rows(out)) == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "whole.jsonl"]


def test_ctrl_c_ends_a_recording_without_a_word_of_its_workers(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    command = ["collect", "terminal", "--out", str(out), "-n", "100000", "--workers", "2"]
    process = background([sys.executable, "-m", "agentworld_gym", *command])
    wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") >= 8)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said and "Stopped." in said
    wait_until(lambda: not lives(process.pid))
    assert len(list(read_rows(out))) >= 8


@pytest.mark.parametrize("pause", [0.0, 0.05, 0.5])
def test_a_second_ctrl_c_never_hangs(tmp_path: Path, pause: float) -> None:
    out = tmp_path / "rows.jsonl"
    command = ["collect", "terminal", "--out", str(out), "-n", "100000", "--workers", "2"]
    process = background([sys.executable, "-m", "agentworld_gym", *command])
    wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") >= 8)
    for _ in range(2):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        time.sleep(pause)
    try:
        process.communicate(timeout=30)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    assert process.returncode in (130, -signal.SIGINT)
    wait_until(lambda: not lives(process.pid))
    assert len(list(read_rows(out))) >= 8


def test_a_worker_that_is_killed_is_an_error_and_not_a_wait() -> None:
    with pytest.raises(AgentWorldError, match="exit code -9"):
        list(batches(killed, range(8), 2, 2))


def test_what_a_worker_raises_is_raised_with_where_it_was() -> None:
    with pytest.raises(SpecError, match=r"one\.yaml") as error:
        list(batches(refusing, range(8), 2, 2))
    assert "in refusing" in "".join(error.value.__notes__)


@pytest.mark.parametrize("taken", [1, 3])
def test_whoever_takes_no_more_results_ends_the_workers(taken: int) -> None:
    results = batches(pids, iter(int, 1), 2, 1)
    found = {next(results)[0] for _ in range(taken)}
    results.close()
    for pid in found:
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists())  # type: ignore[misc]


def test_results_come_in_the_order_of_what_was_given() -> None:
    assert list(batches(slow_when_even, range(9), 2, 1)) == [[number] for number in range(9)]


def repeat(monkeypatch: pytest.MonkeyPatch, original: Callable[[int], int]) -> None:
    """Let every session be that of another number."""
    rows = Recorder.rows

    def repeated(recorder: Recorder, numbers: Iterable[int], width: int) -> Iterator[Row | None]:
        for number in numbers:
            for found in rows(recorder, [original(number)], width):
                yield found and found.model_copy(update={"number": number, "id": str(number)})

    monkeypatch.setattr(Recorder, "rows", repeated)


def test_a_session_that_repeats_an_earlier_one_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repeat(monkeypatch, lambda number: number // 2)
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    collect([SPEC], whole, 12, 5)
    for count in (1, 3, 4, 12):  # what was there before a stop counts too
        collect([SPEC], parts, count, 5)
    rows = list(read_rows(whole))
    assert [row.number for row in rows] == [2 * number for number in range(12)]
    assert len({row.digest() for row in rows}) == 12
    assert whole.read_bytes() == parts.read_bytes()


def test_when_nothing_new_comes_the_recording_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repeat(monkeypatch, lambda number: number % 5)
    monkeypatch.setattr("agentworld_gym.agents.collect.recording_file.MOST_REPEATED", 20)
    with pytest.raises(AgentWorldError, match="after 5 sessions"):
        collect([SPEC], tmp_path / "rows.jsonl", 6, 5)
    assert len(list(read_rows(tmp_path / "rows.jsonl"))) == 5


def test_another_recording_and_other_files_are_never_touched(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    collect([SPEC], out, 3, 5)
    before = out.read_bytes()
    for seed, config, split, said in (
        (6, None, "train", "seed: got 5, expected 6, as asked for now; record to another file"),
        (5, None, "test", "split: got 'train', expected 'test', as asked for now"),
        (6, CollectConfig(profile="compact"), "train", "seed: got 5, expected 6, and profile 'compact'"),
        (
            5,
            CollectConfig(levels={3: 1.0}),
            "train",
            r"levels: got \{'1': 0.4, .*, expected \{'3': 1.0\}, as asked for",
        ),
        (5, CollectConfig(probe_share=0.9), "train", "probe_share: got 0.2, expected 0.9, as asked for now"),
        (5, CollectConfig(families=("count_lines",)), "train", r"families: got \[\], expected \['count_lines'\], as"),
    ):
        with pytest.raises(SpecError, match=f"line 1: {said}"):
            collect([SPEC], out, 4, seed, config, split)  # type: ignore[arg-type]
    assert out.read_bytes() == before
    for text in ("a file of mine, without a line feed", '{"key": 1}\n'):
        out.write_text(text)
        with pytest.raises(SpecError, match=r"line 1: .* expected rows; record to another file"):
            collect([SPEC], out, 4, 5)
        assert out.read_text() == text


def test_rows_without_settings_are_told_from_another_recording_too(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    collect([SPEC], out, 1, 5)
    row = next(iter(read_rows(out)))
    bare = row.model_copy(update={"provenance": row.provenance.model_copy(update={"settings": {}})})
    out.write_text(bare.model_dump_json() + "\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"provenance\.recording: got .*: the same settings, engines and prompts"):
        collect([SPEC], out, 2, 5, CollectConfig(slip=0.5))
    assert collect([SPEC], out, 2, 5) == 1


def test_one_process_at_a_time_writes_a_file(tmp_path: Path) -> None:
    writer = JsonlWriter(tmp_path / "rows.jsonl")
    with pytest.raises(TraceError, match="another writer"):
        collect([SPEC], tmp_path / "rows.jsonl", 1, 5)
    writer.close()


def test_a_configuration_chooses_the_variant_of_an_engine() -> None:
    chosen, free = (Recorder([load_spec("swe")], CollectConfig(engines=names), 5) for names in ({"swe": "monty"}, {}))
    row, other = chosen.row(0), free.row(0)
    assert row is not None and other is not None
    assert row.provenance.variant == "monty" and row.provenance.recording == chosen.recording
    assert (chosen.recording == free.recording) == (other.provenance.variant == "monty")


@pytest.mark.parametrize(
    ("engines", "told"),
    [
        ({"swe": "pypy"}, "for swe one of auto, bubblewrap, monty in place of 'pypy'"),
        ({"mcp": "fast"}, "for mcp no variant (its engine has none) in place of 'fast'"),
        ({"chess": "fast"}, "with an engine in place of 'chess': android, "),
    ],
)
def test_a_variant_that_no_engine_has_is_told_with_its_domain(engines: dict[str, str], told: str) -> None:
    with pytest.raises(SpecError, match=re.escape(told)):
        validated(CollectConfig, {"engines": engines}, "swe.yaml")


def test_a_domain_without_an_engine_cannot_be_recorded() -> None:
    with pytest.raises(SpecError, match=r"a domain with a grounded world: .*terminal"):
        Recorder([load_spec(CUSTOM)], CONFIG, seed=0)


def test_what_a_configuration_asks_for_must_be_there() -> None:
    with pytest.raises(SpecError, match=r"families of terminal: got \['chess'\], expected some of aggregate_csv"):
        Recorder([SPEC], CollectConfig(families=("chess",)), seed=0)
    with pytest.raises(SpecError, match="at least one domain"):
        Recorder([], CollectConfig(), seed=0)


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_splits_never_share_a_task(split: str) -> None:
    recorder = Recorder([SPEC], CONFIG, seed=0, split=split)  # type: ignore[arg-type]
    rows = [row for number in range(20) if (row := recorder.row(number)) is not None]
    assert {split_of(row.seed or 0) for row in rows} == {row.split for row in rows} == {split}


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_a_request_is_what_an_environment_would_send(profile: Profile) -> None:
    prompts, parser = Prompts(SPEC, PromptOptions(profile=profile)), ActionParser(SPEC)
    recorder = Recorder([SPEC], CollectConfig(profile=profile, controls_share=0.5), seed=5)
    for row in filter(None, map(recorder.row, range(10))):
        task = generate("terminal", row.family, row.level or 1, row.seed or 0)
        turns = [(parser.parse(action), text) for action, text in zip(row.actions, row.observations, strict=True)]
        *past, (last, _) = turns
        assert row.request() == prompts.messages(task, past, last, row.controls)


def test_a_row_tells_the_state_after_every_turn() -> None:
    checked = 0
    for row in filter(None, map(Recorder([SPEC], CollectConfig(controls_share=0.5), 5).row, range(12))):
        task = generate("terminal", row.family, row.level or 1, row.seed or 0)
        task = task.model_copy(update={"controls": row.controls, "control_seed": row.control_seed})
        world = open_world("grounded", WorldOptions(SPEC))
        (session,) = world.begin([task], [row.seed or 0])
        parser = ActionParser(SPEC)
        assert session.machine.state() == row.state_after(0)
        for turn, text in enumerate(row.actions, 1):
            world.step([session], [parser.parse(text)])
            assert session.machine.state() == row.state_after(turn)
            assert session.observation == row.observations[turn - 1]
            checked += row.fields_changed[turn - 1] > 0
        session.close()
    assert checked > 10


def test_success_is_that_of_an_environment() -> None:
    env = gym.make("AgentWorld/Terminal-v0")
    outcomes = set()
    for row in filter(None, map(Recorder([SPEC], CollectConfig(controls_share=0.5), 5).row, range(24))):
        if row.finish is None:
            assert row.success is False
            continue
        options = {"task": row.task_id, "controls": row.controls, "control_seed": row.control_seed}
        env.reset(seed=row.seed, options=options)
        for text in row.actions[: row.turn_idx - row.probes]:
            env.step(text)
        *_, info = env.step(row.finish)
        assert (info["success"], info["score"]) == (row.success, row.score)
        outcomes.add((row.success, bool(row.controls)))
    env.close()
    assert len(outcomes) == 4


@pytest.mark.parametrize("policy", ["expert", "mixed", "menu", "explore", "compute", "blend", "refusals"])
def test_every_policy_gives_sessions(policy: PolicyName) -> None:
    recorder = Recorder([SPEC], CollectConfig(policies={policy: 1.0}), seed=2)
    rows = [row for number in range(6) if (row := recorder.row(number)) is not None]
    assert rows and {row.policy for row in rows} == {policy}
    if policy == "expert":
        assert all(row.success for row in rows)


@pytest.mark.parametrize("policy", ["expert", "mixed", "menu", "explore", "compute", "blend", "refusals"])
def test_every_policy_is_sent_what_each_of_its_actions_showed(policy: PolicyName) -> None:
    """A policy is sent the observation of its last action too, and ends then."""
    for seed in range(8):
        actions = policy_actions(policy, generate("terminal", "archive", 1, seed), random.Random(seed), CollectConfig())
        played = [next(actions)]
        with pytest.raises(StopIteration):
            while True:
                played.append(actions.send("$ "))
        assert all(isinstance(action, str) for action in played)


def test_controls_disturb_a_share_of_the_sessions_and_leave_the_others_as_they_are() -> None:
    calm = Recorder([SPEC], CollectConfig(), seed=2)
    some = Recorder([SPEC], CollectConfig(controls_share=0.4), seed=2)
    rows = [(calm.row(number), some.row(number)) for number in range(30)]
    disturbed = [row for _, row in rows if row is not None and row.controls]
    assert 5 <= len(disturbed) <= 20
    assert any(row.policy == AWARE and row.success for row in disturbed)
    for row in disturbed:
        sentences = Prompts(SPEC).system_message.sentences(row.controls)
        assert sentences and all(sentence in row.system_str for sentence in sentences)
        assert row.control_seed is not None
    for plain, other in rows:
        if plain is not None and other is not None and not other.controls:
            same = {"provenance": plain.provenance}
            assert other.model_copy(update=same) == plain


def test_an_agent_plays_its_share_of_the_sessions_and_the_policies_play_the_others() -> None:
    asked: dict[str, Any] = {"agent": "menu", "policies": {"expert": 1.0}}
    shared = Recorder([SPEC], CollectConfig(agent_share=0.5, **asked), seed=2)
    policies = [row.policy for row in map(shared.row, range(20)) if row is not None]
    assert 4 <= policies.count("menu") <= 16 and policies.count("expert") == len(policies) - policies.count("menu")
    alone = Recorder([SPEC], CollectConfig(**asked), seed=2)
    assert {row.policy for row in map(alone.row, range(4)) if row is not None} == {"menu"}
    assert alone.recording != shared.recording


def test_domains_take_turns() -> None:
    names = list(engine_names()[:2])
    recorder = Recorder([load_spec(name) for name in names], CollectConfig(), seed=1)
    for number in range(4):
        row = recorder.row(number)
        assert row is None or row.domain == names[number % len(names)]


def test_a_file_that_says_who_plays_what_needs_no_other_part(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("collect: {policies: {expert: 1.0}, max_turns: 3}")
    assert load_collect(file).max_turns == 3
    file.write_text("name: mine")
    with pytest.raises(SpecError, match=r"mine\.yaml: data: got None"):
        load_collect(file)
    assert load_collect("adopt").profile == "compact", "a whole one without it has the defaults"
