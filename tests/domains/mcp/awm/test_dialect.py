"""The dialect of AWM: its agents' calls between tags, its two meta tools, and the texts that these agents know."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import awm_worlds
import pytest

from agentworld_gym.base.errors import WorldNotConfigured
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.mcp.awm.actions import read_call
from agentworld_gym.envs.env import AgentWorldEnv


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentWorldEnv]:
    """Return an environment of the easy world in the dialect."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    pytest.importorskip("json_repair")
    folder = awm_worlds.write(tmp_path_factory.mktemp("awm"), awm_worlds.library())
    made = AgentWorldEnv(spec="mcp:awm", world=f"awm:{folder}", world_options={"scenario": "Corner Library"})
    yield made
    made.close()


def tagged(call: str) -> str:
    return f"<think>\nI call it.\n</think>\n<tool_call>\n{call}\n</tool_call>"


BORROW = tagged(
    '{"name": "call_tool", "arguments": {"tool_name": "mcp_tool_mcp_server_borrow_book", '
    '"arguments": "{\\"book_id\\": 1}"}}'
)
LISTED = """\
Available MCP Tools (4 tools):
================================================================================

1. mcp_tool_mcp_server_list_books
   Description: List books
   All books, by title.
   ### Responses:
   **200**: Successful Response (Success Response)
   Content-Type: application/json
   **Example Response:**
   ```json
   [
   {
   "id": 1,
   "title": "Title",
   "copies": 1
   }
   ]
   ```
   Parameters:
      - word: string (optional)
        Description: A word of the title
      - limit: integer (optional)
        Description: How many at most
        Default: 20

2. mcp_tool_mcp_server_get_book
"""


def test_an_agent_of_awm_sees_the_task_alone_and_lists_calls_and_answers(env: AgentWorldEnv) -> None:
    observation, info = env.reset(options={"task": "corner_library-0"})
    assert observation.strip() == "Borrow the book Emma."
    assert [tool["name"] for tool in info["tools"]] == ["list_tools", "call_tool"]
    assert env.step(tagged('{"name": "list_tools", "arguments": null}'))[0].startswith(LISTED)
    assert '"book_id": 1' in env.step(BORROW)[0]
    _, reward, terminated, *_ = env.step("I have borrowed the book.")
    assert (reward, terminated) == (1.0, True)


def test_the_whole_last_text_is_the_answer(env: AgentWorldEnv) -> None:
    env.reset(options={"task": "corner_library-1"})
    assert env.step("There are 2 copies of Emma.")[1] == 1.0


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ('{"name": "mcp_tool_mcp_server_get_book", "arguments": {"book_id": 1}}', '"title": "Emma"'),
        ('[{"name": "mcp_tool_mcp_server_get_book", "arguments": {"book_id": 1}}]', '"title": "Emma"'),
        (
            '{"name": "call_tool", "arguments": {"tool_name": "get_book", "arguments": {"book_id": 1}}}',
            '"title": "Emma"',
        ),
        (
            '{"name": "call_tool", "arguments": {"tool_name": "mcp_tool_mcp_server_get_book", '
            '"arguments": "{"book_id": 1}"}}',
            '"title": "Emma"',
        ),
        ('{"name": "mcp_tool_mcp_server_get_book", "arguments": {"book_id": 1}', '"title": "Emma"'),
        ("{'name': 'mcp_tool_mcp_server_get_book', 'arguments': {book_id: 1,}}", '"title": "Emma"'),
    ],
)
def test_calls_are_understood_also_where_their_json_is_broken(env: AgentWorldEnv, call: str, shown: str) -> None:
    env.reset(options={"task": "corner_library-0"})
    assert shown in env.step(tagged(call))[0]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ('{"name": "mcp_tool_mcp_server_burn", "arguments": {}}', "Error: Unknown tool: burn"),
        ('{"name": "burn", "arguments": {}}', "Error: Unknown tool: burn"),
        ('{"name": "call_tool", "arguments": "nothing"}', "Error: Unknown tool: "),
        (
            '{"name": "mcp_tool_mcp_server_get_book", "arguments": {"book_id": "x"}}',
            "Error: Input validation error: 'x' is not of type 'integer'",
        ),
        (
            '{"name": "mcp_tool_mcp_server_get_book", "arguments": {"book_id": 9}}',
            "Error: Error calling get_book. Status code: 404.",
        ),
    ],
)
def test_errors_begin_as_those_of_awm_do_and_end_nothing(env: AgentWorldEnv, call: str, error: str) -> None:
    env.reset(options={"task": "corner_library-0"})
    observation, _, terminated, *_ = env.step(tagged(call))
    assert observation.startswith(error) and not terminated


def test_of_several_calls_the_first_is_made(env: AgentWorldEnv) -> None:
    env.reset(options={"task": "corner_library-0"})
    assert (
        '"title": "Emma"'
        in env.step(tagged('{"name": "mcp_tool_mcp_server_get_book", "arguments": {"book_id": 1}}') + BORROW)[0]
    )
    assert env.step("Done.")[1] == 0.0


def test_in_other_dialects_no_text_is_an_answer_and_nothing_is_repaired() -> None:
    parser = ActionParser(load_spec("mcp"))
    for text in ("buy tea", tagged('{"name": "list_tools"}'), '{"name": "list_tools"'):
        assert parser.parse(text).error is not None
    assert ActionParser(load_spec("mcp:awm")).parse("two copies").answer == "two copies"


def test_a_text_between_tags_that_is_no_call_at_all_is_no_call() -> None:
    assert read_call(tagged("")) is None and read_call(tagged("no call")) is None


def test_without_the_library_that_repairs_the_dialect_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    monkeypatch.setitem(sys.modules, "json_repair", None)
    folder = awm_worlds.write(tmp_path, awm_worlds.library())
    with pytest.raises(WorldNotConfigured, match=r"json-repair: pip install .*awm"):
        AgentWorldEnv(spec="mcp:awm", world=f"awm:{folder}")
