"""The names that the code can use: builtins, `pyautogui`, `time`, `os`, `json`, `subprocess` and the helper objects.

`print_result()`, by itself or of a helper object, prints what an agent reads and changes nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.interpreter.agent import AgentCalls
from agentworld_gym.domains.desktop.engine.interpreter.os_modules import OsModules
from agentworld_gym.domains.desktop.engine.interpreter.pyautogui import PyAutoGui
from agentworld_gym.domains.desktop.engine.interpreter.statements import raising_problems
from agentworld_gym.domains.desktop.engine.interpreter.values import (
    ActionBudget,
    CodeException,
    Function,
    Namespace,
    to_float,
    to_int,
    to_text,
)

MISSING = {
    "ImpressTools": ("NoConnectException", "Connector : couldn't connect to socket (Connection refused)"),
    "VLCTools": ("ConnectionError", "HTTPConnectionPool(host='localhost', port=8080): Max retries exceeded"),
}
"""The helper objects whose program is not on this desktop, and the error that each of their methods raises."""

_PRINT_RESULT = Function("print_result", lambda: None)
_REFUSED = ("ConnectionRefusedError", "[Errno 111] Connection refused")


class _Anything(dict[str, Any]):
    """The methods of a helper object that cannot reach its program: it has every name."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__()
        self._kind, self._message = kind, message

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> Function:
        def refuse(*args: Any, **kwargs: Any) -> None:
            raise CodeException(self._kind, self._message)

        return Function(name, refuse)


def names(desktop: Desktop, pyautogui: PyAutoGui, budget: ActionBudget) -> tuple[dict[str, Any], dict[str, Namespace]]:
    """Return the names that code has at first, and the modules that it may import."""
    system = OsModules(desktop, budget)
    os_path = Namespace("posixpath", _functions(system.path_functions()))
    modules = {
        "pyautogui": Namespace("pyautogui", {**_functions(pyautogui.functions()), "PAUSE": 0.1, "FAILSAFE": False}),
        "time": Namespace("time", _functions({"sleep": pyautogui.sleep, "time": lambda: desktop.files.now})),
        "json": Namespace("json", _functions({"dumps": _dumps, "loads": _loads})),
        "math": Namespace(
            "math", {"pi": math.pi, **_functions({"floor": math.floor, "ceil": math.ceil, "sqrt": math.sqrt})}
        ),
        "os.path": os_path,
        "os": Namespace(
            "os",
            {**_functions(system.os_functions()), "path": os_path, "environ": system.environment(), "sep": "/"},
        ),
        "subprocess": Namespace(
            "subprocess", {**_functions(system.process_functions()), "PIPE": -1, "STDOUT": -2, "DEVNULL": -3}
        ),
    }
    values: dict[str, Any] = {**_functions(_builtins(budget)), "__name__": "__main__"}
    values["open"] = Function("open", system.open)
    values["print_result"] = _PRINT_RESULT
    values["Agent"] = Namespace("Agent", _functions(AgentCalls(desktop, pyautogui).functions()), "type object")
    for module in ("pyautogui", "time", "json", "os", "subprocess"):
        values[module] = modules[module]
    for name, error in MISSING.items():
        values[name] = Namespace(name, _Anything(*error), "type object")
    for program in desktop.programs.values():
        if program.tools:
            values[program.tools] = _helper(desktop, program.tools, dict(program.tool_methods()))
    return values, modules


def _helper(desktop: Desktop, name: str, methods: dict[str, Callable[..., Any]]) -> Namespace:
    """Return a helper object; under the control `intermittent-errors` a call may find no connection."""

    def bound(label: str, call: Callable[..., Any]) -> Function:
        run = raising_problems(call)

        def attempt(*args: Any, **kwargs: Any) -> Any:
            desktop.model["calls"] += 1
            if desktop.controls.strikes("intermittent-errors", desktop.model["calls"], name, label):
                raise CodeException(*_REFUSED)
            return run(desktop, *args, **kwargs)

        return Function(label, attempt)

    members = {label: bound(label, call) for label, call in methods.items()}
    return Namespace(name, {"print_result": _PRINT_RESULT, **members}, "type object")


def _functions(calls: dict[str, Callable[..., Any]]) -> dict[str, Function]:
    return {name: Function(name, call) for name, call in calls.items()}


def _builtins(budget: ActionBudget) -> dict[str, Callable[..., Any]]:
    def listed(call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a builtin that goes through all of its arguments and makes a list."""

        def run(*args: Any, **kwargs: Any) -> Any:
            for argument in args:
                budget.weigh(argument)
            result = call(*args, **kwargs)
            budget.weigh(result)
            return result

        return run

    def summed(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            for argument in args:
                budget.weigh(argument)
            if kwargs:
                raise CodeException("TypeError", "keywords are not available here")
            return call(*args)

        return run

    def ordered(items: Any, reverse: bool = False) -> list[Any]:
        return sorted(items, reverse=bool(reverse))

    def power(base: Any, exponent: Any) -> Any:
        from agentworld_gym.domains.desktop.engine.interpreter.values import binary_operation

        return binary_operation(budget, "Pow", base, exponent)

    return {
        "abs": abs,
        "all": summed(all),
        "any": summed(any),
        "bool": bool,
        "dict": listed(lambda pairs=(): dict(pairs)),
        "enumerate": listed(lambda items, start=0: list(enumerate(items, to_int(start)))),
        "float": to_float,
        "int": to_int,
        "len": len,
        "list": listed(lambda items=(): list(items)),
        "max": summed(max),
        "min": summed(min),
        "pow": power,
        "print": lambda *args, **kwargs: None,
        "range": range,
        "repr": lambda value: to_text(budget, value, quoted=True),
        "reversed": listed(lambda items: list(items)[::-1]),
        "round": _round,
        "sorted": listed(ordered),
        "str": lambda value="": to_text(budget, value),
        "sum": summed(_sum),
        "tuple": listed(lambda items=(): tuple(items)),
        "zip": listed(lambda *lists: list(zip(*lists, strict=False))),
    }


def _round(value: Any, digits: Any = None) -> Any:
    if not isinstance(value, int | float) or not (digits is None or (isinstance(digits, int) and abs(digits) < 100)):
        raise CodeException("TypeError", "round() takes a number and a small number of digits")
    return round(value, digits)


def _sum(items: Any) -> Any:
    if any(not isinstance(item, int | float) for item in items):
        raise CodeException("TypeError", "sum() takes numbers")
    return sum(items)


def _dumps(value: Any, indent: Any = None, **options: Any) -> str:
    return json.dumps(value, indent=indent if isinstance(indent, int) and 0 <= indent <= 8 else None)


def _loads(source: Any) -> Any:
    if not isinstance(source, str):
        raise CodeException("TypeError", "the JSON object must be str")
    return json.loads(source, parse_int=to_int)
