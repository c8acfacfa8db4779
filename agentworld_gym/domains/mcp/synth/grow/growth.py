"""The schema of `growth.yaml`: how a scenario varies from seed to seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.mcp.engine.scenario import scenario_folder, scenario_names
from agentworld_gym.domains.mcp.engine.tool_spec import CheckStep
from agentworld_gym.kit.tables.row_file import Recipe
from agentworld_gym.kit.tables.varied_words import WordRecipe

GROWTH = "growth.yaml"
"""The file in a scenario's folder that says how it varies."""


class PolicyRecipe(Strict):
    """How the value of a policy is drawn: an `integer` between two, both included, or one of a `choice`."""

    integer: tuple[int, int] | None = None
    """A kind: an integer between these two, both included."""
    choice: tuple[str | int | float, ...] | None = None
    """A kind: one of these values."""
    plus: str | None = None
    """An earlier policy, to whose value an `integer` is added."""

    @model_validator(mode="after")
    def _one_kind(self) -> PolicyRecipe:
        if (self.integer is None) == (self.choice is None):
            raise ValueError("exactly one of integer, choice")
        if self.plus is not None and self.integer is None:
            raise ValueError("`plus` with `integer` only")
        return self


class ToolChange(Strict):
    """What the policies add to a tool. In all texts and in SQL, `{policy}` stands for the value of a policy."""

    description: str | None = None
    """A description in place of the tool's own."""
    note: str | None = None
    """Sentences that are added to the description."""
    checks: tuple[CheckStep, ...] = ()
    """Conditions of a call, after those that the tool has."""


class Growth(Strict):
    """`growth.yaml`: what differs between the worlds that grow from one scenario."""

    users: tuple[str, ...] = ()
    """Who may be signed in; by default the user of the scenario."""
    policies: dict[str, PolicyRecipe] = Field(min_length=1)
    """The limits, deadlines and rights by name, drawn in this order."""
    rules: tuple[str, ...] = Field(min_length=1)
    """The policies in sentences, with `{policy}` for their values."""
    words: dict[str, WordRecipe] = Field(default_factory=dict)
    """How the word lists vary."""
    rows: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """The recipes of which one is drawn, by `table.column` of `rows.yaml`."""
    tools: dict[str, ToolChange] = Field(min_length=1)
    """What changes about tools, by their names."""

    @model_validator(mode="after")
    def _recipes_read(self) -> Growth:
        for place, recipes in self.rows.items():
            if place.count(".") != 1 or not recipes:
                raise ValueError(f"rows: recipes by table.column (got {place})")
            for recipe in recipes:
                Recipe.model_validate(recipe)
        return self


def growable_scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios from which worlds can grow, sorted.

    >>> growable_scenarios()
    ('bank', 'hr', 'office', 'shop', 'tracker')
    """
    return tuple(name for name in scenario_names() if (scenario_folder() / name / GROWTH).is_file())


def read_growth(scenario: str) -> tuple[Path, Growth]:
    """Return the folder of a scenario, and how it varies.

    Raises:
        SpecError: No world grows from this scenario, or its `growth.yaml` is wrong; the error names file, key, value
            and what was expected.
    """
    if scenario not in growable_scenarios():
        raise SpecError("synth grow", "scenario", scenario, f"one of {', '.join(growable_scenarios())}")
    folder = scenario_folder() / scenario
    return folder, validated(Growth, read_yaml(folder / GROWTH), folder / GROWTH)
