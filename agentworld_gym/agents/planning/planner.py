"""A policy that plans: before it acts it searches among imagined futures."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agentworld_gym.agents.planning.imagination import Imagination, SameWorld
from agentworld_gym.agents.planning.search import Search, SearchNode, SearchRun, Try
from agentworld_gym.agents.policies.playing import Policy
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition


class Proposer(Protocol):
    """Proposes actions for many imagined episodes at once."""

    def propose(self, episodes: Sequence[Episode]) -> list[tuple[str, ...]]:
        """Return the actions to try in each episode, best first where the proposer ranks them."""
        ...


class MenuProposer:
    """Proposes what an episode offers: the entries of its menu that are on the screen, or a call of each tool.

    Args:
        runner: The world and its tasks.
    """

    def __init__(self, runner: EpisodeRunner) -> None:
        self._runner = runner

    def propose(self, episodes: Sequence[Episode]) -> list[tuple[str, ...]]:
        """Return the offers of each episode."""
        return [tuple(dict.fromkeys(self._runner.offers(episode))) for episode in episodes]


class PolicyProposer:
    """Proposes what a policy draws: an episode is asked for `draws` times, and equal draws count once.

    A policy that keeps something of an episode begins anew in each imagined one, so it should read the episode's
    history, as a language model does, or be a function of it.

    Args:
        policy: The policy, which should draw its actions and not always take the best one.
        draws: How many actions are drawn for each episode.
    """

    def __init__(self, policy: Policy, draws: int = 4) -> None:
        self._policy, self._draws = policy, draws

    def propose(self, episodes: Sequence[Episode]) -> list[tuple[str, ...]]:
        """Return the different draws for each episode, those that were drawn most often first."""
        drawn: list[dict[str, int]] = [{} for _ in episodes]
        for _ in range(self._draws):
            kept = [self._policy.begin(episode) for episode in episodes]
            for counts, action in zip(drawn, self._policy.act(episodes, kept), strict=True):
                counts[action] = counts.get(action, 0) + 1
        return [tuple(sorted(counts, key=lambda action: -counts[action])) for counts in drawn]


FINISH = "finish"


@dataclass(slots=True)
class EpisodePlan:
    """What a planner keeps of an episode."""

    twin: Episode
    """The episode as the planner imagines it."""

    rng: random.Random
    """The random numbers of its searches."""

    ahead: deque[tuple[str, str]] = field(default_factory=deque)
    """The actions that are planned, each with what it should show."""

    expected: str | None = None
    """What the last action should have shown; None where nothing was planned."""


class Planner:
    """A policy that searches among imagined futures, values them by the checks of their tasks, and acts on the best.

    A plan is followed as long as the world shows what was imagined; then the planner searches again. The checks are
    those that pay the agent, so a planner in the world in which it acts knows more than an agent that only plays: it
    is an expert to learn from, or an upper bound.

    Args:
        runner: The world in which the agent acts.
        search: The search.
        imagination: The world in which futures are imagined; None takes the world in which the agent acts.
        proposer: The source of actions to try; None takes the menus of tasks.
        seed: The seed of draws and ties, together with that of each episode.

    >>> from agentworld_gym.envs.options import EnvOptions
    >>> from agentworld_gym.agents.planning.search import TreeSearch
    >>> from agentworld_gym.agents.policies.playing import play
    >>> runner = EnvOptions(spec="mcp", world="grounded", levels=(1,)).runner()
    >>> planner = Planner(runner, TreeSearch(simulations=96))
    >>> [played.success for played in play(runner, planner, range(3))]
    [True, True, True]
    >>> runner.close()
    """

    def __init__(
        self,
        runner: EpisodeRunner,
        search: Search,
        *,
        imagination: Imagination | None = None,
        proposer: Proposer | None = None,
        seed: int = 0,
    ) -> None:
        self._search, self._seed = search, seed
        self._imagination = imagination or SameWorld(runner)
        self._proposer = proposer or MenuProposer(self._imagination.runner)
        self.calls = 0
        """How many actions were imagined so far, each of which is one call of the world."""

    @property
    def name(self) -> str:
        """The name of the policy in results."""
        return self._search.name

    def begin(self, episode: Episode) -> EpisodePlan:
        """Begin an episode, for which nothing is planned yet."""
        return EpisodePlan(self._imagination.begin(episode), random.Random(f"{self._seed}/{episode.seed}"))

    def act(self, episodes: Sequence[Episode], kept: Sequence[EpisodePlan]) -> list[str]:
        """Go on with each plan; where there is none, or the world showed something else, search, all side by side."""
        lost = []
        for episode, plan in zip(episodes, kept, strict=True):
            self._imagination.keep_up(plan.twin, episode)
            if not plan.ahead or plan.expected != episode.observations[-1]:
                plan.ahead.clear()
                lost.append(plan)
        self._plan(lost)
        actions = []
        for plan in kept:
            action, plan.expected = plan.ahead.popleft() if plan.ahead else (FINISH, None)
            actions.append(action)
        return actions

    def _plan(self, plans: Sequence[EpisodePlan]) -> None:
        """Run a search for each plan, all in shared waves; an imagined session is freed when its search is over."""
        nodes: list[SearchNode] = []
        try:
            roots = self._valued(_imagined([plan.twin for plan in plans]), [()] * len(plans), nodes)
            running: dict[int, tuple[SearchRun, list[Try]]] = {}
            for place, (plan, root) in enumerate(zip(plans, roots, strict=True)):
                if root.proposals:
                    search = self._search.run(root, plan.rng)
                    running[place] = search, next(search)
            while running:
                found = iter(self._tried([one for _, tries in running.values() for one in tries], nodes))
                going: dict[int, tuple[SearchRun, list[Try]]] = {}
                for place, (search, tries) in running.items():
                    try:
                        going[place] = search, search.send([next(found) for _ in tries])
                    except StopIteration as stop:
                        best: SearchNode = stop.value
                        plan, root = plans[place], roots[place]
                        plan.ahead.extend(zip(best.path, best.predicted, strict=True))
                        if best.solved and not best.over:
                            plan.ahead.append((FINISH, ""))
                        elif best is root:  # The world failed at every action, which is no reason to finish.
                            plan.ahead.append((plan.rng.choice(root.proposals), ""))
                running = going
        finally:
            for node in nodes:
                node.episode.session.close()

    def _tried(self, tries: Sequence[Try], nodes: list[SearchNode]) -> list[SearchNode | None]:
        """Return the state that each action leads to; None where the world failed."""
        self.calls += len(tries)
        forks = _imagined([one.node.episode for one in tries])
        try:
            transitions = self._imagination.runner.advance(forks, [one.action for one in tries])
        except BaseException:
            for fork in forks:
                fork.session.close()
            raise
        good: list[int] = []
        for place, transition in enumerate(transitions):
            if "failure" in transition.info:
                forks[place].session.close()
            else:
                good.append(place)
        reached = self._valued(
            [forks[place] for place in good],
            [(*tries[place].node.path, tries[place].action) for place in good],
            nodes,
            [transitions[place] for place in good],
        )
        found: list[SearchNode | None] = [None] * len(tries)
        for place, node in zip(good, reached, strict=True):
            found[place] = node
        return found

    def _valued(
        self,
        episodes: Sequence[Episode],
        paths: Sequence[tuple[str, ...]],
        nodes: list[SearchNode],
        transitions: Sequence[Transition] | None = None,
    ) -> list[SearchNode]:
        """Return states with their values and proposals, and note them in `nodes`, which owns their sessions.

        An episode that is not over is worth what finishing on a fork of it would be worth.
        """
        reached = [
            SearchNode(episode, (), 0.0, episode.over, path) for episode, path in zip(episodes, paths, strict=True)
        ]
        nodes += reached
        going = [node for node in reached if not node.over]
        for node, transition in zip(reached, transitions or (), strict=bool(transitions)):
            node.value = transition.info.get("score", 0.0)
        finished = _imagined([node.episode for node in going])
        try:
            ends = self._imagination.runner.advance(finished, [FINISH] * len(finished))
        finally:
            for fork in finished:
                fork.session.close()
        proposals = self._proposer.propose([node.episode for node in going])
        for node, end, offered in zip(going, ends, proposals, strict=True):
            node.value, node.proposals = end.info.get("score", 0.0), offered
        return reached


def _imagined(episodes: Sequence[Episode]) -> list[Episode]:
    """Return a fork of each episode.

    Raises:
        EngineError: A system cannot be forked; no fork stays open then.
    """
    forks: list[Episode] = []
    try:
        for episode in episodes:
            forks.append(episode.fork("imagined"))
    except BaseException:
        for fork in forks:
            fork.session.close()
        raise
    return forks
