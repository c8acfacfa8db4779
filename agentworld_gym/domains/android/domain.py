"""The phone: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.engines.android import AndroidMachine

    return AndroidMachine


DOMAIN = Domain(
    id="android",
    env_id="AgentWorld/Android-v0",
    engine=f"{__name__}:open_engine",
    view="agentworld_gym.engines.android:AndroidView",
    screen="agentworld_gym.domains.android.screen:PhoneScreen",
    translations={
        "droidrun": "agentworld_gym.domains.android.screen:DROIDRUN",
        "droidbot": "agentworld_gym.domains.android.screen:DROIDBOT",
    },
    families="agentworld_gym.tasks.android:FAMILIES",
    control_cases="agentworld_gym.tasks.android.control_cases:CASES",
    explorer="agentworld_gym.policies.exploring.android:PhoneExplorer",
    strangers="agentworld_gym.domains.android.strangers:AppStrangers",
    explain="agentworld_gym.recipe.thinking.explainers.screens:explain_phone",
    verifier="agentworld_gym.recipe.rl.verifiers.android:VERIFIER",
    control_marks={"intermittent-errors": r"isn't responding"},
)
