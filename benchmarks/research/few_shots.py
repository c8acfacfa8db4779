"""Records the calls of tools that full prompts show, one file for each domain and dialect that has tools.

    python benchmarks/research/few_shots.py mcp > domain_specs/few_shots/mcp.jsonl
    python benchmarks/research/few_shots.py search --longest 4000 > domain_specs/few_shots/search.jsonl
    python benchmarks/research/few_shots.py swe --sessions 60 > domain_specs/few_shots/swe.jsonl
    python benchmarks/research/few_shots.py swe:claude-code --sessions 60 \\
        > domain_specs/few_shots/claude-code.jsonl

Sessions of the grounded world are recorded from the validation split, so that no session of training or testing has
their seeds. Of each tool the file holds a call that worked, or one that did not where none did. It is a call with
arguments that the tool declares, by an agent that follows its task, as far as there are such; explorers make arguments
up. Of several it is the one whose answer has the median length, and a second one comes from another seed, for tasks
with the seed of the first. Calls that agents seldom get right stand in `few_shot_calls.yaml` and take the place of
theirs. The same
checkout writes the same bytes on every run, times and process numbers included: the clock of a repository's sandbox
starts at one moment, and the number of a process group follows from the report. What Python itself prints may differ in
another sandbox (`bubblewrap` or `monty`) or another version of Python.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

import orjson

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, Multilingual
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.llm.prompting.few_shots import FewShot
from agentworld_gym.llm.rows.rerendering import task_of

SEED = 20260101
EXPLORING = ("explore", "blend")
"""The policies that make arguments up."""

_EXIT = re.compile(r"(?m)^Exit [Cc]ode:? (\d+)$")


class Call(NamedTuple):
    """A recorded call, and how well it serves as an example."""

    example: FewShot
    """The call with its answer."""
    declared: bool
    """Whether the tool declares all of its arguments."""
    follows: bool
    """Whether an agent made it that follows its task."""

    @property
    def rank(self) -> tuple[bool, ...]:
        """How well it serves; the best rank is the greatest."""
        return not failed(self.example.observation), self.declared, self.follows


def recorded(domain: str, sessions: int, longest: int) -> Mapping[str, list[Call]]:
    """Return the calls of each tool in some sessions, but for those whose answer is too long."""
    spec = load_spec(domain)
    parser = ActionParser(spec)
    recorder = Recorder([load_spec(spec.id)], CollectConfig(profile="compact", probe_share=0.0), SEED, "validation")
    found: dict[str, list[Call]] = defaultdict(list)
    for number in range(sessions):
        row = recorder.row(number)
        task = None if row is None else task_of(row)
        if row is None or task is None or task.seed is None:
            continue
        actions = [parser.parse(text, task.tools) for text in row.actions]
        declared = {tool["name"]: properties(tool) for tool in (*load_spec(spec.id).action.tools, *task.tools)}
        shown = row.observations if spec.speaks_first_dialect else in_dialect(spec, task, actions)
        for action, observation in zip(actions, shown, strict=False):
            if action.error is None and isinstance(action.parsed, dict) and len(observation) <= longest:
                tool = str(action.parsed["name"])
                if spec.action.syntax[0] == "claude_code_call":
                    tool = str(json.loads(parser.action_block(action))["name"])
                example = FewShot(tool=tool, seed=task.seed, action=action.parsed, observation=observation)
                known = action.parsed["arguments"].keys() <= declared[action.parsed["name"]]
                found[tool].append(Call(example, known, row.policy not in EXPLORING))
    return found


def prepared() -> Mapping[str, list[FewShot]]:
    """Return the calls of `few_shot_calls.yaml` by tool, each with what the grounded server answers.

    Raises:
        ValueError: A call fails.
    """
    known = read_yaml(Path(__file__).with_name("few_shot_calls.yaml"))
    found: dict[str, list[FewShot]] = {}
    for scenario, entries in known["calls"].items():
        state = {"scenario": scenario, "size": "small", "seed": known["seed"]}
        for calls in entries:
            machine = load_engine("mcp").start(state, 0, Controls(), {})
            for call in calls:
                ((name, arguments),) = call.items()
                action = {"name": f"{scenario}-{name}", "arguments": arguments}
                answer = machine.act(action)
                if failed(answer):
                    raise ValueError(f"few_shot_calls.yaml: {action}: {answer}; expected a call that succeeds")
            machine.close()
            example = FewShot(tool=action["name"], seed=known["seed"], action=action, observation=answer)
            found[example.tool] = [example]
    return found


def properties(tool: Mapping[str, Any]) -> set[str]:
    """Return the names of the arguments that a tool declares."""
    return set(tool.get("parameters", {}).get("properties", {}))


def in_dialect(spec: DomainSpec, task: Task, actions: Sequence[Action]) -> list[str]:
    """Return what actions show in the dialect of a spec, up to the first that ends the session; no control strikes."""
    machine = load_engine(spec.id).start(task.state, 0, Controls(), task.hidden)
    assert isinstance(machine, Multilingual)
    shown = []
    for action in actions:
        if action.kind is not ActionKind.ACT:
            break
        if action.error is None:
            machine.act(action.parsed)
        shown.append(machine.observation_in(spec.dialect) if action.error is None else action.error)
    machine.close()
    return shown


def chosen(calls: Sequence[Call]) -> list[FewShot]:
    """Choose two of the best calls with answers of middling length, from different seeds where there are such."""
    first = _best(calls)
    works = max(call.rank for call in calls)[:2]
    others = [call for call in calls if call.example.seed != first.seed and call.rank[:2] == works]
    return [first, *([_best(others)] if others else [])]


def _best(calls: Sequence[Call]) -> FewShot:
    best = max(call.rank for call in calls)
    return _middle([call.example for call in calls if call.rank == best])


def failed(observation: str) -> bool:
    """Whether an answer looks like an error."""
    head = observation.replace("\nError: (none)\n", "\n").lstrip()[:60].lower()
    code = _EXIT.search(observation)
    return (code is not None and code[1] != "0") or "error" in head or "not found" in head or "failed" in head


def _middle(calls: Sequence[FewShot]) -> FewShot:
    length = median_low(sorted(len(call.observation) for call in calls))
    return next(call for call in calls if len(call.observation) == length)


def main() -> None:
    """Write the calls as JSON lines."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("domain", help="a domain, or a domain and a dialect, as swe:cli")
    arguments.add_argument("--sessions", type=int, default=400)
    arguments.add_argument("--longest", type=int, default=1600, help="characters of the longest answer that is shown")
    given = arguments.parse_args()
    found = {tool: chosen(calls) for tool, calls in recorded(given.domain, given.sessions, given.longest).items()}
    if load_spec(given.domain).id == "mcp":
        found |= prepared()
    for _, calls in sorted(found.items()):
        for call in calls:
            data: dict[str, Any] = call.model_dump()
            sys.stdout.buffer.write(orjson.dumps(data) + b"\n")


if __name__ == "__main__":
    main()
