"""Pairs of a better and a worse action, proven on exact forks of the grounded world.

A session that won is played again. Before each of its turns the world is forked: on the fork another action of the
task's menu comes first, and then the rest of the session. Where the state differs and the rest no longer wins, the
action that was recorded is better than the other one: everything else is equal, draws of chance included.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.finish import VERB, finishes
from agentworld_gym.core.contracts import Action
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.recipe.export.agent_session import AgentSession
from agentworld_gym.recipe.export.messages import ChatMessage, chat, in_dialect
from agentworld_gym.recipe.export.replays import Replays

TRIES = 4
"""How many other actions are tried at a turn, at most, until one loses."""

NO_LIMIT = 1_000_000
"""A step limit beyond that of any session: what a pair compares are outcomes, and not lengths."""


class Pairs:
    """Finds pairs in sessions that won; at most one a turn, and equal ones for equal sessions.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> from agentworld_gym.core.tasks import generate
    >>> task = generate("terminal", "copy_move", 1, 0)
    >>> session = AgentSession("a", load_spec("terminal"), (), task.instruction, "", task.expert, (), True, 1.0,
    ...                        task.id, task.family, 1, 0, "train", "expert", "", lambda: task)
    >>> pairs = Pairs()
    >>> found = pairs.of(session)
    >>> [pair["chosen"][0]["content"] != pair["rejected"][0]["content"] for pair in found][:1]
    [True]
    >>> pairs.close()
    """

    def __init__(self) -> None:
        self._replays = Replays(NO_LIMIT)

    def of(self, session: AgentSession) -> list[dict[str, Any]] | str:
        """Return the pairs of a session, or why there are none.

        Each has the messages up to a turn as `prompt`, and one message of the agent as `chosen` and as `rejected`.

        Raises:
            WorldNotConfigured: The domain has no grounded world.
        """
        task = session.find_task()
        if task is None:
            return "its task cannot be made again"
        runner, episode = self._replays.begin(session, task)
        forks: list[Episode] = []
        try:
            end = None
            for place, action in enumerate(session.replayed):
                if place < len(session.actions):
                    forks.append(runner.fork(episode))
                end = _step(runner, episode, action)
                if end.terminated or end.truncated:
                    break
            if not _won(end):
                return "it does not win when it is played again"
            messages = chat(session, episode.shown)
            found = [pair for pair in self._pairs(session, runner, forks, messages) if pair is not None]
            return found or "no other action loses"
        finally:
            for one in (episode, *forks):
                one.session.close()

    def _pairs(
        self, session: AgentSession, runner: EpisodeRunner, forks: Sequence[Episode], messages: Sequence[ChatMessage]
    ) -> Iterator[dict[str, Any] | None]:
        for turn, fork in enumerate(forks):
            place = 2 + 2 * turn
            if not messages[place]["train"]:
                continue
            rng = random.Random(f"{session.id}/{turn}")
            rest = session.replayed[turn:]
            worse = self._worse(runner, fork, rest, rng)
            if worse is None:
                continue
            shown = fork.session.observation
            text = in_dialect(runner.parser, runner.parser.parse(worse, session.tools, shown=shown), shown, session)
            yield {
                "prompt": [_plain(message) for message in messages[:place]],
                "chosen": [_plain(messages[place])],
                "rejected": [{"role": "assistant", "content": escape(text)}],
                "turn": turn + 1,
                **session.labels(),
            }

    def _worse(
        self, runner: EpisodeRunner, fork: Episode, rest: Sequence[str | Action], rng: random.Random
    ) -> str | None:
        """Return another action for a turn after which the rest of a session does not win; None where none is found."""
        # What the session does later is no mistake: done now, the rest would only do it twice.
        later = {action if isinstance(action, str) else action.raw for action in rest}
        offered = dict.fromkeys((*runner.offers(fork), VERB))
        others = [action for action in offered if action != rest[0] and (finishes(action) or action not in later)]
        rng.shuffle(others)
        # What ends the episode loses wherever it is too early: one of these says as much as all of them.
        ends = [action for action in others if finishes(action)][:1]
        tried = [action for action in others if not finishes(action)][: TRIES - len(ends)] + ends
        return next((action for action in tried if _loses(runner, fork, action, rest)), None)

    def close(self) -> None:
        """Close the worlds."""
        self._replays.close()


def _loses(runner: EpisodeRunner, fork: Episode, action: str, rest: Sequence[str | Action]) -> bool:
    """Whether an action changes the state, and the rest of a session does not win after it."""
    twin = runner.fork(fork)
    try:
        before = _state(twin)
        step = _step(runner, twin, action)
        if "failure" in step.info:
            return False
        if step.terminated or step.truncated:
            return not _won(step)
        if _state(twin) == before:
            return False
        for following in rest:
            step = _step(runner, twin, following)
            if step.terminated or step.truncated or "failure" in step.info:
                break
        return "failure" not in step.info and not _won(step)
    finally:
        twin.session.close()


def _step(runner: EpisodeRunner, episode: Episode, action: str | Action) -> Transition:
    (step,) = runner.advance([episode], [action])
    return step


def _won(step: Transition | None) -> bool:
    return step is not None and step.info.get("success") is True


def _state(episode: Episode) -> Mapping[str, Any]:
    session: Any = episode.session
    return dict(session.machine.state())


def _plain(message: ChatMessage) -> dict[str, Any]:
    return {"role": message["role"], "content": message["content"]}
