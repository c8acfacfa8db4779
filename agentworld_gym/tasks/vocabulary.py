"""The words that generated tasks draw from: they are short and lowercase, and no content word is part of another.

That no word is part of another keeps `grep WORD` and `sed s/WORD/…/` unambiguous. The words are few and come often,
which keeps the language of generated worlds small enough for a small model.
"""

from __future__ import annotations


def _pool(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WORDS = _pool("""
    acorn amber apple autumn badge baker banjo basil beacon bench berry birch blanket bottle branch bread bridge bronze
    brush bucket butter button cabin candle canoe carpet castle cedar chalk cherry circle clay cliff cloud clover
    cobalt comet copper coral cotton crayon cricket crystal curtain daisy desert diamond dolphin dragon drum eagle
    ember engine falcon fabric feather fence fiddle finch flute forest fossil fountain fox frost garden ginger glacier
    globe granite grape guitar hammer harbor hazel helmet heron honey hotel igloo indigo island ivory jacket jasmine
    jewel jungle kettle kitten ladder lagoon lantern lemon lilac lizard lotus magnet mango maple marble meadow melon
    mirror monkey mosaic muffin nectar needle nickel nutmeg oasis olive onion orchid otter oyster paddle panda paper
    parrot peach pebble pencil pepper pigeon pillow planet plum pocket poppy puzzle quartz quill rabbit radish raven
    ribbon river rocket saddle saffron salmon scarf shadow silver spider spruce squash storm sugar summit sunset
    sweater tiger timber tomato trumpet tulip tunnel turtle umbrella velvet violin walnut whistle willow window winter
    yogurt zebra
    """)
"""The words that files contain."""

NAMES = _pool("alice boris carla david elena felix greta henry irene jonas karen louis mario nadia oscar petra")
"""The first names of people in tables."""

STEMS = _pool("alpha base chart daily entry final guide index jobs list memo notes orders queue report stock team")
"""File names without their extensions."""

FOLDERS = _pool("archive backup docs inbox keep logs media old outbox pack parts ready safe shelf spare store")
"""The names of folders."""

KEYS = _pool("depth limit pause level retry size slots speed width zoom")
"""The keys of configuration files."""
