"""Joins the modules of a repository for an interpreter that cannot import them.

Every module keeps its own namespace. An import of another module of the repository becomes a call of a loader on the
same line. The text of each module is moved down so far that no two modules share a line number; the line number in a
traceback therefore tells file and line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, dirname, join, splitext

from agentworld_gym.domains.swe.engine.python.source import Edit, SourceFile, changed, parse, place

MAX_MODULES = 200
MAX_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class LinkedModule:
    """One module of a program. `first` is the number of the line before it in the joined numbering."""

    name: str
    source: SourceFile
    package: bool
    text: str
    first: int

    def packed(self) -> tuple[str, str, bool, str, str]:
        """Return what the loader inside the sandbox reads: name, file, whether it is a package, text, and error."""
        return self.name, self.source.path, self.package, "\n" * self.first + self.text, self.source.report


class ModuleLinker:
    """Finds and joins the modules that a program may import.

    Args:
        files: the files of the run, absolute path -> text.
        paths: the folders in which modules are looked for.
        provided: modules of the sandbox, name -> text, which take precedence over files.
    """

    def __init__(self, files: Mapping[str, str], paths: Sequence[str], provided: Mapping[str, str]) -> None:
        self.files = files
        self.paths = paths
        self.provided = provided
        self.modules: dict[str, LinkedModule] = {}
        self._folders = {folder for path in files for folder in _parents(path)}
        self._lines = 0
        self._chars = 0

    def add(self, name: str, edits: Callable[[SourceFile], Iterable[Edit]] = lambda source: ()) -> bool:
        """Add a module by its dotted name, with all that it imports, and return whether there is such a module.

        `edits` are changes of its text beside those of the linker.
        """
        if name in self.modules:
            return True
        module = self.find(name)
        if module is None and "." in name:
            self.add(name.rpartition(".")[0])
        if module is None or len(self.modules) >= MAX_MODULES or self._chars > MAX_CHARS:
            return False
        self._chars += len(module[1])
        parent = name.rpartition(".")[0]
        if parent:
            self.add(parent)
        path, text, package = module
        self.add_source(name, parse(path, text), package, edits)
        return True

    def add_source(
        self,
        name: str,
        source: SourceFile,
        package: bool = False,
        edits: Callable[[SourceFile], Iterable[Edit]] = lambda source: (),
    ) -> LinkedModule:
        """Add a module whose source is given, with all that it imports."""
        wanted: list[str] = []
        text = ""
        if source.tree is not None:
            changes = list(edits(source))
            for node in _statements(source):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    replaced = self._rewritten(node, name if package else name.rpartition(".")[0], wanted)
                    if replaced is not None:
                        changes.append(Edit(*place(node), replaced))
                elif isinstance(node, (ast.Raise, ast.Delete)):
                    changes += _within_subset(source, node)
            text = changed(source.text, changes)
        module = LinkedModule(name, source, package, text, self._lines)
        self._lines += len(source.lines)
        self.modules[name] = module
        for other in wanted:
            self.add(other)
        return module

    def find(self, name: str) -> tuple[str, str, bool] | None:
        """Return file and text of a module, and whether it is a package, by its dotted name."""
        if name in self.provided:
            return f"<{name}>", self.provided[name], False
        for folder in self.paths:
            stem = join(folder, *name.split("."))
            if (path := join(stem, "__init__.py")) in self.files:
                return path, self.files[path], True
            if (path := stem + ".py") in self.files:
                return path, self.files[path], False
        for folder in self.paths:
            if (stem := join(folder, *name.split("."))) in self._folders:
                return stem, "", True
        return None

    def locate(self, line: int) -> tuple[LinkedModule, int] | None:
        """Return the module of a line in the joined numbering, and the number of the line in its file."""
        for module in self.modules.values():
            if 0 < line - module.first <= len(module.source.lines):
                return module, line - module.first
        return None

    def _rewritten(self, node: ast.Import | ast.ImportFrom, package: str, wanted: list[str]) -> str | None:
        """Return the replacement of an import statement, or `None` if it imports no module of the program."""
        padding = "\n" * ((node.end_lineno or node.lineno) - node.lineno)
        if isinstance(node, ast.Import):
            parts, own = [], False
            for alias in node.names:
                if self.find(alias.name) is None and self.find(alias.name.partition(".")[0]) is None:
                    parts.append(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
                    continue
                own = True
                wanted.append(alias.name)
                top = alias.name.partition(".")[0]
                target, shown = (alias.asname, alias.name) if alias.asname else (top, top)
                parts.append(f"{target} = __import_module__({alias.name!r}, {shown!r})")
            return "; ".join(parts) + padding if own else None
        base = node.module or ""
        if node.level:
            above = package.split(".")
            above = above[: len(above) - node.level + 1]
            base = ".".join([*above, *([node.module] if node.module else [])])
        if not base or (self.find(base) is None and self.find(base.partition(".")[0]) is None):
            return None
        wanted.append(base)
        if node.names[0].name == "*":
            return f"__import_all__({base!r}, __own__)" + padding
        wanted += [f"{base}.{alias.name}" for alias in node.names]
        targets = ", ".join(alias.asname or alias.name for alias in node.names)
        names = ", ".join(repr(alias.name) for alias in node.names)
        return f"[{targets}] = __import_names__({base!r}, {names}{padding})"


@lru_cache(maxsize=256)
def _statements(source: SourceFile) -> tuple[ast.Import | ast.ImportFrom | ast.Raise | ast.Delete, ...]:
    """Return the statements that may have to change."""
    kinds = (ast.Import, ast.ImportFrom, ast.Raise, ast.Delete)
    return tuple(node for node in ast.walk(source.tree or ast.Module([], [])) if isinstance(node, kinds))


def _within_subset(source: SourceFile, node: ast.Raise | ast.Delete) -> Iterable[Edit]:
    """Yield replacements of `raise SystemExit(...)` and `del items[key]`, which the interpreter lacks."""
    if isinstance(node, ast.Raise):
        called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(called, ast.Name) and called.id == "SystemExit":
            yield Edit(*place(called), "__system_exit__" if isinstance(node.exc, ast.Call) else "__system_exit__()")
        return
    [target] = node.targets if len(node.targets) == 1 else [None]
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice) and node.lineno == node.end_lineno:
        yield Edit(*place(node), f"{source.segment(target.value)}.pop({source.segment(target.slice)})")


def module_name(path: str, root: str) -> str:
    """Return the dotted name of a file, relative to a folder of the search path.

    >>> module_name("/repo/shop/__init__.py", "/repo"), module_name("/repo/shop/cart.py", "/repo")
    ('shop', 'shop.cart')
    """
    stem = splitext(path)[0].removeprefix(root.rstrip("/") + "/")
    return dirname(stem).replace("/", ".") if basename(stem) == "__init__" else stem.replace("/", ".")


def _parents(path: str) -> Iterable[str]:
    while (path := dirname(path)) not in ("", "/"):
        yield path
