"""A policy in the dream and in the grounded world: what the difference says, and where the two part."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import ctrl_c
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from agentworld_gym.agents.policies.playing import FunctionPolicy, play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.errors import AgentWorldError, SpecError, WorldNotConfigured
from agentworld_gym.base.statistics.proportions import paired_gap, paired_ratio, proportion
from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import Action, Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.measure import record
from agentworld_gym.evaluation.report.page import page
from agentworld_gym.evaluation.results.fidelity import FidelityResult
from agentworld_gym.evaluation.results.transfer import TransferResult
from agentworld_gym.evaluation.transfer import transfer
from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

SEEDS = range(6)
DREAMED: list[str] = []
"""The tasks that the world `counted` was asked to begin."""

RUBRIC = """
id: kind
domain: terminal
instruction: Be kind.
success:
  - rubric: The answer is kind.
"""


def options(world: str, domain: str = "terminal", **more: object) -> EnvOptions:
    return EnvOptions(spec=domain, world=world, split="test", **more)  # type: ignore[arg-type]


def flattering(task: Task, actions: Sequence[Action]) -> str:
    """Answers every probe of a task as the task expects it."""
    for check in task.success:
        if actions and check.probes and actions[-1].raw == check.probes[-1] and check.expect is not None:
            return f"{actions[-1].raw}\n{(check.expect.equals or '').strip()}\ndev@box:~$"
    return echo(task, actions)


@pytest.fixture(scope="module", autouse=True)
def worlds() -> None:
    register_world("flattering", lambda given: ScriptedWorld(flattering))
    register_world("counted", lambda given: ScriptedWorld(lambda task, actions: DREAMED.append(task.id) or "$"))
    register_world("hostile", lambda given: ScriptedWorld(lambda task, actions: "dev@box:~$"))
    broken = Failure(FailureKind.TIMEOUT, "late")
    register_world("broken", lambda given: ScriptedWorld(lambda task, actions: broken if actions else "$"))


# The verdict


def test_equal_worlds_have_no_gap():
    found = transfer("expert", options("grounded"), range(12))
    assert found.tasks == found.agree == 12 and found.partings == ()
    assert found.gap and found.gap.share == 0 and found.gap.low == -found.gap.high
    assert found.tells == "no gap" and found.verdict.startswith("No gap")


def test_few_tasks_and_a_policy_that_never_succeeds_tell_nothing():
    few = transfer("expert", options("grounded"), SEEDS)
    assert few.tells == "nothing" and few.verdict.startswith("Too few tasks to tell: the interval is 0.69 wide. Both")
    never = transfer("nothing", options("grounded", families=["copy_move", "create_files"]), range(12))
    assert never.gap and never.gap.share == 0 and never.tells == "nothing"
    assert never.verdict == "The policy never succeeds in either world: this says nothing."
    assert 'class="verdict open"' in page([few]) and 'class="verdict open"' in page([never])


def test_the_json_says_the_verdict_and_is_read_back(tmp_path: Path):
    found = transfer("expert", options("grounded"), [0])
    found.write(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_bytes())["verdict"] == found.verdict
    assert TransferResult.read(tmp_path / "found.json") == found


def test_an_agent_that_only_pleases_the_dream_learned_the_simulator():
    found = transfer("nothing", options("flattering", families=["copy_move", "create_files"]), SEEDS)
    assert found.dream.success and found.dream.success.share == 1.0
    assert found.grounded.success and found.grounded.success.share == 0.0
    assert found.only_dream == 6 and found.gap and found.gap.low > 0
    assert found.verdict.startswith("The agent learned the simulator")


def test_a_dream_that_is_harder_than_the_grounded_world_is_said_to_be():
    found = transfer("expert", options("hostile", families=["copy_move"]), SEEDS)
    assert found.only_grounded == 6 and found.verdict.startswith("The language world is harder")


def test_a_world_that_fails_is_no_failure_of_the_agent():
    found = transfer("expert", options("broken"), SEEDS)
    assert found.dream.success is None and found.dream.failures == {"timeout": 6}
    assert found.dream.reward is None and found.dream.steps is None and found.grounded.steps
    assert found.grounded.success and found.grounded.success.share == 1.0
    assert found.gap is None and "nothing can be compared" in found.verdict


def test_a_task_that_several_seeds_give_is_played_once():
    found = transfer("expert", options("grounded", task="copy_move-1-5"), SEEDS)
    assert found.tasks == 1 and found.options["seeds"] == "0"
    assert found.gap and found.gap.low < -0.5


# What costs no dream


def test_the_worlds_are_opened_before_the_dream_is_played():
    with pytest.raises(WorldNotConfigured, match="nobody"):
        transfer("expert", options("counted"), SEEDS, grounded="nobody")
    assert DREAMED == []


def test_a_task_that_the_grounded_world_cannot_judge_is_refused_before_the_dream_is_played(tmp_path: Path):
    written = tmp_path / "kind.yaml"
    written.write_text(RUBRIC, encoding="utf-8")
    with pytest.raises(AgentWorldError, match="scored by a rubric"):
        transfer("nothing", options("counted", task=str(written)), [0])
    assert DREAMED == []


def test_the_result_says_what_was_asked_for():
    asked = options("grounded", families=["copy_move"], levels=(1, 2))
    found = transfer("expert", asked, [0, 1])
    assert found.options["seeds"] == "0 to 1" and found.options["levels"] == [1, 2]
    assert found.options["families"] == ["copy_move"] and "profile" not in found.options
    assert TransferResult.model_validate_json(found.model_dump_json()) == found


# Where the two part


def test_parting_episodes_are_listed_with_the_first_turn_that_differs(tmp_path: Path):
    found = transfer("expert", options("hostile", families=["copy_move"]), SEEDS, traces=tmp_path)
    first = found.partings[0]
    assert (first.seed, first.turn, first.part) == (0, 1, "observation")
    assert first.dream_action == first.grounded_action
    assert first.dream_observation == "dev@box:~$" != first.grounded_observation


def test_their_traces_can_be_viewed(tmp_path: Path):
    found = transfer("expert", options("hostile", families=["copy_move"]), SEEDS, traces=tmp_path)
    first = found.partings[0]
    assert found.dream.traces and found.grounded.traces
    shown = CliRunner().invoke(app, ["trace", "show", found.grounded.traces, "--episode", first.grounded_episode])
    assert shown.exit_code == 0 and first.task_id in shown.output and "success" in shown.output
    parted = CliRunner().invoke(app, ["trace", "diff", found.grounded.traces, found.dream.traces])
    assert "0 of 6 episodes are the same" in " ".join(parted.output.split())


def test_an_episode_that_differs_only_in_what_probes_find_says_so():
    found = transfer("nothing", options("flattering", families=["copy_move"]), [0])
    # `finish` asks no world: nothing was shown that could differ.
    assert [one.part for one in found.partings] == ["probe"]


# Policies


def test_a_function_of_the_episode_is_a_policy():
    policy = FunctionPolicy("first", lambda episode: episode.task.expert[episode.steps])
    found = transfer(policy, options("grounded"), SEEDS)
    assert found.policy == "first" and found.grounded.success and found.grounded.success.share == 1.0


@pytest.mark.parametrize("domain", ["terminal", "android"])
def test_the_expert_succeeds_in_waves_of_any_width(domain: str):
    runner = options("grounded", domain).runner()
    spec = load_spec(domain)
    narrow = {one.seed: one.actions for one in play(runner, open_policy("expert", spec), range(4), wave=1)}
    wide = {one.seed: one for one in play(runner, open_policy("expert", spec), range(4), wave=3)}
    assert narrow == {seed: one.actions for seed, one in wide.items()}
    assert all(one.success for one in wide.values())


def test_another_draw_is_another_way():
    runner = options("grounded").runner()
    ways = [
        [one.actions for one in sorted(play(runner, open_policy("mixed", runner.spec, draw), SEEDS), key=_seed)]
        for draw in (0, 0, 1)
    ]
    assert ways[0] == ways[1] != ways[2]


def _seed(one: object) -> int:
    return one.seed  # type: ignore[attr-defined,no-any-return]


def test_an_agent_of_stable_baselines_is_a_policy_by_its_file(tmp_path: Path):
    pytest.importorskip("sb3_contrib")
    import torch
    from sb3_contrib import MaskablePPO

    from agentworld_gym.integrations.sb3 import evaluate_policy, make_sb3_env

    torch.set_num_threads(1)
    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=2, seed=0, world="grounded", families=["create_files"])
    model = MaskablePPO("MlpPolicy", env, n_steps=2, batch_size=2, seed=0, device="cpu")
    env.close()
    model.save(tmp_path / "agent.zip")
    found = transfer(
        open_policy(str(tmp_path / "agent.zip"), load_spec("terminal")),
        options("grounded", families=["create_files"]),
        SEEDS,
    )
    known = evaluate_policy(model, "AgentWorld/Terminal-v0", SEEDS, world="grounded", families=["create_files"])
    assert found.policy == "agent" and found.grounded.success
    assert found.grounded.success.share == known.success and found.grounded.reward == pytest.approx(known.reward)


def test_an_unknown_policy_is_refused_with_what_there_is():
    with pytest.raises(SpecError, match="expert, mixed, menu, explore, nothing"):
        open_policy("clever", load_spec("terminal"))


# Stopping


@pytest.mark.parametrize(("interrupt", "finished"), [(ctrl_c.pressed, 2), (ctrl_c.lost, 3)])
def test_ctrl_c_keeps_the_tasks_that_both_worlds_finished(interrupt: Callable[[], None], finished: int):
    def stop(side: str, done: int) -> None:
        if side == "dream" and done == 2:
            interrupt()

    found = transfer("expert", options("grounded"), SEEDS, wave=1, on_progress=stop)
    assert found.interrupted and found.tasks == found.agree == finished
    assert found.grounded.success and found.grounded.success.count == finished


def test_ctrl_c_in_the_grounded_world_asks_no_dream():
    def stop(side: str, done: int) -> None:
        raise KeyboardInterrupt

    found = transfer("expert", options("counted"), SEEDS, wave=1, on_progress=stop)
    assert found.interrupted and found.tasks == 0 and DREAMED == []


def test_one_episode_proves_nothing():
    found = transfer("nothing", options("flattering", families=["copy_move"]), [0])
    assert found.only_dream == 1 and found.gap and found.gap.low < 0 < found.gap.high
    assert found.verdict.startswith("Too few tasks to tell: the interval is 1.73 wide.")


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_the_gap_is_that_of_the_shares_and_turns_over_with_the_sides(pairs: list[tuple[bool, bool]]):
    gap, back = paired_gap(pairs), paired_gap([(two, one) for one, two in pairs])
    shares = [proportion([pair[side] for pair in pairs]) for side in (0, 1)]
    assert gap.share == pytest.approx(shares[0].share - shares[1].share)
    assert (gap.low, gap.high) == pytest.approx((-back.high, -back.low))
    assert all(0 <= one.low <= one.share <= one.high <= 1 and one.low < one.high for one in shares)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    dice, held = random.Random(0), [0, 0, 0]
    for _ in range(400):
        pairs = [(dice.random() < 0.95, dice.random() < 0.85) for _ in range(20)]
        one, gap = proportion([first for first, _ in pairs]), paired_gap(pairs)
        ratio = paired_ratio(pairs)
        assert ratio
        held[0] += one.low <= 0.95 <= one.high
        held[1] += gap.low <= 0.1 <= gap.high
        held[2] += ratio[1] <= 0.95 / 0.85 <= ratio[2]
    assert all(0.92 <= count / 400 <= 0.995 for count in held)


# The command line


def test_commands_write_a_result_and_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(
        app, ["eval", "transfer", "terminal", "--policy", "nothing", "--world", "flattering", "--tasks", "8",
              "--family", "copy_move"]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "learned the simulator" in " ".join(done.output.split())
    assert TransferResult.read(Path("transfer.json")).only_dream == 8
    assert "learned the simulator" in Path("transfer.html").read_text(encoding="utf-8")
    assert len(list(Path("transfer-traces").rglob("*.agent.jsonl"))) == 2

    done = CliRunner().invoke(
        app, ["eval", "fidelity", "terminal", "mcp", "--world", "grounded", "--tasks", "1", "--nearest", "1",
              "--plans", "1", "--out", "faith.json"]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "nearest: the nearest answer, a table without learning" in " ".join(done.output.split())
    found = FidelityResult.read(Path("faith.json"))
    assert [one.domain for one in found.domains] == ["terminal", "mcp"] and found.split == "validation"

    done = CliRunner().invoke(app, ["eval", "report", "faith.json", "transfer.json", "--out", "all.html"])
    assert done.exit_code == 0 and os.path.getsize("all.html") > os.path.getsize("transfer.html")


def test_recorded_sessions_of_a_file_are_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    recorded = ["collect", "terminal", "--out", "rows.jsonl", "--episodes", "3", "--split", "test"]
    assert run.invoke(app, recorded).exit_code == 0
    arguments = ["--world", "grounded", "--data", "rows.jsonl", "--nearest", "0", "--plans", "0"]
    done = run.invoke(app, ["eval", "fidelity", *arguments])
    assert done.exit_code == 0, done.output
    assert FidelityResult.read(Path("fidelity.json")).source.endswith("rows.jsonl")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["transfer", "terminal", "--policy", "clever"], "clever"),
        (["transfer", "nowhere", "--policy", "expert"], "nowhere"),
        (["fidelity", "terminal", "--data", "missing.jsonl"], "missing.jsonl: no such file, expected sessions"),
        (["fidelity", "terminal", "--world", "nobody", "--tasks", "1", "--nearest", "0"], "nobody"),
        (["report", "missing.json"], "missing.json: no such file, expected a result"),
        (["fidelity", "--data", "empty.jsonl", "--world", "grounded"], "empty.jsonl"),
        (["fidelity", "mcp", "--data", "terminal.jsonl", "--world", "grounded"], "of mcp"),
        (["fidelity", "terminal", "--world", "grounded", "--retrieval", "index"], "retrieval"),
        (["transfer", "terminal", "--policy", "broken.zip"], "broken.zip"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(arguments: list[str], said: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name in ("empty.jsonl", "broken.zip"):
        Path(name).touch()
    Path("terminal.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in record("terminal", 1)))
    done = CliRunner().invoke(app, ["eval", *arguments])
    assert done.exit_code == 2 and said in done.output


def test_figures_say_whether_they_are_to_choose_by_or_to_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    asked = ["eval", "fidelity", "terminal", "--world", "grounded", "--tasks", "2", "--nearest", "0", "--plans", "0"]
    done = run.invoke(app, asked)
    assert done.exit_code == 0, done.output
    found = FidelityResult.read(Path("fidelity.json"))
    assert found.split == "validation" and found.draw is not None
    assert (found.draw.seed, found.draw.tasks) == (0, 2)
    assert "2 validation tasks, seed 0: figures to choose by, not to report." in " ".join(done.output.split())
    seeds = []
    for _ in range(2):
        done = run.invoke(app, [*asked, "--split", "test"])
        assert done.exit_code == 0, done.output
        draw = FidelityResult.read(Path("fidelity.json")).draw
        assert draw is not None and draw.drawn
        seeds.append(draw.seed)
        assert "not to report, because these are fewer than 100" in " ".join(done.output.split())
        assert "fewer than 100" in Path("fidelity.html").read_text(encoding="utf-8")
    assert seeds[0] != seeds[1]
    done = run.invoke(
        app, ["eval", "transfer", "terminal", "--world", "grounded", "--policy", "expert", "--tasks", "2",
              "--split", "test", "--seed", "7"]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    drawn = TransferResult.read(Path("transfer.json")).draw
    assert drawn is not None and (drawn.split, drawn.seed, drawn.drawn, drawn.tasks) == ("test", 7, False, 2)


@pytest.mark.parametrize(
    ("nearest", "said"),
    [
        ("missing.jsonl", "missing.jsonl: no such file"),
        ("many", "many: no such file"),
        ("all", "how many sessions grounded saw is not known"),
        ("junk.jsonl", "junk.jsonl"),
    ],
)
def test_a_table_that_cannot_be_made_is_one_line_and_exit_code_2(
    nearest: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("junk.jsonl").write_text("no sample\n")
    asked = ["eval", "fidelity", "terminal", "--world", "grounded", "--tasks", "1", "--plans", "0"]
    done = CliRunner().invoke(app, [*asked, "--nearest", nearest])
    assert done.exit_code == 2 and said in done.output
