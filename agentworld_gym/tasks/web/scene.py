"""What all families of web tasks share: sites being filled, actions, and checks on what pages show."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from agentworld_gym.domain.task import Check, Expect, Split
from agentworld_gym.engines.tables.word_lists import common_words
from agentworld_gym.engines.web.machine import WebMachine
from agentworld_gym.engines.web.sites.site import load_site
from agentworld_gym.tasks.draft import Draft
from agentworld_gym.tasks.locators import locator
from agentworld_gym.tasks.people import people_of
from agentworld_gym.tasks.proof import Stage, prove
from agentworld_gym.tasks.scene import Scene, family_of
from agentworld_gym.tasks.web.answers import said

BACK = '{"name": "browser_navigate_back", "arguments": {}}'
SNAPSHOT = '{"name": "browser_snapshot", "arguments": {}}'
ACCEPT = '{"name": "browser_handle_dialog", "arguments": {"accept": true}}'
DISMISS = '{"name": "browser_handle_dialog", "arguments": {"accept": false}}'


class Person(NamedTuple):
    """Somebody with an account."""

    username: str
    name: str

    @property
    def first(self) -> str:
        """The first name."""
        return self.name.split()[0]

    @property
    def address(self) -> str:
        """Where mail goes."""
        return f"{self.username}@post.example"


def go(address: str) -> str:
    """Open an address; `wiki/all` is short for `http://wiki.example/all`.

    >>> go("wiki/all")
    '{"name": "browser_navigate", "arguments": {"url": "http://wiki.example/all"}}'
    """
    return json.dumps({"name": "browser_navigate", "arguments": {"url": url(address)}})


def url(address: str) -> str:
    """The address in full."""
    site, _, path = address.partition("/")
    return f"http://{site}.example/{path}"


def click(name: str, role: str = "link", after: str = "", part: bool = False) -> str:
    """Click an element.

    >>> click("Save", "button")
    '{"name": "browser_click", "arguments": {"element": "Save button", "ref": "@{button \\'Save\\'}"}}'
    """
    told = json.dumps(f"{name} {role}".strip(), ensure_ascii=False)
    return (
        f'{{"name": "browser_click", "arguments": {{"element": {told}, "ref": "{locator(name, role, after, part)}"}}}}'
    )


def press(name: str, after: str = "") -> str:
    """Click a button."""
    return click(name, "button", after)


def write(field: str, text: str, role: str = "textbox", submit: bool = False, after: str = "") -> str:
    """Type into a field, and press Enter with `submit`."""
    told, text = json.dumps(f"{field} field", ensure_ascii=False), json.dumps(text, ensure_ascii=False)
    more = ', "submit": true' if submit else ""
    ref = locator(field, role, after)
    return f'{{"name": "browser_type", "arguments": {{"element": {told}, "ref": "{ref}", "text": {text}{more}}}}}'


def choose(field: str, option: str, after: str = "") -> str:
    """Choose an option of a drop-down list."""
    told, option = json.dumps(f"{field} list", ensure_ascii=False), json.dumps(option, ensure_ascii=False)
    ref = locator(field, "combobox", after)
    arguments = f'{{"element": {told}, "ref": "{ref}", "values": [{option}]}}'
    return f'{{"name": "browser_select_option", "arguments": {arguments}}}'


def fill_in(*fields: tuple[str, str]) -> str:
    """Fill several text fields at once, each given by its name and text."""
    rows = [
        f'{{"name": {json.dumps(field)}, "type": "textbox", "ref": "{locator(field, "textbox")}",'
        f' "value": {json.dumps(text, ensure_ascii=False)}}}'
        for field, text in fields
    ]
    return f'{{"name": "browser_fill_form", "arguments": {{"fields": [{", ".join(rows)}]}}}}'


def in_row(*texts: str) -> str:
    """A regular expression for texts that follow one another in one row of a table."""
    return r"(?:(?!- row\b).)*".join(re.escape(text) for text in texts)


def in_article(*texts: str) -> str:
    """A regular expression for texts that follow one another in one article."""
    return r"(?:(?!- article\b).)*".join(re.escape(text) for text in texts)


def term(name: str, value: str) -> str:
    """A regular expression for a term and its definition."""
    return rf"- term [^\n]*: {re.escape(name)}\n(?:(?!- term\b).)*?(?<![\w.,]){re.escape(value)}(?![\w.,])"


def paragraph(text: str) -> str:
    """A pattern for a paragraph with just this text, but for stops at its end."""
    return rf"\]: {re.escape(text.rstrip('.!'))}[.!]?\n"


def euros(amount: float) -> str:
    """An amount as pages show it.

    >>> euros(4.9)
    '€4.90'
    """
    return f"€{amount:,.2f}"


class WebScene(Scene):
    """Sites being filled for one task. Their rows are stated whole, so nothing in them comes from a seed.

    >>> scene = WebScene(random.Random(1), 1, "train")
    >>> scene.site("wiki", admins=scene.people(1))
    >>> [row["role"] for row in scene.rows("wiki", "users")], scene.rows("wiki", "pages")
    (['editor', 'admin'], [])
    """

    def __init__(self, rng: random.Random, level: int, split: Split) -> None:
        super().__init__(rng, level, split)
        self._names = self.mixed(people_of(split))
        self.now = datetime(2026, 3, 2, rng.randint(8, 11), rng.randrange(60)) + timedelta(days=rng.randrange(90))
        self.password = f"{self.word('nouns')}-{self.word('colours')}-{rng.randint(10, 99)}"
        (self.me,) = self.people(1)
        self.state: dict[str, Any] = {"open": "", "sites": {}, "now": self.moment(0), "signed_in": {}}

    def word(self, kind: str) -> str:
        """One of the common words."""
        found: str = self.rng.choice(common_words()[kind])
        return found

    def words(self, kind: str, count: int) -> list[str]:
        """Some of the common words."""
        return self.some(common_words()[kind], count)

    def moment(self, days: float) -> str:
        """So many days ago, as the sites store it."""
        return (self.now - timedelta(minutes=round(24 * 60 * days))).strftime("%Y-%m-%dT%H:%M:00Z")

    def day(self, days: int) -> str:
        """The date in so many days."""
        return (self.now + timedelta(days=days)).strftime("%Y-%m-%d")

    def people(self, count: int) -> list[Person]:
        """So many people whose first names nobody else has."""
        found = []
        for _ in range(count):
            name: str = self._names.pop()
            first, *_, last = name.split()
            self._names = [other for other in self._names if other.split()[0] != first and other.split()[-1] != last]
            found.append(Person(_plain(first), name))
        return found

    def site(
        self,
        name: str,
        people: Iterable[Person] = (),
        role: str | None = None,
        admins: Iterable[Person] = (),
        signed_in: bool = True,
    ) -> None:
        """Put a site into play, empty but for accounts: mine, and those of others.

        Args:
            name: of the site.
            people: who has an account.
            role: mine, where it is not the usual one.
            admins: who has an account and may do more than others (wiki and forum).
            signed_in: whether I am.
        """
        self.state["sites"][name] = {table: [] for table in load_site(name).keys}
        self.join(name, self.me, role=role)
        self.join(name, *people)
        self.join(name, *admins, role=_ADMIN.get(name))
        if signed_in:
            self.state["signed_in"][name] = self.me.username
        if not self.state["open"]:
            self.state["open"] = url(f"{name}/")

    def join(self, site: str, *people: Person, role: str | None = None) -> None:
        """Give people an account."""
        for person in people:
            self.rows(site, "users").append(self._account(site, person) | ({} if role is None else {"role": role}))

    def _account(self, site: str, person: Person) -> dict[str, Any]:
        password = self.password if person == self.me else f"{person.username}-{self.rng.randint(1000, 9999)}"
        row: dict[str, Any] = {"username": person.username, "name": person.name, "password": password}
        if site == "shop":
            city = self.word("cities")
            street = f"{self.word('streets')} {self.rng.randint(1, 90)}"
            row |= {"email": person.address, "street": street, "postcode": f"{self.rng.randint(10000, 99999)}"}
            row["city"] = city
        elif site == "mail":
            row["address"] = person.address
        elif site == "wiki":
            row["role"] = "editor"
        elif site == "tracker":
            row["role"] = "developer"
        elif site == "forum":
            row["city"] = self.word("cities")
        return row

    def start(self, address: str) -> None:
        """The page that the browser shows first."""
        self.state["open"] = url(address)

    def rows(self, site: str, table: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        found: list[dict[str, Any]] = self.state["sites"][site][table]
        return found

    def add(self, site: str, table: str, **row: Any) -> dict[str, Any]:
        """One more row of a table."""
        self.rows(site, table).append(row)
        return row

    def shows(self, path: Sequence[str] | str, *having: str, lacking: Sequence[str] = (), weight: float = 1.0) -> Check:
        """A check on the page that actions lead to: it has all of some regular expressions, none of others."""
        wanted = "".join(f"(?=.*{pattern})" for pattern in having)
        unwanted = "".join(f"(?!.*{pattern})" for pattern in lacking)
        probe = path if isinstance(path, str) else tuple(path)
        return Check(probe=probe, expect=Expect(matches=rf"(?s)\A{unwanted}{wanted}"), weight=weight)

    def answers(self, answer: str, weight: float = 0.5) -> Check:
        """A check on what follows `finish:`."""
        return Check(answer=said(answer), weight=weight)

    def draft(
        self,
        instruction: str,
        expert: Sequence[str],
        distractors: Sequence[str],
        checks: Sequence[Check],
        answer: str,
        wrong: Sequence[str],
        menu_max: int,
        hidden: Mapping[str, Any] = MappingProxyType({}),
    ) -> Draft:
        """The finished draft.

        `answer` gives one more check, `wrong` are other answers, `hidden` is what a world must know beyond the state.

        Distractors that are on none of the pages which the expert sees are left out.

        Raises:
            Unfit: a check holds from the start.
            RuntimeError: the expert cannot do an action, or a check does not hold at the end.
        """
        instruction = f"{instruction} (Should a site ask: you are {self.me.username}, password {self.password}.)"
        success = (*checks, self.answers(answer))
        stage = Stage("web", WebMachine.start(self.state, 0), problem)
        first = stage.machine.observation
        possible = prove(stage, instruction, expert, success, answer, distractors)
        offers = [f"finish: {text}" for text in dict.fromkeys(wrong) if text != answer]
        turns = [action for action in possible if action not in expert]
        # Wrong answers and wrong turns by turns, so that a full menu drops some of each.
        mixed = [entry for pair in zip(offers, turns, strict=False) for entry in pair]
        rest = offers[len(turns) :] + turns[len(offers) :]
        return Draft(
            instruction, self.state, success, tuple(expert), (*mixed, *rest), answer=answer, first_observation=first,
            menu_max=menu_max, hidden=dict(hidden),
        )  # fmt: skip


_ADMIN = {"wiki": "admin", "forum": "moderator", "tracker": "maintainer"}


family = family_of(WebScene, "no world")
"""Turns a function of a scene and a level into a family of tasks on the sites."""


def problem(before: str, after: str) -> str:
    """Return why an action of the expert failed; empty if it did not."""
    return "an error" if "### Error" in after else ""


def _plain(name: str) -> str:
    """A name in small letters of the English alphabet."""
    letters = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in letters if letter.isascii() and letter.isalpha())
