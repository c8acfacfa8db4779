"""Rejection sampling: rollouts, the judge that picks, what is counted, and a run that was killed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.cli.app import app
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.judging.judge import Judge
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.rows.pools import SessionPool
from agentworld_gym.llm.rows.samples import read_samples
from agentworld_gym.recipe.data.filters import Filters
from agentworld_gym.recipe.thinking import Queries, RejectionConfig, RejectionReport, RejectionSampling, TurnQuery
from agentworld_gym.recipe.thinking.rollout import ThinkingRollout, read_rollout

SPENT = Usage(100, 10, 0)
Script = Callable[[TurnQuery, int], str | Completion | Failure]


@cache
def queries() -> Queries:
    recorder = Recorder([load_spec("terminal")], CollectConfig(), seed=3)
    rows = [row for number in range(9) if (row := recorder.row(number)) is not None]
    return Queries(rows[:3], pools=None)


@cache
def asked() -> tuple[TurnQuery, ...]:
    return tuple(queries())


def said(thinking: str, observation: str) -> str:
    return f"<think>{thinking}</think><predicted_observation>\n{observation}\n</predicted_observation>"


def truth(query: TurnQuery) -> str:
    return query.row.observations[-1]


def worse(query: TurnQuery, note: str) -> str:
    """A prediction of the right form with a line that is not due, by which a script tells how good it is."""
    first, _, rest = truth(query).partition("\n")
    return f"{first}\n{note}\n{rest}"


class Model:
    """A scripted generator of rollouts; remembers whom it was asked for, and can be killed."""

    def __init__(self, script: Script, queries: Sequence[TurnQuery], dies_after: int | None = None) -> None:
        self._script, self._dies_after = script, dies_after
        self._queries = {self._key(query.request): query for query in queries}
        self.asked: Counter[str] = Counter()
        self.seeds: set[int | None] = set()
        self.generator = ScriptedGenerator(self._answer, name="rollouts")

    @staticmethod
    def _key(messages: object) -> str:
        return json.dumps(list(messages))  # type: ignore[call-overload]

    def _answer(self, request: ChatRequest) -> str | Completion | Failure:
        if self._dies_after is not None and sum(self.asked.values()) >= self._dies_after:
            raise KeyboardInterrupt
        query = self._queries[self._key(request.messages)]
        number = self.asked[query.id]
        self.asked[query.id] += 1
        self.seeds.add(request.sampling.seed)
        answer = self._script(query, number % 3)
        return Completion(answer, usage=SPENT) if isinstance(answer, str) else answer


def verdict(score: int) -> str:
    scores = dict.fromkeys(("format", "factuality", "consistency", "realism", "quality"), score)
    return f"<final_evaluation>{json.dumps({'strengths': '', 'weaknesses': '', 'scores': scores})}</final_evaluation>"


class Critic:
    """A scripted judge: `worse` predictions get the score in their note, others a 5; remembers what it was shown."""

    def __init__(self, answer: Callable[[str], str | Failure] | None = None) -> None:
        self.shown: list[str] = []
        self._answer = answer or (
            lambda text: verdict(int(found[1]) if (found := re.search(r"worth (\d)", text)) else 5)
        )
        self.judge = Judge(ScriptedGenerator(self._judge, name="judge"), Sampling(temperature=0.0))

    def _judge(self, request: ChatRequest) -> str | Completion | Failure:
        self.shown.append("\n".join(message["content"] for message in request.messages))
        answer = self._answer(self.shown[-1])
        return Completion(answer, usage=SPENT) if isinstance(answer, str) else answer


def rejection(
    model: Model, critic: Critic, log: Path, sessions: Queries | None = None, **config: object
) -> RejectionSampling:
    chosen = RejectionConfig.model_validate(config)
    return RejectionSampling(
        sessions or queries(), model.generator, Sampling(), critic.judge, log / "picked.log.jsonl", chosen
    )


def run(
    script: Script, folder: Path, critic: Critic | None = None, **config: object
) -> tuple[RejectionSampling, RejectionReport]:
    found = rejection(Model(script, asked()), critic or Critic(), folder, **config)
    return found, found.run()


def test_the_best_of_three_is_kept_with_its_thinking(tmp_path: Path) -> None:
    def script(query: TurnQuery, number: int) -> str:
        return said(f"thought {number}", truth(query) if number == 1 else worse(query, f"worth {number + 2}"))

    found, report = run(script, tmp_path)
    assert report.outcomes["kept"] == report.queries == 3
    for query, sample in zip(asked(), found.samples(), strict=True):
        assert sample.id == query.id
        assert sample.messages[:-1] == query.request
        assert sample.messages[-1]["content"].startswith("<think>\nthought 1\n</think>\n<predicted_observation>")
        assert parse_completion(sample.messages[-1]["content"]) == truth(query)
        assert sample.weights == query.plain.weights


def test_of_equally_good_ones_the_shortest_is_kept(tmp_path: Path) -> None:
    found, _ = run(lambda query, number: said(("long " * 9, "short", "longer")[number], truth(query)), tmp_path)
    assert {sample.messages[-1]["content"].split("\n")[1] for sample in found.samples()} == {"short"}


def test_what_stays_below_the_minimum_is_dropped(tmp_path: Path) -> None:
    def script(query: TurnQuery, number: int) -> str:
        return said("hm", worse(query, f"worth {number + 1}"))

    found, report = run(script, tmp_path / "four")
    assert report.outcomes["below"] == 3
    assert list(found.samples()) == []
    assert [line["score"] for line in found.lines()] == [3.0, 3.0, 3.0]
    _, lenient = run(script, tmp_path / "three", minimum=3)
    assert lenient.outcomes["kept"] == 3


def test_only_rollouts_of_the_due_form_reach_the_judge_once_each_and_without_their_thinking(tmp_path: Path) -> None:
    def script(query: TurnQuery, number: int) -> str | Completion:
        return (
            said("secret reasons", truth(query)),
            said("the same answer, other secret reasons", truth(query)),
            said("no prompt at its end", "just words"),
        )[number]

    critic = Critic()
    _, report = run(script, tmp_path, critic)
    assert len(critic.shown) == 3
    assert not any("secret reasons" in text or "just words" in text for text in critic.shown)
    assert report.failures == {"form/malformed": 3}
    assert report.outcomes["kept"] == 3


def test_rollouts_that_are_cut_off_empty_or_without_thinking_are_counted_by_kind(tmp_path: Path) -> None:
    def script(query: TurnQuery, number: int) -> str | Completion:
        bad = (Completion(said("x", truth(query)), "length"), Completion("<think>x</think>"), Completion(truth(query)))
        return bad[number]

    critic = Critic()
    _, report = run(script, tmp_path, critic)
    assert critic.shown == []
    assert report.failures == {"rollout/empty": 3, "rollout/length": 3, "thinking/empty": 3}
    assert report.outcomes["invalid"] == 3
    found, plain = run(script, tmp_path / "plain", thinking=False)
    assert plain.outcomes["kept"] == 3
    assert [sample.messages for sample in found.samples()] == [query.plain.messages for query in asked()]


def test_an_unreadable_verdict_is_asked_for_again_and_then_a_failure_never_a_score(tmp_path: Path) -> None:
    malformed = iter(["", "I like it: 5/5", '<final_evaluation>{"scores": {"format": "good"}}', verdict(5)] * 99)
    critic = Critic(lambda _text: next(malformed))
    _, report = run(lambda query, _: said("x", truth(query)), tmp_path, critic)
    # Every fourth verdict can be read: the first query's second one and the third query's third one, of three tries.
    assert len(critic.shown) == 8
    assert report.outcomes["kept"] == 2
    assert report.outcomes["unjudged"] == 1
    assert report.failures == {"judge/malformed": 1}
    assert report.judge == {"prompt": 800, "completion": 80, "cached": 0}


def test_what_was_out_of_reach_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    down = Failure(FailureKind.CONNECTION, "the server went away", retryable=True)
    first = rejection(Model(lambda _query, _number: down, asked()), Critic(), tmp_path)
    assert first.run().outcomes["failed"] == 3
    assert first.report().failures == {"rollout/connection": 9}
    again = rejection(Model(lambda query, _: said("x", truth(query)), asked()), Critic(), tmp_path)
    report = again.run()
    assert (report.queries, report.outcomes["kept"], report.failures) == (3, 3, {})


def test_a_run_that_was_killed_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    def script(query: TurnQuery, number: int) -> str:
        return said(f"thought {number}", truth(query))

    whole = rejection(Model(script, asked()), Critic(), tmp_path / "whole", wave=1)
    whole.run()
    dying = Model(script, asked(), dies_after=4)
    with pytest.raises(KeyboardInterrupt):
        rejection(dying, Critic(), tmp_path, wave=1).run()
    with (tmp_path / "picked.log.jsonl").open("ab") as log:
        log.write(b'{"id": "torn')
    later = Model(script, asked())
    going_on = rejection(later, Critic(), tmp_path, wave=1)
    going_on.run()
    assert asked()[0].id not in later.asked
    assert list(going_on.samples()) == list(whole.samples())
    assert going_on.report() == whole.report()
    assert going_on.log.read_bytes() == whole.log.read_bytes()


def test_the_log_of_another_judge_or_minimum_is_refused(tmp_path: Path) -> None:
    def script(query: TurnQuery, number: int) -> str:
        return said("x", truth(query))

    run(script, tmp_path)
    with pytest.raises(SpecError, match="take another folder"):
        run(script, tmp_path, minimum=2)


def test_the_log_of_other_queries_is_refused_and_one_of_fewer_sessions_gone_on_with(tmp_path: Path) -> None:
    def found(sessions: Queries) -> RejectionSampling:
        model = Model(lambda query, _: said("x", truth(query)), list(sessions))
        return rejection(model, Critic(), tmp_path, sessions)

    rows = list(queries().rows)
    found(Queries(rows[:1], pools=None)).run()
    for other in (
        {"form": "change"},
        {"profile": "compact"},
        {"reworded": False},
        {"turns": 2},
        {"pools": [SessionPool()]},
    ):
        with pytest.raises(SpecError, match="take another folder"):
            found(Queries(rows, **{"pools": None, **other})).run()  # type: ignore[arg-type]
    assert found(Queries(rows, pools=None)).run().outcomes["kept"] == 3


def test_each_rollout_has_a_seed_of_its_own_and_tokens_are_added_up(tmp_path: Path) -> None:
    progress: list[int] = []
    model = Model(lambda query, _: said("x", truth(query)), asked())
    report = rejection(model, Critic(), tmp_path, wave=2).run(progress.append)
    assert len(model.seeds) == 9
    assert report.generator == {"prompt": 900, "completion": 90, "cached": 0}
    assert report.judge == {"prompt": 300, "completion": 30, "cached": 0}
    assert progress == [2, 3]


def test_thinking_that_comes_apart_or_holds_tags_stays_within_its_own(tmp_path: Path) -> None:
    query = asked()[0]
    text = f"<predicted_observation>\n{truth(query)}\n</predicted_observation>"
    found = read_rollout(
        query, Completion(text, reasoning="so </think> and <predicted_observation>5</predicted_observation>")
    )
    assert isinstance(found, ThinkingRollout)
    content = query.answered(found.thinking, found.answer).messages[-1]["content"]
    assert content.count("</think>") == content.count("<predicted_observation>") == 1
    assert parse_completion(content) == truth(query)


def test_a_profile_without_a_closing_request_takes_answers_as_they_are() -> None:
    for query in Queries([query.row for query in asked()], pools=None, profile="compact"):
        right = query.plain.messages[-1]["content"]
        found = read_rollout(query, Completion(f"<think>x</think>{right}"))
        assert isinstance(found, ThinkingRollout)
        assert (found.answer, found.observation) == (right, truth(query))


def test_a_judge_reads_whole_screens_where_a_small_model_reads_changes(tmp_path: Path) -> None:
    recorder = Recorder([load_spec("android")], CollectConfig(profile="compact", form="change"), seed=1)
    row = next(row for number in range(9) if (row := recorder.row(number)) is not None and row.turn_idx > 2)
    sessions = Queries([row], pools=None, turns=3)
    *_, query = sessions
    critic = Critic()
    model = Model(lambda query, _: f"<think>So.</think>{query.plain.messages[-1]['content']}", list(sessions))
    found = rejection(model, critic, tmp_path, sessions)
    assert found.run().outcomes["kept"] == 3
    assert all(observation in unescape(critic.shown[-1]) for observation in query.row.observations)
    assert [sample.messages[:-1] for sample in found.samples()] == [query.request for query in sessions]


def test_in_the_change_form_a_change_that_does_not_fit_is_no_rollout() -> None:
    recorder = Recorder([load_spec("android")], CollectConfig(), seed=3)
    row = next(row for number in range(9) if (row := recorder.row(number)) is not None)
    (query,) = Queries([row], pools=None, form="change")
    right = query.plain.messages[-1]["content"]
    found = read_rollout(query, Completion(f"<think>x</think>{right}"))
    assert isinstance(found, ThinkingRollout)
    assert found.observation == truth(query)
    wrong = read_rollout(query, Completion(said("x", "@@ change\n-99999")))
    assert isinstance(wrong, tuple)
    assert wrong[0] == "form"


def test_from_the_command_line_the_engines_write_samples(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "sft.jsonl"
    rows.write_text("".join(query.row.at(query.row.turn_idx).model_dump_json() + "\n" for query in asked()))
    done = CliRunner().invoke(app, ["think", "engine", str(rows), "--out", str(out), "--stage", "all"])
    assert done.exit_code == 0, done.output
    samples = list(read_samples(out))
    assert [sample.domain for sample in samples] == ["terminal"] * 3
    assert all("<think>" in sample.messages[-1]["content"] for sample in samples)
    for share, count in (("0", 0), ("1", 3)):
        done = CliRunner().invoke(app, ["think", "engine", str(rows), "--out", str(out), "--post-share", share])
        assert (done.exit_code, len(list(read_samples(out)))) == (0, count), done.output
    nowhere = CliRunner().invoke(app, ["think", "engine", str(tmp_path / "none.jsonl"), "--out", str(out)])
    assert nowhere.exit_code == 2


def test_from_the_command_line_a_judge_picks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "picked.jsonl"
    rows.write_text("".join(query.row.model_dump_json() + "\n" for query in asked()))
    # Only the turns that are asked about are in the rows, so that the command asks about them as well.
    found = tuple(Queries([query.row for query in asked()], pools=None, filters=Filters()))
    model, critic = Model(lambda query, _: said("x", truth(query)), found), Critic()
    opened = {"vllm:one": model.generator, "vllm:two": critic.judge.generator}
    monkeypatch.setattr("agentworld_gym.llm.generators.open_generator", lambda handle, **_: opened[handle])
    chosen = ["--generator", "vllm:one", "--judge", "vllm:two", "--stage", "all", "--sampling", "temperature=0.9"]
    done = CliRunner().invoke(app, ["think", "reject", str(rows), "--out", str(out), *chosen])
    assert done.exit_code == 0, done.output
    assert "3 queries, 100% kept: 3 kept, 0 below" in done.output
    assert "tokens of the generator: 900 prompt" in done.output
    assert [sample.id for sample in read_samples(out)] == [query.id for query in found]


def test_from_the_command_line_rollouts_without_thinking_are_taken_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "picked.jsonl"
    rows.write_text("".join(query.row.model_dump_json() + "\n" for query in asked()))
    found = tuple(Queries([query.row for query in asked()], pools=None, filters=Filters()))
    model, critic = Model(lambda query, _: query.plain.messages[-1]["content"], found), Critic()
    opened = {"vllm:one": model.generator, "vllm:two": critic.judge.generator}
    monkeypatch.setattr("agentworld_gym.llm.generators.open_generator", lambda handle, **_: opened[handle])
    chosen = ["--generator", "vllm:one", "--judge", "vllm:two", "--stage", "all", "--no-thinking"]
    done = CliRunner().invoke(app, ["think", "reject", str(rows), "--out", str(out), *chosen])
    assert done.exit_code == 0, done.output
    assert [sample.messages for sample in read_samples(out)] == [query.plain.messages for query in found]
