"""Measure live shells and repositories: how long many take to start, steps a second, memory, forks and checks.

    python benchmarks/speed/live_shells.py --shells 64

A shell outside the library, bash behind a pipe in a sandbox of its own, is measured beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agentworld_gym.domains.terminal.live import open_live
from agentworld_gym.kit.live import LiveMachine, LiveSource
from agentworld_gym.kit.live.process_watch import family_of

LINES = ("ls", "cat notes.txt", "wc -l notes.txt", "grep -n 7 notes.txt", "echo done > out.txt")


def held(pid: int) -> int:
    """The memory of a process and all that it started in bytes, what is shared counted by its share."""
    total = 0
    for one in family_of(pid):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


def played(machine: LiveMachine, rounds: int) -> int:
    """Play some rounds, and return how many answers ended with the prompt."""
    return sum(
        machine.act([{"keystrokes": f"{line}\n", "duration": 1.0}]).endswith("$")
        for _ in range(rounds)
        for line in LINES
    )


def alone(shells: int, rounds: int, folder: str) -> float:
    """Steps a second of as many shells behind pipes, without a screen."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--bind", folder, folder, "bash"]
    many = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True)
        for _ in range(shells)
    ]

    def play(shell: subprocess.Popen[str]) -> None:
        assert shell.stdin is not None and shell.stdout is not None
        for _ in range(rounds):
            for line in LINES[:4]:
                shell.stdin.write(f"{line}; echo END\n")
                shell.stdin.flush()
                while shell.stdout.readline() != "END\n":
                    pass

    begun = time.perf_counter()
    with ThreadPoolExecutor(shells) as pool:
        list(pool.map(play, many))
    spent = time.perf_counter() - begun
    for shell in many:
        shell.kill()
        shell.communicate()
    return shells * rounds * 4 / spent


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shells", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=4)
    arguments = parser.parse_args()
    report: dict[str, object] = {"load_before": os.getloadavg(), "shells": arguments.shells}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "notes.txt").write_text("".join(f"{number}\n" for number in range(100)))
        engine = open_live(LiveSource.of({"folder": folder, "ahead": 0}))
        begun = time.perf_counter()
        machines = [engine.start({}, 0)]
        report["first_start_s"] = time.perf_counter() - begun
        begun = time.perf_counter()
        with ThreadPoolExecutor(arguments.shells) as pool:
            machines += pool.map(lambda seed: engine.start({}, seed), range(1, arguments.shells))
            report["start_all_s"] = time.perf_counter() - begun
            begun = time.perf_counter()
            whole = sum(pool.map(lambda machine: played(machine, arguments.rounds), machines))
            spent = time.perf_counter() - begun
        steps = arguments.shells * arguments.rounds * len(LINES)
        report |= {"steps_per_s": steps / spent, "ended_at_prompt": whole / steps}
        report["mib_each"] = sum(held(machine.pids[0]) for machine in machines) / arguments.shells / (1 << 20)
        begun = time.perf_counter()
        played(machines[0], 5)
        report["steps_per_s_of_one"] = 5 * len(LINES) / (time.perf_counter() - begun)
        for name, act in (("fork_s", machines[0].fork), ("probe_s", machines[0].probe)):
            begun = time.perf_counter()
            act().close()
            report[name] = time.perf_counter() - begun
        begun = time.perf_counter()
        machines[0].inspect("test -f out.txt")
        report["check_s"] = time.perf_counter() - begun
        begun = time.perf_counter()
        engine.close()
        report["close_all_s"] = time.perf_counter() - begun
        report["alone_steps_per_s"] = alone(arguments.shells, arguments.rounds, folder)
    report["load_after"] = os.getloadavg()
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
