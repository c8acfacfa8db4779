"""Worlds of Agent World Model by handle: `awm:DIR`, and `awm:DIR+WORLD` where a language world plays them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.contracts import World
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles
from agentworld_gym.domains.mcp.awm.rows_beside import RowsBeside
from agentworld_gym.domains.mcp.awm.world import AwmOptions, AwmWorld
from agentworld_gym.llm.bundled_models import TINY, bundled_models
from agentworld_gym.worlds.dreamed import DreamedWorld
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.own_tasks import language_part
from agentworld_gym.worlds.registry import open_world


def open_awm(handle: str, place: str, options: WorldOptions) -> World[Any]:
    """Open the worlds in a folder.

    Args:
        handle: The whole handle.
        place: The folder, and behind a plus the language world that plays its tasks.
        options: The domain, and how a language world of it is prompted and sampled.

    Raises:
        SpecError: An option asks for what these worlds do not have.
        WorldNotConfigured: The worlds cannot run here, or no language world stands behind the plus.
        MissingFile: The folder lacks a file.
    """
    named, _, behind = place.partition("+")
    dreamer = language_part(behind)
    if dreamer and (options.guard or {}).get("remedy") == "ground":
        # The grounded world of the domain does not know these tasks.
        raise SpecError(
            "options", "language.guard.remedy", "ground", "'end': no guard grounds the steps of a world of AWM"
        )
    if dreamer == TINY or dreamer in bundled_models():
        unknown = "no small model knows the tools of these worlds, and nothing prints their answers from a state"
        raise WorldNotConfigured(f"world='{handle}': {unknown}")
    if dreamer and options.form == "state":
        raise SpecError(
            "options", "language.form", "state", "full: nothing prints the answers of a world of AWM from a state"
        )
    folder = Path(named)
    files = AwmFiles(folder)
    chosen = AwmOptions(**(options.world_options or {}))
    try:
        engine = AwmEngine(files, chosen.processes, chosen.loaded, chosen.worlds, chosen.beginning)
    except EngineError as error:
        raise WorldNotConfigured(f"world='awm:{folder}' cannot run here: {error}") from error
    world = AwmWorld(engine, options.spec, chosen)
    if not dreamer:
        return world
    try:
        language = options.model_copy(update={"form": options.form or "full"})
        parts = {"files", "options"}.__contains__
        return DreamedWorld.over(
            open_world(dreamer, language), world, handle, "awm:DIR", parts, partial(RowsBeside, world)
        )
    except BaseException:
        world.close()
        raise
