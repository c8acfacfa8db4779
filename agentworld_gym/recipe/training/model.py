"""The model that is trained: made from scratch or read from a folder, and written as one that any engine serves."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.documents.strict import read_yaml, validated
from agentworld_gym.base.errors import GeneratorError, SpecError
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.llm.generators.pretrained.folders import must_be_there
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer
from agentworld_gym.llm.generators.pretrained.progress_bars import without_progress_bars
from agentworld_gym.recipe.data.renaming import content_words
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, spelled_out, wrap
from agentworld_gym.recipe.training.checkpoints import Checkpoints
from agentworld_gym.recipe.training.model_config import ModelConfig, ModelShape
from agentworld_gym.recipe.training.warm_start import warm_start

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

TOKENIZER = "tokenizer"
CHECKPOINTS = "checkpoints"
CONFIG = "config.yaml"
"""The file of a run's configuration; together with the tokenizer and a checkpoint it gives the model back."""

ANSWER_TOKENS = 512
"""The most tokens that an exported model from scratch answers with, unless a request says otherwise."""


def make_tokenizer(config: ModelConfig, texts: Iterable[str]) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a model: the one at its path, or one made from texts for a model from scratch.

    Raises:
        GeneratorError: There is no tokenizer at the model's path.
        SpecError: Words are to be spelled, and the tokenizer at the path is none of a small model.
    """
    spelled = content_words() if config.spelled else frozenset[str]()
    if config.shape is not None:
        logger.info("making a tokenizer of the first %d samples", config.tokenizer_samples)
        return wrap(build_tokenizer(texts, config.shape.vocab_size, spelled), config.shape.max_position_embeddings)
    tokenizer = load_tokenizer_of(config)
    if not spelled:
        return tokenizer
    backend: Any = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return wrap(spelled_out(backend, spelled), tokenizer.model_max_length)


def must_have_model(config: ModelConfig) -> None:
    """Refuse a path that looks local where there is no folder, before anything large is imported.

    Raises:
        GeneratorError: The path is the name of a public model that was not fetched.
        MissingFile: There is no such folder.
    """
    if config.path is not None:
        model_source(config.path)
        hint = "a trained model: train it first, or name another with --set model.path=..."
        must_be_there(config.path, "model.path", hint)


def load_tokenizer_of(config: ModelConfig) -> PreTrainedTokenizerBase:
    """Load the tokenizer at a model's path.

    Raises:
        GeneratorError: There is no tokenizer.
        SpecError: The tokenizer has no chat template.
    """

    try:
        tokenizer: PreTrainedTokenizerBase = load_tokenizer(
            model_source(config.path or ""), revision=config.revision, local_files_only=not config.download
        )
    except (OSError, ValueError) as error:
        raise _missing(config, "tokenizer", error) from error
    if tokenizer.chat_template is None:
        raise SpecError(str(config.path), "chat_template", None, "a tokenizer with a chat template: an instruct model")
    return tokenizer


def make_model(config: ModelConfig, tokenizer: PreTrainedTokenizerBase, seed: int) -> PreTrainedModel:
    """Make the model to train, with adapters where the configuration asks for them.

    Raises:
        GeneratorError: There is no model at the path.
        SpecError: The tokenizer has more tokens than the model.
    """
    import torch

    torch.manual_seed(seed)
    logger.info("making the model" if config.path is None else f"loading the model {config.path}")
    if config.shape is not None:
        built: Any = build_model(config.shape, tokenizer, config.attention)
        if config.layers_of is not None:
            warm_start(built, tokenizer, config.layers_of)
        return _thrifty(built.to(getattr(torch, config.dtype)), config)
    try:
        model = load_model(
            model_source(config.path or ""),
            revision=config.revision,
            local_files_only=not config.download,
            dtype=getattr(torch, config.dtype),
            attn_implementation=config.attention,
        )
    except (OSError, ValueError, ImportError) as error:
        raise _missing(config, "model", error) from error
    vocabulary_size = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > vocabulary_size:
        raise SpecError(
            str(config.path), "tokenizer", len(tokenizer), f"at most the {vocabulary_size} tokens the model knows"
        )
    return _adapted(_thrifty(model, config), config)


def build_model(shape: ModelShape, tokenizer: PreTrainedTokenizerBase, attention: str = "sdpa") -> PreTrainedModel:
    """Build an untrained Qwen3 of a shape, with embeddings tied to the output; its weights follow torch's random
    numbers.
    """
    import transformers

    make_config: Any = transformers.Qwen3Config
    make_model: Any = transformers.Qwen3ForCausalLM  # both untyped
    config = make_config(
        **shape.model_dump(exclude={"rope_theta", "vocab_size"}),
        vocab_size=len(tokenizer),
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        tie_word_embeddings=True,
        attn_implementation=attention,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model: PreTrainedModel = make_model(config)
    make_generation: Any = transformers.GenerationConfig  # untyped
    model.generation_config = make_generation(
        do_sample=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        max_new_tokens=ANSWER_TOKENS,
    )
    return model


def trained_weights(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Return the parameters that are trained, by name; shared ones occur once."""
    return {name: parameter.detach() for name, parameter in model.named_parameters() if parameter.requires_grad}


def load_weights(model: PreTrainedModel, saved: Mapping[str, torch.Tensor], source: str | Path) -> None:
    """Copy saved parameters into a model.

    Raises:
        SpecError: The parameters are of another model.
    """
    import torch

    own = trained_weights(model)
    wrong = sorted(own.keys() ^ saved.keys()) or sorted(n for n in own if own[n].shape != saved[n].shape)
    if wrong:
        raise SpecError(source, wrong[0], list(saved[wrong[0]].shape) if wrong[0] in saved else None, "the same model")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(saved[name])


def tokenizer_of_run(run: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a run.

    Raises:
        SpecError: The run has no tokenizer yet.
    """

    if not (run / TOKENIZER).is_dir():
        raise SpecError(run, TOKENIZER, None, "the folder of a training run")
    tokenizer: PreTrainedTokenizerBase = load_tokenizer(run / TOKENIZER, local_files_only=True)
    return tokenizer


def model_of_run(run: Path) -> PreTrainedModel:
    """Load the model of a run from its last checkpoint, with adapters merged into the weights.

    Raises:
        SpecError: The run has no checkpoint.
    """
    state = Checkpoints(run / CHECKPOINTS).read()
    if state is None:
        raise SpecError(run, CHECKPOINTS, None, "a run with a checkpoint")
    config = validated(ModelConfig, read_yaml(run / CONFIG)["model"], run / CONFIG)
    model: Any = make_model(config.model_copy(update={"layers_of": None}), tokenizer_of_run(run), 0)
    load_weights(model, state["model"], run)
    merged: PreTrainedModel = model.merge_and_unload() if config.lora is not None else model
    merged.train(False)
    return merged


def export(run: Path, folder: Path) -> Path:
    """Write the model of a run as a folder that transformers and vLLM load: weights in bfloat16, tokenizer, chat
    template.

    Files of the folder that are not part of the model, such as a model card, stay.

    Raises:
        SpecError: The run has no checkpoint.
    """
    return write_model(model_of_run(run), tokenizer_of_run(run), folder)


def write_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> Path:
    """Write a model as `export` does, with adapters merged; a crash leaves the earlier folder, the new one, or none.

    Raises:
        OSError: The folder cannot be written.
    """
    import torch

    plain: Any = model
    if hasattr(plain, "merge_and_unload"):
        plain = plain.merge_and_unload()
    plain.to(torch.bfloat16)
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    with without_progress_bars():
        plain.save_pretrained(partial)
    tokenizer.save_pretrained(str(partial))
    _exchange(folder, partial)
    return folder


def _exchange(folder: Path, whole: Path) -> None:
    """Replace a folder by another one; files of the other that are not weights stay if the new one lacks
    them.
    """
    earlier = folder.with_name(f"{folder.name}.earlier")
    if earlier.is_dir() and not folder.exists():
        earlier.rename(folder)  # a crash came between the two renames below
    shutil.rmtree(earlier, ignore_errors=True)
    if folder.exists():
        for file in folder.iterdir():
            if "safetensors" not in file.name and not (whole / file.name).exists():
                _copy(file, whole / file.name)
        folder.rename(earlier)
    whole.rename(folder)
    shutil.rmtree(earlier, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def _thrifty(model: PreTrainedModel, config: ModelConfig) -> PreTrainedModel:
    """Return the model, which keeps few activations where the configuration asks for that."""
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return model


def _adapted(model: Any, config: ModelConfig) -> PreTrainedModel:
    """Return the model with its adapters, which alone are trained."""
    if config.lora is None:
        plain: PreTrainedModel = model
        return plain
    import peft

    if config.gradient_checkpointing:
        model.enable_input_require_grads()
    targets = config.lora.targets if isinstance(config.lora.targets, str) else list(config.lora.targets)
    options = peft.LoraConfig(
        r=config.lora.rank,
        lora_alpha=config.lora.alpha,
        lora_dropout=config.lora.dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )
    try:
        adapted: Any = peft.get_peft_model(model, options)
    except ValueError as error:
        raise SpecError(str(config.path), "lora.targets", targets, "names of layers of this model") from error
    return adapted  # type: ignore[no-any-return]


def _missing(config: ModelConfig, what: str, error: BaseException) -> GeneratorError:
    reason = str(error).split("\n", 1)[0]
    hint = "" if config.download else "; a name on the hub is fetched only with `download: true`"
    return GeneratorError(f"{config.path}: there is no {what} that transformers can read ({reason}){hint}")
