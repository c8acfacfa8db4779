"""A hook of MkDocs that writes the reference: one page for each package folder, filled from docstrings.

The pages follow the folders of `agentworld_gym` as they are when the site is built, so that a module that moves takes
its documentation along. Private modules (`_name`) and `__main__` have no entry.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "agentworld_gym"
SECTION = "Reference"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Append one page for each package to the section `Reference` of the navigation."""
    [section] = [entry[SECTION] for entry in config.nav or [] if SECTION in entry]
    section.append({PACKAGE.name: _navigation(PACKAGE)})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, which exist only while the site is built."""
    for package in _packages(PACKAGE):
        files.append(File.generated(config, _uri(package), content=_page(package)))
    return files


def _packages(folder: Path) -> list[Path]:
    """Return a package and all packages below it."""
    return [folder, *(package for child in _children(folder) for package in _packages(child))]


def _children(folder: Path) -> list[Path]:
    """Return the packages that lie directly in a folder, by name."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def _uri(package: Path) -> str:
    """Return the address of a package's page, relative to the folder `docs`."""
    place = package.relative_to(ROOT)
    return f"reference/{place}/index.md" if _children(package) else f"reference/{place}.md"


def _navigation(package: Path) -> list[Any]:
    """Return the entries of a package: its own page first, then those of the packages in it."""
    entries: list[Any] = [_uri(package)]
    for child in _children(package):
        entries.append({child.name: _navigation(child) if _children(child) else _uri(child)})
    return entries


def _page(package: Path) -> str:
    """Return a page that names the package, what it exports and its public modules to mkdocstrings."""
    name = ".".join(package.relative_to(ROOT).parts)
    modules = [path.stem for path in sorted(package.glob("*.py")) if not path.stem.startswith("_")]
    options = "    options:\n      members: false\n      show_root_heading: false\n      show_root_toc_entry: false\n"
    exported = [f'<autoref identifier="{name}.{export}" optional>`{export}`</autoref>' for export in _exports(package)]
    imports = [f"`from {name} import …` offers {', '.join(exported)}.\n"] if exported else []
    entries = [f"::: {name}\n{options}", *imports, *(f"::: {name}.{module}\n" for module in modules)]
    return f"# `{name}`\n\n" + "\n".join(entries)


def _exports(package: Path) -> list[str]:
    """Return the names in `__all__` of a package; names with underscores are left out."""
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            names = [item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)]
            return sorted(str(name) for name in names if not str(name).startswith("_"))
    return []
