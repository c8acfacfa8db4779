"""Live systems that are killed in the middle of waves and recordings: members fail alone, and nothing is left.

    python benchmarks/research/live_kills.py ENV CONFIG --action ACTION [--members 8] [--kills 100] [--root]
    python benchmarks/research/live_kills.py ENV CONFIG --collect 200 [--workers 2] [--kills 100]

Processes are killed with SIGKILL, drawn at random among all that the sessions started: the sandbox, the server, or what
it started; with `--workers` the processes that record as well.

In waves, half of the kills come before a step and half in its middle, and one in five hits a session that waits for its
episode or just starts. The table counts the kills, the episodes that ended by one, and the episodes that ended though
nobody had hit them. A recording is compared with one that nobody
disturbed: rows that are lost, doubled, or different. Both count the processes and folders that are left at the end.
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

import gymnasium as gym

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.cli.common import spec_source
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.registration import find_domain
from agentworld_gym.kit.live.process_watch import family_of
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
    spec, config = load_spec(spec_source(env)), CollectConfig(world=world)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole.jsonl"
        began = time.perf_counter()
        collect([spec], whole, sessions, 0, config)
        calm = time.perf_counter() - began
        told = list(read_rows(whole))
        done = rounds = starts = lost = doubled = other = 0
        began = time.perf_counter()
        while done < kills:
            disturbed, rounds = Path(place) / f"{rounds}.jsonl", rounds + 1
            killer = _Killing(kills - done, calm / sessions / RATE)
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
            same = (row.number in rows and rows[row.number].observations == row.observations for row in told)
            other += len(told) - sum(same)
        print(f"kills {done} while {rounds * sessions} sessions were recorded, in {starts} starts of the command")
        print(f"rows lost {lost}, doubled {doubled}, different or lost {other}")
        spent = (time.perf_counter() - began) / rounds / sessions
        print(f"{calm / sessions:.2f} s a session undisturbed, {spent:.2f} s disturbed")


class _Killing:
    """Kills what this process started, now and then."""

    def __init__(self, kills: int, pause: float) -> None:
        self._kills, self._pause, self._rng = kills, pause, random.Random(0)
        self.done, self.over = 0, threading.Event()

    def run(self) -> None:
        """Kill until there were enough, or all is over."""
        while self.done < self._kills and not self.over.wait(self._pause * self._rng.random() * 2):
            if family := _processes():
                with suppress(ProcessLookupError):
                    os.kill(self._rng.choice(family), signal.SIGKILL)
                    self.done += 1


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
