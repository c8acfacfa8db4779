"""Tasks that a rubric judges: what is free, from which score a task is solved, and what the judge is told."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from worlds import make

from agentworld_gym import SpecError
from agentworld_gym.core.contracts import FailureKind
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.judging.rubric import JudgedEpisode

FILE = "/home/dev/haiku.txt"
HAIKU: dict[str, Any] = {
    "instruction": "Write a haiku about the sea into haiku.txt.",
    "state": {"cwd": "/home/dev", "files": {"/home/dev/notes.txt": "kept"}},
    "success": [{"rubric": "Is it a haiku about the sea?", "judges": [FILE]}],
    "expert": ["echo 'The wide sea at dawn' > haiku.txt", "finish"],
}
TYPED = {**HAIKU, "success": [{"probe": f"cat {FILE}", "expect": {"contains": "sea"}}]}


def judged_by(score: float, task: dict[str, Any], action: str) -> dict[str, Any]:
    """Play one action and finish; return the info of the end, with a judge that gives one score."""
    env = make(world="grounded", task=task, judge=lambda episode: score)
    env.reset(seed=0)
    env.step(action)
    info: dict[str, Any] = env.step("finish")[4]
    env.close()
    return info


# What the rubric judges is free


def test_the_text_that_a_rubric_judges_need_not_be_the_experts() -> None:
    info = judged_by(1.0, HAIKU, "echo 'Waves, and the blue sea' > haiku.txt")
    assert info["success"] is True and info["collateral"] == []


def test_all_else_counts_beside_what_a_rubric_judges() -> None:
    info = judged_by(1.0, HAIKU, "echo 'Waves, and the blue sea' > haiku.txt; rm notes.txt")
    assert info["success"] is False and info["collateral"] == ["/home/dev/notes.txt"]


def test_what_is_judged_stands_beside_a_rubric() -> None:
    check = {"answer": {"equals": "1"}, "judges": [FILE]}
    with pytest.raises(SpecError, match=r"`judges` beside a `rubric`"):
        make(task={**HAIKU, "success": [check]})


# A pattern that frees nothing is refused

MISTYPED = ["/home/dev/hiaku.txt", "haiku.txt", r"/home/dev/.*\.txt", FILE + "/", "/home/dev/notes.txt"]


@pytest.mark.parametrize("pattern", MISTYPED)
def test_free_values_that_no_act_of_the_expert_changes_are_refused(pattern: str) -> None:
    with pytest.raises(SpecError) as raised:
        make(world="grounded", task={**TYPED, "free_values": [FILE, pattern]})
    error = str(raised.value)
    assert error.startswith(f"options.task: free_values.1: got {pattern!r}, expected a pattern of a field that the")
    assert FILE in error


def test_what_a_rubric_judges_is_something_that_the_expert_changes() -> None:
    task = {**HAIKU, "success": [{"rubric": "Is it a haiku?", "judges": ["haiku.txt"]}]}
    with pytest.raises(SpecError, match=r"options.task: success.0.judges.0: got 'haiku.txt', expected a pattern"):
        make(world="grounded", task=task)


def test_the_error_names_the_file_of_the_task(tmp_path) -> None:
    file = tmp_path / "sea.yaml"
    file.write_text(f"""
instruction: Write sea into haiku.txt.
success: [{{probe: cat {FILE}, expect: {{contains: sea}}}}]
state: {{cwd: /home/dev, files: {{}}}}
expert: [echo sea > haiku.txt, finish]
free_values: [hiaku.txt]
""")
    with pytest.raises(SpecError) as raised:
        make(world="grounded", task=str(file))
    assert str(raised.value).startswith(f"{file}: free_values.0: got 'hiaku.txt', expected")


def test_a_task_of_a_reset_is_refused_too() -> None:
    env = make(world="grounded")
    with pytest.raises(SpecError, match=r"free_values.0: got 'hiaku.txt'"):
        env.reset(seed=0, options={"task": {**TYPED, "free_values": ["hiaku.txt"]}})
    env.close()


@pytest.mark.parametrize("pattern", [FILE, "/home/dev/*.txt", "**.txt"])
def test_a_pattern_of_what_the_expert_changes_is_taken(pattern: str) -> None:
    env = make(world="grounded", task={**TYPED, "free_values": [pattern]})
    env.reset(seed=0)
    env.step("echo 'blue sea' > haiku.txt")
    assert env.step("finish")[4]["success"] is True
    env.close()


# From which score a task is solved


@pytest.mark.parametrize(
    ("score", "threshold", "solved"), [(0.75, None, False), (0.75, 0.75, True), (0.5, 0.75, False)]
)
def test_a_task_says_from_which_score_it_is_solved(score: float, threshold: float | None, solved: bool) -> None:
    task = HAIKU if threshold is None else {**HAIKU, "success_at": threshold}
    info = judged_by(score, task, "echo 'blue sea' > haiku.txt")
    assert (info["success"], info["score"]) == (solved, score)


def test_collateral_spoils_a_success_below_the_full_score() -> None:
    info = judged_by(0.75, {**HAIKU, "success_at": 0.5}, "echo 'blue sea' > haiku.txt; rm notes.txt")
    assert info["success"] is False and info["collateral"] == ["/home/dev/notes.txt"] and info["score"] == 0.0


@pytest.mark.parametrize("threshold", [0, 1.5, "most"])
def test_a_threshold_is_a_share(threshold: object) -> None:
    with pytest.raises(SpecError, match=r"options\.task: success_at: got"):
        make(task={**HAIKU, "success_at": threshold})


# A judge in Python


def test_a_function_judges_the_task_the_turns_and_the_answer() -> None:
    seen: list[JudgedEpisode] = []

    def judge(episode: JudgedEpisode) -> float:
        seen.append(episode)
        return 0.25

    env = make(world="grounded", task=HAIKU, judge=judge)
    env.reset(seed=0)
    env.step("echo sea > haiku.txt")
    info = env.step("finish: done")[4]
    env.close()
    [episode] = seen
    assert episode.task.instruction == HAIKU["instruction"] and episode.criteria == ["Is it a haiku about the sea?"]
    assert episode.turns[0][0].raw == "echo sea > haiku.txt" and episode.answer == "done"
    assert info["score"] == 0.25


@pytest.mark.parametrize("score", [5, -0.1, "good", None, float("nan")])
def test_what_is_no_score_is_a_failure_that_shows_it(score: Any) -> None:
    failure = judged_by(score, HAIKU, "echo sea > haiku.txt")["failure"]
    assert failure["kind"] == FailureKind.MALFORMED and repr(score) in failure["message"]


def test_a_judge_that_raises_costs_its_episode_alone() -> None:
    def judge(episode: JudgedEpisode) -> float:
        if episode.answer == "raise":
            raise LookupError("no such word")
        return 1.0

    env = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world="grounded", task=HAIKU, judge=judge)
    env.reset(seed=0)
    env.step(["echo sea > haiku.txt"] * 2)
    info = env.step(["finish: raise", "finish"])[4]
    env.close()
    assert "LookupError: no such word" in info["failure"]["message"][0]
    assert list(info["success"]) == [False, True] and list(info["_success"]) == [False, True]


def test_a_judge_in_python_has_a_name_in_a_lock() -> None:
    options = EnvOptions(spec="terminal", world="grounded", judge=judge_of_locks)
    assert options.locked().parts["judge function"].value == f"{__name__}:judge_of_locks"


def judge_of_locks(episode: JudgedEpisode) -> float:
    return 1.0
