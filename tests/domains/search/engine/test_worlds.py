"""Fictional webs: consistent, the same for the same seed, of several kinds of pages, and about nothing that exists."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.search.engine.fictional_world import FictionalWorld, build_world
from agentworld_gym.domains.search.engine.pages import WebPage, comma, listed, long_date, slug
from agentworld_gym.domains.search.engine.theme import load_theme, theme_names

THEMES = theme_names()
SEEDS = range(4)
KINDS = {"encyclopedia", "news", "official", "forum", "tables"}

every_theme = pytest.mark.parametrize("theme", THEMES)
any_world = st.builds(build_world, st.sampled_from(THEMES), st.integers(0, 2**31 - 1))

REAL_NAMES = frozenset(
    re.findall(
        r"[\w']+",
        """
    london paris berlin madrid rome vienna prague warsaw budapest lisbon dublin oslo stockholm copenhagen helsinki
    amsterdam brussels athens moscow kyiv istanbul ankara cairo nairobi lagos johannesburg delhi mumbai beijing shanghai
    tokyo osaka kyoto seoul sydney melbourne auckland toronto montreal vancouver boston chicago houston dallas seattle
    denver miami hamburg munich cologne frankfurt leipzig dresden bremen rotterdam antwerp bruges ghent bordeaux lyon
    marseille nantes toulouse milan turin naples venice florence genoa barcelona valencia seville porto liverpool
    manchester birmingham leeds sheffield bristol york cardiff swansea edinburgh glasgow aberdeen dundee belfast cork
    bergen trondheim malmo gothenburg aarhus odense tallinn riga vilnius gdansk krakow ostrava brno bratislava zagreb
    belgrade bucharest sofia england scotland wales ireland france germany spain italy portugal norway sweden denmark
    finland poland russia ukraine turkey egypt kenya nigeria india china japan korea australia canada america europe
    africa asia yorkshire cumbria devon cornwall kent sussex norfolk suffolk surrey texas california florida
    google microsoft apple's amazon facebook siemens bosch philips nokia ericsson samsung sony toyota honda boeing
    airbus maersk zeiss leica nikon canon shell exxon barclays lloyds arsenal chelsea everton juventus ajax bayern
    whitechapel taylor's bramley gala fuji braeburn jonagold nasa esa spacex
    """,
    )
)


@every_theme
def test_a_world_has_hundreds_of_rows_in_several_tables_that_refer_to_each_other(theme: str) -> None:
    for seed in SEEDS:
        tables = build_world(theme, seed).tables()
        assert 300 <= sum(map(len, tables.values())) <= 500
        assert len(tables) >= 5
    refs = {target for table in load_theme(theme).tables.values() for target in table.refs().values()}
    assert len(refs) >= 2


@settings(max_examples=30, deadline=None)
@given(any_world)
def test_every_world_is_consistent(world: FictionalWorld) -> None:
    """References hold, dates are in order, totals add up: whatever the theme says of its rows."""
    connection = world.connect()
    for what, query in world.recipe.consistent.items():
        assert connection.execute(query).fetchall() == [], f"{world.theme} {world.seed}: {what}"
    for name, table in world.recipe.tables.items():
        for column, target in table.refs().items():
            lost = f'SELECT * FROM "{name}" WHERE "{column}" NOT IN (SELECT id FROM "{target}")'
            assert connection.execute(lost).fetchall() == []
    assert len(world.recipe.consistent) >= 4


@every_theme
def test_every_rule_of_consistency_can_be_broken(theme: str) -> None:
    """A rule that no rows can break would test nothing: for each there is a column whose wrong values it notices."""
    world = build_world(theme, 1)
    connection = world.connect()
    unbroken = set(world.recipe.consistent.values())
    for name, table in world.recipe.tables.items():
        for column in table.names():
            for wrong in (1, 99999, "0001-01-01", "9999-12-31"):
                connection.execute(f'UPDATE "{name}" SET "{column}" = ?', [wrong])
                unbroken -= {query for query in unbroken if connection.execute(query).fetchone()}
                connection.rollback()
    assert unbroken == set()


@every_theme
def test_a_world_is_a_function_of_theme_and_seed(theme: str) -> None:
    world = build_world(theme, 3)
    build_world.cache_clear()
    again, other = build_world(theme, 3), build_world(theme, 4)
    assert (again.pages, again.database) == (world.pages, world.database)
    assert other.tables() != world.tables()


@every_theme
def test_a_connection_of_ones_own_changes_no_world(theme: str) -> None:
    world = build_world(theme, 0)
    before = world.tables()
    name = next(iter(before))
    connection = world.connect()
    connection.execute(f'DELETE FROM "{name}"')
    connection.commit()
    assert world.tables() == before


@every_theme
def test_pages_are_of_all_kinds_on_sites_that_do_not_exist(theme: str) -> None:
    pages = build_world(theme, 0).pages
    assert {page.kind for page in pages} == KINDS
    assert 200 <= len(pages) <= 400
    assert [page.url for page in pages] == sorted({page.url for page in pages})
    for page in pages:
        assert re.fullmatch(r"https://[a-z.-]+\.example/[a-z0-9/-]+", page.url), page.url
        assert page.body.startswith("# ") and page.body.endswith("\n") and len(page.body) > 40
        assert page.title.startswith(page.body.partition("\n")[0][2:])
        assert not re.search(r"\{\{|\bNone\b|\n\n\n", page.body), page.url
        assert page.date is None or re.fullmatch(r"\d{4}-\d{2}-\d{2}", page.date)


@settings(max_examples=20, deadline=None)
@given(any_world)
def test_no_page_comes_from_the_future(world: FictionalWorld) -> None:
    for page in world.pages:
        days = re.findall(r"\b\d{4}-\d{2}-\d{2}\b", page.body)
        assert page.date is None or page.date <= world.now
        assert all(day <= world.now or "until" in page.body or "due" in page.body for day in days), page.url


@every_theme
def test_pages_of_one_thing_state_the_same_facts(theme: str) -> None:
    """What the pages say stands in the rows: the templates hold no number of their own, and another value in a row
    changes every page that showed the old one."""
    for template in sorted(load_theme(theme).path.glob("*.md.j2")):
        text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", template.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\d", text), template.name


@every_theme
def test_things_have_pages_of_several_kinds_with_facts_that_overlap(theme: str) -> None:
    """At least two tables have pages of three kinds or of three recipes, which share the name and more."""
    recipes = load_theme(theme).pages
    kinds: dict[str, set[str]] = {}
    for recipe in recipes.values():
        if recipe.of:
            kinds.setdefault(recipe.of, set()).add(recipe.kind)
    assert sum(len(found) >= 2 for found in kinds.values()) >= 2
    assert max(map(len, kinds.values())) >= 3


@every_theme
def test_nothing_in_a_world_exists(theme: str) -> None:
    for seed in SEEDS:
        for page in build_world(theme, seed).pages:
            words = {word.lower() for word in re.findall(r"[\w']+", f"{page.title} {page.body}") if word[0].isupper()}
            assert not words & REAL_NAMES, page.url


def test_themes_cover_all_sorts() -> None:
    assert len(THEMES) >= 6
    assert {load_theme(theme).sort for theme in THEMES} == {"time-shifted", "long-tail", "private", "realistic"}


def test_helpers_of_templates() -> None:
    assert slug("St. Orwen's Bell (II)") == "st-orwens-bell-ii"
    assert (comma(1234567), comma(12.5)) == ("1,234,567", "12.5")
    assert long_date("2066-12-01") == "1 December 2066"
    assert (listed([]), listed(["a"]), listed(["a", "b"])) == ("none", "a", "a and b")


SMALL: dict[str, Any] = {
    "title": "Ponds",
    "sort": "private",
    "now": "2030-01-01",
    "sites": {"tables": {"host": "ponds.example", "name": "Ponds"}},
    "words": {"name": ["Alder", "Birch", "Cress"]},
    "tables": {
        "ponds": {"one": "pond", "rows": 3, "columns": {"name": {"pick": "name", "unique": True}}},
        "fish": {
            "one": "fish",
            "each": {"pond": "ponds"},
            "count": [2, 2],
            "columns": {
                "name": {"text": "{name} {id}"},
                "born": {"date": ["2020-01-01", "2021-01-01"]},
                "caught": {"days": [1, 9], "plus": "born"},
                "grams": {"number": [1, 5], "step": 0.5},
                "ounces": {"sql": "grams / 28"},
            },
        },
    },
    "pages": {"pond": {"kind": "tables", "of": "ponds", "url": "p/{{ it.name | slug }}", "title": "{{ it.name }}"}},
}


def theme_in(
    folder: Path, data: dict[str, Any], template: str = "# {{ title }}\n\n{{ it.fish | length }} fish\n"
) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "theme.yaml").write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    (folder / "pond.md.j2").write_text(template, encoding="utf-8")
    return str(folder)


def test_a_theme_is_a_folder_of_data(tmp_path: Path) -> None:
    world = build_world(theme_in(tmp_path / "ponds", SMALL), 5)
    ponds, fish = world.tables()["ponds"], world.tables()["fish"]
    assert sorted(pond["name"] for pond in ponds) == ["Alder", "Birch", "Cress"]
    assert [one["pond"] for one in fish] == [1, 1, 2, 2, 3, 3]
    assert all(one["born"] < one["caught"] and one["ounces"] == one["grams"] / 28 for one in fish)
    assert world.pages[0] == WebPage(
        "https://ponds.example/p/alder", "Alder - Ponds", None, "tables", "# Alder\n\n2 fish\n", world.pages[0].key
    )


def test_the_place_of_a_theme_does_not_change_its_worlds(tmp_path: Path) -> None:
    here, there = tmp_path / "ponds", tmp_path / "elsewhere" / "ponds"
    theme_in(here, SMALL)
    shutil.copytree(here, there)
    assert build_world(str(here), 1).pages == build_world(str(there), 1).pages


@pytest.mark.parametrize(
    ("change", "template", "key"),
    [
        ({"sort": "true"}, None, "sort"),
        ({"now": "tomorrow"}, None, "now"),
        ({"extra": 1}, None, "extra"),
        ({"sites": {"tables": {"host": "google.com", "name": "G"}}}, None, "sites.tables.host"),
        ({"tables": {"ponds": {"one": "pond", "columns": {}}}}, None, "tables.ponds"),
        ({"tables": {"ponds": {"one": "pond", "rows": 2, "columns": {"name": {}}}}}, None, "tables.ponds.columns.name"),
        ({"words": {"name": ["Alder"]}}, None, "tables.ponds.columns.name.unique"),
        ({"words": {}}, None, "tables.ponds.columns.name.words"),
        ({}, "{{ it.depth }}", "pages.pond"),
        ({}, "{% if %}", "pages.pond"),
    ],
)
def test_a_broken_theme_names_file_key_and_expectation(
    tmp_path: Path, change: dict[str, Any], template: str | None, key: str
) -> None:
    folder = theme_in(tmp_path / "ponds", {**SMALL, **change}, *([template] if template else []))
    with pytest.raises(SpecError, match=re.escape(key)) as caught:
        build_world(folder, 0)
    assert str(tmp_path) in caught.value.file


def test_an_unknown_theme_names_those_there_are() -> None:
    with pytest.raises(SpecError, match="one of apples"):
        build_world("atlantis", 0)


def test_a_database_is_a_sqlite_database() -> None:
    connection = build_world(THEMES[0], 0).connect()
    assert isinstance(connection, sqlite3.Connection)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
