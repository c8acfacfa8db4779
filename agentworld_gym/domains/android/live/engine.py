"""The engine of phones behind `adb`."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
from functools import partial
from pathlib import Path

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.engines import EngineError, InexactFork
from agentworld_gym.domains.android.live.adb import Adb
from agentworld_gym.domains.android.live.config import PhoneConfig
from agentworld_gym.domains.android.live.session import PhoneSession
from agentworld_gym.kit.live import LiveEngine, LiveSession, LiveSource, Masks

DOMAIN = "android"
"""The domain of phones."""

_VARY = (r'android\.widget\.(?:TextClock|Chronometer) \| text="((?:[^"\\]|\\.)*)"',)
"""What varies on screens, beside what the configuration says: clocks."""


def open_live(source: LiveSource) -> PhoneEngine:
    """Open a user's phones.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: `adb` is not installed.
    """
    return PhoneEngine(source.read(PhoneConfig, DOMAIN), source)


class PhoneEngine(LiveEngine[PhoneConfig]):
    """Starts sessions with phones, one a phone.

    Args:
        config: The phones.
        source: Where the configuration stands.

    Raises:
        SpecError: A key is wrong.
        WorldNotConfigured: `adb` is not installed.
    """

    scarce = True

    def __init__(self, config: PhoneConfig, source: LiveSource) -> None:
        self.file = source.file
        self._program = _program(config, source)
        self._free = [*config.serial]
        self._first: str | None = None
        self._guard = threading.Lock()
        # As many sessions as phones; less than the least that the key admits.
        super().__init__(config.model_copy(update={"sessions": min(config.sessions, len(config.serial))}))
        self.masks = Masks((*config.masks, *_VARY))

    def open_session(self) -> PhoneSession:
        """Start a session with a phone that nobody else on this machine uses."""
        with self._guard:
            for serial in self._free:
                if (held := _claimed(serial)) is not None:
                    self._free.remove(serial)
                    break
            else:
                told = ", ".join(self._free) or "all phones"
                raise EngineError(f"{told}: played by another episode on this machine; a phone plays one at a time")
        adb = Adb(self._program, serial, {**os.environ, **self.config.env})
        return PhoneSession(self, adb, partial(self._given_back, serial, held))

    def _given_back(self, serial: str, held: socket.socket) -> None:
        held.close()
        with self._guard:
            self._free.append(serial)

    def is_start(self, text: str) -> bool:
        """Return whether a screen is that on which all episodes begin: the first one that was seen."""
        with self._guard:
            if self._first is None:
                self._first = text
            return self.masks.without(self._first) == self.masks.without(text)

    def copy(self, session: LiveSession) -> None:
        """Return nothing: a phone is not copied, and an episode is played again on another one.

        Raises:
            InexactFork: Forks are not asked for, or there is no other phone.
        """
        if not self.config.forks:
            raise InexactFork("this live world is not forked: its configuration says forks: false")
        if len(self.config.serial) == 1:
            raise InexactFork(
                "a fork is played again on another phone, and serial names one; name two, or forks: false"
            )

    def probe(self, session: LiveSession) -> None:
        """Return nothing: a fork will do."""


def _claimed(serial: str) -> socket.socket | None:
    """Claim a phone for as long as what is returned is open; None where another process or environment holds it.

    The claim is a name of the kernel's, which is free again when its holder ends, however it ends.
    """
    claim = socket.socket(socket.AF_UNIX)
    if sys.platform.startswith("linux"):  # Others know no such names.
        try:
            claim.bind(f"\0agentworld-gym/phone/{serial}")
        except OSError:
            claim.close()
            return None
    return claim


def _program(config: PhoneConfig, source: LiveSource) -> str:
    """Return the path of `adb`.

    Raises:
        SpecError: It is named by a path, or has other variables, and the configuration trusts no commands.
        WorldNotConfigured: It is not installed.
    """
    for key, given in (("adb", "/" in config.adb and config.adb), ("env", config.env)):
        if given and not config.trusted:
            expected = "nothing, unless the configuration says trusted: true: adb runs outside of the sandbox"
            raise SpecError(source.file, key, given, expected)
    found = shutil.which(str(source.path(config.adb)) if "/" in config.adb else config.adb)
    if found is None:
        raise WorldNotConfigured(f"{source.file}: there is no program {config.adb}: apt install adb")
    return str(Path(found).absolute())
