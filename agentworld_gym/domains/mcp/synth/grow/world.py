"""One grown world: the files of a scenario, as a seed varies them, and tasks to play on it."""

from __future__ import annotations

import logging
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import task_of
from agentworld_gym.core.tasks.scene import NothingFits
from agentworld_gym.domains.mcp.synth.grow.growth import Growth, PolicyRecipe, read_growth
from agentworld_gym.domains.mcp.tasks.grown_families import families_on
from agentworld_gym.kit.tables.varied_words import all_varied
from agentworld_gym.kit.tables.word_lists import common_words

logger = logging.getLogger(__name__)

LEVELS = (1, 2, 3)

WHOLE = 20
"""The number of rows up to which a table keeps its size, because other tables may need each of them, as categories."""


@dataclass(frozen=True)
class GrownFiles:
    """The files of a world, as plain data."""

    about: dict[str, Any]
    """The content of `scenario.yaml`."""
    rows: dict[str, Any]
    """The content of `rows.yaml`."""
    tools: dict[str, Any]
    """The content of `tools.yaml`."""
    schema: str
    """The content of `schema.sql`."""

    def write(self, folder: Path) -> None:
        """Write the files into a folder, which is made."""
        folder.mkdir(parents=True)
        for name, data in (("scenario", self.about), ("rows", self.rows), ("tools", self.tools)):
            (folder / f"{name}.yaml").write_text(dumped(data), encoding="utf-8")
        (folder / "schema.sql").write_text(self.schema, encoding="utf-8")


def grown_files(scenario: str, seed: int) -> GrownFiles:
    """Return the files of the world that grows from a scenario with a seed.

    >>> files = grown_files("shop", 3)
    >>> files.about["policies"].keys() >= {"return_days", "agent_most"}, files == grown_files("shop", 3)
    (True, True)

    Raises:
        SpecError: No world grows from this scenario, or its `growth.yaml` does not fit it.
    """
    folder, growth = read_growth(scenario)
    rng = random.Random(f"grow/{scenario}/{seed}")
    policies = drawn_policies(growth.policies, rng)
    about = read_yaml(folder / "scenario.yaml")
    if growth.users:
        about["user"] = rng.choice(growth.users)
    words = about.get("words", {})
    about["words"] = words | all_varied(words, growth.words, common_words(), rng)
    about["policies"] = policies
    about["rules"] = with_policies(growth.rules, policies)
    about["grown_from"] = scenario
    rows = read_yaml(folder / "rows.yaml")
    for place, recipes in growth.rows.items():
        table, column = place.split(".")
        if column not in rows["tables"].get(table, {}):
            raise SpecError(folder / "growth.yaml", f"rows.{place}", place, "a column of rows.yaml")
        rows["tables"][table][column] = rng.choice(recipes)
    full, share = rows["sizes"]["full"], rng.uniform(0.7, 1.0)
    rows["sizes"]["full"] = {table: math.ceil(share * n) if n > WHOLE else n for table, n in full.items()}
    tools = _tools(read_yaml(folder / "tools.yaml"), growth, policies, folder)
    return GrownFiles(about, rows, tools, (folder / "schema.sql").read_text(encoding="utf-8"))


def _tools(tools: dict[str, Any], growth: Growth, policies: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    by_name = {tool["name"]: tool for tool in tools["tools"]}
    for name, change in growth.tools.items():
        if name not in by_name:
            raise SpecError(folder / "growth.yaml", "tools", name, f"one of {', '.join(by_name)}")
        tool = by_name[name]
        texts = [change.description or tool["description"], change.note or ""]
        tool["description"] = with_policies(" ".join(" ".join(texts).split()), policies)
        checks = [check.model_dump(exclude_unset=True) for check in change.checks]
        by_name[name]["checks"] = [*tool.get("checks", ()), *with_policies(checks, policies)]
    return tools


def grown_tasks(
    scenario: str, folder: Path, seed: int, count: int, families: Sequence[str] = (), levels: Sequence[int] = LEVELS
) -> Iterator[Task]:
    """Make tasks for a grown world; each is proved to be solved by its expert, and not by doing nothing.

    Args:
        scenario: The scenario that the world grew from.
        folder: The folder with the files of the world.
        seed: The seed of the world, which decides the split of its tasks.
        count: The number of tasks, which walk through the families and then through the levels; a task that fits no
            database of the world is left out, with a warning.
        families: The names of families; all of the scenario if there are none.
        levels: The levels.

    Raises:
        SpecError: The scenario has no such family.
    """
    there = families_on(scenario)
    for name in families:
        if name not in there:
            raise SpecError("synth grow", "family", name, f"one of {', '.join(there)}")
    names = tuple(families) or tuple(there)
    for number in range(count):
        turn, place = divmod(number, len(names))
        rounds, step = divmod(turn, len(levels))
        name, level = names[place], levels[step]
        # The last digit of a task's seed says its split, which is that of the world.
        task_seed = 10 * rounds + seed % 10
        key = f"grow/{scenario}/{seed}/{name}/{level}/{task_seed}"
        try:
            yield task_of("mcp", name, there[name].on(str(folder)), level, task_seed, key)
        except NothingFits as error:
            # Policies may leave no room for a family, as when a limit forbids what all of its tasks ask for.
            logger.warning("%s_%d has no task %s-%d-%d: %s", scenario, seed, name, level, task_seed, error)


def task_data(task: Task) -> dict[str, Any]:
    """Return what the file of a task says; its tools follow from the world, and its scenario is the world itself."""
    data = task.model_dump(mode="json", exclude_defaults=True, exclude={"id", "domain", "tools", "first_observation"})
    data["state"] = {key: value for key, value in data["state"].items() if key != "scenario"}
    return {**data, "split": task.split, "level": task.level}


def dumped(data: Any) -> str:
    """Return data as YAML, with small collections on one line."""
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return text


_NAME = re.compile(r"\{(\w+)\}")


def drawn_policies(recipes: Mapping[str, PolicyRecipe], rng: random.Random) -> dict[str, str | int | float]:
    """Draw the values of policies.

    >>> recipes = {"days": PolicyRecipe(integer=(7, 7)), "gold_days": PolicyRecipe(integer=(3, 3), plus="days")}
    >>> drawn_policies(recipes, random.Random(0))
    {'days': 7, 'gold_days': 10}
    """
    values: dict[str, str | int | float] = {}
    for name, recipe in recipes.items():
        if recipe.choice is not None:
            values[name] = rng.choice(recipe.choice)
        else:
            assert recipe.integer is not None
            base = values[recipe.plus] if recipe.plus is not None else 0
            assert isinstance(base, int)
            values[name] = base + rng.randint(*recipe.integer)
    return values


def with_policies(data: Any, policies: Mapping[str, Any]) -> Any:
    """Replace `{policy}` in all texts of some data; other names in braces stay.

    >>> with_policies(["{days} days for order {order_id}"], {"days": 7})
    ['7 days for order {order_id}']
    """
    if isinstance(data, str):
        return _NAME.sub(lambda match: str(policies.get(match[1], match[0])), data)
    if isinstance(data, Mapping):
        return {key: with_policies(value, policies) for key, value in data.items()}
    return [with_policies(value, policies) for value in data] if isinstance(data, list | tuple) else data
