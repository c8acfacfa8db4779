"""What all sessions of a live site share: its configuration, its browsers, and how its hosts are reached."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.base.fingerprint import installed
from agentworld_gym.domains.web.engine.chromium.driver import chromium_version
from agentworld_gym.domains.web.live import miniwob
from agentworld_gym.domains.web.live.browsers import LiveBrowsers
from agentworld_gym.domains.web.live.config import SITE, SiteCommandReset, SiteConfig, origin_of
from agentworld_gym.domains.web.live.gate import Streams
from agentworld_gym.domains.web.live.page_folder import PageFolder
from agentworld_gym.domains.web.live.server import DIALER, LiveSiteServer
from agentworld_gym.kit.live import Confinement, LiveSession, Masks
from agentworld_gym.kit.live.hosts import is_public


class LiveSite:
    """A site.

    Args:
        config: What the user said of it.
        file: Where the configuration stands, for errors.
        folder: The folder from which its paths count.

    Raises:
        SpecError: A key is wrong.
        WorldNotConfigured: Commands cannot be confined here.
        AgentWorldError: MiniWoB++ is not installed.
    """

    def __init__(self, config: SiteConfig, file: str, folder: Path) -> None:
        self.config, self.masks = config, Masks(config.masks)
        self.confinement: Confinement | None = None
        """How its commands run."""
        self.pages: PageFolder | None = None
        """The folder of its pages, where it is one."""
        self.address = config.open
        """The address that an episode begins with."""
        self.scripts = config.episode
        """How its pages pay for steps and end their episodes, where they do so."""
        self.verified: dict[str, str] = {}
        """What verifies resets showed at first, where all episodes share the site: the answer to a request, or the
        page that an episode begins with, by what the task states of it."""
        self.playing: LiveSession | None = None
        """The session whose episode reset the site last, where all episodes share it."""
        self.browsers = LiveBrowsers(config.limits, config.per_browser)
        """Its browsers."""
        if config.miniwob is not None:
            self.address = SITE + miniwob.path_of(config.miniwob)
            self.scripts = miniwob.SCRIPTS
            self.pages = PageFolder(miniwob.pages())
        elif config.folder is not None:
            place = (folder / os.path.expanduser(config.folder)).resolve()
            if not place.is_dir():
                raise MissingFile(place, "a folder with the pages of the site", kind="folder", key="folder")
            self.pages = PageFolder(place)
        reset = config.reset.command if isinstance(config.reset, SiteCommandReset) else None
        if config.command is not None or reset is not None:
            # The hosts under `network` are those of the browser.
            confined = config.model_copy(update={"network": config.network is True})
            self.confinement = Confinement(confined, file, folder)
            if reset is not None:
                self.confinement.show_reset(reset)
            if config.command is not None:
                self.confinement.show(config.command)
                self.confinement.show([sys.executable, str(DIALER)])
        host, _ = config.origin
        if not (config.allows(host) or self.pages is not None or config.command is not None):
            raise SpecError(file, "network", config.network, f"true, or [{host}], the host of the site")

    @property
    def offers(self) -> bool:
        """Whether the elements of a page are told as the actions that can be done."""
        return self.scripts is not None if self.config.offers is None else self.config.offers

    def parts(self) -> Mapping[str, str]:
        """Return the versions of what decides what a page shows."""
        found = {"browser": f"Chromium {chromium_version()}", "driver": f"Playwright {installed('playwright')}"}
        if self.config.miniwob is None:
            return found
        return {"pages": f"{self.config.miniwob} of MiniWoB++ {installed('miniwob')}", **found}

    async def dial(self, host: str, port: int, server: LiveSiteServer | None) -> Streams:
        """Connect to a port of a host for a page.

        Args:
            host: The host.
            port: The port.
            server: The server of the session, where it has one.

        Raises:
            PermissionError: The host may not be reached.
            OSError: It cannot be reached.
            EngineError: The server of the session ended.
        """
        if (host, port) == origin_of(self.address):
            if server is not None:
                link = await asyncio.get_running_loop().run_in_executor(None, server.connect)
                return await asyncio.open_connection(sock=link)
            if self.pages is not None:
                return await asyncio.open_connection(sock=self.pages.connect())
            return await asyncio.open_connection(host, port)
        if not self.config.reaches(host):
            raise PermissionError(f"{host} does not stand under network")
        streams = await asyncio.open_connection(host, port)
        # Where all hosts are allowed, no name may lead an agent into a private network.
        if self.config.network is True and not is_public(streams[1].get_extra_info("peername")[0]):
            streams[1].close()
            raise PermissionError(f"{host} lies in a private network")
        return streams

    def close(self) -> None:
        """End all browsers and servers; a second call does nothing."""
        self.browsers.close()
        if self.confinement is not None:
            self.confinement.close()
