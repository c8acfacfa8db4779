"""Measures the phone on one core: steps, forks, starts, and the memory of live sessions.

python benchmarks/speed/android_speed.py [--sessions 1000] [--steps 20000]

The steps are random gestures, five in six of them touches of what can be touched, in all apps alike; only those that
change the screen count in the last figure.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import time
from typing import Any

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.android.engine import AndroidMachine
from agentworld_gym.domains.android.engine.apps import apps

EPISODE = 60
TITLES = [app.title for app in apps().values() if app.icon]


def chosen(machine: AndroidMachine, rng: random.Random) -> dict[str, Any]:
    """A random gesture that makes sense on the screen."""
    live = [node.handle for node in read_screen("android", machine.observation) if "clickable" in node.flags]
    if live and rng.random() < 5 / 6:
        return {"action_type": "click", "index": rng.choice(live)}
    return rng.choice(
        [
            {"action_type": "open_app", "app_name": rng.choice(TITLES)},
            {"action_type": "scroll", "direction": "down"},
            {"action_type": "input_text", "text": "Ana 12"},
            {"action_type": "navigate_back"},
            {"action_type": "long_press", "index": rng.choice(live or [0])},
        ]
    )


def steps(count: int, controls: Controls) -> tuple[float, float, float]:
    """Steps per second of all, of those that change the screen, and the share of these."""
    acting = changing = 0.0
    changed = 0
    for number in range(count // EPISODE):
        rng = random.Random(number)
        machine = AndroidMachine.start({}, number, controls)
        machine.act({"action_type": "open_app", "app_name": TITLES[number % len(TITLES)]})
        for _ in range(EPISODE):
            action, before = chosen(machine, rng), machine.observation
            began = time.process_time()
            after = machine.act(action)
            spent = time.process_time() - began
            acting += spent
            if after != before:
                changing += spent
                changed += 1
    total = count // EPISODE * EPISODE
    return total / acting, changed / changing, changed / total


def played(seed: int, actions: int) -> AndroidMachine:
    """A session some steps old."""
    rng = random.Random(seed)
    machine = AndroidMachine.start({}, seed)
    for _ in range(actions):
        machine.act(chosen(machine, rng))
    return machine


def fork_ms(count: int = 300) -> float:
    """Milliseconds of one fork of a session that is 30 steps old."""
    machine = played(1, 30)
    began = time.perf_counter()
    for _ in range(count):
        machine.fork().close()
    return (time.perf_counter() - began) / count * 1000


def start_ms(count: int = 200) -> float:
    """Milliseconds of one start with everything drawn."""
    AndroidMachine.start({}, 0)
    began = time.perf_counter()
    for seed in range(count):
        AndroidMachine.start({}, seed).close()
    return (time.perf_counter() - began) / count * 1000


def live(count: int) -> float:
    """Mebibytes that many live sessions take, each 20 steps old."""
    gc.collect()
    before = resident()
    machines = [played(seed, 20) for seed in range(count)]
    taken = resident() - before
    machines.clear()
    return taken


def resident() -> float:
    """Mebibytes of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    """Print all measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=20_000)
    options = parser.parse_args()
    print(f"start {start_ms():.2f} ms, fork {fork_ms():.2f} ms")
    for name in ("calm", "every control at 0.1"):
        controls = Controls({} if name == "calm" else dict.fromkeys(load_spec("android").controls, 0.1))
        every, changing, share = steps(options.steps, controls)
        print(f"steps, {name}: {every:,.0f}/s; those that change the screen ({share:.0%}): {changing:,.0f}/s")
    print(f"{options.sessions:,} live sessions: {live(options.sessions):,.0f} MiB")


if __name__ == "__main__":
    main()
