"""A trained model says itself what its worlds ask of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentworld_gym.agents.collect.config import CollectConfig, SmallModelSessions
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.bundled_models import carded_model
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.data.preparation import Preparation
from agentworld_gym.recipe.training.world_card import (
    SAMPLING,
    base_card,
    bounded_card,
    joined_card,
    stated_card,
    world_card,
    write_card,
)

SAMPLE = Sample(
    id="a",
    domain="android",
    messages=({"role": "user", "content": "ls"}, {"role": "assistant", "content": "a.txt"}),
    weights=(1.0,),
)
DOMAINS = ["android", "search"]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of two domains, in compact prompts and, where a domain restates its state, in changes."""
    path = tmp_path_factory.mktemp("sessions") / "compact.jsonl"
    collect([load_spec(domain) for domain in DOMAINS], path, 4, 0, SmallModelSessions(max_turns=2))
    return path


def test_a_card_names_the_prompts_and_forms_of_the_sessions(sessions: Path, tmp_path: Path) -> None:
    write_card(tmp_path, world_card([sessions], DOMAINS, Preparation()))
    card = carded_model(f"transformers:{tmp_path}")
    assert card is not None
    assert (card.domains, card.profile, card.forms) == (("android", "search"), "compact", {"android": "change"})
    assert not card.sampling["thinking"]


def test_what_the_preparation_renders_anew_counts(sessions: Path) -> None:
    card = world_card([sessions], ["android"], Preparation(form="state"))
    assert card is not None and (card["domains"], card["forms"]) == (["android"], {"android": "state"})


def test_sessions_of_several_profiles_say_nothing(sessions: Path, tmp_path: Path) -> None:
    other = tmp_path / "full.jsonl"
    collect([load_spec("terminal")], other, 2, 0, CollectConfig(max_turns=2))
    assert world_card([sessions, other], [], Preparation()) is None
    assert world_card([], [], Preparation()) is None


def test_a_card_that_somebody_wrote_stays(sessions: Path, tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("domains: [web]\n")
    write_card(tmp_path, world_card([sessions], DOMAINS, Preparation()))
    assert (tmp_path / "world.yaml").read_text() == "domains: [web]\n"


def test_files_of_samples_among_the_sessions_are_passed_over(sessions: Path, tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text(SAMPLE.model_dump_json() + "\n", encoding="utf-8")
    card = world_card([samples, sessions], DOMAINS, Preparation())
    assert card is not None and card["domains"] == DOMAINS


def test_no_session_is_read_that_cannot_change_the_card(sessions: Path, tmp_path: Path) -> None:
    full, broken = tmp_path / "full.jsonl", tmp_path / "broken.jsonl"
    collect([load_spec("terminal")], full, 1, 0, CollectConfig(max_turns=1))
    broken.write_text("no row\n", encoding="utf-8")
    assert world_card([sessions, full, broken], [], Preparation()) is None


def test_a_model_that_learned_from_samples_alone_is_asked_as_its_configuration_says(tmp_path: Path) -> None:
    write_card(tmp_path, stated_card(["android", "search", "swe:claude-code"], "compact", "state"))
    card = carded_model(f"transformers:{tmp_path}")
    assert card is not None and card.domains == ("android", "search", "swe")
    assert "search" not in card.forms and card.forms["android"] == "state"


def test_a_later_stage_takes_the_card_of_its_base_over(tmp_path: Path) -> None:
    lines = "domains: [android]\nforms: {android: state}\nsessions: 9\nsampling: {thinking: false, max_tokens: 64}\n"
    (tmp_path / "world.yaml").write_text(lines)
    kept = {"domains": ["android"], "profile": "compact", "forms": {"android": "state"}}
    assert base_card(str(tmp_path), thinking=False) == {**kept, "sampling": {"thinking": False, "max_tokens": 64}}
    assert base_card(str(tmp_path), thinking=True) == {**kept, "sampling": {"thinking": True}}
    assert base_card(None) is None
    other = {"domains": ["search"], "profile": "full", "sampling": {}}
    assert joined_card(base_card(str(tmp_path)), other) == other, "what the base read is unlearned"
    assert joined_card(None, None) is None


def test_answers_may_be_twice_as_long_as_the_longest_that_either_stage_learned() -> None:
    short = bounded_card({"domains": ["search"], "profile": "compact", "sampling": dict(SAMPLING)}, 30)
    long = bounded_card({"domains": ["search"], "profile": "compact", "sampling": dict(SAMPLING)}, 50)
    endless = bounded_card(short, 100_000)
    assert bounded_card(None, 30) is None and short and endless
    assert endless["sampling"]["max_tokens"] == 2048
    assert bounded_card(short, 0) == short, "nothing was learned that says how long an answer is"
    for base, learned in ((short, long), (long, short)):
        joined = joined_card(base, learned)
        assert joined and joined["sampling"] == {**SAMPLING, "max_tokens": 100}
