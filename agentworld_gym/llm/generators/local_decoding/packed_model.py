"""A model that reads any number of new tokens of any number of rows in one pass, without padding.

The new tokens of all rows stand one after the other in a single sequence, as the model's layers see it. Only attention
knows rows, and looks up the keys and values of each row in its own place of the cache. Rows may therefore read and
write different numbers of tokens in one pass: a whole turn, or a token with a guess of what follows. Neighbouring rows
that read equally many tokens attend together, in a run; if all rows do, as without guesses, the pass is one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

ATTENTION = "agentworld_packed"
"""The name by which transformers finds this attention."""

_PASS, _MASK = 4096, 1 << 26
"""The number of tokens of one pass, and of numbers in its masks, at most."""


class Unpackable(Exception):
    """The model attends in a way that packing does not know."""


class _AllRead(Exception):
    """The cache holds all keys and values of a pass, and nothing else is wanted of it."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring rows with equally many new tokens each."""

    rows: slice
    """The rows."""

    tokens: slice
    """The packed tokens of these rows."""

    width: int
    """The number of tokens of the cache that the rows may see."""

    bias: Any
    """The mask of what each token may see; None where it may see all."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """What attention must know of one pass."""

    held: Any
    """The cache."""

    row: Any
    """The row of the cache that each packed token belongs to."""

    place: Any
    """The place of each packed token in its row."""

    runs: Sequence[_Run]
    """The runs."""

    enough: int | None
    """The number of the layer whose keys and values are the last that are wanted; None where logits are."""


def _attend(
    module: Any, query: Any, key: Any, value: Any, mask: Any, *, scaling: float | None = None, **options: Any
) -> tuple[Any, None]:
    """Compute the attention of packed tokens, as transformers asks for it; the option `packed` holds the pass."""
    import torch

    if any(options.get(name) is not None for name in ("softcap", "s_aux", "sliding_window", "position_bias")):
        raise Unpackable(f"{type(module).__name__} attends with more than keys and a mask")
    now: _Pass = options["packed"]
    layer, heads, size = 2 * module.layer_idx, query.shape[1], query.shape[3]
    keys, values = now.held[:, layer], now.held[:, layer + 1]
    keys[now.row, :, now.place] = key[0].transpose(0, 1)
    values[now.row, :, now.place] = value[0].transpose(0, 1)
    if module.layer_idx == now.enough:
        raise _AllRead
    groups, outputs = keys.shape[1], []
    for run in now.runs:
        count = run.rows.stop - run.rows.start
        # The query heads of one key head stand below each other, so that keys are never repeated.
        asked = query[0, :, run.tokens].view(groups, heads // groups, count, -1, size).permute(2, 0, 1, 3, 4)
        output = torch.nn.functional.scaled_dot_product_attention(
            asked.reshape(count, groups, -1, size),
            keys[run.rows, :, : run.width],
            values[run.rows, :, : run.width],
            attn_mask=run.bias,
            scale=scaling,
        )
        output = output.view(count, groups, heads // groups, -1, size).permute(0, 3, 1, 2, 4)
        outputs.append(output.reshape(-1, heads, size))
    return torch.cat(outputs)[None], None


class PackedModel:
    """A causal model that reads packed rows, with a cache that the caller holds.

    Args:
        model: The causal model of transformers, whose layers must all attend to everything before. Its attention is
            replaced.

    Raises:
        Unpackable: The logits of packed rows differ from the model's own, or rows cannot be packed at all.
    """

    def __init__(self, model: Any) -> None:
        from transformers import AttentionInterface

        config = model.config
        kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
        window = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
        if kinds != {"full_attention"} or window:
            raise Unpackable(f"{type(model).__name__} has layers that do not attend to everything")
        self._model = model
        heads = config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // heads
        self._shape = (2 * config.num_hidden_layers, getattr(config, "num_key_value_heads", None) or heads)
        self._head: int = size
        self._groups: int = heads // self._shape[1]
        usual = config._attn_implementation
        expected = self._usual()
        AttentionInterface.register(ATTENTION, _attend)
        try:
            model.set_attn_implementation(ATTENTION)
            self._compare(expected)
        except Exception as error:  # A model of unknown kind may raise anything.
            model.set_attn_implementation(usual)
            raise error if isinstance(error, Unpackable) else Unpackable(f"{type(error).__name__}: {error}") from error

    @property
    def token_bytes(self) -> int:
        """The bytes that the keys and values of one token take."""
        layers, groups = self._shape
        return int(layers * groups * self._head * self._model.dtype.itemsize)

    @property
    def prefers_even(self) -> bool:
        """Whether needless tokens cost less than further runs, as on a GPU, where each run is a call."""
        return bool(self._model.device.type != "cpu")

    def affordable(self, width: int) -> int:
        """Return how many tokens one pass may read with a cache of some width: masks grow with both."""
        return max(1, min(_PASS, _MASK // (self._groups * width)))

    def cache(self, rows: int, width: int) -> Any:
        """Return an empty cache `[rows, 2 × layers, key heads, width, head size]`."""
        import torch

        shape = (rows, *self._shape, width, self._head)
        return torch.zeros(shape, dtype=self._model.dtype, device=self._model.device)

    def read(self, held: Any, tokens: Sequence[Sequence[int]], starts: Sequence[int], logits: bool = True) -> Any:
        """Read the new tokens of each row, and write their keys and values into the cache.

        Without logits the last layer computes nothing but these.

        Args:
            held: The cache.
            tokens: The new tokens of each row.
            starts: The number of tokens that the cache holds of each row.
            logits: Whether the logits of all new tokens are wanted.

        Returns:
            The logits, `[tokens of all rows, vocabulary]`, in order; none without `logits`.
        """
        import torch

        flat = [
            (token, start + place, number)
            for number, (row, start) in enumerate(zip(tokens, starts, strict=True))
            for place, token in enumerate(row)
        ]
        ids, places, rows = torch.tensor(flat, device=held.device).unbind(1)
        runs = self._runs(places, tokens, starts, held.dtype)
        now = _Pass(held, rows, places, runs, None if logits else self._shape[0] // 2 - 1)
        try:
            return self._model(
                input_ids=ids[None],
                position_ids=places[None],
                attention_mask=ids.new_ones(1, 1, 1, 1),  # A mask of four dimensions is taken as it is; it is not used.
                use_cache=False,
                packed=now,
            ).logits[0]
        except _AllRead:
            return held.new_empty(0)

    def _runs(self, places: Any, tokens: Sequence[Sequence[int]], starts: Sequence[int], dtype: Any) -> list[_Run]:
        import torch

        runs: list[_Run] = []
        row = at = 0
        columns = torch.arange(max(starts) + max(map(len, tokens)), device=places.device)
        for each, same in groupby(map(len, tokens)):
            count = len(list(same))
            first, row, begin, at = row, row + count, at, at + count * each
            if not each:
                continue
            width, bias = max(starts[first:row]) + each, None
            if count * each > 1:  # A single token sees all there is.
                hidden = columns[:width] > places[begin:at].view(count, 1, each, 1)
                bias = torch.zeros(hidden.shape, dtype=dtype, device=places.device).masked_fill_(hidden, -torch.inf)
                bias = bias.repeat(1, 1, self._groups, 1)
            runs.append(_Run(slice(first, row), slice(begin, at), width, bias))
        return runs

    def _probe(self) -> list[list[int]]:
        vocabulary = self._model.config.get_text_config().vocab_size
        return [[(7 * place + 3) % vocabulary for place in range(length)] for length in (7, 4)]

    def _usual(self) -> list[Any]:
        import torch

        with torch.inference_mode():
            rows = [torch.tensor([row], device=self._model.device) for row in self._probe()]
            return [self._model(input_ids=row, use_cache=False).logits[0] for row in rows]

    def _compare(self, expected: Sequence[Any]) -> None:
        import torch

        first, second = self._probe()
        with torch.inference_mode():
            held = self.cache(2, 9)
            self.read(held, [first[:2], second[:3]], [0, 0])
            packed = self.read(held, [first[2:], second[3:]], [2, 3])
        usual = torch.cat([expected[0][2:], expected[1][3:]])
        allowed = 1e-3 if usual.dtype == torch.float32 else 5e-2
        if not (packed - usual).abs().max() <= allowed * usual.abs().max():
            raise Unpackable(f"{type(self._model).__name__} gives other logits when its rows are packed")
