"""The grounded world of a domain, in one of its variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.base.fingerprint import Fingerprint, Part, installed
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.engines import EngineError, VariantEngine
from agentworld_gym.core.engines.catalog import load_engine, parts_of
from agentworld_gym.core.registration import BUILT_IN_WORLDS, all_domains, find_domain
from agentworld_gym.worlds.grounded import GroundedWorld

MODELS = "vllm:MODEL, a server's URL such as http://localhost:8000/v1, or transformers:DIR"
"""The handles of worlds that a language model plays, for messages."""


def open_grounded(spec: DomainSpec, variant: str = "", scenario: str | None = None) -> GroundedWorld:
    """Open the grounded world of a domain.

    Args:
        spec: The domain.
        variant: The variant; an empty one takes the first that there is.
        scenario: The folder of the scenario that its tasks play on; None where they play on those of the package.

    Raises:
        WorldNotConfigured: The domain has no grounded world, or none of this variant, or it cannot run here.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> open_grounded(load_spec("terminal")).deterministic
    True
    """
    domain = find_domain(spec.id)
    if domain is None or domain.engine is None:
        raise WorldNotConfigured(
            f"{spec.env_id} has no grounded world; pass world={MODELS}, 'scripted' or 'recorded:PATH', "
            "or set AGENTWORLD_WORLD"
        )
    if variant and variant not in domain.variants:
        variants = ", ".join(["grounded", *(f"grounded:{name}" for name in domain.variants if name)])
        raise WorldNotConfigured(f"world='grounded:{variant}' does not exist for {spec.env_id}; there is {variants}")
    try:
        engine = load_engine(spec.id, variant)
    except EngineError as error:
        raise WorldNotConfigured(f"world='grounded:{variant}' cannot run here: {error}") from error
    actual = engine.variant if isinstance(engine, VariantEngine) else variant
    parts = {
        "world": Part("grounded", True),
        "engine": Part(":".join(filter(None, (spec.id, actual))), True),
        "spec": Part(spec.digest(), True),
        "agentworld-gym": Part(installed("agentworld-gym"), True),
    }
    if scenario is not None:
        parts["scenario"] = Part(scenario_tasks_of(spec, scenario).digest(Path(scenario)), True)
    return GroundedWorld(engine, Fingerprint(parts | parts_of(spec.id, actual)), spec)


def engine_variants() -> dict[str, list[str]]:
    """Return the names of engines' variants, which are handles of worlds, with the ids of the environments.

    >>> engine_variants()["chromium"]
    ['AgentWorld/Web-v0']
    """
    found: dict[str, list[str]] = {}
    for domain in all_domains().values():
        for name in domain.variants:
            if name and name not in BUILT_IN_WORLDS:
                found.setdefault(name, []).append(domain.env_id)
    return found


def scenario_tasks_of(spec: DomainSpec, folder: str) -> Any:
    """Return the class of the tasks in a scenario's folder; see `Domain.scenario_tasks`.

    Raises:
        SpecError: The domain plays on no scenarios.
    """
    domain = find_domain(spec.id)
    found = None if domain is None else domain.part("scenario_tasks")
    if found is None:
        having = " and ".join(one.id for one in all_domains().values() if one.scenario_tasks is not None)
        expected = f"None: scenarios belong to {having}, not to {spec.id}"
        raise SpecError("options", "world_options.scenario", folder, expected)
    return found
