"""A small bank and a small personnel office, calls of every tool that work, and calls that are refused."""

from __future__ import annotations

from typing import Any

BANK: dict[str, Any] = {
    "branches": [{"branch_id": 1, "name": "Harbour Branch", "city": "Vellmouth", "phone": "0800 1"}],
    "customers": [
        {"customer_id": n, "name": name, "email": mail, "phone": "0160 1", "branch_id": 1, "since": "2020-01-02"}
        for n, name, mail in ((1, "Ilse Marwood", "ilse@example.com"), (2, "Oskar Brandt", "oskar@example.com"))
    ],
    "sessions": [{"session_id": 1, "customer_id": 1, "started_at": "2026-04-15T10:00:00Z"}],
    "accounts": [
        {
            "account_id": n,
            "customer_id": customer,
            "name": name,
            "kind": kind,
            "iban": f"ZZ1000000{n}",
            "balance": balance,
            "overdraft": overdraft,
            "transfer_limit": 300,
            "status": status,
            "opened_on": "2020-01-02",
        }
        for n, customer, name, kind, balance, overdraft, status in (
            (1, 1, "Everyday", "current", 250.0, 100, "open"),
            (2, 1, "Savings", "savings", 900.0, 0, "open"),
            (3, 2, "Everyday", "current", 70.0, 0, "open"),
            (4, 1, "Old", "current", 0.0, 0, "closed"),
            (5, 1, "Empty", "current", 0.0, 0, "open"),
        )
    ],
    "cards": [
        {"card_id": n, "account_id": a, "last4": last4, "status": s, "daily_limit": 200, "expires_on": "2028-01-01"}
        for n, a, last4, s in (
            (1, 1, "1111", "active"),
            (2, 1, "2222", "frozen"),
            (3, 3, "3333", "active"),
            (4, 1, "4444", "replaced"),
        )
    ],
    "payees": [
        {"payee_id": 1, "customer_id": 1, "name": "Helix Broadband", "iban": "YY00000001"},
        {"payee_id": 2, "customer_id": 1, "name": "Velmont", "iban": "YY00000002"},
        {"payee_id": 3, "customer_id": 2, "name": "Sablewood", "iban": "YY00000003"},
    ],
    "transactions": [
        {
            "transaction_id": n,
            "account_id": a,
            "card_id": card,
            "posted_at": f"{day}T08:00:00Z",
            "kind": kind,
            "counterparty": who,
            "category": category,
            "amount": amount,
        }
        for n, a, card, day, kind, who, category, amount in (
            (1, 1, None, "2025-12-01", "opening", "Opening", "opening", 500.0),
            (2, 1, 1, "2026-04-10", "card", "Fennick Foods", "groceries", -60.5),
            (3, 1, 1, "2026-04-15", "card", "Orla Vintage", "shopping", -150.0),
            (4, 1, None, "2026-04-15", "transfer", "Helix Broadband", "transfer", -39.5),
            (5, 3, 3, "2026-04-12", "card", "Orla Vintage", "shopping", -10.0),
            (6, 1, 1, "2025-12-02", "card", "Pagewell Books", "shopping", -0.01),
            (7, 1, 1, "2026-04-11", "card", "Copperline", "travel", -12.0),
        )
    ],
    "standing_orders": [
        {
            "standing_order_id": n,
            "account_id": a,
            "payee_id": p,
            "amount": 20.0,
            "frequency": "monthly",
            "next_on": "2026-05-01",
            "reference": "Contract 7",
            "status": status,
        }
        for n, a, p, status in ((1, 1, 1, "active"), (2, 1, 1, "cancelled"), (3, 3, 3, "active"))
    ],
    "disputes": [
        {"dispute_id": n, "transaction_id": t, "reason": "duplicate", "status": s, "opened_at": "2026-04-13T08:00:00Z"}
        for n, t, s in ((1, 7, "open"), (2, 6, "rejected"))
    ],
    "loans": [
        {
            "loan_id": n,
            "customer_id": customer,
            "purpose": "car",
            "principal": 1000,
            "outstanding": 180,
            "rate": 4.9,
            "monthly_payment": 20,
        }
        for n, customer in ((1, 1), (2, 2))
    ],
}

HR: dict[str, Any] = {
    "departments": [
        {"department_id": 1, "name": "Legal", "city": "Torsgate"},
        {"department_id": 2, "name": "Quality", "city": "Ashcombe"},
    ],
    "positions": [
        {
            "position_id": n,
            "title": title,
            "department_id": d,
            "status": status,
            "salary_min": low,
            "salary_max": low + 20000,
        }
        for n, title, d, status, low in (
            (1, "Head of Legal", 1, "filled", 70000),
            (2, "Analyst", 1, "filled", 40000),
            (3, "Head of Quality", 2, "filled", 70000),
            (4, "Planner", 2, "open", 40000),
            (5, "Trainer", 2, "closed", 40000),
            (6, "Assistant", 2, "open", 20000),
        )
    ],
    "employees": [
        {
            "employee_id": n,
            "name": name,
            "email": f"{n}@brookhaven.example",
            "department_id": d,
            "position_id": p,
            "manager_id": m,
            "status": "left" if left else "active",
            "hired_on": "2020-01-02",
            "left_on": left,
        }
        for n, name, d, p, m, left in (
            (1, "Ada Hallam", 1, 1, None, None),
            (2, "Bo Keller", 1, 2, 1, None),
            (3, "Cleo Thorne", 2, 3, None, None),
            (4, "Dora Varga", 2, None, None, "2025-12-31"),
        )
    ],
    "salaries": [
        {"salary_id": n, "employee_id": e, "amount": amount, "valid_from": "2020-01-02", "reason": "hired"}
        for n, e, amount in ((1, 1, 80000), (2, 2, 50000), (3, 3, 75000), (4, 4, 45000))
    ],
    "leave_types": [
        {"leave_type_id": 1, "name": "Annual leave", "days_per_year": 26},
        {"leave_type_id": 2, "name": "Study leave", "days_per_year": 5},
    ],
    "leave_balances": [
        {"employee_id": e, "leave_type_id": t, "entitled": n, "taken": taken}
        for e, t, n, taken in ((1, 1, 26, 0), (2, 1, 26, 5), (2, 2, 2, 0), (3, 1, 26, 0))
    ],
    "leave_requests": [
        {
            "request_id": n,
            "employee_id": e,
            "leave_type_id": t,
            "first_day": first,
            "last_day": last,
            "days": days,
            "status": status,
            "decided_by": by,
        }
        for n, e, t, first, last, days, status, by in (
            (1, 2, 1, "2026-07-06", "2026-07-08", 3, "pending", None),
            (2, 2, 2, "2026-08-03", "2026-08-07", 5, "pending", None),
            (3, 2, 1, "2026-06-08", "2026-06-12", 5, "approved", 1),
            (4, 1, 1, "2026-03-02", "2026-03-03", 2, "approved", 1),
            (5, 1, 1, "2026-09-01", "2026-09-01", 1, "pending", None),
        )
    ],
    "reviews": [
        {
            "review_id": 1,
            "employee_id": 2,
            "reviewer_id": 1,
            "period": "2025-H2",
            "rating": 4,
            "comment": "Learns fast.",
        }
    ],
    "trainings": [
        {"training_id": n, "title": title, "first_day": day, "last_day": day, "seats": seats, "cost": 120}
        for n, title, day, seats in (
            (1, "First Aid", "2026-05-11", 1),
            (2, "Lean Processes", "2026-06-10", 2),
            (3, "Conflict Talks", "2026-02-10", 2),
        )
    ],
    "enrolments": [
        {"enrolment_id": n, "training_id": t, "employee_id": e, "status": s}
        for n, t, e, s in ((1, 1, 3, "enrolled"), (2, 2, 3, "cancelled"))
    ],
    "candidates": [
        {
            "candidate_id": n,
            "name": name,
            "email": f"c{n}@example.org",
            "position_id": p,
            "stage": stage,
            "expected_salary": 45000,
        }
        for n, name, p, stage in (
            (1, "Esme Calder", 4, "interview"),
            (2, "Falk Dorn", 4, "new"),
            (3, "Gil Eklund", 4, "rejected"),
            (4, "Hana Farrow", 5, "interview"),
        )
    ],
    "interviews": [
        {"interview_id": n, "candidate_id": c, "interviewer_id": 3, "starts_at": at, "score": score}
        for n, c, at, score in (
            (1, 1, "2026-04-10T10:00:00Z", 8),
            (2, 1, "2026-04-16T10:00:00Z", 7),
            (3, 4, "2026-04-17T10:00:00Z", 6),
            (4, 2, "2026-04-27T10:00:00Z", None),
        )
    ],
}

TABLES = {"bank": BANK, "hr": HR}
ORDER = {"account_id": 1, "payee_id": 1, "amount": 5, "frequency": "weekly", "next_on": "2026-05-01", "reference": "R"}
HIRE = {"salary": 45000, "first_day": "2026-06-01"}
REVIEW = {"period": "2026-H1", "rating": 5, "comment": "Calm."}
JULY = {"leave_type_id": 1, "first_day": "2026-07-13", "last_day": "2026-07-19"}
RAISE = {"amount": 52000, "valid_from": "2026-07-01", "reason": "yearly review"}

# Tool, arguments, and a piece of the answer.
WORKS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("bank-get_profile", {}, '"name": "Ilse Marwood"'),
    ("bank-update_contact", {"phone": "0171 222"}, '"email": "ilse@example.com", "phone": "0171 222"'),
    ("bank-find_branches", {"city": "vellmouth"}, '"count": 1'),
    ("bank-list_accounts", {"kind": "savings"}, '"name": "Savings"'),
    ("bank-get_account", {"account_id": 1}, '"available": 350.0'),
    ("bank-open_account", {"name": "Boat", "kind": "savings"}, '"account_id": 6, "name": "Boat"'),
    ("bank-close_account", {"account_id": 5}, '"status": "closed"'),
    ("bank-set_transfer_limit", {"account_id": 1, "limit": 450}, '"transfer_limit": 450.0'),
    ("bank-list_transactions", {"account_id": 1, "from_day": "2026-04-11"}, '"count": 3'),
    ("bank-search_transactions", {"query": "orla"}, '"count": 1'),
    ("bank-get_transaction", {"transaction_id": 7}, '"dispute": "open"'),
    (
        "bank-spending_by_category",
        {"account_id": 1, "from_day": "2026-04-01", "to_day": "2026-04-15"},
        '"category": "shopping", "transactions": 1, "spent": 150.0',
    ),
    ("bank-list_payees", {"query": "hel"}, '"count": 1'),
    ("bank-add_payee", {"name": "Lowen", "iban": "YY00000009"}, '"payee_id": 4'),
    ("bank-update_payee", {"payee_id": 1, "iban": "YY00000008"}, '"iban": "YY00000008"'),
    ("bank-remove_payee", {"payee_id": 2}, '"removed": true'),
    ("bank-pay_payee", {"account_id": 1, "payee_id": 1, "amount": 260.5}, '"balance": -10.5'),
    ("bank-move_money", {"account_id": 2, "to_account_id": 1, "amount": 900}, '"name": "Everyday", "balance": 1150.0'),
    ("bank-list_cards", {"status": "active"}, '"count": 1'),
    ("bank-get_card", {"card_id": 1}, '"paid_today": 150.0'),
    ("bank-freeze_card", {"card_id": 1}, '"status": "frozen"'),
    ("bank-unfreeze_card", {"card_id": 2}, '"status": "active"'),
    ("bank-replace_card", {"card_id": 2}, '"card_id": 5'),
    ("bank-set_card_limit", {"card_id": 1, "limit": 80}, '"daily_limit": 80.0'),
    ("bank-pay_with_card", {"card_id": 1, "merchant": "Kettle", "amount": 50}, '"balance": 200.0'),
    ("bank-list_standing_orders", {"status": "active"}, '"count": 1'),
    ("bank-get_standing_order", {"standing_order_id": 1}, '"payee": "Helix Broadband"'),
    ("bank-create_standing_order", ORDER, '"standing_order_id": 4'),
    ("bank-update_standing_order", {"standing_order_id": 1, "account_id": 5}, '"account_id": 5'),
    ("bank-cancel_standing_order", {"standing_order_id": 1}, '"status": "cancelled"'),
    ("bank-list_disputes", {"status": "open"}, '"count": 1'),
    ("bank-open_dispute", {"transaction_id": 2, "reason": "not received"}, '"dispute_id": 3'),
    ("bank-withdraw_dispute", {"dispute_id": 1}, '"status": "withdrawn"'),
    ("bank-list_loans", {}, '"outstanding": 180.0'),
    ("bank-repay_loan", {"loan_id": 1, "account_id": 1, "amount": 180}, '"status": "repaid"'),
    ("hr-find_employees", {"query": "KELL"}, '"count": 1'),
    ("hr-list_employees", {"department_id": 1}, '"count": 2'),
    ("hr-get_employee", {"employee_id": 2}, '"manager": "Ada Hallam", "salary": 50000'),
    ("hr-list_departments", {}, '"name": "Quality", "city": "Ashcombe", "employees": 1'),
    ("hr-get_department", {"department_id": 1}, '"payroll": 130000'),
    ("hr-list_positions", {"status": "open"}, '"count": 2'),
    ("hr-get_position", {"position_id": 4}, '"held_by": null, "candidates": 3'),
    (
        "hr-open_position",
        {"title": "Clerk", "department_id": 1, "salary_min": 30000, "salary_max": 40000},
        '"position_id": 7',
    ),
    ("hr-close_position", {"position_id": 4}, '"status": "closed", "rejected": 3'),
    ("hr-transfer_employee", {"employee_id": 2, "position_id": 4}, '"department_id": 2, "position_id": 4'),
    ("hr-set_manager", {"employee_id": 2, "manager_id": 1}, '"manager_id": 1'),
    ("hr-end_employment", {"employee_id": 2, "last_day": "2026-06-30"}, '"open_position": 2'),
    ("hr-get_salary_history", {"employee_id": 2}, '"count": 1'),
    ("hr-change_salary", {"employee_id": 2, **RAISE}, '"amount": 52000'),
    ("hr-get_leave_balance", {"employee_id": 2}, '"entitled": 26, "taken": 5, "remaining": 21'),
    ("hr-list_leave_requests", {"department_id": 1, "status": "pending"}, '"count": 3'),
    ("hr-get_leave_request", {"request_id": 3}, '"decided_by": 1'),
    ("hr-request_leave", {"employee_id": 2, **JULY}, '"days": 5, "status": "pending"'),
    ("hr-approve_leave", {"request_id": 1, "approver_id": 1}, '"remaining": 18'),
    ("hr-refuse_leave", {"request_id": 2, "approver_id": 1, "reason": "too long"}, '"note": "too long"'),
    ("hr-cancel_leave", {"request_id": 3}, '"status": "cancelled"'),
    ("hr-list_absences", {"first_day": "2026-06-12", "last_day": "2026-06-30"}, '"count": 1'),
    ("hr-list_trainings", {"query": "lean"}, '"free_seats": 2'),
    ("hr-get_training", {"training_id": 1}, '"name": "Cleo Thorne"'),
    ("hr-enrol_employee", {"training_id": 2, "employee_id": 3}, '"enrolment_id": 2'),
    ("hr-cancel_enrolment", {"enrolment_id": 1}, '"status": "cancelled"'),
    ("hr-list_reviews", {"employee_id": 2}, '"rating": 4'),
    ("hr-write_review", {"employee_id": 2, "reviewer_id": 1, **REVIEW}, '"review_id": 2'),
    ("hr-list_candidates", {"position_id": 4}, '"stage": "interview", "average_score": 7.5'),
    ("hr-get_candidate", {"candidate_id": 1}, '"interviews": [{"interview_id": 1'),
    (
        "hr-schedule_interview",
        {"candidate_id": 2, "interviewer_id": 3, "starts_at": "2026-04-28T10:00:00Z"},
        '"interview_id": 5',
    ),
    ("hr-score_interview", {"interview_id": 4, "score": 9}, '"score": 9'),
    ("hr-reject_candidate", {"candidate_id": 2}, '"stage": "rejected"'),
    ("hr-hire_candidate", {"candidate_id": 1, **HIRE}, '"employee_id": 5, "name": "Esme Calder"'),
)

# Tool, arguments, the code of the refusal (-32602: the arguments break the schema), and a piece of its text.
REFUSED: tuple[tuple[str, dict[str, Any], int, str], ...] = (
    ("bank-get_profile", {"customer_id": 2}, -32602, "customer_id"),
    ("bank-update_contact", {"email": "oskar@example.com"}, 409, "UNIQUE"),
    ("bank-find_branches", {"city": 7}, -32602, "valid string"),
    ("bank-list_accounts", {"kind": "gold"}, -32602, "'current' or 'savings'"),
    ("bank-get_account", {"account_id": 9}, 404, "Account 9 not found"),
    ("bank-get_account", {"account_id": 3}, 403, "Account 3 belongs to another customer"),
    ("bank-open_account", {"name": "everyday", "kind": "current"}, 409, "exists already"),
    ("bank-close_account", {"account_id": 1}, 409, "a balance of 250.00"),
    ("bank-set_transfer_limit", {"account_id": 4, "limit": 5}, 409, "Account 4 is closed"),
    ("bank-list_transactions", {"account_id": 3}, 403, "another customer"),
    ("bank-search_transactions", {"query": "x"}, -32602, "query"),
    ("bank-get_transaction", {"transaction_id": 5}, 403, "another customer"),
    (
        "bank-spending_by_category",
        {"account_id": 1, "from_day": "2026-04-02", "to_day": "2026-04-01"},
        422,
        "must not be after",
    ),
    ("bank-list_payees", {"query": None}, -32602, "query"),
    ("bank-add_payee", {"name": "Again", "iban": "YY00000001"}, 409, "belongs to payee 1 (Helix Broadband)"),
    ("bank-update_payee", {"payee_id": 1, "iban": "YY00000002"}, 409, "belongs to payee 2"),
    ("bank-update_payee", {"payee_id": 3, "name": "Mine"}, 404, "Payee 3 not found"),
    ("bank-remove_payee", {"payee_id": 1}, 409, "used by standing order 1"),
    ("bank-pay_payee", {"account_id": 1, "payee_id": 1, "amount": 350.01}, 422, "350.00 available"),
    ("bank-pay_payee", {"account_id": 1, "payee_id": 1, "amount": 260.51}, 422, "260.50 of 300.00 left today"),
    ("bank-pay_payee", {"account_id": 1, "payee_id": 3, "amount": 1}, 404, "Payee 3 not found"),
    ("bank-pay_payee", {"account_id": 1, "payee_id": 1, "amount": 0}, -32602, "amount"),
    ("bank-move_money", {"account_id": 2, "to_account_id": 1, "amount": 900.01}, 422, "900.00 available"),
    ("bank-move_money", {"account_id": 2, "to_account_id": 3, "amount": 1}, 403, "Account 3 belongs"),
    ("bank-list_cards", {"account_id": "one"}, -32602, "valid integer"),
    ("bank-get_card", {"card_id": 3}, 403, "another customer"),
    ("bank-freeze_card", {"card_id": 2}, 409, "Card 2 is frozen and cannot be frozen"),
    ("bank-unfreeze_card", {"card_id": 4}, 409, "Card 4 is replaced"),
    ("bank-replace_card", {"card_id": 4}, 409, "has been replaced"),
    ("bank-set_card_limit", {"card_id": 1, "limit": 5001}, -32602, "5000"),
    ("bank-pay_with_card", {"card_id": 2, "merchant": "Kettle", "amount": 1}, 403, "Card 2 is frozen"),
    ("bank-pay_with_card", {"card_id": 1, "merchant": "Kettle", "amount": 50.01}, 422, "50.00 left today"),
    ("bank-list_standing_orders", {"status": "gone"}, -32602, "status"),
    ("bank-get_standing_order", {"standing_order_id": 3}, 403, "another customer"),
    ("bank-create_standing_order", {**ORDER, "account_id": 2}, 422, "current accounts only"),
    ("bank-create_standing_order", {**ORDER, "next_on": "2026-04-15"}, 422, "after today"),
    ("bank-create_standing_order", {**ORDER, "next_on": "2026-02-31"}, 422, "not a day of the calendar"),
    ("bank-update_standing_order", {"standing_order_id": 1, "account_id": 3}, 403, "Account 3 belongs"),
    ("bank-cancel_standing_order", {"standing_order_id": 2}, 409, "is cancelled"),
    ("bank-list_disputes", {"status": "lost"}, -32602, "status"),
    ("bank-open_dispute", {"transaction_id": 7, "reason": "duplicate"}, 409, "disputed already (dispute 1)"),
    ("bank-open_dispute", {"transaction_id": 4, "reason": "duplicate"}, 422, "no card payment"),
    ("bank-open_dispute", {"transaction_id": 6, "reason": "duplicate"}, 422, "older than 90 days"),
    ("bank-withdraw_dispute", {"dispute_id": 2}, 409, "Dispute 2 is rejected"),
    ("bank-list_loans", {"all": True}, -32602, "all"),
    ("bank-repay_loan", {"loan_id": 1, "account_id": 1, "amount": 181}, 422, "Only 180.00 of loan 1"),
    ("bank-repay_loan", {"loan_id": 2, "account_id": 1, "amount": 1}, 404, "Loan 2 not found"),
    ("hr-find_employees", {}, -32602, "Missing required argument"),
    ("hr-list_employees", {"limit": 51}, -32602, "limit"),
    ("hr-get_employee", {"employee_id": 9}, 404, "Employee 9 not found"),
    ("hr-list_departments", {"city": "Torsgate"}, -32602, "city"),
    ("hr-get_department", {"department_id": 9}, 404, "Department 9 not found"),
    ("hr-list_positions", {"status": "vacant"}, -32602, "status"),
    ("hr-get_position", {"position_id": 9}, 404, "Position 9 not found"),
    (
        "hr-open_position",
        {"title": "Clerk", "department_id": 1, "salary_min": 2, "salary_max": 1},
        422,
        "must not exceed",
    ),
    ("hr-close_position", {"position_id": 2}, 409, "Position 2 is filled"),
    ("hr-transfer_employee", {"employee_id": 2, "position_id": 5}, 409, "Position 5 is closed"),
    ("hr-transfer_employee", {"employee_id": 2, "position_id": 6}, 422, "Salary 50000 is outside 20000 to 40000"),
    ("hr-transfer_employee", {"employee_id": 1, "position_id": 4}, 409, "still manages others"),
    ("hr-set_manager", {"employee_id": 2, "manager_id": 3}, 422, "different departments"),
    ("hr-set_manager", {"employee_id": 1, "manager_id": 2}, 409, "Employee 1 is above employee 2"),
    ("hr-end_employment", {"employee_id": 1, "last_day": "2026-06-30"}, 409, "still manages employee 2"),
    ("hr-get_salary_history", {"employee_id": 9}, 404, "Employee 9 not found"),
    ("hr-change_salary", {"employee_id": 2, **RAISE, "amount": 60001}, 422, "outside 40000 to 60000"),
    ("hr-change_salary", {"employee_id": 2, **RAISE, "valid_from": "2020-01-02"}, 409, "valid from 2020-01-02"),
    ("hr-change_salary", {"employee_id": 4, **RAISE}, 409, "Employee 4 has left"),
    ("hr-get_leave_balance", {"employee_id": 9}, 404, "Employee 9 not found"),
    ("hr-list_leave_requests", {"status": "open"}, -32602, "status"),
    ("hr-get_leave_request", {"request_id": 9}, 404, "Leave request 9 not found"),
    ("hr-request_leave", {"employee_id": 2, **JULY, "first_day": "2026-07-08"}, 409, "Overlaps leave request 1"),
    ("hr-request_leave", {"employee_id": 2, **JULY, "first_day": "2026-07-18"}, 422, "no working day"),
    ("hr-request_leave", {"employee_id": 2, **JULY, "last_day": "2028-07-19"}, 422, "within a year"),
    ("hr-approve_leave", {"request_id": 1, "approver_id": 3}, 403, "may not decide on leave request 1"),
    ("hr-approve_leave", {"request_id": 2, "approver_id": 1}, 409, "5 days requested, 2 left"),
    ("hr-refuse_leave", {"request_id": 3, "approver_id": 1, "reason": "no"}, 409, "Leave request 3 is approved"),
    ("hr-cancel_leave", {"request_id": 4}, 409, "began on 2026-03-02"),
    ("hr-list_absences", {"first_day": "2026-06-12"}, -32602, "last_day"),
    ("hr-list_trainings", {"query": 1}, -32602, "query"),
    ("hr-get_training", {"training_id": 9}, 404, "Training 9 not found"),
    ("hr-enrol_employee", {"training_id": 1, "employee_id": 1}, 409, "All 1 seats"),
    ("hr-enrol_employee", {"training_id": 2, "employee_id": 2}, 409, "on leave then (request 3)"),
    ("hr-enrol_employee", {"training_id": 1, "employee_id": 3}, 409, "enrolled already"),
    ("hr-enrol_employee", {"training_id": 3, "employee_id": 3}, 409, "began on 2026-02-10"),
    ("hr-cancel_enrolment", {"enrolment_id": 2}, 409, "Enrolment 2 is cancelled"),
    ("hr-list_reviews", {"employee_id": "x"}, -32602, "valid integer"),
    ("hr-write_review", {"employee_id": 2, "reviewer_id": 3, **REVIEW}, 403, "not the manager of employee 2"),
    ("hr-write_review", {"employee_id": 2, "reviewer_id": 1, **REVIEW, "period": "2025-H2"}, 409, "review 1"),
    ("hr-list_candidates", {"stage": "lost"}, -32602, "stage"),
    ("hr-get_candidate", {"candidate_id": 9}, 404, "Candidate 9 not found"),
    (
        "hr-schedule_interview",
        {"candidate_id": 2, "interviewer_id": 3, "starts_at": "2026-04-27T10:00:00Z"},
        409,
        "Clashes with interview 4",
    ),
    (
        "hr-schedule_interview",
        {"candidate_id": 2, "interviewer_id": 2, "starts_at": "2026-06-09T10:00:00Z"},
        409,
        "on leave then (request 3)",
    ),
    ("hr-score_interview", {"interview_id": 1, "score": 9}, 409, "has the score 8"),
    ("hr-reject_candidate", {"candidate_id": 3}, 409, "Candidate 3 is rejected"),
    ("hr-hire_candidate", {"candidate_id": 2, **HIRE}, 409, "no interview with a score"),
    ("hr-hire_candidate", {"candidate_id": 4, **HIRE}, 409, "Position 5 is closed"),
    ("hr-hire_candidate", {"candidate_id": 1, **HIRE, "salary": 61000}, 422, "outside 40000 to 60000"),
)
