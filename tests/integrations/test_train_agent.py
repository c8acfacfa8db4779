"""The programs that train agents run from end to end on a tiny random model, and what they save plays."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("trl")
pytest.importorskip("peft")

from live_servers import needs_live_servers, served
from tiny_model import write_tiny_model

from agentworld_gym.agents.policies.playing import play
from agentworld_gym.agents.policies.registry import open_policy, opened_policy
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.bundled_models import bundled_models
from agentworld_gym.recipe.export.exporting import Format, export
from agentworld_gym.recipe.export.reading import recordings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "train_agent"
PERMISSIONS: Any = {"spec": "terminal", "world": "grounded", "families": ["permissions"]}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("model"), context=8192)


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is that of the program, as where one runs it."""
    monkeypatch.syspath_prepend(FOLDER)


def exported(form: Format, folder: Path, count: int) -> Path:
    runner = EnvOptions(**PERMISSIONS, traces=str(folder / "traces")).runner()
    list(play(runner, open_policy("expert", runner.spec), range(count)))
    runner.close()
    export(recordings([folder / "traces"]), form, folder / form)
    return folder / form


def played(agent: Path) -> list[str]:
    """How the episodes of a saved model end; the steps are few."""
    runner = EnvOptions(**PERMISSIONS, max_steps=1).runner()
    with opened_policy(f"transformers:{agent}", runner.spec, options={"max_tokens": 4}) as policy:
        ends = [one.end for one in play(runner, policy, range(1))]
    runner.close()
    return ends


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_program_is_short_and_stands_on_the_page(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120
    assert f"examples/train_agent/{path.name}" in (ROOT / "docs" / "agents" / "trl.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("lora", ["0", "2"])
def test_a_model_imitates_experts_and_plays(model: Path, lora: str, tmp_path: Path) -> None:
    data, out = exported("chat", tmp_path, 6), tmp_path / "agent"
    options = ["--rate", "1e-2", "--batch", "2", "--lora", lora]
    losses = importlib.import_module("sft").main([str(data), "--model", str(model), "--out", str(out), *options])
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert played(out)


@pytest.mark.usefixtures("examples")
def test_a_world_model_is_the_start_of_an_agent(tmp_path: Path) -> None:
    data, world = exported("chat", tmp_path, 1), bundled_models()["tiny-terminal-state"].folder
    assert importlib.import_module("sft").main([str(data), "--model", str(world), "--out", str(tmp_path / "agent")])
    assert played(tmp_path / "agent")


@pytest.mark.usefixtures("examples")
def test_grpo_takes_steps_in_a_world_on_named_tasks(model: Path, tmp_path: Path) -> None:
    prompts, out = exported("prompt-only", tmp_path, 2), tmp_path / "agent"
    options = {"world": "grounded", "prompts": prompts, "steps": 2, "group": 2, "tasks": 1, "turns": 2, "tokens": 4}
    chosen = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    log = importlib.import_module("grpo").main(["--model", str(model), "--out", str(out), *chosen])
    assert [entry["step"] for entry in log] == [1, 2]
    assert all(-1.0 <= entry["reward"] <= 1.0 and 0.0 <= entry["rewards/success/mean"] <= 1.0 for entry in log)
    assert played(out)


@pytest.mark.usefixtures("examples")
def test_grpo_takes_steps_in_a_live_tool_server(model: Path, tmp_path: Path) -> None:
    needs_live_servers()
    check = {"run": '{"name": "notes-list_notes", "arguments": {}}', "expect": {"contains": "tea"}}
    tasks = [{"id": "note_tea", "instruction": "Note tea.", "success": [check]}]
    system, out = tmp_path / "notes.yaml", tmp_path / "agent"
    system.write_text(yaml.safe_dump({**served(tasks=tasks), "sessions": 8}))
    options = {"env": "AgentWorld/MCP-v0", "world": f"live:{system}", "steps": 1, "group": 2, "tasks": 1, "turns": 2}
    chosen = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    log = importlib.import_module("grpo").main(["--model", str(model), "--out", str(out), "--tokens", "4", *chosen])
    assert [entry["step"] for entry in log] == [1] and log[0]["rewards/success/mean"] == 0.0


class TestExpertIteration:
    @pytest.fixture
    def loop(self, examples: None) -> Any:
        return importlib.import_module("expert_iteration")

    def run(self, loop: Any, model: Path, out: Path, *options: str) -> list[Any]:
        task = ["terminal", "--families", "permissions", "--episodes", "4", "--tokens", "4"]
        shares: list[Any] = loop.main([*task, "--model", str(model), "--out", str(out), *options])
        return shares

    def test_trains_on_what_succeeded_round_after_round(
        self, loop: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Somebody who errs now and then plays instead of the model."""
        asked = []

        @contextmanager
        def errs(agent: str, spec: Any, draw: int, options: Any) -> Iterator[Any]:
            asked.append(agent)
            yield open_policy("mixed", spec, draw)

        monkeypatch.setattr(loop, "opened_policy", errs)
        out = tmp_path / "loop"
        shares = self.run(loop, model, out)
        assert asked == [f"transformers:{model}", f"transformers:{out / '0' / 'model'}"]
        for number, share in enumerate(shares):
            kept = (out / str(number) / "chat" / "train.jsonl").read_text(encoding="utf-8").splitlines()
            assert len(kept) == round(4 * share.share) > 0
        assert played(out / "1" / "model")

    def test_ends_where_nothing_won(self, loop: Any, model: Path, tmp_path: Path) -> None:
        [share] = self.run(loop, model, tmp_path / "loop", "--where", "dream", "--dream", "scripted")
        assert share.share == 0.0
        assert sorted(path.name for path in (tmp_path / "loop" / "0").iterdir()) == ["traces"]

    def test_refuses_a_folder_with_episodes_of_before(
        self, loop: Any, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit):
            self.run(loop, model, tmp_path)
        assert f"{tmp_path} is there already" in capsys.readouterr().err

    def test_plays_grounded_dreamt_and_guarded_worlds(self, loop: Any) -> None:
        for where, world in (("grounded", "grounded"), ("dream", "tiny"), ("guarded", "tiny")):
            options = EnvOptions(spec="terminal", **loop.world(where, "tiny", 0.9))
            assert options.world == world and (options.language.guard is not None) == (where == "guarded")


@pytest.mark.slow
def test_the_script_for_one_gpu_runs_without_one(model: Path, tmp_path: Path) -> None:
    few = {"MODEL": str(model), "ENGINE": "transformers", "SESSIONS": "4", "STEPS": "1", "TASKS": "2"}
    few |= {"FAMILY": "permissions", "SFT": "--batch 2", "GRPO": "--group 2 --tasks 1 --turns 2 --tokens 4"}
    few |= {"EVAL": "--sampling max_tokens=4 --world-option max_steps=2"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, **few, "PATH": path, "PYTHONPATH": str(ROOT)}
    subprocess.run([FOLDER / "run.sh", tmp_path / "out"], env=env, check=True)
    results = sorted(path.name for path in (tmp_path / "out").glob("*.json"))
    assert results == ["as-it-is.json", "dreamt.json", "imitates.json"]
    assert (tmp_path / "out" / "page.html").is_file()
