"""Hostile actions in the grounded worlds: nothing leaves an engine, nothing of the host is touched.

    python benchmarks/research/host_safety.py [--domains NAME ...] [--random 10000] [--drawn 2000]
    python benchmarks/research/host_safety.py --kernel       # what programs in bubblewrap make the kernel hold

In each domain random actions (menu entries broken at random, texts that try to be more than data, calls with arguments
of wrong kinds, programs that try to leave the interpreter, objects that are no action at all) and actions drawn by
hypothesis go to machines of generated tasks. Entries that name an element of the screen are resolved on it.
The process that runs them is sealed first (`sealed.py`): the kernel kills it at the first attempt to open a file, to
make a process or a socket. A row of the table is therefore the proof; an engine's exception or a killed process ends
with 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sealed
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, EngineError, Machine
from agentworld_gym.core.engines.catalog import engine_names, load_engine
from agentworld_gym.core.screens import is_graphical
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.bubblewrap import MAX_MEMORY

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))
from hostile import ESCAPES, HOSTILE
from kernel_attacks import HOLDING

TASKS = 24
ACTIONS_A_MACHINE = 60
SLOWEST_S = 25.0
"""A little more than the engines' own last resort."""
VARIANTS = {"swe": "monty"}
_TO_FORK_SERVER = frozenset({"socketpair"})
MADE_BEFORE = {
    "desktop": _TO_FORK_SERVER,
    "swe": frozenset({"kill", "tkill"}) | _TO_FORK_SERVER,
    "terminal": _TO_FORK_SERVER,
}
"""Calls that stay allowed: the sandbox of Python programs ends its own workers, which were made before the seal, and a
pair of sockets leads to each copy of the fork server, made before too, in which lines run that may break the shell."""

APART = "bash -c ls"
"""A line that starts the fork server."""
WARMING = {
    "desktop": (
        "subprocess.Popen(['google-chrome'])",
        f"subprocess.Popen(['gnome-terminal']); pyautogui.write('{APART}'); pyautogui.press('enter')",
    ),
    "swe": (json.dumps({"name": "run_shell_command", "arguments": {"command": APART}}),),
    "terminal": (APART,),
    "web": ("goto('http://b\u00fccher.example/')",),
}
"""What loads the parts that no expert may need."""

VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", "x" * 20_000, "\x00", "\ud800", "%" * 50,
    "' OR 1=1 --", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:1/", "(a+)+$", "[" * 3000,
    [], {}, [[]], {"": None}, ["a"] * 500, {"a": {"b": {"c": [1, {"d": "e"}]}}},
)  # fmt: skip


def broken(rng: random.Random, text: str) -> str:
    """A text with a few random cuts, repetitions and insertions."""
    for _ in range(rng.randint(0, 3)):
        at, length = rng.randrange(len(text) + 1), rng.randint(1, 8)
        piece = rng.choice(["", text[at : at + length] * 2, rng.choice(HOSTILE)[:200], chr(rng.randrange(0x250))])
        text = text[:at] + piece + text[at + length :]
    return text


def odd_call(rng: random.Random, tools: Sequence[Any]) -> Any:
    """A call of a known tool with arguments of wrong kinds, too few or too many."""
    tool = rng.choice(tools) if tools else {"name": "x", "parameters": {}}
    names = [*(tool.get("parameters") or {}).get("properties", {}), "extra"]
    arguments = {name: rng.choice(VALUES) for name in names if rng.random() < 0.7}
    return {"name": tool["name"], "arguments": rng.choice([arguments, arguments, arguments, rng.choice(VALUES)])}


def bent_call(rng: random.Random, known: Sequence[str]) -> Any:
    """A call from the menu with one argument exchanged for that of another one, broken, or of a wrong kind."""
    calls = [call for call in map(call_of, known) if call]
    if not calls:
        return rng.choice(known)
    call = dict(rng.choice(calls))
    arguments = dict(call["arguments"])
    others = [value for other in calls for value in other["arguments"].values()]
    if arguments:
        name = rng.choice(sorted(arguments))
        value = rng.choice([arguments[name], *others])
        bent = broken(rng, value) if isinstance(value, str) else rng.choice([value, rng.randint(-9, 9999)])
        arguments[name] = bent if rng.random() < 0.8 else rng.choice(VALUES)
    return {"name": call["name"], "arguments": arguments}


def call_of(text: str) -> Any:
    """The call that a text is, with its arguments as an object; None where it is none."""
    try:
        call = json.loads(text)
        if isinstance(call["arguments"], str):
            call["arguments"] = json.loads(call["arguments"])
        return call
    except (ValueError, TypeError, KeyError):
        return None


def random_actions(task: Task, tools: Sequence[Any], count: int, rng: random.Random) -> list[Any]:
    """Texts for the parser, and objects for the machine itself."""
    known = [*task.menu, *task.expert]
    makers: list[Callable[[], Any]] = [
        lambda: broken(rng, rng.choice(known)),
        lambda: rng.choice(HOSTILE),
        lambda: odd_call(rng, tools),
        lambda: bent_call(rng, known),
        lambda: [{"keystrokes": broken(rng, rng.choice(known)), "duration": rng.choice(VALUES)}],
        lambda: rng.choice(VALUES),
        lambda: rng.choice(known),
        lambda: odd_gesture(rng),
    ]
    shares = (3, 1, 3, 6, 1, 1, 4, 4) if is_graphical(task.domain) else (3, 1, 3, 6, 1, 1, 0, 0)
    return [rng.choices(makers, shares)[0]() for _ in range(count)]


def odd_gesture(rng: random.Random) -> Any:
    """Something done to a screen: at any place, in and out of it, with any text; as a program and as an object."""
    x, y = (rng.choice([rng.randint(-50, 2500), rng.choice(VALUES)]) for _ in range(2))
    kind = rng.choice(["click", "double_tap", "long_press", "input_text", "scroll", "swipe", "open_app", "status"])
    text = rng.choice([*HOSTILE, "x" * 20_000])
    gesture = {"action_type": kind, "x": x, "y": y, "index": rng.choice([rng.randint(-3, 90), x]), "text": text}
    gesture |= {"direction": rng.choice(["up", "down", "left", x]), "app_name": text}
    calls = ("click", "doubleClick", "rightClick", "dragTo", "scroll", "write", "press", "hotkey", "moveTo")
    program = f"pyautogui.{rng.choice(calls)}({rng.choice([f'{x!r:.300}, {y!r:.300}', repr(text[:3000])])})"
    kept = {key: value for key, value in gesture.items() if rng.random() < 0.8}
    return rng.choice([program, rng.choice(ESCAPES), kept, json.dumps(kept, default=str)])


def drawn_actions(count: int) -> list[Any]:
    """What hypothesis makes of any text and any JSON."""
    found: list[Any] = []
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    anything = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
    calls = st.fixed_dictionaries({"name": st.text() | st.sampled_from(HOSTILE), "arguments": anything})
    action = st.text() | anything | calls | calls.map(json.dumps)

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(action)
    def draw(value: Any) -> None:
        found.append(value)

    while len(found) < count:
        draw()
    return found[:count]


def placed(task: Task, machine: Machine, text: str) -> str:
    """An action with the elements it names found on the screen; as it is where it names none, or badly."""
    try:
        return Sight(task.domain, [machine.observation]).resolve(text) or text
    except ValueError:
        return text


def told(error: BaseException, value: Any) -> str:
    """An exception in words; a traceback would open source files, which a sealed process cannot."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}\n  on {value!r:.300}\n  at " + "\n  at ".join(frames[-6:])


def run(domain: str, randoms: int, drawn: int) -> dict[str, Any]:
    """Run all actions of one domain in a sealed process."""
    spec, engine = load_spec(domain), load_engine(domain, VARIANTS.get(domain, ""))
    parser, rng = ActionParser(spec), random.Random(domain)
    names = sorted(families(domain))
    tasks = [generate(domain, names[n % len(names)], n % 3 + 1, n) for n in range(TASKS)]
    batches: list[tuple[Task, list[Any]]] = []
    for start in range(0, randoms, ACTIONS_A_MACHINE):
        task = rng.choice(tasks)
        tools = [*spec.action.tools, *task.tools]
        batches.append((task, random_actions(task, tools, min(ACTIONS_A_MACHINE, randoms - start), rng)))
    draws = drawn_actions(drawn)
    batches += [(rng.choice(tasks), draws[n : n + ACTIONS_A_MACHINE]) for n in range(0, drawn, ACTIONS_A_MACHINE)]

    def begun(task: Task) -> Machine:
        controls = Controls({rng.choice(sorted(spec.controls)): 0.3} if rng.random() < 0.3 else {}, rng.randrange(99))
        return engine.start(task.state, task.seed or 0, controls, task.hidden)

    for task in tasks:  # whatever is loaded once is loaded before the seal
        machine = begun(task)
        probes = [text for check in task.success for text in check.probes]
        for text in (*WARMING.get(domain, ()), *task.expert, *probes):
            action = parser.parse(placed(task, machine, text), task.tools)
            if action.kind is not ActionKind.FINISH and action.error is None:
                machine.act(action.parsed)
        machine.fork().close()
        machine.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sealed.seal(MADE_BEFORE.get(domain, frozenset()))
    times, answered, longest = [], 0, 0
    for task, actions in batches:
        machine = begun(task)
        for value in actions:
            parsed = value
            if isinstance(value, str):
                action = parser.parse(placed(task, machine, value), task.tools)
                if action.error is not None or action.kind is ActionKind.FINISH:
                    answered += 1
                    continue
                parsed = action.parsed
            began = time.perf_counter()
            try:
                text = machine.act(parsed)
            except EngineError:  # the typed outcome of a machine that gave up; it is thrown away
                machine.close()
                machine = begun(task)
                text = ""
            except BaseException as error:
                raise SystemExit(told(error, parsed)) from None
            times.append(time.perf_counter() - began)
            longest = max(longest, len(text))
        machine.state()
        machine.close()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    times.sort()
    return {
        "actions": randoms + drawn,
        "refused by the parser": answered,
        "median_ms": 1000 * times[len(times) // 2],
        "worst_s": times[-1],
        "longest": longest,
        "grown_mib": grown,
    }


def available_mib() -> int:
    """The memory of the machine that programs could still take."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) // 1024


def held_while(work: Callable[[], Any]) -> tuple[Any, int]:
    """What a function returns, and by how many MiB the memory of the machine fell while it ran.

    Other programs of the machine count too.
    """
    before, over = available_mib(), threading.Event()
    lowest = [before]

    def look() -> None:
        while not over.wait(0.02):
            lowest[0] = min(lowest[0], available_mib())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        return work(), before - lowest[0]
    finally:
        over.set()
        looking.join()


def hold_in_the_kernel() -> int:
    """Print what each program makes the kernel hold; 1 if one gets more than a program may have."""
    met, sandbox = True, open_sandbox("bubblewrap")
    print("| program | ends with | s | MiB at most |\n|---|---|---|---|")
    for name, text in HOLDING.items():
        began = time.perf_counter()
        result, mib = held_while(lambda text=text: sandbox.run({"/w/a.py": text}, ["a.py"], cwd="/w", timeout_s=10))
        met = met and mib <= MAX_MEMORY >> 20
        print(f"| {name} | {result.exit_code} | {time.perf_counter() - began:.1f} | {mib} |", flush=True)
    return 0 if met else 1


def main() -> int:
    """Print a table; 1 if an engine fails or is slow, or if a program holds too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=engine_names())
    parser.add_argument("--random", type=int, default=10_000)
    parser.add_argument("--drawn", type=int, default=2_000, help="actions drawn by hypothesis")
    parser.add_argument("--kernel", action="store_true", help="programs in bubblewrap instead of actions")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if options.inside:
        try:
            sys.stdout.write(json.dumps(run(options.inside, options.random, options.drawn)))
        except Exception as error:
            raise SystemExit(told(error, None)) from None
        return 0
    if options.kernel:
        return hold_in_the_kernel()
    if not sealed.possible():
        print("A process can be sealed on Linux alone, on x86-64 and 64-bit ARM")
        return 1
    met = True
    print("| domain | actions | refused by the parser | median ms | slowest s | longest answer | memory grown, MiB |")
    print("|---|---|---|---|---|---|---|")
    for domain in options.domains:
        counts = ["--random", str(options.random), "--drawn", str(options.drawn)]
        done = subprocess.run(
            [sys.executable, __file__, "--inside", domain, *counts],
            capture_output=True,
            text=True,
            env={**os.environ, "RUST_BACKTRACE": "0"},  # a backtrace reads the library's file
        )
        if done.returncode:
            print(f"| {domain} | FAILED with {done.returncode} | | | | | |\n{done.stderr[-3000:]}", flush=True)
            met = False
            continue
        row = json.loads(done.stdout)
        met = met and row["worst_s"] < SLOWEST_S
        print(
            f"| {domain} | {row['actions']:,} | {row['refused by the parser']:,} | {row['median_ms']:.2f} "
            f"| {row['worst_s']:.2f} | {row['longest']:,} | {row['grown_mib']:.0f} |",
            flush=True,
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
