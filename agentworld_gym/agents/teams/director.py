"""What a director is: the controls it may choose, their prices, its budget, and what it is paid; one YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from pydantic import Field, field_validator, model_validator

from agentworld_gym.agents.teams.shipped import read_shipped
from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.syntaxes import read_json
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.tasks.source import checked_controls

DIRECTOR = "director"
"""The name of the agent that chooses the controls."""

_ROUNDING = 1e-9


class Director(Strict):
    """An agent that chooses the controls of an episode under a budget, before the solvers play it.

    >>> director = load_director("faulty-shop")
    >>> director.cost({"pagination": 0.25})
    0.25
    >>> director.read('{"pagination": 0.25}', load_spec(director.domain))
    {'pagination': 0.25}
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    """The name of the director."""

    env_id: str | None = Field(default=None, pattern=r"^AgentWorld/[A-Za-z0-9]+-v\d+$")
    """The id under which PettingZoo makes its environment; a director without one is not registered."""

    domain: str = Field(min_length=1)
    """The domain that the solvers play in."""

    description: str = ""
    """What the director is, for people."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the environment, such as `families`; whoever makes it may replace them."""

    budget: float = Field(gt=0)
    """What the controls of one episode may cost together."""

    prices: dict[str, float] = Field(min_length=1)
    """The controls on offer, each with the price of a strength of 1."""

    solvers: dict[str, float] = Field(default_factory=lambda: {"solver": -1.0}, min_length=1)
    """The agents that play the same task under the same controls, one after the other, each with the weight of its
    reward in the pay of the director. One solver at -1 is an adversary; two at -1 and 1 pay the regret of the first,
    measured against the second."""

    spending: float = Field(default=0.0, ge=0)
    """What each unit of the budget that is spent costs the director."""

    path: Path = Path()
    """The file of the director."""

    @field_validator("prices")
    @classmethod
    def _cost_something(cls, prices: dict[str, float]) -> dict[str, float]:
        if bad := [name for name, price in prices.items() if price <= 0]:
            raise ValueError(f"prices above 0 ({', '.join(bad)})")
        return prices

    @model_validator(mode="after")
    def _has_other_names(self) -> Director:
        if DIRECTOR in self.solvers:
            raise ValueError(f"solvers: names other than {DIRECTOR}")
        return self

    def cost(self, controls: Mapping[str, float]) -> float:
        """Return what some controls cost: the sum of price times strength."""
        return sum(self.prices[name] * strength for name, strength in controls.items())

    def read(self, text: str, spec: DomainSpec) -> dict[str, float]:
        """Read what a director wrote: a JSON object of strengths by the names of controls.

        Raises:
            UnreadableAction: It is something else, a control is not on offer, or the budget is exceeded.
        """
        controls = read_json(text, "the choice")
        if not isinstance(controls, Mapping):
            raise UnreadableAction("the choice is no JSON object of strengths by the names of controls")
        for name in controls:
            if name not in self.prices:
                raise UnreadableAction(f"{name} is not on offer, but: {', '.join(self.prices)}")
        try:
            chosen = checked_controls(spec, controls)
        except SpecError as error:
            raise UnreadableAction(f"{error.key}: {error.expected}") from error
        if (cost := self.cost(chosen)) > self.budget + _ROUNDING:
            raise UnreadableAction(f"it costs {cost:g}, and the budget is {self.budget:g}")
        return chosen

    def offers(self) -> tuple[str, ...]:
        """Return choices to draw from: nothing, and all of the budget spent on each control."""
        strengths = {name: min(1.0, self.budget / price) for name, price in self.prices.items()}
        return ("{}", *(f'{{"{name}": {strength:.6g}}}' for name, strength in strengths.items()))

    def describe_task(self, spec: DomainSpec, instruction: str) -> str:
        """Return what the director sees: the task of the solvers, the budget, and the controls with their prices.

        Args:
            spec: The domain.
            instruction: The instruction of the task.
        """
        lines = [
            f"Others will be asked: {instruction}",
            "Choose the faults of their world. Write a JSON object with a strength from 0 to 1 for each control.",
            f"Price times strength may sum up to {self.budget:g}. The controls, each with its price:",
        ]
        for name, price in self.prices.items():
            sentence = BoundedEnvironment().from_string(spec.controls[name].sentence).render(strength="STRENGTH")
            lines.append(f"{name} ({price:g}): {' '.join(sentence.split())}")
        return "\n".join(lines)


def load_director(source: str) -> Director:
    """Load a director.

    Args:
        source: The name of a director that comes with the package, or the path of a YAML file.

    Raises:
        SpecError: There is no such director, or it is broken: the error names file, key, value and what was expected.
    """
    director = read_shipped("director", source, Director)
    spec = load_spec(director.domain)
    for name in director.prices:
        if name not in spec.controls:
            raise SpecError(director.path, "prices", name, f"one of {', '.join(nearest(name, list(spec.controls)))}")
    try:
        director.describe_task(spec, "")
    except TemplateError as error:
        raise SpecError(spec.path, "controls", str(error), "sentences over `strength` alone") from error
    return director
