"""The worker of a live desktop: it starts the X server, the buses and the programs, runs code, and reads the screen.

It speaks JSON lines over the socket that is its standard input.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.domains.desktop.live.inside.accessibility import Accessibility
from agentworld_gym.domains.desktop.live.inside.quiet import rest
from agentworld_gym.domains.desktop.live.inside.windows import Windows

_PLACE = Path("/dev/shm/desktop")
"""The folder of what belongs to no program."""

_QUIET = 0.3
"""How many seconds nothing may run before the screen is read: GTK opens a menu in a menu after 0.225 s."""

_START = 5.0
"""How many seconds a program has to come to rest after its start."""

_LOOK = 0.05

_LAST_WORDS = 400

_GTK = "[Settings]\ngtk-cursor-blink=0\ngtk-enable-animations=0\ngtk-recent-files-enabled=0\n"

_FILES = {
    "xdg/gtk-3.0/settings.ini": _GTK,
    "xdg/gtk-4.0/settings.ini": _GTK,
    "gtkrc-2.0": "gtk-cursor-blink = 0\n",
    "openbox.xml": """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <placement><policy>Smart</policy><center>yes</center></placement>
  <desktops><number>1</number></desktops>
  <keyboard>
    <keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"><dialog>none</dialog></action></keybind>
    <keybind key="W-Up"><action name="Maximize"/></keybind>
    <keybind key="W-Down"><action name="Unmaximize"/></keybind>
  </keyboard>
  <mouse>
    <dragThreshold>4</dragThreshold>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Titlebar">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Close">
      <mousebind button="Left" action="Click"><action name="Close"/></mousebind>
    </context>
    <context name="Maximize">
      <mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind>
    </context>
  </mouse>
</openbox_config>
""",
}
"""Settings that hold nothing up and vary with nothing."""

_VARIABLES = {
    "DISPLAY": ":0",
    "DBUS_SESSION_BUS_ADDRESS": f"unix:path={_PLACE}/run/bus",
    "XDG_RUNTIME_DIR": f"{_PLACE}/run",
    "XDG_CONFIG_DIRS": f"{_PLACE}/xdg",
    "XDG_CACHE_HOME": f"{_PLACE}/cache",
    "XDG_STATE_HOME": f"{_PLACE}/state",
    "GTK2_RC_FILES": f"{_PLACE}/gtkrc-2.0",
    "GTK_MODULES": "gail:atk-bridge",
    "GSETTINGS_BACKEND": "memory",
    "GIO_USE_VFS": "local",
    "QT_ACCESSIBILITY": "1",
    "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
}


class Lost(Exception):
    """The desktop cannot go on."""


class DesktopFailed(Exception):
    """What was asked for did not work."""


class VirtualDesktop:
    """The desktop of one session.

    Args:
        size: The width and the height of the screen.
        seconds: How long each part may take to start.

    Raises:
        Lost: It cannot be started.
    """

    def __init__(self, size: Sequence[int], seconds: float) -> None:
        self._parts: dict[str, subprocess.Popen[bytes]] = {}
        self._until = time.monotonic() + seconds
        for name, text in _FILES.items():
            (_PLACE / name).parent.mkdir(parents=True, exist_ok=True)
            (_PLACE / name).write_text(text, encoding="utf-8")
        (_PLACE / "run").mkdir(mode=0o700)
        os.environ.update(_VARIABLES)
        screen = "{}x{}x24".format(*size)
        # With the network of the machine, an abstract socket would be that of all sessions.
        options = f":0 -screen 0 {screen} -dpi 96 -nolisten tcp -nolisten local -noreset -extension GLX"
        self._start("Xvfb", options.split())
        self._there("Xvfb", Path("/tmp/.X11-unix/X0").exists)
        self._start("dbus-daemon", ["--session", "--nofork", "--nosyslog", f"--address=unix:path={_PLACE}/run/bus"])
        self._there("dbus-daemon", (_PLACE / "run" / "bus").exists)
        self._start("openbox", ["--config-file", str(_PLACE / "openbox.xml"), "--sm-disable"])
        self.windows, self._elements = Windows(), Accessibility()
        self._own = {os.getpid(), os.getppid()}
        self._next: subprocess.Popen[bytes] | None = None
        self._rest(_START, 4 * _START)
        self._own |= _numbers()
        self._clicked = 0.0
        self._make_ready()

    def _start(self, name: str, words: Sequence[str]) -> None:
        with (_PLACE / f"{name}.log").open("wb") as log:
            self._parts[name] = subprocess.Popen([name, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _there(self, name: str, there: Callable[[], bool]) -> None:
        while not there():
            self.check()
            if time.monotonic() > self._until:
                raise Lost(f"{name} did not start in time")
            time.sleep(_LOOK)

    def check(self) -> None:
        """Make sure that all parts of it run.

        Raises:
            Lost: One ended.
        """
        for name, process in self._parts.items():
            if (status := process.poll()) is not None:
                said = (_PLACE / f"{name}.log").read_bytes()[-_LAST_WORDS:].decode("utf-8", "replace").strip()
                raise Lost(f"{name} ended with status {status}" + (f": {said}" if said else ""))

    def _rest(self, wait: float, most: float) -> bool:
        return rest(_QUIET, wait, most, () if self._next is None else (self._next.pid,))

    def open(self, programs: Sequence[Sequence[str]], cwd: str, seconds: float) -> None:
        """End all programs, and start others, one after the other.

        Raises:
            DesktopFailed: One does not start.
        """
        for pid in _numbers() - self._own - ({self._next.pid} if self._next else set()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        self._rest(_START, 4 * _START)
        until = time.monotonic() + seconds
        for number, words in enumerate(programs):
            before = self.windows.managed()
            log = _PLACE / f"program-{number}.log"
            with log.open("wb") as output:
                try:
                    process = subprocess.Popen(
                        list(words),
                        cwd=cwd,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                        start_new_session=True,
                    )
                except OSError as error:
                    raise DesktopFailed(f"programs.{number} {' '.join(words)!r}: {error.strerror}") from error
            while not self.windows.managed() - before:
                self.check()
                if process.poll() not in (None, 0) or time.monotonic() > until:
                    said = log.read_bytes()[-_LAST_WORDS:].decode("utf-8", "replace").strip()
                    why = "showed no window" if process.poll() is None else f"ended with status {process.returncode}"
                    raise DesktopFailed(f"programs.{number} {' '.join(words)!r} {why}" + (f": {said}" if said else ""))
                time.sleep(_LOOK)
            self._rest(_START, max(until - time.monotonic(), _START))

    def _make_ready(self) -> None:
        """Start the process of the next action ahead."""
        words = [sys.executable, "-s", "-m", "agentworld_gym.domains.desktop.live.inside.act"]
        self._next = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def run(self, code: str, cwd: str, seconds: float) -> None:
        """Run the code of an action, which is stopped when its time is over."""
        if self._next is None or self._next.poll() is not None:  # A program has ended it.
            self._make_ready()
        process = self._next
        assert process is not None and process.stdin is not None
        told = {"code": code, "clicked": self._clicked, "cwd": cwd}
        try:
            process.stdin.write(json.dumps(told).encode("utf-8", "replace"))
            process.stdin.close()
        except OSError:  # It is ended right now.
            pass
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._next, self._clicked = None, time.monotonic()

    def screen(self, wait: float, most: float) -> dict[str, Any]:
        """Wait until the programs are at rest, and return the windows and the elements on the screen."""
        self.check()
        at_rest = self._rest(wait, most)
        windows = self.windows.stack()
        elements = self._elements.elements(any(window["popup"] for window in windows))
        told = {"windows": windows, "elements": elements, "at_rest": at_rest}
        if self._next is None:
            self._make_ready()
        return told


def _numbers() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def answer(desktop: VirtualDesktop | None, asked: Mapping[str, Any]) -> tuple[VirtualDesktop | None, dict[str, Any]]:
    """Do what is asked for, and return the desktop with the answer.

    Raises:
        Lost: The desktop cannot go on.
        DesktopFailed: It did not work.
    """
    what, began = asked["do"], time.monotonic()
    if what == "start":
        return VirtualDesktop(asked["size"], asked["seconds"]), {}
    if desktop is None:
        raise DesktopFailed("the desktop has not started")
    desktop.check()
    if what == "open":
        desktop.open(asked["programs"], asked["cwd"], asked["seconds"])
    elif what == "act":
        desktop.run(asked["code"], asked["cwd"], asked["seconds"])
    return desktop, desktop.screen(asked["wait"], max(asked["most"] - time.monotonic() + began, asked["wait"]))


def main() -> None:
    """Answer until the other side is gone."""
    link = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    desktop: VirtualDesktop | None = None
    for line in link.makefile("rb"):
        try:
            desktop, told = answer(desktop, json.loads(line))
            reply: dict[str, Any] = {"ok": told}
        except DesktopFailed as failed:
            reply = {"error": str(failed)}
        except Exception as error:
            reply = {"lost": str(error) or type(error).__name__}
            if desktop is not None:
                try:
                    desktop.check()
                except Lost as lost:  # It tells why a connection broke.
                    reply = {"lost": str(lost)}
        link.sendall(json.dumps(reply).encode("utf-8", "replace") + b"\n")


if __name__ == "__main__":
    main()
