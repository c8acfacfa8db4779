"""The tasks of AWM's worlds: a sentence each, tested by a verifier that came with it."""

from __future__ import annotations

import logging
import re

from agentworld_gym.domain.task import Check, Task
from agentworld_gym.engines import EngineError
from agentworld_gym.engines.awm.engine import AwmEngine, satisfied_at_start
from agentworld_gym.engines.awm.files import Scenario, Verifier
from agentworld_gym.engines.awm.meta_tools import META_TOOLS
from agentworld_gym.engines.mcp.answer import greeting
from agentworld_gym.errors import AgentWorldError, SpecError
from agentworld_gym.worlds.awm.database import is_whole, told
from agentworld_gym.worlds.awm.menu import menu_of

logger = logging.getLogger(__name__)

NOW = "2026-01-01T09:00:00Z"
"""The time at which an episode begins."""

USER = "1"
"""The number of the user who is signed in, as all of AWM's worlds take it."""

QUESTION = (
    "Has the agent done what it was asked to do, wholly and with the right values? Read its calls, what they returned "
    "and its answer, and above all what the program found. 5 stands for done, 1 for not done."
)
"""What a judge is asked of an episode, before what the program found."""


WORDING = (
    "The tools are endpoints of a web app, and what they print is its answer. A successful call prints the JSON of the "
    "answer, indented by two blanks. An error prints `Error calling NAME. Status code: 404. Response: ` and the JSON "
    'of the answer, such as `{"detail":"Port not found"}`, on one line; where the code fails, the status is 500 and '
    "the answer `Internal Server Error`. Arguments that do not fit the schema print `Input validation error: ` and "
    "what is wrong with the first of them, such as `'x' is not of type 'integer'`. An action takes a second; times in "
    "the database and in answers begin at the `now` of the state."
)
"""What a language world is told of the texts of these tools, beside what holds for all tool servers."""

LARGE = " The tables of the state show their first rows only; `rows` says how many there are."

UNJUDGED = "only a judge can decide it, and there is none: pass judge="
"""Why a task is left out whose verifier does not decide by itself."""


class AwmTasks:
    """The tasks of a folder, made when they are asked for; those that are done at the start are dropped and counted.

    Their state tells a language world of the database, see `agentworld_gym.worlds.awm.database`. Their menu is made
    from the database.

    Args:
        engine: The engine of the folder.
        scenario: The only scenario; None takes all.
        meta: Whether the agent has AWM's two meta tools.
        judged: Whether a judge reads what verifiers found, where the files have such verifiers.

    Raises:
        SpecError: There is no such scenario, or there are no tasks.
    """

    def __init__(self, engine: AwmEngine, scenario: str | None, meta: bool = False, judged: bool = False) -> None:
        files = engine.files
        self._engine, self._meta, self._judged = engine, meta, judged
        self._only = None if scenario is None else files.find(scenario)
        named = files.names if self._only is None else (self._only,)
        self._counts = {name: len(files.sentences(name)) for name in named}
        self._counts = {name: count for name, count in self._counts.items() if count}
        if not self._counts:
            raise SpecError(files.folder / "gen_tasks.jsonl", "tasks", list(named)[:3], "at least one task of these")
        self._names = tuple(self._counts)
        self._made: dict[str, Task] = {}
        self.dropped: dict[str, dict[int, str]] = {}
        """The tasks that are not played, by scenario and number, with the reason; scenarios enter as they are used."""
        self._has_judge = True

    def without_judge(self) -> None:
        """Leave out the tasks that only a judge can decide: there is none.

        Raises:
            SpecError: It is asked for that a judge decides.
        """
        if self._judged:
            raise SpecError("options", "judge", None, "a judge: with awm={'verifier': 'judge'} it decides all tasks")
        self._has_judge = False

    def pick(self, seed: int) -> Task:
        """Return the task of a seed: consecutive seeds walk through the scenarios, then through the tasks of each.

        Raises:
            AgentWorldError: No task can be played.
        """
        rounds, start = divmod(seed, len(self._names))
        for offset in range(len(self._names)):
            name = self._names[(start + offset) % len(self._names)]
            dropped = self._dropped(name)
            left = [number for number in range(self._counts[name]) if number not in dropped]
            if left:
                return self._task(name, left[rounds % len(left)])
        reasons = sorted({reason for dropped in self.dropped.values() for reason in dropped.values()})
        raise AgentWorldError(f"{self._engine.files.folder}: no task can be played: {'; '.join(reasons)}")

    def find(self, name: str) -> Task | None:
        """Return the task of an id `SCENARIO-NUMBER`, also one that is dropped; None where there is none."""
        scenario, hyphen, number = name.rpartition("-")
        if not hyphen or not number.isdecimal() or int(number) >= self._counts.get(scenario, 0):
            return None
        return self._task(scenario, int(number))

    def _dropped(self, name: str) -> dict[int, str]:
        if name not in self.dropped:
            try:
                self.dropped[name] = satisfied_at_start(self._engine, name) | self._unjudged(name)
            except EngineError as error:
                if self._only is not None:
                    raise AgentWorldError(f"scenario {name} cannot be played: {error}") from error
                self.dropped[name] = dict.fromkeys(range(self._counts[name]), str(error))
            if dropped := self.dropped[name]:
                logger.info("%s: %d of %d tasks are dropped: %s", name, len(dropped), self._counts[name], dropped)
        return self.dropped[name]

    def _unjudged(self, name: str) -> dict[int, str]:
        scenario = self._engine.server(name).scenario
        left = () if self._has_judge else scenario.judged.keys() - scenario.decided.keys()
        return {number: UNJUDGED for number in sorted(left) if number < self._counts[name]}

    def _task(self, name: str, number: int) -> Task:
        key = f"{name}-{number}"
        if key not in self._made:
            server = self._engine.server(name)
            scenario, stored = server.scenario, server.stored
            self._made[key] = Task(
                id=key,
                domain="mcp",
                instruction=scenario.tasks[number],
                state={"scenario": name, "user": USER, "now": NOW, **told(stored)},
                tools=META_TOOLS if self._meta else server.about.tools,
                first_observation=greeting(name, f"user {USER}", NOW),
                simulation=WORDING if is_whole(stored) else WORDING + LARGE,
                menu=menu_of(server.about.tools, stored.tables, scenario.tasks[number], key) if not self._meta else (),
                success=(self._check(scenario, number),),
                family=re.sub(r"-+", "_", name),
            )
        return self._made[key]

    def _check(self, scenario: Scenario, number: int) -> Check:
        kinds = [("code", scenario.decided), ("judge", scenario.judged)]
        there = [kind for kind, verifiers in kinds if number in verifiers]
        kind = "judge" if there == ["judge"] or (self._judged and "judge" in there) else "code"
        return Check(verifier=f"{kind}-{number}", rubric=QUESTION if kind == "judge" else None)


def verifier_of(scenario: Scenario, name: str) -> Verifier:
    """Return a verifier by the name that a check has for it.

    Raises:
        EngineError: The scenario has no such verifier.
    """
    kind, _, number = name.partition("-")
    verifiers = {"code": scenario.decided, "judge": scenario.judged}.get(kind, {})
    verifier = verifiers.get(int(number)) if number.isdecimal() else None
    if verifier is None:
        raise EngineError(f"there is no verifier {name}")
    return verifier


def greeting_of(task: Task) -> str:
    """Return what a world shows before the first action."""
    return greeting(task.state["scenario"], f"user {USER}", NOW)
