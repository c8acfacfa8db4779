"""A benchmark run: how answers are read and scored, what survives a kill, and how much is open at once."""

from __future__ import annotations

import asyncio
import errno
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from bench_runs import Answer, asked_of, official, run, tagged, verdict, written
from fault_server import FaultServer, answer
from typer.testing import CliRunner

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError, TraceError
from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.evaluation.bench.aggregate import TokenPrices
from agentworld_gym.evaluation.bench.runner import RECORDS, RESULT, BenchRun, Model, Progress, check_folder
from agentworld_gym.evaluation.report.page import page
from agentworld_gym.evaluation.results.bench import BenchResult, PartyTokens
from agentworld_gym.llm.bundled_models import bundled_models
from agentworld_gym.llm.generators import ScriptedGenerator, ServerGenerator
from agentworld_gym.llm.judging import judge as judging
from agentworld_gym.llm.judging.bench_rows import BenchRow, BenchRows, bench_row
from agentworld_gym.llm.judging.judge import Judge, judge_digest
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions

# What is scored

JUDGED: dict[str, list[str]] = {
    "a": [verdict(format=5, factuality=4, consistency=3, realism=2, quality=1)],
    "b": [f"<think>{verdict(format=1)}</think> So: {verdict(format='4/5', factuality=9, realism=0, quality='five')}"],
    "c": ["no verdict", "<final_evaluation>{'scores': }", verdict(format=2)],
    "d": ["", verdict(), verdict(format=0, quality="n/a")],
    "e": ["```json\n" + json.dumps({"scores": dict.fromkeys(("format", "quality"), -3)}) + "\n```"],
}
"""What the judge writes about each row, try by try."""


def scripted(tmp_path: Path, **options: Any) -> tuple[BenchResult, list[str]]:
    tasks = {"a": "terminal", "b": "terminal", "c": "os", "d": "swe", "e": "swe", "f": "mcp"}
    file = written(tmp_path / "rows.jsonl", [official(task, name) for name, task in tasks.items()])
    asked: list[str] = []

    def say(request: ChatRequest) -> Answer:
        asked.append(asked_of(request))
        if asked[-1] == "f":
            return Failure(FailureKind.TIMEOUT, "too slow", retryable=True)
        return Completion(tagged("ok" if asked[-1] in "ab" else "no"), usage=Usage(100, 10, 60))

    def judge(request: ChatRequest) -> Answer:
        asked.append(f"judge {asked_of(request)}")
        tries = JUDGED[asked_of(request)]
        return Completion(tries[asked.count(asked[-1]) - 1], usage=Usage(1000, 1))

    return run(BenchRows((file,)), tmp_path / "run", say, judge, **options), asked


def test_scores_are_those_computed_by_hand(tmp_path: Path) -> None:
    result, asked = scripted(tmp_path)
    judged = result.judged
    assert judged is not None and judged.micro.excluded is not None and judged.macro.excluded is not None
    # a: 3 → 50; b: 4 and 5 → 87.5; c, at the third try: 2 → 25; d: unreadable; e: 1 → 0; f: no prediction
    assert judged.micro.excluded.share == (50 + 87.5 + 25 + 0) / 4
    assert judged.micro.as_zero.share == pytest.approx((50 + 87.5 + 25 + 0) / 6)
    assert judged.macro.excluded.share == pytest.approx((68.75 + 25 + 0) / 3)
    assert judged.macro.as_zero.share == (68.75 + 25 + 0 + 0) / 4
    assert judged.domains["mcp"].excluded is None and judged.domains["mcp"].as_zero.share == 0
    assert judged.domains["swe"].excluded is not None and judged.domains["swe"].excluded.count == 1
    assert judged.dimensions["micro"]["format"].share == (100 + 75 + 25 + 0) / 4
    assert judged.dimensions["terminal"]["factuality"].share == (75 + 100) / 2
    assert judged.dimensions["macro"]["format"].share == pytest.approx(((100 + 75) / 2 + 25 + 0) / 3)
    assert "realism" not in judged.dimensions["swe"]
    assert judged.failures == {"judge/malformed": 1, "prediction/timeout": 1}
    assert (judged.macro.domains, judged.micro.domains, judged.domains["mcp"].domains) == (3, 3, 0)
    assert asked.count("judge c") == 3 and asked.count("judge d") == 3 and asked.count("judge a") == 1


def test_the_track_without_a_judge_stands_beside(tmp_path: Path) -> None:
    result, _ = scripted(tmp_path)
    exact = result.matched.micro.measures["exact"]
    assert exact.excluded is not None and (exact.excluded.share, exact.excluded.count) == (2 / 5, 5)
    assert exact.as_zero.share == pytest.approx(2 / 6)
    macro = result.matched.macro.measures["exact"]
    assert macro.excluded is not None and macro.excluded.share == pytest.approx((1 + 0 + 0) / 3)
    assert result.matched.micro.kinds["deterministic"] == exact
    assert result.rows.failures == {"timeout": 1}
    alone = run(BenchRows((tmp_path / "rows.jsonl",)), tmp_path / "alone", lambda _: tagged("ok"))
    assert alone.judge is None and alone.judged is None
    assert alone.matched.micro.measures["exact"].as_zero.share == 1


def test_a_result_names_all_that_made_it(tmp_path: Path) -> None:
    result, _ = scripted(tmp_path, prices={"model": TokenPrices(1.0, 10.0)})
    assert result == BenchResult.read(tmp_path / "run" / RESULT)
    assert result.judge is not None and result.judge.handle == "judge"
    assert result.judge.sampling["temperature"] == 0.6 and result.judge.sampling["max_tokens"] == 32768
    assert result.model.parts["model"] == {"value": "model", "verified": False}
    assert (result.tokens["model"].prompt, result.tokens["model"].cached) == (500, 300)
    assert result.tokens["model"].price == pytest.approx((500 * 1 + 50 * 10) / 1e6)
    assert result.tokens["judge"].prompt == 9000 and result.tokens["judge"].price is None  # every try costs


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("<think>a</think><predicted_observation>ok", "ok"),
        (
            "first <predicted_observation>no</predicted_observation><PREDICTED_OBSERVATION>ok</Predicted_Observation>",
            "ok",
        ),
        ("**Environment Observation:**\nok", "ok"),
        ("</predicted_observation>ok", "ok"),
        ("</think></predicted_observation>\nok", "ok"),
        ("ok\n</predicted_observation>", "ok"),
        ("first\n</predicted_observation>\nsecond", "first\nsecond"),
        ("<predicted_observation>ok</predicted_observation> That was it.", "ok"),
        ("<think>never ends", "No output"),
        ("<predicted_observation>\n</predicted_observation>", ""),
        (" \n", "No output"),
    ],
)
def test_completions_are_read_leniently(tmp_path: Path, completion: str, text: str) -> None:
    file = written(tmp_path / "rows.jsonl", [official("mcp", "a")])
    result = run(BenchRows((file,)), tmp_path / "run", lambda _: Completion(completion, "length"))
    (record,) = [orjson.loads(line) for line in (tmp_path / "run" / RECORDS).read_bytes().splitlines()]
    assert record.get("text", "") == text and result.rows.cut == 1 and result.rows.empty == (text == "No output")
    assert result.rows.failures == {}


def test_thinking_without_an_answer_is_a_failure_that_costs(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", [official("mcp", "a")])
    rows, folder = BenchRows((file,)), tmp_path / "run"
    result = run(rows, folder, lambda _: Completion("", "length", Usage(100, 10, 60), "hm, the file is"))
    assert (result.rows.failures, result.rows.empty, result.rows.cut) == ({"empty": 1}, 0, 0)
    assert result.tokens["model"] == PartyTokens(prompt=100, completion=10, cached=60)
    again = run(rows, folder, lambda _: Completion(tagged("ok"), usage=Usage(100, 5)), retry_failed=True)
    assert again.tokens["model"] == PartyTokens(prompt=200, completion=15, cached=60)


def test_a_prediction_in_the_change_form_is_applied() -> None:
    screen = '[ 0] | android.widget.Switch | text="Off" | bounds=[0,0][9,9]'
    row = BenchRow(("android", "a", 1, 1), (), "", "", shown=(screen, "an error"))
    assert row.observation("@@ change\n0~ Off => On") == screen.replace("Off", "On")
    assert row.observation("@@ same") == screen
    assert row.observation("@@ change\n7~ Off => On") == "@@ change\n7~ Off => On"


def test_an_official_screen_takes_changes_too(tmp_path: Path) -> None:
    screen = '[ 0] | android.widget.Switch | text="Off" | bounds=[0,0][9,9]'
    session = official("android", "a", screen.replace("Off", "On"), turns=2)
    session["response"][0] = f"**Environment Observation:**\n{screen}"
    file = written(tmp_path / "android_test.jsonl", [session])
    result = run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("@@ change\n0~ Off => On"))
    assert result.matched.micro.measures["exact"].as_zero.share == 1


@pytest.mark.parametrize("form", ["full", "change"])
def test_answers_to_compact_prompts_are_read_back(form: Any) -> None:
    spec = load_spec("web")
    recorder = Recorder([spec], CollectConfig(max_turns=3, profile="compact"), seed=5)
    session = next(row for number in range(9) if (row := recorder.row(number)) is not None and row.turn_idx > 1)
    prompts = Prompts(spec, PromptOptions(profile="compact", form=form))
    for turn in session.turns():
        row = bench_row(turn, 1)
        assert row.observation(prompts.answer(None, row.before, row.truth, row.action)) == row.truth


def recorded(path: Path, domain: str, **config: Any) -> Path:
    recorder = Recorder([load_spec(domain)], CollectConfig(max_turns=3, **config), seed=5)
    return written(path, [row.model_dump(mode="json") for number in range(4) if (row := recorder.row(number))])


@pytest.mark.parametrize("domain", ["terminal", "android"])
def test_a_bundled_model_is_asked_in_the_prompts_it_reads(tmp_path: Path, domain: str) -> None:
    full = recorded(tmp_path / "full.jsonl", domain)
    small = recorded(tmp_path / "small.jsonl", domain, profile="compact", form="change")
    folder = tmp_path / "models" / "both"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "world.yaml").write_text("domains: [terminal, android]\nforms: {android: change}")
    model = bundled_models(tmp_path / "models")["both"]
    asked, same = (BenchRows((file,), "all", tiny=model) for file in (full, small))
    assert [row.request for row in asked] == [row.request for row in same] and list(asked)
    assert [row.truth for row in asked] == [row.truth for row in BenchRows((full,), "all")]
    assert asked.rendered > 0 == same.rendered and same.digest == BenchRows((small,), "all").digest
    assert asked.digest != BenchRows((full,), "all").digest
    found = run(asked, tmp_path / "run", lambda _: tagged("ok"))
    assert found.rows.rendered == asked.rendered


def test_a_bundled_model_is_asked_greedily_unless_told(tmp_path: Path) -> None:
    file = recorded(tmp_path / "rows.jsonl", "search", profile="compact")
    command = ["eval", "bench", str(file), "--model", "tiny", "--limit", "1"]

    def sampling(*more: str) -> Any:
        out = tmp_path / f"run{len(more)}"
        done = CliRunner().invoke(app, [*command, *more, "--out", str(out)])
        assert done.exit_code == 0, done.output
        found = json.loads((out / "result.json").read_text())["model"]
        assert found["handle"] == "tiny-search", "the one that writes observations in full"
        return found["sampling"]

    assert sampling()["temperature"] == 0
    assert sampling("--sampling", "temperature=0.5")["temperature"] == 0.5


def test_what_a_bundled_model_cannot_read_is_refused(tmp_path: Path) -> None:
    def refused(domain: str, model: str) -> str:
        file = written(tmp_path / f"{domain}_test.jsonl", [official(domain, "a")])
        command = ["eval", "bench", str(file), "--model", model, "--out", str(tmp_path / "run")]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2 and not (tmp_path / "run").exists()
        return " ".join(done.output.split())

    said = refused("search", "tiny")
    assert "profile: got None, expected compact, which a bundled model reads" in said
    assert "collect ENV --profile compact" in said
    said = refused("mcp", "tiny")
    assert "--model: got 'tiny', expected a model that writes the observations of mcp in full" in said
    assert "of the bundled ones do: tiny-search for search" in said
    assert "domain: got 'mcp', expected search, which the bundled model tiny-search knows" in refused(
        "mcp", "tiny-search"
    )
    assert "form: got 'state', expected a model that writes screens" in refused("mcp", "tiny-mcp-state")


def test_judge_prompts_without_a_judge_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a")])
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "judge_system_prompt.txt").write_text("Judge.")
    command = ["eval", "bench", str(file), "--model", "http://localhost:1/v1", "--out", str(tmp_path / "run")]
    refused = CliRunner().invoke(app, [*command, "--judge-prompts", f"official:{tmp_path}"])
    assert refused.exit_code == 2 and "there is no judge to read them" in " ".join(refused.output.split())


# What survives


def test_failed_rows_are_kept_and_asked_again_on_demand(tmp_path: Path) -> None:
    first, asked = scripted(tmp_path)
    again, asked = scripted(tmp_path)
    assert asked == [] and again == first
    JUDGED_LATER = {"d": [verdict(format=5)], "f": [verdict(format=5)]}
    tasks = BenchRows((tmp_path / "rows.jsonl",))
    later: list[str] = []

    def say(request: ChatRequest) -> str:
        later.append(asked_of(request))
        return tagged("ok")

    third = run(tasks, tmp_path / "run", say, lambda request: JUDGED_LATER[asked_of(request)][0], retry_failed=True)
    assert later == ["f"] and third.judged is not None and third.judged.failures == {}
    assert third.tokens["judge"].prompt == first.tokens["judge"].prompt == 9000


def test_tokens_that_a_server_does_not_tell_of_are_unknown(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", [official("mcp", "a"), official("mcp", "b")])
    told = {"a": Usage(7, 3), "b": Usage(known=False)}

    def say(request: ChatRequest) -> Answer:
        return Completion(tagged("ok"), usage=told[asked_of(request)])

    for _ in range(2):  # The second run reads the records.
        found = run(BenchRows((file,)), tmp_path / "run", say, prices={"model": TokenPrices(1.0, 1.0)})
        assert found.tokens["model"] == PartyTokens(prompt=None, completion=None, cached=None)
    assert '<td class="number">unknown</td>' in page([found])


def test_what_failed_is_asked_again_under_other_seeds(tmp_path: Path) -> None:
    """An engine that honours seeds would fail again under the same ones."""
    file = written(tmp_path / "rows.jsonl", [official("mcp", "a"), official("mcp", "b")])
    rows, folder = BenchRows((file,)), tmp_path / "run"
    seeds: dict[str, list[int | None]] = {"a": [], "b": [], "judge": []}

    def say(request: ChatRequest) -> str:
        seeds[asked_of(request)].append(request.sampling.seed)
        return "" if len(seeds[asked_of(request)]) < 3 else tagged("ok")

    def judge(request: ChatRequest) -> str:
        if asked_of(request) == "a":
            seeds["judge"].append(request.sampling.seed)
        return "no verdict" if len(seeds["judge"]) < 5 else verdict(format=5)

    failures = []
    for _ in range(5):
        result = run(rows, folder, say, judge, retry_failed=True)
        assert result.judged is not None
        failures.append(dict(result.judged.failures))
    assert failures[0] == failures[1] == {"prediction/empty": 2}
    assert failures[2]["judge/malformed"] >= 1 and failures[3:] == [{}, {}]
    assert seeds["judge"] == [0, 1, 2, 3, 4]
    assert [len(set(seeds[name])) for name in "ab"] == [3, 3] and not set(seeds["a"]) & set(seeds["b"])


def test_a_request_that_a_generator_forgets_is_a_failure(tmp_path: Path) -> None:
    class Forgetful(ScriptedGenerator):
        def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
            return (pair for pair in super().submit(requests) if pair[0] != 1)

    file = written(tmp_path / "rows.jsonl", [official("mcp", name) for name in "abc"])
    model = Model(Forgetful(lambda _: tagged("ok")), overlap=False)
    with closing(BenchRun(BenchRows((file,)), model, None, tmp_path / "run")) as bench:
        assert bench.run().rows.failures == {"server": 1}


def test_another_judge_scores_the_same_predictions(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", [official("mcp", name) for name in "abc"])
    rows, folder = BenchRows((file,)), tmp_path / "run"
    run(rows, folder, lambda _: tagged("ok"))

    def refuse(request: ChatRequest) -> Answer:
        raise AssertionError("predicted again")

    def scored(name: str, score: int) -> BenchResult:
        scorer = Judge(ScriptedGenerator(lambda _: verdict(format=score), name=name), handle=name)
        bench = BenchRun(rows, Model(ScriptedGenerator(refuse, name="model"), handle="model"), scorer, folder)
        try:
            return bench.run()
        finally:
            bench.close()

    strict, mild = scored("strict", 1), scored("mild", 5)
    assert strict.judged and mild.judged and strict.judge and mild.judge
    assert (strict.judged.micro.as_zero.share, mild.judged.micro.as_zero.share) == (0, 100)
    assert strict.judge.digest != mild.judge.digest
    assert scored("strict", 3).judged == strict.judged  # its verdicts are still there


def verdicts_of(folder: Path) -> list[dict[str, Any]]:
    lines = [orjson.loads(line) for line in (folder / RECORDS).read_bytes().splitlines()]
    return [line for line in lines if line["stage"] == "verdict"]


def test_a_judge_at_another_address_is_another_judge(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    def chat(score: int) -> Any:
        async def say(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
            return answer(verdict(format=score) if is_judge(body) else tagged("ok"))

        return say

    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a"), official("mcp", "b")])
    model, strict, mild = serve(chat(0)), serve(chat(1)), serve(chat(5))
    command = ["eval", "bench", str(file), "--model", model.url, "--out", str(tmp_path / "run"), "--judge"]

    def score(judge: FaultServer) -> float:
        assert CliRunner().invoke(app, [*command, judge.url]).exit_code == 0
        found = BenchResult.read(tmp_path / "run" / RESULT)
        assert found.judged is not None and found.judged.micro.excluded is not None
        return found.judged.micro.excluded.share

    assert (score(strict), score(mild), score(strict)) == (0, 100, 0)
    assert [len(server.bodies) for server in (model, strict, mild)] == [2, 2, 2], "nothing is asked twice"


def test_two_records_with_one_id_and_other_histories_are_two_rows(tmp_path: Path) -> None:
    """AgentWorldBench has such rows; each is predicted, judged and counted, before an interruption or after it."""
    first, second = official("android", "7", turns=2), official("android", "7", turns=2)
    second["response"][0] = "**Environment Observation:**\nanother screen"
    file = written(tmp_path / "android_test.jsonl", [first, second])
    rows, folder = BenchRows((file,)), tmp_path / "run"
    asked: list[str] = []

    def say(request: ChatRequest) -> Answer:
        history = request.messages[-2]["content"]
        asked.append(history)
        if "another" in history and len(asked) <= 2:
            return Failure(FailureKind.CONNECTION, "interrupted", retryable=True)
        return tagged("ok" if "another" in history else "no")

    def judge(request: ChatRequest) -> Answer:
        return verdict(format=5 if "another screen" in request.messages[-1]["content"] else 1)

    interrupted = run(rows, folder, say, judge)
    assert interrupted.rows.failures == {"connection": 1}
    result = run(rows, folder, say, judge, retry_failed=True)
    assert len(asked) == 3 and len(set(asked)) == 2
    assert result.rows.count == 2 and result.matched.micro.measures["exact"].as_zero.share == 0.5
    assert result.judged is not None and result.judged.micro.as_zero.share == 50
    again = run(rows, folder, say, judge)
    assert again == result and len(asked) == 3


def test_every_reply_of_a_judge_is_kept_to_the_letter(tmp_path: Path) -> None:
    said = ["\tno verdict \r\n", f"<think>h\u2028m</think>\n {verdict(format=4)} <|im_end|>\n\n"]
    tries = iter(said)
    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a")])
    folder = tmp_path / "run"
    run(BenchRows((file,)), folder, lambda _: tagged("ok"), lambda _: Completion(next(tries), reasoning=" why\n"))
    (kept,) = verdicts_of(folder)
    assert [*kept["unread"], kept["completion"]] == said and kept["reasoning"] == " why\n" and kept["tries"] == 2


def test_a_reply_of_a_server_is_kept_as_it_came(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    said = f"  <|im_start|>{verdict(format=2)}<\\|im_end|>\n"

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer(said if is_judge(body) else tagged("ok"))

    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a")])
    command = ["eval", "bench", str(file), "--model", serve(chat).url, "--judge", "same", "--out"]
    assert CliRunner().invoke(app, [*command, str(tmp_path / "run")]).exit_code == 0
    assert [line["completion"] for line in verdicts_of(tmp_path / "run")] == [said]


def test_a_folder_belongs_to_one_model_one_sampling_and_some_rows(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", [official("mcp", "a")])
    run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("ok"))
    other = Model(ScriptedGenerator(lambda _: "", name="other"))
    with pytest.raises(SpecError, match="as the run in this folder has"):
        BenchRun(BenchRows((file,)), other, None, tmp_path / "run")
    written(file, [official("mcp", "b")])
    with pytest.raises(SpecError, match=r"run.json: rows"):
        run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("ok"))
    run(BenchRows((file,)), tmp_path / "cool", lambda _: tagged("ok"))
    with pytest.raises(SpecError, match=r"run.json: sampling.temperature: got 0.0, expected 0.6, as the run in this"):
        check_folder(tmp_path / "cool", BenchRows((file,)), replace(judging.BENCH_SAMPLING, temperature=0.0))
    with pytest.raises(SpecError, match=r"the run: got \{'turns': 'drawn', 'seed': 3\}, expected \{'turns': 'last'"):
        check_folder(tmp_path / "cool", BenchRows((file,), "drawn", seed=3), judging.BENCH_SAMPLING)
    (tmp_path / "run" / "run.json").write_bytes(b"")
    with pytest.raises(SpecError, match=r"run.json: .*JSON"):
        run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("ok"))


def test_a_judge_told_other_words_is_another_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(ScriptedGenerator(lambda _: ""))
    known = judge_digest(judge)
    assert judge_digest(judge) == known != judge_digest(replace(judge, tries=1))
    told = judging._system
    monkeypatch.setattr(judging, "_system", lambda domain: told(domain) + "!" * (domain == "swe"))
    assert judge_digest(judge) != known


def test_a_full_disk_gives_the_folder_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "rows.jsonl", [official("mcp", "a")])
    with monkeypatch.context() as full:

        def refuse(*_: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        full.setattr("agentworld_gym.base.documents.json_lines.os.write", refuse)
        with pytest.raises(TraceError, match="space"):
            run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("ok"))
    assert run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("ok")).rows.failures == {}


KILLED = """
import sys, time
from pathlib import Path
from agentworld_gym.evaluation.bench.runner import BenchRun, Model
from agentworld_gym.llm.judging.judge import Judge
from agentworld_gym.llm.judging.bench_rows import BenchRows
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.core.contracts import Completion, Usage

rows, folder, asked = map(Path, sys.argv[1:4])

def say(request):
    with asked.open("a") as file:
        file.write(request.messages[-1]["content"].split()[1] + "\\n")
    time.sleep(float(sys.argv[4]))
    return Completion("<predicted_observation>ok</predicted_observation>", usage=Usage(10, 1))

def judge(request):
    time.sleep(float(sys.argv[4]))
    return Completion('{"scores": {"format": 4}}', usage=Usage(10, 1))

model = Model(ScriptedGenerator(say, name="model"), handle="model")
scorer = Judge(ScriptedGenerator(judge, name="judge"), handle="judge")
bench = BenchRun(BenchRows((rows,)), model, scorer, folder, concurrency=2)
bench.run()
bench.close()
"""


def test_a_killed_run_goes_on_where_it_stood(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [official("mcp", f"row{n}") for n in range(40)])
    records, asked = tmp_path / "run" / RECORDS, tmp_path / "asked"

    def start(folder: str, pause: float) -> subprocess.Popen[bytes]:
        arguments = [str(rows), str(tmp_path / folder), str(asked), str(pause)]
        return subprocess.Popen([sys.executable, "-c", KILLED, *arguments])

    victim = start("run", 0.02)
    while not records.is_file() or records.read_bytes().count(b"\n") < 15:
        assert victim.poll() is None
        time.sleep(0.01)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    kept = {tuple(orjson.loads(line)["key"]) for line in records.read_bytes().splitlines()}
    with records.open("ab") as file:
        file.write(b'{"key": ["mcp", "row3')  # torn in the middle of a line
    assert start("run", 0).wait() == 0
    names = asked.read_text().split()
    assert set(names) == {f"row{n}" for n in range(40)}
    assert all(names.count(key[1]) == 1 for key in kept) and len(names) <= 42
    assert start("whole", 0).wait() == 0
    assert BenchResult.read(tmp_path / "run" / RESULT) == BenchResult.read(tmp_path / "whole" / RESULT)


# How fast


@pytest.fixture
def serve() -> Iterator[Callable[..., FaultServer]]:
    started: list[FaultServer] = []

    def start(chat: Any) -> FaultServer:
        started.append(FaultServer(chat))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def is_judge(body: dict[str, Any]) -> bool:
    return "final_evaluation" in body["messages"][0]["content"]


def test_as_many_requests_are_open_as_allowed(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    full, last = asyncio.Event(), asyncio.Event()

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        if server.open == 8:
            full.set()
        if len(server.bodies) == 30:
            last.set()
        # One slow answer holds up no other: all rows are sent before it comes.
        slow = "act row0 " in body["messages"][-1]["content"]
        await asyncio.wait_for((last if slow else full).wait(), 10)
        return answer(tagged("ok"))

    server = serve(chat)
    file = written(tmp_path / "rows.jsonl", [official("mcp", f"row{n}") for n in range(30)])
    generator = ServerGenerator(server.url, "m")
    bench = BenchRun(BenchRows((file,)), Model(generator), None, tmp_path / "run", concurrency=8)
    seen: list[Progress] = []
    result = bench.run(lambda progress: seen.append(Progress(progress.total, progress.done, progress.failed)))
    bench.close()
    generator.close()
    assert result.rows.failures == {} and server.most_open == 8
    sent = sorted(orjson.dumps(body["messages"]) for body in server.bodies)
    assert sent == sorted(orjson.dumps(list(row.request)) for row in BenchRows((file,)))
    assert [state.done for state in seen] == sorted(state.done for state in seen) and seen[-1].done == 30


def test_a_row_is_judged_while_others_are_predicted(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    judged = asyncio.Event()

    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        if is_judge(body):
            judged.set()
            return answer(verdict(format=5))
        if "slow" in body["messages"][-1]["content"]:
            await asyncio.wait_for(judged.wait(), 10)
        return answer(tagged("ok"))

    file = written(tmp_path / "rows.jsonl", [official("mcp", "slow"), official("mcp", "fast")])
    generator = ServerGenerator(serve(chat).url, "m")
    bench = BenchRun(BenchRows((file,)), Model(generator), Judge(generator), tmp_path / "run")
    result = bench.run()
    bench.close()
    generator.close()
    assert result.judged is not None and result.judged.failures == {}
    assert result.judged.micro.as_zero.share == 100


# From the command line


def test_the_command_runs_goes_on_and_refuses(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer(verdict(format=3) if is_judge(body) else tagged("ok"))

    server = serve(chat)
    written(tmp_path / "mcp_test.jsonl", [official("mcp", "a"), official("mcp", "b")])
    command = ["eval", "bench", str(tmp_path), "--model", server.url, "--out", str(tmp_path / "run")]
    first = CliRunner().invoke(app, [*command, "--judge", "same", "--price", "1,2"])
    assert first.exit_code == 0, first.output
    assert "50.0" in first.output and "macro" in first.output and len(server.bodies) == 4
    page = (tmp_path / "run" / "result.html").read_text()
    for shown in (
        "Judged by",
        "macro mean of the domains",
        '<th class="number">format</th>',
        "Tokens",
        "price in dollars",
    ):
        assert shown in page
    assert CliRunner().invoke(app, [*command, "--judge", "same"]).exit_code == 0 and len(server.bodies) == 4
    for other in ("temperature=0", "top_p=1.0"):  # what a server is sent by name is another sampling
        refused = CliRunner().invoke(app, [*command, "--sampling", other])
        assert refused.exit_code == 2 and "another folder" in " ".join(refused.output.split())
    for wrong in (
        ["--price", "cheap"],
        ["--turns", "some"],
        ["--sampling", "heat=1"],
        ["--domain", "web"],
        ["--price", "nan,1"],
        ["--generator", "extra_body=user"],
    ):
        assert CliRunner().invoke(app, [*command, *wrong]).exit_code == 2, wrong


def test_a_server_is_sent_what_the_official_run_sends_and_a_seed(
    tmp_path: Path, serve: Callable[..., FaultServer]
) -> None:
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer(verdict(format=3) if is_judge(body) else tagged("ok"))

    server = serve(chat)
    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a")])
    command = ["eval", "bench", str(file), "--model", server.url, "--judge", "same", "--out"]
    assert CliRunner().invoke(app, [*command, str(tmp_path / "official")]).exit_code == 0
    sent = {"model", "messages", "max_tokens", "temperature", "seed"}
    assert [set(body) for body in server.bodies] == [sent, sent]
    server.bodies.clear()
    mine = ["--sampling", "top_p=0.9", "--judge-sampling", "thinking=false", "--generator", 'extra_body={"seed":null}']
    assert CliRunner().invoke(app, [*command, str(tmp_path / "mine"), *mine]).exit_code == 0
    predicted, judged = server.bodies
    assert set(predicted) == sent - {"seed"} | {"top_p"} and predicted["top_p"] == 0.9
    assert set(judged) == sent - {"seed"} | {"chat_template_kwargs"}


def test_a_result_states_only_what_was_sent(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer(verdict(format=3) if is_judge(body) else tagged("ok"))

    server = serve(chat)
    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a")])
    command = ["eval", "bench", str(file), "--model", server.url, "--judge", "same"]

    def stated(name: str, *more: str) -> tuple[dict[str, Any], dict[str, Any]]:
        out = tmp_path / name
        assert CliRunner().invoke(app, [*command, "--out", str(out), *more]).exit_code == 0
        found = BenchResult.read(out / RESULT)
        assert found.judge is not None and json.loads((out / "run.json").read_text())["model"] == json.loads(
            found.model.model_dump_json()
        )
        return found.model.sampling, found.judge.sampling

    official_run = {"temperature": 0.6, "max_tokens": 32768}
    assert stated("official") == (official_run, official_run)
    asked = ["--sampling", "top_p=0.9", "--judge-sampling", "thinking=false", "--sampling", "top_k=5"]
    assert stated("asked", *asked) == (
        official_run | {"top_p": 0.9, "top_k": 5},
        official_run | {"thinking": False},
    )
    wired = ["--generator", 'extra_body={"temperature":0.1,"max_tokens":null}', "--judge-sampling", "max_tokens=9"]
    assert stated("wired", *wired)[0] == {"temperature": 0.1}
    assert stated("official") == (official_run, official_run)  # the folder of before is gone on with
    refused = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "official"), "--sampling", "top_k=5"])
    assert refused.exit_code == 2


@pytest.mark.parametrize(("failing", "code"), [(0, 0), (1, 0), (2, 1), (20, 1)])
def test_more_than_one_failed_row_in_twenty_ends_the_command_as_failed(
    tmp_path: Path, serve: Callable[..., FaultServer], failing: int, code: int
) -> None:
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        number = int(body["messages"][-1]["content"].rpartition("act row")[2].split()[0])
        if is_judge(body):
            return answer("no verdict" if number == failing - 1 else verdict(format=3))
        return answer("" if number < failing - 1 else tagged("ok"))

    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", f"row{n}") for n in range(20)])
    command = [
        "eval",
        "bench",
        str(file),
        "--model",
        serve(chat).url,
        "--judge",
        "same",
        "--out",
        str(tmp_path / "run"),
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == code, done.output
    assert (tmp_path / "run" / RESULT).is_file() and (tmp_path / "run" / "result.html").is_file()
    said = " ".join(done.output.split())
    assert (f"{failing} of 20 rows failed" in said and "--retry-failed" in said) is (code == 1)


def test_a_judge_that_is_not_there_is_named_by_its_option(tmp_path: Path) -> None:
    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", "a")])
    command = ["eval", "bench", str(file), "--model", "http://localhost:9/v1", "--out", str(tmp_path / "run")]
    refused = CliRunner().invoke(app, [*command, "--judge", "tiny"])
    assert refused.exit_code == 2 and "--judge: got 'tiny'" in " ".join(refused.output.split())


def test_the_table_says_which_domains_the_macro_mean_lacks(tmp_path: Path, serve: Callable[..., FaultServer]) -> None:
    async def chat(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.Response:
        return answer("" if "You are swe." in body["messages"][0]["content"] else tagged("ok"))

    file = written(tmp_path / "rows.jsonl", [official(task, "a") for task in ("mcp", "swe", "web")])
    done = CliRunner().invoke(
        app, ["eval", "bench", str(file), "--model", serve(chat).url, "--out", str(tmp_path / "run")]
    )
    assert "macro is the mean of 2 of 3 domains; every row of swe failed" in " ".join(done.output.split())
