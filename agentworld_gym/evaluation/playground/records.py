"""The game as the page reads it: plain data for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, get_args

from agentworld_gym.agents.policies.registry import HANDLES as AGENTS
from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.core.contracts import FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.registration import all_domains
from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.tasks import levels
from agentworld_gym.evaluation.playground.game import GameChoice, PlayedGame
from agentworld_gym.evaluation.playground.side import PlayedMoment, PlayedSide
from agentworld_gym.llm.bundled_models import TINY, bundled_models
from agentworld_gym.worlds.guard import UNREADABLE

Record = dict[str, Any]

_LEFT_OUT = ("fingerprint", "task_id", "tools", "instruction")
_NAMED_AGENTS = ("expert", "mixed", "menu", "nothing")


def choices(domain: str) -> Record:
    """Return what can be chosen in a domain: its families, tasks and usual worlds.

    Raises:
        SpecError: There is no such domain.

    >>> shown = choices("terminal")
    >>> shown["worlds"][:2], "rotate-log" in shown["tasks"]
    (['grounded', 'tiny'], True)
    """
    spec = load_spec(domain)
    known = any(model.knows(spec) for model in bundled_models().values())
    return {
        "domain": domain,
        "domains": {one.id: load_spec(one.id).title for one in all_domains().values()},
        "title": spec.title,
        "families": list(spec.tasks.families),
        "tasks": [task.id for task in spec.handwritten_tasks()],
        "levels": list(levels(spec.id)),
        "splits": list(get_args(Split)),
        "worlds": ["grounded", *([TINY] if known else []), "http://localhost:8000/v1", "scripted"],
        "agents": {name: AGENTS[name] for name in _NAMED_AGENTS},
    }


def record(game: PlayedGame, version: int) -> Record:
    """Return the game.

    Args:
        game: The game.
        version: A number that grows with each change.
    """
    if game.choice is None:
        return {"version": version, "game": None}
    first = game.sides[0]
    episode = first.now.episode
    domain = episode.task.domain
    screen = screen_of(domain)
    return {
        "version": version,
        "game": {
            "choice": _chosen(game.choice),
            "domain": domain,
            "task": episode.task.id,
            "family": episode.task.family,
            "level": episode.task.level,
            "seed": episode.seed,
            "instruction": episode.task.instruction,
            "limit": first.runner.limit(episode.task),
            "turn": game.turn,
            "over": game.over,
            "tools": [_tool(tool) for tool in episode.tools],
            "examples": list(episode.domain.action.examples),
            "gestures": list(screen.gestures) if screen is not None else [],
            "keys": dict(screen.keys) if screen is not None else {},
            "expert": bool(episode.task.expert),
            "saved": None if game.saved is None else str(game.saved.parent),
            "sides": [_side(side, [one for one in game.sides if one is not side]) for side in game.sides],
        },
    }


def _chosen(choice: GameChoice) -> Record:
    return {name: getattr(choice, name) for name in ("domain", "worlds", "task", "family", "level", "seed", "split")}


def _tool(tool: Mapping[str, Any]) -> Record:
    return {"name": tool["name"], "description": tool.get("description", ""), "example": example_call(tool)}


def _side(side: PlayedSide, others: Sequence[PlayedSide]) -> Record:
    now = side.now
    apart = _apart(now, others[0].now) if others and len(others[0].line) == len(side.line) else Counter()
    return {
        "world": side.world,
        "kind": side.runner.world.fingerprint.parts["world"].value if "world" in _parts(side) else side.world,
        "model": _parts(side)["model"].value if "model" in _parts(side) else None,
        "over": now.over,
        "turns": [_turn(number, moment) for number, moment in enumerate(side.line)],
        "places": _places(now, apart),
    }


def _parts(side: PlayedSide) -> Mapping[str, Any]:
    return side.runner.world.fingerprint.parts


def _turn(number: int, moment: PlayedMoment) -> Record:
    turn: Record = {"turn": number, "shown": moment.shown, "screen": picture_name(moment)}
    step = moment.step
    if step is None:
        return {name: value for name, value in turn.items() if value is not None}
    failure = moment.failure
    turn |= {
        "action": moment.action,
        "by": moment.by,
        "info": {name: value for name, value in step.info.items() if name not in _LEFT_OUT},
        "reward": step.reward,
        "end": "terminated" if step.terminated else "truncated" if step.truncated and not failure else None,
        "seconds": moment.seconds,
        "probability": moment.probability,
        "failure": failure,
        "grounds": failure is not None and failure["kind"] in (*UNREADABLE, FailureKind.UNSEEN),
        **moment.written,
    }
    return {name: value for name, value in turn.items() if value is not None}


def picture_name(moment: PlayedMoment) -> str | None:
    """Return the name of the drawing of a moment's screen; None where there is none."""
    if moment.screen is None:
        return None
    return blake2b(moment.screen.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _apart(now: PlayedMoment, other: PlayedMoment) -> Counter[str]:
    """Return the lines of a screen that the other world does not show."""
    if now.screen is None or other.screen is None:
        return Counter()
    return Counter(now.screen.split("\n")) - Counter(other.screen.split("\n"))


def _places(moment: PlayedMoment, apart: Counter[str]) -> list[Record]:
    lines = (moment.screen or "").split("\n")
    places = []
    for place in moment.places:
        node = place.node
        places.append(
            {
                "box": list(place.box),
                "label": node.label,
                "role": node.role,
                "text": node.text,
                "writes": place.writes,
                "options": list(place.options),
                "differs": place.action is None and lines[node.line] in apart,
            }
        )
    return places
