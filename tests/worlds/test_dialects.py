"""A domain with two dialects: actions are read in both, an agent is shown its own, checks are tested in the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, EngineError
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.worlds.grounded import GroundedWorld

SPEC = """
id: lamp
env_id: AgentWorld/Custom-v0
title: Lamp
description: A lamp with a switch.
prompts: "."
action:
  syntax: [tool_call]
  tools: [{name: press, parameters: {type: object, additionalProperties: false}}]
  examples: ['{"name": "press", "arguments": {}}']
dialects:
  plain: {}
  terse: {action: {syntax: [function_call], examples: ["press()"]}, observation: {examples: ["1"]}}
"""


@dataclass
class Lamp:
    """A lamp that says in two dialects whether it is on."""

    on: bool = False
    spans: tuple[()] = ()

    @property
    def observation(self) -> str:
        return f"The lamp is {'on' if self.on else 'off'}."

    def observation_in(self, dialect: str) -> str:
        if dialect != "terse":
            raise EngineError(f"a lamp does not speak {dialect}")
        return "1" if self.on else "0"

    def spans_in(self, dialect: str) -> tuple[()]:
        return ()

    def act(self, action: Any) -> str:
        self.on = not self.on
        return self.observation

    def state(self) -> Mapping[str, bool]:
        return {"on": self.on}

    def fork(self) -> Lamp:
        return Lamp(self.on)

    def close(self) -> None:
        pass


class Lamps:
    """Starts lamps."""

    def start(self, state: Mapping[str, Any], seed: int, controls: Controls, hidden: Mapping[str, Any]) -> Lamp:
        return Lamp()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "lamp.yaml").write_text(SPEC)
    return tmp_path / "lamp.yaml"


@pytest.fixture
def spec(path: Path) -> DomainSpec:
    return load_spec(str(path))


def test_the_first_dialect_is_that_of_the_spec_and_another_one_replaces_keys(spec):
    terse = spec.in_dialect("terse")
    assert (spec.dialect, terse.dialect) == ("plain", "terse")
    assert terse.action.syntax == ("function_call",) and terse.observation.examples == ("1",)
    assert terse.action.tools == spec.action.tools and not spec.observation.examples
    assert terse.in_dialect("plain").digest() == spec.digest() != terse.digest()


def test_a_dialect_is_chosen_by_an_option_or_behind_a_colon(path):
    assert EnvOptions(spec=str(path), dialect="terse").domain_spec() == load_spec(f"{path}:terse")
    with pytest.raises(SpecError, match=r"dialect.*ters.*terse"):
        load_spec(f"{path}:ters")
    with pytest.raises(SpecError, match="expected no dialect: the domain has none"):
        EnvOptions(spec="terminal", dialect="terse").domain_spec()


def test_actions_are_read_in_every_dialect(spec):
    for dialect in spec.in_every_dialect():
        parser = ActionParser(dialect)
        assert parser.parse("press()").parsed == parser.parse('{"name": "press"}').parsed
        assert parser.parse("press").error


def test_an_agent_is_shown_its_dialect_and_checks_are_tested_in_the_first_one(spec):
    task = Task(
        id="lamp",
        domain="lamp",
        instruction="Make light.",
        success=[
            {"observation": {"contains": "The lamp is on."}},
            {"probe": "press()", "expect": {"equals": "The lamp is off."}},
        ],
    )
    terse = spec.in_dialect("terse")
    runner = EpisodeRunner(terse, GroundedWorld(Lamps(), Fingerprint({}), terse), TaskSource(terse, task=task))
    ((episode, first, _),) = runner.start([0], {"task": task})
    (step,) = runner.advance([episode], ["press()"])
    (end,) = runner.advance([episode], ["finish"])
    assert (first, step.observation, end.observation) == ("Make light.\n\n0", "1", "1")
    assert end.info["success"]


def test_a_world_that_does_not_speak_the_dialect_is_refused(spec):
    class Mute:
        def start(self, *_: Any) -> Any:
            return type("M", (), {"close": lambda self: None, "observation": "", "spans": ()})()

    terse = spec.in_dialect("terse")
    world = GroundedWorld(Mute(), Fingerprint({}), terse)
    with pytest.raises(SpecError, match="one that the grounded world speaks"):
        world.begin([Task(id="t", domain="lamp", instruction="i", success=[{"answer": {"equals": "1"}}])], [0])
