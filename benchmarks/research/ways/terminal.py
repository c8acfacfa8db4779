"""Ways of the tasks of the domain `terminal`."""

from __future__ import annotations

from ways import terminal_files, terminal_tasks, terminal_text
from ways.playing import Ways

WAYS: Ways = {**terminal_files.WAYS, **terminal_text.WAYS, **terminal_tasks.WAYS}
"""Family, or id of a hand-written task, → its ways."""
