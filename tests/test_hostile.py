"""Hostile texts, as actions, as what a world says, and as what its files hold, change nothing but their own block."""

from __future__ import annotations

import json
import re

import pytest
from hostile import HOSTILE
from worlds import language_world, make, predicted

from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Failure
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task

IDS = [repr(text[:30]) for text in HOSTILE]
SPECIAL = re.compile(r"<\||</?(think|predicted_observation|final_evaluation|tool_call|tool_response)\b", re.IGNORECASE)
TASK = {
    "instruction": "Write hello into a.txt.",
    "state": {"cwd": "/home/dev", "files": {"/home/dev/b.txt": "calm\n"}},
    "success": [{"probe": "cat a.txt", "expect": {"equals": "hello"}}],
}


def task(domain: str, **fields: object) -> Task:
    return Task(**{"id": "t", "domain": domain, **TASK, **fields})


@pytest.mark.parametrize("text", HOSTILE, ids=IDS)
def test_as_an_action_it_leaves_every_other_message_as_it_was(text):
    spec = load_spec("terminal")
    world = language_world(lambda request: predicted("calm"))
    parser = ActionParser(spec)
    sent = {}
    for name, action in (("hostile", text), ("calm", "ls")):
        [session] = world.begin([task("terminal")], [1])
        world.step([session], [parser.parse(action)])
        sent[name] = world.messages(session, parser.parse("pwd"))
    if parser.parse(text).error is not None:
        [session] = world.begin([task("terminal")], [1])
        assert sent["hostile"] == world.messages(session, parser.parse("pwd"))
        return
    assert [m["role"] for m in sent["hostile"]] == [m["role"] for m in sent["calm"]]
    assert sent["hostile"][0] == sent["calm"][0]
    assert sent["hostile"][-1] == sent["calm"][-1]
    assert not SPECIAL.search(sent["hostile"][1]["content"])


@pytest.mark.parametrize("text", HOSTILE, ids=IDS)
def test_as_a_worlds_words_it_is_read_back_and_stays_in_its_own_message(text):
    spec = load_spec("terminal")
    world = language_world(lambda request: predicted(escape(text)))
    parser = ActionParser(spec)
    [session] = world.begin([task("terminal")], [1])
    [answer] = world.step([session], [parser.parse("ls")])
    if isinstance(answer, Failure):
        assert answer.kind in {"empty", "length"}
        return
    messages = world.messages(session, parser.parse("pwd"))
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert not SPECIAL.search(messages[2]["content"])
    json.dumps(messages, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", HOSTILE, ids=IDS)
def test_as_a_files_content_it_gives_no_reward_and_no_special_token(text):
    state = {"cwd": "/home/dev", "files": {"/home/dev/b.txt": text}}
    world = language_world(lambda request: predicted("calm"))
    [session] = world.begin([task("terminal", state=state)], [1])
    allowed = len(SPECIAL.findall(world.begin([task("terminal")], [1])[0].system))
    assert len(SPECIAL.findall(session.system)) == allowed
    env = make(world="grounded")
    env.reset(seed=1, options={"task": {**TASK, "state": state}})
    observation, reward, terminated, _, _ = env.step("cat b.txt")
    assert (reward <= 0, terminated) == (True, False)
    assert observation
    assert env.step("finish")[4]["success"] is False


@pytest.mark.parametrize("text", HOSTILE, ids=IDS)
def test_typed_into_the_grounded_terminal_it_reaches_nothing_of_the_host(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    env = make(world="grounded")
    env.reset(seed=1, options={"task": TASK})
    observation, reward, terminated, _, info = env.step(text)
    assert "root:x:0:0" not in observation
    assert reward <= 0 or terminated
    assert not info.get("success")
    assert list(tmp_path.iterdir()) == []
