"""Sessions with tools as AgentWorldBench lays them out, one for each way of naming tools: answered by the engine."""

from __future__ import annotations

import pytest
from golden_rows import Golden

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.service import load_service
from agentworld_gym.llm.prompting.prompt import Prompts

TABLES = {
    "branches": [{"branch_id": 1, "name": "Harbour Branch", "city": "Vellmouth", "phone": "0800 55 010"}],
    "customers": [
        {
            "customer_id": 401,
            "name": "Zoë Ård",
            "email": "zoe@example.com",
            "phone": "0160 440190",
            "branch_id": 1,
            "since": "2023-04-20",
        }
    ],
    "sessions": [{"session_id": 1, "customer_id": 401, "started_at": "2026-04-15T10:18:42Z"}],
    "accounts": [
        {
            "account_id": 2001,
            "customer_id": 401,
            "name": "Household account",
            "kind": "current",
            "iban": "ZZ41002001",
            "balance": 1234.7,
            "transfer_limit": 500,
            "opened_on": "2023-05-02",
        }
    ],
}
TOOLS = tuple(
    {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    for tool in load_service("bank").tools.values()
)
every_dialect = pytest.mark.parametrize("dialect", ["toolathlon", "mcpmark"])


@every_dialect
def test_parser_and_engine_answer_as_in_the_row(dialect: str) -> None:
    row = Golden(f"mcp-{dialect}.yaml", f"mcp:{dialect}")
    machine, parser = ToolMachine.start({"scenario": "bank", "tables": TABLES}, seed=0), ActionParser(row.spec)
    shown = []
    for read in row.actions:
        action = parser.parse(read.raw, TOOLS)
        assert parser.action_block(action) == read.raw
        if action.error is not None:
            shown.append(action.error)
            continue
        assert action.parsed["name"].startswith("bank-")
        machine.act(action.parsed)
        shown.append(machine.observation if dialect == "toolathlon" else machine.observation_in(dialect))
    assert shown == row.observations


@every_dialect
def test_both_names_of_a_tool_are_read_and_its_errors_have_the_one_in_force(dialect: str) -> None:
    parser = ActionParser(Golden(f"mcp-{dialect}.yaml", f"mcp:{dialect}").spec)
    full, bare = (parser.parse(f'{{"name": "{name}"}}', TOOLS) for name in ("bank-get_profile", "get_profile"))
    assert full.parsed == bare.parsed == {"name": "bank-get_profile", "arguments": {}}
    machine = ToolMachine.start({"scenario": "bank", "tables": TABLES}, seed=0)
    machine.act({"name": "bank-get_account", "arguments": {"account_id": [1]}})
    assert machine.observation.startswith("Error calling tool 'bank-get_account': ")
    assert machine.observation_in("mcpmark").startswith("Error calling tool 'get_account': ")


@every_dialect
def test_prompts_name_the_tools_in_the_dialect(dialect: str) -> None:
    spec = Golden(f"mcp-{dialect}.yaml", f"mcp:{dialect}").spec
    task = Task(id="t", domain="mcp", instruction="i", tools=TOOLS, success=[{"answer": {"equals": "1"}}])
    system, prefix = Prompts(spec).system(task), "bank-" if dialect == "toolathlon" else ""
    assert f"### 1. {prefix}get_profile\n" in system and f"## Example: {prefix}get_profile\n" in system
    assert f'  "name": "{prefix}get_profile",\n' in system
    assert ("bank-" in system) is bool(prefix)
