"""The prompt of an agent: the domain, how an action is written, and the tools of its task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.finish import FINISH_TOOL, VERB
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.actions.tolerant import Reading
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.user import ASK, has_user, without_ask
from agentworld_gym.core.registration import find_domain

ONE_ACTION = "Answer every message with one action and nothing else."

_ENDING = (
    f"When the task is done, write: {VERB}",
    f"Where the task asks for an answer, write it behind a colon: {VERB}: ANSWER",
)
_ASKING = f"The user answers questions. To ask one, write: {ASK}: QUESTION"
_EXPECTED = ("python3", "perl", "gcc", "git", "make", "curl", "ssh", "vim", "nano")
"""What agents look for in a shell; those that are not there are named."""

_SCHEMA = "The JSON Schema of an action:"
_TOOLS = "The tools, each with its name, what it does and the JSON Schema of its arguments:"


@runtime_checkable
class OneEpisode(Protocol):
    """An environment of AgentWorld that plays one episode at a time, by one agent or by several; or an episode."""

    @property
    def domain(self) -> DomainSpec:
        """The domain."""
        ...

    @property
    def reading(self) -> Reading:
        """How actions are read."""
        ...

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools of the episode's task."""
        ...


class Runner(Protocol):
    """The part of an episode runner that says what its domain is, and how it reads actions."""

    @property
    def spec(self) -> DomainSpec:
        """The domain."""
        ...

    @property
    def reading(self) -> Reading:
        """How it reads actions."""
        ...


@runtime_checkable
class ManyEpisodes(Protocol):
    """A vector environment of AgentWorld."""

    @property
    def num_envs(self) -> int:
        """The number of members."""
        ...

    @property
    def runner(self) -> Runner:
        """What plays the episodes of all members."""
        ...

    @property
    def tools(self) -> Sequence[Sequence[Mapping[str, Any]]]:
        """The tools of each member's task; there are none before the first reset."""
        ...


@runtime_checkable
class ManyAgents(Protocol):
    """An environment of AgentWorld that several agents play."""

    @property
    def possible_agents(self) -> Sequence[str]:
        """The names of the agents."""
        ...

    def prompt(self, agent: str) -> str:
        """Return the system message of an agent."""
        ...


def agent_prompt(env: Any, member: int | str | None = None) -> str:
    """Return the system message of an agent in the present episode of an environment.

    Every bridge to a library of language models uses it, so that an agent reads the same everywhere. The tools are
    those of the episode's task and may differ from episode to episode, so it has to be called again after a reset.

    Args:
        env: An environment of AgentWorld after `reset`: single or vector, wrapped or not, or one of several agents. Or
            an `Episode`, as a policy gets it.
        member: The member of a vector environment, or the name of one of several agents. Without a name, several agents
            are told every tool that some of them can call.

    Raises:
        SpecError: It is another environment, a vector environment without a member, or no such member or agent.
        gymnasium.error.ResetNeeded: The environment has not been reset.
        ClosedError: An environment of several agents has not been reset.

    >>> import gymnasium as gym
    >>> env = gym.make("AgentWorld/MCP-v0", task="bank-two-loans")
    >>> observation, info = env.reset(seed=0)
    >>> '"name": "bank-list_loans"' in agent_prompt(env)
    True
    >>> env.close()
    """
    core = getattr(env, "unwrapped", env)
    if isinstance(core, ManyEpisodes):
        if isinstance(member, bool) or not isinstance(member, int) or not 0 <= member < core.num_envs:
            raise SpecError("agent_prompt", "member", member, f"an integer from 0 to {core.num_envs - 1}")
        if not core.tools:
            raise gym.error.ResetNeeded("call reset() before agent_prompt()")
        return role_of_agent(core.runner.spec, core.tools[member], reading=core.runner.reading)
    if not isinstance(core, OneEpisode):
        raise SpecError(
            "agent_prompt", "env", env, "an environment of AgentWorld, as gym.make('AgentWorld/Terminal-v0')"
        )
    if isinstance(core, ManyAgents) and member is not None:
        if member not in core.possible_agents:
            raise SpecError("agent_prompt", "agent", member, f"one of {', '.join(core.possible_agents)}")
        return core.prompt(str(member))
    if member is not None:
        raise SpecError("agent_prompt", "member", member, "None: it is a single environment")
    return role_of_agent(core.domain, core.tools, reading=core.reading)


def role_of_agent(
    spec: DomainSpec, tools: Sequence[Mapping[str, Any]], finishes: bool = True, reading: Reading = "tolerant"
) -> str:
    """Return the prompt of a domain for an agent: its description, the syntax of actions, the tools, and how to finish.

    In a terminal it names the programs that are there.

    Where the task has a user, it says how to ask: where actions are calls, `ask` is a tool among the tools.

    Both ways to finish are told, whether or not the task asks for an answer: that stands in its instruction. Where the
    agent may not finish, nothing is said of that. Where actions are calls and read with tolerance, `finish` is a tool
    among the tools. The texts of tools are data: they are escaped, so that they end no message of a chat.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> told = role_of_agent(load_spec("mcp"), [{"name": "bank-pay", "description": "Pays a bill."}])
    >>> print(*(line[:74] for line in told.splitlines()[-4:]), sep="\\n")
    {"name": "bank-pay", "description": "Pays a bill."}
    {"name": "finish", "description": "Ends the episode, once the task is done
    When the task is done, write: finish
    Where the task asks for an answer, write it behind a colon: finish: ANSWER
    """
    lines = [spec.description, ONE_ACTION, spec.action.description]
    if "properties" in spec.action.json_schema and not takes_calls(spec):
        lines.append(f"{_SCHEMA} {json.dumps(spec.action.json_schema)}")
    lines += _programs(spec)
    if has_user(tools) and not takes_calls(spec):
        lines.append(_ASKING)
        tools = without_ask(tools)
    if finishes and reading == "tolerant" and takes_calls(spec):
        tools = with_finish(tools)
    if tools:
        lines.append(_TOOLS)
        lines += [escape(json.dumps(tool, ensure_ascii=False, default=str)) for tool in tools]
    return "\n".join([*(line.strip() for line in lines if line), *(_ENDING if finishes else ())])


def takes_calls(spec: DomainSpec) -> bool:
    """Whether the actions of a domain are calls of tools."""
    return calls_tools(spec.action.syntax)


def with_finish(tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return tools with the one that ends the episode, unless one of them has its name."""
    return tools if any(tool.get("name") == VERB for tool in tools) else [*tools, FINISH_TOOL]


def role_of_caller(spec: DomainSpec) -> str:
    """Return the prompt of a domain for an agent that is given its tools, `finish` among them, apart from the prompt.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> print(role_of_caller(load_spec("mcp")).splitlines()[-1])
    When the task is done, call finish; where the task asks for an answer, give it there as "answer".
    """
    ending = f'When the task is done, call {VERB}; where the task asks for an answer, give it there as "answer".'
    told = [spec.description, *_programs(spec), "Act by calling tools.", ending]
    return "\n".join(line.strip() for line in told)


def _programs(spec: DomainSpec) -> list[str]:
    """Return what an agent reads about the programs of a shell, where the domain names them."""
    domain = find_domain(spec.id)
    if domain is None or domain.programs is None:
        return []
    there = domain.part("programs")()
    told = f"Beside the builtins of bash, these programs are there and no others: {' '.join(there)}"
    absent = [name for name in _EXPECTED if name not in there]
    return [f"{told}. There is no {', '.join(absent[:-1])} or {absent[-1]}."] if len(absent) > 1 else [f"{told}."]
