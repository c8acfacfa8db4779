"""What counts as a verdict: as lenient as the benchmark's own reader where a result is due, strict for a reward."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench_runs import asked_of, official, run, tagged, verdict, written
from hypothesis import given
from hypothesis import strategies as st
from worlds import dream, make, predicted

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.judging.bench_rows import BenchRows
from agentworld_gym.llm.prompting.parsing import DIMENSIONS, parse_judgement, parse_verdict

ALL_5, ALL_1 = (verdict(**dict.fromkeys(DIMENSIONS, score)) for score in (5, 1))
QUOTED = json.dumps({"scores": dict.fromkeys(DIMENSIONS, 5)})
OPEN, CLOSE = "<final_evaluation>", "</final_evaluation>"


def block(scores: str, before: str = "", after: str = "") -> str:
    return f'{OPEN}{before}{{"strengths": "", "weaknesses": "", "scores": {scores}}}{after}{CLOSE}'


# The last object with scores, in the last block

WORST = json.dumps({"weaknesses": f"It's wrong, and says {QUOTED}.", "scores": dict.fromkeys(DIMENSIONS, 1)})
MISLED = {
    "before the verdict": f"{OPEN}The prediction holds {QUOTED}. So:\n{WORST}{CLOSE}",
    "in an earlier block": f"It says {OPEN}{QUOTED}{CLOSE}. {OPEN}{WORST}{CLOSE}",
    "in an earlier fence": f"{OPEN}\n```json\n{QUOTED}\n```\n```json\n{WORST}\n```\n{CLOSE}",
    "in an object of its own": f"{OPEN}{{'evidence': {QUOTED}}}\n{WORST}{CLOSE}",
    "in a weakness, in single quotes": OPEN + WORST.replace(r"\"", "'") + CLOSE,
    "behind a brace and a quote that nobody closes": f"{OPEN}{{ 'It holds {QUOTED}\n{WORST}{CLOSE}",
}
"""Where a judge quotes five scores of 5 that a prediction holds, and gives five scores of 1."""


@pytest.mark.parametrize("answer", MISLED.values(), ids=MISLED)
def test_scores_that_a_judge_quotes_are_not_its_verdict(answer: str) -> None:
    found = parse_judgement(answer, DIMENSIONS)
    assert found is not None and found.score == 0.0
    strict = parse_verdict(answer, DIMENSIONS)
    assert strict is None or strict.score == 0.0


def test_a_benchmark_takes_the_last_scores_of_the_last_block(tmp_path) -> None:
    file = written(tmp_path / "mcp_test.jsonl", [official("mcp", name) for name in "ab"])
    answers = {"a": MISLED["before the verdict"], "b": ALL_1}
    result = run(BenchRows((file,)), tmp_path / "run", lambda _: tagged("ok"), lambda asked: answers[asked_of(asked)])
    assert result.judged is not None and result.judged.micro.as_zero.share == 0


@pytest.mark.parametrize("broken", ['{"scores": {"format": NaN}}', '{"scores": {"format": 1', "{'scores': ?}"])
def test_a_last_verdict_that_cannot_be_read_is_not_replaced_by_an_earlier_one(broken: str) -> None:
    assert parse_judgement(f"{OPEN}{QUOTED} {broken}{CLOSE}", DIMENSIONS) is None


# What the official reader reads

READ = {
    "trailing commas": block('{"format": 4, "quality": 2,}', after=" "),
    "single quotes": OPEN
    + "{'strengths': 'it''s', 'scores': {'format': 4, 'quality': 2}}".replace("''", "\\'")
    + CLOSE,
    "unquoted keys": OPEN + "{strengths: [], scores: {format: 4, quality: 2}}" + CLOSE,
    "words behind a score": block('{"format": "4/5 - good", "quality": "2 / 5, poor"}'),
    "a plus sign": block('{"format": "+4", "quality": +2}'),
    "a fence": f'{OPEN}\n```json\n{{"scores": {{"format": 4, "quality": 2}}}}\n```\n{CLOSE}',
    "several fences": '```json\n{"a": 1}\n```\n```\n{"scores": {"format": 4, "quality": 2}}\n```',
    "open thinking": f"<think>Well {ALL_5} or rather " + block('{"format": 4, "quality": 2}'),
    "quotes in quotes": OPEN + '{"strengths": "it says "hello" twice", "scores": {"format": 4, "quality": 2}}' + CLOSE,
    "a line break in a string": block('{"format": 4, "quality": 2}').replace('"strengths": ""', '"strengths": "a\nb"'),
    "no block": '{"scores": {"format": 4, "quality": 2}} is my verdict.',
}


@pytest.mark.parametrize("answer", READ.values(), ids=READ)
def test_a_benchmark_reads_what_the_official_reader_reads(answer: str) -> None:
    found = parse_judgement(answer, DIMENSIONS)
    assert found is not None and found.scores == {"format": 4, "quality": 2}


ERRS = [
    '{"format": 1e400, "quality": 4}',
    '{"format": -1e400, "quality": 4}',
    '{"format": "1e400", "quality": 4}',
    '{"format": {"score": 1e400}, "quality": 4}',
    '{"format": NaN, "quality": 4}',
    '{"format": Infinity, "quality": 4}',
    '{"format": NaN}',
    '{"format": Infinity}',
    '{"format": 1e999}',
    "{}",
    '{"format": 0, "quality": 0}',
    '{"format": "4/10"}',
]


@pytest.mark.parametrize("scores", ERRS)
def test_what_is_no_score_is_no_verdict(scores: str) -> None:
    assert parse_judgement(block(scores), DIMENSIONS) is None


FLAT = {
    "one score without `scores`": '{"format": 4}',
    "five scores without `scores`": json.dumps(dict.fromkeys(DIMENSIONS, 4)),
    "scores beside reasons, without `scores`": '{"strengths": "s", "format": 4, "quality": 2}',
    "in a block": f'{OPEN}{{"format": 4}}{CLOSE}',
}


@pytest.mark.parametrize("answer", FLAT.values(), ids=FLAT)
def test_an_object_without_scores_is_no_verdict(answer: str) -> None:
    assert parse_judgement(answer, DIMENSIONS) is None and parse_judgement(answer) is None


@pytest.mark.parametrize(
    "answer", ["A verdict: </final_evaluation>{}", "{}</final_evaluation>", "x</final_evaluation>\n{}"]
)
def test_a_verdict_beside_a_closing_tag_that_nothing_opened_is_read(answer: str) -> None:
    found = parse_judgement(answer.replace("{}", '{"scores": {"format": 4}}'), DIMENSIONS)
    assert found is not None and found.scores == {"format": 4}


def test_a_negative_score_is_the_lowest_and_not_left_out() -> None:
    found = parse_judgement(block('{"format": -3, "quality": 5}'), DIMENSIONS)
    assert found is not None and found.scores == {"format": 1, "quality": 5}


# What a reward needs

WHOLE = json.dumps(dict.fromkeys(DIMENSIONS, 4))
REFUSED = {
    "two blocks": ALL_1 + ALL_5,
    "two objects in the block": f"{OPEN}{QUOTED}\n{QUOTED}{CLOSE}",
    "one dimension of five": block('{"format": 5}'),
    "a dimension of zero": block(WHOLE.replace("4", "0", 1)),
    "another scale": block(WHOLE.replace("4", "7", 1)),
    "another scale, in all": block(WHOLE.replace("4", "40")),
    "out of ten": block(WHOLE.replace("4", '"4/10"', 1)),
    "below the scale": block(WHOLE.replace("4", "-1", 1)),
    "between two scores": block(WHOLE.replace("4", "4.5", 1)),
    "infinite": block(WHOLE.replace("4", "Infinity")),
    "no number": block(WHOLE.replace("4", "NaN", 1)),
    "yes": block(WHOLE.replace("4", "true", 1)),
    "400 digits": block(WHOLE.replace("4", "9" * 400)),
    "scores twice": block(WHOLE + ', "scores": ' + WHOLE),
    "a dimension twice": block('{"format": 1, ' + WHOLE[1:]),
    "a dimension twice, in other letters": block('{"Format ": 5, ' + WHOLE[1:]),
    "at the top": OPEN + WHOLE + CLOSE,
    "prose alone": "I like it: 5/5",
    "an object within prose": f"I say {QUOTED}, all in all.",
}


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
def test_a_reward_takes_one_block_with_every_score_from_1_to_5(answer: str) -> None:
    assert parse_verdict(answer, DIMENSIONS) is None


@pytest.mark.parametrize(
    "answer",
    [
        block(WHOLE),
        "<think>hm</think>\n" + block(WHOLE),
        f'{{"scores": {WHOLE}}}\n',
        block(WHOLE)[: -len(CLOSE)],
        block(WHOLE.replace("4", '"4/5"')),
        f'{OPEN}\n```json\n{{"scores": {WHOLE}}}\n```\n{CLOSE}',
    ],
)
def test_a_whole_verdict_is_a_reward(answer: str) -> None:
    found = parse_verdict(answer, DIMENSIONS)
    assert found is not None and found.scores == dict.fromkeys(DIMENSIONS, 4)


@pytest.mark.parametrize("name", ["scores twice", "a dimension twice", "a dimension twice, in other letters"])
def test_a_key_that_stands_twice_is_no_verdict_anywhere(name: str) -> None:
    assert parse_judgement(REFUSED[name], DIMENSIONS) is None


# Nothing raises

PIECES = [
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ",",
    ":",
    "scores",
    '"scores"',
    "format",
    "1",
    "9" * 5000,
    "1e999",
    "NaN",
    "\\",
    "\ud800",
    "\n",
    OPEN,
    CLOSE,
    "<think>",
    "```json",
    "+",
    "-",
    "/5",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join))
def test_no_answer_of_a_judge_raises(answer: str) -> None:
    for text in (answer, f"{OPEN}{answer}{CLOSE}", block(answer)):
        parse_judgement(text)
        parse_judgement(text, DIMENSIONS)
        parse_verdict(text, DIMENSIONS)


@pytest.mark.parametrize(
    "piece", ["{", "[", '{"a":', "{'a':[", '{"scores":', '{"', "{'", "}{", '"scores":', "{a:1,", "\\", "'", "9"]
)
def test_a_megabyte_of_anything_is_read_in_moments(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    parse_judgement(text, DIMENSIONS)
    parse_verdict(OPEN + text, DIMENSIONS)


@pytest.mark.parametrize("score", ["9" * 400, "Infinity", "NaN", "-" + "9" * 400])
def test_a_score_of_any_size_leaves_the_episode_whole(score: str) -> None:
    def answer(request):
        asked = any("final_evaluation" in message["content"] for message in request.messages)
        return f'{OPEN}{{"scores": {{"1": {score}}}}}{CLOSE}' if asked else predicted("hello\ndev@box:~$")

    env = make(world=dream(f"judging_{abs(hash(score))}", answer))
    env.reset(seed=1, options={"task": {"instruction": "Be polite.", "success": [{"rubric": "Is the agent polite?"}]}})
    info = env.step("finish")[4]
    assert "success" not in info and "the judge failed" in info["failure"]["message"]


POLITE = {"instruction": "Be polite.", "success": [{"rubric": "Is the agent polite?"}]}


def test_without_a_judge_a_rubric_is_played_and_has_no_verdict() -> None:
    env = make(world="grounded", judge="none")
    env.reset(seed=1, options={"task": POLITE})
    assert env.step("ls")[1:4] == (-0.01, False, False)
    *ended, info = env.step("finish")
    assert ended[1:] == [0.0, False, True] and not {"success", "score"} & info.keys()
    assert (info["failure"]["kind"], info["failure"]["retryable"]) == ("unjudged", False)
    env.close()


def test_a_rubric_that_the_world_cannot_judge_is_refused() -> None:
    env = make(world="grounded")
    with pytest.raises(AgentWorldError, match="scored by a rubric"):
        env.reset(seed=1, options={"task": POLITE})
    env.close()


def test_a_trace_of_a_rubric_is_played_again_without_a_judge(tmp_path: Path) -> None:
    def polite(request: ChatRequest) -> str:
        """Judge, or play a shell."""
        asked = any("final_evaluation" in message["content"] for message in request.messages)
        return f'{OPEN}{{"scores": {{"1": 5}}}}{CLOSE}' if asked else predicted("hello\ndev@box:~$")

    judged = make(world=dream("polite", polite), traces=str(tmp_path))
    judged.reset(seed=1, options={"task": POLITE})
    judged.step("echo hello")
    assert judged.step("finish")[4]["success"]
    judged.close()
    runner = EnvOptions(spec="terminal", world="polite", judge="none").runner()
    [found] = replay(tmp_path, runner)
    assert found.turns == 2 and not found.departures
    runner.close()
