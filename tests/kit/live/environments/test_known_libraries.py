"""TextWorld, ScienceWorld and TextArena as live worlds, where they are installed."""

from __future__ import annotations

import shutil
from typing import Any

import gymnasium as gym
import pytest

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def opened(environment: str, **live: Any) -> gym.Env[str, str]:
    """Open an environment."""
    return gym.make("AgentWorld/Custom-v0", live={"env": environment, "ahead": 0, **live}, reading="exact")


@pytest.mark.slow
def test_a_game_of_textworld_is_won_by_its_commands() -> None:
    pytest.importorskip("textworld")
    env = opened("textworld:tw-coin_collector", settings={"level": 1})
    _, info = env.reset(seed=0)
    assert "take coin" in info["admissible"]
    _, reward, terminated, _, info = env.step("take coin")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed")
def test_a_task_of_scienceworld_is_forked_by_playing_it_again() -> None:
    pytest.importorskip("scienceworld")
    env = opened("scienceworld:find-living-thing", settings={"simplification": "easy"})
    env.reset(seed=1)
    env.step("look around")
    core: Any = env.unwrapped
    twin = core.fork()
    assert twin.step("inventory")[0] == env.step("inventory")[0]
    twin.close()
    env.close()


@pytest.mark.slow
def test_a_game_of_textarena_takes_guesses() -> None:
    pytest.importorskip("textarena")
    env = opened("textarena:GuessTheNumber-v0")
    env.reset(seed=0)
    assert "failure" not in env.step("[7]")[4]
    env.close()
