"""Formats the report of a test run in the layout of `pytest`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from agentworld_gym.domains.swe.engine.python.source import SourceFile, parse
from agentworld_gym.domains.swe.engine.python.testing.assertions import explanation
from agentworld_gym.domains.swe.engine.python.testing.collection import CollectionPlan, PytestOutcome
from agentworld_gym.domains.swe.engine.python.tracebacks import ExceptionReport, Frame

WIDTH = 80
MANY = 8
LOADER = "/usr/lib/python3.11/importlib/__init__.py:126"
HEADER = "platform linux -- Python 3.11.9, pytest-8.3.3, pluggy-1.5.0"
LETTERS = {"passed": ".", "failed": "F", "error": "E", "skipped": "s", "xfailed": "x", "xpassed": "X"}
ORDER = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "error")


class PytestReport:
    """Formats the outcomes of a plan."""

    def __init__(self, plan: CollectionPlan, files: Mapping[str, str]) -> None:
        self.plan = plan
        self.files = files
        self.level = plan.options.verbosity
        self.sources: dict[str, SourceFile] = {file.path: file.source for file in (*plan.shared, *plan.files)}

    def whole(self, outcomes: Sequence[PytestOutcome]) -> tuple[str, int]:
        """Return the report of a complete run, and its exit code."""
        broken = [outcome for outcome in outcomes if outcome.phase == "collect"]
        lines = self._head(len(broken))
        if self.plan.options.collect_only and not broken:
            lines += [self.plan.ids[number] for number in self.plan.selected]
        elif not broken:
            lines += self._progress(outcomes)
        lines += self._failures(outcomes)
        lines += self._last(outcomes, len(broken))
        code = 2 if broken else 1 if any(outcome.failed for outcome in outcomes) else 0 if self._any(outcomes) else 5
        return "\n".join(lines) + "\n", code

    def nothing(self) -> str:
        """Return the report of a run that has no tests because of its command line."""
        lines = ["", _counts(Counter(), 0)] if self.level < 0 else [*self._head(0), "", _rule(_counts(Counter(), 0))]
        return "\n".join(lines) + "\n"

    def partial(self, outcomes: Sequence[PytestOutcome]) -> str:
        """Return the report of a run that was stopped."""
        lines = [*self._head(0), *self._progress(outcomes)]
        return "\n".join(line.split(" [")[0].rstrip() for line in lines) + "\n"

    def _any(self, outcomes: Sequence[PytestOutcome]) -> bool:
        return bool(outcomes) or (self.plan.options.collect_only and bool(self.plan.selected))

    def _stopped(self, outcomes: Sequence[PytestOutcome]) -> bool:
        limit = self.plan.max_failures
        return bool(limit) and sum(outcome.failed for outcome in outcomes) >= limit

    def _head(self, errors: int) -> list[str]:
        if self.level < 0:
            return []
        lines = [_rule("test session starts"), HEADER]
        if self.level > 0:
            lines[-1] += " -- /usr/bin/python3"
            lines.append("cachedir: .pytest_cache")
        lines.append(f"rootdir: {self.plan.root}")
        if self.plan.configfile:
            lines.append(f"configfile: {self.plan.configfile}")
        if self.plan.testpaths:
            lines.append(f"testpaths: {', '.join(self.plan.testpaths)}")
        collected = len(self.plan.ids)
        text = f"collected {collected} item{'' if collected == 1 else 's'}"
        if errors:
            text += f" / {errors} error{'s' if errors > 1 else ''}"
        left_out = collected - len(self.plan.selected)
        if left_out:
            text += f" / {left_out} deselected / {len(self.plan.selected)} selected"
        lines.append(f"collecting ... {text}" if self.level > 0 else text)
        return [*lines, ""]

    def _progress(self, outcomes: Sequence[PytestOutcome]) -> list[str]:
        total = len(self.plan.chosen)
        if self.level > 0:
            words = [(f"{outcome.id} {outcome.kind.upper()}", i + 1) for i, outcome in enumerate(outcomes)]
            return [_percent(text + self._reason(outcomes[i - 1]), i, total) for text, i in words]
        letters = "".join(LETTERS[outcome.kind] for outcome in outcomes)
        if self.level < 0:
            rows = [(letters[i : i + WIDTH - 8], i) for i in range(0, len(letters), WIDTH - 8)]
            return [_percent(row, i + len(row), total) for row, i in rows]
        lines, done, i = [], 0, 0
        while i < len(outcomes):
            path = outcomes[i].id.partition("::")[0]
            in_file = [outcome for outcome in outcomes[i:] if outcome.id.partition("::")[0] == path]
            i += len(in_file)
            text = f"{path} " + "".join(LETTERS[outcome.kind] for outcome in in_file)
            done += len(in_file)
            lines.append(_percent(text, done, total))
        return lines

    def _reason(self, outcome: PytestOutcome) -> str:
        if outcome.kind == "skipped" and outcome.exception and outcome.exception.message:
            return f" ({outcome.exception.message})"
        return ""

    def _failures(self, outcomes: Sequence[PytestOutcome]) -> list[str]:
        if self.plan.options.style == "no":
            return []
        lines: list[str] = []
        for title, kind in (("ERRORS", "error"), ("FAILURES", "failed")):
            of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
            if of_kind and not lines and self.level >= 0 and of_kind[0].phase != "collect":
                lines.append("")
            if of_kind:
                lines.append(_rule(title))
            for outcome in of_kind:
                lines += self._failure(outcome)
        return lines

    def _failure(self, outcome: PytestOutcome) -> Iterator[str]:
        exception = outcome.exception
        assert exception is not None
        if self.plan.options.style == "line":
            frame = exception.frames[-1] if exception.frames else Frame("", 0, "")
            yield f"{frame.path}:{frame.line}: {self._crash(outcome)}"
            return
        name = ".".join(outcome.id.split("::")[1:])
        title = {"collect": f"ERROR collecting {outcome.id}", "setup": f"ERROR at setup of {name}"}
        yield _rule(title.get(outcome.phase, name), "_")
        if outcome.phase == "collect":
            yield from self._collection(outcome.id, exception)
        else:
            yield from self._traceback(outcome, exception)
        for text, title_ in ((outcome.out, "stdout"), (outcome.err, "stderr")):
            if text:
                yield _rule(f"Captured {title_} {outcome.phase if outcome.phase != 'collect' else 'call'}", "-")
                yield text.rstrip("\n")

    def _collection(self, path: str, exception: ExceptionReport) -> Iterator[str]:
        if exception.kind in ("ImportError", "ModuleNotFoundError"):
            yield f"ImportError while importing test module '{self.plan.root}/{path}'."
            yield "Hint: make sure your test modules/packages have valid Python names."
            yield "Traceback:"
            yield f"{LOADER}: in import_module"
            yield "    return _bootstrap._gcd_import(name[level:], package, level)"
        for frame in exception.frames:
            yield f"{self._short(frame.path)}:{frame.line}: in {frame.function}"
            yield f"    {self._line(frame)}"
        for line in (exception.report or exception.line).split("\n"):
            yield f"E   {line}"

    def _traceback(self, outcome: PytestOutcome, exception: ExceptionReport) -> Iterator[str]:
        frames = exception.frames
        if exception.kind == "Missing":
            yield from self._missing(outcome, exception)
            return
        if not frames:
            yield f"E   {exception.line}"
            return
        if self.plan.options.style == "short":
            for i, frame in enumerate(frames):
                if MANY <= i < len(frames) - MANY:
                    if i == MANY:
                        yield "..."
                    continue
                yield f"{self._short(frame.path)}:{frame.line}: in {frame.function}"
                yield f"    {self._line(frame)}"
            for line in self._words(outcome, exception):
                yield f"E   {line}"
            return
        yield ""
        for i, frame in enumerate(frames):
            if MANY <= i < len(frames) - MANY:
                if i == MANY:
                    yield "..."
            elif i in (0, len(frames) - 1):
                if i == 0 and outcome.arguments:
                    yield from (", ".join(f"{name} = {value}" for name, value in outcome.arguments), "")
                last = i == len(frames) - 1
                yield from self._entry(frame, self._words(outcome, exception) if last else [])
                yield f"\n{self._short(frame.path)}:{frame.line}: {exception.kind if last else ''}"
            else:
                yield f"{self._short(frame.path)}:{frame.line}: in {frame.function}"
                yield f"    {self._line(frame)}"
            if i < len(frames) - 1 and not MANY <= i < len(frames) - MANY:
                yield "_ " * (WIDTH // 2)
                if i + 1 == len(frames) - 1:
                    yield ""

    def _missing(self, outcome: PytestOutcome, exception: ExceptionReport) -> Iterator[str]:
        path, _, rest = outcome.id.partition("::")
        source = next(file.source for file in self.plan.files if file.shown == path)
        name = rest.split("::")[-1].partition("[")[0]
        line = next((i for i, text in enumerate(source.lines, 1) if text.strip().startswith(f"def {name}(")), 1)
        yield f"file {source.path}, line {line}"
        yield f"  {source.lines[line - 1].strip()}"
        for part in exception.message.split("\n"):
            yield f"E       {part}" if not part.startswith(">") else part
        yield ">       use 'pytest --fixtures [testpath]' for help on them."
        yield f"\n{source.path}:{line}"

    def _entry(self, frame: Frame, words: Sequence[str]) -> Iterator[str]:
        """Return the function up to the line that failed, and what went wrong there."""
        source = self._source(frame.path)
        if not 0 < frame.line <= len(source.lines):
            yield ">   ???"
            yield from (f"E   {word}" for word in words)
            return
        first, last = _extent(source, frame.line)
        text = source.lines[first - 1 : last]
        margin = min((len(line) - len(line.lstrip()) for line in text if line.strip()), default=0)
        for i, line in enumerate(text, first):
            mark = ">   " if i == frame.line else "    "
            yield (mark + line[margin:]).rstrip()
        indent = len(source.lines[frame.line - 1]) - len(source.lines[frame.line - 1].lstrip()) - margin
        for word in words:
            yield f"E   {' ' * indent}{word}"

    def _words(self, outcome: PytestOutcome, exception: ExceptionReport) -> list[str]:
        """Return what went wrong, in lines: the exception, and the explanation of an assertion."""
        if exception.report:
            return exception.report.split("\n")
        if exception.kind != "AssertionError":
            return exception.line.split("\n")
        explained = self._explained(outcome, exception)
        if explained and not exception.message:
            # The class is left out where the repr of the exception begins with its name, a quote and `assert`.
            text = "".join(explained)
            named = "'" in text and '"' not in text
            return [f"{exception.kind}: {explained[0]}" if named else explained[0], *explained[1:]]
        return [*exception.line.split("\n"), *explained]

    def _explained(self, outcome: PytestOutcome, exception: ExceptionReport) -> list[str]:
        frame = exception.frames[-1] if exception.frames else None
        for assertion in self.plan.asserts if frame else ():
            node = assertion.node
            if assertion.path == frame.path and node.lineno <= frame.line <= (node.end_lineno or node.lineno):  # type: ignore[union-attr]
                return explanation(self._source(assertion.path), assertion, outcome.explained, self.level)
        return []

    def _crash(self, outcome: PytestOutcome) -> str:
        assert outcome.exception is not None
        if outcome.phase == "collect" and not outcome.exception.report:
            return outcome.exception.line.split("\n")[0]
        words = self._words(outcome, outcome.exception)
        return words[-1] if outcome.exception.report else words[0]

    def _last(self, outcomes: Sequence[PytestOutcome], broken: int) -> list[str]:
        lines = []
        wanted = self.plan.options.report
        summaries = {
            "failed": ("FAILED", bool(set("fa") & set(wanted)) or "A" in wanted),
            "error": ("ERROR", bool(set("Ea") & set(wanted)) or "A" in wanted),
            "xfailed": ("XFAIL", bool(set("xa") & set(wanted)) or "A" in wanted),
            "skipped": ("SKIPPED", bool(set("sa") & set(wanted)) or "A" in wanted),
            "passed": ("PASSED", bool(set("pPA") & set(wanted))),
        }
        for kind, (word, on) in summaries.items():
            for outcome in outcomes if on else ():
                if outcome.kind == kind:
                    text = f"{word} {outcome.id}"
                    if (kind in ("failed", "error") and outcome.phase != "collect") or kind == "failed":
                        text = _cut(f"{text} - {self._crash(outcome)}")
                    elif kind == "error" and self.plan.options.verbosity >= -1:
                        text = text if self._is_import(outcome) else _cut(f"{text} - {self._crash(outcome)}")
                    lines.append(text)
        if lines:
            lines.insert(0, _rule("short test summary info"))
        if broken:
            lines.append(_rule(f"Interrupted: {broken} error{'s' if broken > 1 else ''} during collection", "!"))
        elif self._stopped(outcomes):
            lines.append(_rule(f"stopping after {self.plan.max_failures} failures", "!"))
        counts = Counter(outcome.kind for outcome in outcomes)
        if not any(outcome.phase == "collect" for outcome in outcomes):
            counts["deselected"] = len(self.plan.ids) - len(self.plan.selected)
        text = _counts(counts, len(outcomes))
        if self.level < 0:
            return [*lines, text]
        return [*lines, _rule(text)] if lines else ["", _rule(text)]

    def _is_import(self, outcome: PytestOutcome) -> bool:
        return outcome.exception is not None and outcome.exception.kind in ("ImportError", "ModuleNotFoundError")

    def _source(self, path: str) -> SourceFile:
        if path not in self.sources:
            self.sources[path] = parse(path, self.files.get(path, ""))
        return self.sources[path]

    def _line(self, frame: Frame) -> str:
        lines = self._source(frame.path).lines
        return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else "???"

    def _short(self, path: str) -> str:
        return path.removeprefix(self.plan.root.rstrip("/") + "/")


def _extent(source: SourceFile, line: int) -> tuple[int, int]:
    """Return first and last line to show for a failure: from the start of its function to the end of its statement."""
    first, last = line, line
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    simple = (ast.Assert, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Raise, ast.Return)
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, simple) and node.lineno <= line <= (node.end_lineno or 0):
            last = max(last, node.end_lineno or line)
    return first, last


def _rule(text: str, char: str = "=") -> str:
    """Return a line of signs with a text in its middle."""
    if not text:
        return char * WIDTH
    side = max(1, (WIDTH - len(text) - 2) // 2)
    line = f"{char * side} {text} {char * side}"
    return line + char if len(line) + 1 <= WIDTH else line


def _percent(text: str, done: int, total: int) -> str:
    """Return a line of progress: what was done, and its share at the right edge."""
    share = f"[{100 * done // max(1, total):3d}%]"
    return f"{text:<{WIDTH - len(share) - 2}} {share}"


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def _counts(counts: Counter[str], tests: int) -> str:
    """Return a line such as `1 failed, 8 passed in 0.02s`, whose time follows from the number of tests."""
    words = []
    for kind in ORDER:
        if counts[kind]:
            plural = "s" if kind == "error" and counts[kind] > 1 else ""
            words.append(f"{counts[kind]} {kind}{plural}")
    return f"{', '.join(words) or 'no tests ran'} in {0.01 + 0.002 * tests:.2f}s"
