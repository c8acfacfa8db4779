"""TextWorld, ScienceWorld and TextArena as live worlds, where they are installed.

The variable AGENTWORLD_ENVIRONMENTS_PYTHON names the interpreter that has them, if that is not the one of the tests.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import gymnasium as gym
import pytest

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def opened(environment: str, **live: Any) -> gym.Env[str, str]:
    """Open an environment of a library; skip where that is not installed."""
    library, python = environment.partition(":")[0], os.environ.get("AGENTWORLD_ENVIRONMENTS_PYTHON")
    if python is None:
        pytest.importorskip(library)
    else:
        live["python"] = python
    limits = {"start_seconds": 240, "step_seconds": 120}  # A game is made within that time, on a busy machine too.
    given = {"env": environment, "ahead": 0, "limits": limits, **live}
    return gym.make("agentworld_gym:AgentWorld/Custom-v0", live=given, reading="exact")


@pytest.mark.slow
def test_a_game_of_textworld_is_won_by_its_commands() -> None:
    env = opened("textworld:tw-coin_collector", settings={"level": 1})
    _, info = env.reset(seed=0)
    assert "take coin" in info["admissible"]
    _, reward, terminated, _, info = env.step("take coin")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed")
def test_a_task_of_scienceworld_is_forked_by_playing_it_again() -> None:
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
    env = opened("textarena:GuessTheNumber-v0")
    env.reset(seed=0)
    assert "failure" not in env.step("[7]")[4]
    env.close()
