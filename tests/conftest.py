"""Shared by all tests. The markers `slow` and `vllm` are declared in setup.cfg; a bare `pytest` leaves both out."""

from __future__ import annotations

import os

from hypothesis import settings

# Before anything imports torch: several test processes share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples in every run, and no verdict that depends on how busy the machine is.
settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")
