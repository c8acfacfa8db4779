"""The options that every environment takes, and how they become an episode runner."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import BeforeValidator, Field, SkipValidation

from agentworld_gym.base.documents.options import ExpectedValue, Options
from agentworld_gym.base.errors import SpecError, UnknownOption, one_of
from agentworld_gym.base.fingerprint import Fingerprint, Part
from agentworld_gym.core.actions.tolerant import Reading
from agentworld_gym.core.contracts import World
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Split, Task
from agentworld_gym.core.lock import Lock
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.tasks.source import TaskPool, TaskSource
from agentworld_gym.core.traces.log import TraceLogs
from agentworld_gym.envs.episodes.function_judge import FunctionJudge
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.kit.live.environments import ENVIRONMENT_SPEC
from agentworld_gym.llm.generators import open_generator
from agentworld_gym.llm.judging.rubric import EpisodeJudge, JudgedEpisode, RubricJudge
from agentworld_gym.llm.user import ModelUser
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.grounded_variants import scenario_tasks_of
from agentworld_gym.worlds.idle_patterns import refuse_idle_patterns
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import FilePath, LanguageOptions, WorldOptions
from agentworld_gym.worlds.own_tasks import BringsTasks, brings_tasks, is_live, truth_of, unfolded, with_live
from agentworld_gym.worlds.recordings.recorded_world import RecordedWorld
from agentworld_gym.worlds.recordings.recording_world import RecordingWorld
from agentworld_gym.worlds.registry import is_registered, open_world
from agentworld_gym.worlds.scripted import ScriptedWorld

log = logging.getLogger(__name__)

_DIGEST = re.compile(r"[0-9a-f]{16}")

_ONLY_IN_LANGUAGE_WORLDS = {
    "form": "has a form",
    "retrieval": "is shown recorded steps",
    "worldbook": "reads a worldbook",
    "guard": "is guarded",
    "checks": "is checked",
}

_ELSEWHERE = {
    "scenario": "world_options={'scenario': …}",
    "order": "world='record:PATH+WORLD', whose replay world='recorded:PATH' hands out steps in the same order",
    "few_shots": "recorded calls that the spec names, in action.few_shots",
}
"""What to write in place of names that are no options."""


def _with_paths_as_texts(given: Any) -> Any:
    """Return a mapping whose paths are texts, so that it can be written as JSON."""
    if not isinstance(given, Mapping):
        return given
    return {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in given.items()}


class EnvOptions(Options):
    """Everything that `gym.make` takes beside the id; all of it but a judge in Python can be written as JSON.

    >>> options = EnvOptions(spec="terminal", world="tiny", language={"guard": {"least": 0.9}}, levels=[1, 2])
    >>> options.language.guard, options.levels
    ({'least': 0.9}, [1, 2])

    Raises:
        SpecError: A value does not fit.
        UnknownOption: There is no such option.
    """

    spec: Annotated[
        str,
        BeforeValidator(lambda spec: os.fspath(spec) if isinstance(spec, os.PathLike) else spec),
        ExpectedValue("a domain's name, the id of its environment, or the path of a spec"),
    ]
    """The domain: its name, the id of its environment, or the path of a YAML spec."""

    dialect: Annotated[str | None, ExpectedValue("the name of a dialect of the domain")] = None
    """The dialect in which actions are written and observations are shown. None takes the first one of the spec."""

    reading: Annotated[Reading, ExpectedValue("tolerant or exact")] = "tolerant"
    """How actions are read: `tolerant` takes what language models write for the action that they mean, past thinking,
    fences and prose; `exact` takes a text as it is. Replays read exactly whatever the option says."""

    world: Annotated[str, ExpectedValue("a world, as in world='grounded'")] = "auto"
    """Who answers the actions; see `agentworld_gym.worlds.open_world`."""

    live: Annotated[
        Mapping[Any, Any] | FilePath | None,
        ExpectedValue("keys by name, as in {'command': ['npx', ...]}, or the path of a YAML file"),
    ] = None
    """Your own system, which answers in `world="live"`: its configuration, whose keys depend on the domain, or the path
    of a YAML file with them. Beside another world, that world plays the tasks of the live one. See
    `agentworld_gym.kit.live.LiveConfig`."""

    language: LanguageOptions = LanguageOptions()
    """How a language world is prompted and sampled: `LanguageOptions`, or a mapping with some of them by name. None has
    none of them."""

    judge: Annotated[
        str | Callable[[JudgedEpisode], float],
        ExpectedValue("same, none, a generator's handle, or a function of a JudgedEpisode"),
    ] = "same"
    """Who scores rubrics: `same` (the world's generator), `none`, a generator's handle, or a function that returns the
    score of a `JudgedEpisode`, from 0 to 1."""

    user: Annotated[str, ExpectedValue("script, or a generator's handle")] = "script"
    """Who answers an agent's questions as the user of a task: `script` (the task's own answers), or the handle of a
    generator, which reads them and answers in words of its own."""

    families: Annotated[Sequence[SkipValidation[str]] | None, ExpectedValue("a list of families")] = None
    """The families whose tasks are generated. None takes all families of the spec."""

    levels: Annotated[Sequence[SkipValidation[int]], ExpectedValue("some of 1, 2, 3, 4, 5")] = (1,)
    """The levels whose tasks are generated."""

    split: Annotated[Split, ExpectedValue(f"one of {', '.join(get_args(Split))}")] = "train"
    """The split whose tasks are generated."""

    task: Annotated[
        str | Mapping[Any, Any] | Task | Sequence[str | Mapping[Any, Any] | Task] | None,
        ExpectedValue("an id, the path of a YAML file, or a list of them"),
    ] = None
    """The id or the path of a task that every episode has. Seeds walk through a list of several."""

    world_options: Annotated[
        Mapping[Any, Any] | None,
        BeforeValidator(_with_paths_as_texts),
        ExpectedValue("values by name, as in {'scenario': 'my/shop'}"),
    ] = None
    """What only some worlds take, by name. In a domain that plays on scenarios, `scenario` is the folder of one of your
    own, or of several, whose tasks are played instead of the shipped ones; see
    `agentworld_gym.domains.mcp.scenario_tasks`. A world that brings its tasks has options of its own: those of
    `awm:DIR` are `agentworld_gym.domains.mcp.awm.world.AwmOptions`. The factory of a registered world takes any."""

    controls: SkipValidation[Mapping[str, float] | None] = None
    """The controls of every episode: name → strength."""

    max_steps: Annotated[Annotated[int, Field(ge=1)] | None, ExpectedValue("an integer of at least 1")] = None
    """The step limit. None takes that of the task or of the spec."""

    traces: Annotated[FilePath | None, ExpectedValue("a folder")] = None
    """A folder for logs. None writes none."""

    lock: Annotated[
        FilePath | Mapping[Any, Any] | None,
        ExpectedValue(
            "the path of a lock, which `agentworld lock` writes, or the digest or dictionary of a fingerprint"
        ),
    ] = None
    """The only world that is accepted: a file that `agentworld lock` wrote, the digest of a fingerprint, or the
    dictionary of `Fingerprint.as_dict`. A file pins a judge as well, and traces carry its digest. None accepts any
    world."""

    def __init__(self, **options: Any) -> None:
        _check_names(type(self).__name__, options)
        if "language" in options:
            options["language"] = LanguageOptions.of(options["language"])
        if options.get("live") is not None and isinstance(options.get("world", "auto"), str):
            options["world"] = with_live(options.get("world", "auto"))
        super().__init__(**options)

    @classmethod
    def of(cls, owner: str, options: Mapping[str, Any]) -> Self:
        """Return the options that an environment was given.

        Args:
            owner: The name of the environment's class.
            options: The keyword arguments of the environment.

        Raises:
            UnknownOption: An option does not exist; the error names the owner.
            SpecError: A value does not fit, or a custom environment has no spec.
        """
        _check_names(owner, options, ["render_mode"])
        world = options.get("world")
        if "spec" not in options and (options.get("live") is not None or (world and is_live(unfolded(str(world))))):
            options = {**options, "spec": ENVIRONMENT_SPEC}
        if "spec" not in options:
            raise SpecError("options", "spec", None, "the path of a YAML spec, as in spec='my.yaml'")
        return cls(**options)

    def keywords(self) -> dict[str, Any]:
        """Return the options as the keyword arguments of `gym.make`.

        >>> EnvOptions(spec="terminal", language={"form": "change"}).keywords()["language"]
        {'form': 'change'}
        """
        return {name: getattr(self, name) for name in type(self).model_fields} | {"language": self.language.chosen()}

    def changed(self, **options: Any) -> Self:
        """Return a copy in which some options have other values.

        >>> EnvOptions(spec="terminal", levels=[2]).changed(world="scripted").levels
        [2]
        """
        return type(self)(**{**self.keywords(), **options})

    def without_model(self, world: str) -> Self:
        """Return the same tasks in a world that no language model plays.

        What shapes or samples a language world is left out, and so is the lock of the world before.

        >>> EnvOptions(spec="web", world="tiny", language={"form": "state"}).without_model("grounded").language.form
        """
        return self.model_copy(update={"world": world, "language": LanguageOptions(), "lock": None})

    def domain_spec(self) -> DomainSpec:
        """Load the spec in the dialect.

        Raises:
            SpecError: There is no such spec or no such dialect, or the spec is broken.
        """
        spec = load_spec(self.spec)
        return spec if self.dialect is None else spec.in_dialect(self.dialect)

    def tasks(self) -> TaskSource | None:
        """Return the tasks, without opening a world; None where they may come with the world.

        Raises:
            SpecError: A spec or an option is wrong.
        """
        if is_registered(self.world) or brings_tasks(self.world):
            return None
        spec = self.domain_spec()
        return self._source(spec, self._scenario_tasks(spec))

    def runner(self, world: World[Any] | None = None) -> EpisodeRunner:
        """Open the world and everything around it.

        Args:
            world: A world that is open already and is taken in place of the one that `world` names. The runner closes
                it.

        Raises:
            SpecError: A spec or an option is wrong.
            WorldNotConfigured: The domain has no such world.
            FingerprintMismatch: The world is another one than expected or locked.
        """
        spec = self.domain_spec()
        source = self.tasks()  # An error in the choice of tasks is raised before a world is opened.
        options = WorldOptions(spec, world_options=self.world_options, live=self.live, **dict(self.language))
        options.chosen_sampling()  # An error of a key is raised before a model is loaded.
        fingerprint, lock = self._pinned()
        with ExitStack() as opened:
            world = open_world(self.world, options) if world is None else world
            opened.callback(world.close)
            inner = _innermost(world)
            if not isinstance(inner, LanguageWorld) and (
                isinstance(inner, GroundedWorld | ScriptedWorld | RecordedWorld | BringsTasks)
            ):
                self._refuse_language_options()
            if isinstance(inner, BringsTasks):
                source = self._source(spec, inner.tasks)
            elif is_registered(self.world):
                source = self._source(spec, self._scenario_tasks(spec))
            if source is None:
                raise SpecError("options", "world", self.world, "a world that brings its tasks")
            if isinstance(inner, LanguageWorld) and inner.unseen is not None:
                inner.unseen.warn(source.foreseen())
            for task, file in source.own:
                refuse_idle_patterns(world, task, file)
            if fingerprint is not None:
                world.fingerprint.expect(fingerprint)
            judge = self._judge(options, inner)
            if judge is not None:
                opened.callback(judge.close)
            user = None if self.user == "script" else ModelUser(spec, open_generator(self.user))
            if user is not None:
                opened.callback(user.close)
            if isinstance(inner, BringsTasks) and self.judge in ("same", "none"):
                inner.tasks.without_judge()  # The same tasks in a language world and in the world that it is true to.
            if lock is not None:
                lock.check(spec.env_id, *_pinned(inner, judge, user), Path(str(self.lock)))
                if lock.declared:
                    log.info("%s holds; only declared: %s", self.lock, ", ".join(lock.declared))
            traces = None
            if self.traces is not None:
                locked = None if lock is None else lock.digest
                traces = TraceLogs(Path(self.traces), spec.env_id, world.fingerprint, locked)
                opened.callback(traces.close)
            runner = EpisodeRunner(
                spec,
                world,
                source,
                judge=judge,
                user=user,
                unjudged=self.judge == "none",
                max_steps=self.max_steps,
                traces=traces,
                reading=self.reading,
            )
            opened.pop_all()
        return runner

    def runner_of_truth(self, handle: str, beside: EpisodeRunner) -> EpisodeRunner:
        """Open the same tasks in a world that no language model plays, to compare the other one with it.

        A language world of AWM holds the world itself, for its verifiers. It is then one world for both runners, with
        one set of processes, and so the runner that is returned has to be closed before the other.

        Args:
            handle: The handle of the world.
            beside: The runner of these options.

        Raises:
            SpecError: An option is wrong.
            WorldNotConfigured: The domain has no such world.
        """
        inner = _innermost(beside.world)
        held = inner.truth if isinstance(inner, BringsTasks) and handle == truth_of(self.world) else None
        return self.without_model(handle).runner(held)

    def locked(self) -> Lock:
        """Return the lock of the world that these options open, which is closed again.

        Raises:
            SpecError: A spec or an option is wrong.
            WorldNotConfigured: The domain has no such world.

        >>> EnvOptions(spec="terminal", world="scripted").locked().declared
        ()
        """
        runner = self.changed(lock=None, traces=None).runner()
        try:
            return Lock.of(
                self.domain_spec().env_id, self.world, *_pinned(_innermost(runner.world), runner.judge, runner.user)
            )
        finally:
            runner.close()

    def _pinned(self) -> tuple[str | Mapping[Any, Any] | None, Lock | None]:
        """Return the fingerprint that the option `lock` asks for, or the lock that it names.

        Raises:
            SpecError: It is no fingerprint, or the file is no lock.
        """
        pinned = self.lock
        if pinned is None:
            return None, None
        if isinstance(pinned, Mapping):
            try:
                return Fingerprint.from_dict(pinned).as_dict(), None
            except (AttributeError, KeyError, TypeError) as error:
                raise SpecError("options", "lock", dict(pinned), "what `Fingerprint.as_dict` returns") from error
        if _DIGEST.fullmatch(str(pinned)):
            return str(pinned), None
        return None, Lock.read(Path(pinned))

    def _source(self, spec: DomainSpec, pool: TaskPool | None = None) -> TaskSource:
        return TaskSource(
            spec,
            names=self.families,
            levels=self.levels,
            split=self.split,
            task=self.task,
            controls=self.controls,
            pool=pool,
        )

    def _scenario_tasks(self, spec: DomainSpec) -> TaskPool | None:
        """Return the tasks of the scenarios in the user's folder; None where the option names none.

        Raises:
            SpecError: The domain plays on no scenarios, or the option holds what only another world takes.
        """
        given = dict(self.world_options or {})
        folder = given.pop("scenario", None)
        if given and not is_registered(self.world):
            name, value = next(iter(given.items()))
            raise SpecError("options", f"world_options.{name}", value, _expected_world_option(spec, str(name)))
        if folder is None:
            return None
        if not isinstance(folder, str):
            raise SpecError("options", "world_options.scenario", folder, "the path of a folder")
        pool: TaskPool = scenario_tasks_of(spec, folder)(Path(folder), spec)
        return pool

    def _refuse_language_options(self) -> None:
        for key, words in _ONLY_IN_LANGUAGE_WORLDS.items():
            if (value := getattr(self.language, key)) is not None:
                raise SpecError(
                    "options", f"language.{key}", value, f"None: only a language world {words}, not {self.world}"
                )
        if self.language.prompts is not None and self.judge in ("same", "none"):
            expected = f"None: only a language world, or a judge, reads prompts, not {self.world}"
            raise SpecError("options", "language.prompts", self.language.prompts, expected)

    def _judge(self, options: WorldOptions, world: World[Any]) -> EpisodeJudge | None:
        if not isinstance(self.judge, str):
            return FunctionJudge(self.judge)
        sampling = options.spec.sampling.sampling()
        if self.judge == "same":
            if isinstance(world, LanguageWorld):
                return RubricJudge(world.prompts, world.generator, sampling)
            return None
        if self.judge == "none":
            return None
        try:
            generator = open_generator(self.judge)
        except SpecError as error:
            if error.key != "handle":
                raise
            raise SpecError("options", "judge", self.judge, f"same, none, or {error.expected}") from error
        return RubricJudge(options.templates(), generator, sampling)


def _check_names(owner: str, options: Mapping[str, Any], beside: Sequence[str] = ()) -> None:
    """Raise an error where an option does not exist, or has its place elsewhere.

    Args:
        owner: The name of the class that was given the options.
        options: The options.
        beside: What the class takes beside them.
    """
    names = {*EnvOptions.model_fields, *beside}
    for name, value in options.items():
        if name not in names:
            instead = _ELSEWHERE.get(name, f"language={{{name!r}: …}}" if name in LanguageOptions.model_fields else "")
            raise UnknownOption(owner, name, value, names, instead)


def _expected_world_option(spec: DomainSpec, name: str) -> str:
    """Return what was expected in place of an option that the worlds of a domain do not take."""
    domain = find_domain(spec.id)
    if domain is None or domain.scenario_tasks is None:
        return f"None: only a world that brings its tasks, or one that you registered, has options in {spec.id}"
    _, sign, like = one_of(name, ["scenario"]).partition("; ")
    return f"scenario alone: only a world that brings its tasks, or one that you registered, has others{sign}{like}"


def _innermost(world: World[Any]) -> World[Any]:
    """Return the world that answers, without a recording around it."""
    return world.inner if isinstance(world, RecordingWorld) else world


def _pinned(
    world: World[Any], judge: EpisodeJudge | None, user: ModelUser | None
) -> tuple[Fingerprint, dict[str, Any]]:
    """Return what a lock pins: the parts of a world, of a judge that is not the world's model and of a model that is
    the user, and the sampling."""
    parts = dict(world.fingerprint.parts)
    itself = isinstance(world, LanguageWorld) and isinstance(judge, RubricJudge) and judge.generator is world.generator
    if judge is not None and not itself:
        parts |= {f"judge {name}": Part(value, verified) for name, (value, verified) in judge.describe().items()}
    if user is not None:
        parts |= {f"user {name}": Part(value, verified) for name, (value, verified) in user.describe().items()}
    sampling = world.sampling.as_dict() if isinstance(world, LanguageWorld) else {}
    return Fingerprint(parts), sampling
