"""The page of the report: it makes HTML of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.evaluation.agent import difference
from agentworld_gym.evaluation.report.charts import ChartPoint, lines, reliability
from agentworld_gym.evaluation.results.agent import AgentDifference, AgentResult
from agentworld_gym.evaluation.results.bench import BenchResult
from agentworld_gym.evaluation.results.fidelity import Cell, DomainFidelity, FidelityResult, Measures
from agentworld_gym.evaluation.results.transfer import TransferResult

AnyResult = AgentResult | BenchResult | FidelityResult | TransferResult

KINDS: Mapping[str, type[AnyResult]] = {
    "agent": AgentResult,
    "bench": BenchResult,
    "fidelity": FidelityResult,
    "transfer": TransferResult,
}

CONFIDENCES: Mapping[str, str] = {
    "sequence": "probability of the whole prediction",
    "token": "geometric mean of the tokens' probabilities",
}
"""What the confidence of each measure of a calibration is."""


def read_result(path: Path) -> AnyResult:
    """Read a result of `agentworld eval`, of any kind.

    Raises:
        SpecError: The file is no result.
        OSError: The file cannot be read.
    """
    try:
        data = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise SpecError(path, "file", path.name, f"JSON ({error})") from error
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise SpecError(path, "kind", kind, f"a result of agentworld eval: {', '.join(KINDS)}")
    return validated(KINDS[kind], data, path)


def write_page(path: Path, results: Sequence[AnyResult]) -> None:
    """Write the page of some results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(results), encoding="utf-8")


def page(results: Sequence[AnyResult]) -> str:
    """Return the HTML of some results, in their order; those of agents stand side by side, before the others."""
    agents = [result for result in results if isinstance(result, AgentResult)]
    others = [result for result in results if not isinstance(result, AgentResult)]
    return environment().get_template("page.html.j2").render(results=others, agents=agents)


def environment(*more: BaseLoader) -> Environment:
    """Return the templates of the page, and others that extend or include them.

    >>> "<style>" in environment().get_template("page.html.j2").render(results=[], agents=[])
    True
    """
    templates = Environment(
        loader=ChoiceLoader([PackageLoader("agentworld_gym.evaluation", "report"), *more]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {
        "answers": answers,
        "confidences": CONFIDENCES,
        "differences": differences,
        "drift": drift,
        "plainly": plainly,
        "reliability": reliability,
    }
    templates.filters |= {
        "cell": lambda cells, name: (cells or {}).get(name),
        "figure": lambda value: "–" if value is None else f"{value:.2f}",
        "names": lambda tables: list(dict.fromkeys(name for table in tables for name in table)),
        "numbers": lambda most: [str(number) for number in range(1, most + 1)],
        "worlds": lambda cells: list(dict.fromkeys(f"{cell.world} {cell.fingerprint}" for cell in cells if cell)),
        "parts": lambda cells, part: [None if cell is None else getattr(cell, part) for cell in cells],
    }
    return templates


def answers(domain: DomainFidelity) -> dict[str, Measures]:
    """Return the measures of all who answered: the world with the true history and with its own, then the baselines.

    A world that does not accept true answers has only its own history.
    """
    runs = {"true history": domain.taught, "own history": domain.free}
    worlds = {name: run.measures for name, run in runs.items() if run is not None and run.measures is not None}
    return {**worlds, **domain.baselines}


def differences(agents: Sequence[AgentResult]) -> list[AgentDifference]:
    """Return how each agent differs from the first one, on the same tasks."""
    return [difference(other, agents[0]) for other in agents[1:]]


def points(cells: Mapping[str, Cell]) -> list[ChartPoint]:
    """Return the main measure of some groups."""
    shares = ((name, cell.deterministic) for name, cell in cells.items())
    return [ChartPoint(name, share.share, share.low, share.high) for name, share in shares]


def drift(domain: DomainFidelity) -> Markup:
    """Draw exactness by turn, with the true history and with the world's own; a run that was not made keeps its
    colour.
    """
    runs = {"true history": domain.taught, "own history": domain.free}
    series = {name: points(run.groups.get("turn", {})) if run else [] for name, run in runs.items()}
    return lines(series, f"{domain.domain}: exact by turn", "turn")


def plainly(value: Any) -> str:
    """Write an option's value in words.

    >>> plainly([1, 2]), plainly({"temperature": 0.0, "top_k": 1}), plainly("compact")
    ('1, 2', 'temperature=0.0, top_k=1', 'compact')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={plainly(one)}" for name, one in value.items())
    return ", ".join(map(plainly, value)) if isinstance(value, list | tuple) else str(value)
