"""The faults that a site acts out: what goes wrong at a request, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.engines.controls import Controls

SHORT_PAGE = 5
"""The number of entries on a page under the control `pagination`."""

SAFE_REQUESTS = 4
"""The number of requests after a sign-in within which a session cannot expire, so that a visitor can get on."""

BAD_GATEWAY = (
    '<!DOCTYPE html>\n<html lang="en">\n<head><title>502 Bad Gateway</title></head>\n'
    "<body>\n<h1>502 Bad Gateway</h1>\n<hr>\n<p>nginx</p>\n</body>\n</html>\n"
)


@dataclass(frozen=True, slots=True)
class InterruptingDialog:
    """A dialog that opens with a page: its heading, its text, and the buttons that close it."""

    title: str
    text: str
    buttons: tuple[str, ...]


DIALOGS = (
    InterruptingDialog(
        "We value your privacy",
        "We use cookies to remember your settings and to count visits.",
        ("Accept all", "Only necessary"),
    ),
    InterruptingDialog(
        "Stay in touch",
        "Get our newsletter with news and offers, once a month.",
        ("Subscribe later", "No thanks"),
    ),
    InterruptingDialog(
        "Two minutes for us?",
        "Tell us how you like this site in a short survey.",
        ("Not now", "Never ask again"),
    ),
)


@dataclass(frozen=True, slots=True)
class FaultyRequest:
    """One request under the controls: the page that is opened, and the number of the request in the session."""

    controls: Controls
    host: str
    path: str
    visit: int

    def strikes(self, name: str) -> bool:
        """Return whether a control strikes at this request."""
        return self.controls.strikes(name, self.host, self.path, self.visit)

    def draw(self, name: str, *key: object) -> float:
        """Return a number from 0 to below 1 for this request."""
        return self.controls.draw(name, self.host, self.path, self.visit, *key)

    def dialog(self) -> InterruptingDialog | None:
        """The dialog that opens with the page, if any."""
        if not self.strikes("unexpected-dialog"):
            return None
        return DIALOGS[int(self.draw("unexpected-dialog", "which") * len(DIALOGS))]

    def resets(self) -> bool:
        """Whether a failing request gets no answer at all instead of a 502 page."""
        return self.draw("intermittent-errors", "how") < 0.5

    def reordered(self, items: list[Any], name: str) -> list[Any]:
        """Return a list in another order where the control strikes, never in its own."""
        if len(items) < 2 or not self.strikes("reordered-menu"):
            return items
        places = sorted(range(len(items)), key=lambda place: self.draw("reordered-menu", name, place))
        if places == list(range(len(items))):
            places = places[1:] + places[:1]
        return [items[place] for place in places]

    def page_size(self, name: str, pattern: str, size: int) -> int:
        """Return the number of entries on a page of a list, which is the same at every visit."""
        if self.controls.strikes("pagination", self.host, pattern, name):
            return min(size, SHORT_PAGE)
        return size
