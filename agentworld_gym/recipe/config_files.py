"""Reading configurations of training runs: those that come with the package, and a user's own YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from agentworld_gym.agents.collect.config import SmallModelSessions
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.recipe.training.stage_config import CptConfig

C = TypeVar("C", bound=Strict)
CONFIGS = "configs"


def shipped() -> list[str]:
    """Return the names of the configurations that come with the package.

    >>> "search" in shipped()
    True
    """
    folder = Path(str(resources.files("agentworld_gym.recipe"))) / CONFIGS
    return sorted(file.stem for file in folder.glob("*.yaml"))


def config_path(source: str | Path) -> Path:
    """Return the file of a configuration: that of a shipped one by its name, or the YAML file itself.

    Raises:
        SpecError: no shipped configuration has that name.
    """
    path = Path(source)
    if path.suffix in (".yaml", ".yml"):
        return path
    path = Path(str(resources.files("agentworld_gym.recipe"))) / CONFIGS / f"{source}.yaml"
    if not path.is_file():
        raise SpecError(str(source), "configuration", str(source), f"a YAML file, or one of: {', '.join(shipped())}")
    return path


class _Sessions(Strict):
    """The part of a configuration that says who plays what."""

    collect: SmallModelSessions


def load_collect(source: str | Path) -> SmallModelSessions:
    """Read the `collect` part of a configuration, which needs no other; a whole one without it has its defaults.

    Args:
        source: The name of a shipped one, or the path of a file that ends with .yaml.

    >>> load_collect("search").max_turns
    12

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    path = config_path(source)
    data = read_yaml(path)
    if not isinstance(data, dict) or "collect" not in data:
        return load_config(source).collect
    return validated(_Sessions, {"collect": data["collect"]}, path).collect


def load_config(
    source: str | Path,
    kind: type[C] = CptConfig,  # type: ignore[assignment]
    changes: Mapping[str, Any] | None = None,
) -> C:
    """Read a configuration: a shipped one by its name, or one from a YAML file.

    Args:
        source: The name, or the path of a file that ends with .yaml.
        kind: The class of the configuration: `CptConfig`, `SftConfig`, or `agentworld_gym.recipe.rl.config.RlConfig`.
        changes: Values that replace those in the file, by dotted key.

    >>> load_config("search", changes={"train.max_steps": 5}).train.max_steps
    5

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    path = config_path(source)
    data = read_yaml(path)
    for key, value in (changes or {}).items():
        *parents, last = key.split(".")
        place = data
        for parent in parents:
            place = place.setdefault(parent, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise SpecError(path, key, value, "a key of this configuration")
        place[last] = value
    return validated(kind, data, path)
