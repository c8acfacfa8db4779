"""Live worlds: a user's own system as the ground truth, and language worlds that play its tasks."""

from agentworld_gym.worlds.live.opening import open_live
from agentworld_gym.worlds.live.tasks import LiveTasks
from agentworld_gym.worlds.live.world import LiveWorld

__all__ = ["LiveTasks", "LiveWorld", "open_live"]
