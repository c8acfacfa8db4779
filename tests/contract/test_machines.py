"""What the machines and views of every engine keep, on recorded sessions of which some are under faults."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from laws import (
    assert_forks_are_exact,
    assert_restored_goes_on,
    assert_spans_are_pieces_of_what_is_shown,
    assert_view_prints,
    roundtripped,
    told,
)
from recorded_sessions import drawing, parsed_actions, session_task, sessions, started

from agentworld_gym.core.checks.collateral import Rules
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Restorable
from agentworld_gym.core.engines.catalog import load_view
from agentworld_gym.domains import DOMAINS


def test_equal_states_seeds_and_actions_show_and_leave_the_same(grounded: str) -> None:
    for row in sessions(grounded):
        with closing(started(row)) as one, closing(started(row)) as other:
            assert told(one) == told(other)
            for action in parsed_actions(row):
                assert one.act(action) == other.act(action)
                assert told(one) == told(other)
                assert_spans_are_pieces_of_what_is_shown(one)


def test_the_state_is_flat_and_tells_what_sessions_change(grounded: str) -> None:
    rows = sessions(grounded)
    assert any(change for row in rows for change in row.changes)
    with closing(started(rows[0])) as machine:
        assert all(isinstance(value, str | int | float | bool | None) for value in machine.state().values())


def test_forks_are_exact_and_go_their_own_ways(grounded: str) -> None:
    for row in sessions(grounded):
        draw, steps = drawing(row)
        with closing(started(row)) as machine:
            assert_forks_are_exact(machine, draw, steps)


def test_a_machine_is_closed_more_than_once(grounded: str) -> None:
    machine = started(sessions(grounded)[0])
    machine.close()
    machine.close()


def test_a_machine_restored_from_its_state_goes_on_exactly(viewed: str) -> None:
    for row in sessions(viewed):
        draw, steps = drawing(row)
        with closing(started(row)) as machine:
            assert_restored_goes_on(
                machine, draw, steps // 2, steps - steps // 2, apart="snapshot" if viewed == "terminal" else ""
            )


def test_the_view_prints_what_the_machine_shows_and_changes_nothing(viewed: str) -> None:
    view = load_view(viewed)
    assert view is not None
    for row in sessions(viewed):
        draw, steps = drawing(row)
        with closing(started(row)) as machine:
            assert_view_prints(view, machine, draw, steps)


def test_the_view_begins_as_the_machine_does(viewed: str) -> None:
    view = load_view(viewed)
    assert view is not None
    for row in sessions(viewed):
        task = session_task(row)
        with closing(started(row)) as machine:
            assert isinstance(machine, Restorable)
            begun = view.begin(task.state, task.seed or 0, row.controls, row.control_seed or 0)
            assert roundtripped(begun) == roundtripped(machine.visible_state())


def test_the_fields_of_what_is_shown_are_those_of_the_machine(viewed: str) -> None:
    spec, view = load_spec(viewed), load_view(viewed)
    assert view is not None
    assert view.knows_fields or viewed not in DOMAINS
    compared = 0
    for row in sessions(viewed) if view.knows_fields else ():
        rules = Rules.of(spec.outcome, session_task(row))
        with closing(started(row)) as machine:
            assert isinstance(machine, Restorable)
            for action in parsed_actions(row):
                machine.act(action)
                fields = view.fields(roundtripped(machine.visible_state()))
                if fields is not None:
                    compared += 1
                    assert counted(fields, rules) == counted(machine.state(), rules)
    assert compared > 20 or not view.knows_fields


def counted(fields: Any, rules: Rules) -> dict[str, Any]:
    """The fields that count: an archive, for one, holds times."""
    free = (rules.free, rules.free_values)
    return {key: value for key, value in fields.items() if not any(pattern.fullmatch(key) for pattern in free)}
