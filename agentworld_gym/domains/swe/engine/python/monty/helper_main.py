"""The program of a helper process: it runs one JSON job a line in monty, and prints one JSON result a line."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import asdict

from agentworld_gym.domains.swe.engine.python.monty.sandbox import MontySandbox


def main() -> None:
    """Run the jobs of standard input until it ends."""
    with contextlib.closing(MontySandbox()) as sandbox:
        for line in sys.stdin.buffer:
            job = json.loads(line)
            result = sandbox.run(job.pop("files"), job.pop("argv"), **job)
            sys.stdout.buffer.write(json.dumps(asdict(result)).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
