"""The decoder for any causal model: rows are padded on the left and written in step, with the cache of transformers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from agentworld_gym.llm.generators.local_decoding.decoding import DecodingRow, TokenChooser


class PaddedDecoder:
    """Writes rows token by token, all at the same pace, for models that cannot be packed.

    Args:
        model: The causal model of transformers.
        tokenizer: The tokenizer, which is needed for stop strings.
        ends: The tokens that end an answer.
        confidence: Whether log-probabilities are computed.
        lock: The lock that is held during each pass.
    """

    def __init__(
        self, model: Any, tokenizer: Any, ends: frozenset[int], confidence: bool, lock: threading.Lock
    ) -> None:
        self._model, self._tokenizer, self._ends = model, tokenizer, ends
        self._confidence, self._lock = confidence, lock

    def fits(self, rows: int, longest: int) -> bool:
        """Return True: the memory that a row takes is not known, so that any number may be decoded together."""
        return True

    def decode(self, rows: list[DecodingRow]) -> Iterator[DecodingRow]:
        """Write all rows; each is yielded when it ends."""
        import torch
        from transformers import DynamicCache

        device = self._model.device
        width = max(len(row.prompt) for row in rows)
        pad = min(self._ends, default=0)
        ids = torch.tensor([[pad] * (width - len(r.prompt)) + r.prompt for r in rows], device=device)
        mask = torch.tensor([[0] * (width - len(r.prompt)) + [1] * len(r.prompt) for r in rows], device=device)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        cache = DynamicCache(config=self._model.config)
        alive = list(rows)
        while alive:
            # The lock and inference mode end before each yield: the consumer runs its own code there.
            with self._lock, torch.inference_mode():
                logits = self._model(
                    input_ids=ids,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                ).logits[:, -1]
                chooser = TokenChooser(logits, self._confidence)
                for place, row in enumerate(alive):
                    row.take(chooser.choose(row, place), self._tokenizer, self._ends)
                chooser.settle()
                kept = [place for place, row in enumerate(alive) if not row.finish]
                if kept and len(kept) < len(alive):
                    keep = torch.tensor(kept, device=device)
                    cache.batch_select_indices(keep)
                    mask, positions = mask[keep], positions[keep]
                if kept:
                    ids = torch.tensor([[alive[place].written[-1]] for place in kept], device=device)
                    mask = torch.cat([mask, mask.new_ones(len(kept), 1)], dim=1)
                    positions = positions[:, -1:] + 1
            ended = [row for row in alive if row.finish]
            alive = [row for row in alive if not row.finish]
            yield from ended
