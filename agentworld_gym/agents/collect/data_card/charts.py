"""The charts of a data card. They need matplotlib (`pip install -e '.[data]'`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.agents.collect.data_card.statistics import KINDS, MOST_FIELDS, DomainSummary

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""Eight colours that people with colour blindness can tell apart (Okabe and Ito)."""

SHADES = ("#deebf7", "#9ecae1", "#4292c6", "#2171b5", "#08519c", "#08306b")
MOST_ACTIONS = 12

Summaries = Mapping[str, DomainSummary]


def draw_charts(summaries: Summaries, folder: Path) -> list[tuple[str, str]]:
    """Write the charts of a recording as PNG files, and return the name of each file with its title."""
    pictures = {
        "families.png": ("Sessions by family and level", _families),
        "lengths.png": ("Lengths of sessions", _lengths),
        "actions.png": ("The most frequent actions", _actions),
        "turns.png": ("What a turn changes, and what kinds of content it shows", _turns),
        "success.png": ("Success by policy", _success),
    }
    for name, (_, paint) in pictures.items():
        paint(summaries).savefig(folder / name, dpi=110, metadata={"Software": None})
    return [(name, title) for name, (title, _) in pictures.items()]


def _families(summaries: Summaries) -> Any:
    heights = [len(summary.families) + 1.5 for summary in summaries.values()]
    figure, axes = _figure(len(summaries), 1, (8, 0.24 * sum(heights) + 0.6), height_ratios=heights)
    for axis, (domain, summary) in zip(axes, summaries.items(), strict=True):
        names = summary.families[::-1]
        left = [0] * len(names)
        levels = sorted({level for _, level in summary.sessions})
        for level in levels:
            counts = [summary.sessions[name, level] for name in names]
            label = f"level {level}" if level else "no level"
            axis.barh(names, counts, left=left, color=SHADES[max(0, 2 * level - 1)], label=label)
            left = [a + b for a, b in zip(left, counts, strict=True)]
        axis.set_title(f"{domain}: {sum(left):,} sessions", loc="left", fontsize=10)
        axis.tick_params(labelsize=8)
        axis.set_ylim(-0.6, len(names) - 0.4)
    axes[0].legend(fontsize=8, frameon=False)
    axes[-1].set_xlabel("sessions")
    return figure


def _lengths(summaries: Summaries) -> Any:
    figure, axes = _figure(1, 3, (11, 3.4))
    titles = {
        "turns": "turns of a session",
        "system": "characters of its system message",
        "characters": "characters of all its messages",
    }
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        for colour, (domain, summary) in zip(_cycled(summaries), summaries.items(), strict=True):
            values = sorted(getattr(summary, name))
            shares = [100 * (place + 1) / len(values) for place in range(len(values))]
            axis.step(values, shares, where="post", color=colour, label=domain)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylim(0, 101)
        if name != "turns":
            _count_thousands(axis)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("% of the sessions that are no longer")
    axes[0].legend(fontsize=8, frameon=False, loc="lower right")
    return figure


def _actions(summaries: Summaries) -> Any:
    columns = min(2, len(summaries))
    rows = -(-len(summaries) // columns)
    figure, axes = _figure(rows, columns, (5.5 * columns, 3.4 * rows))
    for axis, colour, (domain, summary) in zip(axes, _cycled(summaries), summaries.items(), strict=False):
        most = summary.actions.most_common(MOST_ACTIONS)[::-1]
        total = summary.actions.total() or 1
        axis.barh([name for name, _ in most], [100 * count / total for _, count in most], color=colour)
        axis.set_ylim(len(most) - MOST_ACTIONS - 0.5, len(most) - 0.5)
        rest = len(summary.actions) - len(most)
        axis.set_title(
            f"{domain}: {total:,} turns" + (f", {rest} more actions" if rest else ""), loc="left", fontsize=10
        )
        axis.tick_params(labelsize=8)
        axis.set_xlabel("% of the turns", fontsize=8)
    for axis in axes[len(summaries) :]:
        axis.set_visible(False)
    return figure


def _turns(summaries: Summaries) -> Any:
    figure, (left, right) = _figure(1, 2, (11, 1.2 + 0.5 * len(summaries)))
    labels = [*map(str, range(MOST_FIELDS)), f"{MOST_FIELDS}+"]
    _shares(
        left,
        summaries,
        [[summary.fields[n] for n in range(MOST_FIELDS + 1)] for summary in summaries.values()],
        labels,
        SHADES,
    )
    left.set_title("fields of the state that a turn changes", loc="left", fontsize=10)
    left.set_xlabel("% of the turns", fontsize=8)
    _shares(
        right, summaries, [[summary.kinds[kind] for kind in KINDS] for summary in summaries.values()], KINDS, COLOURS
    )
    right.set_title("kinds of content in observations", loc="left", fontsize=10)
    right.set_xlabel("% of the characters", fontsize=8)
    return figure


def _success(summaries: Summaries) -> Any:
    policies = sorted({policy for summary in summaries.values() for policy in summary.judged})
    figure, (axis,) = _figure(1, 1, (max(6, 1.4 * len(policies) + 2), 3.6))
    width = 0.8 / len(summaries)
    for place, (colour, (domain, summary)) in enumerate(zip(_cycled(summaries), summaries.items(), strict=True)):
        bars = [(x, policy) for x, policy in enumerate(policies) if summary.judged[policy]]
        offsets = [x + (place - (len(summaries) - 1) / 2) * width for x, _ in bars]
        heights = [100 * summary.succeeded[policy] / summary.judged[policy] for _, policy in bars]
        painted = axis.bar(offsets, heights, width, color=colour, label=domain)
        axis.bar_label(painted, [f"{summary.judged[policy]}" for _, policy in bars], fontsize=7, padding=2)
    axis.set_xticks(range(len(policies)), policies)
    axis.set_ylim(0, 112)
    axis.set_ylabel("% of the sessions that succeed")
    axis.set_title("numbers over the bars: sessions", loc="left", fontsize=9)
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _shares(
    axis: Any, summaries: Summaries, counts: Sequence[Sequence[int]], labels: Sequence[str], colours: Sequence[str]
) -> None:
    """Draw one bar for each domain, cut into shares."""
    names = list(summaries)[::-1]
    totals = [sum(row) or 1 for row in counts]
    left = [0.0] * len(names)
    for column, (label, colour) in enumerate(zip(labels, colours, strict=False)):
        shares = [100 * row[column] / total for row, total in zip(counts, totals, strict=True)][::-1]
        axis.barh(names, shares, left=left, color=colour, label=label)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    axis.set_xlim(0, 100)
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _count_thousands(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}k"))
    axis.minorticks_off()


def _cycled(summaries: Summaries) -> list[str]:
    return [COLOURS[place % len(COLOURS)] for place in range(len(summaries))]


def _figure(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, list[Any]]:
    """Make a figure and its axes in reading order, apart from pyplot's global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, gridspec_kw=options or None)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes.flat)
