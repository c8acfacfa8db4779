"""Recorded steps that resemble the next one: found on disk, shown in a request, and never from the same episode."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner
from worlds import dream, language_world, make, predicted

import agentworld_gym  # noqa: F401  registers the ids
from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.cli.app import app
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import generate
from agentworld_gym.llm.prompting.changes import CHANGE
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.retrieval import StepIndex, StepRetrieval, origin_of_row, origin_of_task
from agentworld_gym.llm.retrieval.build import build_index
from agentworld_gym.llm.retrieval.step_retrieval import with_retrieved_steps
from agentworld_gym.llm.retrieval.steps import steps_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples_from_rows import turn_samples

DOMAINS = ("terminal", "android")
CONFIG = CollectConfig(profile="compact", levels={1: 1.0}, max_turns=6)


@cache
def recorded() -> list[Row]:
    recorder = Recorder([load_spec(domain) for domain in DOMAINS], CONFIG, seed=3)
    return [row for number in range(24) if (row := recorder.row(number)) is not None]


@cache
def index() -> StepIndex:
    return build_index(recorded(), Path(mkdtemp()) / "index")


def session(name: str, *turns: tuple[str, str], seed: int | None = None, family: str = "") -> Row:
    """A terminal session of some actions and what they showed."""
    actions, shown = zip(*turns, strict=True)
    last = {"current_prompt": actions[-1], "turn_idx": len(turns), "total_turns": len(turns)}
    told = {"task": "terminal", "id": name, "system_str": "dev@box:~$", "prompt": actions, "response": shown}
    return Row(**told, **last, actions=actions, observations=shown, seed=seed, family=family)


def test_the_step_that_shares_the_words_of_the_action_comes_first(tmp_path):
    rows = [session("a", ("ls -la", "total 0"), ("wc -l notes.txt", "3 notes.txt")), session("b", ("pwd", "/srv"))]
    found = build_index(rows, tmp_path / "index", split=None).search("terminal", "wc -l other.txt", "dev@box:~$")
    assert [(step.row, step.turn, step.action, step.observation) for step in found] == [
        ("a", 2, "wc -l notes.txt", "3 notes.txt")
    ]
    assert found[0].before == "total 0"


def test_between_equal_actions_the_state_decides(tmp_path):
    rows = [
        session("a", ("cd /srv", "dev@box:/srv$"), ("ls", "x.txt")),
        session("b", ("cd /etc", "root@box:/etc#"), ("ls", "passwd")),
    ]
    found = build_index(rows, tmp_path / "index", split=None)
    assert found.search("terminal", "ls", "root@box:/etc#")[0].row == "b"
    assert found.search("terminal", "ls", "dev@box:/srv$")[0].row == "a"


def test_ties_go_to_what_was_recorded_first_and_like_steps_are_shown_once(tmp_path):
    rows = [session(name, ("whoami", shown)) for name, shown in (("b", "dev"), ("a", "dev"), ("c", "root"))]
    rows = [row.model_copy(update={"system_str": row.id}) for row in rows]
    found = build_index(rows, tmp_path / "index", split=None)
    for _ in range(3):
        assert [step.row for step in found.search("terminal", "whoami", "", k=3)] == ["b", "c"]


def test_many_better_steps_that_must_not_be_shown_do_not_hide_the_others(tmp_path):
    group = [session(f"own-{n}", ("cat notes.txt", f"{n}"), seed=40, family="copy_move") for n in range(100)]
    other = session("other", ("cat letter.txt", "Dear Lea"), seed=41, family="copy_move")
    found = build_index([*group, other], tmp_path / "index", split=None)
    assert found.search("terminal", "cat notes.txt", "", k=1)[0].row == "own-0"
    (step,) = found.search("terminal", "cat notes.txt", "", k=3, exclude=["group terminal/copy_move/40"])
    assert step.row == "other"


def test_an_index_holds_each_session_once_and_of_the_asked_split_alone(tmp_path):
    train = generate("terminal", "copy_move", 1, 40)
    rows = [session("a", ("ls", "x"), seed=train.seed, family="copy_move")]
    again = [*rows, *rows, session("b", ("ls", "y"), seed=39, family="copy_move")]
    assert build_index(again, tmp_path / "index").sessions == 1
    assert [step.row for step in StepIndex(tmp_path / "index").search("terminal", "ls", "")] == ["a"]
    with pytest.raises(SpecError, match="recorded sessions of the split validation"):
        build_index(rows, tmp_path / "other", split="validation")


def test_a_domain_sees_its_own_steps_alone():
    assert {step.domain for step in index().search("android", "ls -la notes.txt click open", "", k=20)} <= {"android"}
    assert index().search("mcp", "ls", "") == []


def test_on_a_screen_an_action_means_what_it_points_at():
    row = next(row for row in recorded() if row.domain == "android" and '"index"' in row.actions[1])
    (step,) = index().search("android", row.actions[1], list(steps_of(row))[1][1], k=1)
    number = json.loads(row.actions[1])["index"]
    assert (step.row, step.turn) == (row.id, 2)
    assert step.target.startswith(f"[{number:2}] ")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_step_of_the_same_episode_is_ever_found(data):
    row = data.draw(st.sampled_from(recorded()))
    action, before, _ = data.draw(st.sampled_from(list(steps_of(row))))
    origin = origin_of_row(row)
    # Whichever part of the origin is given, the session itself is out; with all of it, all that share any part.
    part = data.draw(st.sampled_from([*[(one,) for one in origin], origin]))
    found = index().search(row.domain, action, before, k=50, exclude=part)
    unbarred = index().search(row.domain, action, before, k=50)
    assert (action in {step.action for step in unbarred}) or not any(map(str.isalnum, action))
    others = {other.id: set(origin_of_row(other)) for other in recorded()}
    assert all(not others[step.row] & set(part) for step in found)
    assert row.id not in {step.row for step in found}
    # The task of an episode that is played again is known as well.
    task = generate(row.domain, row.family, row.level or 1, row.seed or 0)
    assert row.id not in {step.row for step in index().search(row.domain, action, before, 50, origin_of_task(task))}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), min_size=1, max_size=4), st.text(max_size=20))
def test_any_text_can_be_recorded_and_asked_for(turns, asked):
    turns = [(action, shown.encode("utf-8", "replace").decode()) for action, shown in turns]
    turns = [(action.encode("utf-8", "replace").decode(), shown) for action, shown in turns]
    found = build_index([session("a", *turns)], Path(mkdtemp()) / "index", split=None)
    for step in found.search("terminal", asked, asked, k=9):
        assert (step.action, step.observation) == turns[step.turn - 1]
    words = [number for number, (action, _) in enumerate(turns, 1) if any(letter.isalnum() for letter in action)]
    if words:
        assert found.search("terminal", turns[words[0] - 1][0], "", k=9)


def test_reading_an_index_takes_no_memory_for_its_scores():
    part = index()._domain("terminal")
    assert isinstance(part.steps, np.memmap)
    assert all(isinstance(array, np.memmap) for field in part._fields for array in field._columns.values())


def test_what_is_no_index_is_refused(tmp_path):
    with pytest.raises(SpecError, match="agentworld index"):
        StepIndex(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SpecError, match="an empty folder"):
        build_index(recorded(), tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_index_that_was_stopped_leaves_the_earlier_one(tmp_path):
    build_index(recorded()[:4], tmp_path / "index")
    before = StepIndex(tmp_path / "index").digest

    def torn():
        yield recorded()[5]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(torn(), tmp_path / "index")
    assert StepIndex(tmp_path / "index").digest == before
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    build_index(recorded()[:5], tmp_path / "index")
    assert StepIndex(tmp_path / "index").digest != before


@pytest.mark.parametrize("profile", ["full", "compact"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_recorded_steps_stand_before_the_closing_request_and_never_in_the_history(domain, profile):
    requests = []

    def answer(request):
        requests.append([message["content"] for message in request.messages])
        return predicted("done")

    spec = load_spec(domain)
    row = next(row for row in recorded() if row.domain == domain)
    world = language_world(answer, domain, profile=profile, retrieval={"path": str(index().folder), "k": 2})
    plain = language_world(answer, domain, profile=profile)
    task = generate(domain, row.family, 1, 39)
    ([shown], [bare]) = (one.begin([task], [0]) for one in (world, plain))
    parser = ActionParser(spec)
    for text in row.actions[:2]:
        action = parser.parse(text, task.tools)
        world.step([shown], [action])
        plain.step([bare], [action])
        with_steps, without = requests[-2:]
        assert with_steps[:-1] == without[:-1]
        closing = world.prompts.closing
        assert with_steps[-1].startswith(without[-1].removesuffix(closing))
        assert with_steps[-1].endswith(closing)
        assert len(with_steps[-1]) > len(without[-1])
    assert shown.history == bare.history


def test_what_controls_did_is_shown_only_where_controls_are_in_force(tmp_path):
    spec = load_spec("terminal")
    calm = session("calm", ("cat notes.txt", "milk"))
    stormy = session("stormy", ("cat notes.txt", "Input/output error")).model_copy(
        update={"controls": {"intermittent-errors": 0.5}, "system_str": "other"}
    )
    shown = StepRetrieval(build_index([calm, stormy], tmp_path / "index", split=None), Prompts(spec))
    task = spec.handwritten_tasks()[0]
    requests = []
    world = language_world(
        lambda request: requests.append(request) or predicted("x"), retrieval=str(shown.index.folder)
    )
    for controls in ({}, {"intermittent-errors": 0.0}, {"intermittent-errors": 0.3}):
        [begun] = world.begin([task.model_copy(update={"controls": controls})], [0])
        world.step([begun], [ActionParser(spec).parse("cat other.txt")])
        text = requests[-1].messages[-1]["content"]
        assert "milk" in text
        assert ("Input/output error" in text) == bool(controls.get("intermittent-errors"))


def test_the_block_keeps_its_budget_and_escapes_what_was_recorded(tmp_path):
    row = session("a", ("cat log", "<think>no</think> <|im_end|> ```" + "x" * 5000))
    found = build_index([row], tmp_path / "index", split=None)
    prompts = Prompts(load_spec("terminal"))
    for limit in (100, 400, 2000):
        block = StepRetrieval(found, prompts, k=1, max_chars=limit).text("cat log", "", ())
        assert "<think>" not in block
        assert "<|im_end|>" not in block
        assert "Observation, cut:" in block
        empty = StepRetrieval(found, prompts, k=1, max_chars=limit)._template.render(steps=[])
        frame = 200  # labels and fences of one step
        assert len(unescape(block)) <= limit + len(empty) + frame
        # The recorded fence cannot close ours.
        assert "````" in block
    assert StepRetrieval(found, prompts).text("nothing alike", "", ()) == ""


def test_in_the_change_form_a_step_shows_the_change_that_a_model_would_write(tmp_path):
    prompts = Prompts(load_spec("web"), PromptOptions(profile="compact", form="change"))
    recorder = Recorder([load_spec("web")], CONFIG, seed=3)
    rows = [row for number in range(6) if (row := recorder.row(number)) is not None]
    shown = StepRetrieval(build_index(rows, tmp_path / "index", split=None), prompts, k=1, max_chars=10**6)
    changes = 0
    for action, before, after in (step for row in rows for step in steps_of(row)):
        answer, (step,) = prompts.answer(None, before, after), shown.index.search("web", action, before, k=1)
        if (step.before, step.observation) == (before, after):
            assert unescape(shown.text(action, before, ())).endswith(f"~ {action}\n{answer}")
            changes += answer.startswith(CHANGE)
    assert changes


def test_how_steps_are_written_counts_for_the_digest():
    spec = load_spec("android")
    forms = [("full", "full"), ("full", "change"), ("compact", "full"), ("compact", "change")]
    written = [Prompts(spec, PromptOptions(profile=profile, form=form)) for profile, form in forms]
    assert len({StepRetrieval(index(), prompts).digest for prompts in written}) == len(forms)


def test_a_world_is_another_one_with_another_index_or_other_options(tmp_path):
    other = build_index(recorded()[:6], tmp_path / "other")
    asked = [None, str(index().folder), str(other.folder), {"path": str(other.folder), "k": 1}]
    worlds = [language_world(lambda request: predicted("x"), retrieval=option) for option in asked]
    assert len({world.fingerprint.digest for world in worlds}) == len(worlds)
    assert worlds[1].fingerprint.parts["demonstrations"].verified


def test_an_environment_takes_the_option():
    seen = []

    def answer(request):
        seen.append(request.messages[-1]["content"])
        return predicted("dev@box:~$")

    env = make(
        world=dream("retrieving", answer), language={"retrieval": {"path": str(index().folder), "k": 1}}, split="test"
    )
    env.reset(seed=1)
    env.step("ls")
    assert "Recorded steps that resemble this one" in seen[0]
    env.close()


@pytest.mark.parametrize("world", ["grounded", "scripted"])
def test_a_world_that_is_no_language_world_refuses_it(world):
    with pytest.raises(SpecError, match=r"retrieval.*only a language world is shown recorded steps"):
        gym.make("AgentWorld/Terminal-v0", world=world, language={"retrieval": str(index().folder)})


@pytest.mark.parametrize(
    ("option", "named"),
    [("nowhere", "agentworld index"), ({"k": 3}, "path"), ({"path": "x", "many": 3}, "many"), (3, "retrieval")],
)
def test_a_wrong_option_is_named(option, named):
    name = dream("unasked", lambda request: predicted("x"))
    with pytest.raises(SpecError, match=named):
        gym.make("AgentWorld/Terminal-v0", world=name, language={"retrieval": option})


def test_an_index_without_the_domain_is_refused():
    name = dream("unasked", lambda request: predicted("x"))
    with pytest.raises(SpecError, match="an index with steps of mcp"):
        gym.make("AgentWorld/MCP-v0", world=name, language={"retrieval": str(index().folder)})


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_a_training_sample_shows_what_a_world_would_show(profile):
    row = next(row for row in recorded() if row.domain == "terminal")
    prompts = Prompts(load_spec("terminal"), PromptOptions(profile=profile))
    shown = StepRetrieval(index(), prompts, k=2)
    for turn, sample in enumerate(turn_samples(row, prompts), 1):
        found = with_retrieved_steps(sample, shown, row, turn)
        action, before, _ = list(steps_of(row))[turn - 1]
        block = shown.text(action, before, origin_of_row(row))
        request = sample.messages[-2]["content"].removesuffix(prompts.closing)
        assert found.messages[-2]["content"] == request + block + prompts.closing
        assert found.messages[:-2] == sample.messages[:-2]
        assert found.messages[-1] == sample.messages[-1]


def test_the_command_line_writes_an_index_and_takes_it(tmp_path):
    rows = tmp_path / "data" / "train.jsonl"
    rows.parent.mkdir()
    rows.write_text("".join(row.model_dump_json() + "\n" for row in recorded()[:4]))
    done = CliRunner().invoke(app, ["index", str(rows.parent), "--out", str(tmp_path / "index")])
    assert done.exit_code == 0, done.output
    assert StepIndex(tmp_path / "index").sessions == 4
    refused = CliRunner().invoke(app, ["rollout", "terminal", "-n", "1", "--retrieval", str(tmp_path / "index")])
    assert refused.exit_code == 2
