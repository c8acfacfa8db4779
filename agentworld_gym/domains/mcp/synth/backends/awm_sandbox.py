"""Runs what a model wrote in AWM's form: apps and verifiers, in the sandboxes in which AWM's worlds are played."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from contextlib import closing
from typing import Any

from agentworld_gym.domains.mcp.awm.engine.files import AwmScenario
from agentworld_gym.domains.mcp.awm.engine.libraries import find_libraries
from agentworld_gym.domains.mcp.awm.engine.process_limit import PROCESSES, TOLD, ProcessLimit
from agentworld_gym.domains.mcp.awm.engine.sandbox import Sandbox, require_bubblewrap
from agentworld_gym.domains.mcp.awm.engine.server import ProcessLimits, ScenarioServer

SERVERS = 4
"""How many apps are kept loaded."""

KEYS = """
def verify_task(initial_db_path, final_db_path):
    connection = sqlite3.connect(f"file:{initial_db_path}?mode=ro", uri=True)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = [list(row) for row in connection.execute("PRAGMA foreign_key_check")]
    parents = []
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        parents += [[name, row[2]] for row in connection.execute(f"PRAGMA foreign_key_list({quoted})")]
    connection.close()
    return {"rows": rows[:50], "tables": [pair for pair in parents if pair[1] not in names]}
"""
"""A program for the sandbox of verifiers: the foreign keys of a database that lead nowhere."""


class AwmSandboxes:
    """The sandboxes of apps and of verifiers, which start when they are first needed.

    Raises:
        EngineError: Foreign code cannot be confined here, or a library is missing; the message says what to install.
    """

    def __init__(self) -> None:
        require_bubblewrap()
        self._libraries = find_libraries()
        self._limits = ProcessLimits(ProcessLimit(PROCESSES, TOLD), ProcessLimit(SERVERS), ProcessLimit(SERVERS))
        self._servers: OrderedDict[str, ScenarioServer] = OrderedDict()
        self._kinds: dict[bool, Sandbox] = {}

    def server(self, scenario: AwmScenario) -> ScenarioServer:
        """Return the player of an app; the same app is loaded once, as long as few others are asked for."""
        digest = hashlib.blake2b(json.dumps([scenario.statements, scenario.code]).encode()).hexdigest()
        if digest not in self._servers:
            self._servers[digest] = ScenarioServer(scenario, lambda: self._sandbox(worlds=True), self._limits)
        self._servers.move_to_end(digest)
        while len(self._servers) > SERVERS:
            self._servers.popitem(last=False)[1].close()
        return self._servers[digest]

    def verdict(self, code: str, initial: bytes, final: bytes, answer: str | None = None) -> Any:
        """Run a verifier and return what it returned.

        Raises:
            EngineError: The verifier raised an error, or was stopped.
        """
        return self._sandbox(worlds=False).verdict(code, initial, final, answer, 0)

    def dangling(self, image: bytes) -> list[str]:
        """Return the foreign keys of a database that lead nowhere; nobody vouches for its bytes, so none are read here.

        Raises:
            EngineError: The bytes are no database.
        """
        told = self.verdict(KEYS, image, image)
        rows = [f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is not there" for row in told["rows"]]
        return [
            *(f"a foreign key of {table} leads to {parent}, which is no table" for table, parent in told["tables"]),
            *rows,
        ]

    def close(self) -> None:
        """End all processes; a second call does nothing."""
        while self._servers:
            self._servers.popitem()[1].close()
        while self._kinds:
            with closing(self._kinds.popitem()[1]):
                pass

    def _sandbox(self, worlds: bool) -> Sandbox:
        sandbox = self._kinds.get(worlds)
        if sandbox is not None and not sandbox.alive:
            sandbox.close()
            sandbox = None
        if sandbox is None:
            sandbox = self._kinds[worlds] = Sandbox(self._libraries, worlds)
        return sandbox
