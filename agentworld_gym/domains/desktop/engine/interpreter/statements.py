"""Execution of statements: the interpreter walks over the syntax tree and knows only the statements listed here."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from agentworld_gym.base.text.python_source import tree
from agentworld_gym.domains.desktop.engine.interpreter.expressions import Expressions, syntax_name
from agentworld_gym.domains.desktop.engine.interpreter.values import (
    ActionBudget,
    CodeException,
    Exhausted,
    Namespace,
    type_name,
)
from agentworld_gym.domains.desktop.engine.program import ToolError

MAX_SOURCE = 20_000
MAX_REMEMBERED = 300
_PLAIN_ERRORS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def parsed(source: str) -> ast.Module | CodeException:
    """Return the syntax tree of a source, or the error that it has."""
    if len(source) > MAX_SOURCE:
        return CodeException("SyntaxError", "the action is too long")
    return _remembered(source) if len(source) <= MAX_REMEMBERED else _parsed(source)


def _parsed(source: str) -> ast.Module | CodeException:
    try:
        return tree(source)
    except SyntaxError as error:
        problem = CodeException(type(error).__name__, error.msg or "invalid syntax")
        problem.line = error.lineno or 1
        return problem
    except (ValueError, RecursionError, MemoryError) as error:
        return CodeException("SyntaxError", str(error) or "the code is nested too deeply")


@lru_cache(maxsize=1024)
def _remembered(source: str) -> ast.Module | CodeException:
    return _parsed(source)


class Interpreter(Expressions):
    """Runs the code of one action.

    >>> from agentworld_gym.domains.desktop.engine.interpreter.values import Function
    >>> shown = []
    >>> code = Interpreter({"print": Function("print", shown.append)})
    >>> code.run("for i in [0, 2, 4]:\\n    print(i)\\nnobody"), shown
    ("NameError: name 'nobody' is not defined", [0, 2, 4])
    >>> code.line
    3
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        modules: Mapping[str, Namespace] | None = None,
        budget: ActionBudget | None = None,
    ) -> None:
        super().__init__(names, budget)
        self.modules = modules or {}
        self.line = 1

    def run(self, source: str) -> str:
        """Run a source, and return the exception that ended it as `Kind: message`; empty if there was none."""
        tree = parsed(source)
        if isinstance(tree, CodeException):
            self.line = tree.line or 1
            return str(tree)
        try:
            self._body(tree.body)
        except CodeException as problem:
            return str(problem)
        except (_Break, _Continue):
            return "SyntaxError: 'break' outside loop"
        except RecursionError:
            return "RecursionError: maximum recursion depth exceeded"
        return ""

    def _body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.line = statement.lineno
            self.budget.step()
            try:
                handle = _STATEMENTS.get(type(statement))
                if handle is None:
                    raise CodeException("RuntimeError", f"{syntax_name(statement)} is not available in an action")
                handle(self, statement)
            except _PLAIN_ERRORS as error:
                raise as_problem(error) from None

    def _expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name | ast.Subscript):
            raise CodeException("RuntimeError", "such an assignment is not available in an action")
        left = self._name(node.target.id) if isinstance(node.target, ast.Name) else self._subscript(node.target)
        self._bind(node.target, self._operate(node.op, left, self.value(node.value)))

    def _bind(self, target: ast.expr, value: Any) -> None:
        self.budget.step()
        if isinstance(target, ast.Name):
            if target.id.startswith("__"):
                raise CodeException("RuntimeError", "such a name is not available in an action")
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            values = list(self._items(value))
            if len(values) != len(target.elts):
                raise CodeException("ValueError", f"expected {len(target.elts)} values to unpack, got {len(values)}")
            for part, item in zip(target.elts, values, strict=True):
                self._bind(part, item)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value)
            if not isinstance(owner, list | dict):
                raise CodeException("TypeError", f"'{type_name(owner)}' object does not support item assignment")
            if isinstance(target.slice, ast.Slice):
                raise CodeException("RuntimeError", "assignment to a slice is not available in an action")
            owner[self._key(target.slice)] = value
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value)
            # Many scripts set pyautogui.PAUSE and FAILSAFE, which have no effect here.
            if not (
                isinstance(owner, Namespace) and owner.name == "pyautogui" and target.attr in ("PAUSE", "FAILSAFE")
            ):
                raise CodeException(
                    "AttributeError", f"'{type_name(owner)}' object attribute '{target.attr}' is read-only"
                )
        else:
            raise CodeException("RuntimeError", "such an assignment is not available in an action")

    def _for(self, node: ast.For) -> None:
        ended = True
        for item in self._items(self.value(node.iter)):
            self._bind(node.target, item)
            if not self._round(node.body):
                ended = False
                break
        if ended:
            self._body(node.orelse)

    def _while(self, node: ast.While) -> None:
        while self.value(node.test):
            if not self._round(node.body):
                return
        self._body(node.orelse)

    def _round(self, body: list[ast.stmt]) -> bool:
        """Run one round of a loop; False if the loop ends here."""
        self.budget.step()
        try:
            self._body(body)
        except _Break:
            return False
        except _Continue:
            pass
        return True

    def _if(self, node: ast.If) -> None:
        self._body(node.body if self.value(node.test) else node.orelse)

    def _try(self, node: ast.Try) -> None:
        try:
            try:
                self._body(node.body)
            except Exhausted:
                raise
            except CodeException as problem:
                handler = next((h for h in node.handlers if self._catches(h.type, problem.kind)), None)
                if handler is None:
                    raise
                if handler.name:
                    self.names[handler.name] = problem.message
                self._body(handler.body)
            else:
                self._body(node.orelse)
        except Exhausted:
            raise
        except (CodeException, _Break, _Continue):
            self._body(node.finalbody)
            raise
        self._body(node.finalbody)

    def _catches(self, wanted: ast.expr | None, kind: str) -> bool:
        if wanted is None:
            return True
        names = wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]
        raised = getattr(builtins, kind, Exception) if kind.isidentifier() else Exception
        for name in names:
            label = name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
            caught = getattr(builtins, label, None)
            if label == kind or (isinstance(caught, type) and isinstance(raised, type) and issubclass(raised, caught)):
                return True
        return False

    def _with(self, node: ast.With) -> None:
        opened: list[Namespace] = []
        for item in node.items:
            value = self.value(item.context_expr)
            if not isinstance(value, Namespace) or value.kind == "module" or "close" not in value.members:
                raise CodeException(
                    "TypeError", f"'{type_name(value)}' object does not support the context manager protocol"
                )
            opened.append(value)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value)
        try:
            self._body(node.body)
        finally:
            for value in reversed(opened):
                value.members["close"].call()

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = self._module(alias.name)
            first = alias.name.split(".")[0]
            self.names[alias.asname or first] = module if alias.asname else self._module(first)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = self._module(node.module or ".")
        for alias in node.names:
            if alias.name not in module.members or alias.name.startswith("_"):
                raise CodeException("ImportError", f"cannot import name '{alias.name}' from '{module.name}'")
            self.names[alias.asname or alias.name] = module.value_of(alias.name)

    def _module(self, name: str) -> Namespace:
        if name not in self.modules:
            raise CodeException("ModuleNotFoundError", f"No module named '{name}'")
        return self.modules[name]

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _break(self, node: ast.Break) -> None:
        raise _Break

    def _continue(self, node: ast.Continue) -> None:
        raise _Continue


def as_problem(error: Exception) -> CodeException:
    """Return an exception of Python as one of the agent's code.

    >>> str(as_problem(KeyError("a")))
    "KeyError: 'a'"
    """
    # A function of this module names itself in full, as `_builtins.<locals>.power()`.
    return CodeException(type(error).__name__, re.sub(r"[\w.<>]*<locals>\.", "", str(error))[:2_000])


def raising_problems(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a helper's method whose errors become exceptions of the agent's code."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except ToolError as error:
            raise CodeException(error.kind, str(error)[:2_000]) from None
        except _PLAIN_ERRORS as error:
            raise as_problem(error) from None

    return run


_STATEMENTS: dict[type[ast.stmt], Callable[[Interpreter, Any], None]] = {
    ast.Expr: Interpreter._expression,
    ast.Assign: Interpreter._assign,
    ast.AnnAssign: Interpreter._annotated,
    ast.AugAssign: Interpreter._augmented,
    ast.For: Interpreter._for,
    ast.While: Interpreter._while,
    ast.If: Interpreter._if,
    ast.Try: Interpreter._try,
    ast.With: Interpreter._with,
    ast.Import: Interpreter._import,
    ast.ImportFrom: Interpreter._import_from,
    ast.Pass: Interpreter._pass,
    ast.Break: Interpreter._break,
    ast.Continue: Interpreter._continue,
}
