"""What a way is, how it is played, and what is said of one that does not win."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.locate import NotOnScreen
from agentworld_gym.core.screens.sight import ActionStream, Sight
from agentworld_gym.envs.episodes.episode import Episode, Info
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Moment, Transition

T = TypeVar("T")

Way = Callable[[str, str], ActionStream]
"""A solution: a function of the instruction and the first screen. It yields actions, the last of which finishes, and is
sent what each of them shows.

It knows what a person knows: the instruction, what it has been shown, and the actions of the domain. Its actions may
name elements by locators (`agentworld_gym.core.screens.locate`), and an element that is not on the screen raises
`NotOnScreen` at the `yield`. A way that is none for a task, such as one for level 3 alone, yields nothing.
"""

Ways = Mapping[str, Sequence[Way]]
"""The ways of a domain by family, or by the id of a hand-written task."""

FAILED = "the world failed"
"""What a report begins with where no check decided."""

SHOWN = 400
"""How many characters of an observation a report shows."""


@dataclass(frozen=True)
class Played:
    """How one way ended: `refused` says what did not accept it, and is empty where it won."""

    way: str
    actions: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def applies(self) -> bool:
        """Whether the way did anything."""
        return bool(self.actions)


def play(runner: EpisodeRunner, task: Task, way: Way) -> Played:
    """Play one way of one task to its end.

    A world that fails, as by the clock of a busy host, tells nothing of the checks: the way is played once more then.

    Args:
        runner: Of the domain's grounded world.
        task: The task.
        way: The way.
    """
    played = _played(runner, task, way)
    failed = any(line.startswith(FAILED) for line in played.refused)
    return _played(runner, task, way) if failed else played


def _played(runner: EpisodeRunner, task: Task, way: Way) -> Played:
    ((episode, first, _),) = runner.start([task.seed or 0], {"task": task})
    screen = first.removeprefix(task.instruction).removeprefix("\n\n")
    sight = Sight(task.domain, episode.observations)
    done: list[str] = []
    end: Transition | None = None
    refused: tuple[str, ...] = ()
    try:
        end = _carried_out(runner, episode, sight, way(task.instruction, screen), done)
    except NotOnScreen as error:
        refused = (str(error),)
    except (LookupError, RuntimeError, TypeError, ValueError) as error:
        refused = (f"the way cannot go on: {error!r} after {episode.observation[-SHOWN:]!r}",)
    if done and not refused:
        refused = _refusals(runner, episode, end)
    episode.session.close()
    return Played(name_of(way), tuple(done), refused)


def _carried_out(
    runner: EpisodeRunner, episode: Episode, sight: Sight, actions: ActionStream, done: list[str]
) -> Transition | None:
    """Carry out the actions of a way, and return the last step; None where the way has no action."""
    end: Transition | None = None
    planned = next(actions, None)
    while planned is not None:
        action = sight.resolve(planned)
        try:
            if action is None:
                planned = actions.throw(NotOnScreen(f"not on the screen: {planned}"))
                continue
            done.append(action)
            (end,) = runner.advance([episode], [action])
            if end.terminated or end.truncated:
                break
            sight.see(end.observation)
            planned = actions.send(end.observation)
        except StopIteration:
            break
    return end


def _refusals(runner: EpisodeRunner, episode: Episode, end: Transition | None) -> tuple[str, ...]:
    """Return what refused an episode that did not win: checks, or changes beside the task."""
    assert end is not None
    info: Info = end.info
    if info.get("success"):
        return ()
    if "failure" in info:
        return (f"{FAILED}: {info['failure']}",)
    if "action_error" in info:
        return (f"the last action cannot be read: {info['action_error']}",)
    if end.truncated:
        return (f"the step limit of {runner.limit(episode.task)} is reached",)
    if not end.terminated:
        return ("the way ends without a finish",)
    named = [f"changed beside the task: {field}" for field in info.get("collateral", [])]
    results = runner.test(episode, episode.task, Moment.FINISH)
    for number, check in enumerate(episode.task.success):
        passed = results.passed.get(number, 0.0) if results is not None else 0.0
        if passed < 1.0:
            asked = " | ".join(check.probes) or "the answer"
            wanted = check.expect or check.answer or check.action or check.observation
            named.append(f"check {number} ({passed:.2f}): {asked[:SHOWN]} wants {str(wanted)[:SHOWN]}")
    return tuple(named) or (f"success is {info.get('success')}, score {info.get('score')}",)


def only_if(applies: Callable[[str], object]) -> Callable[[Way], Way]:
    """Return a decorator: the way is none for tasks whose instruction does not pass a test.

    Args:
        applies: The test of the instruction.
    """

    def decorated(way: Way) -> Way:
        @wraps(way)
        def of_some(instruction: str, screen: str) -> ActionStream:
            if applies(instruction):
                yield from way(instruction, screen)

        return of_some

    return decorated


def given(read_wish: Callable[[str], T | None]) -> Callable[[Callable[[T, str, str], ActionStream]], Way]:
    """Return a decorator: the way is handed what is read off the instruction first, and is none where nothing is.

    Args:
        read_wish: Reads an instruction; it returns None, or an empty text, for the tasks of other ways.
    """

    def decorated(way: Callable[[T, str, str], ActionStream]) -> Way:
        @wraps(way)
        def of_some(instruction: str, screen: str) -> ActionStream:
            if wish := read_wish(instruction):
                yield from way(wish, instruction, screen)

        return of_some

    return decorated


def first(found: Iterable[T]) -> T:
    """Return the first of what was found.

    Raises:
        LookupError: Nothing was found. (`next` would end a way without a word.)
    """
    for one in found:
        return one
    raise LookupError("nothing was found")


def parts(pattern: str, text: str) -> tuple[str, ...]:
    """Return the groups of a pattern where it is first found in a text, without those that do not take part.

    Raises:
        ValueError: It is not found.
    """
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{pattern!r} is not in {text[-SHOWN:]!r}")
    return tuple(part for part in found.groups() if part is not None)


def name_of(way: Way) -> str:
    """Return the name of a way."""
    return getattr(way, "__name__", repr(way))


def read(pattern: str, text: str) -> str:
    """Return what the first group with a match holds where a pattern is first found, line by line.

    Raises:
        ValueError: The pattern is not found.
    """
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise ValueError(f"{pattern!r} is not in {text[-SHOWN:]!r}")
    return next((group for group in match.groups() if group is not None), match[0])


def fixed(name: str, *actions: str) -> Way:
    """Return a way of fixed actions, for hand-written tasks; `finish` follows where they do not finish.

    Args:
        name: The name of the way, in a few words.
        actions: What it does.
    """

    def way(instruction: str, screen: str) -> ActionStream:
        yield from (action for action in actions)  # What an action shows can be sent to a generator alone.
        if not finishes(actions[-1]):
            yield "finish"

    way.__name__ = name
    return way
