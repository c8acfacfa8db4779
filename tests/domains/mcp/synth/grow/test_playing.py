"""Tasks of grown worlds: the expert solves them, and neither idling nor a policy that ignores the rules does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import agentworld_gym  # noqa: F401
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.engine import ToolMachine
from agentworld_gym.domains.mcp.synth.grow.folder import GrowConfig, grow_worlds
from agentworld_gym.domains.mcp.synth.grow.growth import growable_scenarios
from agentworld_gym.domains.mcp.synth.grow.world import grown_files
from agentworld_gym.domains.mcp.tasks.grown_families import RULED

GRANTS = ('"approved"', "open_dispute", "approve_leave", "book_room", "close_issue")
"""What stands in the calls that grant a case."""


def played(env: Any, seed: int, actions: Sequence[str]) -> tuple[bool, list[str]]:
    """Play actions; return whether the task was solved, and what each action showed."""
    env.reset(seed=seed)
    shown: list[str] = []
    info: dict[str, Any] = {}
    for action in actions:
        observation, _, _, _, info = env.step(action)
        shown.append(observation)
    return info["success"], shown


def grants(task: Task) -> list[str]:
    """The calls of a menu that grant a case."""
    return [action for action in task.menu if any(grant in action for grant in GRANTS)]


def prove(folder: Path, count: int) -> None:
    """Play each task three times: as its expert, idly, and, where the rules decide, without regard to them."""
    ruled = {family.__name__ for family in RULED.values()}
    env: Any = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(folder)}).unwrapped
    for seed in range(count):
        env.reset(seed=seed)
        task = env.task
        assert played(env, seed, task.expert)[0] is True, task.id
        assert played(env, seed, ("finish",))[0] is False, task.id
        if task.family in ruled:
            solved, shown = played(env, seed, [*grants(task), task.expert[-1]])
            assert solved is False, task.id
            assert any('"code": 409' in text or '"code": 403' in text for text in shown), task.id
    env.close()


@pytest.mark.parametrize("scenario", growable_scenarios())
def test_the_rules_bind_and_the_expert_keeps_them(tmp_path: Path, scenario: str) -> None:
    ruled = RULED[scenario].__name__
    list(grow_worlds(GrowConfig(scenario, (9,), tasks=3, families=(ruled,)), tmp_path))
    prove(tmp_path, 3)


@pytest.mark.parametrize("scenario", growable_scenarios())
def test_the_families_of_the_scenario_play_on_grown_worlds(tmp_path: Path, scenario: str) -> None:
    list(grow_worlds(GrowConfig(scenario, (4,), tasks=4, levels=(2,)), tmp_path))
    prove(tmp_path, 4)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", growable_scenarios())
def test_six_worlds_of_each_scenario(tmp_path: Path, scenario: str) -> None:
    list(grow_worlds(GrowConfig(scenario, tuple(range(20, 26))), tmp_path))
    prove(tmp_path, 72)


def test_the_same_return_is_decided_by_the_policy_of_each_world(tmp_path: Path) -> None:
    decided = {}
    for seed in range(5):
        files, folder = grown_files("shop", seed), tmp_path / f"shop_{seed}"
        files.write(folder)
        machine = ToolMachine.start({"scenario": str(folder), "tables": returned_after(16)}, 0)
        call = {"name": f"{folder.name}-resolve_return", "arguments": {"return_id": 1, "decision": "approved"}}
        allowed = files.about["policies"]["return_days"] >= 16
        decided[allowed] = machine.act(call)
        assert ('"status": "approved"' in decided[allowed]) == allowed
    assert '"code": 409, "message": "Return 1 was opened 16 days after the delivery' in decided[False]
    assert set(decided) == {True, False}


def returned_after(days: int) -> dict[str, list[dict[str, Any]]]:
    """A database with one cheap return that was opened some days after the delivery."""
    moment = {"placed_at": "2026-02-01T08:00:00Z"}
    return {
        "customers": [{"customer_id": 1, "name": "Ada Dorn", "email": "a@example.com", "since": "2024-01-01"}],
        "products": [{"sku": "A-1", "name": "Mug", "price": 5.0, "stock": 3}],
        "orders": [{"order_id": 1, "customer_id": 1, "status": "delivered", "total": 5.0, **moment}],
        "order_lines": [{"order_id": 1, "sku": "A-1", "quantity": 1, "unit_price": 5.0}],
        "shipments": [
            {
                "order_id": 1,
                "carrier": "Parcelo",
                "tracking": "TR1",
                "shipped_at": "2026-02-02T08:00:00Z",
                "delivered_at": "2026-02-05T11:00:00Z",
            }
        ],
        "returns": [
            {
                "return_id": 1,
                "order_id": 1,
                "sku": "A-1",
                "quantity": 1,
                "reason": "broken",
                "opened_at": f"2026-02-{5 + days:02}T10:00:00Z",
            }
        ],
    }
