"""From recorded rows to samples: which sessions and turns are taken, what they say, and how much each turn counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from typer.testing import CliRunner

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.cli.app import app
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ChatRequest, Failure, Message, Observation
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines.catalog import load_index
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.prompting.changes import apply
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.pools import SessionPool, group_of, split_of_row, stage_of
from agentworld_gym.llm.rows.rerendering import observation_meant, rerendered_messages, task_of
from agentworld_gym.llm.rows.row import Row, RowProvenance
from agentworld_gym.llm.rows.samples import Sample, read_samples, write_samples
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample, turn_samples
from agentworld_gym.llm.rows.turn_weights import CLASSES, SHARES, Weighting, classify, overlap, turn_weights
from agentworld_gym.recipe.data.filters import Filters, RowFilter, only_turns
from agentworld_gym.recipe.data.preparation import Preparation, prepare
from agentworld_gym.recipe.data.text_corpora import (
    Knowledge,
    character_count,
    knowledge_samples,
    mixed_with_texts,
    text_pieces,
)
from agentworld_gym.worlds.language import LanguageWorld

MESSAGES = [{"role": "user", "content": "ls"}, {"role": "assistant", "content": "a.txt"}]
SCREENS = ("web", "desktop", "android")


FORMS = [(domain, "full") for domain in DOMAINS] + [(domain, "change") for domain in SCREENS]


@cache
def recorded(domain: str, profile: Any = "full", form: Any = "full") -> tuple[Row, ...]:
    """A few sessions of a domain, some of them disturbed."""
    config = CollectConfig(profile=profile, form=form, controls_share=0.5, max_turns=6)
    recorder = Recorder([load_spec(domain)], config, seed=3)
    return tuple(row for number in range(3) if (row := recorder.row(number)) is not None)


def asked(row: Row, prompts: Prompts, answers: Sequence[str]) -> list[list[Message]]:
    """The requests of a language world in which a session is played whose completions are these answers."""
    requests: list[list[Message]] = []
    coming = iter(answers)

    def answer(request: ChatRequest) -> str:
        requests.append(list(request.messages))
        return next(coming)

    world = LanguageWorld(prompts.spec, prompts, ScriptedGenerator(answer), Sampling())
    task = task_of(row)
    assert task is not None
    (opened,) = world.begin([task], [0])
    assert not isinstance(opened, Failure)
    parser = ActionParser(prompts.spec)
    for action, shown in zip(row.actions, row.observations, strict=True):
        (found,) = world.step([opened], [parser.parse(action, task.tools)])
        assert isinstance(found, Observation) and found.text == shown
    return requests


def session(*turns: tuple[str, str], domain: str = "mcp", **more: Any) -> Row:
    """A session that was imported, of actions and what they showed."""
    prompts = [f"### Turn {number}\n\n**Action:**\n{action}" for number, (action, _) in enumerate(turns, 1)]
    prompts[0] = prompts[0].replace("**Action", "**Task Instruction:**\nGo.\n\n**Action")
    data: dict[str, Any] = {
        "task": {"desktop": "os"}.get(domain, domain),
        "id": "s",
        "system_str": "### 1. shop-buy\n### 2. shop-look",
        "prompt": [*prompts[:-1], prompts[-1] + "\n\nNow."],
        "response": [shown for _, shown in turns],
        "current_prompt": prompts[-1],
        "turn_idx": len(turns),
        "total_turns": len(turns),
        "actions": [action for action, _ in turns],
        "observations": [shown for _, shown in turns],
        "provenance": RowProvenance(source="chat"),
        **more,
    }
    return Row.model_validate(data)


# Samples


def test_a_sample_has_one_weight_for_each_answer() -> None:
    with pytest.raises(ValueError, match="1 weights"):
        Sample(id="a", domain="d", messages=MESSAGES, weights=[1, 1])
    with pytest.raises(ValueError, match="less than or equal to 1"):
        Sample(id="a", domain="d", messages=MESSAGES, weights=[2])
    with pytest.raises(ValueError, match="one message of the role text"):
        Sample(id="a", domain="d", messages=[{"role": "text", "content": "a"}] * 2, weights=[])


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=4))
def test_samples_come_back_as_they_were_written(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("samples") / "samples.jsonl"
    written = [
        Sample(id=str(n), domain="d", messages=[{"role": "assistant", "content": text}], weights=[0.05])
        for n, text in enumerate(texts)
    ]
    assert write_samples(path, written) == len(texts)
    assert list(read_samples(path)) == written


def test_a_broken_line_is_named_and_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    good = Sample(id="a", domain="d", messages=MESSAGES, weights=[1])
    write_samples(path, [good])

    def failing() -> Any:
        yield good
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_samples(path, failing())
    assert list(read_samples(path)) == [good] and [file.name for file in tmp_path.iterdir()] == [path.name]
    path.write_bytes(path.read_bytes() + b'{"id": "b"')
    with pytest.raises(SpecError, match=r"line 2: .* expected a JSON object"):
        list(read_samples(path))
    path.write_bytes(b'{"id": "b", "domain": "d", "messages": [], "weights": []}\n')
    with pytest.raises(SpecError, match="line 1: messages"):
        list(read_samples(path))


@pytest.mark.parametrize("domain", DOMAINS)
def test_messages_rendered_again_are_those_of_the_row(domain: str) -> None:
    prompts = Prompts(load_spec(domain), PromptOptions(form="full"))
    for row in recorded(domain):
        assert rerendered_messages(row, prompts) == row.messages()


@pytest.mark.parametrize(("domain", "form"), FORMS)
@pytest.mark.parametrize("profile", ["full", "compact"])
def test_samples_are_to_the_byte_what_a_language_world_asks_and_reads(domain: str, form: Any, profile: Any) -> None:
    index = load_index(domain) if profile == "compact" else None
    prompts = Prompts(load_spec(domain), PromptOptions(profile=profile, form=form, index=index))
    for row in recorded(domain, profile, form)[:2]:
        assert (row.profile, row.form) == (profile, form)
        for rendered in (None, prompts):
            turns = list(turn_samples(row, rendered))
            requests = asked(row, prompts, [sample.messages[-1]["content"] for sample in turns])
            assert [list(sample.messages[:-1]) for sample in turns] == requests
            if (profile, form) == ("full", "change"):
                continue  # A session's assistant messages are changes here, and whole screens in a history.
            session = cpt_sample(row, rendered).messages
            for turn, request in enumerate(requests, 1):
                *past, last = session[: 2 * turn]
                assert [*past, {**last, "content": last["content"] + prompts.closing}] == request


@pytest.mark.parametrize("domain", SCREENS)
def test_where_changes_are_asked_for_changes_are_learned(domain: str) -> None:
    row = recorded(domain, "full", "change")[0]
    prompts = Prompts(load_spec(domain), PromptOptions(form="change"))
    assert list(turn_samples(row)) == list(turn_samples(row, prompts))
    assert cpt_sample(row) == cpt_sample(row, prompts)
    change = prompts.answer(None, row.first_observation, row.observations[0])
    assert escape(change) in next(turn_samples(row)).messages[-1]["content"]


@pytest.mark.parametrize(("domain", "form"), FORMS)
def test_a_session_that_lost_turns_is_what_a_world_asks_that_never_had_them(domain: str, form: Any) -> None:
    for row in recorded(domain, "compact", form):
        idle = [turn for turn, (a, b) in enumerate(pairwise([row.first_observation, *row.observations])) if a == b]
        for gone in {0, *idle[:2]}:
            cut = only_turns(row, [turn for turn in range(row.turn_idx) if turn != gone])
            prompts = Prompts(load_spec(domain), PromptOptions(profile="compact", form=form, index=load_index(domain)))
            turns = list(turn_samples(cut))
            requests = asked(cut, prompts, [sample.messages[-1]["content"] for sample in turns])
            assert [list(sample.messages[:-1]) for sample in turns] == requests
            assert Row.model_validate(cut.model_dump()) == cut


@pytest.mark.parametrize("domain", SCREENS)
def test_in_the_change_form_an_answer_leads_to_the_next_screen(domain: str) -> None:
    prompts = Prompts(load_spec(domain), PromptOptions(form="change"))
    row = recorded(domain)[0]
    answers = [message["content"] for message in rerendered_messages(row, prompts) if message["role"] == "assistant"]
    before = row.first_observation
    for answer, shown in zip(answers, row.observations, strict=True):
        assert apply(before, answer.removeprefix("**Environment Observation:**\n")) == shown
        before = shown if "Snapshot" in shown or domain != "web" else before
        if before != shown:
            break


def test_a_task_that_cannot_be_made_again_keeps_its_messages_and_has_no_change_form() -> None:
    row = session(("a", "b"), ("c", "d"), domain="android")
    spec = load_spec("android")
    assert rerendered_messages(row, Prompts(spec, PromptOptions(form="full"))) == row.messages()
    with pytest.raises(SpecError, match="a task that can be generated again"):
        rerendered_messages(row, Prompts(spec, PromptOptions(form="change")))


def test_turns_of_a_task_that_cannot_be_made_again_keep_their_messages() -> None:
    row = session(("a", "b"), ("c", "d"))
    assert list(turn_samples(row, Prompts(load_spec("mcp"), PromptOptions(profile="compact")))) == list(
        turn_samples(row)
    )


def test_turns_of_such_a_session_that_was_recorded_in_the_form_of_the_prompts_keep_their_messages() -> None:
    lost = recorded("android", "compact", "change")[0].model_copy(update={"task_id": "another"})
    prompts = Prompts(load_spec("android"), PromptOptions(form="change", profile="compact"))
    assert list(turn_samples(lost, prompts)) == list(turn_samples(lost))
    assert rerendered_messages(lost, prompts) == lost.messages()


def test_answers_that_refer_to_a_task_that_is_gone_have_no_meaning() -> None:
    prompts = Prompts(load_spec("search"), PromptOptions(profile="compact", index=load_index("search")))
    row = next(row for row in recorded("search", "compact") if any("@" in text for text in row.response))
    assert observation_meant(row, prompts, "", unescape(row.response[-1])) == row.observations[-1]
    lost = row.model_copy(update={"task_id": "another"})
    expected = "task_id: got 'another', expected a task that can be generated again, because its answers refer to"
    with pytest.raises(SpecError, match=rf"row {row.id}: {expected}.*: family, level and seed give {row.task_id}\Z"):
        observation_meant(lost, prompts, "", "@anything")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"seed": None}, "the row has no family, level and seed"),
        ({"family": "off_by_won"}, "the domain has no family off_by_won, but "),
        ({"instruction": "Do more."}, "family, level and seed give another instruction, "),
        ({"task_id": "another"}, "family, level and seed give "),
    ],
)
def test_the_error_of_a_task_that_is_gone_says_row_and_task_and_why(change: dict[str, Any], why: str) -> None:
    lost = recorded("web", "compact", "change")[0].model_copy(update=change)
    with pytest.raises(SpecError, match=f"row {lost.id}: task_id: got '{lost.task_id}'.*to render.*anew: {why}"):
        rerendered_messages(lost, Prompts(load_spec("web"), PromptOptions(form="change")))


def test_answers_that_refer_to_nothing_need_no_task() -> None:
    prompts = Prompts(load_spec("search"), PromptOptions(profile="compact", index=load_index("search")))
    row = recorded("search", "compact")[0].at(1)
    for shown in ("", "Key not found"):
        answer = escape(prompts.answer(None, "", shown))
        lost = row.model_copy(update={"task_id": "another", "response": (answer,), "observations": (shown,)})
        assert observation_meant(lost, prompts, "", unescape(answer)) == shown


def test_without_a_task_answers_that_were_recorded_in_full_stay_readable() -> None:
    prompts = Prompts(load_spec("search"), PromptOptions(profile="compact", index=load_index("search")))
    row = recorded("search", "compact")[0].model_copy(update={"task_id": "another"})
    plain = row.model_copy(update={"response": tuple(map(escape, row.observations))})
    whole = recorded("search")[0].model_copy(update={"task_id": "another"})
    for lost in (plain, whole):
        assert observation_meant(lost, prompts, "", "@anything") == "@anything"


def test_sessions_recorded_in_the_form_asked_for_are_taken_as_they_are() -> None:
    lost = recorded("android", "compact", "change")[0].model_copy(update={"task_id": "another"})
    for asked_for in ({"form": "change"}, {"profile": "compact"}, {"form": "change", "profile": "compact"}, {}):
        (sample,), _ = prepare([lost], Preparation(pool=None, **asked_for))  # type: ignore[arg-type]
        assert list(sample.messages) == lost.messages()
    with pytest.raises(SpecError, match="a task that can be generated again"):
        list(prepare([lost], Preparation(pool=None, profile="full"))[0])


def test_a_turn_of_a_row_that_asks_for_tags_answers_in_tags() -> None:
    row = session(("a", "b <\\think>"), ("c", "d"))
    first, second = turn_samples(row)
    assert first.messages[-2]["content"].endswith("Now.") and second.messages[-2]["content"].endswith("Now.")
    assert first.messages[-1]["content"] == "<predicted_observation>\nb <\\think>\n</predicted_observation>"
    assert (first.weights, second.weights, second.id) == ((1.0,), (0.0, 1.0), "s/2")


# Weights


@pytest.mark.parametrize(
    ("action", "shown", "expected"),
    [
        ('{"text": "see you at nine"}', '{"text": "see you at nine"}', "echo"),
        ("set colour red size 4", "colour red size ok now", "boilerplate"),
        ("add the numbers 12 30 44 and 91 and say how many of them are odd", "numbers odd 3", "transform"),
        ("rm a.txt", "", "action"),
        ("rm a.txt", "done, removed", "action"),
        ("open shop", "open shop " + " ".join(f"article{n}" for n in range(30)), "expansion"),
        ("cat notes.txt", " ".join(f"word{n}" for n in range(30)), "retrieval"),
        ("one two three four five", "one two six seven " * 4, "other"),
    ],
)
def test_turns_have_classes(action: str, shown: str, expected: str) -> None:
    assert classify(action, shown) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_turn_has_a_class_and_statistics_within_bounds(action: str, shown: str) -> None:
    assert classify(action, shown) in CLASSES
    found = overlap(action, shown)
    assert all(0 <= value <= 1 for value in (found.overlap, found.novelty, found.jaccard))
    assert found.ratio >= 0


def test_draws_keep_the_share_of_a_class_and_repeat() -> None:
    actions, shown = ["echo one two"] * 4000, ["one two"] * 4000
    assert classify(actions[0], shown[0]) == "boilerplate"
    drawn = turn_weights("s", actions, shown, Weighting(rule="draw", seed=1))
    assert drawn == turn_weights("s", actions, shown, Weighting(rule="draw", seed=1))
    assert drawn != turn_weights("s", actions, shown, Weighting(rule="draw", seed=2))
    assert set(drawn) == {0.0, 1.0} and abs(sum(drawn) / 4000 - SHARES["boilerplate"]) < 0.02
    assert set(turn_weights("s", actions, shown, Weighting(rule="equal"))) == {1.0}


def test_turns_of_some_actions_of_a_domain_weigh_less() -> None:
    weighting = Weighting(rule="equal", by_action={"search": {"web_search": 0.2, "search|memory": 0.5}})
    actions, shown = ["web_search a", "memory b", "open c"], ["d", "e", "f"]
    assert turn_weights("s", actions, shown, weighting, "search") == [0.2, 0.5, 1.0]
    assert turn_weights("s", actions, shown, weighting, "swe") == [1.0, 1.0, 1.0]
    with pytest.raises(ValidationError, match="regular expression"):
        Weighting(by_action={"search": {"(": 0.5}})


def test_a_closing_request_weighs_nothing_where_there_are_no_plain_actions() -> None:
    asked, closing = "echo hello world", "\n\nNow predict what the environment shows."
    row = Row(
        task="terminal",
        id="a",
        system_str="",
        prompt=(asked + closing,),
        response=("hello world",),
        current_prompt=asked,
        turn_idx=1,
        total_turns=1,
    )
    assert cpt_sample(row).weights == (SHARES["boilerplate"],)


def test_a_session_weighs_its_turns_by_what_they_show() -> None:
    row = session(("look at 5 6 7 8", "look at 5 6 7 8"), ("x", "y " * 30))
    assert cpt_sample(row).weights == (0.05, 1.0)
    assert cpt_sample(row, weighting=Weighting(rule="equal"), context_weight=0.3).context_weight == 0.3


# Pools

groups = st.tuples(st.sampled_from(DOMAINS), st.sampled_from(["a", "b"]), st.integers(0, 500), st.integers(1, 3))


@given(st.lists(groups, min_size=1, max_size=60), st.floats(0, 1))
def test_no_group_is_in_two_pools(found: list[tuple[str, str, int, int]], share: float) -> None:
    pools = [
        SessionPool(split=s, stage=t, post_share=share)
        for s in ("train", "validation", "test")
        for t in ("cpt", "post")
    ]  # type: ignore[arg-type]
    place: dict[str, int] = {}
    for domain, family, seed, level in found:
        row = session(("a", "b"), domain=domain, family=family, seed=seed, level=level)
        (number,) = [number for number, pool in enumerate(pools) if pool.holds(row)]
        assert place.setdefault(group_of(row), number) == number


def test_sessions_of_unknown_tasks_stay_together_where_they_were_told_the_same() -> None:
    one, other = session(("a", "b")), session(("c", "d"), ("e", "f"), id="t")
    assert group_of(one) == group_of(other) != group_of(session(("a", "b"), system_str="else"))
    assert group_of(session(("a", "b"), task_id="t1")) == "mcp/unknown/t1"


def test_a_benchmark_is_for_testing_alone() -> None:
    assert split_of_row(session(("a", "b"), provenance=RowProvenance(source="agentworldbench"))) == "test"


@pytest.mark.parametrize("command", [["samples"], ["think", "engine"]])
def test_all_stages_are_those_of_one_split(command: list[str], tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "samples.jsonl"
    held_out = Recorder([load_spec("terminal")], CollectConfig(), seed=0, split="test").row(0)
    assert held_out is not None and split_of_row(held_out) == "test"
    rows.write_text("".join(row.model_dump_json() + "\n" for row in (recorded("terminal")[0], held_out)))
    done = CliRunner().invoke(app, [*command, str(rows), "--out", str(out), "--stage", "all"])
    assert done.exit_code == 0, done.output
    assert [sample.group for sample in read_samples(out)] == [group_of(recorded("terminal")[0])]


def test_the_pools_have_their_shares() -> None:
    stages = [stage_of(f"mcp/a/{seed}", 0.3) for seed in range(3000)]
    assert abs(stages.count("post") / 3000 - 0.3) < 0.03
    splits = [split_of_row(session(("a", "b"), task_id=str(seed))) for seed in range(1000)]
    assert 0.75 < splits.count("train") / 1000 < 0.85


# Filters


def kept(row: Row, **scopes: Any) -> tuple[list[str], dict[str, int]]:
    sieve = RowFilter(Filters(min_turns=1, **scopes))
    found = sieve.filter(row)
    gone = {name: count for name, count in sieve.turns[row.domain].items() if count and name != "kept"}
    return list(found.actions) if found else [], gone


BUY, LOOK = '{"name": "shop-buy", "arguments": {}}', '{"name": "shop-look", "arguments": {}}'
PAGE = '### Page\n- Page URL: http://a\n### Snapshot\n```yaml\n- button "{}" [ref=e1]\n```'


def test_turns_that_teach_nothing_go_and_the_rest_is_numbered_anew() -> None:
    row = session(("", "x"), (LOOK, "1"), (BUY, "ok"), (BUY, "ok"), ('{"name": "shop-sell"}', "no such tool"))
    actions, gone = kept(row)
    assert actions == [LOOK, BUY]
    assert gone == {"empty_action": 1, "retry": 1, "undeclared_tool": 1}
    found = RowFilter(Filters()).filter(row)
    assert found is not None
    assert found.prompt[0] == f"### Turn 1\n\n**Task Instruction:**\nGo.\n\n**Action:**\n{LOOK}"
    assert found.prompt[1] == f"### Turn 2\n\n**Action:**\n{BUY}\n\nNow." and found.closing == "\n\nNow."
    assert (found.turn_idx, found.observations) == (2, ("1", "ok"))


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        ("", "screen_failure"),
        ("HTTP 503", "screen_failure"),
        (PAGE.format("Verify you are human"), "screen_failure"),
        (PAGE.format("502 Bad Gateway"), "screen_failure"),
        (PAGE.format("Buy"), "idle_turn"),
    ],
)
def test_failures_of_screens_and_idle_turns_go(shown: str, rule: str) -> None:
    row = session(("click('e1')", PAGE.format("Buy")), ("click('e2')", shown), ("x", PAGE.format("z")), domain="web")
    actions, gone = kept(row)
    assert actions == ["click('e1')", "x"] and gone == {rule: 1}
    assert kept(row, **{rule: "none"})[0] == list(row.actions)


def test_an_error_of_the_tool_is_no_failure_of_the_screen() -> None:
    row = session(("a", PAGE.format("Buy")), ("b", "### Error\nError: Ref e9 not found"), domain="web")
    assert kept(row) == (["a", "b"], {})


def test_sessions_of_grounded_worlds_keep_what_their_worlds_answered() -> None:
    grounded = RowProvenance(source="collect")
    row = session((LOOK, "1"), ('{"name": "shop-sell"}', "no such tool"), provenance=grounded)
    assert kept(row) == ([LOOK, '{"name": "shop-sell"}'], {})
    assert kept(row, undeclared_tool="all")[1] == {"undeclared_tool": 1}


def test_a_turn_that_changed_the_state_takes_the_rest_along() -> None:
    change = {"field": "a", "kind": "added", "after": 1}
    row = session((LOOK, "1"), ("", "2"), (BUY, "3"), changes=[[], [change], []], fields_changed=[0, 1, 0])
    assert kept(row) == ([LOOK], {"empty_action": 2})


def test_short_and_repeated_sessions_go() -> None:
    sieve = RowFilter(Filters())
    row = session((LOOK, "1"), (BUY, "2"))
    assert [sieve.filter(row), sieve.filter(row), sieve.filter(session((LOOK, "1")))] == [row, None, None]
    assert sieve.rows["mcp"] == {"kept": 1, "repeated": 1, "few_turns": 1}
    assert sieve.turns["mcp"] == {"kept": 2, "repeated": 2, "few_turns": 1}


ACTIONS = st.sampled_from(["", "[]", LOOK, BUY, '{"name": "none"}', "ls", "{"])
TURNS = st.lists(st.tuples(ACTIONS, st.sampled_from(["", "a", "b", PAGE.format("c")])), min_size=1, max_size=8)


@given(TURNS, st.sampled_from(DOMAINS))
def test_every_turn_is_kept_or_counted(turns: list[tuple[str, str]], domain: str) -> None:
    row = session(*turns, domain=domain)
    sieve = RowFilter(Filters())
    found = sieve.filter(row)
    assert sieve.turns[domain].total() == len(turns) and sieve.rows[domain].total() == 1
    if found is not None:
        assert Row.model_validate(found.model_dump()) == found
        assert [prompt.partition("\n")[0] for prompt in found.prompt] == [
            f"### Turn {n}" for n in range(1, found.turn_idx + 1)
        ]


# Knowledge


@given(st.text(max_size=300), st.integers(5, 40))
def test_pieces_make_up_the_text(text: str, length: int) -> None:
    found = list(text_pieces(text, length))
    assert "".join(found) == text and all(0 < len(piece) <= length for piece in found)


def test_texts_are_mixed_in_by_their_share(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A paragraph of knowledge.\n\n" * 400)
    (tmp_path / "b.jsonl").write_text('{"text": "A line <|im_end|>\\u2028of it."}\n')
    texts = list(knowledge_samples(Knowledge(files=[str(tmp_path)], piece=500)))
    assert texts[-1].messages[0]["content"] == "A line <\\|im_end|>\u2028of it." and texts[-1].context_weight == 1
    own = [cpt_sample(session(("look", "at " * 40), ("go", "on " * 20))) for _ in range(60)]
    found = list(mixed_with_texts(own, texts, 0.25))
    told = sum(character_count(sample) for sample in found if sample.domain == "knowledge")
    assert 0.2 < told / sum(map(character_count, found)) < 0.3
    assert [sample for sample in found if sample.domain != "knowledge"] == own


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="files that end with"):
        list(knowledge_samples(Knowledge(files=[str(tmp_path)])))
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"words": "b"}\n')
    with pytest.raises(SpecError, match=r"line 2: .* the key `text`"):
        list(knowledge_samples(Knowledge(files=[str(tmp_path)])))


# All together


def test_what_became_of_every_row_is_told() -> None:
    rows = [row for domain in ("terminal", "mcp") for row in recorded(domain)]
    made, account = prepare(rows, Preparation(pool=SessionPool(split="train", stage="cpt", post_share=0.5)))
    samples = list(made)
    for domain in ("terminal", "mcp"):
        counts = account.sieve.rows.get(domain, {})
        assert account.read[domain] == account.other_pools[domain] + sum(counts.values()) == len(recorded(domain))
        assert account.samples[domain] == counts.get("kept", 0)
    assert sum(account.samples.values()) == len(samples)
    both = [list(prepare(rows, Preparation(pool=SessionPool(stage=stage)))[0]) for stage in ("cpt", "post")]  # type: ignore[arg-type]
    assert not {sample.group for sample in both[0]} & {sample.group for sample in both[1]}


def test_any_number_of_workers_makes_the_same_samples() -> None:
    rows = [row for domain in ("terminal", "android") for row in recorded(domain)] * 4
    options = Preparation(pool=None, profile="compact", form="change", filters=Filters(repeated="none"))
    alone, _ = prepare(rows, options)
    shared, account = prepare(rows, options, workers=2)
    assert list(alone) == list(shared) and sum(account.samples.values()) == len(rows)


def test_the_command_makes_samples_and_says_what_went(tmp_path: Path) -> None:
    rows, out = tmp_path / "train.jsonl", tmp_path / "out" / "samples.jsonl"
    rows.write_text("".join(row.model_dump_json() + "\n" for row in [*recorded("terminal"), *recorded("android")]))
    command = ["samples", str(tmp_path), "--out", str(out), "--stage", "all", "--profile", "compact"]
    done = CliRunner().invoke(app, [*command, "--form", "change", "--each", "turn", "--min-turns", "1"])
    assert done.exit_code == 0, done.output
    assert "Sessions" in done.stdout and "Turns by class" in done.stdout and "terminal" in done.stdout
    found = list(read_samples(out))
    assert {sample.domain for sample in found} == {"terminal", "android"}
    assert f"{len(found)} samples" in done.stdout.replace("\n", "")


@pytest.mark.parametrize("command", [["samples"], ["think", "engine"]])
def test_recorded_sessions_are_never_written_over_and_a_folder_may_hold_samples(
    command: list[str], tmp_path: Path
) -> None:
    rows, out = tmp_path / "train.jsonl", tmp_path / "samples.jsonl"
    rows.write_text(recorded("terminal")[0].model_dump_json() + "\n")
    before = rows.read_bytes()
    refused = CliRunner().invoke(app, [*command, str(rows), "--out", str(rows), "--stage", "all"])
    assert refused.exit_code == 2 and "holds no sessions" in refused.output.replace("\n", " ")
    assert rows.read_bytes() == before
    for _ in range(2):  # the second time the samples lie in the folder that is read
        done = CliRunner().invoke(app, [*command, str(tmp_path), "--out", str(out), "--stage", "all"])
        assert done.exit_code == 0, done.output
        assert len(list(read_samples(out))) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tokenizer", "."], "--tokenizer: got '.', expected the folder of a model or a tokenizer"),
        (["--filter", "idle=all"], "filters.idle"),
        (["--filter", "idle_turn=some"], "filters.idle_turn"),
        (["--knowledge", "none"], "knowledge: files: got 'none'"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, options: list[str], said: str) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(recorded("terminal")[0].model_dump_json() + "\n")
    done = CliRunner().invoke(
        app, ["samples", str(rows), "--out", str(tmp_path / "o.jsonl"), "--stage", "all", *options]
    )
    assert done.exit_code == 2 and said in done.output.replace("\n", " ")
    assert not (tmp_path / "o.jsonl").exists()
