"""Whatever is sent to the web, it answers with a text, soon, in bounded space, and without touching the host."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.page_reader import LONGEST

TOOLS = ("web_search", "web_extractor", "dict_memory")
URLS = ("https://harbours.reaches-office.example/ports/bramormole", "https://reachpedia.example/wiki/bramormole")
OPERATIONS = ("add", "update", "retrieve", "retrieve_all", "remove", "remove_all")
EVERYTHING = Controls(dict.fromkeys(load_spec("search").controls, 0.5), seed=2)
QUERIES = (
    *HOSTILE,
    '"' * 3000,
    '"a" ' * 500,
    '-"a b" ' * 500,
    "-" * 3000,
    "site:" * 500,
    "site: -site: site:* site:.. -site:",
    "site:" + "a." * 1000,
    "(((((((((a+)+)+)+)+)+)+)+)$",
    "a" * 100_000,
    "a b " * 25_000,
    "\u0300" * 5000,
    "ﷺ" * 2000,
    "İıßſK" * 500,
    "\U0010ffff\x7f\x80",
    "1e999 " * 100,
    "٣٤٥ ½ ² ৪",
)
ADDRESSES = (
    *HOSTILE,
    "https://",
    "http://[",
    "http://[::1]:99999/",
    "https://user:pass@reachpedia.example/wiki/bramormole",
    "https://reachpedia.example:bad/wiki/bramormole",
    "https://reachpedia.example/../../etc/passwd",
    "file:///etc/passwd",
    "https://reachpedia.example/wiki/bramormole?page=" + "9" * 3000,
    "https://reachpedia.example/wiki/bramormole?page=٣",
    "https://reachpedia.example/%" + "zz%00%ff" * 100,
    "https://reachpedia.example/" + "a/" * 50_000,
    "https://xn--\u2100.example/",
    "javascript:alert(1)",
    "https://169.254.169.254/latest/meta-data",
    "http://localhost:8000/",
)


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


SHAPES: tuple[Any, ...] = (
    None,
    0,
    True,
    "web_search",
    [],
    {},
    [{"name": "web_search"}],
    {"name": None},
    {"name": 10**6000, "arguments": {}},
    {"name": "web_search", "arguments": None},
    {"name": "web_search", "arguments": []},
    {"name": "web_search", "arguments": {"queries": None}},
    {"name": "web_search", "arguments": {"queries": 3, "query": 4}},
    {"name": "web_search", "arguments": {"queries": ["a", None]}},
    {"name": "web_search", "arguments": {"queries": "abc"}},
    {"name": "web_search", "arguments": {"queries": [deep(5000)]}},
    {"name": "web_search", "arguments": {"queries": ["a"] * 100_000}},
    {"name": "web_search", "arguments": {"query": ""}},
    {"name": "web_extractor", "arguments": {"url": None}},
    {"name": "web_extractor", "arguments": {"url": deep(100_000)}},
    {"name": "web_extractor", "arguments": {}},
    {"name": "dict_memory", "arguments": {"operation": deep(100_000)}},
    {"name": "dict_memory", "arguments": {"operation": 10**6000}},
    {"name": "dict_memory", "arguments": {"operation": "add", "dict": {1: []}, "key_list": {}}},
    {"name": "dict_memory", "arguments": {"operation": "add", "dict": {"k": deep(100_000)}}},
    {"name": deep(100_000), "arguments": deep(100_000)},
)


def machine(controls: Controls = EVERYTHING) -> SearchMachine:
    return SearchMachine.start({"theme": "harbours", "seed": 12}, 0, controls, {"answer": "15.1 m"})


def sent(web: SearchMachine, action: Any) -> str:
    """The answer to an action, after it was seen to be one."""
    text = web.act(action)
    assert isinstance(text, str)
    assert text == web.observation
    ends = [0, *(place for span in web.spans for place in (span.start, span.end)), len(text)]
    assert ends == sorted(ends)
    assert all(isinstance(value, str | int | bool) for value in web.state().values())
    return text


@pytest.mark.parametrize("action", SHAPES, ids=lambda shape: f"{type(shape).__name__}")
def test_what_is_no_call_is_answered_with_an_error(action: Any) -> None:
    text = sent(machine(), action)
    assert text.startswith(("Error: ", "No results found.", "[1] "))
    assert len(text) < 40_000


@pytest.mark.parametrize("query", QUERIES, ids=lambda text: ascii(text[:20]))
def test_hostile_queries_get_results_or_none(query: str) -> None:
    web = machine()
    for asked in ({"query": query}, {"queries": [query, "bramormole", query]}):
        text = sent(web, {"name": "web_search", "arguments": asked})
        assert len(text) < 24_000


@pytest.mark.parametrize("url", ADDRESSES, ids=lambda text: ascii(text[:20]))
def test_hostile_addresses_are_errors_of_one_line(url: str) -> None:
    web = machine(Controls())
    text = sent(web, {"name": "web_extractor", "arguments": {"url": url}})
    assert len(text) < 3000
    assert text.startswith("Error: ") or text.startswith("# Bramormole")


def test_a_huge_page_is_cut() -> None:
    page = {"url": "https://a.example/x", "title": "X", "content": "word " * 100_000 + "| a" * 1000}
    web = SearchMachine.start({"pages": [page]}, 0)
    assert len(sent(web, {"name": "web_extractor", "arguments": {"url": page["url"]}})) < LONGEST + 100
    assert len(sent(web, {"name": "web_search", "arguments": {"query": "word"}})) < 1000


def test_notes_of_any_text_come_back_as_they_were() -> None:
    web = machine()
    for number, text in enumerate(HOSTILE):
        sent(web, {"name": "dict_memory", "arguments": {"operation": "add", "dict": {f"k{number}": text}}})
    for number, text in enumerate(HOSTILE):
        asked = {"operation": "retrieve", "key_list": [f"k{number}"]}
        assert sent(web, {"name": "dict_memory", "arguments": asked}) == f"k{number}: {text}"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from([*QUERIES, *ADDRESSES]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "query": values,
        "queries": st.lists(values, max_size=7) | values,
        "url": st.sampled_from(URLS) | values,
        "operation": st.sampled_from(OPERATIONS) | values,
        "dict": st.dictionaries(st.sampled_from(["a", "b"]), values) | values,
        "key_list": st.lists(st.sampled_from(["a", "b"]) | values) | values,
    },
)
calls = st.fixed_dictionaries({"name": st.sampled_from(TOOLS) | values, "arguments": arguments | values}) | values


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example])
@given(st.lists(calls, min_size=1, max_size=6))
def test_no_exception_leaves_the_engine(actions: list[Any]) -> None:
    web = machine()
    for action in actions:
        sent(web, action)
        web.fork().close()


def hostile_actions(count: int, seed: int) -> list[Any]:
    """Calls with arguments drawn from all that is hostile, some broken."""
    rng = random.Random(seed)
    short = [text for text in (*QUERIES, *ADDRESSES) if len(text) < 20_000]
    found: list[Any] = []
    for _ in range(count):
        text, other = rng.choice(short), rng.choice(short)
        found.append(
            rng.choice(
                (
                    {"name": "web_search", "arguments": {"query": text}},
                    {"name": "web_search", "arguments": {"queries": [text, other]}},
                    {
                        "name": "web_extractor",
                        "arguments": {"url": rng.choice((text, *URLS)) + rng.choice(("", "?page=2", other))},
                    },
                    {
                        "name": "dict_memory",
                        "arguments": {
                            "operation": rng.choice(OPERATIONS),
                            "dict": {text[:50]: other},
                            "key_list": [text[:50]],
                        },
                    },
                    rng.choice(SHAPES),
                )
            )
        )
    return found


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_random_hostile_actions(count: int) -> None:
    web = machine()
    for number, action in enumerate(hostile_actions(count, seed=5)):
        if number % 30 == 0:
            web = machine()
        sent(web, action)


WATCHED = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from test_hostile import hostile_actions, machine
web = machine()
actions = hostile_actions(400, seed=9)
for action in actions[:40]:
    web.act(action)
web.act({"name": "web_search", "arguments": {"query": "harbour"}})
touched = []
sys.addaudithook(lambda event, details: touched.append(event))
web = machine()
for action in actions:
    web.act(action)
fatal = ("open", "socket", "subprocess", "os.", "shutil", "pty", "ctypes", "exec", "import", "urllib", "http")
print(sorted({event for event in touched if event.startswith(fatal)}))
"""


def test_no_file_process_or_socket_is_touched() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, json.dumps([str(Path(__file__).parent), *sys.path])],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]"
