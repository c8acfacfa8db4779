"""Transfer: whether what succeeds in the dream succeeds for real, from one policy on the same tasks in two worlds.

An agent that is trained in a world model may learn the model's errors instead of the task, and its success in the dream
says nothing of that. So both figures stand side by side, with the interval of their paired difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import to_jsonable_python

from agentworld_gym.agents.policies.playing import WAVE, Played, Policy, one_a_task, play
from agentworld_gym.agents.policies.registry import opened_policy
from agentworld_gym.base.fingerprint import installed
from agentworld_gym.base.process.interrupts import remembered_interrupt
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.base.statistics.proportions import paired_gap, proportion
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.traces.diff import TraceTurn, compare
from agentworld_gym.core.traces.log import TraceLogs
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.results.base import excerpt
from agentworld_gym.evaluation.results.transfer import Parting, Side, TransferResult
from agentworld_gym.worlds.own_tasks import truth_of

PARTINGS = 50
"""The most parting episodes that a result lists; the traces hold all of them."""

SAID_APART = ("spec", "world", "split", "traces", "language")
"""Options that have a place of their own in the result, and `language`, whose options stand beside the others."""

Progress = Callable[[str, int], None]


def transfer(
    policy: str | Policy,
    options: EnvOptions,
    seeds: Sequence[int],
    *,
    grounded: str | None = None,
    wave: int = WAVE,
    traces: Path | None = None,
    on_progress: Progress | None = None,
    on_runner: Callable[[str, EpisodeRunner], None] | None = None,
    agent_options: Mapping[str, Any] | None = None,
) -> TransferResult:
    """Let a policy play the same tasks in the grounded world and in the dream.

    Both worlds are opened before anything is played, and the grounded one is played first: a task that it cannot judge
    costs no dream. Where seeds give the same task, as those of a spec without families do, the first of them is played,
    because the intervals count independent tasks.

    Ctrl-C ends the playing; the result holds the tasks that both worlds finished and says that it was interrupted.

    Args:
        policy: A handle (see `registry.open_policy`), or any `Policy`.
        options: The domain, its tasks, and the dream as `options.world`.
        seeds: The seeds of the tasks.
        grounded: The handle of the world to be true to; None takes the grounded world, or AWM's of `awm:DIR+WORLD`.
        wave: The number of episodes that run at a time.
        traces: A folder for the logs of both worlds, in `dream` and `grounded`; None writes no logs.
        on_progress: A function that is called with the name of a world and how many of its episodes are over.
        on_runner: A function that is called with the name and the runner of each world before it is played in.
        agent_options: The options of a policy that is a language model; see `registry.open_policy`.

    Raises:
        SpecError: A handle or an option is wrong.
        WorldNotConfigured: There is no such world.
        AgentWorldError: A world cannot begin or judge a task.

    >>> found = transfer("expert", EnvOptions(spec="terminal", world="grounded", split="test"), range(12))
    >>> found.grounded.success.share, found.gap.share, found.verdict.split(".")[0]
    (1.0, 0.0, 'No gap beyond its interval')
    """
    grounded = grounded or truth_of(options.world)
    spec = options.domain_spec()
    played: dict[str, dict[int, Played]] = {"grounded": {}, "dream": {}}
    interrupted = False
    with ExitStack() as opened:
        player = policy
        if isinstance(player, str):
            player = opened.enter_context(opened_policy(player, spec, options=agent_options))
        logged = {side: options.changed(traces=None if traces is None else str(traces / side)) for side in played}
        dream_runner = logged["dream"].runner()
        opened.callback(dream_runner.close)
        runners = {"grounded": logged["grounded"].runner_of_truth(grounded, dream_runner), "dream": dream_runner}
        opened.callback(runners["grounded"].close)
        seeds = one_a_task(runners["grounded"].source, seeds)
        try:
            with remembered_interrupt() as check:
                for side, runner in runners.items():
                    if on_runner is not None:
                        on_runner(side, runner)
                    report = None if on_progress is None else (lambda done, side=side: on_progress(side, done))
                    for episode in play(runner, player, seeds, wave=wave, on_progress=report):
                        played[side][episode.seed] = episode
                        check()
        except KeyboardInterrupt:
            interrupted = True
    both = sorted(played["dream"].keys() & played["grounded"].keys())
    dream, real = ([played[side][seed] for seed in both] for side in ("dream", "grounded"))
    return TransferResult(
        domain=spec.source,
        policy=player.name,
        split=options.split,
        tasks=len(both),
        dream=_side(options.world, runners["dream"], dream),
        grounded=_side(grounded, runners["grounded"], real),
        package=installed("agentworld-gym"),
        options={**_asked(options, seeds), **({"agent": dict(agent_options)} if agent_options else {})},
        interrupted=interrupted,
        **_compared(dream, real),
    )


def _asked(options: EnvOptions, seeds: Sequence[int]) -> dict[str, Any]:
    """What was asked for beside policy and world, as JSON has it; what keeps its default is left out."""
    defaults = EnvOptions(spec=options.spec).keywords()
    asked = {name: value for name, value in options.keywords().items() if name not in SAID_APART}
    chosen = {name: value for name, value in asked.items() if value != defaults[name]}
    options_asked: dict[str, Any] = to_jsonable_python(
        {"seeds": _span(seeds), "levels": options.levels, **chosen, **options.language.chosen()}, fallback=str
    )
    return options_asked


def _span(seeds: Sequence[int]) -> str:
    """Write seeds in few words.

    >>> _span(range(100)), _span([4]), _span([1, 5])
    ('0 to 99', '4', '1, 5')
    """
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _side(world: str, runner: EpisodeRunner, episodes: Sequence[Played]) -> Side:
    judged = [episode for episode in episodes if episode.success is not None]
    return Side(
        world=world,
        fingerprint=runner.fingerprint,
        success=proportion([bool(episode.success) for episode in judged]) if judged else None,
        reward=_mean([episode.reward for episode in judged]),
        steps=_mean([len(episode.actions) for episode in judged]),
        failures=dict(Counter(filter(None, map(_failure, episodes)))),
        traces=str(runner.traces.agent.path) if isinstance(runner.traces, TraceLogs) else None,
    )


def _failure(episode: Played) -> str | None:
    """Return why nothing is known of an episode: the kind of the world's failure, or of the agent's server."""
    return episode.failure or (f"agent {episode.agent_failure}" if episode.agent_failure else None)


def _compared(dream: Sequence[Played], real: Sequence[Played]) -> dict[str, Any]:
    """Return the fields of a result that need both sides; episodes that one world failed on cannot be compared."""
    pairs = [pair for pair in zip(dream, real, strict=True) if None not in (pair[0].success, pair[1].success)]
    apart = [pair for pair in pairs if pair[0].success != pair[1].success]
    outcomes = [(bool(one.success), bool(other.success)) for one, other in pairs]
    families: dict[str, tuple[Share, Share]] = {}
    for family in sorted({one.task.family for one, _ in pairs}):
        members = [pair for pair in pairs if pair[0].task.family == family]
        shares = [proportion([bool(pair[side].success) for pair in members]) for side in (0, 1)]
        families[family] = (shares[0], shares[1])
    return {
        "gap": paired_gap(outcomes) if outcomes else None,
        "agree": len(pairs) - len(apart),
        "only_dream": sum(bool(one.success) for one, _ in apart),
        "only_grounded": sum(bool(other.success) for _, other in apart),
        "families": families,
        "partings": tuple(_parting(one, other) for one, other in apart[:PARTINGS]),
    }


def _parting(dream: Played, real: Played) -> Parting:
    left, right = ([_turn(one, number) for number in range(1, len(one.observations))] for one in (dream, real))
    departures = compare(left, right)
    first = departures[0] if departures else None
    one, other = (first.left, first.right) if first else (None, None)
    return Parting(
        task_id=dream.task.id,
        seed=dream.seed,
        family=dream.task.family,
        level=dream.task.level,
        dream=bool(dream.success),
        grounded=bool(real.success),
        turn=first.number if first else len(dream.actions),
        # Where all that was shown is equal, only what the probes found differs.
        part=first.part if first else "probe",
        dream_action=excerpt(one.action if one else ""),
        grounded_action=excerpt(other.action if other else ""),
        dream_observation=excerpt((one.observation or "") if one else ""),
        grounded_observation=excerpt((other.observation or "") if other else ""),
        dream_episode=dream.id,
        grounded_episode=real.id,
    )


def _turn(episode: Played, number: int) -> TraceTurn:
    """A turn, counted from 1; `finish` asks no world, so there is nothing to compare."""
    action = episode.actions[number - 1]
    return TraceTurn(number, action, None if finishes(action) else episode.observations[number])


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
