"""The files of a run in monty, which lie in memory and are bounded in size."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.swe.engine.python.sandbox import clean

MAX_BYTES = 16 << 20


def memory_files(files: Mapping[str, str], env: Mapping[str, str]) -> Any:
    """Return files and environment of a run in the interpreter's own form, with a method `changes()` for the result."""
    from pydantic_monty import MemoryFile, OSAccess

    chance = random.Random(0)

    class Space(OSAccess):
        written = 0

        def _count(self, data: str | bytes) -> None:
            self.written += len(data) + 256
            if self.written > MAX_BYTES:
                raise OSError("[Errno 28] No space left on device")

        def path_open(self, path: Any, mode: str) -> Any:
            self._count("")
            return super().path_open(path, mode)

        def path_write_text(self, path: Any, data: str) -> int:
            self._count(data)
            return super().path_write_text(path, data)

        def path_write_bytes(self, path: Any, data: bytes) -> int:
            self._count(data)
            return super().path_write_bytes(path, data)

        def path_append_text(self, path: Any, data: str) -> int:
            self._count(data)
            return super().path_append_text(path, data)

        def path_append_bytes(self, path: Any, data: bytes) -> int:
            self._count(data)
            return super().path_append_bytes(path, data)

        def path_mkdir(self, path: Any, parents: bool, exist_ok: bool) -> None:
            self._count("")
            super().path_mkdir(path, parents, exist_ok)

        def urandom(self, size: int) -> bytes:
            return chance.randbytes(size) if 0 <= size <= self.max_urandom_bytes else super().urandom(size)

        def changes(self) -> tuple[dict[str, str], tuple[str, ...]]:
            """Return the text files that changed, and the paths of those that were removed."""
            texts: dict[str, str] = {}
            for file in self.files:
                if file.deleted:
                    continue
                content = file.read_content()
                try:
                    texts[str(file.path)] = content if isinstance(content, str) else content.decode()
                except UnicodeDecodeError:
                    continue
            gone = tuple(sorted(set(files) - set(texts)))
            return {path: text for path, text in texts.items() if files.get(path) != text}, gone

    environ = {"HOME": "/home/user", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environ |= {name: clean(value) for name, value in env.items()}
    return Space([MemoryFile(path, text) for path, text in sorted(files.items())], environ)
