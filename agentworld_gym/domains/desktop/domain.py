"""The desktop: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.domains.desktop.engine import DesktopMachine

    return DesktopMachine


DOMAIN = Domain(
    id="desktop",
    env_id="AgentWorld/Desktop-v0",
    official_name="os",
    engine=f"{__name__}:open_engine",
    libraries=("bashkit", "jinja2", "lxml"),
    live="agentworld_gym.domains.desktop.live:open_live",
    versions="agentworld_gym.kit.tables.database:sqlite_version",
    scenarios=("web",),
    content_words="agentworld_gym.domains.desktop.tasks.vocabulary:content_words",
    view="agentworld_gym.domains.desktop.engine:DesktopView",
    screen="agentworld_gym.domains.desktop.screen:DesktopScreen",
    translations={"autoglm": "agentworld_gym.domains.desktop.screen:AUTOGLM"},
    families="agentworld_gym.domains.desktop.tasks:FAMILIES",
    composition="agentworld_gym.domains.desktop.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.desktop.tasks.control_cases:CASES",
    explorer="agentworld_gym.domains.desktop.explorer:DesktopExplorer",
    unseen_names="agentworld_gym.domains.desktop.unseen_names:UnseenPrograms",
    explain="agentworld_gym.domains.desktop.explanations:explain",
    verifier="agentworld_gym.domains.desktop.verifier:VERIFIER",
    control_marks={"intermittent-errors": r"[Cc]onnection .*refused"},
)
