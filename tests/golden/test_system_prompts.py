"""System prompts with tools as AgentWorldBench lays them out: a template with two places, filled by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.official import SYSTEM, OfficialPrompts
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions

FOLDER = Path(__file__).parent / "systems"
CHECKOUT = Path(__file__).resolve().parents[3] / "shared/official/prompts"
SENTENCE = re.compile(r"(?<=\n# Few-shot Examples\n\n)[^\n]+")
"""The words between heading and calls, which are nowhere known."""

every_system = pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.yaml")))


def told(golden: dict[str, Any], spec: DomainSpec, official: OfficialPrompts, folder: Path) -> str:
    """The system message of a task with the tools and recorded calls of a golden file."""
    calls = folder / "calls.jsonl"
    calls.write_bytes(b"\n".join(map(orjson.dumps, golden["calls"])))
    action = spec.action.model_copy(update={"tools": (), "few_shots": str(calls)})
    task = Task(
        id="t",
        domain=spec.id,
        instruction="Not in the row.",
        seed=golden["seed"],
        tools=golden["tools"],
        success=[{"answer": {"equals": "1"}}],
    )
    prompts = Prompts(spec.model_copy(update={"action": action}), PromptOptions(official=official))
    return SENTENCE.sub("(one sentence)", prompts.system(task))


def check(file: str, official: OfficialPrompts, folder: Path) -> None:
    """Compare the message with the template filled by hand; what a row does not tell stands behind it."""
    golden, spec = read_yaml(FOLDER / file), load_spec(file.removesuffix(".yaml").replace("-", ":", 1))
    by_hand = official.system(spec.id)
    for place in ("tool_definitions", "demonstrations"):
        assert by_hand.count(f"{{{place}}}") == 1
        by_hand = by_hand.replace(f"{{{place}}}", golden[place])
    system, _, episode = told(golden, spec, official, folder).partition("\n\n---\n\n# This Episode\n\n")
    assert system == by_hand
    assert "Not in the row." in episode


@every_system
def test_a_template_is_filled_to_the_same_bytes(file: str, tmp_path: Path) -> None:
    own = tmp_path / file.partition("-")[0]
    own.mkdir()
    own.joinpath(SYSTEM).write_text("You are.\n\n{tool_definitions}\n\n---\n\nThe last sentence.\n{demonstrations}")
    check(file, OfficialPrompts(tmp_path), tmp_path)


@every_system
@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="no official prompts beside the repository")
def test_the_official_template_is_filled_to_the_same_bytes(file: str, tmp_path: Path) -> None:
    check(file, OfficialPrompts(CHECKOUT), tmp_path)
