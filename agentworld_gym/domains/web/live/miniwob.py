"""MiniWoB++ as a live site: the pages that its package ships, their rewards and their seeds.

The tasks begin as in BrowserGym: a seed means the same episode, the time runs out after 1,000 s, and who leaves the
page has lost. The reward is the page's own, without what it takes off for time (`WOB_RAW_REWARD_GLOBAL`).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from agentworld_gym.base.errors import AgentWorldError, MissingFile
from agentworld_gym.domains.web.live.config import EpisodeScripts

PAGES = "miniwob"
"""The folder of the tasks in that of the pages."""

SECONDS = 1000
"""After how many seconds an episode is over."""

_HIDDEN = "#reward-display, #click-canvas, #sync-task-cover { display: none !important }"

SCRIPTS = EpisodeScripts(
    begin=f"""async (seed) => {{
        const look = document.createElement('style');
        look.textContent = {_HIDDEN!r};
        document.head.append(look);
        console.log = () => {{}};  // It would tell rewards, with what the time takes off.
        Math.seedrandom(seed);
        core.EPISODE_MAX_TIME = {SECONDS * 1000};
        core.startEpisodeReal();
        while (!WOB_TASK_READY) await new Promise((go) => setTimeout(go, 10));
    }}""",
    instruction="() => { const told = core.getUtterance(); return told.utterance ?? told; }",
    verdict="""() => ({
        reward: WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0,
        terminated: WOB_DONE_GLOBAL,
        success: WOB_DONE_GLOBAL && WOB_RAW_REWARD_GLOBAL > 0,
    })""",
)
"""How its pages begin episodes, and what they say."""


def pages() -> Path:
    """Return the folder of the pages.

    Raises:
        AgentWorldError: The package is not installed.
    """
    spec = find_spec("miniwob")
    if spec is None or spec.origin is None:
        raise AgentWorldError("MiniWoB++ needs its package: pip install --no-deps miniwob")
    return Path(spec.origin).parent / "html"


def path_of(task: str) -> str:
    """Return the path of a task's page.

    Raises:
        AgentWorldError: The package is not installed.
        MissingFile: It has no such task.
    """
    page = pages() / PAGES / f"{task}.html"
    if not page.is_file():
        raise MissingFile(page, "a task of MiniWoB++, such as click-test", key="miniwob")
    return f"{PAGES}/{task}.html"


def page_seed(seed: int) -> int:
    """Return what the random numbers of a page are seeded with, as BrowserGym draws it from the seed of an episode.

    >>> page_seed(0), page_seed(1)
    (985772, 128037)
    """
    return int(np.random.RandomState(seed % 2**32).randint(0, 1_000_000))
