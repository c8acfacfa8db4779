"""Reads the steps of world-model-harness: what the agent did, what the environment answered, and the task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.recipe.importers.conversation import (
    Event,
    ImportedCall,
    ImportedConversation,
    ImportedMessage,
    ImportedResult,
    ImportTally,
    arguments_of,
    score_of,
    text_of,
)


def is_step(record: Any) -> bool:
    """Whether a JSON object is a step: an action and an observation, both of them objects.

    >>> is_step({"action": {"kind": "tool_call"}, "observation": {"content": ""}}), is_step({"action": "noop()"})
    (True, False)
    """
    return isinstance(record, Mapping) and all(
        isinstance(record.get(key), Mapping) for key in ("action", "observation")
    )


def is_trace(record: Any) -> bool:
    """Whether a JSON object is a session, whose `steps` are steps."""
    steps = record.get("steps") if isinstance(record, Mapping) else None
    return isinstance(steps, list) and bool(steps) and is_step(steps[0])


def grouped_steps(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the records of a file with their numbers; steps in a row with the same task become one session.

    A step names no session, so that two successive recordings of one task look like one.

    >>> step = {"action": {}, "observation": {}}
    >>> steps = [(1, {**step, "task": "a"}), (2, {**step, "task": "a"}), (3, {**step, "task": "b"})]
    >>> [(number, len(record["steps"])) for number, record in grouped_steps(steps)]
    [(1, 2), (3, 1)]
    """
    first, steps = 0, list[Mapping[str, Any]]()
    for number, record in records:
        step = is_step(record)
        if steps and (not step or record.get("task") != steps[-1].get("task")):
            yield first, {"steps": steps}
            steps = []
        if not step:
            yield number, record
            continue
        first = first if steps else number
        steps.append(record)
    if steps:
        yield first, {"steps": steps}


def harness(record: Mapping[str, Any], name: str, tally: ImportTally) -> ImportedConversation:
    """Read a session of steps; its score is the last reward that a step has."""
    steps: Sequence[Any] = record["steps"]
    events: list[Event] = []
    task = next((step["task"] for step in steps if is_step(step) and step.get("task")), None)
    if task is not None:
        events.append(ImportedMessage("user", str(task)))
    score = None
    for number, step in enumerate(steps):
        if not is_step(step):
            tally.leave("step without an action and an observation")
            continue
        action, observation = step["action"], step["observation"]
        text = text_of(observation.get("content"), tally)
        if action.get("name"):
            events.append(ImportedCall(str(number), str(action["name"]), arguments_of(action.get("arguments"))))
            events.append(ImportedResult(str(number), text))
        else:
            events.append(ImportedMessage("agent", text_of(action.get("content"), tally)))
            events += [ImportedMessage("user", text)] if text else []
        state = step.get("state_before")
        tally.leave("state before a step", int(any(state.values()) if isinstance(state, Mapping) else bool(state)))
        tally.leave("mark of an error", int(bool(observation.get("is_error"))))
        score = score if observation.get("reward") is None else score_of(observation["reward"])
    return ImportedConversation(str(record.get("trace_id") or record.get("id") or name), events, score=score)
