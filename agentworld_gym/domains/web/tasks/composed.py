"""Web tasks of levels 4 and 5: jobs on several sites in one browser, whose orders are pages of the wiki."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.composition import (
    Absent,
    Job,
    Orders,
    about_strangers,
    composed,
    composing,
    draft_of,
    draft_on,
    instruction_of,
    job_of,
    names_like,
)
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.web.screen_texts import location
from agentworld_gym.domains.web.tasks import FAMILIES
from agentworld_gym.domains.web.tasks.actions import SNAPSHOT, go
from agentworld_gym.domains.web.tasks.control_cases import WAIT
from agentworld_gym.domains.web.tasks.mail import SMALL_TALK
from agentworld_gym.domains.web.tasks.scene import Person, WebScene
from agentworld_gym.domains.web.tasks.wiki import path
from agentworld_gym.kit.vocabulary import common_pool

STRANGERS = 4
"""How many jobs nobody asks for."""

OLD_LETTERS = 60
"""How many letters lie in the archive of the mail."""

OLD_ROWS = 60
"""How many old issues, threads and goods a site has at most."""


def _again(action: str, seen: str) -> list[str]:
    """Return the action that opens a page again that failed to load."""
    if "ERR_CONNECTION_RESET" not in seen and "502 Bad Gateway" not in seen:
        return []
    return [go(location(seen)[0].removeprefix("http://").replace(".example", "", 1))]


FAULTS = Faults(
    {"intermittent-errors": 0.1, "reordered-menu": 0.5, "slow-loading": 0.15, "stale-element": 0.1},
    ((WAIT,), (SNAPSHOT,), (WAIT, WAIT), (SNAPSHOT, SNAPSHOT)),
    _again,
)


_LINK = re.compile(r"\[\[.+?\]\]")


class _SharedScene(WebScene):
    """The sites of all jobs; each of them belongs to one."""

    def site(self, name: str, *arguments: Any, **more: Any) -> None:
        """Add a site.

        Raises:
            Unfit: an earlier job has it.
        """
        if name in self.state["sites"]:
            raise Unfit(f"two jobs on the site {name}")
        super().site(name, *arguments, **more)

    def people(self, count: int) -> list[Person]:
        """Draw people whose first names nobody else has.

        Raises:
            Unfit: there are too few.
        """
        try:
            return super().people(count)
        except IndexError:
            raise Unfit("too few people") from None


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    scene = _SharedScene(rng, 3, split)
    jobs, count = [_job(scene, lead)], 3 if level == 4 else 4
    for name in rng.sample([name for name in FAMILIES if name != lead], len(FAMILIES) - 1):
        kept = deepcopy(scene.state)
        try:
            jobs.append(_job(scene, name))
        except Unfit:
            scene.state = kept
        if len(jobs) == count + 1:
            break
    scene.need(len(jobs) >= 3)
    barred = jobs[count:]
    jobs = jobs[:count]
    rng.shuffle(jobs)
    start = jobs[0].draft.state["open"]
    jobs = [_opened(job) for job in jobs]
    strangers = [_plain(job_of(rng.choice(list(FAMILIES.values()))(rng, 1, split))) for _ in range(STRANGERS)]
    orders = Orders(
        "the wiki page 'Order NAME', at http://wiki.example/wiki/Order_NAME",
        lambda name: [go(path(f"Order {name}"))],
        common_pool("people").of(split),
    )
    names = [*names_like(rng, [job.answer for job in jobs], 30), *scene.mixed(common_pool("people").of(split))[:30]]
    undone = rng.randint(0, 1) if level == 4 else 1
    task = composed(
        rng, level, jobs, strangers, orders, undone, names,
        barred=barred, absent=_absent(scene, strangers), state=str(scene.state),
    )  # fmt: skip
    _write(scene, task.orders)
    _add_past(scene)
    scene.state["open"] = start
    sites = ", ".join(f"http://{name}.example/" for name in sorted(scene.state["sites"]))
    access = f"(The sites are {sites}. Should one ask: you are {scene.me.username}, password {scene.password}.)"
    hidden = {key: value for job in jobs for key, value in job.draft.hidden.items()}
    return draft_of(task, instruction_of(task, orders, closing=access), scene.state, jobs, hidden=hidden)


def _job(scene: _SharedScene, name: str) -> Job:
    """Add the sites of a family's task to the scene; return its job."""
    scene.state["open"] = ""
    draft = draft_on(FAMILIES[name], scene)
    return _plain(job_of(replace(draft, state={"open": scene.state["open"]})))


def _absent(scene: _SharedScene, jobs: Sequence[Job]) -> Absent | None:
    """Return a job about people whom no site knows; None where none of those given is about such people."""
    known = sorted(set(scene.state["sites"]) & {"mail", "forum", "shop", "tracker", "wiki"})
    found = about_strangers(jobs, str(scene.state))
    return next((Absent(text, tuple(go(f"{site}/") for site in known)) for text in found), None)


def _plain(job: Job) -> Job:
    """Return a job whose text does not say how to sign in."""
    before, _, after = job.text.partition(" (Should a site ask:")
    return job._replace(text=before + after.partition(".)")[2])


def _opened(job: Job) -> Job:
    """Return a job whose expert first opens the page on which it begins."""
    address = job.draft.state["open"].removeprefix("http://").replace(".example", "", 1)
    return job._replace(draft=replace(job.draft, expert=(go(address), *job.draft.expert)))


def _write(scene: _SharedScene, orders: dict[str, str]) -> None:
    """Write orders as old pages of the wiki."""
    if "wiki" not in scene.state["sites"]:
        scene.site("wiki", scene.people(2))
    author = scene.rows("wiki", "users")[-1]["username"]
    page = max((row["page_id"] for row in scene.rows("wiki", "pages")), default=0)
    revision = max((row["revision_id"] for row in scene.rows("wiki", "revisions")), default=0)
    for place, (name, order) in enumerate(scene.mixed(orders.items()), start=1):
        text = _LINK.sub(r"`\g<0>`", order)  # As code, so that a reader sees what to write, and no link.
        scene.add("wiki", "pages", page_id=page + place, title=f"Order {name}")
        scene.add("wiki", "revisions", revision_id=revision + place, page_id=page + place, text=text,
                  summary="First version", username=author, edited_at=scene.moment(100 + place / 10))  # fmt: skip


def _add_past(scene: _SharedScene) -> None:
    """Add old letters, closed issues, old threads and other goods to the sites that are there. They have lower numbers
    than the rows of the jobs."""
    sites = scene.state["sites"]
    if "mail" in sites:
        _add_letters(scene)
    if "tracker" in sites:
        authors = [row["username"] for row in scene.rows("tracker", "users")]
        for number in _below(scene, "tracker", "issues", "issue_id"):
            old, new = (word.capitalize() for word in scene.words("nouns", 2))
            scene.add("tracker", "issues", issue_id=number, title=f"Rename {old} to {new}", kind="task", priority="low",
                      text=f"{old} is called {new} from now on.", author=scene.pick(authors), status="closed",
                      stage="done", reason="done", opened_at=scene.moment(900 - number),
                      closed_at=scene.moment(890 - number))  # fmt: skip
    if "forum" in sites:
        authors = [row["username"] for row in scene.rows("forum", "users")]
        scene.add("forum", "boards", slug="past", name="Past years", description="What we talked about once")
        posts = _below(scene, "forum", "posts", "post_id")
        for number, post in zip(_below(scene, "forum", "threads", "thread_id"), posts, strict=False):
            word, city, author = scene.word("nouns").capitalize(), scene.word("cities"), scene.pick(authors)
            title, at = f"{word} day in {city}", scene.moment(900 - number)
            scene.add("forum", "threads", thread_id=number, board="past", title=title, username=author, opened_at=at)
            scene.add("forum", "posts", post_id=post, thread_id=number, username=author, text=f"See you in {city}.",
                      written_at=at)  # fmt: skip
    if "shop" in sites:
        scene.add("shop", "categories", slug="paper", name="Paper")
        words = scene.mixed(common_pool("nouns").of(scene.split))
        for number, word in zip(_below(scene, "shop", "products", "product_id"), words, strict=False):
            scene.add("shop", "products", product_id=number, name=f"{word.capitalize()} notebook", category="paper",
                      price=scene.rng.randint(20, 90) / 10, stock=scene.rng.randint(1, 30), material="paper",
                      description="A hundred pages for what comes to mind.")  # fmt: skip


def _below(scene: _SharedScene, site: str, table: str, key: str) -> range:
    """Return numbers for old rows of a table, all below those that it has."""
    first = min((row[key] for row in scene.rows(site, table)), default=OLD_ROWS + 1)
    return range(max(1, first - OLD_ROWS), first)


def _add_letters(scene: _SharedScene) -> None:
    """Add old letters to the archive of the mail."""
    rows = scene.rows("mail", "messages")
    numbered = all("message_id" in row for row in rows)
    first = max((row["message_id"] for row in rows), default=0) + 1 if numbered else None
    for number in range(OLD_LETTERS):
        subject, text = scene.pick(SMALL_TALK)
        name = scene.word("companies")
        row = {} if first is None else {"message_id": first + number}
        row |= {"owner": scene.me.username, "folder": "archive", "sender": "news@post.example", "sender_name": name}
        row |= {"recipients": scene.me.address, "subject": subject, "text": f"{text}\n\n{name}", "is_read": 1}
        scene.add("mail", "messages", **row, sent_at=scene.moment(100 + scene.rng.uniform(0, 200)))


COMPOSITION = composing(compose, "web", FAULTS)
"""The composed tasks of a family, by its name."""
