"""Grades an episode of a row: whether its named tests pass on a clean copy with what the agent changed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.core.engines import EngineError, Inspection, SystemLate
from agentworld_gym.domains.swe.engine.grading import STEERING
from agentworld_gym.domains.swe.live.clones import Clones
from agentworld_gym.domains.swe.live.config import RepositoryRow
from agentworld_gym.kit.live.box import TIMED_OUT, SandboxBox
from agentworld_gym.kit.live.file_archive import FileArchive

_PATCHED = re.compile(r"(?m)^(?:---|\+\+\+) [ab]/(\S+)")
_OUTCOME = re.compile(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (.+)")
_REPORT = "/tmp/.report"
_PASSES = frozenset(("PASSED", "XFAIL"))
_PLAIN = re.compile(r"(.+?) \.\.\. (ok|FAIL|ERROR|skipped.*|expected failure)")


def graded(clones: Clones, files: FileArchive, row: Mapping[str, Any]) -> Inspection:
    """Run the named tests of a row.

    The copy is that of the base commit. What the agent changed below its root is laid over it but for what git ignores,
    the files of the test patch, and files that decide which tests run, unless the row's own patch changes these.

    Args:
        clones: The clones.
        files: The files at the end of the episode.
        row: The row.

    Raises:
        EngineError: The patch of the tests does not apply.
        SystemLate: The tests took too long.
    """
    told = validated(RepositoryRow, dict(row), "task hidden.row")
    clean = clones.files_at(told.base_commit)
    kept = {*_PATCHED.findall(told.test_patch)}
    steering = {name for name in STEERING} - {path.rpartition("/")[2] for path in _PATCHED.findall(told.patch)}
    written, removed = changed(clean, files, f"{clones.root}/", kept, steering)
    box = SandboxBox(clones.confinement, clean)
    try:
        if written:
            # What git ignores is no part of a change, as in a patch.
            out = _ignored(box, clones.root, written)
            kept_files = {f"{clones.root}/{path}": one for path, one in written.items() if path not in out}
        # A file that went may stand where a folder has to be.
        if removed:
            box.add(FileArchive.of({"/tmp/.removed": "\0".join(sorted(removed))}))
            box.run("xargs -0 rm -f -- </tmp/.removed", clones.root)
        if written:
            box.add(FileArchive.of_files(kept_files))
        if told.test_patch:
            box.add(FileArchive.of({"/tmp/test.patch": told.test_patch}))
            applied = box.run("git apply --whitespace=nowarn /tmp/test.patch", clones.root)
            if applied.status:
                raise EngineError(
                    f"the test patch of {told.instance_id} does not apply: {applied.output.strip()[:500]}"
                )
        names = (*told.FAIL_TO_PASS, *told.PASS_TO_PASS)
        # The report is read as a file, because of a long output the middle would be left out.
        command = f"{{ {_command(clones.config.tests, names)}\n}} >{_REPORT} 2>&1"
        done = box.run(command, clones.root, clones.config.limits.step_seconds)
        output = "" if done.status == TIMED_OUT else (box.read([_REPORT]) or [""])[0]
    finally:
        box.close()
    if done.status == TIMED_OUT:
        raise SystemLate(f"the named tests took longer than {clones.config.limits.step_seconds:g} s")
    passed = passing(output, names)
    failed = [name for name in names if name not in passed]
    report = f"{len(names) - len(failed)} of {len(names)} named tests pass"
    return Inspection(bool(names) and not failed, "\n".join([report, *failed[:20], output[-2000:]]))


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


def passing(output: str, names: Sequence[str]) -> set[str]:
    """Return those of some tests that a report says have passed.

    >>> sorted(passing("PASSED t.py::a\\nFAILED t.py::b - no\\nt_c (m.T) ... ok", ["t.py::a", "t.py::b", "t_c (m.T)"]))
    ['t.py::a', 't_c (m.T)']
    """
    known, found, lost = set(names), set[str](), set[str]()
    for line in output.splitlines():
        if match := _OUTCOME.fullmatch(line.strip()):
            name = match[2] if match[2] in known else match[2].partition(" - ")[0]
            (found if match[1] in _PASSES else lost).add(name)
        elif match := _PLAIN.fullmatch(line.strip()):
            (found if match[2] in ("ok", "expected failure") else lost).add(match[1])
    return (found - lost) & known


def changed(
    before: FileArchive, after: FileArchive, root: str, kept: set[str], steering: set[str]
) -> tuple[dict[str, tuple[bytes, int]], set[str]]:
    """Return the files below a root that were written, by path from it, and those that were removed."""
    first, last = (
        {
            entry.path.removeprefix(root): (entry.data, entry.mode)
            for entry in archive.entries()
            if entry.kind == "file" and entry.path.startswith(root)
        }
        for archive in (before, after)
    )

    def counts(path: str) -> bool:
        parts = path.split("/")
        return not (path in kept or parts[-1] in steering or {".git", "__pycache__", ".pytest_cache"} & set(parts))

    written = {path: file for path, file in last.items() if counts(path) and first.get(path) != file}
    return written, {path for path in first if counts(path) and path not in last}
