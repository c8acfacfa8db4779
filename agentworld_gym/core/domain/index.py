"""The index of a domain: it ranks and prints what the web of a task holds beyond the prompt of a world model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol


class IndexedWeb(Protocol):
    """The pages of one task, as its search engine ranks them and its page reader shows them.

    An indexed web has no history: equal queries give equal hits. What an action does, and whether it fails, is what a
    world model predicts; the web never says.
    """

    def hits(self, queries: Sequence[str]) -> str:
        """Return the hits of some queries as one list.

        Raises:
            AnswerError: There are more queries than one search takes, or none.
        """
        ...

    def read_page(self, address: str) -> str:
        """Return what the page reader shows at an address where nothing fails: a page, or why there is none."""
        ...


class IndexBuilder(Hashable, Protocol):
    """Builds the webs of a domain's tasks, as a view begins the structured states of a screen.

    Equal indexes build equal webs, which are therefore kept by index and task.
    """

    def web(
        self, state: Mapping[str, Any], hidden: Mapping[str, Any], controls: Mapping[str, float], control_seed: int
    ) -> IndexedWeb | None:
        """Return the web of a task; None where its state describes none.

        Args:
            state: The initial state of the task.
            hidden: What the world knows and no hit may reveal.
            controls: The faults in force: their strengths by name.
            control_seed: The seed of their draws.
        """
        ...
