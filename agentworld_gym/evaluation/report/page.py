"""The page: results in, HTML out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agentworld_gym.errors import SpecError
from agentworld_gym.evaluation.report.charts import Point, lines, reliability
from agentworld_gym.evaluation.results import BenchResult
from agentworld_gym.evaluation.world_results import Cell, DomainFidelity, FidelityResult, Measures, TransferResult
from agentworld_gym.task import validated

AnyResult = BenchResult | FidelityResult | TransferResult

KINDS: Mapping[str, type[AnyResult]] = {
    "bench": BenchResult,
    "fidelity": FidelityResult,
    "transfer": TransferResult,
}


def read_result(path: Path) -> AnyResult:
    """A result of `agentworld eval`, whichever it is.

    Raises:
        SpecError: the file is no result.
        OSError: it cannot be read.
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
    """The HTML of some results, in their order."""
    environment = Environment(
        loader=PackageLoader("agentworld_gym.evaluation", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"answers": answers, "drift": drift, "calibration": calibration}
    return environment.get_template("page.html.j2").render(results=results)


def answers(domain: DomainFidelity) -> dict[str, Measures]:
    """Who answered, and how well: the world with the true history and with its own, then the baselines.

    Where the world cannot be told the truth there is only its own history.
    """
    runs = {"true history": domain.taught, "own history": domain.free}
    worlds = {name: run.measures for name, run in runs.items() if run is not None and run.measures is not None}
    return {**worlds, **domain.baselines}


def points(cells: Mapping[str, Cell]) -> list[Point]:
    """The main measure of some groups."""
    found = ((name, cell.deterministic) for name, cell in cells.items())
    return [Point(name, share.share, share.low, share.high) for name, share in found]


def drift(domain: DomainFidelity) -> Markup:
    """Exactness by turn, with the true history and with the world's own."""
    runs = {"true history": domain.taught, "own history": domain.free}
    series = {name: points(run.groups.get("turn", {})) for name, run in runs.items() if run is not None}
    return lines(series, f"{domain.domain}: exact by turn", "turn")


def calibration(domain: DomainFidelity) -> Markup:
    """Exactness over the probability that the model gave its whole prediction; empty where it tells none."""
    found = next((one for one in domain.calibration if one.measure == "sequence"), None)
    if found is None:
        return Markup()
    return reliability(found.bins, f"{domain.domain}: exact by confidence", "probability of the prediction")
