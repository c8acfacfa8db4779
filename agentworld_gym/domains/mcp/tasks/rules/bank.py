"""Card payments that nobody recognises, and which the rules of a bank allow to be disputed or not."""

from __future__ import annotations

import datetime

from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.bank import BALANCES, OWN
from agentworld_gym.domains.mcp.tasks.rules.cases import Kind, RuleCase, days_of, drawn_kinds, settled
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

FOUND = "SELECT transaction_id FROM transactions WHERE has(counterparty, :query) OR has(reference, :query)"
"""What a search for a merchant finds, also in accounts of other customers."""


@family("bank")
def settle_charges(scene: ToolScene, level: int) -> TaskDraft:
    """The agent disputes unknown payments that can still be disputed, and freezes the cards of those that cannot."""
    kinds = drawn_kinds(scene, level)
    account = scene.value(f"SELECT min(account_id) FROM accounts WHERE {OWN} AND kind = 'current'")
    words = scene.service.scenario.words["merchants"]
    fresh = [shop for shop in words if not scene.values(FOUND, query=shop["name"].split()[0])]
    category = scene.policies["open_category"]
    usual = scene.pick([shop for shop in fresh if shop["category"] != category])
    exempt = scene.pick([shop for shop in fresh if shop["category"] == category]) if "exempt" in kinds else usual
    digits = scene.rng.sample(range(1000, 10000), len(kinds))
    cases = []
    for kind, last4 in zip(kinds, digits, strict=True):
        shop = exempt if kind == "exempt" else usual
        cases.append(_case(scene, kind, account, str(last4), shop))
    # The account held what was paid.
    scene.run("UPDATE transactions SET amount = amount + 2000 WHERE kind = 'opening' AND account_id = :a", a=account)
    scene.run(BALANCES)
    names = list(dict.fromkeys(shop["name"] for shop in (usual, exempt)))
    request = (
        f"I never bought anything at {' or '.join(names)}. Dispute each payment there that the rules still allow, with "
        "the reason 'not recognised'. Where a payment is too old for that, freeze the card that paid it. What may not "
        "be disputed by me for another reason stays as it is."
    )
    closing = "Finish with the sum of the disputed payments, in euros."
    look = scene.calls("search_transactions", "query", [name.split()[0] for name in names])
    return settled(scene, level, cases, request, closing, look, scene.call("list_disputes"))


def _case(scene: ToolScene, kind: Kind, account: int, last4: str, shop: dict[str, str]) -> RuleCase:
    """Put a card and a payment by it."""
    rules = scene.policies
    holder = "holder" in scene.service.scenario.about.user
    most = rules["holder_most"] if holder else rules["deputy_most"]
    taken = days_of(scene, kind, rules["dispute_days"], rules["open_days"])
    cents = scene.rng.randint(*((100 * most + 1, 100 * most + 9000) if kind == "reserved" else (500, 100 * most)))
    card = scene.put("cards", account_id=account, last4=last4, daily_limit=500, expires_on="2028-05-01")
    day = (scene.date - datetime.timedelta(taken)).isoformat()
    payment = scene.put(
        "transactions",
        account_id=account,
        card_id=card,
        posted_at=f"{day}T{scene.rng.randint(8, 20):02}:{scene.rng.randint(10, 59)}:15Z",
        kind="card",
        counterparty=shop["name"],
        category=shop["category"],
        amount=-cents / 100,
    )
    return RuleCase(
        kind,
        scene.call("open_dispute", transaction_id=payment, reason="not recognised"),
        scene.call("freeze_card", card_id=card),
        (scene.call("get_transaction", transaction_id=payment),),
        _check(scene, kind, payment, card),
        cents / 100,
    )


def _check(scene: ToolScene, kind: Kind, payment: int, card: int) -> Check:
    """Check that a payment that can be disputed is, and that the card is frozen only where it has to be."""
    if kind in ("in time", "exempt"):
        wanted = {"transaction_id": payment, "reason": "not recognised", "status": "open"}
        return scene.probe(scene.call("list_disputes", status="open"), wanted)
    status = "frozen" if kind == "late" else "active"
    return scene.probe(scene.call("get_card", card_id=card), {"card_id": card, "status": status})
