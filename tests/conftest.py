"""Shared by all tests. The markers `slow` and `vllm` are declared in setup.cfg; a bare `pytest` leaves both out."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# Before anything imports torch: several test processes share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Programs that tests start read the compiled modules of the package, instead of compiling all of them once more.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and no verdict that depends on how busy the machine is.
settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")
