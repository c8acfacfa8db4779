"""A program that runs pieces of Python, each in a process of its own that is forked from this one.

What the pieces import from elsewhere is imported here once. The package itself is not, so that a piece which forgets to
import it fails. The program reads a line of JSON for each piece (`code` and the working `folder`) and answers with a
line: the exit `status`, and what the piece printed to its standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback

import gymnasium  # noqa: F401
import jinja2  # noqa: F401
import jsonschema_rs  # noqa: F401
import numpy  # noqa: F401
import orjson  # noqa: F401
import pydantic  # noqa: F401
import yaml  # noqa: F401

SECONDS = 300
"""How long a piece may run."""


def run(code: str, folder: str, errors: int) -> int:
    """Run a piece in a child process and return its exit status; errors are written to a file descriptor."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(SECONDS)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(errors, 2)
    os.chdir(folder)
    status = 0
    try:
        exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    for line in sys.stdin:
        piece = json.loads(line)
        with tempfile.TemporaryFile() as errors:
            status = run(piece["code"], piece["folder"], errors.fileno())
            errors.seek(0)
            answer = {"status": status, "errors": errors.read().decode(errors="replace")}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
