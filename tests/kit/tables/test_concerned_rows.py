"""The rows that statements name by their values: what is told of them, and within which bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentworld_gym.kit.tables.concerned_rows import EVERY, MOST, MOST_LINES, Concern, Named, concerned_rows, named
from agentworld_gym.kit.tables.database import building, keys_of

SCHEMA = """
CREATE TABLE users (name TEXT PRIMARY KEY, email TEXT, password TEXT);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, name TEXT, status TEXT, total REAL);
CREATE TABLE lines (order_id INTEGER, sku TEXT, quantity INTEGER, PRIMARY KEY (order_id, sku));
CREATE TABLE visitor (visitor_id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO users VALUES ('ana', 'ana@example.com', 'secret'), ('bo', 'bo@example.com', 'hidden');
INSERT INTO orders VALUES (7, 'ana', 'paid', 9.5), (8, 'ana', 'new', 3), (9, 'bo', 'new', 1);
INSERT INTO lines VALUES (7, 'rug', 2), (7, 'mug', 1), (8, 'rug', 1);
INSERT INTO visitor VALUES (1, 'bo');
"""


class Store:
    def __init__(self) -> None:
        self.connection = building()
        self.connection.executescript(SCHEMA)

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        cursor = self.connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def first(self, sql: str, values: Mapping[str, Any]) -> Any:
        return next((value for row in self.rows(sql, values) for value in row.values()), None)


def told(*statements: Named | str, lists: Mapping[str, list[Any]] | None = None, **values: Any) -> list[str]:
    store = Store()
    asked = [one if isinstance(one, Named) else Named("", one) for one in statements]
    concern = Concern(asked, values, lists or {})
    return [row.line for row in concerned_rows(store, keys_of(store.connection), concern)]


@pytest.mark.parametrize(
    ("sql", "values", "lines"),
    [
        ("SELECT status FROM orders WHERE order_id = :id", {"id": 7}, ['orders/7 {"status":"paid"}']),
        ("SELECT 1 FROM orders WHERE order_id = :id", {"id": 7}, ["orders/7 {}"]),
        ("SELECT 1 FROM orders WHERE order_id = :id", {"id": 6}, ["orders/6 none"]),
        ("SELECT 1 FROM orders WHERE order_id = :id", {"id": None}, []),
        ("SELECT 1 FROM users WHERE name = lower(:who)", {"who": "ANA"}, ["users/ana {}"]),
        ("SELECT 1 FROM users WHERE password = :word", {"word": "secret"}, []),
        (
            "UPDATE orders SET status = :status WHERE order_id = :id",
            {"status": "sent", "id": 8},
            ['orders/8 {"status":"new"}'],
        ),
        ("INSERT INTO orders (name) VALUES (:who)", {"who": "bo"}, ["orders 10"]),
        ("INSERT INTO lines (order_id, sku) VALUES (:id, :sku)", {"id": 7, "sku": "pot"}, ["lines/7,pot none"]),
        ("SELECT 1 FROM orders WHERE order_id = :nowhere", {"nowhere": 9}, ["orders/9 {}"]),
    ],
)
def test_a_statement_tells_the_rows_that_its_values_name(sql: str, values: dict[str, Any], lines: list[str]) -> None:
    assert told(sql, **values) == lines


def test_the_time_is_told_where_a_statement_asks_for_it() -> None:
    assert told("SELECT 1 FROM orders WHERE order_id = :id AND :now > '2026'", id=7, now="2027")[0] == "now 2027"


def test_a_table_that_has_its_key_from_another_one_is_looked_up_and_a_single_row_is_told() -> None:
    sql = "SELECT users.email FROM orders JOIN users USING (name) JOIN visitor WHERE order_id = :id"
    assert told(sql, id=9) == [
        'orders/9 {"name":"bo"}',
        'visitor/1 {"name":"bo"}',
        'users/bo {"email":"bo@example.com"}',
    ]


def test_two_names_of_one_table_have_conditions_of_their_own() -> None:
    sql = "SELECT a.status FROM orders a JOIN orders b WHERE a.order_id = :mine AND b.order_id = :other"
    assert told(sql, mine=7, other=9) == ['orders/7 {"status":"paid"}', 'orders/9 {"status":"new"}']


def test_what_a_statement_finds_is_known_to_those_after_it() -> None:
    find = Named(EVERY, "SELECT name FROM orders WHERE order_id = :id")
    assert told(find, "SELECT email FROM users WHERE name = :name", id=9)[1:] == ['users/bo {"email":"bo@example.com"}']
    first = Named("who", "SELECT name FROM orders WHERE order_id = :id")
    assert told(first, "SELECT 1 FROM users WHERE name = :who", id=7)[-1] == "users/ana {}"


def test_the_rows_of_a_list_are_told_without_those_that_are_not_there() -> None:
    sql = "SELECT 1 FROM users WHERE name IN (SELECT value FROM json_each(:names))"
    assert told(sql, lists={"names": ["bo", "carl"]}, names='["bo", "carl"]') == ["users/bo {}"]


def test_few_rows_and_lines_are_told() -> None:
    many = [f"SELECT 1 FROM orders WHERE order_id = :id{number}" for number in range(20)]
    assert len(told(*many, **{f"id{number}": 100 + number for number in range(20)})) == MOST_LINES
    assert len(told("SELECT 1 FROM lines WHERE quantity = :n OR order_id = :n", n=1)) <= MOST


def test_steps_are_named_as_data_files_write_them() -> None:
    assert list(named(["A", {"x": "B", "y": "C"}])) == [Named("", "A"), Named("x", "B"), Named("y", "C")]
