"""Checks what only grown worlds have: what their seed decided, and tasks whose success takes the state at the end.

The success of such a task takes the state that its expert leaves, beside the checks. The checks alone therefore need
not tell the solution from all that is less, and the tasks are played as episodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

from agentworld_gym.agents.policies.playing import ScriptedPolicy, play
from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.mcp.engine.scenario import ScenarioFile
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.synth.similarity import Profile
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions


def with_drawn(profile: Profile, about: ScenarioFile) -> Profile:
    """Return the profile of a grown world with what its seed decided: its words, and the values of its policies."""
    words = (f"{name}: {entry}" for name, entries in about.words.items() for entry in entries)
    policies = (f"{name} = {value}" for name, value in about.policies.items())
    return replace(profile, grown_from=about.grown_from, drawn=frozenset((*words, *policies)))


def grown_faults(file: Path, service: Service) -> list[str]:
    """Play a task of a grown world as episodes, and return what is wrong with it.

    The expert has to solve it. To finish at the start must not, also not with the expert's answer where there is
    something to write; nor must the expert without one of its calls that write.

    Args:
        file: The file of the task, `tasks/NAME.yaml` in the folder of the world.
        service: The server of the world.
    """
    folder = file.parent.parent
    try:
        name = f"{folder.resolve().name}-{file.stem}"
        options = EnvOptions(spec="mcp", world_options={"scenario": str(folder)}, task=name)
        with closing(options.changed(world="grounded").runner()) as runner:
            return list(_faults(runner, {tool.name for tool in service.tools.values() if tool.writes}))
    except AgentWorldError as error:
        return [str(error)]


def _faults(runner: EpisodeRunner, writing: set[str]) -> Iterator[str]:
    expert = runner.source.pick(0, {}).expert
    if not expert or not finishes(expert[-1]):
        yield "expert: calls that do the task are wanted, the last of which is finish"
        return
    if not _solves(runner, expert):
        yield "the expert does not solve it"
        return
    writes = [place for place, action in enumerate(expert[:-1]) if json.loads(action)["name"] in writing]
    for ending in dict.fromkeys(["finish", *(expert[-1:] if writes else [])]):
        if _solves(runner, [ending]):
            yield f"{ending!r} solves it at the start"
    for place in writes:
        if _solves(runner, [*expert[:place], *expert[place + 1 :]]):
            yield f"the expert without call {place + 1}, {expert[place]}, solves it"


def _solves(runner: EpisodeRunner, actions: Sequence[str]) -> bool:
    def script(task: Task, rng: Random) -> ActionStream:
        for action in actions:  # noqa: UP028  (`yield from` would send what the action showed to the sequence)
            yield action

    (played,) = play(runner, ScriptedPolicy("script", script), [0])
    if played.failure is not None:
        raise EngineError(f"the world failed ({played.failure}): {played.failure_message}")
    return bool(played.success)
