"""Ways of the hand-written tasks of repositories."""

from __future__ import annotations

from ways.playing import Ways

WAYS: Ways = {}
"""Hand-written task → its ways."""
