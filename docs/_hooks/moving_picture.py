"""The moving picture of the README: an expert orders goods on the phone.

`python docs/_hooks/moving_picture.py` makes `docs/images/episode.gif` anew.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import gymnasium as gym
from PIL import Image, ImageDraw, ImageFont

import agentworld_gym  # noqa: F401
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.screens.locate import resolve

TARGET = Path(__file__).resolve().parents[1] / "images" / "episode.gif"
PHONE, PANEL = (216, 480), 360
SECONDS, LAST_SECONDS = 1.4, 3.0


def frame(screen: Image.Image, task: str, done: list[str], end: str) -> Image.Image:
    """A screen with the task beside it, the actions so far, and how the episode ended."""
    width, height = PHONE
    picture = Image.new("RGB", (width + PANEL, height), "#10131a")
    picture.paste(screen.resize(PHONE, Image.Resampling.LANCZOS), (0, 0))
    draw = ImageDraw.Draw(picture)
    font, place = ImageFont.load_default(13), 20
    for text, colour in ((task, "#ffffff"), *((f"> {line}", "#8fd3ff") for line in done), (end, "#9be08a")):
        for line in textwrap.wrap(text, 50):
            draw.text((width + 20, place), line, fill=colour, font=font)
            place += 17
        place += 7
    return picture


def main() -> None:
    """Play the episode and write the picture."""
    env = gym.make("AgentWorld/Android-v0", render_mode="rgb_array", families=["order_goods"], levels=[1])
    observation, _ = env.reset(seed=3)
    task, done, end = str(observation).split("\n")[0], [], ""
    frames = [frame(Image.fromarray(env.render()), task, done, end)]
    for action in env.unwrapped.task.expert:
        found = resolve(action, read_screen("android", str(observation)))
        observation, *_, info = env.step(found or action)
        done.append(re.sub(r'"(action_type|app_name|index)": |[{}"@]', "", action))
        end = f"success: {info['success']}" if "success" in info else ""
        frames.append(frame(Image.fromarray(env.render()), task, done, end))
    env.close()
    shades = [one.quantize(16, dither=Image.Dither.NONE) for one in frames]
    times = [round(1000 * SECONDS)] * (len(frames) - 1) + [round(1000 * LAST_SECONDS)]
    shades[0].save(TARGET, save_all=True, append_images=shades[1:], duration=times, loop=0, optimize=True)


if __name__ == "__main__":
    main()
