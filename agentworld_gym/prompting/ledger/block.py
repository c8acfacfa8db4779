"""The ledger: what a world model says of the hidden state after an observation.

An observation often hides what an action has done: `sort a > b` prints nothing, and what `b` holds can be read only
later. A world model that keeps a ledger writes, after each observation, the entries of the hidden state that the action
changed, in the notation in which the initial state stands in its system prompt. The ledger stays in the history of the
model and is never shown to the agent.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

OPEN, CLOSE = "<ledger>", "</ledger>"

_OPEN = re.compile(r"\n?<ledger>[ \t]*\n?", re.IGNORECASE)
_CLOSE = re.compile(r"</ledger>", re.IGNORECASE)


class StateChange(Protocol):
    """One entry of the hidden state that an action changed."""

    @property
    def field(self) -> str:
        """The name of the entry."""
        ...

    @property
    def kind(self) -> str:
        """What became of it: `added`, `changed` or `removed`."""
        ...

    @property
    def before(self) -> Any:
        """What it held; None where there was no such entry."""
        ...

    @property
    def after(self) -> Any:
        """What it holds; None where there is no such entry any longer."""
        ...


def with_ledger(answer: str, ledger: str, closed: bool) -> str:
    r"""Put a ledger behind an answer; an empty ledger leaves the answer as it is.

    Args:
        answer: The observation as the model writes it, with its tags where it has any.
        ledger: The changed entries, with a line break at their end.
        closed: Whether the block has a closing tag.

    >>> with_ledger("$", "= a\nhi\n", closed=False)
    '$\n<ledger>\n= a\nhi\n'
    >>> with_ledger("$", "", closed=True)
    '$'
    """
    if not ledger:
        return answer
    return f"{answer}\n{OPEN}\n{ledger}{CLOSE if closed else ''}"


def split_ledger(completion: str) -> tuple[str, str]:
    r"""Split a completion into what stands without its ledger, and the ledger, which may be empty.

    The last block counts. Without a closing tag it runs to the end.

    >>> split_ledger("$\n<ledger>\n= a\nhi\n")
    ('$', '= a\nhi\n')
    >>> split_ledger("<ledger>\n- b\n</ledger>\n<predicted_observation>$</predicted_observation>")
    ('\n<predicted_observation>$</predicted_observation>', '- b\n')
    """
    openings = list(_OPEN.finditer(completion))
    if not openings:
        return completion, ""
    opening = openings[-1]
    closing = _CLOSE.search(completion, opening.end())
    end, after = (len(completion), "") if closing is None else (closing.start(), completion[closing.end() :])
    block = completion[opening.end() : end]
    return completion[: opening.start()] + after, block if not block or block.endswith("\n") else block + "\n"
