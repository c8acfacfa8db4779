"""How a model is prompted: one record, which goes through everything that prompts are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from agentworld_gym.core.domain.index import IndexBuilder
from agentworld_gym.core.domain.spec import Form, Profile
from agentworld_gym.core.domain.view import View
from agentworld_gym.core.engines.catalog import load_index, load_view
from agentworld_gym.llm.prompting.official import OfficialPrompts


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How a model is prompted, and how it writes its answers.

    >>> PromptOptions(profile="compact", form="change").for_domain("web").index is None
    True
    """

    profile: Profile = "full"
    """How much the prompts explain."""

    form: Form | None = None
    """How a model writes a next state; None takes the form of the spec."""

    folder: Path | str | None = None
    """A folder that may hold some of the templates. The others come from the folder `prompts` beside the file of the
    spec, and then from the shipped ones."""

    system: str | None = None
    """A ready system prompt that stands in for `system.j2`, as it is."""

    wording: int = 0
    """Which of ten system prompts that say the same (profile `full`); see
    `agentworld_gym.llm.prompting.wordings`."""

    official: OfficialPrompts | None = None
    """The official prompts, whose system prompt stands in for that of this package (profile `full`, form `full`); see
    `agentworld_gym.llm.prompting.official`."""

    view: View | None = None
    """The view of the domain, which the form `state` needs."""

    index: IndexBuilder | None = None
    """The index of the domain, which ranks and prints the hits of searches in the profile `compact`."""

    def for_domain(self, domain: str) -> PromptOptions:
        """Return these options with what a domain has for them: its view in the form `state`, its index in the profile
        `compact`."""
        view = load_view(domain) if self.form == "state" else None
        return replace(self, view=view, index=load_index(domain) if self.profile == "compact" else None)
