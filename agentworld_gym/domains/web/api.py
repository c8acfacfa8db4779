"""What other domains may use of the web: the browser, the sites that it opens, and how both are kept and shown.

Another domain imports nothing else of this one; `.importlinter` holds it.
"""

from agentworld_gym.domains.web.engine.accessibility.tree import Item, tree_of
from agentworld_gym.domains.web.engine.addresses import from_address_bar, host_of
from agentworld_gym.domains.web.engine.browser.browser import (
    BLANK,
    Browser,
    JavaScriptDialog,
    Refusal,
    Tab,
    Unreachable,
)
from agentworld_gym.domains.web.engine.browser.data_attributes import filter_list
from agentworld_gym.domains.web.engine.browser.interactions import answer_dialog, click, set_text, submit_implicitly
from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.flat_state import state as flat_state
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.site import hosts_of, load_site, site_names
from agentworld_gym.domains.web.engine.structured_state.action_context import behind
from agentworld_gym.domains.web.engine.structured_state.browsers import kept_browser, restored_browser, shown_browser

__all__ = [
    "BLANK",
    "Browser",
    "Item",
    "JavaScriptDialog",
    "Page",
    "Refusal",
    "Sites",
    "Tab",
    "Unreachable",
    "answer_dialog",
    "behind",
    "click",
    "filter_list",
    "flat_state",
    "from_address_bar",
    "host_of",
    "hosts_of",
    "kept_browser",
    "layout_of",
    "load_site",
    "restored_browser",
    "set_text",
    "shown_browser",
    "site_names",
    "submit_implicitly",
    "tree_of",
]
