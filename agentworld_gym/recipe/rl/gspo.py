"""Reinforcement learning of a world model: GSPO with TRL's GRPO trainer, where one turn of a session is an episode.

A group of completions for one turn is rewarded by `agentworld_gym.recipe.rl.hybrid_reward`, and the ratio of whole
completions is clipped (GSPO, arXiv 2507.18071). A group whose members all earn the same has no signal; such groups are
counted. A run is a folder: `config.yaml`, `trainer/checkpoint-N` with everything to go on exactly, `metrics.jsonl`,
`tensorboard`, and in the end `model`, which transformers and vLLM open. SIGINT and SIGTERM end a run cleanly, with a
checkpoint.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.errors import GeneratorError, TrainingError, install
from agentworld_gym.base.process.interrupts import stopped_by_signals
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators.number_formats import speeds
from agentworld_gym.llm.prompting.official import OfficialPrompts
from agentworld_gym.recipe.data.data_files import data_files
from agentworld_gym.recipe.rl.config import RlConfig
from agentworld_gym.recipe.rl.hybrid_reward import HybridReward, PredictionJudge
from agentworld_gym.recipe.rl.trl_reward import TrlReward
from agentworld_gym.recipe.rl.turn_dataset import TurnDataset
from agentworld_gym.recipe.run_folder import ensure_same_settings, sole_process
from agentworld_gym.recipe.training.metrics import Metrics, MetricsLog, Progress
from agentworld_gym.recipe.training.model import (
    CONFIG,
    load_tokenizer_of,
    load_weights,
    make_model,
    must_have_model,
    trained_weights,
    write_model,
)
from agentworld_gym.recipe.training.pipeline import INCIDENTAL
from agentworld_gym.recipe.training.world_card import base_card, write_card

if TYPE_CHECKING:
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

logger = logging.getLogger(__name__)

TRAINER = "trainer"
_STATE = "trainer_state.json"
FREE = (
    "name",
    "judge",
    "threads",
    "steps",
    "log_steps",
    "checkpoint_steps",
    "keep",
    "tensorboard",
    "sampling.server",
    "sampling.gpu_share",
    *(f"model.{key}" for key in INCIDENTAL),
)
"""The fields that may differ when a run goes on, because they do not decide what is learned."""

_RENAMED = {
    "reward": "reward",
    "reward_std": "reward_std",
    "frac_reward_zero_std": "groups_equal",
    "completions/mean_length": "completion_tokens",
    "completions/clipped_ratio": "truncated",
    "entropy": "entropy",
    "loss": "loss",
    "grad_norm": "gradient",
    "learning_rate": "rate",
    "kl": "kl",
}
"""Our names of the metrics that TRL logs, by TRL's names."""


def train(
    config: RlConfig, out: Path, progress: Progress | None = None, judge: PredictionJudge | None = None
) -> Metrics:
    """Train a world model on rewards, or go on where an earlier call in the same folder stopped.

    Args:
        config: The configuration of the run.
        out: The folder of the run; the trained model ends up in `out/model`.
        progress: A function that is called with each line of metrics; its `progress` runs from 0 to 1, and `left` is
            the remaining time in seconds.
        judge: A judge in place of the configured one.

    Returns:
        The last metrics, with `stopped` (whether a signal ended the run before its last step), and `turns`, the number
        of turns that were trained on.

    Raises:
        GeneratorError: The extra `train` is not installed, or there is no model at the path.
        SpecError: The rows or the model are not there, the rows hold no turn that can serve, or the folder is of
            another configuration.
        TrainingError: Another process trains in the folder, a gradient is not finite, or disk or memory is full;
            the last checkpoint is whole.
    """
    must_have_model(config.model)
    data_files(config.data.rows, "train")
    _official(config)
    card = base_card(config.model.path, config.sampling.thinking)  # an error in it costs no trained model
    try:
        import torch
        from accelerate import PartialState
        from transformers.trainer_callback import PrinterCallback
        from trl.trainer.grpo_trainer import GRPOTrainer
    except ImportError as error:
        raise GeneratorError(f"training needs TRL: {install('train')}") from error
    torch.set_num_threads(config.threads)
    arguments = _arguments(config, out)
    processes = PartialState()
    with sole_process(out) if processes.is_main_process else nullcontext():
        if processes.is_main_process:
            ensure_same_settings(out / CONFIG, config.model_dump(mode="json"), FREE)
            _drop_torn(out / TRAINER)
        processes.wait_for_everyone()
        tokenizer = load_tokenizer_of(config.model)
        tokenizer.padding_side = "left"
        logger.info("choosing turns of the recorded sessions")
        turns = TurnDataset(
            config.data,
            tokenizer,
            seed=config.seed,
            count=config.steps * config.prompts,
            answer_tokens=config.sampling.max_tokens,
            verifiable=not config.reward.judged,
        )
        for reason, number in sorted(turns.counts.items()):
            logger.info("%d sessions %s are left out", number, reason)
        with _open_judge(config, judge) as scorer:
            rewards = TrlReward(turns, HybridReward(config.reward, scorer), tokenizer.eos_token_id)
            trainer = GRPOTrainer(
                model=make_model(config.model, tokenizer, config.seed),
                reward_funcs=rewards,
                args=arguments,
                train_dataset=turns.dataset(),
                processing_class=tokenizer,
            )
            trainer.remove_callback(PrinterCallback)
            checkpoints = _checkpoints(out / TRAINER)
            checkpoint = str(checkpoints[-1]) if checkpoints else None
            done = _step(checkpoints[-1]) if checkpoints else 0
            with _explain_failures(out), _log(config, out, done, processes.is_main_process) as log:
                keeper = _keeper(log, progress, done)
                trainer.add_callback(keeper)
                logger.info("training; a step samples %d answers to each of %d turns", config.group, config.prompts)
                with stopped_by_signals(keeper.stop):
                    trainer.train(resume_from_checkpoint=checkpoint)
        steps, most = int(trainer.state.global_step), int(trainer.state.max_steps)
        place: Metrics = {"step": steps, "progress": steps / most, "turns": len(turns) * steps // most}
        last: Metrics = {**keeper.last, **place, "stopped": steps < most}
        if not last["stopped"]:
            with _explain_failures(out):
                _export(trainer, config, tokenizer, out / "model")
                if processes.is_main_process:
                    write_card(out / "model", card)
    return last


def _arguments(config: RlConfig, out: Path) -> GRPOConfig:
    import torch
    from trl.trainer.grpo_config import GRPOConfig

    sampling = config.sampling
    vllm: dict[str, Any] = {}
    if sampling.engine != "transformers":
        vllm = {"use_vllm": True, "vllm_mode": sampling.engine, "vllm_gpu_memory_utilization": sampling.gpu_share}
        if sampling.server:
            vllm["vllm_server_base_url"] = sampling.server
    return GRPOConfig(
        output_dir=str(out / TRAINER),
        importance_sampling_level="sequence",
        loss_type="grpo",
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        beta=config.beta,
        scale_rewards="group" if config.spread else "none",
        num_generations=config.group,
        num_iterations=config.iterations,
        per_device_train_batch_size=config.batch,
        gradient_accumulation_steps=config.accumulation(int(os.environ.get("WORLD_SIZE", "1"))),
        max_steps=config.steps * config.iterations,
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.schedule,
        warmup_steps=config.warmup_steps,
        weight_decay=config.weight_decay,
        max_grad_norm=config.clip,
        seed=config.seed,
        shuffle_dataset=False,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        max_completion_length=sampling.max_tokens,
        chat_template_kwargs={"enable_thinking": sampling.thinking},
        use_cpu=not torch.cuda.is_available(),
        bf16=_in_bfloat16(config),
        gradient_checkpointing=config.model.gradient_checkpointing,
        logging_steps=config.log_steps,
        save_steps=config.checkpoint_steps * config.iterations,
        save_total_limit=config.keep,
        report_to=[],
        disable_tqdm=True,
        **vllm,
    )


def _in_bfloat16(config: RlConfig) -> bool:
    """Whether to compute in bfloat16; `auto` takes what this process measures."""
    import torch

    if config.bfloat16 != "auto":
        return config.bfloat16
    measured = speeds("cuda" if torch.cuda.is_available() else "cpu")
    logger.info("products of matrices: %s; computing in %s", measured, measured.best)
    return measured.best == "bfloat16"


def _log(config: RlConfig, out: Path, done: int, main: bool) -> Any:
    """Return the log of a run's metrics from a step on, which the main process alone writes."""
    return MetricsLog(out, done, config.tensorboard) if main else nullcontext()


def _keeper(log: MetricsLog | None, progress: Progress | None, done: int) -> Any:
    """Return the callback that writes metrics, ends the run on request, and keeps broken gradients out of the weights.

    Every process has such a callback, the main one with a `log`; `done` is the number of steps made before.
    """
    import transformers

    class Keeper(transformers.TrainerCallback):
        def __init__(self) -> None:
            self.last: Metrics = {}
            self._stop = threading.Event()
            self._begun = time.monotonic()

        def stop(self) -> None:
            self._stop.set()

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if _anywhere(not _is_finite(model)):
                raise TrainingError(
                    f"{Path(args.output_dir).parent}: step {state.global_step + 1}: the gradient is not finite; the "
                    "last checkpoint stays as it is; lower learning_rate, and train in another folder"
                )

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._end(args, state, control)

        def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
            if log is not None and logs and "reward" in logs:
                each = (time.monotonic() - self._begun) / max(state.global_step - done, 1)
                left = each * (state.max_steps - state.global_step)
                place = {"step": state.global_step, "progress": state.global_step / state.max_steps, "left": left}
                self.last = place | renamed_metrics(logs)
                log.write(self.last)
                if progress is not None:
                    progress(self.last)
            self._end(args, state, control)

        def _end(self, args: Any, state: Any, control: Any) -> None:
            """Every process calls this at the same places, so that all of them end after the same step."""
            stops = _anywhere(self._stop.is_set())
            # A run cannot resume between the passes over its completions, because TRL does not save them.
            whole = state.global_step % args.num_iterations == 0
            if stops and whole and state.global_step < state.max_steps:
                control.should_save = control.should_training_stop = True

    return Keeper()


def _is_finite(model: Any) -> bool:
    """Whether the gradients of this process are finite; those of a sharded model are parts."""
    import torch

    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    parts: list[Any] = [grad.to_local() if hasattr(grad, "to_local") else grad for grad in gradients]
    return not parts or bool(torch.stack([part.isfinite().all() for part in parts]).all())


def _anywhere(flag: bool) -> bool:
    """Whether a flag is set in some process; all processes ask at once."""
    import torch
    from accelerate import PartialState
    from accelerate.utils import reduce

    processes = PartialState()
    if processes.num_processes == 1:
        return flag
    raised: Any = reduce(torch.tensor(float(flag), device=processes.device), reduction="sum")
    return bool(raised.item())


@contextmanager
def _explain_failures(out: Path) -> Iterator[None]:
    """Turn what a full disk or memory raises into an error that says where the run stands."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = str(error).split("\n", 1)[0]
        text = f"{out}: {reason}; once that is mended, the same command goes on from the last whole checkpoint"
        raise TrainingError(text) from error


def renamed_metrics(logs: Mapping[str, Any]) -> Metrics:
    """Return what TRL logged under our names, without what has no use here.

    >>> renamed_metrics({"frac_reward_zero_std": 0.5, "verifier": 12.5, "rewards/hybrid/mean": 1.0})
    {'groups_equal': 0.5, 'verifier': 12.5}
    """
    ours = ("format_valid", "flag", "unscored", "judge_failures", "rubric", "verifier")
    metrics = {_RENAMED[name]: value for name, value in logs.items() if name in _RENAMED}
    return metrics | {name: value for name, value in logs.items() if name.startswith(ours)}


def _drop_torn(folder: Path) -> None:
    """Delete the last checkpoints as far as a crash tore them: the state of a checkpoint is written last."""
    for checkpoint in reversed(_checkpoints(folder)):
        try:
            json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
            return
        except (OSError, ValueError):
            logger.warning("%s is not whole and is left out", checkpoint)
            shutil.rmtree(checkpoint, ignore_errors=True)


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("checkpoint-*"), key=_step)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _export(trainer: GRPOTrainer, config: RlConfig, tokenizer: Any, folder: Path) -> None:
    """Write the trained model; every process calls this, because the parts of a sharded model have to be gathered."""
    gathered = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if trainer.accelerator.is_main_process:
        model = make_model(config.model, tokenizer, config.seed)
        own = trained_weights(model)
        load_weights(model, {name: value for name, value in gathered.items() if name in own}, folder)
        write_model(model, tokenizer, folder)
    trainer.accelerator.wait_for_everyone()


def _official(config: RlConfig) -> OfficialPrompts | None:
    """Return the official prompts of the configured judge, which are there for the domains that the data names."""
    official = None if config.judge is None else OfficialPrompts.named(config.judge.prompts)
    if official is not None:
        official.need_judges(name.partition(":")[0] for name in config.data.domains)
    return official


@contextmanager
def _open_judge(config: RlConfig, judge: PredictionJudge | None) -> Iterator[PredictionJudge | None]:
    """Open the judge of a run: the given one, or the configured one with its generator."""
    if judge is not None or config.judge is None or not config.reward.judged:
        yield judge
        return
    from agentworld_gym.llm.generators import open_generator
    from agentworld_gym.llm.judging.dimension_judge import DimensionJudge
    from agentworld_gym.llm.judging.judge import Judge

    chosen = config.judge
    sampling = Sampling(temperature=chosen.temperature, max_tokens=chosen.max_tokens, thinking=chosen.thinking)
    official = _official(config)
    lease = open_generator(chosen.generator)
    try:
        yield DimensionJudge(Judge(lease, sampling, chosen.tries, chosen.generator, official))
    finally:
        lease.close()
