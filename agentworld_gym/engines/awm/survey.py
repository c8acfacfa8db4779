"""A look at one of AWM's worlds: whether it loads, its tools answer and its verifiers run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from agentworld_gym.actions.toolset import example_call
from agentworld_gym.engines import EngineError
from agentworld_gym.engines.awm.engine import AwmEngine, satisfied_at_start


@dataclass(frozen=True)
class Survey:
    """What was found."""

    name: str
    """The name of the scenario."""

    tools: int
    """How many tools there are."""

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
    """Tools that gave no answer, and verifiers that crashed."""

    crashed: int
    """How many verifiers crashed on the databases of the start."""

    alone: tuple[str, ...]
    """Why each session has a process of its own; they share one where it is empty."""

    def cells(self) -> list[str]:
        """Return the survey as a row of a table."""
        answers = ", ".join(f"{count} {kind}" for kind, count in sorted(self.answers.items()))
        own = f"one a session ({self.alone[0]})" if self.alone else "shared"
        numbers = [
            f"{self.failed} of {self.statements}",
            str(self.tasks),
            str(len(self.dropped)),
            str(self.crashed),
            own,
        ]
        return [self.name, str(self.tools), answers, *numbers]


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
    answers, problems = Counter[str](), []
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
                engine.verdict(name, verifier, about.initial)
            except EngineError as error:
                crashed += 1
                problems.append(f"task {number}: {error}")
    return Survey(
        name,
        len(about.tools),
        answers,
        len(scenario.statements),
        len(about.failed),
        len(scenario.tasks),
        satisfied_at_start(engine, name),
        tuple(problems),
        crashed,
        server.about.alone,  # A call may have changed it.
    )
