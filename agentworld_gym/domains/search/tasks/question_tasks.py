"""Tasks made of questions: the instruction, the menu, and the checks on the answer and on what is noted."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.search.engine.fictional_world import WebPage
from agentworld_gym.domains.search.tasks.questions import ProvedQuestion, ask

MENU = {1: 13, 2: 15, 3: 16}
"""How many actions the menu of each level offers."""

PAGES_IN_PLAY = 8
"""How many pages the state of a task holds, unless its expert needs more."""

HINTS = {
    "items": "Answer with a list, its items separated by semicolons.",
    "rows": "Answer with a table: its rows separated by semicolons, the cells of a row by bars.",
}


def draft(rng: random.Random, level: int, split: Split, family: str, hops: int) -> TaskDraft:
    """Draft a task of a family about a thing that is described by way of `hops` others."""
    return drafted(rng, level, ask(rng, split, family, hops))


def drafted(rng: random.Random, level: int, asked: ProvedQuestion, suffix: str = "") -> TaskDraft:
    """Draft the task of a question; a suffix makes the key under which the agent notes something unlike others."""
    hops = asked.hops
    # The agent notes the thing that is described by others, or the answer if the question names the thing itself.
    key = (asked.noun.replace(" ", "_") if hops else asked.key) + suffix
    value = asked.subject if hops else asked.answer
    noted = Expect(items=(asked.subject,)) if hops else asked.expect
    note = _memory("add", dict={key: value})
    expert = _way(asked, note)
    success = (
        Check(answer=asked.expect, weight=0.7),
        Check(probe=_memory("retrieve", key_list=[key]), expect=noted, weight=0.3),
    )
    wrong_notes = [_memory("add", dict={key: other}) for other in (asked.others[:2] if hops else asked.wrong[:3])]
    decoys = _decoys(rng, asked)
    return TaskDraft(
        instruction=_instruction(rng, asked, key),
        state=_state(asked, decoys),
        success=success,
        expert=expert,
        distractors=_distractors(asked, wrong_notes, decoys),
        answer=asked.answer,
        hidden={
            "question": asked.text,
            "answer": asked.answer,
            "proof": [stop.page.url for stop in asked.stops],
            "wrong": list(asked.wrong[:3]),
        },
        menu_max=MENU[level],
    )


def _instruction(rng: random.Random, asked: ProvedQuestion, key: str) -> str:
    if asked.hops:
        note = rng.choice(
            (
                f"Keep the name of that {asked.noun} in your memory under the key {key}, then finish with the answer.",
                f"Note which {asked.noun} it is in your memory under the key {key}, then finish with the answer.",
            )
        )
    else:
        note = rng.choice(
            (
                f"Keep the answer in your memory under the key {key}, and finish with it.",
                f"Note what you found in your memory under the key {key}, then finish with the answer.",
            )
        )
    return " ".join(part for part in (asked.text, HINTS.get(asked.form), note) if part)


def _way(asked: ProvedQuestion, note: str) -> tuple[str, ...]:
    """Return the expert's actions: it searches for each page, opens it, and notes the thing or the answer once it is
    known."""
    before, after = asked.stops[: asked.hops], asked.stops[asked.hops :]
    way = [action for stop in before for action in (_search(stop.query), _open(stop.page))]
    if asked.hops:
        way.append(note)
    if asked.together:
        way += [_search(*(stop.query for stop in after)), *(_open(stop.page) for stop in after)]
    else:
        way += [action for stop in after for action in (_search(stop.query), _open(stop.page))]
    return tuple(way) if asked.hops else (*way, note)


def _distractors(asked: ProvedQuestion, notes: Sequence[str], decoys: Sequence[WebPage]) -> tuple[str, ...]:
    wrong = [f"finish: {answer}" for answer in asked.wrong[:6]]
    opens = [_open(page) for page in decoys]
    vague = [_search(asked.noun), _memory("retrieve_all")]
    return tuple([*wrong[:3], *notes, *opens[:1], *wrong[3:5], *opens[1:2], *wrong[5:], *vague, *opens[2:]])


def _decoys(rng: random.Random, asked: ProvedQuestion) -> list[WebPage]:
    """Return pages that the expert does not need: the same kinds of pages of other things, other pages, then any."""
    recipes = asked.world.recipe.pages
    on_the_way = {stop.page.key for stop in asked.stops}
    things = {_thing(asked, key) for key in on_the_way} | {asked.thing}
    kinds = {key.partition("/")[0] for key in on_the_way}
    beside = [page for page in asked.world.pages if page.key not in on_the_way]
    rng.shuffle(beside)
    others = [page for page in beside if recipes[page.key.partition("/")[0]].of and _thing(asked, page.key) in things]
    alike = [page for page in beside if page.key.partition("/")[0] in kinds and page not in others]
    mixed = [page for pair in zip_longest(alike, others) for page in pair if page is not None]
    pages = {page.key: page for page in (*mixed, *beside)}
    return list(pages.values())[: max(2, PAGES_IN_PLAY - len(asked.stops))]


def _thing(asked: ProvedQuestion, key: str) -> tuple[str | None, str]:
    """Return the table and the row that a page is about."""
    recipe, _, row = key.partition("/")
    return asked.world.recipe.pages[recipe].of, row


def _state(asked: ProvedQuestion, decoys: Sequence[WebPage]) -> dict[str, Any]:
    pages = sorted([*(stop.page for stop in asked.stops), *decoys], key=lambda page: page.url)
    return {
        "theme": asked.world.theme,
        "seed": asked.world.seed,
        "now": asked.world.now,
        "note": f"{asked.world.recipe.title}. Other pages may be added where a search needs them.",
        "pages": [
            {"url": page.url, "title": page.title, "date": page.date, "content": page.body.rstrip("\n")}
            for page in pages
        ],
    }


def _search(*queries: str) -> str:
    return _call("web_search", {"query": queries[0]} if len(queries) == 1 else {"queries": list(queries)})


def _open(page: WebPage) -> str:
    return _call("web_extractor", {"url": page.url})


def _memory(operation: str, **arguments: Any) -> str:
    return _call("dict_memory", {"operation": operation, **arguments})


def _call(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
