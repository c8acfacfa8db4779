r"""References: what a search shows, written by the names of what the index and the state of a task hold.

A small model that has to print a page or a list of hits errs somewhere in a copy of hundreds of tokens. It need not
copy what is known, but may name it:

    @                                       what the call asks for
    @? lake orvel depth                     the hits of a query, as the index of the domain ranks and prints them
    @https://lake.example/orvel             the page at that address, as the page reader shows it
    @https://lake.example/orvel:3-9         some of its lines
    [2] @https://lake.example/orvel         a hit of a search: its address, title and date; the next line is its snippet

`TextBlocks` are pages, `SearchReferences` what an index finds. Both are exact: `resolve(refer(text)) == text` for every
text. What looks like a reference and is none has a backslash more.
"""

from agentworld_gym.llm.prompting.references.blocks import PageHit, TextBlocks
from agentworld_gym.llm.prompting.references.contract import UnknownReference
from agentworld_gym.llm.prompting.references.searches import SearchReferences
from agentworld_gym.llm.prompting.references.task_state import page_references, search_references

__all__ = [
    "PageHit",
    "SearchReferences",
    "TextBlocks",
    "UnknownReference",
    "page_references",
    "search_references",
]
