"""Ways of the tasks of the domain `android`."""

from __future__ import annotations

from ways import android_days, android_handwritten, android_people, android_things
from ways.playing import Ways

WAYS: Ways = {**android_days.WAYS, **android_people.WAYS, **android_things.WAYS, **android_handwritten.WAYS}
"""Family, or id of a hand-written task, → its ways."""
