"""Compares the verdicts of language worlds in further dialects with those of grounded worlds in the first one.

    python benchmarks/research/dreamt_verdicts.py --seeds 3

The model of each language world is a script that answers with exactly what the grounded engine shows in that dialect.
So a verdict can differ only by how observations are read back into the first dialect, in which checks are written.
Three plays of every task are compared: the expert's, the first half of it, and none. A language world has the same
score, or a failure of the kind `unjudged`. Any other outcome is named on the standard error, and counted apart where a
language world in the first dialect has it too: it runs those tests of a repository that an agent could see.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind, ChatRequest
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Machine, Multilingual
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.core.tasks import generate
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.domains import DOMAINS
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.worlds import WorldOptions

_ACTION = re.compile(r"(?s)\*\*Action:\*\*\n(`{3,})\w*\n(.*?)\n\1(?:\n|\Z)")


class TrueAnswers:
    """A script that answers each request with what the engine shows in a dialect after the actions of the request.

    Args:
        spec: The domain in the dialect.
        task: The task of the sessions.
        seed: The seed of the sessions.
    """

    def __init__(self, spec: DomainSpec, task: Task, seed: int) -> None:
        self._dialect, self._first = spec.dialect, spec.speaks_first_dialect
        self._parser, self._tools = ActionParser(spec), task.tools
        machine = load_engine(spec.id).start(task.state, seed, hidden=task.hidden)
        self._machines: dict[tuple[str, ...], Machine] = {(): machine}

    def __call__(self, request: ChatRequest) -> str:
        """Return the true observation as a completion."""
        turns = [message["content"] for message in request.messages if message["role"] == "user"]
        machine = self._after(tuple(_action(turn) for turn in turns))
        return f"<predicted_observation>\n{escape(self._shown(machine))}\n</predicted_observation>"

    def _shown(self, machine: Machine) -> str:
        if self._first:
            return machine.observation
        assert isinstance(machine, Multilingual)
        return machine.observation_in(self._dialect)

    def _after(self, actions: tuple[str, ...]) -> Machine:
        if actions not in self._machines:
            machine = self._after(actions[:-1]).fork()
            action = self._parser.parse(actions[-1], self._tools)
            if action.error is None and action.kind is ActionKind.ACT:
                machine.act(action.parsed)
                self._shown(machine)
            self._machines[actions] = machine
        return self._machines[actions]

    def close(self) -> None:
        """Close the engine's machines."""
        for machine in self._machines.values():
            machine.close()


def _action(turn: str) -> str:
    found = _ACTION.search(turn)
    assert found is not None, turn
    return unescape(found[2])


def verdicts(spec: DomainSpec, grounded: EpisodeRunner, task: Task, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Yield for each play its name, the grounded verdict in the first dialect, and that of the language world."""
    answers = TrueAnswers(spec, task, seed)
    world = WorldOptions(spec).language(ScriptedGenerator(answers))
    dreamt = EpisodeRunner(spec, world, TaskSource(spec, task=task))
    try:
        *work, finish = task.expert
        for play, planned, end in (
            ("expert", work, finish),
            ("half", work[: len(work) // 2], "finish"),
            ("idle", [], "finish"),
        ):
            actions, true = _played(grounded, task, seed, planned, end)
            yield play, true, _played(dreamt, task, seed, actions, end)[1]
    finally:
        dreamt.close()
        answers.close()


def _played(runner: EpisodeRunner, task: Task, seed: int, planned: Sequence[str], finish: str) -> tuple[list[str], str]:
    """Play actions; return them without locators, and the score or the kind of failure."""
    ((episode, _, _),) = runner.start([seed], {"task": task})
    played = []
    for action in (*planned, finish):
        resolved = Sight(task.domain, episode.observations).resolve(action)
        assert resolved is not None, f"not on the screen: {action}"
        played.append(resolved)
        (end,) = runner.advance([episode], [resolved])
        if end.terminated or end.truncated:
            break
    episode.session.close()
    failure = end.info.get("failure")
    return played[:-1], f"{failure['kind']}: {failure['message']}" if failure else f"{end.info['score']:.4f}"


def tasks_of(spec: DomainSpec, seeds: int, levels: Sequence[int] = (1, 2, 3)) -> Iterator[Task]:
    """Yield tasks of every family and level, and the hand-written ones that have an expert."""
    for family in spec.tasks.families:
        for level in levels:
            yield from (generate(spec.id, family, level, seed) for seed in range(seeds))
    yield from (task for task in spec.handwritten_tasks() if task.expert)


def main() -> None:
    """Write the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    second = [f"{domain}:{name}" for domain in DOMAINS for name in list(load_spec(domain).dialects)[1:]]
    arguments.add_argument("dialects", nargs="*", default=second)
    arguments.add_argument("--seeds", type=int, default=3)
    given = arguments.parse_args()
    for source in given.dialects:
        spec = load_spec(source)
        grounded = EnvOptions(spec=spec.id, world="grounded").runner()
        found: Counter[str] = Counter()
        for task in tasks_of(spec, given.seeds):
            first = dict[str, str]()
            for play, true, dreamt in verdicts(spec, grounded, task):
                if dreamt == true or dreamt.startswith("unjudged"):
                    found["same" if dreamt == true else "unjudged"] += 1
                    continue
                first = first or {name: other for name, _, other in verdicts(load_spec(spec.id), grounded, task)}
                kind = "first" if dreamt == first[play] else "other"
                found[kind] += 1
                sys.stderr.write(f"{source} {task.id} {play}: {true}, dreamt {dreamt} ({kind})\n")
        grounded.close()
        counts = (found.total(), *(found[kind] for kind in ("same", "unjudged", "first", "other")))
        sys.stdout.write(f"| {source} | {' | '.join(map(str, counts))} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
