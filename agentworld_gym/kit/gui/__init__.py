"""Widgets, layout, hit testing, focus, scrolling, text fields and plain data, which all graphical engines share.

A screen is a function of a model, and an input is a message to the model: `view(model)` builds widgets, `place`
computes their boxes, `hit` and `focusables` find the widget that an input is for, and the widget's `on` maps the input
to a message. Models are plain data, so that a fork is a copy and the state is a set of flat fields.
"""

from __future__ import annotations

from agentworld_gym.kit.gui.hit_testing import centre, find, focusables, handler, hit, scrollable, visible
from agentworld_gym.kit.gui.layout import Metrics, place
from agentworld_gym.kit.gui.plain_data import copied, flat, frozen, plain
from agentworld_gym.kit.gui.text_field import Field
from agentworld_gym.kit.gui.widget import Message, Widget, column, grid, layers, row, scroll

__all__ = [
    "Field",
    "Message",
    "Metrics",
    "Widget",
    "centre",
    "column",
    "copied",
    "find",
    "flat",
    "focusables",
    "frozen",
    "grid",
    "handler",
    "hit",
    "layers",
    "place",
    "plain",
    "row",
    "scroll",
    "scrollable",
    "visible",
]
