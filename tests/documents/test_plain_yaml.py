"""YAML as plain data: what is read again, and what is refused again."""

from __future__ import annotations

import pytest

from agentworld_gym.documents.plain_yaml import SHORT, load_yaml
from agentworld_gym.errors import SpecError


@pytest.mark.parametrize("text", ["a: [1]", "a: [1]" + " " * SHORT], ids=["kept", "too long to be kept"])
def test_every_reader_of_a_text_gets_data_of_its_own(text: str) -> None:
    first = load_yaml(text, "one.yaml")
    first["a"].append(2)
    assert load_yaml(text, "other.yaml") == {"a": [1]}


def test_a_text_that_is_no_yaml_is_refused_again_under_the_name_of_each_file() -> None:
    for name in ("one.yaml", "other.yaml"):
        with pytest.raises(SpecError, match=name):
            load_yaml("a: [", name)
