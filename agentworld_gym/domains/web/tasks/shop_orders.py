"""Tasks with orders of the shop: the agent places an order, cancels one, or returns goods."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.web.tasks.actions import (
    ACCEPT,
    BACK,
    DISMISS,
    choose,
    click,
    fill_in,
    go,
    press,
    url,
    write,
)
from agentworld_gym.domains.web.tasks.scene import WebScene, euros, family, in_row, term
from agentworld_gym.domains.web.tasks.shop_stock import (
    EXPRESS,
    FACTS,
    KINDS,
    PAYMENTS,
    STANDARD,
    WAYS,
    Sum,
    open_shop,
)


@family
def place_order(scene: WebScene, level: int) -> TaskDraft:
    """The agent turns a cart into an order, with payment, delivery, and an address that a friend wrote in a mail."""
    kind, other = scene.some(KINDS, 2)
    group, others = open_shop(scene, [kind, other], 2)
    first, second = scene.pick(group), scene.pick(others)
    pieces = scene.rng.randint(1, 3)
    for row, count in ((first, pieces), (second, 1)):
        scene.add("shop", "cart", username=scene.me.username, product_id=row["product_id"], quantity=count)
    goods = first["price"] * pieces + second["price"]
    me = scene.rows("shop", "users")[0]
    home = {key: me[key] for key in ("name", "street", "postcode", "city")}
    number = scene.rng.randint(4000, 5900)
    scene.add("shop", "orders", order_id=number, username=scene.me.username, status="cancelled", total=first["price"],
              placed_at=scene.moment(30), **home)  # fmt: skip
    scene.add("shop", "order_lines", order_id=number, product_id=first["product_id"], quantity=1,
              unit_price=first["price"])  # fmt: skip
    way = scene.pick(("express", "standard" if level == 3 else "pickup"))
    pay = scene.pick(sorted(PAYMENTS))
    close = [click("I accept the terms of sale", "checkbox"), press("Place order")]
    order = go(f"shop/orders/{number + 1}")
    lines = [in_row(f'"{first["name"]}"', f'"{pieces}"'), in_row(f'"{second["name"]}"', '"1"')]
    kept: dict[str, Any] = {"username": scene.me.username, **home}
    say_pay = {"invoice": "by invoice", "voucher": "with your voucher"}
    say_way = {
        "express": "by express delivery",
        "pickup": "to be picked up in the shop",
        "standard": "by standard delivery",
    }
    if level == 1:
        scene.start("shop/checkout/payment")
        delivery = scene.pick(("standard", "express"))
        scene.add("shop", "checkouts", **kept, delivery=delivery)
        due = Sum(goods, express=delivery == "express")
        expert = [click(PAYMENTS[pay], "radio"), press("Continue to review"), *close]
        turns = [
            click(next(text for key, text in PAYMENTS.items() if key != pay), "radio"),
            click("Card", "radio"),
            click("Back to delivery"),
            click("Change payment"),
            BACK,
        ]
        goal = scene.say(f"You are about to pay in the shop. Pay {say_pay[pay]} and place the order.",
                         f"Complete your order; it is paid {say_pay[pay]}.")  # fmt: skip
        checks = [scene.shows(order, term("Payment", pay), *lines)]
        wrong = [goods + STANDARD + EXPRESS, first["price"], goods if due.total != goods else goods + STANDARD]
        wrong.append(Sum(goods, express=delivery != "express").total)
        return scene.draft(f"{goal} Finish with its total.", expert, turns, checks, euros(due.total),
                           [euros(w) for w in wrong], 13, FACTS)  # fmt: skip
    total = round(goods + (EXPRESS if way == "express" else 0), 2)
    delivered = [click(WAYS[way], "radio"), press("Continue to payment")]
    wrong = [goods + STANDARD, goods + (0 if way == "express" else EXPRESS), first["price"] + second["price"]]
    turns = [click(text, "radio") for key, text in WAYS.items() if key != way]
    if level == 2:
        scene.start("shop/cart")
        expert = [
            click("Go to checkout"),
            press("Continue to delivery"),
            *delivered,
            click(PAYMENTS[pay], "radio"),
            press("Continue to review"),
            *close,
        ]
        checks = [scene.shows(order, term("Delivery", way), term("Payment", pay), *lines)]
        turns += [press(f"Remove {second['name']}"), click("Change delivery"), click("Card", "radio")]
        instruction = scene.say(
            f"Order what is in your cart, {say_way[way]}, and pay {say_pay[pay]}. Finish with the total of the order.",
            f"Place an order for your cart: {say_way[way]}, paid {say_pay[pay]}. Finish with its total.",
        )
        return scene.draft(instruction, expert, turns, checks, euros(total), [euros(w) for w in wrong], 15, FACTS)
    scene.state["open"] = ""
    friend, stranger = scene.people(2)
    scene.site("mail")
    places = []
    for person in (friend, stranger):
        street = f"{scene.word('streets')} {scene.rng.randint(2, 80)}"
        place = (street, f"{scene.rng.randint(10000, 99999)}", scene.word("cities"))
        places.append(place)
        text = f"Hello,\n\nwe have moved. From now on we live in {street}, {place[1]} {place[2]}.\n\n{person.first}"
        scene.add("mail", "messages", owner=scene.me.username, sender=person.address, sender_name=person.name,
                  recipients=scene.me.address, subject=f"{person.first} has moved", text=text,
                  sent_at=scene.moment(scene.rng.randint(1, 9)))  # fmt: skip
    scene.start("mail/folders/inbox")
    scene.add("shop", "checkouts", **kept, payment=pay)
    fields = ("Street and number", "Postcode", "City")
    fill = [fill_in(*zip(fields, place, strict=True)) for place in places]
    expert = [
        click(f"{friend.first} has moved"),
        go("shop/cart"),
        write(f"Quantity of {second['name']}", "2", "spinbutton", submit=True),
        go("shop/checkout/address"),
        fill[0],
        press("Continue to delivery"),
        *delivered,
        press("Continue to review"),
        *close,
    ]
    street, postcode, city = places[0]
    total = Sum(goods + second["price"], express=way == "express").total
    lines[1] = in_row(f'"{second["name"]}"', '"2"')
    where = term("Delivered to", f"{scene.me.name}, {street}, {postcode} {city}")
    checks = [scene.shows(order, where, term("Delivery", way), term("Payment", pay), *lines)]
    instruction = (
        f"What is in your cart in the shop ({url('shop/cart')}) is for {friend.name}; take the {second['name']} twice."
        f" Order it {say_way[way]}, in your name, at the address that {friend.first} wrote you; leave the payment as it"
        " is. Finish with the total of the order."
    )
    wrong = scene.some([total + sign * step for sign in (-1, 1) for step in (second["price"], STANDARD)], 3)
    return scene.draft(instruction, expert, [fill[1], turns[0], click(f"{stranger.first} has moved")], checks,
                       euros(total), [euros(w) for w in wrong], 16, FACTS)  # fmt: skip


@family
def undo_order(scene: WebScene, level: int) -> TaskDraft:
    """The agent cancels an order, or returns a part of it as the policy of the shop says."""
    kinds = scene.some(KINDS, 3)
    groups = open_shop(scene, kinds, 2)
    scene.start("shop/orders")
    me = scene.rows("shop", "users")[0]
    home = {key: me[key] for key in ("name", "street", "postcode", "city")}
    numbers = sorted(scene.some(range(4000, 5900), 4))
    states = ["processing", "processing", "shipped", "delivered"] if level == 1 else ["processing", *["delivered"] * 3]
    rows = [row for group in groups for row in group]
    made: list[tuple[int, dict[str, Any], int, float]] = []
    for number, status, row in zip(scene.mixed(numbers), states, rows, strict=False):
        count = scene.rng.randint(2, 4)
        more = rows[-1] if row is not rows[-1] else rows[0]
        total = round(count * row["price"] + more["price"], 2)
        made.append((number, row, count, total))
        scene.add("shop", "orders", order_id=number, username=scene.me.username, status=status, total=total,
                  placed_at=scene.moment((6000 - number) / 50), payment="invoice", **home)  # fmt: skip
        for item, pieces in ((row, count), (more, 1)):
            scene.add("shop", "order_lines", order_id=number, product_id=item["product_id"], quantity=pieces,
                      unit_price=item["price"])  # fmt: skip
    opens = {number: click(f"Order {number}") for number, *_ in made}
    if level == 1:
        (number, row, count, total), other = made[0], made[1]
        scene.start("shop/cart")
        expert = [click("Orders"), opens[number], press("Cancel order"), ACCEPT]
        goal = scene.say(f"Cancel the order that comes to {euros(total)}.",
                         f"You have changed your mind about the order over {euros(total)}: cancel it.")  # fmt: skip
        checks = [
            scene.shows(go("shop/orders"), in_row(f'"Order {number}"', '"cancelled"'),
                        in_row(f'"Order {other[0]}"', '"processing"'))
        ]  # fmt: skip
        wrong = [f"{c} pieces of {r['name']}" for _, r, c, _ in made[1:]]
        turns = [opens[other[0]], DISMISS, opens[made[2][0]], opens[made[3][0]], BACK]
        answer = f"{count} pieces of {row['name']}"
        closing = "Finish with what it held more than once, such as '5 pieces of Oak chair'."
        return scene.draft(f"{goal} {closing}", expert, turns, checks, answer, wrong, 13, FACTS)
    number, row, count, _ = made[1]
    other = made[2]
    reasons = {
        "damaged": ("It is damaged", "is damaged", True),
        "wrong item": ("It is the wrong item", "is not the one you have ordered", True),
        "not as described": ("It is not as described", "is not as the shop describes it", False),
        "no longer needed": ("I no longer need it", "is no longer needed", False),
    }
    key, unlike = scene.some(reasons, 2)
    option, told, original = reasons[key]
    refunds = ["To the original payment", "As store credit"]
    refund = refunds[0 if original else 1]
    ask = [choose("Reason", option), click(refund, "radio"), press("Request return"), ACCEPT]
    pieces = 1 if level == 2 else scene.rng.randint(2, count)
    stored = "original payment" if original else "store credit"
    asked = in_row(f'"Order {number}"', *(f'"{text}"' for text in (row["name"], pieces, key, stored)))
    checks = [scene.shows(go("shop/returns"), asked)]
    turns = [
        click(next(text for text in refunds if text != refund), "radio"),
        choose("Reason", reasons[unlike][0]),
        opens[made[3][0]],
    ]
    back = round(pieces * row["price"], 2)
    wrong = [euros(pieces * item["price"]) for item in scene.some([item for item in rows if item is not row], 3)]
    if level == 2:
        expert = [click("Orders"), opens[number], click(f"Return {row['name']}"), *ask]
        scene.start("shop/")
        instruction = scene.say(
            f"One {row['name']} of your order {number} {told}. Ask for its return, with the refund"
            f" {refund[0].lower() + refund[1:]}. Finish with its price.",
            f"Return one {row['name']} of order {number}: it {told}. The refund comes {refund[0].lower() + refund[1:]}."
            " Finish with what it cost.",
        )
        turns = [opens[other[0]], *turns, DISMISS]
        return scene.draft(instruction, expert, turns, checks, euros(back), wrong, 14, FACTS)
    expert = [
        click("Returns policy"),
        click("Orders"),
        opens[other[0]],
        BACK,
        opens[number],
        click(f"Return {row['name']}"),
        write("Quantity", str(pieces), "spinbutton"),
        *ask,
    ]
    instruction = (
        f"You have bought {count} pieces of {row['name']} in one order. Return {pieces} of them: what you got {told}."
        " Choose the refund that the returns policy has for this. Finish with the amount that you paid for the pieces"
        " that go back."
    )
    return scene.draft(instruction, expert, turns, checks, euros(back), wrong, 16, FACTS)
