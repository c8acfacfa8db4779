"""What a user says of tool servers: the option `live` of this domain."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, Tag, field_validator, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.kit.live import LiveConfig
from agentworld_gym.kit.live.config import CommandReset, Url, Variables, Words, reset_by

SERVER = re.compile(r"[A-Za-z0-9_]+")
"""The names of servers: a hyphen ends them in the name of a tool, as in `memory-read_graph`."""


class ServerSpec(Strict):
    """One server: a command that speaks over standard input and output, or a URL of streamable HTTP.

    >>> ServerSpec(command="npx -y server-memory").command
    ('npx', '-y', 'server-memory')
    """

    command: Words | None = None
    """The words of the command, or one text."""

    url: Url | None = None
    """The URL. Its host has to stand under `network`, unless it is this machine."""

    headers: dict[str, str] = Field(default_factory=dict)
    """Headers of the requests to a URL, such as a key."""

    env: Variables = Field(default_factory=dict)
    """Variables of the environment of the command."""

    @model_validator(mode="after")
    def _one(self) -> ServerSpec:
        if (self.command is None) == (self.url is None):
            raise ValueError("either `command` or `url`")
        return self


class ToolCallSpec(Strict):
    """A call of a tool."""

    tool: str = Field(min_length=1)
    """The name of the tool, as agents call it."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """The arguments."""


class ToolReset(ToolCallSpec):
    """A call that brings the servers back to their start."""

    verify: ToolCallSpec | None = None
    """A call that shows what the servers hold: it is answered after a reset as it was before the first episode. A
    session whose answer differs is not used again."""


class ServerCommandReset(CommandReset):
    """A command that brings the servers back to their start."""

    verify: ToolCallSpec | None = None
    """A call that is answered after a reset as it was before the first episode."""


Reset = Annotated[
    Annotated[Literal["restart"], Tag("[restart]")]
    | Annotated[ToolReset, Tag("[tool]")]
    | Annotated[ServerCommandReset, Tag("[command]")],
    reset_by("tool", "command"),
]


class ServerConfig(LiveConfig):
    """Tool servers, and what they may do.

    >>> ServerConfig(command=["npx", "-y", "@modelcontextprotocol/server-memory"]).reset
    'restart'
    """

    name: str | None = None
    """What the only server is called in the names of its tools; None takes the name that it tells."""

    command: Words | None = None
    """The command of the only server."""

    url: Url | None = None
    """The URL of the only server."""

    headers: dict[str, str] = Field(default_factory=dict)
    """Headers of the requests to that URL."""

    servers: dict[str, ServerSpec] = Field(default_factory=dict)
    """Several servers, by the names that begin those of their tools."""

    reset: Reset = "restart"
    """How the servers go back to their start after an episode: they are started again, or a tool or a command does it,
    which is quicker where a start takes long. A server behind a URL is connected to again, which resets only what it
    keeps for a connection. Where it has another reset, that comes before each episode, of which there is one at a time
    then."""

    tools: tuple[str, ...] = ()
    """The tools that agents get, by the servers' own names; without any, all of them."""

    @field_validator("servers")
    @classmethod
    def _named(cls, servers: dict[str, ServerSpec]) -> dict[str, ServerSpec]:
        for name in servers:
            if not SERVER.fullmatch(name):
                raise ValueError(f"names of letters, digits and _ (got {name!r})")
        return servers

    @field_validator("name")
    @classmethod
    def _is_name(cls, name: str | None) -> str | None:
        if name is not None and not SERVER.fullmatch(name):
            raise ValueError("a name of letters, digits and _")
        return name

    @model_validator(mode="after")
    def _some(self) -> ServerConfig:
        given = [key for key in ("command", "url", "servers") if getattr(self, key)]
        if len(given) != 1:
            raise ValueError(f"exactly one of command, url, servers (got {', '.join(given) or 'none'})")
        if self.reset != "restart" and self.verify is None:
            raise ValueError(
                "reset.verify: a call of a tool that shows what the servers hold, to check each reset by it"
            )
        return self

    @model_validator(mode="after")
    def _one_at_a_time(self) -> ServerConfig:
        """Play one episode at a time where all share a server; there are two sessions while an environment goes from
        one to the next.
        """
        return self.model_copy(update={"sessions": 2, "ahead": 0, "forks": False}) if self.shared else self

    @property
    def verify(self) -> ToolCallSpec | None:
        """The call that verifies resets; None where the servers are started again."""
        return None if self.reset == "restart" else self.reset.verify

    @property
    def shared(self) -> bool:
        """Whether all episodes play on one server that is reset for each of them."""
        return self.reset != "restart" and any(spec.url is not None for spec in self.all_servers.values())

    @property
    def all_servers(self) -> dict[str | None, ServerSpec]:
        """All servers by name; the only one has the name None where it is to tell that itself."""
        if self.servers:
            return {name: spec for name, spec in self.servers.items()}
        return {self.name: ServerSpec(command=self.command, url=self.url, headers=self.headers)}
