"""Evaluation of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.interpreter.values import (
    ARITHMETIC,
    ActionBudget,
    CodeException,
    Function,
    Namespace,
    binary_operation,
    formatted,
    is_plain,
    method,
    to_text,
    type_name,
)


class Expressions:
    """Evaluates expressions over the names of the code."""

    def __init__(self, names: Mapping[str, Any], budget: ActionBudget | None = None) -> None:
        self.names: dict[str, Any] = dict(names)
        self.budget = budget or ActionBudget()

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        self.budget.step()
        handle = _EXPRESSIONS.get(type(node))
        if handle is None:
            raise CodeException("RuntimeError", f"{syntax_name(node)} is not available in an action")
        return handle(self, node)

    def _constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bytes | complex) or node.value is Ellipsis:
            raise CodeException("RuntimeError", f"{type(node.value).__name__} is not available in an action")
        if isinstance(node.value, int) and node.value.bit_length() > 4 * 256:
            raise CodeException("OverflowError", "the number is too large")
        return node.value

    def _load(self, node: ast.Name) -> Any:
        return self._name(node.id)

    def _name(self, name: str) -> Any:
        if name not in self.names:
            raise CodeException("NameError", f"name '{name}' is not defined")
        return self.names[name]

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Namespace):
            return owner.value_of(node.attr)
        return method(self.budget, owner, node.attr)

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        if not isinstance(function, Function):
            raise CodeException("TypeError", f"'{type_name(function)}' object is not callable")
        arguments: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                arguments.extend(self._items(self.value(argument.value)))
            else:
                arguments.append(self.value(argument))
        named = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        if len(named) != len(node.keywords):
            raise CodeException("TypeError", "** is not available in an action")
        for argument in (*arguments, *named.values()):
            if not is_plain(argument):
                raise CodeException("TypeError", f"{function.name}() does not take a {type_name(argument)}")
            if not isinstance(argument, range):
                self.budget.weigh(argument)
        return function.call(*arguments, **named)

    def _binary(self, node: ast.BinOp) -> Any:
        return self._operate(node.op, self.value(node.left), self.value(node.right))

    def _operate(self, operator: ast.operator, left: Any, right: Any) -> Any:
        name = type(operator).__name__
        if name not in ARITHMETIC:
            raise CodeException("RuntimeError", f"the operator {name} is not available in an action")
        return binary_operation(self.budget, name, left, right)

    def _unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not value
        if not isinstance(value, int | float) or isinstance(node.op, ast.Invert):
            raise CodeException("TypeError", f"bad operand type for unary operator: '{type_name(value)}'")
        return -value if isinstance(node.op, ast.USub) else +value

    def _boolean(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for part in node.values:
            value = self.value(part)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for operator, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not is_plain(left) or not is_plain(right):
                if isinstance(operator, ast.Is | ast.Eq | ast.IsNot | ast.NotEq):
                    same = left is right
                    if same is isinstance(operator, ast.Is | ast.Eq):
                        left = right
                        continue
                    return False
                raise CodeException("TypeError", "such objects cannot be compared")
            for side in (left, right):
                if isinstance(side, list | tuple | dict | str) or (side is right and not isinstance(left, int)):
                    self.budget.weigh(side)
            if not _COMPARISONS[type(operator)](left, right):
                return False
            left = right
        return True

    def _choice(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _list(self, node: ast.List) -> list[Any]:
        self.budget.spend(1 + len(node.elts))
        return [self.value(part) for part in node.elts]

    def _made_list(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        """Return the list of a comprehension; a generator expression becomes the list of its items."""
        outer = dict(self.names)
        try:
            items = list(self._generated(node.elt, node.generators))
        finally:
            self.names = outer
        self.budget.spend(1 + len(items))
        return items

    def _generated(self, element: ast.expr, parts: list[ast.comprehension]) -> Iterator[Any]:
        if not parts:
            yield self.value(element)
            return
        part = parts[0]
        for item in self._items(self.value(part.iter)):
            self._bind(part.target, item)
            if all(self.value(test) for test in part.ifs):
                yield from self._generated(element, parts[1:])

    def _bind(self, target: ast.expr, value: Any) -> None:
        """Assign a value to a name or another target."""
        raise NotImplementedError

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        self.budget.spend(1 + len(node.elts))
        return tuple([self.value(part) for part in node.elts])

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        self.budget.spend(1 + 2 * len(node.keys))
        mapping = {}
        for key, part in zip(node.keys, node.values, strict=True):
            if key is None:
                raise CodeException("RuntimeError", "** is not available in an action")
            mapping[self._key(key)] = self.value(part)
        return mapping

    def _key(self, node: ast.expr) -> Any:
        """Return an index or a key; a large one is paid for before it is hashed."""
        key = self.value(node)
        self.budget.weigh(key)
        return key

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, str | list | tuple | dict | range):
            raise CodeException("TypeError", f"'{type_name(owner)}' object is not subscriptable")
        if isinstance(node.slice, ast.Slice):
            if isinstance(owner, dict):
                raise CodeException("TypeError", "unhashable type: 'slice'")
            part = node.slice
            bounds = [None if bound is None else self.value(bound) for bound in (part.lower, part.upper, part.step)]
            section = owner[slice(*bounds)]
            self.budget.spend(len(section))
            return section
        return owner[self._key(node.slice)]

    def _joined(self, node: ast.JoinedStr) -> str:
        pieces = [self._piece(part) for part in node.values]
        self.budget.spend(sum(map(len, pieces)))
        return "".join(pieces)

    def _piece(self, part: ast.expr) -> str:
        if isinstance(part, ast.FormattedValue):
            value = self.value(part.value)
            if part.conversion in (ord("r"), ord("a")):
                value = to_text(self.budget, value, quoted=True)
            spec = self._joined(part.format_spec) if isinstance(part.format_spec, ast.JoinedStr) else ""
            return formatted(self.budget, value, spec)
        return str(self.value(part))

    def _items(self, value: Any) -> Iterator[Any]:
        if not isinstance(value, str | list | tuple | dict | range):
            raise CodeException("TypeError", f"'{type_name(value)}' object is not iterable")
        for item in value:
            self.budget.step()
            yield item


def syntax_name(node: ast.AST) -> str:
    """Return the name of a kind of syntax."""
    return type(node).__name__


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: bool(a == b),
    ast.NotEq: lambda a, b: bool(a != b),
    ast.Lt: lambda a, b: bool(a < b),
    ast.LtE: lambda a, b: bool(a <= b),
    ast.Gt: lambda a, b: bool(a > b),
    ast.GtE: lambda a, b: bool(a >= b),
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any], Any]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._load,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._boolean,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._choice,
    ast.List: Expressions._list,
    ast.ListComp: Expressions._made_list,
    ast.GeneratorExp: Expressions._made_list,
    ast.Tuple: Expressions._tuple,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.JoinedStr: Expressions._joined,
}
