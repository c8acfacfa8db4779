"""How episodes in worlds of AWM begin: the time, the rows that are there, and what verifiers compare the end with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awm_worlds
import pytest

from agentworld_gym.base.errors import SpecError
from agentworld_gym.envs.env import AgentWorldEnv

SEEDING = """
with engine.begin() as connection:
    connection.execute(Book.__table__.insert().values(id=50, title="Seeded"))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a world whose code makes a row when it is loaded, and one of whose indexes fails."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    books, loans = awm_worlds.LIBRARY_TABLES
    broken = {**books, "indexes": ["CREATE INDEX broken ON nowhere (x)", *books["indexes"]]}
    before, after = "SELECT 1 FROM books WHERE id = 50", "SELECT 1 FROM books"
    changed = awm_worlds.decides(f'not rows("initial", "{before}") and len(rows("final", "{after}")) == 3')
    code = awm_worlds.LIBRARY.replace("class BookOut", f"{SEEDING}\nclass BookOut")
    tasks = [("Look at the books.", changed), ("Borrow a book.", awm_worlds.LIBRARY_TASKS[0][1])]
    world = awm_worlds.scenario("seeded", code, [broken, loans], awm_worlds.LIBRARY_ROWS, tasks)
    return awm_worlds.write(tmp_path_factory.mktemp("awm"), world)


def played(folder: Path, **options: Any) -> AgentWorldEnv:
    env = AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options=options)
    env.reset(options={"task": "seeded-1"})
    return env


def titles(env: AgentWorldEnv) -> list[str]:
    return [book["title"] for book in json.loads(env.step('{"name": "list_books", "arguments": {}}')[0])]


def test_usually_all_rows_are_there_and_what_the_code_makes_belongs_to_the_start(folder: Path) -> None:
    env = played(folder)
    assert titles(env) == ["Emma", "Finnegan's Wake", "Seeded", "Ulysses"]
    about = env.world.engine.server("seeded").about  # type: ignore[attr-defined]
    assert about.initial == about.start and b"idx_books_title" in about.start
    env.close()


def test_as_in_awm_refused_rows_are_dropped_and_verifiers_see_what_the_code_makes_as_a_change(folder: Path) -> None:
    env = played(folder, start="awm")
    assert titles(env) == ["Emma", "Seeded", "Ulysses"]
    about = env.world.engine.server("seeded").about  # type: ignore[attr-defined]
    assert b"Seeded" not in about.initial and b"Seeded" in about.start and b"idx_books_title" not in about.start
    assert [error for _, error in about.failed][:2] == [
        "no such table: main.nowhere",
        "not run: no such table: main.nowhere",
    ]
    # What AWM's verifier would call done before anything was done is dropped.
    env.reset(seed=0)
    assert env.world.tasks.dropped == {"seeded": {0: "the database satisfies it at the start"}}  # type: ignore[attr-defined]
    env.close()


def test_the_time_of_the_first_action_is_an_option_of_code_database_and_verifiers(folder: Path) -> None:
    env = played(folder, now="2027-06-01T12:00:00+02:00")
    assert "Server time 2027-06-01T10:00:00Z." in env.reset(options={"task": "seeded-1"})[0]
    assert env.task.state["now"] == "2027-06-01T10:00:00Z"
    borrowed = json.loads(env.step('{"name": "borrow_book", "arguments": {"book_id": 1}}')[0])
    assert borrowed["lent_at"].startswith("2027-06-01T10:00:0")
    assert env.step("finish")[1] == 1.0
    env.close()


def test_another_beginning_is_another_world_and_the_usual_one_may_be_said(folder: Path) -> None:
    def digest(**options: Any) -> str:
        env = AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options=options)
        env.close()
        return env.world.fingerprint.digest

    usual = digest()
    assert digest(now="2026-01-01T10:00:00+01:00", start="whole") == usual
    assert len({usual, digest(now="2027-01-01T09:00:00Z"), digest(start="awm")}) == 3


@pytest.mark.parametrize("now", ["tomorrow", "2027-06-01T12:00:00", 5])
def test_a_time_without_a_zone_is_refused(folder: Path, now: object) -> None:
    with pytest.raises(SpecError, match=r"now: got .*, expected a time with its zone, such as 2027-06-01T09:00:00Z"):
        AgentWorldEnv(spec="mcp", world=f"awm:{folder}", world_options={"now": now})
