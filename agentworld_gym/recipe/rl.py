"""Reinforcement learning of a world model: GSPO with TRL's GRPO trainer, one turn of a session an episode.

A group of completions for one turn is rewarded by `agentworld_gym.rewards.hybrid`, and the ratio of whole completions
is clipped (GSPO, arXiv 2507.18071). A group whose members all earn the same has no signal; such groups are counted. A
run is a folder: `config.yaml`, `trainer/checkpoint-N` with everything to go on exactly, `metrics.jsonl`, `tensorboard`,
and in the end `model`, which transformers and vLLM open. SIGINT and SIGTERM end a run cleanly, with a checkpoint.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from agentworld_gym.contracts import Sampling
from agentworld_gym.errors import GeneratorError, SpecError
from agentworld_gym.recipe.metrics import Metrics, MetricsLog, Progress
from agentworld_gym.recipe.model import CONFIG, load_tokenizer_of, make_model
from agentworld_gym.recipe.rl_config import RlConfig
from agentworld_gym.recipe.rl_rewards import TurnRewards
from agentworld_gym.recipe.signals import stopped_by_signals
from agentworld_gym.recipe.turns import Turns
from agentworld_gym.rewards.hybrid import HybridReward, PredictionJudge
from agentworld_gym.task import read_yaml

if TYPE_CHECKING:
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

logger = logging.getLogger(__name__)

TRAINER = "trainer"
_STATE = "trainer_state.json"
_FREE = {"name", "judge", "threads", "steps", "log_steps", "checkpoint_steps", "keep", "tensorboard"}
"""What may be another when a run goes on."""

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
"""TRL's names of what is logged, and ours."""


def train(
    config: RlConfig, out: Path, progress: Progress | None = None, judge: PredictionJudge | None = None
) -> Metrics:
    """Train a world model on rewards; goes on where an earlier call in the same folder stopped.

    Args:
        config: the run.
        out: its folder; the trained model ends up in `out/model`.
        progress: called with each line of metrics; `progress` in it runs from 0 to 1, `left` are the seconds to go.
        judge: who scores predictions, in place of the configured one.

    Returns:
        The last metrics, with `stopped` (whether a signal ended the run before its last step), and `turns`, how many
        turns were trained on.

    Raises:
        GeneratorError: the extra `train` is not installed, or there is no model at the path.
        SpecError: the rows hold no turn that can serve, or the folder is of another configuration.
    """
    try:
        import torch
        from transformers.trainer_callback import PrinterCallback
        from trl.trainer.grpo_trainer import GRPOTrainer
    except ImportError as error:
        raise GeneratorError("training needs TRL: pip install 'agentworld-gym[train]'") from error
    torch.set_num_threads(config.threads)
    _claim(config, out)
    tokenizer = load_tokenizer_of(config.model)
    tokenizer.padding_side = "left"
    turns = Turns(
        config.data,
        tokenizer,
        seed=config.seed,
        count=config.steps * config.prompts,
        answer_tokens=config.sampling.max_tokens,
        verifiable=not config.reward.judged,
    )
    for reason, number in sorted(turns.counts.items()):
        logger.info("%d sessions %s are left out", number, reason)
    with _opened(config, judge) as scorer:
        rewards = TurnRewards(turns, HybridReward(config.reward, scorer), tokenizer.eos_token_id)
        trainer = GRPOTrainer(
            model=make_model(config.model, tokenizer, config.seed),
            reward_funcs=rewards,
            args=_arguments(config, out),
            train_dataset=turns.dataset(),
            processing_class=tokenizer,
        )
        trainer.remove_callback(PrinterCallback)
        checkpoint = _last_checkpoint(out / TRAINER)
        done = int(checkpoint.rpartition("-")[2]) if checkpoint else 0
        with MetricsLog(out, done, config.tensorboard) as log:
            keeper = _keeper(log, progress, done)
            trainer.add_callback(keeper)
            with stopped_by_signals(keeper.stop):
                trainer.train(resume_from_checkpoint=checkpoint)
    steps, most = int(trainer.state.global_step), int(trainer.state.max_steps)
    place: Metrics = {"step": steps, "progress": steps / most, "turns": len(turns) * steps // most}
    last: Metrics = {**keeper.last, **place, "stopped": steps < most}
    if not last["stopped"]:
        _export(trainer, tokenizer, out / "model")
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
        bf16=config.bfloat16,
        gradient_checkpointing=config.model.gradient_checkpointing,
        logging_steps=config.log_steps,
        save_steps=config.checkpoint_steps * config.iterations,
        save_total_limit=config.keep,
        report_to=[],
        disable_tqdm=True,
        **vllm,
    )


def _keeper(log: MetricsLog, progress: Progress | None, done: int) -> Any:
    """The callback that writes metrics and ends the run when it is told to; `done` steps were made before."""
    import transformers

    class Keeper(transformers.TrainerCallback):
        def __init__(self) -> None:
            self.last: Metrics = {}
            self._stop = threading.Event()
            self._begun = time.monotonic()

        def stop(self) -> None:
            self._stop.set()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._end(args, state, control)

        def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
            if not state.is_world_process_zero or not logs or "reward" not in logs:
                return
            each = (time.monotonic() - self._begun) / max(state.global_step - done, 1)
            left = each * (state.max_steps - state.global_step)
            place = {"step": state.global_step, "progress": state.global_step / state.max_steps, "left": left}
            self.last = place | renamed(logs)
            log.write(self.last)
            if progress is not None:
                progress(self.last)
            self._end(args, state, control)

        def _end(self, args: Any, state: Any, control: Any) -> None:
            # Between the passes over its completions a run cannot go on: TRL does not keep them.
            whole = state.global_step % args.num_iterations == 0
            if self._stop.is_set() and whole and state.global_step < state.max_steps:
                control.should_save = control.should_training_stop = True

    return Keeper()


def renamed(logs: Mapping[str, Any]) -> Metrics:
    """What TRL logged, under our names; what it has no use for here is left out.

    >>> renamed({"frac_reward_zero_std": 0.5, "verifier": 12.5, "rewards/hybrid/mean": 1.0})
    {'groups_equal': 0.5, 'verifier': 12.5}
    """
    ours = ("format_valid", "flag", "unscored", "judge_failures", "rubric", "verifier")
    found = {_RENAMED[name]: value for name, value in logs.items() if name in _RENAMED}
    return found | {name: value for name, value in logs.items() if name.startswith(ours)}


def _claim(config: RlConfig, out: Path) -> None:
    """Write the configuration, or make sure that an earlier one differs in nothing that decides what is learned."""
    path, plain = out / CONFIG, config.model_dump(mode="json")
    if path.is_file():
        before = read_yaml(path)
        for key in plain.keys() - _FREE:
            if before.get(key) != plain[key]:
                raise SpecError(path, key, before.get(key), f"{plain[key]!r}, or another folder for the run")
    out.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(yaml.safe_dump(plain, sort_keys=False), encoding="utf-8")
    partial.replace(path)


def _last_checkpoint(folder: Path) -> str | None:
    """The last whole checkpoint; its state is written last, so one without it was torn by a crash, and goes."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    while found:
        last = found.pop()
        try:
            json.loads((last / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            logger.warning("%s is not whole and is left out", last)
            shutil.rmtree(last, ignore_errors=True)
            continue
        return str(last)
    return None


def _export(trainer: GRPOTrainer, tokenizer: Any, folder: Path) -> None:
    """Write the trained model, adapters merged into the weights, so that a crash leaves no half of it.

    Every process calls this: sharded weights have to be gathered.
    """
    import torch

    partial = folder.with_name(folder.name + ".partial")
    main = trainer.accelerator.is_main_process
    if main:
        shutil.rmtree(partial, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    if trainer.is_fsdp_enabled:
        trainer.save_model(str(partial))
    elif main:
        model: Any = trainer.accelerator.unwrap_model(trainer.model)
        if hasattr(model, "merge_and_unload"):
            model = model.merge_and_unload()
        model.to(torch.bfloat16)
        model.save_pretrained(partial)
    if main:
        tokenizer.save_pretrained(partial)
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(partial.iterdir()):
            os.replace(file, folder / file.name)
        partial.rmdir()
    trainer.accelerator.wait_for_everyone()


@contextmanager
def _opened(config: RlConfig, judge: PredictionJudge | None) -> Iterator[PredictionJudge | None]:
    """The judge of a run: the given one, or the configured one with its generator."""
    if judge is not None or config.judge is None or not config.reward.judged:
        yield judge
        return
    from agentworld_gym.evaluation.judging import Judge
    from agentworld_gym.generators import open_generator
    from agentworld_gym.rewards.dimensions import DimensionJudge

    chosen = config.judge
    sampling = Sampling(temperature=chosen.temperature, max_tokens=chosen.max_tokens, thinking=chosen.thinking)
    lease = open_generator(chosen.generator)
    try:
        yield DimensionJudge(Judge(lease, sampling, chosen.tries, chosen.generator))
    finally:
        lease.close()
