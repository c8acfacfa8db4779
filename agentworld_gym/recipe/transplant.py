"""The layers of a trained model under another vocabulary.

What the layers of a small model learn first and longest, to look things up in the prompt and to copy them, has little
to do with which tokens there are. A model that begins with such layers copies with a vocabulary of its own after some
hundred steps instead of some thousand.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentworld_gym.errors import GeneratorError, SpecError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

NOISE = 0.5
"""Spread of what is added to a row that is made of others, in spreads of all rows, so that equal rows part."""


def transplant(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, source: str) -> None:
    """Give a model the layers of another one, and rows for its tokens.

    A token that both vocabularies hold keeps its row; any other one begins with the mean of the rows of its pieces in
    the other vocabulary, and some noise, which follows torch's random numbers.

    Args:
        model: of the same shape as the other, but for the vocabulary.
        tokenizer: of the model.
        source: the folder of the other model, with its tokenizer, or the name of one that comes with the package.

    Raises:
        GeneratorError: there is no model in that folder.
        SpecError: the layers are of another shape.
    """
    import torch
    import transformers

    load_model: Any = transformers.AutoModelForCausalLM.from_pretrained
    load_tokenizer: Any = transformers.AutoTokenizer.from_pretrained  # both untyped
    folders = (Path(source), Path(str(resources.files("agentworld_gym"))) / "models" / source)
    folder = next((folder for folder in folders if (folder / "config.json").is_file()), None)
    if folder is None:
        raise GeneratorError(f"model.layers_of: {source} is no model directory: it holds no config.json")
    other = load_model(folder, local_files_only=True, dtype=next(model.parameters()).dtype)
    pieces = load_tokenizer(folder, local_files_only=True)
    rows: torch.Tensor = other.get_input_embeddings().weight.detach()
    spread = NOISE * float(rows.std())
    given, wanted = _layers(other), _layers(model)
    for name in sorted(given.keys() | wanted.keys()):
        shape, expected = (list(layers[name].shape) if name in layers else None for layers in (given, wanted))
        if shape != expected:
            raise SpecError(source, name, shape, f"{expected}, the shape of the model to train")
    for name, parameter in wanted.items():
        parameter.data.copy_(given[name].data)
    known = pieces.get_vocab()
    table: Any = model.get_input_embeddings()
    with torch.no_grad():
        for token, number in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
            if token in known:
                table.weight[number] = rows[known[token]]
                continue
            parts = pieces(tokenizer.decode([number]), add_special_tokens=False)["input_ids"]
            mean = rows[parts].mean(0) if parts else rows.mean(0)
            table.weight[number] = mean + spread * torch.randn(len(mean))


def _layers(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The parameters that have nothing to do with the vocabulary, by name."""
    return {name: parameter for name, parameter in model.named_parameters() if "embed" not in name}
