"""The examples of several agents run and show what their page says, on a small sample."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("pettingzoo")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "many_agents"
PAGE = (ROOT / "docs" / "agents" / "many_agents.md").read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_stands_on_the_page(path):
    assert f"python examples/many_agents/{path.name}" in PAGE


def test_two_in_one_shell_need_half_the_rounds_unless_they_change_its_folder():
    results = script("two_in_one_shell").main(2)
    assert results["two agents, by path"] == (1.0, 7.0, pytest.approx(0.935))
    assert results["one agent, by path"][:2] == (1.0, 13.0)
    assert results["two agents, by folder"][0] < 0.9


def test_a_reviewer_finds_the_mistakes_of_an_author():
    results = script("author_and_reviewer").main(3)
    assert results["author and reviewer"] == results["one agent with both rights"] == 1.0
    assert results["author alone"] < 1.0


def test_a_customer_learns_to_say_everything():
    results = script("customer_and_clerk").main(6, 12)
    assert results["one agent with wish and tools"] == results["customer and clerk, learned"] == 1.0


def test_a_director_learns_which_fault_hurts():
    module = script("director")
    env = module.AgentWorldDirectorEnv("faulty-shop")
    director, hurt = module.Exp3(2), [0, 0]
    rng = module.random.Random(0)
    for seed in range(20):
        arm = director.draw(rng)
        success = module.play(env, module.NAIVE, ['{"pagination": 0.0}', '{"intermittent-errors": 0.5}'][arm], seed)
        hurt[arm] += 1 - success
        director.learn(arm, 1 - success)
    env.close()
    assert hurt[0] == 0 < hurt[1] and director.mixture[1] > director.mixture[0]
    assert set(module.main(training=2, episodes=1, runs=1)) == {"none", "random controls", "director"}
