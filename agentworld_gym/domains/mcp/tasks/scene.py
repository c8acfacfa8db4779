"""The scene of a tool task: a small database that is being arranged, and checks on what tools show of it."""

from __future__ import annotations

import datetime
import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from pydantic import ConfigDict

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import Family, TaskDraft
from agentworld_gym.core.tasks.patterns import Fields, shows
from agentworld_gym.core.tasks.scene import Build, Scene, Unfit, family_of
from agentworld_gym.core.tasks.validation import ValidationSession, prove, without_right_answers
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.scenario import scenario_names
from agentworld_gym.domains.mcp.engine.service import Service, load_service
from agentworld_gym.kit.tables.database import has, open_image, tables_of, today
from agentworld_gym.kit.tables.row_file import Size
from agentworld_gym.kit.tables.varied_words import WordRecipe, all_varied
from agentworld_gym.kit.vocabulary import common_pool

_NUMBER = re.compile(r"finish: \d+(?:\.\d+)?")


class Tables:
    """The tables of a database, which families read by SQL to know the truth and arrange for a task.

    >>> tables = Tables(sqlite3.connect(":memory:"))
    >>> tables.run("CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT)")
    >>> tables.put("t", word="amber"), tables.put("t", word="jade")
    (1, 2)
    >>> tables.value("SELECT word FROM t WHERE n = :n", n=2), tables.values("SELECT n FROM t")
    ('jade', [1, 2])
    >>> tables.rows("SELECT * FROM t")[0]
    {'n': 1, 'word': 'amber'}
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        connection.create_function("has", 2, has, deterministic=True)
        connection.create_function("today", 1, today, deterministic=True)

    def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """Return all rows of a query."""
        cursor = self.connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def row(self, sql: str, **values: Any) -> dict[str, Any]:
        """Return the only row of a query.

        Raises:
            Unfit: there is none, or more than one.
        """
        rows = self.rows(sql, **values)
        if len(rows) != 1:
            raise Unfit(f"one row wanted, {len(rows)} found: {sql}")
        return rows[0]

    def values(self, sql: str, **values: Any) -> list[Any]:
        """Return the first column of all rows of a query."""
        return [row[0] for row in self.connection.execute(sql, values)]

    def value(self, sql: str, **values: Any) -> Any:
        """Return the only column of the only row of a query.

        Raises:
            Unfit: there is no row, or more than one.
        """
        return next(iter(self.row(sql, **values).values()))

    def put(self, table: str, **columns: Any) -> int:
        """Insert a row and return its number.

        Raises:
            Unfit: a constraint refuses it.
        """
        marks = ", ".join(f":{name}" for name in columns)
        return self.run(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", **columns) or 0

    def run(self, sql: str, **values: Any) -> int | None:
        """Change rows and return the number of the row that was inserted last.

        Raises:
            Unfit: a constraint refuses it.
        """
        try:
            return self.connection.execute(sql, values).lastrowid or None
        except sqlite3.IntegrityError as error:
            raise Unfit(str(error)) from error


class ToolScene(Scene, Tables):
    """The small database of a scenario while it is being arranged for one task.

    >>> scene = ToolScene("bank", random.Random(1), 1, "train")
    >>> scene.call("get_card", card_id=3)
    '{"name": "bank-get_card", "arguments": {"card_id": 3}}'
    >>> scene.value("SELECT count(*) FROM sessions")
    1
    """

    def __init__(self, scenario: str, rng: random.Random, level: int, split: Split, size: Size = "small") -> None:
        Scene.__init__(self, rng, level, split)
        self.scenario, self.service = scenario, load_service(scenario)
        Tables.__init__(self, open_image(service_of(scenario, split).generated(size, rng.getrandbits(31))))
        self._problem = unfit_if_refused if self.rules else problem

    @property
    def now(self) -> str:
        """The moment at which the episode takes place."""
        return self.service.scenario.about.now

    @property
    def today(self) -> str:
        """The date on which the episode takes place, as the database holds it."""
        return self.now[:10]

    @property
    def date(self) -> datetime.date:
        """The date on which the episode takes place."""
        return datetime.date.fromisoformat(self.today)

    @property
    def policies(self) -> Mapping[str, Any]:
        """The limits, deadlines and rights of the scenario, by name."""
        return self.service.scenario.about.policies

    @property
    def rules(self) -> Sequence[str]:
        """The policies of the scenario in sentences."""
        return self.service.scenario.about.rules

    def call(self, tool: str, **arguments: Any) -> str:
        """Return the action that calls a tool, which is named without its server; arguments that are None are left
        out."""
        present = {name: value for name, value in arguments.items() if value is not None}
        return json.dumps({"name": f"{self.service.scenario.name}-{tool}", "arguments": present}, ensure_ascii=False)

    def calls(self, tool: str, key: str, values: Iterable[Any], **arguments: Any) -> list[str]:
        """Return calls of one tool, one for each value of an argument."""
        return [self.call(tool, **{key: value, **arguments}) for value in values]

    def probe(
        self, action: str, *having: Fields | str, lacking: Sequence[Fields | str] = (), weight: float = 1.0
    ) -> Check:
        """Return a check on what a reading call shows at the end.

        Args:
            action: The call.
            having: Fields that some JSON object of the answer has to have, or regular expressions that match.
            lacking: Fields that no JSON object may have, or regular expressions that must not match.
            weight: The weight of the check.
        """
        return Check(probe=action, expect=Expect(matches=shows(having, lacking)), weight=weight)

    def answers(self, answer: float | str | Sequence[str], weight: float = 1.0) -> Check:
        """Return a check on what follows `finish:`: a number to the cent, a name, or names in any order."""
        if isinstance(answer, int | float):
            return Check(answer=Expect(number=answer, tolerance=0.005), weight=weight)
        items = (answer,) if isinstance(answer, str) else tuple(answer)
        return Check(answer=Expect(items=items), weight=weight)

    def finishes(self, *answers: object) -> list[str]:
        """Return the `finish` actions with these answers."""
        return [f"finish: {answer_text(answer)}" for answer in answers]

    def after(self, actions: Iterable[str]) -> Tables:
        """Return the tables as they are after some calls.

        Raises:
            Unfit: the rules of the scenario refuse a call.
            RuntimeError: a call is refused where there are no rules.
        """
        machine = self._machine()
        stage = ValidationSession("mcp", machine, self._problem)
        for action in actions:
            stage.perform(action)
        return Tables(open_image(machine.database()))

    def draft(
        self,
        instruction: str,
        expert: Sequence[str],
        distractors: Sequence[str],
        checks: Sequence[Check],
        answer: float | str | Sequence[str] | None = None,
        menu_max: int | None = None,
    ) -> TaskDraft:
        """Prove the task and return its draft.

        Args:
            instruction: The instruction, to which the rules of the scenario are added.
            expert: The calls of the expert without the closing `finish`.
            distractors: Wrong or useless actions; right answers among them are left out.
            checks: The checks on what the agent does.
            answer: The right answer, which gives one more check.
            menu_max: The size of the menu; the usual size of the level if it is None.

        Raises:
            Unfit: a check holds from the start, or the rules of the scenario refuse a call of the expert.
            RuntimeError: a call of the expert is refused where there are no rules, or a check does not hold at its end.
        """
        if self.rules:
            instruction = "\n".join([instruction, "", "Rules:", *(f"- {rule}" for rule in self.rules)])
        success = (*checks, self.answers(answer)) if answer is not None else tuple(checks)
        closing = None if answer is None else answer_text(answer)
        machine = self._machine()
        greeting = machine.observation
        prove(ValidationSession("mcp", machine, self._problem), instruction, expert, success, closing)
        wrong = without_right_answers(distractors, success)
        if isinstance(answer, int | float):
            wrong = self._surrounded(answer, wrong)
        return TaskDraft(
            instruction,
            self.state(),
            success,
            tuple(expert),
            tuple(wrong),
            answer=closing,
            tools=self.service.listed,
            first_observation=greeting,
            menu_max=menu_max,
        )

    def _surrounded(self, answer: float, actions: Sequence[str]) -> list[str]:
        """Replace wrong numbers among the actions, so that its place among them does not give the right number away."""
        offers = [action for action in actions if _NUMBER.fullmatch(action)]
        numbers = around(self.rng, answer, [type(answer)(offer.removeprefix("finish: ")) for offer in offers])
        others = iter(self.finishes(*numbers))
        kept = [next(others, None) if action in offers else action for action in actions]
        return [action for action in kept if action is not None]

    def state(self) -> dict[str, Any]:
        """Return the state of the task as it is arranged by now."""
        about = self.service.scenario.about
        tables = tables_of(self.connection, self.service.keys)
        return {"scenario": self.scenario, "now": about.now, "user": about.user, "tables": tables}

    def _machine(self) -> ToolMachine:
        return ToolMachine.start(self.state(), 0)


@dataclass(frozen=True)
class ToolFamily:
    """A family of tasks of a scenario, which can also be played on worlds that were grown from it.

    Args:
        build: The function that makes a draft from a scene and a level.
        scenario: The name of the scenario that it was written for.
    """

    build: Build[ToolScene]
    scenario: str

    @property
    def __name__(self) -> str:
        """The name of the family."""
        return self.build.__name__

    def on(self, scenario: str) -> Family:
        """Return the family on the databases of a scenario, given by its name or the path of its folder."""
        return family_of(partial(ToolScene, scenario), f"no database of {scenario}")(self.build)

    def __call__(self, rng: random.Random, level: int, split: Split) -> TaskDraft:
        """Draft a task on a database of the family's own scenario."""
        return self.on(self.scenario)(rng, level, split)


def family(scenario: str) -> Callable[[Build[ToolScene]], ToolFamily]:
    """Return the decorator that turns a function of a scene and a level into a family of tasks of a scenario."""
    return partial(ToolFamily, scenario=scenario)


def problem(before: str, after: str) -> str:
    """Return why a call of the expert failed, or an empty text if it did not."""
    return "the expert is refused" if '"status": "error"' in after or not after.startswith(("{", "[")) else ""


def unfit_if_refused(before: str, after: str) -> str:
    """Find no problem with a call that was carried out.

    Raises:
        Unfit: it was refused.
    """
    if reason := problem(before, after):
        raise Unfit(reason)
    return ""


def answer_text(answer: object) -> str:
    """Return an answer as it is written: sums with two decimals, names with commas.

    >>> answer_text(12.5), answer_text(3), answer_text(["Ada", "Bo"])
    ('12.50', '3', 'Ada, Bo')
    """
    if isinstance(answer, float):
        return f"{answer:.2f}"
    return answer if isinstance(answer, str) else str(answer) if isinstance(answer, int) else ", ".join(answer)  # type: ignore[arg-type]


def around(rng: random.Random, right: float, wrong: Sequence[float]) -> list[float]:
    """Return wrong numbers, none of them negative, of which a random share lies below the right one, as near as those
    given.

    >>> around(random.Random(4), 10, [12, 13, 17])
    [8, 12, 13]
    """
    wanted = rng.randint(0, len(wrong))
    below = [number for number in wrong if number < right] + [_mirrored(right, n) for n in wrong if n > right]
    above = [number for number in wrong if number > right] + [2 * right - n for n in wrong if n < right]
    fitting = [number for number in dict.fromkeys(below) if 0 <= number < right][:wanted]
    numbers = [*fitting, *dict.fromkeys(above)][: len(wrong)]
    return [round(number, 2) for number in numbers]


def _mirrored(right: float, number: float) -> float:
    """Return a number as far below the right one as another is above it, or as many times smaller."""
    lower = 2 * right - number
    return lower if lower >= 0 else type(right)(right * right / number)


class _Growth(Strict):
    model_config = ConfigDict(extra="ignore")

    words: dict[str, WordRecipe]


def service_of(scenario: str, split: Split) -> Service:
    """Return the service of a scenario, whose rows of a seed hold the words of a split.

    The scenarios of the package vary their lists by the recipes by which worlds grow from them, so that people, goods
    and firms of each split bear names of their own. A scenario from elsewhere has the same words in all splits.

    Raises:
        SpecError: there is no such scenario, or one of its files is wrong.

    >>> service_of("bank", "test").scenario.words["branches"] == service_of("bank", "train").scenario.words["branches"]
    False
    """
    return (
        load_service(scenario) if split == "train" or scenario not in scenario_names() else _held_out(scenario, split)
    )


@lru_cache(maxsize=16)
def _held_out(name: str, split: Split) -> Service:
    service = load_service(name)
    scenario = service.scenario
    file = scenario.folder / "growth.yaml"
    recipes = validated(_Growth, read_yaml(file), file).words
    common = {kind: common_pool(kind).of(split) for kind in ("people", "cities", "streets", "companies", "rooms")}
    names = [name.split() for name in common["people"]]
    pairs = {"first_names": sorted({first for first, _ in names}), "last_names": sorted({last for _, last in names})}
    varied = all_varied(scenario.words, recipes, {**scenario.words, **pairs}, random.Random(f"{name}/{split}"))
    words = {name: tuple(entries) for name, entries in {**scenario.words, **common, **varied}.items()}
    return replace(service, scenario=replace(scenario, words=words))
