"""The command line: what each command prints, how it ends, and what Ctrl-C leaves behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import ctrl_c
import pytest
from typer.testing import CliRunner

from agentworld_gym import ENV_IDS
from agentworld_gym.agents.teams.director import load_director
from agentworld_gym.agents.teams.shipped import shipped_names
from agentworld_gym.agents.teams.team import load_team
from agentworld_gym.cli.app import app
from agentworld_gym.cli.common import printable
from agentworld_gym.cli.train import _tell
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.registration import all_domains
from agentworld_gym.core.screens import is_graphical, screen_of, stand_in
from agentworld_gym.core.traces import read_trace
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.bundled_models import carded_model

ROOT = Path(__file__).resolve().parents[2]


CUSTOM = str(Path(__file__).resolve().parents[2] / "examples" / "custom_domain" / "spec.yaml")
"""A domain without a grounded world."""


def agentworld(*arguments: str, stdin: str = "") -> Any:
    """Run a command in this process; `.exit_code`, `.stdout` and `.stderr` say how it went."""
    return CliRunner(env={"COLUMNS": "200", "AGENTWORLD_WORLD": ""}).invoke(app, arguments, input=stdin)


def process(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Run a command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.Popen([sys.executable, "-m", "agentworld_gym", *arguments], text=True, env=env, **options)


def test_without_a_command_it_shows_help() -> None:
    done = agentworld()
    assert "Usage" in done.output
    for command in ("envs", "specs", "play", "rollout", "collect", "train", "serve", "demo", "trace"):
        assert command in done.output


def test_envs_shows_whole_ids_in_a_narrow_terminal() -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["envs"]).stdout
    assert all(env_id in shown for env_id in ENV_IDS) and "…" not in shown


def test_envs_lists_every_id_and_what_is_grounded() -> None:
    rows = {
        line.split("│")[1].strip(): line for line in agentworld("envs").stdout.splitlines() if "AgentWorld/" in line
    }
    several = [*map(load_team, shipped_names("team")), *map(load_director, shipped_names("director"))]
    assert set(rows) == {
        *ENV_IDS,
        "AgentWorld/Custom-v0",
        "AgentWorld/CustomMenu-v0",
        *(one.menu_id for one in all_domains().values()),
        *(one.env_id for one in several),
    }
    assert "yes" in rows["AgentWorld/Terminal-v0"].split("│")[3]
    assert "│ chromium " in agentworld("envs").stdout
    assert agentworld("envs", "--plain").stdout.split() == list(ENV_IDS)


OWN_TASK = {
    "instruction": "Make a.",
    "state": {"cwd": "/home/dev", "files": {}},
    "success": [{"probe": "ls a", "expect": {"equals": "a"}}],
    "expert": ["touch a", "finish"],
}


class TestTasks:
    def checked(self, tmp_path: Path, **changes: object) -> tuple[int, str, str]:
        file = tmp_path / "mine.yaml"
        written = {key: value for key, value in {**OWN_TASK, **changes}.items() if value is not None}
        file.write_text(json.dumps(written), encoding="utf-8")
        done = agentworld("tasks", "check", str(file), "--env", "terminal")
        told = (done.stdout + done.stderr).replace("\n", "")
        assert f"{file}: " in told
        return done.exit_code, told.partition(f"{file}: ")[2], str(file)

    def test_one_that_holds_is_played_by_its_expert(self, tmp_path: Path) -> None:
        assert self.checked(tmp_path)[:2] == (0, "ok, the expert solves it in 2 steps")
        rubric = [{"rubric": "Was a made?", "judges": ["/home/dev/a"]}]
        assert self.checked(tmp_path, success=rubric)[:2] == (0, "ok, the expert solves it in 2 steps")
        assert self.checked(tmp_path, expert=None)[:2] == (0, "ok, no expert was played")

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"success": []}, "success: got [], expected"),
            ({"free_value": ["a"]}, "free_value: got ['a'], expected no such key, but one of: free_values"),
            ({"free_values": ["a"]}, "free_values.0: got 'a', expected a pattern of a field that the task's expert"),
            ({"state": {"filez": {}}}, "state.filez: got {}, expected no such key, but one of: files"),
            ({"controls": {"fog": 0.5}}, "controls: got 'fog', expected one of "),
            ({"expert": ["touch b", "finish"]}, "success.0: got {"),
            ({"expert": ["touch a"]}, "expert: got ['touch a'], expected a last action that finishes"),
            ({"max_steps": 1}, "max_steps: got 1, expected at least 2"),
            (
                {"success": [{"probe": "pwd", "expect": {"contains": "home"}}], "expert": ["pwd", "finish"]},
                "success: got [{",
            ),
        ],
    )
    def test_what_is_wrong_is_told_with_key_value_and_expectation(
        self, changes: dict[str, object], says: str, tmp_path: Path
    ) -> None:
        code, told, _ = self.checked(tmp_path, **changes)
        assert code == 2 and told.startswith(says)

    def test_an_element_that_is_not_on_the_screen_is_named(self, tmp_path: Path) -> None:
        file, tap = tmp_path / "tap.yaml", '{"action_type": "click", "index": @{\'Nothing\'}}'
        task = {"domain": "android", "instruction": "Tap.", "success": [{"action": {"contains": "click"}}]}
        file.write_text(json.dumps({**task, "expert": [tap, "finish"]}), encoding="utf-8")
        done = agentworld("tasks", "check", str(file))
        assert done.exit_code == 2 and "expert.0: got" in done.stderr and "on the screen" in done.stderr

    def test_an_expert_that_fails_is_told_with_what_it_was_shown_last(self, tmp_path: Path) -> None:
        _, told, _ = self.checked(tmp_path, expert=["ls lost", "finish"])
        assert (
            "it reaches 0; the last that the expert was shown is \"dev@box:~$ ls lost\\nls: cannot access 'lost'"
            in told
        )
        _, told, _ = self.checked(tmp_path, expert=["echo $(seq 1000)", "finish"])
        assert "..." in told and "999 1000" in told and "800" not in told

    def test_every_file_has_its_line_and_needs_a_domain(self, tmp_path: Path) -> None:
        for name, domain in (("one", {"domain": "terminal"}), ("two", {})):
            (tmp_path / f"{name}.yaml").write_text(json.dumps({**OWN_TASK, **domain}), encoding="utf-8")
        done = agentworld("tasks", "check", *(str(tmp_path / f"{name}.yaml") for name in ("two", "one", "three")))
        assert done.exit_code == 2 and "one.yaml: ok" in done.stdout
        assert "two.yaml: domain: got None" in done.stderr and "three.yaml: no such file" in done.stderr


class TestSpecs:
    def test_those_that_ship_are_valid(self) -> None:
        done = agentworld("specs", "check")
        assert done.exit_code == 0, done.stderr
        assert done.stdout.count("ok") == 8

    def test_a_broken_one_is_named_with_key_value_and_expectation(self, tmp_path: Path) -> None:
        shown = agentworld("specs", "show", "terminal").stdout
        broken = tmp_path / "broken.yaml"
        broken.write_text(shown.replace("max_steps: ", "max_steps: -"), encoding="utf-8")
        done = agentworld("specs", "check", str(broken), "terminal")
        assert done.exit_code == 2
        assert "broken.yaml: limits.max_steps: got -" in done.stderr
        assert "expected" in done.stderr
        assert "terminal: ok" in done.stdout

    def test_an_example_that_does_not_parse_is_an_error(self, tmp_path: Path) -> None:
        shown = agentworld("specs", "show", "mcp").stdout
        broken = tmp_path / "broken.yaml"
        broken.write_text(shown.replace("  examples:\n", "  examples:\n  - '{not json'\n", 1), encoding="utf-8")
        done = agentworld("specs", "check", str(broken))
        assert done.exit_code == 2
        assert "action.examples.0" in done.stderr

    @pytest.mark.parametrize(
        ("right", "wrong", "says"),
        [
            (
                "{{ strength }} a coin",
                "{{ strenght }} a coin",
                "controls.coin-rejects.sentence: rendering: got \"'strenght'",
            ),
            (
                "AgentWorld/Custom-v0\n",
                "AgentWorld/Foo-v0\n",
                "env_id: got 'AgentWorld/Foo-v0', expected a registered id",
            ),
        ],
    )
    def test_what_only_an_episode_would_find_is_an_error_too(
        self, right: str, wrong: str, says: str, tmp_path: Path
    ) -> None:
        shutil.copytree(Path(CUSTOM).parent, tmp_path / "custom")
        spec = tmp_path / "custom" / "spec.yaml"
        assert agentworld("specs", "check", str(spec)).stdout.endswith("ok, 1 hand-written task\n")
        written = spec.read_text(encoding="utf-8")
        head, _, rest = written.rpartition(right)
        spec.write_text(head + wrong + rest, encoding="utf-8")
        done = agentworld("specs", "check", str(spec))
        assert done.exit_code == 2 and says in done.stderr

    def test_experts_play_and_both_branches_of_a_fork_agree(self) -> None:
        done = agentworld("specs", "check", "terminal", CUSTOM, "--play")
        assert done.exit_code == 0, done.stderr
        count = len(load_spec("terminal").tasks.families)
        assert re.search(rf"^terminal +{count} +{count} of {count} +{count} of {count}$", done.stdout, re.MULTILINE)
        assert re.search(r"no grounded world +-$", done.stdout, re.MULTILINE)

    @pytest.mark.parametrize(
        ("method", "wrong", "row", "says"),
        [
            ("act", lambda machine, keys: "gone", "0 of 12 +12 of 12", "the expert of task copy_move-1-0: no success"),
            ("fork", lambda machine: {}["x"], "0 of 12 +0 of 12", "family copy_move: KeyError: 'x'"),
            ("start", lambda *_: {}["x"], "0 of 12 +0 of 12", "terminal cannot begin task copy_move-1-0: "),
        ],
    )
    def test_what_does_not_hold_is_named(
        self, method: str, wrong: Any, row: str, says: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = load_engine("terminal")
        owner = type(engine) if method == "start" else type(engine.start({}, 0))
        monkeypatch.setattr(owner, method, wrong)
        done = agentworld("specs", "check", "terminal", "--play")
        assert done.exit_code == 2
        assert re.search(rf"^terminal +12 +{row}$", done.stdout, re.MULTILINE), done.stdout
        assert says in done.stderr

    def test_a_fork_that_is_no_copy_is_named_with_the_step(self, monkeypatch: pytest.MonkeyPatch) -> None:
        machine = type(load_engine("terminal").start({}, 0))
        fork = machine.fork

        def departing(one: Any) -> Any:
            twin = fork(one)
            twin.act([{"keystrokes": "touch /home/dev/stray\n", "duration": 1.0}])
            return twin

        monkeypatch.setattr(machine, "fork", departing)
        done = agentworld("specs", "check", "terminal", "--play")
        assert done.exit_code == 2 and re.search(r"^terminal +12 +\d+ of 12 +0 of 12$", done.stdout, re.MULTILINE)
        assert re.search(r"the fork of task copy_move-1-0 departs at step \d, '.*': another .*state", done.stderr)

    def test_schema_is_a_json_schema_of_all_keys(self) -> None:
        schema = json.loads(agentworld("specs", "schema").stdout)
        assert {"id", "action", "observation", "limits", "reward"} <= set(schema["properties"])


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "code", "says"),
        [
            (["specs", "show", "nowhere.yaml"], 2, "nowhere.yaml: no such file, expected one of "),
            (["specs", "show", "terminl"], 2, "one of mcp, search"),
            (["rollout", "nowhere.yaml"], 2, "nowhere.yaml: no such file, expected one of "),
            (
                ["rollout", "terminal", "--world", "tiny", "--sampling", "temp=0"],
                2,
                "Error: command line: --sampling temp: got 0, expected no such key",
            ),
            (["serve", "./nowhere", "--dry-run"], 2, "MODEL: ./nowhere: no such folder"),
            (["play", "terminal", "--world", "transformers:./nowhere"], 2, "nowhere: no such folder"),
            (["train", "rl", "rl-tiny", "--out", "x", "--set", "model.path=no/such/model"], 2, "no such folder"),
            (["rollout", "kitchen"], 2, "one of mcp, search"),
            (["rollout", "terminal", "--split", "dev"], 2, "train, validation, test"),
            (
                ["rollout", "terminal", "--family", "nope"],
                2,
                "Error: command line: --family: got 'nope', expected some of create_files, copy_move, ",
            ),
            (
                ["rollout", "terminal", "--control", "nope=1"],
                2,
                "Error: command line: --control: got 'nope', expected one of ",
            ),
            (
                ["rollout", "terminal", "--control", "intermittent-errors=2"],
                2,
                "Error: command line: --control intermittent-errors: got 2, expected a number from 0 to 1",
            ),
            (
                ["rollout", "terminal", "--form", "state"],
                2,
                "Error: command line: --form: got 'state', expected None: ",
            ),
            (
                ["rollout", "terminal", "--scenario", "x"],
                2,
                "Error: command line: --scenario: got 'x', expected None: ",
            ),
            (["rollout", "terminal", "--task", "nope"], 2, "Error: command line: --task: got 'nope', expected a YAML "),
            (
                ["play", "terminal", "--task", "nope"],
                2,
                "Error: command line: --task: got 'nope', expected a YAML file",
            ),
            (["rollout", "terminal", "--task", "no/such.yaml"], 2, "Error: no/such.yaml: no such file, expected"),
            (["rollout", CUSTOM, "--world", "grounded"], 2, "no grounded world"),
            (["rollout", "web", "--world", "qwen"], 2, "names no world"),
            (
                ["rollout", "web", "--world", "runs/nope/world"],
                2,
                "'runs/nope/world' names no world, and no folder that is there",
            ),
            (["rollout", "web", "--world", "."], 2, "'.' is a folder without live.yaml or tasks.json"),
            (["rollout", "web", "--world", __file__], 2, "is a file; where it configures a live system, say live:"),
            (["rollout", "web", "--world", "recorded:nothing.jsonl"], 2, "nothing.jsonl: no such recording"),
            (["rollout", "web", "--world", "http://"], 2, "got 'http://', expected the address of a server"),
            (["rollout", "web", "--world", "http://x/v1", "--generator", "retries=-1"], 2, "retries: got -1"),
            (
                ["rollout", "terminal", "--judge", "nobody"],
                2,
                "--judge: got 'nobody', expected same, none, or one of http://HOST",
            ),
            (["collect", "terminal", "--out", "x", "-n", "1", "--agent", "nobody"], 2, "got 'nobody', expected one of"),
            (["rollout", "terminal", "--level", "7"], 2, "--level: got '7', expected a number of at most 5"),
            (["rollout", "terminal", "-n", "0"], 2, "--episodes: got '0', expected a number of at least 1"),
            (["rollout", "terminal", "-n", "two"], 2, "--episodes: got 'two', expected an integer"),
            (
                ["rollout", "terminal", "--policy", "expertt"],
                2,
                "--policy: got 'expertt', expected one of expert, mixed, menu, explore, nothing, agent.zip, python:",
            ),
            (["collect", "terminal", "--out", "x", "-n", "1", "--split", "trian"], 2, "--split: got 'trian', exp"),
            (["rollout", "web", "--world", "http://x/v1#m", "--sampling", "heat=1"], 2, "heat"),
            (["rollout", "web", "--sampling", "heat"], 2, "KEY=VALUE"),
            (["play"], 2, "ENV"),
            (["play", "terminal", "--beside", "tiny"], 2, "--beside: got 'tiny', expected nothing without --browser"),
            (["play", "--browser", "--level", "1", "--level", "2"], 2, "--level: got [1, 2], expected one alone"),
            (["play", "kitchen", "--browser"], 2, "one of mcp, search"),
            (["trace", "show", "nothing"], 2, "nothing: no such trace, expected a folder with files RUN.agent.jsonl"),
            (["trace", "grep", "a", "nothing"], 2, "nothing: no such trace"),
            (["trace", "diff", "nothing", "nothing"], 2, "nothing: no such trace"),
            (["trace", "replay", "nothing"], 2, "nothing: no such trace"),
            (["trace", "view", "nothing"], 2, "nothing: no such trace"),
            (["cost", "run", "nothing"], 2, "nothing: no such trace"),
            (["cost", "plan", "--from", "nothing"], 2, "nothing: no such trace"),
            (["trace", "grep", "(", "nothing"], 2, "regular expression"),
            (["train", "nope", "--out", "x"], 2, "nope"),
            (["train", "cpt", "nope", "--out", "x"], 2, "nope"),
            (
                ["train", "cpt", "search", "--out", "x", "--set", "train.speed=9"],
                2,
                "command line: --set train.speed: got 9",
            ),
            (
                ["train", "cpt", "search", "--out", "x", "--set", "train.batch_tokens=9"],
                2,
                "train.batch_tokens: got 9, exp",
            ),
        ],
    )
    def test_are_one_message_and_an_exit_code(self, arguments: Sequence[str], code: int, says: str) -> None:
        done = agentworld(*arguments)
        assert done.exit_code == code, done.output
        assert says in done.stderr
        assert "Traceback" not in done.output
        assert done.stdout == ""


@pytest.mark.parametrize("command", ["", "train queue", "collect"])
def test_help_shows_no_value_for_flags(command: str) -> None:
    said = agentworld(*command.split(), "--help").stdout
    assert "--help" in said and "bool" not in said


def test_the_version_is_told() -> None:
    from agentworld_gym import __version__

    assert agentworld("--version").stdout == f"agentworld {__version__}\n"


class TestPlay:
    def test_an_episode_is_played_from_standard_input(self) -> None:
        done = agentworld("play", "terminal", "--world", "scripted", stdin="ls\nfinish\n")
        assert done.exit_code == 0
        assert "[1] ls" in done.stdout
        assert "no success, 2 steps" in done.stdout

    def test_actions_and_observations_are_in_the_dialect_that_was_asked_for(self) -> None:
        read = json.dumps({"name": "Read", "arguments": {"file_path": "/repo/README.md"}})
        done = agentworld("play", "swe", "--dialect", "claude-code", stdin=f"{read}\nfinish\n")
        assert done.exit_code == 0 and "     1→# " in done.stdout
        refused = agentworld("play", "swe", "--dialect", "claude")
        assert refused.exit_code == 2 and "one of: claude-code, cli" in refused.stderr

    def test_official_prompts_are_read_before_the_episode(self, tmp_path: Path) -> None:
        world = ("--world", "http://localhost:1/v1", "--prompts")
        done = agentworld("play", "terminal", *world, f"official:{tmp_path}")
        assert done.exit_code == 2 and f"{tmp_path}/terminal/system_prompt.txt: no such file" in done.stderr
        assert "official:DIR" in agentworld("play", "terminal", *world, str(tmp_path / "none")).stderr

    def test_undo_takes_the_step_back_in_the_world_too(self) -> None:
        done = agentworld("play", "terminal", stdin="echo hi > made\n:undo\nls made\n")
        assert "cannot access 'made'" in done.stdout

    def test_undo_before_any_step_says_so(self) -> None:
        done = agentworld("play", "terminal", "--world", "scripted", stdin=":undo\n")
        assert "nothing to undo" in done.stdout
        assert ":screen" not in done.stdout

    @pytest.mark.parametrize("domain", [name for name in DOMAINS if is_graphical(name)])
    def test_help_shows_how_an_element_is_named_in_the_domain(self, domain: str) -> None:
        example = screen_of(domain).example
        done = agentworld("play", domain, "--world", "scripted", stdin=":help\n")
        assert example in " ".join(done.stdout.split())
        assert ActionParser(load_spec(domain)).parse(stand_in(domain, example)).error is None

    def test_a_word_that_it_does_not_know_is_said_to_be_unknown(self) -> None:
        said = agentworld("play", "terminal", "--world", "scripted", stdin=":foo\n:undo\n").stdout
        assert ":foo is unknown; the words are :undo, :again" in said and "nothing to undo" in said

    def test_help_of_a_text_domain_names_no_elements(self) -> None:
        assert "@{" not in agentworld("play", "terminal", "--world", "scripted", stdin=":help\n").stdout

    def test_again_starts_over(self) -> None:
        done = agentworld("play", "terminal", "--world", "scripted", stdin="ls\n:again\npwd\n:quit\n")
        assert "[1] pwd" in done.stdout

    @pytest.mark.parametrize("line", ["", ":quit\n"], ids=["the end of input", "quit"])
    def test_whoever_leaves_before_the_end_is_told_that_there_is_no_success(self, line: str) -> None:
        done = agentworld("play", "terminal", "--world", "scripted", stdin=f"ls\n{line}")
        assert done.exit_code == 0 and "no success: the episode was left, 1 step, return" in done.stdout

    def test_ctrl_c_leaves_with_130_and_keeps_the_trace(self, tmp_path: Path) -> None:
        arguments = ["play", "terminal", "--world", "scripted", "--out", str(tmp_path)]
        with process(*arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as game:
            assert game.stdin is not None
            game.stdin.write("ls\n")
            game.stdin.flush()
            wait_for(lambda: any(episode.steps for episode in traces(tmp_path)))
            game.send_signal(signal.SIGINT)
            _, errors = game.communicate(timeout=60)
        assert game.returncode == 130
        assert errors == "Stopped.\n"
        assert [step.action for episode in read_trace(tmp_path) for step in episode.steps] == ["ls"]


def test_ctrl_c_while_the_command_line_is_imported_leaves_no_traceback() -> None:
    pressed = """
import builtins
from agentworld_gym.__main__ import main
real = builtins.__import__
def imported(name, *rest):
    if name == "agentworld_gym.cli.app":
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = imported
main()
"""
    done = subprocess.run([sys.executable, "-c", pressed], capture_output=True, text=True, timeout=60)
    assert done.returncode == 130 and done.stderr == ""


class TestRollout:
    def test_the_expert_succeeds_where_doing_nothing_does_not(self) -> None:
        for policy, rate in (("expert", "1.00"), ("nothing", "0.00")):
            done = agentworld("rollout", "terminal", "-n", "6", "--policy", policy, "--width", "4")
            assert done.exit_code == 0
            assert rate in done.stdout

    def test_every_episode_is_traced_once(self, tmp_path: Path) -> None:
        arguments = ["rollout", "terminal", "--world", "scripted", "-n", "7", "--width", "3", "--policy", "menu"]
        assert agentworld(*arguments, "--seed", "40", "--out", str(tmp_path)).exit_code == 0
        episodes = list(read_trace(tmp_path))
        assert sorted(episode.start["seed"] for episode in episodes) == list(range(40, 47))
        assert all(episode.steps[-1].terminated or episode.steps[-1].truncated for episode in episodes)

    def test_tasks_of_a_users_own_are_played_in_turn(self, tmp_path: Path) -> None:
        for name, instruction in (("first", "Make a."), ("second", "Make b.")):
            made = instruction[5]
            written = {
                "instruction": instruction,
                "success": [{"probe": f"ls {made}", "expect": {"equals": made}}],
                "expert": [f"touch {made}", "finish"],
            }
            (tmp_path / f"{name}.yaml").write_text(json.dumps(written), encoding="utf-8")
        files = [argument for name in ("first", "second") for argument in ("--task", str(tmp_path / f"{name}.yaml"))]
        done = agentworld("rollout", "terminal", *files, "-n", "4", "--out", str(tmp_path / "traces"))
        assert done.exit_code == 0, done.stderr
        assert re.search(r"handwritten +1 +4 +1\.00", done.stdout)
        played = sorted((episode.start["seed"], episode.start["task"]["id"]) for episode in traces(tmp_path / "traces"))
        assert played == [(0, "first"), (1, "second"), (2, "first"), (3, "second")]

    def test_a_broken_task_of_a_users_own_is_named_with_file_key_and_value(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken.yaml"
        broken.write_text("instruction: x\nsuccess: []\n", encoding="utf-8")
        done = agentworld("rollout", "terminal", "--task", str(broken))
        assert done.exit_code == 2 and f"{broken}: success: got []" in done.stderr.replace("\n", "")

    def test_a_failing_world_gives_exit_1_and_no_rate(self) -> None:
        done = agentworld("rollout", "terminal", "--world", "http://127.0.0.1:9/v1#none", "-n", "2")
        assert done.exit_code == 1
        assert "1.00" not in done.stdout

    def test_ctrl_c_shows_what_was_finished_and_keeps_the_trace(self, tmp_path: Path) -> None:
        arguments = ["rollout", "terminal", "--world", "scripted", "-n", "1000000", "--out", str(tmp_path)]
        with process(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            wait_for(lambda: len(traces(tmp_path)) > 40)
            running.send_signal(signal.SIGINT)
            table, errors = running.communicate(timeout=60)
        assert running.returncode == 130
        assert "episodes" in table
        assert "Traceback" not in errors
        assert len(list(read_trace(tmp_path))) > 40

    def test_a_ctrl_c_that_a_finalizer_loses_ends_it_all_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        actions = count()

        def act(*_: Any) -> str:
            if next(actions) == 10:
                ctrl_c.lost()
            return "finish"

        monkeypatch.setattr("agentworld_gym.agents.policies.playing.next_action", act)
        done = agentworld("rollout", "terminal", "--world", "scripted", "-n", "200", "--width", "4")
        assert done.exit_code == 130
        assert "episodes" in done.stdout
        assert next(actions) < 20

    def test_the_names_of_families_are_whole_in_80_columns(self) -> None:
        options = ("-n", "1", "--family", "move_standing_orders", "--policy", "nothing")
        done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["rollout", "mcp", *options])
        assert "move_standing_orders " in done.stdout and "…" not in done.stdout


class TestTrace:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        agentworld(
            "rollout", "terminal", "--world", "scripted", "-n", "3", "--policy", "nothing", "--out", str(tmp_path)
        )
        return tmp_path

    def test_show_prints_episodes(self, folder: Path) -> None:
        shown = agentworld("trace", "show", str(folder)).stdout
        assert shown.count("» finish") == 3
        assert "no success" in shown
        assert agentworld("trace", "show", str(folder), "--limit", "1").stdout.count("» finish") == 1

    def test_show_finds_an_episode_by_id(self, folder: Path) -> None:
        first = next(iter(read_trace(folder))).id
        assert f"episode {first}" in agentworld("trace", "show", str(folder), "--episode", first).stdout
        assert agentworld("trace", "show", str(folder), "--episode", "zz").exit_code == 1

    def test_grep_prints_the_steps_that_match(self, folder: Path) -> None:
        assert agentworld("trace", "grep", "^fin", str(folder), "--actions").stdout.count("» finish") == 3
        assert agentworld("trace", "grep", "nowhere to be seen", str(folder)).exit_code == 1


class TestServe:
    def test_a_world_model_gets_the_flags_it_needs(self) -> None:
        done = agentworld("serve", "Qwen/Qwen-AgentWorld-35B-A3B", "--port", "8001", "--dry-run", "--", "-tp", "2")
        command = done.stdout.split()
        assert command[:3] == ["vllm", "serve", "Qwen/Qwen-AgentWorld-35B-A3B"]
        assert {"--enable-prefix-caching", "--language-model-only"} <= set(command)
        assert command[command.index("--reasoning-parser") + 1] == "qwen3"
        assert command[-2:] == ["-tp", "2"]

    @pytest.mark.parametrize(
        ("given", "stated"),
        [
            ([], ["--max-model-len auto"]),
            (["--max-model-len", "8192"], ["--max-model-len 8192"]),
            (["--", "--max-model-len", "4096"], ["--max-model-len 4096"]),
            (["--", "--max_model_len=4096"], ["--max_model_len=4096"]),
        ],
    )
    def test_the_longest_context_is_stated_once_and_fits_the_memory(self, given: list[str], stated: list[str]) -> None:
        command = agentworld("serve", "Qwen/Qwen-AgentWorld-35B-A3B", "--dry-run", *given).stdout
        assert re.findall(r"--max.model.len[ =]\w+", command) == stated

    def test_a_local_model_is_asked_what_it_can_do(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text('{"model_type": "qwen3"}')
        (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
        command = agentworld("serve", str(tmp_path), "--dry-run").stdout
        assert "--reasoning-parser" not in command
        (tmp_path / "config.json").write_text('{"vision_config": {}}')
        (tmp_path / "chat_template.jinja").write_text("<think>{{ messages }}")
        command = agentworld("serve", str(tmp_path), "--dry-run").stdout
        assert "--reasoning-parser qwen3 --language-model-only" in command

    @pytest.mark.parametrize(
        ("card", "stated"),
        [
            ("", 'gym.make("AgentWorld/Terminal-v0", world="http://localhost:8000/v1")'),
            ("domains: [search]\n", "language={'profile': 'compact', 'sampling': {}})"),
        ],
    )
    def test_a_folder_is_asked_as_its_card_says(
        self, card: str, stated: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "config.json").write_text("{}")
        (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
        if card:
            (tmp_path / "world.yaml").write_text(card)
        monkeypatch.setattr("agentworld_gym.cli.serve.server_program", lambda: ["vllm"])
        monkeypatch.setattr("os.execve", lambda *_: None)
        done = agentworld("serve", str(tmp_path))
        assert stated in done.stdout, done.output
        assert ("AgentWorld/Search-v0" in done.stdout) == bool(card)

    def test_a_folder_without_a_model_is_an_error(self, tmp_path: Path) -> None:
        done = agentworld("serve", str(tmp_path), "--dry-run")
        assert done.exit_code == 1
        assert "no model" in done.stderr


@pytest.mark.parametrize(
    ("option", "command"),
    [
        ("--out", "eval fidelity terminal"),
        ("--out", "eval transfer terminal --policy expert"),
        ("--report", "demo"),
        ("--out", "samples sessions.jsonl"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(
    option: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "sessions.jsonl").write_text('{"task": "terminal"}\n', encoding="utf-8")
    path = tmp_path / "file" / "x.jsonl"
    monkeypatch.chdir(tmp_path)
    done = agentworld(*command.split(), option, str(path))
    assert done.exit_code == 2 and f"{option}: got '{path}', expected a file that can be written" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["rollout terminal", "play terminal", "collect terminal -n 1", "index rows", "train cpt tiny", "synth grow shop"],
)
def test_a_folder_that_cannot_be_written_is_an_error_of_usage(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = agentworld(*command.split(), "--out", str(tmp_path / "file" / "runs"))
    assert done.exit_code == 2
    assert f"--out: got '{tmp_path / 'file' / 'runs'}', expected a folder that can be written" in done.stderr


def test_parquet_without_its_library_is_said_before_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentworld_gym.cli.collect.find_spec", lambda name: None)
    done = agentworld("collect", "terminal", "--out", str(tmp_path / "data"), "-n", "1", "--format", "parquet")
    assert done.exit_code == 1 and "pip install -e '.[data]'" in done.stderr and not list(tmp_path.iterdir())


def test_collect_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "sessions.jsonl"
    assert agentworld("collect", "terminal", "--out", str(out), "-n", "3").exit_code == 0
    begun = out.read_text(encoding="utf-8")
    done = agentworld("collect", "terminal", "--out", str(out), "-n", "5")
    assert "2 sessions added" in done.stdout and "terminal, train: 5 of 5 episodes, success" in done.stderr
    assert "terminal, train: 5 of 5 episodes" in agentworld("collect", "terminal", "--out", str(out), "-n", "5").stderr
    assert out.read_text(encoding="utf-8").startswith(begun)
    assert out.read_text(encoding="utf-8").count("\n") == 5
    assert [file.name for file in tmp_path.iterdir()] == ["sessions.jsonl"]


def test_collect_that_is_stopped_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentworld_gym.agents.collect.recording_file.collect", stopped)
    done = agentworld("collect", "terminal", "--out", str(tmp_path / "sessions.jsonl"), "-n", "5")
    assert done.exit_code == 130
    assert "sessions.jsonl keeps what is recorded; the same command goes on with it." in done.stderr


def test_collect_fills_a_folder_with_rows_tables_and_a_card(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = str(tmp_path / "data")
    for split in ("train", "test"):
        done = agentworld("collect", "terminal", "--out", folder, "-n", "3", "--split", split, "--format", "parquet")
        assert done.exit_code == 0, done.stderr
    names = {file.name for file in (tmp_path / "data").iterdir()}
    assert {"train.jsonl", "train.parquet", "test.jsonl", "test.parquet", "README.md", "success.png"} <= names
    assert agentworld("collect", "terminal", "--out", folder, "-n", "5").exit_code == 0
    assert parquet.read_table(tmp_path / "data" / "train.parquet").num_rows == 5


@pytest.mark.parametrize("asked", [["swe:claude-code"], ["swe", "--dialect", "claude-code"]])
def test_collect_and_fidelity_take_a_dialect(asked: list[str], tmp_path: Path) -> None:
    done = agentworld("collect", *asked, "--out", str(tmp_path), "-n", "2", "--no-card")
    assert done.exit_code == 0, done.stderr
    rows = (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["dialect"] for row in rows] == ["claude-code", "claude-code"]
    data = ("--data", str(tmp_path / "train.jsonl"), "--nearest", "0", "--plans", "0")
    done = agentworld("eval", "fidelity", *asked, "--world", "grounded", *data, "--out", str(tmp_path / "f.json"))
    assert done.exit_code == 0, done.stderr
    [measured] = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))["domains"]
    assert (measured["domain"], measured["sessions"]) == ("swe:claude-code", 2)


def test_a_dialect_that_a_domain_does_not_have_is_refused(tmp_path: Path) -> None:
    done = agentworld("collect", "swe", "terminal", "--dialect", "cli", "--out", str(tmp_path), "-n", "1")
    assert done.exit_code == 2 and "expected no dialect: the domain has none" in done.stderr
    done = agentworld("eval", "fidelity", "--dialect", "cli", "--out", str(tmp_path / "f.json"))
    assert done.exit_code == 2 and "the domain whose dialect it is" in done.stderr


@pytest.mark.parametrize("command", [["fidelity", "mcp"], ["transfer", "mcp", "--policy", "menu"]])
def test_a_split_of_tasks_that_have_none_is_refused(command: list[str], tmp_path: Path) -> None:
    out = ("--world", "awm:worlds+tiny", "--split", "test", "--out", str(tmp_path / "found.json"))
    done = agentworld("eval", *command, *out)
    assert done.exit_code == 2
    assert "--split: got 'test', expected nothing: the tasks of awm:worlds+tiny have no splits" in done.stderr


def test_collect_says_what_it_cannot_record(tmp_path: Path) -> None:
    out = str(tmp_path / "data")
    assert "with a grounded world" in agentworld("collect", CUSTOM, "--out", out, "-n", "1").stderr
    assert "--format parquet" in agentworld("collect", "terminal", "--out", "x.parquet", "-n", "1").stderr
    assert agentworld("collect", "terminal", "--out", out, "-n", "1", "--family", "chess").exit_code == 2


SMALL = """
name: small
data: {domains: [terminal], episodes: 20, validation: 2}
model:
  shape: {hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, num_attention_heads: 2, num_key_value_heads: 1,
          head_dim: 16, vocab_size: 400}
train: {max_tokens: 8000, batch_tokens: 2048, bfloat16: false}
"""


def test_train_records_trains_and_exports(tmp_path: Path) -> None:
    config = tmp_path / "small.yaml"
    config.write_text(SMALL, encoding="utf-8")
    done = agentworld("train", "cpt", str(config), "--out", str(tmp_path / "run"))
    assert done.exit_code == 0, done.output
    model = tmp_path / "run" / "model"
    assert f"transformers:{model}" in done.stdout
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in model.iterdir()}
    card = carded_model(f"transformers:{model}")
    assert card and (card.domains, card.profile, card.sampling["thinking"]) == (("terminal",), "compact", False)
    assert "vllm serve" in agentworld("serve", str(model), "--dry-run").stdout


def test_the_end_of_a_training_says_what_to_pass_for_a_model_without_a_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _tell(tmp_path, 5, tmp_path)
    assert "no world.yaml" in capsys.readouterr().out
    (tmp_path / "world.yaml").write_text("domains: [search]\n")
    _tell(tmp_path, 5, tmp_path)
    assert "no world.yaml" not in capsys.readouterr().out


def test_controls_are_set_by_name_and_strength(tmp_path: Path) -> None:
    faulty = ("rollout", "terminal", "-n", "4", "--control", "intermittent-errors=1", "--out", str(tmp_path))
    assert agentworld(*faulty).exit_code == 0
    assert all(episode.start["controls"] == {"intermittent-errors": 1.0} for episode in traces(tmp_path))
    wrong = agentworld("rollout", "terminal", "--control", "fog=0.5")
    assert (wrong.exit_code, "one of intermittent-errors" in wrong.output) == (2, True)
    assert "--control" in agentworld("rollout", "terminal", "--control", "fog").output


def test_what_a_world_prints_cannot_drive_the_terminal() -> None:
    assert printable("\x1b]0;owned\x07 \x9b2J \x7f ok\n") == "␛]0;owned␇ \ufffd2J \ufffd ok\n"
    assert printable("\ud800") == "\\ud800"


def traces(folder: Path) -> list[Any]:
    """The episodes so far, none where no trace was begun."""
    begun = any(file.stat().st_size for file in folder.glob("*.agent.jsonl"))
    return list(read_trace(folder)) if begun else []


def wait_for(condition: Any) -> None:
    """Wait until a condition holds; the limit only keeps a broken test from hanging."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
