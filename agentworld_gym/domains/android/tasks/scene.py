"""The scene of a phone task: a phone that is being filled, lists to fill it from, and checks on its screens."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.scene import Scene, alternated, family_of
from agentworld_gym.core.tasks.validation import ValidationSession, prove
from agentworld_gym.domains.android.engine.elements import quoted
from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.engine.scenario import scenario_folder
from agentworld_gym.domains.android.tasks.actions import app, tap
from agentworld_gym.kit.vocabulary import common_pool


def line(text: str, description: str | None = None, flags: str = "") -> str:
    """Return a regular expression for the line of an element.

    Args:
        text: The text of the element.
        description: The description of the element; None matches any.
        flags: A regular expression for what follows the bounds of the element.
    """
    named = (("text", text), ("desc", description))
    told = " ".join(f'{name}="{re.escape(quoted(value))}"' for name, value in named if value)
    return rf"\| {told}" + (rf" \| bounds=\S+(?!\S){flags}" if flags else "")


def checked(on: bool) -> str:
    """Return a regular expression for the flags, after the bounds, of a switch or a box that is on or off."""
    return r" \| [^\n]*\bchecked" if on else r"(?! \| [^\n]*\bchecked)"


def _answer_pattern(answer: str) -> str:
    """Return a regular expression for the ways to say an answer: times of 12 or 24 hours, sums without currency, and
    such.

    >>> times = _answer_pattern("5:00 PM")
    >>> [bool(re.fullmatch(times, said)) for said in ("5:00 PM", "17:00", "at 5 PM", "5:00 AM", "5:00")]
    [True, True, True, False, False]
    >>> [bool(re.fullmatch(_answer_pattern("€3.50"), said)) for said in ("€3.50", "3.50", "3.50 euros", "13.50")]
    [True, True, True, False]
    """
    if match := re.fullmatch(r"(\d+):(\d\d) ([AP])M", answer):
        hour, minute, half = int(match[1]), match[2], match[3]
        short = rf"(?::{minute})?" if minute == "00" else f":{minute}"
        late = hour % 12 + (12 if half == "P" else 0)
        return rf"(?:at )?(?:0?{hour}{short} ?{half}\.?M|{late:02}:{minute})"
    if match := re.fullmatch(r"€?(\d+\.\d\d)", answer):
        return rf"(?:€ ?)?{re.escape(match[1])}(?: ?(?:€|euros?|EUR))?"
    if answer.isdecimal():
        return rf"{answer}(?: items?)?"
    return rf"(?:an? |the )?{re.escape(answer)}"


class AndroidScene(Scene):
    """A phone that is being filled for one task.

    >>> scene = AndroidScene(random.Random(1), 1, "train")
    >>> people = scene.people(3)
    >>> len(scene.state["contacts"]["people"]), people[0]["phone"][:5]
    (3, '07700')
    """

    def __init__(self, rng: random.Random, level: int, split: Split) -> None:
        super().__init__(rng, level, split)
        self._names = self.mixed(common_pool("people").of(split))
        self._numbers = rng.sample(range(1000), 60)
        self.today = date(2026, 3, 2) + timedelta(weeks=rng.randrange(20), days=rng.randrange(3))
        self.now = datetime(self.today.year, self.today.month, self.today.day, rng.randint(7, 9), rng.randrange(60))
        self.state: dict[str, Any] = {
            "device": "Pixel phone, Android 14, portrait, gesture navigation, no notifications",
            "time": self.now.strftime("%Y-%m-%d %H:%M"),
            "seed": 0,
            "contacts": {"people": []},
            "messages": {"threads": []},
            "notes": {"notes": []},
            "calendar": {"events": []},
            "phone": {"calls": []},
        }

    @property
    def tomorrow(self) -> date:
        """The day after today."""
        return self.today + timedelta(days=1)

    def name(self) -> str:
        """Draw a name of which nobody on the phone has the first name."""
        name: str = self._names.pop()
        first = name.split()[0]
        self._names = [other for other in self._names if other.split()[0] != first]
        return name

    def number(self) -> str:
        """Draw a telephone number that nobody has."""
        return f"07700 900{self._numbers.pop():03}"

    def people(self, count: int) -> list[dict[str, Any]]:
        """Add contacts and return them."""
        new = [{"name": self.name(), "phone": self.number()} for _ in range(count)]
        self.state["contacts"]["people"] += new
        return new

    def thread(self, who: str, *texts: str, day: date | None = None, unread: int = 0) -> None:
        """Add a conversation; texts that start with `> ` were sent from this phone."""
        day = day or self.today - timedelta(days=self.rng.randint(1, 3))
        start = datetime(day.year, day.month, day.day, self.rng.randint(8, 20) if day < self.today else 6)
        start += timedelta(minutes=self.rng.randrange(50))
        rows = [
            {
                "text": text.removeprefix("> "),
                "time": (start + timedelta(minutes=2 * place)).strftime("%Y-%m-%d %H:%M"),
                "mine": text.startswith("> "),
            }
            for place, text in enumerate(texts)
        ]
        self.state["messages"]["threads"].append({"who": who, "texts": rows, "unread": unread})

    def note(self, title: str, text: str = "", items: Iterable[tuple[str, bool]] = (), pinned: bool = False) -> None:
        """Add a note, or a checklist if there are items."""
        row: dict[str, Any] = {"title": title, "text": text, "pinned": pinned}
        rows = [{"text": item, "done": done} for item, done in items]
        self.state["notes"]["notes"].append({**row, "items": rows} if rows else row)

    def event(self, title: str, day: date, start: int, end: int = 0, **more: Any) -> None:
        """Add an event from one full hour to another; without an end it lasts an hour."""
        times = {"start": f"{start:02}:00", "end": f"{end or start + 1:02}:00"}
        self.state["calendar"]["events"].append({"title": title, "date": day.isoformat(), **times, **more})

    def call(self, who: str, kind: str, hour: int, minute: int, seconds: int = 0) -> None:
        """Add a call of this morning to the log."""
        moment = datetime(self.today.year, self.today.month, self.today.day, hour, minute)
        row = {"who": who, "kind": kind, "time": moment.strftime("%Y-%m-%d %H:%M"), "seconds": seconds}
        self.state["phone"]["calls"].append(row)

    def mix(self) -> None:
        """Put contacts, notes and events into random order."""
        self.rng.shuffle(self.state["contacts"]["people"])
        self.rng.shuffle(self.state["notes"]["notes"])
        self.rng.shuffle(self.state["calendar"]["events"])

    def silence(self, *names: str) -> None:
        """Remove the conversations with some people."""
        threads = self.state["messages"]["threads"]
        self.state["messages"]["threads"] = [thread for thread in threads if thread["who"] not in names]

    def shows(self, path: Sequence[str], *having: str, lacking: Sequence[str] = (), weight: float = 1.0) -> Check:
        """Return a check on the screen that some actions lead to.

        Args:
            path: The actions.
            having: Regular expressions that the screen has to match.
            lacking: Regular expressions that it must not match.
            weight: The weight of the check.
        """
        wanted = "".join(f"(?=.*{pattern})" for pattern in having)
        unwanted = "".join(f"(?!.*{pattern})" for pattern in lacking)
        expect = Expect(matches=rf"(?s)\A{unwanted}{wanted}")
        return Check(probe=path[0] if len(path) == 1 else tuple(path), expect=expect, weight=weight)

    def sent(self, who: str, text: str, weight: float = 1.0) -> Check:
        """Return a check that this message, and no other one, was sent to somebody today."""
        text = re.escape(quoted(text))
        mine = r'" desc="You, \d'
        path = [app("Messages"), tap(who)]
        return self.shows(path, f'text="{text}{mine}', lacking=[f'text="(?!{text}")[^\n]*{mine}'], weight=weight)

    def answers(self, answer: str, weight: float = 0.5) -> Check:
        """Return a check on what follows `finish:`."""
        return Check(answer=Expect(matches=rf"(?i)\A\W*{_answer_pattern(answer)}\W*\Z"), weight=weight)

    def draft(
        self,
        instruction: str,
        expert: Sequence[str],
        distractors: Sequence[str],
        checks: Sequence[Check],
        asks: str = "",
        answer: str | None = None,
        wrong: Sequence[str] = (),
        menu_max: int | None = None,
    ) -> TaskDraft:
        """Prove the task and return its draft.

        At level 1 no answer is asked for: an agent that learns by trying finds out what to do before what to say. The
        menus of level 3 have little room. One wrong answer is enough there, and other menu entries should name it as
        often as the right one, which they would give away otherwise.

        Args:
            instruction: The instruction without its last sentence.
            expert: The actions of the expert without the closing `finish`.
            distractors: Wrong or useless actions; those that are on no screen which the expert sees are left out.
            checks: The checks on what the agent does.
            asks: The sentence that says what to finish with.
            answer: The right answer, which gives one more check.
            wrong: Wrong answers.
            menu_max: The size of the menu; the usual size of the level if it is None.

        Raises:
            Unfit: a check holds from the start.
            RuntimeError: the expert cannot do an action, it does nothing, or a check does not hold at the end.
        """
        if self.level == 1:
            asks, answer, wrong = "", None, ()
        success = (*checks, self.answers(answer)) if answer is not None else tuple(checks)
        stage = ValidationSession("android", AndroidMachine.start(self.state, 0), problem)
        first = stage.machine.observation
        possible = prove(stage, instruction, expert, success, answer, distractors)
        offers = [f"finish: {text}" for text in wrong if text != answer]
        turns = [action for action in possible if action not in expert]
        # Wrong answers and wrong actions alternate, so that a full menu drops some of each.
        ordered = [*offers[:1], *turns, *offers[1:]] if self.level == 3 else alternated(offers, turns)
        return TaskDraft(
            f"{instruction} {asks}".rstrip(), self.state, success, tuple(expert), tuple(ordered), answer=answer,
            first_observation=first, menu_max=menu_max,
        )  # fmt: skip


family = family_of(AndroidScene, "no phone")
"""The decorator that turns a function of a scene and a level into a family of phone tasks."""


def problem(before: str, after: str) -> str:
    """Return why an action of the expert is of no use: it has to change the screen."""
    return "" if after != before else "it changes nothing"


def background(scene: AndroidScene, people: int = 4, threads: int = 2) -> list[str]:
    """Add contacts, and small talk with some of them, that no task is about; return the names."""
    names = [person["name"] for person in scene.people(people)]
    for name, talk in zip(scene.some(names, threads), scene.some(words().small_talk, threads), strict=True):
        scene.thread(name, *talk)
    return names


class WordLists(Strict):
    """The contents of the file `tasks.yaml` beside the scenarios of phones, which says what each list is for."""

    lists: dict[str, tuple[str, ...]]
    products: tuple[tuple[str, str], ...]
    small_talk: tuple[tuple[str, ...], ...]
    messages: tuple[tuple[str, str], ...]
    planned: tuple[str, ...]
    appointments: tuple[str, ...]


@lru_cache(maxsize=1)
def words() -> WordLists:
    """Read the lists.

    >>> sorted(words().lists)[:2]
    ['Camping', 'Garden']

    Raises:
        SpecError: the file is wrong.
    """
    path = scenario_folder() / "tasks.yaml"
    return validated(WordLists, read_yaml(path), path)
