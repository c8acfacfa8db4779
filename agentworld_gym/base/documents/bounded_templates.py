"""Jinja for untrusted templates: they see plain data, and their work is bounded.

The sandbox of Jinja hides what begins with an underscore, but it lets a template call every other method of the data
and loop and multiply without end. Here a template reads fields and calls a few methods of texts, lists and mappings,
and all its work (loops, calls, comparisons, characters) comes out of one budget for each rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence, Set, Sized
from functools import wraps
from types import CodeType, SimpleNamespace
from typing import Any

from jinja2 import Environment, Template, TemplateSyntaxError, Undefined, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import LRUCache
from jinja2.visitor import NodeTransformer
from pydantic import BaseModel

from agentworld_gym.base.documents.template_budget import (
    CALL,
    CHARGED_BEFORE,
    LOAD,
    MOST_BITS,
    MOST_WIDTH,
    RUNTIME,
    STEP,
    RenderingBudget,
    TooMuch,
    check_format,
    cost_of,
    plain,
)

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
_SHOWN = (str, int, float, bytes, type(None), Sequence, Mapping, Set, BaseModel, SimpleNamespace, Undefined)
_COMPILED = LRUCache(512)
"""The code of the templates that were used last: most environments of a process read the same ones."""


class BoundedTemplate(Template):
    """A template whose rendering has a budget."""

    environment: BoundedEnvironment

    def render(self, *args: Any, **kwargs: Any) -> str:
        """Render the template within a budget.

        Raises:
            jinja2.TemplateError: It cannot be rendered, or it takes too much.
        """
        with self.environment.budget.open():
            return super().render(*args, **kwargs)


class BoundedEnvironment(SandboxedEnvironment):
    """A sandbox that shows plain data and bounds the work of a template; it takes what `jinja2.Environment` takes.

    >>> environment = BoundedEnvironment()
    >>> environment.from_string("{{ names | join(', ') }}").render(names=["a", "b"])
    'a, b'
    >>> environment.from_string("{{ 'x' * 10 ** 9 }}").render()
    Traceback (most recent call last):
        ...
    agentworld_gym.base.documents.template_budget.TooMuch: a template that makes less: ...
    """

    template_class = BoundedTemplate
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, optimized=False, finalize=self._finalized)
        self.budget = RenderingBudget()
        self.globals = {name: self.globals[name] for name in _GLOBALS}
        stock = {name: self.filters[name] for name in _FILTERS.split()}
        self.filters.clear()
        for name, function in stock.items():
            self.filters[name] = self._filter(function, CHARGED_BEFORE.get(name), name in _LAZY)
        tests: dict[str, Any] = dict(self.tests)
        for name, test in tests.items():
            self.tests[name] = self._test(test, name in _COMPARING)
        self.filters |= {
            "_charge_turns": self._charge_turns,
            "_charge_value": self.budget.charge_value,
            "_charge_compared": self._charge_compared,
        }
        self.concat = self._joined  # type: ignore[method-assign]

    def add_filters(self, filters: Mapping[str, Callable[..., Any]]) -> None:
        """Add functions as filters, whose arguments and results are charged too."""
        for name, function in filters.items():
            self.filters[name] = self._filter(function, None)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the globals of a template: those of the environment, which never change, and its own.

        Jinja looks both up in turn, and every rendering copies what that gives: a plain mapping copies faster.
        """
        return {**self.globals, **(d or {})}

    # What a template may reach

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Admit methods of texts, lists and mappings that change nothing, and plain data of other objects."""
        if isinstance(obj, RUNTIME):
            return bool(super().is_safe_attribute(obj, attr, value))
        if attr.startswith("_"):
            return False
        for kind, methods in _METHODS:
            if isinstance(obj, kind):
                return attr in methods
        return isinstance(value, _SHOWN) and not callable(value)

    def wrap_str_format(self, value: Any) -> None:
        """Refuse `str.format`; a template may use `%` and the filter `format`."""
        return None

    # What is counted

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template may reach, and charge the texts and lists that go in or come out."""
        self = __self
        owner, args = getattr(__obj, "__self__", None), tuple(map(self._held, args))
        self.budget.charge(CALL + sum(map(cost_of, (owner, *args, *kwargs.values()))))
        name = getattr(__obj, "__name__", "")
        if isinstance(owner, str) and name in ("replace", "join"):
            CHARGED_BEFORE[name](self.budget, self, *((owner, *args) if name == "replace" else (*args, owner)))
        return self.budget.charge_result(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Add, multiply, raise to a power or format, where the result is not too large."""
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * max(right, 0) if operator == "**" else left.bit_length() + right.bit_length()
            if operator in ("*", "**") and bits > MOST_BITS:
                raise TooMuch(f"a template that makes less: a number of more than {MOST_BITS} bits")
        elif operator == "*":
            for one, times in ((left, right), (right, left)):
                if isinstance(times, int) and isinstance(one, Sized):
                    self.budget.charge(cost_of(one) * max(times, 0))
        elif operator == "%" and isinstance(left, str):
            check_format(self.budget, self, left, right)
        return self.budget.charge_value(super().call_binop(context, operator, left, right))

    def _load_template(self, name: str, globals: Any) -> Any:
        self.budget.charge(LOAD)
        return super()._load_template(name, globals)

    @pass_context
    def _finalized(self, context: Context, value: Any) -> Any:
        if type(value) is str:
            self.budget.charge(len(value))
            return value
        text = value if isinstance(value, (str, Undefined)) else str(plain(value))
        self.budget.charge(len(text) if isinstance(text, str) else 0)
        return text

    def _joined(self, parts: Iterable[str]) -> str:
        pieces, due = [], 0
        for part in parts:
            pieces.append(part)
            due += len(part) + 1
            if due > STEP:
                self.budget.charge(due)
                due = 0
        self.budget.charge(due)
        return "".join(pieces)

    def _charge_turns(self, value: Any) -> Any:
        """Charge what a loop goes over: at once where its length is known, else turn by turn."""
        if isinstance(value, Sized) and not isinstance(value, Undefined):
            self.budget.charge(STEP * len(value))
            return value
        return self._turns(value)

    def _turns(self, value: Any) -> Iterator[Any]:
        for entry in value:
            self.budget.charge(STEP)
            yield entry

    def _charge_compared(self, value: Any) -> Any:
        if not isinstance(value, Mapping | Set):  # A lookup in these does not compare with every entry.
            self.budget.charge_value(value)
        return value

    def _filter(
        self, function: Callable[..., Any], before: Callable[..., None] | None, lazy: bool = False
    ) -> Callable[..., Any]:
        @wraps(function)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            if not lazy:
                args = tuple(map(self._held, args))
            values = [value for value in args if not isinstance(value, Context | nodes.EvalContext | Environment)]
            self.budget.charge(STEP + sum(map(cost_of, (*values, *kwargs.values()))))
            for number in (*values[1:], *kwargs.values()):
                if isinstance(number, int) and abs(number) > MOST_WIDTH:
                    raise TooMuch(f"a template that makes less: {number} is more than {MOST_WIDTH}")
            if before is not None:
                before(self.budget, self, *values, **kwargs)
            return self.budget.charge_result(function(*args, **kwargs), deep=True)

        return bounded

    def _held(self, value: Any) -> Any:
        """Collect what an iterator gives, so that it can be charged before something is made of it."""
        return self.budget.charge_value(list(self._turns(value))) if isinstance(value, Iterator) else value

    def _test(self, test: Callable[..., Any], compares: bool) -> Callable[..., Any]:
        @wraps(test)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            self.budget.charge(STEP)
            for value in args if compares else ():
                self._charge_compared(value)
            return test(*args, **kwargs)

        return bounded

    # Reading templates

    def compile(
        self,
        source: str | nodes.Template,
        name: str | None = None,
        filename: str | None = None,
        raw: Any = False,
        defer_init: bool = False,
    ) -> Any:
        """Compile a template, or take the code that an environment of the same settings made of it before.

        Raises:
            jinja2.TemplateSyntaxError: The template is broken.
        """
        if not isinstance(source, str):
            return super().compile(source, name, filename, raw, defer_init)
        settings = (type(self), self.lexer, self.autoescape, self.is_async, *self.extensions)
        names = (frozenset(self.filters), frozenset(self.tests))
        key = (source, name, filename, raw, defer_init, settings, names)
        code: CodeType | str | None = _COMPILED.get(key)
        if code is None:
            code = _COMPILED[key] = super().compile(source, name, filename, raw, defer_init)
        return code

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        try:
            tree: nodes.Template = _ChargingTransformer().visit(super()._parse(source, name, filename))
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


class _ChargingTransformer(NodeTransformer):
    """Rewrites a template so that its loops, and what its operators make or compare, are charged."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _through("_charge_turns", node.iter)
        return node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _through("_charge_compared" if node.ops[0].op in ("in", "notin") else "_charge_value", node.expr)
        for operand in node.ops:
            operand.expr = _through(
                "_charge_compared" if operand.op in ("in", "notin") else "_charge_value", operand.expr
            )
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [_through("_charge_value", part) for part in node.nodes]
        return _through("_charge_value", node)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        return _through("_charge_value", node) if isinstance(node.arg, nodes.Slice) else node

    def visit_List(self, node: nodes.List) -> nodes.Node:
        self.generic_visit(node)
        return _through("_charge_value", node)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        self.generic_visit(node)
        return _through("_charge_value", node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        self.generic_visit(node)
        return _through("_charge_value", node) if node.ctx == "load" else node


def _through(name: str, node: Any) -> nodes.Expr:
    if isinstance(node, nodes.Const | nodes.TemplateData):
        return node
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=node.environment)
