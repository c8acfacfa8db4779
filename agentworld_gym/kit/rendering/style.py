"""The style of all pictures: colours, sizes and type. No other module decides a colour."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from PIL import ImageFont

Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
INK: Colour = (36, 36, 40)
MUTED: Colour = (118, 120, 128)
FAINT: Colour = (168, 170, 178)
LINE: Colour = (214, 216, 222)
PAPER: Colour = (250, 250, 251)
PANEL: Colour = (238, 238, 241)
PRESSED: Colour = (214, 216, 224)
BUTTON: Colour = (229, 230, 235)
BLUE: Colour = (26, 95, 214)
PALE_BLUE: Colour = (220, 232, 253)
GREEN: Colour = (38, 140, 78)
RED: Colour = (198, 48, 48)
AMBER: Colour = (240, 170, 40)

ORANGE: Colour = (233, 84, 32)
NIGHT: Colour = (29, 29, 32)
WALLPAPER: tuple[Colour, Colour, Colour] = ((58, 16, 62), (140, 38, 92), (226, 98, 58))
TERMINAL: Colour = (48, 10, 36)
TERMINAL_INK: Colour = (238, 238, 236)
SHEET_HEAD: Colour = (236, 239, 238)

PHONE_WALLPAPER: tuple[Colour, Colour, Colour] = ((24, 60, 92), (52, 122, 140), (190, 206, 176))
PHONE: Colour = (251, 249, 253)
PHONE_BAR: Colour = (240, 237, 246)
PHONE_CARD: Colour = (236, 232, 243)
PHONE_ACCENT: Colour = (92, 76, 160)
PHONE_PALE: Colour = (226, 218, 250)
SCRIM: Colour = (118, 116, 124)
KEYBOARD: Colour = (226, 227, 234)

TILES: tuple[Colour, ...] = (
    (66, 113, 214),
    (44, 152, 108),
    (214, 92, 68),
    (150, 84, 186),
    (222, 150, 44),
    (38, 146, 170),
    (196, 70, 128),
    (96, 110, 128),
    (120, 148, 52),
)
"""The colours of icons; a name always gets the same one."""

_SHUFFLE = 183
"""A salt that gives most of the shipped apps and sites colours of their own."""

_PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "•": "·",
    "×": "x",
    "€": "EUR ",
    "£": "GBP ",
    "→": "->",
    "←": "<-",
    "↑": "^",
    "↓": "v",
    "▾": "v",
    "✓": "+",
    "«": '"',
    "»": '"',
    "ß": "ss",
    "æ": "ae",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "½": "1/2",
    "√": "sqrt",
    "π": "pi",
    "÷": "/",
    "²": "2",
    "⌫": "<x",
    "№": "No ",
}


def tile_colour(name: str) -> Colour:
    """Return the colour of a name's icon, which is the same everywhere."""
    return TILES[crc32(f"{_SHUFFLE}{name}".encode("utf-8", "replace")) % len(TILES)]


@lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font at a size, laid out the same way on every machine."""
    from PIL import ImageFont

    loaded = ImageFont.load_default(max(size, 6))
    assert isinstance(loaded, ImageFont.FreeTypeFont)
    return loaded.font_variant(layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return a text in the letters that the font has.

    >>> plain("Café – 3 €"), plain("日本")
    ('Cafe - 3 EUR ', '??')
    """
    if text.isascii():
        return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    letters = []
    for letter in text:
        if letter.isascii() or letter in "‘’“”…·©°":
            letters.append(letter if letter.isprintable() else " ")
        elif letter in _PLAIN:
            letters.append(_PLAIN[letter])
        else:
            base = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
            letters.append(base or ("" if unicodedata.combining(letter) else "?"))
    return "".join(letters)


@lru_cache(maxsize=16384)
def width_of(text: str, size: int) -> int:
    """Return the width of a text in pixels."""
    return int(font(size).getlength(plain(text)) + 0.5)


def fitted(text: str, size: int, room: int) -> str:
    """Return as much of a text as fits in some pixels, with an ellipsis where it is cut."""
    if width_of(text, size) <= room:
        return text
    if room < size:
        return ""
    low, high = 0, min(len(text), 2 * room // max(size // 2, 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width_of(text[:middle] + "…", size) <= room else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else ""


def wrapped(text: str, size: int, room: int, lines: int = 200) -> list[str]:
    """Break a text into lines of some pixels; lines beyond the number `lines` are left out."""
    broken: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if not line or width_of(longer, size) <= room:
                line = longer
            else:
                broken.append(line)
                line = word
            if len(broken) >= lines:
                return broken
        broken.append(line)
    return [fitted(line, size, room) for line in broken[:lines]]
