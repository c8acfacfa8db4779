"""Ways of the shop's back office: double orders, orders by phone, returns."""

from __future__ import annotations

import re
from collections import defaultdict

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read
from ways.tool_calls import Calls, Habit, only, with_habits


def _customer(habit: Habit, name: str) -> Calls:
    """Return the number of a customer."""
    query = name if habit.broad else name.split()[-1].lower()
    return only((yield from habit.call("shop-find_customer", query=query))["customers"], name=name)["customer_id"]


def cancel_duplicate(habit: Habit, instruction: str) -> ActionStream:
    """Find the two equal orders by what they hold, and undo the later one."""
    name = read(r"^Customer (.+?) writes|an order of (.+?) was placed", instruction)
    customer = yield from _customer(habit, name)
    status = {} if habit.broad else {"status": "paid"}
    listed = yield from habit.call("shop-list_orders", customer_id=customer, limit=50, **status)
    totals = [row["total"] for row in listed["orders"]]
    equal = defaultdict(list)
    for row in (row for row in listed["orders"] if totals.count(row["total"]) > 1):
        order = yield from habit.call("shop-get_order", order_id=row["order_id"])
        equal[str([(line["sku"], line["quantity"]) for line in order["lines"]])].append(order)
    (pair,) = [orders for orders in equal.values() if len(orders) == 2]
    late = max(pair, key=lambda order: order["placed_at"])
    items = [{"sku": line["sku"], "quantity": line["quantity"]} for line in late["lines"]]

    def refund() -> Calls:
        payments = yield from habit.call("shop-list_payments", customer_id=customer, limit=50)
        paid = only(payments["payments"], order_id=late["order_id"])
        amount = {} if habit.broad else {"amount": paid["amount"]}
        yield from habit.call("shop-refund_payment", payment_id=paid["payment_id"], **amount)

    acts = [lambda: habit.call("shop-update_order_status", order_id=late["order_id"], status="cancelled")]
    if "stock" in instruction:
        acts.append(lambda: habit.call("shop-restock", items=habit.order(items)))
    if "Refund" in instruction:
        acts.append(refund)
    for act in habit.order(acts):
        yield from act()
    if habit.again:
        orders = (yield from habit.call("shop-list_orders", customer_id=customer, limit=50))["orders"]
        spent = round(sum(order["total"] for order in orders if order["status"] != "cancelled"), 2)
    else:
        spent = (yield from habit.call("shop-get_customer", customer_id=customer))["spent"]
    yield habit.finish(float(spent), "total of all orders that are not cancelled", "euros")


def order_goods(habit: Habit, instruction: str) -> ActionStream:
    """Place the order, line by line or at once."""
    wanted = read(r"orders (.+?) by phone", instruction) if "by phone" in instruction else ""
    name = read(r"^(.+?) orders", instruction) if wanted else read(r" for ([^.]+)\. ", instruction)
    wanted = wanted or read(r"Place an order of (.+) for ", instruction)
    customer = yield from _customer(habit, name)
    items = []
    for part in re.split(r" and (?=\d+ x )", wanted):
        quantity, good = part.split(" x ", 1)
        query = good if habit.broad else good.split()[-1]
        found = yield from habit.call("shop-search_products", query=query, limit=50)
        items.append({"sku": only(found["products"], name=good)["sku"], "quantity": int(quantity)})
    first = items if habit.broad else habit.order(items)[:1]
    order = yield from habit.call("shop-place_order", customer_id=customer, items=first)
    number = order["order_id"]
    for item in [] if habit.broad else habit.order(items)[1:]:
        order = yield from habit.call("shop-add_order_line", order_id=number, **item)
    if "coupon" in instruction:
        coupons = yield from habit.call("shop-list_coupons", **({} if habit.broad else {"valid_only": True}))
        valid = [row for row in coupons["coupons"] if row["ends_on"] >= "2026-03-04"]
        best = max(valid, key=lambda row: row["percent"])
        order = yield from habit.call("shop-apply_coupon", order_id=number, code=best["code"])
    if "paid by card" in instruction:
        yield from habit.call("shop-record_payment", order_id=number, amount=order["total"], method="card")
        carrier = read(r"ship the order with (.+?)\. Finish", instruction)
        yield from habit.call("shop-ship_order", order_id=number, carrier=carrier)
    if habit.again:
        order = yield from habit.call("shop-get_order", order_id=number)
    yield habit.finish(float(order["total"]), "total of the order", "euros")


def handle_return(habit: Habit, instruction: str) -> ActionStream:
    """Open or approve a return of goods, and refund them."""
    title = read(r"open return of (.+?)\. Finish|all pieces of (.+?) back", instruction)
    if "Approve the open return" in instruction:
        returns = (yield from habit.call("shop-list_returns", **({} if habit.broad else {"status": "open"})))["returns"]
        for row in returns:
            product = yield from habit.call("shop-get_product", sku=row["sku"])
            if product["name"] == title and row["status"] == "open":
                yield from habit.call("shop-resolve_return", return_id=row["return_id"], decision="approved")
                stock = (yield from habit.call("shop-get_product", sku=row["sku"]))["stock"]
        yield habit.finish(stock, "number of pieces in stock", "pieces")
        return
    customer = yield from _customer(habit, read(r"^(.+?) sends", instruction))
    for row in (yield from habit.call("shop-list_orders", customer_id=customer, limit=50))["orders"]:
        order = yield from habit.call("shop-get_order", order_id=row["order_id"])
        if lines := [line for line in order["lines"] if line["name"] == title]:
            break
    line, reason = lines[0], read(r'because "(.+?)"', instruction)
    cost = round(line["quantity"] * line["unit_price"], 2)

    def take_back() -> Calls:
        words = reason[0].upper() + reason[1:] + "." if habit.backwards else reason
        opened = yield from habit.call(
            "shop-open_return", order_id=order["order_id"], sku=line["sku"], quantity=line["quantity"], reason=words
        )
        if "Approve" in instruction:
            yield from habit.call("shop-resolve_return", return_id=opened["return_id"], decision="approved")

    def refund() -> Calls:
        paid = only((yield from habit.call("shop-list_payments", order_id=order["order_id"]))["payments"])
        yield from habit.call("shop-refund_payment", payment_id=paid["payment_id"], amount=cost)

    acts = [take_back, refund] if "refund" in instruction else [take_back]
    for act in habit.order(acts):
        yield from act()
    yield habit.finish(cost, "cost of these pieces together", "euros")


SHOP: Ways = {
    "cancel_duplicate": with_habits(cancel_duplicate),
    "order_goods": with_habits(order_goods),
    "handle_return": with_habits(handle_return),
}
"""Family → its ways."""
