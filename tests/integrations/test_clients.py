"""The scripts for other libraries run, need at most ten lines to plug in, and choose only what is on offer."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.menu_env import MenuEnv

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "clients"
NEEDS = {
    "cleanrl_ppo": "torch",
    "gem_loop": "gem",
    "gymnasium_loop": "gymnasium",
    "openenv_loop": "openenv.core",
    "pettingzoo_loop": "pettingzoo",
    "rllib_ppo": "ray.rllib",
    "sb3_a2c": "stable_baselines3",
    "sb3_dqn": "stable_baselines3",
    "sb3_maskable_ppo": "sb3_contrib",
    "sb3_ppo": "stable_baselines3",
    "skrl_ppo": "skrl",
    "tianshou_ppo": "tianshou",
    "torchrl_ppo": "torchrl",
    "verifiers_rollout": "verifiers.v1",
}
MASKED = {"cleanrl_ppo", "rllib_ppo", "sb3_maskable_ppo", "skrl_ppo", "tianshou_ppo", "torchrl_ppo"}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_script_is_known_here_and_on_the_page():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(NEEDS)
    page = (FOLDER.parent.parent / "docs" / "agents" / "clients.md").read_text(encoding="utf-8")
    assert all(f"examples/clients/{name}.py" in page for name in NEEDS)


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_plugging_in_takes_at_most_ten_lines(name):
    lines = [line.strip() for line in (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()]
    plug = lines[lines.index("# plug in") + 1 : lines.index("# end")]
    assert 0 < len([line for line in plug if line]) <= 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_script_runs_and_a_client_that_takes_masks_keeps_to_them(name, monkeypatch, tmp_path):
    pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(FOLDER)
    offered: list[bool] = []
    entry = Menu.entry

    def watched(menu: Menu, choice: int) -> int:
        offered.append(bool(menu.masks()[choice]))
        return entry(menu, choice)

    monkeypatch.setattr(Menu, "entry", watched)
    result = script(name).main(64)
    assert math.isfinite(result) or name == "cleanrl_ppo", "so few steps may end no episode"
    if name in MASKED:
        assert len(offered) >= 64 and all(offered)


@pytest.mark.filterwarnings("ignore")
def test_tianshou_goes_on_after_an_episode_with_collateral(monkeypatch, tmp_path):
    pytest.importorskip("tianshou")
    monkeypatch.chdir(tmp_path)
    step = MenuEnv.step

    def with_collateral(env: MenuEnv, action: int):
        *seen, info = step(env, action)
        return *seen, (info | {"collateral": ["/home/dev/a.txt"]} if info["steps"] == 2 else info)

    monkeypatch.setattr(MenuEnv, "step", with_collateral)
    assert math.isfinite(script("tianshou_ppo").main(64))
