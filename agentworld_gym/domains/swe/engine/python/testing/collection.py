"""Collects the tests of a run from the text of the test files, without running them."""

from __future__ import annotations

import ast
import fnmatch
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename, dirname, join, normpath
from typing import Any

from agentworld_gym.domains.swe.engine.python.module_linker import module_name
from agentworld_gym.domains.swe.engine.python.source import Edit, SourceFile, parse
from agentworld_gym.domains.swe.engine.python.testing.assertions import Assertion, instrumented
from agentworld_gym.domains.swe.engine.python.tracebacks import ExceptionReport

MAX_TEST_FILES = 100
MAX_TEST_CHARS = 500_000
PATTERNS = ("test_*.py", "*_test.py")


@dataclass(frozen=True, slots=True)
class PytestOptions:
    """The command line of a test run."""

    targets: tuple[str, ...] = ()
    """The files, folders and test ids to run."""
    verbosity: int = 0
    """The number of `-v` minus the number of `-q`."""
    keyword: str = ""
    """The expression of `-k`."""
    max_failures: int = 0
    """The number of failures after which the run ends; 0 means never."""
    collect_only: bool = False
    """Whether tests are only listed."""
    style: str = "auto"
    """The style of tracebacks that `--tb` names."""
    report: str = "fE"
    """The letters of `-r`."""
    bad: str = ""
    """The error in the command line, if there is one."""


@dataclass(frozen=True, slots=True)
class PytestOutcome:
    """The outcome of one test, or of the collection of one file; it passed if `exception` is `None`."""

    id: str
    phase: str
    exception: ExceptionReport | None
    out: str = ""
    err: str = ""
    explained: Mapping[str, Any] = field(default_factory=dict)
    arguments: Sequence[tuple[str, str]] = ()
    expected: str | None = None

    @property
    def kind(self) -> str:
        """The kind of the outcome: `passed`, `failed`, `error`, `skipped`, `xfailed` or `xpassed`."""
        if self.exception is None:
            return "passed" if self.expected is None else "xpassed"
        if self.exception.kind == "Skipped":
            return "skipped"
        if self.phase != "call":
            return "error"
        return "failed" if self.expected is None and self.exception.kind != "XFailed" else "xfailed"

    @property
    def failed(self) -> bool:
        """Whether the outcome makes the run fail."""
        return self.kind in ("failed", "error")


@dataclass(slots=True)
class TestFile:
    """A file with tests, or a `conftest.py`: its module, its tests and its fixtures."""

    path: str
    shown: str
    name: str
    source: SourceFile
    tests: list[dict[str, Any]]
    fixtures: dict[str, dict[str, Any]]


@dataclass(slots=True)
class CollectionPlan:
    """The tests of a run as their texts define them, and, after collection, those of them that are chosen."""

    root: str
    paths: tuple[str, ...]
    files: list[TestFile]
    shared: list[TestFile]
    options: PytestOptions
    configfile: str = ""
    testpaths: tuple[str, ...] = ()
    missing: str = ""
    asserts: list[Assertion] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    unmatched: str = ""
    _edits: dict[str, list[Edit]] = field(default_factory=dict)

    @property
    def conftests(self) -> list[str]:
        """The modules of the `conftest.py` files."""
        return [file.name for file in self.shared]

    @property
    def test_names(self) -> list[str]:
        """The modules of the test files."""
        return [file.name for file in self.files]

    @property
    def names(self) -> list[str]:
        """All modules with which a run begins."""
        return [*self.conftests, *self.test_names]

    @property
    def max_failures(self) -> int:
        """The number of failures after which the run ends; 0 means never."""
        return self.options.max_failures

    def path_of(self, name: str) -> str:
        """Return the file of a module in the form in which it is shown."""
        return next(file.shown for file in (*self.shared, *self.files) if file.name == name)

    def edits(self, source: SourceFile) -> list[Edit]:
        """Return the changes of a test file's text that let its assertions be explained."""
        return self._edits.get(source.path, [])

    def packed(self) -> dict[str, Any]:
        """Return the plan in the form that the harness inside the sandbox reads."""
        modules = []
        for file in self.files:
            fixtures: dict[str, Any] = {}
            for shared in (*self.shared, file):
                if file.path.startswith(dirname(shared.path) + "/"):
                    fixtures.update(shared.fixtures)
            modules.append({"name": file.name, "path": file.shown, "tests": file.tests, "fixtures": fixtures})
        return {"modules": modules, "asserts": [assertion.packed() for assertion in self.asserts]}

    def collected(self, ids: Sequence[str], outcomes: Sequence[PytestOutcome]) -> None:
        """Store the ids that were collected, and choose among them; after an error of collection nothing is chosen."""
        self.ids = list(ids)
        picked = [target for target in self.options.targets if "::" in target]
        whole = [target for target in self.options.targets if "::" not in target]
        matched: set[str] = set()
        chosen = []
        for number, name in enumerate(ids):
            path, _, rest = name.partition("::")
            hits = [target for target in picked if self._names(target, path, rest)]
            matched.update(hits)
            if picked and not hits and not any(_within(path, self._relative_target(target)) for target in whole):
                continue
            if not self.options.keyword or keyword_matches(self.options.keyword, name):
                chosen.append(number)
        lost = [target for target in picked if target not in matched]
        self.unmatched = lost[0] if lost else ""
        failed = any(outcome.phase == "collect" for outcome in outcomes)
        self.chosen = [] if failed or self.unmatched or self.options.collect_only else chosen
        self.selected = chosen

    selected: list[int] = field(default_factory=list)

    def _relative_target(self, target: str) -> str:
        return _relative(normpath(join(self.root, target)), self.root)

    def _names(self, target: str, path: str, rest: str) -> bool:
        file, _, node = target.partition("::")
        return self._relative_target(file) == path and (rest == node or rest.startswith((node + "::", node + "[")))


def make_plan(files: Mapping[str, str], options: PytestOptions, cwd: str) -> CollectionPlan:
    """Find the test files that a command line names, and their tests."""
    root, configfile, settings = _configuration(files, cwd)
    targets = [join(cwd, target.partition("::")[0]) for target in options.targets]
    testpaths = tuple(str(path) for path in _listed(settings.get("testpaths")))
    existing = [join(root, path) for path in testpaths if _exists(files, normpath(join(root, path)))]
    test_paths: list[str] = []
    missing = ""
    for target in map(normpath, targets or existing or [cwd]):
        if not _exists(files, target):
            missing = missing or target
        elif target in files:
            test_paths.append(target)
        else:
            test_paths += sorted(path for path in files if path.startswith(target.rstrip("/") + "/") and _is_test(path))
    tests = _few(files, dict.fromkeys(test_paths))
    conftests = sorted(path for path in files if basename(path) == "conftest.py" and path.startswith(root))
    conftests = [path for path in conftests if any(test.startswith(dirname(path) + "/") for test in tests)]
    folders = {path: _import_root(files, path) for path in (*conftests, *tests)}
    paths = list(dict.fromkeys([*folders.values(), *_settings_paths(settings, root), cwd]))
    plan = CollectionPlan(
        root, tuple(paths), [], [], options, configfile, testpaths if not targets and existing else (), missing
    )
    taken: set[str] = set()
    for path in (*conftests, *tests):
        source = parse(path, files[path])
        name = module_name(path, folders[path])
        if name in taken:
            continue
        taken.add(name)
        entry = TestFile(path, _relative(path, root), name, source, _tests(source), _fixtures(source, name))
        (plan.shared if path in conftests else plan.files).append(entry)
        edits, asserts = instrumented(source, sum(len(assertion.parts) for assertion in plan.asserts))
        plan._edits[path] = edits
        plan.asserts += asserts
    return plan


def _few(files: Mapping[str, str], paths: Iterable[str]) -> list[str]:
    """Return the first test files, as many as may be read."""
    kept: list[str] = []
    chars = 0
    for path in paths:
        chars += len(files[path])
        if len(kept) < MAX_TEST_FILES and chars <= MAX_TEST_CHARS:
            kept.append(path)
    return kept


def _configuration(files: Mapping[str, str], cwd: str) -> tuple[str, str, Mapping[str, Any]]:
    """Return root folder, configuration file and settings."""
    folder = cwd
    while True:
        if (path := join(folder, "pytest.ini")) in files:
            return folder, "pytest.ini", _ini(files[path], "pytest")
        if (path := join(folder, "pyproject.toml")) in files:
            try:
                options = tomllib.loads(files[path])["tool"]["pytest"]["ini_options"]
            except (tomllib.TOMLDecodeError, KeyError, TypeError, RecursionError):
                options = None
            return (folder, "pyproject.toml", options) if isinstance(options, dict) else (folder, "", {})
        if (path := join(folder, "setup.cfg")) in files and "[tool:pytest]" in files[path]:
            return folder, "setup.cfg", _ini(files[path], "tool:pytest")
        if folder in ("/", ""):
            return cwd, "", {}
        folder = dirname(folder)


def _ini(text: str, section: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    inside = False
    for line in text.split("\n"):
        if line.startswith("["):
            inside = line.strip() == f"[{section}]"
        elif inside and (pair := re.match(r"(\w+)\s*=\s*(.*)", line)):
            settings[pair[1]] = pair[2]
    return settings


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else str(value).split() if value else []


def _settings_paths(settings: Mapping[str, Any], root: str) -> list[str]:
    return [normpath(join(root, str(path))) for path in _listed(settings.get("pythonpath"))]


def _exists(files: Mapping[str, str], path: str) -> bool:
    return path in files or any(other.startswith(path.rstrip("/") + "/") for other in files)


def _is_test(path: str) -> bool:
    hidden = any(part.startswith(".") or part in ("build", "dist", "venv") for part in path.split("/")[:-1] if part)
    return not hidden and any(fnmatch.fnmatchcase(basename(path), pattern) for pattern in PATTERNS)


def _import_root(files: Mapping[str, str], path: str) -> str:
    """Return the first folder above a file that is not a package."""
    folder = dirname(path)
    while join(folder, "__init__.py") in files and folder not in ("/", ""):
        folder = dirname(folder)
    return folder


def _relative(path: str, root: str) -> str:
    return path.removeprefix(root.rstrip("/") + "/")


def _within(path: str, folder: str) -> bool:
    return folder in ("", ".") or path == folder or path.startswith(folder.rstrip("/") + "/")


def _tests(source: SourceFile) -> list[dict[str, Any]]:
    """Return test functions and methods in the order of the file."""
    tests: list[dict[str, Any]] = []
    for node in source.tree.body if source.tree else ():
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            tests.append({"class": None, "name": node.name, "args": _parameters(node)})
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            tests += [
                {"class": node.name, "name": inner.name, "args": _parameters(inner)[1:]}
                for inner in node.body
                if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test")
            ]
    names = {(test["class"], test["name"]): test for test in tests}
    return list(names.values())


def _parameters(node: ast.FunctionDef) -> list[str]:
    parameters = (
        node.args.args[: len(node.args.args) - len(node.args.defaults)] if node.args.defaults else node.args.args
    )
    return [arg.arg for arg in parameters]


def _fixtures(source: SourceFile, module: str) -> dict[str, dict[str, Any]]:
    fixtures: dict[str, dict[str, Any]] = {}
    for node in source.tree.body if source.tree else ():
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called) in ("pytest.fixture", "fixture"):
                yields = any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(node))
                name = node.name
                for option in decorator.keywords if isinstance(decorator, ast.Call) else ():
                    if option.arg == "name" and isinstance(option.value, ast.Constant):
                        name = str(option.value.value)
                fixtures[name] = {
                    "module": module, "attribute": node.name, "args": _parameters(node), "generator": yields
                }  # fmt: skip
    return fixtures


def keyword_matches(expression: str, name: str) -> bool:
    """Return whether `-k` selects a test, by words that its id contains, with `and`, `or`, `not` and brackets.

    >>> keyword_matches("cart and not empty", "tests/test_cart.py::test_total")
    True

    Raises:
        ValueError: the expression cannot be parsed.
    """
    words = re.findall(r"\(|\)|[^\s()]+", expression)[:200]
    place = 0

    def either() -> bool:
        nonlocal place
        value = both()
        while place < len(words) and words[place] == "or":
            place += 1
            value = both() or value
        return value

    def both() -> bool:
        nonlocal place
        value = one()
        while place < len(words) and words[place] == "and":
            place += 1
            value = one() and value
        return value

    def one() -> bool:
        nonlocal place
        if place >= len(words) or words[place] in ("and", "or", ")"):
            raise ValueError(expression)
        word = words[place]
        place += 1
        if word == "not":
            return not one()
        if word == "(":
            value = either()
            if place >= len(words) or words[place] != ")":
                raise ValueError(expression)
            place += 1
            return value
        return word.lower() in name.lower()

    value = either()
    if place != len(words):
        raise ValueError(expression)
    return value
