"""Tasks in the back office of a shop: the agent cancels double orders, enters orders, and handles returns."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.patterns import Phrase
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

Item = tuple[str, int]
"""An article number and a number of pieces."""

CARRIERS = ("Bluebird Post", "Northline", "Parcelo")
REASONS = ("one corner is broken", "it is scratched", "the colour is wrong", "a part is missing")


def _basket(scene: ToolScene, count: int) -> list[Item]:
    """Draw different articles with their numbers of pieces."""
    skus = scene.values("SELECT sku FROM products WHERE active = 1 ORDER BY sku")
    return [(sku, scene.rng.choice((1, 1, 2, 3))) for sku in scene.some(skus, count)]


def _put_order(scene: ToolScene, customer_id: int, status: str, placed_at: str, items: list[Item]) -> int:
    """Add an order with its lines and its payment; return its number."""
    number = scene.put("orders", customer_id=customer_id, status=status, placed_at=placed_at)
    for sku, quantity in items:
        price = scene.value("SELECT price FROM products WHERE sku = :sku", sku=sku)
        scene.put("order_lines", order_id=number, sku=sku, quantity=quantity, unit_price=price)
    total = scene.value(
        "SELECT round(sum(quantity * unit_price), 2) FROM order_lines WHERE order_id = :number", number=number
    )
    scene.run("UPDATE orders SET total = :total WHERE order_id = :number", total=total, number=number)
    if status not in ("pending", "cancelled"):
        scene.put("payments", order_id=number, amount=total, method=scene.pick(("card", "transfer")), paid_at=placed_at)
    return number


def _customer(scene: ToolScene) -> tuple[int, str]:
    """Draw a customer whom the last name identifies; return the number and the name."""
    person = scene.pick(scene.rows("SELECT customer_id, name FROM customers ORDER BY customer_id"))
    last = person["name"].split()[-1]
    scene.need(len(scene.rows("SELECT 1 FROM customers WHERE has(name, :last) OR has(email, :last)", last=last)) == 1)
    return person["customer_id"], person["name"]


@family("shop")
def cancel_duplicate(scene: ToolScene, level: int) -> TaskDraft:
    """The agent cancels the later of two equal orders, restocks its pieces and refunds its payment."""
    customer, name = _customer(scene)
    last = name.split()[-1]
    basket = _basket(scene, 2 if level < 3 else 3)
    scene.run("DELETE FROM reviews")
    singles = [_basket(scene, 1) for _ in range(4)]
    hour = scene.rng.randint(0, 3)
    placed = [f"2026-03-04T0{hour + index}:{scene.rng.randint(10, 49)}:07Z" for index in range(5)]
    earlier = later = 0
    place = scene.rng.randint(0, 4)
    statuses = ["paid", "pending", "shipped", "cancelled"]
    scene.rng.shuffle(statuses)
    for index, moment in enumerate(placed):
        if index != place:
            _put_order(scene, customer, statuses.pop(), moment, singles.pop())
            continue
        earlier = _put_order(scene, customer, "paid", moment, basket)
        later = _put_order(scene, customer, "paid", moment[:17] + "41Z", basket)
    totals = scene.values(
        "SELECT total FROM orders WHERE customer_id = :c AND order_id <> :later", c=customer, later=later
    )
    scene.need(len(set(totals)) == len(totals))
    payment = scene.value("SELECT payment_id FROM payments WHERE order_id = :later", later=later)
    others = scene.values(
        "SELECT order_id FROM orders WHERE order_id NOT IN (:a, :b) AND status IN ('paid', 'pending')",
        a=earlier,
        b=later,
    )
    items = [{"sku": sku, "quantity": quantity} for sku, quantity in sorted(basket)]

    expert = [scene.call("find_customer", query=last), scene.call("list_orders", customer_id=customer)]
    expert += [scene.call("get_order", order_id=later)] if level > 1 else []
    expert.append(scene.call("update_order_status", order_id=later, status="cancelled"))
    checks = [scene.probe(scene.call("get_order", order_id=later), {"order_id": later, "status": "cancelled"})]
    also = ""
    if level > 1:
        expert.append(scene.call("restock", items=items))
        also = " Put its pieces back into stock as one delivery."
    if level > 2:
        expert += [scene.call("list_payments", order_id=later), scene.call("refund_payment", payment_id=payment)]
        also += " Refund what was paid for it."
    after = scene.after(expert)
    if level > 1:
        for sku, _ in sorted(basket):
            stock = after.value("SELECT stock FROM products WHERE sku = :sku", sku=sku)
            checks.append(scene.probe(scene.call("get_product", sku=sku), {"sku": sku, "stock": stock}))
    if level > 2:
        paid = after.value("SELECT amount FROM payments WHERE payment_id = :payment", payment=payment)
        checks.append(
            scene.probe(scene.call("get_payment", payment_id=payment), {"payment_id": payment, "refunded": paid})
        )
    spent_sql = "SELECT round(sum(total), 2) FROM orders WHERE customer_id = :c AND status <> 'cancelled'"
    spent, before = after.value(spent_sql, c=customer), scene.value(spent_sql, c=customer)
    checks.append(
        scene.probe(scene.call("get_customer", customer_id=customer), {"customer_id": customer, "spent": spent})
    )
    everything = scene.value("SELECT round(sum(total), 2) FROM orders WHERE customer_id = :c", c=customer)
    instruction = scene.say(
        f"Customer {name} writes that an order went through twice. Cancel the later one of the two equal orders.{also}",
        f"By mistake an order of {name} was placed twice within a minute. Cancel the later one.{also}",
    )
    instruction += f" Finish with the total, in euros, of all orders of {last} that are not cancelled."
    double = [{**item, "quantity": 2 * int(str(item["quantity"]))} for item in items]
    distractors = [
        scene.call("update_order_status", order_id=earlier, status="cancelled"),
        *scene.finishes(float(before), float(everything)),
        *([scene.call("restock", items=double)] if level > 1 else []),
        *([scene.call("refund_payment", payment_id=payment - 1)] if level > 2 else []),
        *scene.calls("update_order_status", "order_id", others[:2], status="cancelled"),
        scene.call("get_order", order_id=earlier),
        scene.call("list_payments", customer_id=customer),
    ]
    return scene.draft(instruction, expert, distractors, checks, answer=float(spent), menu_max=10 + 2 * level)


@family("shop")
def order_goods(scene: ToolScene, level: int) -> TaskDraft:
    """The agent enters an order by phone: goods by their names, the best valid coupon, payment and shipping."""
    customer, name = _customer(scene)
    basket = _basket(scene, 2 if level == 3 else 1)
    for sku, quantity in basket:
        stock = quantity + scene.rng.randint(1, 20)
        scene.run("UPDATE products SET stock = :stock WHERE sku = :sku", stock=stock, sku=sku)
    goods = [scene.row("SELECT sku, name, price FROM products WHERE sku = :sku", sku=sku) for sku, _ in basket]
    scene.run("UPDATE orders SET coupon = NULL")
    scene.run("DELETE FROM coupons")
    percents = scene.some((10, 15, 20, 25, 30), 3)
    words = scene.some(scene.service.scenario.words["nouns"], 3)
    codes = [f"{word.upper()}{percent}" for word, percent in zip(words, sorted(percents), strict=True)]
    for code, percent, ends_on in zip(codes, sorted(percents), ("2026-05-31", "2026-03-31", "2026-02-28"), strict=True):
        scene.put("coupons", code=code, percent=percent, ends_on=ends_on)
    low, best, expired = codes
    number = scene.value("SELECT max(order_id) + 1 FROM orders")
    carrier = scene.pick(CARRIERS)
    items = [{"sku": sku, "quantity": quantity} for sku, quantity in basket]

    expert = [scene.call("find_customer", query=name.split()[-1])]
    expert += [scene.call("search_products", query=good["name"]) for good in goods]
    expert.append(scene.call("place_order", customer_id=customer, items=items))
    wanted = " and ".join(f"{quantity} x {good['name']}" for good, (_, quantity) in zip(goods, basket, strict=True))
    instruction = scene.say(f"{name} orders {wanted} by phone.", f"Place an order of {wanted} for {name}.")
    status = "pending"
    if level > 1:
        expert += [scene.call("list_coupons"), scene.call("apply_coupon", order_id=number, code=best)]
        instruction += " Use the coupon with the highest discount that is still valid."
    total = scene.after(expert).value("SELECT total FROM orders WHERE order_id = :number", number=number)
    full = round(sum(good["price"] * quantity for good, (_, quantity) in zip(goods, basket, strict=True)), 2)
    if level > 2:
        status = "shipped"
        expert.append(scene.call("record_payment", order_id=number, amount=total, method="card"))
        expert.append(scene.call("ship_order", order_id=number, carrier=carrier))
        instruction += f" The total is paid by card at once; then ship the order with {carrier}."
    instruction += " Finish with the total of the order in euros."
    facts = {"order_id": number, "customer_id": customer, "status": status, "total": total}
    lines = [{"sku": sku, "quantity": quantity} for sku, quantity in basket]
    checks = [scene.probe(scene.call("get_order", order_id=number), *lines, f'"status":\\s*"{status}"', weight=0.5)]
    if level > 2:
        shipment = {"order_id": number, "carrier": carrier}
        checks.append(scene.probe(scene.call("get_shipment", order_id=number), shipment, weight=0.25))
    listed = scene.call("list_orders", customer_id=customer, limit=50)
    checks.append(scene.probe(listed, facts, weight=0.25))
    more = [{**item, "quantity": int(str(item["quantity"])) + 1} for item in items]
    other = scene.value("SELECT min(customer_id) FROM customers WHERE customer_id <> :c", c=customer)
    wrong_total = round(full * 0.9, 2) if level == 1 else full
    distractors = [
        *([scene.call("apply_coupon", order_id=number, code=low)] if level > 1 else []),
        scene.call("place_order", customer_id=customer, items=more),
        *scene.finishes(float(wrong_total), float(round(total + 10, 2))),
        *([scene.call("record_payment", order_id=number, amount=full, method="transfer")] if level > 2 else []),
        scene.call("place_order", customer_id=other, items=items),
        *([scene.call("apply_coupon", order_id=number, code=expired)] if level > 1 else []),
        scene.call("update_order_status", order_id=number, status="cancelled"),
        scene.call("list_orders", customer_id=other),
        scene.call("list_low_stock"),
    ]
    return scene.draft(instruction, expert, distractors, checks, answer=float(total), menu_max=10 + 2 * level)


@family("shop")
def handle_return(scene: ToolScene, level: int) -> TaskDraft:
    """The agent opens or decides a return of goods, and refunds what was paid for the pieces."""
    customer, name = _customer(scene)
    basket = _basket(scene, 3)
    scene.run("DELETE FROM returns")
    first = _put_order(scene, customer, "delivered", "2026-03-01T10:12:00Z", basket[:2])
    second = _put_order(scene, customer, "delivered", "2026-03-02T08:40:00Z", basket[2:])
    scene.rng.shuffle(goods := basket[:2])
    (sku, quantity), (other, _) = goods
    bought = "SELECT 1 FROM order_lines JOIN orders USING (order_id) WHERE customer_id = :customer AND sku = :sku"
    scene.need(len(scene.rows(bought, customer=customer, sku=sku)) == 1)
    title = scene.value("SELECT name FROM products WHERE sku = :sku", sku=sku)
    price = scene.value("SELECT price FROM products WHERE sku = :sku", sku=sku)
    payment = scene.value("SELECT payment_id FROM payments WHERE order_id = :first", first=first)
    reason, amount = scene.pick(REASONS), round(price * quantity, 2)
    if level == 1:
        opened = {"reason": reason, "opened_at": "2026-03-03T09:00:00Z"}
        wrong = scene.put("returns", order_id=second, sku=basket[2][0], quantity=1, **opened)
        number = scene.put("returns", order_id=first, sku=sku, quantity=quantity, **opened)
        expert = [
            scene.call("search_products", query=title),
            scene.call("list_returns", status="open"),
            scene.call("resolve_return", return_id=number, decision="approved"),
        ]
        stock = scene.after(expert).value("SELECT stock FROM products WHERE sku = :sku", sku=sku)
        checks = [
            scene.probe(
                scene.call("list_returns", status="approved"),
                {"return_id": number, "status": "approved"},
                lacking=[{"return_id": wrong}],
            ),
            scene.probe(scene.call("get_product", sku=sku), {"sku": sku, "stock": stock}),
        ]
        distractors = [
            scene.call("resolve_return", return_id=number, decision="rejected"),
            scene.call("resolve_return", return_id=wrong, decision="approved"),
            *scene.finishes(stock - quantity, stock + 1),
            scene.call("adjust_stock", sku=sku, delta=quantity),
            scene.call("resolve_return", return_id=wrong, decision="rejected"),
            scene.call("search_products", query="Wall"),
        ]
        instruction = (
            f"Approve the open return of {title}. Finish with the number of pieces that are then in stock of it."
        )
        return scene.draft(instruction, expert, distractors, checks, answer=stock)
    number = 1
    pieces = {"order_id": first, "sku": sku, "quantity": quantity, "reason": reason}
    expert = [
        scene.call("find_customer", query=name.split()[-1]),
        scene.call("list_orders", customer_id=customer, status="delivered"),
        scene.call("get_order", order_id=first),
        scene.call("open_return", **pieces),
    ]
    instruction = f'{name} sends all pieces of {title} back, because "{reason}". Open the return with these words.'
    fields = {"return_id": number, **pieces, "reason": Phrase(reason)}
    checks = [scene.probe(scene.call("list_returns", order_id=first), {**fields, "status": "open"})]
    if level == 3:
        expert += [
            scene.call("resolve_return", return_id=number, decision="approved"),
            scene.call("list_payments", order_id=first),
            scene.call("refund_payment", payment_id=payment, amount=amount),
        ]
        instruction += " Approve it at once, and refund what these pieces cost."
        checks = [
            scene.probe(scene.call("list_returns", order_id=first), {**fields, "status": "approved"}),
            scene.probe(scene.call("get_payment", payment_id=payment), {"payment_id": payment, "refunded": amount}),
        ]
    instruction += " Finish with what these pieces cost together, in euros."
    whole = scene.value("SELECT total FROM orders WHERE order_id = :first", first=first)
    distractors = [
        scene.call("open_return", **{**pieces, "sku": other, "quantity": 1}),
        *([scene.call("refund_payment", payment_id=payment)] if level == 3 else []),
        *scene.finishes(float(whole), float(round(amount + price, 2)), float(round(price / 2, 2))),
        scene.call("open_return", **{**pieces, "order_id": second}),
        *([scene.call("resolve_return", return_id=number, decision="rejected")] if level == 3 else []),
        scene.call("open_return", **{**pieces, "reason": "no longer needed"}),
        scene.call("update_order_status", order_id=first, status="paid"),
        scene.call("get_order", order_id=second),
    ]
    return scene.draft(instruction, expert, distractors, checks, answer=float(amount), menu_max=8 + 2 * level)
