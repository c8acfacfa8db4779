"""The interpreter that runs the code of worlds, and the libraries that it has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import NamedTuple

from agentworld_gym.base.errors import install
from agentworld_gym.base.process.bubblewrap import HostPython
from agentworld_gym.core.engines import EngineError

VARIABLE = "AGENTWORLD_AWM_PYTHON"
"""The environment variable that names another interpreter than that of this process."""

NEEDED = ("fastapi", "sqlalchemy", "pydantic", "jsonschema")
PROBE = """
import importlib.metadata, importlib.util, json, os, sqlite3, sys
named = sys.argv[1].split(",")
found = {name: importlib.util.find_spec(name) for name in named}
there = [name for name in (*named, "starlette") if importlib.util.find_spec(name)]
print(json.dumps({
    "executable": os.path.realpath(sys.executable),
    "prefix": sys.base_prefix,
    "version": sys.version_info[:2],
    "missing": [name for name in named if found[name] is None],
    "folders": sorted({os.path.dirname(os.path.dirname(spec.origin)) for spec in found.values() if spec}),
    "versions": {name: importlib.metadata.version(name) for name in there}
    | {"python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version},
}))
"""


class Libraries(NamedTuple):
    """An interpreter with all that the code of a world imports."""

    interpreter: HostPython
    """The interpreter."""

    folders: tuple[str, ...]
    """The folders of its packages."""

    versions: tuple[tuple[str, str], ...]
    """The versions of the libraries that decide what a world answers, by name."""


def find_libraries() -> Libraries:
    """Return the interpreter that `AGENTWORLD_AWM_PYTHON` names, or else that of this process.

    Raises:
        EngineError: It lacks a library; the message says what to install.
    """
    return _probed(os.environ.get(VARIABLE) or sys.executable)


@cache
def _probed(python: str) -> Libraries:
    try:
        done = subprocess.run(
            [python, "-c", PROBE, ",".join(NEEDED)], capture_output=True, text=True, timeout=60, check=True
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise EngineError(f"{VARIABLE}: {python} is no Python interpreter that runs ({error})") from error
    if told["missing"]:
        raise EngineError(
            f"{python} has no {', '.join(told['missing'])}: {install('awm')}, or name in {VARIABLE} the interpreter of "
            "an environment made with `pip install -r constraints-awm.txt`"
        )
    interpreter = HostPython(told["executable"], told["prefix"], tuple(told["version"]))
    return Libraries(interpreter, tuple(told["folders"]), tuple(sorted(told["versions"].items())))
