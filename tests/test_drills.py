"""Drills: made-up sessions whose answers stand in their prompts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.recipe.drills import DOMAIN, drill_samples, with_drills
from agentworld_gym.recipe.samples import Sample

WORDS = ["lamp", "orchard", "list_items", "Harbor", "seven"]


def named(line: str) -> str:
    """The page, file or table that a line refers to."""
    name, mark, place = line.removeprefix("@https:").removeprefix("@").partition("{")[0].rpartition(":")
    return name if mark else place


@given(st.integers(0, 1000))
def test_every_answer_can_be_looked_up(seed: int) -> None:
    for sample in drill_samples(WORDS, seed, 3):
        told = ""
        for message in sample.messages:
            if message["role"] == "assistant":
                for line in message["content"].split("\n"):
                    words = line.partition("| ")[2] or line.partition("\t")[2] or line.removeprefix("Error: none at ")
                    assert words.startswith(("@@ change", "{")) or words in told or named(words) in told
            told += message["content"] + "\n"


def test_drills_repeat_and_differ() -> None:
    first, again = list(drill_samples(WORDS, 1, 20)), list(drill_samples(WORDS, 1, 20))
    assert first == again
    assert len({str(sample.messages) for sample in first}) == 20
    assert list(drill_samples(WORDS, 2, 20)) != first


def test_drills_follow_the_samples_in_their_words() -> None:
    said = [{"role": "user", "content": "where is zanzibar"}, {"role": "assistant", "content": "zanzibar"}]
    real = Sample(id="a", domain="terminal", messages=tuple(said), weights=(1.0,))
    found = list(with_drills([real], 0, 30))
    assert found[0] == real and {sample.domain for sample in found[1:]} == {DOMAIN}
    assert any("zanzibar" in message["content"] for sample in found[1:] for message in sample.messages)
    assert list(with_drills([real], 0, 0)) == [real]
