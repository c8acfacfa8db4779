"""The names and words that desktop tasks draw from."""

from __future__ import annotations


def _pool(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PEOPLE = _pool("Alva Bruno Clara Dario Edith Farid Greta Hanna Ivo Jonna Karim Lena Milo Nora Otis Petra Rosa Sami")
"""The first names of people."""

SURNAMES = _pool("Adler Brandt Costa Dahl Egger Farkas Grant Holm Ibsen Jansen Keller Lind Moreau Novak Okafor")
"""The last names of people."""

TOWNS = _pool("Arden Bexley Corran Dunmore Elsing Farrow Glenby Harwick Ivesdale Kelso Lorne Marlow")
"""The names of towns."""

GOODS = _pool("paper ink stamps folders tape chairs lamps cables pens labels boxes markers clips shelves")
"""The goods that an office buys."""

MONTHS = _pool("January February March April May June July August September October November December")
"""The names of the months."""

STEMS = _pool("agenda budget contract costs guests invoice letter minutes notes offer orders plan report roster survey")
"""The names of documents without their extensions."""

FOLDERS = _pool("Archive Accounts Clients Drafts Events Finished Meetings Old Personal Projects Shared Travel")
"""The names of folders."""
