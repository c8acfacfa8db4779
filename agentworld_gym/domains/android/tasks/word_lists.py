"""The lists that the families of phone tasks draw from."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.domains.android.engine.scenario import scenario_folder


class WordLists(Strict):
    """The contents of the file `tasks.yaml` beside the scenarios of phones, which says what each list is for."""

    lists: dict[str, tuple[str, ...]]
    products: tuple[tuple[str, str], ...]
    small_talk: tuple[tuple[str, ...], ...]
    messages: tuple[tuple[str, str], ...]
    planned: tuple[str, ...]
    appointments: tuple[str, ...]


@lru_cache(maxsize=1)
def words() -> WordLists:
    """Read the lists.

    >>> sorted(words().lists)[:2]
    ['Camping', 'Garden']

    Raises:
        SpecError: the file is wrong.
    """
    path = scenario_folder() / "tasks.yaml"
    return validated(WordLists, read_yaml(path), path)
