"""Layout of widgets: one pass measures them, and one places them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentworld_gym.kit.gui.widget import Widget


@dataclass(frozen=True, slots=True)
class Metrics:
    """The size of text in pixels. All text has one font, whose size decides what a widget without a size needs."""

    char: int
    line: int
    margin: tuple[int, int] = (0, 0)


def place(root: Widget, x: int, y: int, w: int, h: int, metrics: Metrics, offsets: Mapping[str, int]) -> Widget:
    """Give every widget of a tree its box, in pixels.

    Args:
        root: The root of the tree, which fills the box.
        x: The left edge of the box.
        y: The top edge of the box.
        w: The width of the box.
        h: The height of the box.
        metrics: The size of text.
        offsets: The scroll offset of each scrolling widget by key; an offset beyond the content counts as its end.

    Returns:
        The same tree. In a scrolling widget, `extent` is the height of its content, and `offset` its scroll offset.
    """
    _place(root, x, y, w, h, metrics, offsets)
    return root


def _place(widget: Widget, x: int, y: int, w: int, h: int, metrics: Metrics, offsets: Mapping[str, int]) -> None:
    widget.x, widget.y, widget.w, widget.h = x, y, w, h
    children = widget.children
    if not children:
        return
    across, down = widget.padding
    left, top, wide, high = x + across, y + down, w - 2 * across, h - 2 * down
    arrangement = widget.arrangement
    if arrangement == "layers":
        for child in children:
            dx, dy = child.at
            cw = child.width if child.width is not None else wide - dx
            ch = child.height if child.height is not None else high - dy
            _place(child, left + dx, top + dy, cw, ch, metrics, offsets)
    elif arrangement == "row":
        widths = _shares(children, [_width(child, metrics) for child in children], wide, widget.gap)
        for child, cw in zip(children, widths, strict=True):
            ch = child.height if child.height is not None else high if child.fill else _height(child, cw, metrics)
            _place(child, left, top + (high - ch) // 2, cw, ch, metrics, offsets)
            left += cw + widget.gap
    elif arrangement == "grid":
        cw = (wide - widget.gap * (widget.columns - 1)) // widget.columns
        for start in range(0, len(children), widget.columns):
            line = children[start : start + widget.columns]
            ch = max(_height(child, cw, metrics) for child in line)
            for index, child in enumerate(line):
                _place(child, left + index * (cw + widget.gap), top, child.width or cw, ch, metrics, offsets)
            top += ch + widget.gap
    else:
        _place_column(widget, left, top, wide, high, metrics, offsets)


def _place_column(
    widget: Widget, left: int, top: int, wide: int, high: int, metrics: Metrics, offsets: Mapping[str, int]
) -> None:
    children = widget.children
    widths = [
        child.width if child.width is not None else wide if child.fill else min(wide, _width(child, metrics))
        for child in children
    ]
    heights = [_height(child, cw, metrics) for child, cw in zip(children, widths, strict=True)]
    if widget.scrolls:
        widget.extent = sum(heights) + widget.gap * (len(children) - 1)
        widget.offset = min(max(offsets.get(widget.key, 0), 0), max(widget.extent - high, 0))
        top -= widget.offset
    else:
        heights = _shares(children, heights, high, widget.gap)
    for child, cw, ch in zip(children, widths, heights, strict=True):
        _place(child, left, top, cw, ch, metrics, offsets)
        top += ch + widget.gap


def _shares(children: tuple[Widget, ...], sizes: list[int], space: int, gap: int) -> list[int]:
    """Return sizes along a direction, with the remaining space given to the widgets that grow."""
    parts = sum(child.grow for child in children)
    if not parts:
        return sizes
    left = space - gap * (len(children) - 1) - sum(size for size, c in zip(sizes, children, strict=True) if not c.grow)
    return [max(left, 0) * c.grow // parts if c.grow else size for size, c in zip(sizes, children, strict=True)]


def _width(widget: Widget, metrics: Metrics) -> int:
    if widget.width is not None:
        return widget.width
    children = widget.children
    if not children:
        text = widget.text or widget.name
        return metrics.char * len(text) + 2 * metrics.margin[0] if text else 2 * metrics.margin[0]
    widths = [_width(child, metrics) + child.at[0] for child in children]
    if widget.arrangement == "row":
        inner = sum(widths) + widget.gap * (len(widths) - 1)
    elif widget.arrangement == "grid":
        inner = max(widths) * widget.columns + widget.gap * (widget.columns - 1)
    else:
        inner = max(widths)
    return inner + 2 * widget.padding[0]


def _height(widget: Widget, width: int, metrics: Metrics) -> int:
    if widget.height is not None:
        return widget.height
    children = widget.children
    if not children:
        return metrics.line * widget.lines + 2 * metrics.margin[1]
    inner = width - 2 * widget.padding[0]
    arrangement = widget.arrangement
    if arrangement == "row":
        total = max(_height(child, child.width or inner, metrics) for child in children)
    elif arrangement == "grid":
        cell = (inner - widget.gap * (widget.columns - 1)) // widget.columns
        heights = [_height(child, cell, metrics) for child in children]
        lines = [max(heights[i : i + widget.columns]) for i in range(0, len(heights), widget.columns)]
        total = sum(lines) + widget.gap * (len(lines) - 1)
    elif arrangement == "layers":
        total = max(child.at[1] + _height(child, inner, metrics) for child in children)
    else:
        total = sum(_height(child, child.width or inner, metrics) for child in children)
        total += widget.gap * (len(children) - 1)
    return total + 2 * widget.padding[1]
