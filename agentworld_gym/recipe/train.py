"""Training a small language world model from scratch, on one thread if need be.

A run is a folder: `tokenizer.json`, `checkpoint.pt` (model, optimizers, random numbers, position in the data) and
`metrics.jsonl`. Training the same folder again goes on where it stopped. SIGINT and SIGTERM end a run cleanly, with a
checkpoint.
"""

from __future__ import annotations

import json
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.errors import AgentWorldError
from agentworld_gym.recipe.config import RecipeConfig, TrainConfig
from agentworld_gym.recipe.dataset import Batch, Batches, TokenSet, pad_id
from agentworld_gym.recipe.model import TOKENIZER, build_model, load_checkpoint, save_checkpoint

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer
    from transformers import Qwen3ForCausalLM

logger = logging.getLogger(__name__)

Metrics = dict[str, Any]
Progress = Callable[[Metrics], None]
"""Called with each line of metrics; `progress` in it runs from 0 to 1."""

MAX_BAD_STEPS = 10


class Trainer:
    """One training run.

    Args:
        config: the recipe.
        data: the sessions to learn from.
        tokenizer: what made the tokens.
        folder: of the run.
        evaluate: gives further metrics, at every checkpoint.
        progress: called with every line of metrics.
    """

    def __init__(
        self,
        config: RecipeConfig,
        data: TokenSet,
        tokenizer: Tokenizer,
        folder: Path,
        evaluate: Callable[[Qwen3ForCausalLM], Metrics] | None = None,
        progress: Progress | None = None,
    ) -> None:
        import torch

        self.config, self.folder, self.options = config, folder, config.train
        self._evaluate, self._progress = evaluate, progress
        torch.set_num_threads(self.options.threads)
        folder.mkdir(parents=True, exist_ok=True)
        self.model = build_model(config.model, tokenizer, self.options.seed)
        self.batches = Batches(
            data,
            seed=self.options.seed,
            tokens=self.options.batch_tokens,
            longest=self.options.max_session_tokens,
            short=self.options.short_tokens,
            context_weight=self.options.context_weight,
            pad=pad_id(tokenizer),
        )
        tokenizer.save(str(folder / TOKENIZER))
        self.optimizers = _optimizers(self.model, self.options)
        self._rates = [group["lr"] for optimizer in self.optimizers for group in optimizer.param_groups]
        self._loss: Any = torch.compile(self._loss_of, dynamic=True) if self.options.compile else self._loss_of
        self.steps = self.tokens = 0
        self.seconds = 0.0
        self._bad = 0
        self._stop = threading.Event()
        self._resume()

    @property
    def spent(self) -> float:
        """The share of the budget that is spent."""
        shares = [0.0]
        if self.options.max_seconds is not None:
            shares.append(self.seconds / self.options.max_seconds)
        if self.options.max_tokens is not None:
            shares.append(self.tokens / self.options.max_tokens)
        return max(shares)

    def stop(self) -> None:
        """End the run after the current step; safe to call from a signal handler or another thread."""
        self._stop.set()

    def run(self) -> Metrics:
        """Train until the budget is spent or `stop` is called; the last metrics.

        Raises:
            AgentWorldError: the loss stays infinite or undefined.
        """
        logged = checkpointed = time.monotonic()
        last: Metrics = {}
        recent: list[dict[str, float]] = []
        with _stopped_by_signals(self.stop), (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as log:
            while self.spent < 1 and not self._stop.is_set():
                recent.append(self.step())
                instant = time.monotonic()
                if instant - logged >= self.options.log_seconds:
                    last = self._report(log, recent, instant - logged)
                    recent, logged = [], instant
                if instant - checkpointed >= self.options.checkpoint_seconds:
                    self.checkpoint()
                    last = self._assess(log) or last
                    logged = checkpointed = time.monotonic()
            self.checkpoint()
            if recent:
                last = self._report(log, recent, time.monotonic() - logged)
        return last

    def step(self) -> dict[str, float]:
        """One step of gradient descent; a step whose gradient is not finite changes nothing."""
        import torch

        begun = time.monotonic()
        batch = self.batches.next(short=self.spent < self.options.curriculum)
        loss, observed, hits, count = self._loss(*_tensors(batch))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
        if torch.isfinite(norm):
            self._bad = 0
            self._set_rates(_rate(self.spent, self.options))
            for optimizer in self.optimizers:
                optimizer.step()
        else:
            self._skip()
        self.model.zero_grad(set_to_none=True)
        tokens = int((batch.weights > 0).sum())
        self.steps, self.tokens = self.steps + 1, self.tokens + tokens
        self.seconds += time.monotonic() - begun
        return {
            "loss": float(loss.detach()),
            "observed_loss": float(observed),
            "observed_accuracy": float(hits / count),
            "gradient": float(norm),
            "tokens": tokens,
        }

    def checkpoint(self) -> Path:
        """Write everything that the run needs to go on exactly."""
        import torch

        return save_checkpoint(
            self.folder,
            {
                "shape": self.config.model.model_dump(),
                "model": self.model.state_dict(),
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
                "batches": self.batches.state(),
                "random": torch.get_rng_state(),
                "steps": self.steps,
                "tokens": self.tokens,
                "seconds": self.seconds,
            },
        )

    def _resume(self) -> None:
        import torch

        state = load_checkpoint(self.folder)
        if state is None:
            return
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.batches.restore(state["batches"])
        torch.set_rng_state(state["random"])
        self.steps, self.tokens, self.seconds = state["steps"], state["tokens"], state["seconds"]
        logger.info("going on after step %d", self.steps)

    def _loss_of(self, ids: torch.Tensor, weights: torch.Tensor, observed: torch.Tensor) -> tuple[torch.Tensor, ...]:
        import torch

        with torch.autocast("cpu", torch.bfloat16, enabled=self.options.bfloat16):
            logits = self.model(input_ids=ids, use_cache=False).logits[:, :-1]
        targets, weights, observed = ids[:, 1:], weights[:, 1:], observed[:, 1:]
        logits = logits.reshape(-1, logits.shape[-1]).float()
        each = torch.nn.functional.cross_entropy(logits, targets.reshape(-1), reduction="none").view(targets.shape)
        count = observed.sum().clamp(min=1)
        hits = ((logits.argmax(-1).view(targets.shape) == targets) & observed).sum()
        loss = (each * weights).sum() / weights.sum()
        return loss, (each.detach() * observed).sum() / count, hits, count

    def _set_rates(self, factor: float) -> None:
        groups = [group for optimizer in self.optimizers for group in optimizer.param_groups]
        for group, rate in zip(groups, self._rates, strict=True):
            group["lr"] = rate * factor

    def _skip(self) -> None:
        self._bad += 1
        logger.warning("step %d: the gradient is not finite, the step is skipped", self.steps)
        if self._bad >= MAX_BAD_STEPS:
            raise AgentWorldError(
                f"{self.folder}: {self._bad} steps in a row had no finite gradient; lower muon_lr and adamw_lr and "
                "go on from the last checkpoint"
            )

    def _report(self, log: Any, recent: list[dict[str, float]], seconds: float) -> Metrics:
        means = {key: sum(item[key] for item in recent) / len(recent) for key in recent[0] if key != "tokens"}
        rate = sum(item["tokens"] for item in recent) / max(seconds, 1e-9)
        return self._write(log, {**means, "tokens_per_second": rate, "rate": _rate(self.spent, self.options)})

    def _assess(self, log: Any) -> Metrics | None:
        if self._evaluate is None:
            return None
        self.model.train(False)
        found = self._evaluate(self.model)
        self.model.train()
        return self._write(log, found)

    def _write(self, log: Any, metrics: Metrics) -> Metrics:
        where = {"step": self.steps, "tokens": self.tokens, "seconds": self.seconds, "progress": min(self.spent, 1.0)}
        line: Metrics = {**where, **metrics}
        log.write(json.dumps({k: round(v, 5) if isinstance(v, float) else v for k, v in line.items()}) + "\n")
        log.flush()
        if self._progress:
            self._progress(line)
        return line


def _rate(spent: float, options: TrainConfig) -> float:
    """The factor of the learning rate: up, level, down to a hundredth."""
    if spent < options.warmup:
        return max(spent / options.warmup, 0.05)
    if spent > 1 - options.decay:
        return max((1 - spent) / options.decay, 0.01)
    return 1.0


def _optimizers(model: Qwen3ForCausalLM, options: TrainConfig) -> list[torch.optim.Optimizer]:
    """Muon for the matrices, AdamW for embeddings and norms."""
    import torch

    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        (matrices if parameter.ndim == 2 and "embed" not in name else others).append(parameter)
    return [
        torch.optim.Muon(matrices, lr=options.muon_lr, weight_decay=options.weight_decay),
        torch.optim.AdamW(others, lr=options.adamw_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _tensors(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    import torch

    return torch.from_numpy(batch.ids), torch.from_numpy(batch.weights), torch.from_numpy(batch.observed)


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call `stop` (in the main thread; elsewhere Python allows no handlers)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
