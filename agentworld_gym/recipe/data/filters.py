"""Filters: the rules that decide which recorded turns and sessions are fit to learn from.

The rules are those of Qwen-AgentWorld (arXiv 2606.24597). Sessions of fewer than two turns are left out. Calls of
undeclared tools, failures of graphical environments and empty actions are removed. Of a cycle of retries one turn
stays, with the state it leaves. Turns that change nothing on a screen are removed. A turn that is removed leaves the
session as if it had never been; one that is known to have changed the state takes the rest of the session along,
because later turns build on it.

Undeclared tools, failures and idle turns are accidents where something was recorded from elsewhere. A grounded world
answers them as it should, and a world model has to know those answers: by default these rules leave its sessions alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens import is_graphical, observations_of
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.sight import shows
from agentworld_gym.llm.rows.pools import GROUNDED
from agentworld_gym.llm.rows.rerendering import prompts_for, rerendered, spec_of
from agentworld_gym.llm.rows.row import BY_TURN, Row

Scope = Literal["all", "imported", "none"]
"""The sessions that a rule looks at; `imported` are those that no grounded world of this package played."""

TurnRule = Literal["empty_action", "undeclared_tool", "screen_failure", "retry", "idle_turn"]
SessionRule = Literal["repeated", "few_turns"]

_TURN = re.compile(r"\A(### Turn )\d+")
_ACTION = "**Action:**"
_DECLARED = re.compile(r"^(?:### \d+\. |- )([A-Za-z][\w.-]*)(?:\(|$)", re.MULTILINE)
_CAPTCHA = re.compile(
    r"\b(?:re|h)?captcha\b|verify (?:that )?you are (?:a )?human|unusual traffic from your", re.IGNORECASE
)
_HTTP = re.compile(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?(?: error)?|status(?: code)?:?) ?[45]\d\d\b|\b[45]\d\d (?:Bad Gateway|"
    r"Forbidden|Too Many Requests|Service Unavailable|Internal Server Error|Gateway Time-?out)",
    re.IGNORECASE,
)


class Filters(Strict):
    """The rules, each with the sessions it looks at.

    >>> Filters(retry="none").min_turns
    2
    """

    min_turns: Annotated[int, Field(ge=1)] = 2
    """The least number of turns that a session keeps."""

    repeated: Scope = "all"
    """The sessions that are left out where an earlier one has equal content."""

    empty_action: Scope = "all"
    """The sessions whose turns with an empty action are removed."""

    retry: Scope = "all"
    """The sessions whose turns that repeat the turn before, with the same outcome, are removed."""

    undeclared_tool: Scope = "imported"
    """The sessions whose calls of tools that were not declared are removed."""

    screen_failure: Scope = "imported"
    """The sessions whose turns with a screen that failed are removed."""

    idle_turn: Scope = "imported"
    """The sessions whose turns that leave the screen as it was are removed."""


class RowFilter:
    """Filters rows one by one, and counts by domain what was removed and why.

    The attribute `rows` counts sessions by outcome: `kept`, or the rule that removed them. The attribute
    `turns` counts turns in the same way.

    >>> sieve = RowFilter(Filters())
    >>> row = Row(task="mcp", id="a", system_str="", prompt=["x"], response=["y"], current_prompt="x", turn_idx=1,
    ...           total_turns=1)
    >>> sieve.filter(row), sieve.rows["mcp"]
    (None, Counter({'few_turns': 1}))
    """

    def __init__(self, filters: Filters) -> None:
        self._filters = filters
        self._seen: set[bytes] = set()
        self.rows: dict[str, Counter[str]] = {}
        self.turns: dict[str, Counter[str]] = {}

    @property
    def min_turns(self) -> int:
        """The least number of turns that a session keeps."""
        return self._filters.min_turns

    def filter(self, row: Row) -> Row | None:
        """Return the session without the turns that are removed; None if it is removed as a whole."""
        rows = self.rows.setdefault(row.domain, Counter())
        turns = self.turns.setdefault(row.domain, Counter())
        kept, gone = self._filtered(row)
        left = 0 if isinstance(kept, str) else kept.turn_idx
        turns.update(gone)
        turns["kept"] += left
        if isinstance(kept, str):
            turns[kept] += row.turn_idx - gone.total()
            rows[kept] += 1
            return None
        rows["kept"] += 1
        return kept

    def __call__(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the sessions that stay."""
        return (kept for row in rows if (kept := self.filter(row)) is not None)

    def _filtered(self, row: Row) -> tuple[Row | SessionRule, Counter[str]]:
        gone: Counter[str] = Counter()
        if self._looks("repeated", row):
            digest = bytes.fromhex(row.digest())
            if row.actions and digest in self._seen:
                return "repeated", gone
            self._seen.add(digest)
        marks = list(self._marks(row))
        stay: list[int] = []
        for turn, rule in enumerate(marks):
            if rule is None:
                stay.append(turn)
                continue
            if row.fields_changed and row.fields_changed[turn]:
                gone[rule] += row.turn_idx - turn
                break
            gone[rule] += 1
        if len(stay) < self._filters.min_turns:
            return "few_turns", gone
        return (row if len(stay) == row.turn_idx else only_turns(row, stay)), gone

    def _looks(self, rule: str, row: Row) -> bool:
        scope: Scope = getattr(self._filters, rule)
        return scope == "all" or (scope == "imported" and row.provenance.source != GROUNDED)

    def _marks(self, row: Row) -> Iterator[TurnRule | None]:
        """Yield for each turn the first rule that removes it. Rules read plain actions; a row without them is left
        alone.
        """
        rules = [(name, rule) for name, rule in _RULES.items() if row.actions and self._looks(name, row)]
        tools = declared_tools(row) if any(name == "undeclared_tool" for name, _ in rules) else frozenset()
        history = ScreenHistory[str](row.domain, row.first_observation)
        for turn in range(row.turn_idx):
            scene = {"tools": tools, "screen": history.screen}
            yield next((name for name, rule in rules if rule(row, turn, scene)), None)
            if row.actions and row.observations:
                history.append(row.actions[turn], row.observations[turn])


def only_turns(row: Row, turns: Sequence[int]) -> Row:
    """Return a session with some of its turns alone, numbered anew.

    What the first message tells before its action (the instruction, the state) stays where it was. Messages of the
    compact profile build on the turn before, so that they are rendered again.

    Args:
        row: The session.
        turns: The turns to keep, counted from 0, in order.

    Raises:
        SpecError: The profile is compact, the form is `change`, and the task cannot be generated again.
    """
    prompts = [*row.prompt[:-1], row.current_prompt]
    head, action, _ = prompts[0].partition(_ACTION)
    kept = [prompts[turn] for turn in turns]
    if turns[0] and action and _ACTION in kept[0]:
        kept[0] = head + action + kept[0].partition(_ACTION)[2]
    kept = [_TURN.sub(rf"\g<1>{number}", prompt, count=1) for number, prompt in enumerate(kept, 1)]
    chosen: dict[str, Any] = {
        key: tuple(getattr(row, key)[turn] for turn in turns) for key in ("response", *BY_TURN) if getattr(row, key)
    }
    cut = row.model_copy(
        update={
            **chosen,
            "prompt": (*kept[:-1], kept[-1] + row.closing),
            "current_prompt": kept[-1],
            "turn_idx": len(kept),
            "total_turns": max(len(kept), row.total_turns - (row.turn_idx - len(kept))),
            "probes": sum(turn >= row.turn_idx - row.probes for turn in turns),
        }
    )
    return rerendered(cut, prompts_for(cut)) if row.profile == "compact" else cut


def declared_tools(row: Row) -> frozenset[str]:
    """Return the names of the tools that a session may call: those of its domain, and those its system message
    lists. None are known, and the set is empty, where the compact system message of an imported session lists none.
    """
    listed = _DECLARED.findall(row.system_str)
    if row.profile == "compact" and row.provenance.source != GROUNDED and not listed:
        return frozenset()
    own = [str(tool.get("name")) for tool in spec_of(row).action.tools] if find_domain(row.domain) is not None else []
    return frozenset([*own, *listed])


def _called(action: str) -> str | None:
    """Return the tool that an action calls, where it is a call in JSON."""
    try:
        data = json.loads(action)
    except (ValueError, RecursionError):
        return None
    name = data.get("name") if isinstance(data, Mapping) else None
    return name if isinstance(name, str) else None


def _empty_action(row: Row, turn: int, scene: Mapping[str, Any]) -> bool:
    text = row.actions[turn].strip()
    return text in ("", "{}", "null") or (text == "[]" and not observations_of(row.domain).lists_act)


def _undeclared_tool(row: Row, turn: int, scene: Mapping[str, Any]) -> bool:
    name = _called(row.actions[turn]) if scene["tools"] else None
    return name is not None and name not in scene["tools"]


def _screen_failure(row: Row, turn: int, scene: Mapping[str, Any]) -> bool:
    """Whether a screen shows no state, a page that asks for a human, or a page that only says that a server failed."""
    if not is_graphical(row.domain) or not row.observations:
        return False
    text = row.observations[turn]
    if not shows(row.domain, text):
        return not text.strip() or bool(_HTTP.search(text))
    return bool(_CAPTCHA.search(text) or (len(text) < _SMALL_PAGE and _HTTP.search(text)))


def _retry(row: Row, turn: int, scene: Mapping[str, Any]) -> bool:
    """Whether a turn has the same action as the turn before, and the same outcome."""
    if not turn or not row.observations or (row.fields_changed and row.fields_changed[turn]):
        return False
    return (row.actions[turn], row.observations[turn]) == (row.actions[turn - 1], row.observations[turn - 1])


def _idle_turn(row: Row, turn: int, scene: Mapping[str, Any]) -> bool:
    """Whether a screen shows what it showed before."""
    return is_graphical(row.domain) and bool(row.observations) and row.observations[turn] == scene["screen"]


_SMALL_PAGE = 2000
"""The most characters of a page that says little more than that something failed."""

_RULES: Mapping[TurnRule, Callable[[Row, int, Mapping[str, Any]], bool]] = {
    "empty_action": _empty_action,
    "undeclared_tool": _undeclared_tool,
    "screen_failure": _screen_failure,
    "retry": _retry,
    "idle_turn": _idle_turn,
}
