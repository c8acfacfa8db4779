"""Live systems that are killed in the middle of waves: members fail alone, and nothing is left after close.

    python benchmarks/research/live_kills.py ENV CONFIG ACTION [--members 8] [--kills 100] [--root]

Before each wave one process of a session is killed with SIGKILL, drawn at random among all that the sessions started:
the sandbox, the server, or what it started. The table counts the kills, the members that failed beside the one that was
hit, and the processes and folders that are left once the environment is closed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import gymnasium as gym

from agentworld_gym.core.registration import find_domain
from agentworld_gym.kit.live.process_watch import family_of


def main() -> None:
    """Kill, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env", help="the domain, such as mcp")
    parser.add_argument("config")
    parser.add_argument("action")
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--root", action="store_true", help="kill the first process of a session alone")
    asked = parser.parse_args()
    domain = find_domain(asked.env)
    if domain is None:
        parser.error(f"{asked.env} is no domain")
    rng = random.Random(0)
    folders = _folders()
    envs = gym.make_vec(f"agentworld_gym:{domain.env_id}", asked.members, world=f"live:{os.path.abspath(asked.config)}")
    envs.reset(seed=0)
    machines = [episode.session.machine for episode in envs.unwrapped.episodes]
    kills = alone = others = steps = 0
    began = time.perf_counter()
    while kills < asked.kills:
        hit = rng.randrange(asked.members)
        roots = machines[hit].pids
        family = list(roots[:1]) if asked.root else [pid for root in roots for pid in family_of(root)]
        if family:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(family), signal.SIGKILL)
                kills += 1
        truncated = envs.step([asked.action] * asked.members)[3]
        steps += 1
        alone += int(truncated[hit])
        others += int(truncated.sum() - truncated[hit])
        envs.step([asked.action] * asked.members)  # Members that ended begin anew.
        machines = [episode.session.machine for episode in envs.unwrapped.episodes]
    seconds = time.perf_counter() - began
    envs.close()
    until = time.monotonic() + 5
    while (left := set(family_of(os.getpid())) - {os.getpid()}) and time.monotonic() < until:
        time.sleep(0.05)
    print(f"kills {kills}, members hit that failed {alone}, other members that failed {others}")
    print(f"waves {steps} in {seconds:.1f} s; left: {len(left)} processes, {len(_folders() - folders)} folders")


def _folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("agentworld-live-*"))


if __name__ == "__main__":
    main()
