"""Jinja for templates that nobody vouches for: they see plain data, and what they may do is counted.

The sandbox of Jinja hides what begins with an underscore. It lets a template call every other method of what it is
given, and loop and multiply without end. Here a template reads fields and calls a few methods of texts, lists and
mappings, and all its work (loops, calls, comparisons, characters) comes out of one budget per rendering.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from contextlib import contextmanager
from functools import wraps
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, Template, TemplateRuntimeError, TemplateSyntaxError, Undefined, nodes, pass_context
from jinja2.environment import TemplateModule
from jinja2.filters import make_attrgetter
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, TemplateReference
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer
from pydantic import BaseModel

WORK = 2**26
"""What one rendering may take: a character costs one, an entry of a list `ENTRY`, a step `STEP`."""

STEP, ENTRY = 256, 64
CALL, LOAD = 4 * STEP, 64 * STEP
"""What a loop's turn or a filter costs, an entry of a list, a call, and an include."""

MOST_BITS = 4096
"""How large a whole number may become."""

MOST_WIDTH = 10_000
"""The largest whole number that a filter takes, and the widest that a format may be."""

_TEXT = (
    "capitalize casefold count endswith find isalnum isalpha isdecimal isdigit islower isnumeric isspace istitle "
    "isupper join lower lstrip partition removeprefix removesuffix replace rfind rpartition rsplit rstrip split "
    "splitlines startswith strip swapcase title upper"
)
_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (str, frozenset(_TEXT.split())),
    (Mapping, frozenset(("get", "items", "keys", "values"))),
    (Sequence, frozenset(("count", "index"))),
)
_FILTERS = (
    "abs attr batch capitalize center count d default dictsort e escape first float forceescape format groupby indent "
    "int items join last length list lower map max min reject rejectattr replace reverse round safe select selectattr "
    "slice sort string sum title trim truncate unique upper urlencode wordcount"
)
_GLOBALS = ("range", "namespace", "cycler", "joiner")
_LAZY = frozenset(
    ("batch", "d", "default", "first", "list", "map", "reject", "rejectattr", "select", "selectattr", "slice")
)
_COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">=", "eq", "equalto", "ne", "lt", "le", "gt", "ge", "in"))
_RUNTIME = (LoopContext, Namespace, Macro, TemplateModule, TemplateReference, BlockReference, Cycler, Joiner)
_SHOWN = (str, int, float, bytes, type(None), Sequence, Mapping, Set, BaseModel, SimpleNamespace, Undefined)
_WIDE = re.compile(r"%(?:\([^)]*\))?[^A-Za-z%]*(?:\*|\d{5,})")


class TooMuch(TemplateRuntimeError):
    """A template does more than a rendering may."""


class BoundedTemplate(Template):
    """A template whose rendering has a budget."""

    environment: BoundedEnvironment

    def render(self, *args: Any, **kwargs: Any) -> str:
        """The text.

        Raises:
            jinja2.TemplateError: it cannot be rendered, or takes too much.
        """
        with self.environment.budget():
            return super().render(*args, **kwargs)


class BoundedEnvironment(SandboxedEnvironment):
    """A sandbox that shows plain data and bounds what a template does; takes what `jinja2.Environment` takes.

    >>> environment = BoundedEnvironment()
    >>> environment.from_string("{{ names | join(', ') }}").render(names=["a", "b"])
    'a, b'
    >>> environment.from_string("{{ 'x' * 10 ** 9 }}").render()
    Traceback (most recent call last):
        ...
    agentworld_gym.documents.bounded_templates.TooMuch: a template that makes less: ...
    """

    template_class = BoundedTemplate
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, optimized=False, finalize=self._finalized)
        self._own = threading.local()
        self.globals = {name: self.globals[name] for name in _GLOBALS}
        stock = {name: self.filters[name] for name in _FILTERS.split()}
        self.filters.clear()
        for name, function in stock.items():
            self.filters[name] = self._filter(function, _BEFORE.get(name), name in _LAZY)
        tests: dict[str, Any] = dict(self.tests)
        for name, test in tests.items():
            self.tests[name] = self._test(test, name in _COMPARING)
        self.filters |= {"_each": self._each, "_weighed": self.weighed, "_compared": self._compared}
        self.concat = self._joined  # type: ignore[method-assign]

    def add_filters(self, filters: Mapping[str, Callable[..., Any]]) -> None:
        """Add functions as filters; what they take and give is counted too."""
        for name, function in filters.items():
            self.filters[name] = self._filter(function, None)

    @contextmanager
    def budget(self) -> Iterator[None]:
        """What is done within has one budget, the outermost one; each thread has its own.

        Raises:
            TooMuch: it is spent, or memory or the stack is.
        """
        if getattr(self._own, "left", None) is not None:
            yield
            return
        self._own.left = WORK
        try:
            yield
        except (RecursionError, MemoryError) as error:
            raise TooMuch(f"a template that makes less: {type(error).__name__}") from error
        finally:
            self._own.left = None

    def charge(self, work: int) -> None:
        """Take work out of the budget.

        Raises:
            TooMuch: there is not so much left.
        """
        left = getattr(self._own, "left", None)
        if left is None:
            left = WORK if work > WORK else None
        if left is None:
            return
        if work > left:
            raise TooMuch(f"a template that makes less: its loops, texts and lists go beyond a budget of {WORK}")
        self._own.left = left - work

    def weighed(self, value: Any) -> Any:
        """Charge a value that a template made, with all that is in it; gives the value."""
        if isinstance(value, str):
            self.charge(len(value))
        elif not isinstance(value, int | float | None):
            self._weigh(value)
        return value

    # What a template may reach

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Methods of texts, lists and mappings that change nothing; of other objects what is plain data itself."""
        if isinstance(obj, _RUNTIME):
            return bool(super().is_safe_attribute(obj, attr, value))
        if attr.startswith("_"):
            return False
        for kind, methods in _METHODS:
            if isinstance(obj, kind):
                return attr in methods
        return isinstance(value, _SHOWN) and not callable(value)

    def wrap_str_format(self, value: Any) -> None:
        """`str.format` is no method that a template may call: `%` and the filter `format` are."""
        return None

    # What is counted

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template may reach; texts and lists that go in or come out are charged."""
        self = __self
        owner, args = getattr(__obj, "__self__", None), tuple(map(self._held, args))
        self.charge(CALL + sum(map(self._size, (owner, *args, *kwargs.values()))))
        name = getattr(__obj, "__name__", "")
        if isinstance(owner, str) and name in ("replace", "join"):
            _BEFORE[name](self, *((owner, *args) if name == "replace" else (*args, owner)))
        return self._charged(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Add, multiply, raise or format, where the result is not too large."""
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * max(right, 0) if operator == "**" else left.bit_length() + right.bit_length()
            if operator in ("*", "**") and bits > MOST_BITS:
                raise TooMuch(f"a template that makes less: a number of more than {MOST_BITS} bits")
        elif operator == "*":
            for one, times in ((left, right), (right, left)):
                if isinstance(times, int) and isinstance(one, Sized):
                    self.charge(self._size(one) * max(times, 0))
        elif operator == "%" and isinstance(left, str):
            _narrow(self, left, right)
        return self.weighed(super().call_binop(context, operator, left, right))

    def _load_template(self, name: str, globals: Any) -> Any:
        self.charge(LOAD)
        return super()._load_template(name, globals)

    @pass_context
    def _finalized(self, context: Context, value: Any) -> Any:
        shown = value if isinstance(value, str | Undefined) else str(self._plain(value))
        self.charge(len(shown) if isinstance(shown, str) else 0)
        return shown

    def _joined(self, parts: Iterable[str]) -> str:
        taken = []
        for part in parts:
            self.charge(len(part) + 1)
            taken.append(part)
        return "".join(taken)

    def _each(self, value: Any) -> Any:
        """What a loop goes over: charged at once where its length is known, else turn by turn."""
        if isinstance(value, Sized) and not isinstance(value, Undefined):
            self.charge(STEP * len(value))
            return value
        return self._turns(value)

    def _turns(self, value: Any) -> Iterator[Any]:
        for entry in value:
            self.charge(STEP)
            yield entry

    def _compared(self, value: Any) -> Any:
        if not isinstance(value, Mapping | Set):  # what is in these is found without looking at all
            self.weighed(value)
        return value

    def _filter(
        self, function: Callable[..., Any], before: Callable[..., None] | None, lazy: bool = False
    ) -> Callable[..., Any]:
        @wraps(function)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            if not lazy:
                args = tuple(map(self._held, args))
            given = [value for value in args if not isinstance(value, Context | nodes.EvalContext | Environment)]
            self.charge(STEP + sum(map(self._size, (*given, *kwargs.values()))))
            for number in (*given[1:], *kwargs.values()):
                if isinstance(number, int) and abs(number) > MOST_WIDTH:
                    raise TooMuch(f"a template that makes less: {number} is more than {MOST_WIDTH}")
            if before is not None:
                before(self, *given, **kwargs)
            return self._charged(function(*args, **kwargs), deep=True)

        return bounded

    def _held(self, value: Any) -> Any:
        """What comes one by one, all at once, so that it can be weighed before something is made of it."""
        return self.weighed(list(self._turns(value))) if isinstance(value, Iterator) else value

    def _test(self, test: Callable[..., Any], compares: bool) -> Callable[..., Any]:
        @wraps(test)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            self.charge(STEP)
            for value in args if compares else ():
                self._compared(value)
            return test(*args, **kwargs)

        return bounded

    def _charged(self, result: Any, deep: bool = False) -> Any:
        if deep and isinstance(result, list | tuple | dict):
            return self.weighed(result)
        if isinstance(result, Sized) and not isinstance(result, _RUNTIME):
            self.charge(self._size(result))
        return result

    def _size(self, value: Any) -> int:
        if isinstance(value, str | bytes):
            return len(value)
        if isinstance(value, int | float | Undefined | None) or not isinstance(value, Sized):
            return 0
        return 0 if isinstance(value, _RUNTIME) else ENTRY * len(value)

    def _weigh(self, value: Any) -> None:
        waiting = [self._plain(value)]
        while waiting:
            found = waiting.pop()
            if isinstance(found, str):
                self.charge(len(found))
            elif isinstance(found, list | tuple):
                self.charge(ENTRY * (1 + len(found)))
                waiting.extend(found)
            elif isinstance(found, dict):
                self.charge(ENTRY * (1 + len(found)))
                waiting.extend(found)
                waiting.extend(found.values())
            else:
                self._plain(found)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, _RUNTIME):
            raise TemplateRuntimeError(f"a {type(value).__name__} is nothing to show, to compare or to keep in a list")
        return value

    # Reading templates

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        try:
            tree: nodes.Template = _Counted().visit(super()._parse(source, name, filename))
        except RecursionError as error:
            raise TemplateSyntaxError("a template that is nested less deeply", 1, name, filename) from error
        return tree

    def _generate(self, *args: Any, **kwargs: Any) -> str:
        try:
            return super()._generate(*args, **kwargs)
        except RecursionError as error:
            raise TemplateSyntaxError("a template that is nested less deeply", 1, args[1], args[2]) from error

    def _compile(self, source: str, filename: str) -> Any:
        try:
            return super()._compile(source, filename)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise TemplateSyntaxError(f"a template that is nested less deeply ({error})", 1, None, filename) from error


class _Counted(NodeTransformer):
    """Has the loops of a template counted, and weighed what its operators make or compare."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _through("_each", node.iter)
        return node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _through("_compared" if node.ops[0].op in ("in", "notin") else "_weighed", node.expr)
        for operand in node.ops:
            operand.expr = _through("_compared" if operand.op in ("in", "notin") else "_weighed", operand.expr)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [_through("_weighed", part) for part in node.nodes]
        return _through("_weighed", node)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        return _through("_weighed", node) if isinstance(node.arg, nodes.Slice) else node

    def visit_List(self, node: nodes.List) -> nodes.Node:
        self.generic_visit(node)
        return _through("_weighed", node)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        self.generic_visit(node)
        return _through("_weighed", node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        self.generic_visit(node)
        return _through("_weighed", node) if node.ctx == "load" else node


def _through(name: str, node: Any) -> nodes.Expr:
    if isinstance(node, nodes.Const | nodes.TemplateData):
        return node
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=node.environment)


# What a few functions would make is charged before they make it.


def _replaced(environment: BoundedEnvironment, text: Any, old: Any, new: Any, *_: Any, **__: Any) -> None:
    environment.charge(len(str(new)) * str(text).count(str(old)))


def _concatenated(
    environment: BoundedEnvironment, parts: Any, between: Any = "", attribute: Any = None, *_: Any, **__: Any
) -> None:
    taken = list(parts)
    if attribute is not None:
        taken = list(map(make_attrgetter(environment, attribute), taken))
    environment.weighed(taken)
    environment.charge(len(str(between)) * len(taken))


def _summed(environment: BoundedEnvironment, parts: Any, attribute: Any = None, start: Any = 0) -> None:
    if not isinstance(start, int | float):
        raise TemplateRuntimeError(f"a sum of numbers that starts with one (got {type(start).__name__})")


def _indented(environment: BoundedEnvironment, text: Any, width: Any = 4, *_: Any, **__: Any) -> None:
    environment.charge(str(text).count("\n") * (width if isinstance(width, int) else len(str(width))))


def _narrow(environment: BoundedEnvironment, text: Any, *_: Any, **__: Any) -> None:
    if _WIDE.search(str(text)):
        raise TooMuch(f"a template that makes less: a format wider than {MOST_WIDTH}")


_BEFORE: dict[str, Callable[..., None]] = {
    "replace": _replaced,
    "join": _concatenated,
    "indent": _indented,
    "format": _narrow,
    "sum": _summed,
}
