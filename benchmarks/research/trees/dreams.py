"""Language worlds whose model writes what the samples of the same tree say: their prompts, and what they make of it.

A language world is given the actions of a collected session and the completions of its samples by turn. All messages
that it sends are written down, and all that the environment then returns.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentworld_gym
from agentworld_gym import AgentWorldError, ChatRequest, Completion, register_world
from trees.sizes import DOMAINS, Size

VERDICT = '<final_evaluation>{"strengths": "some", "weaknesses": "few", "scores": {"1": 4}}</final_evaluation>'
"""What the model says where nothing is prepared, as it is when a judge is asked."""

KINDS: Mapping[str, Mapping[str, Any]] = {"": {}, "-retrieval": {"retrieval": "index"}}
"""What each profile and form is played with beside: nothing, or the recorded steps of an index."""

JUDGED = {
    "instruction": "Do as you like.",
    "success": [{"rubric": "The agent did something useful."}],
    "menu": ["finish"],
}


class Scribe:
    """A generator that writes down the requests and answers with prepared completions, one after the other."""

    supports_seed = True
    supports_schema = True
    deterministic = True

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.prepared: list[str] = []

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion]]:
        """The next prepared completion for each request."""
        for index, request in enumerate(requests):
            # Conversations and grammars are objects of the process, and no part of what a model reads.
            self.requests.append(dataclasses.asdict(dataclasses.replace(request, conversation=None, allows=None)))
            yield index, Completion(self.prepared.pop(0) if self.prepared else VERDICT)

    def describe(self) -> dict[str, tuple[str, bool]]:
        """What stands in the fingerprint."""
        return {"generator": ("scripted", True), "model": ("scribe", False)}

    def close(self) -> None:
        """Hold nothing."""


def play(size: Size) -> None:
    """Play the first rows of each domain again in language worlds of every profile, form and kind.

    `dreams/DOMAIN/KIND.jsonl` has a line for each call: what was asked of the model, and what the environment returned.
    """
    rows = [json.loads(line) for line in Path("rows/train.jsonl").read_text(encoding="utf-8").splitlines()]
    for domain in size.domains:
        chosen = [row for row in rows if row["id"].startswith(f"{domain}-")][: size.dreamt]
        Path("dreams", domain).mkdir(parents=True)
        for profile in ("full", "compact"):
            for form in ("full", "change"):
                answers = _answers(Path(f"samples/{profile}-{form}-turn.jsonl"))
                for kind, more in KINDS.items():
                    options = {"world": "two_trees", **_of_language({"profile": profile, "form": form, **more})}
                    with open(f"dreams/{domain}/{profile}-{form}{kind}.jsonl", "w", encoding="utf-8") as file:
                        for line in _lines(domain, options, chosen, answers):
                            file.write(json.dumps(line) + "\n")


def _of_language(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of a language world, which stand beside the others in a tree that does not nest them."""
    return {"language": options} if hasattr(agentworld_gym, "LanguageOptions") else options


def _answers(path: Path) -> dict[str, str]:
    """The completion of each sample by its id, which is that of the session, a slash, and the turn."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        found[sample["id"]] = sample["messages"][-1]["content"]
    return found


def _lines(
    domain: str, options: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], answers: Mapping[str, str]
) -> Iterator[Any]:
    scribe = Scribe()
    register_world("two_trees", lambda options: options.language(scribe))
    try:
        env = gym.make(DOMAINS[domain], **options)
    except AgentWorldError as error:
        yield {"refused": f"{type(error).__name__}: {error}"}
        return
    core: Any = env.unwrapped
    yield {"fingerprint": core.world.fingerprint.as_dict()}
    for row in rows:
        scribe.prepared.clear()
        chosen = {"task": row["task_id"], "controls": row["controls"], "control_seed": row["control_seed"]}
        yield {"row": row["id"], "result": env.reset(seed=row["seed"], options=chosen), **_taken(scribe)}
        for turn, action in enumerate([*row["actions"], row["finish"] or "finish"], 1):
            answer = answers.get(f"{row['id']}/{turn}", f"<predicted_observation>\n{action}\n</predicted_observation>")
            scribe.prepared[:] = [answer]
            result = core.step(action)
            yield {"action": action, "result": result, **_taken(scribe)}
            if result[2] or result[3]:
                break
    yield from _judged(core, scribe)
    env.close()


def _taken(scribe: Scribe) -> dict[str, Any]:
    """The requests since the last call."""
    taken = list(scribe.requests)
    scribe.requests.clear()
    return {"requests": taken}


def _judged(core: Any, scribe: Scribe) -> Iterator[Any]:
    """An episode whose success a judge decides, so that its prompt is written down too."""
    scribe.prepared.clear()
    try:
        yield {"judged": core.reset(seed=0, options={"task": JUDGED})}
        yield {"result": core.step("finish"), **_taken(scribe)}
    except AgentWorldError as error:
        yield {"refused": f"{type(error).__name__}: {error}"}
