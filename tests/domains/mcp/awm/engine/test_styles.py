"""Ways to write apps and verifiers that the other worlds of the tests do not know."""

from __future__ import annotations

import json

import awm_factory
import pytest

from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmVerifier
from agentworld_gym.domains.mcp.awm.engine.inside.app import THREADED
from agentworld_gym.domains.mcp.awm.engine.inside.openapi import tools_of
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine


def noted(engine: AwmEngine, details: dict[str, int]) -> AwmMachine:
    """Return an episode in which a note with these details was written."""
    machine = engine.start("factory", 0)
    machine.act({"name": "create_note", "arguments": {"details": details}})
    assert machine.observation == '{\n  "stored": true\n}'
    return machine


def test_an_app_may_be_made_by_a_function_with_models_of_its_own(engine: AwmEngine) -> None:
    machine = noted(engine, {"a": 1})
    assert engine.server("factory").about.alone == ()
    assert json.loads(machine.act({"name": "get_note", "arguments": {"number": 1}})) == {"a": 1}
    machine.close()


def test_a_model_that_holds_itself_in_several_places_is_described_once() -> None:
    node = {"$ref": "#/components/schemas/Node"}
    fields = {name: node for name in ("left", "right", "parent")}
    schema = {"type": "object", "properties": {"number": {"type": "integer"}, **fields}}
    answer = {"200": {"description": "Done", "content": {"application/json": {"schema": node}}}}
    body = {"content": {"application/json": {"schema": node}}}
    operation = {"operationId": "put_node", "requestBody": body, "responses": answer}
    description = {"paths": {"/node": {"put": operation}}, "components": {"schemas": {"Node": schema}}}
    [tool], _ = tools_of(description)
    assert list(tool["parameters"]["properties"]) == ["number", "left", "right", "parent"]
    assert '"number": 1' in tool["description"] and len(tool["description"]) < 200


def test_bodies_that_differ_in_the_order_of_keys_alone_are_read_as_they_were_written(engine: AwmEngine) -> None:
    for details in ({"a": 1, "b": 2}, {"b": 2, "a": 1}):
        machine = noted(engine, details)
        read = json.loads(machine.act({"name": "get_note", "arguments": {"number": 1}}))
        assert list(read) == list(details)
        machine.close()


def test_a_verifier_may_have_helpers_that_begin_like_it(engine: AwmEngine) -> None:
    verifier = engine.server("factory").scenario.decided[0]
    machine = noted(engine, {})
    assert engine.verdict("factory", verifier, machine.database()).complete
    assert not engine.verdict("factory", verifier, engine.server("factory").about.initial).complete
    machine.close()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_verifier_may_take_the_answer_under_any_name_or_none(engine: AwmEngine, number: int) -> None:
    server = engine.server("factory")
    told = [
        engine.verdict("factory", server.scenario.decided[number], server.about.initial, answer)
        for answer in ("three", "4")
    ]
    assert [found.complete for found in told] == [True, False]


def test_a_judge_reads_rows_and_counts_although_json_has_no_keys_that_are_tuples(engine: AwmEngine) -> None:
    machine = noted(engine, {})
    verifier = AwmVerifier(awm_factory.COUNTING, judged=True)
    assert json.loads(engine.verdict("factory", verifier, machine.database()).evidence) == {
        "rows": [{"id": 1, "details": "{}"}],
        "pairs": {"(1, '{}')": 1},
        "null": "{1}",
    }
    machine.close()


@pytest.mark.parametrize(
    ("code", "threaded"),
    [
        ('create_engine(path, connect_args={"check_same_thread": False})', False),
        ("thread_id = 1", False),
        ("import threading", True),
        ("from starlette.concurrency import run_in_threadpool", True),
        ("await asyncio.to_thread(work)", True),
    ],
)
def test_only_code_that_may_ask_for_its_thread_gets_threads(code: str, threaded: bool) -> None:
    assert bool(THREADED.search(code)) == threaded


def test_work_that_nobody_waits_for_is_done_unless_it_has_no_end(engine: AwmEngine) -> None:
    machine, other = engine.start("background", 0), engine.start("background", 0)
    for each in (machine, other):
        each.act({"name": "send", "arguments": {"word": "a"}})
        assert json.loads(each.act({"name": "list_words", "arguments": {}})) == ["a"]
        each.act({"name": "send", "arguments": {"word": "b", "always": True}})
    words = json.loads(machine.act({"name": "list_words", "arguments": {}}))
    assert set(words) == {"a", "b"} and words.count("b") > 1
    assert json.loads(other.act({"name": "list_words", "arguments": {}})) == words
    assert json.loads(machine.act({"name": "list_words", "arguments": {}})) == words
    machine.close(), other.close()


def test_what_is_set_for_a_connection_ends_with_it_so_that_a_fork_has_it_neither(engine: AwmEngine) -> None:
    machine = engine.start("factory", 0)
    assert [machine.act({"name": "check_keys", "arguments": {}}) for _ in range(2)] == ['{\n  "before": 0\n}'] * 2
    machine.close()


def test_a_session_of_the_orm_may_serve_all_calls(engine: AwmEngine) -> None:
    machine, other = engine.start("kept_session", 0), engine.start("kept_session", 1)
    counts = [
        json.loads(each.act({"name": name, "arguments": {}}))["count"]
        for each, name in (
            (machine, "count_notes"),
            (machine, "count_notes"),
            (machine, "create_note"),
            (machine, "count_notes"),
            (other, "count_notes"),
        )
    ]
    assert counts == [1, 1, 2, 2, 1]
    machine.close(), other.close()


def test_a_world_may_use_all_that_fastapi_and_the_orm_offer(engine: AwmEngine) -> None:
    server = engine.server("clinic_care_visits")
    assert [error.partition(":")[0] for _, error in server.about.failed] == [
        "UNIQUE constraint failed",
        "CHECK constraint failed",
    ]
    machine = engine.start("clinic_care_visits", 0)
    answers = {
        "list_patients": {"q": "ben", "tags": ["a", "b"], "active": True, "born_after": "1985-01-01"},
        "get_patient": {"patient_id": 99},
        "create_patient": {"full_name": " Dora ", "tags": ["x"]},
        "create_visit": {"patient_id": 1, "starts_at": "2026-02-01T10:00:00", "kind": "surgery"},
        "set_visit_status": {"visit_id": 1, "new_status": "done", "reason": "well"},
        "delete_patient": {"patient_id": 2},
        "get_stats": {},
        "export_patients": {},
        "get_slow": {},
    }
    told = {name: machine.act({"name": name, "arguments": given}) for name, given in answers.items()}
    assert json.loads(told["list_patients"])[0]["full_name"] == "Ben -- junior"
    assert told["get_patient"].endswith('404. Response: {"detail":{"code":"not_found","id":99}}')
    assert json.loads(told["create_patient"])["full_name"] == "Dora"
    assert told["create_visit"].endswith('400. Response: {"error":"no surgery"}')
    assert json.loads(told["set_visit_status"]) == {"changed": 1, "reason": "well"}
    assert told["delete_patient"] == "" and json.loads(told["get_stats"])["total"] == 1
    assert told["export_patients"] == "Ana; the 'first'\nCy\nDora" and json.loads(told["get_slow"]) == {"ok": True}
    found = []
    for _, verifier in sorted(server.scenario.decided.items())[:2]:
        found.append(engine.verdict("clinic_care_visits", verifier, machine.database()).complete)
    assert found == [True, False]  # The second one opens the database by SQLAlchemy.
    truth = engine.verdict("clinic_care_visits", server.scenario.decided[3], machine.database())
    assert truth.complete is True and truth.evidence == "true"
    machine.close()


def test_a_world_may_use_sqlite3_itself(engine: AwmEngine) -> None:
    machine, other = engine.start("diary", 0), engine.start("diary", 1)
    assert json.loads(machine.act({"name": "add_entry", "arguments": {"day": "2026-01-02"}})) == {"id": 2}
    undone = machine.act({"name": "add_entry", "arguments": {"day": "2026-01-03", "words": "undo"}})
    assert undone.endswith('{"detail":"undone"}')
    days = [entry["day"] for entry in json.loads(machine.act({"name": "list_entries", "arguments": {}}))]
    assert days == ["2026-01-01", "2026-01-02"]
    assert json.loads(machine.act({"name": "count_slowly", "arguments": {}})) == [2]
    assert json.loads(other.act({"name": "count_slowly", "arguments": {}})) == [1]
    machine.close(), other.close()


def test_code_that_logs_to_files_and_starts_its_server_is_played_on_the_rows_of_its_files(engine: AwmEngine) -> None:
    machine = engine.start("accounts", 0)
    listed = json.loads(machine.act({"name": "list_accounts", "arguments": {}}))
    assert listed == {"owners": ["Ana"], "day": "05.01.2026", "of": "checking, savings"}
    machine.close()


def test_a_connection_that_commits_every_statement_does(engine: AwmEngine) -> None:
    machine = engine.start("accounts", 0)
    assert machine.act({"name": "open_account", "arguments": {"owner": "Ben"}}) == "1"
    assert '"owners": [\n    "Ana",\n    "Ben"\n  ]' in machine.act({"name": "list_accounts", "arguments": {}})
    machine.close()


def test_code_may_read_its_tables_from_the_database(engine: AwmEngine) -> None:
    machine, other = engine.start("menu", 0), engine.start("menu", 1)
    assert machine.act({"name": "place_order", "arguments": {"dish_id": 2}}) == "1"
    told = [json.loads(each.act({"name": "list_dishes_dishes_get", "arguments": {}})) for each in (machine, other)]
    assert told[0] == [{"name": "Soup", "orders": 0}, {"name": "Pie", "orders": 1}] and told[1][1]["orders"] == 0
    assert json.loads(machine.act({"name": "list_loudly", "arguments": {}})) == ["SOUP", "PIE"]
    machine.close(), other.close()


def test_a_verifier_may_change_a_copy_of_the_database(engine: AwmEngine) -> None:
    verifier = engine.server("menu").scenario.decided[0]
    machine = engine.start("menu", 0)
    machine.act({"name": "place_order", "arguments": {"dish_id": 2}})
    assert engine.verdict("menu", verifier, machine.database()).complete
    assert not engine.verdict("menu", verifier, engine.server("menu").about.initial).complete
    machine.close()
