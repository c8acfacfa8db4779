"""Several tool servers in one session: each call goes to the server that its tool belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, BaseMachine, Controls, Machine, Scalar, Span
from agentworld_gym.domains.mcp.engine.machine import ToolMachine


class SeveralServers(BaseMachine[list[ToolMachine]]):
    """One session with the servers of several scenarios, which share nothing.

    >>> machine = SeveralServers.start({"servers": [{"scenario": "shop"}, {"scenario": "bank"}]}, seed=0)
    >>> machine.observation.count("Connected to server")
    2
    >>> machine.act({"name": "shop-get_order", "arguments": {"order_id": 9999}})
    '{"status": "error", "code": 404, "message": "Order 9999 not found"}'
    """

    noun = "servers"

    def __init__(self, servers: list[ToolMachine]) -> None:
        super().__init__(servers, "\n".join(server.observation for server in servers))
        self._last: int | None = None
        """The place of the server that answered last."""

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> SeveralServers:
        """Start the servers; `state["servers"]` holds the state of each, as `ToolMachine.start` takes it.

        Raises:
            SpecError: the state of a server is wrong.
        """
        return cls([ToolMachine.start(one, seed, controls) for one in state["servers"]])

    def act(self, action: Any) -> str:
        """Answer one call, by the server that the name of its tool begins with; by the first one where there is none.

        Raises:
            EngineError: the machine is closed.
        """
        servers = self._open()
        name = action.get("name") if isinstance(action, dict) else None
        owner = str(name).partition("-")[0]
        names = [server.service.scenario.name for server in servers]
        self._last = names.index(owner) if owner in names else 0
        self._observation = servers[self._last].act(action)
        return self._observation

    @property
    def spans(self) -> tuple[Span, ...]:
        """The identifiers that were made up, and the rows that were generated and not shown before."""
        return () if self._last is None else self._open()[self._last].spans

    @property
    def refused(self) -> bool:
        """Whether the last call failed."""
        return self._last is not None and self._open()[self._last].refused

    def observation_in(self, dialect: str) -> str:
        """Return the last answer in another dialect; see `ToolMachine.observation_in`.

        Raises:
            EngineError: there is no such dialect.
        """
        servers = self._open()
        if self._last is not None:
            return servers[self._last].observation_in(dialect)
        return "\n".join(server.observation_in(dialect) for server in servers)

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the pieces of the last answer in another dialect that are not deterministic.

        Raises:
            EngineError: there is no such dialect.
        """
        return () if self._last is None else self._open()[self._last].spans_in(dialect)

    def state(self) -> dict[str, Scalar]:
        """Return everything stored, as values by `table/primary key/column`; the name of a table that two servers have
        begins with the name of its server and a dot, whether it holds rows or not."""
        servers = self._open()
        tables = Counter(table for server in servers for table in server.service.keys)
        return {
            f"{server.service.scenario.name}.{key}" if tables[key.partition("/")[0]] > 1 else key: value
            for server in servers
            for key, value in server.state().items()
        }

    def _part_from(self, system: list[ToolMachine]) -> None:
        self._system = [server.fork() for server in system]

    def _free(self, system: list[ToolMachine]) -> None:
        for server in system:
            server.close()


class ToolEngine:
    """Starts one tool server, or several."""

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Machine:
        """Start the server of a scenario, or those that `state["servers"]` lists.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        several = "servers" in state
        return SeveralServers.start(state, seed, controls) if several else ToolMachine.start(state, seed, controls)
