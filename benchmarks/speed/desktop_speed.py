"""Measures the desktop on one core: steps, forks, starts, and the memory of live sessions.

python benchmarks/speed/desktop_speed.py [--sessions 1000]

The steps are random clicks, keys and texts on what is on the screen in five programs, and experts of generated tasks.
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
from agentworld_gym.core.screens import NotOnScreen, read_screen, resolve
from agentworld_gym.domains.desktop.engine import DesktopMachine

FOLDER = "/home/user/Documents"
FILES = {f"{FOLDER}/note {number}.txt": f"Note {number}\nof some lines\n" * 5 for number in range(20)}
TABLE = "\n".join(f"item {number},{number * 7 % 13},{number * 3.5}" for number in range(40))
STATES: dict[str, dict[str, Any]] = {
    "files": {"open": [{"program": "files", "arguments": [FOLDER]}]},
    "editor": {"open": [{"program": "editor", "arguments": [f"{FOLDER}/note 1.txt"]}]},
    "spreadsheet": {"open": [{"program": "spreadsheet", "arguments": [f"{FOLDER}/table.csv"]}]},
    "settings": {"open": [{"program": "settings"}]},
    "terminal": {"open": [{"program": "terminal"}]},
    "all of them": {
        "open": [
            {"program": "settings"},
            {"program": "spreadsheet", "arguments": [f"{FOLDER}/table.csv"]},
            {"program": "editor", "arguments": [f"{FOLDER}/note 1.txt"]},
            {"program": "files", "arguments": [FOLDER]},
        ]
    },
}
LINES = ("ls -l\\n", "cat Documents/note*\\n", "echo hi > a.txt\\n", "pwd\\n")


def state_of(name: str) -> dict[str, Any]:
    """The state of one kind of session."""
    return {"files": {**FILES, f"{FOLDER}/table.csv": TABLE}, **STATES[name]}


def random_action(machine: DesktopMachine, generator: random.Random, name: str) -> str:
    """Something to do on what is on the screen."""
    node = generator.choice(read_screen("desktop", machine.observation))
    assert node.box is not None
    x, y = node.box.centre
    texts = LINES if name == "terminal" else ("hello", "42", "=SUM(B1:B9)\\n", "note")
    return generator.choice(
        [
            f"pyautogui.click({x}, {y})",
            f"pyautogui.click({x}, {y})",
            f"pyautogui.doubleClick({x}, {y})",
            f"pyautogui.rightClick({x}, {y})",
            f"pyautogui.scroll(-3, {x}, {y})",
            f"pyautogui.write('{generator.choice(texts)}')",
            f"pyautogui.write('{generator.choice(texts)}')",
            f"pyautogui.press('{generator.choice(['enter', 'esc', 'down', 'tab', 'f2', 'backspace'])}')",
            f"pyautogui.hotkey('ctrl', '{generator.choice('acvzfs')}')",
        ]
    )


def steps(name: str, controls: Controls, count: int = 1500) -> float:
    """Steps per second."""
    generator = random.Random(name)
    machine = DesktopMachine.start(state_of(name), 0, controls)
    spent = 0.0
    for number in range(count):
        if number % 40 == 39:
            machine.close()
            machine = DesktopMachine.start(state_of(name), number, controls)
        action = random_action(machine, generator, name)
        began = time.process_time()
        machine.act(action)
        spent += time.process_time() - began
    machine.close()
    return count / spent


def task_steps(seeds: int = 8) -> tuple[float, int] | None:
    """Steps per second over the experts of generated tasks, and their number; None where there are no families."""
    from agentworld_gym.core.tasks import families, generate

    spent, count = 0.0, 0
    for family in families("desktop"):
        for level in (1, 2, 3):
            for seed in range(seeds):
                task = generate("desktop", family, level, seed)
                machine = DesktopMachine.start(task.state, 0)
                for action in task.expert or ():
                    try:
                        source = resolve(action, read_screen("desktop", machine.observation))
                    except NotOnScreen:
                        break
                    began = time.process_time()
                    machine.act(source)
                    spent += time.process_time() - began
                    count += 1
                machine.close()
    return (count / spent, count) if count else None


def fork_ms(name: str, count: int = 300) -> tuple[float, float]:
    """Milliseconds of one fork, and of a fork with the first action on it."""
    machine = DesktopMachine.start(state_of(name), 0)
    if name == "terminal":
        machine.act("pyautogui.write('ls\\n')")
    began = time.process_time()
    for _ in range(count):
        machine.fork().close()
    alone = time.process_time() - began
    began = time.process_time()
    for _ in range(count):
        fork = machine.fork()
        fork.act("pyautogui.write('ls\\n')")
        fork.close()
    return alone / count * 1000, (time.process_time() - began) / count * 1000


def start_ms(name: str, count: int = 200) -> float:
    """Milliseconds of one start."""
    began = time.process_time()
    for _ in range(count):
        DesktopMachine.start(state_of(name), 0).close()
    return (time.process_time() - began) / count * 1000


def live(count: int) -> float:
    """Mebibytes that many live sessions take, each some steps old."""
    gc.collect()
    before = resident()
    generator = random.Random(0)
    names = list(STATES)
    machines = []
    for number in range(count):
        name = names[number % len(names)]
        machine = DesktopMachine.start(state_of(name), number)
        for _ in range(8):
            machine.act(random_action(machine, generator, name))
        machines.append(machine)
    taken = resident() - before
    for machine in machines:
        machine.close()
    return taken


def resident() -> float:
    """Mebibytes of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    """Print all measurements (CPU time of this process)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    options = parser.parse_args()
    disturbed = Controls(dict.fromkeys(load_spec("desktop").controls, 0.2), seed=1)
    # What is imported with the first browser counts for none of them.
    DesktopMachine.start({"open": [{"program": "browser"}]}, 0).close()
    steps("files", Controls(), 100)
    for name in STATES:
        print(
            f"{name}: {steps(name, Controls()):,.0f} steps/s, {steps(name, disturbed):,.0f} with every control at 0.2; "
            f"start {start_ms(name):.2f} ms, fork {'{:.2f} ms, with a first action {:.2f} ms'.format(*fork_ms(name))}"
        )
    tasks = task_steps()
    if tasks:
        print(f"experts of generated tasks: {tasks[0]:,.0f} steps/s ({tasks[1]:,} steps)")
    print(f"{options.sessions:,} live sessions: {live(options.sessions):,.0f} MiB")


if __name__ == "__main__":
    main()
