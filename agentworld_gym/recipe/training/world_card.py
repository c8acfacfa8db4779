"""The card of a trained model, which says what its worlds ask of it, so that nobody has to pass it as options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.core.contracts.verdict import Told, told_by
from agentworld_gym.core.domain.spec import Form, Profile, SamplingSpec, load_spec
from agentworld_gym.core.engines.catalog import has_view
from agentworld_gym.core.registration import all_domains, find_domain
from agentworld_gym.llm.bundled_models import CARD, carded_model
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.llm.rows.rerendering import is_of, prompts_for
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.data.data_files import holds_samples
from agentworld_gym.recipe.data.preparation import Preparation

SAMPLING: dict[str, Any] = {"temperature": 0.0, "thinking": False, "max_tokens": 2048}
"""How a model is sampled that learned from recorded sessions alone."""

LONGER = 2
"""How many times as long as the longest answer that a model learned from its own answers may get."""


def world_card(files: Sequence[Path], domains: Sequence[str], preparation: Preparation) -> dict[str, Any] | None:
    """Return what a model that was trained from scratch knows: its domains, and the prompts and forms that it read.

    The first session of each domain decides. Reading stops where no further session can change the card: sessions of a
    world that pays are all read for whether it tells success.

    Args:
        files: The files to learn from. Those of samples are passed over, as samples do not name their prompts.
        domains: The domains to learn from; empty for all that the files hold.
        preparation: How sessions became samples.

    Returns:
        The keys of `agentworld_gym.llm.bundled_models.BundledModel`; None without sessions, and where they differ in
        the profile of their prompts.
    """
    found: dict[str, tuple[Profile, Form]] = {}
    pays: Told | None = None
    wanted = len({name.partition(":")[0] for name in domains} or all_domains())
    recorded = (path for path in files if not holds_samples(path))
    for row in chain.from_iterable(map(read_rows, recorded)):
        pays = told_by((pays, row.told))
        if row.domain in found or (domains and not is_of(row, domains)):
            continue
        if find_domain(row.domain) is not None:
            prompts = prompts_for(row, preparation.profile, preparation.form)
            found[row.domain] = prompts.profile, prompts.form
        elif row.profile is not None:
            found[row.domain] = row.profile, row.form or "full"
        if len({profile for profile, _ in found.values()}) > 1:
            return None
        if len(found) == wanted and not row.verdicts:
            break
    if not found:
        return None
    profile = next(iter(found.values()))[0]
    card = _card(profile, {domain: form for domain, (_, form) in found.items()})
    return {**card, "pays": pays} if pays else card


def stated_card(domains: Sequence[str], profile: Profile | None, form: Form | None) -> dict[str, Any] | None:
    """Return the card of a model that learned from samples alone, which do not say how they were made.

    Args:
        domains: The domains to learn from.
        profile: The prompts of the samples, as the configuration states them.
        form: How they write a next state; None for `full`. A domain that has no such form has `full`.

    Returns:
        The keys, as `world_card` does; None where the configuration states no domain or no profile.

    >>> stated_card(["android", "search"], "compact", "change")["forms"]
    {'android': 'change'}
    >>> stated_card(["android"], None, None) is None
    True
    """
    if not domains or profile is None:
        return None
    names = dict.fromkeys(name.partition(":")[0] for name in domains)
    return _card(profile, {name: form if form is not None and _has(name, form) else "full" for name in names})


def base_card(path: str | None, thinking: bool | None = None) -> dict[str, Any] | None:
    """Return what the card of the model that a stage begins with says of the model that it trains.

    The number of sessions does not count, as the stage learns from further ones. A card that says otherwise whether
    the model thinks says nothing of how it samples.

    Args:
        path: The folder of the model, or its name; None for a model from scratch.
        thinking: Whether the stage trains answers with thinking; None where that is as before.

    Returns:
        The keys, as `world_card` does; None where the model has no card.

    Raises:
        GeneratorError: The path is the name of a public model that was not fetched.
        SpecError: The card is wrong.
    """
    base = None if path is None else carded_model(f"transformers:{model_source(path)}")
    if base is None:
        return None
    card = base.model_dump(mode="json", exclude={"folder", "sessions"}, exclude_unset=True)
    default = SamplingSpec().thinking
    if thinking is not None and base.sampling.get("thinking", default) != thinking:
        card["sampling"] = {"thinking": thinking}
    return {**card, "profile": base.profile}


def bounded_card(card: Mapping[str, Any] | None, longest: int) -> dict[str, Any] | None:
    """Return a card with a bound on the length of answers, so that one that never ends costs little.

    Args:
        card: The keys, as `world_card` returns them; None stays None.
        longest: The tokens of the longest answer that the model learns from; 0 where it learns from none.

    >>> bounded_card({"sampling": SAMPLING}, 40)["sampling"]["max_tokens"]
    80
    """
    if card is None or not longest:
        return None if card is None else dict(card)
    most = min(SAMPLING["max_tokens"], LONGER * longest)
    return {**card, "sampling": {**card["sampling"], "max_tokens": most}}


def joined_card(base: Mapping[str, Any] | None, learned: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the card of a model that learned from sessions after what its base had learned.

    It knows the domains of both where both read the same prompts, and otherwise those of its sessions alone. What it
    has not seen is not known. Its answers may be as long as those of either.

    >>> base = {"domains": ["android"], "profile": "compact", "forms": {"android": "state"}, "sampling": {}}
    >>> joined_card(base, {"domains": ["search"], "profile": "compact", "sampling": {}})["domains"]
    ['android', 'search']
    """
    if base is None or learned is None:
        return dict(base or learned or {}) or None
    if base["profile"] != learned["profile"]:
        return dict(learned)
    domains = list(dict.fromkeys([*base["domains"], *learned["domains"]]))
    earlier = {domain: form for domain, form in base.get("forms", {}).items() if domain not in learned["domains"]}
    card = {**learned, "domains": domains}
    if (most := learned["sampling"].get("max_tokens")) is not None:
        theirs = base["sampling"].get("max_tokens", SAMPLING["max_tokens"])
        card["sampling"] = {**learned["sampling"], "max_tokens": max(most, theirs)}
    forms = {**earlier, **learned.get("forms", {})}
    return {**card, "forms": forms} if forms else card


def _has(domain: str, form: Form) -> bool:
    return has_view(domain) if form == "state" else load_spec(domain).turn.restates


def _card(profile: Profile, forms: Mapping[str, Form]) -> dict[str, Any]:
    card = {"domains": list(forms), "profile": profile, "sampling": dict(SAMPLING)}
    other = {domain: form for domain, form in forms.items() if form != "full"}
    return {**card, "forms": other} if other else card


def write_card(model: Path, card: Mapping[str, Any] | None) -> None:
    """Write a card into the folder of a model, unless it has one."""
    if card is not None and not (model / CARD).exists():
        write_atomically(model / CARD, yaml.safe_dump(dict(card), sort_keys=False))


def copy_card(source: Path, model: Path) -> None:
    """Copy the card of a folder, if it has one, into the folder of a model, unless that has one."""
    if (source / CARD).is_file() and not (model / CARD).exists():
        write_atomically(model / CARD, (source / CARD).read_text(encoding="utf-8"))
