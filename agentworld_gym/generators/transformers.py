"""A model from a local directory, run by transformers in this process: small models on a CPU, or one GPU."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentworld_gym.contracts import ChatRequest, Completion, Failure, FailureKind, Sampling, Usage
from agentworld_gym.errors import ClosedError, GeneratorError
from agentworld_gym.generators.weights import tokenizer_digest, weights_digest


@dataclass(slots=True)
class _Row:
    """One request on its way: its prompt, what it has written, and how it ended."""

    index: int
    prompt: list[int]
    sampling: Sampling
    limit: int
    dice: Any
    written: list[int] = field(default_factory=list)
    text: str | None = None
    finish: str = ""


class TransformersGenerator:
    """Batches requests of similar length and decodes them together; a row that ends leaves its batch.

    A seed fixes the draws of its request. As with any engine, logits may differ in their last bits with the
    composition of the batch. A schema is not enforced.

    Args:
        path: a directory with weights, tokenizer and chat template. Nothing is downloaded.
        device: `cpu`, `cuda`, …; `auto` takes a GPU where there is one.
        dtype: `float32`, `bfloat16`, …; without it what the weights are stored in.
        batch_size: how many requests are decoded together.
    """

    supports_seed = True
    supports_schema = False
    deterministic = False

    def __init__(
        self, path: str | Path, *, device: str = "auto", dtype: str | None = None, batch_size: int = 32
    ) -> None:
        self.path = Path(path).expanduser()
        if not (self.path / "config.json").is_file():
            raise GeneratorError(f"{self.path} is no model directory: it holds no config.json")
        weights = weights_digest(self.path)
        if weights is None:
            raise GeneratorError(f"{self.path} holds no weights (*.safetensors)")
        try:
            import torch
            import transformers
        except ImportError as error:
            needed = "pip install agentworld-gym[lwm]"
            raise GeneratorError(f"a local model needs torch and transformers ({error}): {needed}") from error
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        kind = "auto" if dtype is None else getattr(torch, dtype, None)
        if kind is None or batch_size < 1:
            raise GeneratorError(f"dtype={dtype!r}, batch_size={batch_size}: expected a torch dtype and at least 1")
        logs: Any = transformers.utils.logging
        shown = logs.is_progress_bar_enabled()
        logs.disable_progress_bar()
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(self.path, local_files_only=True)
            load: Any = transformers.AutoModelForCausalLM.from_pretrained
            self._model = load(self.path, dtype=kind, local_files_only=True).eval().to(device)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise GeneratorError(f"{self.path} cannot be loaded: {error}") from error
        finally:
            if shown:
                logs.enable_progress_bar()
        if not self._tokenizer.chat_template:
            raise GeneratorError(f"{self.path} has no chat template (chat_template.jinja)")
        self._device, self._batch_size = device, batch_size
        self._context = int(getattr(self._model.config, "max_position_embeddings", 0)) or 1 << 30
        self._ends = _end_tokens(self._model, self._tokenizer)
        self._parts = {
            "generator": (f"transformers {transformers.__version__} torch {torch.__version__}", True),
            "dtype": (str(self._model.dtype).removeprefix("torch."), True),
            "model": (weights, True),
            "tokenizer": (tokenizer_digest(self.path) or "none", True),
        }
        self._lock = threading.Lock()

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Answer a wave batch by batch; within a batch answers come as rows end."""
        if self._model is None:
            raise ClosedError("this TransformersGenerator is closed")
        return self._run(list(requests))

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Digests of weights and tokenizer, the number format, and versions."""
        return dict(self._parts)

    def close(self) -> None:
        """Let go of the model. Safe to repeat."""
        self._model = None

    def _run(self, requests: list[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        rows: list[_Row] = []
        for index, request in enumerate(requests):
            row = self._row(index, request)
            if isinstance(row, Failure):
                yield index, row
            else:
                rows.append(row)
        # Neighbours in length share a batch, so that little of it is padding.
        rows.sort(key=lambda row: len(row.prompt))
        for start in range(0, len(rows), self._batch_size):
            batch = rows[start : start + self._batch_size]
            try:
                for row in self._decode(batch):
                    yield row.index, self._completion(row)
            except RuntimeError as error:
                failure = Failure(FailureKind.SERVER, f"the model failed: {error}", retryable=True)
                yield from ((row.index, failure) for row in batch if not row.finish)

    def _row(self, index: int, request: ChatRequest) -> _Row | Failure:
        import torch

        messages = [{**m, "content": m["content"].encode("utf-8", "replace").decode()} for m in request.messages]
        sampling = request.sampling
        try:
            text = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, enable_thinking=sampling.thinking
            )
        except Exception as error:  # a template may raise anything
            return Failure(FailureKind.REJECTED, f"the chat template refuses these messages: {error}")
        prompt = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        room = self._context - len(prompt)
        if room < 1:
            size = f"{len(prompt)} tokens, the model's context {self._context}"
            return Failure(FailureKind.OVERFLOW, f"the prompt has {size}")
        dice = torch.Generator(device=self._device)
        dice.seed() if sampling.seed is None else dice.manual_seed(sampling.seed & (2**63 - 1))
        return _Row(index, prompt, sampling, min(room, sampling.max_tokens), dice)

    def _decode(self, rows: list[_Row]) -> Iterator[_Row]:
        """Write all rows, token by token; each is yielded when it ends."""
        import torch
        from transformers import DynamicCache

        width = max(len(row.prompt) for row in rows)
        pad = self._ends[0] if self._ends else 0
        ids = torch.tensor([[pad] * (width - len(r.prompt)) + r.prompt for r in rows], device=self._device)
        mask = torch.tensor([[0] * (width - len(r.prompt)) + [1] * len(r.prompt) for r in rows], device=self._device)
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
                chosen = _choose(logits.float(), alive)
                for row, token in zip(alive, chosen, strict=True):
                    self._take(row, token)
                kept = [place for place, row in enumerate(alive) if not row.finish]
                if kept and len(kept) < len(alive):
                    keep = torch.tensor(kept, device=self._device)
                    cache.batch_select_indices(keep)
                    mask, positions = mask[keep], positions[keep]
                if kept:
                    ids = torch.tensor([[chosen[place]] for place in kept], device=self._device)
                    mask = torch.cat([mask, mask.new_ones(len(kept), 1)], dim=1)
                    positions = positions[:, -1:] + 1
            ended = [row for row in alive if row.finish]
            alive = [row for row in alive if not row.finish]
            yield from ended

    def _take(self, row: _Row, token: int) -> None:
        if token in self._ends:
            row.finish = "stop"
            row.written.append(token)
            return
        row.written.append(token)
        for stop in row.sampling.stop:
            # A token holds at least one byte in all but odd vocabularies: this tail holds the whole stop string.
            tail = self._tokenizer.decode(row.written[-2 * len(stop.encode()) - 4 :])
            if stop in tail:
                whole = self._tokenizer.decode(row.written, skip_special_tokens=True)
                row.text, row.finish = whole.split(stop, 1)[0], "stop"
                return
        if len(row.written) >= row.limit:
            row.finish = "length"

    def _completion(self, row: _Row) -> Completion:
        text = self._tokenizer.decode(row.written, skip_special_tokens=True) if row.text is None else row.text
        return Completion(text, row.finish, Usage(len(row.prompt), len(row.written)))


def _choose(logits: Any, rows: list[_Row]) -> list[int]:
    """The next token of each row, by its own sampling and its own dice."""
    import torch

    greedy: list[int] = logits.argmax(-1).tolist()
    for place, row in enumerate(rows):
        sampling = row.sampling
        if sampling.temperature <= 0:
            continue
        scores = logits[place] / sampling.temperature
        if 0 < sampling.top_k < scores.shape[-1]:
            scores = scores.masked_fill(scores < scores.topk(sampling.top_k).values[-1], -torch.inf)
        chances = scores.softmax(-1)
        if sampling.top_p < 1:
            ordered, order = chances.sort(descending=True)
            ordered[ordered.cumsum(-1) - ordered >= sampling.top_p] = 0
            chances = torch.zeros_like(chances).scatter(0, order, ordered)
        greedy[place] = int(torch.multinomial(chances, 1, generator=row.dice))
    return greedy


def _end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end an answer: the generation configuration's, and the tokenizer's own."""
    configured = model.generation_config.eos_token_id
    ends = [] if configured is None else [configured] if isinstance(configured, int) else list(configured)
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
        ends.append(tokenizer.eos_token_id)
    return ends
