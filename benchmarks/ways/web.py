"""Ways of the tasks of the domain `web`."""

from __future__ import annotations

from ways.playing import Ways

WAYS: Ways = {}
"""Family, or id of a hand-written task, → its ways."""
