"""How a model writes the next observation: what each codec writes, and that it reads its own answers."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import Form, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import load_index
from agentworld_gym.core.screens import is_graphical, screen_of
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.prompting.answers import (
    AnswerCodec,
    ChangeAnswers,
    IndexedAnswers,
    MarkedAnswers,
    ScreenAnswers,
    WholeAnswers,
    answer_codec,
    as_marked,
    as_meant,
)
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions

PAGE = '### Page\n### Snapshot\n```yaml\n- link "Cart (1)" [ref=e4] [cursor=pointer]:\n  - /url: /cart\n```'
AFTER = PAGE.replace("(1)", "(2)")
LONGER = PAGE.replace("```yaml\n", "```yaml\n- img [ref=e3]\n")


@cache
def lake() -> Task:
    """A task of a state that names one page."""
    page = {"url": "https://lake.example/orvel", "title": "Lake Orvel", "content": "It is 112 m deep."}
    done = [{"answer": {"equals": "112 m"}}]
    return Task(id="lake", domain="search", instruction="How deep?", state={"pages": [page]}, success=done)


@pytest.mark.parametrize(
    ("domain", "profile", "form", "codec"),
    [
        ("web", "full", "full", ScreenAnswers(screen_of("web"))),
        ("web", "full", "change", ChangeAnswers()),
        ("web", "compact", "change", MarkedAnswers(ChangeAnswers())),
        ("web", "compact", "full", MarkedAnswers(WholeAnswers())),
        ("swe", "full", "full", WholeAnswers()),
        ("swe", "compact", "full", MarkedAnswers(WholeAnswers())),
        ("search", "full", "full", WholeAnswers()),
        ("search", "compact", "full", IndexedAnswers(load_index("search"))),
    ],
)
def test_the_codec_follows_domain_profile_and_form(domain, profile, form, codec) -> None:
    assert answer_codec(domain, PromptOptions(profile, form, index=load_index(domain))) == codec


def test_only_answers_of_an_index_ask_for_the_task() -> None:
    assert answer_codec("search", PromptOptions("compact").for_domain("search")).refers
    assert not answer_codec("search", PromptOptions(index=load_index("search"))).refers
    assert not answer_codec("web", PromptOptions("compact", "change")).refers


CODECS = [
    WholeAnswers(),
    ScreenAnswers(screen_of("web")),
    ChangeAnswers(),
    MarkedAnswers(WholeAnswers()),
    MarkedAnswers(ChangeAnswers()),
]


@pytest.mark.parametrize("codec", CODECS, ids=str)
@pytest.mark.parametrize("observation", [PAGE, AFTER, LONGER, "### Error\nThere is no such element.", ""])
def test_every_codec_reads_what_it_writes(codec: AnswerCodec, observation: str) -> None:
    assert codec.read(None, PAGE, codec.write(None, PAGE, observation)) == observation


def test_a_change_says_only_what_differs() -> None:
    assert WholeAnswers().write(None, PAGE, AFTER) == AFTER
    assert ChangeAnswers().write(None, PAGE, AFTER) == '@@ change\n3~ (1)" => (2)"'


def test_a_change_that_does_not_fit_the_screen_is_an_error() -> None:
    with pytest.raises(AnswerError):
        ChangeAnswers().read(None, "one line", '@@ change\n3~ (1)" => (2)"')


def test_the_displayed_screen_has_the_numbers_that_changes_name() -> None:
    assert ChangeAnswers().display("a\nb") == "0| a\n1| b"
    assert WholeAnswers().display("a\nb") == "a\nb"
    page = "### Page\n- Page URL: http://a/\n### Snapshot\n```yaml\n- main [ref=e2]\n```"
    ran = f"### Ran Playwright code\n```js\nx\n```\n{page}\n### Events\n- [LOG] a"
    codec = ScreenAnswers(screen_of("web"))
    assert (codec.display(ran), codec.display("URL: a")) == (page, "URL: a")


def test_every_turn_shows_the_screen_whose_lines_an_answer_names() -> None:
    assert [codec.shows_screen for codec in CODECS] == [False, False, True, False, True]


def test_an_answer_names_what_the_call_opens_and_the_state_of_the_task_holds() -> None:
    codec = IndexedAnswers(load_index("search"))
    text, opens = "# Lake Orvel\n\nIt is 112 m deep.", '{"name": "web_extractor", "arguments": {"url": "%s"}}'
    assert codec.write(lake(), "", text, opens % "https://lake.example/orvel") == "@"
    assert codec.write(lake(), "", text) == "@https://lake.example/orvel"
    assert codec.read(lake(), "", "@https://lake.example/orvel") == text
    assert codec.write(None, "", text) == text, "without a task there is nothing to refer to"


@pytest.mark.parametrize(("form", "number"), [("full", ""), ("change", "6| ")])
def test_a_compact_turn_repeats_the_line_that_its_action_points_at(form: Form, number: str) -> None:
    spec = load_spec("web")
    screen = f"### Ran Playwright code\n```js\n```\n{PAGE}"
    action = ActionParser(spec).parse('{"name": "browser_click", "arguments": {"element": "Cart", "ref": "e4"}}')
    turn = Prompts(spec, PromptOptions(profile="compact", form=form)).turn(lake(), 2, action, screen)
    assert f'@ {number}- link "Cart (1)" [ref=e4] [cursor=pointer]:' in turn.split("\n")


PROMPTS = [
    Prompts(load_spec(domain), PromptOptions(profile=profile, form=form))
    for domain in DOMAINS
    for profile in ("full", "compact")
    for form in (("full", "change") if is_graphical(domain) else ("full",))
]
texts = st.one_of(st.sampled_from(["", " ", "\n", "\\", "\\\n", "@@ same", "@@ full", "0|", PAGE]), st.text())


@pytest.mark.parametrize("prompts", PROMPTS, ids=lambda prompts: f"{prompts.spec.id}-{prompts.profile}-{prompts.form}")
@settings(max_examples=60, deadline=None)
@given(before=texts, observation=texts, action=st.one_of(st.none(), st.sampled_from(["", "true", "pwd\n"])))
@example(before=PAGE, observation="", action="true")
@example(before="", observation="", action=None)
@example(before="dev@box:~$", observation="dev@box:~$", action="")
def test_a_completion_says_every_observation_even_an_empty_one(
    prompts: Prompts, before: str, observation: str, action: str | None
) -> None:
    completion = prompts.completion(None, before, observation, action=action)
    written = parse_completion(completion)
    assert written is not None
    assert prompts.read(None, before, written, action) == observation
    past = parse_completion(prompts.answer_message(None, before, observation, action=action))
    assert past is not None and prompts.read(None, before, past, action) == observation


@pytest.mark.parametrize("written", ["", "\\", "\\\\", " \\", "\\ ", "\\\n", "a"])
def test_a_mark_is_added_and_taken_off_again(written: str) -> None:
    assert as_meant(as_marked(written)) == written and as_marked(written).strip()
