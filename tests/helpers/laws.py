"""Laws of machines and views, each stated once.

`tests/contract` holds every domain to them on recorded sessions. The tests of a domain hold it to them on actions that
are hard for it. `draw` returns the next action for a machine, in the form that the domain's parser gives it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from agentworld_gym.core.domain.view import View
from agentworld_gym.core.engines import Machine, Restorable

Draw = Callable[[Any], Any]


def roundtripped(value: Mapping[str, Any]) -> dict[str, Any]:
    """A value as it comes back from JSON."""
    result: dict[str, Any] = json.loads(json.dumps(value))
    return result


def told(machine: Machine) -> tuple[Any, ...]:
    """All that a machine says of itself."""
    return machine.observation, [*machine.spans], dict(machine.state())


def assert_forks_are_exact(machine: Machine, draw: Draw, steps: int) -> None:
    """A fork answers as its original does, at once and later, and whatever is done to it leaves the original alone."""
    actions, answers = [], []
    with closing(machine.fork()) as late:
        for _ in range(steps):
            before, action = told(machine), draw(machine)
            with closing(machine.fork()) as twin:
                assert told(twin) == before
                answer = twin.act(action)
                assert told(machine) == before, f"the fork changed its original by {action}"
                after = told(twin)
            assert machine.act(action) == answer == machine.observation
            assert told(machine) == after, f"the fork departs at {action}"
            actions.append(action)
            answers.append(answer)
        assert [late.act(action) for action in actions] == answers
        assert told(late) == told(machine)


def assert_spans_are_pieces_of_what_is_shown(machine: Machine) -> None:
    """The spans lie in the text, in order and without overlap."""
    places = [place for span in machine.spans for place in (span.start, span.end)]
    assert places == sorted(places) and all(0 <= place <= len(machine.observation) for place in places)


def assert_restored_goes_on(
    machine: Machine,
    draw: Draw,
    before: int,
    after: int,
    also: Callable[[Any], Any] = lambda machine: None,
    apart: str = "",
) -> None:
    """The machine of a complete state goes on exactly as the one that the state was taken from.

    Args:
        machine: The machine.
        draw: What returns the next action.
        before: How many actions are taken before the state is.
        after: How many are taken on both.
        also: What else has to be equal on both.
        apart: A key of complete states whose values are not compared: the snapshot of a shell is bytes that hold the
            real time at which its files were made. What it holds else is in the visible state, which is compared.
    """
    assert isinstance(machine, Restorable)
    for _ in range(before):
        machine.act(draw(machine))
    restored = type(machine).restore(roundtripped(machine.structured_state()))
    with closing(restored) as twin:
        assert isinstance(twin, Restorable)
        assert twin.observation == machine.observation and also(twin) == also(machine)
        for _ in range(after):
            action = draw(machine)
            assert twin.act(action) == machine.act(action)
            assert [*twin.spans] == [*machine.spans]
            assert twin.visible_state() == machine.visible_state()
        one, other = (_without(apart, one.structured_state()) for one in (twin, machine))
        assert one == other
        assert told(twin) == told(machine) and also(twin) == also(machine)


def _without(key: str, value: Any) -> Any:
    """A value without what mappings in it have under a key."""
    if isinstance(value, Mapping):
        return {name: _without(key, inner) for name, inner in value.items() if name != key}
    return [_without(key, inner) for inner in value] if isinstance(value, list | tuple) else value


def assert_view_prints(view: View, machine: Machine, draw: Draw, steps: int) -> None:
    """The view prints what the machine shows from the part of its state that is shown, and changes nothing in it."""
    assert isinstance(machine, Restorable)
    for _ in range(steps):
        shown = roundtripped(machine.visible_state())
        before = json.dumps(shown)
        assert view.view(shown) == machine.observation
        action = draw(machine)
        view.describe_for_model(shown, action)
        view.noted(shown, action)
        view.named_values(shown, action)
        view.state_after_opening(shown, action)
        assert json.dumps(shown) == before
        machine.act(action)
    assert view.view(roundtripped(machine.visible_state())) == machine.observation
