"""The picture of the playground: an expert sets an alarm on the phone, in the grounded world and in a dream of it.

`python docs/_hooks/playground_picture.py` makes `docs/images/playground.png` anew, from the page of `agentworld play
--browser`. It needs Chromium, and the extras `browser`, `lwm` and `render`.
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
from agentworld_gym.evaluation.playground import GameChoice, PlayedGame, Playground, PlayServer

TARGET = Path(__file__).resolve().parents[1] / "images" / "playground.png"
EPISODE = GameChoice("android", ("grounded", "tiny"), level=2, seed=8)
STEPS = 3
"""The turn at which the dream is wrong, and knows it."""
WIDTH, HEIGHT = 1240, 900
SHADES = 128
PATIENCE_MS = 60_000


def opened(domain: str, world: str, split: str) -> Any:
    """Open the runner of a world."""
    return EnvOptions(spec=domain, world=world, split=split).runner()


def taken(page: Any, address: str) -> bytes:
    """Play the steps of the expert on the page, and return a picture of it."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Begin").click()
    for turn in range(STEPS + 1):
        expect(page.locator(".turn-row")).to_have_count(turn + 1, timeout=PATIENCE_MS)
        if turn < STEPS:
            page.get_by_role("button", name="Step").click()
    expect(page.locator(".picture[data-ready]")).to_have_count(2, timeout=PATIENCE_MS)
    page.mouse.move(0, 0)
    return bytes(page.screenshot())


def main() -> None:
    """Play on the page, and write the picture."""
    with TemporaryDirectory() as folder:
        desk = Playground(PlayedGame(opened), Path(folder), EPISODE)
        thread = threading.Thread(target=desk.run)
        thread.start()
        try:
            with PlayServer(desk) as server, sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                picture = taken(page, server.address)
                browser.close()
        finally:
            desk.end()
            thread.join()
    shown = Image.open(BytesIO(picture)).convert("RGB")
    shown.quantize(SHADES, dither=Image.Dither.NONE).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
