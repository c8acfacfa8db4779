"""Ways of the tasks of the domain `desktop`."""

from __future__ import annotations

from ways import desktop_files, desktop_handwritten, desktop_notes, desktop_tables
from ways.playing import Ways

WAYS: Ways = {**desktop_files.WAYS, **desktop_notes.WAYS, **desktop_tables.WAYS, **desktop_handwritten.WAYS}
"""Family, or id of a hand-written task, → its ways."""
