"""Checks scenarios: their files, every tool, and every task."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.finish import read_finish
from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.scenario import read_scenario
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.engine.tool import CallContext
from agentworld_gym.domains.mcp.scenario_tasks import TASKS, read_scenario_task
from agentworld_gym.domains.mcp.synth.backends.scenario_files import CALLS
from agentworld_gym.domains.mcp.synth.check.examination import Examined
from agentworld_gym.domains.mcp.synth.check.grown_worlds import grown_faults, with_drawn
from agentworld_gym.domains.mcp.synth.database import dangling_keys
from agentworld_gym.domains.mcp.synth.draft import CallDraft, Sketch
from agentworld_gym.domains.mcp.synth.faults import AnswerFault
from agentworld_gym.domains.mcp.synth.machines import State, WorldMachine, call_faults, fails_inside, played
from agentworld_gym.domains.mcp.synth.similarity import Profile
from agentworld_gym.domains.mcp.synth.task_validation import Prover, held_at_start, verdict_of


def examine_scenario(folder: Path) -> Examined:
    """Check the scenario of a folder: files, foreign keys, tools and tasks."""
    try:
        service = Service.of(read_scenario(folder))
        image = service.generated("small", 0)
        service.generated("full", 0)
    except SpecError as error:
        return Examined(None, folder.resolve().name, problems=(str(error),))
    about = service.scenario.about
    with closing(ToolMachine(service, image, CallContext(about.now, about.user), 0)) as machine:
        problems = [f"tool {name} is left out: {reason}" for name, reason in service.left_out.items()]
        problems += [*dangling_keys(service.empty), *_missing_rows(image)]
        sketches = _sketches(folder, service, problems)
        prefix = f"{service.scenario.name}-"
        problems += call_faults(machine, sketches, prefix)
        tried = sketches or _likely_calls(service, machine)
        broken, answered = _answered(machine, tried, prefix)
        problems += broken
        files = sorted((folder / TASKS).glob("*.yaml"))
        faults = {
            file: grown_faults(file, service) if about.grown_from else _task_faults(file, service, prefix)
            for file in files
        }
    problems += [f"{file.name}: {fault}" for file, found in faults.items() for fault in found]
    tools = [tool.name for tool in service.scenario.tools]
    profile = Profile.of(service.scenario.name, about.title, service.keys, tools)
    return Examined(
        with_drawn(profile, about) if about.grown_from else profile,
        service.scenario.name,
        tables=len(service.keys),
        tools=len(tools),
        answered=answered,
        tasks=len(files),
        held=sum(not found for found in faults.values()),
        problems=tuple(problems),
    )


def _missing_rows(image: bytes) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        rows = connection.execute("PRAGMA foreign_key_check").fetchall()
    return [f"row {rowid} of {table} refers to a row of {parent} that is not there" for table, rowid, parent, _ in rows]


def _sketches(folder: Path, service: Service, problems: list[str]) -> list[Sketch]:
    """Return the tools with their recorded calls; there are none in a scenario that was not made by the pipeline."""
    if not (folder / CALLS).is_file():
        return []
    try:
        data: Any = read_yaml(folder / CALLS)
        calls = data.get("calls", {}) if isinstance(data, dict) else {}
        specs = {spec.name: spec for spec in service.scenario.tools}
        problems += [f"{CALLS}: there is no tool {name}" for name in calls if name not in specs]
        problems += [f"{CALLS}: tool {name} has no calls" for name in specs if name not in calls]
        return [
            validated(Sketch, {**one, "name": name, "description": specs[name].description}, folder / CALLS)
            for name, one in calls.items()
            if name in specs
        ]
    except SpecError as error:
        problems.append(str(error))
        return []


def _likely_calls(service: Service, machine: WorldMachine) -> list[Sketch]:
    """Return a call of each tool with the fewest arguments, whose values are taken from columns of their names."""
    state = machine.state()
    found = []
    for spec in service.scenario.tools:
        arguments = json.loads(example_call({"name": spec.name, "parameters": spec.parameters}))["arguments"]
        likely = {name: _likely(name, value, state) for name, value in arguments.items()}
        described = f"{spec.name}: {spec.description}"
        found.append(Sketch(name=spec.name, description=described[:1000], writes=spec.writes, right=likely))
    return found


def _likely(name: str, value: Any, state: State) -> Any:
    held = (one for field, one in state.items() if field.endswith(f"/{name}") and type(one) is type(value))
    return next(held, value)


def _answered(machine: WorldMachine, sketches: Sequence[Sketch], prefix: str) -> tuple[list[str], int]:
    """Make the right call of each tool; return those that fail inside, and how many give a result."""
    broken, count = [], 0
    for sketch in sketches:
        with closing(machine.fork()) as fork:
            worked, text = played(fork, CallDraft(name=sketch.name, arguments=sketch.right), prefix)
        count += worked
        if fails_inside(text):
            broken.append(f"tool {sketch.name}: {text[:300]}")
    return broken, count


def _task_faults(file: Path, service: Service, prefix: str) -> list[str]:
    try:
        task = read_scenario_task(file, service)
        solution, answer = _solution(task, prefix)
        checks = [check for check in task.success if check.probe is not None or check.answer is not None]
        if len(checks) < len(task.success):
            return ["success: only probes and tests of the answer can be tried without an episode"]
        with closing(ToolMachine.start(task.state, 0)) as machine:
            if faults := held_at_start(checks, machine):
                return faults
            Prover(machine, prefix, solution, answer, verdict_of(checks), free_values=task.free_values).prove()
    except (SpecError, AnswerFault, ValueError) as error:
        return [str(error)]
    return []


def _solution(task: Task, prefix: str) -> tuple[list[CallDraft], str | None]:
    """Return the calls of a task's expert, and the answer that it ends with.

    Raises:
        Fault: There is no expert, or it does not finish.
    """
    finish = read_finish(task.expert[-1]) if task.expert else None
    if finish is None:
        raise AnswerFault("expert: calls that do the task are wanted, the last of which is finish")
    return list(_calls(task.expert[:-1], prefix)), finish.answer


def _calls(actions: Sequence[str], prefix: str) -> Iterator[CallDraft]:
    for action in actions:
        data = json.loads(action)
        yield CallDraft(name=str(data["name"]).removeprefix(prefix), arguments=data.get("arguments", {}))
