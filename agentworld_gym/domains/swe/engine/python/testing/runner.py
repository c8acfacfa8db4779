"""Runs the tests of a repository as `pytest` does, in any sandbox, and reports them in its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult
from agentworld_gym.domains.swe.engine.python.testing.collection import (
    CollectionPlan,
    PytestOptions,
    PytestOutcome,
    keyword_matches,
    make_plan,
)
from agentworld_gym.domains.swe.engine.python.testing.report import PytestReport

__all__ = ["CollectionPlan", "PytestOutcome", "TestSandbox", "is_test_run", "options_of", "run_tests"]

VERSION = "pytest 8.3.3"
HELP = "usage: pytest [options] [file_or_dir] [file_or_dir] [...]"


class TestSandbox(Protocol):
    """A sandbox that can collect and call tests."""

    def outcomes(
        self, files: Mapping[str, str], plan: CollectionPlan, *, cwd: str, env: Mapping[str, str], timeout_s: float
    ) -> tuple[list[PytestOutcome], PythonResult]:
        """Collect and call the tests of a plan; the result tells which files changed."""
        ...


def is_test_run(argv: Sequence[str]) -> bool:
    """Return whether `python ARGV` runs the tests."""
    return len(argv) >= 2 and argv[0] == "-m" and argv[1] in ("pytest", "py.test")


def run_tests(
    sandbox: TestSandbox,
    files: Mapping[str, str],
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
) -> PythonResult:
    """Run `pytest ARGV` and report the run.

    The exit code is 0 if all tests passed, 1 if some failed, 2 after an error of collection, 4 after a wrong command
    line and 5 if no test was run. The duration in the report follows from the number of tests.
    """
    if any(argument in ("--version", "-V") for argument in argv):
        return PythonResult(f"{VERSION}\n", "", 0)
    if any(argument in ("--help", "-h") for argument in argv):
        return PythonResult(f"{HELP}\n", "", 0)
    try:
        return _run(sandbox, files, options_of(argv), cwd, env, timeout_s)
    except RecursionError:
        return PythonResult("", "INTERNALERROR> RecursionError: maximum recursion depth exceeded\n", 3)


def _run(
    sandbox: TestSandbox,
    files: Mapping[str, str],
    options: PytestOptions,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
) -> PythonResult:
    if options.bad:
        return PythonResult("", f"ERROR: {HELP}\npytest: error: {options.bad}\n", 4)
    try:
        keyword_matches(options.keyword or "any", "")
    except ValueError:
        return PythonResult("", f"ERROR: Wrong expression passed to '-k': {options.keyword}\n\n", 4)
    plan = make_plan(files, options, cwd)
    report = PytestReport(plan, files)
    if plan.missing:
        text = report.nothing()
        return PythonResult(text, f"ERROR: file or directory not found: {plan.missing}\n\n", 4)
    outcomes, result = sandbox.outcomes(files, plan, cwd=cwd, env=env, timeout_s=timeout_s)
    if result.timed_out or result.exit_code:
        return replace(result, stdout=report.partial(outcomes))
    if plan.unmatched:
        where = plan.unmatched
        return replace(
            result, stdout=report.nothing(), stderr=f"ERROR: not found: {plan.root}/{where}\n\n", exit_code=4
        )
    text, code = report.whole(outcomes)
    return replace(result, stdout=text, stderr="", exit_code=code)


def options_of(argv: Sequence[str]) -> PytestOptions:
    """Read a command line; options that change nothing here are ignored.

    >>> options_of(["-q", "-k", "cart", "-x", "tests"])  # doctest: +ELLIPSIS
    PytestOptions(targets=('tests',), verbosity=-1, keyword='cart', max_failures=1, ...)
    """
    options = PytestOptions()
    words = iter(_split(argv))
    for word in words:
        name, _, value = word.partition("=")
        if name in ("-q", "--quiet"):
            options = replace(options, verbosity=options.verbosity - 1)
        elif name in ("-v", "--verbose"):
            options = replace(options, verbosity=options.verbosity + 1)
        elif name in ("-x", "--exitfirst"):
            options = replace(options, max_failures=1)
        elif name in ("-k", "--tb", "--maxfail", "-p", "-W", "-m", "-c", "--color", "--durations", "-n", "-o", "-r"):
            value = value or next(words, "")
            if name == "-k":
                options = replace(options, keyword=value)
            elif name == "--tb":
                options = replace(options, style=value)
            elif name == "-r":
                options = replace(options, report=value)
            elif name == "--maxfail":
                options = replace(options, max_failures=int(value) if value.isdecimal() else 0)
        elif name in ("--collect-only", "--co"):
            options = replace(options, collect_only=True)
        elif word in ("-s", "-l", "--no-header", "--lf", "--ff", "--last-failed", "--failed-first", "--strict-markers"):
            continue
        elif word.startswith("-"):
            return replace(options, bad=f"unrecognized arguments: {word}")
        else:
            options = replace(options, targets=(*options.targets, word))
    return options


def _split(argv: Sequence[str]) -> Iterator[str]:
    """Yield short options one by one: `-qx` is `-q -x`, `-kcart` is `-k cart`, `-rA` is `-r A`."""
    for word in argv:
        if not word.startswith("-") or word.startswith("--") or len(word) <= 2:
            yield word
            continue
        rest = word[1:]
        while rest:
            yield f"-{rest[0]}"
            if rest[0] in "kpWmcnor" and len(rest) > 1:
                yield rest[1:].removeprefix("=")
                break
            rest = rest[1:]
