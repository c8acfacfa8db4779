"""A language model that plays recorded sessions is waited for in each of them, and never by the others."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from latencies import Held, HeldStream, drawn

from agentworld_gym.agents.collect import recorder, recording_file
from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.agents.policies import registry
from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.contracts import ChatRequest, Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec

CONFIG = CollectConfig(agent="http://localhost:1/v1", families=("pay_bill",))
MCP = load_spec("mcp")


def player(request: ChatRequest) -> str:
    """A model that calls a tool, well or badly, and finishes at some time."""
    draw = drawn(request)
    if len(request.messages) > 2 and draw < 0.4:
        return "finish"
    return json.dumps({"name": "list_accounts" if draw < 0.8 else "no_such_tool", "arguments": {}})


class Watched(Held):
    """A model whose answers come in an order that is drawn; `most` is how many were waited for at a time."""

    most = 0

    def stream(self, deliver):
        watched = self

        class Stream(HeldStream):
            def work(self) -> None:
                watched.most = max(watched.most, len(self.waiting))
                super().work()

        self.opened = Stream(self, deliver)
        return self.opened


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    generator = Watched(random.Random(0), player)
    monkeypatch.setattr(registry, "open_generator", lambda handle, **options: generator)
    recording_file._recorder.cache_clear()
    yield generator
    recording_file._recorder.cache_clear()


def test_sessions_are_played_side_by_side_and_their_rows_are_those_of_one_after_the_other(
    model: Watched, tmp_path: Path
) -> None:
    alone, beside = tmp_path / "alone.jsonl", tmp_path / "beside.jsonl"
    collect([MCP], alone, 8, 0, CONFIG, width=1)
    assert model.most == 1
    collect([MCP], beside, 8, 0, CONFIG, width=5)
    assert model.most == 5
    assert beside.read_bytes() == alone.read_bytes()
    assert len({len(json.loads(line)["actions"]) for line in beside.read_text().splitlines()}) > 1


def test_a_recording_that_was_stopped_goes_on_with_the_same_rows(model: Watched, tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    collect([MCP], whole, 6, 0, CONFIG, width=3)

    def interrupt(row: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect([MCP], stopped, 6, 0, CONFIG, on_row=interrupt, width=3)
    assert not model.waiting, "requests of sessions under way are cancelled"
    collect([MCP], stopped, 6, 0, CONFIG, width=4)
    assert stopped.read_bytes() == whole.read_bytes()


def test_the_requests_of_a_session_are_one_conversation_that_grows(model: Watched, tmp_path: Path) -> None:
    asked: list[ChatRequest] = []

    def noted(request: ChatRequest) -> str:
        asked.append(request)
        return player(request)

    model._answer = noted
    collect([MCP], tmp_path / "rows.jsonl", 4, 0, CONFIG, width=4)
    told: dict[object, tuple[object, ...]] = {}
    for request in asked:
        before = told.get(request.conversation, ())
        assert tuple(request.messages[: len(before)]) == before
        told[request.conversation] = tuple(request.messages)
    assert None not in told and 4 <= len(told) < len(asked)


def test_no_session_is_far_ahead_of_one_that_waits(model: Watched) -> None:
    slow = recorder.Recorder([MCP], CONFIG, 0)
    begun: list[int] = []

    def numbers():
        for number in range(1000):
            begun.append(number)
            yield number

    model.order.choice = lambda waiting: waiting[-1]  # type: ignore[method-assign, assignment]
    rows = slow.rows(numbers(), width=2)
    next(rows)
    rows.close()
    slow.close()
    assert len(begun) == 2 * recorder.AHEAD


def test_a_server_that_is_gone_ends_the_recording_and_the_error_names_the_session(
    model: Watched, tmp_path: Path
) -> None:
    model._answer = lambda request: Failure(FailureKind.CONNECTION, "gone")
    with pytest.raises(AgentWorldError, match="the agent gave no action: gone") as raised:
        collect([MCP], tmp_path / "rows.jsonl", 4, 0, CONFIG, width=2)
    [note] = raised.value.__notes__
    assert re.fullmatch(r"while recording session \d+ of seed 0, split train", note)


def test_a_session_that_a_server_loses_is_left_out_and_named(
    model: Watched, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[object] = []

    def unsteady(request: ChatRequest) -> str | Failure:
        if request.conversation not in asked:
            asked.append(request.conversation)
        lost = asked.index(request.conversation) % 2 == 1
        return Failure(FailureKind.SERVER, "HTTP 500") if lost else player(request)

    model._answer = unsteady
    rows = tmp_path / "rows.jsonl"
    collect([MCP], rows, 4, 0, CONFIG, width=1)
    assert len(rows.read_text().splitlines()) == 4
    assert "session 1 is left out: the agent gave no action: HTTP 500" in caplog.text


def test_the_model_samples_as_the_configuration_says(model: Watched, tmp_path: Path) -> None:
    asked: list[ChatRequest] = []

    def noted(request: ChatRequest) -> str:
        asked.append(request)
        return player(request)

    model._answer = noted
    config = CollectConfig.model_validate({**CONFIG.model_dump(), "agent_sampling": {"temperature": 0.9}})
    collect([MCP], tmp_path / "rows.jsonl", 1, 0, config)
    assert {request.sampling.temperature for request in asked} == {0.9}
    collect([MCP], tmp_path / "others.jsonl", 1, 0, CONFIG)
    assert asked[-1].sampling.max_tokens == 4096, "that of an agent, and not that of a world"
