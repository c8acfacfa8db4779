"""The engine of a folder of AWM's worlds: it starts episodes and runs verifiers, each in its sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.beginning import Beginning
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles, AwmVerifier
from agentworld_gym.domains.mcp.awm.engine.libraries import find_libraries
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine
from agentworld_gym.domains.mcp.awm.engine.meta_tools import Texts
from agentworld_gym.domains.mcp.awm.engine.process_limit import (
    LOADED,
    PROCESSES,
    TOLD,
    TOLD_OF_WORLDS,
    WORLDS,
    ProcessLimit,
)
from agentworld_gym.domains.mcp.awm.engine.sandbox import Sandbox, require_bubblewrap
from agentworld_gym.domains.mcp.awm.engine.server import ProcessLimits, ScenarioServer

COMPLETE, OTHERS = "complete", "others"
"""What a verifier says of a task that is done, and of one that is not."""


class VerifierResult(NamedTuple):
    """What a verifier found."""

    complete: bool | None
    """Whether the task is done; None where a judge has to say so."""

    evidence: str
    """What it returned, as JSON."""


class Verifiers(NamedTuple):
    """The verifiers of a scenario, by the numbers of their tasks."""

    decided: Mapping[int, AwmVerifier]
    """Those that decide."""

    judged: Mapping[int, AwmVerifier]
    """Those whose findings a judge reads."""

    dropped: Mapping[int, str]
    """The tasks that cannot be played, with the reason: they have no verifier, or are done before anything was done."""


class AwmEngine:
    """Plays the worlds of a folder. Sandboxes start when they are first needed, and end with the engine.

    Args:
        files: The files of the folder.
        processes: How many processes play one session each, in worlds whose sessions cannot share one; at least 1.
        loaded: How many worlds stay loaded while nobody plays them; at least 1.
        worlds: How many worlds have processes, played or not; at least 1.
        beginning: How episodes begin.

    Raises:
        EngineError: Foreign code cannot be confined here, or a library is missing; the message says what to install.
    """

    def __init__(
        self,
        files: AwmFiles,
        processes: int = PROCESSES,
        loaded: int = LOADED,
        worlds: int = WORLDS,
        beginning: Beginning = Beginning(),  # noqa: B008  (it cannot be changed)
    ) -> None:
        require_bubblewrap()
        self.files, self.beginning = files, beginning
        self.limits = ProcessLimits(
            ProcessLimit(processes, TOLD), ProcessLimit(loaded), ProcessLimit(worlds, TOLD_OF_WORLDS)
        )
        self.libraries = find_libraries()
        self._servers: dict[str, ScenarioServer] = {}
        self._verifiers: dict[str, Verifiers] = {}
        self._worlds: Sandbox | None = None
        self._verdicts: Sandbox | None = None

    def server(self, name: str) -> ScenarioServer:
        """Return the player of a scenario, by the normal form of its name.

        Raises:
            SpecError: A row of the files cannot be read.
        """
        if name not in self._servers:
            scenario = self.files.scenario(name)
            self._servers[name] = ScenarioServer(scenario, self._sandbox_of_worlds, self.limits, self.beginning)
        return self._servers[name]

    def start(self, name: str, seed: int, meta: Texts | None = None) -> AwmMachine:
        """Start an episode.

        Args:
            name: The scenario, by the normal form of its name.
            seed: The seed of what the world draws.
            meta: Whose texts the agent reads of AWM's two meta tools; None where it calls the tools themselves.

        Raises:
            EngineError: The scenario cannot be loaded.
        """
        with deferred_interrupt():
            return AwmMachine(self.server(name), seed, meta)

    def verdict(
        self, name: str, verifier: AwmVerifier, final: bytes, answer: str | None = None, steps: int = 0
    ) -> VerifierResult:
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
        returned = self.returned(name, verifier, final, answer, steps)
        evidence = json.dumps(returned, ensure_ascii=False, indent=2)
        if verifier.judged:
            return VerifierResult(None, evidence)
        if not isinstance(returned, bool) and not (isinstance(returned, dict) and "result" in returned):
            expected = '{"result": "complete" or "others"} or a truth value'
            raise EngineError(f"the verifier returned {evidence[:200]}, expected {expected}")
        return VerifierResult(bool(decision_of(returned)), evidence)

    def returned(
        self, name: str, verifier: AwmVerifier, final: bytes, answer: str | None = None, steps: int = 0
    ) -> Any:
        """Run a verifier as `verdict` does, and return what it returned.

        Raises:
            EngineError: The verifier raised an error, or was stopped.
        """
        with deferred_interrupt():
            initial = self.server(name).about.initial
            sandbox, moment = self._sandbox_of_verdicts(), self.beginning.moment
            return sandbox.verdict(verifier.code, initial, final, answer, steps, moment)

    def verifiers(self, name: str) -> Verifiers:
        """Return the verifiers of a scenario by what they do, whatever file they stand in.

        A verifier is known by what it returns at the untouched start: a decision, or findings for a judge. One that
        raises an error there is what its file says.

        Args:
            name: The scenario.

        Raises:
            EngineError: The scenario cannot be loaded.
        """
        if name not in self._verifiers:
            self._verifiers[name] = _sorted(self, name)
        return self._verifiers[name]

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


def _sorted(engine: AwmEngine, name: str) -> Verifiers:
    """Tell the verifiers of a scenario that decide from those that a judge reads; see `AwmEngine.verifiers`."""
    server = engine.server(name)
    scenario, start = server.scenario, server.about.start
    decided, judged, dropped = dict(scenario.decided), dict(scenario.judged), dict[int, str]()
    for number in range(len(scenario.tasks)):
        verifier = decided.get(number) or judged.get(number)
        if verifier is None:
            dropped[number] = "it has no verifier"
            continue
        try:
            returned = engine.returned(name, verifier, start)
        except EngineError:
            continue  # A verifier that crashes says nothing; at the end of an episode that is a failure.
        if number in decided and isinstance(returned, dict) and "result" not in returned:
            judged.setdefault(number, decided.pop(number)._replace(judged=True))
        elif number not in decided and decision_of(returned) is not None:
            decided[number] = verifier._replace(judged=False)
        if number in decided and decision_of(returned):
            dropped[number] = "the database satisfies it at the start"
    return Verifiers(decided, judged, dropped)


def decision_of(returned: Any) -> bool | None:
    """Return whether a task is done, by what its verifier returned; None where that is no decision.

    >>> decision_of({"result": "others"}), decision_of(True), decision_of({"rows": 3})
    (False, True, None)
    """
    if isinstance(returned, bool):
        return returned
    result = returned.get("result") if isinstance(returned, dict) else None
    word = result.lower() if isinstance(result, str) else None
    return result == COMPLETE if word in (COMPLETE, OTHERS) else None
