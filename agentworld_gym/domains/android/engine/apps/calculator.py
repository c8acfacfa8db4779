"""The calculator app: keys, the typed line, its value, and a history."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.apps.arithmetic import BadExpression, calculated
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.kit.gui import Message, Widget, column, grid, row

MAX_CHARS = 60
MAX_HISTORY = 50
_KEYS = (
    ("√", "square root"), ("π", "pi"), ("^", "power"), ("%", "percent"),
    ("AC", "clear"), ("(", "left parenthesis"), (")", "right parenthesis"), ("÷", "divide"),
    ("7", "7"), ("8", "8"), ("9", "9"), ("×", "multiply"),
    ("4", "4"), ("5", "5"), ("6", "6"), ("−", "minus"),
    ("1", "1"), ("2", "2"), ("3", "3"), ("+", "plus"),
    ("0", "0"), (".", "point"), ("⌫", "delete"), ("=", "equals"),
)  # fmt: skip
"""The labels of the keys, and what a screen reader says for them."""


class CalculatorApp(App):
    """The calculator app."""

    id = "calculator"
    title = "Calculator"
    package = "com.google.android.calculator"
    shares = ()

    def begin(self, stated: Any, scene: AppScene) -> dict[str, Any]:
        """Return its empty line and history."""
        return {"line": "", "value": "", "done": False, "history": []}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return the keys, or the history."""
        data = phone.data["calculator"]
        if screen["name"] == "history":
            return _history(phone, screen, data)
        menu = widgets.more(("History", ("calculator/history",)), ("Clear history", ("calculator/clear_history",)))
        line = Widget(widgets.TEXT, text=data["line"], description="Formula", height=160)
        preview = data["value"] or _preview(data["line"])
        value = Widget(widgets.TEXT, text=preview, description="Result preview", height=160)
        keys = [
            Widget(
                widgets.BUTTON,
                text=text,
                description=spoken if spoken != text else "",
                on={"click": ("calculator/key", text)},
                flags=("focusable",),
                height=222,
            )
            for text, spoken in _KEYS
        ]
        show = [] if data["done"] else [value]
        display = row(widgets.gap(48), column(line, *show, grow=1), widgets.gap(48), height=400)
        return widgets.page(
            widgets.bar("Calculator", menu, back=False), display, Widget(shown=False, grow=1), grid(4, keys, gap=12)
        )

    def update(self, phone: Phone, message: Message) -> None:
        """Press a key, or show the history."""
        data, name = phone.data["calculator"], message[0].partition("/")[2]
        if name == "key":
            _press(phone, data, message[1])
        elif name == "history":
            phone.push("history")
        elif name == "clear_history":
            data["history"].clear()
        elif name == "take":
            phone.pop()
            data.update(line=message[1], value="", done=False)


def _press(phone: Phone, data: dict[str, Any], key: str) -> None:
    line = data["line"]
    if key == "AC":
        data.update(line="", value="", done=False)
    elif key == "=":
        if not line or data["done"]:
            return
        try:
            value = calculated(line)
        except BadExpression as error:
            data["value"] = str(error)
            return
        data["history"].insert(0, {"id": phone.new_id(), "line": line, "value": value})
        del data["history"][MAX_HISTORY:]
        data.update(line=value, value="", done=True)
    else:
        if key == "⌫":
            line = "" if data["done"] else line[:-1]
        elif len(line) >= MAX_CHARS:
            phone.toast(f"Can't enter more than {MAX_CHARS} characters")
            return
        elif data["done"] and key in "0123456789.(√π":
            line = key
        else:
            line += key
        data.update(line=line, value="", done=False)


def _preview(line: str) -> str:
    """Return the value of the typed line; empty while it has none, and for a single number."""
    if line.replace(".", "").isdecimal():
        return ""
    try:
        return calculated(line)
    except BadExpression:
        return ""


def _history(phone: Phone, screen: Screen, data: dict[str, Any]) -> Widget:
    top = widgets.bar("History", widgets.more(("Clear history", ("calculator/clear_history",))))
    rows = data["history"]
    if not rows:
        return widgets.page(top, widgets.empty("No history"))
    return widgets.page(
        top,
        widgets.listing(
            screen,
            rows,
            lambda entry: widgets.item(
                entry["line"], ("calculator/take", entry["value"]), detail=f"= {entry['value']}"
            ),
        ),
    )


APP = CalculatorApp()
