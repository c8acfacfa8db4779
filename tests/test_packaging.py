"""What a user installs: the wheel holds the data, every way of making an environment works, the core stays light."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IDS = ["MCP-v0", "Search-v0", "Terminal-v0", "SWE-v0", "Web-v0", "Desktop-v0", "Android-v0"]
HEAVY = {"torch", "vllm", "trl", "ray", "transformers", "stable_baselines3", "pettingzoo"}
HEAVY |= {"mcp", "pyarrow", "matplotlib", "bm25s", "PIL"}

MAKE_ALL = """
import json, sys
import gymnasium as gym
import agentworld_gym
shown = {}
for name in json.loads(sys.argv[1]):
    env = gym.make(f"AgentWorld/{name}", world="scripted")
    observation, info = env.reset(seed=1)
    shown[name] = [observation, env.step("finish")[2]]
    env.close()
print(json.dumps({"package": agentworld_gym.__file__, "shown": shown}))
"""


def run_python(code: str, *arguments: str, cwd: Path, path: Path | None) -> str:
    """Run code in a fresh interpreter that imports the package from `path` first."""
    env = {**os.environ, "PYTHONPATH": str(path) if path else "", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def copy_without_weights(source: str, target: str) -> str:
    """Copy a file; of weights the name alone."""
    if source.endswith(".safetensors"):
        Path(target).touch()
        return target
    return str(shutil.copy2(source, target))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built from a copy so that the checkout stays clean.

    The weights of models are empty files there, because compressing them takes most of the time.
    """
    sources = tmp_path_factory.mktemp("sources") / "checkout"
    hidden = shutil.ignore_patterns(".venv*", ".git", ".*cache", ".hypothesis", "__pycache__", "*.egg-info", "runs")
    shutil.copytree(ROOT, sources, ignore=hidden, copy_function=copy_without_weights)
    build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    out = tmp_path_factory.mktemp("sdist")
    done = subprocess.run([sys.executable, "-c", build, str(out)], cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("agentworld_gym-*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution."""
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(out)]
    subprocess.run([*pip, str(sdist)], check=True, cwd=out, timeout=300)
    (built,) = out.glob("agentworld_gym-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel: what an installation puts on the path."""
    target = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def files_under(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_source_distribution_holds_what_the_commands_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"Makefile", "constraints.txt", ".ci/run", "LICENSE", "CHANGELOG.md", "docs/cli.md", "tests/conftest.py"}
    wanted |= {"mkdocs.yml", "docs/_hooks/reference.py", "docs/style.css"}
    assert wanted - names == set()
    assert not any("__pycache__" in name for name in names)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("agentworld_gym", "agentworld_gym"),
        ("domain_specs", "agentworld_gym/domain_specs"),
        ("prompts", "agentworld_gym/prompts"),
    ],
)
def test_wheel_holds_every_file_of_the_checkout(installed: Path, source: str, target: str) -> None:
    wanted = files_under(ROOT / source)
    assert wanted
    assert wanted - files_under(installed / target) == set()


def test_wheel_makes_all_environments_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    result = json.loads(run_python(MAKE_ALL, json.dumps(IDS), cwd=tmp_path, path=installed))
    assert Path(result["package"]).is_relative_to(installed)
    assert [name for name, (text, done) in result["shown"].items() if done and isinstance(text, str)] == IDS


def test_checkout_makes_all_environments_in_an_empty_folder(tmp_path: Path) -> None:
    result = json.loads(run_python(MAKE_ALL, json.dumps(IDS), cwd=tmp_path, path=ROOT))
    assert Path(result["package"]).is_relative_to(ROOT)
    assert list(result["shown"]) == IDS


def test_gymnasium_imports_the_package_when_the_id_names_it(tmp_path: Path) -> None:
    code = """
import gymnasium as gym
env = gym.make("agentworld_gym:AgentWorld/Terminal-v0", world="scripted")
print(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()).make().spec.id)
"""
    assert run_python(code, cwd=tmp_path, path=ROOT).strip() == "AgentWorld/Terminal-v0"


@pytest.mark.parametrize("module", ["agentworld_gym", "agentworld_gym.cli"])
def test_importing_the_core_leaves_heavy_libraries_alone(tmp_path: Path, module: str) -> None:
    code = f"import sys, json, {module}; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    assert HEAVY & set(json.loads(run_python(code, cwd=tmp_path, path=ROOT))) == set()


def test_extra_all_leaves_out_vllm_whose_two_builds_exclude_each_other() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    named = extras["all"].removeprefix("agentworld-gym[").removesuffix("]").split(",")
    assert {
        "lwm",
        "sb3",
        "train",
        "minari",
        "multiagent",
        "ray",
        "mcp",
        "awm",
        "data",
        "browser",
        "render",
        "tensorboard",
    } == set(named)
    assert not any("vllm" in extras[name] for name in named)


def test_extra_ray_installs_what_rllib_imports_and_leaves_gymnasium_alone() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    named = {line.partition(">")[0] for line in config["options.extras_require"]["ray"].split()}
    assert {"ray[tune]", "torch", "dm-tree", "lz4", "scipy"} == named


def test_constraints_lie_within_the_supported_ranges() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    tested = {canonicalize_name(name): version for name, version in pinned.items()}
    texts = [config["options"]["install_requires"], *config["options.extras_require"].values()]
    lines = [line for text in texts for line in text.split("\n") if line and not line.startswith("agentworld-gym[")]
    ranges = [Requirement(line) for line in lines]
    names = {canonicalize_name(requirement.name) for requirement in ranges}
    elsewhere = {"vllm", "ray", "dm-tree", "lz4", "scipy", "setuptools", "wandb"}
    elsewhere |= {"gem-llm", "verifiers", "openenv-core"}
    assert names - set(tested) == elsewhere
    pairs = [(requirement, tested.get(canonicalize_name(requirement.name))) for requirement in ranges]
    assert [
        str(requirement) for requirement, version in pairs if version and version not in requirement.specifier
    ] == []
