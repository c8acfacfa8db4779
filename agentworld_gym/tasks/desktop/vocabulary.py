"""The vocabulary of desktop tasks."""

from __future__ import annotations


def _pool(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PEOPLE = _pool("Alva Bruno Clara Dario Edith Farid Greta Hanna Ivo Jonna Karim Lena Milo Nora Otis Petra Rosa Sami")
"""People by their first names."""

SURNAMES = _pool("Adler Brandt Costa Dahl Egger Farkas Grant Holm Ibsen Jansen Keller Lind Moreau Novak Okafor")
"""People by their last names."""

TOWNS = _pool("Arden Bexley Corran Dunmore Elsing Farrow Glenby Harwick Ivesdale Kelso Lorne Marlow")
"""Places."""

GOODS = _pool("paper ink stamps folders tape chairs lamps cables pens labels boxes markers clips shelves")
"""What an office buys."""

MONTHS = _pool("January February March April May June July August September October November December")
"""The months."""

STEMS = _pool("agenda budget contract costs guests invoice letter minutes notes offer orders plan report roster survey")
"""Names of documents, without their endings."""

FOLDERS = _pool("Archive Accounts Clients Drafts Events Finished Meetings Old Personal Projects Shared Travel")
"""Names of folders."""
