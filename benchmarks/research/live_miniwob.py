"""MiniWoB++ through the ids of live worlds: rewards beside BrowserGym's own environment, and MaskablePPO.

    python benchmarks/research/live_miniwob.py rewards --peer PYTHON     # the interpreter with browsergym-miniwob
    python benchmarks/research/live_miniwob.py ppo click-button --steps 1024 --seeds 0 1 2
    python benchmarks/research/live_miniwob.py ppo click-button click-tab --world runs/mini/world   # in a dream alone
    python benchmarks/research/live_miniwob.py random click-button

In a dream of recordings the pages are those that were recorded, of all tasks, and no browser is opened; each task is
then tested on the pages themselves.

BrowserGym wants old versions of Playwright and Gymnasium, so that it plays in a process of its own
(`live_miniwob_peer.py`). Both see the same seeds, and the same actions on the same elements, by role and name.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agentworld_gym  # noqa: F401
from agentworld_gym.domains.web.engine.chromium.driver import find_chromium
from agentworld_gym.domains.web.live import miniwob
from agentworld_gym.domains.web.screen_texts import read

ENV = "AgentWorld/Web-v0"
MENU = "AgentWorld/WebMenu-v0"
CHOICES = 16
TASKS = (
    "click-button",
    "click-button-sequence",
    "click-checkboxes",
    "click-dialog-2",
    "click-option",
    "click-test-2",
    "choose-list",
    "enter-text",
    "focus-text-2",
    "login-user",
)
MAX_STEPS = 8
PPO = {"n_steps": 16, "batch_size": 64, "n_epochs": 8, "learning_rate": 1e-3, "gamma": 0.98, "ent_coef": 0.01}
MEMBERS = 8


def live(task: str, **more: Any) -> dict[str, Any]:
    """Return the configuration of a task."""
    return {"miniwob": task, "settle_seconds": 0.02, "limits": {"start_seconds": 300, "step_seconds": 300}, **more}


class Peer:
    """BrowserGym's environment in a process of its own."""

    def __init__(self, python: str) -> None:
        pages = {"MINIWOB_URL": f"file://{miniwob.pages()}/miniwob/", "PEER_CHROMIUM": find_chromium()}
        words = [python, str(Path(__file__).with_name("live_miniwob_peer.py"))]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env={**os.environ, **pages})

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def placed(call: dict[str, Any], shown: str) -> dict[str, Any]:
    """Return a call whose element is named by its role, its name if it has one, and its place among those alike."""
    nodes = [node for node in read(shown) if node.handle]
    node = next(node for node in nodes if node.handle == call["arguments"]["ref"])
    alike = [other.handle for other in nodes if other.role == node.role and node.name in ("", other.name)]
    element = {"role": node.role, "name": node.name, "place": alike.index(node.handle)}
    return {"call": call["name"], **element, "text": call["arguments"].get("text"), **_values(call)}


def _values(call: dict[str, Any]) -> dict[str, Any]:
    return {"values": call["arguments"]["values"]} if "values" in call["arguments"] else {}


def by_words(instruction: str, actions: Sequence[str], done: Sequence[str]) -> str:
    """Return the action whose words stand most often in the instruction; where none is left, what sends a form."""
    words = set(re.findall(r"\w+", instruction.lower()))
    best, most = None, 0.0
    for action in actions:
        asked = json.loads(action)["arguments"]
        told = re.findall(r"\w+", asked["element"].rpartition(" ")[0].lower())
        score = sum(word in words for word in told) / len(told) if told else 0.0
        score += 0.5 * ("text" in asked)
        if action not in done and score > most and told != ["submit"]:
            best, most = action, score
    fallback = next((one for one in actions if '"submit button"' in one.lower()), actions[-1])
    return best or fallback


def rewards(asked: argparse.Namespace) -> None:
    """Play the same actions in both, and compare their rewards."""
    print("| task | episodes | actions | equal | ended in both | won |\n|---|---|---|---|---|---|")
    total = [0, 0]
    with closing(Peer(asked.peer)) as peer:
        for task in asked.tasks or TASKS:
            env: Any = gym.make(ENV, world="live", live=live(task), max_steps=MAX_STEPS)
            equal = actions = ends = won = 0
            for seed in asked.seeds:
                dice = random.Random(f"{task}/{seed}")
                careful = seed % 2 == 0
                spec = {"instruction": "MiniWoB++", "state": {"seed": seed}, "family": "free_play", "success": []}
                shown, info = env.reset(seed=seed, options={"task": {"id": f"{task}-{seed}", **spec}})
                theirs = peer.ask(task=task, seed=seed)
                asked_for, done = info["instruction"], list[str]()
                assert theirs["goal"].strip() == asked_for.strip(), (theirs["goal"], asked_for)
                over = False
                while not over:
                    offers = [one for one in info["admissible"] if "browser_" in one]
                    action = by_words(asked_for, offers, done) if careful else dice.choice(offers)
                    answer = peer.ask(**placed(json.loads(action), shown))
                    seen, _, terminated, truncated, info = env.step(action)
                    shown, done = seen if "### Snapshot" in seen else shown, [*done, action]
                    verdict = info["reward_parts"]["environment"]
                    same = (verdict, float(verdict > 0), terminated) == (
                        answer["raw"],
                        answer["reward"],
                        answer["done"],
                    )
                    equal, actions, ends = equal + same, actions + 1, ends + (terminated and answer["done"])
                    if not same:
                        print(f"<!-- {task} {seed}: {action}: {verdict}, {terminated}; BrowserGym: {answer} -->")
                    over = terminated or truncated or answer["done"]
                won += info.get("success") is True
            total = [total[0] + equal, total[1] + actions]
            print(f"| `{task}` | {len(asked.seeds)} | {actions} | {equal} | {ends} | {won} |", flush=True)
            env.close()
    print(f"\n{total[0]} of {total[1]} rewards and ends are equal.")


def success_of(choose: Callable[[Any, Any], Any], task: str, episodes: int) -> float:
    """Return the share of unseen episodes that are won by who chooses by a vector and a mask."""
    options: Any = {"live": live(task), "max_steps": MAX_STEPS, "split": "test", "encoder": {"max_menu": CHOICES}}
    env: Any = gym.make(MENU, world="live", **options)
    won = 0
    with closing(env):
        for seed in range(episodes):
            vector, info = env.reset(seed=seed)
            over = False
            while not over:
                vector, _, terminated, truncated, info = env.step(int(choose(vector, info["action_mask"])))
                over = terminated or truncated
            won += info.get("success") is True
    return won / episodes


def ppo(asked: argparse.Namespace) -> None:
    """Train with each seed, and print the success on unseen episodes."""
    from sb3_contrib import MaskablePPO

    from agentworld_gym.integrations.sb3 import MenuPolicy, TextEncoder, make_sb3_env

    if asked.world is None and len(asked.tasks) != 1:
        raise SystemExit("on the pages themselves one task is trained at a time")
    for seed in asked.seeds:
        encoder = TextEncoder(max_menu=CHOICES)
        world = {"live": live(*asked.tasks)} if asked.world is None else {"world": asked.world}
        env = make_sb3_env(ENV, MEMBERS, seed, encoder=encoder, max_steps=MAX_STEPS, **world)
        began = time.monotonic()
        model = MaskablePPO(MenuPolicy, env, device="cpu", seed=seed, **PPO)  # type: ignore[arg-type]
        model.learn(asked.steps)
        rate = asked.steps / (time.monotonic() - began)
        env.close()

        def choose(vector: Any, mask: Any, model: Any = model) -> Any:
            return model.predict(vector, action_masks=mask.astype(bool), deterministic=True)[0]

        for task in asked.tasks:
            won = success_of(choose, task, asked.episodes)
            told = f"{task}, seed {seed}: {asked.steps} steps at {rate:.2f}/s, won {won:.2f} of {asked.episodes}"
            print(told, flush=True)


def main() -> None:
    """Do what the command says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rewards", "ppo", "random"))
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--peer", default="python")
    parser.add_argument("--world", help="the folder of a dream to train in; without, the pages themselves")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3])
    parser.add_argument("--steps", type=int, default=1024)
    parser.add_argument("--episodes", type=int, default=50)
    asked = parser.parse_args()
    if asked.what == "rewards":
        rewards(asked)
    elif asked.what == "ppo":
        ppo(asked)
    else:
        for task in asked.tasks or TASKS:
            dice = np.random.default_rng(0)
            won = success_of(lambda _, mask, dice=dice: dice.choice(np.flatnonzero(mask)), task, asked.episodes)
            print(f"{task}: random wins {won:.2f} of {asked.episodes}", flush=True)


if __name__ == "__main__":
    main()
