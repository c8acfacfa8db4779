"""Work on the nodes of a Ray cluster: episodes that are played, and sessions that are recorded or replayed.

    for played in play_on_ray(options, partial(open_policy, "expert", options.domain_spec()), range(1000)):
        ...

Every worker has the world to itself and takes a seed whenever one of its episodes ends. The driver keeps what has
ended, so that a node that is lost costs only the episodes that were under way there, which others play again. This
needs the extra `ray`.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from agentworld_gym.agents.policies.playing import WAVE, Played, Policy, play
from agentworld_gym.base.errors import AgentWorldError, SpecError, install
from agentworld_gym.base.process.elsewhere import Hand
from agentworld_gym.base.process.parallel import WorkerDied
from agentworld_gym.core.traces.log import WORKER
from agentworld_gym.envs.options import EnvOptions

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise ImportError(f"this needs Ray: {install('ray')}") from error

logger = logging.getLogger(__name__)

MOST_LOSSES = 3
"""The number of workers that may be lost with one episode under way, or in a row before they play any."""

_FAREWELL_S, _HASTE_S = 10.0, 2.0
"""How long workers may take to close their worlds: once all is done, and where something is left."""


def play_on_ray(
    options: EnvOptions,
    make_policy: Callable[[], Policy],
    seeds: Sequence[int],
    *,
    workers: int | None = None,
    wave: int = WAVE,
) -> Generator[Played, None, None]:
    """Play one episode for each seed, on all nodes of a Ray cluster.

    The cluster is the one that this process is connected to, or that `ray.init()` finds: the one of `RAY_ADDRESS` or of
    this machine, or else a cluster of this machine alone. An episode is what it is without Ray: it depends on its seed
    and the world. Only `Played.id` differs, which names the episode in the traces of its worker.

    Args:
        options: The options of the environment. Files that they name must be there on every node. With `traces` each
            worker writes to a folder of its own in that one, on its node; what reads traces takes them as one run.
        make_policy: A function that makes the policy on a node; it is pickled.
        seeds: The seeds; equal seeds give equal tasks in every world.
        workers: The number of processes, each of which takes one CPU; None is one for each node that has any.
        wave: The number of episodes that run at a time in each worker.

    Yields:
        Episodes in the order in which they end; `place` orders them as the seeds.

    Raises:
        SpecError: An option does not fit.
        AgentWorldError: There is no cluster, a worker cannot play, or several were lost: with the same episode under
            way, or in a row before they played any.
    """
    if options.traces is not None:  # A worker runs in a folder of its own.
        options = options.changed(traces=str(Path(options.traces).absolute()))
    make = partial(_Playing, options.keywords(), make_policy)
    with closing(spread(make, seeds, workers=workers, width=wave)) as playing:
        for place, played in playing:
            yield replace(played, place=place)


def spread(
    make: Callable[[str, int], Hand[Any, Any]],
    items: Sequence[Any],
    *,
    workers: int | None = None,
    width: int = WAVE,
    ahead: int | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Do a piece of work for each item, on all nodes of a Ray cluster; see `play_on_ray`.

    Args:
        make: A function of a worker's name and of how many items it has in hand at a time, which makes what works there
            (see `agentworld_gym.base.process.elsewhere.Hand`); it is pickled.
        items: The items; a range may be as long as it likes.
        workers: The number of processes; None is one for each node that has a CPU.
        width: The number of items that each worker has in hand at a time.
        ahead: How far behind the first item that is not done others may begin; None for any number.

    Yields:
        The place of an item and what was made of it, each item once, in the order in which they end.

    Raises:
        SpecError: A number leaves nobody to work, or what works finds an option wrong.
        WorkerDied: Several workers were lost: with the same item in hand, or in a row before they did any.
        AgentWorldError: There is no cluster, or a worker cannot work.
    """
    for name, number in (("workers", workers), ("wave", width)):
        if number is not None and number < 1:
            raise SpecError("play_on_ray", name, number, "an integer of at least 1")
    with _connected():
        count = workers or sum(1 for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))
        share = max(1, min(width, -(-len(items) // max(1, count))))
        crew = _Crew(make, items, share, ahead)
        try:
            for _ in range(max(1, min(count, len(items)))):
                crew.hire()
            while crew.unfinished:
                if (done := crew.next_done()) is not None:
                    yield done
        finally:
            crew.dismiss()


class _Crew:
    """The workers of one run, and what is left to do."""

    def __init__(
        self, make: Callable[[str, int], Hand[Any, Any]], items: Sequence[Any], width: int, ahead: int | None
    ) -> None:
        self._make, self._width, self._ahead = make, width, ahead
        self._count, self._first, self._done = len(items), 0, set[int]()
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._dealer = ray.remote(_Dealer).options(num_cpus=0, scheduling_strategy=here).remote(items, ahead)
        self._names = itertools.count()
        self._workers: dict[str, Any] = {}
        self._working: dict[Any, str] = {}
        self._begun: set[str] = set()
        self._losses: Counter[int] = Counter()
        self._false_starts = 0

    @property
    def unfinished(self) -> int:
        """How many items are not done."""
        return self._count - self._first - len(self._done)

    def hire(self) -> None:
        """Begin a worker, on the emptiest node that has room; where there is none, it begins once there is."""
        name = f"{WORKER}{next(self._names)}"
        make = ray.remote(_Worker).options(num_cpus=1, scheduling_strategy="SPREAD", max_restarts=0)
        self._workers[name] = make.remote(name, self._make, self._width, self._dealer, os.getcwd())
        self._set_to_work(name)

    def next_done(self) -> tuple[int, Any] | None:
        """Wait until something happens; return the place of an item that is done and what was made of it, if that was
        it."""
        [stream], _ = ray.wait(list(self._working), num_returns=1)
        try:
            place, made = ray.get(next(stream))
        except StopIteration:
            del self._working[stream]
        except RayTaskError as error:
            raise error.cause or error from error
        except RayError as error:
            self._lose(self._working.pop(stream), error)
        else:
            self._begun.add(self._working[stream])
            if place >= self._first and place not in self._done:
                self._finish(place)
                return place, made
        return None

    def _finish(self, place: int) -> None:
        self._done.add(place)
        before = self._first
        while self._first in self._done:
            self._done.remove(self._first)
            self._first += 1
        if self._ahead is not None and self._first > before:
            self._dealer.reached.remote(self._first)
            self._wake()

    def dismiss(self) -> None:
        """End all workers; those that worked close their worlds and logs first, if what they have in hand lets them."""
        try:
            self._dealer.stop.remote()
            ending = [worker.close.remote() for name, worker in self._workers.items() if name in self._begun]
            if ending:
                patience = _FAREWELL_S if not self.unfinished else _HASTE_S
                ray.wait(ending, num_returns=len(ending), timeout=patience)
        finally:
            for actor in self._workers.values():
                ray.kill(actor)

    def _set_to_work(self, name: str) -> None:
        stream = self._workers[name].work.options(num_returns="streaming").remote()
        self._working[stream] = name

    def _wake(self) -> None:
        """Set to work those that were dealt nothing more."""
        busy = set(self._working.values())
        for idle in [other for other in self._workers if other not in busy]:
            self._set_to_work(idle)

    def _lose(self, name: str, error: RayError) -> None:
        """Deal anew what a lost worker had in hand, and take on another one."""
        held = [place for place in ray.get(self._dealer.held.remote(name)) if self._is_missing(place)]
        ray.get(self._dealer.take_back.remote(name, held))
        reason = str(error).partition("\n")[0]
        logger.warning("%s is lost with %d episodes under way, which are played again: %s", name, len(held), reason)
        self._losses.update(held)
        self._false_starts = 0 if held or name in self._begun else self._false_starts + 1
        ray.kill(self._workers.pop(name))
        if self._false_starts >= MOST_LOSSES:
            raise WorkerDied(f"{MOST_LOSSES} workers in a row were lost before they played: {error}") from error
        if guilty := [place for place in held if self._losses[place] >= MOST_LOSSES]:
            died = WorkerDied(
                f"the episode in place {guilty[0]} was under way each time that one of {MOST_LOSSES} workers was lost"
            )
            died.item = guilty[0]
            raise died from error
        self._wake()
        self.hire()

    def _is_missing(self, place: int) -> bool:
        return place >= self._first and place not in self._done


class _Dealer:
    """Deals the items. It runs beside the driver, so that no other node takes them along when it is lost."""

    def __init__(self, items: Sequence[Any], ahead: int | None) -> None:
        self._items, self._next, self._again = items, 0, deque[int]()
        self._ahead, self._first = ahead, 0
        self._held: dict[str, set[int]] = {}

    def deal(self, worker: str) -> tuple[int, Any] | None:
        """Return the place of the next item and the item; None where none is left, or others have to end first."""
        if self._again:
            place = self._again.popleft()
        elif self._next < len(self._items) and (self._ahead is None or self._next < self._first + self._ahead):
            place, self._next = self._next, self._next + 1
        else:
            return None
        self._held.setdefault(worker, set()).add(place)
        return place, self._items[place]

    def reached(self, first: int) -> None:
        """Take note of the first place that is not done."""
        self._first = first

    def stop(self) -> None:
        """Deal no more."""
        self._again.clear()
        self._next = len(self._items)

    def held(self, worker: str) -> list[int]:
        """Return the places that a worker was dealt."""
        return sorted(self._held.get(worker, ()))

    def take_back(self, worker: str, places: Sequence[int]) -> None:
        """Put some places of a worker first again."""
        self._held.pop(worker, None)
        self._again.extendleft(reversed(places))


class _Worker:
    """A process on some node."""

    def __init__(
        self, name: str, make: Callable[[str, int], Hand[Any, Any]], width: int, dealer: Any, folder: str
    ) -> None:
        self._name, self._make, self._width, self._dealer = name, make, width, dealer
        with suppress(OSError):  # Relative paths count from where the command runs, if the node has that folder.
            os.chdir(folder)
        self._hand: Hand[Any, Any] | None = None

    def work(self) -> Iterator[tuple[int, Any]]:
        """Yield what is made of items as they end, until no more are dealt."""
        # The world is opened here, because Ray takes an error of a constructor for the end of the process.
        self._hand = self._hand or self._make(self._name, self._width)
        places: list[int] = []

        def dealt() -> Iterator[Any]:
            while (card := ray.get(self._dealer.deal.remote(self._name))) is not None:
                places.append(card[0])
                yield card[1]

        for number, made in self._hand.work(dealt()):
            yield places[number], made

    def close(self) -> None:
        """Close the world and the logs."""
        if self._hand is not None:
            self._hand.close()


class _Playing:
    """Plays episodes in a world of its own; items are seeds."""

    def __init__(self, options: dict[str, Any], make_policy: Callable[[], Policy], name: str, width: int) -> None:
        opened = EnvOptions(**options)
        if opened.traces is not None:
            opened = opened.changed(traces=str(Path(opened.traces) / name))
        self._name, self._width, self._runner, self._policy = name, width, opened.runner(), make_policy()

    def work(self, items: Iterator[int]) -> Iterator[tuple[int, Played]]:
        """Play one episode for each seed."""
        for played in play(self._runner, self._policy, items, wave=self._width):
            yield played.place, replace(played, id=f"{self._name}/{played.id}")

    def close(self) -> None:
        """Close the world and the logs."""
        self._runner.close()


@contextmanager
def _connected() -> Iterator[None]:
    """Connect to a cluster, unless this process is connected to one; that connection stays as it is.

    Raises:
        AgentWorldError: There is no cluster to connect to, and none could be started.
    """
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(log_to_driver=False, logging_level=logging.WARNING, include_dashboard=False)
    except Exception as error:  # Ray raises plain exceptions, such as that its node did not start in time.
        raise AgentWorldError(f"no Ray cluster answers or starts: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()
