"""What is wrong with the ledger of a turn: the entries of the hidden state that a model writes after an observation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """What is wrong with the ledger of one turn, beside what its history says; see `prompting.ledger.LedgerBook`.

    >>> LedgerCheck(contradictions=1).as_dict()
    {'malformed': 0, 'contradictions': 1, 'unchanged': 0}
    """

    malformed: int = 0
    """The number of lines that belong to no entry, and of names that stand twice."""

    contradictions: int = 0
    """The number of entries, in the observation or in the ledger, that the history excludes."""

    unchanged: int = 0
    """The number of entries that are written as they stood already."""

    def __add__(self, other: LedgerCheck) -> LedgerCheck:
        return LedgerCheck(
            self.malformed + other.malformed,
            self.contradictions + other.contradictions,
            self.unchanged + other.unchanged,
        )

    def as_dict(self) -> dict[str, int]:
        """Return the counts as they stand in `info["ledger"]`, ready for JSON."""
        return {
            "malformed": self.malformed,
            "contradictions": self.contradictions,
            "unchanged": self.unchanged,
        }
