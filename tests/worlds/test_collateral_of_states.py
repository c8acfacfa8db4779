"""What a dreamt episode changed beside its task is told by its predicted structured state, as in a grounded world."""

from __future__ import annotations

import json
from typing import Any

from worlds import make

from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.generators import ScriptedGenerator
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
