"""Experts that show what each control of the phone does: one that fails under it, and one that copes with it.

The experts of a task follow one plan. They differ in how they touch elements, and in what they do when a screen comes
up that they did not ask for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from functools import partial

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import ScreenNode, read_screen, resolve_if_shown
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver
from agentworld_gym.domains.android.tasks.actions import BACK, WAIT, app, tap
from agentworld_gym.domains.android.tasks.settings import SWITCHES

SHADE = '{"action_type": "swipe", "direction": "down", "x": 540, "y": 10}'
REFUSALS = ("No thanks", "Later", "Don't allow", "Not now")
_ORDER = re.compile(r"Order two (.+?) and one (.+?) in|Buy (.+?) once and (.+?) twice in")
_SLOT = re.compile(r"(?:delivered|time:) (tomorrow [\d:-]+)")

Doing = Generator[str, str, None]


class PhoneHand:
    """The eyes and hands of an expert.

    Args:
        task: The task.
        cope: What the expert does after every action about what came up.
        points: Whether it touches points of the screen instead of elements.
    """

    def __init__(self, task: Task, cope: Cope | None = None, points: bool = False) -> None:
        self.cope, self.points = cope, points
        self.nodes = read_screen("android", task.first_observation or "")

    def do(self, *actions: str) -> Doing:
        """Do actions one after the other."""
        for action in actions:
            yield from self.once(self._aimed(action))
            if self.cope is not None:
                yield from self.cope(self)

    def once(self, action: str) -> Doing:
        """Do one action and nothing else."""
        self.nodes = read_screen("android", (yield action))

    def find(self, name: str) -> ScreenNode | None:
        """Return the first element of a name."""
        return next((node for node in self.nodes if name in (node.text, node.description)), None)

    def locked(self, name: str) -> bool:
        """Tell whether the row of a name takes no touch."""
        rows = [node for node in self.nodes if node.role == "ViewGroup" or name in (node.text, node.description)]
        place = next((place for place, node in enumerate(rows) if node.role != "ViewGroup"), 0)
        return place > 0 and "clickable" not in rows[place - 1].flags

    def _aimed(self, action: str) -> str:
        """Return the action as it is, or at the point where its element stands."""
        resolved = resolve_if_shown(action, self.nodes) if self.points else None
        if resolved is None:
            return action
        arguments = json.loads(resolved)
        index = arguments.pop("index", None)
        box = next((node.box for node in self.nodes if node.handle == index), None)
        return action if box is None else json.dumps({**arguments, "x": box.centre[0], "y": box.centre[1]})


Cope = Callable[[PhoneHand], Doing]
Plan = Callable[[Task, PhoneHand], ActionStream]


def refuse(hand: PhoneHand) -> Doing:
    """Decline whatever the system asks."""
    while (button := next((name for name in REFUSALS if hand.find(name)), None)) is not None:
        yield from hand.once(tap(button))


def wait(hand: PhoneHand) -> Doing:
    """Wait until the screen has loaded."""
    while hand.find("Loading"):
        yield from hand.once(WAIT)


def wait_for_app(hand: PhoneHand) -> Doing:
    """Give an app that does not respond another chance."""
    while hand.find("Wait"):
        yield from hand.once(tap("Wait"))


def sign_in(hand: PhoneHand) -> Doing:
    """Sign in again where an app wants it."""
    if any(node.text.startswith("Continue as ") for node in hand.nodes):
        yield from hand.once(tap("Continue as ", "Button", part=True))


def order(task: Task, hand: PhoneHand) -> ActionStream:
    """Put groceries into the basket, choose a time of delivery, and order."""
    found, slot = _ORDER.search(task.instruction), _SLOT.search(task.instruction)
    assert found is not None and slot is not None
    twice, once = (found[1], found[2]) if found[1] else (found[4], found[3])
    yield from hand.do(app("Pantry"))
    yield from hand.do(*(tap(f"Add {name} to basket") for name in (twice, twice, once)))
    yield from hand.do(tap("Basket", "TextView", part=True), tap("Choose a time"), tap(slot[1].capitalize()))
    yield from hand.do(tap("Order", "Button"), tap("Place order"))
    yield "finish"


def change(task: Task, hand: PhoneHand, tiles: bool = False, places: bool = False) -> ActionStream:
    """Change two settings on their pages.

    Args:
        task: The task.
        hand: The eyes and hands of the expert.
        tiles: Whether the expert uses quick settings where a row takes no touch.
        places: Whether the expert remembers where rows stand and does not look again.
    """
    wanted = [s for s in SWITCHES if re.search(rf"\b{re.escape(s.name)} (?:on|off)\b", task.instruction)]
    yield from hand.do(app("Settings"))
    spots = {setting.page: hand.find(setting.page) for setting in wanted}
    for setting in wanted:
        yield from hand.do(app("Settings"))
        spot = spots[setting.page]
        if places and spot is not None and spot.box is not None:
            x, y = spot.box.centre
            yield from hand.do(json.dumps({"action_type": "click", "x": x, "y": y}))
        else:
            yield from hand.do(tap(setting.page))
        if tiles and hand.locked(setting.name):
            yield from hand.do(SHADE, tap(setting.tile), BACK)
        else:
            yield from hand.do(tap(setting.name))
    yield "finish"


def expert(plan: Plan, cope: Cope | None = None, points: bool = False) -> Solver:
    """Return an expert that follows a plan."""

    def solve(task: Task) -> ActionStream:
        return plan(task, PhoneHand(task, cope, points))

    return solve


CASES = (
    ControlCase("unexpected-dialog", 0.2, "order_goods", 1, expert(order), expert(order, refuse)),
    ControlCase("slow-loading", 0.5, "order_goods", 1, expert(order), expert(order, wait)),
    ControlCase("stale-element", 0.15, "order_goods", 1, expert(order), expert(order, points=True)),
    ControlCase("session-expired", 0.7, "order_goods", 1, expert(order), expert(order, sign_in)),
    ControlCase("intermittent-errors", 0.4, "change_settings", 1, expert(change), expert(change, wait_for_app)),
    ControlCase("reordered-menu", 0.8, "change_settings", 1, expert(partial(change, places=True)), expert(change)),
    ControlCase("permission-denied", 0.4, "change_settings", 1, expert(change), expert(partial(change, tiles=True))),
)
