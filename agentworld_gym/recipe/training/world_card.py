"""The card of a trained model, which says what its worlds ask of it, so that nobody has to pass it as options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.core.registration import find_domain
from agentworld_gym.llm.bundled_models import CARD
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.rows.rerendering import is_of, prompts_for
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.data.preparation import Preparation

SAMPLING = {"temperature": 0.0, "thinking": False, "max_tokens": 2048}
"""How a model is sampled that learned from recorded sessions alone."""


def world_card(files: Sequence[Path], domains: Sequence[str], preparation: Preparation) -> dict[str, Any] | None:
    """Return what a model that was trained from scratch knows: its domains, and the prompts and forms that it read.

    The first session of each domain decides.

    Args:
        files: The files of recorded sessions.
        domains: The domains to learn from; empty for all that the files hold.
        preparation: How sessions became samples.

    Returns:
        The keys of `agentworld_gym.llm.bundled_models.BundledModel`; None without sessions, and where they differ in
        the profile of their prompts.
    """
    found: dict[str, Prompts] = {}
    for row in chain.from_iterable(map(read_rows, files)):
        if row.domain in found or find_domain(row.domain) is None or (domains and not is_of(row, domains)):
            continue
        found[row.domain] = prompts_for(row, preparation.profile, preparation.form)
        if domains and len(found) == len({name.partition(":")[0] for name in domains}):
            break
    profiles = {prompts.profile for prompts in found.values()}
    if len(profiles) != 1:
        return None
    forms = {domain: prompts.form for domain, prompts in found.items() if prompts.form != "full"}
    card = {"domains": list(found), "profile": profiles.pop(), "sampling": dict(SAMPLING)}
    return {**card, "forms": forms} if forms else card


def write_card(model: Path, card: Mapping[str, Any] | None) -> None:
    """Write a card into the folder of a model, unless it has one."""
    if card is not None and not (model / CARD).exists():
        write_atomically(model / CARD, yaml.safe_dump(dict(card), sort_keys=False))
