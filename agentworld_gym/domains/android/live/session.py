"""One phone behind `adb`: it is brought to its start, touched, and its screen is read."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import EngineError, Inspection, SystemLate
from agentworld_gym.domains.android.live import gestures
from agentworld_gym.domains.android.live.adb import Adb
from agentworld_gym.domains.android.live.config import COMPONENT, PhoneConfig, PhoneTaskState
from agentworld_gym.domains.android.live.dump import PhoneDump
from agentworld_gym.kit.live import LiveAbout, LiveSession, LiveStart, Masks

FILE = "/data/local/tmp/agentworld-live.xml"
"""Where uiautomator writes a dump on the phone."""

_DUMP = f"rm -f {FILE}; uiautomator dump {FILE} 2>&1; cat {FILE} 2>/dev/null; rm -f {FILE}"
_TRIES = 3
"""How often a screen is asked for that uiautomator cannot dump."""

_PAUSE = 0.3
"""How many seconds lie between two of these."""

_OWN = re.compile(r"android|com\.android\.systemui")
"""Packages of the system, which are not ended after an episode."""

_HOME = f"input keyevent 224; wm dismiss-keyguard; {gestures.HOME}; settings get secure default_input_method"
"""Wakes the phone, goes to its launcher, and tells its keyboard."""

_LAUNCHED = "cmd package query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
_ACTIVITY = re.compile(r"(?m)^\s*([A-Za-z]\w*(?:\.\w+)+/[\w.$]+)\s*$")
_SIZE = re.compile(r"(\d{2,5})x(\d{2,5})")


class Phones(Protocol):
    """All phones of a configuration, as a session knows them."""

    config: PhoneConfig
    """What the user said."""

    file: str
    """Where that stands, for errors."""

    masks: Masks
    """What varies on their screens."""

    def is_start(self, text: str) -> bool:
        """Return whether a screen is that on which all episodes begin."""
        ...


class PhoneSession(LiveSession):
    """A phone, which this session alone uses.

    Args:
        phones: The phones of the configuration.
        adb: What runs commands on this one.
        give_back: A function that is called once the phone is free again.

    Raises:
        EngineError: It cannot be reached, or does not go back to its start.
        SpecError: It lacks an app of the configuration.
    """

    def __init__(self, phones: Phones, adb: Adb, give_back: Callable[[], None]) -> None:
        self._phones, self._config, self._adb, self._give_back = phones, phones.config, adb, give_back
        self._open = True
        self._met = set[str]()
        """The packages that were in front in this episode, but for that of the launcher."""
        self._home = ""
        try:
            self._size, self._device = self._asked()
            self._all_characters = False
            self._packages = self._launched()
            self._apps = self._named()
            if not self._restored():
                told = self._screen.text[:300]
                raise EngineError(
                    f"the phone {adb.serial} does not go back to how it was at its first start (see the key reset, and "
                    f"masks for what varies); it shows: {told}"
                )
        except BaseException:
            self.close()
            raise

    @property
    def _limits(self) -> Any:
        return self._config.limits

    def _must(self, line: str) -> str:
        """Run a line of the start or the reset; see `_succeed`."""
        return self._succeed(line, self._limits.start_seconds)

    def _succeed(self, line: str, seconds: float) -> str:
        """Run a line that has to succeed, and return what it prints.

        Raises:
            EngineError: It fails.
        """
        ran = self._adb.shell(line, seconds)
        said = f"{ran.output}\n{ran.errors}".strip()[-500:]
        # `am start` says so alone where there is no such activity.
        if ran.status or (line.startswith("am start") and re.search(r"(?m)^Error", said)):
            raise EngineError(f"{self._adb.serial}: `{line[:200]}` ended with status {ran.status}: {said}")
        return ran.output

    def _asked(self) -> tuple[tuple[int, int], str]:
        """Return the size of the screen in pixels, and what the phone is."""
        told = self._must("wm size; getprop ro.product.model; getprop ro.build.version.release").splitlines()
        # The last size is that of an override, if there is one.
        sizes = _SIZE.findall("\n".join(told[:-2]))
        if not sizes:
            raise EngineError(f"the phone {self._adb.serial} tells no size of its screen: {told}")
        return (int(sizes[-1][0]), int(sizes[-1][1])), f"{told[-2].strip()}, Android {told[-1].strip()}"

    def _launched(self) -> dict[str, str]:
        """Return the activity that the icon of each package starts."""
        found: dict[str, str] = {}
        for activity in _ACTIVITY.findall(self._adb.shell(_LAUNCHED, self._limits.start_seconds).output):
            found.setdefault(activity.partition("/")[0], activity)
        return found

    def _named(self) -> dict[str, str]:
        """Return these activities by name in small letters: those that the user gave, and those of packages."""
        found = {package.casefold(): activity for package, activity in self._packages.items()}
        for name, app in self._config.apps.items():
            activity = app if COMPONENT.fullmatch(app) else self._packages.get(app)
            if activity is None:
                expected = f"an app with an icon on the phone {self._adb.serial}"
                raise SpecError(self._phones.file, f"apps.{name}", app, expected)
            found[name.casefold()] = activity
        return found

    def _component(self, name: Any) -> str | None:
        """Return the activity that a name stands for; None where no app has the name."""
        if not isinstance(name, str):
            return None
        word = name.strip().casefold()
        if word in self._apps:
            return self._apps[word]
        last = f".{word.replace(' ', '')}"
        having = [activity for package, activity in self._packages.items() if package.casefold().endswith(last)]
        return having[0] if len(having) == 1 else None

    def _restored(self) -> bool:
        """Bring the phone to its start, and return whether it shows what it showed at its first one."""
        reset = self._config.reset
        if reset.snapshot is not None:
            self._loaded(reset.snapshot)
        else:
            used = sorted(package for package in self._met if not _OWN.fullmatch(package))
            for package in dict.fromkeys((*used, *reset.stop)):
                self._must(f"am force-stop {shlex.quote(package)}")
        for package in reset.clear:
            if "Success" not in self._must(f"pm clear {shlex.quote(package)}"):
                raise EngineError(f"pm clear {package} failed on the phone {self._adb.serial}")
        if reset.command is not None:
            self._must(reset.command)
        woken = self._must(_HOME)
        self._all_characters = gestures.ADB_KEYBOARD in woken
        self._screen = self._settled()
        self._home, self._met = self._screen.package, set()
        return self._phones.is_start(self._screen.text)

    def _loaded(self, snapshot: str) -> None:
        """Load a snapshot of an emulator, and wait until the phone is there again.

        Raises:
            EngineError: There is no such snapshot, or the phone is no emulator.
        """
        until = time.monotonic() + self._limits.start_seconds
        ran = self._adb.call("emu", "avd", "snapshot", "load", snapshot, seconds=self._limits.start_seconds)
        if ran.status or not re.search(r"(?m)^OK\b", ran.output):
            said = (ran.output + ran.errors).strip()[-300:]
            raise EngineError(f"the snapshot {snapshot} of {self._adb.serial} is not loaded: {said}")
        self._adb.call("wait-for-device", seconds=max(until - time.monotonic(), 1.0))
        while self._adb.shell("getprop sys.boot_completed", 10.0).output.strip() != "1":
            if time.monotonic() > until:
                raise SystemLate(f"the phone {self._adb.serial} did not start in time")
            time.sleep(_PAUSE)

    def about(self) -> LiveAbout:
        """Return what the phone is, and which apps it has."""
        apps = [*self._config.apps] or sorted(self._packages)
        state = {"device": self._device, "apps": apps}
        return LiveAbout({"phone": self._device}, {"state": state, "first_observation": self._screen.text})

    def begin(self, start: LiveStart) -> str:
        """Run the line that the task states."""
        wanted = validated(PhoneTaskState, dict(start.state), "task state")
        if wanted.setup:
            ran = self._adb.shell(wanted.setup, self._limits.start_seconds)
            if ran.status:
                said = (ran.output + ran.errors).strip()[-300:]
                expected = f"a line that succeeds; it ended with status {ran.status}: {said}"
                raise SpecError("task state", "setup", wanted.setup, expected)
            self._screen = self._settled()
        return self._screen.text

    def act(self, action: Any) -> str:
        """Carry out an action, and return the screen once it rests. What cannot be done leaves the screen as it was."""
        if not isinstance(action, Mapping):
            return self._screen.text
        try:
            lines = self._lines(action)
        except gestures.Untypable as untypable:
            return (
                f"Action error: no key of this phone types {str(untypable)!r}; "
                f"the keyboard ADBKeyboard ({gestures.ADB_KEYBOARD}) would"
            )
        if lines is None:
            return self._screen.text
        for line in lines:
            self._succeed(line, self._limits.step_seconds)
        if action.get("action_type") == "wait":
            time.sleep(self._config.wait_seconds)
        self._screen = self._settled()
        return self._screen.text

    def _lines(self, action: Mapping[str, Any]) -> list[str] | None:
        """Return the lines of the shell that carry out an action; None where it cannot be done."""
        kind, screen = str(action.get("action_type")), self._screen
        if kind in gestures.KEYS:
            return [f"input keyevent {gestures.KEYS[kind]}"]
        match kind:
            case "click" | "double_tap" | "long_press":
                point = gestures.point_of(action, screen)
                return None if point is None else [gestures.touched(kind, point)]
            case "scroll" | "swipe":
                line = gestures.moved(action, screen)
                return None if line is None else [line]
            case "input_text":
                return self._typed(action)
            case "open_app":
                component = self._component(action.get("app_name"))
                return None if component is None else [gestures.started(component)]
            case "kill_app":
                front = screen.package
                stopped = [f"am force-stop {shlex.quote(front)}"] if front and not _OWN.fullmatch(front) else []
                return [*stopped, gestures.HOME]
            case "wait":
                return []
        return None

    def _typed(self, action: Mapping[str, Any]) -> list[str] | None:
        """Return the lines that type into the field that is named, or else into the one with the focus."""
        text = action.get("text")
        if not isinstance(text, str):
            return None
        lines = gestures.typed(text, self._all_characters)
        touched = "index" in action or "x" in action
        if touched:
            point = gestures.point_of(action, self._screen)
            if point is None:
                return None
            self._succeed(gestures.touched("click", point), self._limits.step_seconds)
            self._screen = self._looked()
        field = self._screen.focused
        if field is None:
            return [] if touched else None
        return [*gestures.at_the_end(field, action.get("clear_text") is True), *lines]

    def _settled(self) -> PhoneDump:
        """Return the screen once two dumps in a row are equal, or the time for that is over.

        Raises:
            EngineError: There is none; see `_looked`.
        """
        until, masks = time.monotonic() + self._config.settle_seconds, self._phones.masks
        screen = self._looked()
        while time.monotonic() < until:
            before, screen = screen, self._looked()
            if masks.without(before.text) == masks.without(screen.text):
                break
        self._met |= {screen.package} - {self._home, ""}
        return screen

    def _looked(self) -> PhoneDump:
        """Return the screen. Where uiautomator cannot dump it, it is asked again.

        Raises:
            SystemLate: The screen never rests.
            EngineError: What uiautomator writes is no dump.
        """
        until, said = time.monotonic() + self._limits.step_seconds, ""
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_PAUSE)
            output = self._adb.shell(_DUMP, max(until - time.monotonic(), 1.0)).output
            try:
                return PhoneDump(output, self._size)
            except EngineError as error:
                said = str(error)
            if time.monotonic() > until:
                break
        if "idle state" in said:
            raise SystemLate(
                f"the screen of {self._adb.serial} never rests, so that uiautomator cannot dump it: {said}"
            )
        raise EngineError(f"the screen of {self._adb.serial} cannot be read: {said}")

    def inspect(self, command: str) -> Inspection:
        """Run a command in the phone's shell.

        Raises:
            SystemLate: It took too long.
        """
        ran = self._adb.shell(command, self._limits.step_seconds)
        return Inspection(ran.status == 0, ran.output + ran.errors)

    def reset(self) -> bool:
        """Bring the phone back to its start, and return whether it shows what it showed then."""
        return self._restored()

    @property
    def alive(self) -> bool:
        """Whether the phone can be used."""
        return self._open

    def close(self) -> None:
        """Give the phone back; what was used on it is ended before its next episode."""
        if self._open:
            self._open = False
            self._give_back()
