"""The teams and directors that come with the package, and how a file of one of them is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeVar

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import MissingFile, SpecError

Kind = Literal["team", "director"]
Read = TypeVar("Read", bound=Strict)


def shipped_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the teams or directors that come with the package.

    >>> "author-and-reviewer" in shipped_names("team"), "faulty-shop" in shipped_names("director")
    (True, True)
    """
    return tuple(sorted(path.stem for path in _folder(kind).glob("*.yaml")))


def read_shipped(kind: Kind, source: str, model: type[Read]) -> Read:
    """Read a team or a director, whose `id` is the name of its file unless the file says otherwise.

    Args:
        kind: What it is.
        source: The name of one that comes with the package, or the path of a YAML file.
        model: Its class, which has the fields `id` and `path`.

    Raises:
        SpecError: There is none of that name, or it is broken: the error names file, key, value and what was expected.
    """
    names = shipped_names(kind)
    path = _folder(kind) / f"{source}.yaml" if source in names else Path(source)
    if not path.exists():
        raise MissingFile(source, f"one of {', '.join(nearest(source, names))}, or the path of a YAML file", key=kind)
    data = read_yaml(path)
    if not isinstance(data, Mapping):
        raise SpecError(path, "the whole document", type(data).__name__, "a mapping")
    return validated(model, {"id": path.stem, **data, "path": path.resolve()}, path)


def _folder(kind: Kind) -> Path:
    return data_folder("domain_specs") / f"{kind}s"
