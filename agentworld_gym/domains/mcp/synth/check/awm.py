"""Checks AWM's worlds, made here or anywhere: all of their code runs in the sandboxes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.engine import decision_of
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles, AwmScenario
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine
from agentworld_gym.domains.mcp.awm.engine.server import ScenarioServer
from agentworld_gym.domains.mcp.awm.menu import likely_arguments
from agentworld_gym.domains.mcp.synth.backends.awm import ToldMachine, awm_verdict
from agentworld_gym.domains.mcp.synth.backends.awm_files import recorded_calls, recorded_solutions
from agentworld_gym.domains.mcp.synth.backends.awm_sandbox import AwmSandboxes
from agentworld_gym.domains.mcp.synth.check.examination import Examined
from agentworld_gym.domains.mcp.synth.draft import Solved
from agentworld_gym.domains.mcp.synth.faults import AnswerFault
from agentworld_gym.domains.mcp.synth.machines import call_faults, fails_inside
from agentworld_gym.domains.mcp.synth.similarity import Profile
from agentworld_gym.domains.mcp.synth.task_validation import Prover

_SHOWN = 600
"""How much of an answer a problem quotes."""


def examine_awm(folder: Path, sandboxes: AwmSandboxes) -> Iterator[Examined]:
    """Check the worlds of a folder of AWM's files, one after the other.

    Raises:
        SpecError: The files cannot be read.
    """
    files = AwmFiles(folder)
    for name in files.names:
        try:
            yield _examined(files.scenario(name), folder, sandboxes)
        except EngineError as error:
            yield Examined(None, name, problems=(str(error),))


def _examined(scenario: AwmScenario, folder: Path, sandboxes: AwmSandboxes) -> Examined:
    server = sandboxes.server(scenario)
    about = server.about
    solutions = recorded_solutions(folder, scenario.name)
    problems = [f"{' '.join(statement.split())[:160]}: {error}" for statement, error in about.failed]
    problems += sandboxes.dangling(about.initial)
    with closing(ToldMachine(server, 0)) as machine:
        tables = {field[: field.index("/")] for field in machine.state()}
        sketches = recorded_calls(folder, scenario.name)
        problems += call_faults(machine, sketches, "")
        recorded = {sketch.name: sketch.right for sketch in sketches}
        answered, broken = _answered(server, recorded)
        problems += broken
        faults = {
            number: _faults(number, server, machine, sandboxes, solutions) for number in range(len(scenario.tasks))
        }
    problems += [f"task {number}: {fault}" for number, found in faults.items() for fault in found]
    return Examined(
        Profile.of(scenario.name, scenario.title, tables, [tool["name"] for tool in about.tools]),
        scenario.name,
        tables=len(tables),
        tools=len(about.tools),
        answered=answered,
        tasks=len(scenario.tasks),
        held=sum(not found and number in solutions for number, found in faults.items()),
        unproved=sum(not found and number not in solutions for number, found in faults.items()),
        problems=tuple(problems),
    )


def _answered(server: ScenarioServer, recorded: Mapping[str, dict[str, object]]) -> tuple[int, list[str]]:
    """Call each tool once, and return how many gave a result, and those that gave none because of an error inside.

    Where no call is recorded, the arguments are drawn from the rows and the tasks. Errors inside that follow from
    arguments which nothing suggests take one line.
    """
    count, broken, senseless = 0, [], []
    rows, tasks = server.stored.tables, " ".join(server.scenario.tasks)
    for tool in server.about.tools:
        name, made_up = tool["name"], json.loads(example_call(tool))["arguments"]
        known = recorded[name] if name in recorded else likely_arguments(tool, rows, tasks)
        with closing(ToldMachine(server, 0)) as machine:
            try:
                text = machine.act({"name": name, "arguments": made_up if known is None else known})
            except EngineError as error:
                broken.append(f"tool {name}: {error}")
                continue
        count += not machine.refused
        if machine.refused and fails_inside(text):
            if known is None:
                senseless.append(name)
            else:
                broken.append(f"tool {name}: {known}: {text[:_SHOWN]}")
    if senseless:
        named = f"tool{'s' if len(senseless) > 1 else ''} {', '.join(senseless)}"
        broken.append(f"{named}: no row gives likely arguments, and made-up ones end in Internal Server Error")
    return count, broken


def _faults(
    number: int, server: ScenarioServer, machine: AwmMachine, sandboxes: AwmSandboxes, solutions: Mapping[int, Solved]
) -> list[str]:
    """Return what is wrong with a task: its verifiers crash, or accept the start, or its solution does not hold."""
    scenario, initial = server.scenario, server.about.initial
    judged, decided = scenario.judged.get(number), scenario.decided.get(number)
    faults = []
    try:
        if judged is not None:
            found = sandboxes.verdict(judged.code, initial, initial)
            if decided is None and isinstance(found, dict) and decision_of(found) is not None:
                decided = judged  # A verifier is what it returns, whatever file it stands in.
    except EngineError as error:
        faults.append(str(error))
    if decided is None:
        return faults if judged is not None else ["it has no verifier"]
    verdict = awm_verdict(sandboxes, decided.code, initial)
    try:
        if number in solutions:
            one = solutions[number]
            Prover(machine, "", one.solution, one.answer, verdict, free_values=one.free_values).prove()
        elif not verdict(machine, None):
            faults.append("the verifier accepts the start")
    except (AnswerFault, EngineError) as error:
        faults.append(str(error))
    return faults
