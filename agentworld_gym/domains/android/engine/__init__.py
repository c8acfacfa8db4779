"""The grounded phone: a launcher, settings and apps, operated by touches and printed as numbered elements."""

from __future__ import annotations

from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.engine.scenario import load_scenario, scenario_names
from agentworld_gym.domains.android.engine.view import AndroidView

__all__ = ["AndroidMachine", "AndroidView", "load_scenario", "scenario_names"]
