"""A look at one of AWM's worlds: whether it loads, its tools answer and its verifiers run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine


@dataclass(frozen=True)
class Survey:
    """What was found."""

    name: str
    """The name of the scenario."""

    tools: int
    """How many tools can be called."""

    left_out: Mapping[str, str]
    """The tools that no client can use, with the reason."""

    answers: Counter[str]
    """How the tools answered a call with the fewest arguments: `result`, `error` or `none`."""

    statements: int
    """How many statements make the database."""

    failed: int
    """How many of them failed."""

    tasks: int
    """How many tasks there are."""

    dropped: dict[int, str]
    """The tasks that are not played, with the reason."""

    problems: tuple[str, ...]
    """Tools that cannot be used or gave no answer, and verifiers that crashed."""

    crashed: int
    """How many verifiers crashed on the databases of the start."""

    alone: tuple[str, ...]
    """Why each session has a process of its own; they share one where it is empty."""

    def cells(self) -> list[str]:
        """Return the survey as a row of a table with the columns `COLUMNS`."""
        numbers = [self.tools, len(self.left_out), self.answers["result"], self.answers["error"], self.failed]
        numbers += [self.tasks, len(self.dropped), self.crashed]
        return [self.name, *map(str, numbers)]

    def notes(self) -> list[str]:
        """Return what explains the row and is no problem: which tasks are dropped, and why sessions are alone."""
        reasons = Counter(self.dropped.values())
        told = [f"{count} of {self.tasks} tasks are dropped: {reason}" for reason, count in reasons.items()]
        if self.failed:
            told.append(f"{self.failed} of {self.statements} statements of its database failed")
        return [*told, *(f"each session has a process: {reason}" for reason in self.alone[:1])]


COLUMNS = ("scenario", "tools", "left\nout", "results", "errors", "bad\nSQL", "tasks", "dropped", "crashed")
"""The columns of a table of surveys: the name of the scenario; its tools, how many no client can use, how many answered
a call with a result and with an error; the statements that failed; its tasks, those that are not played, and the
verifiers that crashed."""


def survey(engine: AwmEngine, name: str) -> Survey:
    """Load a scenario, call each of its tools once, and run each of its verifiers.

    Args:
        engine: The engine of the folder.
        name: The scenario, by the normal form of its name.

    Raises:
        EngineError: The scenario cannot be loaded.
    """
    server = engine.server(name)
    about, scenario = server.about, server.scenario
    answers, problems = Counter[str](), [f"tool {name} is left out: {why}" for name, why in about.left_out.items()]
    for tool in about.tools:
        machine = engine.start(name, 0)
        try:
            machine.act(json.loads(example_call(tool)))
            answers["error" if machine.refused else "result"] += 1
        except EngineError as error:
            answers["none"] += 1
            problems.append(f"tool {tool['name']}: {error}")
        finally:
            machine.close()
    crashed = 0
    for verifiers in (scenario.decided, scenario.judged):
        for number, verifier in sorted(verifiers.items()):
            try:
                engine.verdict(name, verifier, about.start)
            except EngineError as error:
                crashed += 1
                problems.append(f"task {number}: {error}")
    return Survey(
        name,
        len(about.tools),
        about.left_out,
        answers,
        len(scenario.statements),
        len(about.failed),
        len(scenario.tasks),
        dict(engine.verifiers(name).dropped),
        tuple(problems),
        crashed,
        server.about.alone,  # A call may have changed it.
    )
