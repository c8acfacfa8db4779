"""The phone: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.domains.android.engine import AndroidMachine

    return AndroidMachine


DOMAIN = Domain(
    id="android",
    env_id="AgentWorld/Android-v0",
    engine=f"{__name__}:open_engine",
    view="agentworld_gym.domains.android.engine:AndroidView",
    screen="agentworld_gym.domains.android.screen:PhoneScreen",
    live="agentworld_gym.domains.android.live:open_live",
    translations={
        "droidrun": "agentworld_gym.domains.android.screen:DROIDRUN",
        "droidbot": "agentworld_gym.domains.android.screen:DROIDBOT",
    },
    syntaxes={
        "phone_coordinates": "agentworld_gym.domains.android.actions.coordinates:SYNTAX",
        "droidrun_call": "agentworld_gym.domains.android.actions.droidrun:SYNTAX",
        "droidbot_event": "agentworld_gym.domains.android.actions.droidbot:SYNTAX",
    },
    families="agentworld_gym.domains.android.tasks:FAMILIES",
    composition="agentworld_gym.domains.android.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.android.tasks.control_cases:CASES",
    explorer="agentworld_gym.domains.android.explorer:PhoneExplorer",
    refusals="agentworld_gym.domains.android.refusals:PhoneRefusals",
    unseen_names="agentworld_gym.domains.android.unseen_names:UnseenApps",
    explain="agentworld_gym.domains.android.explanations:explain",
    verifier="agentworld_gym.domains.android.verifier:VERIFIER",
    control_marks={"intermittent-errors": r"isn't responding"},
)
