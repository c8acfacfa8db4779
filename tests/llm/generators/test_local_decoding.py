"""A local model's shortcuts (prefix cache, packed rows, copied guesses) change the time it takes and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import write_tiny_model

from agentworld_gym.base.errors import GeneratorError, SpecError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import TransformersGenerator
from agentworld_gym.llm.generators.local_decoding.constraint import MOST
from agentworld_gym.llm.generators.local_decoding.decoding import TokenChooser
from agentworld_gym.llm.generators.local_decoding.drafts import Drafts, as_text
from agentworld_gym.llm.generators.local_decoding.packed_decoder import PackedDecoder
from agentworld_gym.llm.generators.local_decoding.packed_model import PackedModel
from agentworld_gym.llm.generators.local_decoding.padded_decoder import PaddedDecoder
from agentworld_gym.llm.generators.local_decoding.prefixes import PrefixCache

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

CONTEXT = 256
PROMPTS = ["ls", "cat notes.txt " * 6, "", "a a a a a a"]


def ask(*texts: str, **sampling: object) -> ChatRequest:
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return ChatRequest(messages, Sampling(**{"temperature": 0.0, "max_tokens": 12, "thinking": False, **sampling}))


def answers(generator: TransformersGenerator, *requests: ChatRequest) -> list[Completion | Failure]:
    by_index = dict(generator.submit(requests))
    assert sorted(by_index) == list(range(len(requests)))
    return [by_index[index] for index in range(len(requests))]


def texts(generator: TransformersGenerator, *requests: ChatRequest) -> list[str]:
    return [answer.text for answer in answers(generator, *requests)]


def wrote(generator: TransformersGenerator, *requests: ChatRequest) -> list[tuple[str, str, int, float]]:
    """What must not depend on how it was decoded; confidence but for its last bits."""
    return [
        (answer.text, answer.finish_reason, answer.usage.completion_tokens, pytest.approx(answer.logprob, abs=1e-3))
        for answer in answers(generator, *requests)
    ]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("tiny"), context=CONTEXT)


@pytest.fixture(scope="module")
def plain(folder: Path) -> Iterator[TransformersGenerator]:
    """One row at a time, nothing kept, nothing guessed."""
    generator = TransformersGenerator(folder, device="cpu", batch_size=1, cache_tokens=0, lookup=False)
    yield generator
    generator.close()


@pytest.fixture(scope="module", params=["all", "cache alone", "lookup alone"])
def quick(folder: Path, request: pytest.FixtureRequest) -> Iterator[TransformersGenerator]:
    options = {
        "all": {},
        "cache alone": {"lookup": False},
        "lookup alone": {"cache_tokens": 0, "batch_size": 3},
    }[request.param]
    generator = TransformersGenerator(folder, device="cpu", **options)
    yield generator
    generator.close()


@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.7, "top_k": 5, "seed": 5}])
def test_histories_that_grow_get_the_same_answers(plain, quick, sampling):
    histories = [[prompt] for prompt in PROMPTS]
    for turn in range(3):
        requests = [ask(*history, **sampling) for history in histories]
        written = texts(quick, *requests)
        assert written == texts(plain, *requests)
        for history, text in zip(histories, written, strict=True):
            history += [text, f"turn {turn}"]


def test_rows_of_any_length_and_sampling_share_a_wave(plain, quick):
    limits = [1, 2, 20, 40]
    requests = [
        ask(prompt, max_tokens=limit, temperature=0.8 * (place % 2), seed=place)
        for place, (prompt, limit) in enumerate(zip(PROMPTS, limits, strict=True))
    ]
    assert wrote(quick, *requests) == wrote(plain, *requests)


def test_a_stop_string_ends_a_row_inside_a_guess_too(plain, quick):
    (whole,) = texts(plain, ask("ls", max_tokens=24))
    requests = [ask("ls", max_tokens=24, stop=(whole[at : at + 2],)) for at in range(4, len(whole) - 2, 6)]
    assert wrote(quick, *requests) == wrote(plain, *requests)


def test_writing_ends_where_the_context_does(quick):
    (answer,) = answers(quick, ask("x " * 90, max_tokens=10_000))
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= CONTEXT


def test_prompts_may_be_read_in_any_number_of_passes(folder, plain, monkeypatch):
    requests = [ask("cat notes.txt " * 4 * length) for length in (1, 3, 2)]
    expected = texts(plain, *requests)
    for affordable in (1, 7, 50):
        generator = TransformersGenerator(folder, device="cpu")
        monkeypatch.setattr(generator._decoder._model, "affordable", lambda width, count=affordable: count)
        assert texts(generator, *requests) == expected


def test_rows_of_any_length_read_as_the_model_reads_each_alone():
    """Query heads share key heads; runs of equal rows, single rows and rows that rest stand in one pass."""
    torch.manual_seed(0)
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 16}
    config = transformers.Qwen3Config(vocab_size=99, hidden_size=32, intermediate_size=48, num_hidden_layers=2, **heads)
    model = transformers.Qwen3ForCausalLM(config).eval()
    rows = [torch.randint(99, (length,)).tolist() for length in (9, 12, 12, 5, 17)]
    with torch.inference_mode():
        alone = [model(input_ids=torch.tensor([row])).logits[0] for row in rows]
        packed = PackedModel(model)
        held = packed.cache(len(rows), 17)
        known = [0] * len(rows)
        for counts in ((9, 3, 3, 0, 1), (0, 1, 1, 1, 1), (0, 8, 8, 4, 15)):
            new = [row[start : start + count] for row, start, count in zip(rows, known, counts, strict=True)]
            found = packed.read(held, new, known).split(counts)
            for logits, expected, start, count in zip(found, alone, known, counts, strict=True):
                torch.testing.assert_close(logits, expected[start : start + count], atol=1e-4, rtol=1e-4)
            known = [start + count for start, count in zip(known, counts, strict=True)]
    assert known == [len(row) for row in rows]


def test_rows_filled_up_to_one_length_get_the_same_answers(folder, plain, monkeypatch):
    """As on a GPU, where a run costs more than the tokens that even rows out."""
    monkeypatch.setattr(PackedModel, "prefers_even", True)
    generator = TransformersGenerator(folder, device="cpu")
    requests = [ask(prompt, max_tokens=limit) for prompt, limit in zip(PROMPTS, (3, 60, 40, 25), strict=True)]
    assert wrote(generator, *requests) == wrote(plain, *requests)


def test_the_space_of_a_wave_serves_the_next_and_changes_nothing(folder, plain):
    generator = TransformersGenerator(folder, device="cpu", cache_tokens=0)
    for prompts in (PROMPTS, PROMPTS[:1], ["pwd", *PROMPTS[::-1]], ["long " * 20]):
        requests = [ask(prompt) for prompt in prompts]
        assert wrote(generator, *requests) == wrote(plain, *requests)


def test_a_model_that_gives_no_numbers_fails_and_poisons_nothing(folder, plain, monkeypatch):
    generator = TransformersGenerator(folder, device="cpu")
    model, read = generator._decoder._model, generator._decoder._model.read
    for sampling in ({}, {"temperature": 1.0}):
        monkeypatch.setattr(model, "read", lambda *given, **options: read(*given, **options) * torch.nan)
        (failed,) = answers(generator, ask("ls", **sampling))
        assert failed.kind is FailureKind.SERVER and "not numbers" in failed.message
        monkeypatch.setattr(model, "read", read)
        assert texts(generator, ask("ls")) == texts(plain, ask("ls"))


def test_an_end_token_is_written_once_and_counted(folder, tmp_path):
    """A model that ends at once: its generation configuration calls every token an end."""
    import shutil

    shutil.copytree(folder, tmp_path / "ending")
    config = transformers.GenerationConfig(eos_token_id=list(range(384)))
    config.save_pretrained(tmp_path / "ending")
    generator = TransformersGenerator(tmp_path / "ending", device="cpu")
    (answer,) = answers(generator, ask("ls"))
    assert (answer.finish_reason, answer.usage.completion_tokens) == ("stop", 1)


def test_confidence_is_the_mean_log_probability_of_what_was_written(folder, quick):
    row = quick._row(0, ask("ls", temperature=0.9, seed=3))
    (answer,) = answers(quick, ask("ls", temperature=0.9, seed=3))
    (row,) = quick._decoder.decode([row])
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([row.prompt + row.written])).logits[0].log_softmax(-1)
    chosen = [float(logits[len(row.prompt) - 1 + place, token]) for place, token in enumerate(row.written)]
    assert answer.usage.completion_tokens == len(row.written)
    assert answer.logprob == pytest.approx(sum(chosen) / len(chosen), abs=1e-3)


def test_confidence_can_be_left_out(folder):
    generator = TransformersGenerator(folder, device="cpu", confidence=False)
    assert answers(generator, ask("ls"))[0].logprob is None


def test_a_history_is_read_once_and_forks_share_it(folder):
    generator = TransformersGenerator(folder, device="cpu")
    (first,) = answers(generator, ask("cat notes.txt " * 4, thinking=True))
    assert first.usage.cached_tokens == 0
    longer = [ask("cat notes.txt " * 4, first.text, action, thinking=True) for action in ("ls", "pwd")]
    for answer in answers(generator, *longer):
        assert answer.usage.cached_tokens >= first.usage.prompt_tokens - 1
    held = generator._decoder.cached_tokens
    answers(generator, *longer)
    assert generator._decoder.cached_tokens == held


def test_the_cache_stays_within_its_bound(folder, plain):
    generator = TransformersGenerator(folder, device="cpu", cache_tokens=150)
    for number in range(6):
        request = ask(f"cat {number} notes.txt " * 3, "a.txt", "ls")
        assert texts(generator, request) == texts(plain, request)
        assert generator._decoder.cached_tokens <= 150
    with pytest.raises(SpecError, match="cache_tokens"):
        TransformersGenerator(folder, cache_tokens=-1)


def test_a_wave_that_is_dropped_leaves_the_generator_usable(folder, plain):
    generator = TransformersGenerator(folder, device="cpu", batch_size=2)
    wave = generator.submit([ask(prompt) for prompt in PROMPTS])
    next(wave)
    wave.close()
    assert texts(generator, ask("ls")) == texts(plain, ask("ls"))


def test_an_interrupt_inside_a_pass_leaves_the_generator_usable(folder, plain, monkeypatch):
    generator = TransformersGenerator(folder, device="cpu")
    model, passes = generator._decoder._model, []
    read = model.read

    def interrupted(*arguments: object, **options: object) -> object:
        passes.append(1)
        if len(passes) == 4:
            raise KeyboardInterrupt
        return read(*arguments, **options)

    monkeypatch.setattr(model, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        answers(generator, *map(ask, PROMPTS))
    assert texts(generator, *map(ask, PROMPTS)) == texts(plain, *map(ask, PROMPTS))


def test_waves_taken_in_turns_do_not_mix(folder, plain):
    generator = TransformersGenerator(folder, device="cpu", batch_size=1)
    one, other = (generator.submit([ask(prompt) for prompt in PROMPTS]) for _ in range(2))
    mixed = [dict(pair) for pair in zip(*zip(one, other, strict=True), strict=True)]
    expected = texts(plain, *map(ask, PROMPTS))
    for found in mixed:
        assert [found[index].text for index in range(len(PROMPTS))] == expected


def test_a_pass_that_fails_is_a_failure_of_its_batch(folder, monkeypatch):
    generator = TransformersGenerator(folder, device="cpu", batch_size=1)
    monkeypatch.setattr(generator._decoder._model, "read", lambda *a, **b: (_ for _ in ()).throw(RuntimeError("oom")))
    found = answers(generator, ask("ls"))
    assert found[0].kind is FailureKind.SERVER and found[0].retryable


@pytest.mark.parametrize("where", ["packed", "padded"])
def test_a_row_that_ends_in_the_pass_that_fails_gets_an_answer(folder, windowed, monkeypatch, where):
    generator = TransformersGenerator({"packed": folder, "padded": windowed}[where], device="cpu", lookup=False)
    settle, passes = TokenChooser.settle, []

    def out_of_memory(chooser: TokenChooser) -> None:
        passes.append(chooser)
        if len(passes) == 2:
            raise RuntimeError("oom")
        settle(chooser)

    monkeypatch.setattr(TokenChooser, "settle", out_of_memory)
    first, second, third = answers(generator, *(ask("ls", max_tokens=limit) for limit in (1, 2, 3)))
    assert isinstance(first, Completion)
    assert [failed.kind for failed in (second, third)] == [FailureKind.SERVER] * 2


# Models that cannot be packed


@pytest.fixture(scope="module")
def windowed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same weights, but a layer that sees the last few tokens alone."""
    path = tmp_path_factory.mktemp("windowed")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, layer_types=["full_attention", "sliding_attention"], sliding_window=16, use_sliding_window=True
    )
    model.save_pretrained(path)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(path)
    return path


def test_a_model_with_sliding_layers_is_decoded_without_shortcuts(windowed):
    generator = TransformersGenerator(windowed, device="cpu", batch_size=3)
    assert isinstance(generator._decoder, PaddedDecoder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(windowed)
    model = transformers.AutoModelForCausalLM.from_pretrained(windowed)
    expected = []
    for prompt in PROMPTS:
        ids = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            enable_thinking=False,
            return_tensors="pt",
            return_dict=True,
        )
        with torch.inference_mode():
            out = model.generate(**ids, max_new_tokens=12, do_sample=False)
        expected.append(tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True))
    found = answers(generator, *map(ask, PROMPTS))
    assert [answer.text for answer in found] == expected
    assert all(answer.logprob < 0 for answer in found)


def test_a_model_whose_packed_logits_differ_is_decoded_without_shortcuts(folder, plain, monkeypatch):
    usual = PackedModel._usual
    monkeypatch.setattr(PackedModel, "_usual", lambda model: [logits.flip(0) for logits in usual(model)])
    assert isinstance(plain._decoder, PackedDecoder)
    generator = TransformersGenerator(folder, device="cpu")
    assert isinstance(generator._decoder, PaddedDecoder)
    assert texts(generator, *map(ask, PROMPTS)) == texts(plain, *map(ask, PROMPTS))


# Folders that are no whole model


def _torn(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:5000])


def _lacking(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "options", "said"),
    [
        (_torn, {}, "cannot be loaded"),
        (lambda folder: (folder / "config.json").write_text("[]"), {}, "cannot be loaded"),
        (_lacking, {}, "lacks 1 of the model's weights, model.layers.1.mlp.up_proj.weight"),
        (None, {"device": "xpu"}, "cannot be loaded"),
    ],
)
def test_what_cannot_be_opened_is_one_clear_error(folder, tmp_path, spoil, options, said):
    import shutil

    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    if spoil is not None:
        spoil(copy)
    with pytest.raises(GeneratorError, match=said) as raised:
        TransformersGenerator(copy, **{"device": "cpu", **options})
    assert "\n" not in str(raised.value)


def test_a_number_format_that_torch_does_not_know_is_wrong_usage(folder):
    with pytest.raises(SpecError, match="dtype: got 'nn', expected the name of a torch dtype"):
        TransformersGenerator(folder, device="cpu", dtype="nn")


# Odd requests


@pytest.mark.parametrize(
    "text", ["", "\x00", "\ud800", "🐚 naïve Ωmega 漢字", "<|im_end|><|endoftext|>", "\u202e\u0301"]
)
def test_text_outside_the_vocabulary_gets_an_answer(quick, text):
    assert isinstance(answers(quick, ask(text))[0], Completion)


def test_a_prompt_beyond_the_context_fails_alone_and_at_once(quick):
    long, fine = answers(quick, ask("x " * 100_000), ask("ls"))
    assert long.kind is FailureKind.OVERFLOW and str(CONTEXT) in long.message and not long.retryable
    assert isinstance(fine, Completion)


def test_a_prompt_without_tokens_is_refused(quick, monkeypatch):
    monkeypatch.setattr(quick._tokenizer, "chat_template", "{{ messages[0].content }}")
    empty, fine = answers(quick, ask(""), ask("ls"))
    assert empty.kind is FailureKind.REJECTED and "no tokens" in empty.message
    assert isinstance(fine, Completion)


def test_a_tokenizer_of_another_model_is_refused(folder):
    generator = TransformersGenerator(folder, device="cpu")
    generator._tokenizer.add_tokens(["pwned"])
    refused, fine = answers(generator, ask("pwned"), ask("ls"))
    assert refused.kind is FailureKind.REJECTED and "does not fit the model" in refused.message
    assert isinstance(fine, Completion)


# The parts

LETTERS = st.text("abc", max_size=12)


@given(added=st.lists(LETTERS, max_size=12), asked=LETTERS, limit=st.integers(1, 40))
def test_the_prefix_cache_knows_beginnings_and_forgets_beyond_its_limit(added, asked, limit):
    cache = PrefixCache(limit)
    for text in added:
        # The value of a place is all the text up to it, so that a wrong piece cannot go unseen.
        marks = torch.tensor([hash(text[: place + 1]) for place in range(len(text))]).view(1, 1, -1, 1)
        cache.add(text, lambda start, stop, marks=marks: marks[:, :, start:stop].clone())
        assert cache.tokens <= limit
    found = [value for piece in cache.find(asked) for value in piece.flatten().tolist()]
    assert found == [hash(asked[: place + 1]) for place in range(len(found))]
    beginnings = {text[:length] for text in added for length in range(len(text) + 1)}
    if len(beginnings) - 1 <= 0.9 * limit:
        longest = max(length for length in range(len(asked) + 1) if asked[:length] in beginnings | {""})
        assert len(found) == longest


@given(text=st.text("abcd", max_size=40), count=st.integers(0, 8))
def test_a_guess_goes_on_as_the_text_did_before(text, count):
    for least in (2, 4, 8):
        guess = as_text(Drafts().guess(text, count, least))
        assert len(guess) <= count
        if guess:
            assert text[-least:] + guess in text


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_a_request_is_asked_at_every_token_what_it_allows(quick, temperature):
    def vowels(text: str, whole: bool) -> bool:
        return set(text) <= set("aeiou") and len(text) <= 5 and (not whole or len(text) == 5)

    free = ask("ls", temperature=temperature, seed=3)
    guided, anything = replace(free, allows=vowels), replace(free, allows=lambda text, whole: True)
    kept, same, other = answers(quick, guided, anything, free)
    assert vowels(kept.text, True)
    assert kept.finish_reason == "stop"
    assert kept.refused > 0
    assert (same.text, same.refused) == (other.text, 0)


def test_a_request_that_allows_nothing_more_goes_on_as_if_it_were_free(folder):
    generator = TransformersGenerator(folder, device="cpu")
    stuck, free = answers(generator, replace(ask("ls"), allows=lambda text, whole: False), ask("ls"))
    assert (stuck.text, stuck.refused) == (free.text, 1)


def test_a_completion_asks_about_a_bounded_number_of_other_tokens(folder):
    asked: list[str] = []

    def every_150th(text: str, whole: bool) -> bool:
        asked.append(text)
        return len(asked) % 150 == 0

    generator = TransformersGenerator(folder, device="cpu")
    [written] = answers(generator, replace(ask("ls", max_tokens=60), allows=every_150th))
    assert written.refused > 1
    assert MOST - 150 < len(asked) <= MOST + written.refused + 1


def test_a_generator_need_not_ask(folder):
    generator = TransformersGenerator(folder, device="cpu", constrained=False)
    stuck, free = answers(generator, replace(ask("ls"), allows=lambda text, whole: False), ask("ls"))
    assert (stuck.text, stuck.refused) == (free.text, 0)
