"""Evaluating an agent: what is counted, what goes on after a kill, and what the page says of several agents."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from aiohttp import web
from fault_server import FaultServer, answer
from loopback import servers
from processes import background, wait_until
from typer.testing import CliRunner

from agentworld_gym.agents.policies.language_agent import AgentLost
from agentworld_gym.agents.policies.playing import Played, Policy, play
from agentworld_gym.base.documents.json_lines import read_jsonl
from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.traces import episodes_of
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.agent import MOST_LOST, Setup, difference, evaluate_agent, evaluated_traces
from agentworld_gym.evaluation.bench.aggregate import TokenPrices
from agentworld_gym.evaluation.report import read_result
from agentworld_gym.evaluation.report.page import page
from agentworld_gym.evaluation.results.agent import AgentResult
from agentworld_gym.worlds.registry import register_world
from agentworld_gym.worlds.scripted import ScriptedWorld

Ask = Callable[..., AgentResult]


@pytest.fixture
def evaluate(tmp_path: Path) -> Ask:
    """What evaluates an agent; runs of one name share their records."""

    def evaluated(agent: str = "expert", tasks: int = 3, name: str = "run", **given: Any) -> AgentResult:
        known = {"world": "grounded", "domains": ("terminal",), "levels": (1,), "families": (), "split": "validation"}
        known |= {"options": {}, "world_options": {}, "seed": 0, "drawn": False, "named": {}}
        setup = {key: given.pop(key) for key in known if key in given}
        return evaluate_agent(
            Setup(agent=agent, **{**known, **setup}), tasks, tmp_path / f"{name}.episodes.jsonl", **given
        )

    return evaluated


@pytest.fixture
def serve() -> Iterator[Callable[..., FaultServer]]:
    with servers(FaultServer) as begin:
        yield begin


def test_figures_stand_by_domain_level_and_family(evaluate: Ask):
    found = evaluate(domains=("mcp", "terminal"), levels=(1, 2), tasks=4)
    assert found.whole.success and (found.whole.success.share, found.whole.success.count) == (1.0, 8)
    terminal = found.domains["terminal"]
    assert list(terminal.levels) == ["1", "2"], "few tasks too have all levels"
    for cells in (terminal.levels, terminal.families):
        assert sum(cell.success.count for cell in cells.values() if cell.success) == 4
    assert terminal.world == "grounded" and len(terminal.fingerprint) == 16
    assert found.ends == {"finish": 8} and found.draw.tasks == 4


def test_several_samples_give_the_chance_that_one_or_all_of_them_succeed(
    evaluate: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "fickle.py").write_text(
        "def make(spec):\n"
        "    made.append(spec)\n"
        "    lucky = len(made) % 2\n"
        "    return lambda episode: episode.task.expert[episode.steps] if lucky else 'finish'\n"
        "made = []\n"
    )
    monkeypatch.chdir(tmp_path)
    found = evaluate("python:fickle:make", samples=4, families=("copy_move",))
    assert [round(share.share, 3) for share in found.pass_at.values()] == [0.5, 0.833, 1.0, 1.0]
    assert [round(share.share, 3) for share in found.pass_all.values()] == [0.5, 0.167, 0.0, 0.0]
    assert found.whole.success and (found.whole.success.count, found.whole.success.groups) == (12, 3)


def test_a_failure_of_the_agents_server_and_one_of_the_world_are_counted_apart_and_never_scored(
    evaluate: Ask, serve: Callable[..., FaultServer]
):
    asked = iter(range(100))

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return web.Response(status=500) if next(asked) == 0 else answer("finish")

    url = serve(chat).url
    options = {"retries": 0, "temperature": 0.0}
    found = evaluate(url, options=options, tasks=4, wave=1, prices={"agent": TokenPrices(1.0, 2.0)})
    assert found.agent_failures == {"server": 1} and found.world_failures == {}
    assert found.whole.success and (found.whole.success.count, found.whole.unscored) == (3, 1)
    assert found.tokens["agent"].prompt == 21 and found.tokens["agent"].price == 39e-6
    assert found.options["temperature"] == 0.0 and found.options["overflow"] == "stop"
    again = evaluate(url, options=options, tasks=4, wave=1)
    assert again.agent_failures == {} and again.whole.success and again.whole.success.count == 4

    register_world("late", lambda given: ScriptedWorld(lambda task, done: LATE if done else "$"))
    world = evaluate(world="late", name="late")
    assert world.world_failures == {"timeout": 3} and world.whole.success is None
    assert world.ends == {"world failed": 3} and "late" in (world.episodes[0].message or "")


LATE = Failure(FailureKind.TIMEOUT, "late")


@pytest.mark.parametrize("retries", [0, 1])
def test_tokens_of_what_was_asked_or_played_again_stand_apart(
    retries: int, evaluate: Ask, serve: Callable[..., FaultServer]
):
    asked = iter(range(100))

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer("half", finish_reason="abort") if next(asked) == 0 else answer("finish")

    url, options = serve(chat).url, {"retries": retries, "backoff_s": 0.01}
    found = [evaluate(url, options=options, tasks=2, wave=1) for _ in range(2)]
    assert [one.whole.unscored for one in found] == [1 - retries, 0]
    for one in found:
        assert (one.replaced["agent"].prompt, one.replaced["agent"].completion) == (7, 3)
    assert found[1].tokens["agent"].prompt == 14


def test_tokens_that_a_server_does_not_tell_of_are_unknown_and_not_none(
    tmp_path: Path, serve: Callable[..., FaultServer]
):
    asked = iter(range(100))

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer("finish", tells=next(asked) != 1)

    out = tmp_path / "mine.json"
    command = ["eval", "agent", "--agent", serve(chat).url, "--domains", "terminal", "--tasks", "3", "--price", "1,2"]
    ran = CliRunner().invoke(app, [*command, "--width", "1", "--out", str(out)])
    assert ran.exit_code == 0 and "tokens: agent unknown, world 0" in ran.output
    found = json.loads(out.read_bytes())
    assert found["tokens"]["agent"] == {"prompt": None, "completion": None, "cached": None, "price": None}
    assert [one["agent_tokens"] for one in found["episodes"]] == [[7, 3, 5], None, [7, 3, 5]]
    assert '<td>tokens of the agent</td><td class="number">unknown</td>' in out.with_suffix(".html").read_text()


def test_what_is_not_scored_and_how_tools_were_called_stand_by_domain(
    tmp_path: Path, serve: Callable[..., FaultServer]
):
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return web.Response(status=400) if "tools" in body else answer("finish")

    command = ["eval", "agent", "--agent", serve(chat).url, "--agent-option", "retries=0", "--domains", "mcp,terminal"]
    ran = CliRunner().invoke(app, [*command, "--tasks", "2", "--out", str(tmp_path / "mine.json")])
    assert ran.exit_code == 0, ran.output
    found = read_result(tmp_path / "mine.json")
    assert isinstance(found, AgentResult)
    assert {name: cell.calls for name, cell in found.domains.items()} == {"mcp": {"text": 2}, "terminal": {}}
    assert "not scored" in ran.output and "calls of tools: mcp text" in ran.output


def test_a_server_that_is_gone_ends_the_evaluation(evaluate: Ask, serve: Callable[..., FaultServer]):
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return web.Response(status=500)

    url = serve(chat).url
    played: list[AgentResult] = []
    with pytest.raises(AgentLost, match=f"failed {MOST_LOST} episodes in a row: the server answered 500"):
        evaluate(url, options={"retries": 0}, tasks=20, wave=2, on_error=played.append)
    assert [one.whole.unscored for one in played] == [MOST_LOST]


@pytest.mark.parametrize(
    ("then", "code", "said"),
    [
        ("raise KeyboardInterrupt", 130, "Episodes are missing: the same command goes on with what was played."),
        ("return None", 1, "python:ending:make: returned None, expected an action as a text; the same command goes on"),
    ],
)
def test_what_was_played_stands_before_what_ended_the_evaluation(
    then: str, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ending", raising=False)
    act = f"def act(episode):\n    if episode.seed:\n        {then}\n    return 'finish'\n"
    (tmp_path / "ending.py").write_text(f"def make(spec):\n    return act\n{act}")
    command = ["eval", "agent", "--agent", "python:ending:make", "--domains", "terminal", "--tasks", "2"]
    command += ["--split", "validation", "--level", "1", "--width", "1", "--out", str(tmp_path / "mine.json")]
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == code and said in " ".join(ran.output.split()), ran.output
    assert "ends: finish 1" in ran.stdout and (tmp_path / "mine.json").is_file()


def test_a_run_goes_on_with_more_tasks_and_samples_and_with_nothing_else_changed(evaluate: Ask):
    evaluate(tasks=2)
    more = evaluate(tasks=3, samples=2)
    assert len(more.episodes) == 6
    with pytest.raises(SpecError, match=r"episodes.jsonl: agent: got 'menu', expected 'expert', with which this run"):
        evaluate("menu")


def test_a_run_takes_other_domains_too_and_one_that_could_not_begin_leaves_nothing(evaluate: Ask):
    with pytest.raises(SpecError, match="policy: got 'exprt'"):
        evaluate("exprt")
    assert len(evaluate().episodes) == 3
    assert {one.domain for one in evaluate(domains=("mcp", "terminal")).episodes} == {"mcp", "terminal"}


def test_a_run_of_fewer_domains_keeps_what_was_played_of_the_others(evaluate: Ask):
    both = evaluate(domains=("mcp", "terminal"), samples=2)
    again = evaluate(domains=("mcp",))
    assert again.domains == both.domains and again.samples == 2
    assert again.draw.tasks == 3 and evaluate(tasks=1).draw.tasks == 3, "fewer tasks take nothing away"


def test_a_result_says_what_is_missing_of_all_that_its_commands_asked_for(
    evaluate: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "impatient.py").write_text(
        "def make(spec):\n    return act\n"
        "def act(episode):\n"
        "    if episode.task.domain in stops:\n        raise KeyboardInterrupt\n    return 'finish'\n"
        "stops = ['terminal']\n"
    )
    stopped: list[bool] = []
    given: dict[str, Any] = {"on_interrupt": lambda: stopped.append(True), "drawn": True}
    first = evaluate("python:impatient:make", domains=("mcp", "terminal", "search"), **given)
    assert first.interrupted and list(first.domains) == ["mcp", "terminal"] and first.draw.tasks == 0
    sys.modules["impatient"].stops.clear()
    other = evaluate("python:impatient:make", domains=("search",), **given)
    assert other.interrupted and stopped == [True] and (other.draw.tasks, other.draw.drawn) == (0, True)
    more = evaluate("python:impatient:make", domains=("terminal",), tasks=1, **{**given, "drawn": False})
    assert more.interrupted and (more.draw.tasks, more.draw.drawn) == (1, True)
    whole = evaluate("python:impatient:make", domains=("terminal",), **given)
    assert not whole.interrupted and whole.draw.tasks == 3 and stopped == [True]


def test_a_run_says_nothing_of_failures_in_domains_that_it_did_not_play(tmp_path: Path):
    register_world("late", lambda given: ScriptedWorld(lambda task, done: LATE if done else "$"))
    command = ["eval", "agent", "--agent", "expert", "--world", "late", "--tasks", "1", "--level", "1"]
    command += ["--split", "validation", "--out", str(tmp_path / "mine.json"), "--domains"]
    runner = CliRunner()
    assert "the same command tries them again" in runner.invoke(app, [*command, "terminal,mcp"]).output
    assert "failed in 1 episode," in runner.invoke(app, [*command, "mcp"]).output
    found = read_result(tmp_path / "mine.json")
    assert isinstance(found, AgentResult) and found.world_failures == {"timeout": 2}


def test_a_run_goes_on_only_with_the_code_of_a_users_agent_that_it_was_begun_with(
    evaluate: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "agent_of_a_user.py"
    code.write_text("def make(spec):\n    return lambda episode: 'finish'\n")
    evaluate("python:agent_of_a_user:make", tasks=1)
    code.write_text("def make(spec):\n    return lambda episode: 'ls'\n")
    with pytest.raises(SpecError, match=r"agent: got .* with which this run was begun"):
        evaluate("python:agent_of_a_user:make", tasks=2)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (["--domains", ","], "--domains"),
        (["--out", "page.html"], "--out: got 'page.html', expected a .json file"),
        (["--domains", "termnal"], "--domains: got 'termnal', expected one of mcp, search"),
        (
            ["--domains", "mcp", "--tasks", "1", "--agent", "exprt"],
            "--agent: got 'exprt', expected one of expert, mixed",
        ),
        (
            ["--domains", "mcp", "--sampling", "temp=3"],
            "--sampling temp: got 3, expected one of max_tokens, reasks, stop, temperature",
        ),
        (
            ["--domains", "mcp", "--world-option", "judge=non"],
            "--world-option judge: got 'non', expected same, none, or one of http://",
        ),
        (
            ["--domains", "mcp", "--world-option", "juge=none"],
            "--world-option juge: got 'none', expected one of controls, dialect, ",
        ),
        (["--domains", "mcp", "--world-option", "juge=none"], "did you mean judge?"),
        (
            ["--domains", "mcp", "--world-option", 'language={"form": "a"}'],
            "--world-option language.form: got 'a', expected one of full",
        ),
        (["--workers", "2"], "--workers: got 2, expected --ray beside it"),
        (["--from", ".", "--domains", "web"], "--domains: got 'web', expected nothing: with --from no task is played"),
    ],
)
def test_what_cannot_be_asked_for_is_named(
    asked: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["eval", "agent", "--agent", "expert", *asked])
    assert ran.exit_code == 2 and named in " ".join(ran.output.split())


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--level", "9", "--level: got [9], expected some of 1, 2, 3, 4, 5, the levels of terminal"),
        ("--family", "permissions", ", the families of mcp"),
    ],
)
def test_what_one_of_several_domains_has_not_is_said_of_it_before_any_is_played(
    option: str, value: str, named: str, tmp_path: Path
):
    out = tmp_path / "mine.json"
    command = ["eval", "agent", "--agent", "expert", "--domains", "terminal,mcp", "--tasks", "1", "--out", str(out)]
    ran = CliRunner().invoke(app, [*command, option, value])
    assert ran.exit_code == 2 and named in " ".join(ran.output.split())
    assert not out.with_suffix(".episodes.jsonl").exists(), "nothing was played"


def test_a_killed_evaluation_goes_on_with_the_same_command(tmp_path: Path):
    out = tmp_path / "mine.json"
    records = out.with_suffix(".episodes.jsonl")
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "def make(spec):\n"
        "    return lambda episode: time.sleep(0.05) or (*episode.task.expert, 'finish')[episode.steps]\n"
    )
    command = ["eval", "agent", "--agent", "python:slow:make", "--domains", "terminal", "--tasks", "8"]
    command += ["--width", "1", "--out"]
    begin = f"import os; os.chdir({str(tmp_path)!r}); from agentworld_gym.cli.app import main; main()"
    running = background([sys.executable, "-c", begin, *command, str(out)])
    wait_until(lambda: records.exists() and records.read_bytes().count(b"\n") > 4)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    before = [line for line in read_jsonl(records) if "task" in line]
    assert 0 < len(before) < 8 and not out.exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(app, [*command, str(out)])
    assert done.exit_code == 0, done.output
    found = read_result(out)
    assert isinstance(found, AgentResult) and len(found.episodes) == 8
    lines = [line for line in read_jsonl(records) if "task" in line]
    assert lines[: len(before)] == before and len(lines) == 8, "no episode was played twice"
    first = next(read_jsonl(records))["setup"]
    assert (first["split"], first["drawn"], first["seed"]) == ("test", True, found.draw.seed)


def test_episodes_may_be_played_in_other_processes(evaluate: Ask, tmp_path: Path):
    played: list[int] = []

    def elsewhere(
        options: EnvOptions, opening: Callable[[], Policy], seeds: Sequence[int]
    ) -> Generator[Played, None, None]:
        runner = EnvOptions(**options.keywords()).runner()
        for one in play(runner, pickle.loads(pickle.dumps(opening))(), seeds):
            played.append(one.seed)
            yield one
        runner.close()

    given = {"tasks": 2, "samples": 2, "elsewhere": elsewhere}
    there = evaluate("menu", traces=tmp_path / "traces", **given)
    assert len(played) == 4 and there.episodes == evaluate("menu", name="here", **{**given, "elsewhere": None}).episodes
    assert {one.env_id for one in episodes_of(tmp_path / "traces" / "terminal")} == {"AgentWorld/Terminal-v0"}
    evaluate("menu", **given)
    assert len(played) == 4, "what is known is not played again"


def test_agents_are_compared_on_the_same_tasks(evaluate: Ask):
    expert, menu = evaluate(tasks=6, name="a"), evaluate("nothing", tasks=4, name="b")
    gap = difference(expert, menu)
    assert gap.whole and (gap.whole.share, gap.whole.count) == (1.0, 4) and gap.whole.low > 0
    elsewhere = {name: cell.model_copy(update={"fingerprint": "another"}) for name, cell in menu.domains.items()}
    assert difference(expert, menu.model_copy(update={"domains": elsewhere})).whole is None
    twice = evaluate("nothing", tasks=4, samples=2, name="c")
    assert difference(twice, expert).domains["terminal"].share == -1.0
    shown = page([menu, expert, twice])
    assert "Agents side by side" in shown and "3. nothing − 1. nothing" in shown and "pass^2" in shown
    assert "Agents side by side" not in page([menu])


def test_what_agents_and_servers_say_stays_text_on_the_page(evaluate: Ask):
    hostile = "</code><script>alert(1)</script>{{ 7 * 7 }}"
    found = evaluate().model_copy(update={"agent": hostile, "command": hostile, "described": {hostile: hostile}})
    shown = page([found, found])
    assert "<script>" not in shown and "{{ 7 * 7 }}" in shown


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"samples": 0}, r"samples: got 0, expected greater than or equal to 1"),
        ({"whole": {"success": 1}}, r"whole.success"),
        ({"domains": {}}, r"domains: got \{\}, expected figures of terminal too"),
        ({"surprise": 1}, r"surprise: got 1, expected no such key"),
        ({"date": None}, r"date: got None"),
    ],
)
def test_a_file_that_holds_something_else_is_refused_by_file_and_key(
    change: dict[str, Any], named: str, evaluate: Ask, tmp_path: Path
):
    file = tmp_path / "found.json"
    evaluate(tasks=1).write(file)
    assert read_result(file).kind == "agent"
    file.write_text(json.dumps({**json.loads(file.read_bytes()), **change}))
    with pytest.raises(SpecError, match=rf"found.json: {named}"):
        read_result(file)


class TestTraces:
    """What an agent program left behind is read, and nothing is played."""

    @pytest.fixture
    def traces(self, tmp_path: Path) -> Path:
        """Traces of the expert, of an agent that gives up, and of a client that only looked."""
        folder = tmp_path / "traces"
        env: Any = gym.make("AgentWorld/Terminal-v0", world="grounded", split="test", levels=[1], traces=folder)
        env.reset(seed=0)
        for action in env.unwrapped.episode.task.expert:
            env.step(action)
        for seed, actions in ((1, ["<think>unclosed", "finish"]), (2, [])):
            env.reset(seed=seed)
            for action in actions:
                env.step(action)
        env.close()
        return folder

    def test_they_become_the_result_of_an_agent(self, traces: Path, tmp_path: Path):
        out = tmp_path / "mine.json"
        ran = CliRunner().invoke(app, ["eval", "agent", "--from", str(traces), "--agent", "mine", "--out", str(out)])
        assert ran.exit_code == 0, ran.output
        found = read_result(out)
        assert isinstance(found, AgentResult) and found.agent == "mine"
        assert [(one.seed, one.success, one.refused) for one in found.episodes] == [(0, True, 0), (1, False, 1)]
        assert found.whole.success and found.whole.success.share == 0.5
        assert found.draw.split == "test" and found.ends == {"finish": 2}
        assert "tokens: agent unknown, world 0" in ran.output, "traces do not tell what the agent took"

    def test_a_split_is_that_of_the_tasks(self, traces: Path, tmp_path: Path):
        with pytest.raises(
            SpecError, match=r"agent\.jsonl: split of task \w+-1-9: got 'test', expected 'train', that of"
        ):
            evaluated_traces("mine", traces, "train")
        env: Any = gym.make("AgentWorld/Terminal-v0", world="grounded", task="rotate-log", traces=tmp_path / "own")
        env.reset(seed=0), env.step("finish")
        env.close()
        with pytest.raises(
            SpecError, match="--split: got None, expected the split of task rotate-log, which its trace"
        ):
            evaluated_traces("mine", tmp_path / "own")
        assert evaluated_traces("mine", tmp_path / "own", "validation").draw.split == "validation"
        env = gym.make("AgentWorld/Terminal-v0", world="grounded", split="train", traces=traces)
        env.reset(seed=0), env.step("finish")
        env.close()
        with pytest.raises(SpecError, match=r"got '.*', expected '.*', that of other episodes: keep a folder for each"):
            evaluated_traces("mine", traces)

    def test_those_of_two_worlds_are_refused(self, traces: Path):
        env = gym.make("AgentWorld/Terminal-v0", world="scripted", split="test", traces=traces)
        env.reset(seed=0), env.step("ls")
        env.close()
        with pytest.raises(SpecError, match="keep a folder for each world"):
            evaluated_traces("mine", traces, "test")


OWN_TASK = {
    "domain": "terminal",
    "instruction": "Make a.",
    "state": {"cwd": "/home/dev", "files": {}},
    "success": [{"probe": "ls a", "expect": {"equals": "a"}}],
    "expert": ["touch a", "finish"],
}


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., str]:
    """What writes a task of a user and returns its file."""

    def written(name: str, **changes: object) -> str:
        file = tmp_path / f"{name}.yaml"
        file.write_text(json.dumps({**OWN_TASK, **changes}), encoding="utf-8")
        return str(file)

    return written


def test_tasks_of_ones_own_are_played_instead_of_drawn_ones(own: Callable[..., str], tmp_path: Path):
    web = own("web", domain="web", state={}, success=[{"probe": "finish", "expect": {"contains": ""}}], expert=[])
    out = tmp_path / "mine.json"
    command = ["eval", "agent", "--agent", "expert", "--out", str(out)]
    done = CliRunner().invoke(app, [*command, "--task", own("make"), "--task", own("again")])
    assert done.exit_code == 0, done.output
    found = AgentResult.read(out)
    assert [(one.task, one.seed, one.success) for one in found.episodes] == [("make", 0, True), ("again", 1, True)]
    assert str(found.draw) == "2 named tasks: figures of these alone." and list(found.domains) == ["terminal"]
    assert str(found.draw) in page([found])

    for more, said in (
        (["--task", own("make"), "--tasks", "3"], "--task names the tasks"),
        (["--task", own("plain", domain=None)], "--task"),
        (["--task", "copy_move-1-1"], "a file that states its `domain`, or one of --domains"),
        (["--task", own("make"), "--domains", "terminal,web"], "domains of which --task names a task"),
        (["--task", web, "--domains", "terminal"], "a file that states its `domain`, or one of --domains"),
        (["--domains", "mcp", "--world-option", "task=make.yaml"], "no other way to set"),
    ):
        refused = CliRunner(env={"COLUMNS": "300"}).invoke(app, [*command, *more])
        assert refused.exit_code == 2 and said in refused.output.replace("\n", ""), (more, refused.output)


def test_a_result_knows_tasks_of_ones_own_by_their_content(evaluate: Ask, own: Callable[..., str], tmp_path: Path):
    make, again = own("make"), own("again", expert=["echo > a", "finish"])
    first = evaluate(named={"terminal": (make,)})
    more = evaluate(named={"terminal": (make, again)})
    assert len(more.episodes) == 2 and more.episodes[0] == first.episodes[0], "further tasks join those that it has"
    lazy = evaluate("nothing", name="lazy", named={"terminal": (make, again)})
    gap = difference(more, lazy).whole
    assert gap and (gap.share, gap.count) == (1.0, 2)

    own("make", instruction="Make the file a.")
    with pytest.raises(SpecError, match="task make as it was when this run played it"):
        evaluate(named={"terminal": (make, again)})
    with pytest.raises(SpecError, match="tasks that are named"):
        evaluate()
    gap = difference(more, evaluate("nothing", name="other", named={"terminal": (make, again)})).whole
    assert gap and gap.count == 1, "a task that changed is another one"
    (tmp_path / "elsewhere").mkdir()
    twin = tmp_path / "elsewhere" / "make.yaml"
    twin.write_text(Path(make).read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SpecError, match="2 tasks of terminal have this one"):
        evaluate(name="twins", named={"terminal": (make, str(twin))})
