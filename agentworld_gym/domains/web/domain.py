"""The web: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine
    from agentworld_gym.recipe.importers.conversation import ImportedConversation


def open_engine(variant: str) -> Engine:
    """Return the engine, or a real browser for the variant `chromium`."""
    if variant == "chromium":
        from agentworld_gym.domains.web.engine.chromium.machine import ChromiumEngine

        return ChromiumEngine()
    from agentworld_gym.domains.web.engine.machine import WebMachine

    return WebMachine


def versions(variant: str) -> dict[str, str]:
    """Return the version of SQLite, and those of the browser and of what drives it where one plays."""
    from agentworld_gym.kit.tables.database import sqlite_version

    found = sqlite_version()
    if variant == "chromium":
        from agentworld_gym.base.fingerprint import installed
        from agentworld_gym.domains.web.engine.chromium.machine import chromium_version

        found |= {"chromium": chromium_version(), "playwright": installed("playwright")}
    return found


def claim_recording(conversation: ImportedConversation) -> float:
    """Say how surely a recorded session is one of a browser: its tools are Playwright's, which others may have as well.

    >>> from agentworld_gym.recipe.importers.conversation import ImportedConversation
    >>> claim_recording(ImportedConversation("a", []))
    0.0
    """
    return 0.8 if any(name.startswith("browser_") for name in conversation.called()) else 0.0


DOMAIN = Domain(
    id="web",
    env_id="AgentWorld/Web-v0",
    engine=f"{__name__}:open_engine",
    variants=("", "chromium"),
    libraries=("jinja2", "lxml"),
    versions=f"{__name__}:versions",
    commands=("agentworld_gym.domains.web.cli:register",),
    live="agentworld_gym.domains.web.live:open_live",
    view="agentworld_gym.domains.web.engine.view:WebView",
    screen="agentworld_gym.domains.web.screen:WebScreen",
    offers="agentworld_gym.domains.web.live.elements:actions_shown",
    syntaxes={
        "playwright_call": "agentworld_gym.domains.web.actions:PLAYWRIGHT",
        "browsergym_call": "agentworld_gym.domains.web.actions:BROWSERGYM",
    },
    translations={"browsergym": "agentworld_gym.domains.web.screen:BROWSERGYM"},
    families="agentworld_gym.domains.web.tasks:FAMILIES",
    composition="agentworld_gym.domains.web.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.web.tasks.control_cases:CASES",
    explorer="agentworld_gym.domains.web.explorer:PageExplorer",
    refusals="agentworld_gym.domains.web.refusals:PageRefusals",
    unseen_names="agentworld_gym.domains.web.unseen_names:UnseenSites",
    claim_recording=f"{__name__}:claim_recording",
    session_formats={"browsergym": "agentworld_gym.domains.web.importers.browsergym:FORMAT"},
    explain="agentworld_gym.domains.web.explanations:explain",
    verifier="agentworld_gym.domains.web.verifier:VERIFIER",
    control_marks={"intermittent-errors": r"ERR_CONNECTION_RESET|502 Bad Gateway"},
)
