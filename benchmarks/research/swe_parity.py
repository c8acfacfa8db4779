"""Do both Python sandboxes judge a repository alike? Verdicts and reports, with a bug and after its repair.

    python benchmarks/research/swe_parity.py [repositories]

Repositories are drawn over all templates and bugs. For each the suite runs twice in each sandbox: with the bug, and
after it was repaired. Exit codes, files, and the whole text of the report are compared.
"""

from __future__ import annotations

import difflib
import random
import sys
import time
from collections import Counter

from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult, PythonSandbox
from agentworld_gym.domains.swe.tasks.repository import ROOT, draw_repository, templates

ARGUMENTS = (["-q"], ["-v"], [], ["-q", "-x"], ["-q", "--tb=short"])


def main(count: int) -> None:
    sandboxes = [open_sandbox(name) for name in ("bubblewrap", "monty")]
    seconds: Counter[str] = Counter()
    same: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    runs = 0
    for number in range(count):
        rng = random.Random(number)
        template = rng.choice(sorted(templates().values(), key=lambda template: template.name))
        repository = draw_repository(rng, template)
        bug = rng.choice(repository.mutations)
        kinds[bug.kind] += 1
        for wanted, files in (("before", repository.broken(bug)), ("after", repository.broken())):
            arguments = ["-m", "pytest", *ARGUMENTS[number % len(ARGUMENTS)]]
            results = [timed(sandbox, files, arguments, seconds) for sandbox in sandboxes]
            codes = [result.exit_code for result in results]
            right = (codes[0] == 0) == (wanted == "after")
            same["verdict"] += codes[0] == codes[1] and right
            same["report"] += results[0] == results[1]
            runs += 1
            if results[0] != results[1]:
                show(f"{template.name}/{bug.id} {wanted} {codes}", results)
    print(f"repositories {count}, bugs by kind {dict(sorted(kinds.items()))}")
    print(f"equal and right verdicts {same['verdict']} of {runs}; equal reports {same['report']} of {runs}")
    for sandbox in sandboxes:
        print(f"{sandbox.name}: {1000 * seconds[sandbox.name] / runs:.1f} ms a run of the suite")


def timed(sandbox: PythonSandbox, files: dict[str, str], arguments: list[str], seconds: Counter[str]) -> PythonResult:
    start = time.perf_counter()
    result = sandbox.run(files, arguments, cwd=ROOT)
    seconds[sandbox.name] += time.perf_counter() - start  # type: ignore[assignment]
    return result


def show(title: str, results: list[PythonResult]) -> None:
    print(f"--- {title}")
    texts = [[*result.stdout.splitlines(), *result.stderr.splitlines()] for result in results]
    print("\n".join(difflib.unified_diff(*texts, "bubblewrap", "monty", lineterm="", n=1)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
