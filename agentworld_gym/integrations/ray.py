"""Rollouts on the nodes of a Ray cluster, played by `agentworld_gym.agents.policies.playing` on each of them.

    for played in play_on_ray(options, partial(open_policy, "expert", options.domain_spec()), range(1000)):
        ...

Every worker has the world to itself and takes a seed whenever one of its episodes ends. The driver keeps what has
ended, so that a node that is lost costs only the episodes that were under way there, which others play again. This
needs the extra `ray`.
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentworld_gym.agents.policies.playing import WAVE, Played, Policy, play
from agentworld_gym.base.errors import AgentWorldError, SpecError, install
from agentworld_gym.core.traces.log import WORKER
from agentworld_gym.envs.episodes.runner import EpisodeRunner
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

_FAREWELL_S = 10.0


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
    for name, number in (("workers", workers), ("wave", wave)):
        if number is not None and number < 1:
            raise SpecError("play_on_ray", name, number, "an integer of at least 1")
    with _connected():
        count = workers or sum(1 for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))
        share = max(1, min(wave, -(-len(seeds) // max(1, count))))
        crew = _Crew(options, make_policy, seeds, share)
        try:
            for _ in range(max(1, count)):
                crew.hire()
            while crew.unfinished:
                if (played := crew.next_played()) is not None:
                    yield played
        finally:
            crew.dismiss()


class _Crew:
    """The workers of one run, and what is left to do."""

    def __init__(self, options: EnvOptions, make_policy: Callable[[], Policy], seeds: Sequence[int], wave: int) -> None:
        self._options, self._make_policy, self._wave = options, make_policy, wave
        self.unfinished = set(range(len(seeds)))
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._dealer = ray.remote(_Dealer).options(num_cpus=0, scheduling_strategy=here).remote(list(seeds))
        self._names = itertools.count()
        self._workers: dict[str, Any] = {}
        self._playing: dict[Any, str] = {}
        self._begun: set[str] = set()
        self._losses: Counter[int] = Counter()
        self._false_starts = 0

    def hire(self) -> None:
        """Begin a worker, on the emptiest node that has room; where there is none, it begins once there is."""
        name = f"{WORKER}{next(self._names)}"
        options = self._options
        if options.traces is not None:
            options = options.changed(traces=str(Path(options.traces).absolute() / name))
        make = ray.remote(_Worker).options(num_cpus=1, scheduling_strategy="SPREAD", max_restarts=0)
        self._workers[name] = make.remote(name, options.keywords(), self._make_policy, self._wave, self._dealer)
        self._play(name)

    def next_played(self) -> Played | None:
        """Wait until something happens; return an episode that ended, if that was it."""
        [stream], _ = ray.wait(list(self._playing), num_returns=1)
        try:
            played: Played = ray.get(next(stream))
        except StopIteration:
            del self._playing[stream]
        except RayTaskError as error:
            raise error.cause or error from error
        except RayError as error:
            self._lose(self._playing.pop(stream), error)
        else:
            self._begun.add(self._playing[stream])
            if played.place in self.unfinished:
                self.unfinished.remove(played.place)
                return played
        return None

    def dismiss(self) -> None:
        """End all workers; once all is done, those that played close their worlds and logs first."""
        if not self.unfinished:
            closing = [worker.close.remote() for name, worker in self._workers.items() if name in self._begun]
            ray.wait(closing, num_returns=len(closing), timeout=_FAREWELL_S)
        for actor in self._workers.values():
            ray.kill(actor)

    def _play(self, name: str) -> None:
        stream = self._workers[name].play.options(num_returns="streaming").remote()
        self._playing[stream] = name

    def _lose(self, name: str, error: RayError) -> None:
        """Deal anew what a lost worker had in hand, and take on another one."""
        held: list[int] = ray.get(self._dealer.take_back.remote(name, self.unfinished))
        reason = str(error).partition("\n")[0]
        logger.warning("%s is lost with %d episodes under way, which are played again: %s", name, len(held), reason)
        self._losses.update(held)
        self._false_starts = 0 if held or name in self._begun else self._false_starts + 1
        ray.kill(self._workers.pop(name))
        if self._false_starts >= MOST_LOSSES:
            raise AgentWorldError(f"{MOST_LOSSES} workers in a row were lost before they played: {error}") from error
        if guilty := [place for place in held if self._losses[place] >= MOST_LOSSES]:
            raise AgentWorldError(
                f"the episode in place {guilty[0]} was under way each time that one of {MOST_LOSSES} workers was lost"
            ) from error
        busy = set(self._playing.values())
        for idle in [other for other in self._workers if other not in busy]:
            self._play(idle)
        self.hire()


class _Dealer:
    """Deals the seeds. It runs beside the driver, so that no other node takes them along when it is lost."""

    def __init__(self, seeds: list[int]) -> None:
        self._left = deque(enumerate(seeds))
        self._held: dict[str, dict[int, int]] = {}

    def deal(self, worker: str) -> tuple[int, int] | None:
        """Return the place and the seed of the next episode; None where none is left."""
        if not self._left:
            return None
        place, seed = self._left.popleft()
        self._held.setdefault(worker, {})[place] = seed
        return place, seed

    def take_back(self, worker: str, unfinished: Collection[int]) -> list[int]:
        """Return the places that a worker had in hand, and put them first again."""
        held = {place: seed for place, seed in self._held.pop(worker, {}).items() if place in unfinished}
        self._left.extendleft(sorted(held.items(), reverse=True))
        return list(held)


class _Worker:
    """A process on some node that plays in a world of its own."""

    def __init__(
        self, name: str, options: dict[str, Any], make_policy: Callable[[], Policy], wave: int, dealer: Any
    ) -> None:
        self._name, self._options, self._make_policy, self._wave, self._dealer = (
            name,
            options,
            make_policy,
            wave,
            dealer,
        )
        self._runner: EpisodeRunner | None = None

    def play(self) -> Iterator[Played]:
        """Yield episodes as they end, until no seed is left."""
        # The world is opened here, because Ray takes an error of a constructor for the end of the process.
        self._runner = self._runner or EnvOptions(**self._options).runner()
        places: list[int] = []

        def dealt() -> Iterator[int]:
            while (card := ray.get(self._dealer.deal.remote(self._name))) is not None:
                places.append(card[0])
                yield card[1]

        for played in play(self._runner, self._make_policy(), dealt(), wave=self._wave):
            yield replace(played, place=places[played.place], id=f"{self._name}/{played.id}")

    def close(self) -> None:
        """Close the world and the logs."""
        if self._runner is not None:
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
