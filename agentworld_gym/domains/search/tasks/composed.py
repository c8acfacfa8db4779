"""Search tasks of levels 4 and 5: several questions about one web, whose orders are pages of a site."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.composition import (
    Absent,
    Job,
    Orders,
    composed,
    composing,
    draft_of,
    families_of,
    instruction_of,
    names_like,
)
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.search.engine.state import Hidden
from agentworld_gym.domains.search.tasks import FAMILIES
from agentworld_gym.domains.search.tasks.question_tasks import HINTS, drafted
from agentworld_gym.domains.search.tasks.questions import ProvedQuestion, ask, ask_in
from agentworld_gym.kit.vocabulary import common_pool

STRANGERS = 6
"""How many questions nobody asks for."""

OTHER_ORDERS = 30
"""How many further orders have one of their texts."""

SITE = "https://orders.example"
CELLS = "Answer with its cells, row by row, all of them separated by semicolons."
FAULTS = Faults(
    {
        "incomplete-results": 0.5,
        "intermittent-errors": 0.3,
        "misleading-snippets": 0.7,
        "pagination": 1.0,
        "stale-data": 0.5,
        "truncated-output": 0.4,
    },
    (),
)


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    first = ask(rng, split, *_kind(lead))
    count = 3 if level == 4 else 4
    names = [name for name in families_of(rng, lead, list(FAMILIES), len(FAMILIES)) if name != lead]
    theme = first.world.theme.partition("+")[0]
    questions = [first]
    for name in names:
        asked = ask_in(rng, first.world, theme, *_kind(name)) if len(questions) < count + STRANGERS else None
        if asked is not None and all(asked.answer != other.answer for other in questions):
            questions.append(asked)
    if len(questions) < count + 2:
        raise Unfit("too few questions")
    chosen = questions[:count]
    rng.shuffle(chosen)
    jobs = [_job(rng, asked, number) for number, asked in enumerate(chosen, start=1)]
    strangers = [_job(rng, asked, number) for number, asked in enumerate(questions[count:], start=1)]
    orders = Orders(
        f"the page {SITE}/NAME, where blanks in NAME are hyphens",
        lambda name: [_open(name)],
        common_pool("people").of(split),
    )
    others = [name for asked in chosen for name in asked.others][:OTHER_ORDERS]
    names = [*names_like(rng, [job.answer for job in jobs], OTHER_ORDERS), *others]
    undone = rng.randint(0, 1) if level == 4 else 1
    task = composed(rng, level, jobs, strangers, orders, undone, names, absent=_absent(rng, split, theme))
    state = {**jobs[0].draft.state, "pages": _pages([*jobs, *strangers], task.orders)}
    hidden = {
        "question": "\n".join(asked.text for asked in chosen),
        "answer": [list(group) for asked in chosen for group in Hidden(answer=asked.answer).secrets],
        "proof": [stop.page.url for asked in chosen for stop in asked.stops],
        "wrong": [answer for asked in chosen for answer in asked.wrong[:1]],
    }
    return draft_of(task, instruction_of(task, orders), state, jobs, hidden=hidden)


def _kind(family: str) -> tuple[str, int]:
    """Return the questions of a family, and how many things describe at level 3 what they ask about."""
    return ("lookup", 3) if family == "bridge" else (family, 2)


def _job(rng: random.Random, asked: ProvedQuestion, number: int) -> Job:
    """Return the job of a question, with its number."""
    draft = drafted(rng, 3, asked, f"_{number}")
    text = draft.instruction.replace(HINTS["rows"], CELLS)
    text = text.replace(", then finish with the answer.", ". Find out the answer.")
    parts = re.split(r"; | \| ", asked.answer) if asked.form in ("items", "rows") else [asked.answer]
    return Job(text, draft, "; ".join(parts), tuple(parts))


def _absent(rng: random.Random, split: Split, theme: str) -> Absent:
    """Return a question about a web of another theme, which this one knows nothing of.

    Raises:
        Unfit: the drawn web has the theme of this one.
    """
    asked = ask(rng, split, *_kind(rng.choice(list(FAMILIES))))
    if theme in asked.world.theme.split("+"):
        raise Unfit("the same theme")
    query = {"query": asked.stops[0].query}
    look = json.dumps({"name": "web_search", "arguments": query}, ensure_ascii=False)
    return Absent(_job(rng, asked, 9).text, (look,))


def _address(name: str) -> str:
    return f"{SITE}/{'-'.join(name.split())}"


def _open(name: str) -> str:
    return json.dumps({"name": "web_extractor", "arguments": {"url": _address(name)}}, ensure_ascii=False)


def _pages(jobs: Sequence[Job], orders: dict[str, str]) -> list[dict[str, Any]]:
    """Return the pages in play and those of the orders, by address."""
    pages = {page["url"]: page for job in jobs for page in job.draft.state["pages"]}
    for name, text in orders.items():
        url = _address(name)
        pages[url] = {"url": url, "title": f"Order {name}", "date": None, "content": text}
    return [pages[url] for url in sorted(pages)]


COMPOSITION = composing(compose, "search", FAULTS)
"""The composed tasks of a family, by its name."""
