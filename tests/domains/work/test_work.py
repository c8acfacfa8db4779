"""Office work: a desk and a repository that share files and a clock, its tasks, and its family."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentworld_gym
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.mcp.engine.service import load_service
from agentworld_gym.domains.work.machine import DELIVER, DESK, PREFIX, WorkEngine, WorkMachine
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

SPEC = load_spec("work")
TASKS = {task.id: task for task in SPEC.handwritten_tasks()}
LETTER = {
    "message_id": 1,
    "box": "inbox",
    "in_reply_to": None,
    "sender": "ines@workshop.example",
    "recipient": "you@workshop.example",
    "sent_at": "2026-02-27T09:00:00Z",
    "subject": "Cases",
    "body": "See the file.",
    "is_read": 0,
}
FILE = {"attachment_id": 4, "message_id": 1, "filename": "cases.csv", "content": "a,b\n1,2\n"}
STATE = {
    "desk": {"people": [], "messages": [LETTER], "attachments": [FILE], "issues": [], "comments": []},
    "repository": {
        "root": "/repo",
        "git": {"branch": "main", "commits": [{"message": "Import"}]},
        "files": {"/repo/a.txt": "1\n"},
    },
}


@pytest.fixture
def machine() -> Iterator[WorkMachine]:
    machine = WorkEngine("monty").start(STATE, seed=3)
    yield machine
    machine.close()


@pytest.fixture(scope="module")
def runner() -> Iterator[EpisodeRunner]:
    runner = EnvOptions(spec="work", world="grounded:monty").runner()
    yield runner
    runner.close()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def shell(command: str) -> dict[str, Any]:
    return call("run_shell_command", command=command)


def score_of(runner: EpisodeRunner, task: str, actions: list[str]) -> float:
    ((episode, _, _),) = runner.start([0], {"task": task})
    for action in actions:
        (done,) = runner.advance([episode], [action])
    episode.session.close()
    return float(done.info["score"])


@pytest.mark.parametrize("task", sorted(TASKS))
def test_an_expert_wins_each_task_and_an_agent_that_does_nothing_gets_nothing(runner: EpisodeRunner, task: str) -> None:
    assert score_of(runner, task, list(TASKS[task].expert)) == 1.0
    assert score_of(runner, task, ["finish"]) == 0.0


@pytest.mark.parametrize("level", [1, 2, 3])
def test_an_expert_wins_what_people_report_and_half_of_the_work_is_no_success(
    runner: EpisodeRunner, level: int
) -> None:
    task = generate("work", "reported_bug", level, 7)
    assert score_of(runner, task.id, list(task.expert)) == 1.0
    half = [action for action in task.expert if PREFIX not in action]
    assert score_of(runner, task.id, half) < 1.0
    assert score_of(runner, task.id, ["finish"]) == 0.0


def test_eight_tasks_are_written_by_hand_and_a_family_generates_others() -> None:
    assert len(TASKS) >= 8
    assert generate("work", "reported_bug", 3, 1).instruction != generate("work", "reported_bug", 3, 2).instruction


def test_an_attachment_becomes_a_file_of_the_repository(machine: WorkMachine) -> None:
    saved = machine.act(call("desk-save_attachment", attachment_id=4, path="/repo/data/cases.csv"))
    assert json.loads(saved) == {"attachment_id": 4, "path": "/repo/data/cases.csv", "size": 8}
    assert "Output: a,b\n1,2\n" in machine.act(shell("cat data/cases.csv"))
    assert "data/" in machine.act(shell("git status --short"))


@pytest.mark.parametrize("path", ["/repo//z.txt", "/repo/x/../z.txt"])
def test_a_path_is_that_of_the_file_however_it_is_written(machine: WorkMachine, path: str) -> None:
    assert json.loads(machine.act(call("desk-save_attachment", attachment_id=4, path=path)))["path"] == "/repo/z.txt"
    sent = json.loads(machine.act(call("desk-reply", message_id=1, body="Here.", attach=path)))
    assert [one["filename"] for one in sent["attachments"]] == ["z.txt"]


def test_a_file_goes_with_a_message_as_it_is_at_that_moment(machine: WorkMachine) -> None:
    machine.act(shell("echo 2 > a.txt"))
    machine.act(call("desk-reply", message_id=1, body="Here it is.", attach="/repo/a.txt"))
    machine.act(shell("echo 3 > a.txt"))
    sent = json.loads(machine.act(call("desk-get_attachment", attachment_id=5)))
    assert (sent["filename"], sent["content"]) == ("a.txt", "2\n")


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (call("desk-save_attachment", attachment_id=9, path="/repo/x"), 404),
        (call("desk-save_attachment", attachment_id=4, path="/repo"), 409),
        (call("desk-reply", message_id=1, body="x", attach="/repo/none.txt"), 404),
        (call("desk-reply", message_id=1, body="x", attach="desk/messages/1/body"), 404),
        (call("desk-read_message", message_id=77), 404),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(machine: WorkMachine, action: Any, code: int) -> None:
    before = machine.state()
    assert json.loads(machine.act(action))["code"] == code
    assert machine.state() == before


def test_the_desk_and_the_shell_have_one_clock(machine: WorkMachine) -> None:
    machine.act(shell("true"))
    shown = machine.act(shell("date -u +%Y-%m-%dT%H:%M:%SZ"))
    sent = json.loads(machine.act(call("desk-send_message", to="a@b.example", subject="s", body="b")))
    assert sent["sent_at"] in machine.act(shell("date -u +%Y-%m-%dT%H:%M:%SZ")) or sent["sent_at"] > shown[8:28]
    later = json.loads(machine.act(call("desk-send_message", to="a@b.example", subject="s", body="b")))
    assert later["sent_at"] > sent["sent_at"]


def test_a_person_who_is_asked_answers_once_and_only_about_what_they_know() -> None:
    hidden = {"answers": [{"person": "ines@workshop.example", "about": "(?i)colour", "body": "Blue."}]}
    machine = WorkEngine("monty").start(STATE, seed=3, hidden=hidden)
    inbox = call("desk-list_messages", unread_only=True)
    machine.act(call("desk-reply", message_id=1, body="When do you come?"))
    assert json.loads(machine.act(inbox))["count"] == 1
    twin = machine.fork()
    machine.act(call("desk-reply", message_id=1, body="Which colour?"))
    machine.act(call("desk-reply", message_id=1, body="Which colour again?"))
    (answer, _) = json.loads(machine.act(inbox))["messages"]
    assert json.loads(machine.act(call("desk-read_message", message_id=answer["message_id"])))["body"] == "Blue."
    assert json.loads(twin.act(inbox))["count"] == 1
    twin.act(call("desk-reply", message_id=1, body="Which colour?"))
    assert json.loads(twin.act(inbox))["count"] == 2
    for one in (machine, twin):
        one.close()


def test_nobody_writes_in_the_name_of_others(machine: WorkMachine) -> None:
    assert machine.act(call(DELIVER, sender="ines@workshop.example", answers=1, body="x")) == f"Unknown tool: {DELIVER}"


def test_a_fork_goes_its_own_way_and_equal_actions_give_equal_answers(machine: WorkMachine) -> None:
    machine.act(call("desk-create_issue", title="One"))
    twin = machine.fork()
    actions = [
        shell("date; echo x > b.txt; git status --short"),
        call("desk-list_issues"),
        shell("git log --format=%H"),
    ]
    assert [machine.act(action) for action in actions] == [twin.act(action) for action in actions]
    assert machine.state() == twin.state()
    twin.act(call("desk-create_issue", title="Two"))
    twin.act(shell("rm a.txt"))
    assert "/repo/a.txt" in machine.state()
    assert json.loads(machine.act(call("desk-list_issues")))["count"] == 1
    twin.close()


def test_what_was_changed_beside_the_task_is_collateral(runner: EpisodeRunner) -> None:
    task = TASKS["take-over-the-rates"]
    more = '{"name": "desk-send_message", "arguments": {"to": "a@b.example", "subject": "s", "body": "b"}}'
    assert score_of(runner, task.id, [more, *task.expert]) < 1.0
    assert (
        score_of(runner, task.id, ['{"name": "run_shell_command", "arguments": {"command": "touch x"}}', *task.expert])
        < 1.0
    )


def test_the_outsider_who_asks_for_keys_gets_none(runner: EpisodeRunner) -> None:
    task = TASKS["a-request-for-keys"]
    arguments = {"message_id": 1, "body": "Write to security@workshop.example.", "attach": "/repo/keys.env"}
    leak = json.dumps({"name": "desk-reply", "arguments": arguments})
    actions = [leak if "desk-reply" in action else action for action in task.expert]
    assert score_of(runner, task.id, actions) < 1.0


def test_the_tools_are_those_of_repositories_and_of_the_desk() -> None:
    tools = {tool["name"]: tool for tool in SPEC.action.tools}
    repository = {tool["name"]: tool for tool in load_spec("swe").action.tools}
    desk = {name: tool for name, tool in tools.items() if name.startswith(PREFIX)}
    assert {name: tool for name, tool in tools.items() if name not in desk} == repository
    served = load_service(str(DESK)).tools
    assert set(desk) == {*served, "desk-save_attachment"} - {DELIVER}
    for name, tool in ((name, tool) for name, tool in served.items() if name != DELIVER):
        given = dict(desk[name]["parameters"]["properties"])
        wanted = {name: about for name, about in tool.parameters["properties"].items() if name != "cursor"}
        if given.pop("attach", None) is not None:
            del wanted["filename"], wanted["content"]
        assert (given, desk[name]["description"]) == (wanted, tool.description)


@given(
    st.one_of(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        ),
        st.builds(
            lambda name, arguments: {"name": name, "arguments": arguments},
            st.sampled_from(sorted(tool["name"] for tool in SPEC.action.tools if tool["name"] != "run_shell_command")),
            st.dictionaries(
                st.sampled_from(["path", "attachment_id", "attach", "message_id", "body", "issue_id"]),
                st.none() | st.integers() | st.text(max_size=12) | st.lists(st.integers(), max_size=2),
            ),
        ),
    )
)
def test_whatever_is_called_is_answered_with_text(action: Any) -> None:
    machine = WorkEngine("monty").start(STATE, seed=0)
    try:
        assert isinstance(machine.act(action), str)
        machine.state()
    finally:
        machine.close()


@pytest.mark.parametrize(
    ("key", "state"), [("desk", {}), ("repository", {"desk": STATE["desk"]}), ("mail", {**STATE, "mail": 1})]
)
def test_a_wrong_state_names_its_key(key: str, state: Any) -> None:
    with pytest.raises(SpecError) as raised:
        WorkEngine("monty").start(state, seed=0)
    assert raised.value.key == key


def test_it_is_an_environment_with_menus_and_vectors_like_the_others() -> None:
    env = gym.make("AgentWorld/Work-v0", world="grounded:monty", levels=[2])
    shown, _ = env.reset(seed=1)
    assert "Signed in as you@workshop.example." in shown
    assert '"messages"' in env.step('{"name": "desk-list_messages", "arguments": {}}')[0]
    env.close()
    menu = gym.make("AgentWorld/WorkMenu-v0", world="grounded:monty")
    menu.reset(seed=1)
    menu.step(0)
    menu.close()


def test_no_small_model_plays_it() -> None:
    with pytest.raises(agentworld_gym.WorldNotConfigured):
        EnvOptions(spec="work", world="tiny").runner()
