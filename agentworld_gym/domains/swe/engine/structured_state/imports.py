"""Imports that lead nowhere: what a file imports, and what of it is not there, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from agentworld_gym.domains.swe.engine.files import relative

DEEPEST = 40
"""The largest number of modules that are followed."""


def broken_import(files: Mapping[str, str], path: str, root: str) -> str | None:
    r"""Return the first import of a file that finds nothing, in the form of a failure of its tests; None without any.

    Args:
        files: The texts of all files.
        path: The file.
        root: The folder from which modules are imported.

    >>> files = {"/repo/test_a.py": "from a import b, c\n", "/repo/a.py": "import d\nb = 1\n", "/repo/d.py": ""}
    >>> broken_import(files, "/repo/test_a.py", "/repo")
    "1\nImportError: cannot import name 'c' from 'a' (/repo/a.py)"
    """
    found = _Followed(files, root).failure(path)
    if found is None:
        return None
    (_, line), *frames = found[0]
    return "\n".join([str(line), *(f"{relative(where, root)}:{number}" for where, number in frames), found[1]])


Failure = tuple[list[tuple[str, int]], str]
"""The path and the line of each import that leads to one which finds nothing, and the words of the error."""


class _Followed:
    """The imports that were followed from one file."""

    def __init__(self, files: Mapping[str, str], root: str) -> None:
        self._files, self._root = files, root
        self._seen = set[str]()

    def failure(self, path: str) -> Failure | None:
        """Return the first import of a file that finds nothing, whether there or in what it imports."""
        tree = self._tree(path)
        if tree is None or path in self._seen or len(self._seen) > DEEPEST:
            return None
        self._seen.add(path)
        for node in tree.body:
            for failure in self._failures(node, path):
                if failure is not None:
                    return [(path, node.lineno), *failure[0]], failure[1]
        return None

    def _failures(self, node: ast.stmt, path: str) -> list[Failure | None]:
        if isinstance(node, ast.Import):
            return [self._module(alias.name) for alias in node.names]
        if not isinstance(node, ast.ImportFrom):
            return []
        name = node.module or ""
        if node.level:
            package = relative(path, self._root).split("/")[: -node.level]
            name = ".".join(filter(None, (*package, name)))
        failures = [self._module(name)]
        target = self._path(name)
        if failures == [None] and target is not None:
            failures += [self._name(name, target, alias.name) for alias in node.names]
        return failures

    def _module(self, name: str) -> Failure | None:
        """Return what fails where a module and the packages around it are imported."""
        parts = name.split(".")
        if self._path(parts[0]) is None:  # It is no module of the repository.
            return None
        for end in range(1, len(parts) + 1):
            inner = ".".join(parts[:end])
            path = self._path(inner)
            if path is None:
                above = ".".join(parts[: end - 1])
                plain = (self._path(above) or "").endswith(f"/{parts[end - 2]}.py")
                return [], f"ModuleNotFoundError: No module named '{inner}'" + (
                    f"; '{above}' is not a package" if plain else ""
                )
            failure = self.failure(path)
            if failure is not None:
                return failure
        return None

    def _name(self, module: str, path: str, name: str) -> Failure | None:
        """Return what fails where a name is imported from a module."""
        if name == "*" or not {name, "*", "__getattr__"}.isdisjoint(self._names(path)):
            return None
        if self._path(f"{module}.{name}") is not None:
            return self._module(f"{module}.{name}")
        return [], f"ImportError: cannot import name '{name}' from '{module}' ({path})"

    def _path(self, module: str) -> str | None:
        start = f"{self._root.rstrip('/')}/{module.replace('.', '/')}"
        return next((path for path in (f"{start}/__init__.py", f"{start}.py") if path in self._files), None)

    def _names(self, path: str) -> set[str]:
        """Return the names that a module may define, wherever they stand in it; `*` where it takes those of another."""
        names = {"__doc__", "__file__", "__name__"}
        for node in ast.walk(self._tree(path) or ast.Module([], [])):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        return names

    def _tree(self, path: str) -> ast.Module | None:
        try:
            return ast.parse(self._files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
