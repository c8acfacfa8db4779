"""What a user says of a site: the option `live` of this domain."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, Tag, field_validator, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.web.live.requests import read_request
from agentworld_gym.kit.live import LiveConfig
from agentworld_gym.kit.live.config import CommandReset, Url, Words, reset_by

SITE = "http://localhost:8000/"
"""The address of pages and of servers that are not behind a URL of their own."""


def _request(given: str) -> str:
    read_request(given, SITE)
    return given


RequestLine = Annotated[str, AfterValidator(_request)]
"""A request: `GET http://localhost:3000/reset`, `POST /items {"name": "tea"}`; without a method it is GET."""


class RequestReset(Strict):
    """A request that brings the site back to its start."""

    request: RequestLine
    """The request, which has to succeed."""

    verify: RequestLine | None = None
    """A request that is answered after each reset as after the first one. Without it the page that an episode begins
    with has to be the same."""


class SiteCommandReset(CommandReset):
    """A command that brings the site back to its start."""

    verify: RequestLine | None = None
    """A request that is answered after each reset as after the first one."""


Reset = Annotated[
    Annotated[Literal["restart"], Tag("[restart]")]
    | Annotated[RequestReset, Tag("[request]")]
    | Annotated[SiteCommandReset, Tag("[command]")],
    reset_by("request", "command"),
]


class EpisodeScripts(Strict):
    """JavaScript functions of a page that plays episodes of its own, as those of MiniWoB++ do."""

    begin: str | None = None
    """A function of the seed, which begins an episode."""

    instruction: str | None = None
    """A function that returns what the agent is asked to do."""

    verdict: str
    """A function that returns what the page says since the last action: `{reward, terminated, truncated, success}`, of
    which any may be left out."""


class SiteConfig(LiveConfig):
    """A site, and how its episodes begin.

    >>> SiteConfig(url="http://localhost:3000", reset="http://localhost:3000/reset").reset.request
    'http://localhost:3000/reset'
    >>> SiteConfig(folder="pages").open
    'http://localhost:8000/'
    """

    url: Url | None = None
    """The address that the browser opens. Beside `command` it is that of the server of each session."""

    command: Words | None = None
    """A command that serves the site, one for each session. It listens on the port of `url`, which is 8000 without one;
    where it shares the network of this machine, on the one that stands for `{port}` in its words."""

    folder: str | None = None
    """A folder with the pages of the site."""

    miniwob: str | None = Field(default=None, pattern=r"^[a-z0-9-]+$")
    """A task of MiniWoB++, such as `click-test`; the package `miniwob` has its pages."""

    reset: Reset | None = None
    """How the site goes back to its start: a request, a command, or `restart`, which is that of a `command` without
    any. Without one nothing is done about a site behind a URL."""

    episode: EpisodeScripts | None = None
    """How a page that pays for steps and ends its episodes itself does so."""

    offers: bool | None = None
    """Whether the elements of the page are told as the actions that can be done, which are the menu then. None tells
    them where the page ends its episodes itself."""

    settle_seconds: float = Field(default=0.15, ge=0, le=10)
    """How long is waited after an action for what it leads to, where it leads to no other page."""

    per_browser: int = Field(default=8, ge=1)
    """How many sessions share one Chromium; they end with it where it dies."""

    @field_validator("reset", mode="before")
    @classmethod
    def _reset_by_request(cls, given: Any) -> Any:
        """Take a text for a request."""
        return {"request": _request(given)} if isinstance(given, str) and given != "restart" else given

    @model_validator(mode="after")
    def _one(self) -> SiteConfig:
        given = [key for key in ("url", "command", "folder", "miniwob") if getattr(self, key) is not None]
        if given not in (["url"], ["command"], ["url", "command"], ["folder"], ["miniwob"]):
            raise ValueError(f"one of url, command, folder, miniwob (got {', '.join(given) or 'none'})")
        if self.command is None and self.reset == "restart":
            raise ValueError("reset: a request or a command: only the site of a `command` is started again")
        if self.command is not None and not isinstance(self.reset, str) and self.verify is None:
            raise ValueError("reset.verify: a request: a server is kept only after a reset that was checked")
        if self.folder is not None and self.reset is not None:
            raise ValueError("reset: nothing: a folder of pages stays as it is")
        if self.miniwob is not None and (self.episode is not None or self.reset is not None):
            raise ValueError("neither episode nor reset beside miniwob, which has its own")
        return self

    @model_validator(mode="before")
    @classmethod
    def _resets(cls, data: Any) -> Any:
        """Start a command again where nothing else is said. Play one episode at a time where all of them share a server
        that is reset for each; there are two sessions while an environment goes from one to the next.
        """
        if not isinstance(data, dict):
            return data
        if data.get("command") is not None:
            return {"reset": "restart", **data}
        return data if data.get("reset") is None else {**data, "sessions": 2, "ahead": 0, "forks": False}

    @property
    def shared(self) -> bool:
        """Whether all episodes play on one server that is reset for each of them, so that there is one at a time."""
        return self.command is None and self.reset is not None

    @property
    def verify(self) -> str | None:
        """The request that verifies resets; None where there is none."""
        return None if self.reset is None or isinstance(self.reset, str) else self.reset.verify

    @property
    def open(self) -> str:
        """The address that an episode begins with."""
        return self.url or SITE

    @property
    def origin(self) -> tuple[str, int]:
        """The host and the port of the site."""
        return origin_of(self.open)


def origin_of(url: str) -> tuple[str, int]:
    """Return the host and the port of an address.

    >>> origin_of("https://example.org/a"), origin_of("http://localhost:3000")
    (('example.org', 443), ('localhost', 3000))
    """
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
