"""Experts that show what each control of the web does: one that fails under it, and one that copes with it.

The experts of a task follow one plan. They differ in how they go on when an action did nothing, and in what they do
when a page comes up that they did not ask for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from functools import partial

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver
from agentworld_gym.domains.web.screen_texts import location
from agentworld_gym.domains.web.tasks.actions import SNAPSHOT, click, fill_in, go, press
from agentworld_gym.domains.web.tasks.shop_stock import KINDS, PAYMENTS, WAYS
from agentworld_gym.domains.web.tasks.tracker import change, select

WAIT = '{"name": "browser_wait_for", "arguments": {"time": 2}}'
REFUSALS = ("Only necessary", "Subscribe later", "No thanks", "Not now", "Never ask again")
PATIENCE = 40
"""How many pages an expert deals with before it gives up."""

Doing = Generator[str, str, None]


class BrowserHand:
    """The eyes and hands of an expert.

    Args:
        task: The task.
        cope: What the expert does after every action about what came up.
        retries: Whether it repeats an action that failed.
    """

    def __init__(self, task: Task, cope: Cope | None = None, retries: bool = False) -> None:
        self.cope, self.retries = cope, retries
        self.last, self.shown = SNAPSHOT, task.first_observation or ""
        self.nodes = read_screen("web", self.shown)

    def look(self) -> Doing:
        """Look at the page, which need not be the one that was promised."""
        if self.cope is not None:
            yield from self.do(SNAPSHOT)

    def do(self, *actions: str) -> Doing:
        """Do actions one after the other."""
        for action in actions:
            yield from self.once(action)
            if self.retries and "### Error" in self.shown:
                yield from self.once(SNAPSHOT)
                yield from self.once(action)
            if self.cope is not None:
                yield from self.cope(self)

    def once(self, action: str) -> Doing:
        """Do one action and nothing else."""
        self.last, self.shown = action, (yield action)
        self.nodes = read_screen("web", self.shown) or self.nodes

    def find(self, name: str) -> ScreenNode | None:
        """Return the first element of a name or text."""
        return next((node for node in self.nodes if name in (node.name, node.text)), None)

    def after(self, text: str, pattern: str) -> str:
        """Return the first text after a given one that matches a pattern; it is empty if there is none."""
        texts = [node.text or node.name for node in self.nodes]
        rest = texts[texts.index(text) + 1 :] if text in texts else []
        return next((told for told in rest if re.fullmatch(pattern, told)), "")

    @property
    def title(self) -> str:
        """The first heading of the page."""
        return next((node.name for node in self.nodes if node.role == "heading"), "")


Cope = Callable[[BrowserHand], Doing]
Plan = Callable[[Task, BrowserHand], ActionStream]


def refuse(hand: BrowserHand) -> Doing:
    """Decline whatever opens over a page."""
    while any(node.role == "dialog" for node in hand.nodes):
        yield from hand.once(press(next(name for name in REFUSALS if hand.find(name))))


def wait(hand: BrowserHand) -> Doing:
    """Wait until the page has loaded."""
    while hand.find("Loading"):
        yield from hand.once(WAIT)


def ask_again(hand: BrowserHand) -> Doing:
    """Open a page again that failed to load."""
    while "net::ERR_" in hand.shown:
        yield from hand.once(hand.last)
    while hand.title in ("502 Bad Gateway", "This site can’t be reached"):
        address, _ = location(hand.shown)
        again = json.dumps({"name": "browser_navigate", "arguments": {"url": address}})
        yield from hand.once(press("Reload") if hand.find("Reload") else again)


def _wishes(task: Task) -> tuple[str, str]:
    """Return the clicks for the delivery and the payment that a task wants."""
    delivery = WAYS["express" if "express" in task.instruction else "pickup"]
    payment = PAYMENTS["invoice" if "invoice" in task.instruction else "voucher"]
    return click(delivery, "radio"), click(payment, "radio")


def order(task: Task, hand: BrowserHand) -> ActionStream:
    """Go from the cart to an order, step by step."""
    delivery, payment = _wishes(task)
    yield from hand.look()
    yield from hand.do(click("Go to checkout"), press("Continue to delivery"), delivery, press("Continue to payment"))
    yield from hand.do(payment, press("Continue to review"))
    yield from hand.do(click("I accept the terms of sale", "checkbox"), press("Place order"))
    yield f"finish: {hand.after('Total', '€.+')}"


def order_by_pages(task: Task, hand: BrowserHand) -> ActionStream:
    """Go from the cart to an order by doing on each page what the page is for."""
    delivery, payment = _wishes(task)
    account = re.search(r"you are (\w+), password (\S+)\.\)", task.instruction)
    assert account is not None
    pages = {
        "Your cart": [click("Go to checkout")],
        "Delivery address": [press("Continue to delivery")],
        "Delivery": [delivery, press("Continue to payment")],
        "Payment": [payment, press("Continue to review")],
        "Review your order": [click("I accept the terms of sale", "checkbox"), press("Place order")],
        "Sign in": [fill_in(("User name", account[1]), ("Password", account[2])), press("Sign in")],
    }
    yield from hand.look()
    for _ in range(PATIENCE):
        if hand.title not in pages or (hand.find("Cart (0)") and hand.title != "Sign in"):
            break
        yield from hand.do(*pages[hand.title])
    # The order may have been placed although the page that says so did not load.
    if not hand.title.startswith("Order "):
        yield from hand.do(go("shop/orders"))
        placed = [int(node.name[6:]) for node in hand.nodes if re.fullmatch(r"Order \d+", node.name)]
        yield from hand.do(click(f"Order {max(placed)}"))
    yield f"finish: {hand.after('Total', '€.+')}"


def buy(task: Task, hand: BrowserHand, compares: bool) -> ActionStream:
    """Put the cheapest product in stock into the cart.

    Args:
        task: The task.
        hand: The eyes and hands of the expert.
        compares: Whether the expert reads the prices and does not trust that the list is sorted by them.
    """
    wish = re.search(r"cheapest (.+?) that is|need a (.+?):", task.instruction)
    assert wish is not None
    category = KINDS[wish[1] or wish[2]].lower()
    yield from hand.do(go(f"shop/products?category={category}&sort=price&stock=1"))
    names = [node.name for node in hand.nodes if any(re.match(r"url=/products/\d", flag) for flag in node.flags)]
    if compares:
        texts = [node.text or node.name for node in hand.nodes]
        names.sort(key=lambda name: _price(texts, name))
    yield from hand.do(click(names[0]), press("Add to cart"))
    yield f"finish: {hand.after('Total', '€.+')}"


def _price(texts: list[str], name: str) -> float:
    """Return the price that follows the name of a product."""
    return next(float(text[1:]) for text in texts[texts.index(name) + 1 :] if text.startswith("€"))


def triage(task: Task, hand: BrowserHand, leafs: bool) -> ActionStream:
    """Assign one issue to somebody with a priority.

    Args:
        task: The task.
        hand: The eyes and hands of the expert.
        leafs: Whether the expert looks at the next page of a list too.
    """
    request = re.search(r"'(.+?)' (?:to|is for) (.+?)(?: with the|,) priority (\w+)", task.instruction)
    assert request is not None
    title, person, priority = request.groups()
    yield from hand.do(SNAPSHOT)
    while leafs and not _number(hand, title) and hand.find("Next"):
        yield from hand.do(click("Next"))
    number = _number(hand, title)
    yield from hand.do(select(number), change("Priority", priority), change("Assignee", person), press("Change issues"))
    yield f"finish: #{number}"


def _number(hand: BrowserHand, title: str) -> int:
    """Return the number of an issue in the list, or 0 if it is not there."""
    matches = (re.fullmatch(rf"#(\d+) {re.escape(title)}", node.name) for node in hand.nodes)
    return next((int(match[1]) for match in matches if match), 0)


def expert(plan: Plan, cope: Cope | None = None, retries: bool = False) -> Solver:
    """Return an expert that follows a plan."""

    def solve(task: Task) -> ActionStream:
        return plan(task, BrowserHand(task, cope, retries))

    return solve


CASES = (
    ControlCase("unexpected-dialog", 0.2, "place_order", 2, expert(order), expert(order, refuse)),
    ControlCase("slow-loading", 0.3, "place_order", 2, expert(order), expert(order, wait)),
    ControlCase("stale-element", 0.15, "place_order", 2, expert(order), expert(order, retries=True)),
    ControlCase("intermittent-errors", 0.2, "place_order", 2, expert(order), expert(order_by_pages, ask_again)),
    ControlCase("session-expired", 0.3, "place_order", 2, expert(order), expert(order_by_pages)),
    ControlCase("reordered-menu", 0.8, "buy_goods", 1, expert(partial(buy, compares=False)),
                expert(partial(buy, compares=True))),
    ControlCase("pagination", 1.0, "triage_issues", 1, expert(partial(triage, leafs=False)),
                expert(partial(triage, leafs=True))),
)  # fmt: skip
