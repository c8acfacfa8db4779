"""Tasks of repositories in the dialect of Claude Code: experts are written once and succeed in either."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

import agentworld_gym  # noqa: F401
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec

SPEC = load_spec("swe:claude-code")
TOOLS = {tool["name"] for tool in SPEC.action.tools}


@pytest.mark.parametrize("written", ["cli", "claude-code"])
@pytest.mark.parametrize("task", ["month-overflow", "release-1-3-1", "off_by_one-2-7"])
def test_an_expert_succeeds_and_sees_the_answers_of_claude_code(task: str, written: str) -> None:
    env = gym.make("AgentWorld/SWE-v0", world="grounded:monty", dialect="claude-code", task=task)
    parser = ActionParser(SPEC)
    _, info = env.reset(seed=0)
    seen, done = [], False
    for action in env.unwrapped.task.expert:  # type: ignore[attr-defined]
        if written == "claude-code" and action.startswith("{"):
            action = parser.action_block(parser.parse(action))
            assert json.loads(action)["name"] in TOOLS
        observation, reward, done, _, info = env.step(action)
        seen.append(observation)
    assert done and info["success"] and reward > 0
    assert not any("Exit Code:" in text or text.startswith("Successfully") for text in seen)
    assert any("has been updated. Here's the result of running `cat -n`" in text for text in seen)
    env.close()
