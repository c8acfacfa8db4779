"""Measures the terminal engine on one core: steps, steps with a probe each, and the memory of live sessions.

python benchmarks/speed/terminal_speed.py
"""

from __future__ import annotations

import gc
import resource
import time
from itertools import cycle, islice

from agentworld_gym.domains.terminal.engine import TerminalMachine

STATE = {
    "files": {
        f"/home/dev/{name}": text
        for name, text in {
            "notes.txt": "alpha\nbeta\ngamma\n" * 10,
            "data/a.csv": "name,age\nann,31\nbob,25\n" * 5,
            "data/b.csv": "x,y\n1,2\n",
            "logs/app.log": "INFO start\nERROR disk\nWARN slow\n" * 20,
            "script.sh": "#!/bin/bash\necho hi\n",
        }.items()
    }
}
COMMANDS = (
    "ls",
    "ls -la",
    "cat notes.txt",
    "pwd",
    "grep -c ERROR logs/app.log",
    "sort notes.txt | uniq -c | sort -rn",
    "mkdir -p out/deep",
    "cp notes.txt out/copy.txt",
    "echo line >> out/log.txt",
    "sed -i 's/alpha/omega/' out/copy.txt",
    "head -n 2 data/a.csv",
    "awk -F, '{s+=$2} END {print s}' data/a.csv",
    "find . -name '*.csv'",
    "wc -l notes.txt data/a.csv",
    "mv out/log.txt out/old.txt",
    "cat nofile",
    "rm out/old.txt",
    "chmod 600 out/copy.txt",
    "cut -d, -f1 data/a.csv | tail -n +2",
    "cd data && ls && cd ..",
)
PROBE = [{"keystrokes": "cat notes.txt | wc -l\n", "duration": 0.1}]


def steps(count: int, probed: bool) -> float:
    """Steps per second over sessions of thirty steps, their start included."""
    began = time.process_time()
    machine = TerminalMachine.start(STATE, 0)
    for number, command in enumerate(islice(cycle(COMMANDS), count)):
        if number % 30 == 0:
            machine.close()
            machine = TerminalMachine.start(STATE, number)
        machine.act([{"keystrokes": f"{command}\n", "duration": 0.1}])
        if probed:
            probe = machine.probe()
            probe.act(PROBE)
            probe.close()
    machine.close()
    return count / (time.process_time() - began)


def live(count: int) -> float:
    """Mebibytes that many live sessions take, each a few steps old."""
    gc.collect()
    before = resident()
    machines = [TerminalMachine.start(STATE, seed) for seed in range(count)]
    for machine in machines:
        for command in COMMANDS[:5]:
            machine.act([{"keystrokes": f"{command}\n"}])
    taken = resident() - before
    for machine in machines:
        machine.close()
    return taken


def resident() -> float:
    """Mebibytes of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def each(repeat: int = 200) -> None:
    """Microseconds of every command by itself."""
    for command in COMMANDS:
        machine = TerminalMachine.start(STATE, 0)
        began = time.process_time()
        for _ in range(repeat):
            machine.act([{"keystrokes": f"{command}\n", "duration": 0.1}])
        print(f"  {(time.process_time() - began) / repeat * 1e6:7.0f} µs  {command}")
        machine.close()


def main() -> None:
    """Print all measurements (CPU time of this process)."""
    each()
    print(f"steps without probes: {steps(3_000, probed=False):,.0f}/s")
    print(f"steps with a probe at every step: {steps(600, probed=True):,.0f}/s")
    print(f"1,000 live sessions: {live(1_000):,.0f} MiB")


if __name__ == "__main__":
    main()
