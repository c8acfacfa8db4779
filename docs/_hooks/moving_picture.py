"""The moving picture of the README, and a still of it: an expert sets an alarm on the phone, and beside it in a dream.

`python docs/_hooks/moving_picture.py` makes `docs/images/episode.gif` and `docs/images/playground.png` anew, from the
page of `agentworld play --browser`. It needs Chromium, and the extras `browser`, `lwm` and `render`.
"""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from agentworld_gym.domains.web.engine.chromium.driver import find_chromium
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.playground import Choice, Desk, Game, PlayServer

IMAGES = Path(__file__).resolve().parents[1] / "images"
EPISODE = Choice("android", ("grounded", "tiny"), level=2, seed=8)
WIDTH, HEIGHT = 1240, 900
MOVING = 900, 653
STILL = 3
"""The turn at which the dream is wrong, and knows it."""
SECONDS, STILL_SECONDS, LAST_SECONDS = 1.4, 3.5, 3.0
SHADES = 64


def frames(page: Any, address: str) -> list[Image.Image]:
    """The page at the start and after each step of the expert."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.get_by_role("button", name="Begin").click()
    made = [frame(page, 0)]
    while page.get_by_role("button", name="Step").is_enabled():
        page.get_by_role("button", name="Step").click()
        made.append(frame(page, len(made)))
    return made


def frame(page: Any, turn: int) -> Image.Image:
    """The page once a turn is shown."""
    expect(page.locator(".turn-row")).to_have_count(turn + 1, timeout=60_000)
    expect(page.locator("#busy")).to_have_text("")
    expect(page.locator(".picture[data-ready]")).to_have_count(2, timeout=60_000)
    page.mouse.move(0, 0)
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def main() -> None:
    """Play the episode on the page, and write the pictures."""

    def opened(domain: str, world: str, split: str) -> Any:
        return EnvOptions(spec=domain, world=world, split=split).runner()

    with TemporaryDirectory() as folder:
        desk = Desk(Game(opened), Path(folder), EPISODE)
        thread = threading.Thread(target=desk.run)
        thread.start()
        with PlayServer(desk) as server, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            made = frames(page, server.address)
            browser.close()
            desk.end()
            thread.join()
    made[STILL].quantize(128, dither=Image.Dither.NONE).save(IMAGES / "playground.png", optimize=True)
    small = [one.resize(MOVING, Image.Resampling.LANCZOS) for one in made]
    shades = [one.quantize(SHADES, dither=Image.Dither.NONE) for one in small]
    times = [round(1000 * SECONDS)] * len(made)
    times[STILL], times[-1] = round(1000 * STILL_SECONDS), round(1000 * LAST_SECONDS)
    shades[0].save(
        IMAGES / "episode.gif", save_all=True, append_images=shades[1:], duration=times, loop=0, optimize=True
    )


if __name__ == "__main__":
    main()
