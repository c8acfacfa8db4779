"""Web sessions as AgentWorldBench lays them out: rendered, read back, and answered by the grounded browser."""

from __future__ import annotations

from typing import Any

import pytest
from golden_rows import Golden
from web_pages import Pages

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import folds
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.llm.prompting.prompt import Prompts

ROW, OTHER = Golden("web-playwright.yaml", "web"), Golden("web-browsergym.yaml", "web:browsergym")
TASK = Task(id="t", domain="web", instruction="Clear the desk.", success=[{"answer": {"equals": "1"}}])
SIGN_IN = """<main><h1>Sign in</h1>
<form action="/desk"><p><label>Username <input></label></p><p><label>Password <input></label></p>
<p><button>Sign in</button></p></form></main>"""
DESK = """<main><h1>Your desk</h1>
<p><label for="sort">Sort by</label> <select id="sort"><option>Oldest</option><option>Newest</option></select></p>
<ul><li>Review: the "blue" form</li></ul>
<form action="/desk"><button data-confirm="Clear the desk?">Clear</button></form></main>"""
LOOK_AFTER = 2
"""The turn, counted from 0, after which the agent took a snapshot."""


def machine() -> WebMachine:
    return WebMachine(Pages({"users/sign_in": SIGN_IN, "desk": DESK}), "about:blank")


def played() -> list[tuple[Action, str]]:
    """Each action of the session with what the browser showed, the snapshot included."""
    browser, look = machine(), ActionParser(ROW.spec).parse("browser_snapshot()")
    actions = [*ROW.actions[: LOOK_AFTER + 1], look, *ROW.actions[LOOK_AFTER + 1 :]]
    return [(action, browser.act(action.parsed)) for action in actions]


def test_the_browser_answers_as_in_the_row_and_a_snapshot_folds() -> None:
    turns = played()
    shown = [observation for action, observation in turns if not folds("web", action.parsed, observation)]
    assert shown[LOOK_AFTER].startswith("### Ran Playwright code\n") and "### Page" not in shown[LOOK_AFTER]
    shown[LOOK_AFTER] = turns[LOOK_AFTER + 1][1]
    assert shown == ROW.observations
    *past, (last, _) = turns
    assert Prompts(ROW.spec).messages(TASK, past, last)[1:] == ROW.messages


def test_the_browser_answers_in_the_other_dialect() -> None:
    browser = machine()
    for action, observation in zip(OTHER.actions, OTHER.observations, strict=True):
        browser.act(action.parsed)
        assert browser.observation_in("browsergym") == observation


def test_the_actions_of_the_row_are_read() -> None:
    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"name": f"browser_{name}", "arguments": arguments}

    password = {"name": "Password", "type": "textbox", "ref": "e10", "value": 'it\'s "mé"'}
    assert [action.parsed for action in ROW.actions] == [
        call("navigate", url="http://pages.example/users/sign_in"),
        call("type", element="Username", ref="e7", text="ana"),
        call("fill_form", fields=[password]),
        call("click", element="Sign in button", ref="e12"),
        call("select_option", element="Sort by list", ref="e5", values=["Newest"]),
        call("press_key", key="Tab"),
        call("click", element="Clear button", ref="e9"),
        call("handle_dialog", accept=True),
        call("wait_for", time=1),
        call("navigate", url="http://pages.example/nowhere"),
        call("evaluate", function="() => document.title"),
        call("navigate_back"),
        call("click", element="Clear button", ref="e99"),
    ]
    assert [action.parsed["name"] for action in OTHER.actions] == [
        "browser_navigate",
        "browser_type",
        "browser_click",
        "browser_select_option",
        "noop",
        "browser_click",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "browser_type", "arguments": {"submit": true, "text": "tea", "ref": "e7", "element": "Search"}}',
        'browser_type(submit=true, element="Search", ref="e7", text="tea")',
        "browser_type('Search', 'e7', 'tea', submit=True)",
    ],
)
def test_however_an_agent_writes_a_call_the_world_model_sees_one_text(text: str) -> None:
    parser = ActionParser(load_spec("web"))
    assert (
        parser.action_block(parser.parse(text)) == 'browser_type(element="Search", ref="e7", text="tea", submit=true)'
    )


def test_a_judge_is_told_the_layout_of_the_dialect() -> None:
    said = {row: Prompts(row.spec).judge(TASK, [])[0]["content"] for row in (ROW, OTHER)}
    assert "Playwright's tools" in said[ROW] and "keeps its text and its reference" in said[ROW]
    assert "BrowserGym's calls" in said[OTHER] and "keeps its text and its identifier" in said[OTHER]
    assert "the code that ran" not in said[OTHER].split("## The task")[0]
