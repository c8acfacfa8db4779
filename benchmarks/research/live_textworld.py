"""MaskablePPO on games of TextWorld: through the ids of live worlds, in an adopted dream, on TextWorld itself; and
random choices.

All see the same vectors and masks, and play the same unseen games. Make games first, each with a seed of its own:

    for seed in $(seq 0 30); do tw-make tw-coin_collector --level 5 --seed $seed --output games/coin-$seed.z8; done
    python benchmarks/research/live_textworld.py live "games/*.z8" --steps 4096
    python benchmarks/research/live_textworld.py dream "games/*.z8" --world runs/coin/world --steps 4096
    python benchmarks/research/live_textworld.py original "games/*.z8" --steps 4096
    python benchmarks/research/live_textworld.py random "games/*.z8"

`original` and `random` import TextWorld; the others take the interpreter of another environment with `--python`.
`dream` trains in the folder that `agentworld adopt` left of these games, and tests on the games themselves.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import FREE_PLAY, Task
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.menu_env import menu_spaces
from agentworld_gym.integrations.sb3 import MenuPolicy, TextEncoder, evaluate_policy, make_sb3_env
from agentworld_gym.kit.live.environments import ENVIRONMENT_SPEC
from agentworld_gym.kit.live.environments.config import INSTRUCTION
from agentworld_gym.kit.live.environments.worker import TextWorldGame

MENU = ("go north", "go east", "go south", "go west", "take coin", "inventory", "look")
ENCODER = TextEncoder(max_menu=12)
MAX_STEPS = 20
PPO = {"n_steps": 32, "batch_size": 128, "n_epochs": 6, "learning_rate": 1e-3, "gamma": 0.98, "ent_coef": 0.02}
UNSEEN = ("validation", "test")


class Original(gym.Env[Any, Any]):
    """TextWorld in this process, with the vectors and the masks of a live world."""

    def __init__(self, games: str, split: str, seed: int) -> None:
        self._game, self._split, self._draws = TextWorldGame(games, {}), split, np.random.default_rng(seed)
        self._spec = load_spec(ENVIRONMENT_SPEC)
        task = {"id": FREE_PLAY, "domain": self._spec.id, "instruction": INSTRUCTION, "family": FREE_PLAY}
        self._task = Task(**task, success=(), menu=MENU)
        self.observation_space, self.action_space = menu_spaces(ENCODER)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game."""
        number = int(self._draws.integers(2**31)) if seed is None else seed
        told = self._game.begin(number, number, self._split, {})
        self.steps = 0
        self._menu = Menu(ENCODER, self._spec, self._task, f"{INSTRUCTION}\n\n{told['text']}", told["offers"])
        return self._menu.vector(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Type a command of the menu."""
        entry = self._menu.entry(int(action))
        told = self._game.act(self._menu.action(entry))
        self.steps += 1
        self._menu.observe(entry, told["text"], told["offers"])
        over, info = told["terminated"], {"is_success": bool(told["success"])}
        return self._menu.vector(), told["reward"], over, self.steps >= MAX_STEPS and not over, info

    def action_masks(self) -> Any:
        """Return which choices there are."""
        return self._menu.masks()


def played(games: str, split: str, episodes: int, choose: Callable[[Any, Any], Any]) -> float:
    """Return the share of games that are won on TextWorld itself."""
    env, won = Original(games, split, 0), 0
    for seed in range(episodes):
        vector, over, info = env.reset(seed=seed)[0], False, {}
        while not over:
            vector, _, terminated, truncated, info = env.step(choose(vector, env.action_masks()))
            over = terminated or truncated
        won += info["is_success"]
    return won / episodes


def main() -> None:
    """Train, and print the success on unseen games."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("who", choices=("live", "dream", "original", "random"))
    parser.add_argument("games")
    parser.add_argument("--steps", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=10, help="unseen episodes of each split")
    parser.add_argument("--python")
    parser.add_argument("--world", default="live")
    asked = parser.parse_args()
    games, dice = str(Path(asked.games).absolute()), random.Random(asked.seed)
    live = {"env": f"textworld:{games}", "menu": MENU, "python": asked.python, "limits": {"start_seconds": 300}}
    success: Callable[[str], float]
    if asked.who == "random":

        def success(split: str) -> float:
            return played(games, split, asked.episodes, lambda vector, mask: dice.choice(np.flatnonzero(mask)))
    else:
        env: Any
        if asked.who in ("live", "dream"):
            trained: Any = {
                "world": asked.world,
                "max_steps": MAX_STEPS,
                **({"live": live} if asked.who == "live" else {}),
            }
            env = make_sb3_env("AgentWorld/Custom-v0", 8, asked.seed, encoder=ENCODER, **trained)
        else:
            env = DummyVecEnv([lambda seed=seed: Monitor(Original(games, "train", seed)) for seed in range(8)])
        began = time.monotonic()
        model = MaskablePPO(MenuPolicy, env, device="cpu", seed=asked.seed, **PPO).learn(asked.steps)  # type: ignore[arg-type]
        print(f"{asked.who}: {asked.steps / (time.monotonic() - began):.0f} steps/s with learning")
        env.close()

        def success(split: str) -> float:
            if asked.who in ("live", "dream"):
                options: Any = {"live": live, "max_steps": MAX_STEPS, "split": split, "encoder": ENCODER}
                return evaluate_policy(
                    model, "AgentWorld/Custom-v0", range(asked.episodes), world="live", deterministic=False, **options
                ).success

            def choose(vector: Any, mask: Any) -> Any:
                return model.predict(vector, action_masks=mask, deterministic=False)[0]

            return played(games, split, asked.episodes, choose)

    print(
        f"{asked.who}, seed {asked.seed}: success of {asked.episodes}:",
        ", ".join(f"{split} {success(split):.2f}" for split in UNSEEN),
    )


if __name__ == "__main__":
    main()
