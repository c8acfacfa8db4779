"""The scene of a web task: sites that are being filled, and checks on what their pages show and on answers."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.scene import Scene, alternated, family_of
from agentworld_gym.core.tasks.validation import ValidationSession, prove
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.sites.site import load_site
from agentworld_gym.domains.web.tasks.actions import url
from agentworld_gym.kit.vocabulary import common_pool


class Person(NamedTuple):
    """A person with an account."""

    username: str
    name: str

    @property
    def first(self) -> str:
        """The first name."""
        return self.name.split()[0]

    @property
    def address(self) -> str:
        """The person's mail address."""
        return f"{self.username}@post.example"


class WebScene(Scene):
    """The sites of one task while they are being filled. All their rows are stated, so nothing in them comes from a
    seed.

    >>> scene = WebScene(random.Random(1), 1, "train")
    >>> scene.site("wiki", admins=scene.people(1))
    >>> [row["role"] for row in scene.rows("wiki", "users")], scene.rows("wiki", "pages")
    (['editor', 'admin'], [])
    """

    def __init__(self, rng: random.Random, level: int, split: Split) -> None:
        super().__init__(rng, level, split)
        self._names = self.mixed(common_pool("people").of(split))
        self.now = datetime(2026, 3, 2, rng.randint(8, 11), rng.randrange(60)) + timedelta(days=rng.randrange(90))
        self.password = f"{self.word('nouns')}-{self.word('colours')}-{rng.randint(10, 99)}"
        (self.me,) = self.people(1)
        self.state: dict[str, Any] = {"open": "", "sites": {}, "now": self.moment(0), "signed_in": {}}

    def word(self, kind: str) -> str:
        """Draw one of the common words of a kind."""
        return self.rng.choice(common_pool(kind).of(self.split))

    def words(self, kind: str, count: int) -> list[str]:
        """Draw several of the common words of a kind."""
        return self.some(common_pool(kind).of(self.split), count)

    def moment(self, days: float) -> str:
        """Return the moment so many days ago, as the sites store it."""
        return (self.now - timedelta(minutes=round(24 * 60 * days))).strftime("%Y-%m-%dT%H:%M:00Z")

    def day(self, days: int) -> str:
        """Return the date in so many days."""
        return (self.now + timedelta(days=days)).strftime("%Y-%m-%d")

    def people(self, count: int) -> list[Person]:
        """Draw people whose first names nobody else has."""
        people = []
        for _ in range(count):
            name: str = self._names.pop()
            first, *_, last = name.split()
            self._names = [other for other in self._names if other.split()[0] != first and other.split()[-1] != last]
            people.append(Person(_plain(first), name))
        return people

    def site(
        self,
        name: str,
        people: Iterable[Person] = (),
        role: str | None = None,
        admins: Iterable[Person] = (),
        signed_in: bool = True,
    ) -> None:
        """Add a site that is empty but for accounts: mine, and those of others.

        Args:
            name: The name of the site.
            people: Others who have an account.
            role: My role, if it is not the usual one.
            admins: Others who have an account with more rights.
            signed_in: Whether I am signed in.
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
        """Set the page that the browser shows first."""
        self.state["open"] = url(address)

    def rows(self, site: str, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        rows: list[dict[str, Any]] = self.state["sites"][site][table]
        return rows

    def add(self, site: str, table: str, **row: Any) -> dict[str, Any]:
        """Add a row to a table and return it."""
        self.rows(site, table).append(row)
        return row

    def shows(self, path: Sequence[str] | str, *having: str, lacking: Sequence[str] = (), weight: float = 1.0) -> Check:
        """Return a check on the page that actions lead to.

        Args:
            path: The action or actions.
            having: Regular expressions that the page has to match.
            lacking: Regular expressions that it must not match.
            weight: The weight of the check.
        """
        wanted = "".join(f"(?=.*{pattern})" for pattern in having)
        unwanted = "".join(f"(?!.*{pattern})" for pattern in lacking)
        probe = path if isinstance(path, str) else tuple(path)
        return Check(probe=probe, expect=Expect(matches=rf"(?s)\A{unwanted}{wanted}"), weight=weight)

    def answers(self, answer: str, weight: float = 0.5) -> Check:
        """Return a check on what follows `finish:`."""
        return Check(answer=expect_answer(answer), weight=weight)

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
    ) -> TaskDraft:
        """Prove the task and return its draft.

        Args:
            instruction: The instruction; how to sign in is added to it.
            expert: The actions of the expert without the closing `finish`.
            distractors: Wrong or useless actions; those that are on no page which the expert sees are left out.
            checks: The checks on what the agent does.
            answer: The right answer, which gives one more check.
            wrong: Wrong answers.
            menu_max: The size of the menu.
            hidden: What a world must know beyond the state.

        Raises:
            Unfit: a check holds from the start.
            RuntimeError: the expert cannot do an action, or a check does not hold at the end.
        """
        instruction = f"{instruction} (Should a site ask: you are {self.me.username}, password {self.password}.)"
        success = (*checks, self.answers(answer))
        stage = ValidationSession("web", WebMachine.start(self.state, 0), problem)
        first = stage.machine.observation
        possible = prove(stage, instruction, expert, success, answer, distractors)
        offers = [f"finish: {text}" for text in dict.fromkeys(wrong) if text != answer]
        turns = [action for action in possible if action not in expert]
        # Wrong answers and wrong actions alternate, so that a full menu drops some of each.
        ordered = alternated(offers, turns)
        return TaskDraft(
            instruction, self.state, success, tuple(expert), tuple(ordered), answer=answer, first_observation=first,
            menu_max=menu_max, hidden=dict(hidden),
        )  # fmt: skip


_ADMIN = {"wiki": "admin", "forum": "moderator", "tracker": "maintainer"}


family = family_of(WebScene, "no world")
"""The decorator that turns a function of a scene and a level into a family of web tasks."""


def problem(before: str, after: str) -> str:
    """Return why an action of the expert failed, or an empty text if it did not."""
    return "an error" if "### Error" in after else ""


def _plain(name: str) -> str:
    """Return a name in small letters of the English alphabet."""
    letters = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in letters if letter.isascii() and letter.isalpha())


_UNITS = {"year": "years?", "cm": "(?:cm|centimet(?:re|er)s?)"}


def expect_answer(answer: str) -> Expect:
    """Return a test that accepts the ways to say an answer: amounts without their unit, and answers within a sentence.

    An answer that names two different numbers does not pass.

    >>> sums = ("44.9", "44.90 EUR", "The total is €44.90.", "€44.80", "€44.90 or €40.00")
    >>> [expect_answer("€44.90").holds(text) for text in sums]
    [True, True, True, False, False]
    >>> [expect_answer("#258").holds(text) for text in ("258", "Issue #258", "#25", "#258, #259")]
    [True, True, False, False]
    >>> [expect_answer("9 cm").holds(text) for text in ("9", "They grow 9cm apart.", "9 mm", "19 cm")]
    [True, True, False, False]
    >>> [expect_answer("the mill").holds(text) for text in ("Mill.", "at the mill", "the mill or the school")]
    [True, True, False]
    """
    if match := re.fullmatch(r"€([\d,]+\.\d\d)", answer):
        return Expect(number=float(match[1].replace(",", "")), tolerance=0.001)
    if match := re.fullmatch(r"#?(\d+)", answer):
        return Expect(number=int(match[1]))
    if match := re.fullmatch(rf"(\d+) ({'|'.join(_UNITS)})s?", answer):
        pattern = rf"(?i)\A[^\d]*{match[1]}(?:[ -]?{_UNITS[match[2]]}\b[^\d]*|\W*)\Z"
        return Expect(number=int(match[1]), matches=pattern)
    inner = re.escape(answer.removeprefix("the "))
    return Expect(matches=rf"(?i)\A\W*(?:(?:at|by|in|on) )?(?:the |an? )?{inner}\W*\Z")


def in_row(*texts: str) -> str:
    """Return a regular expression for texts that follow one another in one row of a table."""
    return r"(?:(?!- row\b).)*".join(re.escape(text) for text in texts)


def in_article(*texts: str) -> str:
    """Return a regular expression for texts that follow one another in one article."""
    return r"(?:(?!- article\b).)*".join(re.escape(text) for text in texts)


def term(name: str, value: str) -> str:
    """Return a regular expression for a term and its definition."""
    return rf"- term [^\n]*: {re.escape(name)}\n(?:(?!- term\b).)*?(?<![\w.,]){re.escape(value)}(?![\w.,])"


def paragraph(text: str) -> str:
    r"""Return a regular expression for a paragraph of just this text; a full stop at its end does not matter.

    In an answer to a mail, the line that introduces the quoted mail may follow.

    >>> bool(re.search(paragraph("Yes."), '- paragraph [ref=e6]: "Yes On 4 March 2026, 08:00 Ada Brandt wrote:"\n'))
    True
    """
    said = f"{re.escape(text.rstrip('.!'))}[.!]?"
    return rf'\]: (?:{said}|"{said} On \d[^\n]* wrote:")\n'


def euros(amount: float) -> str:
    """Return an amount as pages show it.

    >>> euros(4.9)
    '€4.90'
    """
    return f"€{amount:,.2f}"
