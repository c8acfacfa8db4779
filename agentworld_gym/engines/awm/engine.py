"""The engine of a folder of AWM's worlds: it starts episodes and runs verifiers, each in its sandbox."""

from __future__ import annotations

import json
from typing import NamedTuple

from agentworld_gym.engines import EngineError
from agentworld_gym.engines.awm.files import AwmFiles, Verifier
from agentworld_gym.engines.awm.libraries import find_libraries
from agentworld_gym.engines.awm.machine import AwmMachine
from agentworld_gym.engines.awm.process_limit import LOADED, PROCESSES, TOLD, TOLD_OF_WORLDS, WORLDS, ProcessLimit
from agentworld_gym.engines.awm.sandbox import Sandbox, require_bubblewrap
from agentworld_gym.engines.awm.server import Limits, ScenarioServer
from agentworld_gym.process.interrupts import deferred_interrupt


class Found(NamedTuple):
    """What a verifier found."""

    complete: bool | None
    """Whether the task is done; None where a judge has to say so."""

    evidence: str
    """What it returned, as JSON."""


class AwmEngine:
    """Plays the worlds of a folder. Sandboxes start when they are first needed, and end with the engine.

    Args:
        files: The files of the folder.
        processes: How many processes play one session each, in worlds whose sessions cannot share one; at least 1.
        loaded: How many worlds stay loaded while nobody plays them; at least 1.
        worlds: How many worlds have processes, played or not; at least 1.

    Raises:
        EngineError: Foreign code cannot be confined here, or a library is missing; the message says what to install.
    """

    def __init__(self, files: AwmFiles, processes: int = PROCESSES, loaded: int = LOADED, worlds: int = WORLDS) -> None:
        require_bubblewrap()
        self.files = files
        self.limits = Limits(ProcessLimit(processes, TOLD), ProcessLimit(loaded), ProcessLimit(worlds, TOLD_OF_WORLDS))
        self.libraries = find_libraries()
        self._servers: dict[str, ScenarioServer] = {}
        self._worlds: Sandbox | None = None
        self._verdicts: Sandbox | None = None

    def server(self, name: str) -> ScenarioServer:
        """Return the player of a scenario, by the normal form of its name.

        Raises:
            SpecError: A row of the files cannot be read.
        """
        if name not in self._servers:
            self._servers[name] = ScenarioServer(self.files.scenario(name), self._sandbox_of_worlds, self.limits)
        return self._servers[name]

    def start(self, name: str, seed: int, meta: bool = False) -> AwmMachine:
        """Start an episode.

        Args:
            name: The scenario, by the normal form of its name.
            seed: The seed of what the world draws.
            meta: Whether the agent calls the tools by AWM's two meta tools.

        Raises:
            EngineError: The scenario cannot be loaded.
        """
        with deferred_interrupt():
            return AwmMachine(self.server(name), seed, meta)

    def verdict(self, name: str, verifier: Verifier, final: bytes, answer: str | None = None, steps: int = 0) -> Found:
        """Run a verifier on the databases of the start and of the end.

        Args:
            name: The scenario.
            verifier: The verifier.
            final: The database of the end.
            answer: What the agent answered.
            steps: How many calls it made, for the clock.

        Raises:
            EngineError: The verifier raised an error, was stopped, or returned what no verifier returns.
        """
        with deferred_interrupt():
            initial = self.server(name).about.initial
            returned = self._sandbox_of_verdicts().verdict(verifier.code, initial, final, answer, steps)
        evidence = json.dumps(returned, ensure_ascii=False, indent=2)
        if verifier.judged:
            return Found(None, evidence)
        if isinstance(returned, bool):
            return Found(returned, evidence)
        if not isinstance(returned, dict) or "result" not in returned:
            expected = '{"result": "complete" or "others"} or a truth value'
            raise EngineError(f"the verifier returned {evidence[:200]}, expected {expected}")
        return Found(returned["result"] == "complete", evidence)

    def close(self) -> None:
        """End all processes; a second call does nothing."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()
        for sandbox in (self._worlds, self._verdicts):
            if sandbox is not None:
                sandbox.close()
        self._worlds = self._verdicts = None

    def _sandbox_of_worlds(self) -> Sandbox:
        if self._worlds is not None and not self._worlds.alive:
            self._worlds.close()
            self._worlds = None
        if self._worlds is None:
            self._worlds = Sandbox(self.libraries, worlds=True)
        return self._worlds

    def _sandbox_of_verdicts(self) -> Sandbox:
        if self._verdicts is not None and not self._verdicts.alive:
            self._verdicts.close()
            self._verdicts = None
        if self._verdicts is None:
            self._verdicts = Sandbox(self.libraries, worlds=False)
        return self._verdicts


def satisfied_at_start(engine: AwmEngine, name: str) -> dict[int, str]:
    """Return the tasks of a scenario that cannot be played, each with the reason.

    They are those without a verifier, and those whose verifier calls them done before anything was done.

    Args:
        engine: The engine.
        name: The scenario.

    Raises:
        EngineError: The scenario cannot be loaded.
    """
    server = engine.server(name)
    scenario, initial = server.scenario, server.about.initial
    dropped = {}
    for number in range(len(scenario.tasks)):
        verifier = scenario.decided.get(number)
        if verifier is None:
            if number not in scenario.judged:
                dropped[number] = "it has no verifier"
            continue
        try:
            if engine.verdict(name, verifier, initial).complete:
                dropped[number] = "the database satisfies it at the start"
        except EngineError:
            continue  # A verifier that crashes says nothing; at the end of an episode that is a failure.
    return dropped
