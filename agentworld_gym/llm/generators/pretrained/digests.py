"""Digests of a model's files: one of its weights, and one of its tokenizer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_WHOLE_BYTES = 8 << 30
_SAMPLES, _SAMPLE_BYTES = 64, 1 << 20
_TOKENIZER = (
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "merges.txt",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
)


def weights_digest(directory: str | Path, *, whole_bytes: int = _WHOLE_BYTES) -> str | None:
    """Return the digest of the weights and `config.json` of a directory, or None where there are no weights.

    Every byte counts up to a limit. Files that are larger together are sampled at fixed places each: the head, which
    names and sizes every tensor, the tail, and pieces between. Their digest begins with `sampled-`.

    Args:
        directory: The directory of the model.
        whole_bytes: The number of bytes up to which files are read whole.
    """
    folder = Path(directory)
    weights = _files(folder, "*.safetensors") or _files(folder, "*.bin")
    if not weights:
        return None
    sampled = sum(path.stat().st_size for path in weights) > whole_bytes
    files = [*weights, *(path for path in [folder / "config.json"] if path.is_file())]
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        digests = list(pool.map(_sampled if sampled else _whole, files))
    return ("sampled-" if sampled else "") + _joined(files, digests)


def tokenizer_digest(directory: str | Path) -> str | None:
    """Return the digest of the tokenizer's files, chat template included, or None where there are none."""
    files = [path for path in (Path(directory) / name for name in _TOKENIZER) if path.is_file()]
    return _joined(files, [_whole(path) for path in files]) if files else None


def files_stamp(directory: str | Path) -> str:
    """Return a short text that changes when a file in a directory is written anew; it reads no file.

    Args:
        directory: The directory of a model.
    """
    stats = [(path.name, path.stat()) for path in _files(Path(directory), "*")]
    told = [f"{name} {stat.st_ino} {stat.st_size} {stat.st_mtime_ns}\n" for name, stat in stats]
    return hashlib.sha256("".join(told).encode()).hexdigest()[:16]


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def _joined(files: Iterable[Path], digests: Iterable[str]) -> str:
    lines = "".join(f"{path.name} {digest}\n" for path, digest in zip(files, digests, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _whole(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sampled(path: Path) -> str:
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    last = max(0, size - _SAMPLE_BYTES)
    with path.open("rb") as file:
        for number in range(_SAMPLES):
            file.seek(last * number // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()
