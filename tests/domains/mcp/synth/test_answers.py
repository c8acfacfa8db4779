"""Answers of models are read with anything around them, and never crash the reader."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.domains.mcp.synth.answers import block, document
from agentworld_gym.domains.mcp.synth.database import check_rows, check_schema, statements_of
from agentworld_gym.domains.mcp.synth.draft import Interface, Sentences
from agentworld_gym.domains.mcp.synth.faults import AnswerFault
from agentworld_gym.domains.mcp.synth.neighbours import other_values
from agentworld_gym.domains.mcp.synth.stages import check_interface

PROSE = st.text(st.characters(blacklist_characters="`~<", blacklist_categories=("Cs",)), max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(PROSE, PROSE)
def test_a_block_is_found_in_any_prose(before: str, after: str) -> None:
    assert block(f"{before}\n```sql\nSELECT 1;\n```\n{after}", "sql") == "SELECT 1;"


def test_the_last_block_of_the_language_counts_and_an_open_one_runs_to_the_end() -> None:
    assert block("```sql\nSELECT 1;\n```\nNo:\n```sql\nSELECT 2;\n```\n```text\nx\n```", "sql") == "SELECT 2;"
    assert block("```sql\nSELECT 3;", "sql") == "SELECT 3;"
    with pytest.raises(AnswerFault, match="no block that begins with ```sql"):
        block("```python\nprint()\n```", "sql")


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (
        lambda: document(text, Sentences),
        lambda: check_schema(block(text, "sql"), 1),
        lambda: check_rows("CREATE TABLE a (x INTEGER PRIMARY KEY)", statements_of(block(text, "sql"))),
    ):
        with suppress(AnswerFault):
            read()


@given(st.dictionaries(st.sampled_from(["properties", "required", "type"]), JSON, max_size=3))
def test_any_parameters_are_checked_or_refused(parameters: dict[str, object]) -> None:
    tools = [
        {"name": "do_it", "description": "Does it, somehow.", "parameters": parameters, "writes": True, "wrong": {}}
    ]
    with suppress(AnswerFault):
        check_interface(Interface.model_validate({"tools": tools}), 1)


@pytest.mark.parametrize("line", ["`" * 200_000, "```" + "a" * 200_000, "~" * 200_000])
def test_a_line_without_end_is_read_at_once(line: str) -> None:
    began = time.process_time()
    assert block(line, "sql") == line
    assert time.process_time() - began < 1


def test_characters_are_whole() -> None:
    assert document(r'tasks: ["Send \ud83d\ude00 to Ida."]', Sentences).tasks == ("Send \U0001f600 to Ida.",)
    for answer in (r'tasks: ["Send \ud83d to Ida."]', "tasks: [Send \ud83d to Ida.]"):
        with pytest.raises(AnswerFault, match="half a character"):
            document(answer, Sentences)


def test_dates_without_quotes_are_texts() -> None:
    made = document("tasks: [2026-01-12]", Sentences)
    assert made.tasks == ("2026-01-12",)


def test_a_flood_of_semicolons_is_refused_at_once() -> None:
    with pytest.raises(AnswerFault, match="semicolons"):
        statements_of("'" + ";" * 300_000)


@given(st.text(st.sampled_from("abc;'\"-/*\n "), max_size=40))
def test_statements_are_whole(sql: str) -> None:
    assert all(sqlite3.complete_statement(text + ";") or text == statements_of(sql)[-1] for text in statements_of(sql))


@given(JSON)
def test_other_values_differ(value: object) -> None:
    assert all(other != value for other in other_values(value, {}))
