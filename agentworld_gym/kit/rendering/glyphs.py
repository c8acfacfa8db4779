"""Small pictures for names: the name of a button, a file or an app decides its drawing.

A drawing is a list of strokes in a square of 100 by 100: `line`, `box`, `frame`, `disc`, `ring` or `area`, and its
points as x y x y …
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentworld_gym.core.screens import Box
from agentworld_gym.kit.rendering.canvas import Canvas
from agentworld_gym.kit.rendering.style import WHITE, Colour, tile_colour

DRAWINGS: Mapping[str, tuple[str, ...]] = {
    "back": ("line 85 50 15 50", "line 45 20 15 50 45 80"),
    "forward": ("line 15 50 85 50", "line 55 20 85 50 55 80"),
    "up": ("line 50 85 50 15", "line 20 45 50 15 80 45"),
    "down": ("line 20 35 50 68 80 35",),
    "close": ("line 20 20 80 80", "line 80 20 20 80"),
    "minimize": ("line 20 70 80 70",),
    "maximize": ("frame 22 22 78 78",),
    "restore": ("frame 18 34 66 82", "line 36 20 80 20 80 64"),
    "menu": ("line 15 25 85 25", "line 15 50 85 50", "line 15 75 85 75"),
    "more": ("disc 42 10 58 26", "disc 42 42 58 58", "disc 42 74 58 90"),
    "plus": ("line 50 12 50 88", "line 12 50 88 50"),
    "minus": ("line 12 50 88 50",),
    "check": ("line 12 55 40 82 90 20",),
    "magnifier": ("ring 12 12 66 66", "line 60 60 90 90"),
    "star": ("area 50 5 62 38 97 38 69 60 79 94 50 73 21 94 31 60 3 38 38 38",),
    "home": ("area 50 10 95 52 80 52 80 90 20 90 20 52 5 52",),
    "folder": ("area 4 20 40 20 50 32 96 32 96 86 4 86",),
    "document": ("frame 20 6 80 94", "line 32 30 68 30", "line 32 46 68 46", "line 32 62 68 62", "line 32 78 68 78"),
    "sheet": ("frame 10 12 90 88", "line 10 36 90 36", "line 10 62 90 62", "line 38 12 38 88", "line 64 12 64 88"),
    "picture": ("frame 6 16 94 84", "area 12 78 38 42 56 64 68 52 88 78", "disc 62 26 78 42"),
    "trash": (
        "line 14 24 86 24",
        "line 38 24 38 12 62 12 62 24",
        "line 22 24 28 92 72 92 78 24",
        "line 42 40 44 76",
        "line 58 40 56 76",
    ),
    "prompt": ("frame 6 14 94 86", "line 20 34 38 50 20 66", "line 48 68 76 68"),
    "gear": (
        "ring 24 24 76 76",
        "disc 42 42 58 58",
        "line 50 2 50 22",
        "line 50 78 50 98",
        "line 2 50 22 50",
        "line 78 50 98 50",
        "line 16 16 30 30",
        "line 70 70 84 84",
        "line 84 16 70 30",
        "line 30 70 16 84",
    ),
    "globe": ("ring 6 6 94 94", "ring 30 6 70 94", "line 6 50 94 50"),
    "mail": ("frame 6 20 94 80", "line 6 22 50 56 94 22"),
    "message": ("area 6 12 94 12 94 70 40 70 20 92 20 70 6 70",),
    "phone": ("area 10 14 34 6 46 34 34 44 56 66 68 54 94 66 86 90 60 94 6 40",),
    "clock": ("ring 6 6 94 94", "line 50 24 50 52 70 64"),
    "calendar": (
        "frame 8 14 92 92",
        "box 8 14 92 36",
        "box 22 50 34 62",
        "box 44 50 56 62",
        "box 66 50 78 62",
        "box 22 70 34 82",
        "box 44 70 56 82",
        "box 66 70 78 82",
    ),
    "camera": ("area 4 28 30 28 38 14 62 14 70 28 96 28 96 86 4 86",),
    "person": ("disc 30 6 70 46", "area 10 94 16 66 34 54 66 54 84 66 90 94"),
    "note": ("area 14 6 86 6 86 66 60 94 14 94",),
    "pencil": ("area 8 92 14 68 72 10 90 28 32 86",),
    "calculator": (
        "frame 14 4 86 96",
        "box 26 14 74 32",
        "box 26 44 38 54",
        "box 44 44 56 54",
        "box 62 44 74 54",
        "box 26 60 38 70",
        "box 44 60 56 70",
        "box 62 60 74 70",
        "box 26 76 38 86",
        "box 44 76 56 86",
        "box 62 76 74 86",
    ),
    "play": ("area 22 10 90 50 22 90",),
    "pause": ("box 20 12 42 88", "box 58 12 80 88"),
    "send": ("area 6 10 96 50 6 90 20 50",),
    "music": ("disc 10 66 38 92", "disc 58 58 86 84", "line 36 78 36 16 84 8 84 70"),
    "download": ("line 50 8 50 66", "line 26 44 50 68 74 44", "line 12 90 88 90"),
    "refresh": ("ring 14 14 86 86", "area 62 2 98 16 70 38"),
    "grid": (
        "box 10 10 30 30",
        "box 40 10 60 30",
        "box 70 10 90 30",
        "box 10 40 30 60",
        "box 40 40 60 60",
        "box 70 40 90 60",
        "box 10 70 30 90",
        "box 40 70 60 90",
        "box 70 70 90 90",
    ),
    "pin": ("area 36 6 64 6 68 44 82 58 18 58 32 44", "line 50 58 50 96"),
    "undo": ("line 30 16 10 36 30 56", "line 10 36 66 36 88 56 78 84 40 84"),
    "redo": ("line 70 16 90 36 70 56", "line 90 36 34 36 12 56 22 84 60 84"),
    "save": ("frame 10 10 90 90", "box 28 10 72 36", "frame 26 54 74 90"),
    "bluetooth": ("line 26 28 74 70 50 94 50 6 74 30 26 72",),
    "wifi": ("line 6 36 28 20 50 15 72 20 94 36", "line 26 56 50 42 74 56", "disc 42 70 58 86"),
    "share": ("disc 64 6 90 32", "disc 10 38 36 64", "disc 64 70 90 96", "line 76 20 24 50 76 82"),
    "lock": ("box 18 44 82 92", "ring 30 8 70 72"),
    "bell": ("area 50 6 74 26 78 60 92 76 8 76 22 60 26 26", "disc 40 80 60 96"),
    "sun": ("disc 30 30 70 70", "line 50 2 50 18", "line 50 82 50 98", "line 2 50 18 50", "line 82 50 98 50"),
    "hourglass": ("area 22 8 78 8 50 50", "area 22 92 78 92 50 50"),
    "moon": ("area 60 6 40 10 22 26 14 48 20 70 36 86 58 92 78 84 90 70 70 72 52 62 44 44 48 24",),
    "cart": ("line 4 16 20 16 32 64 80 64 94 28 24 28", "disc 32 74 46 88", "disc 66 74 80 88"),
    "battery": ("frame 6 28 84 72", "box 14 36 60 64", "box 86 42 94 58"),
    "speaker": ("area 8 36 28 36 56 10 56 90 28 64 8 64", "line 72 30 80 50 72 70"),
}

WORDS: tuple[tuple[str, str], ...] = (
    (r"navigate up|^back$|go back|previous|^undo back", "back"),
    (r"^forward$|^next\b|go forward", "forward"),
    (r"parent folder|^up$", "up"),
    (r"^close\b|dismiss|clear|cancel search|remove", "close"),
    (r"minimi[sz]e", "minimize"),
    (r"maximi[sz]e", "maximize"),
    (r"restore", "restore"),
    (r"more options|^more$|overflow", "more"),
    (r"open menu|main menu|navigation drawer|show menu|hamburger", "menu"),
    (r"show applications|all apps|view options|^view$", "grid"),
    (r"search|find", "magnifier"),
    (r"^add\b|^new\b|create|^plus\b|^start chat|^insert", "plus"),
    (r"\bstar(red)?\b|favou?rite|bookmark", "star"),
    (r"trash|delete|\bbin\b", "trash"),
    (r"backspace", "back"),
    (r"pin\b", "pin"),
    (r"^undo", "undo"),
    (r"^redo", "redo"),
    (r"\bsave\b", "save"),
    (r"reload|refresh", "refresh"),
    (r"download", "download"),
    (r"share", "share"),
    (r"chrome|browser|web|internet|firefox", "globe"),
    (r"thunderbird|mail|inbox", "mail"),
    (r"\.(ods|xlsx?|csv)$|calc\b|spreadsheet", "sheet"),
    (r"\.(png|jpe?g|gif|svg)$|photo|gallery|picture|image|wallpaper", "picture"),
    (r"\.(mp3|ogg|wav|flac)$|music|audio|recorder|vlc", "music"),
    (
        r"\.(odt|docx?|pdf|txt|md|log|html?|json|ya?ml|py|sh|conf|ini|cfg)$|writer|document|text editor|editor",
        "document",
    ),
    (r"terminal|console", "prompt"),
    (r"settings|preferences", "gear"),
    (r"\bfiles\b|folder|archive|home\b.*folder|recent|downloads?$", "folder"),
    (r"^send|^reply", "send"),
    (r"message|sms|chat|text message", "message"),
    (r"^call|phone|dial|mobile", "phone"),
    (r"contact|account|profile|people|user", "person"),
    (r"alarm", "bell"),
    (r"^timer", "hourglass"),
    (r"bedtime|sleep|night", "moon"),
    (r"clock|stopwatch|time\b", "clock"),
    (r"calendar|date\b|agenda|schedule|^day$|^week$|^month$", "calendar"),
    (r"keypad", "grid"),
    (r"shop|store|cart|basket|market", "cart"),
    (r"camera", "camera"),
    (r"calculator", "calculator"),
    (r"note|keep|reminder", "note"),
    (r"^edit|rename|compose", "pencil"),
    (r"^start|^play|resume", "play"),
    (r"^stop|pause", "pause"),
    (r"bluetooth", "bluetooth"),
    (r"wi-?fi|network|internet", "wifi"),
    (r"notification|do not disturb", "bell"),
    (r"display|brightness|dark|light", "sun"),
    (r"battery|power", "battery"),
    (r"sound|volume|vibrat", "speaker"),
    (r"security|privacy|password|lock", "lock"),
    (r"airplane", "send"),
    (r"rotate", "refresh"),
    (r"order|product|list$|^all$", "menu"),
    (r"^home$|^go home", "home"),
)
"""Patterns of names, each with its drawing; the first pattern that matches counts."""


_KNOWN = tuple((re.compile(pattern, re.IGNORECASE), name) for pattern, name in WORDS)


def drawing_of(name: str) -> str | None:
    """Return the drawing that a name has, or None.

    >>> drawing_of("Navigate up"), drawing_of("budget-2025.ods"), drawing_of("Blorp")
    ('back', 'sheet', None)
    """
    return next((drawing for pattern, drawing in _KNOWN if pattern.search(name)), None)


def glyph(canvas: Canvas, box: Box, drawing: str, colour: Colour) -> None:
    """Draw a glyph by its name, as large as a box allows."""
    side = min(box.width, box.height)
    left, top = box.x + (box.width - side) / 2, box.y + (box.height - side) / 2
    pen = max(round(side * 0.09), 2)
    for stroke in DRAWINGS[drawing]:
        kind, *digits = stroke.split()
        points = [int(number) * side / 100 for number in digits]
        pairs = [(left + x, top + y) for x, y in zip(points[::2], points[1::2], strict=True)]
        if kind == "line":
            canvas.line(pairs, colour, pen)
        elif kind == "area":
            canvas.draw.polygon(pairs, fill=colour)
        else:
            (x0, y0), (x1, y1) = pairs
            inner = Box(round(x0), round(y0), max(round(x1 - x0), 2), max(round(y1 - y0), 2))
            if kind == "box":
                canvas.box(inner, colour)
            elif kind == "frame":
                canvas.box(inner, None, max(side // 16, 1), colour, pen)
            elif kind == "disc":
                canvas.disc(inner, colour)
            else:
                canvas.disc(inner, None, colour, pen)


def tile(canvas: Canvas, box: Box, name: str, *, round_: bool = False) -> None:
    """Draw the icon of an app: a coloured square or disc, with a drawing or the first letter of a name."""
    side = min(box.width, box.height)
    square = Box(box.x + (box.width - side) // 2, box.y + (box.height - side) // 2, side, side)
    canvas.box(square, tile_colour(name), side // 2 if round_ else side // 4)
    drawing = drawing_of(name)
    if drawing is not None:
        margin = int(side * 0.24)
        inner = Box(square.x + margin, square.y + margin, side - 2 * margin, side - 2 * margin)
        glyph(canvas, inner, drawing, WHITE)
    else:
        letter = next((letter for letter in name if letter.isalnum()), "?").upper()
        canvas.words(square, letter, int(side * 0.5), WHITE, align="centre", bold=True)
