"""Weights in eight bits: an integer for each entry of a matrix, and a scale for each row.

The package's small models are stored so, in half of the room. `load_model` reads them; other programs, such as vLLM and
TRL, take the folder that `ordinary_folder` returns.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentworld_gym.llm.generators.pretrained.catalog import cache_folder
from agentworld_gym.llm.generators.pretrained.digests import weights_digest

if TYPE_CHECKING:
    from torch import Tensor

FILE = "model.int8.safetensors"
"""The file of such weights in the folder of a model."""

ORDINARY = "model.safetensors"
_SCALES = ".row_scales"
_MOST = 127


def pack(folder: Path, into: Path) -> None:
    """Copy the folder of a model, with its weights in eight bits.

    A matrix becomes integers from -127 to 127 and one scale for each row, in the type of the weights; what is no matrix
    stays as it is.

    Args:
        folder: The folder, with its weights in `model.safetensors`.
        into: The folder to write; what lies there is replaced.

    >>> import torch
    >>> from safetensors.torch import save_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> save_file({"layer": torch.tensor([[0.5, -1.0], [254.0, 2.0]])}, folder / "model.safetensors")
    >>> pack(folder, folder / "packed")
    >>> restored_weights(folder / "packed")["layer"].round(decimals=2).tolist()
    [[0.5, -1.0], [254.0, 2.0]]
    >>> shutil.rmtree(folder)
    """
    import torch
    from safetensors.torch import load_file, save_file

    packed: dict[str, Tensor] = {}
    for name, weight in load_file(folder / ORDINARY).items():
        if weight.ndim < 2:
            packed[name] = weight
            continue
        exact = weight.float()
        scales = (exact.abs().amax(-1, keepdim=True) / _MOST).clamp_min(torch.finfo(weight.dtype).tiny).to(weight.dtype)
        packed[name] = (exact / scales.float()).round().clamp(-_MOST, _MOST).to(torch.int8)
        packed[f"{name}{_SCALES}"] = scales
    with _appearing(into) as work:
        shutil.copytree(folder, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns(ORDINARY))
        save_file(packed, work / FILE, metadata={"format": "pt"})
        shutil.rmtree(into, ignore_errors=True)


def restored_weights(folder: Path) -> dict[str, Tensor]:
    """Return the weights of a folder that `pack` wrote, by name, in the type that they had before."""
    from safetensors.torch import load_file

    stored = load_file(folder / FILE)
    matrices = {name.removesuffix(_SCALES): scales for name, scales in stored.items() if name.endswith(_SCALES)}
    kept = {name: weight for name, weight in stored.items() if not name.endswith(_SCALES)}
    return {
        name: (weight.float() * matrices[name].float()).to(matrices[name].dtype) if name in matrices else weight
        for name, weight in kept.items()
    }


def ordinary_folder(source: str) -> str:
    """Return a folder from which any program loads a model: one in the cache if the weights have eight bits.

    Args:
        source: A folder, or the name of a model, which is returned as it is if no such weights lie there.

    >>> ordinary_folder("Qwen/Qwen3-0.6B")
    'Qwen/Qwen3-0.6B'
    """
    folder = Path(source).expanduser()
    if not (folder / FILE).is_file():
        return source
    from safetensors.torch import save_file

    target = cache_folder() / "models" / f"{folder.resolve().name}-{weights_digest(folder)}"
    if not target.is_dir():
        with _appearing(target) as work:
            shutil.copytree(folder, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns(FILE))
            save_file(restored_weights(folder), work / ORDINARY, metadata={"format": "pt"})
    return str(target)


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, which then takes the name of another one; if there is one by then, that one stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield work
        work.chmod(0o755)
        try:
            os.replace(work, folder)
        except OSError:  # Another process was faster, with the same files.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
