"""Snippets of the grounded web: they quote their pages, and never hold what is hidden."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_web import SPEC, WORLD, hits, lake, opened, search, started

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.checks import passed
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.index import ParsedQuery
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.pages import WebPage
from agentworld_gym.domains.search.engine.snippets import passages, snippet, wanted_of

LENS = next(task for task in SPEC.handwritten_tasks() if task.id == "lighthouse-lens")


def quoted(text: str) -> list[str]:
    """The pieces between the breaks of a snippet."""
    return [piece.strip() for piece in text.split("...") if piece.strip()]


@given(st.sampled_from(WORLD.pages), st.sampled_from(["ship", "harbour depth", "year total", "launched by", "zzz"]))
def test_a_snippet_quotes_its_page(page: WebPage, query: str) -> None:
    told = " ".join(passages(page.body))
    shown = snippet(page.body, wanted_of(ParsedQuery.of(query)), LeakDetector([]))
    assert shown
    assert len(shown) < 450
    assert all(piece in told for piece in quoted(shown))


def test_a_snippet_shows_the_words_of_the_query() -> None:
    text = "word " * 60 + "the keeper was Edmund Harrowgate himself " + "word " * 60
    shown = snippet(f"# T\n\nFirst sentence. {text}", wanted_of(ParsedQuery.of("harrowgate keeper")), LeakDetector([]))
    assert "Edmund Harrowgate" in shown
    assert shown.startswith("...")
    assert shown.endswith("...")


WAYS = {
    "1740": ["1,740 tonnes", "1740", "1 740 t", "1.74 thousand"],
    "12": ["twelve ships", "12 ships", "12.0"],
    "3.5 km": ["3.5 km", "3.50 kilometres"],
    "2 November 1868": ["November 2, 1868", "1868-11-02", "the 2nd of November 1868"],
    "Aldermoor Glassworks": ["**Aldermoor** Glassworks", "ALDERMOOR-GLASSWORKS", "the Aldermoor glassworks' crates"],
    "FT-104": ["room FT-104", "ft 104"],
    "The Copper Corner": ["Copper Corner"],
}


@pytest.mark.parametrize(("answer", "text"), [(answer, text) for answer, texts in WAYS.items() for text in texts])
def test_no_way_of_writing_the_answer_passes(answer: str, text: str) -> None:
    page = lake("Lake Orvel", content=f"# Lake Orvel\n\nThey say {text} is right. A second sentence tells nothing.")
    shown = search(started(page, hidden={"answer": answer}), "say right orvel")
    assert hits(shown)[0][3] == "A second sentence tells nothing."
    assert not LeakDetector([[answer]]).leaks(shown.replace("[1] ", ""))
    only = lake("Lake Orvel", content=f"# Lake Orvel\n\nThey say {text} is right.")
    assert text not in search(started(only, hidden={"answer": answer}), "say right orvel")


@pytest.mark.parametrize(
    ("answer", "text"),
    [("12", "in 2012"), ("1740", "17401 or 1,7400"), ("no", "north"), ("Ash", "Ashford"), ("5", "on 2024-05-11")],
)
def test_what_only_looks_like_the_answer_may_be_shown(answer: str, text: str) -> None:
    assert not LeakDetector([[answer]]).leaks(text)


def test_a_page_whose_title_or_address_tells_is_not_listed_but_can_be_opened() -> None:
    tells = [lake("Aldermoor Glassworks"), lake("Works", url="https://lakes.example/w/aldermoor-glassworks")]
    machine = started(*tells, lake("Lake Orvel"), hidden={"answer": "Aldermoor Glassworks"})
    assert [title for _, _, title, *_ in hits(search(machine, "aldermoor glassworks lake north"))] == [
        "Lake Orvel - Lakes"
    ]
    assert opened(machine, tells[1]["url"]).startswith("# Works")


def test_the_parts_of_a_list_do_not_stand_together_nor_the_cells_of_a_row() -> None:
    content = "# Lake Orvel\n\nTarn is one and Ness another. Of them Tarn opened in 1868. Ness is the other one."
    for answer in ("Tarn; Ness", ["Tarn", "Ness"]):
        (only,) = hits(search(started(lake("Lake Orvel", content=content), hidden={"answer": answer}), "one another"))
        assert not {"Tarn", "Ness"} <= set(only[3].split())
    for answer in ("Tarn | 1868; Ness | 1871", [["Tarn", "1868"], ["Ness", "1871"]]):
        (only,) = hits(search(started(lake("Lake Orvel", content=content), hidden={"answer": answer}), "opened 1868"))
        assert "1868" not in only[3] or "Tarn" not in only[3]


@pytest.mark.parametrize("family", SPEC.tasks.families)
def test_no_result_of_a_question_holds_its_answer(family: str) -> None:
    for seed in range(3):
        task = generate("search", family, 1 + seed % 3, seed)
        answer = task.hidden["answer"]
        queries = [json.loads(action)["arguments"] for action in task.expert if "web_search" in action]
        asked = [query for given in queries for query in given.get("queries", [given.get("query")])]
        machine = SearchMachine.start(task.state, 0, hidden=task.hidden)
        for query in (*asked, task.instruction, answer, f"{asked[-1]} {answer}"):
            for _, url, title, quoted_text, _ in hits(search(machine, query)):
                result = f"{url} {title} {quoted_text}".casefold()
                parts = [part.strip().casefold() for part in re.split(r"[;|]", answer)]
                assert not all(re.search(rf"(?<![\w.]){re.escape(part)}(?![\w.]*\d)", result) for part in parts)


def test_unspoken_texts_stand_in_no_result() -> None:
    shown = search(started(lake("Lake Orvel"), lake("Lake Tarn"), hidden={"unspoken": ["north"]}), "north lake")
    assert "north" not in shown
    assert len(hits(shown)) == 2


def test_the_hand_written_task_gives_nothing_away_and_can_be_solved() -> None:
    parser = ActionParser(SPEC)
    machine = SearchMachine.start(LENS.state, 0, hidden=LENS.hidden)
    for action in LENS.expert[:-1]:
        seen = machine.act(parser.parse(action).parsed)
        if "web_search" in action:
            assert "Aldermoor" not in seen
        assert not seen.startswith("Error")
    answer = parser.parse(LENS.expert[-1]).answer
    assert all(passed(check, LENS.expert, [], answer) == 1 for check in LENS.success)
