"""Samples as tokens: the store on disk, and batches."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conversations import encoded, sample, small
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.tokenization import SampleTokenizer
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, wrap
from agentworld_gym.recipe.data.token_statistics import TokenTable
from agentworld_gym.recipe.data.token_store import TokenStore, build_store
from agentworld_gym.recipe.training.batches import Batches

transformers = pytest.importorskip("transformers")


# The store


def samples(lengths: list[int]) -> list[Sample]:
    """Samples of so many words each in their answer, all different."""
    return [sample("go", f"{n} " + "one two " * words, name=str(n)) for n, words in enumerate(lengths)]


@cache
def stored(folder: Path, lengths: tuple[int, ...] = tuple(range(1, 60))) -> TokenStore:
    return build_store(samples(list(lengths)), small(), folder / "store", 10_000)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TokenStore:
    return stored(tmp_path_factory.mktemp("tokens"))


def test_a_store_holds_the_tokens_of_its_samples(tmp_path: Path) -> None:
    made = samples([3, 1, 7])
    build_store(made, small(), tmp_path / "store", 100)
    store = TokenStore.open(tmp_path / "store", small())
    assert len(store) == 3 and store.meta["samples"] == 3 and store.meta["tokens"] == int(store.lengths.sum())
    for index, item in enumerate(made):
        expected = encoded(small(), item)
        ids, weights, observed = store[index]
        assert (
            (ids == expected.ids).all()
            and (weights == expected.weights).all()
            and (observed == expected.observed).all()
        )
    assert isinstance(store.ids, np.memmap)
    assert store.longest_answer == max(int(encoded(small(), item).observed.sum()) for item in made)


def test_a_long_session_loses_turns_and_a_long_request_goes(tmp_path: Path) -> None:
    turns = ["go", "one " * 20] * 3
    whole = encoded(small(), sample(*turns))
    made = [
        sample(*turns),
        sample(*turns, weights=[0, 0, 1]),
        sample("go " * 100, "one"),
        sample("go", "one", weights=[0]),
    ]
    store = build_store(made, small(), tmp_path / "store", whole.turns[1] + 3)
    assert store.lengths.tolist() == [whole.turns[1]]
    counts = {key: store.meta[key] for key in ("samples", "cut", "too_long", "weightless", "turns", "lost_turns")}
    assert counts == {"samples": 1, "cut": 1, "too_long": 2, "weightless": 1, "turns": 2, "lost_turns": 3}


def test_a_sample_that_loses_its_answer_goes_whatever_its_context_weighs(tmp_path: Path) -> None:
    turns = ["go", "one " * 20] * 3
    whole = encoded(small(), sample(*turns))
    made = [sample(*turns, weights=[0, 0, 1], context_weight=0.1), sample("go", "one")]
    store = build_store(made, small(), tmp_path / "store", len(whole.ids) - 1)
    assert (store.meta["samples"], store.meta["too_long"]) == (1, 1)


def test_a_store_knows_its_content_and_where_it_came_from(tmp_path: Path) -> None:
    one, again, other = (
        build_store(samples(lengths), small(), tmp_path / str(place), 100, sources={"rows.jsonl": "0123"})
        for place, lengths in enumerate(([1, 2], [1, 2], [1, 3]))
    )
    assert one.meta["digest"] == again.meta["digest"] != other.meta["digest"]
    assert one.meta["sources"] == {"rows.jsonl": "0123"}


def test_a_long_text_is_cut_into_pieces(tmp_path: Path) -> None:
    text = Sample(
        id="k", domain="k", messages=[{"role": "text", "content": "one two " * 40}], weights=[], context_weight=1
    )
    whole = encoded(small(), text)
    store = build_store([text], small(), tmp_path / "store", 10)
    assert store.lengths.tolist() == [10] * (len(whole.ids) // 10)  # a last token alone predicts nothing
    assert store.ids.tolist() == whole.ids.tolist()[: len(store.ids)]
    assert all(store[index][1][0] == 0 for index in range(len(store)))


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    build_store(samples([1]), small(), tmp_path / "store", 100)
    other = wrap(build_tokenizer(["another text altogether"] * 3, 400), 512)
    with pytest.raises(SpecError, match=r"store: tokenizer: .* that of the model"):
        TokenStore.open(tmp_path / "store", other)


@pytest.mark.parametrize("name", ["ids.bin", "weights.bin", "observed.bin", "starts.bin", "meta.json"])
def test_a_torn_file_is_noticed(tmp_path: Path, name: str) -> None:
    build_store(samples([1, 2]), small(), tmp_path / "store", 100)
    path = tmp_path / "store" / name
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(SpecError, match=name.replace(".", r"\.")):
        TokenStore.open(tmp_path / "store")


def test_a_store_that_fails_leaves_the_earlier_one_and_other_folders_alone(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    build_store(samples([1, 2]), small(), folder, 100)

    def failing() -> Any:
        yield from samples([1] * 100)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        build_store(failing(), small(), folder, 100)
    assert len(TokenStore.open(folder, small())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(SpecError, match=r"'notes.txt', expected no folder, or a store"):
        build_store(samples([1]), small(), tmp_path / "mine", 100)


def test_nothing_to_learn_from_is_an_error(tmp_path: Path) -> None:
    for made in ([], [sample("go " * 100, "one")], [sample("go", "one", weights=[0])]):
        with pytest.raises(SpecError, match="something to learn from within 50 tokens"):
            build_store(made, small(), tmp_path / "store", 50)
    assert not list(tmp_path.iterdir())


def test_samples_are_never_all_in_memory(tmp_path: Path) -> None:
    alive = Counter[str]()

    class Counted(Sample):
        def __init__(self, **data: Any) -> None:
            super().__init__(**data)
            alive["now"] += 1
            alive["most"] = max(alive["most"], alive["now"])

        def __del__(self) -> None:
            alive["now"] -= 1

    many = (Counted(id=str(n), domain="d", messages=sample("go", "one").messages, weights=[1]) for n in range(1000))
    build_store(many, small(), tmp_path / "store", 100)
    assert alive["most"] < 300


def test_statistics_count_what_is_learned() -> None:
    table = TokenTable()
    for item in SampleTokenizer(small()).encode([sample("go", "one", weights=[0.5]), sample("go", "one two")]):
        table(item)
    found = table.domains["d"]
    answers = sum(int(encoded(small(), sample("go", text)).observed.sum()) for text in ("one", "one two"))
    assert (len(found.lengths), found.turns, found.observed) == (2, 2, answers)
    assert 0.5 < found.mean_weight < 1 and table.rows()[0][:3] == ("d", "2", "2")
    assert len(table.rows()[0]) == len(TokenTable.COLUMNS)


# Batches

PACKINGS = ("sorted", "packed")


def batches(store: TokenStore, **more: Any) -> Batches:
    return Batches(store, **{"seed": 0, "tokens": 512, "longest": 150, "short": 40, "pad": 0, **more})


def names(batch: Any) -> list[int]:
    """The samples of a batch by their numbers, which stand in their answers."""
    found = []
    for ids, positions, weights in zip(batch.ids, batch.positions, batch.weights, strict=True):
        starts = [*np.flatnonzero(positions == 0), len(ids)]
        for start, stop in pairwise(starts):
            if (weights[start:stop] > 0).any():
                text = small().decode(ids[start:stop].tolist(), skip_special_tokens=False)
                found.append(int(text.partition("<|assistant|>")[2].split()[0]))
    return found


@pytest.mark.parametrize("packing", PACKINGS)
def test_batches_hold_whole_samples_within_their_budget(store: TokenStore, packing: str) -> None:
    source = batches(store, packing=packing)
    for _ in range(30):
        batch = source.next()
        assert batch.ids.size <= 512 and batch.ids.shape == batch.positions.shape == batch.weights.shape
        for number in names(batch):
            ids, _, _ = store[number]
            assert any(_holds(row, ids) for row in batch.ids)
        assert (batch.weights[batch.positions == 0] == 0).all()
    assert 0 <= source.padded < 0.35


def _holds(row: Any, ids: Any) -> bool:
    return any((row[start : start + len(ids)] == ids).all() for start in range(len(row) - len(ids) + 1))


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("tokens", [160, 512, 100_000])
def test_every_sample_comes_up_once_an_epoch(store: TokenStore, packing: str, tokens: int) -> None:
    source = batches(store, packing=packing, tokens=tokens)
    seen: Counter[int] = Counter()
    while source.state()["epoch"] < 6:
        seen.update(names(source.next()))
    assert set(seen) == {n for n in range(len(store)) if store.lengths[n] <= 150}
    assert max(seen.values()) <= 7 and min(seen.values()) >= 5


@pytest.mark.parametrize("packing", PACKINGS)
def test_little_is_padding(tmp_path: Path, packing: str) -> None:
    rng = np.random.default_rng(0)
    store = build_store(samples(rng.integers(1, 70, 1500).tolist()), small(), tmp_path / "store", 200)
    source = batches(store, packing=packing, tokens=4096, longest=200)
    for _ in range(20):
        source.next()
    assert source.padded < (0.08 if packing == "sorted" else 0.04)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), max_size=30), st.integers(0, 5), st.sampled_from(PACKINGS))
def test_batches_resume_exactly(store: TokenStore, calls: list[bool], more: int, packing: str) -> None:
    first, second = batches(store, packing=packing), batches(store, packing=packing)
    for short in calls:
        first.next(short)
    second.restore(json.loads(json.dumps(first.state())))
    for _ in range(more + 1):
        assert (first.next().ids == second.next().ids).all()
    assert first.padded == second.padded


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("processes", [2, 3])
def test_processes_see_together_what_one_sees(store: TokenStore, packing: str, processes: int) -> None:
    one = batches(store, packing=packing, tokens=512 * processes)
    ranks = [batches(store, packing=packing, rank=rank, processes=processes) for rank in range(processes)]
    for _ in range(20):
        together = [source.next() for source in ranks]
        assert sorted(name for batch in together for name in names(batch)) == sorted(names(one.next()))
    assert ranks[0].state()["cursor"] == ranks[1].state()["cursor"] == one.state()["cursor"]


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_process_has_at_most_one_row_more_than_another(store: TokenStore, packing: str) -> None:
    """So it holds less than twice its tokens."""
    ranks = [batches(store, packing=packing, tokens=160, rank=rank, processes=3) for rank in range(3)]
    for _ in range(30):
        shapes = [source.next().ids.shape for source in ranks]
        assert max(rows for rows, _ in shapes) - min(rows for rows, _ in shapes) <= 1
        assert all(rows * width < 2 * 160 for rows, width in shapes)


def test_a_process_without_a_row_gets_padding(tmp_path: Path) -> None:
    store = build_store(samples([1]), small(), tmp_path / "store", 100)
    batch = batches(store, rank=1, processes=2).next()
    assert batch.ids.shape[0] == 1 and not batch.weights.any()


def test_short_samples_come_first_where_asked(store: TokenStore) -> None:
    source = batches(store)
    assert all((source.next(short=True).weights > 0).sum(1).max() <= 40 for _ in range(10))
    assert max((source.next().weights > 0).sum(1).max() for _ in range(10)) > 60


def test_limits_that_no_sample_fits_are_refused(store: TokenStore) -> None:
    with pytest.raises(SpecError, match=r"longest: .* a sample of at most 3 tokens"):
        batches(store, longest=3)
    source = batches(store, short=3)
    source.next()
    with pytest.raises(SpecError, match=r"short: .* a sample of at most 3 tokens"):
        source.next(short=True)


def test_seeds_give_other_orders(store: TokenStore) -> None:
    assert names(batches(store, seed=1).next()) != names(batches(store, seed=2).next())


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_packed_sample_has_the_losses_that_it_has_alone(store: TokenStore, attention: str) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.Qwen3Config(vocab_size=len(small()), num_key_value_heads=1, head_dim=16, **shape)
    config._attn_implementation = attention
    model = transformers.Qwen3ForCausalLM(config)

    def losses(ids: Any, positions: Any) -> Any:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor(ids), position_ids=torch.tensor(positions), use_cache=False).logits
        return torch.nn.functional.cross_entropy(
            logits[:, :-1].transpose(1, 2), torch.tensor(ids)[:, 1:], reduction="none"
        )

    batch = batches(store, packing="packed").next()
    packed = losses(batch.ids, batch.positions)
    checked = 0
    for row, (ids, positions) in enumerate(zip(batch.ids, batch.positions, strict=True)):
        starts = [*np.flatnonzero(positions == 0), len(ids)]
        for start, stop in pairwise(starts):
            if not batch.weights[row, start:stop].any():
                continue
            alone = losses(ids[None, start:stop], np.arange(stop - start)[None])
            assert torch.allclose(packed[row, start : stop - 1], alone[0], atol=1e-5)
            checked += start > 0
    assert checked >= 3
