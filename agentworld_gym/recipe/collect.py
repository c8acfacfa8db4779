"""Recording sessions of a grounded world, as the messages a language world would exchange about them.

A session is a function of the seed and its number alone, so that any number of workers gives the same file, and a run
that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from agentworld_gym.actions import ActionParser
from agentworld_gym.contracts import ActionKind, Message
from agentworld_gym.engines.terminal import EngineError, TerminalMachine
from agentworld_gym.errors import SpecError
from agentworld_gym.prompt import Prompts
from agentworld_gym.recipe.config import CollectConfig
from agentworld_gym.spec import DomainSpec, load_spec
from agentworld_gym.task import Split, Task, split_seed
from agentworld_gym.tasks import families, generate
from agentworld_gym.tasks.policies import expert_policy, explore_actions, menu_policy, mixed_policy

T = TypeVar("T")
BATCH = 64
TASK_SEEDS = 1_000_000
Progress = Callable[[int], None]
"""Called with the number of sessions that were just written."""

_FILE = re.compile(r"[A-Za-z][\w./-]*\.[a-z]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: what the agent wrote and what it saw, and both as they stand in messages."""

    action: str
    observation: str
    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """One session of a grounded world. `index` is its number in the recording."""

    index: int
    task_id: str
    family: str
    level: int
    seed: int
    split: Split
    policy: str
    system: str
    turns: Sequence[Turn] = field(default_factory=tuple)

    def messages(self) -> list[Message]:
        """The whole session as chat messages."""
        found = [Message(role="system", content=self.system)]
        for turn in self.turns:
            found += [Message(role="user", content=turn.user), Message(role="assistant", content=turn.assistant)]
        return found

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Recorded:
        """What `to_json` wrote."""
        data = json.loads(line)
        return cls(**{**data, "turns": tuple(Turn(**turn) for turn in data["turns"])})


class Recorder:
    """Plays one session after the other in a grounded world.

    >>> recorder = Recorder(load_spec("terminal"), CollectConfig(), seed=0)
    >>> session = recorder.session(3)
    >>> session == recorder.session(3), session.messages()[1]["role"]
    (True, 'user')

    Raises:
        SpecError: the domain has no engine to record from, or its compact prompts end with a closing request, which
            would make the last turn of a session another text than the turns before it.
    """

    def __init__(self, spec: DomainSpec, config: CollectConfig, seed: int, split: Split = "train") -> None:
        if spec.id != "terminal":
            raise SpecError(spec.path, "id", spec.id, "a domain with a grounded world: terminal")
        self.config, self.seed, self.split, self.domain = config, seed, split, spec.id
        self.prompts = Prompts(spec, profile="compact")
        self.parser = ActionParser(spec)
        self.families = list(config.families) or sorted(families(spec.id))
        if self.prompts.closing:
            raise SpecError(spec.path, "prompts", self.prompts.closing, "compact prompts without a closing request")

    def session(self, index: int) -> Recorded:
        """The session of that number."""
        rng = random.Random(f"{self.seed}/{self.split}/{index}")
        family, level = rng.choice(self.families), _draw(rng, self.config.levels)
        seed = split_seed(self.split, rng.randrange(TASK_SEEDS))
        task = generate(self.domain, family, level, seed)
        policy = _draw(rng, self.config.policies)
        actions = list(islice(self._actions(policy, task, rng), self.config.max_turns))
        if rng.random() < self.config.probe_share:
            probes = [check.probe for check in task.success if check.probe]
            rng.shuffle(probes)
            actions += probes
        turns = tuple(self._play(task, actions))
        system = self.prompts.system(task, {})
        return Recorded(index, task.id, family, level, seed, self.split, policy, system, turns)

    def _actions(self, policy: str, task: Task, rng: random.Random) -> Iterator[str]:
        if policy == "explore":
            yield from explore_actions(task, rng, rng.randint(4, 10))
            return
        if policy == "expert":
            yield from expert_policy(task)
        elif policy == "mixed":
            yield from mixed_policy(task, rng, self.config.slip)
        elif policy == "menu":
            yield from menu_policy(task, rng)
        else:
            yield from self._blend(task, rng)

    def _blend(self, task: Task, rng: random.Random) -> Iterator[str]:
        """A way through the task with looks around: at what was there, and at the files it touches."""
        ways = (expert_policy(task), mixed_policy(task, rng, self.config.slip), menu_policy(task, rng))
        touched: list[str] = []
        for action in rng.choice(ways):
            if action != "finish":
                yield action
                touched += _FILE.findall(action)
            while rng.random() < 0.4:
                if touched and rng.random() < 0.6:
                    yield _look(rng, touched)
                else:
                    yield from explore_actions(task, rng, 2 if rng.random() < 0.2 else 1)

    def _play(self, task: Task, actions: Iterable[str]) -> Iterator[Turn]:
        machine = TerminalMachine.start(task.state, task.seed or 0)
        seen: str | None = machine.observation
        try:
            number = 0
            for raw in actions:
                action = self.parser.parse(raw)
                if action.kind is ActionKind.FINISH:
                    continue
                number += 1
                user = self.prompts.turn(task, number, action, seen)
                try:
                    seen = machine.act(action.parsed) if action.error is None else action.error
                except EngineError:
                    return
                yield Turn(raw, seen, user, self.prompts.observation(seen))
        finally:
            machine.close()


def collect(
    spec: DomainSpec,
    out: Path,
    episodes: int,
    seed: int,
    config: CollectConfig | None = None,
    split: Split = "train",
    workers: int = 1,
    progress: Progress | None = None,
) -> int:
    """Record sessions into a JSONL file until it holds `episodes` of them, going on from those it holds already.

    Lines are written in order and flushed a batch at a time; a torn last line is dropped on the next run.

    Returns:
        How many sessions were added.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    config = config or CollectConfig()
    _check(out, split)
    present = _repair(out)
    batches = [range(start, min(start + BATCH, episodes)) for start in range(present, episodes, BATCH)]
    source = str(spec.path) if spec.path.name else spec.id
    added = 0
    with out.open("a", encoding="utf-8") as file:
        for lines in _recorded(batches, (source, config.model_dump_json(), seed, split), workers):
            file.write("".join(line + "\n" for line in lines))
            file.flush()
            added += len(lines)
            if progress:
                progress(len(lines))
        os.fsync(file.fileno())
    return added


def read_sessions(path: Path, start: int = 0, stop: int | None = None) -> Iterator[Recorded]:
    """The sessions of a recording, without a torn last line.

    Raises:
        SpecError: a line is not a recorded session.
    """
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(islice(file, start, stop), start + 1):
            if not line.endswith("\n"):
                return
            try:
                yield Recorded.from_json(line)
            except (ValueError, TypeError, KeyError) as error:
                raise SpecError(path, f"line {number}", line[:80], "a recorded session") from error


_Setting = tuple[str, str, int, Split]
"""Spec, configuration as JSON, seed and split: what a worker needs, in a form that can be a key."""


def _recorded(batches: Sequence[range], setting: _Setting, workers: int) -> Iterator[list[str]]:
    settings = [setting] * len(batches)
    if workers <= 1:
        yield from map(_record_batch, settings, batches)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_record_batch, settings, batches)


@lru_cache(maxsize=1)
def _recorder(setting: _Setting) -> Recorder:
    source, config, seed, split = setting
    return Recorder(load_spec(source), CollectConfig.model_validate_json(config), seed, split)


def _record_batch(setting: _Setting, batch: range) -> list[str]:
    recorder = _recorder(setting)
    return [recorder.session(index).to_json() for index in batch]


def _check(path: Path, split: Split) -> None:
    """A file that is there already must hold sessions of the same split."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        line = file.readline()
    try:
        found = Recorded.from_json(line).split
    except (ValueError, TypeError, KeyError) as error:
        if line.startswith('{"index"') and not line.endswith("\n"):
            return  # the first session, torn
        raise SpecError(path, "line 1", line[:80], "a recorded session; record to another file") from error
    if found != split:
        raise SpecError(path, "split", found, f"{split}; record to another file")


def _repair(path: Path) -> int:
    """Cut off a torn last line; how many whole lines remain."""
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        count = end = 0
        for line in file:
            if not line.endswith(b"\n"):
                break
            count, end = count + 1, end + len(line)
        file.truncate(end)
    return count


def _draw(rng: random.Random, shares: Mapping[T, float]) -> T:
    return rng.choices(list(shares), list(shares.values()))[0]


def _look(rng: random.Random, names: Sequence[str]) -> str:
    """A command that shows what became of one of some files."""
    name = rng.choice(names)
    return rng.choice([f"cat {name}"] * 5 + [f"wc -l {name}", f"head -n 1 {name}", "ls", "ls -1", f"stat -c %a {name}"])
