"""The text space: full Unicode, cheap membership, samples that make sense."""

from __future__ import annotations

import copy
import json
import pickle
import string

import gymnasium as gym
import pytest
from gymnasium.spaces import Text
from gymnasium.vector.utils import batch_space, create_shared_memory, read_from_shared_memory, write_to_shared_memory
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.spaces import UnicodeText
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS


@given(st.text(st.characters()))
def test_every_text_up_to_the_limit_is_in_it(text: str) -> None:
    assert (text in UnicodeText(10)) is (len(text) <= 10)


@pytest.mark.parametrize("other", [None, 1, b"x", ["x"]])
def test_nothing_else_is_in_it(other: object) -> None:
    assert other not in UnicodeText(10)


def test_samples_follow_the_seed() -> None:
    first, second = UnicodeText(10, "abcdef", seed=3), UnicodeText(10, "abcdef", seed=3)
    drawn = [first.sample() for _ in range(20)]
    assert drawn == [second.sample() for _ in range(20)]
    assert len(set(drawn)) > 1
    first.seed(3)
    assert [first.sample() for _ in range(20)] == drawn


def test_samples_come_from_the_menu_while_one_is_on_offer() -> None:
    space = UnicodeText(4, ("pwd",), seed=0)
    space.offer(["ls", "too long for it"])
    assert {space.sample() for _ in range(8)} == {"ls"}
    space.offer([])
    assert space.sample() == "pwd"


def test_what_is_too_long_is_never_drawn() -> None:
    assert UnicodeText(2, ("abc",)).sample() == ""
    with pytest.raises(ValueError, match="max_chars: got -1"):
        UnicodeText(-1)


def test_a_text_space_has_no_mask() -> None:
    with pytest.raises(ValueError, match="mask"):
        UnicodeText(2).sample(mask=object())


def test_copies_are_equal_and_draw_alike() -> None:
    space = UnicodeText(10, "abcdef", seed=5)
    for twin in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        assert twin == space and hash(twin) == hash(space) and repr(twin) == "UnicodeText(10)"
    assert pickle.loads(pickle.dumps(space)).sample() == space.sample()
    assert UnicodeText(10) != UnicodeText(11)


def test_batches_travel_as_json() -> None:
    space, batch = UnicodeText(10), ["a", "☃", ""]
    assert space.from_jsonable(json.loads(json.dumps(space.to_jsonable(batch)))) == batch


def test_gymnasium_takes_it() -> None:
    space = UnicodeText(10, "ab", seed=1)
    both = gym.spaces.Dict({"text": space, "n": gym.spaces.Discrete(2)})
    assert both.sample() in both
    assert batch_space(space, 3).sample() in batch_space(space, 3)
    assert not space.is_np_flattenable


@pytest.mark.parametrize("domain", DOMAINS)
def test_samples_of_every_domain_can_be_parsed(domain: str) -> None:
    spec = load_spec(domain)
    parser, space = ActionParser(spec), UnicodeText(spec.limits.max_action_chars, spec.action.examples, seed=0)
    for _ in range(50):
        action = parser.parse(space.sample())
        assert action.error is None, action


@given(st.lists(st.text(st.characters(codec=None), max_size=10), min_size=3, max_size=3))
def test_texts_travel_through_shared_memory(texts: list[str]) -> None:
    space = UnicodeText(10)
    memory = create_shared_memory(space, n=3)
    shown = read_from_shared_memory(space, memory, n=3)
    assert tuple(shown) == ("", "", "")
    for index, text in enumerate(texts):
        write_to_shared_memory(space, index, text, memory)
    assert list(shown) == texts and len(shown) == 3 and shown[-1] == texts[-1]
    kept = copy.deepcopy(shown)
    write_to_shared_memory(space, 0, "later", memory)
    assert kept == tuple(texts) and shown[0] == "later"


def test_a_text_that_does_not_fit_the_shared_memory_is_refused() -> None:
    space = UnicodeText(3)
    with pytest.raises(ValueError, match="4 characters"):
        write_to_shared_memory(space, 0, "long", create_shared_memory(space))


def test_the_space_is_one_of_gymnasiums_texts() -> None:
    """Minari and TorchRL look for the class among the bases of a space."""
    space = UnicodeText(10)
    assert isinstance(space, Text)
    assert (space.min_length, space.max_length, space.characters) == (0, 10, "".join(sorted(string.printable)))
    assert "☃" in space and space != Text(10, min_length=0, charset=string.printable)


def test_minari_writes_the_space_down() -> None:
    serialization = pytest.importorskip("minari.serialization")
    read = serialization.deserialize_space(serialization.serialize_space(UnicodeText(10)))
    assert read == Text(10, min_length=0, charset=string.printable)
