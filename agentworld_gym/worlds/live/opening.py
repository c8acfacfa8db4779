"""Opens live worlds by handle: `live`, `live:FILE`, and either with `+WORLD` for a language world of the same tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.contracts import World
from agentworld_gym.core.engines import EngineError
from agentworld_gym.kit.live import LiveSource
from agentworld_gym.llm.bundled_models import TINY, bundled_models, carded_model
from agentworld_gym.worlds.dreamed import DreamedWorld
from agentworld_gym.worlds.guard import Guard, GuardOptions
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.live.engines import LiveEngines
from agentworld_gym.worlds.live.world import LiveWorld
from agentworld_gym.worlds.own_tasks import language_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentworld_gym.worlds.options import WorldOptions


def open_live(handle: str, options: WorldOptions, open_world: Callable[[str, WorldOptions], World[Any]]) -> World[Any]:
    """Open a live world.

    Args:
        handle: The handle. `live` takes its configuration from the option of that name, or from each task.
        options: The domain, the configuration, and how a language world of it is prompted and sampled.
        open_world: The function that opens the language world behind a plus.

    Raises:
        SpecError: A key of the configuration is wrong, or there are two configurations.
        WorldNotConfigured: The domain has no live world, or the system cannot run here.
    """
    if handle.endswith((":", "+")):
        raise SpecError("options", "world", handle, "live, live:FILE, or either with +WORLD")
    named, _, behind = handle.partition("+")
    dreamer = language_part(behind)
    file = named.partition(":")[2]
    if file and options.live is not None:
        raise SpecError("options", "live", options.live, f"None beside world={named!r}, which names the configuration")
    given = file or options.live
    if dreamer in {TINY, *bundled_models()} or options.form == "state":
        why = "the bundled models and the form state know the grounded worlds alone"
        raise WorldNotConfigured(
            f"world={handle!r}: {why}; a language world of a live system is a server, vllm:MODEL ..."
        )
    engines = LiveEngines(options.spec, None if given is None else LiveSource.of(given))
    try:
        world = LiveWorld(engines, options.spec)
    except EngineError as error:
        engines.close()
        raise WorldNotConfigured(f"world={named!r}: the live system cannot be started: {error}") from error
    except BaseException:
        engines.close()
        raise
    if not dreamer:
        return world
    try:
        card = carded_model(dreamer)
        form = options.form or (None if card is not None and card.knows(options.spec) else "full")
        guard = None if options.guard is None else validated(GuardOptions, options.guard, "options.language.guard")
        dream = open_world(dreamer, options.model_copy(update={"form": form, "guard": None}))
        if isinstance(dream, LanguageWorld) and guard is not None:
            dream.guard = Guard(guard, world if guard.remedy == "ground" else None)
        return DreamedWorld.over(dream, world, handle, "live:FILE", _of_the_system)
    except BaseException:
        world.close()
        raise


def _of_the_system(part: str) -> bool:
    """Whether a part of the fingerprint is that of the system: its configuration, and what it tells of itself."""
    return part.partition(" ")[0] == "live"
