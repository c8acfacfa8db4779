"""The folder that an export fills: it appears once it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, BinaryIO

import orjson

from agentworld_gym.base.errors import SpecError


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Yield a folder to fill, which takes its place once the block ends; an error or Ctrl-C leaves nothing.

    A folder that stays empty leaves nothing either.

    Args:
        out: The place of the folder, which must not be there yet, or be empty.

    Raises:
        SpecError: Something is there, or nothing can be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as above:
    ...     with appearing(Path(above) / "out") as folder:
    ...         _ = (folder / "a.txt").write_text("a")
    ...         before = (Path(above) / "out").exists()
    ...     before, (Path(above) / "out" / "a.txt").exists()
    (False, True)
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError("command line", "--out", str(out), "a folder that is not there yet, or is empty")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        above = Path(mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise SpecError(
            "command line", "--out", str(out), f"a folder that can be written ({error.strerror})"
        ) from error
    try:
        folder = above / out.name
        folder.mkdir()
        yield folder
        if any(folder.iterdir()):
            folder.replace(out)
    finally:
        shutil.rmtree(above, ignore_errors=True)


class JsonLines:
    """Files of JSON lines, one for each split, that are opened when their first line comes.

    Args:
        folder: The folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._files, self._open = folder, dict[str, BinaryIO](), ExitStack()

    def write(self, split: str, line: Mapping[str, Any]) -> None:
        """Write a line to the file of a split."""
        file = self._files.get(split)
        if file is None:
            file = self._files[split] = self._open.enter_context((self._folder / f"{split}.jsonl").open("wb"))
        file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Close the files."""
        self._open.close()
