"""Whether two checkouts of this package do the same, byte for byte, and how their speeds compare.

    python benchmarks/research/two_trees.py BEFORE AFTER [--quick] [--only bytes|speed]

Each tree does the same work in processes of its own with the same interpreter: it records sessions of the grounded
worlds, collects rows, makes samples of them, plays language worlds, rolls out, and prints what the command line prints.
Then each tree replays what the other one recorded. The files of both are compared; what rightly differs is declared in
`trees/compare.py` and printed. Speeds are measured in short slices that alternate between the trees.

The exit status is 1 if any byte differs or any work failed. Without trees this checkout is compared with itself.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from trees.compare import Comparison, compare, exceptions, pair
from trees.speeds import measured, report

HERE = Path(__file__).resolve().parent
GIVEN = ("sessions", "recordings", "rows", "traces")
"""What each tree gets of the other one."""
WORKS = ("describe", "faces", "record", "collect", "samples", "rollouts", "dreams", "models", "replay", "go_on", "ask")
"""The names of all works, as `trees.worker` has them; `samples` needs `collect`, and the works behind it need both."""
SHOWN = 40
"""Differences that are printed."""


def surroundings(tree: Path) -> dict[str, str]:
    """The environment variables of a process that runs under a tree; both trees keep compiled modules."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join((str(tree), str(HERE))),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
    }


def works(
    trees: Sequence[Path], folders: Sequence[Path], phase: str, size: str, scratch: Path, chosen: Sequence[str]
) -> None:
    """Let both trees do a phase of the work: at the same time, but one after the other where they share a port.

    Args:
        trees: the two checkouts.
        folders: where each tree writes.
        phase: one of `trees.worker.PHASES`.
        size: one of `trees.sizes.SIZES`.
        scratch: a folder for what the processes say.
        chosen: the works to do; all of the phase if there are none.

    Raises:
        SystemExit: a process ended early; the end of its output says why.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = {"TWO_TREES_PORT": str(free.getsockname()[1])}
    running = []
    for tree, folder in zip(trees, folders, strict=True):
        folder.mkdir(exist_ok=True)
        log = scratch / f"{folder.name}-{phase}.log"
        command = [sys.executable, "-m", "trees.worker", phase, size, *chosen]
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=folder, env=surroundings(tree) | port, stdout=file, stderr=file)
        running.append((process, tree, log))
        if phase == "served":
            process.wait()
    for process, tree, log in running:
        if process.wait():
            said = log.read_text(encoding="utf-8", errors="replace")
            raise SystemExit(f"{tree}: the worker of {phase!r} ended with {process.returncode}:\n{said[-3000:]}")


def compared(
    trees: Sequence[Path], scratch: Path, size: str, allowed: Sequence[str] = (), chosen: Sequence[str] = ()
) -> Comparison:
    """All works of both trees, compared.

    Args:
        trees: the two checkouts.
        scratch: an empty folder for what they write.
        size: one of `trees.sizes.SIZES`.
        allowed: patterns of files that may differ.
        chosen: the works to do, by name; all of them if there are none.
    """
    comparison = Comparison()
    folders = [scratch / "before", scratch / "after"]
    works(trees, folders, "make", size, scratch, chosen)
    for folder, other in (folders, folders[::-1]):
        for name in GIVEN:
            if (other / name).is_dir():
                shutil.copytree(other / name, folder / "given" / name)
    works(trees, folders, "again", size, scratch, chosen)
    works(trees, folders, "served", size, scratch, chosen)
    compare(*folders, comparison, allowed)
    replayed = (folders[0] / "replays").is_dir() or (folders[1] / "replays").is_dir()
    for path in sorted((folders[0] / "sessions").glob("*.jsonl")) if replayed else ():
        for folder in folders:
            name = f"replayed by {folder.name}/{path.name}"
            pair(name, path, folder / "replays" / path.name, comparison, allowed)
    for folder in folders:
        for failed in folder.glob("failed *.txt"):
            pair(f"{failed.name} of {folder.name}", failed, scratch / "none", comparison)
    return comparison


def bytes_report(comparison: Comparison, seconds: float) -> str:
    """The comparison of bytes as Markdown."""
    lines = ["## Bytes", "", comparison.table(), "", "Left out of the comparison:", "", exceptions(comparison.left_out)]
    count = len(comparison.differences)
    lines += ["", f"**{count or 'No'} files differ** ({seconds:.0f} s)."]
    for difference in comparison.differences[:SHOWN]:
        lines += ["", f"- {difference.file}, {difference.place}", f"  - before: `{difference.before}`"]
        lines += [f"  - after: `{difference.after}`"]
    return "\n".join(lines)


def main() -> int:
    """Compare, print the report, and tell whether all bytes are equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", type=Path, default=HERE.parents[1], help="a checkout")
    parser.add_argument("after", nargs="?", type=Path, default=HERE.parents[1], help="another checkout")
    parser.add_argument("--quick", action="store_true", help="a sample of everything")
    parser.add_argument("--only", choices=("bytes", "speed"), help="one of the two parts")
    parser.add_argument("--core", type=int, default=0, help="the core of the processor that speeds are measured on")
    parser.add_argument("--allow", action="append", default=[], metavar="PATTERN", help="files that may differ")
    parser.add_argument("--work", action="append", default=[], choices=WORKS, help="compare the bytes of this work")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what both trees wrote in this folder")
    options = parser.parse_args()
    trees = [options.before.resolve(), options.after.resolve()]
    for tree in trees:
        if not (tree / "agentworld_gym" / "__init__.py").is_file():
            parser.error(f"{tree}: no checkout of this package (expected a folder agentworld_gym in it)")
    print(f"# Two trees\n\nbefore: {trees[0]}\nafter: {trees[1]}\n", flush=True)
    differences = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = options.keep.resolve() if options.keep else Path(name)
        scratch.mkdir(parents=True, exist_ok=True)
        if options.only != "speed":
            began, size = time.perf_counter(), "quick" if options.quick else "full"
            comparison = compared(trees, scratch, size, options.allow, options.work)
            print(bytes_report(comparison, time.perf_counter() - began), flush=True)
            differences = len(comparison.differences)
        if options.only != "bytes":
            began = time.perf_counter()
            speeds = measured([surroundings(tree) for tree in trees], scratch, options.core, options.quick)
            print(report(speeds, time.perf_counter() - began), flush=True)
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
