"""The tasks of AWM's worlds: a sentence each, tested by a verifier that came with it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.core.actions.usable_tools import tools_left_out
from agentworld_gym.core.domain.task import Check, Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.database import describe_database, is_whole
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine, Verifiers
from agentworld_gym.domains.mcp.awm.engine.files import AwmVerifier
from agentworld_gym.domains.mcp.awm.engine.meta_tools import META_TOOLS, Texts
from agentworld_gym.domains.mcp.awm.menu import menu_of
from agentworld_gym.domains.mcp.engine.answer import greeting

logger = logging.getLogger(__name__)

USER = "1"
"""The number of the user who is signed in, as all of AWM's worlds take it."""

QUESTION = """Has the agent done what it was asked to do? Read its calls, what they returned and its answer, and above
all what the program found, which may be wrong or incomplete itself. Take the first class that fits:

- complete: all that was asked for is done, with the right values, and what the program found confirms it.
- server_error: the agent was kept from it by the tools: a right call was answered by an error inside the server, such
  as a status of 500, or by what no such tool may answer.
- agent_error: the agent is to blame: it gave up, made things up, or called tools wrongly and did not recover.
- incomplete: everything else, such as a part of what was asked for."""
"""What a judge is asked of an episode, before what the program found."""

CLASSES: dict[str, float | None] = {"complete": 1.0, "incomplete": 0.1, "server_error": None, "agent_error": 0.0}
"""AWM's classes with their rewards; an error of the server is a failure of the world."""


WORDING = (
    "The tools are endpoints of a web app, and what they print is its answer. A successful call prints the JSON of the "
    "answer, indented by two blanks. An error prints `Error calling NAME. Status code: 404. Response: ` and the JSON "
    'of the answer, such as `{"detail":"Port not found"}`, on one line; where the code fails, the status is 500 and '
    "the answer `Internal Server Error`. Arguments that do not fit the schema print `Input validation error: ` and "
    "what is wrong with the first of them, such as `'x' is not of type 'integer'`. An action takes a second; times in "
    "the database and in answers begin at the `now` of the state."
)
"""The instruction about the texts of these tools, beside what holds for all tool servers."""

LARGE = " The tables of the state show their first rows only; `rows` says how many there are."

UNJUDGED = "only a judge can decide it, and there is none: pass judge="
"""Why a task is left out whose verifier does not decide by itself."""


class AwmTasks:
    """The tasks of a folder, made when they are asked for; those that are done at the start are dropped and counted.

    Their state tells a language world of the database, see `agentworld_gym.domains.mcp.awm.database`. Their menu is
    made from the database.

    Args:
        engine: The engine of the folder.
        scenario: The only scenario; None takes all.
        meta: Whose texts the agent reads of AWM's two meta tools; None where it has the tools themselves.
        judged: Whether a judge reads what verifiers found, where the files have such verifiers.

    Raises:
        SpecError: There is no such scenario, or there are no tasks.
    """

    def __init__(
        self, engine: AwmEngine, scenario: str | None, meta: Texts | None = None, judged: bool = False
    ) -> None:
        files = engine.files
        self._engine, self._meta, self._judged = engine, meta, judged
        self._only = None if scenario is None else files.find(scenario)
        named = files.names if self._only is None else (self._only,)
        self.dropped: dict[str, dict[int, str]] = {}
        """The tasks that are not played, by scenario and number, with the reason; scenarios enter as they are used."""
        self.left_out: dict[str, dict[str, str]] = {}
        """The tools that are not offered, by scenario and name, with the reason; scenarios enter as they are used."""
        self._counts = {name: count for name in named if (count := self._count(name))}
        if not self._counts:
            raise SpecError(files.folder / "gen_tasks.jsonl", "tasks", list(named)[:3], "at least one task of these")
        self._names = tuple(self._counts)
        self._made: dict[str, Task] = {}
        self._numbers: dict[str, Sequence[int]] = {}
        self._has_judge = True

    def _count(self, name: str) -> int:
        """Return how many tasks a scenario has. Where that cannot be read, another scenario of the folder goes on."""
        try:
            return len(self._engine.files.sentences(name))
        except SpecError as error:
            if self._only is not None:
                raise
            self._drop(name, {0: str(error)}, 1)
            return 0

    def without_judge(self) -> None:
        """Leave out the tasks that only a judge can decide: there is none.

        Raises:
            SpecError: It is asked for that a judge decides.
        """
        if self._judged:
            expected = "a judge: with world_options={'verifier': 'judge'} it decides all tasks"
            raise SpecError("options", "judge", None, expected)
        self._has_judge = False

    def foreseen(self) -> tuple[Task, ...]:
        """Return no task: which tools a scenario has is known once its code runs."""
        return ()

    def pick(self, seed: int) -> Task:
        """Return the task of a seed: consecutive seeds walk through the scenarios, then through the tasks of each.

        Raises:
            AgentWorldError: No task can be played.
        """
        rounds, start = divmod(seed, len(self._names))
        for offset in range(len(self._names)):
            name = self._names[(start + offset) % len(self._names)]
            left = self._playable(name)
            for place in range(len(left)):
                number = left[(rounds + place) % len(left)]
                if (task := self._task_or_none(name, number)) is not None:
                    return task
        reasons = sorted({reason for dropped in self.dropped.values() for reason in dropped.values()})
        raise AgentWorldError(f"{self._engine.files.folder}: no task can be played: {'; '.join(reasons)}")

    def find(self, name: str) -> Task | None:
        """Return the task of an id `SCENARIO-NUMBER`, also one that is dropped; None where there is none."""
        scenario, hyphen, number = name.rpartition("-")
        if not hyphen or not number.isdecimal() or int(number) >= self._counts.get(scenario, 0):
            return None
        return self._task(scenario, int(number))

    def _playable(self, name: str) -> Sequence[int]:
        """Return the tasks of a scenario that can be played; the same ones each time, as seeds count on them."""
        if name not in self._numbers:
            count = self._counts[name]
            try:
                dropped = dict(self._engine.verifiers(name).dropped) | self._unjudged(name)
            except Exception as error:  # Nobody vouches for a world: it may not stop the others of its folder.
                if self._only is not None:
                    raise AgentWorldError(f"scenario {name} cannot be played: {error}") from error
                dropped = dict.fromkeys(range(count), _reason(error))
                self._warn(name, error)
            self._drop(name, dropped, count)
            self._numbers[name] = tuple(number for number in range(count) if number not in dropped)
        return self._numbers[name]

    def _task_or_none(self, name: str, number: int) -> Task | None:
        """Return a task of the folder; None where it cannot be made, which is then counted among those dropped."""
        try:
            return self._task(name, number)
        except Exception as error:
            if self._only is not None and len(self._playable(name)) == 1:
                raise
            self._warn(f"{name}-{number}", error)
            self.dropped[name][number] = _reason(error)
            return None

    def _warn(self, what: str, error: Exception) -> None:
        expected = isinstance(error, AgentWorldError)
        logger.warning("%s cannot be played: %s", what, _reason(error), exc_info=None if expected else error)

    def _drop(self, name: str, dropped: dict[int, str], count: int) -> None:
        self.dropped[name] = dropped
        if dropped:
            logger.info("%s: %d of %d tasks are dropped: %s", name, len(dropped), count, dropped)

    def _unjudged(self, name: str) -> dict[int, str]:
        verifiers = self._engine.verifiers(name)
        left = () if self._has_judge else verifiers.judged.keys() - verifiers.decided.keys()
        return {number: UNJUDGED for number in sorted(left) if number < self._counts[name]}

    def _task(self, name: str, number: int) -> Task:
        key = f"{name}-{number}"
        if key not in self._made:
            server = self._engine.server(name)
            scenario, stored = server.scenario, server.stored
            self._note_left_out(name)
            self._made[key] = Task(
                id=key,
                domain="mcp",
                instruction=scenario.tasks[number],
                state={"scenario": name, "user": USER, "now": self._engine.beginning.now, **describe_database(stored)},
                tools=META_TOOLS if self._meta else server.about.tools,
                first_observation=self.greeting(name),
                simulation=WORDING if is_whole(stored) else WORDING + LARGE,
                menu=menu_of(server.about.tools, stored.tables, scenario.tasks[number], key) if not self._meta else (),
                success=(self._check(name, number),),
                family=re.sub(r"-+", "_", name),
            )
        return self._made[key]

    def greeting(self, name: str) -> str:
        """Return what a scenario shows before the first action; AWM's agents are shown nothing but the task."""
        return "" if self._meta == "awm" else greeting(name, f"user {USER}", self._engine.beginning.now)

    def _note_left_out(self, name: str) -> None:
        about = self._engine.server(name).about
        if name not in self.left_out:
            self.left_out[name] = dict(about.left_out)
            if about.left_out:
                logger.warning(tools_left_out(name, about.left_out, len(about.tools) + len(about.left_out)))

    def _check(self, name: str, number: int) -> Check:
        known = self._engine.verifiers(name)
        kinds = [("code", known.decided), ("judge", known.judged)]
        there = [kind for kind, verifiers in kinds if number in verifiers]
        kind = "judge" if there == ["judge"] or (self._judged and "judge" in there) else "code"
        if kind == "code":
            return Check(verifier=f"code-{number}")
        return Check(verifier=f"judge-{number}", rubric=QUESTION, classes=CLASSES)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def verifier_of(known: Verifiers, name: str) -> AwmVerifier:
    """Return a verifier by the name that a check has for it.

    Raises:
        EngineError: The scenario has no such verifier.
    """
    kind, _, number = name.partition("-")
    verifiers = {"code": known.decided, "judge": known.judged}.get(kind, {})
    verifier = verifiers.get(int(number)) if number.isdecimal() else None
    if verifier is None:
        raise EngineError(f"there is no verifier {name}")
    return verifier
