"""What each control does to the grounded web, and what undoes it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_web import SOME, WORLD, hits, lake, opened, search, started

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.misinformation import revised
from agentworld_gym.domains.search.engine.page_reader import LONG_PAGE, TIMED_OUT, TRUNCATED, parts_of

LONG = lake(
    "Lake Tarn",
    content="# Tarn\n\n"
    + "\n\n".join(f"Fact {n} about the tarn is told here in {1900 + n} words or so." for n in range(12)),
)
TARN = LONG["url"]


def test_a_page_that_fails_may_open_later_and_stays_open() -> None:
    machine = started(LONG, intermittent_errors=0.7)
    seen = [opened(machine, TARN) for _ in range(40)]
    failures = [text for text in seen if text.startswith("Error")]
    assert failures
    assert set(failures) <= {
        f"Error: HTTP 403 Forbidden for {TARN}",
        f"Error: HTTP 429 Too Many Requests for {TARN}",
        TIMED_OUT,
    }
    assert all(text.startswith("Error") for text in seen[: len(failures)])
    assert len(set(seen[len(failures) :])) == 1
    assert machine.state() == {"tries/lakes.example/lake-tarn": len(failures), "opened/lakes.example/lake-tarn": True}


def test_slow_service_costs_one_try() -> None:
    machine = started(LONG, slow_service=1.0)
    assert opened(machine, TARN) == TIMED_OUT
    assert opened(machine, TARN).startswith("# Tarn")


def test_a_truncated_page_breaks_off_and_comes_whole_later() -> None:
    machine = started(LONG, truncated_output=0.9)
    seen = [opened(machine, TARN) for _ in range(40)]
    whole = seen[-1]
    cut = [text for text in seen if text.endswith(TRUNCATED)]
    assert cut
    assert seen == cut + [whole] * (40 - len(cut))
    assert all(whole.startswith(text.removesuffix(TRUNCATED).rstrip()) for text in cut)


def test_a_long_page_comes_in_parts_that_lead_on() -> None:
    machine = started(LONG, lake("Lake Orvel"), pagination=1.0)
    text, url = "", TARN
    for number in range(1, 10):
        part = opened(machine, url)
        text += part
        match = re.search(r"\n\nPart (\d) of (\d)\.(?: Next part: (\S+))?$", part)
        assert match
        assert int(match[1]) == number
        if match[3] is None:
            break
        url = match[3]
    assert match[1] == match[2]
    assert all(f"Fact {n} " in text for n in range(12))
    assert "Part" not in opened(machine, "https://lakes.example/lake-orvel")


@given(st.lists(st.sampled_from(["word " * 20, "# Head", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 40]), min_size=1))
def test_the_parts_hold_all_of_a_page(blocks: list[str]) -> None:
    body = "\n\n".join(blocks)
    parts = parts_of(body)
    assert sum(part.count("word") for part in parts) == body.count("word")
    assert sum(part.count("| 1 | 2 |") for part in parts) == body.count("| 1 | 2 |")
    assert all(len(part) < LONG_PAGE + len(body) // 2 for part in parts)


def test_an_incomplete_list_lacks_the_best_source_unless_it_is_named() -> None:
    page = next(page for page in WORLD.pages if page.url.endswith("/ports/bramormole"))
    controls = Controls({"incomplete-results": 1.0})
    machine = SearchMachine.start(SOME, 0, controls, {"answer": "15.1 m"})

    def urls(query: str) -> list[str]:
        return [url for _, url, *_ in hits(search(machine, query))]

    for vague in ("depth of the main basin Bramormole", "Bramormole basin"):
        assert 3 <= len(urls(vague)) <= 6
        assert page.url not in urls(vague)
    assert page.url in urls('"Bramormole" basin')
    assert page.url in urls("Bramormole basin depth site:harbours.reaches-office.example")


def test_a_site_that_misleads_stands_before_the_better_source_and_is_older() -> None:
    right = lake("Lake Orvel", date="2020-05-11", content="# Lake Orvel\n\nIts keeper is Ada Marsh. It is 112 m deep.")
    hidden = {"answer": "Ada Marsh", "wrong": ["Bo Reed"]}
    machine = started(right, hidden=hidden, misleading_snippets=1.0)
    wrong, better = hits(search(machine, "keeper of lake orvel"))
    assert better[1] == right["url"]
    assert wrong[2].startswith("Lake Orvel - ")
    assert "Bo Reed" in wrong[3]
    assert wrong[4] < better[4]
    page = opened(machine, wrong[1])
    assert "Bo Reed" in page
    assert not {"Ada Marsh", "112 m"} & set(re.findall(r"Ada Marsh|112 m", page))
    assert "Ada Marsh" in opened(machine, right["url"])


@pytest.mark.parametrize(("answer", "wrong"), [("112 m", ["90"]), ("112", []), ("Ada Marsh", [])])
def test_a_stale_snippet_shows_what_the_page_has_corrected(answer: str, wrong: list[str]) -> None:
    content = "# Lake Orvel\n\nIts keeper is Ada Marsh. It is 112 m deep, as Bo Reed found."
    machine = started(lake("Lake Orvel", content=content), hidden={"answer": answer, "wrong": wrong}, stale_data=1.0)
    (only,) = hits(search(machine, "keeper deep lake"))
    assert not LeakDetector([[answer]]).leaks(only[3])
    assert "112 m" not in only[3]
    assert not wrong or wrong[0] in only[3]
    page = opened(machine, only[1])
    assert page.startswith(content)
    assert page.endswith("\n\n*Corrected: earlier versions of this page gave other figures.*")


@given(
    st.text(max_size=80) | st.from_regex(r"([A-Z][a-z]+ )?[0-9,.]{1,9} (May|tonnes|in [12][0-9]{3})"),
    st.floats(0, 0.999),
)
def test_a_revised_text_differs_in_numbers_alone(text: str, chance: float) -> None:
    changed = revised(text, lambda key: chance)
    assert re.sub(r"[\d,.]+", "#", changed) == re.sub(r"[\d,.]+", "#", text)
    assert revised(text, lambda key: chance) == changed


def test_without_controls_nothing_of_them_shows() -> None:
    calm, nought = started(LONG), started(LONG, **dict.fromkeys(("stale_data", "misleading_snippets"), 0.0))
    for query in ("tarn", "fact words"):
        assert search(calm, query) == search(nought, query)
    assert opened(calm, TARN) == opened(nought, TARN) == LONG["content"]
