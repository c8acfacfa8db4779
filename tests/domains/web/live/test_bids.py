"""The form of BrowserGym, written from what Playwright's tools show: that of the engine, which knows the page."""

from __future__ import annotations

import pytest

from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.live import bids
from agentworld_gym.domains.web.screen_texts import location


def told(machine: WebMachine, shown: str) -> str:
    snapshot = shown.partition("```yaml\n")[2].partition("\n```")[0]
    url, title = location(shown)
    return bids.observation(shown, snapshot, [(title, url)], 0)


@pytest.mark.parametrize("host", ["shop", "forum", "mail", "wiki"])
def test_pages_without_labels_are_told_to_the_letter(host: str) -> None:
    machine = WebMachine.start({"open": f"http://{host}.example/"}, seed=1)
    assert told(machine, machine.observation) == machine.observation_in("browsergym")


def test_a_result_and_an_error_stand_above_the_page() -> None:
    tabs = [("A", "http://a.example/"), ("B", "http://b.example/")]
    shown = bids.observation("### Error\nError: Ref e9 not found", '- button "Go" [active] [ref=e2]', tabs, 1)
    assert shown.split("\n") == [
        "URL: http://b.example/",
        "Open tabs:",
        "  0: A (http://a.example/)",
        "  1: B (http://b.example/), active",
        "Error of the last action: Ref e9 not found",
        "",
        "RootWebArea 'B', focused",
        "\t[2] button 'Go'",
    ]
    assert "Result of the last action: 42" in bids.observation("### Result\n42\n### Page", "", tabs, 0)


def test_a_dialog_stands_in_place_of_the_page() -> None:
    shown = bids.observation('### Modal state\n- ["alert" dialog]', "", [("A", "http://a.example/")], 0)
    assert shown == 'URL: http://a.example/\n\n- ["alert" dialog]'
