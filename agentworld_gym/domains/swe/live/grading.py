"""Grades an episode of a row: whether its named tests pass on a clean copy with what the agent changed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.engines import EngineError, Inspection, SystemLate
from agentworld_gym.domains.swe.engine.grading import STEERING
from agentworld_gym.domains.swe.live.clones import Clones
from agentworld_gym.domains.swe.live.config import RepositoryRow
from agentworld_gym.kit.live.box import TIMED_OUT, SandboxBox
from agentworld_gym.kit.live.file_archive import FileArchive

_PATCHED = re.compile(r"(?m)^(?:---|\+\+\+) [ab]/(\S+)")
_OUTCOME = re.compile(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (.+)")
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
    told = RepositoryRow.model_validate(dict(row))
    clean = clones.files_at(told.base_commit)
    kept = {*_PATCHED.findall(told.test_patch)}
    steering = {name for name in STEERING} - {path.rpartition("/")[2] for path in _PATCHED.findall(told.patch)}
    written, removed = changed(clean, files, f"{clones.root}/", kept, steering)
    box = SandboxBox(clones.confinement, clean)
    try:
        if written:
            # What git ignores is no part of a change, as in a patch.
            listed = "\n".join(sorted(written))
            ignored = box.run(
                f"git check-ignore --no-index --stdin <<'END OF NAMES'\n{listed}\nEND OF NAMES", clones.root
            )
            out = set(ignored.output.splitlines())
            box.add(
                FileArchive.of_files({f"{clones.root}/{path}": one for path, one in written.items() if path not in out})
            )
        if removed:
            box.run("rm -f -- " + " ".join(map(shlex.quote, sorted(removed))), clones.root)
        if told.test_patch:
            box.add(FileArchive.of({"/tmp/test.patch": told.test_patch}))
            applied = box.run("git apply --whitespace=nowarn /tmp/test.patch", clones.root)
            if applied.status:
                raise EngineError(
                    f"the test patch of {told.instance_id} does not apply: {applied.output.strip()[:500]}"
                )
        names = (*told.FAIL_TO_PASS, *told.PASS_TO_PASS)
        done = box.run(_command(clones.config.tests, names), clones.root, clones.config.limits.step_seconds)
    finally:
        box.close()
    if done.status == TIMED_OUT:
        raise SystemLate(f"the named tests took longer than {clones.config.limits.step_seconds:g} s")
    passed = passing(done.output, names)
    failed = [name for name in names if name not in passed]
    report = f"{len(names) - len(failed)} of {len(names)} named tests pass"
    return Inspection(bool(names) and not failed, "\n".join([report, *failed[:20], done.output[-2000:]]))


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
