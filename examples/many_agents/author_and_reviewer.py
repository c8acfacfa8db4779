"""An author and a reviewer of a repository, against an author alone and against one agent with the rights of both.

    python examples/many_agents/author_and_reviewer.py

The author has ideas and cannot run them: it tries the edits that the task's menu offers, in random order. The reviewer
cannot edit: it runs the tests, says whether they pass, and finishes when they do.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Generator

import gymnasium as gym

import agentworld_gym  # noqa: F401  (registers the ids)
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.integrations.pettingzoo import AgentWorldAECEnv

FAMILIES = ["off_by_one", "wrong_operator", "missing_guard", "swapped_arguments", "wrong_exception"]
TESTS = json.dumps({"name": "run_shell_command", "arguments": {"command": "python -m pytest -q"}})
DONE, FAIL = "message: I have changed something.", "message: The tests fail, try something else."
STEPS = 60
"""A limit that nobody reaches, so that only the actions differ."""


def ideas(menu: tuple[str, ...], seed: int) -> list[dict[str, str]]:
    """The edits that a menu offers, in random order."""
    calls = [json.loads(entry) for entry in menu if entry.startswith("{")]
    edits = [json.loads(call["arguments"]) for call in calls if call["name"] == "edit"]
    random.Random(seed).shuffle(edits)
    return edits


def tried(edits: list[dict[str, str]]) -> Generator[list[str], None, None]:
    """For each idea, the calls that carry it out in place of the idea before it."""
    last: dict[str, str] | None = None
    for edit in edits:
        if last is None:
            yield [call(edit)]
        elif (last["file_path"], last["old_string"]) == (edit["file_path"], edit["old_string"]):
            yield [call({**edit, "old_string": last["new_string"]})]
        else:
            back = {**last, "old_string": last["new_string"], "new_string": last["old_string"]}
            yield [call(back), call(edit)]
        last = edit


def call(edit: dict[str, str]) -> str:
    """A call of the tool that edits."""
    return json.dumps({"name": "edit", "arguments": edit})


def passing(observation: str) -> bool:
    """Whether a report of the tests says that all of them pass."""
    return " passed" in observation and " failed" not in observation and "error" not in observation.partition("(")[0]


def alone(seed: int, tests: bool) -> tuple[bool, int, float]:
    """One agent: it stops at the first idea, or it runs the tests after each. Success, actions and return."""
    env = gym.make("AgentWorld/SWE-v0", families=FAMILIES, max_steps=STEPS)
    env.reset(seed=seed)
    total, count = 0.0, 1
    for calls in tried(ideas(env.unwrapped.task.menu, seed)):
        for action in [*calls, TESTS] if tests else calls:
            observation, reward, *_ = env.step(action)
            total, count = total + reward, count + 1
        if not tests or passing(observation):
            break
    _, reward, _, _, info = env.step("finish")
    env.close()
    return info["success"], count, total + reward


def author(edits: list[dict[str, str]]) -> Generator[str, str, None]:
    """Try an idea, say so, and go on to the next one when the reviewer says that the tests fail."""
    yield ""
    for calls in tried(edits):
        seen = ""
        for action in [*calls, DONE]:
            seen = yield action
        while "[reviewer]" not in seen:
            seen = yield "wait"


def reviewer() -> Generator[str, str, None]:
    """Wait for a change, run the tests, and either finish or say that they fail."""
    seen = yield ""
    while True:
        while "[author]" not in seen:
            seen = yield "wait"
        report = yield TESTS
        seen = yield "finish" if passing(report) else FAIL


def together(seed: int) -> tuple[bool, int, float]:
    """An author and a reviewer who take turns. Success, actions but waits, and return."""
    env = AgentWorldAECEnv(team="author-and-reviewer", families=FAMILIES, max_steps=STEPS)
    env.reset(seed=seed)
    policies = {"author": author(ideas(env.task.menu, seed)), "reviewer": reviewer()}
    for policy in policies.values():
        next(policy)
    total, count, success = 0.0, 0, False
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        total += reward if agent == "author" else 0.0
        success = success or info.get("success", False)
        if terminated or truncated:
            env.step(None)
            continue
        action = policies[agent].send(observation["text"])
        count += action != "wait"
        env.step(action)
    env.close()
    return success, count, total


def main(episodes: int = 40) -> dict[str, float]:
    """Print the table; return the share of success of each."""
    ways = {
        "author alone": lambda seed: alone(seed, tests=False),
        "author and reviewer": together,
        "one agent with both rights": lambda seed: alone(seed, tests=True),
    }
    results = {}
    print("| who | success | actions | return |\n|---|---|---|---|")
    for name, way in ways.items():
        played = [way(seed) for seed in range(episodes)]
        share = proportion([one[0] for one in played])
        actions, total = (sum(one[place] for one in played) / episodes for place in (1, 2))
        results[name] = share.share
        print(f"| {name} | {share.share:.2f} ({share.low:.2f}-{share.high:.2f}) | {actions:.1f} | {total:.2f} |")
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=40)
    main(parser.parse_args().episodes)
