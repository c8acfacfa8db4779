"""A world beside the grounded one: step by step, by its probes, by the plans found in it, by its confidence."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import ctrl_c
import pytest
from hypothesis import given
from hypothesis import strategies as st
from latencies import register_held, steady
from tiny_model import write_tiny_model
from typer.testing import CliRunner
from worlds import dream, predicted

from agentworld_gym.agents.progress import Tally
from agentworld_gym.base.errors import GeneratorError, SpecError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.cli.app import app
from agentworld_gym.core.actions.naming import verb
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, ChatRequest, Completion, Failure, FailureKind, Observation, Usage
from agentworld_gym.core.domain.spec import Form, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.catalog import engine_names, load_engine, load_index
from agentworld_gym.core.screens import is_graphical
from agentworld_gym.core.screens.sight import last_screen
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.baselines import share_of_errors
from agentworld_gym.evaluation.fidelity.calibration import calibration, probability
from agentworld_gym.evaluation.fidelity.cases import ReplayCase, cases_of, recorded_task
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure, record
from agentworld_gym.evaluation.fidelity.replay import Replay, ReplayedStep, replay
from agentworld_gym.evaluation.results.fidelity import FidelityResult
from agentworld_gym.evaluation.results.transfer import TransferResult
from agentworld_gym.llm.bundled_models import bundled_model, tiny_model
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.generators.nearest import open_nearest
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.row import ContentSpan, Row
from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

SPEC = load_spec("terminal")
ROWS = list(record("terminal", 5, seed=22))
STEPS = sum(len(row.actions) for row in ROWS)
SOURCE = TaskSource(SPEC)


def options(world: str, **more: object) -> EnvOptions:
    return EnvOptions(spec="terminal", world=world, split="test", **more)  # type: ignore[arg-type]


def oracle(wrong: Callable[[int], bool]) -> Callable[[ChatRequest], str]:
    """A model that knows the recorded sessions, but errs in the turns (from 0) that `wrong` says."""
    known = {(row.system_str, turn): text for row in ROWS for turn, text in enumerate(row.observations)}

    def answer(request: ChatRequest) -> str:
        turn = len(request.messages) // 2 - 1
        text = known.get((request.messages[0]["content"], turn), "")
        return predicted("?" if wrong(turn) or not text else text)

    return answer


class Altered(GroundedWorld):
    """A grounded world that says something else to some actions; what they did stays as it is."""

    def __init__(self, world: GroundedWorld, say: Callable[[Action], str | Failure | None]) -> None:
        super().__init__(world.engine, world.fingerprint, world.spec)
        self._say = say

    def _step(self, session: object, action: Action) -> Observation | Failure:
        answer = super()._step(session, action)  # type: ignore[arg-type]
        said = self._say(action)
        return answer if said is None else said if isinstance(said, Failure) else Observation(said)


def altered(name: str, say: Callable[[Action], str | Failure | None]) -> str:
    register_world(name, lambda given: Altered(open_world("grounded", WorldOptions(given.spec)), say))  # type: ignore[arg-type]
    return name


def samples_of(rows: Sequence[Row], folder: Path) -> Path:
    """The table of some sessions, as `agentworld samples` writes it for the small model of their domain."""
    recorded, made = folder / "rows.jsonl", folder / "samples.jsonl"
    recorded.write_text("".join(row.model_dump_json() + "\n" for row in rows), encoding="utf-8")
    spec = load_spec(rows[0].domain)
    form = bundled_model("tiny", spec, {}).form(spec)
    asked = ["--profile", "compact", "--form", form, "--weights", "equal", "--stage", "all", "--min-turns", "1"]
    split = ["--split", str(rows[0].split)]
    keep = [option for rule in ("repeated", "empty_action", "retry") for option in ("--filter", f"{rule}=none")]
    done = CliRunner().invoke(app, ["samples", str(recorded), "--out", str(made), *asked, *split, *keep])
    assert done.exit_code == 0, done.output
    return made


# Step by step


def test_the_grounded_world_is_faithful_to_itself():
    found, interrupted = measure(options("grounded"), FidelityPlan(ROWS, plans=range(3)))
    assert not interrupted and found.steps == STEPS and found.stale == 0
    assert found.taught is None  # nobody tells it the truth
    assert found.free and found.free.measures and found.free.measures.exact.share == 1.0
    assert found.free.probes and found.free.probes.agreement.share == 1.0
    assert found.consistency and found.consistency.ratio == 1.0 and found.consistency.precision == 1.0
    assert found.free.whole and (found.free.whole.share, found.free.whole.count) == (1.0, len(ROWS))


def test_an_error_costs_one_step_where_the_truth_is_put_right_and_shows_in_its_turn():
    found, _ = measure(options(dream("errs_once", oracle(lambda turn: turn == 1))), FidelityPlan(ROWS))
    assert found.taught and found.taught.measures
    longer = sum(len(row.actions) > 1 for row in ROWS)
    assert found.taught.measures.exact.share == pytest.approx(1 - longer / STEPS)
    turns = found.taught.groups["turn"]
    assert (turns["1"].exact.share, turns["2"].exact.share, turns["3"].exact.share) == (1.0, 0.0, 1.0)
    assert list(turns)[:3] == ["1", "2", "3"]
    assert {one.turn for one in found.examples} == {2} and all(one.predicted == "?" for one in found.examples)
    assert found.free and found.free.whole and found.free.whole.share == 1 - longer / len(ROWS)


def test_attempts_are_counted_by_kind_with_the_steps_that_the_world_did_not_answer():
    rows = list(record("terminal", 4, seed=5, policies=["refusals"]))
    kinds = [kind for row in rows for kind in row.attempts]
    tried = {action for row in rows for action, kind in zip(row.actions, row.attempts, strict=True) if kind}
    lost = next(action for row in rows for action, kind in zip(row.actions, row.attempts, strict=True) if kind)

    def say(action: Action) -> str | Failure | None:
        if action.raw == lost:
            return Failure(FailureKind.MALFORMED, "lost")
        return "done" if action.raw in tried else None

    found, _ = measure(options(altered("accepts", say)), FidelityPlan(rows))
    faithful, _ = measure(options("grounded"), FidelityPlan(rows))
    assert found.free and faithful.free
    assert found.free.attempts["all"].equal.share == 0.0 and found.free.attempts["all"].failures >= 1
    assert faithful.free.attempts["all"].equal.share == 1.0 and not faithful.free.attempts["all"].failures
    assert faithful.free.attempts.keys() == {"all", *filter(None, kinds)}
    assert faithful.free.attempts["all"].equal.count == sum(map(bool, kinds))
    assert faithful.free.groups["attempt"]["none"].exact.count == kinds.count("")
    assert faithful.free.attempts["all"].accepted is None  # a world without a predicted state


def test_an_attempt_that_changes_the_predicted_state_counts_as_accepted():
    sessions = record("terminal", 9, seed=5, policies=["refusals"])
    row = next(row for row in sessions if row.attempts[0] and not row.fields_changed[0]).at(1)
    task, parser = recorded_task(row, SOURCE), ActionParser(SPEC)
    with closing(
        load_engine("terminal", "").start(task.state, task.seed or 0, Controls({}, 0), task.hidden)
    ) as machine:
        begun = compact(machine.visible_state())
        machine.act(parser.parse("touch new.txt").parsed)
        changed = machine.visible_state()

    def accepts(given: WorldOptions) -> LanguageWorld:
        codec = given.templates().answers
        change = codec.change(codec.turn(begun, parser.parse(row.actions[0]).parsed), changed)
        return given.language(ScriptedGenerator(lambda request: change))

    register_world("accepts_all", accepts)
    found, _ = measure(options("accepts_all", language={"form": "state"}), FidelityPlan([row]))
    assert found.taught and found.taught.attempts["all"].accepted == 1


def test_with_its_own_history_a_world_is_asked_with_what_it_said():
    seen: list[list[str]] = []

    def answer(request: ChatRequest) -> str:
        seen.append([message["content"] for message in request.messages if message["role"] == "assistant"])
        return predicted("mine")

    measure(options(dream("says_mine", answer)), FidelityPlan(ROWS[:1]))
    count = len(ROWS[0].actions)
    taught, own = seen[:count], max(seen[count:], key=len)
    assert not any("mine" in text for history in taught for text in history)
    assert len(own) == count - 1 > 0 and all("mine" in text for text in own)


def test_steps_are_grouped_by_what_they_changed():
    found, _ = measure(options("grounded"), FidelityPlan(ROWS))
    assert found.free
    groups = found.free.groups
    counted = [number for row in ROWS for number in row.fields_changed]
    assert groups["fields changed"]["0"].exact.count == counted.count(0)
    assert set(groups["fields changed"]) <= {"0", "1", "2–4", "5+"}
    for name in ("policy", "family", "level", "action", "control"):
        assert sum(cell.exact.count for cell in groups[name].values()) == STEPS


def test_failures_are_counted_apart_and_end_a_free_session():
    broken = Failure(FailureKind.TIMEOUT, "late")
    found, _ = measure(options(dream("fails", lambda request: broken)), FidelityPlan(ROWS))
    assert found.taught and found.taught.measures is None
    assert found.taught.failures == {"timeout": STEPS} and found.taught.lost == 0
    assert found.free and found.free.failures == {"timeout": len(ROWS)}
    assert found.free.lost == STEPS - len(ROWS)
    assert found.free.whole and found.free.whole.share == 0.0


def test_what_failed_can_be_counted_as_wrong():
    def answer(request: ChatRequest) -> str | Failure:
        right = oracle(lambda turn: False)(request)
        return Failure(FailureKind.SERVER, "500") if len(request.messages) == 4 else right

    found, _ = measure(options(dream("fails_at_two", answer)), FidelityPlan(ROWS, free=False))
    assert found.free is None and found.taught and found.taught.measures
    longer = sum(len(row.actions) > 1 for row in ROWS)
    assert found.taught.measures.exact.share == 1.0 and found.taught.failures == {"server": longer}
    assert found.taught.with_failures == pytest.approx(1 - longer / STEPS)


def test_a_session_that_fails_before_its_probes_fails_them():
    def answer(request: ChatRequest) -> str | Failure:
        late = len(request.messages) == 4
        return Failure(FailureKind.SERVER, "500") if late else oracle(lambda turn: False)(request)

    found, _ = measure(options(dream("fails_before_probes", answer)), FidelityPlan(ROWS))
    checks = {row.id: sum(bool(check.probes) for check in recorded_task(row, SOURCE).success) for row in ROWS}
    early = [row for row in ROWS if len(row.actions) - row.probes >= 2]
    probes = found.free.probes if found.free else None
    assert probes and early and len(early) < len(ROWS)
    assert probes.failed == sum(checks[row.id] for row in early)


def test_a_time_that_the_grounded_world_shows_otherwise_makes_no_recording_stale():
    row = ROWS[0]
    shown = row.observations[0]
    case = ReplayCase(
        row.model_copy(update={"observations": (f"3:07 {shown}",), "spans": ()}), recorded_task(row, SOURCE), (), ()
    )
    assert not case.repeats(0, Observation(f"3:08 {shown}"))
    spans = ((ContentSpan(start=0, end=4, kind="metadata"),),)
    case = replace(case, row=case.row.model_copy(update={"spans": spans}))
    assert case.repeats(0, Observation(f"3:08 {shown}")) and not case.repeats(0, Observation(f"3:08 {shown}!"))


def test_a_look_that_the_grounded_world_no_longer_repeats_makes_a_recording_stale_too():
    row = next(row for row in record("terminal", 40) if row.probes)
    old = row.model_copy(update={"observations": (*row.observations[:-1], "other")})
    found, _ = measure(options("grounded"), FidelityPlan([row, old]))
    assert (found.stale, found.sessions) == (1, 1)


def test_a_recording_that_the_grounded_world_no_longer_repeats_is_left_out():
    old = ROWS[0].model_copy(update={"observations": ("other", *ROWS[0].observations[1:])})
    found, _ = measure(options("grounded"), FidelityPlan([old, *ROWS[1:]]))
    assert (found.stale, found.sessions) == (1, len(ROWS) - 1)


def test_an_imported_session_without_a_task_is_refused():
    row = Row(task="terminal", id="x", system_str="", prompt=["ls"], response=["a"], current_prompt="ls", turn_idx=1,
              total_turns=1)  # fmt: skip
    with pytest.raises(SpecError, match="task_id"):
        recorded_task(row, TaskSource(SPEC))


def test_a_session_under_controls_gets_its_task_back():
    row = ROWS[0].model_copy(update={"controls": {"intermittent-errors": 0.5}, "control_seed": 4})
    task = recorded_task(row, TaskSource(SPEC))
    assert (task.id, task.controls, task.control_seed) == (row.task_id, row.controls, 4)


class Last(random.Random):
    """A choice that always falls on what came last."""

    def choice(self, seq: Sequence[Any]) -> Any:
        return seq[-1]


def test_a_session_whose_answers_are_late_holds_up_no_other():
    def asked(draws: random.Random) -> tuple[Replay, Replay]:
        """What came of the true histories, and of the world's own."""
        register_held(draws, steady)
        with closing(options("held").runner()) as runner, closing(options("grounded").runner()) as truth:
            cases = [case for case in cases_of(ROWS[:3], truth) if case]
            found = Replay(), Replay()
            for taught, into in zip((True, False), found, strict=True):
                replay(runner, cases, taught=taught, wave=2, into=into)
        return found

    late, shuffled = asked(Last()), asked(random.Random(3))
    for one, other in zip(late, shuffled, strict=True):
        assert [step.case for step in one.steps][-1] == 0, "the first session waited until the others were over"
        assert one.wrong == other.wrong and one.probed == other.probed and one.usage == other.usage


@pytest.mark.parametrize("interrupt", [ctrl_c.pressed, ctrl_c.lost])
def test_ctrl_c_keeps_what_was_measured(interrupt: Callable[[], None]):
    class Stopping(Tally):
        def reached(self, done: int, tokens: int, failures: Mapping[str, int]) -> None:
            super().reached(done, tokens, failures)
            if "own history" in stages[-1] and done > 10:
                interrupt()

    def begin(stage: str, unit: str, total: int) -> Tally:
        stages.append(stage)
        return Stopping(total)

    stages: list[str] = []
    found, interrupted = measure(options("grounded"), FidelityPlan(ROWS, plans=range(3)), on_stage=begin)
    assert interrupted and found.consistency is None
    assert found.free and found.free.measures and 10 < found.free.measures.exact.count < STEPS


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 3}', "[1]", "\ud800", "   "])
def test_any_action_has_a_verb(text: str):
    assert verb(text)


# A model that is right, in every domain


def knowing(domain: str, form: Form, rows: Sequence[Row]) -> Callable[[ChatRequest], str]:
    """A model that writes what really comes next, as compact prompts want it, wherever a history is the true one."""
    spec = load_spec(domain)
    prompts = Prompts(spec, PromptOptions(profile="compact", form=form, index=load_index(domain)))
    parser, source = ActionParser(spec), TaskSource(spec)
    known = {}
    for row in rows:
        task, turns, screen = recorded_task(row, source), [], row.first_observation
        for text, shown in zip(row.actions, row.observations, strict=True):
            action = parser.parse(text, task.tools)
            asked = prompts.messages(task, turns, action, task.controls)
            known[str(asked)] = escape(prompts.answer(task, screen, shown, text))
            turns.append((action, shown))
            screen = last_screen(domain, (screen, shown))
    return lambda request: predicted(known.get(str(list(request.messages)), "not asked like that"))


@cache
def recorded(domain: str) -> tuple[Row, ...]:
    return tuple(record(domain, 2, seed=5))


@pytest.mark.parametrize("form", ["full", "change"])
@pytest.mark.parametrize("domain", engine_names())
def test_a_model_that_is_right_is_exact_with_the_true_history_and_with_its_own(domain: str, form: Form):
    if form == "change" and not is_graphical(domain):
        pytest.skip("only screens are written as changes")
    rows = recorded(domain)
    world = dream(f"right_{domain}_{form}", knowing(domain, form, rows))
    given = EnvOptions(spec=domain, world=world, split="test", language={"profile": "compact", "form": form})
    found, _ = measure(given, FidelityPlan(rows))
    assert found.stale == 0
    for run in (found.taught, found.free):
        assert run and run.measures and not run.failures and not run.lost
        assert run.measures.exact.share == run.measures.deterministic.share == 1.0
        assert all(one.share == 1.0 for one in run.kinds.values())
    assert found.examples == ()


@pytest.mark.parametrize("world", ["grounded", "that_looked"])
def test_a_look_at_a_page_that_took_the_place_of_an_observation_is_taken_again(world: str):
    (row,) = record("web", 1, seed=2, families=("buy_goods", "join_thread"), levels=(3,))
    given = EnvOptions(spec="web", world="grounded", split="test", language={"profile": "compact"})
    with closing(given.runner()) as grounded:
        (case,) = cases_of([row], grounded)
    assert case and case.looked == {1, 5}
    if world != "grounded":
        world = dream(world, knowing("web", "full", [row]))
    found, _ = measure(given.changed(world=world), FidelityPlan([row]))
    assert (found.stale, found.steps) == (0, len(row.actions))
    for run in filter(None, (found.taught, found.free)):
        assert run.measures and not run.failures and run.measures.exact.share == 1.0


def test_the_width_of_a_wave_changes_no_figure():
    world = dream("errs_alike", oracle(lambda turn: turn % 3 == 1))
    wide, narrow = (measure(options(world), FidelityPlan(ROWS, wave=width))[0] for width in (64, 1))
    assert wide == narrow


# In one forward pass


def test_a_forward_pass_says_what_decoding_writes():
    pytest.importorskip("transformers")
    import torch

    torch.set_num_threads(1)
    if tiny_model("terminal") is None:
        pytest.skip("no small model is bundled")
    quick, _ = measure(options("tiny"), FidelityPlan(ROWS[:1], quick=True))
    asked, _ = measure(options("tiny"), FidelityPlan(ROWS[:1], free=False))
    assert quick.free is None and quick.taught and asked.taught and quick.taught.measures
    assert quick.taught.measures.similarity is None
    exact = [{turn: cell.exact for turn, cell in one.taught.groups["turn"].items()} for one in (quick, asked)]
    assert exact[0] == exact[1]


def test_a_forward_pass_tells_sessions_of_one_name_apart(tmp_path: Path):
    pytest.importorskip("transformers")
    model = f"transformers:{write_tiny_model(tmp_path, context=4096)}"
    given = options(model, language={"profile": "compact", "sampling": {"thinking": False, "temperature": 0}})
    short, *_, long = sorted(ROWS, key=lambda row: len(row.actions))
    found, _ = measure(given, FidelityPlan([short, long.model_copy(update={"id": short.id})], quick=True))
    assert found.taught and found.taught.measures and len(short.actions) < len(long.actions)
    exact = found.taught.measures.exact
    assert (exact.groups, exact.count) == (2, len(short.actions) + len(long.actions))


def test_options_that_a_forward_pass_needs_are_named(tmp_path: Path):
    pytest.importorskip("transformers")
    model = f"transformers:{write_tiny_model(tmp_path, context=4096)}"
    for asked, named in (
        ({"profile": "compact"}, "expected --sampling thinking=false with it"),
        ({}, "expected --profile compact, --sampling thinking=false with it"),
    ):
        with pytest.raises(SpecError, match=named):
            measure(options(model, language=asked), FidelityPlan(_untouched(), quick=True))


def test_a_world_without_a_model_in_this_process_has_no_forward_pass():
    with pytest.raises(SpecError, match="quick"):
        measure(options(dream("no_model", lambda request: predicted("a"))), FidelityPlan(_untouched(), quick=True))


def _untouched() -> Iterator[Row]:
    """Sessions that nobody may ask for."""
    raise AssertionError("recorded before the world was looked at")
    yield


def test_a_world_that_is_not_there_is_told_before_anything_is_recorded():
    with pytest.raises(GeneratorError):
        measure(options("http://localhost:9/v1"), FidelityPlan(_untouched()))


# Probes and plans


def test_a_world_that_hides_what_files_hold_disagrees_on_probes():
    hides = altered("hides", lambda action: "$" if action.raw.startswith("cat") else None)
    found, _ = measure(options(hides), FidelityPlan(ROWS))
    probes = found.free.probes if found.free else None
    assert probes and probes.only_grounded > 0 and probes.only_dream == 0
    judged = probes.both + probes.neither + probes.only_grounded
    assert probes.agreement.share == pytest.approx(1 - probes.only_grounded / judged)


def flattering(task: Task, actions: Sequence[Action]) -> str:
    """Answers every probe of a task as the task expects it."""
    for check in task.success:
        if actions and check.probes and actions[-1].raw == check.probes[-1] and check.expect is not None:
            return f"{actions[-1].raw}\n{(check.expect.equals or check.expect.contains or '').strip()}\ndev@box:~$"
    return echo(task, actions)


def test_a_dream_that_calls_every_plan_good_loses_tasks_for_real():
    register_world("flatters", lambda given: ScriptedWorld(flattering))
    found, _ = measure(options("flatters", families=["copy_move"]), FidelityPlan([], plans=range(6)))
    plans = found.consistency
    assert plans and plans.ratio is not None and plans.low is not None and plans.high is not None
    assert plans.recall == 1.0
    assert plans.precision is not None and plans.precision < 1.0
    assert plans.low <= plans.ratio < 1.0


def test_plans_are_searched_once_for_each_task_however_often_seeds_repeat_it():
    counted: dict[str, Tally] = {}

    def begin(stage: str, unit: str, total: int) -> Tally:
        return counted.setdefault(stage, Tally(total))

    found, _ = measure(options("grounded", task="copy_move-1-5"), FidelityPlan([], plans=range(6)), on_stage=begin)
    assert found.consistency and (found.consistency.tasks, found.consistency.replayed.count) == (1, 1)
    plans = counted["terminal: plans"]
    assert (plans.episodes, plans.total) == (4, 4) and plans.success is not None


def test_a_dream_that_fails_finds_no_plan():
    broken = dream("finds_none", lambda request: Failure(FailureKind.TIMEOUT, "late"))
    found, _ = measure(options(broken), FidelityPlan([], plans=range(3)))
    assert found.consistency and found.consistency.ratio == 0.0
    assert found.consistency.failures == {"timeout": 12} and found.consistency.precision is None


# Baselines


@pytest.mark.parametrize("seed", [3, 7, 11, 22])
def test_the_nearest_answer_is_right_in_the_turns_that_it_was_given(seed: int, tmp_path: Path):
    rows = list(record("terminal", 5, seed=seed))
    file = samples_of(rows, tmp_path)
    assert open_nearest(str(file)).describe()["generator"] == ("nearest", True)
    measured = list(cases_of(rows, options("grounded").runner()))
    with closing(options(f"nearest:{file}").runner()) as runner:
        told = Replay()
        replay(runner, [case for case in measured if case], taught=True, wave=8, into=told)
    assert told.exact == sum(len(row.actions) for row in rows) and not told.failures


@pytest.mark.parametrize("domain", ["mcp", "search", "android"])
def test_a_table_plays_any_domain_in_the_form_of_its_small_model(domain: str, tmp_path: Path):
    rows = list(record(domain, 2, seed=1, families=()))
    file = samples_of(rows, tmp_path)
    asked = EnvOptions(spec=domain, world=f"nearest:{file}", split="test")
    with closing(asked.runner()) as runner, closing(asked.runner_of_truth("grounded", runner)) as truth:
        assert runner.world.prompts.form == bundled_model("tiny", runner.spec, {}).form(runner.spec)
        told = Replay()
        replay(runner, [case for case in cases_of(rows, truth) if case], taught=True, wave=8, into=told)
    assert told.answered and told.exact == told.answered


def test_baselines_are_asked_for_all_that_the_world_is_asked_for():
    found, _ = measure(
        options("tiny"), FidelityPlan(ROWS, record("terminal", 10, split="train"), 14_000, plans=range(2))
    )
    for table in (found.nearest, found.worldbook):
        assert table is not None and found.free and found.taught
        assert (table.sessions, table.saw) == (10, 14_000)
        for run in (table.taught, table.free):
            assert run is not None and run.measures is not None
            assert run.measures.exact.count + sum(run.failures.values()) + run.lost == STEPS
        assert table.free is not None and table.free.probes is not None
        assert table.consistency is not None and found.consistency is not None
        assert table.consistency.direct == found.consistency.direct
        assert set(table.errors) == {"true history", "own history"}
    assert found.worldbook is not None and [one.least for one in found.worldbook.trusted] == [0.9, 0.99]


def test_errors_are_counted_as_a_share_of_those_of_the_table():
    def replayed(wrong: Set[tuple[int, int]], failed: Set[tuple[int, int]] = frozenset()) -> Replay:
        made = Replay()
        for place in ((case, turn) for case in range(20) for turn in range(4)):
            failure = "malformed" if place in failed else None
            made.add(ReplayedStep(*place, exact=None if failure else place not in wrong, failure=failure))
        return made

    table = replayed({(case, turn) for case in range(20) for turn in (0, 1)})
    half = share_of_errors(replayed({(case, 0) for case in range(20)}), table)
    assert half is not None and (half.share, half.groups) == (0.5, 20)
    unread = share_of_errors(replayed(set(), {(case, 0) for case in range(20)}), table)
    assert unread == half
    none = share_of_errors(replayed(set()), table)
    assert none is not None and (none.share, none.low) == (0.0, 0.0) and none.high > 0.2
    assert share_of_errors(table, replayed(set())) is None


def test_baselines_stand_beside_the_world():
    found, _ = measure(options("grounded"), FidelityPlan(ROWS, record("terminal", 10, split="train")))
    assert set(found.baselines) == {"copy", "nearest", "worldbook"}
    assert found.nearest is not None and (found.nearest.sessions, found.nearest.taught) == (10, None)
    assert found.baselines["copy"].exact.share < 0.3
    assert all(one.exact.count == STEPS for one in found.baselines.values())


def test_the_nearest_answer_is_not_taken_from_a_session_that_is_asked_about():
    others = list(record("terminal", 3, split="train"))
    mixed, _ = measure(options("grounded"), FidelityPlan(ROWS, [*ROWS, *others]))
    apart, _ = measure(options("grounded"), FidelityPlan(ROWS, others))
    assert mixed.baselines == apart.baselines and mixed.nearest == apart.nearest
    assert mixed.worldbook == apart.worldbook
    own, _ = measure(options("grounded"), FidelityPlan(ROWS, ROWS))
    assert set(own.baselines) == {"copy"}


def test_baselines_answer_the_steps_that_the_world_answered():
    def answer(request: ChatRequest) -> str | Failure:
        first = len(request.messages) == 2
        return Failure(FailureKind.SERVER, "500") if first else oracle(lambda turn: False)(request)

    found, _ = measure(options(dream("fails_at_one", answer)), FidelityPlan(ROWS, free=False))
    assert found.taught and found.taught.measures and found.taught.failures == {"server": len(ROWS)}
    assert found.baselines["copy"].exact.count == found.taught.measures.exact.count == STEPS - len(ROWS)


# Confidence


def test_confidence_reaches_the_calibration():
    def sure(request: ChatRequest) -> Completion:
        text = oracle(lambda turn: turn == 1)(request)
        right = "?" not in text
        return Completion(text, usage=Usage(completion_tokens=4), logprob=math.log(0.99 if right else 0.5))

    found, _ = measure(options(dream("sure", sure)), FidelityPlan(ROWS, free=False))
    sequence, token = found.calibration
    assert (sequence.measure, token.measure) == ("sequence", "token")
    assert [round(one.confidence, 2) for one in token.bins] == [0.5, 0.99]
    assert [one.exact.share for one in token.bins] == [0.0, 1.0]
    erring = sum(len(row.actions) > 1 for row in ROWS)
    assert [one.exact.count for one in token.bins] == [erring, STEPS - erring]
    assert [one.exact.groups for one in token.bins] == [erring, len(ROWS)]
    assert sequence.bins[0].confidence == pytest.approx(0.5**4)
    assert sequence.error < token.error


def test_a_guard_lets_pass_what_is_wrong_and_confident():
    def sure(request: ChatRequest) -> Completion:
        turn = len(request.messages) // 2 - 1
        text = oracle(lambda turn: turn == 1)(request)
        return Completion(text, usage=Usage(completion_tokens=1), logprob=math.log(0.5 if turn == 2 else 0.95))

    found, _ = measure(options(dream("surely_wrong", sure)), FidelityPlan(ROWS, free=False))
    guard, strict = found.trusted
    second = sum(len(row.actions) > 1 for row in ROWS)
    third = sum(len(row.actions) > 2 for row in ROWS)
    assert (guard.least, strict.least) == (0.9, 0.99)
    assert guard.taken.share == pytest.approx(1 - third / STEPS)
    assert guard.wrong is not None and guard.wrong.share == pytest.approx(second / (STEPS - third))
    assert (strict.taken.share, strict.wrong) == (0.0, None)


def test_a_world_that_tells_no_confidence_has_no_calibration():
    assert probability(Observation("a"), "token") is None
    found, _ = measure(options("grounded"), FidelityPlan(ROWS[:1]))
    assert found.calibration == () and found.trusted == ()


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_the_calibration_error_is_a_share_and_bins_hold_every_prediction(pairs: list[tuple[float, bool]]):
    found = calibration("token", [sure for sure, _ in pairs], [right for _, right in pairs])
    assert 0 <= found.error <= 1 and sum(one.exact.count for one in found.bins) == len(pairs)
    assert all(one.low - 1e-9 <= one.confidence <= one.high + 1e-9 for one in found.bins)
    assert all(one.high < other.low for one, other in pairwise(found.bins))
    assert all(0 <= one.exact.low <= one.exact.share <= one.exact.high <= 1 for one in found.bins)


def test_bins_hold_as_many_predictions_each_where_confidences_differ():
    sure = [1 - number / 1000 for number in range(100)]  # all of them above 0.9
    found = calibration("token", sure, [True] * 100, sessions=[number % 5 for number in range(100)])
    assert [(one.exact.count, one.exact.groups) for one in found.bins] == [(10, 5)] * 10
    assert len(calibration("token", sure[:25], [True] * 25).bins) == 2


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_one_who_is_always_sure_and_right_is_calibrated(rights: list[bool]):
    assert calibration("token", [float(right) for right in rights], rights).error == 0.0


def test_what_was_asked_for_stands_in_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    seen: list[WorldOptions] = []

    def opened(given: WorldOptions) -> GroundedWorld:
        seen.append(given)
        return open_world("grounded", WorldOptions(given.spec))  # type: ignore[return-value]

    register_world("told", opened)
    arguments = ["terminal", "--world", "told", "--tasks", "1", "--family", "copy_move", "--level", "1"]
    engine = ["--generator", "confidence=true", "--sampling", "temperature=0"]
    asked = {
        "families": ["copy_move"],
        "levels": [1],
        "generator": {"confidence": True},
        "sampling": {"temperature": 0},
    }
    run = CliRunner()
    done = run.invoke(app, ["eval", "fidelity", *arguments, *engine, "--nearest", "0", "--plans", "0"])
    assert done.exit_code == 0, done.output
    assert FidelityResult.read(Path("fidelity.json")).options == asked
    done = run.invoke(app, ["eval", "transfer", *arguments, *engine, "--policy", "expert", "--seed", "3"])
    assert done.exit_code == 0, done.output
    told = TransferResult.read(Path("transfer.json")).options
    assert {key: told[key] for key in asked} == asked and told["seeds"] == "3"
    assert [dict(given.generator or {}) for given in seen] == [{"confidence": True}] * 2


def test_options_of_the_dream_do_not_reach_the_grounded_world():
    compact = options("grounded").changed(language={"profile": "compact", "sampling": {"temperature": 0}})
    found, _ = measure(compact, FidelityPlan(ROWS[:2]))
    assert found.free and found.free.measures and found.free.measures.exact.share == 1.0
