"""A generator over a model in a local directory, run by transformers in this process on a CPU or one GPU."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import ClosedError, GeneratorError, MissingFile, SpecError, install
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.llm.generators.local_decoding.constraint import TokenConstraint
from agentworld_gym.llm.generators.local_decoding.decoding import DecodingRow
from agentworld_gym.llm.generators.local_decoding.packed_decoder import PackedDecoder
from agentworld_gym.llm.generators.local_decoding.packed_model import PackedModel, Unpackable
from agentworld_gym.llm.generators.local_decoding.padded_decoder import PaddedDecoder
from agentworld_gym.llm.generators.number_formats import speeds
from agentworld_gym.llm.generators.pretrained.digests import tokenizer_digest, weights_digest
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer
from agentworld_gym.llm.generators.pretrained.progress_bars import without_progress_bars
from agentworld_gym.llm.generators.special_tokens import rule_of

log = logging.getLogger(__name__)

_SMALL = 100_000_000
_CACHE_BYTES = 1 << 30


class TransformersGenerator:
    """A generator that decodes requests of similar length together; a row that ends leaves its batch.

    A history that only grows is read once: keys and values of what was read and written stay in a cache, which forks
    share. Text that was there before is guessed and checked several tokens at a time. Neither the cache nor the guesses
    change what is written, greedy or drawn. Models with other than full attention are decoded without both.

    A seed fixes the draws of its request. As with any engine, logits may differ in their last bits with the
    composition of the batch. A schema is not enforced. No content of a message becomes a special token of the model's
    tokenizer: see `agentworld_gym.llm.generators.special_tokens`.

    Args:
        path: The directory with weights, tokenizer and chat template. Nothing is downloaded.
        device: The device, such as `cpu` or `cuda`; `auto` takes a GPU where there is one.
        dtype: The number format, such as `float32` or `bfloat16`. None takes the format of the weights, with two
            exceptions on a CPU: models of up to 100 million parameters are computed in `float32`, where there are fewer
            near ties, and so are larger ones in `bfloat16` if the CPU multiplies matrices clearly faster in `float32`.
        batch_size: The number of requests that are decoded together.
        cache_tokens: The number of tokens of earlier requests that the cache holds at most; 0 holds none, and None as
            many as fit into 1 GiB.
        lookup: Whether to guess ahead by copying.
        confidence: whether completions tell their log-probability.
        constrained: Whether requests are asked at every token what they allow (`ChatRequest.allows`).
    """

    supports_seed = True
    supports_schema = False
    deterministic = False

    def __init__(
        self,
        path: str | Path,
        *,
        device: str = "auto",
        dtype: str | None = None,
        batch_size: int = 64,
        cache_tokens: int | None = None,
        lookup: bool = True,
        confidence: bool = True,
        constrained: bool = True,
    ) -> None:
        self.constrains = constrained
        self.path = Path(path).expanduser()
        if not self.path.exists():
            raise MissingFile(self.path, "a folder with a model's config.json, weights and tokenizer", "folder")
        if not (self.path / "config.json").is_file():
            raise GeneratorError(f"{self.path} is no model directory: it holds no config.json")
        try:
            weights = weights_digest(self.path)
        except OSError as error:
            raise GeneratorError(f"{self.path} cannot be read: {error.strerror or error}") from error
        if weights is None:
            raise GeneratorError(f"{self.path} holds no weights (*.safetensors)")
        try:
            import torch
            import transformers
        except ImportError as error:
            raise GeneratorError(f"a local model needs torch and transformers ({error}): {install('lwm')}") from error
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        kind = "auto" if dtype is None else getattr(torch, dtype, None)
        if not (kind == "auto" or isinstance(kind, torch.dtype)):
            raise SpecError("generator", "dtype", dtype, "the name of a torch dtype, such as float32")
        if batch_size < 1:
            raise SpecError("generator", "batch_size", batch_size, "an integer of at least 1")
        if cache_tokens is not None and cache_tokens < 0:
            raise SpecError("generator", "cache_tokens", cache_tokens, "an integer of at least 0")
        log.info("loading the model in %s on %s", self.path, device)
        began = time.perf_counter()
        try:
            self._tokenizer: Any = load_tokenizer(self.path, local_files_only=True)
            with without_progress_bars():
                model, report = load_model(self.path, dtype=kind, local_files_only=True, output_loading_info=True)
            model = model.eval().to(device)
        except Exception as error:  # torch, transformers, safetensors and tokenizers raise errors of many kinds.
            reason = " ".join(str(error).split())[:600] or type(error).__name__
            raise GeneratorError(f"{self.path} cannot be loaded: {reason}") from error
        if lacking := sorted(report["missing_keys"]):
            # transformers fills them with random numbers.
            raise GeneratorError(f"{self.path} lacks {len(lacking)} of the model's weights, {lacking[0]} among them")
        if not self._tokenizer.chat_template:
            raise GeneratorError(f"{self.path} has no chat template (chat_template.jinja)")
        self._rule = rule_of(self._tokenizer)
        if dtype is None and device == "cpu" and (model.num_parameters() <= _SMALL or _slow_on_a_cpu(model)):
            model = model.float()
        self._device, self._batch_size, self._confidence = device, batch_size, confidence
        self._context = int(getattr(model.config, "max_position_embeddings", 0)) or 1 << 30
        self._vocabulary = int(model.get_input_embeddings().num_embeddings)
        self._ends, lock = frozenset(_end_tokens(model, self._tokenizer)), threading.Lock()
        self._decoder: PackedDecoder | PaddedDecoder | None
        try:
            packed = PackedModel(model)
        except Unpackable as reason:
            log.info("%s is decoded without cache and lookup: %s", self.path, reason)
            self._decoder = PaddedDecoder(model, self._tokenizer, self._ends, confidence, lock)
        else:
            held = _CACHE_BYTES // packed.token_bytes if cache_tokens is None else cache_tokens
            self._decoder = PackedDecoder(
                packed, self._tokenizer, self._ends, confidence, lock, cache_tokens=held, lookup=lookup
            )
        millions = model.num_parameters() / 1e6
        log.info("loaded %.0f million parameters in %.1f s", millions, time.perf_counter() - began)
        self._has_answered = False
        self._parts = {
            "generator": (f"transformers {transformers.__version__} torch {torch.__version__}", True),
            "dtype": (str(model.dtype).removeprefix("torch."), True),
            "model": (weights, True),
            "tokenizer": (tokenizer_digest(self.path) or "none", True),
        }

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Answer a wave batch by batch; within a batch answers come as rows end."""
        if self._decoder is None:
            raise ClosedError("this TransformersGenerator is closed")
        requests = list(requests)
        if requests and not self._has_answered:
            log.info("the first %d requests begin; a model on %s may take minutes", len(requests), self._device)
            self._has_answered = True
        return self._run(self._decoder, requests)

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return digests of weights and tokenizer, the number format, and versions."""
        return dict(self._parts)

    def close(self) -> None:
        """Let go of the model. A second call does nothing."""
        self._decoder = None

    def _run(
        self, decoder: PackedDecoder | PaddedDecoder, requests: list[ChatRequest]
    ) -> Iterator[tuple[int, Completion | Failure]]:
        rows: list[DecodingRow] = []
        for index, request in enumerate(requests):
            row = self._row(index, request)
            if isinstance(row, Failure):
                yield index, row
            else:
                rows.append(row)
        # Neighbours in length share a batch, so that little of it is padding.
        rows.sort(key=lambda row: len(row.prompt))
        for batch in self._batches(decoder, rows):
            due = {row.index for row in batch}
            try:
                for row in decoder.decode(batch):
                    answer = self._completion(row)
                    due.remove(row.index)
                    yield row.index, answer
            except RuntimeError as error:
                # A row may have ended in the very pass that failed.
                failure = Failure(FailureKind.SERVER, f"the model failed: {error}", retryable=True)
                yield from ((index, failure) for index in sorted(due))

    def _batches(self, decoder: PackedDecoder | PaddedDecoder, rows: list[DecodingRow]) -> Iterator[list[DecodingRow]]:
        batch: list[DecodingRow] = []
        for row in rows:
            full = len(batch) == self._batch_size
            if batch and (full or not decoder.fits(len(batch) + 1, len(row.prompt))):
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch

    def _row(self, index: int, request: ChatRequest) -> DecodingRow | Failure:
        import torch

        guarded = self._rule.messages(request.messages)
        messages = [{**m, "content": m["content"].encode("utf-8", "replace").decode()} for m in guarded]
        sampling = request.sampling
        try:
            text = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, enable_thinking=sampling.thinking
            )
        except Exception as error:  # A template may raise anything.
            return Failure(FailureKind.REJECTED, f"the chat template refuses these messages: {error}")
        prompt = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        room = self._context - len(prompt)
        if room < 1:
            size = f"{len(prompt)} tokens, the model's context {self._context}"
            return Failure(FailureKind.OVERFLOW, f"the prompt has {size}")
        if not prompt or max(prompt) >= self._vocabulary:
            wrong = f"token {max(prompt)} of {self._vocabulary}" if prompt else "no tokens"
            return Failure(FailureKind.REJECTED, f"the tokenizer does not fit the model: the prompt has {wrong}")
        dice = torch.Generator(device=self._device)
        dice.seed() if sampling.seed is None else dice.manual_seed(sampling.seed & (2**63 - 1))
        constraint = None
        if self.constrains and request.allows is not None:
            constraint = TokenConstraint(request.allows, self._tokenizer, self._ends)
        return DecodingRow(index, prompt, sampling, min(room, sampling.max_tokens), dice, constraint=constraint)

    def _completion(self, row: DecodingRow) -> Completion:
        text = self._tokenizer.decode(row.written, skip_special_tokens=True) if row.text is None else row.text
        usage = Usage(len(row.prompt), len(row.written), row.cached)
        logprob = round(row.logprob / len(row.written), 6) if self._confidence else None
        filled = row.finish == "length" and row.limit < row.sampling.max_tokens
        return Completion(
            self._rule.unescape(text), row.finish, usage, logprob=logprob, refused=row.refused, filled=filled
        )


def _slow_on_a_cpu(model: Any) -> bool:
    """Return whether a model is stored in bfloat16, and this CPU has no instructions for that."""
    if str(model.dtype) != "torch.bfloat16":
        return False
    measured = speeds("cpu")
    log.info("products of matrices: %s", measured)
    return measured.prefers("float32")


def _end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end an answer: those of the generation configuration, and the tokenizer's own."""
    configured = model.generation_config.eos_token_id
    ends = [] if configured is None else [configured] if isinstance(configured, int) else list(configured)
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
        ends.append(tokenizer.eos_token_id)
    return ends
