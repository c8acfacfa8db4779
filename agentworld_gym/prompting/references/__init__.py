r"""References: a text written as what the initial state of a task already holds.

A small model that has to print a page of a search, a file, or rows of a tool server's database errs somewhere in a copy
of hundreds of tokens. It need not copy what the state holds, but may name it:

    @https://lake.example/orvel             the page at that address, as the page reader shows it
    @/repo/a.py                             a file as it lies there
    @/repo/a.py:3-9                         some of its lines
    @#/repo/a.py                            the file with the numbers of its lines, as Claude Code's `Read` shows it
    [2] @https://lake.example/orvel         a hit of a search: its address, title and date; the next line is its snippet
    @? lake orvel depth                     the hits of a query, as the index of the domain ranks and prints them
    @orders:1038                            the row of the table `orders` whose key is 1038, as JSON
    @orders:1038{order_id,status="sent"}    some of its keys, and another value

`TextBlocks` are pages and files, `TableRows` the tables, `SearchReferences` what an index finds. All are exact:
`resolve(refer(text)) == text` for every text. What looks like a reference and is none has a backslash more.
"""

from agentworld_gym.prompting.references.blocks import Hit, TextBlocks
from agentworld_gym.prompting.references.contract import References, UnknownReference
from agentworld_gym.prompting.references.searches import SearchReferences
from agentworld_gym.prompting.references.tables import TableRows
from agentworld_gym.prompting.references.task_state import REFERRING_DOMAINS, references_of, search_references_of

__all__ = [
    "REFERRING_DOMAINS",
    "Hit",
    "References",
    "SearchReferences",
    "TableRows",
    "TextBlocks",
    "UnknownReference",
    "references_of",
    "search_references_of",
]
