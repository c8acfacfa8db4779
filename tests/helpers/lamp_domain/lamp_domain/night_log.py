"""The log of a night watch: a format that records sessions of lamps alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.recipe.importers.conversation import ImportTally
from agentworld_gym.recipe.importers.session_format import ImportedSession, SessionFormat
from agentworld_gym.recipe.importers.turns import Turns


class NightLog(SessionFormat):
    """What was pushed, and what was seen after it."""

    def is_session(self, record: Any) -> bool:
        return isinstance(record, Mapping) and "lamps" in record

    def session(self, record: Mapping[str, Any], name: str, tally: ImportTally) -> ImportedSession:
        pushed, seen = zip(*record["lamps"], strict=True)
        return ImportedSession(name, Turns("Walk.", (), pushed, seen, None), "", 1.0)


FORMAT = NightLog()
