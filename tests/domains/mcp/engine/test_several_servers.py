"""Several tool servers in one session."""

from __future__ import annotations

import json
from typing import Any

from agentworld_gym.domains.mcp.engine.several_servers import SeveralServers

PERSON = {"department_id": 1, "hired_on": "2020-01-01"}
NOBODY_REVIEWED: dict[str, Any] = {
    "departments": [{"department_id": 1, "name": "Sales", "city": "Graz"}],
    "employees": [
        {"employee_id": 1, "name": "Ada Berg", "email": "ada@bw.example", "manager_id": None, **PERSON},
        {"employee_id": 2, "name": "Ben Dahl", "email": "ben@bw.example", "manager_id": 1, **PERSON},
    ],
}
REVIEW = {"employee_id": 2, "reviewer_id": 1, "period": "2026-H1", "rating": 4, "comment": "Good work."}


def test_the_name_of_a_table_that_two_servers_have_does_not_depend_on_its_rows():
    servers = [{"scenario": "shop"}, {"scenario": "hr", "tables": NOBODY_REVIEWED}]
    machine = SeveralServers.start({"servers": servers}, seed=0)
    before = machine.state()
    assert {key.partition("/")[0] for key in before if "reviews/" in key} == {"shop.reviews"}
    shown = json.loads(machine.act({"name": "hr-write_review", "arguments": REVIEW}))
    after = machine.state()
    assert after[f"hr.reviews/{shown['review_id']}/comment"] == "Good work."
    assert before.items() <= after.items(), "no place has another name than before"
    machine.close()
