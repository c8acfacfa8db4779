"""What the SQL of a database can take: no clock, no value without end, and bounded steps and seconds."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.kit.tables import database
from agentworld_gym.kit.tables.database import (
    CALL,
    MAX_VALUE_BYTES,
    Bound,
    Database,
    SeededTokens,
    building,
    empty_image,
    time_value,
)

EMPTY = empty_image("CREATE TABLE days (day TEXT)")

LONG = (
    "WITH RECURSIVE n(i, a) AS (SELECT 1, printf('%.*c', 200000, 'a') UNION ALL SELECT i + 1, a FROM n) "
    "SELECT sum(length(upper(a || i))) FROM n"
)
"""A query without end, each of whose steps deals with a long text."""

times = st.datetimes(allow_imaginary=False).map(lambda moment: moment.isoformat(timespec="seconds"))
modifiers = st.sampled_from(["+1 day", "-90 days", "start of month", "weekday 0", "+3 hours", "subsec", "tomorrow"])
calls = st.one_of(
    st.tuples(st.sampled_from(["date", "time", "datetime", "julianday", "unixepoch"]), times | st.text(max_size=12)),
    st.tuples(st.just("strftime"), st.sampled_from(["%Y-%m-%d", "%s", "%w %j"]), times),
)


@pytest.fixture
def opened() -> Iterator[Database]:
    made = Database(EMPTY, SeededTokens(0))
    yield made
    made.close()


@given(calls, st.lists(modifiers, max_size=2))
def test_times_that_are_told_are_those_of_sqlite(call: tuple[str, ...], changes: list[str]) -> None:
    function, *arguments = (*call, *changes)
    plain = sqlite3.connect(":memory:")
    [expected] = plain.execute(f"SELECT {function}({', '.join('?' * len(arguments))})", arguments).fetchone()
    plain.close()
    assert time_value(function, *arguments) == expected


@pytest.mark.parametrize(
    "told",
    [
        "date(:word)",
        "datetime('n' || 'ow')",
        "julianday(x'6e6f77')",
        "time('now' || char(0) || '!')",
        "strftime('%s')",
        "unixepoch()",
        "datetime('subsec')",
        "time('2026-01-01', 'localtime')",
        "strftime('%H', 0, 'UTC')",
    ],
)
def test_no_function_tells_the_clock_or_the_time_zone(opened: Database, told: str) -> None:
    for word in ("now", "NOW"):
        assert opened.connection.execute(f"SELECT {told}", {"word": word}).fetchone() == (None,)


@pytest.mark.parametrize("told", ["CURRENT_TIMESTAMP", "current_date", "CURRENT_TIME"])
def test_no_word_tells_the_clock(opened: Database, told: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match="not authorized"):
        opened.connection.execute(f"SELECT {told}")


def test_a_value_has_an_end(opened: Database) -> None:
    joined = "SELECT length(:text || 'a')"
    assert opened.connection.execute(joined, {"text": "a" * (MAX_VALUE_BYTES - 1)}).fetchone() == (MAX_VALUE_BYTES,)
    with pytest.raises(sqlite3.DataError, match="too big"):
        opened.connection.execute(joined, {"text": "a" * MAX_VALUE_BYTES}).fetchone()


@pytest.mark.parametrize("place", ["CALL", "BUILDING"])
def test_steps_on_long_texts_end_by_their_time(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setattr(database, place, Bound(chunks=10**9, seconds=0.05))
    connection = building() if place == "BUILDING" else Database(EMPTY, SeededTokens(0)).connection
    began = time.thread_time()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(LONG).fetchall()
    assert 0.05 < time.thread_time() - began < 2


def test_each_call_begins_anew(opened: Database) -> None:
    rows = database.CHUNK * CALL.chunks // 30
    counting = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows}) SELECT count(*) FROM n"
    for _ in range(5):
        opened.refresh()
        assert opened.connection.execute(counting).fetchone() == (rows,)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        for _ in range(12):
            opened.connection.execute(counting).fetchone()
