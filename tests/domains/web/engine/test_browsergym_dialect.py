"""The dialect of BrowserGym: how an error looks, and several calls in one action."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

PARSER = ActionParser(load_spec("web:browsergym"))


@pytest.fixture(scope="module")
def task() -> Task:
    return generate("web", "sort_mail", 1, 0)


@pytest.fixture
def runner() -> Iterator[EpisodeRunner]:
    runner = EnvOptions(spec="web:browsergym", world="grounded").runner()
    yield runner
    runner.close()


def begun(runner: EpisodeRunner, task: Task) -> Episode:
    ((episode, _, _),) = runner.start([0], {"task": task})
    return episode


def after(runner: EpisodeRunner, episode: Episode, action: str) -> str:
    (step,) = runner.advance([episode], [action])
    return step.observation


def number(shown: str, element: str) -> str:
    """Return the bid of the first element whose line starts so."""
    found = re.search(rf"\[(\d+)\] {re.escape(element)}", shown)
    assert found is not None, shown
    return found[1]


class TestAnErrorOfBrowserGym:
    def test_an_action_that_cannot_be_read_shows_the_page_with_the_error(
        self, runner: EpisodeRunner, task: Task
    ) -> None:
        episode = begun(runner, task)
        before = episode.session.observation
        shown = after(runner, episode, "press the button")
        head, _, tree = shown.partition("\n\n")
        assert "###" not in shown
        assert head.startswith("URL: http://mail.example/folders/inbox\n")
        assert "\nError of the last action: " in head
        assert tree == before.partition("\n\n")[2]

    def test_only_the_last_error_is_shown_and_none_after_an_action_that_works(
        self, runner: EpisodeRunner, task: Task
    ) -> None:
        episode = begun(runner, task)
        after(runner, episode, "click('99999')")
        twice = after(runner, episode, "one more try")
        assert twice.count("Error of the last action: ") == 1 and "99999" not in twice
        assert "Error of the last action" not in after(runner, episode, "noop()")

    def test_elements_are_found_after_an_error(self, runner: EpisodeRunner, task: Task) -> None:
        episode = begun(runner, task)
        offered = episode.menu
        after(runner, episode, "what now")
        assert episode.menu == offered and any(offered)

    def test_the_first_dialect_keeps_the_error_of_playwright(self, task: Task) -> None:
        runner = EnvOptions(spec="web", world="grounded").runner()
        assert after(runner, begun(runner, task), "press the button").startswith("### Error\nError: ")
        runner.close()


class TestSeveralCallsInOneAction:
    def test_they_are_carried_out_one_after_the_other(self, runner: EpisodeRunner, task: Task) -> None:
        episode = begun(runner, task)
        page = episode.session.observation
        search, button = number(page, "searchbox 'Search mail'"), number(page, "button 'Search'")
        shown = after(runner, episode, f"fill('{search}', 'Invoice')\nclick('{button}')")
        assert shown.startswith("URL: http://mail.example/search?q=Invoice")

    def test_what_stands_between_calls_and_comments_are_passed_over(self) -> None:
        text = "First I write.\nfill('7', 'a (b)')  # not click('1')\nThen:\nclick('9')"
        action = PARSER.parse(text)
        assert action.error is None
        assert action.parsed == [
            {"name": "browser_type", "arguments": {"ref": "e7", "text": "a (b)"}},
            {"name": "browser_click", "arguments": {"ref": "e9"}},
        ]
        assert PARSER.action_block(action) == "fill('7', 'a (b)')\nclick('9')"

    def test_the_first_error_ends_the_action(self, runner: EpisodeRunner, task: Task) -> None:
        episode = begun(runner, task)
        page = episode.session.observation
        write, settings = number(page, "link 'Write'"), number(page, "link 'Settings'")
        shown = after(runner, episode, f"click('{write}')\nclick('99999')\ngoto('http://mail.example/contacts')")
        assert shown.startswith("URL: http://mail.example/compose")
        assert "99999" in shown.partition("\n\n")[0]
        assert "contacts" not in shown.partition("\n\n")[0]
        assert settings

    def test_a_call_that_is_not_known_is_refused_before_anything_is_done(
        self, runner: EpisodeRunner, task: Task
    ) -> None:
        episode = begun(runner, task)
        write = number(episode.session.observation, "link 'Write'")
        shown = after(runner, episode, f"click('{write}')\nfly('3')")
        assert shown.startswith("URL: http://mail.example/folders/inbox")
        assert "fly" in shown.partition("\n\n")[0]

    def test_a_text_may_hold_line_breaks(self) -> None:
        action = PARSER.parse("fill('7', 'Dear Ann,\n\nyes.')")
        assert action.parsed == {"name": "browser_type", "arguments": {"ref": "e7", "text": "Dear Ann,\n\nyes."}}

    def test_elements_are_named_on_the_page_that_is_shown_at_the_end(self, runner: EpisodeRunner, task: Task) -> None:
        episode = begun(runner, task)
        settings = number(episode.session.observation, "link 'Settings'")
        after(runner, episode, f"click('{settings}')\npress('1', 'Shift')")
        after(runner, episode, "goto('http://mail.example/folders/inbox')")
        page = episode.session.observation
        write, search = number(page, "link 'Write'"), number(page, "searchbox 'Search mail'")
        # A page that is only typed on is not shown by Playwright's tools.
        after(runner, episode, f"click('{write}')\nkeyboard_press('Tab')")
        assert search and "Page URL: http://mail.example/compose" in episode.observations[-1]

    def test_a_machine_that_took_several_calls_is_restored_and_forked_exactly(self, task: Task) -> None:
        calls = PARSER.parse("goto('http://mail.example/contacts')\ngoto('http://mail.example/settings')").parsed
        machine = WebMachine.start(task.state, 0)
        machine.act(calls)
        copies = [machine.fork(), WebMachine.restore(json.loads(json.dumps(machine.structured_state())))]
        for copy in copies:
            assert copy.observation == machine.observation
            assert copy.act(calls[0]) == machine.fork().act(calls[0])

    @given(
        st.lists(st.tuples(st.integers(1, 999), st.text(max_size=30).filter(str.isprintable)), min_size=1, max_size=5)
    )
    def test_whatever_is_written_is_read_again(self, fields: list[tuple[int, str]]) -> None:
        action = PARSER.parse("\n".join(f"fill({str(bid)!r}, {text!r})" for bid, text in fields))
        calls = action.parsed if isinstance(action.parsed, list) else [action.parsed]
        read = [(call["arguments"]["ref"], call["arguments"]["text"]) for call in calls]
        assert read == [(f"e{bid}", text) for bid, text in fields]

    @given(st.text(max_size=200))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        action = PARSER.parse(text)
        assert (action.error is None) or action.parsed is None
