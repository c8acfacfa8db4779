"""Runs a plan of tests in CPython: it loads the harness and the test files, calls the tests, and writes the outcomes.

It reads a JSON plan from the file named by its first argument and writes JSON to the one named by its second. Its text
is executed inside a sandbox and never imported on the host.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

SIGN = "\x01"


class Texts(MetaPathFinder, Loader):
    """Imports the test files, whose text is not the one on disk."""

    def __init__(self, texts: dict[str, Any]) -> None:
        self.texts = texts

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a module's spec if the text of the module was given."""
        if fullname not in self.texts:
            return None
        return spec_from_loader(fullname, self, origin=self.texts[fullname]["path"])

    def exec_module(self, module: ModuleType) -> None:
        """Run the given text under the file's own name."""
        entry = self.texts[module.__name__]
        module.__file__ = entry["path"]
        exec(compile(entry["text"], entry["path"], "exec"), module.__dict__)


def trouble(error: BaseException, own: tuple[str, ...]) -> dict[str, Any]:
    """Return an exception for JSON: class, text, frames of the program, and the report of a syntax error."""
    frames = [
        [frame.filename, frame.lineno, frame.name]
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(own)
    ]
    report = ""
    if isinstance(error, SyntaxError):
        report = "".join(traceback.format_exception_only(error)).rstrip("\n")
    try:
        text = str(error)
    except Exception:
        text = "<exception str() failed>"
    return {"kind": type(error).__name__, "message": text, "frames": frames, "report": report}


def attempt(work: Callable[[], Any], own: tuple[str, ...]) -> tuple[Any, dict[str, Any] | None, str, str]:
    """Call a function, and return its value, the exception that it raised, and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        if ACTIVE:
            sys.stdout, sys.stderr = ACTIVE[-1].streams
        try:
            value, wrong = work(), None
        except BaseException as error:
            value, wrong = None, trouble(error, own)
    return value, wrong, out.getvalue(), err.getvalue()


ACTIVE: list[Captured] = []
"""The capture that the current test asked for, if any."""


class Captured:
    """The fixture `capsys`."""

    def __init__(self, finalizers: list[Any]) -> None:
        sys.stdout, sys.stderr = self.streams = io.StringIO(), io.StringIO()
        ACTIVE.append(self)
        finalizers.append(ACTIVE.clear)

    def readouterr(self) -> Any:
        """Return what was printed since the last call."""
        kept = Output(*(stream.getvalue() for stream in self.streams))
        for stream in self.streams:
            stream.seek(0)
            stream.truncate()
        return kept


class Output:
    """The texts that were printed."""

    def __init__(self, out: str, err: str) -> None:
        self.out = out
        self.err = err


def drawn(generator: Any) -> tuple[Any, Callable[[], None]]:
    """Return the value of a fixture that yields, and the function that finishes it."""
    return next(generator), lambda: next(generator, None)


def main() -> None:
    """Collect the tests, choose among them, call them and write the outcomes."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    own = tuple(job["own"])
    harness: Any = importlib.import_module("harness")
    sys.path[:0] = job["paths"]
    sys.meta_path.insert(0, Texts(job["texts"]))
    builtins.__note__ = harness.note  # type: ignore[attr-defined]
    harness.PLAN.update(job["plan"])
    harness.CAPTURES["capsys"] = Captured
    harness.DRAW.append(drawn)
    told: dict[str, Any] = {"ids": [], "outcomes": []}
    for name in job["conftests"]:
        space, wrong, out, err = attempt(partial(namespace, name), own)
        harness.SPACES[name] = space
        if wrong is not None:
            told["outcomes"].append({"module": name, "phase": "collect", "trouble": wrong, "out": out, "err": err})
            return write(told)
    for index, name in enumerate(job["tests"]):
        found, wrong, out, err = attempt(
            partial(collected, harness, index, name),
            own,
        )
        if wrong is None:
            told["ids"] += found
        else:
            told["outcomes"].append({"module": name, "phase": "collect", "trouble": wrong, "out": out, "err": err})
    if not told["outcomes"]:
        call(harness, job, told, own)
    write(told)


def namespace(name: str) -> dict[str, Any]:
    """Return the namespace of an imported module."""
    return vars(importlib.import_module(name))


def collected(harness: Any, index: int, name: str) -> list[str]:
    """Return the ids of the tests of a module."""
    ids: list[str] = harness.collect(index, namespace(name))
    return ids


def call(harness: Any, job: dict[str, Any], told: dict[str, Any], own: tuple[str, ...]) -> None:
    """Call the chosen tests, until enough have failed."""
    failures = 0
    for number in range(len(told["ids"])) if job["chosen"] is None else job["chosen"]:
        phase = "setup"
        _, wrong, out, err = attempt(partial(harness.prepare, number), own)
        if wrong is None:
            phase = "call"
            _, wrong, more_out, more_err = attempt(partial(harness.call, number), own)
            out, err = out + more_out, err + more_err
        outcome: dict[str, Any] = {"number": number, "phase": phase, "trouble": wrong, "out": out, "err": err}
        outcome["expected"] = harness.expected_failure(number)
        if wrong is not None:
            path, line = wrong["frames"][-1][:2] if wrong["frames"] else ("", 0)
            outcome["explained"] = harness.explain(path, line)
            outcome["arguments"] = harness.arguments()
            skipped = wrong["message"].startswith((f"{SIGN}Skipped", f"{SIGN}XFailed"))
            failures += not skipped and outcome["expected"] is None
        attempt(harness.clear, own)
        told["outcomes"].append(outcome)
        if job["max_failures"] and failures >= job["max_failures"]:
            return


def write(told: dict[str, Any]) -> None:
    """Write the outcomes to the file of the second argument."""
    with open(sys.argv[2], "w", encoding="utf-8", errors="surrogatepass") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main()
