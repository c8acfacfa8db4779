"""The sites that a model may never have seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.unseen_names import UnseenNames
from agentworld_gym.domains.web.engine.addresses import from_address_bar, host_of
from agentworld_gym.domains.web.engine.sites.site import hosts_of

_PAGE = re.compile(r"^(?:- Page )?URL: (\S+)", re.MULTILINE)


class UnseenSites(UnseenNames):
    """The sites of the web."""

    shows_nobody = True

    def sites(self, task: Task) -> Iterable[str]:
        """Return the hosts of the sites that a task states."""
        return hosts_of(task.state)

    def hosts(self, action: Any, shown: str) -> Iterable[str]:
        """Return the host that a call asks for, or else that of the page."""
        arguments = action.get("arguments") if isinstance(action, Mapping) else None
        url = arguments.get("url") if isinstance(arguments, Mapping) else None
        if isinstance(url, str):
            return [host_of(from_address_bar(url))]
        return map(host_of, _PAGE.findall(shown)) if isinstance(action, Mapping) else ()
