"""What a curious agent tries in vain on a desktop: keys without a meaning, programs and files that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.domains.desktop.explorer import DesktopExplorer, press

_MODIFIERS = (("ctrl", "shift"), ("ctrl", "alt"), ("alt", "shift"), ("ctrl", "alt", "shift"))


class DesktopRefusals(Refusals, DesktopExplorer):
    """Runs code that raises, and code that reaches nothing."""

    look = "time.sleep(1)"

    def hotkey(self) -> str:
        """Return code that presses keys together that mean nothing."""
        keys = (*self.rng.choice(_MODIFIERS), self.rng.choice("hjkmuyx"))
        return f"pyautogui.hotkey({', '.join(map(repr, keys))})"

    def where_none(self, role: str, code: str) -> str | None:
        """Return code where no element of a role is shown; None where one is, or nothing was seen."""
        return code if self.nodes and not any(node.role == role for node in self.nodes) else None

    def on_label(self, code: str) -> str | None:
        """Return code with the point of a text inside a window; None where there is none."""
        nodes = [node for node in self.nodes if node.role == "label" and node.box is not None and node.box.y > 30]
        return code.format(self._point(self.rng.choice(nodes))) if nodes else None

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "keys without a meaning": (
            lambda t: t.hotkey(),
            lambda t: t.hotkey(),
            lambda t: press(t.rng.choice(("f7", "f8", "f9", "pause", "scrolllock", "shift", "ctrl"))),
            lambda t: f"pyautogui.hotkey('ctrl', {t.rng.choice(('f7', 'f8', 'f9'))!r})",
        ),
        "key that is not there": (
            lambda t: press(t.names.word),
            lambda t: f"pyautogui.hotkey('ctrl', {t.names.word!r})",
            lambda t: f"pyautogui.keyDown({t.names.word!r})",
        ),
        "code that raises": (
            lambda t: f"{t.rng.randint(1, 99)}/0",
            lambda t: f"print({t.names.word})",
            lambda t: f"int({t.names.word!r})",
            lambda t: f"[][{t.rng.randint(0, 9)}]",
            lambda t: f"raise ValueError({t.names.word!r})",
            lambda t: f"{{}}[{t.names.word!r}]",
        ),
        "function that is not there": (
            lambda t: f"pyautogui.{t.names.word}()",
            lambda t: f"pyautogui.clik({t.rng.randint(1, 1900)}, {t.rng.randint(1, 1000)})",
            lambda t: f"import {t.names.word}",
            lambda t: f"CalcTools.{t.names.word}()",
            lambda t: f"{t.names.word}.{t.names.word}()",
        ),
        "code that cannot be read": (
            lambda t: "pyautogui.click(",
            lambda t: f"click the {t.names.word} button",
            lambda t: f"if {t.names.word}:",
        ),
        "missing file": (
            lambda t: f"open('/home/user/{t.names.file}').read()",
            lambda t: f"print(open('/home/user/Documents/{t.names.file}').read())",
            lambda t: f"os.listdir('/home/user/{t.names.word}')",
            lambda t: f"os.remove('/home/user/{t.names.file}')",
            lambda t: f"os.path.getsize('/home/user/{t.names.file}')",
        ),
        "unknown program": (
            lambda t: f"subprocess.Popen([{t.names.word!r}])",
            lambda t: f"subprocess.run([{t.names.word!r}, '--version'])",
            lambda t: f"subprocess.Popen([{t.names.word!r}, {t.names.file!r}])",
        ),
        "helper without its program": (
            lambda t: t.where_none("table-cell", f"CalcTools.set_cell_values(['{t.names.number}'], 'B2')"),
            lambda t: t.where_none("table-cell", "CalcTools.save()"),
            lambda t: t.where_none("document-web", "BrowserTools.back()"),
            lambda t: t.where_none("document-web", "BrowserTools.reload()"),
        ),
        "wrong arguments": (
            lambda t: f"pyautogui.write({t.names.number})",
            lambda t: f"pyautogui.scroll({t.names.word!r})",
            lambda t: f"time.sleep({t.names.word!r})",
            lambda t: "pyautogui.press()",
            lambda t: f"pyautogui.scroll([{t.names.word!r}])",
        ),
        "nothing there": (
            lambda t: t.on_label("pyautogui.moveTo({0})"),
            lambda t: f"pyautogui.moveTo({t.rng.randint(2000, 3000)}, {t.rng.randint(100, 900)})",
            lambda t: f"pyautogui.moveTo({-t.rng.randint(2, 90)}, {t.rng.randint(100, 900)})",
        ),
    }
    """The kinds of code."""
