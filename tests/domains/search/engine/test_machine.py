"""The grounded web: what a search finds, what a page reader gives, what the memory says, and what is new in it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_web import SOME, SPEC, WORLD, hits, lake, note, opened, search, started

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import Engine, EngineError, Machine
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.domains.search.engine.index import PageIndex, ParsedQuery, index_of
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.pages import WebPage
from agentworld_gym.domains.search.engine.state import Hidden
from agentworld_gym.envs.options import EnvOptions

LENS = next(task for task in SPEC.handwritten_tasks() if task.id == "lighthouse-lens")

# Searching


def test_ten_results_in_blocks_of_four_lines() -> None:
    found = hits(search(SearchMachine.start(SOME, 0), "depth of the main basin"))
    assert [int(number) for number, *_ in found] == list(range(1, 11))
    assert len({url for _, url, *_ in found}) == 10


@given(st.sampled_from(WORLD.pages), st.sampled_from(WORLD.pages))
def test_a_world_with_hundreds_of_pages_always_gives_ten(one: WebPage, other: WebPage) -> None:
    word = other.body.split()[-1]
    assert len(hits(search(SearchMachine.start(SOME, 0), f"{one.title} {word}"))) == 10


def test_a_small_web_gives_what_there_is() -> None:
    machine = started(lake("Lake Orvel"), lake("Lake Tarn"))
    assert [title for _, _, title, *_ in hits(search(machine, "orvel"))] == ["Lake Orvel - Lakes", "Lake Tarn - Lakes"]
    assert search(started(), "anything") == "No results found."


def test_an_index_of_no_pages_finds_nothing() -> None:
    assert list(PageIndex.of([]).ranked(ParsedQuery.of("a site:b"))) == []


def test_the_results_of_several_queries_are_one_list() -> None:
    machine = started(lake("Lake Orvel"))
    single = search(machine, "orvel")
    both = machine.act({"name": "web_search", "arguments": {"queries": ["orvel", "zebra"], "query": "lake"}})
    assert both == f"{single}\n\n{single.replace('[1]', '[2]')}"
    assert search(machine, "zebra", "okapi") == "No results found."


def test_the_page_that_a_query_names_comes_first() -> None:
    machine = SearchMachine.start(SOME, 0)
    for page in WORLD.pages[::9]:
        subject = page.title.rpartition(" - ")[0]
        site = page.url.split("/")[2]
        assert page.url in {url for _, url, *_ in hits(search(machine, f"{subject} site:{site}"))}


def test_equally_good_pages_come_in_the_order_of_their_addresses() -> None:
    pages = [lake("Lake", url=f"https://lakes.example/{letter}") for letter in "dbca"]
    for order in (pages, pages[::-1]):
        found = hits(search(started(*order), "lake north"))
        assert [url[-1] for _, url, *_ in found] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"deep water" lake', ["b"]),
        ('"water deep" lake', ["a"]),
        ("lake -deep", ["c"]),
        ('lake -"deep water"', ["a", "c"]),
        ("lake site:north.example", ["c"]),
        ("lake -site:north.example", ["a", "b"]),
        ("lake site:www.lakes.example", ["a", "b"]),
        ("site:north.example", ["c"]),
        ("lake site:nowhere.example", []),
        ('"no such words"', []),
    ],
)
def test_operators_are_strict(query: str, found: list[str]) -> None:
    machine = started(
        lake("Lake", url="https://lakes.example/a", content="# Lake\n\nThe *water*, deep and cold."),
        lake("Lake", url="https://www.lakes.example/b", content="# Lake\n\nThe deep **water** is cold."),
        lake("Lake", url="https://maps.north.example/c", content="# Lake\n\nNothing is known."),
    )
    results = search(machine, query)
    assert (results == "No results found.") is not bool(found)
    assert [url[-1] for _, url, *_ in hits(results)] == found if found else True


def test_plurals_case_and_accents_make_no_difference() -> None:
    machine = started(lake("Ferry", content="# Ferry\n\nThe ferries of Édouard."), lake("Other"))
    for query in ("FERRIES", "edouard", "Édouard ferry"):
        assert hits(search(machine, query))[0][2] == "Ferry - Lakes"


def test_the_same_query_gives_the_same_results() -> None:
    machine = SearchMachine.start(SOME, 0)
    first = search(machine, "ships of the reach")
    opened(machine, WORLD.pages[0].url)
    assert search(machine, "ships of the reach") == first
    assert search(SearchMachine.start(SOME, 99), "ships of the reach") == first


# Pages


def test_a_page_is_markdown_with_its_heading() -> None:
    machine = started(lake("Lake Orvel"), lake("Lake Tarn", content="Deep.\n"))
    assert opened(machine, "https://lakes.example/lake-orvel") == "# Lake Orvel\n\nLake Orvel lies in the north."
    assert opened(machine, "https://lakes.example/lake-tarn") == "# Lake Tarn - Lakes\n\nDeep."


@pytest.mark.parametrize(
    "url",
    [
        "http://lakes.example/lake-orvel",
        "https://WWW.Lakes.Example:443/lake-orvel/",
        "https://lakes.example/lake%2Dorvel#x",
    ],
)
def test_one_page_has_many_ways_to_write_its_address(url: str) -> None:
    assert opened(started(lake("Lake Orvel")), url).startswith("# Lake Orvel")


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("https://lakes.example/none", "Error: HTTP 404 Not Found for https://lakes.example/none"),
        (
            "https://lakes.example/lake-orvel?page=2",
            "Error: HTTP 404 Not Found for https://lakes.example/lake-orvel?page=2",
        ),
        ("https://nowhere.example/x", "Error: could not resolve host nowhere.example"),
        ("https://lakes.example/map.pdf", "Error: unsupported content type application/pdf"),
        ("lake-orvel", "Error: invalid URL lake-orvel"),
    ],
)
def test_what_cannot_be_opened_is_an_error_of_one_line(url: str, error: str) -> None:
    assert opened(started(lake("Lake Orvel")), url) == error


def test_pages_of_the_state_replace_those_of_the_world_and_add_to_them() -> None:
    own = WORLD.pages[0]
    changed = {"url": own.url, "title": own.title, "date": own.date, "content": "# Changed\n\nAll else."}
    machine = SearchMachine.start({**SOME, "pages": [changed, lake("Lake Orvel")]}, 0)
    assert opened(machine, own.url) == "# Changed\n\nAll else."
    assert opened(machine, "https://lakes.example/lake-orvel").startswith("# Lake Orvel")
    assert opened(machine, WORLD.pages[1].url) == WORLD.pages[1].body.strip()


def test_sessions_of_a_world_share_its_index() -> None:
    own = WORLD.pages[0]
    page = WebPage(own.url, own.title, own.date, "", own.body)
    assert index_of("harbours", 12, (page,)) is index_of("harbours", 12)


# The memory


def test_the_memory_answers_in_fixed_sentences() -> None:
    machine = started()
    assert machine.observation == "Memory is empty."
    said = [
        note(machine, "retrieve_all"),
        note(machine, "add", dict={"depth": "112 m", "lakes": ["Orvel", 2]}),
        note(machine, "add", dict={"depth": "9 m"}),
        note(machine, "update", dict={"depth": "113 m", "width": "1"}),
        note(machine, "update", dict={"width": "1"}),
        note(machine, "retrieve", key_list=["width", "depth"]),
        note(machine, "retrieve_all"),
        note(machine, "remove", key_list=["width"]),
        note(machine, "remove", key_list=["depth", "width"]),
        note(machine, "retrieve", key_list=["depth"]),
        note(machine, "remove_all"),
        note(machine, "add"),
        note(machine, "remove", key_list=[]),
        note(machine, "forget"),
    ]
    assert said == [
        "Memory is empty.",
        "Successfully added items of ['depth', 'lakes'] to memory.",
        "Successfully added items of ['depth'] to memory.",
        "Successfully updated items of ['depth'] in memory.",
        "Key not found",
        "depth: 113 m",
        'depth: 113 m\nlakes: ["Orvel", 2]',
        "Key not found",
        "Successfully removed items of ['depth'] from memory.",
        "Key not found",
        "Successfully cleared all memory.",
        "Error: operation 'add' needs 'dict'.",
        "Error: operation 'remove' needs 'key_list'.",
        "Error: unknown operation 'forget'.",
    ]


# The machine


def test_the_engine_keeps_the_contract() -> None:
    engine = load_engine("search")
    assert isinstance(engine, Engine)
    machine = engine.start(LENS.state, 0)
    assert isinstance(machine, Machine)
    machine.close()
    machine.close()
    with pytest.raises(EngineError):
        machine.act({"name": "web_search", "arguments": {"query": "x"}})


def test_the_state_tells_all_that_actions_change() -> None:
    machine = started(lake("Lake Orvel"))
    assert machine.state() == {}
    search(machine, "lake")
    assert machine.state() == {}
    opened(machine, "https://lakes.example/lake-orvel")
    note(machine, "add", dict={"k": "v"})
    assert machine.state() == {"memory/k": "v", "opened/lakes.example/lake-orvel": True}


actions = st.one_of(
    st.builds(
        lambda q: {"name": "web_search", "arguments": {"query": q}}, st.sampled_from(["lake", "north tarn", "x"])
    ),
    st.builds(
        lambda n: {"name": "web_extractor", "arguments": {"url": f"https://lakes.example/{n}"}},
        st.sampled_from(["lake-orvel", "lake-tarn", "lake-tarn?page=2", "none"]),
    ),
    st.builds(
        lambda o, k: {"name": "dict_memory", "arguments": {"operation": o, "dict": {k: "v"}, "key_list": [k]}},
        st.sampled_from(["add", "update", "remove", "retrieve_all"]),
        st.sampled_from(["a", "b"]),
    ),
)


@given(st.lists(actions, max_size=8), st.lists(actions, min_size=1, max_size=8), st.floats(0, 1))
def test_a_fork_is_exact_and_goes_its_own_way(before: list[Any], after: list[Any], strength: float) -> None:
    long = lake("Lake Tarn", content="# Tarn\n\n" + "\n\n".join(f"Sentence {n} of the tarn. " * 4 for n in range(6)))
    controls = dict.fromkeys((name.replace("-", "_") for name in SPEC.controls), strength)
    machine = started(lake("Lake Orvel"), long, hidden={"answer": "north"}, **controls)
    for action in before:
        machine.act(action)
    state, shown = machine.state(), machine.observation
    one, two = machine.fork(), machine.fork()
    for action in after:
        assert one.act(action) == two.act(action)
        assert (one.spans, one.state()) == (two.spans, two.state())
    assert (machine.state(), machine.observation) == (state, shown)


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"pages": [{"url": "lakes", "title": "x", "content": ""}]}, "pages.0.url"),
        ({"pages": [{"url": "https://a.example/x y", "title": "x", "content": ""}]}, "pages.0.url"),
        ({"pages": [{"url": "https://a.example/x", "title": "", "content": ""}]}, "pages.0.title"),
        ({"pages": [lake("Lake"), lake("Lake", url="http://www.lakes.example/lake/")]}, "pages"),
        ({"page": []}, "page"),
        ({"theme": "no-such-theme"}, "theme"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_a_wrong_state_is_told(state: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecError) as told:
        SearchMachine.start(state, 0)
    assert told.value.key == key


def test_a_wrong_answer_to_hide_is_told() -> None:
    with pytest.raises(SpecError, match="task hidden"):
        SearchMachine.start({}, 0, hidden={"wrong": 3})


def test_a_wrong_task_is_named() -> None:
    task = {"id": "odd", "instruction": "?", "success": [{"answer": {"equals": "x"}}], "hidden": {"answer": {"a": 1}}}
    with pytest.raises(SpecError, match=r"^task hidden of odd: answer: got {'a': 1}"):
        EnvOptions(spec="search").runner().start([0], {"task": task})


def test_dates_and_numbers_of_yaml_are_taken_as_texts() -> None:
    page = lake("Lake Orvel", date=datetime.date(2024, 5, 11))
    assert hits(search(started(page, hidden={"answer": 1740}), "lake"))[0][4] == "May 11, 2024"
    assert Hidden.of({"answer": 1740}).secrets == (("1740",),)


# Which pieces are not deterministic


def pieces(machine: SearchMachine) -> list[tuple[str, str]]:
    return [(machine.observation[start:end], kind) for start, end, kind in machine.spans]


def test_results_beyond_the_state_are_there_before_and_their_dates_metadata() -> None:
    own = next(page for page in WORLD.pages if page.url.endswith("/wiki/bramormole"))
    given_page = {"url": own.url, "title": own.title, "date": own.date, "content": own.body}
    machine = SearchMachine.start({**SOME, "pages": [given_page]}, 0)
    found = hits(search(machine, "Bramormole"))
    assert own.url in [url for _, url, *_ in found]
    told = pieces(machine)
    texts = [text for text, kind in told if kind == "pre-existing"]
    assert len(texts) == 9
    assert not any(own.url in text for text in texts)
    assert [text for text, kind in told if kind == "metadata"] == [day for _, url, _, _, day in found if url != own.url]
    assert list(machine.spans) == sorted(machine.spans)
    search(machine, "Bramormole")
    assert machine.spans == ()


def test_a_page_is_there_before_until_it_was_opened() -> None:
    machine = SearchMachine.start(SOME, 0)
    text = opened(machine, WORLD.pages[3].url)
    assert pieces(machine) == [(text, "pre-existing")]
    opened(machine, WORLD.pages[3].url)
    assert pieces(machine) == []
    note(machine, "retrieve_all")
    assert pieces(machine) == []
