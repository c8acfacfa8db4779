"""Grades an episode of a row: whether its named tests pass on a clean copy with what the agent changed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.core.engines import EngineError, Inspection
from agentworld_gym.domains.swe.engine.grading import STEERING
from agentworld_gym.domains.swe.live.clones import Clones
from agentworld_gym.domains.swe.live.config import RepositoryRow
from agentworld_gym.kit.live.box import TIMED_OUT, TOO_MUCH, SandboxBox
from agentworld_gym.kit.live.file_archive import ArchivedFile, FileArchive

_PATCHED = re.compile(r"(?m)^(?:---|\+\+\+) [ab]/(\S+)")
_OUTCOME = re.compile(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (.+)")
_REPORT = "/tmp/.report"
_PASSES = frozenset(("PASSED", "XFAIL"))
_PLAIN = re.compile(r"(.+?) \.\.\. (ok|FAIL|ERROR|skipped.*|expected failure)")


def graded(clones: Clones, files: FileArchive, row: Mapping[str, Any]) -> Inspection:
    """Run the named tests of a row.

    The copy is that of the base commit with the test patch. What the agent changed below its root is laid over it but
    for what git ignores, the files of the test patch, and files that decide which tests run, unless the row's own patch
    changes these. Where no named test tells an outcome, or the tests take too long, the row's own patch is tested once:
    only if that goes no better, it is the tests that cannot run.

    Args:
        clones: The clones.
        files: The files at the end of the episode.
        row: The row.

    Raises:
        EngineError: A patch of the row does not apply, or its tests do not run, whatever the agent changed.
    """
    told = validated(RepositoryRow, dict(row), "task hidden.row")
    clean, names = clones.files_at(told.base_commit), _names(told)
    kept = {*_PATCHED.findall(told.test_patch)}
    steering = {name for name in STEERING} - {path.rpartition("/")[2] for path in _PATCHED.findall(told.patch)}
    written, removed = changed(clean, files, f"{clones.root}/", kept, steering)
    box = SandboxBox(clones.confinement, clean)
    try:
        _apply(box, clones.root, told, "test_patch")
        # What git ignores is no part of a change, as in a patch.
        out = _ignored(box, clones.root, written) if written else set()
        # A file that went may stand where a folder has to be.
        if removed:
            box.add(FileArchive.of({"/tmp/.removed": "\0".join(sorted(removed))}))
            box.run("xargs -0 rm -f -- </tmp/.removed", clones.root)
        laid = {entry.path: entry for path, entry in written.items() if path not in out}
        links = {path: entry.data for path, entry in laid.items() if entry.kind == "link"}
        texts = {path: (entry.data, entry.mode) for path, entry in laid.items() if entry.kind == "file"}
        try:
            box.add(FileArchive.of_files(texts, links))
        except EngineError as error:  # A folder stands where a file of the tests has to be.
            box.check()
            return Inspection(False, f"what was changed does not fit over a clean copy: {error}")
        found, output = _tested(box, clones, names)
    finally:
        box.close()
    if not found and (reason := _reason(clones, told, clean)):
        raise EngineError(f"the tests of {told.instance_id} do not run, even with its own patch: {reason}")
    failed = [name for name in names if not found.get(name)]
    report = f"{len(names) - len(failed)} of {len(names)} named tests pass"
    return Inspection(bool(names) and not failed, "\n".join([report, *failed[:20], output[-2000:]]))


def _reason(clones: Clones, row: RepositoryRow, clean: FileArchive) -> str:
    """Return why the tests of a row tell nothing of its own patch; empty where they do."""
    if row.instance_id in clones.tried:
        return ""
    box = SandboxBox(clones.confinement, clean)
    try:
        _apply(box, clones.root, row, "test_patch")
        _apply(box, clones.root, row, "patch")
        found, output = _tested(box, clones, _names(row))
    finally:
        box.close()
    if not found:
        return f"`{clones.tests}` tells no outcome of a named test; it printed: {output.strip()[-500:]}"
    clones.tried.add(row.instance_id)
    return ""


def _names(row: RepositoryRow) -> tuple[str, ...]:
    return (*row.FAIL_TO_PASS, *row.PASS_TO_PASS)


def _apply(box: SandboxBox, root: str, row: RepositoryRow, key: Literal["patch", "test_patch"]) -> None:
    """Apply a patch of a row.

    Raises:
        EngineError: It does not apply.
    """
    if text := getattr(row, key):
        box.add(FileArchive.of({"/tmp/row.patch": text}))
        applied = box.run("git apply --whitespace=nowarn /tmp/row.patch", root)
        if applied.status:
            raise EngineError(f"the {key} of {row.instance_id} does not apply: {applied.output.strip()[:500]}")


def _tested(box: SandboxBox, clones: Clones, names: Sequence[str]) -> tuple[dict[str, bool], str]:
    """Run the tests, and return which of some tests passed, and what was printed. A run that did not end in time, or
    took too much, tells of no test.
    """
    # The report is read as a file, because of a long output the middle would be left out.
    done = box.judge(f"{{ {_command(clones.tests, names)}\n}} >{_REPORT} 2>&1", clones.root)
    if done.status in (TIMED_OUT, TOO_MUCH):
        return {}, done.output
    try:
        output = (box.read([_REPORT]) or [""])[0]
    except EngineError as error:  # What was tested left a pipe in its place.
        return {}, str(error)
    return outcomes(output, names), output


def _ignored(box: SandboxBox, root: str, paths: Collection[str]) -> set[str]:
    """Return those of some paths that git ignores.

    Raises:
        EngineError: Git cannot tell.
    """
    box.add(FileArchive.of({"/tmp/.names": "\0".join(sorted(paths))}))
    ran = box.run("git check-ignore --no-index -z --stdin </tmp/.names >/tmp/.ignored", root)
    told = box.read(["/tmp/.ignored"])
    if ran.status not in (0, 1) or told is None:  # 1 is none of them.
        raise EngineError(f"git cannot tell what it ignores: {ran.output[-300:]}")
    return set(told[0].split("\0"))


def _command(tests: str, names: Sequence[str]) -> str:
    """Return the command that runs the files of some tests and tells the outcome of each."""
    if not any("::" in name for name in names):
        return tests
    paths = dict.fromkeys(name.partition("::")[0] for name in names)
    return " ".join([tests, "-rA", "--color=no", "-p", "no:cacheprovider", *map(shlex.quote, paths)])


def outcomes(output: str, names: Sequence[str]) -> dict[str, bool]:
    """Return those of some tests that a report tells of, with whether they passed each time.

    >>> outcomes("PASSED t.py::a\\nFAILED t.py::b - no\\nt_c (m.T) ... ok", ["t.py::a", "t.py::b", "t_c (m.T)", "d"])
    {'t.py::a': True, 't.py::b': False, 't_c (m.T)': True}
    """
    known, found = set(names), dict[str, bool]()

    def tell(name: str, passed: bool) -> None:
        if name in known:
            found[name] = passed and found.get(name, True)

    for line in output.splitlines():
        if match := _OUTCOME.fullmatch(line.strip()):
            tell(match[2] if match[2] in known else match[2].partition(" - ")[0], match[1] in _PASSES)
        elif match := _PLAIN.fullmatch(line.strip()):
            tell(match[1], match[2] in ("ok", "expected failure"))
    return found


def changed(
    before: FileArchive, after: FileArchive, root: str, kept: set[str], steering: set[str]
) -> tuple[dict[str, ArchivedFile], set[str]]:
    """Return the files and links below a root that were written, by path from it, and those that were removed."""
    first, last = (
        {
            entry.path.removeprefix(root): entry
            for entry in archive.entries()
            if entry.kind != "folder" and entry.path.startswith(root)
        }
        for archive in (before, after)
    )

    def counts(path: str) -> bool:
        parts = path.split("/")
        return not (path in kept or parts[-1] in steering or {".git", "__pycache__", ".pytest_cache"} & set(parts))

    written = {path: file for path, file in last.items() if counts(path) and first.get(path) != file}
    return written, {path for path in first if counts(path) and path not in last}
