"""The program `pip` of the distribution's Python, with pytest installed and an index that is rarely reached."""

from __future__ import annotations

import re

from bashkit import BuiltinResult

from agentworld_gym.domains.swe.engine import faults
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode

INSTALLED = {
    "iniconfig": "2.0.0",
    "packaging": "24.1",
    "pip": "23.0.1",
    "pluggy": "1.5.0",
    "pytest": "8.3.3",
    "setuptools": "66.1.1",
    "wheel": "0.38.4",
}
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(.*)")
_NAME = re.compile(r"""^name\s*=\s*["']([^"'\n]{1,80})["']""", re.MULTILINE)
_VERSION = re.compile(r"""^version\s*=\s*["']([^"'\n]{1,40})["']""", re.MULTILINE)
MANAGED = """\
error: externally-managed-environment

× This environment is externally managed
╰─> To install Python packages system-wide, try apt install
    python3-xyz, where xyz is the package you are trying to
    install.
    
    If you wish to install a non-Debian-packaged Python package,
    create a virtual environment using python3 -m venv path/to/venv.
    Then use path/to/venv/bin/python and path/to/venv/bin/pip. Make
    sure you have python3-full installed.
    
    If you wish to install a non-Debian packaged Python application,
    it may be easiest to use pipx install xyz, which will manage a
    virtual environment for you. Make sure you have pipx installed.
    
    See /usr/share/doc/python3.11/README.venv for more information.

note: If you believe this is a mistake, please contact your Python installation or OS distribution provider. \
You can override this, at the risk of breaking your Python installation or OS, by passing --break-system-packages.
hint: See PEP 668 for the detailed specification.
"""
_USAGE = """
Usage:   
  pip <command> [options]

Commands:
  install                     Install packages.
  list                        List installed packages.
  show                        Show information about installed packages.
"""


def pip(episode: RepositoryEpisode, argv: list[str]) -> BuiltinResult:
    """Answer `pip ARGV`."""
    words = [word for word in argv if word not in ("-q", "--quiet", "-v", "--no-input", "--disable-pip-version-check")]
    place = f"/usr/lib/python{'.'.join(episode.version.split('.')[:2])}/site-packages"
    if not words or words[0] in ("-h", "--help", "help"):
        return BuiltinResult(_USAGE, "", 0)
    name, rest = words[0], words[1:]
    if name in ("--version", "-V"):
        return BuiltinResult(
            f"pip {INSTALLED['pip']} from {place}/pip (python {'.'.join(episode.version.split('.')[:2])})\n", "", 0
        )
    if name == "list":
        rows = "".join(f"{package:<10} {version}\n" for package, version in sorted(INSTALLED.items()))
        return BuiltinResult(f"{'Package':<10} Version\n{'-' * 10} -------\n{rows}", "", 0)
    if name == "freeze":
        rows = "".join(f"{p}=={v}\n" for p, v in sorted(INSTALLED.items()) if p not in ("pip", "setuptools", "wheel"))
        return BuiltinResult(rows, "", 0)
    if name == "show":
        return _show(rest, place)
    if name == "check":
        return BuiltinResult("No broken requirements found.\n", "", 0)
    if name == "install":
        return _install(episode, rest, place)
    if name in ("download", "index", "wheel", "search"):
        return _unreachable("pytest") if not faults.reachable(episode) else _not_found(rest)
    if name == "uninstall":
        return BuiltinResult("", MANAGED, 1)
    return BuiltinResult("", f'ERROR: unknown command "{name}"\n', 1)


def _show(names: list[str], place: str) -> BuiltinResult:
    installed = [name for name in names if name.lower() in INSTALLED]
    missing = [name for name in names if name.lower() not in INSTALLED and not name.startswith("-")]
    text = "---\n".join(
        f"Name: {name.lower()}\nVersion: {INSTALLED[name.lower()]}\nLocation: {place}\n" for name in installed
    )
    errors = f"WARNING: Package(s) not found: {', '.join(missing)}\n" if missing else ""
    return BuiltinResult(text, errors, 0 if installed else 1)


def _install(episode: RepositoryEpisode, argv: list[str], place: str) -> BuiltinResult:
    wanted = [word for word in argv if not word.startswith("-")]
    if not wanted:
        return BuiltinResult(
            "", 'ERROR: You must give at least one requirement to install (see "pip help install")\n', 1
        )
    if "--break-system-packages" not in argv:
        return BuiltinResult("", MANAGED, 1)
    out = ["Defaulting to user installation because normal site-packages is not writeable\n"]
    for word in wanted:
        if word in (".", "./", episode.root):
            out.append(_project(episode))
            continue
        match = _REQUIREMENT.fullmatch(word)
        name = match.group(1).lower() if match else word
        if name in INSTALLED:
            out.append(f"Requirement already satisfied: {word} in {place} ({INSTALLED[name]})\n")
            continue
        failed = _unreachable(name) if not faults.reachable(episode) else _not_found([word])
        return BuiltinResult("".join(out) + failed.stdout, failed.stderr, 1)
    return BuiltinResult("".join(out), "", 0)


def _project(episode: RepositoryEpisode) -> str:
    file = episode.files.get(f"{episode.root}/pyproject.toml")
    text = file.text if file is not None else ""
    name, version = _NAME.search(text), _VERSION.search(text)
    title = f"{name.group(1) if name else 'UNKNOWN'}-{version.group(1) if version else '0.0.0'}"
    return f"Processing {episode.root}\nSuccessfully installed {title}\n"


def _unreachable(name: str) -> BuiltinResult:
    line = (
        "WARNING: Retrying (Retry(total={total}, connect=None, read=None, redirect=None, status=None)) after "
        "connection broken by 'NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary failure "
        f"in name resolution')': /simple/{name}/\n"
    )
    return BuiltinResult("", "".join(line.format(total=total) for total in (4, 3, 2, 1, 0)) + _missing(name), 1)


def _missing(word: str) -> str:
    return (
        f"ERROR: Could not find a version that satisfies the requirement {word} (from versions: none)\n"
        f"ERROR: No matching distribution found for {word}\n"
    )


def _not_found(words: list[str]) -> BuiltinResult:
    return BuiltinResult("", _missing((words or [""])[-1]), 1)


__all__ = ["INSTALLED", "MANAGED", "pip"]
