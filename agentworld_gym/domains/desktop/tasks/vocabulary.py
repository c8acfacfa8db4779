"""The names and words that desktop tasks draw from; each split has its own."""

from __future__ import annotations

from agentworld_gym.kit.vocabulary import WordPool

PEOPLE = WordPool.of_words(
    "Alva Bruno Clara Dario Edith Farid Greta Hanna Ivo Jonna Karim Lena Milo Nora Otis Petra Rosa Sami",
    validation="Anouk Bastian Celia Dorian Esther Fynn Gerda Hugo Inka Jasper Kaya Leif Mina Niko",
    test="""
        Amos Beata Cyril Delia Emil Flora Gavin Heidi Ismail Judith Kurt Lydia Marek Nils Oona Piet Ruth Silas
    """,
)
"""The first names of people."""

SURNAMES = WordPool.of_words(
    "Adler Brandt Costa Dahl Egger Farkas Grant Holm Ibsen Jansen Keller Lind Moreau Novak Okafor",
    validation="Albers Bosch Conti Drexel Engel Frank Gruber Hauser Jung Kraus Lang Maurer",
    test="Ames Bauer Castro Duval Ekberg Ferro Gibson Hahn Irving Juarez Klein Lopez Meyer Nolan Ortega",
)
"""The last names of people."""

TOWNS = WordPool.of_words(
    "Arden Bexley Corran Dunmore Elsing Farrow Glenby Harwick Ivesdale Kelso Lorne Marlow",
    validation="Birkton Cawley Dorfen Eskdale Fallow Gorsley Hexton Inverlea Kirkby Ludham",
    test="Ambury Brenton Colwick Denholm Eversley Frodham Granby Hadley Ilford Keswick Linton Monkton",
)
"""The names of towns."""

GOODS = WordPool.of_words(
    "paper ink stamps folders tape chairs lamps cables pens labels boxes markers clips shelves",
    validation="glue rulers trays mugs desks fans plugs screens mats racks batteries towels",
    test="""
        pencils staples envelopes cushions clocks bulbs sockets badges crates hooks shades stools napkins bins
    """,
)
"""The goods that an office buys."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""The names of months, which all splits share."""

STEMS = WordPool.of_words(
    """
        agenda budget contract costs guests invoice letter minutes notes offer orders plan report roster survey
    """,
    validation="address briefing catalogue draft estimate form journal ledger outline summary timetable worksheet",
    test="""
        abstract bulletin certificate directory essay forecast handbook itinerary leaflet manifest overview petition
        quote receipt
    """,
)
"""The names of documents without their extensions."""

FOLDERS = WordPool.of_words(
    "Archive Accounts Clients Drafts Events Finished Meetings Old Personal Projects Shared Travel",
    validation="Bills Contracts Designs Exports Forms History Inbox Library Outgoing Records",
    test="Budgets Cases Deliveries Estimates Folders Guides Holidays Imports Journals Letters Memos Orders",
)
"""The names of folders."""


def content_words() -> list[str]:
    """Return the names and words that tasks draw from lists."""
    return [*PEOPLE, *SURNAMES, *TOWNS]
