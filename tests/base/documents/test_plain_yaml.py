"""YAML as plain data: what is read again, and what is refused again."""

from __future__ import annotations

import pytest

from agentworld_gym.base.documents import plain_yaml
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.plain_yaml import SHORT, load_yaml
from agentworld_gym.base.errors import SpecError


@pytest.mark.parametrize("text", ["a: [1]", "a: [1]" + " " * SHORT], ids=["kept", "too long to be kept"])
def test_every_reader_of_a_text_gets_data_of_its_own(text: str) -> None:
    first = load_yaml(text, "one.yaml")
    first["a"].append(2)
    assert load_yaml(text, "other.yaml") == {"a": [1]}


def test_a_text_that_is_no_yaml_is_refused_again_under_the_name_of_each_file() -> None:
    for name in ("one.yaml", "other.yaml"):
        with pytest.raises(SpecError, match=name):
            load_yaml("a: [", name)


@pytest.mark.parametrize("text", ["!!int ''", "!!bool perhaps", "!!timestamp today", "[!!int '', 1]"])
def test_a_value_that_is_not_what_its_tag_says_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=r"one\.yaml.*valid YAML"):
        load_yaml(text, "one.yaml")


@pytest.fixture
def without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_yaml, "_FAST", None)
    monkeypatch.setattr(plain_yaml, "_parsed_before", plain_yaml._parsed)


SHIPPED = sorted(path for path in data_folder("domain_specs").rglob("*.yaml") if path.stat().st_size < 20_000)[::6]
ODD = [
    "!",
    "! # nothing",
    "- \ufeff a",
    "\ufeffa: 1",
    "a: &x [1, ! ]\nb: *x",
    "a: 1_000\nb: 0x1f\nc: 12:30\nd: 2001-01-01",
]


def test_the_parser_in_python_reads_the_same(without_libyaml: None) -> None:
    for text in (*ODD, *(path.read_text(encoding="utf-8") for path in SHIPPED)):
        slow = load_yaml(text, "one.yaml")
        with pytest.MonkeyPatch.context() as again:
            again.setattr(plain_yaml, "_FAST", plain_yaml._fast_loader())
            assert load_yaml(text, "one.yaml") == slow, text


@pytest.mark.parametrize(
    "text", ["a: [", "a: 1\na: 2", "a: &x [*x]", "[" * 70, "weight: .inf", "a: \x00", "- " + "9" * 5000, "a: 1\nb: @"]
)
def test_what_is_refused_is_refused_in_the_same_words(text: str, without_libyaml: None) -> None:
    with pytest.raises(SpecError) as slow:
        load_yaml(text, "one.yaml")
    with pytest.MonkeyPatch.context() as again:
        again.setattr(plain_yaml, "_FAST", plain_yaml._fast_loader())
        with pytest.raises(SpecError) as fast:
            load_yaml(text, "one.yaml")
    assert str(fast.value) == str(slow.value)
