"""The training loop of all stages that learn from samples, on one process or several.

A run is a folder, in which the trainer writes `checkpoints`, `metrics.jsonl` and `tensorboard`. Training the same
folder again goes on exactly where its last checkpoint stands. SIGINT and SIGTERM end a run cleanly, with a checkpoint.

The loop stands beside the `Trainer` of transformers because it weighs every token, packs and sorts samples by tokens,
ends by a budget of seconds, and resumes bitwise in the middle of an epoch; what accelerate, transformers and torch
offer for the rest (devices, sharding, models, optimizers) is taken from them.
"""

from __future__ import annotations

import logging
import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agentworld_gym.base.errors import SpecError, TrainingError
from agentworld_gym.base.process.interrupts import stopped_by_signals
from agentworld_gym.llm.generators.number_formats import Speeds, speeds
from agentworld_gym.recipe.training.checkpoints import Checkpoints
from agentworld_gym.recipe.training.distributed import Processes
from agentworld_gym.recipe.training.flops import count_flops
from agentworld_gym.recipe.training.metrics import Metrics, MetricsLog, Progress, StepMetrics
from agentworld_gym.recipe.training.model import CHECKPOINTS
from agentworld_gym.recipe.training.optimizers import LearningRates, learning_rate_factor, make_optimizers
from agentworld_gym.recipe.training.train_config import TrainConfig

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from agentworld_gym.recipe.training.batches import Batches

logger = logging.getLogger(__name__)

Evaluate = Callable[["PreTrainedModel"], Metrics]

MAX_BAD_STEPS = 10
"""The number of skipped steps in a row that ends a run."""

RECENT_LOSSES = 100
"""The number of last losses whose median is the usual loss."""

MIN_LOSSES = 20
"""The number of losses from which on a loss can be called unusual."""

MIN_MEDIAN = 0.5
"""The least median that losses are compared with: a loss that is nearly zero may well multiply."""


class _Totals(NamedTuple):
    """What the processes add up in a step, each by itself at first and then over all of them."""

    loss: float
    observed_loss: float
    hits: float
    observed: float
    tokens: float
    cells: float
    stop: float
    due: float
    seconds: float
    flops: float


class Trainer:
    """One training run.

    Args:
        model: The model to train, as `make_model` gives it.
        batches: The batches to learn from, of this process's rank.
        options: The configuration of the training.
        folder: The folder of the run.
        identity: What a checkpoint must have been made with, such as the digests of data and tokenizer, beside the
            optimizer.
        packed: Whether rows hold several samples.
        evaluate: A function that gives further metrics, at every checkpoint.
        progress: A function that is called with every line of metrics.
        processes: The processes that train together.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        batches: Batches,
        options: TrainConfig,
        folder: Path,
        *,
        identity: Mapping[str, str] | None = None,
        packed: bool = False,
        evaluate: Evaluate | None = None,
        progress: Progress | None = None,
        processes: Processes | None = None,
    ) -> None:
        import torch

        from agentworld_gym.recipe.training.loss import ModelWithLoss

        torch.set_num_threads(options.threads)
        self.batches, self.options, self.folder, self.packed = batches, options, folder, packed
        self.processes = processes or Processes()
        if self.processes.sharded and options.optimizer != "adamw":
            raise SpecError("train", "optimizer", options.optimizer, "adamw: Muon needs whole matrices, not shards")
        self._identity = {**(identity or {}), "optimizer": options.optimizer}
        self._evaluate, self._progress = evaluate, progress
        self._checkpoints = Checkpoints(folder / CHECKPOINTS, options.keep)
        self._speeds = self._agreed_speeds()
        best = self._speeds.best
        bfloat16 = best == "bfloat16" if options.bfloat16 == "auto" else options.bfloat16
        computed = "bfloat16" if bfloat16 or model.dtype == torch.bfloat16 else "float32"
        self._limit: float = getattr(self._speeds, computed) * self.processes.count
        self._flops = count_flops(model)
        logger.info("products of matrices: %s, with %d threads", self._speeds, torch.get_num_threads())
        logger.info("computing in %s, and Muon's iteration in %s", computed, best)
        learner = ModelWithLoss(model, bfloat16)
        self._compiled = self._compiles_next = self._is_compiled()
        if self._compiled:
            learner.compile_layers()
        model.train()
        self._learner, self._optimizers = self.processes.prepare(learner, make_optimizers(model, options, best))
        self.model = model
        self._rates = LearningRates(self._optimizers)
        self.steps = self.tokens = 0
        self.seconds = 0.0
        self._unmeasured = 0.0  # seconds of the last step that its own measure left out
        self._bad = 0
        self._usual: deque[float] = deque(maxlen=RECENT_LOSSES)
        self._stop_wanted = threading.Event()
        self._checkpointed = time.monotonic()
        self.stopped = self._due = False
        self._resume()

    @property
    def spent(self) -> float:
        """The share of the budget that is spent."""
        used = (
            (self.steps, self.options.max_steps),
            (self.tokens, self.options.max_tokens),
            (self.seconds, self.options.max_seconds),
        )
        return max(done / limit for done, limit in used if limit is not None)

    def stop(self) -> None:
        """End the run after the current step; safe to call from a signal handler or another thread."""
        self._stop_wanted.set()

    def run(self) -> Metrics:
        """Train until the budget is spent or `stop` is called, and return the last metrics.

        Raises:
            TrainingError: The loss explodes or stays undefined, or the disk is full. The last checkpoint is whole.
        """
        last: Metrics = {}
        logger.info("training%s", "; the first steps compile, which may take minutes" if self._compiled else "")
        with stopped_by_signals(self.stop), self._log() as log:
            recent: list[StepMetrics] = []
            logged = self._checkpointed = time.monotonic()
            saved = -1
            while self.spent < 1 and not self.stopped:
                try:
                    recent.append(self.step())
                except Exception:
                    # Ctrl-C ends the compiler as well. Its batch is lost, so that the last checkpoint stays the last.
                    if not (self._compiled and self._stop_wanted.is_set()):
                        raise
                    self.stopped = True
                    return last
                instant = time.monotonic()
                if instant - logged >= self.options.log_seconds:
                    last = self._report(log, recent, instant - logged)
                    recent, logged = [], instant
                if self._due and self.spent < 1:
                    self.checkpoint()
                    saved = self.steps
                    last = self._assess(log) or last
                    logged = self._checkpointed = time.monotonic()
            if saved != self.steps:
                self.checkpoint()
            if recent:
                last = self._report(log, recent, time.monotonic() - logged)
            if not self.stopped:
                last = self._assess(log) or last
        return last

    def step(self) -> StepMetrics:
        """Take one step of gradient descent; a step whose loss or gradient is unusable changes no weight.

        Raises:
            TrainingError: Several such steps came in a row.
        """
        import torch

        from agentworld_gym.recipe.training.loss import model_inputs, target_count, target_weight, with_context_share

        begun = time.monotonic()
        short = self.spent < self.options.curriculum
        if short != self.batches.short:
            self._usual.clear()  # Other samples have other usual losses.
        before = self._counts()
        rng = np.random.default_rng((self.options.seed, self.steps, self.processes.rank))
        batches = [
            with_context_share(self.batches.next(short=short), self.options.context_share, rng)
            for _ in range(self.options.accumulation)
        ]
        (weight,) = self.processes.total([sum(map(target_weight, batches))])
        sums = torch.zeros(4, dtype=torch.float64)
        norm = math.nan
        if weight > 0:
            parts = []
            for number, batch in enumerate(batches, 1):
                unsynced = number < len(batches) and self.processes.count > 1
                with self.processes.unsynced(self._learner) if unsynced else nullcontext():
                    losses = self._learner(model_inputs(batch, self.processes.device, self.packed))
                    self.processes.backward(losses.loss * (self.processes.count / weight))
                parts.append(torch.stack([value.detach().double() for value in losses]))
            norm = self.processes.clip(self._learner, self.options.clip)
            sums = torch.stack(parts).sum(0)
        tokens, cells, pairs = (now - then for now, then in zip(self._counts(), before, strict=True))
        measured = time.monotonic()
        main = self.processes.main
        loss_sum, observed_loss, hits, observed = sums.tolist()
        totals = self._totals(
            _Totals(
                loss=loss_sum,
                observed_loss=observed_loss,
                hits=hits,
                observed=observed,
                tokens=tokens,
                cells=cells,
                stop=self._stop_wanted.is_set(),
                due=main and self._checkpoint_is_due(),
                seconds=measured - begun + self._unmeasured if main and not self._compiles_next else 0.0,
                flops=self._flops.of(tokens, sum(map(target_count, batches)), pairs),
            )
        )
        loss = totals.loss / weight if weight > 0 else math.nan
        reason = self._why_unusable(loss, norm, weight)
        if reason is None:
            self._rates.set(learning_rate_factor(self.spent, self.options))
            for optimizer in self._optimizers:
                optimizer.step()
            self._usual.append(loss)
            self._bad = 0
        self._learner.zero_grad(set_to_none=True)
        self.steps, self.tokens = self.steps + 1, self.tokens + int(totals.tokens)
        self.seconds += totals.seconds
        self.stopped, self._due = totals.stop > 0, totals.due > 0
        self._unmeasured = time.monotonic() - measured
        self._compiles_next = False
        if reason is not None:
            self._skip(reason)
        answers = max(totals.observed, 1.0)
        return StepMetrics(
            loss=loss,
            observed_loss=totals.observed_loss / answers,
            observed_accuracy=totals.hits / answers,
            gradient=norm,
            tokens=totals.tokens,
            cells=totals.cells,
            flops=totals.flops,
        )

    def checkpoint(self) -> Path:
        """Write everything that the run needs to go on exactly.

        Raises:
            TrainingError: The checkpoint cannot be written; the last one is whole.
        """
        weights, optimizers = self.processes.state(self._learner, self._optimizers)
        random = self.processes.random_states()
        path, failure = self._checkpoints.folder, None
        if self.processes.main:
            try:
                path = self._checkpoints.write(
                    self.steps,
                    {
                        "identity": self._identity,
                        "model": weights,
                        "optimizers": optimizers,
                        "batches": self.batches.state(),
                        "random": random,
                        "steps": self.steps,
                        "tokens": self.tokens,
                        "seconds": self.seconds,
                        "usual": list(self._usual),
                        "bad": self._bad,
                    },
                )
            except TrainingError as error:
                failure = error
        (failed,) = self.processes.total([failure is not None])
        if failed:
            raise failure or TrainingError(f"{self.folder}: the main process could not write its checkpoint")
        return path

    def _resume(self) -> None:
        state = self._checkpoints.read()
        if state is None:
            return
        for key, value in self._identity.items():
            if state["identity"].get(key) != value:
                raise TrainingError(
                    f"{self.folder}: its checkpoint was made with another {key}; go on with the same one, or train in "
                    "another folder"
                )
        self.processes.restore(self._learner, self._optimizers, state["model"], state["optimizers"])
        self.batches.restore(state["batches"])
        self.processes.set_random_state(state["random"])
        self.steps, self.tokens, self.seconds = state["steps"], state["tokens"], state["seconds"]
        self._usual.extend(state["usual"])
        self._bad = state["bad"]
        logger.info("going on after step %d", self.steps)

    def _totals(self, own: _Totals) -> _Totals:
        """Add up the figures of all processes."""
        return _Totals(*self.processes.total(own))

    def _is_compiled(self) -> bool:
        """Say whether to compile; with `auto` only on a CPU, as what it brings on a GPU was not measured."""
        from agentworld_gym.recipe.training.loss import why_not_compiled

        if self.options.compile != "auto":
            return self.options.compile
        if self.processes.device.type != "cpu" or not self.options.is_long:
            return False
        lacks = why_not_compiled()
        if lacks and self.processes.main:
            logger.warning(
                "nothing is compiled, so that training is slower; torch.compile needs a C++ compiler, such as g++, and "
                "the headers of Python: %s",
                lacks,
            )
        return not lacks

    def _agreed_speeds(self) -> Speeds:
        """Return how fast the main process multiplies matrices, which decides for all processes."""
        own = speeds(str(self.processes.device)) if self.processes.main else Speeds(0.0, 0.0)
        return Speeds(*self.processes.total(own))

    def _counts(self) -> tuple[int, int, int]:
        """Count the tokens of the batches so far, without padding and with it, and the pairs of tokens that attention
        looks at.
        """
        state = self.batches.state()
        return state["cells"] - state["padded"], state["cells"], state["pairs"]

    def _checkpoint_is_due(self) -> bool:
        every = self.options.checkpoint_steps
        if every is not None:
            return (self.steps + 1) % every == 0
        return time.monotonic() - self._checkpointed >= self.options.checkpoint_seconds

    def _why_unusable(self, loss: float, norm: float, weight: float) -> str | None:
        """Say why a step must not be taken; None where nothing speaks against it."""
        if weight <= 0:
            return "the batch is empty: no token in it has a weight in the loss"
        if not math.isfinite(loss):
            return f"the loss is {loss}"
        if not math.isfinite(norm):
            return f"the gradient is {norm}"
        usual = max(statistics.median(self._usual), MIN_MEDIAN) if len(self._usual) >= MIN_LOSSES else math.inf
        if loss > self.options.explosion * usual:
            return f"the loss explodes: {loss:.3g}, usual is {usual:.3g}"
        return None

    def _skip(self, reason: str) -> None:
        self._bad += 1
        logger.warning("step %d is skipped: %s", self.steps, reason)
        if self._bad < MAX_BAD_STEPS:
            return
        hint = "look at the samples" if "empty" in reason else "lower the learning rates (muon_lr, adamw_lr), and go on"
        raise TrainingError(
            f"{self.folder}: step {self.steps}: {reason}; {self._bad} steps in a row were skipped, and the last "
            f"checkpoint stays as it is; {hint}"
        )

    def _log(self) -> Any:
        return MetricsLog(self.folder, self.steps, self.options.tensorboard) if self.processes.main else nullcontext()

    def _report(self, log: MetricsLog | None, recent: Sequence[StepMetrics], seconds: float) -> Metrics:
        keys = ("loss", "observed_loss", "observed_accuracy", "gradient")
        usable = [item for item in recent if math.isfinite(item.loss)] or recent[-1:]
        means: Metrics = {key: sum(getattr(item, key) for item in usable) / len(usable) for key in keys}
        tokens, cells = sum(item.tokens for item in recent), sum(item.cells for item in recent)
        seconds = max(seconds, 1e-9)
        more = {
            "tokens_per_second": tokens / seconds,
            "limit_share": sum(item.flops for item in recent) / seconds / self._limit,
            "padded": 1 - tokens / max(cells, 1),
            "rate": learning_rate_factor(self.spent, self.options),
        }
        return self._write(log, {**means, **more})

    def _assess(self, log: MetricsLog | None) -> Metrics | None:
        """Evaluate the model on the main process; a sharded model is not evaluated, because that process has only a
        part of it.
        """
        metrics: Metrics | None = None
        if self._evaluate is not None and self.processes.main and not self.processes.sharded:
            logger.info("measuring the progress on held-out samples")
            self.model.train(False)
            metrics = self._write(log, self._evaluate(self.model))
            self.model.train()
        return metrics

    def _write(self, log: MetricsLog | None, metrics: Metrics) -> Metrics:
        spent = min(self.spent, 1.0)
        left = self.seconds * (1 - spent) / spent if spent else None
        where = {"step": self.steps, "tokens": self.tokens, "seconds": self.seconds, "progress": spent, "left": left}
        line: Metrics = {**where, **metrics}
        if log is not None:
            log.write(line)
        if self._progress and self.processes.main:
            self._progress(line)
        return line
