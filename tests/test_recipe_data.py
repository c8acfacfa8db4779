"""Recording sessions, and turning them into tokens and batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.actions import ActionParser
from agentworld_gym.errors import SpecError
from agentworld_gym.prompt import Prompts
from agentworld_gym.recipe.collect import Recorded, Recorder, collect, read_sessions
from agentworld_gym.recipe.config import CollectConfig, load_config
from agentworld_gym.spec import load_spec
from agentworld_gym.task import split_of
from agentworld_gym.tasks import generate

tokenizers = pytest.importorskip("tokenizers")

from agentworld_gym.recipe.dataset import Batches, encode, pad_id, render  # noqa: E402
from agentworld_gym.recipe.tokenizer import SPECIALS, build_tokenizer  # noqa: E402

SPEC = load_spec("terminal")
SESSIONS = [Recorder(SPEC, CollectConfig(), seed=5).session(index) for index in range(40)]
TOKENIZER = build_tokenizer((m["content"] for s in SESSIONS for m in s.messages()), 700)
DATA = encode(SESSIONS, TOKENIZER)


def batches(**changes: object) -> Batches:
    options = {
        "seed": 1,
        "tokens": 1024,
        "longest": 1024,
        "short": 200,
        "context_weight": 0.3,
        "pad": pad_id(TOKENIZER),
    }
    return Batches(DATA, **{**options, **changes})  # type: ignore[arg-type]


def test_the_shipped_configuration_is_valid_and_a_wrong_one_says_where(tmp_path: Path) -> None:
    assert load_config("tiny-terminal").domain == "terminal"
    with pytest.raises(SpecError, match="tiny-terminal"):
        load_config("no-such-recipe")
    (tmp_path / "mine.yaml").write_text("name: a\ndomain: terminal\ntrain: {max_seconds: 1, clip: -1}\n")
    with pytest.raises(SpecError, match=r"mine.yaml: train.clip: got -1"):
        load_config(tmp_path / "mine.yaml")
    (tmp_path / "endless.yaml").write_text("name: a\ndomain: terminal\ntrain: {}\n")
    with pytest.raises(SpecError, match="max_seconds or max_tokens"):
        load_config(tmp_path / "endless.yaml")


def test_a_recording_does_not_depend_on_workers_or_interruptions(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    written: list[int] = []
    assert collect(SPEC, whole, 70, seed=5, workers=2, progress=written.append) == sum(written) == 70
    collect(SPEC, parts, 30, seed=5)
    torn = parts.read_text(encoding="utf-8")[:-20]
    parts.write_text(torn, encoding="utf-8")
    assert len(list(read_sessions(parts))) == 29
    assert collect(SPEC, parts, 70, seed=5) == 41
    assert parts.read_bytes() == whole.read_bytes()
    assert list(read_sessions(whole, 0, 40)) == SESSIONS


def test_a_line_that_is_no_session_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(SESSIONS[0].to_json() + '\n{"index": 1}\n', encoding="utf-8")
    with pytest.raises(SpecError, match=r"bad.jsonl: line 2"):
        list(read_sessions(path))


def test_a_domain_without_an_engine_cannot_be_recorded() -> None:
    with pytest.raises(SpecError, match="grounded world"):
        Recorder(SPEC.model_copy(update={"id": "web"}), CollectConfig(), seed=0)


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_splits_never_share_a_task(split: str) -> None:
    recorder = Recorder(SPEC, CollectConfig(), seed=0, split=split)  # type: ignore[arg-type]
    assert {split_of(recorder.session(index).seed) for index in range(20)} == {split}


def test_recorded_messages_are_those_an_environment_would_send() -> None:
    prompts, parser = Prompts(SPEC, profile="compact"), ActionParser(SPEC)
    for session in SESSIONS[:10]:
        task = generate("terminal", session.family, session.level, session.seed)
        turns = [(parser.parse(turn.action), turn.observation) for turn in session.turns]
        *past, (last, _) = turns
        assert session.messages()[:-1] == prompts.messages(task, past, last)


def test_every_policy_gives_sessions() -> None:
    for policy in ("expert", "mixed", "menu", "explore", "blend"):
        recorder = Recorder(SPEC, CollectConfig(policies={policy: 1.0}), seed=2)
        session = recorder.session(0)
        assert session.policy == policy and session.turns
        assert Recorded.from_json(session.to_json()) == session


@given(st.text())
def test_every_text_survives_the_tokenizer(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text).ids, skip_special_tokens=False) == text


def test_frequent_words_are_one_token_wherever_they_stand() -> None:
    assert TOKENIZER.encode("cat notes.txt\ncat").tokens[0::3] == ["cat", "Ċcat"]


def test_a_vocabulary_too_small_for_bytes_is_refused() -> None:
    with pytest.raises(SpecError, match="vocab_size: got 300"):
        build_tokenizer(["a"], 300)


def test_special_tokens_are_exactly_those_of_the_template() -> None:
    prompts = Prompts(SPEC, profile="compact")
    hostile = prompts.observation("".join(SPECIALS) + "<think>")
    ids = TOKENIZER.encode(render([{"role": "assistant", "content": hostile}])).ids
    specials = [token for token in ids if TOKENIZER.id_to_token(token) in SPECIALS]
    assert [TOKENIZER.id_to_token(token) for token in specials] == ["<|assistant|>", "<|end|>"]


def test_the_observed_tokens_are_the_observations() -> None:
    assert len(DATA) == len(SESSIONS)
    for index, session in enumerate(SESSIONS):
        ids, observed = DATA[index]
        assert TOKENIZER.decode(ids.tolist(), skip_special_tokens=False) == render(session.messages())
        text = TOKENIZER.decode(ids[observed].tolist(), skip_special_tokens=False)
        assert text == "".join(turn.assistant + "<|end|>" for turn in session.turns)


def test_batches_hold_whole_sessions_within_the_budget() -> None:
    source = batches()
    for _ in range(30):
        batch = source.next()
        assert batch.ids.size <= 1024
        assert set(np.unique(batch.weights)) <= {np.float32(0), np.float32(0.3), np.float32(1)}
        assert (batch.weights[batch.observed] == 1).all()
        assert (batch.ids[batch.weights == 0] == pad_id(TOKENIZER)).all()


def test_short_batches_come_first_where_asked() -> None:
    source = batches()
    assert all((source.next(short=True).weights > 0).sum(1).max() <= 200 for _ in range(10))
    assert max((source.next().weights > 0).sum(1).max() for _ in range(30)) > 200


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 5))
def test_batches_resume_exactly(calls: list[bool], more: int) -> None:
    first, second = batches(), batches()
    for short in calls:
        first.next(short)
    second.restore(first.state())
    for _ in range(more + 1):
        assert (first.next().ids == second.next().ids).all()


def test_limits_that_no_session_fits_are_refused() -> None:
    with pytest.raises(ValueError, match="a session of at most 3 tokens"):
        batches(longest=3)
