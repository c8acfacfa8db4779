"""Many shells under a small limit of open files: the soft limit is raised, and at the hard one stands a typed error."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agentworld_gym.base.process.open_files import allowed_files, need_files

ROOT = Path(__file__).resolve().parents[3]

PLAY = """
import resource, sys
import gymnasium as gym
import agentworld_gym
from agentworld_gym.base.errors import AgentWorldError
soft, hard, count = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
try:
    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=count)
    envs.reset(seed=0)
    print(sum(envs.step(["pwd"] * count)[3]), "failed", resource.getrlimit(resource.RLIMIT_NOFILE)[0] > soft)
except AgentWorldError as error:
    print(type(error).__name__, error)
"""


def played(soft: int, hard: int, count: int) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PLAY, *map(str, (soft, hard, count))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


def test_the_soft_limit_is_raised_where_shells_need_it() -> None:
    assert played(256, 2048, 120) == "0 failed True"


def test_a_limit_that_is_high_enough_stays_as_it_is() -> None:
    assert played(256, 2048, 10) == "0 failed False"


def test_at_the_hard_limit_an_error_says_what_to_do() -> None:
    said = played(256, 256, 120)
    assert said.startswith("EngineError") and "ulimit -n" in said and "a shell needs 3 open files" in said


def test_a_limit_that_cannot_be_raised_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may lower a hard limit, but not raise it again, would otherwise lose what the process had."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: (131, 131))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: pytest.fail(f"the limit is set to {limits}"))
    assert allowed_files(1000) == 131


def test_counting_open_files_opens_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine opens no file of the host, whatever an agent does."""
    monkeypatch.setattr(os, "open", lambda path, *_: pytest.fail(f"{path} is opened"))
    need_files(1, "a test")
