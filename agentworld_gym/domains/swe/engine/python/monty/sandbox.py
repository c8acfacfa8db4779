"""Runs Python in monty: worker processes for a subset of Python, without files, network or a way to start a program."""

from __future__ import annotations

import contextlib
import datetime
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentworld_gym.domains.swe.engine.python.command import UsageError, read_command
from agentworld_gym.domains.swe.engine.python.inside_sandbox import source_of
from agentworld_gym.domains.swe.engine.python.module_linker import ModuleLinker
from agentworld_gym.domains.swe.engine.python.monty.helper import relayed
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult, clean
from agentworld_gym.domains.swe.engine.python.testing.assertions import MISSED, around, open_handlers
from agentworld_gym.domains.swe.engine.python.testing.runner import (
    CollectionPlan,
    PytestOutcome,
    is_test_run,
    run_tests,
)
from agentworld_gym.domains.swe.engine.python.tracebacks import ExceptionReport, Frame, decoded, traceback_text

MAX_OUTPUT = 1_000_000
MAX_MEMORY = 256 << 20
MAX_HOST_CALLS = 10_000
MAX_DEPTH = 1001
OWN_FILES = ("<pytest>", "<__harness__>", "<sys>")
OPENED = "__opened"
CLOCK = datetime.datetime(2026, 3, 2, 9, 0)
"""The moment at which every run begins; `random` also begins every run with the same seed."""


class MontySandbox:
    """Runs programs in the interpreter of `pydantic-monty`, whose workers start with the first run."""

    name = "monty"

    def __init__(self) -> None:
        self._pools: dict[int, Any] = {}

    def run(
        self,
        files: Mapping[str, str],
        argv: Sequence[str],
        *,
        cwd: str,
        stdin: str = "",
        env: Mapping[str, str] = {},
        timeout_s: float = 10.0,
    ) -> PythonResult:
        """Run `python ARGV` as `PythonSandbox.run` describes it."""
        files, argv = {path: clean(text) for path, text in files.items()}, [clean(word) for word in argv]
        if self._forked():
            return relayed(files, argv, cwd=cwd, stdin=clean(stdin), env=env, timeout_s=timeout_s)
        if is_test_run(argv):
            return run_tests(self, files, argv[2:], cwd=cwd, env=env, timeout_s=timeout_s)
        run = _Run(self._started(), files, cwd, env, timeout_s)
        return run.program(argv, stdin)

    def outcomes(
        self, files: Mapping[str, str], plan: CollectionPlan, *, cwd: str, env: Mapping[str, str], timeout_s: float
    ) -> tuple[list[PytestOutcome], PythonResult]:
        """Collect and call the tests of a plan; the result tells which files changed."""
        run = _Run(self._started(), files, cwd, env, timeout_s)
        return run.tests(plan)

    def close(self) -> None:
        """Stop the workers of this process; a second call does nothing."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.__exit__(None, None, None)

    def _forked(self) -> bool:
        """Return whether a parent of this process already runs workers, whose threads a fork does not copy."""
        return bool(self._pools) and os.getpid() not in self._pools

    def _started(self) -> Any:
        from pydantic_monty import Monty

        pid = os.getpid()
        if pid not in self._pools:
            pool = Monty(min_processes=1, max_processes=2, max_checkouts_per_worker=2000)
            pool.__enter__()
            if self._pools.setdefault(pid, pool) is not pool:
                pool.__exit__(None, None, None)
        return self._pools[pid]


class _Stopped(Exception):
    """The run ended because its time was up or its worker died."""


class _Run:
    """One run: its files, its session and what it printed."""

    def __init__(self, pool: Any, files: Mapping[str, str], cwd: str, env: Mapping[str, str], timeout_s: float) -> None:
        self.pool, self.files, self.cwd, self.timeout_s = pool, files, cwd, timeout_s
        self.space = memory_files(files, env)
        self.env = env
        self.out: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self.printed = 0
        self.timed_out = False
        self.deadline = time.monotonic() + timeout_s
        self.session: Any = None

    def program(self, argv: Sequence[str], stdin: str) -> PythonResult:
        """Run a script, `-c` or `-m`."""
        try:
            command = read_command(argv, self.files, self.cwd, self.env)
        except UsageError as problem:
            return (
                PythonResult(f"{problem}\n", "", 0)
                if not problem.code
                else PythonResult("", f"{problem}\n", problem.code)
            )
        source = command.source
        linker = ModuleLinker(self.files, command.paths, {"sys": "", **_provided("pytest")})
        linker.add_source("__main__", source)
        if source.tree is None:
            return PythonResult("", source.report + "\n", 1)
        code = 0
        with self._session():
            try:
                self._start(linker, command.arguments, stdin)
                exception = self._feed("execute('__main__', '__main__')", linker)[1]
            except _Stopped as stop:
                return self._result(124 if self.timed_out else 137, str(stop))
        if exception is not None:
            code, text = _ending(exception, linker)
            self.out["stderr"].append(text)
        return self._result(code)

    def tests(self, plan: CollectionPlan) -> tuple[list[PytestOutcome], PythonResult]:
        """Collect and call tests, each as one input to the session."""
        linker = ModuleLinker(self.files, list(plan.paths), {"sys": "", **_provided("pytest", "harness")})
        linker.add("__harness__")
        for name in plan.names:
            linker.add(name, plan.edits)
        outcomes: list[PytestOutcome] = []
        with self._session():
            try:
                self._start(linker, ["pytest"], "")
                self._feed("load('__harness__')\nH = SPACES['__harness__']\nBUILTINS['__note__'] = H['note']", linker)
                self._feed("H['PLAN'].update(given)", linker, {"given": plan.packed()})
                self._feed(_CAPTURE, linker)
                self._test(plan, linker, outcomes)
            except _Stopped as stop:
                return outcomes, self._result(124 if self.timed_out else 137, str(stop))
        return outcomes, self._result(0)

    def _test(self, plan: CollectionPlan, linker: ModuleLinker, outcomes: list[PytestOutcome]) -> None:
        ids: list[str] = []
        for name in plan.conftests:
            _, exception, out = self._caught(f"load({name!r})\nH['SPACES'][{name!r}] = SPACES[{name!r}]", linker)
            if exception is not None:
                outcomes.append(PytestOutcome(plan.path_of(name), "collect", exception, *out))
                return
        for index, name in enumerate(plan.test_names):
            collected, exception, out = self._caught(f"load({name!r})\nH['collect']({index}, SPACES[{name!r}])", linker)
            if exception is not None:
                outcomes.append(PytestOutcome(plan.path_of(name), "collect", exception, *out))
                self._feed("forget()", linker)
            else:
                ids += collected
        plan.collected(ids, outcomes)
        first, failures = len(outcomes), 0
        for number in plan.chosen:
            outcome = self._case(number, ids[number], linker)
            outcomes.append(outcome)
            failures += outcome.failed
            if plan.max_failures and failures >= plan.max_failures:
                break
        for place, number in zip(range(first, len(outcomes)), plan.chosen, strict=False):
            outcomes[place] = self._traced(plan, outcomes[place], number, linker)

    def _traced(self, plan: CollectionPlan, outcome: PytestOutcome, number: int, linker: ModuleLinker) -> PytestOutcome:
        """Return a failure with its whole traceback.

        The interpreter forgets where an exception came from when it passes a block that expects one. The test is
        therefore called once more with such blocks opened.
        """
        exception = outcome.exception
        if outcome.phase != "call" or exception is None or not exception.frames:
            return outcome
        frame = exception.frames[-1]
        file = next((file for file in plan.files if file.path == frame.path), None)
        block = around(file.source, frame.line) if file else None
        if file is None or block is None:
            return outcome
        if exception.message.startswith(MISSED):
            frames = (*exception.frames[:-1], frame._replace(line=block.lineno))
            return replace(outcome, exception=replace(exception, frames=frames))
        name = f"{file.name}{OPENED}"
        if name not in linker.modules:
            linker.add_source(name, file.source, False, lambda source: [*plan.edits(source), *open_handlers(source)])
            inputs = {"entry": linker.modules[name].packed()}
            self._feed("SOURCES[entry[0]] = entry", linker, inputs)
            self._caught(f"load({name!r})", linker)
        self._caught(f"H['prepare']({number})", linker)
        again = self._caught(f"H['call']({number}, SPACES[{name!r}])", linker)[1]
        self._caught("H['clear']()", linker)
        same = again is not None and (again.kind, again.message) == (exception.kind, exception.message)
        return replace(outcome, exception=again) if same else outcome

    def _case(self, number: int, name: str, linker: ModuleLinker) -> PytestOutcome:
        phase = "setup"
        _, exception, out = self._caught(f"H['prepare']({number})", linker)
        if exception is None:
            phase = "call"
            _, exception, more = self._caught(f"H['call']({number})", linker)
            out = (out[0] + more[0], out[1] + more[1])
        if exception is None:
            reason = self._feed(f"H['expected_failure']({number})", linker)[0]
            self._caught("H['clear']()", linker)
            return PytestOutcome(name, phase, None, *out, expected=reason)
        where = exception.frames[-1] if exception.frames else Frame("", 0, "")
        details, _ = self._feed(
            "[H['explain'](path, line), H['arguments'](), H['expected_failure'](number)]",
            linker,
            {
                "path": where.path,
                "line": where.line,
                "number": number,
            },
        )
        explained, arguments, reason = details or ({"values": {}, "detail": []}, [], None)
        self._caught("H['clear']()", linker)
        return PytestOutcome(name, phase, exception, *out, explained, [(a, b) for a, b in arguments], reason)

    @contextlib.contextmanager
    def _session(self) -> Iterator[None]:
        from pydantic_monty import MontyError

        limits = {
            "max_feed_duration_secs": self.timeout_s,
            "max_memory": MAX_MEMORY,
            "max_suspensions": MAX_HOST_CALLS,
            "max_recursion_depth": MAX_DEPTH,
        }
        policy = {"datetime": CLOCK, "sleep": "zero", "random_start": {"seed": 0}}
        with (
            contextlib.suppress(MontyError),
            self.pool.checkout(limits=limits, os_policy=policy, assert_message_annotations=False) as self.session,
        ):
            yield

    def _start(self, linker: ModuleLinker, argv: list[str], stdin: str) -> None:
        inputs = {
            "packed": [module.packed() for module in linker.modules.values()],
            "argv": argv,
            "text": clean(stdin),
        }
        self._feed(source_of("prelude"), linker)
        self._feed(
            "SOURCES.update({entry[0]: entry for entry in packed})\nSTREAMS['stdin'] = text\nmake_sys(argv)",
            linker,
            inputs,
        )

    def _caught(self, code: str, linker: ModuleLinker) -> tuple[Any, ExceptionReport | None, tuple[str, str]]:
        """Run some code and return its output separately."""
        before = self.out
        self.out = {"stdout": [], "stderr": []}
        try:
            value, exception = self._feed(code, linker)
            return value, exception, ("".join(self.out["stdout"]), "".join(self.out["stderr"]))
        finally:
            self.out = before

    def _feed(
        self, code: str, linker: ModuleLinker, inputs: dict[str, Any] | None = None
    ) -> tuple[Any, ExceptionReport | None]:
        """Run some code, and return its value or the exception of the program.

        Raises:
            _Stopped: the time is up, or the worker died.
        """
        from pydantic_monty import MontyCrashedError, MontyError

        if time.monotonic() > self.deadline:
            self.timed_out = True
            raise _Stopped("")
        try:
            value = self.session.feed_run(code, inputs=inputs, print_callback=self._print, cwd=self.cwd, os=self.space)
            return value, None
        except MontyCrashedError as error:
            self.timed_out = error.timed_out
            raise _Stopped("" if error.timed_out else "Killed") from None
        except MontyError as error:
            if self.printed > MAX_OUTPUT:
                raise _Stopped("") from None
            text = str(error)
            if "feed time limit exceeded" in text:
                self.timed_out = True
                raise _Stopped("") from None
            if "memory limit" in text:
                return None, ExceptionReport("MemoryError", "", _frames(error, linker))
            return None, _exception_info(error, linker)

    def _print(self, stream: str, text: str) -> None:
        self.printed += len(text)
        if self.printed > MAX_OUTPUT:
            raise MemoryError("too much output")
        self.out[stream].append(text)

    def _result(self, code: int, note: str = "") -> PythonResult:
        err = "".join(self.out["stderr"]) + (f"{note}\n" if note else "")
        files, removed = self.space.changes()
        return PythonResult("".join(self.out["stdout"]), err, code, files, self.timed_out, removed)


def _frames(error: Any, linker: ModuleLinker) -> tuple[Frame, ...]:
    """Return the frames of the program's own modules, outermost first."""
    frames = []
    for frame in error.traceback() if hasattr(error, "traceback") else []:
        location = linker.locate(frame.line) if frame.filename == "<string>" else None
        if location is not None and location[0].source.path not in OWN_FILES:
            frames.append(Frame(location[0].source.path, location[1], frame.function_name or "<module>"))
    return tuple(frames)


def _exception_info(error: Any, linker: ModuleLinker) -> ExceptionReport:
    inner = error.exception()
    frames = _frames(error, linker)
    kind, message = type(inner).__name__, str(inner)
    if message.startswith("\x01syntax\x01"):
        module = linker.modules[message.split("\x01")[2]]
        return ExceptionReport(
            module.source.report.rpartition("\n")[2].partition(":")[0], "", frames, module.source.report
        )
    if kind == "ZeroDivisionError" and frames:
        last_module = next(
            (module for module in linker.modules.values() if module.source.path == frames[-1].path), None
        )
        line = last_module.source.lines[frames[-1].line - 1] if last_module else ""
        if "//" in line or "%" in line:
            message = "integer division or modulo by zero"
    return decoded(kind, message, frames)


def _ending(exception: ExceptionReport, linker: ModuleLinker) -> tuple[int, str]:
    """Return the exit code of a program that ended with an exception, and what it prints."""
    if exception.kind == "exit":
        number = exception.message.startswith("i")
        return (int(exception.message[1:]) & 255, "") if number else (1, exception.message[1:] + "\n")
    lines = {module.source.path: module.source.lines for module in linker.modules.values() if module.name != "sys"}
    lines.pop("<string>", None)
    return 130 if exception.kind == "KeyboardInterrupt" else 1, traceback_text(exception, lines)


def _provided(*names: str) -> dict[str, str]:
    return {name if name == "pytest" else f"__{name}__": source_of(name) for name in names}


_CAPTURE = """
class Captured:
    def __init__(self, finalizers):
        STREAMS["capture"] = {"stdout": [], "stderr": []}
        finalizers.append(self.stop)

    def stop(self):
        STREAMS["capture"] = None

    def readouterr(self):
        kept = STREAMS["capture"]
        STREAMS["capture"] = {"stdout": [], "stderr": []}
        return Output("".join(kept["stdout"]), "".join(kept["stderr"]))


class Output:
    def __init__(self, out, err):
        self.out = out
        self.err = err


H["CAPTURES"]["capsys"] = Captured
"""

MAX_BYTES = 16 << 20


def memory_files(files: Mapping[str, str], env: Mapping[str, str]) -> Any:
    """Return files and environment of a run in the interpreter's own form, with a method `changes()` for the result."""
    from pydantic_monty import MemoryFile, OSAccess

    chance = random.Random(0)

    class Space(OSAccess):
        written = 0

        def _count(self, data: str | bytes) -> None:
            self.written += len(data) + 256
            if self.written > MAX_BYTES:
                raise OSError("[Errno 28] No space left on device")

        def path_open(self, path: Any, mode: str) -> Any:
            self._count("")
            return super().path_open(path, mode)

        def path_write_text(self, path: Any, data: str) -> int:
            self._count(data)
            return super().path_write_text(path, data)

        def path_write_bytes(self, path: Any, data: bytes) -> int:
            self._count(data)
            return super().path_write_bytes(path, data)

        def path_append_text(self, path: Any, data: str) -> int:
            self._count(data)
            return super().path_append_text(path, data)

        def path_append_bytes(self, path: Any, data: bytes) -> int:
            self._count(data)
            return super().path_append_bytes(path, data)

        def path_mkdir(self, path: Any, parents: bool, exist_ok: bool) -> None:
            self._count("")
            super().path_mkdir(path, parents, exist_ok)

        def urandom(self, size: int) -> bytes:
            return chance.randbytes(size) if 0 <= size <= self.max_urandom_bytes else super().urandom(size)

        def changes(self) -> tuple[dict[str, str], tuple[str, ...]]:
            """Return the text files that changed, and the paths of those that were removed."""
            texts: dict[str, str] = {}
            for file in self.files:
                if file.deleted:
                    continue
                content = file.read_content()
                try:
                    texts[str(file.path)] = content if isinstance(content, str) else content.decode()
                except UnicodeDecodeError:
                    continue
            gone = tuple(sorted(set(files) - set(texts)))
            return {path: text for path, text in texts.items() if files.get(path) != text}, gone

    environ = {"HOME": "/home/user", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environ |= {name: clean(value) for name, value in env.items()}
    return Space([MemoryFile(path, text) for path, text in sorted(files.items())], environ)
