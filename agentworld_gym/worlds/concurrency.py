"""The order of the members of a wave: where a session stands in it twice, and where one takes long."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from agentworld_gym.core.contracts import Action, Failure, Observation
from agentworld_gym.core.flow import Work, in_one_wave

S = TypeVar("S")
T = TypeVar("T")

PATIENCE = 0.05
"""The seconds without progress after which the rest of a wave goes on beside the member that takes so long."""

AT_ONCE = 16
"""The threads that begin a wave of sessions which mostly wait, for a process or a page. More brought nothing."""

MAX_THREADS = 64


def rounds(sessions: Sequence[object]) -> Iterator[list[int]]:
    """Split a wave into rounds in which each session stands once; each round is in the order of the wave.

    >>> a, b = object(), object()
    >>> list(rounds([a, b, a]))
    [[0, 1], [2]]
    """
    waiting = list(range(len(sessions)))
    while waiting:
        seen: set[int] = set()
        here: list[int] = []
        later: list[int] = []
        for index in waiting:
            key = id(sessions[index])
            (later if key in seen else here).append(index)
            seen.add(key)
        yield here
        waiting = later


def in_rounds(
    answering: Callable[[S, Action], Work[Observation | Failure]], sessions: Sequence[S], actions: Sequence[Action]
) -> list[Observation | Failure]:
    """Answer the actions of a wave, all at once; a session that stands in it twice is stepped in order.

    Args:
        answering: A function that makes the piece of work of one answer.
        sessions: The sessions.
        actions: The actions, one a session.
    """
    if len(set(map(id, sessions))) == len(sessions):  # This is nearly every step, whose own cost counts.
        return in_one_wave(map(answering, sessions, actions))
    answers: dict[int, Observation | Failure] = {}
    for indices in rounds(sessions):
        works = [answering(sessions[index], actions[index]) for index in indices]
        answers |= zip(indices, in_one_wave(works), strict=True)
    return [answers[index] for index in range(len(actions))]


def side_by_side(jobs: Sequence[Callable[[], T]], at_once: int = 1) -> list[T]:
    """Do some pieces of work, and return their results in order.

    One thread does one piece after the other, as long as there is progress. Where nothing gets done for a while,
    further threads take the work that still waits, twice as many each time. Quick work is therefore hardly ever done
    by two threads at once. After an interrupt no further work is begun.

    Args:
        jobs: The functions to call; they share nothing.
        at_once: How many threads begin. More than one pays for work that waits, and not for work that computes.

    Raises:
        Exception: A piece of work raised it; of several it is the first in the order of the threads. No further work is
            begun then.

    >>> side_by_side([lambda: 1, lambda: 2])
    [1, 2]
    """
    if len(jobs) == 1:
        return [jobs[0]()]
    waiting, results = deque(range(len(jobs))), dict[int, T]()

    def work() -> None:
        while waiting:
            try:
                index = waiting.popleft()
            except IndexError:  # Another thread was quicker.
                return
            results[index] = jobs[index]()

    with ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="agentworld-wave") as pool:
        threads, before = [pool.submit(work) for _ in range(min(at_once, len(jobs)))], 0
        try:
            while not _ended(threads):
                if len(results) == before and waiting:
                    more = min(len(threads), MAX_THREADS - len(threads))
                    threads += [pool.submit(work) for _ in range(more)]
                before = len(results)
        finally:
            waiting.clear()
    for thread in threads:
        thread.result()
    return [results[index] for index in range(len(jobs))]


class SideBySide:
    """Answers functions by what they return, each as it ends: what a generator is for requests, for calls that wait.

    >>> jobs = SideBySide()
    >>> dict(jobs.submit([lambda: 1, lambda: 2]))
    {0: 1, 1: 2}
    """

    def submit(self, jobs: Sequence[Callable[[], T]]) -> Iterator[tuple[int, T]]:
        """Call some functions side by side, and yield what they return with the place of each."""
        yield from enumerate(side_by_side(jobs, AT_ONCE) if jobs else ())

    def stream(self, deliver: Callable[[Any], None]) -> JobStream:
        """Open a stream of functions, none of which waits for another."""
        return JobStream(deliver)


class JobStream:
    """Functions that are called on threads of their own, and whose results are delivered as they come.

    Args:
        deliver: The function that takes results, each with the number of its job.
    """

    def __init__(self, deliver: Callable[[Any], None]) -> None:
        self._deliver = deliver
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="agentworld-step")

    def send(self, jobs: Sequence[tuple[int, Callable[[], Any]]]) -> None:
        """Begin some functions, each under a number of its own."""
        for number, job in jobs:
            self._pool.submit(self._do, number, job)

    def _do(self, number: int, job: Callable[[], Any]) -> None:
        try:
            self._deliver([(number, job())])
        except BaseException as error:
            self._deliver(error)

    def work(self) -> None:
        """Do nothing: the threads work."""

    def close(self) -> None:
        """Begin no further function."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _ended(threads: Sequence[Future[None]]) -> bool:
    """Return whether, after some patience, all threads have ended, or one of them by an exception."""
    over, going = wait(threads, PATIENCE, FIRST_EXCEPTION)
    return not going or any(thread.exception() is not None for thread in over)
