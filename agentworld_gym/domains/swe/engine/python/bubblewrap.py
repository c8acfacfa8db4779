"""A sandbox with real CPython behind Linux namespaces.

A program sees no host file but those of the interpreter, no network and no other process.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from posixpath import normpath
from typing import Any

from agentworld_gym.base.process.bubblewrap import PREFIX, HostPython, sandbox_command
from agentworld_gym.domains.swe.engine.python.inside_sandbox import source_of
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult, clean
from agentworld_gym.domains.swe.engine.python.source import changed
from agentworld_gym.domains.swe.engine.python.testing.collection import CollectionPlan, PytestOutcome
from agentworld_gym.domains.swe.engine.python.testing.runner import is_test_run, run_tests
from agentworld_gym.domains.swe.engine.python.tracebacks import ExceptionReport, Frame, decoded
from agentworld_gym.kit.sandbox import launcher_source

MAX_OUTPUT = 1_000_000
MAX_MEMORY = 512 << 20
MAX_FILE_BYTES = 4 << 20
MAX_FOLDER_BYTES = 16 << 20
MAX_FILES_BYTES = 96 << 20
"""The size of all writable folders together, beside the files with which a run begins."""
MAX_FOLDERS = 64
PAGE = 4096
INSIDE = "/opt/inside"
RESERVED = frozenset({"usr", "lib", "lib64", "bin", "sbin", "proc", "dev", "sys", "etc", "opt", "boot", "run"})
ENVIRONMENT = {
    "HOME": "/home/user",
    "USER": "user",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "LD_LIBRARY_PATH": f"{PREFIX}/lib",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNODEBUGRANGES": "1",
}


class Bubblewrap:
    """Runs programs in the interpreter of this process, each in its own sandbox."""

    name = "bubblewrap"

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
        if is_test_run(argv):
            return run_tests(self, files, argv[2:], cwd=cwd, env=env, timeout_s=timeout_s)
        extra = {f"{INSIDE}/pytest.py": source_of("pytest")}
        return _run(files, argv, cwd, env, timeout_s, stdin=stdin, extra=extra)[0]

    def outcomes(
        self, files: Mapping[str, str], plan: CollectionPlan, *, cwd: str, env: Mapping[str, str], timeout_s: float
    ) -> tuple[list[PytestOutcome], PythonResult]:
        """Collect and call the tests of a plan; the result tells which files changed."""
        picky = bool(plan.options.keyword) or any("::" in target for target in plan.options.targets)
        result, reply = self._tests(
            files, plan, cwd, env, timeout_s, [] if picky or plan.options.collect_only else None
        )
        plan.collected(reply["ids"], _outcomes(plan, reply))
        if picky and plan.chosen:
            result, reply = self._tests(files, plan, cwd, env, timeout_s, plan.chosen)
        return _outcomes(plan, reply), result

    def close(self) -> None:
        """Do nothing, because nothing is held between runs."""

    def _tests(
        self,
        files: Mapping[str, str],
        plan: CollectionPlan,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        chosen: list[int] | None,
    ) -> tuple[PythonResult, dict[str, Any]]:
        job = {
            "plan": plan.packed(),
            "paths": plan.paths,
            "own": [plan.root.rstrip("/") + "/", cwd.rstrip("/") + "/"],
            "texts": {
                file.name: {"path": file.path, "text": changed(file.source.text, plan.edits(file.source))}
                for file in (*plan.shared, *plan.files)
            },
            "conftests": plan.conftests,
            "tests": plan.test_names,
            "chosen": chosen,
            "max_failures": plan.max_failures,
        }
        extra = {f"{INSIDE}/{name}.py": source_of(name) for name in ("pytest", "harness")}
        extra[f"{INSIDE}/running.py"] = source_of("run_plan")
        extra[f"{INSIDE}/job.json"] = json.dumps(job)
        argv = [f"{INSIDE}/running.py", f"{INSIDE}/job.json", "/tmp/told.json"]
        result, fetched = _run(files, argv, cwd, env, timeout_s, extra=extra, fetch="/tmp/told.json")
        return result, _test_outcomes(fetched)


def usable() -> bool:
    """Return whether this machine can run Python under bubblewrap, which is tried once for a process."""
    return _works()


@cache
def _works() -> bool:
    if not sys.platform.startswith("linux") or shutil.which("bwrap") is None:
        return False
    result, _ = _run({"/w/a.py": "print(6 * 7)"}, ["a.py"], "/w", {}, 10.0)
    return result.stdout == "42\n"


def _run(
    files: Mapping[str, str],
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    *,
    stdin: str = "",
    extra: Mapping[str, str] | None = None,
    fetch: str = "",
) -> tuple[PythonResult, str]:
    """Run one sandbox from start to end, and return its result and the text of the file to fetch."""
    # The files come in one order, in which the program's folders list them.
    kept = {normpath(path): text for path, text in sorted(files.items())}
    first = {"/" + path.split("/")[1] for path in (normpath(cwd), *argv[:1]) if path.startswith("/")}
    tops = sorted({"/" + path.split("/")[1] for path in (*kept, normpath(cwd)) if path.count("/")} - {"/"})
    tops = [top for top in tops if top[1:] not in RESERVED]
    tops = sorted(sorted(tops, key=lambda top: top not in first)[:MAX_FOLDERS])
    job: dict[str, Any] = {
        "files": {path: text for path, text in kept.items() if "/" + path.split("/")[1] in tops},
        "extra": {f"{INSIDE}/sitecustomize.py": source_of("sitecustomize"), **(extra or {})},
        "fetch": fetch,
        "tops": tops,
        "cwd": cwd,
        "argv": [word.replace("\0", "") for word in argv],
        "python": HostPython.current().inside,
        "env": _environment(env),
        "stdin": clean(stdin),
        "timeout": timeout_s,
        "memory": MAX_MEMORY,
        "file_bytes": MAX_FILE_BYTES,
        "output": MAX_OUTPUT,
    }
    job["folders"] = sorted({*tops, "/tmp", "/home/user", INSIDE})
    folders = _folders(job["folders"], {**job["files"], **job["extra"]})
    command = [*sandbox_command(HostPython.current()), *folders, "--remount-ro", "/", "--"]
    command += [job["python"], "-I", "-S", "-c", launcher_source()]
    try:
        done = subprocess.run(
            command, input=json.dumps(job).encode(), capture_output=True, timeout=timeout_s + 10, check=False, env={}
        )
        reply = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError, OSError):
        return PythonResult("", "Killed\n", 137), ""
    code = 124 if reply["timed_out"] else reply["code"] if reply["code"] >= 0 else 128 - reply["code"]
    result = PythonResult(
        reply["stdout"], reply["stderr"], code, reply["files"], reply["timed_out"], tuple(sorted(reply["removed"]))
    )
    return result, reply["fetched"]


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program; those added here lead to our files and fix the seed of hashes."""
    variables = {**ENVIRONMENT, **{name: clean(value) for name, value in env.items() if "\0" not in value}}
    path = ":".join(part for part in (variables.get("PYTHONPATH", ""), INSIDE) if part)
    seed = variables["PYTHONHASHSEED"] if variables["PYTHONHASHSEED"].isdecimal() else "0"
    return {**variables, "PYTHONPATH": path, "PYTHONHASHSEED": seed}


def _folders(folders: Sequence[str], files: Mapping[str, str]) -> list[str]:
    """Return empty writable folders in memory: room for the initial files, and an equal share of what is left."""
    share = min(MAX_FOLDER_BYTES, MAX_FILES_BYTES // len(folders))
    sizes = dict.fromkeys(folders, share)
    for path, text in files.items():
        top = next(folder for folder in (INSIDE, "/" + path.split("/")[1]) if path.startswith(f"{folder}/"))
        if top in sizes:
            sizes[top] += (len(text.encode("utf-8", "surrogatepass")) // PAGE + 2) * PAGE
    return [word for folder, size in sizes.items() for word in ("--size", str(size), "--tmpfs", folder)]


def _test_outcomes(text: str) -> dict[str, Any]:
    """Return the ids and outcomes that the sandbox wrote, or none if the text does not have their form."""
    try:
        reply = json.loads(text or "{}")
        if set(reply) == {"ids", "outcomes"} and all(isinstance(name, str) for name in reply["ids"]):
            return {"ids": list(reply["ids"]), "outcomes": list(reply["outcomes"])}
    except (RecursionError, TypeError, ValueError):
        pass
    return {"ids": [], "outcomes": []}


def _outcomes(plan: CollectionPlan, reply: Mapping[str, Any]) -> list[PytestOutcome]:
    """Return the outcomes that the sandbox wrote.

    There are none if the program wrote something of another form in their place.
    """
    try:
        return [_outcome(plan, entry, reply["ids"]) for entry in reply["outcomes"]]
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError):
        return []


def _outcome(plan: CollectionPlan, entry: Mapping[str, Any], ids: Sequence[str]) -> PytestOutcome:
    exception = _exception_info(entry["trouble"]) if entry["trouble"] else None
    name = plan.path_of(entry["module"]) if entry["phase"] == "collect" else ids[entry["number"]]
    arguments = [(name, value) for name, value in entry.get("arguments", [])]
    return PytestOutcome(
        name, entry["phase"], exception, entry["out"], entry["err"], entry.get("explained", {}), arguments,
        entry.get("expected"),
    )  # fmt: skip


def _exception_info(entry: Mapping[str, Any]) -> ExceptionReport:
    frames = [Frame(path, line, function) for path, line, function in entry["frames"]]
    if entry["report"]:
        return ExceptionReport(entry["kind"], "", tuple(frames), entry["report"])
    return decoded(entry["kind"], entry["message"], frames)
