"""Ways of the tasks of the domain `web`."""

from __future__ import annotations

from ways import web_forum, web_handwritten, web_mail, web_shop, web_tracker, web_wiki
from ways.playing import Ways

WAYS: Ways = {
    **web_mail.WAYS,
    **web_shop.WAYS,
    **web_tracker.WAYS,
    **web_forum.WAYS,
    **web_wiki.WAYS,
    **web_handwritten.WAYS,
}
"""Family, or id of a hand-written task, → its ways."""
