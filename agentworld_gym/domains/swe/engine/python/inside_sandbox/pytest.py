"""The module that `import pytest` loads inside a sandbox: marks, fixtures, `raises` and `approx`.

This file is written in the subset of Python that every sandbox runs, and is executed there and never on the host.
Outcomes that are no exception of Python travel as an `AssertionError` whose text begins with a sign and a name.
"""

# ruff: noqa: D102

import re
from typing import Any

__version__ = "8.3.3"


def outcome(name: str, text: str) -> AssertionError:
    """Return the exception that carries an outcome: `Failed`, `Skipped`, `XFailed`."""
    return AssertionError(f"\x01{name}\x01{text}")


def fail(reason: str = "", pytrace: bool = True) -> None:
    """Fail this test."""
    raise outcome("Failed", reason)


def skip(reason: str = "") -> None:
    """Skip this test."""
    raise outcome("Skipped", reason)


def xfail(reason: str = "") -> None:
    """Mark this test as one that is expected to fail, and end it."""
    raise outcome("XFailed", reason)


class Marked:
    """A test function with its marks, the closest one first."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.marks: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)


class Mark:
    """A mark that waits for its function."""

    def __init__(self, name: str, args: tuple[Any, ...] = (), options: Any = None) -> None:
        self.name = name
        self.args = args
        self.options = options or {}

    def __call__(self, *args: Any, **options: Any) -> Any:
        bare = len(args) == 1 and not options and not self.args and not self.options
        if bare and (repr(args[0]).startswith("<function") or isinstance(args[0], (Marked, Fixture))):
            return marked(args[0], (self.name, (), {}))
        return Applied(self.name, args, options)


class Applied:
    """A mark with its arguments, which is used as a decorator."""

    def __init__(self, name: str, args: tuple[Any, ...], options: Any) -> None:
        self.name = name
        self.args = args
        self.options = options

    def __call__(self, function: Any) -> Any:
        return marked(function, (self.name, self.args, self.options))


def marked(function: Any, mark: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    """Return a function with one more mark."""
    found = function if isinstance(function, Marked) else Marked(function)
    found.marks.append(mark)
    return found


class Marks:
    """`pytest.mark`."""

    def __init__(self) -> None:
        self.parametrize = Mark("parametrize")
        self.skip = Mark("skip")
        self.skipif = Mark("skipif")
        self.xfail = Mark("xfail")
        self.slow = Mark("slow")
        self.integration = Mark("integration")
        self.unit = Mark("unit")
        self.smoke = Mark("smoke")


mark = Marks()


class Param:
    """One set of values, with an id."""

    def __init__(self, values: tuple[Any, ...], name: Any) -> None:
        self.values = values
        self.name = name


def param(*values: Any, id: Any = None, marks: Any = ()) -> Param:
    """Return one set of values for `parametrize`."""
    return Param(values, id)


class Fixture:
    """A function that makes a value for tests."""

    def __init__(self, function: Any, scope: str, autouse: bool, name: Any) -> None:
        self.function = function
        self.scope = scope
        self.autouse = autouse
        self.name = name


class FixtureMaker:
    """`@pytest.fixture(...)` with options."""

    def __init__(self, scope: str, autouse: bool, name: Any) -> None:
        self.scope = scope
        self.autouse = autouse
        self.name = name

    def __call__(self, function: Any) -> Fixture:
        return Fixture(function, self.scope, self.autouse, self.name)


def fixture(function: Any = None, *, scope: str = "function", autouse: bool = False, name: Any = None) -> Any:
    """Make a fixture from a function."""
    if function is not None:
        return Fixture(function, scope, autouse, name)
    return FixtureMaker(scope, autouse, name)


class ExceptionInfo:
    """The exception that `raises` caught."""

    def __init__(self) -> None:
        self.value: Any = None
        self.type: Any = None

    def match(self, pattern: str) -> bool:
        """Return whether the text of the exception matches; the test fails if it does not."""
        check_match(pattern, self.value)
        return True


def check_match(pattern: str, value: Any) -> None:
    """Fail unless the text of an exception matches a pattern."""
    if re.search(pattern, str(value)) is None:
        raise AssertionError(f"Regex pattern did not match.\n Regex: {pattern!r}\n Input: {str(value)!r}")


class Raises:
    """`with pytest.raises(...)`."""

    def __init__(self, expected: Any, match: Any) -> None:
        self.expected = expected
        self.pattern = match
        self.info = ExceptionInfo()

    def __enter__(self) -> ExceptionInfo:
        return self.info

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        if value is None:
            expected = self.expected
            raise outcome("Failed", f"DID NOT RAISE {expected!r}")
        if not isinstance(value, self.expected):
            return False
        self.info.value = value
        self.info.type = type(value)
        if self.pattern is not None:
            check_match(self.pattern, value)
        return True


def raises(expected: Any, *call: Any, match: Any = None, **options: Any) -> Any:
    """Expect an exception, in a `with` block or in a call."""
    context = Raises(expected, match)
    if not call:
        return context
    with context as info:
        call[0](*call[1:], **options)
    return info


class Approx:
    """A number, or a list or dict of numbers, that equals what is close to it."""

    def __init__(self, expected: Any, rel: Any, abs: Any) -> None:
        self.expected = expected
        self.rel = rel
        self.abs = abs

    def tolerance(self, number: Any) -> float:
        """Return how far off a number may be."""
        least = 1e-12 if self.abs is None else self.abs
        if self.rel is None and self.abs is not None:
            return float(least)
        share = (1e-6 if self.rel is None else self.rel) * (number if number >= 0 else -number)
        return float(share if share > least else least)

    def near(self, actual: Any, number: Any) -> bool:
        """Return whether one number is close to another."""
        if not isinstance(actual, (int, float)) or not isinstance(number, (int, float)):
            return bool(actual == number)
        if actual == number:
            return True
        off = actual - number
        return bool((off if off >= 0 else -off) <= self.tolerance(number))

    def __eq__(self, actual: Any) -> bool:
        expected = self.expected
        if isinstance(expected, dict):
            if not isinstance(actual, dict) or sorted(actual) != sorted(expected):
                return False
            return all([self.near(actual[key], expected[key]) for key in expected])
        if isinstance(expected, (list, tuple)):
            if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
                return False
            return all([self.near(actual[i], expected[i]) for i in range(len(expected))])
        return self.near(actual, expected)

    def __ne__(self, actual: Any) -> bool:
        return not self == actual

    def one(self, number: Any) -> str:
        """Return how a number is shown."""
        if not isinstance(number, (int, float)):
            return repr(number)
        return f"{number} ± {self.tolerance(number):.1e}"

    def __repr__(self) -> str:
        expected = self.expected
        if isinstance(expected, dict):
            return "approx({" + ", ".join([f"{key!r}: {self.one(expected[key])}" for key in expected]) + "})"
        if isinstance(expected, (list, tuple)):
            return "approx([" + ", ".join([self.one(number) for number in expected]) + "])"
        return self.one(expected)


def approx(expected: Any, rel: Any = None, abs: Any = None) -> Approx:
    """Return a value that equals what is close to it."""
    return Approx(expected, rel, abs)
