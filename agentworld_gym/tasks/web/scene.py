"""What all families of web tasks share: sites being filled, actions, and checks on what pages show."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from agentworld_gym.domain.task import Check, Expect, Split
from agentworld_gym.engines.tables.word_lists import common_words
from agentworld_gym.engines.web.machine import WebMachine
from agentworld_gym.engines.web.sites.site import load_site
from agentworld_gym.tasks.family import Draft
from agentworld_gym.tasks.people import people_of
from agentworld_gym.tasks.proof import Stage, prove
from agentworld_gym.tasks.scene import Scene, family_of
from agentworld_gym.tasks.web.actions import url
from agentworld_gym.tasks.web.answers import said


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
