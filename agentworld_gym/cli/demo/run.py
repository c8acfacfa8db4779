"""The demo from start to end: prompts of all domains, two worlds side by side, training, evaluation, a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import PackageLoader
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agentworld_gym.agents.policies.menu_agent import MenuAgent
from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.process.pacing import paced
from agentworld_gym.cli.demo.tour import LEVELS, TERMINAL, Shown, TourPair, messages_of_all_domains, side_by_side
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.report.charts import curve
from agentworld_gym.evaluation.report.page import environment
from agentworld_gym.evaluation.results.transfer import TransferResult
from agentworld_gym.evaluation.transfer import transfer

if TYPE_CHECKING:
    from agentworld_gym.integrations.sb3.ppo import CurvePoint, Training

STEPS = 120_000
TEST_EPISODES = 120
SHOWN_SEEDS = (0, 7, 14)
SHOWN_ROWS = 6
NUM_ENVS = 32
MAX_STEPS = 12


@dataclass(frozen=True)
class DemoReport:
    """Everything that the demo found, for one HTML file that needs nothing else."""

    shown: Sequence[Shown]
    rows: Sequence[TourPair]
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


def run(
    report: Path, steps: int | None = None, seed: int = 0, episodes: int = TEST_EPISODES, world: str = "tiny"
) -> DemoReport:
    """Show every domain, step two worlds side by side, train an agent, evaluate it in both, write a report.

    Ctrl-C during training keeps what was learned and goes on; during the evaluation it keeps the tasks that both worlds
    finished.

    Args:
        report: The path of the HTML file.
        steps: The number of training steps; None takes the default, which is enough to see the agent learn.
        seed: The seed of training.
        episodes: The number of unseen tasks that the agent is tested on, in each world.
        world: The world beside the grounded terminal.
    """
    console = Console()
    began = time.monotonic()

    console.rule("1. What a world model is sent for one step")
    messages = list(messages_of_all_domains())
    for one in messages:
        console.print(f"[bold]{one.env_id}[/] ({one.title}): {one.characters:,} characters, whole in the report")
        for message in one.messages:
            console.print(Panel(escape(beginning(message["content"])), title=message["role"], title_align="left"))

    console.rule("2. The small world model beside the grounded terminal")
    rows = side_by_side(SHOWN_SEEDS, ("grounded", world))
    table = Table("action", "grounded terminal", "small world model", "exact", show_lines=True)
    for row in rows[:SHOWN_ROWS]:
        table.add_row(escape(row.action), escape(row.grounded), escape(row.dreamed), "yes" if row.equal else "no")
    console.print(table)
    exact, hidden = sum(row.equal for row in rows), max(len(rows) - SHOWN_ROWS, 0)
    console.print(f"… {hidden} more rows, in the report. {exact} of all {len(rows)} observations are exact.")

    console.rule("3. PPO learns in the grounded terminal")
    training = _train(console, steps or STEPS, seed)

    console.rule("4. The same agent on unseen tasks, in both worlds")
    agent = MenuAgent("agent", training.model, load_spec(TERMINAL))
    result = _transfer(console, agent, EnvOptions(spec=TERMINAL, world=world, split="test", levels=LEVELS), episodes)
    summary = Table("world", "success", "world failures")
    for label, side in (("grounded terminal", result.grounded), ("small world model", result.dream)):
        summary.add_row(label, str(side.success or "-"), str(sum(side.failures.values())))
    console.print(summary)
    said = f"Language world minus grounded world: {result.gap or '-'}. {result.verdict}"
    console.print(said, markup=False, highlight=False)

    written = DemoReport(messages, rows, training.curve, training.interrupted, result, time.monotonic() - began)
    written.write(report)
    console.print(f"Report: {report.resolve()} (after {written.seconds:.0f} s)")
    return written


def beginning(text: str, lines: int = 8) -> str:
    """Return the first lines of a text, and how many more there are.

    >>> print(beginning("a\\nb\\nc", lines=2))
    a
    b
    … 1 more line
    """
    kept, more = text.splitlines()[:lines], len(text.splitlines()) - lines
    return "\n".join([*kept, f"… {more} more line{'s' if more > 1 else ''}"] if more > 0 else kept)


def _train(console: Console, steps: int, seed: int) -> Training:
    from agentworld_gym.integrations.sb3 import make_sb3_env, train_ppo

    env = make_sb3_env(TERMINAL, num_envs=NUM_ENVS, seed=seed, world="grounded", levels=LEVELS, max_steps=MAX_STEPS)
    due = paced(at_once=True)
    with _bar(console, "{task.fields[said]}") as bar:
        task = bar.add_task("training", total=steps, said="")

        def progress(point: CurvePoint) -> None:
            said = f"success {point.success:.2f}  return {point.reward:.2f}"
            done = min(point.steps, steps)
            bar.update(task, completed=done, said=said)
            if not console.is_terminal and due():
                console.print(f"training: {done} of {steps} steps  {said}", highlight=False)

        training = train_ppo(env, steps, seed=seed, on_progress=progress)
    env.close()
    return training


def _transfer(console: Console, agent: MenuAgent, options: EnvOptions, episodes: int) -> TransferResult:
    labels = {"grounded": "grounded terminal", "dream": "small world model"}
    with _bar(console) as bar:
        tasks = {side: bar.add_task(label, total=episodes) for side, label in labels.items()}
        return transfer(
            agent,
            options,
            range(episodes),
            on_progress=lambda side, done: bar.update(tasks[side], completed=done),
        )


def _bar(console: Console, *more: str) -> Progress:
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    return Progress(*columns, *(TextColumn(text) for text in more), console=console)
