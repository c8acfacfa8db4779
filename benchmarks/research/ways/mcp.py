"""Ways of the tasks of the domain `mcp`."""

from __future__ import annotations

from ways.mcp_bank import BANK
from ways.mcp_handwritten import HANDWRITTEN
from ways.mcp_hr import HR
from ways.mcp_office import OFFICE
from ways.mcp_shop import SHOP
from ways.mcp_tracker import TRACKER
from ways.playing import Ways

WAYS: Ways = {**BANK, **HR, **OFFICE, **SHOP, **TRACKER, **HANDWRITTEN}
"""Family, or id of a hand-written task, → its ways."""
