"""Small charts as inline SVG; a page that holds them needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from agentworld_gym.evaluation.results.fidelity import Bin

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 230, 34, 12, 12, 38
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
COLOURS = ("var(--one)", "var(--two)", "var(--three)", "var(--four)", "var(--five)")


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value from 0 to 1 with its interval, over a label of the axis."""

    label: str
    value: float
    low: float
    high: float


def lines(series: Mapping[str, Sequence[ChartPoint]], title: str, axis: str) -> Markup:
    """Draw a line with its interval as a band for each series, over labels in the order of the longest one.

    Colour and dashes of a series follow its place, so that a series without points leaves those of the others as they
    are.

    >>> "polyline" in lines({"a": [ChartPoint("1", 0.5, 0.4, 0.6), ChartPoint("2", 0.4, 0.2, 0.6)]}, "drift", "turn")
    True
    """
    labels = [point.label for point in max(series.values(), key=len, default=())]
    place = {label: _x(number / max(len(labels) - 1, 1)) for number, label in enumerate(labels)}
    parts = [_grid()]
    for number, (colour, points) in enumerate(zip(COLOURS, series.values(), strict=False)):
        if not points:
            continue
        placed = [point for point in points if point.label in place]
        band = [(place[point.label], _y(point.high)) for point in placed]
        band += [(place[point.label], _y(point.low)) for point in reversed(placed)]
        parts.append(f'<polygon points="{_joined(band)}" fill="{colour}" opacity="0.15"/>')
        line = [(place[point.label], _y(point.value)) for point in placed]
        dash = ' stroke-dasharray="6 4"' if number else ""
        parts.append(f'<polyline points="{_joined(line)}" fill="none" stroke="{colour}" stroke-width="2.5"{dash}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in line]
    parts += [_label(x, label) for label, x in place.items()]
    return _framed(parts, title, axis)


def curve(points: Sequence[tuple[float, float]], title: str, axis: str) -> Markup:
    """Draw values from 0 to 1 over a quantity that begins at 0, such as success over steps.

    >>> "1,000" in curve([(0, 0.1), (500, 0.4), (1000, 0.9)], "learning", "steps")
    True
    """
    last = max((x for x, _ in points), default=0) or 1
    line = [(_x(x / last), _y(y)) for x, y in points]
    drawn = f'<polyline points="{_joined(line)}" fill="none" stroke="{COLOURS[0]}" stroke-width="2.5"/>'
    labels = [_label(_x(tick), f"{last * tick:,.0f}", "end" if tick == 1 else "middle") for tick in TICKS]
    return _framed([_grid(), drawn, *labels], title, axis)


def reliability(bins: Sequence[Bin], title: str, axis: str) -> Markup:
    """Draw exactness over confidence, with a point and its interval for each bin.

    A model whose confidence is right lies on the diagonal. The axis of confidence begins at the tenth below the first
    bin, because the confidence of a model that copies well is seldom low.

    >>> from agentworld_gym.base.statistics.bootstrap import Share
    >>> exact = Share(share=0.8, low=0.4, high=0.9, count=5)
    >>> "circle" in reliability([Bin(low=0.9, high=1, confidence=0.95, exact=exact)], "title", "confidence")
    True
    """
    start = min([0.9, *(int(10 * one.confidence) / 10 for one in bins)])
    honest = f'x1="{_x(0)}" y1="{_y(start)}" x2="{_x(1)}" y2="{_y(1)}"'
    parts = [_grid(), f'<line {honest} stroke="currentColor" opacity="0.5" stroke-dasharray="4 4"/>']
    line = [(_x((one.confidence - start) / (1 - start)), _y(one.exact.share)) for one in bins]
    parts.append(f'<polyline points="{_joined(line)}" fill="none" stroke="{COLOURS[0]}" opacity="0.4"/>')
    for one, (x, y) in zip(bins, line, strict=True):
        ends = f'x1="{x}" x2="{x}" y1="{_y(one.exact.low)}" y2="{_y(one.exact.high)}"'
        about = f"{one.exact.count} predictions: confidence {one.confidence:.3f}, exact {one.exact}"
        parts.append(f'<line {ends} stroke="{COLOURS[0]}" stroke-width="1.5" opacity="0.6"/>')
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{COLOURS[0]}"><title>{about}</title></circle>')
    parts += [_label(_x(tick), f"{start + tick * (1 - start):.3g}") for tick in TICKS]
    return _framed(parts, title, axis)


def _x(share: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * share, 1)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(max(share, 0.0), 1.0), 1)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _grid() -> str:
    return "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(tick)}" y2="{_y(tick)}" stroke="var(--line)"/>'
        f'<text x="{LEFT - 6}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>'
        for tick in TICKS
    )


def _label(x: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="{anchor}">{escape(text)}</text>'


def _framed(parts: Sequence[str], title: str, axis: str) -> Markup:
    under = f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">{escape(axis)}</text>'
    frame = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
    return Markup(f"{frame}{''.join(parts)}{under}</svg>")
