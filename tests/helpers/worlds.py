"""Worlds that tests play in, without a model and without a server."""

from __future__ import annotations

from collections.abc import Callable

import gymnasium as gym

import agentworld_gym
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.registration import find_domain
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds import LanguageWorld, WorldOptions, register_world

Answer = Callable[[ChatRequest], str | Completion | Failure]

DOMAIN_IDS = tuple(agentworld_gym.ENV_IDS)


def language_world(answer: Answer, domain: str = "terminal", **options: object) -> LanguageWorld:
    """A language world whose model is a function."""
    return WorldOptions(load_spec(domain), **options).language(ScriptedGenerator(answer))  # type: ignore[arg-type]


def dream(name: str, answer: Answer) -> str:
    """Register such a world under a name, for `gym.make(..., world=name)`."""
    register_world(name, lambda options: options.language(ScriptedGenerator(answer)))
    return name


def predicted(text: str) -> str:
    """A completion that predicts one observation."""
    return f"<predicted_observation>{text}</predicted_observation>"


def make(env_id: str = "AgentWorld/Terminal-v0", **options: object) -> gym.Env[str, str]:
    """The bare environment."""
    return gym.make(env_id, **options).unwrapped  # type: ignore[arg-type]


def quick_variant(domain: str) -> str:
    """The variant of a domain's engine that runs code in this process; empty where none starts programs for it."""
    found = find_domain(domain)
    return "monty" if found is not None and "monty" in found.variants else ""


def grounded_world(domain: str) -> str:
    """The grounded world of a domain, in the variant that is quick."""
    return f"grounded:{quick_variant(domain)}".rstrip(":")
