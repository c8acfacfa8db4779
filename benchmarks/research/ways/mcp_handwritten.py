"""Ways of the hand-written tasks of the domain `mcp`: other tools, other orders, other words."""

from __future__ import annotations

import json
from typing import Any

from ways.playing import Ways, fixed


def call(tool: str, **arguments: Any) -> str:
    """Return a tool call."""
    return json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)


PAY_DENTIST = call("bank-pay_payee", account_id=2001, payee_id=302, amount=86.40, reference="D-5518")
SAVE_REST = call("bank-move_money", account_id=2001, to_account_id=2002, amount=348.3)
REPLACE = call("bank-replace_card", card_id=51)
DISPUTES = [call("bank-open_dispute", transaction_id=number, reason="not recognised") for number in (5007, 5009)]
CANCEL = call("shop-update_order_status", order_id=1042, status="cancelled")
RAISE = call("hr-change_salary", employee_id=33, amount=53400, valid_from="2026-05-01", reason="yearly review")
INTERVIEW = call("hr-schedule_interview", candidate_id=801, interviewer_id=31, starts_at="2026-04-29T14:00:00Z")
REJECT = call("hr-reject_candidate", candidate_id=802)
BIRCH, ACORN = (call("office-book_room", event_id=event, room_id=room) for event, room in ((311, 3), (313, 1)))
SHARE = call("office-share_calendar", calendar_id=1, email="tamsin.okoro@brightwell.example", role="writer")
DECLINE = call("office-respond_to_event", event_id=322, response="declined")
INVITE = call("office-add_attendees", event_id=321, emails=["tamsin.okoro@brightwell.example"])
LABEL = call("office-add_label", message_id=605, label="Contracts")
LEAVE = call("tracker-remove_member", project_key="COM", username="hiba.rahal")


def hand(issue: str, username: str) -> str:
    """Return the call that assigns an issue."""
    return call("tracker-assign_issue", issue_key=issue, username=username)


def close(issue: str) -> str:
    """Return the call that closes an issue as fixed."""
    return call("tracker-close_issue", issue_key=issue, resolution="fixed")


def postpone(issue: str) -> str:
    """Return the call that moves an issue to the next release."""
    return call("tracker-set_milestone", issue_key=issue, milestone_id=22)


HANDED = [hand("COM-39", "cyril.okonjo"), hand("COM-43", "joran.visser"), hand("COM-46", "joran.visser")]
CLOSE_MILESTONE = call("tracker-close_milestone", milestone_id=21)
BOTH_LETTERS = call("office-move_messages", message_ids=[605, 602], folder_id=4)
TO_DO = call("office-create_todo", title="Pay Obermann Glas", due="2026-05-22")

HANDWRITTEN: Ways = {
    "bank-holiday-fund": [
        fixed(
            "in_order_in_a_sentence", PAY_DENTIST, SAVE_REST, "finish: The balance of the Holiday savings is €988.30."
        ),
        fixed(
            "moved_before_it_is_paid",
            call("bank-get_account", account_id=2001),
            SAVE_REST,
            PAY_DENTIST,
            "finish: **988.30 EUR**",
        ),
        fixed(
            "looked_up_afterwards",
            call("bank-list_payees"),
            PAY_DENTIST,
            SAVE_REST,
            call("bank-list_accounts"),
            "finish: 988,30 €",
        ),
    ],
    "bank-lost-card": [
        fixed("card_first", REPLACE, *DISPUTES, "finish: The sum of the disputed payments is 194.40 euros."),
        fixed("last_payment_first", *reversed(DISPUTES), REPLACE, "finish: €194.40"),
        fixed("with_a_look", call("bank-list_cards"), DISPUTES[0], REPLACE, DISPUTES[1], "finish: **194.4**"),
    ],
    "bank-two-loans": [
        fixed(
            name,
            *looks,
            call("bank-repay_loan", loan_id=22, account_id=2002, amount=940.6),
            call("bank-repay_loan", loan_id=21, account_id=2002, amount=759.4),
            answer,
        )
        for name, looks, answer in (
            ("in_a_sentence", [], "finish: What is left of the other loan is 1,070.60 euros."),
            ("thousands_apart", [call("bank-list_loans")], "finish: 1\u202f070.60 EUR"),
            ("decimal_comma", [call("bank-get_account", account_id=2002)], "finish: 1.070,60 €"),
        )
    ],
    "duplicate-order": [
        fixed(
            "with_another_reason",
            CANCEL,
            call("shop-adjust_stock", sku="BLB-010", delta=3, reason="Returned"),
            call("shop-adjust_stock", sku="LMP-204", delta=1, reason="Returned"),
            "finish: The total of all her orders that are not cancelled is €181.65.",
        ),
        fixed(
            "stock_first",
            call("shop-adjust_stock", sku="BLB-010", delta=3),
            call("shop-adjust_stock", sku="LMP-204", delta=1),
            CANCEL,
            "finish: 181.65 EUR",
        ),
        fixed(
            "around_the_cancelling",
            call("shop-adjust_stock", sku="LMP-204", delta=1),
            CANCEL,
            call("shop-adjust_stock", sku="BLB-010", delta=3),
            call("shop-list_orders", customer_id=7),
            "finish: **181.65**",
        ),
    ],
    "hr-fair-raise": [
        fixed("thousands_with_commas", RAISE, "finish: The yearly payroll is 281,600 euros."),
        fixed(
            "words_of_one_s_own",
            call(
                "hr-change_salary",
                employee_id=33,
                amount=53400,
                valid_from="2026-05-01",
                reason="Yearly review",
            ),
            "finish: €281,600.00",
        ),
        fixed(
            "looked_up_afterwards", call("hr-list_reviews"), RAISE, call("hr-list_departments"), "finish: 281’600 EUR"
        ),
    ],
    "hr-interview-slot": [
        fixed("with_seconds", INTERVIEW, REJECT, "finish: 2026-04-29T14:00:00Z"),
        fixed("in_words", REJECT, INTERVIEW, "finish: 29 April 2026, 14:00 UTC"),
        fixed("in_a_sentence", INTERVIEW, REJECT, "finish: The interview is on Wednesday, 29 April 2026, at 14:00."),
        fixed("american", INTERVIEW, REJECT, "finish: **April 29, 2026 at 2:00 PM UTC**"),
    ],
    "office-broken-projector": [
        fixed("last_meeting_first", ACORN, BIRCH, "finish: Acorn and Birch"),
        fixed(
            "released_before",
            call("office-release_room", event_id=311),
            call("office-release_room", event_id=313),
            BIRCH,
            ACORN,
            "finish: The new rooms are **Birch** and **Acorn**.",
        ),
        fixed("as_a_list", call("office-list_rooms"), BIRCH, ACORN, "finish: - Birch\n- Acorn"),
    ],
    "office-stand-in": [
        fixed("another_order", INVITE, DECLINE, SHARE, "finish: Desk 4\u2011B02"),
        fixed("in_a_sentence", SHARE, DECLINE, INVITE, "finish: The desk of the stand-in is 4-B02."),
        fixed(
            "read_as_it_goes",
            call("office-get_message", message_id=613),
            DECLINE,
            SHARE,
            call("office-get_event", event_id=321),
            INVITE,
            "finish: `4-b02`",
        ),
    ],
    "office-unpaid-invoices": [
        fixed("in_another_order", TO_DO, LABEL, BOTH_LETTERS, "finish: The sum of both invoices is 560.50 euros."),
        fixed(
            "one_letter_after_the_other",
            call("office-move_messages", message_ids=[602], folder_id=4),
            LABEL,
            call("office-move_messages", message_ids=[605], folder_id=4),
            TO_DO,
            "finish: €560.50",
        ),
        fixed(
            "read_and_tied_to_the_letter",
            call("office-get_attachment", attachment_id=82),
            BOTH_LETTERS,
            call("office-create_todo", title="Pay Obermann Glas", due="2026-05-22", message_id=602),
            LABEL,
            "finish: 560.5 EUR",
        ),
    ],
    "tracker-colleague-leaves": [
        fixed("in_a_sentence", *HANDED, LEAVE, "finish: joran.visser has more open points in the end."),
        fixed("with_a_mark", call("tracker-list_members", project_key="COM"), *HANDED, LEAVE, "finish: @joran.visser"),
        fixed("as_code", *HANDED, LEAVE, call("tracker-get_project", project_key="COM"), "finish: `Joran.Visser`"),
    ],
    "tracker-ship-release": [
        fixed(
            "moved_first",
            postpone("COM-47"),
            postpone("COM-45"),
            close("COM-42"),
            close("COM-38"),
            CLOSE_MILESTONE,
            "finish: 11 points are still open in Release 3.1.",
        ),
        fixed(
            "as_listed",
            close("COM-42"),
            postpone("COM-45"),
            close("COM-38"),
            postpone("COM-47"),
            CLOSE_MILESTONE,
            "finish: **11 points**",
        ),
        fixed(
            "with_looks",
            call("tracker-list_issues", project_key="COM", milestone_id=21),
            close("COM-42"),
            close("COM-38"),
            postpone("COM-45"),
            postpone("COM-47"),
            CLOSE_MILESTONE,
            call("tracker-list_milestones", project_key="COM"),
            "finish: Release 3.1 has 11 open points.",
        ),
    ],
}
"""Id of a task → its ways."""
