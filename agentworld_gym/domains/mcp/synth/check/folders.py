"""Checks whatever worlds a folder holds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, WorldNotConfigured
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.files import CODE
from agentworld_gym.domains.mcp.scenario_tasks import scenario_folders
from agentworld_gym.domains.mcp.synth.backends.awm_sandbox import AwmSandboxes
from agentworld_gym.domains.mcp.synth.check.awm import examine_awm
from agentworld_gym.domains.mcp.synth.check.declarative import examine_scenario
from agentworld_gym.domains.mcp.synth.check.examination import Examined
from agentworld_gym.domains.mcp.synth.database import bound_heap
from agentworld_gym.domains.mcp.synth.pipeline import WORLDS

logger = logging.getLogger(__name__)


def examine(folder: Path) -> Iterator[Examined]:
    """Check the worlds of a folder: AWM's files, a scenario, folders of scenarios, or the folder of a run.

    Raises:
        MissingFile: There is no world.
        WorldNotConfigured: AWM's worlds cannot be run here; the message says what to install.
        SpecError: A file of AWM's cannot be read.
    """
    bound_heap()
    places = [place for place in (folder, folder / WORLDS) if place.is_dir()]
    if not places:
        raise MissingFile(folder, "a folder with worlds", kind="folder")
    awm = next((place for place in places if (place / CODE).is_file()), None)
    if awm is not None:
        try:
            sandboxes = AwmSandboxes()
        except EngineError as error:
            raise WorldNotConfigured(f"the worlds in {awm} cannot be run here: {error}") from error
        with closing(sandboxes):
            yield from examine_awm(awm, sandboxes)
        return
    scenarios = next((place for place in reversed(places) if _has_scenarios(place)), folder)
    for scenario in scenario_folders(scenarios):
        yield _examined(scenario)


def _examined(folder: Path) -> Examined:
    try:
        return examine_scenario(folder)
    except Exception as error:  # What nobody thought of costs one world, not the check of the others.
        logger.exception("the check of %s failed", folder)
        problem = f"the check failed: {type(error).__name__}: {error}"
        return Examined(None, folder.resolve().name, problems=(problem,))


def _has_scenarios(folder: Path) -> bool:
    return (folder / "scenario.yaml").is_file() or any(folder.glob("*/scenario.yaml"))
