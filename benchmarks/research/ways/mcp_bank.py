"""Ways of the bank's customer: double charges, standing orders, bills."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, read
from ways.tool_calls import Calls, Habit, only, with_habits


def _account(habit: Habit, name: str) -> Calls:
    """Return an account by its name."""
    listed = yield from habit.call("bank-list_accounts")
    row = only(listed["accounts"], name=name)
    return (yield from habit.call("bank-get_account", account_id=row["account_id"]))


def duplicate_charge(habit: Habit, instruction: str) -> ActionStream:
    """Dispute the later of two equal charges; freeze or replace the card."""
    shop = read(r"^(.+?) charged my card|This morning (.+?) took", instruction)
    if habit.broad:
        listed = yield from habit.call("bank-list_accounts")
        rows: list[Any] = []
        for account in listed["accounts"]:
            found = yield from habit.call(
                "bank-list_transactions", account_id=account["account_id"], from_day="2026-04-15", limit=50
            )
            rows += [row for row in found["transactions"] if row["counterparty"] == shop]
    else:
        rows = (yield from habit.call("bank-search_transactions", query=shop.upper()))["transactions"]
    amounts = [row["amount"] for row in rows]
    twice = sorted((row for row in rows if amounts.count(row["amount"]) == 2), key=lambda row: row["posted_at"])
    late = twice[-1]["transaction_id"]
    detail = yield from habit.call("bank-get_transaction", transaction_id=late)
    acts = [lambda: habit.call("bank-open_dispute", transaction_id=late, reason="duplicate")]
    card = yield from habit.call("bank-get_card", card_id=detail["card_id"])
    if "Freeze" in instruction:
        acts.append(lambda: habit.call("bank-freeze_card", card_id=card["card_id"]))
    if "Replace" in instruction:

        def replace() -> Calls:
            new = yield from habit.call("bank-replace_card", card_id=card["card_id"])
            yield from habit.call("bank-set_card_limit", card_id=new["card_id"], limit=card["daily_limit"])

        acts.append(replace)
    for act in habit.order(acts):
        yield from act()
    if habit.again:
        yield from habit.call("bank-list_cards")
    if "open disputes" in instruction:
        disputes = yield from habit.call("bank-list_disputes")
        total = sum(-row["amount"] for row in disputes["disputes"] if row["status"] == "open")
        yield habit.finish(round(total, 2), "sum of all payments in open disputes", "euros")
    elif "last four digits" in instruction:
        yield habit.finish(card["last4"], "last four digits of that card")
    else:
        yield habit.finish(-twice[-1]["amount"], "amount disputed", "euros")


def move_standing_orders(habit: Habit, instruction: str) -> ActionStream:
    """Move one or all standing orders of an account, and the money that they need."""
    source = read(r"no longer from the (.+?):|orders from my (.+?) shall", instruction)
    old, new = (yield from _account(habit, source)), (yield from _account(habit, "Bills account"))
    wanted = {} if habit.broad else {"account_id": old["account_id"], "status": "active"}
    orders = (yield from habit.call("bank-list_standing_orders", **wanted))["standing_orders"]
    orders = [row for row in orders if row["status"] == "active" and row["account_id"] == old["account_id"]]
    if "All active" not in instruction:
        orders = [only(orders, payee=read(r"^(.+?) shall be paid", instruction))]
    total = round(sum(row["amount"] for row in orders), 2)

    def move() -> Calls:
        for row in habit.order(orders):
            yield from habit.call(
                "bank-update_standing_order", standing_order_id=row["standing_order_id"], account_id=new["account_id"]
            )

    acts = [move]
    if "Reserve" in instruction:
        reserve = yield from _account(habit, "Reserve")
        missing = round(total - new["balance"], 2)
        acts.append(
            lambda: habit.call(
                "bank-move_money",
                account_id=reserve["account_id"],
                to_account_id=new["account_id"],
                amount=missing,
            )
        )
    for act in acts:
        yield from act()
    if habit.again:
        yield from habit.call("bank-list_standing_orders", account_id=new["account_id"])
    if "Reserve" in instruction:
        yield habit.finish((yield from _account(habit, "Reserve"))["balance"], "balance of the Reserve", "euros")
    else:
        yield habit.finish(total, "amount of the standing order" if len(orders) == 1 else "sum", "euros")


def pay_bill(habit: Habit, instruction: str) -> ActionStream:
    """Pay a bill; enter the new IBAN, fill the account and raise the limit where that is asked for."""
    name = read(r"Pay (.+?) \d|^(.+?) has a new IBAN", instruction)
    amount, reference = float(read(r"([\d.]+) euros from", instruction)), read(r"(Invoice \d+)", instruction)
    account = yield from _account(habit, "Workshop account")
    query = {} if habit.broad else {"query": name.split()[-1].lower()}
    payee = only((yield from habit.call("bank-list_payees", **query))["payees"], name=name)
    acts = []
    if "IBAN" in instruction:
        iban = read(r"IBAN, (\w+)", instruction)
        reserve = yield from _account(habit, "Reserve")
        acts.append(lambda: habit.call("bank-update_payee", payee_id=payee["payee_id"], iban=iban))
        acts.append(
            lambda: habit.call(
                "bank-move_money",
                account_id=reserve["account_id"],
                to_account_id=account["account_id"],
                amount=round(amount - account["balance"], 2),
            )
        )
    limit = account["transfer_limit"]
    if "transfer limit" in instruction and limit < amount:
        raised = int(read(r"raise it to (\d+)", instruction))
        acts.append(lambda: habit.call("bank-set_transfer_limit", account_id=account["account_id"], limit=raised))
    for act in habit.order(acts):
        yield from act()
    yield from habit.call(
        "bank-pay_payee",
        account_id=account["account_id"],
        payee_id=payee["payee_id"],
        amount=amount,
        reference=reference,
    )
    if "transfer limit" in instruction and limit < amount:
        yield from habit.call("bank-set_transfer_limit", account_id=account["account_id"], limit=limit)
    asked = "Reserve" if "Reserve" in instruction else "Workshop account"
    balance = (yield from _account(habit, asked))["balance"]
    yield habit.finish(balance, f"balance of the {asked}" if asked == "Reserve" else "balance of that account", "euros")


BANK: Ways = {
    "duplicate_charge": with_habits(duplicate_charge),
    "move_standing_orders": with_habits(move_standing_orders),
    "pay_bill": with_habits(pay_bill),
}
"""Family → its ways."""
