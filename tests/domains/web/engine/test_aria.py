"""Snapshots in process are those of Chromium: roles, names, merged texts, references and quotes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agentworld_gym.domains.web.engine.accessibility.snapshot import snapshot
from agentworld_gym.domains.web.engine.document.dom import Document
from agentworld_gym.domains.web.engine.document.page import Page

CASES = yaml.safe_load((Path(__file__).parent / "web_snapshots.yaml").read_text(encoding="utf-8"))


def shown(html: str) -> str:
    return snapshot(Page(Document.parse(html)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_snapshot_is_what_chromium_shows(case: dict[str, str]) -> None:
    assert shown(f"<!DOCTYPE html><title>t</title><body>{case['html']}</body>").split("\n") == case["snapshot"].split(
        "\n"
    )


def test_an_element_keeps_its_reference_while_its_role_and_name_stay() -> None:
    page = Page(
        Document.parse('<button aria-expanded="false">More</button><p id="p" hidden>Text</p><input aria-label="Q">')
    )
    assert snapshot(page) == (
        '- generic [active] [ref=e1]:\n  - button "More" [ref=e2] [cursor=pointer]\n  - textbox "Q" [ref=e3]'
    )
    page.set_attr(page.document.by_id["p"], "hidden", None)
    page.set_value(page.nodes[3], "typed")
    assert snapshot(page).split("\n")[1:] == [
        '  - button "More" [ref=e2] [cursor=pointer]',
        "  - paragraph [ref=e4]: Text",
        '  - textbox "Q" [ref=e3]: typed',
    ]


def test_a_new_name_gives_a_new_reference() -> None:
    page = Page(Document.parse('<label><input type="checkbox"> Up to <input value="3"></label>'))
    assert 'checkbox "Up to 3" [ref=e3]' in snapshot(page)
    page.set_value(page.nodes[3], "5")
    assert 'checkbox "Up to 5" [ref=e5]' in snapshot(page)


def test_only_listed_references_mean_something() -> None:
    page = Page(Document.parse("<p>a</p><p hidden>b</p>"))
    assert page.listed == {}
    snapshot(page)
    assert page.listed == {"e1": 0, "e2": 1}


@pytest.mark.parametrize("html", ["", " ", "<!-- nothing -->", "<script>1</script>", "<p hidden>x</p>"])
def test_an_empty_page_shows_nothing(html: str) -> None:
    assert shown(html) == ""


def test_broken_html_is_mended_as_a_browser_does() -> None:
    assert shown("<ul><li>a<li>b</ul><table><tr><td>1<td>2</table>").count("listitem") == 2
    assert "rowgroup" in shown("<table><tr><td>1</table>")
    assert shown("<textarea aria-label=T>\n two</textarea>").endswith("[ref=e2]: two")
