"""What models behind a server answer, in every form that is usual, and how the episode then ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest
from aiohttp import web
from fault_server import FaultServer
from loopback import connections, servers

from agentworld_gym.agents.policies.language_agent import LanguageAgent
from agentworld_gym.agents.policies.playing import Played, play
from agentworld_gym.core.contracts import Completion, ToolCall
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators.server.protocol import read_answer

MAKE_A = {
    "instruction": "Make a.",
    "success": [{"probe": "ls a", "expect": {"equals": "a"}}],
    "expert": ["touch a", "finish"],
}
Reply = dict[str, Any]


def said(text: str | None, finish: str = "stop") -> Reply:
    return {"message": {"role": "assistant", "content": text}, "finish_reason": finish}


def called(*calls: str) -> Reply:
    """Calls of tools beside the text, as OpenAI's protocol has them."""
    made = []
    for place, call in enumerate(map(as_call, calls)):
        arguments = call["arguments"] if isinstance(call["arguments"], str) else json.dumps(call["arguments"])
        function = {"name": call["name"], "arguments": arguments}
        made.append({"id": f"c{place}", "type": "function", "function": function})
    return {"message": {"role": "assistant", "content": None, "tool_calls": made}, "finish_reason": "tool_calls"}


def as_call(action: str) -> dict[str, Any]:
    """An action of an expert as a call; `finish` is one as well."""
    if not action.startswith("finish"):
        call: dict[str, Any] = json.loads(action)
        return call
    answer = action.partition(":")[2].strip()
    return {"name": "finish", "arguments": {"answer": answer} if answer else {}}


def tagged(action: str) -> str:
    return f"<tool_call>\n{json.dumps(as_call(action))}\n</tool_call>"


def terminus(*keys: str, complete: bool = False) -> str:
    commands = [{"keystrokes": key, "duration": 0.1} for key in keys]
    return json.dumps({"analysis": "a", "plan": "p", "commands": commands, "task_complete": complete})


class Form(NamedTuple):
    domain: str
    answers: Callable[[tuple[str, ...]], list[Reply]]
    """What the model answers, given the actions of the task's expert."""

    success: bool
    refused: int = 0
    end: str = "finish"


FORMS = {
    "native calls": Form("mcp", lambda expert: [called(one) for one in expert], True),
    "parallel calls": Form("swe", lambda expert: [called(*expert)], True),
    "a fence": Form("terminal", lambda _: [said("I do it.\n```bash\ntouch a\n```"), said("```\nfinish\n```")], True),
    "<tool_call>": Form("search", lambda expert: [said(tagged(one)) for one in expert], True),
    "several <tool_call>": Form("search", lambda expert: [said("\n".join(map(tagged, expert)))], True),
    "thinking then an action": Form(
        "terminal", lambda _: [said("<think>ls?\nfinish</think>\ntouch a"), said("Hm.</think>\nfinish")], True
    ),
    "Terminus": Form("terminal", lambda _: [said(terminus("touch a\n", complete=True))], True),
    "Terminus, complete later": Form(
        "terminal", lambda _: [said(terminus("touch a\n")), said(f"```json\n{terminus(complete=True)}\n```")], True
    ),
    "Claude Code": Form(
        "swe",
        lambda _: [said('{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}'), said("finish")],
        False,
    ),
    "Gemini CLI": Form(
        "swe",
        lambda _: [said('{"functionCall": {"name": "todo_write", "args": {}}}'), said("finish")],
        False,
        refused=1,
    ),
    "Playwright": Form("web", lambda _: [said("I look.\nbrowser_snapshot()"), said("finish")], False),
    "BrowserGym": Form("web", lambda _: [said("```\nnoop()\n```"), said("finish")], False),
    "AndroidWorld": Form(
        "android",
        lambda _: [
            said('Reason: time.\nAction: {"action_type": "open_app", "app_name": "Clock"}'),
            said('{"action_type": "status", "goal_status": "complete"}'),
        ],
        False,
    ),
    "pyautogui": Form(
        "desktop", lambda _: [said("```python\nimport pyautogui\npyautogui.press('a')\n```"), said("DONE")], False
    ),
    "nothing": Form("terminal", lambda _: [said(None), said(""), said("finish")], False, refused=2),
    "a flood": Form("terminal", lambda _: [said("touch a " * 9000, "length"), said("finish")], False, refused=1),
    "a flood that ends": Form("mcp", lambda _: [said("word " * 60_000), said("finish")], False, refused=1),
    "arguments that are no JSON": Form(
        "search",
        lambda _: [
            {"message": {"content": "", "tool_calls": [{"function": {"name": "web_search", "arguments": '{"quer'}}]}},
            said("finish"),
        ],
        False,
        refused=1,
    ),
}


@pytest.fixture
def ask() -> Iterator[Callable[..., tuple[Played, FaultServer]]]:
    """What plays an episode against a server with some answers; tools may be refused with an error."""
    with servers(FaultServer) as serve, connections(retries=0) as connect:

        def played(form: Form, refusal: web.Response | None = None, **options: Any) -> tuple[Played, FaultServer]:
            task = MAKE_A if form.domain == "terminal" else None
            with closing(EnvOptions(spec=form.domain, world="grounded", task=task).runner()) as runner:
                answers = iter(form.answers(runner.source.pick(0, {}).expert))

                async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
                    if refusal is not None and "tools" in body:
                        return web.Response(status=refusal.status, text=refusal.text)
                    return web.json_response({"choices": [next(answers)], "usage": {"prompt_tokens": 7}})

                server = serve(chat)
                agent = LanguageAgent(connect(server), runner.spec, Sampling(), **options)
                [outcome] = play(runner, agent, [0])
            return outcome, server

        yield played


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_scored_as_it_was_meant(name: str, ask: Callable[..., tuple[Played, FaultServer]]):
    form = FORMS[name]
    outcome, server = ask(form)
    assert (outcome.success, outcome.refused, outcome.end) == (form.success, form.refused, form.end), outcome.actions
    assert outcome.agent_usage.prompt_tokens == 7 * len(server.bodies)
    assert ("tools" in server.bodies[0]) == (form.domain in ("mcp", "search", "swe", "web"))


def test_every_call_is_answered_under_its_id(ask: Callable[..., tuple[Played, FaultServer]]):
    _, server = ask(Form("search", lambda expert: [called(*expert[:2]), called(*expert[2:])], True))
    asked, first, second = server.bodies[1]["messages"][-3:]
    assert [call["id"] for call in asked["tool_calls"]] == ["c0", "c1"]
    assert [(one["role"], one["tool_call_id"]) for one in (first, second)] == [("tool", "c0"), ("tool", "c1")]
    assert "finish" in [tool["function"]["name"] for tool in server.bodies[0]["tools"]]
    assert "web_search" not in server.bodies[0]["messages"][0]["content"], "tools are told once"


@pytest.mark.parametrize("status", [400, 500])
def test_a_server_that_refuses_tools_is_told_of_them_in_the_prompt_and_asked_once(
    status: int, ask: Callable[..., tuple[Played, FaultServer]], caplog: pytest.LogCaptureFixture
):
    refusal = web.Response(status=status, text='{"error": {"message": "no tool parser"}}')
    outcome, server = ask(FORMS["<tool_call>"], refusal)
    assert outcome.success and outcome.agent_failure is None
    assert ["tools" in body for body in server.bodies] == [True] + [False] * (len(server.bodies) - 1)
    assert '"name": "web_search"' in server.bodies[1]["messages"][0]["content"]
    assert caplog.text.count("refuses tools") == 1


def test_a_refused_key_is_no_refusal_of_tools(ask: Callable[..., tuple[Played, FaultServer]]):
    refusal = web.Response(status=401, text='{"error": {"message": "key expired"}}')
    outcome, server = ask(FORMS["<tool_call>"], refusal)
    assert outcome.agent_failure is not None and "401" in str(outcome.agent_message)
    assert all("tools" in body for body in server.bodies)


def test_tools_may_be_told_in_the_prompt_from_the_start(ask: Callable[..., tuple[Played, FaultServer]]):
    outcome, server = ask(FORMS["<tool_call>"], calls="text")
    assert outcome.success and not any("tools" in body for body in server.bodies)


def test_calls_that_come_in_pieces_are_put_together():
    pieces: list[dict[str, Any]] = [
        {"index": 0, "id": "c0", "function": {"name": "add", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a": '}},
        {"index": 1, "id": "c1", "function": {"name": "stop"}},
        {"index": 0, "function": {"name": None, "arguments": "3}"}},
    ]
    events = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]
    stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"
    answer = read_answer(stream)
    assert isinstance(answer, Completion)
    assert answer.calls == (ToolCall("c0", "add", '{"a": 3}'), ToolCall("c1", "stop", "{}")) and answer.text == ""
