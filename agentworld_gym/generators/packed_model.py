"""Any number of new tokens of any number of rows, read in one pass and with no padding.

The new tokens of all rows stand one after the other in a single sequence, as the model's layers see it; only attention
knows rows, and looks each one's keys and values up in its own place of the cache. So rows may read and write different
numbers of tokens in one pass: a whole new turn, or a token with a guess of what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ATTENTION = "agentworld_packed"
"""The name under which transformers knows our attention."""

_PASS, _MASK = 4096, 1 << 26
"""The most tokens of one pass, and the most numbers of its mask."""


class Unpackable(Exception):
    """The model attends in a way that packing does not know."""


@dataclass(slots=True)
class _Pass:
    """What attention must know of one pass: where each packed token belongs, and what it may see.

    `held` is the cache `[rows, 2 × layers, key heads, width, head size]`; `spread` says which slot of
    `[rows × longest]` a token takes in attention, None where they are the same.
    """

    held: Any
    row: Any
    place: Any
    spread: Any
    bias: Any
    longest: int
    width: int


def _attend(
    module: Any, query: Any, key: Any, value: Any, mask: Any, *, scaling: float | None = None, **options: Any
) -> tuple[Any, None]:
    """Attention of packed tokens, as transformers calls it; the pass comes as the option `packed`."""
    import torch

    if any(options.get(name) is not None for name in ("softcap", "s_aux", "sliding_window", "position_bias")):
        raise Unpackable(f"{type(module).__name__} attends with more than keys and a mask")
    now: _Pass = options["packed"]
    layer, heads, size = 2 * module.layer_idx, query.shape[1], query.shape[3]
    keys, values = now.held[:, layer], now.held[:, layer + 1]
    keys[now.row, :, now.place] = key[0].transpose(0, 1)
    values[now.row, :, now.place] = value[0].transpose(0, 1)
    keys, values = keys[:, :, : now.width], values[:, :, : now.width]
    count, groups = keys.shape[:2]
    asked = query[0].transpose(0, 1)
    if now.spread is not None:
        spread = asked.new_zeros(count * now.longest, heads, size)
        spread[now.spread] = asked
        asked = spread
    # The query heads of one key head stand below each other, so that keys are never repeated.
    asked = asked.view(count, now.longest, groups, heads // groups, size).permute(0, 2, 3, 1, 4)
    asked = asked.reshape(count, groups, -1, size)
    seen = torch.nn.functional.scaled_dot_product_attention(asked, keys, values, attn_mask=now.bias, scale=scaling)
    seen = seen.view(count, groups, heads // groups, now.longest, size).permute(0, 3, 1, 2, 4)
    seen = seen.reshape(count * now.longest, heads, size)
    return (seen if now.spread is None else seen[now.spread])[None], None


class PackedModel:
    """A causal model that reads packed rows, with a cache that the caller holds.

    Args:
        model: a causal model of transformers whose layers all attend to everything before. Its attention is replaced.

    Raises:
        Unpackable: its logits differ from the model's own, or it cannot be read so at all.
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
        except Exception as error:  # whatever a model of unknown make raises
            model.set_attn_implementation(usual)
            raise error if isinstance(error, Unpackable) else Unpackable(f"{type(error).__name__}: {error}") from error

    @property
    def token_bytes(self) -> int:
        """What keys and values of one token take."""
        layers, groups = self._shape
        return int(layers * groups * self._head * self._model.dtype.itemsize)

    def affordable(self, width: int) -> int:
        """How many tokens one pass may read, padding counted, when the cache is so wide: the mask grows with both."""
        return max(1, min(_PASS, _MASK // (self._groups * width)))

    def cache(self, rows: int, width: int) -> Any:
        """An empty cache `[rows, 2 × layers, key heads, width, head size]`."""
        import torch

        shape = (rows, *self._shape, width, self._head)
        return torch.zeros(shape, dtype=self._model.dtype, device=self._model.device)

    def read(self, held: Any, tokens: Sequence[Sequence[int]], starts: Sequence[int], logits: bool = True) -> Any:
        """Read the new tokens of each row, which go on from `starts`, and write their keys and values.

        Returns:
            Logits `[tokens of all rows, vocabulary]`, in order; of the last token alone without `logits`.
        """
        import torch

        counts = [len(row) for row in tokens]
        longest, width = max(counts), max(start + count for start, count in zip(starts, counts, strict=True))
        rows = [number for number, count in enumerate(counts) for _ in range(count)]
        inner = [place for count in counts for place in range(count)]
        flat = torch.tensor(
            [
                [token for row in tokens for token in row],
                [starts[row] + place for row, place in zip(rows, inner, strict=True)],
                rows,
                [row * longest + place for row, place in zip(rows, inner, strict=True)],
            ],
            device=held.device,
        )
        ids, places, row, slots = flat
        seen = places.new_zeros(len(tokens) * longest)
        seen[slots] = places
        hidden = torch.arange(width, device=held.device) > seen.view(len(tokens), 1, longest, 1)
        bias = torch.zeros(hidden.shape, dtype=held.dtype, device=held.device).masked_fill_(hidden, -torch.inf)
        bias = bias.expand(-1, self._groups, -1, -1).reshape(len(tokens), 1, -1, width)
        even = len(rows) == len(tokens) * longest
        now = _Pass(held, row, places, None if even else slots, bias, longest, width)
        return self._model(
            input_ids=ids[None],
            position_ids=places[None],
            attention_mask=hidden.new_ones(1, 1, 1, 1),  # four dimensions: taken as it is, and not used
            use_cache=False,
            logits_to_keep=0 if logits else 1,
            packed=now,
        ).logits[0]

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
            found = self.read(held, [first[2:], second[3:]], [2, 3])
        wanted = torch.cat([expected[0][2:], expected[1][3:]])
        allowed = 1e-3 if wanted.dtype == torch.float32 else 5e-2
        if not (found - wanted).abs().max() <= allowed * wanted.abs().max():
            raise Unpackable(f"{type(self._model).__name__} gives other logits when its rows are packed")
