"""The engine of a user's site in a real Chromium."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec

from agentworld_gym.base.errors import AgentWorldError, install
from agentworld_gym.core.engines import EngineError, Span
from agentworld_gym.domains.web.engine.chromium.driver import find_chromium
from agentworld_gym.domains.web.live.config import SiteConfig
from agentworld_gym.domains.web.live.elements import actions_shown
from agentworld_gym.domains.web.live.session import SiteSession
from agentworld_gym.domains.web.live.site import LiveSite
from agentworld_gym.kit.live import LiveEngine, LiveMachine, LiveSource

DOMAIN = "web"
"""The domain of sites."""


def open_live(source: LiveSource) -> SiteEngine:
    """Open a user's site.

    Raises:
        SpecError: The configuration is wrong.
        EngineError: There is no Chromium.
        AgentWorldError: Playwright or MiniWoB++ is not installed.
        WorldNotConfigured: Commands cannot be confined here.
    """
    config = source.read(SiteConfig, DOMAIN)
    find_chromium()
    if find_spec("playwright") is None:
        raise AgentWorldError(f"live sites need Playwright: {install('live-web')}")
    return SiteEngine(LiveSite(config, source.file, source.folder))


class SiteEngine(LiveEngine[SiteConfig]):
    """Starts browser contexts on one site.

    Args:
        site: The site, which is closed with the engine.
    """

    splits = True

    def __init__(self, site: LiveSite) -> None:
        self.site = site
        self.pays = site.scripts is not None
        super().__init__(site.config)

    def open_session(self) -> SiteSession:
        """Open a context."""
        return SiteSession(self.site)

    def offers(self, screen: str, instruction: str) -> tuple[str, ...] | None:
        """Return what can be done with the elements of a page; None where the site does not tell it."""
        return actions_shown(screen, instruction) if self.site.offers else None

    def close(self) -> None:
        """End all sessions, browsers and servers."""
        super().close()
        self.site.close()


class SiteMachine(LiveMachine):
    """One episode on a live site."""

    noun = "live site"

    def observation_in(self, dialect: str) -> str:
        """Return what the browser shows in another dialect, of which there is `browsergym`.

        Raises:
            EngineError: There is no such dialect, or the machine is closed.
        """
        if dialect != "browsergym":
            raise EngineError(f"a live site does not speak {dialect!r}")
        return self._engine.bounded(self._site().in_browsergym())

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the pieces of `observation_in` that vary.

        Raises:
            EngineError: There is no such dialect, or the machine is closed.
        """
        return self._engine.masks.spans(self.observation_in(dialect))

    def screenshot(self) -> bytes | None:
        """Return a picture of the page as PNG; None where the browser makes none."""
        with suppress(EngineError):
            return self._site().screenshot()
        return None

    def _site(self) -> SiteSession:
        session = self._session()
        assert isinstance(session, SiteSession)
        return session


SiteEngine.machine = SiteMachine
