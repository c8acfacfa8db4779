"""The calculator: arithmetic on decimal numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from decimal import Decimal, DecimalException, localcontext
from typing import Any

from agentworld_gym.domains.desktop.engine.program import DesktopServices, Program, Window
from agentworld_gym.domains.desktop.engine.widgets import button, entry, label
from agentworld_gym.kit.gui import Field, Message, Widget, column, grid

_KEYS = ("C", "(", ")", "÷", "7", "8", "9", "×", "4", "5", "6", "−", "1", "2", "3", "+", "0", ".", "%", "=")
_SIGNS = str.maketrans({"÷": "/", "×": "*", "−": "-", ",": ""})
MAX_CHARS = 200
MAX_DIGITS = 200


class Calculator(Program):
    """The calculator."""

    id = "calculator"
    name = "Calculator"
    commands = ("gnome-calculator",)
    size = (420, 520)
    fields = frozenset({"display"})
    first_field = "display"

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return another calculator."""
        window = desktop.window({"display": Field(), "history": [], "error": ""}, "Calculator")
        window["focus"] = "display"
        return window

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the history, the display and the keys."""
        data = window["data"]
        past = [label(line, height=26) for line in data["history"][-3:]]
        error = [label(data["error"], height=26)] if data["error"] else []
        display = entry("Display", data["display"], "display", enter=("=",), height=44)
        keys = grid(4, [button(key, ("key", key), f"key {key}", height=56, fill=True) for key in _KEYS], gap=6)
        return column(*past, display, *error, keys, padding=(12, 8), gap=6)

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return the display, the history and the error."""
        data = window["data"]
        told = {"display": data["display"].value, "history": list(data["history"]), "error": data["error"]}
        return {key: part for key, part in told.items() if part}

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of a calculator, and its title."""
        display = Field(shown.get("display", ""))
        return {
            "display": display,
            "history": list(shown.get("history", ())),
            "error": shown.get("error", ""),
        }, self.name

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Press a key of the calculator."""
        data = window["data"]
        field: Field = data["display"]
        key = message[1] if message[0] == "key" else "="
        data["error"] = ""
        if key == "C":
            field.set("")
        elif key != "=":
            field.insert(key)
        elif field.value.strip():
            self._solve(data)

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Clear the display on Escape."""
        if combo == "esc":
            self.update(desktop, window, ("key", "C"))
            return True
        if combo in ("ctrl+w", "ctrl+q"):
            desktop.close(window)
            return True
        return False

    def type(self, desktop: DesktopServices, window: Window, text: str) -> bool:
        """Put digits and operators on the display wherever the focus is."""
        window["data"]["display"].insert(text)
        return True

    def _solve(self, data: dict[str, Any]) -> None:
        field: Field = data["display"]
        result = solved(field.value)
        if result is None:
            data["error"] = "Malformed expression"
            return
        data["history"] = [*data["history"], f"{field.value} = {result}"][-10:]
        field.set(result)


def solved(text: str) -> str | None:
    """Return the value of an expression; None where it has none.

    >>> solved("2+3×4"), solved("1/3"), solved("0.1+0.2"), solved("2+"), solved("1/0"), solved("9%")
    ('14', '0.333333333', '0.3', None, None, '0.09')
    """
    text = text.removesuffix("=").translate(_SIGNS).replace("^", "**").replace("%", "/100").strip()
    if len(text) > MAX_CHARS:
        return None
    try:
        tree = ast.parse(text, mode="eval")
        with localcontext() as context:
            context.prec, context.Emax, context.Emin = 40, MAX_DIGITS, -MAX_DIGITS
            value = _value(tree.body)
            return format(round(value, 9).normalize(), "f")
    except (SyntaxError, ValueError, DecimalException, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> Decimal:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow):
            return left**right
    raise ValueError("no sum")
