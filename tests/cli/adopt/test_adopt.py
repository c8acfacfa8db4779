"""A live system is adopted by one command: checked, recorded, learned, measured, and then played from its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from live_servers import needs_live_servers, served
from typer.testing import CliRunner
from worlds import make

from agentworld_gym.agents.progress import Tally
from agentworld_gym.cli.adopt.answer_kinds import AnswerKinds
from agentworld_gym.cli.adopt.worldbook_choice import WorldbookChoice, choose
from agentworld_gym.cli.app import app
from agentworld_gym.core.registration import find_domain
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.results.fidelity import FidelityResult
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.llm.worldbook import read_worldbook
from agentworld_gym.worlds.live.engines import LiveEngines
from agentworld_gym.worlds.own_tasks import language_part, model_of, unfolded

pytest.importorskip("torch")

AGENT = "python:live_servers:noting"
TOOLS = ["add_note", "list_notes", "count_nodes", "structured"]


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small adoption."""
    needs_live_servers()
    folder = tmp_path_factory.mktemp("adopt")
    (folder / "notes.yaml").write_text(yaml.safe_dump({"domain": "mcp", **served(tools=TOOLS)}))
    found = run(folder, "--sessions", "12", "--tokens", "20000")
    assert found.exit_code == 0, found.output
    assert "What to trust" in found.output
    return folder


def run(folder: Path, *more: str) -> Any:
    command = ["adopt", str(folder / "notes.yaml"), "--out", str(folder / "run"), "--agent", AGENT, *more]
    return CliRunner().invoke(app, command)


def test_the_folder_holds_what_every_stage_found(adopted: Path) -> None:
    run = adopted / "run"
    assert len(list(read_rows(run / "sessions" / "train.jsonl"))) == 12
    names = {split: {row.id for row in read_rows(run / "sessions" / f"{split}.jsonl")} for split in ("train", "test")}
    assert not names["train"] & names["test"]
    [measured] = FidelityResult.read(run / "fidelity.json").domains
    assert measured.taught is not None and measured.free is not None and measured.nearest is not None
    assert measured.nearest.sessions == 12
    assert measured.worldbook is not None and measured.worldbook.sessions == 12
    assert measured.free.whole is not None and measured.free.whole.count == measured.sessions
    page = (run / "README.md").read_text()
    assert "| the worldbook, mined from 12 of these sessions without a model |" in page
    assert "## What to trust" in page and "| own history | whole sessions |" in page
    assert json.loads((run / "adopted.json").read_text())["sessions"] == 12


def test_an_agent_plays_some_of_the_sessions_and_an_explorer_the_others(adopted: Path) -> None:
    policies = [row.policy for row in read_rows(adopted / "run" / "sessions" / "train.jsonl")]
    assert 0 < policies.count("live_servers:noting") < policies.count("explore")


def test_the_same_command_does_nothing_twice_and_another_one_is_refused(adopted: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (adopted / "run" / "training").rglob("*") if path.is_file()}
    assert run(adopted, "--sessions", "12", "--tokens", "20000").exit_code == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}
    refused = run(adopted, "--domain", "terminal")
    assert refused.exit_code == 2 and "spec: got 'terminal', expected 'mcp'" in refused.output


def test_the_adopted_world_plays_the_tasks_of_the_system_without_options(adopted: Path) -> None:
    world = str(adopted / "run" / "world")
    env = make("AgentWorld/MCP-v0", world=world)
    _, info = env.reset(seed=0)
    assert "notes-add_note" in {tool["name"] for tool in info["tools"]}
    assert env.runner.world.prompts.profile == "compact"
    env.close()


def test_the_worldbook_answers_first_where_that_is_more_often_right(adopted: Path) -> None:
    choice = WorldbookChoice(**json.loads((adopted / "run" / "chosen.json").read_text()))
    assert choice.sessions == 10 and choice.book_first  # A model of 20,000 tokens knows nearly nothing.
    assert read_worldbook(adopted / "run" / "world" / "worldbook.yaml").sure == choice.sure
    env = make("AgentWorld/MCP-v0", world=str(adopted / "run" / "world"))
    assert "worldbook" in env.runner.world.fingerprint.parts
    env.close()
    said = " ".join((adopted / "run" / "README.md").read_text().split())
    assert f"The worldbook answers what it is sure of ({choice.sure:g}), and the model the rest: on 10" in said


def test_a_worldbook_that_makes_a_world_no_better_is_left_out(adopted: Path, tmp_path: Path) -> None:
    world, book = adopted / "run" / "world", tmp_path / "book.yaml"
    learned, others = (list(read_rows(adopted / "run" / "sessions" / f"{name}.jsonl")) for name in ("train", "test"))
    wrong = [row.model_copy(update={"observations": ("Never.",) * len(row.observations)}) for row in learned]
    options = EnvOptions(spec="mcp", world=f"live:{world / 'live.yaml'}+{model_of(world)}")
    choice = choose(options, book, wrong, others[:3], lambda *_: Tally())
    assert choice is not None and not choice.book_first and choice.behind <= choice.alone
    assert not book.exists()


def test_of_an_adopted_world_behind_a_plus_the_language_world_alone_is_opened(
    adopted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, systems = adopted / "run" / "world", []

    def opened(*given: Any) -> LiveEngines:
        systems.append(LiveEngines(*given))
        return systems[-1]

    monkeypatch.setattr("agentworld_gym.worlds.live.opening.LiveEngines", opened)
    env = make("AgentWorld/MCP-v0", world=f"live:{adopted / 'notes.yaml'}+{world}")
    assert "worldbook" in env.runner.world.fingerprint.parts
    env.close()
    assert len(systems) == 1
    book = world / "worldbook.yaml"
    assert unfolded(str(world)) == f"live:{world / 'live.yaml'}+worldbook:{book}+{model_of(world)}"
    assert language_part(str(world)) == f"worldbook:{book}+{model_of(world)}"


def test_the_guard_grounds_in_the_live_system_what_the_model_doubts(adopted: Path) -> None:
    language = {"guard": {"least": 1.0, "remedy": "ground"}, "generator": {"confidence": True}}
    env = make("AgentWorld/MCP-v0", world=str(adopted / "run" / "world"), language=language)
    env.reset(seed=0)
    env.step(json.dumps({"name": "notes-add_note", "arguments": {"text": "milk"}}))
    observation, *_, info = env.step(json.dumps({"name": "notes-list_notes", "arguments": {}}))
    env.close()
    assert (observation, info["source"]) == ("milk", "grounded")


def test_a_system_whose_configuration_names_no_domain_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("command: [python]\n")
    refused = run(tmp_path)
    assert refused.exit_code == 2 and "domain" in refused.output and "mcp" in refused.output
    assert not (tmp_path / "run").exists()


def test_a_folder_that_no_handle_could_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("domain: mcp\n")
    refused = CliRunner().invoke(app, ["adopt", str(tmp_path / "notes.yaml"), "--out", str(tmp_path / "a+b")])
    assert refused.exit_code == 2 and "--out" in refused.output and "without +" in " ".join(refused.output.split())


def test_a_system_that_cannot_write_is_not_recorded(tmp_path: Path) -> None:
    needs_live_servers()
    (tmp_path / "notes.yaml").write_text(yaml.safe_dump({"domain": "mcp", **served(tools=["keep", "list_notes"])}))
    refused = run(tmp_path)
    assert refused.exit_code == 1
    assert "answers name a read-only file system" in " ".join(refused.output.split())
    assert not (tmp_path / "run" / "sessions").exists()


def test_an_adoption_that_is_stopped_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentworld_gym.cli.adopt.adoption.adopt", stopped)
    (tmp_path / "notes.yaml").write_text("domain: mcp\n")
    done = run(tmp_path)
    assert done.exit_code == 130
    assert "run keeps what is done; the same command goes on with it." in done.stderr


def test_answers_that_were_met_once_say_how_many_kinds_are_missing() -> None:
    rows = [{"actions": ["look"] * 4, "observations": ["a hall", "a hall", "a cave", "a hall"]}]
    met = AnswerKinds.of(rows)
    assert (met.kinds, met.once, met.unmet) == (2, 1, 0.25)
    assert AnswerKinds.of([]).unmet == 1.0
    assert find_domain("mcp") is not None
