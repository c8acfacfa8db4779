"""Ablations: what the arms learn from, when an answer counts as exact, and the table that compares them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from agentworld_gym.contracts import Completion, Failure, FailureKind  # noqa: E402
from agentworld_gym.domain.spec import load_spec  # noqa: E402
from agentworld_gym.errors import SpecError  # noqa: E402
from agentworld_gym.recipe.ablations import study  # noqa: E402
from agentworld_gym.recipe.ablations.arms import ARMS, ArmData, arms_for  # noqa: E402
from agentworld_gym.recipe.ablations.study import AblationStudy, smoke  # noqa: E402
from agentworld_gym.recipe.ablations.table import (  # noqa: E402
    AblationConfig,
    ArmResult,
    Table,
    TurnOutcome,
    comparison_table,
    markdown,
)
from agentworld_gym.recipe.collect.recorder import Recorder  # noqa: E402
from agentworld_gym.recipe.config_files import load_config  # noqa: E402
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, wrap  # noqa: E402
from agentworld_gym.recipe.data.tokenization import SampleTokenizer  # noqa: E402
from agentworld_gym.recipe.training.exact_match import exact_answers  # noqa: E402
from agentworld_gym.recipe.training.stage_config import CptConfig  # noqa: E402
from agentworld_gym.retrieval.build import build_index  # noqa: E402
from agentworld_gym.retrieval.index import StepIndex  # noqa: E402
from agentworld_gym.retrieval.steps import steps_of  # noqa: E402
from agentworld_gym.sessions.row import Row  # noqa: E402
from agentworld_gym.sessions.samples import Sample  # noqa: E402

torch.set_num_threads(1)
RECIPE = load_config("search", CptConfig)
SMOKE = smoke(RECIPE, ("terminal",))
TOKENIZER = wrap(build_tokenizer(["user ls a.txt b.txt c.txt pwd /srv"] * 9, 400), 1024)


@cache
def rows() -> list[Row]:
    """Sessions of a domain of texts and of one of screens."""
    settings = smoke(RECIPE).recipe.collect
    recorder = Recorder([load_spec(domain) for domain in ("terminal", "android")], settings, seed=2)
    return [row for number in range(8) if (row := recorder.row(number)) is not None]


@cache
def index() -> StepIndex:
    return build_index(rows(), Path(mkdtemp()) / "index")


def learned(arm: str) -> list[Sample]:
    return list(ArmData(ARMS[arm], index(), turns=2).learned(rows()))


def answers(sample: Sample) -> list[str]:
    return [message["content"] for message in sample.messages if message["role"] == "assistant"]


def test_plain_loss_differs_from_the_base_in_weights_alone():
    for base, plain in zip(learned("base"), learned("plain"), strict=True):
        assert base.messages == plain.messages
        assert set(plain.weights) == {1.0}
    assert any(set(sample.weights) != {1.0} for sample in learned("base"))


def test_without_state_only_the_system_message_differs():
    for base, bare in zip(learned("base"), learned("stateless"), strict=True):
        assert base.messages[1:] == bare.messages[1:]
        assert len(bare.messages[0]["content"]) < len(base.messages[0]["content"])


def test_the_change_form_writes_screens_shorter_and_nothing_else_otherwise():
    changed, whole = learned("base"), learned("full")
    for one, other in zip(changed, whole, strict=True):
        if one.domain == "terminal":
            assert one.messages == other.messages
    shorter = [sum(map(len, answers(s))) for s in changed if s.domain == "android"]
    longer = [sum(map(len, answers(s))) for s in whole if s.domain == "android"]
    assert all(one < other for one, other in zip(shorter, longer, strict=True))


def test_thinking_and_retrieval_differ_from_single_turns_where_they_should_alone():
    turns = {sample.id: sample for sample in learned("turns")}
    assert {sample.domain for sample in turns.values()} == {"terminal", "android"}
    assert all(sample.weights[-1] == 1 and not any(sample.weights[:-1]) for sample in turns.values())
    for sample in learned("thinking"):
        plain = turns[sample.id]
        assert sample.messages[:-1] == plain.messages[:-1]
        assert sample.messages[-1]["content"].startswith("<think>")
        assert sample.messages[-1]["content"].endswith(plain.messages[-1]["content"])
    shown = learned("retrieval")
    assert {sample.id for sample in shown} == set(turns)
    for sample in shown:
        plain = turns[sample.id]
        assert sample.messages[:-2] == plain.messages[:-2]
        assert sample.messages[-1] == plain.messages[-1]
    assert any(sample.messages[-2] != turns[sample.id].messages[-2] for sample in shown)


def test_all_arms_are_tested_on_the_same_answers():
    row = next(row for row in rows() if row.domain == "terminal" and row.turn_idx > 1)
    (whole,) = ArmData(ARMS["base"]).tested(row, 2)
    assert len(whole.weights) == row.turn_idx
    by_arm = [ArmData(ARMS[arm], index()).tested(row, 2) for arm in ("turns", "thinking", "retrieval")]
    assert len({tuple(sample.id for sample in samples) for samples in by_arm}) == 1
    for sample in by_arm[0]:
        assert answers(sample)[-1] == answers(whole)[int(sample.id.rpartition("/")[2]) - 1]


def test_without_a_graphical_domain_there_is_no_arm_for_the_form_of_screens():
    assert "full" not in {arm.name for arm in arms_for(["terminal", "mcp"])}
    assert "full" in {arm.name for arm in arms_for(["terminal", "web"])}


class Oracle(torch.nn.Module):
    """A model that knows the next token, but for some places."""

    def __init__(self, wrong: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.wrong = wrong
        self.output = torch.nn.Linear(len(TOKENIZER) + 1, len(TOKENIZER) + 1, bias=False)
        torch.nn.init.eye_(self.output.weight)

    def get_output_embeddings(self):
        return self.output

    def forward(self, input_ids, use_cache):
        following = torch.roll(input_ids, -1, dims=1)
        for place in self.wrong:
            following[:, place - 1] += 1
        return SimpleNamespace(logits=self.output(torch.nn.functional.one_hot(following, len(TOKENIZER) + 1).float()))


def spoken(*texts: str, name: str = "a") -> Sample:
    """A sample of users that say `ls` and some answers."""
    messages = [message for text in texts for message in ({"role": "user", "content": "ls"}, answered(text))]
    return Sample(id=name, domain="terminal", messages=tuple(messages), weights=(1.0,) * len(texts))


def answered(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def test_an_answer_is_exact_if_each_of_its_tokens_and_its_end_is_guessed():
    sample = spoken("a.txt", "b.txt c.txt", "pwd")
    (encoded,) = SampleTokenizer(TOKENIZER).encode([sample])
    assert list(exact_answers(Oracle(), TOKENIZER, [sample])) == [(sample, [True, True, True])]
    begin = 0
    for turn, end in enumerate(encoded.turns):
        for place in range(max(begin, 1), end):
            [(_, found)] = exact_answers(Oracle(frozenset({place})), TOKENIZER, [sample])
            # A wrong guess within the answer spoils it and no other; one within the request spoils nothing.
            assert found == [not (encoded.observed[place] and turn == number) for number in range(3)]
        begin = end


def test_what_does_not_fit_the_context_is_no_answer():
    sample = spoken("a.txt", "b.txt", "c.txt")
    (encoded,) = SampleTokenizer(TOKENIZER).encode([sample])
    [(_, found)] = exact_answers(Oracle(), TOKENIZER, [sample], longest=encoded.turns[1])
    assert found == [True, True, None]


def test_samples_of_other_lengths_do_not_change_the_verdict():
    samples = [spoken(*["a.txt"] * count, name=str(count)) for count in (1, 4, 2)]
    found = {sample.id: flags for sample, flags in exact_answers(Oracle(), TOKENIZER, samples)}
    assert found == {"1": [True], "4": [True] * 4, "2": [True] * 2}


def test_a_decoded_answer_is_read_as_a_world_reads_it():
    row = next(row for row in rows() if row.domain == "android")
    data = ArmData(ARMS["thinking"])
    truth = data.prompts("android").answer(None, next(steps_of(row))[1], row.observations[0])

    def verdict(answer: Completion | Failure) -> tuple[bool, FailureKind | None]:
        turn = study._read(data, row, 1, answer)
        return turn.exact, turn.failure

    assert verdict(Completion(f"<think>\nIt opens.\n</think>\n{truth}")) == (True, None)
    assert verdict(Completion(truth + "!")) in [(False, None), (False, FailureKind.MALFORMED)]
    assert verdict(Completion(truth, finish_reason="length")) == (False, FailureKind.LENGTH)
    assert verdict(Completion("@@ change\n900| gone")) == (False, FailureKind.MALFORMED)
    assert verdict(Failure(FailureKind.OVERFLOW, "too long")) == (False, FailureKind.OVERFLOW)


def result(arm: str, exact: str, fixed: str | None = None) -> ArmResult:
    """Turns of as many sessions as letters: `+` is exact."""
    turns = [
        TurnOutcome(
            row=str(number), turn=1, domain="terminal", fixed=(fixed or exact)[number] != "~", exact=letter == "+"
        )
        for number, letter in enumerate(exact)
    ]
    return ArmResult(arm=arm, steps=5, tokens=1_500_000, seconds=1, loss=0.5, turns=tuple(turns))


def test_the_table_compares_arms_turn_by_turn():
    base, plain = result("base", "++++++++-+"), result("plain", "--------+-")
    table = comparison_table(SMOKE, [base, plain])
    (comparison,) = table.comparisons
    assert (comparison.having, comparison.lacking, comparison.gain.count) == ("base", "plain", 10)
    assert comparison.gain.share == pytest.approx(0.8)
    assert comparison.verdict == "helps"
    swapped = comparison_table(SMOKE, [result("base", "--------+-"), result("plain", "++++++++-+")]).comparisons[0]
    assert swapped.verdict == "hurts"
    same = comparison_table(SMOKE, [base, base.model_copy(update={"arm": "plain"})]).comparisons[0]
    assert same.verdict == "shows nothing"
    text = markdown(table)
    assert "| loss weights by class against none | terminal | +0.800 [" in text
    assert "| base | terminal | 0.900 [" in text
    assert "1.50 M" in text


def test_only_deterministic_turns_that_both_arms_know_are_compared():
    base, plain = result("base", "++++", fixed="+~++"), result("plain", "---")
    (comparison,) = comparison_table(SMOKE, [base, plain]).comparisons
    assert comparison.gain.count == 2
    score = next(score for score in comparison_table(SMOKE, [base]).scores if score.arm == "base")
    assert (score.deterministic.count, score.all.count) == (3, 4)


def test_one_command_runs_arms_and_a_stopped_run_goes_on(tmp_path, monkeypatch):
    config = SMOKE.model_copy(update={"arms": ("base", "retrieval")})
    trained = []
    fit = study.fit

    def watched(recipe, *rest, **options):
        trained.append(recipe.name)
        return fit(recipe, *rest, **options)

    monkeypatch.setattr(study, "fit", watched)
    table = AblationStudy(config, tmp_path / "runs").run()
    assert trained == ["base", "retrieval"]
    assert {score.arm for score in table.scores} == {"base", "retrieval"}
    assert all(result.steps == 2 and result.tokens > 0 and result.turns for result in table.arms)
    assert all(result.loss is not None for result in table.arms)
    # What is lost is made anew; what is there is not.
    (tmp_path / "runs" / "retrieval" / study.RESULT).unlink()
    again = AblationStudy(config, tmp_path / "runs").run()
    assert trained == ["base", "retrieval", "retrieval"]
    assert [result.turns for result in again.arms] == [result.turns for result in table.arms]
    assert Table.model_validate_json(again.model_dump_json()) == again
    other = config.model_copy(update={"episodes": 4})
    with pytest.raises(SpecError, match="episodes"):
        AblationStudy(other, tmp_path / "runs").run()


def test_an_unknown_arm_is_refused():
    with pytest.raises(ValueError, match="arms"):
        AblationConfig(arms=("magic",), recipe=RECIPE)  # type: ignore[arg-type]
