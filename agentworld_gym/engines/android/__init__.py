"""The grounded phone: a launcher, settings and apps, operated by touches and printed as numbered elements."""

from __future__ import annotations

from agentworld_gym.engines.android.machine import AndroidMachine
from agentworld_gym.engines.android.scenario import load_scenario, scenario_names
from agentworld_gym.engines.android.view import AndroidView

__all__ = ["AndroidMachine", "AndroidView", "load_scenario", "scenario_names"]
