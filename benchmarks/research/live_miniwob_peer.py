"""BrowserGym's own environment of MiniWoB++, one JSON line for each request; `live_miniwob.py` starts it.

It runs where `browsergym-miniwob` is installed, and imports nothing of this package.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import browsergym.core.env
import browsergym.miniwob
import gymnasium as gym

TRIES = 20
"""How often an action is tried that BrowserGym gives up after its half a second, as it does on a busy machine."""


class Chat:
    """A chat without the browser that BrowserGym opens to show it; no task of MiniWoB++ talks."""

    def __init__(self, **_: Any) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, msg: str) -> None:
        """Keep a message."""
        self.messages.append({"role": role, "timestamp": 0.0, "message": msg})

    def close(self) -> None:
        """Do nothing."""


def main() -> None:
    """Answer requests until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr
    browsergym.core.env.Chat = Chat
    env: Any = None
    task = ""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    for line in sys.stdin:
        request = json.loads(line)
        if "task" in request:
            if env is None or task != request["task"]:
                if env is not None:
                    env.close()
                task = request["task"]
                chromium = {"executable_path": os.environ["PEER_CHROMIUM"], "chromium_sandbox": not arguments}
                env = gym.make(f"browsergym/miniwob.{task}", slow_mo=0, pw_chromium_kwargs=chromium)
            observation, _ = env.reset(seed=request["seed"])
            answer = {"goal": observation["goal"]}
        else:
            answer = acted(env, request)
        print(json.dumps(answer), file=answers, flush=True)
    if env is not None:
        env.close()


def acted(env: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Act on an element, and return what that paid."""
    named = {"name": request["name"], "exact": True} if request["name"] else {}
    bid = env.unwrapped.page.get_by_role(request["role"], **named).nth(request["place"]).get_attribute("bid")
    if request["call"] == "browser_type":
        action = f"fill({bid!r}, {request['text']!r})"
    elif request["call"] == "browser_select_option":
        action = f"select_option({bid!r}, {request['values'][0]!r})"
    else:
        action = f"click({bid!r})"
    for _ in range(TRIES):
        observation, reward, terminated, _, info = env.step(action)
        if "Timeout" not in observation["last_action_error"]:
            break
    told = info["task_info"]
    raw = told.get("RAW_REWARD_GLOBAL", 0)
    error = observation["last_action_error"]
    return {"reward": reward, "raw": raw, "done": terminated, "action": action, "error": error}


if __name__ == "__main__":
    main()
