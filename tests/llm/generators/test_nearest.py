"""The nearest answer: a table in place of a model."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import open_generator
from agentworld_gym.llm.generators.nearest import NearestGenerator

TURNS = [("cat a.txt", "apple"), ("ls -a", "a.txt b.txt"), ("rm a.txt", "")]


def asked(text: str, **more: object) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], Sampling(), **more)  # type: ignore[arg-type]


def answers(table: NearestGenerator, *requests: ChatRequest) -> list[str]:
    told = list(table.submit(requests))
    assert [index for index, _ in told] == list(range(len(requests)))
    assert all(isinstance(one, Completion) for _, one in told)
    return [one.text for _, one in told if isinstance(one, Completion)]


def test_the_turn_answers_whose_words_are_most_alike():
    table = NearestGenerator(TURNS)
    assert answers(table, asked("cat b.txt"), asked("ls -l"), asked("rm a.txt")) == ["apple", "a.txt b.txt", ""]


def test_where_nothing_is_alike_the_first_turn_answers():
    assert answers(NearestGenerator(TURNS), asked("zzz"), asked("")) == ["apple", "apple"]


def test_the_most_alike_answer_that_can_be_read_is_given():
    table = NearestGenerator(TURNS)
    assert table.constrains
    allowed = asked("cat a.txt", allows=lambda text, whole: text != "apple")
    assert answers(table, allowed) == [""]
    assert answers(table, asked("cat a.txt", allows=lambda text, whole: False)) == ["apple"]


TEXTS = st.text("ab .-", max_size=6)


@given(st.lists(st.tuples(TEXTS, st.text()), min_size=1, max_size=20), st.data())
def test_of_turns_with_the_same_words_the_same_message_answers_and_else_the_first(
    turns: list[tuple[str, str]], data: st.DataObject
):
    text = data.draw(st.sampled_from([text for text, _ in turns if text.strip()] or ["a"]) | TEXTS)
    identical = [told for other, told in turns if other == text]
    same = [told for other, told in turns if words(other) == words(text)]
    [answer] = answers(NearestGenerator(turns), asked(text))
    if identical or (same and text.strip()):
        assert answer == (identical or same)[0]
    assert answer in {told for _, told in turns}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+|[^\w\s]", text))


def test_a_message_that_was_recorded_is_told_from_another_one_of_the_same_words():
    table = NearestGenerator([("1 -\n2 file", "made"), ("1 --\n2 file", "no such folder"), ("1 file\n2 -", "gone")])
    told = answers(table, asked("1 --\n2 file"), asked("1 file\n2 -"), asked("1 file\n2 --"))
    assert told == ["no such folder", "gone", "made"]


def written(path: Path, *lines: bytes) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return f"nearest:{path}"


def sample(weights: list[float]) -> bytes:
    messages = [{"role": "system", "content": "s"}]
    for (question, answer), _ in zip(TURNS, weights, strict=False):
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return orjson.dumps({"id": "a", "domain": "terminal", "messages": messages, "weights": weights})


def test_a_handle_opens_a_file_of_samples_and_shares_it(tmp_path: Path):
    handle = written(tmp_path / "samples.jsonl", sample([0.0, 1.0, 1.0]))
    one, other = open_generator(handle), open_generator(handle)
    assert one.generator is other.generator and one.constrains and one.deterministic
    [(_, told)] = one.submit([asked("cat a.txt")])  # Its turn has the weight 0: it is context only.
    assert isinstance(told, Completion) and told.text == ""
    assert one.describe()["generator"] == ("nearest", True)
    one.close()
    other.close()
    with pytest.raises(ClosedError):
        one.submit([asked("ls")])


def test_another_table_has_another_digest():
    assert NearestGenerator(TURNS).describe() == NearestGenerator(TURNS).describe()
    assert NearestGenerator(TURNS).describe() != NearestGenerator(TURNS[:2]).describe()


@pytest.mark.parametrize("line", [b"", b"7", b"{", b'{"messages": []}', b'{"messages": [], "weights": [1.0]}', b"[]"])
def test_what_is_no_sample_is_an_error_that_names_the_line(line: bytes, tmp_path: Path):
    handle = written(tmp_path / "samples.jsonl", sample([1.0]), line)
    with pytest.raises(SpecError, match=r"line 2: .*expected a sample"):
        open_generator(handle)


def test_a_table_without_answers_is_an_error(tmp_path: Path):
    with pytest.raises(SpecError, match="answers of recorded turns"):
        open_generator(written(tmp_path / "samples.jsonl", sample([0.0])))
    with pytest.raises(SpecError, match=r"missing\.jsonl"):
        open_generator(f"nearest:{tmp_path / 'missing.jsonl'}")
