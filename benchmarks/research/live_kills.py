"""Live systems that are killed in the middle of waves and recordings: members fail alone, and nothing is left.

    python benchmarks/research/live_kills.py ENV CONFIG --action ACTION [--members 8] [--kills 100] [--root]
    python benchmarks/research/live_kills.py ENV CONFIG --collect 200 [--workers 2] [--kills 100]

Processes are killed with SIGKILL, drawn at random among all that the sessions started: the sandbox, the server, or what
it started; with `--workers` the processes that record as well.

In waves, half of the kills come before a step and half in its middle, and one in five hits a session that waits for its
episode or just starts. The table counts the kills, the episodes that ended by one, and the episodes that ended though
nobody had hit them. A recording is compared with one that nobody
disturbed: rows that are lost, doubled, or different. In this process its kills and the ends of its episodes are counted
as well; an episode that ends so is played again. Both count the processes and folders that are left at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium as gym

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.cli.common import spec_source
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.registration import find_domain
from agentworld_gym.kit.live import LiveMachine, LiveSession
from agentworld_gym.kit.live.pool import LivePool
from agentworld_gym.kit.live.process_watch import family_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows

RATE = 0.33
"""How many kills there are in the time of one session; a session is given up after three."""

PATIENCE = 8
"""How many waves behind its kill an episode may end; one that goes on may be hit again after that."""

SPARE = 0.2
"""The share of the kills that hit a session which plays no episode."""

LATEST = 0.05
"""How many seconds behind the beginning of a step a kill in its middle may come."""


def main() -> None:
    """Kill, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env", help="the domain, such as mcp, or custom")
    parser.add_argument("config")
    parser.add_argument("--action")
    parser.add_argument("--collect", type=int, help="record so many sessions")
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--root", action="store_true", help="kill the first process of a session alone, in waves")
    asked = parser.parse_args()
    world = f"live:{os.path.abspath(asked.config)}"
    with tempfile.TemporaryDirectory() as own:
        # Others may have folders of live systems beside.
        os.environ["TMPDIR"] = tempfile.tempdir = own
        if asked.collect:
            _recording(asked.env, world, asked.collect, asked.workers, asked.kills)
        elif asked.action:
            _waves(asked.env, world, asked.action, asked.members, asked.kills, asked.root)
        else:
            parser.error("--action for waves, or --collect")
        until = time.monotonic() + 10
        while (left := _processes()) and time.monotonic() < until:
            time.sleep(0.05)
        print(f"left: {len(left)} processes, {len(list(Path(own).glob('agentworld-live-*')))} folders")


def _waves(env: str, world: str, action: str, members: int, kills: int, root: bool) -> None:
    domain, rng = find_domain(env), random.Random(0)
    name = "AgentWorld/Custom-v0" if domain is None else domain.env_id
    live = world.removeprefix("live:")
    envs = gym.make_vec(f"agentworld_gym:{name}", members, live=live, reading="exact", max_steps=10**6)
    envs.reset(seed=0)
    runner = envs.unwrapped
    struck: dict[int, int] = {}  # the wave by the episode that was hit in it
    kept = []  # so that no two episodes have the same number
    done = spare = ended = others = waves = 0
    waiting: set[int] = set()
    began = time.perf_counter()
    last = 0  # the wave of the last kill
    while done + spare < kills or (waiting and waves < last + PATIENCE):
        episodes = list(runner.episodes)
        late = None
        if done + spare < kills:
            hit = rng.randrange(members)
            episode = episodes[hit]
            fresh = waves - struck.get(id(episode), -PATIENCE) >= PATIENCE
            family = _family(episode)[: 1 if root else None] if fresh and not episode.over else []
            if rng.random() < SPARE:
                played = {pid for one in episodes for pid in _family(one)}
                if waits := [pid for pid in _processes() if pid not in played]:
                    _killer(rng.choice(waits))()
                    spare += 1
            elif family:
                kept.append(episode)
                struck[id(episode)] = waves
                waiting.add(id(episode))
                kill = _killer(rng.choice(family))
                done, last = done + 1, waves
                if rng.random() < 0.5:
                    kill()
                else:
                    late = threading.Timer(rng.random() * LATEST, kill)
                    late.start()
        truncated = envs.step([action] * members)[3]
        waves += 1
        if late is not None:
            late.join()
        for place in range(members):
            if truncated[place]:
                by_kill = id(episodes[place]) in struck
                ended, others = ended + by_kill, others + (not by_kill)
                waiting.discard(id(episodes[place]))
    seconds = time.perf_counter() - began
    envs.close()
    print(f"kills {done + spare}, {spare} of them of sessions that waited or began")
    went_on = done - ended  # A shell begins another one over the same files where its own is ended.
    print(f"episodes hit {done}: {ended} ended, {went_on} went on; other episodes that ended: {others}")
    print(f"{waves} waves of {members} in {seconds:.1f} s")


def _family(episode: object) -> list[int]:
    with suppress(Exception):  # It is lost already.
        return [pid for root in episode.session.machine.pids for pid in family_of(root)]  # type: ignore[attr-defined]
    return []


def _killer(pid: int) -> Callable[[], None]:
    def kill() -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    return kill


def _recording(env: str, world: str, sessions: int, workers: int, kills: int) -> None:
    spec, config, rng = load_spec(spec_source(env)), CollectConfig(world=world), random.Random(0)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole.jsonl"
        began = time.perf_counter()
        collect([spec], whole, sessions, 0, config)
        calm = time.perf_counter() - began
        told = list(read_rows(whole))
        account = _Account() if workers == 1 else None
        done = rounds = starts = lost = doubled = other = by_kill = 0
        began = time.perf_counter()
        while done < kills:
            disturbed, rounds = Path(place) / f"{rounds}.jsonl", rounds + 1
            killer = _Killing(kills - done, calm / sessions / RATE, rng, account)
            thread = threading.Thread(target=killer.run, daemon=True)
            thread.start()
            held = 0
            while held < sessions:
                starts += 1
                with suppress(AgentWorldError):  # A worker was killed, or the system at its very start; one goes on.
                    collect([spec], disturbed, sessions, 0, config, workers=workers)
                held = len(list(read_rows(disturbed)))
            killer.over.set()
            thread.join()
            done += killer.done
            rows = {row.number: row for row in read_rows(disturbed)}
            doubled += held - len(rows)
            lost += len({row.number for row in told} - rows.keys())
            different = [rows[row.number] for row in told if row.number in rows and _differ(row, rows[row.number])]
            other += len(different)
            if account is not None:
                by_kill += sum(map(account.touched, different))
        print(f"kills {done} while {rounds * sessions} sessions were recorded, in {starts} starts of the command")
        if account is not None:
            print(account)
        print(f"rows lost {lost}, doubled {doubled}, different {other}")
        if account is not None:
            print(f"of those that differ, {by_kill} are of sessions that were hit and went on")
        spent = (time.perf_counter() - began) / rounds / sessions
        print(f"{calm / sessions:.2f} s a session undisturbed, {spent:.2f} s disturbed")


def _differ(one: Row, other: Row) -> bool:
    return one.observations != other.observations


class _Account:
    """Which sessions were hit, and which episodes ended, from now on and in this process."""

    def __init__(self) -> None:
        self._roots = WeakKeyDictionary[LiveSession, frozenset[int]]()
        self._playing, self._hit = set[int](), set[int]()
        self._answers: list[list[str]] = []
        self.struck = self.ended = self.others = 0
        begin, act, free = LiveMachine.__init__, LiveMachine.act, LiveMachine._free
        start = LivePool[Any]._start

        def started(pool: LivePool[Any]) -> Any:
            session = start(pool)
            self._roots[session] = frozenset(session.pids)
            return session

        def began(machine: LiveMachine, engine: Any, task: Any, session: LiveSession, shown: str) -> None:
            begin(machine, engine, task, session, shown)
            self._playing |= self._roots.get(session, frozenset())

        def acted(machine: LiveMachine, action: Any) -> str:
            roots = self._roots.get(machine._open(), frozenset())
            try:
                return act(machine, action)
            except EngineError:
                by_kill = bool(roots & self._hit)
                self.ended, self.others = self.ended + by_kill, self.others + (not by_kill)
                raise

        def freed(machine: LiveMachine, system: LiveSession) -> None:
            roots = self._roots.get(system, frozenset())
            self._playing -= roots
            if roots & self._hit:
                self._answers.append([told for _, told in machine._turns[1:]])
            free(machine, system)

        LivePool._start, LiveMachine.__init__ = started, began  # type: ignore[method-assign, assignment]
        LiveMachine.act, LiveMachine._free = acted, freed  # type: ignore[method-assign]

    def note(self, pid: int) -> bool:
        """Take down that a process is killed, and return whether it belongs to an episode."""
        roots = {root for root in family_of(os.getpid()) if root != os.getpid() and pid in family_of(root)}
        self._hit |= roots
        return bool(roots & self._playing)

    def touched(self, row: Row) -> bool:
        """Return whether the session of a row was hit, and went on."""
        answers = list(map(digest_of, row.observations))
        return any(answers[: len(told)] == told for told in self._answers if told)

    def __str__(self) -> str:
        return (
            f"kills of processes of an episode {self.struck}; "
            f"episodes that ended by a kill {self.ended}, other episodes that ended {self.others}"
        )


class _Killing:
    """Kills what this process started, now and then."""

    def __init__(self, kills: int, pause: float, rng: random.Random, account: _Account | None) -> None:
        self._kills, self._pause, self._rng, self._account = kills, pause, rng, account
        self.done, self.over = 0, threading.Event()

    def run(self) -> None:
        """Kill until there were enough, or all is over."""
        while self.done < self._kills and not self.over.wait(self._pause * self._rng.random() * 2):
            if family := _processes():
                with suppress(ProcessLookupError):
                    pid = self._rng.choice(family)
                    of_episode = self._account is not None and self._account.note(pid)
                    os.kill(pid, signal.SIGKILL)
                    self.done += 1
                    if self._account is not None:
                        self._account.struck += of_episode


def _processes() -> list[int]:
    """Return what this process started, and still runs."""
    return [pid for pid in family_of(os.getpid()) if pid != os.getpid() and not _spared(pid)]


def _spared(pid: int) -> bool:
    """Whether a process has ended, or is Python's own that keeps account of its resources."""
    with suppress(OSError):
        ended = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return ended or b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return True


if __name__ == "__main__":
    main()
