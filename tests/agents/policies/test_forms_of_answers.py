"""What models behind a server answer, in every form that is usual: each form can win.

The models of these tests are told what a task's expert does, and write it down in a form of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache
from typing import Any, NamedTuple

import pytest
from aiohttp import web
from fault_server import FaultServer
from loopback import connections, servers

from agentworld_gym.agents.policies.language_agent import Dialogue, LanguageAgent
from agentworld_gym.agents.policies.playing import Played, play
from agentworld_gym.agents.policies.scripted import expert_policy
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Completion, ToolCall
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens.sight import on_screen
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators.server.protocol import read_answer

Reply = dict[str, Any]
Answers = Callable[[Iterator[str]], Iterator[Reply]]


def said(text: str | None, finish: str = "stop") -> Reply:
    return {"message": {"role": "assistant", "content": text}, "finish_reason": finish}


def called(*calls: str, server: str = "") -> Reply:
    """Calls of tools beside the text, as OpenAI's protocol has them."""
    made = []
    for place, call in enumerate(map(as_call, calls)):
        arguments = call["arguments"] if isinstance(call["arguments"], str) else json.dumps(call["arguments"])
        function = {"name": f"{server}{call['name']}", "arguments": arguments}
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


@cache
def writer(spec: str) -> ActionParser:
    return ActionParser(load_spec(spec))


def in_dialect(spec: str, action: str) -> str:
    """An action of a domain as one of its dialects writes it."""
    return writer(spec).action_block(writer(spec).parse(action))


def answered(action: str) -> str:
    return action.removeprefix("finish: ")


def a_word_and(write: Callable[[str], str], end: Callable[[str], str] = str) -> Answers:
    """Writes every action of an expert in a form, and its end in another one."""
    return lambda expert: (said(end(one) if one.startswith("finish") else write(one)) for one in expert)


def claude_code(action: str) -> str:
    call = json.loads(in_dialect("swe:claude-code", action))
    return json.dumps({"type": "tool_use", "name": call["name"], "input": json.loads(call["arguments"])})


def of_a_server(action: str) -> str:
    """A call of a tool server's tool as Claude Code names it."""
    call = json.loads(action)
    server, _, tool = call["name"].partition("-")
    return json.dumps({"type": "tool_use", "name": f"mcp__{server}__{tool}", "input": call["arguments"]})


def gemini_cli(action: str) -> str:
    call = json.loads(action)
    arguments = call["arguments"] if isinstance(call["arguments"], dict) else json.loads(call["arguments"])
    return json.dumps({"functionCall": {"name": call["name"], "args": arguments}})


def of_terminus(expert: Iterator[str]) -> Iterator[Reply]:
    """All but the end in one batch each; the last one says that the task is complete."""
    commands = [action for action in expert if action != "finish"]
    return (said(terminus(f"{one}\n", complete=one is commands[-1])) for one in commands)


class Form(NamedTuple):
    domain: str
    answers: Answers
    """What the model answers, given the actions of the task's expert, each on the screen of its moment."""

    success: bool = True
    refused: int = 0
    end: str = "finish"


FORMS = {
    "native calls": Form("mcp", lambda expert: map(called, expert)),
    "native calls of a server's tools": Form(
        "search", lambda expert: (called(one, server="mcp__net__") for one in expert)
    ),
    "parallel calls": Form("swe", lambda expert: iter([called(*expert)])),
    "a fence": Form("terminal", a_word_and("I do it.\n```bash\n{}\n```".format, "```\n{}\n```".format)),
    "<tool_call>": Form("search", a_word_and(tagged, tagged)),
    "several <tool_call>": Form("search", lambda expert: iter([said("\n".join(map(tagged, expert)))])),
    "thinking then an action": Form(
        "terminal", a_word_and("<think>ls?\nfinish</think>\n{}".format, "Hm.</think>\n{}".format)
    ),
    "Terminus": Form("terminal", of_terminus),
    "Terminus, complete later": Form(
        "terminal",
        a_word_and(lambda one: terminus(f"{one}\n"), lambda _: f"```json\n{terminus(complete=True)}\n```"),
    ),
    "Claude Code": Form("swe", a_word_and(claude_code)),
    "Claude Code, tools of a server": Form("mcp", a_word_and(of_a_server, "The order is known.\n\n**{}**".format)),
    "Gemini CLI": Form("swe", a_word_and(gemini_cli)),
    "Playwright": Form("web", a_word_and(lambda one: f"I look.\n{in_dialect('web:playwright', one)}")),
    "BrowserGym": Form("web", a_word_and(lambda one: f"```\n{in_dialect('web:browsergym', one)}\n```")),
    "AndroidWorld": Form(
        "android",
        a_word_and(
            "Reason: time.\nAction: {}".format, lambda _: '{"action_type": "status", "goal_status": "complete"}'
        ),
    ),
    "pyautogui": Form("desktop", a_word_and("```python\nimport pyautogui\n{}\n```".format, lambda _: "DONE")),
    "Answer: X": Form("search", a_word_and(str, lambda end: f"I have read it.\n\n**Answer:** {answered(end)}")),
    "<answer>": Form("search", a_word_and(str, lambda end: f"I have read it. <answer>{answered(end)}</answer>")),
    "a box": Form("search", a_word_and(str, lambda end: rf"It is $\boxed{{\text{{{answered(end)}}}}}$.")),
    "nothing": Form("terminal", lambda _: iter([said(None), said(""), said("finish")]), False, refused=2),
    "a flood": Form("terminal", lambda _: iter([said("touch a " * 9000, "length"), said("finish")]), False, refused=1),
    "a flood that ends": Form("mcp", lambda _: iter([said("word " * 60_000), said("finish")]), False, refused=1),
    "arguments that are no JSON": Form(
        "search",
        lambda _: iter(
            [
                {"message": {"content": "", "tool_calls": [{"function": {"name": "web_search", "arguments": '{"q'}}]}},
                said("finish"),
            ]
        ),
        False,
        refused=1,
    ),
}


def played_on_screen(episode: Episode) -> Iterator[str]:
    """The actions of the task's expert, each resolved on the screen when it is asked for."""
    going = on_screen(expert_policy(episode.task), episode.task.domain, episode.observations[-1])
    with suppress(StopIteration):
        yield next(going)
        while True:
            yield going.send(episode.observations[-1])


@pytest.fixture
def ask() -> Iterator[Callable[..., tuple[Played, FaultServer]]]:
    """What plays an episode against a server with some answers; tools may be refused with an error."""
    with servers(FaultServer) as serve, connections(retries=0) as connect:

        def played(form: Form, refusal: web.Response | None = None, **options: Any) -> tuple[Played, FaultServer]:
            with closing(EnvOptions(spec=form.domain, world="grounded").runner()) as runner:
                answers: list[Iterator[Reply]] = []

                class Begun(LanguageAgent):
                    def begin(self, episode: Episode, seed: int | None = None) -> Dialogue:
                        answers.append(form.answers(played_on_screen(episode)))
                        return super().begin(episode, seed)

                async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
                    if refusal is not None and "tools" in body:
                        return web.Response(status=refusal.status, text=refusal.text)
                    return web.json_response({"choices": [next(answers[0])], "usage": {"prompt_tokens": 7}})

                server = serve(chat)
                agent = Begun(connect(server), runner.spec, Sampling(), **options)
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
    _, server = ask(Form("search", lambda expert: iter([called(next(expert), next(expert)), called(*expert)])))
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
