"""The consistency ratio: how often plans found in the dream work for real (Word2World, arXiv 2512.18832)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentworld_gym.agents.policies.playing import WAVE, FunctionPolicy, Played, one_a_task, play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.statistics.proportions import paired_ratio, proportion
from agentworld_gym.core.contracts import Usage
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.evaluation.results.fidelity import Consistency

PLANS = 4
"""The number of plans drawn for each task."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The plans of one task, by the number of the plan."""

    dreamed: tuple[Played, ...]
    """What they did in the dream."""

    direct: tuple[Played, ...]
    """What the same search for real did."""

    replayed: tuple[Played, ...]
    """What the dream's plans did for real."""


def consistency(
    dream: EpisodeRunner,
    grounded: EpisodeRunner,
    seeds: Sequence[int],
    *,
    policy: str = "mixed",
    plans: int = PLANS,
    wave: int = WAVE,
    on_progress: Callable[[int, int], None] | None = None,
    direct: dict[int, dict[int, Played]] | None = None,
) -> Consistency:
    """Search plans in the dream, replay what it calls successful for real, and compare with searching for real.

    The expert alone would always succeed, whatever the dream says; a policy that errs leaves a choice to make. A dream
    that calls bad plans good, or good ones bad, loses tasks. Where seeds give the same task, the first of them is
    played.

    Args:
        dream: The world to judge.
        grounded: The world to be true to, with the same tasks.
        seeds: The seeds of the tasks.
        policy: The handle of the policy that draws the plans (see `registry.open_policy`), which must take draws, such
            as `mixed`.
        plans: The number of plans drawn for each task.
        wave: The number of episodes that run at a time.
        on_progress: A function that is called with how many plans were played in the dream, and how many there are.
        direct: What the search in the grounded world gave, by number of the plan and by seed. What is missing is played
            and entered, so that a second dream costs no second search.
    """
    seeds = one_a_task(grounded.source, seeds)
    found = searched(
        dream, grounded, seeds, policy=policy, plans=plans, wave=wave, on_progress=on_progress, direct=direct
    )
    return consistency_of([found[seed] for seed in seeds], policy, plans)


def searched(
    dream: EpisodeRunner,
    grounded: EpisodeRunner,
    seeds: Sequence[int],
    *,
    policy: str = "mixed",
    plans: int = PLANS,
    wave: int = WAVE,
    on_progress: Callable[[int, int], None] | None = None,
    direct: dict[int, dict[int, Played]] | None = None,
) -> dict[int, Searched]:
    """Search the plans of some tasks, and return them by seed; see `consistency`."""
    dreamed, replayed = [], []
    direct = {} if direct is None else direct
    for number in range(plans):
        report = _after(number * len(seeds), plans * len(seeds), on_progress)
        drawn = open_policy(policy, dream.spec, draw=number)
        dreamed.append(_by_seed(play(dream, drawn, seeds, wave=wave, on_progress=report)))
        if number not in direct:
            direct[number] = _by_seed(play(grounded, drawn, seeds, wave=wave))
        replayed.append(_by_seed(play(grounded, _replay(dreamed[-1]), seeds, wave=wave)))
    every = [dreamed, [direct[number] for number in range(plans)], replayed]
    return {seed: Searched(*(tuple(one[seed] for one in some) for some in every)) for seed in seeds}


def consistency_of(found: Sequence[Searched], policy: str = "mixed", plans: int = PLANS) -> Consistency:
    """Compare the plans of some tasks; see `consistency`."""
    chosen = [next((n for n in range(plans) if one.dreamed[n].success), None) for one in found]
    works = [n is not None and bool(one.replayed[n].success) for one, n in zip(found, chosen, strict=True)]
    solvable = [any(played.success for played in one.direct) for one in found]
    pairs = [(bool(one.dreamed[n].success), bool(one.replayed[n].success)) for n in range(plans) for one in found]
    right = sum(one and other for one, other in pairs)
    ratio, low, high = paired_ratio(list(zip(works, solvable, strict=True))) or (None, None, None)
    return Consistency(
        policy=policy,
        plans=plans,
        tasks=len(found),
        ratio=ratio,
        low=low,
        high=high,
        replayed=proportion(works),
        direct=proportion(solvable),
        precision=_divided(right, sum(one for one, _ in pairs)),
        recall=_divided(right, sum(other for _, other in pairs)),
        tokens=sum((played.usage for one in found for played in one.dreamed), Usage()).as_dict(),
        failures=dict(Counter(played.failure for one in found for played in one.dreamed if played.failure)),
    )


def _after(before: int, total: int, on_progress: Callable[[int, int], None] | None) -> Callable[[int], None] | None:
    return None if on_progress is None else (lambda done: on_progress(before + done, total))


def _by_seed(episodes: Iterable[Played]) -> dict[int, Played]:
    return {episode.seed: episode for episode in episodes}


def _replay(played: Mapping[int, Played]) -> FunctionPolicy:
    """Return a policy that repeats the actions of some episodes, and finishes after the last."""

    def again(episode: Episode) -> str:
        actions = played[episode.seed].actions
        return actions[episode.steps] if episode.steps < len(actions) else "finish"

    return FunctionPolicy("replay", again)


def _divided(part: int, whole: int) -> float | None:
    return part / whole if whole else None
