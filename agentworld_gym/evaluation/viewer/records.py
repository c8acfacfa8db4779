"""Episodes as the viewer's page reads them: a short summary of each, and its steps with texts by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.core.registration import domain_of_env
from agentworld_gym.core.traces.diff import compare, turns_of
from agentworld_gym.core.traces.log import TraceEpisode, TraceStep

Record = dict[str, Any]
"""Plain data for JSON."""


@dataclass
class NumberedTexts:
    """Texts that are kept once each, and named by their numbers."""

    numbers: dict[str, int] = field(default_factory=dict)
    """The number of each text."""

    def number(self, text: str) -> int:
        """Return the number of a text.

        >>> texts = NumberedTexts()
        >>> texts.number("a"), texts.number("b"), texts.number("a")
        (0, 1, 0)
        """
        return self.numbers.setdefault(text, len(self.numbers))


def domain_of(env_id: str) -> str:
    """Return the name of an environment in filters: its domain, or else the id.

    >>> domain_of("AgentWorld/Terminal-v0"), domain_of("AgentWorld/Custom-v0")
    ('terminal', 'AgentWorld/Custom-v0')
    """
    return domain_of_env(env_id) or env_id


def outcome(episode: TraceEpisode) -> str:
    """Return how an episode ended: success, no success, failure, untested, or not over."""
    last = episode.steps[-1] if episode.steps else None
    if last is None or not (last.terminated or last.truncated):
        return "not over"
    if "failure" in last.info:
        return "failure"
    if "success" not in last.info:
        return "untested"
    return "success" if last.info["success"] else "no success"


def summary(key: str, run: int, domain: str, episode: TraceEpisode, twin: TraceEpisode | None) -> Record:
    """Return what the list of episodes and the filters need of an episode.

    Args:
        key: The name of the episode in links.
        run: The number of its run.
        domain: The domain.
        episode: The episode.
        twin: The same episode in another world.
    """
    start, steps = episode.start, episode.steps
    parts: dict[str, float] = {}
    for step in steps:
        for name, value in step.info.get("reward_parts", {}).items():
            parts[name] = parts.get(name, 0.0) + value
    failure = next((step.info["failure"] for step in steps if "failure" in step.info), None)
    departures = () if twin is None else compare(turns_of(episode), turns_of(twin))
    record = {
        "key": key,
        "run": run,
        "domain": domain,
        "task": str(start.get("task_id", "")),
        "family": start.get("family") or "",
        "level": start.get("level"),
        "seed": start.get("seed"),
        "controls": start.get("controls"),
        "parent": start.get("parent"),
        "parentTurn": start.get("parent_turn"),
        "steps": len(steps),
        "reward": round(sum(step.reward for step in steps), 6),
        "parts": {name: round(value, 6) for name, value in parts.items()},
        "outcome": outcome(episode),
        "failure": failure["kind"] if failure else None,
        "twin": None if twin is None else twin.id,
        "departs": departures[0].number if departures else None,
    }
    return {name: value for name, value in record.items() if value is not None}


def detail(episode: TraceEpisode, twin: TraceEpisode | None, texts: NumberedTexts) -> Record:
    """Return the start and the steps of an episode, whose texts are numbers of `texts`."""
    seen = str(episode.start.get("observation", ""))
    shown = episode.shown or seen
    instruction = seen.removesuffix(episode.shown).rstrip("\n") if episode.shown else ""
    twins = {} if twin is None else {step.turn: step for step in twin.steps}
    begun: Record = {"shown": texts.number(shown)}
    if instruction:
        begun["instruction"] = texts.number(instruction)
    if episode.system:
        begun["system"] = texts.number(episode.system)
    if twin is not None:
        begun["twin"] = texts.number(twin.shown or str(twin.start.get("observation", "")))
    return {"start": begun, "steps": [_step(step, twins.get(step.turn), texts) for step in episode.steps]}


def _step(step: TraceStep, twin: TraceStep | None, texts: NumberedTexts) -> Record:
    world = step.world or {}
    thinking, completion = step.thought
    record: Record = {
        "turn": step.turn,
        "action": texts.number(step.action),
        "shown": texts.number(step.observation),
        "reward": step.reward,
        "agent": step.agent,
        "kind": None if step.kind == "act" else step.kind,
        "end": "terminated" if step.terminated else "truncated" if step.truncated else None,
        "info": {name: value for name, value in step.info.items() if name not in ("fingerprint", "task_id")},
        "seconds": world.get("wave_s"),
        "seed": world.get("seed"),
        "failure": world.get("failure") or step.info.get("failure"),
    }
    written = {"prompt": world.get("prompt"), "thinking": thinking, "completion": completion}
    record |= {name: texts.number(text) for name, text in written.items() if text}
    if twin is not None:
        record["twin"] = texts.number(twin.observation)
        record["twinAction"] = texts.number(twin.action) if twin.action != step.action else None
    return {name: value for name, value in record.items() if value is not None}
