"""Tables and rows are checked by building them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentworld_gym.domains.mcp.synth.database import check_rows, check_schema, filled_image
from agentworld_gym.domains.mcp.synth.faults import AnswerFault

TABLE = "CREATE TABLE a (x INTEGER PRIMARY KEY, y REAL, z TEXT)"
COUNTING = "INSERT INTO a (x) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n {end}) SELECT i FROM n"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("INSERT INTO a (y) VALUES (9e999)", "y holds a number that is not finite"),
        ("INSERT INTO a (z) VALUES (x'00')", "z holds bytes"),
        ("INSERT INTO a (z) VALUES (char(7))", "z holds characters that cannot be printed"),
        ("INSERT INTO a (z) VALUES (CURRENT_DATE)", "CURRENT_DATE gives other rows at every time"),
        ("INSERT INTO a (z) VALUES (date())", r"date\(\) gives other rows at every time"),
        ("INSERT INTO a (z) VALUES (strftime('%s'))", "gives other rows at every time"),
        ('INSERT INTO a (z) VALUES (time("now"))', "gives other rows at every time"),
        ("INSERT OR IGNORE INTO a (x) VALUES (1)", "only INSERT INTO is run"),
        ("INSERT INTO a (x) SELECT value FROM generate_series(1, 9)", "no such table: generate_series"),
        (
            COUNTING.format(end="LIMIT 600"),
            "there are 600 rows, at most 500 are taken",
        ),
    ],
)
def test_rows_that_cannot_be_kept_are_told(statement: str, told: str) -> None:
    with pytest.raises(AnswerFault, match=told):
        check_rows(TABLE, [statement])


def test_a_statement_without_end_is_stopped() -> None:
    with pytest.raises(AnswerFault, match=r"interrupted|full"):
        check_rows(TABLE, [COUNTING.format(end="")])


def test_a_column_that_is_computed_is_told() -> None:
    with pytest.raises(AnswerFault, match="table a: the column d is computed"):
        check_schema("CREATE TABLE a (x INTEGER PRIMARY KEY, d INTEGER AS (x + 1))", 1)


def test_rows_that_a_query_keeps_in_between_are_bounded() -> None:
    """It runs in a process of its own, because the limit holds for the whole process.

    Its peak is read from `/proc`, because what `getrusage` gives begins with the peak of the process that started it.
    """
    endless = COUNTING.format(end="").replace("SELECT i FROM n", "SELECT i FROM n ORDER BY printf('%.*c', 90000, 'a')")
    program = f"""
import resource
from agentworld_gym.domains.mcp.synth import database
from agentworld_gym.domains.mcp.synth.database import check_rows
resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))
database.MOST_BYTES = 64 * 2**20
database.bound_heap()
try:
    check_rows({TABLE!r}, [{endless!r}])
except MemoryError:
    print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert int(done.stdout) < 300 * 1024, done.stderr


def test_a_key_may_lead_to_unique_columns_and_to_the_table_itself() -> None:
    check_schema(
        "CREATE TABLE a (x INTEGER PRIMARY KEY, code TEXT UNIQUE, parent INTEGER REFERENCES a);"
        "CREATE TABLE b (y INTEGER PRIMARY KEY, code TEXT REFERENCES a (code));",
        2,
    )


def test_a_database_is_the_same_each_time() -> None:
    statements = ["INSERT INTO a (y, z) VALUES (1.5, 'b'), (2, 'c')"]
    assert filled_image(TABLE, statements) == filled_image(TABLE, statements)
