"""The demo's report: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from agentworld_gym.demo.tour import Shown, SideBySide
from agentworld_gym.evaluation.proportions import paired_gap

if TYPE_CHECKING:
    from agentworld_gym.wrappers.evaluate import Result
    from agentworld_gym.wrappers.ppo import Point

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 260, 48, 34


@dataclass(frozen=True)
class Comparison:
    """One agent in two worlds on the same tasks."""

    grounded: Result
    dreamed: Result

    @property
    def pairs(self) -> list[tuple[bool, bool]]:
        """Success in the dream and in the grounded world, of each episode in which no world failed."""
        both = zip(self.dreamed.episodes, self.grounded.episodes, strict=True)
        return [(a.success, b.success) for a, b in both if a.success is not None and b.success is not None]

    @property
    def verdict(self) -> str:
        """What the two figures say together."""
        pairs = self.pairs
        if not pairs:
            return "One of the worlds failed in every episode: nothing can be compared."
        only_dream, only_grounded = (sum(pair == one for pair in pairs) for one in ((True, False), (False, True)))
        gap = paired_gap(pairs)
        said = (
            f"Both worlds agree on {len(pairs) - only_dream - only_grounded} of {len(pairs)} episodes; {only_dream} "
            f"succeed only in the dream, {only_grounded} only in the grounded terminal. Dream minus grounded: {gap}."
        )
        if gap.low > 0:
            return f"{said} The dream flatters this agent: trust the grounded figure."
        if gap.high < 0:
            return f"{said} The dream is harder than the real terminal: its errors cost this agent episodes."
        return f"{said} The interval of the gap holds 0."


@dataclass(frozen=True)
class Report:
    """Everything that the demo found."""

    shown: Sequence[Shown]
    rows: Sequence[SideBySide]
    curve: Sequence[Point]
    comparison: Comparison
    seconds: float

    @property
    def families(self) -> list[tuple[str, float, float]]:
        """Success by family: grounded, dreamed."""
        grounded, dreamed = self.comparison.grounded.by_family(), self.comparison.dreamed.by_family()
        return [(name, value, dreamed.get(name, float("nan"))) for name, value in grounded.items()]

    def html(self) -> str:
        """The page."""
        environment = Environment(
            loader=PackageLoader("agentworld_gym", "demo"), autoescape=True, undefined=StrictUndefined
        )
        steps = [point.steps for point in self.curve]
        return environment.get_template("report.html.j2").render(
            report=self,
            success=polyline(steps, [point.success for point in self.curve]),
            last=steps[-1] if steps else 0,
            box=(WIDTH, HEIGHT, LEFT, BOTTOM),
        )

    def write(self, path: Path) -> None:
        """Write the page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html(), encoding="utf-8")


def polyline(xs: Sequence[float], ys: Sequence[float]) -> str:
    """Points of an SVG line; `ys` from 0 to 1.

    >>> polyline([0, 10], [0.0, 1.0])
    '48.0,226.0 720.0,8.0'
    """
    top = max(xs, default=1) or 1
    return " ".join(
        f"{LEFT + (WIDTH - LEFT) * x / top:.1f},{HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 8) * y:.1f}"
        for x, y in zip(xs, ys, strict=True)
    )
