"""What a language model is told before it acts: the domain, how an action is written, and the tools of its task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym

from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.errors import SpecError
from agentworld_gym.text.escaping import escape

_TOOLS = "The tools, each with its name, what it does and the JSON Schema of its arguments:"


def agent_prompt(env: Any, member: int | None = None) -> str:
    """Return the system message of an agent in the present episode of an environment.

    Every bridge to a library of language models uses it, so that an agent is told the same everywhere. The tools are
    those of the episode's task and may differ from episode to episode, so it has to be called again after a reset.

    Args:
        env: An environment of AgentWorld after `reset`: single or vector, wrapped or not, or one of several agents.
        member: The member of a vector environment.

    Raises:
        SpecError: It is another environment, a vector environment without a member, or there is no such member.
        gymnasium.error.ResetNeeded: The environment has not been reset.

    >>> import gymnasium as gym
    >>> env = gym.make("AgentWorld/MCP-v0", task="bank-two-loans")
    >>> observation, info = env.reset(seed=0)
    >>> '"name": "bank-list_loans"' in agent_prompt(env)
    True
    >>> env.close()
    """
    core = getattr(env, "unwrapped", env)
    if not hasattr(core, "tools"):
        raise SpecError(
            "agent_prompt", "env", env, "an environment of AgentWorld, as gym.make('AgentWorld/Terminal-v0')"
        )
    count = getattr(core, "num_envs", None)
    if count is None:
        if member is not None:
            raise SpecError("agent_prompt", "member", member, "None: it is a single environment")
        return role_of_agent(core.domain, core.tools)
    if isinstance(member, bool) or not isinstance(member, int) or not 0 <= member < count:
        raise SpecError("agent_prompt", "member", member, f"an integer from 0 to {count - 1}")
    if not core.episodes:
        raise gym.error.ResetNeeded("call reset() before agent_prompt()")
    return role_of_agent(core.runner.spec, core.tools[member])


def role_of_agent(spec: DomainSpec, tools: Sequence[Mapping[str, Any]]) -> str:
    """Return what an agent is told of a domain: its description, the syntax of actions, the tools, and how to finish.

    The texts of tools are data: they are escaped, so that they end no message of a chat.

    >>> from agentworld_gym.domain.spec import load_spec
    >>> told = role_of_agent(load_spec("mcp"), [{"name": "bank-pay", "description": "Pays a bill."}])
    >>> print(*told.splitlines()[-2:], sep="\\n")
    {"name": "bank-pay", "description": "Pays a bill."}
    When the task is done, write: finish
    """
    lines = [spec.description, "Answer every message with one action and nothing else.", spec.action.description]
    if tools:
        lines.append(_TOOLS)
        lines += [escape(json.dumps(tool, ensure_ascii=False, default=str)) for tool in tools]
    return "\n".join([*(line.strip() for line in lines if line), "When the task is done, write: finish"])
