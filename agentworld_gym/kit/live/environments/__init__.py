"""Text environments as live systems: any environment of Gymnasium's interface whose actions can be written as texts.

Each one runs in a process of its own, and pays for steps and ends episodes as it does anywhere.
"""

from pathlib import Path

from agentworld_gym.kit.live.environments.config import EnvironmentConfig
from agentworld_gym.kit.live.environments.engine import EnvironmentEngine, open_live

ENVIRONMENT_SPEC = str(Path(__file__).with_name("text_environment.yaml"))
"""The spec of a text environment of which nothing more is known."""

__all__ = ["ENVIRONMENT_SPEC", "EnvironmentConfig", "EnvironmentEngine", "open_live"]
