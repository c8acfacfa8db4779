"""`agentworld play --browser`: a person plays on a page that this machine alone serves."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import env_options, pairs, stdout
from agentworld_gym.cli.outputs import writable_folder

if TYPE_CHECKING:
    from agentworld_gym.envs.episodes.runner import EpisodeRunner

OF_ONE_DOMAIN = ("controls", "dialect", "scenario")
"""The options of environments that another domain than the first one does not take."""

SAVED = Path("played")
"""The folder of saved episodes, unless `--out` names another one."""


def play_in_browser(
    *,
    domain: str | None,
    worlds: tuple[str, str | None],
    episode: Mapping[str, Any],
    options: Mapping[str, Any],
    agent_options: list[str] | None,
    out: Path | None,
    port: int,
) -> None:
    """Serve the page until Ctrl-C.

    Args:
        domain: The domain or the spec that the page offers first; None offers the first one.
        worlds: The handles of the first world and of the second one; None takes the usual one.
        episode: The task, families, levels, seed and split that the page offers first.
        options: The other options of environments, as the command line has them. A dialect is one of that domain.
        agent_options: The options of language models that play.
        out: The folder of saved episodes.
        port: The port; 0 takes a free one.

    Raises:
        SpecError: An option is wrong.
        OSError: The server cannot listen on the port.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    from agentworld_gym.evaluation.playground import GameChoice, PlayedGame, Playground, PlayServer

    first = _first(GameChoice, domain, worlds, episode)

    def opened(name: str, world: str, split: str) -> EpisodeRunner:
        from agentworld_gym.envs.options import EnvOptions

        own = options if name == first.domain else {**options, **dict.fromkeys(OF_ONE_DOMAIN)}
        made = env_options(name, world=world, split=split, **own)
        if world.startswith(("http:", "https:", "vllm:")):
            language = made.setdefault("language", {})
            language["generator"] = {"confidence": True, **language.get("generator", {})}
        return EnvOptions(**made).runner()

    folder = writable_folder(out or SAVED, "--out")
    desk = Playground(PlayedGame(opened, pairs(agent_options, "--agent-option")), folder, first)
    with PlayServer(desk, port) as server:
        console = stdout()
        console.print(server.address, markup=False, highlight=False, soft_wrap=True)
        console.print(
            f"Play on this page; it is yours alone. Episodes are saved in {folder}. Ctrl-C ends it.", style="dim"
        )
        sys.stdout.flush()
        with _shown(server.address):
            desk.run()


def _first(make: Any, domain: str | None, worlds: tuple[str, str | None], episode: Mapping[str, Any]) -> Any:
    """Return what the page offers first.

    Raises:
        SpecError: Several families or levels are named.
    """
    from agentworld_gym.core.registration import all_domains
    from agentworld_gym.evaluation.playground.records import choices

    for option in ("families", "levels"):
        if len(episode[option] or ()) > 1:
            name = {"families": "--family", "levels": "--level"}[option]
            raise SpecError("command line", name, list(episode[option]), "one alone: the page plays one task at a time")
    left, right = worlds
    if left == "auto":
        left = os.environ.get("AGENTWORLD_WORLD") or "grounded"
    domain = domain or next(iter(all_domains()))
    if right is None and left == "grounded" and "tiny" in choices(domain)["worlds"]:
        right = "tiny"
    return make(
        domain,
        (left,) if right is None else (left, right),
        episode["task"],
        (episode["families"] or [None])[0],
        (episode["levels"] or [None])[0],
        episode["seed"],
        episode["split"],
    )


@contextmanager
def _shown(address: str) -> Iterator[None]:
    """Open an address in the browser, where there is a screen.

    The browser is given a file that leads there, and which its owner alone can read: arguments of programs can be read
    by everybody on a machine.
    """
    screen = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if not (screen and sys.stdout.isatty()):
        yield
        return
    handle, file = mkstemp(prefix="agentworld-play-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as page:
            page.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">')
        with suppress(webbrowser.Error):
            webbrowser.open(Path(file).as_uri())
        yield
    finally:
        with suppress(OSError):
            os.unlink(file)
