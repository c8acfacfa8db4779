"""How good an agent is: it plays tasks of some domains, several times each, and every episode is kept as it ends.

Figures rest on the episodes whose outcome is known. Where a server or the world failed, nothing is known of the agent:
such episodes are counted apart, and the next run of the same command plays them again.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentworld_gym.agents.policies.language_agent import AgentLost, LanguageAgent
from agentworld_gym.agents.policies.playing import WAVE, Played, Policy, one_a_task, play
from agentworld_gym.agents.policies.registry import open_policy, opened_policy
from agentworld_gym.agents.policies.users_policy import PolicyError
from agentworld_gym.base.documents.json_lines import JsonlWriter, read_jsonl
from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import AgentWorldError, SpecError, one_of
from agentworld_gym.base.fingerprint import digest_of, installed
from agentworld_gym.base.process.interrupts import remembered_interrupt
from agentworld_gym.base.statistics.bootstrap import Share, interval
from agentworld_gym.base.statistics.proportions import paired_gap, proportion
from agentworld_gym.core.contracts import FailureKind, Usage
from agentworld_gym.core.domain.task import Split, split_of
from agentworld_gym.core.registration import domain_of_env
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.core.traces import episodes_of
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.bench.aggregate import TokenPrices, priced_tokens
from agentworld_gym.evaluation.results.agent import (
    AgentCell,
    AgentDifference,
    AgentEpisode,
    AgentResult,
    DomainCell,
    Key,
    TokenCounts,
)
from agentworld_gym.evaluation.results.base import TaskDraw, excerpt
from agentworld_gym.llm.generators.handles import sent_sampling

MOST_LOST = 8
"""How many episodes in a row may be lost, because the agent's server fails or the world's cannot be reached, before the
evaluation ends."""

_GOES_ON = "the same command goes on with what was played; where the code of the agent changes, take another --out"

_WORLD_OF = "world of "
"""What stands before a domain where records note the fingerprint of its world."""

Party = Literal["agent", "world"]

Elsewhere = Callable[[EnvOptions, Callable[[], Policy], Sequence[int]], Generator[Played, None, None]]
"""What plays one episode for each seed in other processes, as `integrations.ray.play_on_ray` does: the options of the
environment, a function that makes the policy, which can be pickled, and the seeds."""


class Setup(Strict):
    """What a run was begun with: the first line of its records."""

    agent: str
    """The handle of the agent."""

    options: dict[str, Any]
    """The options of the agent."""

    world: str
    """The handle of the world."""

    world_options: dict[str, Any]
    """The options of the world."""

    domains: tuple[str, ...]
    """The domains."""

    levels: tuple[int, ...]
    """The levels of the tasks."""

    families: tuple[str, ...]
    """The families of the tasks; all where it is empty."""

    split: Split
    """The split of the tasks."""

    seed: int
    """The seed of the first task; the others count up."""

    drawn: bool
    """Whether the seed was drawn for this run."""

    named: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The ids or YAML files of the tasks of each domain. Where there are any, no task is drawn: levels, families, split
    and seed then say nothing."""

    package: str = Field(default_factory=lambda: installed("agentworld-gym"))
    """The version of this package."""

    def environment(self, domain: str) -> EnvOptions:
        """Return the options of a domain's environment.

        Raises:
            SpecError: An option is wrong, is given twice, or does not exist.
        """
        own = {"spec": domain, "world": self.world, "levels": self.levels, "families": self.families or None}
        own |= {"split": self.split, "task": self._named(domain) if self.named else None}
        for name in own.keys() & self.world_options.keys():
            raise SpecError(
                "command line", "--world-option", name, "an option that the command has no other way to set"
            )
        known = EnvOptions.model_fields.keys() - own.keys()
        for name in self.world_options.keys() - known:
            raise SpecError("command line", f"--world-option {name}", self.world_options[name], one_of(name, known))
        return EnvOptions(**own, **self.world_options)

    def _named(self, domain: str) -> tuple[str, ...]:
        if tasks := self.named.get(domain):
            return tasks
        raise SpecError("setup", "named", domain, f"tasks of {domain} too, because those of other domains are named")

    def digests(self, domain: str, source: TaskSource | None) -> dict[int, str]:
        """Return the digests of the tasks that are named in a domain, by seed; none where seeds draw the tasks.

        Args:
            domain: The domain.
            source: Its tasks; None where they are not known before its world is open.

        Raises:
            SpecError: Two tasks have one id.
        """
        if not self.named or source is None:
            return {}
        tasks = {seed: source.pick(seed, {}) for seed in range(len(self._named(domain)))}
        for name, count in Counter(task.id for task in tasks.values()).items():
            if count > 1:
                raise SpecError("tasks", "id", name, f"an id for each task; {count} tasks of {domain} have this one")
        return {seed: digest_of(task.model_dump(mode="json")) for seed, task in tasks.items()}


class _Asked(Strict):
    """What a command asked for in one domain: a line of the records."""

    asked: str
    """The domain."""

    seeds: tuple[int, ...]
    """The seeds of the tasks; none where the command ended before it came to the domain."""

    samples: int
    """How many times each task is played."""

    @property
    def keys(self) -> list[Key]:
        return [(self.asked, seed, sample) for sample in range(self.samples) for seed in self.seeds]


class AgentRecords:
    """The episodes of a run, in a file of lines: the last one of a key counts, and a torn last line is cut off.

    Args:
        path: The file, which is made where there is none.
        setup: What the run is begun with.

    Raises:
        SpecError: The file holds a run that was begun otherwise.
        TraceError: The file cannot be read or written, or another process writes it.
    """

    def __init__(self, path: Path, setup: Setup) -> None:
        self._path, self._writer = path, JsonlWriter(path)
        self._known: dict[str, str] = {}
        self._asked: dict[str, dict[Key, None]] = {}
        self.episodes: dict[Key, AgentEpisode] = {}
        self.failed: defaultdict[Key, list[AgentEpisode]] = defaultdict(list)
        """The tries of an episode that a later one took over from."""
        lines = list(read_jsonl(path))
        self._unwritten: list[dict[str, Any]] = [] if lines else [{"setup": setup.model_dump(mode="json")}]
        for line in lines[1:]:
            if "of" in line:
                self._known[str(line["of"])] = str(line["digest"])
            elif "asked" in line:
                self._ask(validated(_Asked, line, path))
            else:
                self._enter(validated(AgentEpisode, line, path))
        begun = {} if not lines else _setup_of(lines[0], path).model_dump()
        self.drawn: bool = begun.get("drawn", setup.drawn)
        """Whether the seed was drawn when the run was begun."""
        for name, value in setup.model_dump(exclude={"domains", "drawn", "named"}).items():
            if begun and begun[name] != value:
                raise SpecError(
                    path, name, value, f"{begun[name]!r}, with which this run was begun; else another --out"
                )
        if begun and bool(begun["named"]) != bool(setup.named):
            expected = (
                f"tasks that are {'named' if begun['named'] else 'drawn'}, as this run was begun; else another --out"
            )
            raise SpecError(path, "named", setup.named, expected)

    def check_tasks(self, domain: str, digests: Mapping[int, str]) -> None:
        """Check that the episodes of a domain played the tasks that are named now.

        Args:
            domain: The domain.
            digests: The digests of its tasks, by seed.

        Raises:
            SpecError: An episode played another task.
        """
        for one in self.episodes.values():
            if one.domain == domain and one.digest != digests.get(one.seed, one.digest):
                expected = f"task {one.task} as it was when this run played it; else another --out"
                raise SpecError(self._path, f"task {one.seed + 1} of {domain}", digests[one.seed], expected)

    def enter(self, what: str, digest: str) -> None:
        """Note the fingerprint of the agent, or of a domain's world.

        Raises:
            SpecError: The run was begun with another one.
        """
        if what not in self._known:
            self._known[what] = digest
            self._note({"of": what, "digest": digest})
        if (known := self._known[what]) != digest:
            raise SpecError(self._path, what, digest, f"{known}, with which this run was begun; else another --out")

    @property
    def worlds(self) -> dict[str, str]:
        """The fingerprint of the world of each domain, in the order in which the domains were begun."""
        return {what.removeprefix(_WORLD_OF): one for what, one in self._known.items() if what.startswith(_WORLD_OF)}

    def ask(self, domain: str, seeds: Sequence[int] = (), samples: int = 1) -> list[Key]:
        """Note which episodes of a domain a command wants, and return their keys; no seeds where it does not know."""
        asked = _Asked(asked=domain, seeds=tuple(seeds), samples=samples)
        if self._ask(asked):
            self._note(asked.model_dump(mode="json"))
        return asked.keys

    def _ask(self, asked: _Asked) -> bool:
        """Enter what is wanted, and return whether it is more than was wanted before."""
        before = self._asked.get(asked.asked)
        wanted = self._asked[asked.asked] = {**(before or {}), **dict.fromkeys(asked.keys)}
        return before is None or len(wanted) > len(before)

    def keys(self, domain: str) -> list[Key]:
        """Return the keys of the episodes of a domain, in the order in which commands wanted them."""
        known = [key for key in self.episodes if key[0] == domain]
        return [*dict.fromkeys(key for key in (*self._asked.get(domain, ()), *known) if key in self.episodes)]

    @property
    def complete(self) -> bool:
        """Whether all that commands wanted is there."""
        return all(keys and keys.keys() <= self.episodes.keys() for keys in self._asked.values())

    def add(self, episode: AgentEpisode) -> None:
        """Keep an episode, at once. What the run was begun with is written with the first one, so that a run that could
        not begin leaves nothing to refuse the next one."""
        self._enter(episode)
        self._writer.write([*self._unwritten, episode.model_dump(mode="json")])
        self._unwritten.clear()

    def _note(self, line: dict[str, Any]) -> None:
        self._unwritten.append(line)
        if self.episodes:
            self._writer.write(self._unwritten)
            self._unwritten.clear()

    def _enter(self, episode: AgentEpisode) -> None:
        if (before := self.episodes.get(episode.key)) is not None:
            self.failed[episode.key].append(before)
        self.episodes[episode.key] = episode

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def begun_seed(path: Path) -> int | None:
    """Return the drawn seed of the run that a file holds, which a second run goes on with; None where there is none."""
    first = next(read_jsonl(path), None) if path.is_file() else None
    setup = None if first is None else _setup_of(first, path)
    return setup.seed if setup is not None and setup.drawn else None


def _setup_of(line: Mapping[str, Any], path: Path) -> Setup:
    if "setup" not in line:
        raise SpecError(
            path, "line 1", excerpt(str(dict(line))), "records of `agentworld eval agent`; else another --out"
        )
    return validated(Setup, line["setup"], path)


@dataclass
class _Run:
    """What is found out on the way."""

    described: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    lost: int = 0


def evaluate_agent(
    setup: Setup,
    tasks: int,
    records: Path,
    *,
    samples: int = 1,
    wave: int = WAVE,
    traces: Path | None = None,
    prices: Mapping[Party, TokenPrices] | None = None,
    command: str = "",
    on_runner: Callable[[str, EpisodeRunner, int], None] | None = None,
    elsewhere: Elsewhere | None = None,
    on_interrupt: Callable[[], None] | None = None,
    on_error: Callable[[AgentResult], None] | None = None,
) -> AgentResult:
    """Let an agent play tasks of some domains, and say how good it is.

    What `records` holds is not played again, except for episodes that a server or the world failed. The result holds
    all that they have, of other domains and further tasks too. Ctrl-C ends the playing; the result then holds what was
    finished.

    Args:
        setup: The agent, the worlds and the tasks.
        tasks: The number of tasks in each domain; fewer where the domain has fewer. Of named tasks all are played.
        records: The file that keeps every episode as it ends.
        samples: How many times each task is played, with other draws of the agent.
        wave: The number of episodes that run at a time.
        traces: A folder for the logs of each domain; None writes no logs.
        prices: The prices of the tokens of agent and world.
        command: The command that the result names.
        on_runner: A function that is called with a domain, its runner, and the number of episodes to play.
        elsewhere: What plays the episodes; None plays them in this process, `wave` at a time.
        on_interrupt: A function that is called where Ctrl-C ended the playing.
        on_error: A function that is called with what was played, before `AgentLost` or `PolicyError` is raised.

    Raises:
        SpecError: A handle or an option is wrong, or the records are those of another run.
        PolicyError: The code of a user's agent raised an exception, or returned no action.
        AgentLost: `MOST_LOST` episodes in a row were lost, because the agent's server failed or the world's was gone.
        AgentWorldError: A world cannot begin or judge a task.

    >>> import tempfile
    >>> setup = Setup(agent="expert", options={}, world="grounded", world_options={}, domains=("mcp", "terminal"),
    ...               levels=(1,), families=(), split="test", seed=0, drawn=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = evaluate_agent(setup, 4, Path(folder) / "episodes.jsonl")
    >>> found.whole.success.share, found.ends
    (1.0, {'finish': 8})
    """
    for domain in setup.domains:  # What one domain lacks is said before another is played.
        setup.digests(domain, setup.environment(domain).tasks())
    run = _Run()
    ended: AgentWorldError | None = None
    with ExitStack() as opened:
        kept = AgentRecords(records, setup)
        opened.callback(kept.close)
        for domain in setup.domains:
            kept.ask(domain)
        try:
            with remembered_interrupt() as check:
                for domain in setup.domains:
                    _play(run, setup, domain, tasks, samples, kept, wave, traces, opened, on_runner, elsewhere, check)
        except KeyboardInterrupt:
            if on_interrupt is not None:
                on_interrupt()
        except AgentLost as error:
            ended = error
        except PolicyError as error:
            ended = PolicyError(f"{error}; {_GOES_ON}")
            ended.__cause__ = error.__cause__
    keys = [key for domain in kept.worlds for key in kept.keys(domain)]
    episodes = [kept.episodes[key] for key in keys]
    failed = [episode for key in keys for episode in kept.failed[key]]
    result = AgentResult(
        agent=setup.agent,
        described=run.described,
        options=run.options,
        world_options=setup.world_options,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        package=setup.package,
        samples=max([samples, *(one.sample + 1 for one in episodes)]),
        interrupted=not kept.complete,
        **_figures(episodes, setup.model_copy(update={"drawn": kept.drawn}), kept.worlds, prices or {}, failed),
    )
    if ended is not None:
        if on_error is not None:
            on_error(result)
        raise ended
    return result


def evaluated_traces(agent: str, folder: Path, split: Split | None = None, *, command: str = "") -> AgentResult:
    """Say how good an agent is that played elsewhere, from the traces of its episodes, such as those of `mcp serve`.

    An episode without a step is left out: programs also connect to list tools. One that did not end is not scored. What
    the agent's model took is not known.

    Args:
        agent: The name of the agent.
        folder: The folder of the traces, of any number of runs and domains; `agentworld_gym.core.traces.episodes_of`.
        split: The split of the tasks that were played. Traces tell that of generated tasks alone.
        command: The command that the result names.

    Raises:
        MissingFile: There are no traces.
        TraceError: A file is no trace.
        SpecError: No episode has a step, a domain was played in several worlds, or the tasks are of another split, of
            several ones or of one that is not known.

    >>> import tempfile
    >>> import gymnasium as gym
    >>> with tempfile.TemporaryDirectory() as place:
    ...     env = gym.make("AgentWorld/Terminal-v0", world="grounded", split="test", traces=place)
    ...     _ = env.reset(seed=0), env.step("finish")
    ...     env.close()
    ...     found = evaluated_traces("mine", Path(place))
    >>> found.whole.success.share, found.ends, found.episodes[0].steps
    (0.0, {'finish': 1}, 1)
    """
    worlds: dict[str, str] = {}
    episodes: list[AgentEpisode] = []
    tries: Counter[tuple[str, int]] = Counter()
    known_split, unknown = split, ""
    for one in episodes_of(folder):
        if not one.steps:
            continue
        if one.task_seed is None:
            unknown = unknown or one.task_id
        else:
            told = split_of(one.task_seed)
            known_split = known_split or told
            if told != known_split:
                other = "--split" if split else "other episodes: keep a folder for each split"
                raise SpecError(one.log, f"split of task {one.task_id}", told, f"{known_split!r}, that of {other}")
        domain = domain_of_env(one.env_id) or one.env_id
        if (known := worlds.setdefault(domain, one.fingerprint)) != one.fingerprint:
            expected = f"{known}, the world of other episodes of {domain}: keep a folder for each world"
            raise SpecError(folder, f"run {one.run}", one.fingerprint, expected)
        episodes.append(
            AgentEpisode(
                domain=domain,
                seed=one.seed,
                sample=tries[domain, one.seed],
                task=one.task_id,
                family=one.family or "handwritten",
                level=one.level or 0,
                success=one.success if one.failure is None else None,
                score=one.score,
                steps=one.steps,
                refused=one.refused,
                end=one.ending,
                agent_tokens=None,
                world_tokens=one.world_counts,
                world_failure=None if one.failure is None else one.ending,
                message=None if one.failure is None else excerpt(one.failure),
            )
        )
        tries[domain, one.seed] += 1
    if not episodes:
        raise SpecError(folder, "episodes", 0, "traces of episodes in which an agent took a step")
    if known_split is None or (split is None and unknown):
        raise SpecError(folder, "--split", None, f"the split of task {unknown}, which its trace does not tell")
    setup = Setup(
        agent=agent,
        options={},
        world=str(folder),
        world_options={},
        domains=tuple(worlds),
        levels=(),
        families=(),
        split=known_split,
        seed=min(one.seed for one in episodes),
        drawn=False,
    )
    return AgentResult(
        agent=agent,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        package=setup.package,
        samples=max(tries.values()),
        **_figures(episodes, setup, worlds, {}),
    )


def _play(
    run: _Run,
    setup: Setup,
    domain: str,
    tasks: int,
    samples: int,
    kept: AgentRecords,
    wave: int,
    traces: Path | None,
    opened: ExitStack,
    on_runner: Callable[[str, EpisodeRunner, int], None] | None,
    elsewhere: Elsewhere | None,
    check: Callable[[], None],
) -> None:
    """Play what is missing of one domain. Agents stay open, so that the next domain finds their models loaded."""
    options = setup.environment(domain).changed(traces=None if traces is None else str(traces / domain))
    runner = (options if elsewhere is None else options.changed(traces=None)).runner()
    try:
        kept.enter(f"{_WORLD_OF}{domain}", runner.fingerprint)
        digests = setup.digests(domain, runner.source)
        kept.check_tasks(domain, digests)
        seeds = list(digests) or one_a_task(runner.source, _seeds(runner.source, setup.seed, tasks))
        missing = [key for key in kept.ask(domain, seeds, samples) if _is_missing(kept.episodes.get(key))]
        if on_runner is not None:
            on_runner(domain, runner, len(missing))
        for sample in range(samples):
            left = [seed for _, seed, number in missing if number == sample]
            if elsewhere is None or not run.described:
                policy = opened.enter_context(opened_policy(setup.agent, runner.spec, sample, setup.options))
            if not run.described:
                _describe(run, policy, setup)
                kept.enter("agent", digest_of(run.described))
            if not left:
                continue
            if elsewhere is None:
                playing = play(runner, policy, left, wave=wave)
            else:
                opening = partial(open_policy, setup.agent, runner.spec, sample, setup.options)
                playing = elsewhere(options, opening, left)
            with closing(playing):
                for played in playing:
                    kept.add(_episode(domain, sample, played, digests.get(played.seed, "")))
                    _count_lost(run, played)
                    check()
    finally:
        runner.close()


def _seeds(source: TaskSource, first: int, count: int) -> list[int]:
    """Return the seeds of some tasks; where families make them, few tasks too have all levels, in many families."""
    if source.pool is not None or tuple(source.foreseen()):
        return list(range(first, first + count))
    return spread(first, count, len(source.names), len(source.levels))


def spread(first: int, count: int, families: int, levels: int) -> list[int]:
    """Return seeds that walk through families and levels at once.

    A source of tasks walks through all families, then through all levels. The same seeds are taken in another order,
    which is that of more tasks as far as it goes.

    >>> spread(0, 6, 3, 2), sorted(spread(7, 12, 3, 2)) == list(range(7, 19))
    ([0, 4, 2, 3, 1, 5], True)
    """
    once, seeds = families * levels, []
    for number in range(count):
        block, place = divmod(number, once)
        family = (place + place // math.lcm(families, levels)) % families
        seeds.append(first + block * once + family + families * (place % levels))
    return seeds


def _count_lost(run: _Run, played: Played) -> None:
    gone = played.failure == FailureKind.CONNECTION
    run.lost = run.lost + 1 if gone or played.agent_failure else 0
    if run.lost >= MOST_LOST:
        who = "the world" if gone else "the agent's server"
        reason = played.failure_message or played.agent_message
        raise AgentLost(f"{who} failed {run.lost} episodes in a row: {reason}; the same command goes on later")


def _is_missing(episode: AgentEpisode | None) -> bool:
    return episode is None or episode.agent_failure is not None or episode.world_failure is not None


def _describe(run: _Run, policy: Policy, setup: Setup) -> None:
    """Find out what is known of the agent."""
    run.options = dict(setup.options)
    if isinstance(policy, LanguageAgent):
        run.described = {name: value for name, (value, _) in policy.generator.describe().items()}
        sampling = sent_sampling(policy.generator, policy.sampling)
        run.options = {**setup.options, **sampling, "overflow": policy.overflow}
    elif (path := Path(setup.agent)).suffix == ".zip":
        run.described = {"file": hashlib.sha256(path.read_bytes()).hexdigest()}
    else:
        run.described = {"name": policy.name}
        kind, _, place = setup.agent.partition(":")
        if kind == "python" and (source := getattr(sys.modules.get(place.partition(":")[0]), "__file__", None)):
            run.described["source"] = hashlib.sha256(Path(source).read_bytes()).hexdigest()


def _episode(domain: str, sample: int, played: Played, digest: str) -> AgentEpisode:
    message = played.failure_message or played.agent_message
    return AgentEpisode(
        domain=domain,
        seed=played.seed,
        sample=sample,
        task=played.task.id,
        digest=digest,
        family=played.task.family,
        level=played.task.level,
        success=played.success,
        score=played.score,
        steps=len(played.actions),
        refused=played.refused,
        end=played.end,
        agent_tokens=_counts(played.agent_usage),
        agent_lost=_counts(played.agent_lost),
        world_tokens=_counts(played.usage),
        calls=played.calls,
        agent_failure=played.agent_failure,
        world_failure=played.failure,
        message=None if message is None else excerpt(message),
    )


def _counts(usage: Usage) -> TokenCounts:
    return (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) if usage.known else None


def _figures(
    episodes: Sequence[AgentEpisode],
    setup: Setup,
    worlds: Mapping[str, str],
    prices: Mapping[Party, TokenPrices],
    failed: Sequence[AgentEpisode] = (),
) -> dict[str, Any]:
    """Return the fields of a result that follow from its episodes, and from those that were played again."""
    domains: dict[str, DomainCell] = {}
    for domain, fingerprint in worlds.items():
        members = [one for one in episodes if one.domain == domain]
        families, levels = ({str(getattr(one, name)) for one in members} for name in ("family", "level"))
        domains[domain] = DomainCell(
            world=setup.world,
            fingerprint=fingerprint,
            families={name: _cell(one for one in members if one.family == name) for name in sorted(families)},
            levels={name: _cell(one for one in members if str(one.level) == name) for name in sorted(levels)},
            calls=dict(Counter(one.calls for one in members if one.calls)),
            **dict(_cell(members)),
        )
    counts = [len({one.seed for one in episodes if one.domain == domain}) for domain in worlds]
    used: dict[Party, Usage] = {
        "agent": _sum(one.agent_tokens for one in episodes),
        "world": _sum(one.world_tokens for one in episodes),
    }
    in_vain: dict[Party, Usage] = {
        "agent": _sum(one.agent_lost for one in (*episodes, *failed)) + _sum(one.agent_tokens for one in failed),
        "world": _sum(one.world_tokens for one in failed),
    }
    return {
        "draw": TaskDraw(
            split=setup.split,
            seed=setup.seed,
            drawn=setup.drawn,
            tasks=min(counts, default=0),
            named=bool(setup.named),
        ),
        "whole": _cell(episodes),
        "domains": domains,
        "pass_at": _passes(episodes, lambda lost, won, k: 1 - _share(lost, lost + won, k)),
        "pass_all": _passes(episodes, lambda lost, won, k: _share(won, lost + won, k)),
        "ends": dict(Counter(one.end for one in episodes).most_common()),
        "refused": sum(one.refused for one in episodes),
        "tokens": {party: priced_tokens(usage, prices.get(party)) for party, usage in used.items()},
        "replaced": {party: priced_tokens(usage, prices.get(party)) for party, usage in in_vain.items()},
        "agent_failures": dict(Counter(one.agent_failure for one in episodes if one.agent_failure)),
        "world_failures": dict(Counter(one.world_failure for one in episodes if one.world_failure)),
        "episodes": tuple(episodes),
    }


def _sum(counts: Iterable[TokenCounts]) -> Usage:
    return sum((Usage(known=False) if one is None else Usage(*one) for one in counts), Usage())


def _cell(episodes: Iterable[AgentEpisode]) -> AgentCell:
    played = list(episodes)
    scored = [one for one in played if one.success is not None]
    unscored = len(played) - len(scored)
    if not scored:
        return AgentCell(success=None, score=None, steps=None, unscored=unscored)
    successes = [bool(one.success) for one in scored]
    tasks = [f"{one.domain} {one.task}" for one in scored]
    return AgentCell(
        success=proportion(successes) if len(set(tasks)) == len(tasks) else interval(successes, tasks),
        score=sum(one.score or 0.0 for one in scored) / len(scored),
        steps=sum(one.steps for one in scored) / len(scored),
        unscored=unscored,
    )


_Place = tuple[str, int, str, str]
"""A domain, a seed, the id of a task, and its digest where a user named it."""


def _by_task(episodes: Iterable[AgentEpisode]) -> dict[_Place, list[bool]]:
    """Return the successes of the scored samples of each task."""
    found: defaultdict[_Place, list[bool]] = defaultdict(list)
    for one in episodes:
        if one.success is not None:
            found[one.domain, one.seed, one.task, one.digest].append(one.success)
    return found


def _passes(episodes: Sequence[AgentEpisode], chance: Callable[[int, int, int], float]) -> dict[str, Share]:
    """Return a chance for every number k of samples, over the tasks that have so many."""
    tasks = list(_by_task(episodes).values())
    shares = {}
    for k in range(1, max(map(len, tasks), default=0) + 1):
        values = [chance(len(one) - sum(one), sum(one), k) for one in tasks if len(one) >= k]
        shares[str(k)] = interval(values, bounds=(0.0, 1.0))
    return shares


def _share(some: int, all_of_them: int, k: int) -> float:
    """Return the share of the choices of k from all that hold none but some.

    >>> _share(1, 2, 1), _share(1, 2, 2), _share(2, 3, 2) == 1 / 3
    (0.5, 0.0, True)
    """
    return math.comb(some, k) / math.comb(all_of_them, k)


def difference(first: AgentResult, second: AgentResult) -> AgentDifference:
    """Compare two agents on the tasks that both were scored on: the same domain in the same world, seed and task.

    Where each task was played once, the interval is that of Bonett and Price; else it is bootstrapped over tasks.
    """
    one, other = _by_task(first.episodes), _by_task(second.episodes)
    worlds = {name: cell.fingerprint for name, cell in second.domains.items()}
    shared = {name for name, cell in first.domains.items() if worlds.get(name) == cell.fingerprint}
    both = [task for task in one if task in other and task[0] in shared]
    domains = {task[0] for task in both}

    def gap(tasks: Sequence[_Place]) -> Share | None:
        if not tasks:
            return None
        if all(len(one[task]) == len(other[task]) == 1 for task in tasks):
            return paired_gap([(one[task][0], other[task][0]) for task in tasks])
        means = [sum(one[task]) / len(one[task]) - sum(other[task]) / len(other[task]) for task in tasks]
        return interval(means, bounds=(-1.0, 1.0))

    apart = {domain: gap([task for task in both if task[0] == domain]) for domain in sorted(domains)}
    return AgentDifference(
        first=first.agent,
        second=second.agent,
        whole=gap(both),
        domains={domain: share for domain, share in apart.items() if share is not None},
    )
