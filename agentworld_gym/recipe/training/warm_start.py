"""A warm start: a model begins with the layers of a trained one, under another vocabulary and perhaps deeper.

What the layers of a small model learn first and longest, to look things up in the prompt and to copy them, has little
to do with which tokens there are. A model that begins with such layers copies with a vocabulary of its own after some
hundred steps instead of some thousand. Layers that are added begin as copies that write nothing, so that the deeper
model answers as the other did (growth in depth, as in LLaMA Pro: C. Wu et al., 2024).
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.errors import GeneratorError, SpecError
from agentworld_gym.llm.generators.pretrained.loading import load_model, load_tokenizer

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

NOISE = 0.5
"""The spread of the noise that is added to a row made of others, in spreads of all rows, so that equal rows grow
apart."""

_LAYER = re.compile(r"(.*\blayers\.)([0-9]+)(\..*)")
_WRITES = ("self_attn.o_proj.weight", "mlp.down_proj.weight")


def warm_start(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, source: str) -> None:
    """Give a model the layers of another one, and embeddings for its tokens.

    A token that both vocabularies hold keeps its embedding. Any other one begins with the mean of the embeddings of its
    pieces in the other vocabulary, and some noise, which follows torch's random numbers.

    Args:
        model: The model, which has the other's shape except for the vocabulary, and is up to twice as deep (see
            `layer_origins`).
        tokenizer: The tokenizer of the model.
        source: The folder of the other model, with its tokenizer, or the name of one that comes with the package.

    Raises:
        GeneratorError: There is no model at the source.
        SpecError: The source has other shapes, or does not fit in depth.
    """
    import torch

    folders = (Path(source), Path(str(resources.files("agentworld_gym"))) / "models" / source)
    folder = next((folder for folder in folders if (folder / "config.json").is_file()), None)
    if folder is None:
        raise GeneratorError(f"model.layers_of: {source} is no model directory: it holds no config.json")
    other = load_model(folder, local_files_only=True, dtype=next(model.parameters()).dtype)
    pieces = load_tokenizer(folder, local_files_only=True)
    rows: torch.Tensor = other.get_input_embeddings().weight.detach()
    spread = NOISE * float(rows.std())
    given, wanted = _layers(other), _layers(model)
    depth, deeper = other.config.num_hidden_layers, model.config.num_hidden_layers
    if not depth <= deeper <= 2 * depth:
        fitting = f"{depth} to {2 * depth}, since {source} has {depth} layers"
        raise SpecError("model", "shape.num_hidden_layers", deeper, fitting)
    silent = _deepen(given, depth, deeper)
    for name in sorted(given.keys() | wanted.keys()):
        shape, expected = (list(layers[name].shape) if name in layers else None for layers in (given, wanted))
        if shape != expected:
            raise SpecError(source, name, shape, f"{expected}, the shape of the model to train")
    for name, parameter in wanted.items():
        parameter.data.copy_(given[name].data)
        if name in silent:
            parameter.data.zero_()
    vocabulary = pieces.get_vocab()
    table: Any = model.get_input_embeddings()
    with torch.no_grad():
        for token, number in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
            if token in vocabulary:
                table.weight[number] = rows[vocabulary[token]]
                continue
            parts = pieces(tokenizer.decode([number]), add_special_tokens=False)["input_ids"]
            mean = rows[parts].mean(0) if parts else rows.mean(0)
            table.weight[number] = mean + spread * torch.randn(len(mean))


def layer_origins(depth: int, wanted: int) -> list[int]:
    """Return the layer from which each layer of a deeper model begins; those in the middle come twice.

    >>> layer_origins(4, 6), layer_origins(3, 3)
    ([0, 1, 1, 2, 2, 3], [0, 1, 2])
    """
    first = (2 * depth - wanted) // 2
    return sorted([*range(depth), *range(first, first + wanted - depth)])


def _deepen(layers: dict[str, torch.Tensor], depth: int, wanted: int) -> set[str]:
    """Number layers as the deeper model does, in place, and return the names of those that write nothing at first."""
    order = layer_origins(depth, wanted)
    old = {name: layers.pop(name) for name in list(layers) if _LAYER.fullmatch(name)}
    silent: set[str] = set()
    for number, origin in enumerate(order):
        for name, parameter in old.items():
            parts = _LAYER.fullmatch(name)
            if parts is None or int(parts[2]) != origin:
                continue
            called = f"{parts[1]}{number}{parts[3]}"
            layers[called] = parameter
            if number and order[number - 1] == origin and called.endswith(_WRITES):
                silent.add(called)
    return silent


def _layers(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Return the parameters that have nothing to do with the vocabulary, by name."""
    return {name: parameter for name, parameter in model.named_parameters() if "embed" not in name}
