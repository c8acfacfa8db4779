"""Tasks of a bank's customer: the agent disputes a double charge, moves standing orders, or pays a bill."""

from __future__ import annotations

from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

OWN = "customer_id = (SELECT customer_id FROM sessions)"
BALANCES = """UPDATE accounts SET balance = (SELECT round(sum(amount), 2) FROM transactions t
    WHERE t.account_id = accounts.account_id)"""


@family("bank")
def duplicate_charge(scene: ToolScene, level: int) -> TaskDraft:
    """The agent disputes the later of two equal charges; at level 2 it also freezes the card, at level 3 it replaces
    it."""
    account = scene.value(f"SELECT min(account_id) FROM accounts WHERE {OWN} AND kind = 'current'")
    limits = scene.some([150, 200, 350, 400, 600, 750], 2)
    digits = scene.rng.sample(range(1000, 10000), 2)
    card, spare = (
        scene.put("cards", account_id=account, last4=str(last4), daily_limit=limit, expires_on="2028-05-01")
        for last4, limit in zip(digits, limits, strict=True)
    )
    shops = [shop for shop in scene.service.scenario.words["merchants"] if not _is_known_shop(scene, shop["name"])]
    shop = scene.pick(shops)
    cents = scene.rng.sample(range(900, 7000), 2)
    amount, other = (cent / 100 for cent in cents)
    small, first, second = (
        scene.put(
            "transactions",
            account_id=account,
            card_id=by,
            posted_at=f"2026-04-15T{time}Z",
            kind="card",
            counterparty=shop["name"],
            category=shop["category"],
            amount=-sum_,
        )
        for by, time, sum_ in (
            (spare, "07:12:40", other),
            (card, f"08:{scene.rng.randint(10, 29)}:15", amount),
            (card, f"08:{scene.rng.randint(30, 59)}:51", amount),
        )
    )
    scene.run(BALANCES)
    name = shop["name"]
    look = [scene.call("search_transactions", query=name.split()[0])]
    dispute = scene.call("open_dispute", transaction_id=second, reason="duplicate")
    wrong = [
        *scene.calls("open_dispute", "transaction_id", (first, small), reason="duplicate"),
        scene.call("open_dispute", transaction_id=second, reason="wrong amount"),
    ]
    said = scene.say(
        f"{name} charged my card twice this morning for one purchase. Dispute the later of the two equal charges as a "
        "duplicate.",
        f"This morning {name} took the same sum from my card two times. Open a dispute for the second of these "
        "payments, with the reason duplicate.",
    )
    disputed = scene.probe(
        scene.call("list_disputes"),
        {"transaction_id": second, "reason": "duplicate", "status": "open"},
        lacking=[{"transaction_id": first}, {"transaction_id": small}],
    )
    if level == 1:
        both = round(2 * amount, 2)
        instruction = f"{said} Finish with the amount you disputed, in euros."
        sums = scene.finishes(other, both, round(amount + other, 2), round(both + other, 2))
        return scene.draft(instruction, [*look, dispute], [*wrong, *sums], [disputed], answer=amount)
    look.append(scene.call("get_transaction", transaction_id=second))
    if level == 2:
        freeze = scene.call("freeze_card", card_id=card)
        instruction = (
            f"{said} Freeze the card it was paid by, and no other. Finish with the last four digits of that card."
        )
        frozen = scene.probe(scene.call("list_cards"), {"card_id": card, "status": "frozen"}, lacking=[_frozen(spare)])
        more = [scene.call("freeze_card", card_id=spare), scene.call("replace_card", card_id=card)]
        return scene.draft(
            instruction,
            [*look, dispute, freeze, scene.call("get_card", card_id=card)],
            [*wrong[:2], *more, *scene.finishes(str(digits[1]), *_others(scene, digits))],
            [disputed, frozen],
            answer=str(digits[0]),
        )
    _dispute_another(scene)
    new = 1 + scene.value("SELECT max(card_id) FROM cards")
    limit = scene.call("set_card_limit", card_id=new, limit=limits[0])
    expert = [*look, dispute, scene.call("get_card", card_id=card), scene.call("replace_card", card_id=card), limit]
    expert.append(scene.call("list_disputes", status="open"))
    afterwards = scene.after(expert)
    total = -afterwards.value(
        "SELECT round(sum(amount), 2) FROM transactions JOIN disputes USING (transaction_id) "
        f"JOIN accounts USING (account_id) WHERE {OWN} AND disputes.status = 'open'"
    )
    instruction = (
        f"{said} Replace the card it was paid by, and give the new card the daily limit that the old one had. Finish "
        "with the sum in euros of all payments that are then in open disputes."
    )
    checks = [
        disputed,
        scene.probe(
            scene.call("get_card", card_id=new), {"card_id": new, "account_id": account, "daily_limit": limits[0]}
        ),
        scene.probe(scene.call("list_cards", status="replaced"), {"card_id": card}, lacking=[{"card_id": spare}]),
    ]
    more = [
        scene.call("replace_card", card_id=spare),
        scene.call("set_card_limit", card_id=new, limit=limits[1]),
        scene.call("set_card_limit", card_id=card, limit=limits[0]),
    ]
    sums = scene.finishes(round(total + amount, 2), round(total + other, 2), round(amount + other, 2))
    return scene.draft(instruction, expert, [*wrong[:1], *more, *sums, *wrong[1:]], checks, answer=total, menu_max=16)


def _is_known_shop(scene: ToolScene, shop: str) -> bool:
    return bool(scene.values("SELECT 1 FROM transactions WHERE has(counterparty, :name)", name=shop.split()[0]))


def _dispute_another(scene: ToolScene) -> None:
    """Put an earlier payment into dispute as well."""
    others = scene.values(
        f"SELECT transaction_id FROM transactions JOIN accounts USING (account_id) WHERE {OWN} AND transactions.kind = "
        "'card' AND posted_at < '2026-04-10' AND transaction_id NOT IN (SELECT transaction_id FROM disputes)"
    )
    scene.put(
        "disputes",
        transaction_id=scene.pick(others),
        reason="not received",
        status="open",
        opened_at="2026-04-13T15:20:08Z",
    )


def _frozen(card: int) -> dict[str, object]:
    return {"card_id": card, "status": "frozen"}


def _others(scene: ToolScene, digits: list[int]) -> list[str]:
    return scene.values(
        f"SELECT last4 FROM cards JOIN accounts USING (account_id) WHERE {OWN} AND last4 NOT IN (:a, :b)",
        a=str(digits[0]),
        b=str(digits[1]),
    )


@family("bank")
def move_standing_orders(scene: ToolScene, level: int) -> TaskDraft:
    """The agent moves one standing order to another account, at level 2 all of an account, at level 3 with the
    money."""
    old = scene.value(f"SELECT min(account_id) FROM accounts WHERE {OWN} AND kind = 'current'")
    old_name = scene.value("SELECT name FROM accounts WHERE account_id = :a", a=old)
    new, savings = _account(scene, "Bills account", "current"), _account(scene, "Reserve", "savings")
    aside = _account(scene, "Studio account", "current")
    scene.run(
        "UPDATE standing_orders SET status = 'cancelled' "
        f"WHERE account_id IN (SELECT account_id FROM accounts WHERE {OWN})"
    )
    names = scene.some(scene.service.scenario.words["businesses"], 5)
    names = [name for name in names if not scene.values("SELECT 1 FROM payees WHERE name = :n", n=name)]
    amounts = [cents / 100 for cents in scene.rng.sample(range(1500, 22000, 5), 4)]
    moving = 1 if level == 1 else 2 if level == 2 else 3
    scene.need(len(names) > moving)
    orders: list[int] = []
    for name, amount in zip(names[: moving + 1], amounts, strict=False):
        payee = _payee(scene, name)
        last = len(orders) == moving
        orders.append(
            scene.put(
                "standing_orders",
                account_id=aside if last and level > 1 else old,
                payee_id=payee,
                amount=amount,
                frequency="monthly",
                next_on=f"2026-05-{scene.rng.randint(1, 20):02}",
                reference=f"Contract {scene.rng.randint(1000, 9999)}",
            )
        )
    targets, stays = orders[:moving], orders[moving]
    total = round(sum(amounts[:moving]), 2)
    moves = [scene.call("update_standing_order", standing_order_id=order, account_id=new) for order in targets]
    listing = scene.call("list_standing_orders", account_id=old if level > 1 else None, status="active")
    expert = [scene.call("list_accounts"), listing]
    wrong = [
        scene.call("update_standing_order", standing_order_id=stays, account_id=new),
        scene.call("update_standing_order", standing_order_id=targets[0], account_id=savings),
        scene.call("update_standing_order", standing_order_id=targets[-1], account_id=aside),
        scene.call("cancel_standing_order", standing_order_id=targets[-1]),
        scene.call("cancel_standing_order", standing_order_id=stays),
    ]
    moved = scene.probe(
        scene.call("list_standing_orders", account_id=new, status="active"),
        *({"standing_order_id": order, "account_id": new} for order in targets),
        lacking=[{"standing_order_id": stays}],
    )
    if level == 1:
        instruction = (
            f"{names[0]} shall be paid from my Bills account from now on, no longer from the {old_name}: change the "
            "standing order. Finish with its amount in euros."
        )
        sums = scene.finishes(amounts[1], round(amounts[0] + amounts[1], 2), amounts[2])
        return scene.draft(instruction, [*expert, *moves], [*wrong, *sums], [moved], answer=amounts[0])
    said = f"All active standing orders from my {old_name} shall be paid from my Bills account from now on"
    if level == 2:
        instruction = f"{said}; those of other accounts stay. Finish with the sum in euros that they pay each month."
        sums = scene.finishes(round(total + amounts[moving], 2), *amounts[:2])
        return scene.draft(instruction, [*expert, *moves], [*wrong, *sums], [moved], answer=total)
    have = scene.value("SELECT balance FROM accounts WHERE account_id = :a", a=new)
    saved = scene.value("SELECT balance FROM accounts WHERE account_id = :a", a=savings)
    missing = round(total - have, 2)
    scene.need(0 < missing < saved)
    fill = scene.call("move_money", account_id=savings, to_account_id=new, amount=missing)
    instruction = (
        f"{said}; those of other accounts stay. Then move from my Reserve to my Bills account exactly what it lacks to "
        "pay each of them once. Finish with the balance of the Reserve after that, in euros."
    )
    funded = scene.probe(scene.call("get_account", account_id=new), {"account_id": new, "balance": total})
    left = round(saved - missing, 2)
    more = [
        scene.call("move_money", account_id=savings, to_account_id=new, amount=total),
        scene.call("move_money", account_id=old, to_account_id=new, amount=missing),
        *scene.finishes(round(saved - total, 2), saved, missing),
    ]
    return scene.draft(
        instruction, [*expert, *moves, fill], [*wrong[:2], *more, *wrong[2:]], [moved, funded], answer=left
    )


@family("bank")
def pay_bill(scene: ToolScene, level: int) -> TaskDraft:
    """The agent pays a bill; at level 2 the payee has another IBAN and money is missing, at level 3 the limit is too
    low."""
    source, savings = _account(scene, "Workshop account", "current"), _account(scene, "Reserve", "savings")
    aside = _account(scene, "Studio account", "current")
    payees = scene.values(f"SELECT name FROM payees WHERE {OWN}")
    name, other = scene.some([n for n in scene.service.scenario.words["businesses"] if n not in payees], 2)
    payee, decoy = _payee(scene, name), _payee(scene, other)
    have, saved = (scene.value("SELECT balance FROM accounts WHERE account_id = :a", a=a) for a in (source, savings))
    limit = scene.value("SELECT transfer_limit FROM accounts WHERE account_id = :a", a=source)
    reference = f"Invoice {scene.rng.randint(10000, 99999)}"
    look = [scene.call("list_accounts"), scene.call("list_payees", query=name.split()[0])]
    if level == 1:
        amount = scene.rng.randint(1000, int(100 * have) - 500) / 100
        pay, left = _paying(scene, source, payee, amount, reference), round(have - amount, 2)
        instruction = (
            f"Pay {name} {amount:.2f} euros from my Workshop account, with the reference {reference}. Finish with the "
            "balance of that account afterwards."
        )
        wrong = [
            _paying(scene, source, decoy, amount, reference),
            _paying(scene, aside, payee, amount, reference),
            scene.call("move_money", account_id=savings, to_account_id=source, amount=amount),
            *scene.finishes(have, round(have + amount, 2), round(saved - amount, 2)),
        ]
        paid = scene.probe(
            scene.call("search_transactions", query=reference),
            _payment(source, name, amount),
            lacking=[{"counterparty": other}],
        )
        return scene.draft(instruction, [*look, pay], wrong, [paid, _balance(scene, source, left)], answer=left)
    iban = f"YY{scene.rng.randint(10**7, 10**8 - 1)}"
    missing = scene.rng.randint(2000, int(100 * saved) - 500) / 100
    amount = round(have + missing, 2)
    if level == 2:
        scene.need(amount <= limit)
    else:
        scene.need(amount > limit)
    change = scene.call("update_payee", payee_id=payee, iban=iban)
    fill = scene.call("move_money", account_id=savings, to_account_id=source, amount=missing)
    pay, left = _paying(scene, source, payee, amount, reference), round(saved - missing, 2)
    said = (
        f"{name} has a new IBAN, {iban}: enter it. Then pay {name} {amount:.2f} euros from my Workshop account, with "
        f"the reference {reference}. Move from my Reserve before exactly what the balance lacks, so that it is 0.00 "
        "afterwards."
    )
    wrong = [
        scene.call("move_money", account_id=savings, to_account_id=source, amount=amount),
        _paying(scene, source, decoy, amount, reference),
        scene.call("update_payee", payee_id=decoy, iban=iban),
        scene.call("move_money", account_id=aside, to_account_id=source, amount=missing),
        *scene.finishes(saved, missing, round(saved + missing, 2)),
        scene.call("add_payee", name=name, iban=iban),
    ]
    checks = [
        scene.probe(scene.call("list_payees"), {"payee_id": payee, "iban": iban}),
        scene.probe(scene.call("search_transactions", query=reference), _payment(source, name, amount)),
        _balance(scene, source, 0),
    ]
    if level == 2:
        instruction = f"{said} Finish with the balance of the Reserve."
        return scene.draft(instruction, [*look, change, fill, pay], wrong, checks, answer=left)
    raised = float(-(-amount // 100) * 100)
    instruction = (
        f"{said} If the transfer limit is too low, raise it to {raised:.0f} euros for this payment and set it back to "
        "what it was. Finish with the balance of the Reserve."
    )
    raising, back = (scene.call("set_transfer_limit", account_id=source, limit=value) for value in (raised, limit))
    expert = [*look, scene.call("get_account", account_id=source), change, fill, raising, pay, back]
    probe = scene.probe(
        scene.call("get_account", account_id=source), {"account_id": source, "balance": 0, "transfer_limit": limit}
    )
    more = [scene.call("set_transfer_limit", account_id=aside, limit=raised), *wrong]
    return scene.draft(instruction, expert, more, [*checks[:2], probe], answer=left, menu_max=16)


def _account(scene: ToolScene, name: str, kind: str) -> int:
    """Add an account of the customer, with a balance that a transaction explains; return its number."""
    account = scene.put(
        "accounts",
        customer_id=scene.value("SELECT customer_id FROM sessions"),
        name=name,
        kind=kind,
        iban=f"ZZ{scene.rng.randint(10**7, 10**8 - 1)}",
        transfer_limit=scene.pick([300, 500, 800]),
        opened_on="2026-01-12",
    )
    low, high = (40000, 90000) if kind == "savings" else (3000, 20000)
    scene.put(
        "transactions",
        account_id=account,
        posted_at="2026-04-15T06:00:00Z",
        kind="opening",
        counterparty="Opening",
        category="opening",
        amount=scene.rng.randint(low, high) / 100,
    )
    scene.run(BALANCES)
    return account


def _payee(scene: ToolScene, name: str) -> int:
    customer = scene.value("SELECT customer_id FROM sessions")
    return scene.put("payees", customer_id=customer, name=name, iban=f"YY{scene.rng.randint(10**7, 10**8 - 1)}")


def _paying(scene: ToolScene, account: int, payee: int, amount: float, reference: str) -> str:
    return scene.call("pay_payee", account_id=account, payee_id=payee, amount=amount, reference=reference)


def _payment(account: int, payee: str, amount: float) -> dict[str, object]:
    return {"account_id": account, "counterparty": payee, "amount": -amount}


def _balance(scene: ToolScene, account: int, balance: float) -> Check:
    return scene.probe(scene.call("get_account", account_id=account), {"account_id": account, "balance": balance})
