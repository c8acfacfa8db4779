"""What a team is: the roles that share one world, their channel, and whom the task pays; one YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from jinja2 import StrictUndefined, TemplateError
from pydantic import Field, field_validator, model_validator

from agentworld_gym.agents.teams.shipped import read_shipped
from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Check, Task
from agentworld_gym.core.tasks.source import check_actions

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


class Pay(Strict):
    """What a role is paid: the sum of the parts below, each times its weight."""

    shared: float = 1.0
    """The weight of the task's own reward, for every action of the team; below 0 for a role that works against it."""

    own: float = 0.0
    """The weight of the score of the role's own checks."""

    action_cost: float = Field(default=0.0, ge=0)
    """What an action of the role costs it, beside its share of what a step costs."""

    message_cost: float = Field(default=0.0, ge=0)
    """What a message of the role costs it further."""


class Channel(Strict):
    """How roles write to each other. A message takes the turn of whoever writes it."""

    max_chars: int = Field(default=2000, ge=1)
    """Characters of one message; a longer one is refused."""

    examples: tuple[str, ...] = ("message: Done.",)
    """Messages that random agents draw from."""


class Role(Strict):
    """One agent of a team: its instruction, its tools and its reward.

    >>> Role(tools=["read_*"]).may_call("read_file"), Role(tools=["read_*"]).may_call("edit")
    (True, False)
    >>> Role(actions=["ls( .*)?"]).may_write("ls -a"), Role(actions=["ls( .*)?"]).may_write("rm a")
    (True, False)
    """

    instruction: str = "{{ task.instruction }}"
    """What the role is asked to do: a Jinja text over `task`."""

    tools: tuple[str, ...] | None = None
    """Patterns (`*` stands for anything) of the tools that the role may call; None allows every tool."""

    actions: tuple[str, ...] | None = None
    """Regular expressions, one of which has to describe a whole action, in domains without tools; None allows every
    action."""

    arguments: dict[str, dict[str, str]] = Field(default_factory=dict)
    """For some tools, regular expressions that describe the whole of an argument, where that is given."""

    writes_to: tuple[str, ...] | None = None
    """The roles that this one may write to where the team has a channel; None allows all others."""

    finishes: bool = True
    """Whether the role may end the episode."""

    sees: Literal["own", "world"] = "own"
    """What the role sees: what its `own` last action showed, or what the `world` shows after the last action of any
    role, as on a shared screen."""

    reward: Pay = Pay()
    """What the role is paid."""

    success: tuple[Check, ...] = ()
    """The role's own checks, which pay this role alone. Checks of actions and observations look at those of all
    roles."""

    @field_validator("actions")
    @classmethod
    def _actions_compile(cls, patterns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        _compile(patterns or ())
        return patterns

    @field_validator("arguments")
    @classmethod
    def _arguments_compile(cls, arguments: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        _compile(pattern for patterns in arguments.values() for pattern in patterns.values())
        return arguments

    @field_validator("instruction")
    @classmethod
    def _is_template(cls, text: str) -> str:
        try:
            BoundedEnvironment().parse(text)
        except TemplateError as error:
            raise ValueError(f"a Jinja template ({error.message})") from error
        return text

    @model_validator(mode="after")
    def _pays_for_checks(self) -> Role:
        if bool(self.reward.own) != bool(self.success):
            raise ValueError("success: checks of its own together with a weight `reward.own`")
        return self

    def may_call(self, tool: str) -> bool:
        """Whether the role may call a tool."""
        return self.tools is None or any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def refuses(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return the name of an argument with a value that the role may not pass; None where there is none."""
        for name, pattern in self.arguments.get(tool, {}).items():
            if name in arguments and not re.fullmatch(pattern, str(arguments[name])):
                return name
        return None

    def may_write(self, text: str) -> bool:
        """Whether the role may write an action, in a domain without tools."""
        return self.actions is None or any(re.fullmatch(pattern, text.strip()) for pattern in self.actions)

    def role_instruction(self, task: Task, place: str) -> str:
        """Return the role's instruction in a task.

        Args:
            task: The task.
            place: The file and the key that an error names.

        Raises:
            SpecError: The template asks for what the task does not have.
        """
        try:
            template = BoundedEnvironment(undefined=StrictUndefined).from_string(self.instruction)
            return template.render(task=task.model_dump(mode="json"))
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise SpecError(place, "instruction", self.instruction, f"a text over `task` ({error})") from error


class Team(Strict):
    """Roles that share one world. They act in the order in which they stand here.

    >>> team = load_team("author-and-reviewer")
    >>> list(team.roles), team.colleagues("author")
    (['author', 'reviewer'], ('reviewer',))
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    """The name of the team."""

    env_id: str | None = Field(default=None, pattern=r"^AgentWorld/[A-Za-z0-9]+-v\d+$")
    """The id under which PettingZoo makes its environments; a team without one is not registered."""

    domain: str = Field(min_length=1)
    """The domain that the team works in."""

    description: str = ""
    """What the team is, for people."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the environment, such as `families`; whoever makes it may replace them."""

    channel: Channel | None = None
    """The channel of messages; without one nobody can write."""

    roles: dict[str, Role] = Field(min_length=1)
    """The roles by name."""

    path: Path = Path()
    """The file of the team."""

    @model_validator(mode="after")
    def _fits_together(self) -> Team:
        for name, role in self.roles.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"roles: names such as reviewer or agent_0 (got {name!r})")
            for other in role.writes_to or ():
                if other not in self.roles or other == name:
                    others = ", ".join(one for one in self.roles if one != name)
                    raise ValueError(f"roles.{name}.writes_to: some of {others or 'none'} (got {other!r})")
            if role.writes_to and self.channel is None:
                raise ValueError(f"roles.{name}.writes_to: nobody, because the team has no channel")
        if not any(role.finishes for role in self.roles.values()):
            raise ValueError("roles: at least one that finishes")
        return self

    def colleagues(self, name: str) -> tuple[str, ...]:
        """Return the roles that a role may write to."""
        if self.channel is None:
            return ()
        allowed = self.roles[name].writes_to
        return tuple(other for other in self.roles if other != name and (allowed is None or other in allowed))


def of_equals(domain: str, number: int) -> Team:
    """Return a team of so many agents with the same rights and the same pay, and without a channel.

    >>> list(of_equals("terminal", 2).roles)
    ['agent_0', 'agent_1']
    """
    return Team(id="equals", domain=domain, roles={f"agent_{place}": Role() for place in range(number)})


def load_team(source: str) -> Team:
    """Load a team.

    Args:
        source: The name of a team that comes with the package, or the path of a YAML file.

    Raises:
        SpecError: There is no such team, or it is broken: the error names file, key, value and what was expected.
    """
    team = read_shipped("team", source, Team)
    spec = load_spec(team.domain)
    parser = ActionParser(spec)
    for name, role in team.roles.items():
        _check_rights(role, spec, team.path, f"roles.{name}")
        if role.success:
            probes = Task(id=team.id, domain=spec.id, instruction=name, success=role.success)
            check_actions(probes, parser, team.path, f"roles.{name}.")
    return team


def _check_rights(role: Role, spec: DomainSpec, path: Path, place: str) -> None:
    """Check that a role names tools in a domain with tools, and those that there are, and actions in any other."""
    calls = calls_tools(spec.action.syntax)
    if calls and role.actions is not None:
        raise SpecError(path, f"{place}.actions", role.actions, f"`tools`, because agents call tools in {spec.id}")
    if not calls and role.tools is not None:
        raise SpecError(path, f"{place}.tools", role.tools, f"`actions`, because {spec.id} has no tools")
    if not calls and role.arguments:
        raise SpecError(path, f"{place}.arguments", role.arguments, f"nothing, because {spec.id} has no tools")
    names = [str(tool.get("name")) for tool in spec.action.tools]
    for name in role.arguments if names else ():
        if name not in names:
            known = ", ".join(nearest(name, names))
            raise SpecError(path, f"{place}.arguments", name, f"tools: some of {known}")
    for pattern in role.tools or () if names else ():
        if not any(fnmatchcase(name, pattern) for name in names):
            known = ", ".join(nearest(pattern, names))
            raise SpecError(path, f"{place}.tools", pattern, f"a pattern of some of {known}")


def _compile(patterns: Iterable[str]) -> None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"regular expressions ({pattern!r}: {error})") from error
