"""A domain is one record: no code asks for its name, and one that somebody else wrote is taken like those that ship."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer

import agentworld_gym
from agentworld_gym import Domain, ScriptedWorld, SpecError, register_domain
from agentworld_gym.cli.app import add_commands
from agentworld_gym.core.registration import all_domains, find_domain
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.options import EnvOptions

PACKAGE = Path(agentworld_gym.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
LAMPS = ROOT / "tests" / "helpers" / "lamp_domain"
TEXTWORLD = ROOT / "examples" / "textworld_domain"
CONFIG = """\
name: lamps
collect: {policies: {expert: 0.3, mixed: 0.3, explore: 0.4}, levels: {1: 1.0}}
data: {domains: [lamp], episodes: 24, workers: 1, max_tokens: 1024, validation: 4}
preparation: {pool: null, context_weight: 0.1}
model:
  shape: {hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, vocab_size: 512, max_position_embeddings: 1024}
  tokenizer_samples: 20
train: {max_seconds: 2, batch_tokens: 1024, muon_lr: 0.014, adamw_lr: 2.0e-3}
"""


def lines_that_name(tree: ast.AST, names: Collection[str]) -> list[int]:
    """The lines of code in which a text is one of some names; docstrings are no code, and packages are named too."""
    other = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    other |= {id(named) for call in calls if call.func.id in ("install", "find_spec") for named in call.args}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in other]
    return [node.lineno for node in texts if isinstance(node.value, str) and node.value in names]


def named_outside(names: Collection[str]) -> set[str]:
    """The files and lines of code outside the folders of domains in which a text is one of some names."""
    return {
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(PACKAGE / "domains")
        for line in lines_that_name(ast.parse(path.read_text(encoding="utf-8")), names)
    }


def test_no_code_outside_their_folders_names_a_domain() -> None:
    assert named_outside(DOMAINS) == set()


def test_no_code_outside_their_folders_names_a_syntax_that_a_domain_brings() -> None:
    brought = {name for domain in all_domains().values() for name in domain.syntaxes}
    assert {"claude_code_call", "browsergym_call", "awm_call"} <= brought
    assert named_outside(brought) == set()


def test_a_reference_that_leads_nowhere_is_named() -> None:
    with pytest.raises(SpecError, match=r"agentworld_gym\.core\.tasks:NOTHING"):
        Domain(id="x", env_id="AgentWorld/X-v0", families="agentworld_gym.core.tasks:NOTHING").part("families")


@pytest.mark.parametrize(
    ("domain", "key"),
    [
        (Domain(id="Web", env_id="AgentWorld/A-v0"), "id"),
        (Domain(id="a", env_id="A-v0"), "env_id"),
        (Domain(id="web", env_id="AgentWorld/A-v0"), "id"),
        (Domain(id="a", env_id="AgentWorld/Web-v0"), "env_id"),
        (Domain(id="a", env_id="AgentWorld/Custom-v0"), "env_id"),
        (Domain(id="a", env_id="AgentWorld/WebMenu-v0"), "env_id"),
        (Domain(id="os", env_id="AgentWorld/A-v0"), "id"),
        (Domain(id="a", env_id="AgentWorld/A-v0", official_name="os"), "official_name"),
        (Domain(id="a", env_id="AgentWorld/A-v0"), "spec"),
    ],
)
def test_a_domain_that_cannot_be_registered_is_refused(domain: Domain, key: str) -> None:
    before = dict(all_domains())
    with pytest.raises(SpecError) as raised:
        register_domain(domain)
    assert raised.value.key == key and dict(all_domains()) == before


def run(folder: Path, path: Path, *arguments: str) -> str:
    """Run Python in a folder, with a package that was installed at a path."""
    places = [str(path), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command(folder: Path, path: Path, *arguments: str) -> str:
    """Run a command of `agentworld`."""
    return run(folder, path, "-m", "agentworld_gym", *arguments)


def contract(path: Path, domain: str, folder: Path) -> str:
    """Hold a domain of an installed package to what every domain has to keep."""
    options = ("-q", "-rA", "-p", "no:cacheprovider", "--basetemp", str(folder / "pytest"))
    return run(ROOT, path, "-m", "pytest", *options, "tests/contract", "-k", f"[{domain}")


PLAY = """
import gymnasium as gym
from concurrent.futures import ThreadPoolExecutor
from agentworld_gym import load_spec
with ThreadPoolExecutor(8) as pool:
    assert {spec.id for spec in pool.map(load_spec, ["AgentWorld/Lamp-v0"] * 8)} == {"lamp"}
env = gym.make("lamp_domain:AgentWorld/Lamp-v0", levels=[2])
observation, info = env.reset(seed=3)
task = env.unwrapped.task
twin = env.unwrapped.fork()
steps = [env.step(action) for action in task.expert]
assert steps[-1][4]["success"] and [twin.step(action)[0] for action in task.expert] == [step[0] for step in steps]
many = gym.make_vec("AgentWorld/Lamp-v0", num_envs=3)
many.reset(seed=0)
assert list(many.step(["look"] * 3)[0])[0].startswith(tuple("abcgilprtw"))
menu = gym.make("AgentWorld/LampMenu-v0")
_, info = menu.reset(seed=0)
menu.step(0)
print(task.domain, task.family)
"""


def test_a_domain_of_an_installed_package_is_played_recorded_trained_and_measured(tmp_path: Path) -> None:
    assert run(tmp_path, LAMPS, "-c", PLAY) == "lamp light\n"
    assert "AgentWorld/Lamp-v0" in command(tmp_path, LAMPS, "envs", "--plain").split()
    assert "lamp: ok" in command(tmp_path, LAMPS, "specs", "check", "lamp")
    (tmp_path / "lamps.yaml").write_text(CONFIG)
    command(tmp_path, LAMPS, "train", "cpt", "lamps.yaml", "--out", "runs/lamps")
    world = ("--world", "transformers:runs/lamps/model")
    command(tmp_path, LAMPS, "eval", "fidelity", "lamp", *world, "--tasks", "2", "--plans", "0", "--nearest", "6")
    [measured] = json.loads((tmp_path / "fidelity.json").read_text())["domains"]
    assert measured["domain"] == "lamp" and measured["steps"] > 0
    command(tmp_path, LAMPS, "eval", "transfer", "lamp", "--policy", "expert", "--world", "grounded", "--tasks", "2")
    transfer = json.loads((tmp_path / "transfer.json").read_text())
    assert transfer["dream"]["success"]["share"] == transfer["grounded"]["success"]["share"] == 1.0


def test_a_domain_of_an_installed_package_keeps_the_contract(tmp_path: Path) -> None:
    shown = contract(LAMPS, "lamp", tmp_path)
    assert " passed" in shown and "[lamp" in shown


def test_a_domain_of_an_installed_package_reads_a_format_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "night.jsonl").write_text('{"lamps": [["push red", "red is on"], ["look", "red: on"]]}\n')
    command(tmp_path, LAMPS, "import", "night.jsonl", "--out", "rows.jsonl")
    [row] = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    assert (row["task"], row["actions"], row["success"]) == ("lamp", ["push red", "look"], True)
    assert row["provenance"]["source"] == "night-log"


def test_a_package_that_cannot_be_loaded_costs_nobody_the_other_domains(tmp_path: Path) -> None:
    information = tmp_path / "broken-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[agentworld_gym.domains]\nbroken = nothing_there:DOMAIN\n")
    code = "from agentworld_gym.core.registration import all_domains; print(*all_domains())"
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert set(DOMAINS) <= set(done.stdout.split())
    assert "the domain broken of the package broken is left out" in done.stderr and "nothing_there" in done.stderr


def test_a_domain_whose_spec_is_broken_costs_nobody_the_list(tmp_path: Path) -> None:
    installed = shutil.copytree(LAMPS, tmp_path / "installed")
    (installed / "lamp_domain" / "lamp.yaml").write_text("id: lamp\n")
    shown = command(tmp_path, installed, "envs", "--plain").split()
    assert "AgentWorld/Terminal-v0" in shown and "AgentWorld/Lamp-v0" not in shown


def wheel_of(sources: Path, folder: Path) -> Path:
    """Build the wheel of a package, and unpack it as an installation does."""
    copy = shutil.copytree(sources, folder / "sources")  # A build leaves files beside its sources.
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*pip, str(copy)], check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_the_wheel_of_the_example_names_its_domain_and_holds_its_data(tmp_path: Path) -> None:
    installed = wheel_of(TEXTWORLD, tmp_path)
    [points] = installed.glob("*.dist-info/entry_points.txt")
    assert "[agentworld_gym.domains]\ntextworld = agentworld_textworld:DOMAIN" in points.read_text()
    package = {path.relative_to(installed) for path in installed.rglob("*") if path.suffix in (".py", ".yaml", ".j2")}
    assert package == {
        path.relative_to(TEXTWORLD)
        for path in (TEXTWORLD / "agentworld_textworld").rglob("*")
        if path.suffix in (".py", ".yaml", ".j2")
    }
    assert "AgentWorld/TextWorld-v0" in command(tmp_path, installed, "envs", "--plain").split()


def test_the_example_is_no_longer_than_300_lines() -> None:
    files = [path for path in TEXTWORLD.rglob("*") if path.suffix in (".py", ".yaml", ".j2", ".toml")]
    assert sum(len(path.read_text().splitlines()) for path in files) <= 300


SMALL = {"data.episodes": 48, "data.workers": 1, "data.validation": 6, "train.max_seconds": 45}
"""Sizes with which the example is recorded and trained in about a minute and a half on one core."""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("textworld") is None, reason="TextWorld is not installed")
def test_the_example_keeps_the_contract_and_is_recorded_trained_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    installed = wheel_of(TEXTWORLD, tmp_path)
    assert " passed" in contract(installed, "textworld", tmp_path)
    shown = command(tmp_path, installed, "rollout", "textworld", "--policy", "expert", "--episodes", "3", "--out", "t")
    [row] = [line.split() for line in shown.splitlines() if line.startswith("quest")]
    assert set(row) >= {"3", "1.00"}
    sizes = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]
    command(tmp_path, installed, "train", "cpt", str(TEXTWORLD / "train.yaml"), "--out", "runs/textworld", *sizes)
    world = ("--world", "transformers:runs/textworld/model")
    command(
        tmp_path, installed, "eval", "fidelity", "textworld", *world, "--tasks", "6", "--plans", "0", "--nearest", "24"
    )
    [measured] = json.loads((tmp_path / "fidelity.json").read_text())["domains"]
    assert measured["domain"] == "textworld" and measured["steps"] > 20


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"worlds": {"http": "lamp_domain:open"}}, "worlds"),
        ({"worlds": {"awm": "lamp_domain:open"}}, "worlds"),
        ({"worlds": {"lamps": 3}}, r"worlds\.lamps"),
        ({"commands": "lamp_domain:register"}, "commands"),
    ],
)
def test_what_a_domain_adds_must_not_be_taken_for_something_else(wrong: dict[str, Any], key: str) -> None:
    find_domain("mcp")
    with pytest.raises(SpecError, match=f"register_domain: {key}"):
        register_domain(Domain(id="lamps", env_id="AgentWorld/Lamps-v0", spec=Path("lamps.yaml"), **wrong))


def test_a_broken_command_of_a_package_costs_nobody_the_others() -> None:
    app = typer.Typer()
    broken = Domain(id="lamps", env_id="AgentWorld/Lamps-v0", commands=("nowhere_at_all:register",))
    web = find_domain("web")
    assert web is not None
    with pytest.warns(RuntimeWarning, match="the commands of the domain lamps are left out"):
        add_commands(app, [broken, web])
    assert [group.typer_instance.info.name or group.name for group in app.registered_groups] == ["web"]


def test_a_scheme_whose_world_brings_no_tasks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentworld_gym.envs.options.open_world", lambda *_: ScriptedWorld())
    with pytest.raises(SpecError, match="world: got 'awm:nowhere', expected a world that brings its tasks"):
        EnvOptions(spec="mcp", world="awm:nowhere").runner()
