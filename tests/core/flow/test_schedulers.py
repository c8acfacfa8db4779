"""A flow and a wave do the same work: they differ in who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.contracts import ChatRequest, Completion
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.flow import TOGETHER, BatchedCall, Flow, Request, Work, in_one_wave
from agentworld_gym.core.flow.request_stream import Deliver
from agentworld_gym.llm.generators import ScriptedGenerator

plans = st.recursive(st.integers(0, 9), lambda inner: st.lists(inner, max_size=3), max_leaves=8)
"""What a piece of work asks for: a number by a call, and a list by a branch for each entry."""


def doubled(numbers: Sequence[int]) -> list[int]:
    return [2 * number for number in numbers]


def total(plan: int | list) -> Work[int]:
    if isinstance(plan, int):
        number: int = yield BatchedCall(doubled, (plan,))
        yield TOGETHER
        return number
    parts = yield [total(part) for part in plan]
    return sum(parts)


def broken() -> Work[int]:
    yield BatchedCall(doubled, (1,))
    raise KeyError("broken")


def of_branches(*works: Work[int]) -> Work[list[int]]:
    return (yield list(works))  # type: ignore[no-any-return]


@given(st.lists(plans, max_size=4))
def test_both_come_to_the_same_results(plan):
    flow: Flow[int] = Flow()
    flow.send((place, total(part)) for place, part in enumerate(plan))
    ended = dict(flow.recv(len(plan)))
    assert [ended[place] for place in range(len(plan))] == in_one_wave(map(total, plan))
    assert flow.under_way == 0


def test_a_wave_changes_no_session_before_all_answers_are_there():
    events: list[str] = []

    def changing(name: str, asks: int) -> Work[None]:
        for _ in range(asks):
            yield BatchedCall(doubled, (1,))
            events.append(f"{name} is answered")
        yield TOGETHER
        events.append(f"{name} changes")

    in_one_wave([changing("quick", 1), changing("slow", 3)])
    assert events[-2:] == ["quick changes", "slow changes"] and "changes" not in " ".join(events[:-2])


def test_an_error_in_a_branch_ends_its_piece_of_a_flow_and_no_other():
    flow: Flow[object] = Flow()
    flow.send([("bad", of_branches(total(1), broken())), ("good", of_branches(total(2), total(3)))])
    with pytest.raises(KeyError):
        flow.recv()
    assert flow.recv() == [("good", [4, 6])] and flow.under_way == 0


def test_an_error_closes_every_piece_of_a_wave():
    closed: list[str] = []

    def waiting() -> Work[int]:
        try:
            yield TOGETHER
        finally:
            closed.append("waiting")
        return 0

    with pytest.raises(KeyError):
        in_one_wave([waiting(), broken()])
    assert closed == ["waiting"]


def test_what_is_dropped_is_closed_with_its_branches_and_its_answers_are_ignored():
    flow: Flow[object] = Flow()
    flow.send([("a", of_branches(total(1), total([2, 3]))), ("b", total(4))])
    flow.drop(["a"])
    assert flow.recv() == [("b", 8)] and flow.under_way == 0


@pytest.mark.parametrize("scheduler", ["wave", "flow"])
def test_of_open_requests_with_one_key_only_the_first_is_sent(scheduler):
    sent: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        sent.append(request)
        return "yes"

    generator = ScriptedGenerator(answer)

    def asking() -> Work[str]:
        completion = yield Request(generator, ChatRequest([{"role": "user", "content": "?"}], Sampling()), key="same")
        assert isinstance(completion, Completion)
        return completion.text

    if scheduler == "wave":
        found = in_one_wave([asking(), asking()])
    else:
        flow: Flow[str] = Flow()
        flow.send([(0, asking()), (1, asking())])
        found = [text for _, text in flow.recv(2)]
    assert found == ["yes", "yes"] and len(sent) == 1


class Streaming:
    """A generator that answers by the last letter of a request, and keeps what each portion of requests was."""

    def __init__(self) -> None:
        self.portions: list[int] = []
        self.closed = False

    def submit(self, requests: Sequence[ChatRequest]) -> list[tuple[int, Completion]]:
        answers: list[tuple[int, Completion]] = []
        self.stream(answers.extend).send(list(enumerate(requests)))  # type: ignore[arg-type]
        return answers

    def stream(self, deliver: Deliver) -> Streaming:
        self._deliver = deliver
        return self

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        self.portions.append(len(requests))
        self._deliver([(number, Completion(asked.messages[-1]["content"])) for number, asked in requests])

    def work(self) -> None:
        """Do nothing: the answers are there."""

    def close(self) -> None:
        self.closed = True


def asking(generator: Streaming, text: str, key: str | None = None) -> Work[str]:
    request = ChatRequest([{"role": "user", "content": text}], Sampling(max_tokens=1))
    completion = yield Request(generator, request, key)  # type: ignore[arg-type]
    return completion.text  # type: ignore[no-any-return]


@pytest.mark.parametrize("count", [63, 64, 65, 128, 130])
def test_a_large_round_is_sent_in_portions_and_everybody_gets_the_own_answer(count: int) -> None:
    generator = Streaming()
    texts = [f"{place % 100}" for place in range(count)]
    assert in_one_wave(asking(generator, text, key=text) for text in texts) == texts
    assert sum(generator.portions) == len(set(texts)) and 0 not in generator.portions


def test_a_wave_that_breaks_cancels_what_it_has_sent() -> None:
    generator = Streaming()
    works = [*(asking(generator, str(place)) for place in range(70)), broken_at_once()]
    with pytest.raises(KeyError, match="broken"):
        in_one_wave(works)
    assert generator.portions == [64] and generator.closed


def broken_at_once() -> Work[str]:
    raise KeyError("broken")
    yield
