"""Whether a task of one's own holds: it can be read and begun, its expert solves it, and doing nothing does not."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from agentworld_gym.agents.policies.following import walk
from agentworld_gym.agents.policies.scripted import expert_policy, nothing_policy
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.checks.success_protocols import RunsSuccessCode, SuccessFinding
from agentworld_gym.core.domain.task import Check, Task
from agentworld_gym.core.engines.catalog import has_engine
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Moment, Transition
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.judging.rubric import JudgedEpisode

SHOWN = 150
"""How many characters of a long observation an error shows of its start, and of its end."""


class CheckedTask(NamedTuple):
    """What was found of a task that holds."""

    task: Task
    """The task."""

    steps: int | None
    """How many steps the expert took; None where it was not played."""


def check_task(path: Path, domain: str) -> CheckedTask:
    """Read a task, and play its expert and an agent that does nothing in the grounded world of its domain.

    A task whose state names a live system is played in that one. Whoever acts or answers passes the rubrics, because
    no judge is asked.

    Args:
        path: The YAML file of the task.
        domain: The domain, or the path of its spec.

    Raises:
        SpecError: The task does not hold: the error names file, key, value and what was expected.
    """
    file = str(path)
    options = EnvOptions(spec=domain, task=file)
    spec = options.domain_spec()
    played = "live" if _names_a_system(path) else "grounded" if has_engine(spec.id) else "scripted"
    with closing(options.changed(world=played, judge=_acts).runner()) as runner:
        [(task, _)] = runner.source.own
        if played == "scripted":
            return CheckedTask(task, None)
        try:
            begun = [episode for episode, _, _ in runner.start([0, 0], {})]
        except SpecError as error:
            # An engine names the part of the task instead of the file.
            part = error.file.removeprefix("task ").removesuffix(f" of {task.id}")
            raise SpecError(file, f"{part}.{error.key}", error.value, error.expected) from error
        try:
            return CheckedTask(task, _steps(file, runner, *begun))
        finally:
            for episode in begun:
                episode.session.close()


def _names_a_system(path: Path) -> bool:
    data = read_yaml(path, "a YAML file with a task")
    state = data.get("state") if isinstance(data, Mapping) else None
    return isinstance(state, Mapping) and "live" in state


def _acts(episode: JudgedEpisode) -> float:
    """Judge instead of a model, so that whoever acts or answers passes every rubric."""
    return float(len(episode.turns) > 1 or episode.answer is not None)


def _steps(file: str, runner: EpisodeRunner, first: Episode, second: Episode) -> int | None:
    """Play doing nothing and then the expert, who needs so many steps; None without an expert."""
    task = first.task
    end = walk(runner, first, nothing_policy())
    if end is not None and end.info.get("success"):
        checks = [check.model_dump(exclude_unset=True) for check in task.success]
        raise SpecError(file, "success", checks, "checks that an agent fails which finishes at once")
    if not task.expert:
        return None
    _refuse_failed(file, runner, second, walk(runner, second, expert_policy(task)))
    return second.steps


def _refuse_failed(file: str, runner: EpisodeRunner, episode: Episode, end: Transition | None) -> None:
    """Raise what keeps the expert from success."""
    task, taken = episode.task, len(episode.actions)
    if end is None:
        if taken < len(task.expert):
            raise SpecError(file, f"expert.{taken}", task.expert[taken], "an element that is on the screen then")
        raise SpecError(file, "expert", list(task.expert), "a last action that finishes, such as 'finish'")
    if "failure" in end.info:
        raise SpecError(file, "expert", list(task.expert), f"a world that plays it ({end.info['failure']['message']})")
    if taken < len(task.expert) and not end.info.get("success"):
        raise SpecError(file, "max_steps", runner.limit(task), f"at least {len(task.expert)}, the steps of the expert")
    if end.info.get("success"):
        return
    for number, check in enumerate(task.success):
        found = runner.test(episode, task.model_copy(update={"success": (check,)}), Moment.FINISH)
        reached = 0.0 if found is None else found.passed.get(0, 0.0)
        if reached < 1.0:
            who, shown = _shown(runner, episode, check)
            shown = shown if len(shown) <= 2 * SHOWN else f"{shown[:SHOWN]} ... {shown[-SHOWN:]}"
            expected = f"a check that the expert passes (it reaches {reached:g}; {who} {shown!r})"
            raise SpecError(file, f"success.{number}", check.model_dump(exclude_unset=True), expected)
    raise SpecError(file, "expert", list(task.expert), f"actions that succeed (score {end.info['score']:g})")


def _shown(runner: EpisodeRunner, episode: Episode, check: Check) -> tuple[str, str]:
    """Return what a check that failed looked at, and before it whose it is."""
    if check.code is not None and isinstance(runner.world, RunsSuccessCode):
        [found] = runner.world.verify([episode.session], [check.code], [episode.taken[-1].answer])
        if isinstance(found, SuccessFinding):
            return "what it runs shows", found.evidence
    return "the last that the expert was shown is", episode.observations[-1]
