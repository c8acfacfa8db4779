"""The configuration of a recording: which sessions of grounded worlds are played, and by whom."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from agentworld_gym.agents.policies.registry import is_model
from agentworld_gym.base.documents.strict import Positive, Share, Strict
from agentworld_gym.core.domain.spec import Form, Profile, SamplingSpec
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.registration import find_domain

PolicyName = Literal["expert", "mixed", "menu", "explore", "compute", "free", "blend", "refusals"]


class CollectConfig(Strict):
    """Which sessions to record."""

    world: str = "grounded"
    """The world whose sessions are recorded: `grounded`, `live:FILE` for a user's own system, or `awm:DIR` for a folder
    of AWM's worlds. The tasks of the latter two have no levels, families and splits. Where they have no expert, the
    policies `explore`, `menu` and `free` play them, or the `agent`; a live world is explored alone by default."""

    agent: str | None = None
    """The handle of an agent that plays the tasks, as `http://localhost:8000/v1` (see
    `agentworld_gym.agents.policies.registry`). None lets the policies play."""

    agent_share: float = Field(default=1.0, gt=0, le=1)
    """The probability that the agent plays a session; the policies play the others."""

    agent_sampling: SamplingSpec = SamplingSpec(max_tokens=4096)
    """How that model samples."""

    profile: Profile = "full"
    """The profile of the prompts."""

    form: Form = "full"
    """How a next state is written in the domains whose spec restates it in every turn."""

    policies: dict[PolicyName, float] = Field(
        default={"expert": 0.25, "mixed": 0.3, "menu": 0.2, "explore": 0.1, "blend": 0.15}, min_length=1
    )
    """The policies and their shares, which need not add up to one. A domain leaves out those that cannot play it."""

    levels: dict[int, float] = Field(default={1: 0.4, 2: 0.35, 3: 0.25}, min_length=1)
    """The levels of difficulty and their shares, which need not add up to one."""

    families: tuple[str, ...] = ()
    """The families of tasks; an empty tuple stands for all families of the domain."""

    controls_share: Share = 0.0
    """The probability that controls of the domain disturb a session."""

    probe_share: Share = 0.2
    """The probability that a session ends with the probes of its task, which is how environments look at a state."""

    slip: float = Field(default=0.3, ge=0, lt=1)
    """The probability that the mixed policy errs before a step."""

    mix: dict[str, Positive] = Field(default_factory=dict)
    """How many sessions of each domain make up a round, in which the domains take turns; 1 for those not named. A
    domain in another dialect than its first is named as `swe:claude-code`."""

    max_turns: Positive = 40
    """The most turns that a session may have."""

    engines: dict[str, str] = Field(default_factory=dict)
    """The variant of the engine by domain, as `{swe: monty}`; a domain that is not named has its default one. Rows name
    the variant that played them (`provenance.variant`)."""

    def options(self) -> dict[str, Any] | None:
        """Return the options of the agent; one that is no language model has none but the default ones."""
        changed = self.agent_sampling != type(self).model_fields["agent_sampling"].default
        model = self.agent is not None and is_model(self.agent)
        return self.agent_sampling.model_dump() if model or changed else None

    @field_validator("engines")
    @classmethod
    def _known_variants(cls, engines: dict[str, str]) -> dict[str, str]:
        for domain, variant in engines.items():
            found = find_domain(domain)
            if found is None or found.engine is None:
                raise ValueError(f"domains with an engine in place of {domain!r}: {', '.join(engine_names())}")
            variants = [name for name in found.variants if name]
            if variant not in variants:
                known = f"one of {', '.join(variants)}" if variants else "no variant (its engine has none)"
                raise ValueError(f"for {domain} {known} in place of {variant!r}")
        return engines


class SmallModelSessions(CollectConfig):
    """The sessions that a small model learns from: compact prompts, and screens written as their changes."""

    profile: Profile = "compact"
    form: Form = "change"
