"""The recorder: it plays sessions of grounded worlds and of AWM's by number, and makes one row of each."""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from agentworld_gym.agents.collect.acting import Acting, Explored, Player, Script
from agentworld_gym.agents.collect.config import CollectConfig, PolicyName
from agentworld_gym.agents.collect.policies import AWARE, policy_actions, policy_shares, solver_cases
from agentworld_gym.agents.collect.session_recording import SessionRecording
from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.agents.policies.language_agent import AgentLost, LanguageAgent
from agentworld_gym.agents.policies.registry import is_model, open_policy
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.base.fingerprint import digest_of, installed
from agentworld_gym.core.domain.spec import DomainSpec, Form
from agentworld_gym.core.domain.task import Split, Task, split_seed
from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost
from agentworld_gym.core.engines.catalog import engine_names, has_engine, libraries_of
from agentworld_gym.core.flow import Flow, Work
from agentworld_gym.core.registration import find_domain, official_name
from agentworld_gym.core.tasks.source import DrawsSplits, TaskSource
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.llm.bundled_models import TINY
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.rerendering import generated_task
from agentworld_gym.llm.rows.row import FORMAT, Row, RowProvenance
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.own_tasks import BringsTasks, is_live, schemes
from agentworld_gym.worlds.registry import open_world

logger = logging.getLogger(__name__)

T = TypeVar("T")
AHEAD = 4
"""How many times as many sessions may have begun, but not be handed out, as are played at a time."""

MOST_LOST = 8
"""How many sessions in a row may be lost before the recording ends: by the server of the model that plays, or by a
system that does not begin them."""

TRIES = 3
"""How many times a session is played whose world fails: what was lost, or late on a busy machine, may not be then."""

EXPLORE: PolicyName = "explore"
"""The name of the policy of an explorer."""

TASK_SEEDS = 1_000_000
STRENGTHS = (0.1, 0.2, 0.3, 0.5)
CASE_SHARE = 0.5
"""The share of the disturbed sessions that are played by a solver which knows the control, where the domain has one."""


class Recorder:
    """Plays sessions by number: the domains take turns, and all else is drawn from the seed, the split and the number.

    The attribute `recording` is a digest of everything that decides what is recorded, and `settings` holds the part of
    it that was asked for: the domains, and the settings that are not the default ones. The attribute `provenances`
    holds where rows come from, by domain and dialect.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> recorder = Recorder([load_spec("terminal")], CollectConfig(), seed=0)
    >>> row = recorder.row(3)
    >>> row == recorder.row(3), row.task, len(row.actions) == row.turn_idx
    (True, 'terminal', True)
    >>> recorder.close()

    Raises:
        SpecError: A domain has no grounded world or no task families, or has nothing that the configuration asks for.
        WorldNotConfigured: The variant of an engine cannot run here.
    """

    def __init__(self, specs: Sequence[DomainSpec], config: CollectConfig, seed: int, split: Split = "train") -> None:
        if not specs:
            raise SpecError("collect", "domains", [], "at least one domain")
        self._seed, self._split, self._lost = seed, split, 0
        self._domains = [_recorder_of(spec, config) for spec in specs]
        self._round = [domain for domain in self._domains for _ in range(config.mix.get(domain.spec.source, 1))]
        self.provenances = {(domain.spec.id, domain.spec.dialect): domain.provenance for domain in self._domains}
        asked = CollectConfig.model_validate(config.model_dump()).model_dump(mode="json", exclude_defaults=True)
        self.settings = {"domains": [spec.source for spec in specs], **asked}
        excluded = {"engines", "world"} | ({"agent", "agent_sampling"} if config.agent is None else set())
        excluded |= {"agent_share"} if config.agent is None or config.agent_share == 1 else set()
        self.recording = digest_of(
            {
                "stages": [[domain.provenance.fingerprint, domain.prompts.digest] for domain in self._domains],
                # The fingerprint names the world, and the variant of the engine, that was opened.
                "config": config.model_dump(mode="json", exclude=excluded),
                "seed": seed,
                "split": split,
                "format": FORMAT,
            }
        )

    def row(self, number: int) -> Row | None:
        """Play the session of a number and return its row; None if it has no turn, because its agent finished at
        once.
        """
        [row] = self.rows([number])
        return row

    def rows(self, numbers: Iterable[int], width: int = 1) -> Iterator[Row | None]:
        """Play the sessions of some numbers and yield their rows, in the order of the numbers.

        A session goes on as its own agent answers, and the next one begins as one ends.

        Args:
            numbers: The numbers, which are read as they are needed.
            width: The number of sessions that are played at a time. Up to `AHEAD` times as many wait for an earlier
                one to end.
        """
        rest, flow = iter(numbers), Flow[Row | None]()
        order, ended = deque[int](), dict[int, Row | None]()
        try:
            while True:
                fresh = list(islice(rest, min(width - flow.under_way, AHEAD * width - len(order))))
                order.extend(fresh)
                flow.send([(number, self._playing(number)) for number in fresh])
                if not order:
                    return
                ended.update(flow.recv())
                while order and order[0] in ended:
                    yield ended.pop(order.popleft())
        finally:
            flow.close()

    def _playing(self, number: int) -> Work[Row | None]:
        try:
            return (yield from self._row(number))
        except Exception as error:
            error.add_note(f"while recording session {number} of seed {self._seed}, split {self._split}")
            raise

    def _row(self, number: int) -> Work[Row | None]:
        domain = self._round[number % len(self._round)]
        for left in reversed(range(TRIES)):
            assignment, session, why = yield from self._tried(domain, number, left)
            if why is None:
                break
            logger.warning("session %d: %s%s", number, why, "; it is played again" if left else "")
        if session is None or not session.history.turns:
            return None
        task, domain_id = assignment.task, domain.spec.id
        data = {
            "task": official_name(domain_id),
            "id": f"{domain_id}-{self._split}-{self._seed}-{number}",
            "number": number,
            "task_id": task.id,
            "family": task.family,
            "level": task.level,
            "seed": task.seed,
            "episode_seed": assignment.seed if task.seed is None else None,
            "split": self._split,
            "policy": assignment.policy,
            "profile": domain.prompts.profile,
            "form": domain.prompts.form,
            "dialect": domain.spec.dialect,
            "controls": task.controls,
            "control_seed": task.control_seed,
            "provenance": domain.provenance.model_copy(update={"recording": self.recording, "settings": self.settings}),
            **session.fields(),
        }
        return validated(Row, data, str(data["id"]))

    def _tried(
        self, domain: _DomainRecorder, number: int, left: int
    ) -> Work[tuple[_Assignment, SessionRecording | None, str | None]]:
        """Play a session; return who played what, the session if it can be a row, and why another try may end better,
        if one may."""
        name = f"{self._seed}/{self._split}/{number}"
        rng = random.Random(name)
        assignment = domain.assign(rng, random.Random(f"controls/{name}"), self._split)
        try:
            session = domain.begun(assignment)
        except EngineError as error:
            if left:
                return assignment, None, str(error)
            if isinstance(error, SystemLost | SystemLate):  # There is no system that others could be played on.
                raise
            return self._left_out(assignment, number, error)
        try:
            yield from domain.playing(session, assignment, rng)
        except AgentLost as error:
            return self._left_out(assignment, number, error)
        except EngineError as error:
            return assignment, None, str(error)
        self._lost = 0
        return assignment, session, None if session.failure is None else f"the world failed: {session.failure}"

    def _left_out(self, assignment: _Assignment, number: int, error: AgentWorldError) -> tuple[_Assignment, None, None]:
        """Leave a session out; after several in a row the recording ends."""
        self._lost += 1
        if self._lost >= MOST_LOST:
            raise error
        logger.warning("session %d is left out: %s", number, error)
        return assignment, None, None

    def close(self) -> None:
        """Close the worlds, and the generator of a model that plays. A second call does nothing."""
        for domain in self._domains:
            domain.close()


@dataclass(frozen=True, slots=True)
class _Assignment:
    """A task, the name of the policy that plays it, and who acts."""

    task: Task
    policy: str
    agent: Acting
    seed: int | None = None
    """The seed of the episode; None takes that of the task."""


class _DomainRecorder:
    """One domain, ready to be played."""

    def __init__(self, spec: DomainSpec, config: CollectConfig) -> None:
        if config.world == "grounded" and not has_engine(spec.id):
            raise SpecError(spec.path, "id", spec.id, f"a domain with a grounded world: {', '.join(engine_names())}")
        self.spec, self._config = spec, config
        self._choose()
        if config.form == "state":
            raise SpecError("collect", "form", config.form, "full or change; `preparation.form` renders rows anew")
        form: Form = config.form if spec.turn.restates else "full"
        self.prompts = Prompts(spec, PromptOptions(config.profile, form).for_domain(spec.id))
        self._runner, self.provenance = self._open_world()
        self._agent = None if config.agent is None else open_policy(config.agent, spec, options=config.options())

    def _open_world(self) -> tuple[EpisodeRunner, RowProvenance]:
        """Open the world, and say where its rows come from."""
        spec, config = self.spec, self._config
        handle = ":".join(filter(None, ("grounded", config.engines.get(spec.id))))
        world = open_world(handle, WorldOptions(spec))
        parts = world.fingerprint.parts
        provenance = RowProvenance(
            source="collect",
            engine=spec.id,
            variant=parts["engine"].value.partition(":")[2],
            libraries={library: parts[library].value for library in libraries_of(spec.id)},
            fingerprint=world.fingerprint.digest,
            package=installed("agentworld-gym"),
        )
        return EpisodeRunner(spec, world, TaskSource(spec), max_steps=config.max_turns), provenance

    def _choose(self) -> None:
        """Find out which tasks there are, and who plays them."""
        spec, config = self.spec, self._config
        families = sorted(spec.tasks.families)
        self._families = [name for name in families if not config.families or name in config.families]
        if not self._families:
            expected = f"some of {', '.join(families)}" if families else "a domain with task families"
            raise SpecError("collect", f"families of {spec.id}", list(config.families), expected)
        self._policies = policy_shares(spec.id, config.policies)
        if not self._policies:
            raise SpecError("collect", "policies", list(config.policies), f"some that can play {spec.id}, as expert")
        self._cases = solver_cases(spec.id, self._families, config.levels) if config.controls_share else []

    def assign(self, rng: random.Random, disturbance: random.Random, split: Split) -> _Assignment:
        """Draw a task and who plays it.

        The draws of `disturbance` are separate, so that a session without controls is the same whatever their share is.
        """
        family, level = rng.choice(self._families), _draw(rng, self._config.levels)
        seed = split_seed(split, rng.randrange(TASK_SEEDS))
        policy: PolicyName = _draw(rng, self._policies)
        controls: dict[str, float] = {}
        case = None
        if self.spec.controls and disturbance.random() < self._config.controls_share:
            if self._cases and disturbance.random() < CASE_SHARE:
                case = disturbance.choice(self._cases)
                family, level, controls = case.family, case.level, {case.control: case.strength}
            else:
                names = disturbance.sample(sorted(self.spec.controls), disturbance.choice((1, 1, 2)))
                controls = {name: disturbance.choice(STRENGTHS) for name in names}
        task = generated_task(self.spec.id, family, level, seed)
        if controls:
            disturbed = {"controls": controls, "control_seed": disturbance.randrange(TASK_SEEDS)}
            task = task.model_copy(update=disturbed)
        if case is not None:
            return _Assignment(task, AWARE, Script(case.aware(task)))
        return self._assigned(task, policy, rng)

    def _assigned(self, task: Task, policy: PolicyName, rng: random.Random) -> _Assignment:
        share = self._config.agent_share
        if self._agent is not None and (share == 1 or rng.random() < share):
            name = "model" if isinstance(self._agent, LanguageAgent) else self._agent.name
            return _Assignment(task, name, Player(self._agent, rng.getrandbits(31)))
        return self._scripted(task, policy, rng)

    def _scripted(self, task: Task, policy: PolicyName, rng: random.Random) -> _Assignment:
        return _Assignment(task, policy, Script(policy_actions(policy, task, rng, self._config)))

    def begun(self, assignment: _Assignment) -> SessionRecording:
        """Begin a task."""
        return SessionRecording(self._runner, self.prompts, assignment.task, assignment.seed)

    def playing(self, session: SessionRecording, assignment: _Assignment, rng: random.Random) -> Work[None]:
        """Play a task to its end, and at times look at the state with the task's probes."""
        try:
            able = yield from session.playing(assignment.agent)
            if able and rng.random() < self._config.probe_share:
                probes = [check.probes for check in assignment.task.success if check.probes]
                rng.shuffle(probes)
                session.run_probes(probes)
        finally:
            session.close()

    def close(self) -> None:
        """Close the world, and the generator if a model plays."""
        self._runner.close()
        if isinstance(self._agent, LanguageAgent):
            self._agent.close()


class _OwnTasksRecorder(_DomainRecorder):
    """A world that brings its own tasks, such as a folder of AWM's worlds; a task without an expert is explored."""

    def _choose(self) -> None:
        config = self._config
        if config.families or config.controls_share:
            key = "families" if config.families else "controls_share"
            raise SpecError("collect", key, getattr(config, key), f"its default: {config.world} brings its tasks")
        knowing_no_expert: tuple[PolicyName, ...] = ("menu", "explore", "free", "refusals")
        asked = {name: config.policies[name] for name in knowing_no_expert if name in config.policies}
        usual: dict[PolicyName, float] = {"explore": 1.0}
        if is_live(config.world) and config.policies == CollectConfig().policies:
            asked = usual
        self._free = policy_shares(self.spec.id, asked) or policy_shares(self.spec.id, usual) or {"menu": 1.0}
        self._policies = policy_shares(self.spec.id, config.policies) or self._free

    def _open_world(self) -> tuple[EpisodeRunner, RowProvenance]:
        expected = " or ".join(["grounded", "live:FILE", *(f"{scheme}:DIR" for scheme in schemes())])
        wrong = SpecError("collect", "world", self._config.world, expected)
        if self._config.world == TINY or is_model(self._config.world):
            raise wrong
        world = open_world(self._config.world, WorldOptions(self.spec))
        if not isinstance(world, BringsTasks) or world.truth is not None:
            world.close()
            raise wrong
        world.tasks.without_judge()
        provenance = RowProvenance(
            source="collect",
            engine=self._config.world.partition(":")[0],
            libraries=world.versions,
            fingerprint=world.fingerprint.digest,
            package=installed("agentworld-gym"),
        )
        source = TaskSource(self.spec, pool=world.tasks)
        return EpisodeRunner(self.spec, world, source, max_steps=self._config.max_turns), provenance

    def assign(self, rng: random.Random, disturbance: random.Random, split: Split) -> _Assignment:
        """Draw a task and who plays it."""
        pool: object = self._runner.source.pool
        if isinstance(pool, DrawsSplits):
            pool.draw_from(split)
        seed = rng.randrange(TASK_SEEDS)
        task = self._runner.source.pick(seed, {})
        policy = _draw(rng, self._policies if task.expert else self._free)
        return replace(self._assigned(task, policy, rng), seed=seed)

    def _scripted(self, task: Task, policy: PolicyName, rng: random.Random) -> _Assignment:
        if not task.expert and find_domain(self.spec.id) is None:
            return _Assignment(task, EXPLORE, Explored(rng, rng.randint(*SESSION), task.menu))
        return super()._scripted(task, policy, rng)


def _recorder_of(spec: DomainSpec, config: CollectConfig) -> _DomainRecorder:
    """Return what records sessions of a domain in the world of a configuration."""
    return _DomainRecorder(spec, config) if config.world == "grounded" else _OwnTasksRecorder(spec, config)


def _draw(rng: random.Random, shares: Mapping[T, float]) -> T:
    return rng.choices(list(shares), list(shares.values()))[0]
