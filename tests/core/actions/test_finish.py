"""The agent's verb for "done", and texts that only begin like it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.policies import policy_actions
from agentworld_gym.agents.policies.exploring import explore_beside
from agentworld_gym.agents.policies.playing import FunctionPolicy
from agentworld_gym.core.actions.finish import finishes, read_finish
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.transfer import transfer
from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

SCRIPT = "finish_report.sh"
"""A command whose name begins with the verb."""

FINISHING = {
    "finish": None,
    "finish: 42": "42",
    " finish :  a: b \n": "a: b",
    "finish:": "",
    "finish\n": None,
}
OTHERS = [SCRIPT, "finishing", "finished: 42", "./finish", "Finish", "finish 42", "", "echo finish"]


@pytest.mark.parametrize(("text", "answer"), FINISHING.items())
def test_the_verb_is_read_with_its_answer(text: str, answer: str | None):
    finish = read_finish(text)
    assert finish is not None and finish.answer == answer and finishes(text)


@pytest.mark.parametrize("text", OTHERS)
def test_a_text_that_only_begins_like_the_verb_is_none(text: str):
    assert read_finish(text) is None and not finishes(text)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_parser_reads_the_same_verb(domain: str):
    parser = ActionParser(load_spec(domain))
    for text, answer in FINISHING.items():
        assert (parser.parse(text).kind, parser.parse(text).answer) == (ActionKind.FINISH, answer)
    assert not any(parser.parse(text).kind is ActionKind.FINISH for text in OTHERS)


def test_an_explorer_beside_an_agent_does_not_take_a_command_for_the_end():
    task = generate("mcp", "handle_return", 1, 0)
    actions = [SCRIPT, "ls", "finish"]
    beside = explore_beside((action for action in actions), task, random.Random(0), 0)
    assert sent(beside) == actions


def test_looks_around_do_not_take_a_command_for_the_end():
    actions = (SCRIPT, "ls -la", "finish")
    task = generate("terminal", "copy_move", 1, 0).model_copy(update={"expert": actions, "menu": ()})
    ways = [sent(policy_actions("blend", task, random.Random(seed), CollectConfig())) for seed in range(12)]
    followed = [[action for action in done if action in actions] for done in ways if "finish" in done]
    assert len(followed) > 3 and all(done == list(actions) for done in followed)


def test_worlds_part_where_such_a_command_shows_something_else():
    register_world("pleases", lambda given: ScriptedWorld(pleasing))
    options = EnvOptions(spec="terminal", world="pleases", split="test", families=["copy_move"])
    policy = FunctionPolicy("runs a script", lambda episode: "finish" if episode.actions else SCRIPT)
    found = transfer(policy, options, [0])
    assert [(one.turn, one.part) for one in found.partings] == [(1, "observation")]


def pleasing(task: Task, actions: Sequence[Action]) -> str:
    """Answers every probe of a task as the task expects it."""
    for check in task.success:
        if actions and check.probes and actions[-1].raw == check.probes[-1] and check.expect is not None:
            return f"{actions[-1].raw}\n{(check.expect.equals or '').strip()}\ndev@box:~$"
    return echo(task, actions)


def sent(actions: ActionStream) -> list[str]:
    """All actions of a stream, each of which shows nothing."""
    done: list[str] = []
    action = next(actions, None)
    while action is not None and not finishes(action):
        done.append(action)
        try:
            action = actions.send("")
        except StopIteration:
            action = None
    return done if action is None else [*done, action]
