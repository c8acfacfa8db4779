"""The work that the rendering of one template may take: what each piece of it costs, and how it is counted."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any

from jinja2 import Environment, TemplateRuntimeError, Undefined
from jinja2.environment import TemplateModule
from jinja2.filters import make_attrgetter
from jinja2.runtime import BlockReference, LoopContext, Macro, TemplateReference
from jinja2.utils import Cycler, Joiner, Namespace

WORK = 2**26
"""The budget of one rendering; a character costs one."""

STEP, ENTRY = 256, 64
"""What a turn of a loop or a filter costs, and what an entry of a list costs."""

CALL, LOAD = 4 * STEP, 64 * STEP
"""What a call costs, and what an include costs."""

MOST_BITS = 4096
"""How large a whole number may become."""

MOST_WIDTH = 10_000
"""The largest whole number that a filter takes, and the widest that a format may be."""

RUNTIME = (LoopContext, Namespace, Macro, TemplateModule, TemplateReference, BlockReference, Cycler, Joiner)
"""Objects of Jinja itself, which a template may use but not show, compare or keep in a list."""

_NUMBERS = (int, float, type(None))
_WITHOUT_LENGTH = (*_NUMBERS, Undefined)
_WIDE = re.compile(r"%(?:\([^)]*\))?[^A-Za-z%]*(?:\*|\d{5,})")


class TooMuch(TemplateRuntimeError):
    """A template does more than a rendering may."""


class RenderingBudget:
    """Counts the work of renderings; each thread has a count of its own.

    >>> budget = RenderingBudget()
    >>> with budget.open():
    ...     budget.charge(WORK + 1)
    Traceback (most recent call last):
        ...
    agentworld_gym.base.documents.template_budget.TooMuch: a template that makes less: its loops, ...
    """

    def __init__(self) -> None:
        self._thread = threading.local()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Give what is done within one budget; an inner `open` shares the outermost one.

        Raises:
            TooMuch: The budget is spent, or memory or the stack is.
        """
        if getattr(self._thread, "left", None) is not None:
            yield
            return
        self._thread.left = WORK
        try:
            yield
        except (RecursionError, MemoryError) as error:
            raise TooMuch(f"a template that makes less: {type(error).__name__}") from error
        finally:
            self._thread.left = None

    def charge(self, work: int) -> None:
        """Take work out of the budget; without an open one, the work alone must not be more than a whole budget.

        Raises:
            TooMuch: There is not so much left.
        """
        left = getattr(self._thread, "left", None)
        if left is None:
            left = WORK if work > WORK else None
        if left is None:
            return
        if work > left:
            raise TooMuch(f"a template that makes less: its loops, texts and lists go beyond a budget of {WORK}")
        self._thread.left = left - work

    def charge_value(self, value: Any) -> Any:
        """Charge a value that a template made, with all that is in it; returns the value."""
        if isinstance(value, str):
            self.charge(len(value))
        elif not isinstance(value, _NUMBERS):
            self._charge_nested(value)
        return value

    def charge_result(self, result: Any, deep: bool = False) -> Any:
        """Charge what a call gave, with all that is in it if `deep`; returns the result."""
        if deep and isinstance(result, list | tuple | dict):
            return self.charge_value(result)
        if isinstance(result, Sized) and not isinstance(result, RUNTIME):
            self.charge(cost_of(result))
        return result

    def _charge_nested(self, value: Any) -> None:
        waiting = [plain(value)]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                self.charge(len(item))
            elif isinstance(item, list | tuple):
                self.charge(ENTRY * (1 + len(item)))
                waiting.extend(item)
            elif isinstance(item, dict):
                self.charge(ENTRY * (1 + len(item)))
                waiting.extend(item)
                waiting.extend(item.values())
            else:
                plain(item)


def cost_of(value: Any) -> int:
    """Return what a value costs by its length, without what is in it."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, _WITHOUT_LENGTH) or not isinstance(value, Sized):
        return 0
    return 0 if isinstance(value, RUNTIME) else ENTRY * len(value)


def plain(value: Any) -> Any:
    """Return a value that is plain data.

    Raises:
        TemplateRuntimeError: It is an object of Jinja itself.
    """
    if isinstance(value, RUNTIME):
        raise TemplateRuntimeError(f"a {type(value).__name__} is nothing to show, to compare or to keep in a list")
    return value


# Some filters and methods are charged for what they would make before they make it.


def charge_replace(
    budget: RenderingBudget, environment: Environment, text: Any, old: Any, new: Any, *_: Any, **__: Any
) -> None:
    """Charge the replacement of `replace`."""
    budget.charge(len(str(new)) * str(text).count(str(old)))


def charge_join(
    budget: RenderingBudget,
    environment: Environment,
    parts: Any,
    between: Any = "",
    attribute: Any = None,
    *_: Any,
    **__: Any,
) -> None:
    """Charge the parts that `join` puts together, and the text between them."""
    values = list(parts)
    if attribute is not None:
        values = list(map(make_attrgetter(environment, attribute), values))
    budget.charge_value(values)
    budget.charge(len(str(between)) * len(values))


def check_sum(
    budget: RenderingBudget, environment: Environment, parts: Any, attribute: Any = None, start: Any = 0
) -> None:
    """Refuse a sum that does not start with a number.

    Raises:
        TemplateRuntimeError: The start is something else.
    """
    if not isinstance(start, int | float):
        raise TemplateRuntimeError(f"a sum of numbers that starts with one (got {type(start).__name__})")


def charge_indent(
    budget: RenderingBudget, environment: Environment, text: Any, width: Any = 4, *_: Any, **__: Any
) -> None:
    """Charge what `indent` puts before each line."""
    budget.charge(str(text).count("\n") * (width if isinstance(width, int) else len(str(width))))


def check_format(budget: RenderingBudget, environment: Environment, text: Any, *_: Any, **__: Any) -> None:
    """Refuse a format of printf that is too wide.

    Raises:
        TooMuch: It is wider than `MOST_WIDTH`, or its width is a value.
    """
    if _WIDE.search(str(text)):
        raise TooMuch(f"a template that makes less: a format wider than {MOST_WIDTH}")


CHARGED_BEFORE: Mapping[str, Callable[..., None]] = {
    "replace": charge_replace,
    "join": charge_join,
    "indent": charge_indent,
    "format": check_format,
    "sum": check_sum,
}
"""By the name of a filter, what is done with its arguments before it runs."""
