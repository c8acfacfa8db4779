"""Names of models: whether a name means a folder of this machine, and whether that folder is there."""

from __future__ import annotations

from pathlib import Path

from agentworld_gym.base.errors import MissingFile


def looks_local(name: str) -> bool:
    """Return whether the name of a model can only be a path: on the Hugging Face hub names have one slash at most.

    >>> [looks_local(name) for name in ("./model", "/models/a", "runs/tiny/model", "Qwen/Qwen3-0.6B", "gpt2")]
    [True, True, True, False, False]
    """
    path = Path(name).expanduser()
    marked = name.startswith((".", "~")) or path.is_absolute()
    return marked or len(path.parts) > 2 or (len(path.parts) == 2 and path.parent.is_dir())


def must_be_there(name: str, key: str, expected: str) -> None:
    """Refuse a name that looks like a path where there is nothing.

    Args:
        name: The name of a model.
        key: The name of the option, such as `model.path`.
        expected: The words of the error for what should lie there, and what to do about it.

    Raises:
        MissingFile: There is nothing at that path.
    """
    if looks_local(name) and not Path(name).expanduser().exists():
        raise MissingFile(name, expected, "folder", key)
