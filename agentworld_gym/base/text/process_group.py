"""The number of a process group in the report of a command."""

from __future__ import annotations

import hashlib

LEAST, COUNT = 2_000, 60_000


def process_group(report: str) -> int:
    """Return the process group for a report, given all of the report that stands before that number.

    The number belongs to the moment of a run, and nothing follows from it. It is a digest of the report, so that a
    short form of the report can leave it out and get it back.

    >>> process_group("Command: ls") == process_group("Command: ls") != process_group("Command: pwd")
    True
    """
    digest = hashlib.blake2b(report.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return LEAST + int.from_bytes(digest) % COUNT
