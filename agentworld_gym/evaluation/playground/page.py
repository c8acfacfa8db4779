"""Makes the page of the playground: the viewer's style and scripts, and its own beside them."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

STYLES = (("viewer", "style.css"), ("playground", "play.css"))
SCRIPTS = (
    ("viewer", "data.js"),
    ("viewer", "diff.js"),
    ("viewer", "episode.js"),
    ("playground", "panes.js"),
    ("playground", "play.js"),
)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def playground_page() -> str:
    """Return the page, which holds nothing of the game.

    >>> page = playground_page()
    >>> page.count("<script>"), "sha256-" in policy(page)
    (1, True)
    """
    loaders = {name: PackageLoader("agentworld_gym.evaluation", name) for name in ("viewer", "playground")}
    templates = Environment(loader=loaders["playground"], autoescape=True, undefined=StrictUndefined)

    def source(folder: str, name: str) -> str:
        return loaders[folder].get_source(templates, name)[0]

    style, script = ("\n".join(["", *(source(*file) for file in files), ""]) for files in (STYLES, SCRIPTS))
    return templates.get_template("page.html.j2").render(style=Markup(style), script=Markup(script))


def policy(page: str) -> str:
    """Return the content security policy of a page: its own script alone, which may ask this server alone."""
    found = _SCRIPT.search(page)
    assert found is not None
    digest = b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
