"""Tables and rows are checked by building them."""

from __future__ import annotations

import pytest

from agentworld_gym.synth.database import check_rows, check_schema, filled_image
from agentworld_gym.synth.faults import Fault

TABLE = "CREATE TABLE a (x INTEGER PRIMARY KEY, y REAL, z TEXT)"
COUNTING = "INSERT INTO a (x) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n {end}) SELECT i FROM n"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("INSERT INTO a (y) VALUES (9e999)", "y holds a number that is not finite"),
        ("INSERT INTO a (z) VALUES (x'00')", "z holds bytes"),
        ("INSERT INTO a (z) VALUES (char(7))", "z holds characters that cannot be printed"),
        ("INSERT INTO a (z) VALUES (CURRENT_DATE)", "CURRENT_DATE gives other rows at every time"),
        ("INSERT OR IGNORE INTO a (x) VALUES (1)", "only INSERT INTO is run"),
        ("INSERT INTO a (x) SELECT value FROM generate_series(1, 9)", "no such table: generate_series"),
        (
            COUNTING.format(end="LIMIT 600"),
            "there are 600 rows, at most 500 are taken",
        ),
    ],
)
def test_rows_that_cannot_be_kept_are_told(statement: str, told: str) -> None:
    with pytest.raises(Fault, match=told):
        check_rows(TABLE, [statement])


def test_a_statement_without_end_is_stopped() -> None:
    with pytest.raises(Fault, match=r"interrupted|full"):
        check_rows(TABLE, [COUNTING.format(end="")])


def test_a_key_may_lead_to_unique_columns_and_to_the_table_itself() -> None:
    check_schema(
        "CREATE TABLE a (x INTEGER PRIMARY KEY, code TEXT UNIQUE, parent INTEGER REFERENCES a);"
        "CREATE TABLE b (y INTEGER PRIMARY KEY, code TEXT REFERENCES a (code));",
        2,
    )


def test_a_database_is_the_same_each_time() -> None:
    statements = ["INSERT INTO a (y, z) VALUES (1.5, 'b'), (2, 'c')"]
    assert filled_image(TABLE, statements) == filled_image(TABLE, statements)
