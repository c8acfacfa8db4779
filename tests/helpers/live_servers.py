"""Configurations of the tool server `live_server.py`, in its sandbox."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).with_name("live_server.py")


def served(*words: str, **keys: Any) -> dict[str, Any]:
    """The configuration of a note keeper."""
    return {"name": "notes", "command": [sys.executable, str(SERVER), *words], "ahead": 0, **keys}


def needs_live_servers() -> None:
    """Skip where tool servers cannot be started."""
    pytest.importorskip("mcp")
    from shutil import which

    if which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")


def noting(spec: Any) -> Any:
    """An agent that adds a note, lists all, and finishes."""
    calls = [{"name": "notes-add_note", "arguments": {"text": "milk"}}, {"name": "notes-list_notes", "arguments": {}}]
    return lambda episode: json.dumps(calls[episode.steps]) if episode.steps < len(calls) else "finish"
