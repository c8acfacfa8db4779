"""Thinking that the engines write, and the samples made of it."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.core.contracts import Message
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.rows.pools import SessionPool, group_of
from agentworld_gym.llm.rows.row import ContentSpan, Row, StateChange, changes_between
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.data.filters import Filters
from agentworld_gym.recipe.thinking import Queries, Situation, engine_samples, engine_trace
from agentworld_gym.recipe.thinking.queries import CLASSES, TurnPicker, change_class
from agentworld_gym.recipe.thinking.reasoning_trace import FEWEST, MOST

every_domain = pytest.mark.parametrize("domain", DOMAINS)
QUOTED = re.compile(r"(`+) ?(.+?) ?\1(?!`)")
NUMBER = re.compile(r"\d+")


@cache
def sessions(domain: str) -> tuple[Row, ...]:
    recorder = Recorder([load_spec(domain)], CollectConfig(controls_share=0.3), seed=11)
    return tuple(row for number in range(2) if (row := recorder.row(number)) is not None)


def situations(domain: str) -> list[Situation]:
    return [Situation.of(row.at(turn)) for row in sessions(domain) for turn in range(1, row.turn_idx + 1)]


def terminal(command: str, answer: str, state: dict[str, str], changes: tuple[StateChange, ...] = ()) -> Situation:
    """A turn in `/srv`, where the prompt tells all files."""
    told = "cwd: /srv\n" + "\n".join(f"{path}:\n{text}" for path, text in state.items())
    return Situation("terminal", command, answer, prompt=told, state={"cwd": "/srv", **state}, changes=changes)


def test_a_trace_goes_from_the_command_over_the_file_to_the_answer() -> None:
    turn = terminal("wc -l a.txt", "dev@box:/srv$ wc -l a.txt\n2 a.txt\ndev@box:/srv$", {"/srv/a.txt": "fir\noak\n"})
    asks, does, holds, changes, *_, shows = engine_trace(turn).split(". ")
    assert asks == "The agent runs `wc -l a.txt` in `/srv`"
    assert (does, holds) == ("`wc` counts", "`a.txt` holds two lines: `fir` and `oak`")
    assert changes == "Nothing in the state changes"
    assert shows == "After the echo comes one line, `2 a.txt`; then comes the prompt `dev@box:/srv$`."


def test_a_trace_says_what_changes_and_names_the_error_of_what_is_not_there() -> None:
    (change,) = changes_between({}, {"/srv/b.txt": "oak\n"})
    written = terminal("grep oak a.txt > b.txt", "grep oak a.txt > b.txt\n$ ", {"/srv/a.txt": "fir\noak\n"}, (change,))
    assert "What changes: `b.txt` comes to be, with `oak`." in engine_trace(written)
    missing = terminal("cat c.txt", "cat c.txt\ncat: c.txt: No such file or directory\n$ ", {})
    assert "There is no `c.txt`." in engine_trace(missing)
    assert "the error in the program's own words, `cat: c.txt: No such file or directory`" in engine_trace(missing)


def test_a_number_that_changes_is_explained_by_the_sum_that_gives_it() -> None:
    before, after = {"accounts/7/balance": 175.91}, {"accounts/7/balance": 92.65}
    turn = Situation(
        "mcp",
        '{"name": "bank-pay", "arguments": {"account_id": 7, "amount": 83.26}}',
        '{"transaction_id": 5035, "balance": 92.65}',
        prompt="| account_id | balance |\n| 7 | 175.91 |",
        state=before,
        changes=changes_between(before, after),
    )
    assert "balance goes from `175.91` to `92.65`, because `175.91` - `83.26` is `92.65`" in engine_trace(turn)
    assert "`7` in accounts has balance `175.91`" in engine_trace(turn)


def test_a_click_is_traced_to_the_element_and_to_what_opens() -> None:
    for turn in situations("web"):
        if "browser_click" in turn.action and "### Error" not in turn.observation:
            assert re.match(r"The agent clicks the \w+ `", engine_trace(turn))
        if turn.observation == turn.before:
            assert "stays as it is, to the letter" in engine_trace(turn)


def test_what_cannot_be_known_is_called_made_up_and_not_quoted() -> None:
    answer = "wrote 8f3a at 10:51"
    spans = (ContentSpan(start=6, end=10, kind="metadata"),)
    turn = Situation("custom", "save", answer, prompt="save", changes=changes_between({}, {"id": "8f3a"}), spans=spans)
    assert "made up and only need their format" in engine_trace(turn)
    hidden = Situation("custom", "look", "ok", prompt="look", changes=changes_between({"pin": "4711"}, {"pin": "0815"}))
    assert "4711" not in engine_trace(hidden)
    assert "0815" not in engine_trace(hidden)


@every_domain
def test_all_that_a_trace_quotes_stands_in_prompt_action_or_observation(domain: str) -> None:
    for turn in situations(domain):
        text, source = engine_trace(turn), "\n".join((turn.prompt, turn.action, turn.observation))
        for quote in QUOTED.finditer(text):
            assert quote[2].strip() in source, text
        assert set(NUMBER.findall(text)) <= set(NUMBER.findall(source)), text


@every_domain
def test_a_trace_is_short_plain_and_never_the_whole_observation(domain: str) -> None:
    for turn in situations(domain):
        text = engine_trace(turn)
        assert FEWEST <= len(text.split()) <= MOST
        assert "\n" not in text
        assert turn.observation.strip() not in text
        assert engine_trace(turn) == text


lines = st.text(st.characters(codec="utf-8"), max_size=80) | st.sampled_from(
    ["a.txt", "1 2 3", "</think>", "```x", "{}"]
)


@settings(max_examples=150)
@given(
    domain=st.sampled_from([*DOMAINS, "custom"]),
    action=lines | st.builds('{{"name": "browser_click", "arguments": {{"ref": "{}"}}}}'.format, st.integers(0, 99)),
    shown=st.lists(lines, max_size=6).map("\n".join),
    before=lines,
    prompt=lines,
    state=st.dictionaries(
        st.sampled_from(["cwd", "a/1/b", "/srv/a.txt", "memory/k"]), lines | st.integers(), max_size=4
    ),
    after=st.dictionaries(
        st.sampled_from(["cwd", "a/1/b", "/srv/a.txt", "git/head"]), lines | st.integers(), max_size=4
    ),
)
def test_whatever_happened_a_trace_is_written_and_tells_no_number_of_its_own(
    domain: str, action: str, shown: str, before: str, prompt: str, state: dict[str, str], after: dict[str, str]
) -> None:
    turn = Situation(domain, action, shown, before, prompt, state, changes_between(state, after))
    text = engine_trace(turn)
    assert text.startswith("The ")
    known = "\n".join((prompt, action, shown))
    assert set(re.findall(r"[0-9]+", text)) <= set(re.findall(r"[0-9]+", known))


def queries(domain: str, **options: object) -> Queries:
    return Queries(sessions(domain), **{"pools": None, **options})  # type: ignore[arg-type]


@every_domain
def test_a_sample_ends_with_thinking_and_the_true_answer_and_only_that_has_a_weight(domain: str) -> None:
    asked = list(queries(domain))
    for query, sample in zip(asked, engine_samples(asked), strict=True):
        assert Sample.model_validate(sample.model_dump()) == sample
        *rest, last = sample.messages
        assert re.fullmatch(
            r"<think>\n.+\n</think>\n<predicted_observation>\n.*\n</predicted_observation>", last["content"], re.S
        )
        assert parse_completion(last["content"]) == query.row.observations[-1]
        assert sample.weights == (*[0.0] * (query.row.turn_idx - 1), 1.0)
        assert not any("<think>" in message["content"] for message in rest)
        assert (sample.group, sample.domain) == (group_of(query.row), domain)
        assert sample.id == f"{query.row.id}/{query.row.turn_idx}"


@every_domain
def test_the_thinking_is_what_the_trace_of_the_sample_s_own_prompt_is(domain: str) -> None:
    for query in queries(domain):
        (sample,) = engine_samples([query])
        told = "\n".join(message["content"] for message in query.request)
        thought = sample.messages[-1]["content"].partition("</think>")[0].removeprefix("<think>\n").rstrip()
        assert unescape(thought) == engine_trace(Situation.of(query.row, told))


def test_system_prompts_come_in_many_wordings_and_stay_as_recorded_if_asked() -> None:
    rows = [row.model_copy(update={"id": f"{row.id}-{copy}"}) for row in sessions("terminal") for copy in range(20)]
    systems = {query.row.id: query.request[0]["content"] for query in Queries(rows, pools=None)}
    assert len(set(systems.values())) > 8
    assert systems == {query.row.id: query.request[0]["content"] for query in Queries(rows, pools=None)}
    for query in Queries(rows, pools=None, reworded=False):
        assert query.request[0]["content"] == query.row.system_str


@pytest.mark.parametrize("domain", ["web", "desktop", "android"])
def test_in_the_change_form_the_answer_is_the_change_from_the_shown_screen(domain: str) -> None:
    for query in queries(domain, form="change", turns=2):
        (sample,) = engine_samples([query])
        answer = parse_completion(sample.messages[-1]["content"])
        assert query.prompts is not None
        assert query.prompts.read(None, query.before, answer) == query.row.observations[-1]
        assert "0| " in sample.messages[-2]["content"]


def test_the_form_is_that_of_the_row_unless_another_is_given_and_only_for_screens() -> None:
    config = CollectConfig(profile="compact", form="change")
    rows = [row for domain in ("terminal", "android") if (row := Recorder([load_spec(domain)], config, 0).row(0))]
    for form, expected in ((None, "change"), ("change", "change"), ("full", "full")):
        forms = {query.row.domain: query.prompts for query in Queries(rows, pools=None, form=form)}  # type: ignore[arg-type]
        assert all(prompts is not None and prompts.profile == "compact" for prompts in forms.values())
        assert [prompts.form for prompts in forms.values() if prompts] == ["full", expected]


def test_turns_of_one_session_have_wordings_of_their_own() -> None:
    (row,) = sessions("terminal")[:1]
    systems = {query.request[0]["content"] for query in Queries([row], pools=None, turns=8)}
    assert len(systems) > 1


def test_turns_that_change_nothing_little_and_much_are_picked_alike() -> None:
    fields = (0, 0, 0, 0, 1, 2, 7)
    one = StateChange(field="a", kind="added", after=1)
    row = Row(
        task="mcp",
        id="a",
        system_str="",
        prompt=("p",) * 7,
        response=("r",) * 7,
        current_prompt="p",
        turn_idx=7,
        total_turns=7,
        changes=tuple((one,) * number for number in fields),
    )
    picker = TurnPicker()
    picked = [picker.pick(row.model_copy(update={"id": str(n)}), range(1, 8), 1)[0] for n in range(40)]
    classes = [change_class(fields[turn - 1]) for turn in picked]
    assert {name: classes.count(name) for name in CLASSES} == dict.fromkeys(CLASSES, 10)
    assert {turn for turn in picked if fields[turn - 1] == 0} == {1, 2, 3, 4}
    assert picker.pick(row, [2, 5], 9) == [2, 5]


def test_only_the_sessions_of_a_pool_are_taken() -> None:
    rows = sessions("terminal") + sessions("mcp")
    by_pool = {
        pool.stage: list(Queries(rows, (pool,))) for pool in (SessionPool(stage="cpt"), SessionPool(stage="post"))
    }
    found = {query.row.id for taken in by_pool.values() for query in taken}
    assert found == {row.id for row in rows}
    assert sum(map(len, by_pool.values())) == len(rows)


def test_what_a_filter_takes_is_not_asked_about() -> None:
    rows = sessions("terminal")
    twice = [*rows, *rows]
    assert [query.row.id for query in Queries(twice, pools=None, filters=Filters())] == [row.id for row in rows]
    assert list(Queries(rows, pools=None, filters=Filters(min_turns=99))) == []
    assert len(list(Queries(twice, pools=None))) == len(twice)


def test_a_row_from_elsewhere_keeps_its_own_messages_and_has_no_engine_to_think_for_it() -> None:
    row = Row(
        task="web",
        id="b",
        system_str="S",
        prompt=("go, please",),
        response=("x",),
        current_prompt="go",
        turn_idx=1,
        total_turns=1,
    )
    (query,) = Queries([row], pools=None)
    assert query.request == (Message(role="system", content="S"), Message(role="user", content="go, please"))
    assert list(engine_samples([query])) == []
    with pytest.raises(SpecError, match="generated again"):
        list(Queries([row], pools=None, form="change"))
