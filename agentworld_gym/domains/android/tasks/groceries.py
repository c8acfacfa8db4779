"""Tasks in the grocery app: the agent orders things and chooses when they are delivered."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import app, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line, words

SLOTS = {"Tomorrow 8:00-10:00": (8, 10), "Tomorrow 12:00-14:00": (12, 14), "Tomorrow 18:00-20:00": (18, 20)}


@family
def order_goods(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent orders what the task names, what a note lists, or what a note with conditions and the calendar
    allow."""
    background(scene, 4)
    goods = scene.some(words().products, 10)
    prices = [scene.rng.randrange(105, 900, 5) for _ in goods]
    first, second, third, spare = (name for name, _ in goods[:4])
    slots = list(SLOTS)
    slot, *others = scene.some(slots, 3)
    shelf = [
        {"name": name, "category": category, "price": price, "size": "", "stock": 20}
        for (name, category), price in zip(goods, prices, strict=True)
    ]
    taken = [first, first, second] if level == 1 else [first, second, third]
    cost = dict(zip((name for name, _ in goods), prices, strict=True))
    expert: list[str] = []
    if level == 1:
        goal = scene.say(
            f"Order two {first} and one {second} in the Pantry app, delivered {slot[0].lower() + slot[1:]}.",
            f"Buy {second} once and {first} twice in the Pantry app. Delivery time: {slot[0].lower() + slot[1:]}.",
        )
    else:
        expert = [app("Notes"), tap("Groceries")]
        goal = "Order in the Pantry app what is not ticked off in your note 'Groceries', one of each"
        listed = [(first, False), (second, False), (spare, True), (third, False)]
    if level == 2:
        goal += f", delivered {slot[0].lower() + slot[1:]}."
    if level == 3:
        next(item for item in shelf if item["name"] == second)["stock"] = 0
        listed = [(first, False), (spare, True), (f"{second} (if sold out: {third})", False)]
        taken = [first, third]
        expert.append(app("Calendar"))
        for other, title in zip(others, ("Driving lesson", "Swimming"), strict=True):
            start, end = SLOTS[other]
            scene.event(title, scene.tomorrow, start, end)
        scene.event("Yoga", scene.today, SLOTS[slot][0])
        goal += ". Have it delivered tomorrow, at the time when there is nothing in your calendar."
    if level > 1:
        scene.note("Groceries", items=scene.some(listed, len(listed)), pinned=True)
        scene.note("Dinner on Sunday", items=[(spare, False), (goods[4][0], False)])
    scene.rng.shuffle(shelf)
    scene.state["shop"] = {"products": shelf, "slots": scene.some(slots, 3), "basket": [], "orders": []}
    add = [tap(f"Add {name} to basket") for name in taken]
    basket = tap("Basket", "TextView", part=True)
    place = [basket, tap("Choose a time"), tap(slot), tap("Order", "Button"), tap("Place order")]
    total = sum(cost[name] for name in taken)
    below = [total - cost[taken[0]], total - cost[taken[-1]]]
    above = [total + cost[spare], total + cost[goods[4][0]]]
    fewer = scene.rng.randint(0, 2)
    money = [f"€{cents // 100}.{cents % 100:02}" for cents in (total, *below[:fewer], *above[fewer:])]
    wrong_add = [tap(f"Add {name} to basket") for name in (spare, goods[4][0])]
    lines = [f"{line(name)}[^\\n]*\\n[^\\n]*{line(f'{taken.count(name)} × €{cost[name] // 100}.{cost[name] % 100:02}')}"
             for name in dict.fromkeys(taken)]  # fmt: skip
    # One order stands, whatever was cancelled before.
    orders = [app("Pantry"), tap("Orders")]
    order = [*orders, tap("Placed, ", part=True)]
    scene.mix()
    return scene.draft(
        goal,
        [*expert, app("Pantry"), *add, *place],
        [wrong_add[0], tap(others[0]), tap("Dinner on Sunday"), wrong_add[1], tap(others[1]), tap("Cancel")],
        [
            scene.shows(order, *lines, line(f"Total {money[0]}")),
            scene.shows(order, line(f"Delivery {slot}")),
            scene.shows(orders, line(f"Placed, {money[0]}"), lacking=['"Placed, .*"Placed, '], weight=0.5),
        ],
        "Finish with the total of the order.",
        money[0],
        money[1:],
        menu_max={1: 12, 2: 15, 3: 16}[level],
    )
