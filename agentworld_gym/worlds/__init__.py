"""Worlds answer actions: language worlds, grounded worlds, live worlds, scripted worlds and recorded ones."""

from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import LanguageOptions, WorldOptions
from agentworld_gym.worlds.recordings.recorded_world import RecordedWorld
from agentworld_gym.worlds.recordings.recording_world import RecordingWorld
from agentworld_gym.worlds.registry import open_world, register_world
from agentworld_gym.worlds.scripted import ScriptedWorld

__all__ = [
    "GroundedWorld",
    "LanguageOptions",
    "LanguageWorld",
    "RecordedWorld",
    "RecordingWorld",
    "ScriptedWorld",
    "WorldOptions",
    "open_world",
    "register_world",
]
