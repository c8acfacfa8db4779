"""Tasks up to the cart of the shop: the agent chooses goods under conditions, or compares them for the wish list."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.web.tasks.actions import BACK, SNAPSHOT, click, fill_in, go, press, write
from agentworld_gym.domains.web.tasks.scene import WebScene, euros, family, in_article, in_row, term
from agentworld_gym.domains.web.tasks.shop_stock import (
    COLOURS,
    FACTS,
    FREE_FROM,
    KINDS,
    MATERIALS,
    STANDARD,
    WARRANTIES,
    Sum,
    in_cart,
    open_shop,
    reduced,
)

OPINIONS = {
    5: ("A joy", "We use it every single day and would buy it again."),
    4: ("Good", "Does what it should, only the box was too big."),
    2: ("Not for us", "It looks better on the picture than in our home."),
    1: ("Poor", "It broke in the first week and smells of glue."),
}


@family
def buy_goods(scene: WebScene, level: int) -> TaskDraft:
    """The agent puts the right number of goods into the cart, removes others, and enters a coupon."""
    kind, other = scene.some(KINDS, 2)
    scene.need(KINDS[kind] != KINDS[other])
    group, others = open_shop(scene, [kind, other], 4)
    look = [click(KINDS[kind])]
    if level == 1:
        scene.start("shop/")
        gone = scene.rng.randint(1, 2)
        for row in group[:gone]:
            row["stock"] = 0
        right = group[gone]
        expert = [*look, click(right["name"]), press("Add to cart")]
        due = Sum(right["price"])
        goal = scene.say(f"Put the cheapest {kind} that is in stock into your cart.",
                         f"You need a {kind}: put the cheapest one that can be delivered into the cart.")  # fmt: skip
        checks = [scene.shows(go("shop/cart"), in_cart(right, 1), term("Total", euros(due.total)))]
        others = scene.mixed(row for row in group if row is not right)
        wrong = [euros(Sum(row["price"]).total) for row in others]
        # The wrong answers count delivery wrong, for the right product and for another one.
        doubtful = [row["price"] + (0 if row["price"] < FREE_FROM else STANDARD) for row in (right, others[0])]
        wrong[1:1] = [euros(amount) for amount in doubtful]
        turns = [click(row["name"]) for row in group if row is not right]
        turns[1:1] = [click(KINDS[other]), BACK]
        instruction = f"{goal} Finish with the total of the cart."
        return scene.draft(instruction, expert, turns, checks, euros(due.total), wrong, 12, FACTS)
    colours, materials = scene.some(COLOURS, 4), scene.mixed(MATERIALS[KINDS[other]])
    for row, colour in zip(group, colours, strict=True):
        row["colour"] = colour
    for row, material in zip(others, materials, strict=True):
        row["material"], row["colour"] = material, scene.pick([c for c in COLOURS if c not in colours])
    first, second, pieces = scene.pick(group), scene.pick(others), scene.rng.randint(2, 4)
    goods = pieces * first["price"] + second["price"]
    due = Sum(goods)
    expert = [
        write("Search products", first["colour"], "searchbox", submit=True),
        SNAPSHOT,
        click(first["name"]),
        write("Quantity", str(pieces), "spinbutton"),
        press("Add to cart"),
        write("Search products", second["material"], "searchbox", submit=True),
        SNAPSHOT,
        click(second["name"]),
        press("Add to cart"),
    ]
    strange = scene.pick([row for row in group if row is not first])
    odd = scene.pick([row for row in others if row is not second])
    turns = [
        click(KINDS[kind]),
        write("Quantity", str(pieces + scene.pick((-1, 1))), "spinbutton"),
        write("Search products", strange["colour"], "searchbox", submit=True),
        click(strange["name"]),
        write("Search products", odd["material"], "searchbox", submit=True),
        click(odd["name"]),
    ]
    goal = f"Put {pieces} of the {first['colour']} {kind} and one {other} made of {second['material']} into your cart"
    amounts = [
        Sum(goods - second["price"] + odd["price"]).total,
        Sum(goods - first["price"]).total,
        goods + (STANDARD if goods >= FREE_FROM else 0),
    ]
    if level == 3:
        scene.start("shop/cart")
        left = scene.pick([row for row in (*group, *others) if row not in (first, second, strange, odd)])
        scene.add("shop", "cart", username=scene.me.username, product_id=left["product_id"], quantity=2)
        percents = scene.some((10, 15, 20, 25), 2)
        codes = [f"{word.upper()}{percent}" for word, percent in zip(scene.words("nouns", 2), percents, strict=True)]
        valid = scene.pick((True, False))
        ends = [scene.day(20 if valid else -scene.rng.randint(1, 20)), scene.day(scene.rng.randint(1, 9))]
        for code, percent, end in scene.mixed(zip(codes, percents, ends, strict=True)):
            scene.add("shop", "coupons", code=code, percent=percent, minimum=0, ends_on=end)
        offers = [[write("Coupon code", code), press("Apply coupon")] for code in codes]
        used = offers[0] if valid else [*offers[0], *offers[1]]
        expert = [press(f"Remove {left['name']}"), *expert, *used]
        due = reduced(goods, percents[0] if valid else percents[1])
        checks = [
            scene.shows(
                go("shop/cart"),
                in_cart(first, pieces),
                in_cart(second, 1),
                term("Total", euros(due.total)),
                lacking=[in_row(f'"{left["name"]}"')],
            )
        ]
        turns = [*offers[1][:1], *turns[1:4], press("Remove coupon"), *turns[4:]]
        amounts = [Sum(goods).total, reduced(goods, percents[1] if valid else percents[0]).total]
        instruction = (
            f"Empty your cart of what is in it. {goal}. Then apply the coupon {codes[0]}; only if the shop does not"
            f" take it, apply {codes[1]}. Finish with the total of the cart."
        )
    else:
        scene.start("shop/")
        checks = [scene.shows(go("shop/cart"), in_cart(first, pieces), in_cart(second, 1))]
        instruction = f"{goal}, and nothing else. Finish with the total of the cart."
        checks.append(scene.shows(go("shop/cart"), term("Total", euros(due.total))))
    return scene.draft(instruction, expert, turns, checks, euros(due.total), [euros(a) for a in amounts],
                       {2: 15, 3: 16}[level], FACTS)  # fmt: skip


@family
def compare_goods(scene: WebScene, level: int) -> TaskDraft:
    """The agent compares products by their pages and reviews, and puts the right one onto the wish list."""
    kind, other = scene.some(KINDS, 2)
    scene.need(KINDS[kind] != KINDS[other])
    group, _ = open_shop(scene, [kind, other], 3)
    category = f"shop/products?category={KINDS[kind].lower()}"
    scene.start(category)
    right, bad, third = scene.mixed(group)
    names = [click(row["name"]) for row in (right, bad, third)]
    wish = press("Add to wish list")
    wished = go("shop/wishlist")
    mine, *theirs = (rf'- link "{row["name"]}"' for row in (right, bad, third))
    checks = [scene.shows(wished, mine, lacking=theirs)]
    years = scene.some(WARRANTIES, 3)
    for row, warranty in zip((right, bad, third), years, strict=True):
        row["warranty"] = warranty
    if level == 1:
        for row, stars in zip((right, bad, third), ((5, 5), (5, 2), (4, 1)), strict=True):
            _reviewed(scene, row, stars)
        goal = scene.say(f"Put the {kind} that is rated best onto your wish list.",
                         f"Onto your wish list with the {kind} that customers rate best!")  # fmt: skip
        scene.start("shop/cart")
        expert = [click(KINDS[kind]), names[0], wish]
        turns = [names[1], click("Wish list"), names[2], press("Add to cart"), BACK, click("Reviews (2)", "tab")]
        goal = f"{goal} Finish with its warranty."
        return scene.draft(goal, expert, turns, checks, years[0], _others(scene, years[0]), 12)
    people = scene.people(2)
    for row in scene.rows("shop", "products"):
        row["description"] = f"{row['name']} is from a small workshop and comes in one parcel."
    scene.join("shop", *people)
    critic, fan = people
    texts = [
        (right, critic, 5, "Better than the one we had", "I have bought a second one for my mother."),
        (bad, critic, 4, "Good, with a dent", "It arrived with a dent, but it works."),
        (third, fan, 5, "My favourite", "I have bought a second one for my office."),
        (right, fan, 2, "Not for me", "It is too heavy for what I wanted it for."),
    ]
    for row, person, rating, title, text in scene.mixed(texts):
        scene.add("shop", "reviews", product_id=row["product_id"], username=person.username, rating=rating, title=title,
                  text=text, written_at=scene.moment(scene.rng.randint(2, 40)))  # fmt: skip
    tabs = {"right": click("Reviews (2)", "tab"), "one": click("Reviews (1)", "tab")}
    read = [names[1], tabs["one"], BACK, names[2], tabs["one"], BACK, names[0], tabs["right"]]
    goal = (
        f"{critic.name} has reviewed some of the {kind}s and bought one of them a second time."
        f" Put that {kind} onto your wish list"
    )
    if level == 2:
        expert = [*read, wish]
        instruction = f"{goal}, and no other. Finish with its warranty."
        turns = [press("Add to cart"), click("Wish list"), click("Delivery", "tab"), click("Write a review")]
        return scene.draft(instruction, expert, turns, checks, years[0], _others(scene, years[0]), 15)
    scene.add("shop", "wishlist", username=scene.me.username, product_id=third["product_id"])
    words = scene.pick(("Solid and easy to clean", "Light and simple to use", "Just what our home needed"))
    expert = [
        names[2],
        press("Remove from wish list"),
        click(KINDS[kind]),
        names[0],
        tabs["right"],
        wish,
        tabs["right"],
        click("Write a review"),
        click("4, good", "radio"),
        fill_in(("Headline", words), ("Review", f"{words}. Four stars from us.")),
        press("Publish review"),
    ]
    instruction = (
        f"{goal} and take the {third['name']} off it. Then review the one that you wished for: 4 stars, headline"
        f" '{words}', and the text '{words}. Four stars from us.' Finish with its warranty."
    )
    page = go(f"shop/products/{right['product_id']}")
    mine_told = in_article(words, f"4 of 5, by {scene.me.name}", f"{words}. Four stars from us.")
    checks.append(scene.shows([page, click("Reviews (3)", "tab")], mine_told))
    turns = [names[1], click("5, excellent", "radio"), press("Add to cart")]
    return scene.draft(instruction, expert, turns, checks, years[0], _others(scene, years[0]), 16)


def _reviewed(scene: WebScene, row: dict[str, Any], stars: tuple[int, ...]) -> None:
    """Add reviews of one product, each by another person."""
    for rating, person in zip(stars, scene.people(len(stars)), strict=True):
        scene.join("shop", person)
        title, text = OPINIONS[rating]
        scene.add("shop", "reviews", product_id=row["product_id"], username=person.username, rating=rating, title=title,
                  text=text, written_at=scene.moment(scene.rng.randint(2, 40)))  # fmt: skip


def _others(scene: WebScene, warranty: str) -> list[str]:
    return scene.some([other for other in WARRANTIES if other != warranty], 3)
