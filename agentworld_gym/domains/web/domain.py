"""The web: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine, or a real browser for the variant `chromium`."""
    if variant == "chromium":
        from agentworld_gym.engines.web.chromium.machine import ChromiumEngine

        return ChromiumEngine()
    from agentworld_gym.engines.web.machine import WebMachine

    return WebMachine


def versions(variant: str) -> dict[str, str]:
    """Return the version of SQLite, and those of the browser and of what drives it where one plays."""
    from agentworld_gym.engines.tables.database import sqlite_version

    found = sqlite_version()
    if variant == "chromium":
        from agentworld_gym.engines.web.chromium.machine import chromium_version
        from agentworld_gym.fingerprint import installed

        found |= {"chromium": chromium_version(), "playwright": installed("playwright")}
    return found


DOMAIN = Domain(
    id="web",
    env_id="AgentWorld/Web-v0",
    engine=f"{__name__}:open_engine",
    variants=("", "chromium"),
    libraries=("jinja2", "lxml"),
    versions=f"{__name__}:versions",
    view="agentworld_gym.engines.web.view:WebView",
    screen="agentworld_gym.domains.web.screen:WebScreen",
    translations={"browsergym": "agentworld_gym.domains.web.screen:BROWSERGYM"},
    families="agentworld_gym.tasks.web:FAMILIES",
    control_cases="agentworld_gym.tasks.web.control_cases:CASES",
    explorer="agentworld_gym.policies.exploring.web:PageExplorer",
    strangers="agentworld_gym.domains.web.strangers:SiteStrangers",
    explain="agentworld_gym.recipe.thinking.explainers.screens:explain_page",
    verifier="agentworld_gym.recipe.rl.verifiers.web:VERIFIER",
    control_marks={"intermittent-errors": r"ERR_CONNECTION_RESET|502 Bad Gateway"},
)
