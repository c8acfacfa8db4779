"""Lists and shopping: things to tick off, things to order."""

from __future__ import annotations

from agentworld_gym.domain.task import Check
from agentworld_gym.tasks.android.scene import BACK, AndroidScene, app, enter_text, family, line, tap
from agentworld_gym.tasks.android.words import words
from agentworld_gym.tasks.android.writing import background
from agentworld_gym.tasks.draft import Draft

SLOTS = {"Tomorrow 8:00-10:00": (8, 10), "Tomorrow 12:00-14:00": (12, 14), "Tomorrow 18:00-20:00": (18, 20)}


def ticked(item: str, done: bool) -> str:
    """A regular expression for a line of a checklist."""
    return line("", item, " checkable checked" if done else " checkable(?! checked)")


@family
def tick_list(scene: AndroidScene, level: int) -> Draft:
    """Items of a checklist are ticked as told: by the task, by one message, or by two; then the list is sent on."""
    names = background(scene, 5, 1)
    buyer, other, third = scene.some(names, 3)
    scene.silence(buyer, other)
    titles = scene.some(list(words().lists), 2)
    title = titles[0]
    things = scene.some(words().lists[title], 10)
    # How many are left says nothing of how many there were.
    left, marked = scene.rng.randint(1, 5), scene.rng.randint(0, 1)
    count = 2 + marked + left
    items, extra, wrong_extra = things[:count], things[8], things[9]
    bought, done, kept = items[:2], items[2 : 2 + marked], items[2 + marked :]
    shown = scene.some(items, count)
    scene.note(title, items=[(item, item in done) for item in shown], pinned=scene.rng.random() < 0.3)
    scene.note(titles[1], items=[(item, False) for item in scene.some(words().lists[titles[1]], 4)])
    scene.note("Meter readings", "All taken at the beginning of the month.")
    opened = [app("Notes"), tap(title)]
    first = buyer.split()[0]
    distractors = [tap(kept[0]), *map(tap, kept[1:2]), tap(titles[1]), *map(tap, done), tap("Meter readings")]
    distractors.append(tap("Uncheck all items"))
    got, same = bought, [*(ticked(item, True) for item in done), *(ticked(item, False) for item in kept)]
    more: list[Check] = []
    if level == 1:
        expert = [*opened, *(tap(item) for item in bought)]
        goal = scene.say(
            f"You bought {bought[0].lower()} and {bought[1].lower()}: tick them off in the list '{title}', and nothing"
            " else.",
            f"In your note '{title}', tick off {bought[0].lower()} and {bought[1].lower()} only.",
        )
    else:
        left += 1
        add = [enter_text("List item", extra), tap("Add item")]
        more.append(scene.shows(opened, ticked(extra, False)))
        distractors.insert(1, enter_text("List item", wrong_extra))
        if level == 2:
            says = f"Back from the shop with {bought[0].lower()} and {bought[1].lower()}. We also need {extra.lower()}!"
            scene.thread(buyer, f"I am on my way to get things for the {title.lower()} list.", says, unread=2)
            expert = [app("Messages"), tap(buyer), *opened, *(tap(item) for item in bought), *add]
            goal = scene.say(
                f"Bring your list '{title}' up to date with what {buyer} wrote: tick what was bought, add what is"
                " missing.",
                f"{buyer} went shopping and wrote about it. Tick off in '{title}' what {first} got, and add what"
                f" {first} says is needed too.",
            )
        else:
            left += 1
            got, same = bought[:1], [*same, ticked(bought[1], False)]
            scene.thread(buyer, f"I am on my way to get things for the {title.lower()} list.",
                         f"They only had {bought[0].lower()} left, the rest another time.", unread=2)  # fmt: skip
            scene.thread(
                other, f"Good that you keep the {title.lower()} list!", f"Put {extra.lower()} on it please.", unread=2
            )
            expert = [app("Messages"), tap(buyer), BACK, tap(other), *opened, tap(bought[0]), *add]
            expert += [tap("More options"), tap("Send"), tap("Messages"), tap(other), tap("Send SMS")]
            distractors = [enter_text("List item", wrong_extra), tap(bought[1]), tap(third)]
            goal = (
                f"{buyer} and {other} wrote about your list '{title}': tick off what was bought, add what is wanted"
                f" (with a capital letter), and then send the list to {other.split()[0]}."
            )
            marks = [f"[{'x' if item in (*done, bought[0]) else ' '}] {item}" for item in shown] + [f"[ ] {extra}"]
            more.append(scene.sent(other, "\n".join([title, *marks])))
        if level == 2:
            goal += " Write it with a capital letter."
    scene.mix()
    checks = [scene.shows(opened, ticked(item, True), *same) for item in got]
    return scene.draft(
        goal,
        expert,
        distractors,
        [*checks, *more],
        "Finish with the number of items that are not ticked then.",
        str(left),
        [
            str(number)
            for number in scene.some([n for n in range(level, level + 5) if n != left], 3 if level < 3 else 1)
        ],
        menu_max={2: 14, 3: 16}.get(level),
    )


@family
def order_goods(scene: AndroidScene, level: int) -> Draft:
    """Groceries are ordered as told, as a note lists them, or as a note with conditions and the calendar allow."""
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
    shown = [f"{line(name)}[^\\n]*\\n[^\\n]*{line(f'{taken.count(name)} × €{cost[name] // 100}.{cost[name] % 100:02}')}"
             for name in dict.fromkeys(taken)]  # fmt: skip
    # Whatever was cancelled before: the one order that stands.
    orders = [app("Pantry"), tap("Orders")]
    order = [*orders, tap("Placed, ", part=True)]
    scene.mix()
    return scene.draft(
        goal,
        [*expert, app("Pantry"), *add, *place],
        [wrong_add[0], tap(others[0]), tap("Dinner on Sunday"), wrong_add[1], tap(others[1]), tap("Cancel")],
        [
            scene.shows(order, *shown, line(f"Total {money[0]}")),
            scene.shows(order, line(f"Delivery {slot}")),
            scene.shows(orders, line(f"Placed, {money[0]}"), lacking=['"Placed, .*"Placed, '], weight=0.5),
        ],
        "Finish with the total of the order.",
        money[0],
        money[1:],
        menu_max={1: 12, 2: 15, 3: 16}[level],
    )
