"""The pictures of the playground: an expert sets an alarm on the phone, in the grounded world and in a dream of it.

`python docs/_hooks/playground_picture.py` makes `docs/images/playground.png` and the README's `playground.gif` anew,
from the page of `agentworld play --browser`. It needs Chromium, and the extras `browser`, `lwm` and `render`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from agentworld_gym.domains.web.engine.chromium.driver import find_chromium
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.playground import GameChoice, PlayedGame, Playground, PlayServer

IMAGES = Path(__file__).resolve().parents[1] / "images"
EPISODE = GameChoice("android", ("grounded", "tiny"), level=2, seed=8)
SHOWN = 3
"""The turn at which the dream is wrong, and knows it: that of the picture that does not move."""
STEPS = 8
"""The number of steps of the expert, its `finish` included."""
WIDTH, HEIGHT = 1240, 900
SHADES = 128
SECONDS, LONG_SECONDS = 1.6, 3.5
"""How long a turn is shown, and how long the one that differs and the last one are."""
PATIENCE_MS = 60_000


def opened(domain: str, world: str, split: str) -> Any:
    """Open the runner of a world."""
    return EnvOptions(spec=domain, world=world, split=split).runner()


def taken(page: Any, address: str) -> Iterator[Image.Image]:
    """Play the steps of the expert on the page, and yield a picture of it at the start and after each of them."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Begin").click()
    for turn in range(STEPS + 1):
        expect(page.locator(".turn-row")).to_have_count(turn + 1, timeout=PATIENCE_MS)
        expect(page.locator(".picture[data-ready]")).to_have_count(2, timeout=PATIENCE_MS)
        page.mouse.move(0, 0)
        yield Image.open(BytesIO(page.screenshot())).convert("RGB")
        if turn < STEPS:
            page.get_by_role("button", name="Step").click()


def moving(frames: list[Image.Image]) -> None:
    """Write the picture that moves; all of its frames share one palette, in which the colours of rare marks have a
    place too."""
    width, height = frames[0].size
    strip = Image.new("RGB", (width, height * len(frames)))
    for place, one in enumerate(frames):
        strip.paste(one, (0, place * height))
    palette = strip.quantize(SHADES, method=Image.Quantize.MAXCOVERAGE)
    shades = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
    times = [round(1000 * (LONG_SECONDS if turn in (SHOWN, STEPS) else SECONDS)) for turn in range(len(frames))]
    target = IMAGES / "playground.gif"
    shades[0].save(target, save_all=True, append_images=shades[1:], duration=times, loop=0, optimize=True)


def main() -> None:
    """Play on the page, and write the pictures."""
    with TemporaryDirectory() as folder:
        desk = Playground(PlayedGame(opened), Path(folder), EPISODE)
        thread = threading.Thread(target=desk.run)
        thread.start()
        try:
            with PlayServer(desk) as server, sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                frames = list(taken(page, server.address))
                browser.close()
        finally:
            desk.end()
            thread.join()
    still = frames[SHOWN].quantize(SHADES, dither=Image.Dither.NONE)
    still.save(IMAGES / "playground.png", optimize=True)
    moving(frames)


if __name__ == "__main__":
    main()
