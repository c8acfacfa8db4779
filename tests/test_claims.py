"""`benchmarks/claims` keeps finished runs, compares arms on the same tasks, and runs from end to end."""

from __future__ import annotations

import argparse
import importlib
import sys
import types
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "benchmarks" / "claims"))

pytest.importorskip("sb3_contrib")

import agents
import dream_first
import warm_up
import with_controls

from agentworld_gym.sessions.samples import Sample


def test_a_run_that_is_kept_is_not_measured_again(tmp_path: Path) -> None:
    kept = agents.Kept(tmp_path / "runs.jsonl")
    first = kept.run({"seed": 0}, lambda: {"found": "01"})
    again = kept.run({"seed": 0}, lambda: pytest.fail("measured twice"))
    other = kept.run({"seed": 1}, lambda: {"found": "11"})
    assert first == again == {"seed": 0, "found": "01"}
    assert kept.runs() == [first, other]


def test_a_quick_run_is_kept_only_where_its_user_says(tmp_path: Path) -> None:
    def kept(quick: bool, out: Path | None) -> agents.Kept:
        return agents.Kept.of("fooled", argparse.Namespace(quick=quick, out=out))

    told = tmp_path / "runs.jsonl"
    assert kept(True, told).path == kept(False, told).path == told
    assert kept(False, None).path == agents.RESULTS / "fooled.jsonl"
    assert kept(True, None).run({"seed": 0}, lambda: {"found": "01"}) == {"seed": 0, "found": "01"}
    assert kept(True, None).runs() == []


def test_a_difference_pairs_tasks_and_leaves_out_those_that_a_world_failed() -> None:
    assert agents.mean(["1100", "11-0"]).startswith("0.583 (")
    assert agents.difference(["1100", "111-"], ["0100", "111-"]).startswith("0.125 (")


def test_what_faults_cost_one_agent_is_compared_with_what_they_cost_another() -> None:
    def run(arm: str, without: str, under: str) -> dict[str, object]:
        return {"domain": "mcp", "arm": arm, "seed": 0, "without faults": without, "with faults": under}

    table = with_controls.report([run("with controls", "1110", "1010"), run("without", "1111", "100-")])
    assert [cell.split(" (")[0] for cell in table.splitlines()[-1].split(" | ")[3:]] == ["0.250", "0.667", "-0.333"]


def test_an_interval_has_a_width_where_all_episodes_went_alike() -> None:
    assert agents.mean(["0" * 40]) == "0.000 (0.000 to 0.088)"
    assert agents.difference(["01" * 20], ["01" * 20]) == "0.000 (-0.066 to 0.066)"


def test_what_a_dream_taught_stands_beside_as_many_grounded_steps() -> None:
    def rows(steps: int) -> list[str]:
        first = {"dream_steps": steps, "curve": {"0": "1110", "1024": "1111"}}
        alone = {"dream_steps": 0, "curve": {"0": "0000", "1024": "1100"}}
        return dream_first.dream_alone({"terminal": [[first], [alone]]})[1:]

    (row,) = rows(1024)
    assert row.startswith("| terminal | 1,024 | 1 | 0.750 (") and row.endswith("| 1.50 |")
    assert rows(512) == []  # The other agent was not tested after so many steps.


def test_tasks_under_controls_differ_from_the_others_in_their_controls_alone() -> None:
    tasks = agents.Tasks("mcp", ("pay_bill",), 16)
    faulty = tasks.under(intermittent_errors=0.4)
    assert faulty.options() == {**tasks.options(), "controls": {"intermittent-errors": 0.4}}


def test_plain_text_has_the_same_messages_in_other_places() -> None:
    def session(number: int) -> Sample:
        contents = [("system", f"s{number}"), ("user", f"u{number}"), ("assistant", f"a{number}")]
        messages = tuple({"role": role, "content": content} for role, content in contents)
        return Sample(id=str(number), domain="terminal", messages=messages, weights=(0.1,), context_weight=0.1)

    sessions = [session(number) for number in range(20)]
    texts = warm_up.as_plain_text(sessions)
    flat = [[message for sample in samples for message in sample.messages] for samples in (sessions, texts)]
    assert sorted(map(str, flat[0])) == sorted(map(str, flat[1]))
    assert [message["role"] for message in flat[0]] == [message["role"] for message in flat[1]]
    assert sum(one["content"][1:] == other["content"][1:] for one, other in zip(*flat, strict=True)) < len(flat[0]) / 2
    assert all((sample.weights, sample.context_weight) == ((1.0,), 1.0) for sample in texts)


def test_steps_to_the_goal_are_those_of_the_first_test_that_reaches_it() -> None:
    assert warm_up.steps_to_goal({"curve": {"20": "0001", "40": "1100", "60": "1000"}}) == 40
    assert warm_up.steps_to_goal({"curve": {"20": "0001"}}) is None


def test_a_dream_whose_step_limit_is_an_end_keeps_its_agent_under_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dream_first, "dreamed", lambda *_, **__: types.SimpleNamespace(save=Path.touch))
    for bootstrap_at_limit in (True, False):
        dream_first.dreamt(dream_first.TASKS["search"], 1, 3, bootstrap_at_limit, tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["search-dream-3-no-bootstrap-at-limit.zip", "search-dream-3.zip"]


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["dream_first", "with_controls", "warm_up", "fooled", "unlearned"])
def test_a_claim_runs_from_end_to_end(claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [claim, "--quick", "--out", str(tmp_path / "runs.jsonl")]
    if claim in ("dream_first", "warm_up"):
        arguments += ["--folder", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", arguments)
    importlib.import_module(claim).main()
    runs = agents.Kept(tmp_path / "runs.jsonl").runs()
    assert len(runs) == {"dream_first": 2, "with_controls": 2, "warm_up": 5, "fooled": 1, "unlearned": 1}[claim]
