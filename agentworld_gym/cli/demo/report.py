"""The report of the demo: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import PackageLoader

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.cli.demo.tour import Shown, SideBySide
from agentworld_gym.evaluation.report.charts import curve
from agentworld_gym.evaluation.report.page import environment
from agentworld_gym.evaluation.results.transfer import TransferResult

if TYPE_CHECKING:
    from agentworld_gym.integrations.sb3.ppo import CurvePoint


@dataclass(frozen=True)
class DemoReport:
    """Everything that the demo found."""

    shown: Sequence[Shown]
    rows: Sequence[SideBySide]
    curve: Sequence[CurvePoint]
    interrupted: bool
    transfer: TransferResult
    seconds: float

    def html(self) -> str:
        """Return the page: what `agentworld eval transfer` shows, and what led to it."""
        learned = curve([(point.steps, point.success) for point in self.curve], "Success over training steps", "steps")
        template = environment(PackageLoader("agentworld_gym.cli", "demo")).get_template("report.html.j2")
        return template.render(report=self, curve=learned)

    def write(self, path: Path) -> None:
        """Write the page; a crash leaves the earlier file or the whole of this one."""
        write_atomically(path, self.html())
