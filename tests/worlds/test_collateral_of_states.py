"""What a dreamt episode changed beside its task is told by its predicted structured state, as in a grounded world."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from worlds import make

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.collateral import Rules
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, Restorable
from agentworld_gym.core.engines.catalog import load_engine, load_view
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.rows.rerendering import task_of
from agentworld_gym.recipe.collect.config import SmallModelSessions
from agentworld_gym.recipe.collect.recorder import Recorder
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import register_world

TASK = Task(
    id="t",
    domain="terminal",
    instruction="Copy a.txt to b.txt.",
    state={"files": {"/home/dev/a.txt": "fig\n", "/home/dev/c.txt": "plum\n"}},
    success=[{"probe": "cat b.txt", "expect": {"equals": "fig"}}],
    expert=("cp a.txt b.txt", "finish"),
)
COPIED, REMOVED = '{2} = "{*1}"', "-{1}"


def episode(commands: dict[str, str], form: str = "state") -> dict[str, Any]:
    """The last info of an episode of commands with what the model answers to each."""
    answers = iter(commands.values())
    generator = ScriptedGenerator(lambda request: next(answers, "same"))
    register_world("told_states", lambda options: options.language(generator, profile="compact"))
    env = make("AgentWorld/Terminal-v0", world="told_states", task=TASK, language={"profile": "compact", "form": form})
    env.reset(seed=0)
    for command in commands:
        env.step(command)
    info: dict[str, Any] = env.step("finish")[4]
    env.close()
    return info


def test_an_episode_that_changes_what_the_expert_changes_succeeds() -> None:
    info = episode({"cp a.txt b.txt": COPIED})
    assert (info["success"], info["collateral"]) == (True, [])


def test_an_episode_that_also_removes_a_file_does_not() -> None:
    info = episode({"cp a.txt b.txt": COPIED, "rm c.txt": REMOVED})
    assert (info["success"], info["collateral"]) == (False, ["/home/dev/c.txt"])


def test_what_counts_is_the_predicted_state_and_not_what_the_engine_would_have_done() -> None:
    info = episode({"cp a.txt b.txt": COPIED, "rm c.txt": "same"})
    assert (info["success"], info["collateral"]) == (True, [])


def test_a_world_that_predicts_no_state_cannot_tell() -> None:
    (session,) = (world := WorldOptions(load_spec("terminal")).language(ScriptedGenerator(lambda _: ""))).begin(
        [TASK], [0]
    )
    assert not isinstance(session, Failure)
    assert world.collateral([session]) == [None]


def test_a_state_without_fields_is_a_failure_of_the_world() -> None:
    world = WorldOptions(load_spec("terminal"), profile="compact", form="state").language(
        ScriptedGenerator(lambda _: "")
    )
    (session,) = world.begin([TASK], [0])
    assert not isinstance(session, Failure)
    session.states = (json.dumps({"files": 7}),) * 2
    (answer,) = world.collateral([session])
    assert isinstance(answer, Failure)
    assert answer.kind is FailureKind.MALFORMED


@pytest.mark.parametrize("domain", ["android", "desktop", "mcp", "swe", "terminal", "web"])
def test_the_fields_of_what_is_shown_are_those_of_the_machine(domain: str) -> None:
    spec, view = load_spec(domain), load_view(domain)
    assert view.knows_fields
    parser = ActionParser(spec)
    recorder = Recorder([spec], SmallModelSessions(policies={"mixed": 0.5, "explore": 0.5}, max_turns=10), seed=7)
    told = 0
    for row in filter(None, map(recorder.row, range(6))):
        task = task_of(row)
        assert task is not None
        rules = Rules.of(spec.outcome, task)
        with closing(load_engine(domain).start(task.state, task.seed or 0, Controls({}, 0), task.hidden)) as machine:
            assert isinstance(machine, Restorable)
            for action in (parser.parse(text, task.tools) for text in row.actions):
                if action.error is None:
                    machine.act(action.parsed)
                fields = view.fields(json.loads(json.dumps(machine.visible_state())))
                if fields is not None:
                    told += 1
                    assert counted(fields, rules) == counted(machine.state(), rules)
    assert told > 20


def counted(fields: Any, rules: Rules) -> dict[str, Any]:
    """The fields that count: an archive, for one, holds times."""
    free = (rules.free, rules.free_values)
    return {key: value for key, value in fields.items() if not any(pattern.fullmatch(key) for pattern in free)}
