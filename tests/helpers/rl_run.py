"""Reinforcement learning as a process of its own, which tests start and kill: FOLDER CONFIG (a JSON object)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentworld_gym.recipe.rl.config import RlConfig
from agentworld_gym.recipe.rl.gspo import train

if __name__ == "__main__":
    train(RlConfig(**json.loads(sys.argv[2])), Path(sys.argv[1]))
