"""Rule verifiers: the truth passes in every domain, mistakes do not, and what nobody can foresee is left out."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from predicted_turns import PROMPT, turn

sys.path.append(str(Path(__file__).parents[3] / "benchmarks" / "research"))

from corruptions import corruptions

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.rl.verifiers import Truth, foreseeable, verifier_of, verify, visible_controls

SESSIONS = {"terminal": 10, "mcp": 6, "search": 4, "swe": 3, "web": 8, "desktop": 6, "android": 12}


@lru_cache(maxsize=8)
def recorded(domain: str) -> list[Row]:
    """The turns of some sessions, a third of them disturbed."""
    recorder = Recorder([load_spec(domain)], CollectConfig(controls_share=0.3), seed=0, split="validation")
    rows = (recorder.row(number) for number in range(SESSIONS[domain]))
    return [turn for row in rows if row is not None for turn in row.turns()]


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_truth_passes(domain):
    verdicts = [(row, verify(row, row.observations[-1])) for row in recorded(domain)]
    failed = [
        (row.id, row.turn_idx, verdict.checks)
        for row, verdict in verdicts
        if not verdict.skipped and not verdict.passed
    ]
    assert failed == []
    assert sum(not verdict.skipped for _, verdict in verdicts) > len(verdicts) / 3


@pytest.mark.parametrize("domain", DOMAINS)
def test_mistakes_are_noticed(domain):
    verdicts = [
        (name, verify(row, text))
        for row in recorded(domain)
        if (truth := Truth.of(row)) is not None
        for name, text in corruptions(truth, seed=1)
    ]
    tried = [(name, verdict.passed) for name, verdict in verdicts if not verdict.skipped]
    assert {"names", "state"} <= {name for name, _ in tried}
    assert sum(passed for _, passed in tried) <= 0.05 * len(tried)


@pytest.mark.parametrize("domain", DOMAINS)
@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=300))
def test_no_text_is_too_strange(domain, text):
    row = recorded(domain)[-1]
    verdict = verify(row, text)
    assert verdict.skipped or not verdict.passed or text == row.observations[-1]


def test_every_domain_has_rules():
    assert all(verifier_of(domain) is not None for domain in DOMAINS)


def test_an_error_is_told_from_a_success():
    missing = turn(f"cat b\ncat: b: No such file or directory\n{PROMPT}", action="cat b")
    assert verify(missing, missing.observations[-1]).passed
    assert not verify(missing, f"cat b\nhello\n{PROMPT}").checks["errors"]
    present = turn(f"cat b\nhello\n{PROMPT}", action="cat b")
    assert not verify(present, missing.observations[-1]).checks["errors"]


def test_what_was_written_is_read_back():
    write = [{"field": "/srv/a", "kind": "added", "after": "bright morning\nold harbour\n"}]
    row = turn(f"cat a\nbright morning\nold harbour\n{PROMPT}", earlier=[PROMPT], changes=[write, []], action="cat a")
    assert verify(row, row.observations[-1]).checks["consistency"]
    assert not verify(row, f"cat a\nbright morning\n{PROMPT}").checks["consistency"]


def test_a_control_that_always_strikes_has_to_show():
    row = turn('{"rows": [1, 2], "next_cursor": "p2"}', task="mcp", controls={"pagination": 1.0})
    assert verify(row, row.observations[-1]).checks["controllability"]
    missed = verify(row, '{"rows": [1, 2]}')
    assert not missed.passed and not missed.checks["controllability"]


def test_a_control_that_strikes_by_chance_is_nobodys_mistake():
    calm, failed = f"ls\na\n{PROMPT}", f"ls\nbash: fork: Resource temporarily unavailable\n{PROMPT}"
    controls = {"intermittent-errors": 0.3}
    assert verify(turn(calm, controls=controls), failed).skipped
    assert verify(turn(failed, controls=controls), calm).skipped
    assert not verify(turn(calm, controls=controls), f"ls\nb\n{PROMPT}").passed
    assert verify(turn(failed, controls=controls), failed).passed


def test_a_strike_of_a_control_that_is_not_in_force_is_a_mistake():
    verdict = verify(turn(f"ls\na\n{PROMPT}"), f"ls\nbash: fork: Resource temporarily unavailable\n{PROMPT}")
    assert not verdict.skipped and not verdict.passed


def test_a_control_without_a_mark_leaves_the_turn_out():
    assert not foreseeable({"stale-data": 0.5}, "mcp")
    assert verify(turn("x", controls={"stale-data": 0.5}), "x").skipped
    assert visible_controls({"stale-data": 0.5}, "terminal", "anything") == frozenset()


def test_metadata_needs_its_form_and_its_range():
    row = turn("9 passed in 0.03s", task="swe", spans=[{"start": 12, "end": 17, "kind": "metadata"}])
    assert verify(row, "9 passed in 0.05s").passed
    assert not verify(row, "9 passed in soon").passed
    assert not verify(row, "8 passed in 0.05s").passed


def test_a_page_keeps_its_title_and_its_time():
    hit = "[1] https://a.example/x\nTitle: {}\nSnippet: Something.\nDate: {}"
    text = hit.format("X", "Jan 5, 2024")
    spans = [{"start": text.index("X"), "end": text.index("\nSnip"), "kind": "pre-existing"}]
    spans.append({"start": text.index("Jan"), "end": len(text), "kind": "metadata"})
    row = turn(text, task="search", spans=spans, earlier=[text])
    assert verify(row, hit.format("X", "Nov 30, 2023")).passed
    assert not verify(row, hit.format("Y", "Nov 30, 2023")).checks["titles"]
    assert not verify(row, hit.format("X", "Nov 30, 1423")).checks["dates"]


def test_json_is_compared_by_value():
    row = turn('{"id": 4, "total": 1.0}', task="mcp")
    assert verify(row, '{"total":1.0,"id":4}').passed
    assert not verify(row, '{"id": "4", "total": 1.0}').passed
    assert not verify(row, "id 4, total 1.0").checks["json"]


def test_a_key_that_stands_twice_is_no_json():
    """A reader that takes the last of two values would pass a prediction that also names the wrong card."""
    row = turn('{"card_id": 55, "limits": {"day": 1}}', task="mcp")
    assert not verify(row, '{"card_id": "WRONG", "card_id": 55, "limits": {"day": 1}}').checks["json"]
    assert not verify(row, '{"card_id": 55, "limits": {"day": 2, "day": 1}}').passed


def test_without_plain_observations_there_is_nothing_to_verify():
    row = Row(
        task="os", id="a", system_str="", prompt=["x"], response=["y"], current_prompt="x", turn_idx=1, total_turns=1
    )
    assert verify(row, "y").skipped
    other = turn("x", task="chess")
    assert "chess" in verify(other, "x").skipped
