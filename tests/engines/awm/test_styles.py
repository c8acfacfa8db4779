"""Ways to write apps and verifiers that the other worlds of the tests do not know."""

from __future__ import annotations

import json

from agentworld_gym.engines.awm.engine import AwmEngine
from agentworld_gym.engines.awm.machine import AwmMachine


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


def test_a_verifier_may_call_the_answer_something_else(engine: AwmEngine) -> None:
    server = engine.server("factory")
    told = [
        engine.verdict("factory", server.scenario.decided[1], server.about.initial, answer) for answer in ("three", "4")
    ]
    assert [found.complete for found in told] == [True, False]


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
