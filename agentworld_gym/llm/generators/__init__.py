"""Generators turn chat messages into completions: a server, an engine in process, a local model, or a script.

`open_generator` makes a generator from a short string; engines that are opened by the same string are shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentworld_gym.llm.generators.handles import HANDLES, open_generator
from agentworld_gym.llm.generators.scripted import ScriptedGenerator

if TYPE_CHECKING:
    from agentworld_gym.llm.generators.server.generator import ServerGenerator
    from agentworld_gym.llm.generators.server.replicas import ReplicaGenerator
    from agentworld_gym.llm.generators.transformers import TransformersGenerator
    from agentworld_gym.llm.generators.vllm_engine import VLLMGenerator

__all__ = [
    "HANDLES",
    "ReplicaGenerator",
    "ScriptedGenerator",
    "ServerGenerator",
    "TransformersGenerator",
    "VLLMGenerator",
    "open_generator",
]


def __getattr__(name: str) -> Any:
    """Import a heavier generator when it is first used."""
    if name == "ServerGenerator":
        from agentworld_gym.llm.generators.server.generator import ServerGenerator

        return ServerGenerator
    if name == "ReplicaGenerator":
        from agentworld_gym.llm.generators.server.replicas import ReplicaGenerator

        return ReplicaGenerator
    if name == "TransformersGenerator":
        from agentworld_gym.llm.generators.transformers import TransformersGenerator

        return TransformersGenerator
    if name == "VLLMGenerator":
        from agentworld_gym.llm.generators.vllm_engine import VLLMGenerator

        return VLLMGenerator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
