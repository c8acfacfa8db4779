"""Formats in which other systems record the sessions of one domain alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from agentworld_gym.core.registration import all_domains, resolved
from agentworld_gym.recipe.importers.conversation import ImportTally
from agentworld_gym.recipe.importers.turns import Turns


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """One recorded session, as the turns of its domain."""

    id: str
    turns: Turns
    task: str
    score: float | None


class SessionFormat(ABC):
    """A format of one domain, which names it in `agentworld_gym.core.registration.Domain.session_formats`.

    Its actions are written as the domain reads them, in the dialect of the format's name where there is one.
    """

    files: ClassVar[str] = ""
    """What errors call the folders that hold a session each; empty where there are none."""

    @abstractmethod
    def is_session(self, record: Any) -> bool:
        """Return whether a JSON object is a session in this format."""

    @abstractmethod
    def session(self, record: Mapping[str, Any], name: str, tally: ImportTally) -> ImportedSession:
        """Read a session, and count in the tally what has no place in it.

        Args:
            record: The session.
            name: Its id, where the record has none.
            tally: Counts what is left out.
        """

    def grouped(self, records: Iterator[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the records of a file with their numbers; such as are steps in a row become one session."""
        return records

    def folders(self, folder: Path) -> list[Path]:
        """Return the folders in a folder, itself included, that hold a session each."""
        return []

    def read_folder(self, folder: Path) -> Mapping[str, Any]:
        """Return the session that such a folder holds, as one record.

        Raises:
            SpecError: A file is broken.
        """
        raise NotImplementedError


class DomainFormat(NamedTuple):
    """A format with the domain whose sessions it records."""

    domain: str
    format: SessionFormat


@cache
def domain_formats() -> Mapping[str, DomainFormat]:
    """Return the formats of all domains by name.

    >>> domain_formats()["browsergym"].domain
    'web'
    """
    return {
        name: DomainFormat(domain.id, resolved(reference))
        for domain in all_domains().values()
        for name, reference in domain.session_formats.items()
    }
