"""What a domain is: one YAML file, validated at load.

A spec holds everything about a domain that is not a prompt: how an agent writes an action, what an observation is, the
limits, sampling, rewards, controls and where tasks come from. Its JSON Schema is for editors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import TemplateSyntaxError
from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.domain.action_spec import ActionSpec
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.task import Task, load_task
from agentworld_gym.core.registration import all_domains, domain_of_env, find_domain

Form = Literal["full", "change", "state"]
"""How a world model writes the next state: the whole screen, its change against the current one, or the change of the
structured state from which the domain's view prints the screen."""

Profile = Literal["full", "compact"]
"""How much a prompt explains: everything, or what a small trained model needs."""


_WITH_DIALECT = re.compile(r"(?s)(?P<source>.+):(?P<dialect>[a-z][a-z0-9-]*)")


class ObservationSpec(Strict):
    """What the world shows."""

    form: Form = "full"
    """How a world model writes an observation: `full`, as the `change` against the current screen (see
    `agentworld_gym.llm.prompting.changes`), or as the change of the structured `state` (see
    `agentworld_gym.llm.prompting.state_changes`). Agents, judges and traces have the full observation in any case."""

    first: str = "{{ task.first_observation or '' }}"
    """A Jinja text over `task`: the observation before the first action."""

    output: str | None = None
    """A regular expression whose group `output` is what a probe tests; without one a probe tests all that is shown."""

    kinds: dict[str, Literal["deterministic", "pre-existing", "metadata"]] = Field(default_factory=dict)
    """Kinds of content by name, for people and judges."""

    examples: tuple[str, ...] = ()
    """Observations as the world shows them."""

    @field_validator("output")
    @classmethod
    def _has_group(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                groups = re.compile(pattern).groupindex
            except re.error as error:
                raise ValueError(f"a regular expression ({error})") from error
            if "output" not in groups:
                raise ValueError("a regular expression with a group named `output`")
        return pattern


class TurnSpec(Strict):
    """What the user messages of a world model's full prompt show beside the action."""

    instruction: Literal["none", "first"] = "first"
    """Whether the first turn shows what the agent was asked to do."""

    state: Literal["none", "first", "every"] = "first"
    """Which turns show what was on the screen when the agent acted."""

    @property
    def restates(self) -> bool:
        """Whether every turn shows the current state, as the graphical domains need."""
        return self.state == "every"


class Limits(Strict):
    """The bounds of an episode."""

    max_steps: int = Field(default=30, ge=1)
    """Steps of an episode, where its task does not say otherwise."""

    max_action_chars: int = Field(default=4000, ge=1)
    """Characters of one action."""

    max_observation_chars: int = Field(default=16000, ge=1)
    """Characters of one observation of a world model."""

    context_tokens: int = Field(default=32768, ge=256)
    """Tokens of a world model's prompt from which on no further step is asked for."""


class SamplingSpec(Strict):
    """How a world model samples by default; see `agentworld_gym.core.domain.sampling.Sampling`."""

    temperature: float = Field(default=0.6, ge=0)
    """The temperature; 0 is greedy."""

    top_p: float | None = Field(default=None, gt=0, le=1)
    """The probability mass that tokens are drawn from. None leaves it to a server, and means all of it to an engine in
    this process."""

    top_k: int = Field(default=0, ge=0)
    """How many of the likeliest tokens one is drawn from; 0 is no limit."""

    max_tokens: int = Field(default=32768, ge=1)
    """The most tokens of one completion, thinking included. It is a limit and reserves nothing: a completion also ends
    where the model's context does, and a server is asked for no more than it can hold."""

    thinking: bool = True
    """Whether the chat template lets the model think before it answers."""

    stop: tuple[str, ...] = ()
    """Texts that end a completion."""

    reasks: int = Field(default=0, ge=0)
    """How many times the model is asked again where its answer cannot be read: it is empty, cut off or malformed."""

    def sampling(self) -> Sampling:
        """Return the configuration that generators take."""
        return Sampling(**self.model_dump())


class RewardSpec(Strict):
    """How a reward is put together: `checks` times the score, plus `rubric` times the judged score, minus
    `step_cost`."""

    checks: float = Field(default=1.0, ge=0)
    """The weight of the task's checks."""

    rubric: float = Field(default=0.0, ge=0)
    """The weight of the judge's scores."""

    step_cost: float = Field(default=0.0, ge=0)
    """What every step costs."""


class OutcomeSpec(Strict):
    """How the state that an episode leaves may differ from the state that the expert of its task leaves.

    Every entry is a pattern over the flat fields of a machine's state: `*` stands for anything but `/`, `**` for
    anything at all, and a part `#` for a number.
    """

    free: tuple[str, ...] = ()
    """Fields that are not compared, such as what is on the screen, or the clock. A task may add some of its own."""

    free_values: tuple[str, ...] = ()
    """Fields that have to be changed, made or removed where the expert does so, but may hold something else, such as
    the words of a letter, unless the expert writes there what the instruction quotes. A task may add some of its
    own."""

    free_made: tuple[str, ...] = ()
    """Fields that may be made where there was nothing, such as a further test."""

    rows: tuple[str, ...] = ()
    """Names of rows or things that are numbered as they are made, so that their number means nothing."""

    numbers: tuple[str, ...] = ()
    """Fields that hold such numbers."""


class Control(Strict):
    """A fault of the world that a strength turns on."""

    sentence: str = Field(min_length=1)
    """The sentence about the fault in the prompt of a language world: a Jinja text over `strength`."""

    free: tuple[str, ...] = ()
    """Fields that are not compared while the fault is in force, beside those of `OutcomeSpec.free`."""


class DialectSpec(Strict):
    """What a dialect of a domain's wire format changes of the spec: each key that is given replaces the spec's own.

    A dialect is a way of writing the same actions and of showing the same observations.
    """

    action: dict[str, Any] = Field(default_factory=dict)
    """Keys of `ActionSpec`."""

    observation: dict[str, Any] = Field(default_factory=dict)
    """Keys of `ObservationSpec`."""


class TaskSources(Strict):
    """Where the tasks of a domain come from."""

    families: tuple[str, ...] = ()
    """The names of families, each of which makes a task of every seed."""

    files: tuple[str, ...] = ()
    """Globs of YAML files with hand-written tasks, from the folder of the spec."""


class DomainSpec(Strict):
    """All of a domain but its prompts.

    >>> load_spec("terminal").env_id
    'AgentWorld/Terminal-v0'
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """The name of the domain, as `terminal`."""

    env_id: str = Field(pattern=r"^AgentWorld/[A-Za-z0-9]+-v\d+$")
    """The id under which Gymnasium makes its environments."""

    title: str
    """The name that people read."""

    description: str
    """The description of the domain in the prompt of an agent."""

    prompts: str = Field(min_length=1)
    """The folder of the templates."""

    action: ActionSpec
    """How an agent writes an action."""

    observation: ObservationSpec = ObservationSpec()
    """What the world shows."""

    turn: TurnSpec = TurnSpec()
    """What a turn of a world model's prompt shows beside the action."""

    limits: Limits = Limits()
    """The bounds of an episode."""

    sampling: SamplingSpec = SamplingSpec()
    """How a world model samples."""

    reward: RewardSpec = RewardSpec()
    """How a reward is put together."""

    outcome: OutcomeSpec = OutcomeSpec()
    """How the state that an episode leaves may differ from the expert's."""

    rubric: dict[str, str] = Field(default_factory=dict)
    """What a judge scores, by the name of the score."""

    controls: dict[str, Control] = Field(default_factory=dict)
    """The faults that a task may put in force, by name."""

    tasks: TaskSources = TaskSources()
    """Where the tasks come from."""

    dialects: dict[str, DialectSpec] = Field(default_factory=dict)
    """The dialects of the domain by name. The first one is that of the spec itself and changes nothing."""

    dialect: str = ""
    """The dialect in force; it is empty in a domain that names none."""

    path: Path = Path()
    """The file of the spec."""

    @model_validator(mode="before")
    @classmethod
    def _first_dialect(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "dialect" not in data and isinstance(data.get("dialects"), Mapping):
            return {**data, "dialect": next(iter(data["dialects"]), "")}
        return data

    @model_validator(mode="after")
    def _templates_compile(self) -> DomainSpec:
        for key, text in (("action.errors", self.action.errors), ("observation.first", self.observation.first)):
            try:
                _check_template(text)
            except TemplateSyntaxError as error:
                raise ValueError(f"{key}: a Jinja template ({error.message})") from error
        return self

    @property
    def speaks_first_dialect(self) -> bool:
        """Whether the dialect in force is the first one, in which checks and screens are written."""
        return self.dialect == next(iter(self.dialects), "")

    @property
    def source(self) -> str:
        """The id of the domain; behind it a colon and the dialect, where that is not the first one.

        >>> load_spec("swe").source, load_spec("swe:cli").source, load_spec("swe:claude-code").source
        ('swe', 'swe', 'swe:claude-code')
        """
        return self.id if self.speaks_first_dialect else f"{self.id}:{self.dialect}"

    def in_every_dialect(self) -> list[DomainSpec]:
        """Return the spec in each of its dialects, the one in force first."""
        return [self, *(self.in_dialect(name) for name in self.dialects if name != self.dialect)]

    def in_dialect(self, name: str) -> DomainSpec:
        """Return the spec in another dialect.

        Raises:
            SpecError: The domain has no such dialect, or the dialect does not fit the spec.

        >>> load_spec("terminal").in_dialect("")
        Traceback (most recent call last):
        agentworld_gym.base.errors.SpecError: ...
        """
        if name == self.dialect and name:
            return self
        if name not in self.dialects:
            known = ", ".join(nearest(name, list(self.dialects)))
            raise SpecError(
                self.path, "dialect", name, f"one of: {known}" if known else "no dialect: the domain has none"
            )
        if not self.speaks_first_dialect:
            shipped = find_domain(self.id) is not None and _of_domain(self.id).path == self.path
            return load_spec(self.id if shipped else str(self.path)).in_dialect(name)
        changes = self.dialects[name]
        data = self.model_dump(by_alias=True)
        for part in ("action", "observation"):
            data[part] = {**data[part], **getattr(changes, part)}
        return validated(DomainSpec, {**data, "dialect": name}, self.path)

    def digest(self) -> str:
        """Return the digest of all but the description, the path of the file and the tasks that it names."""
        data = self.model_dump(mode="json", exclude={"path", "tasks", "description"})
        for action in (data["action"], *(changes["action"] for changes in data["dialects"].values())):
            if "few_shots" in action:  # Older digests hold this key and the folder under other names, and still count.
                place = action.pop("few_shots")
                place = place.replace("few_shots/", "demonstrations/", 1) if isinstance(place, str) else place
                action["demonstrations"] = place
        return digest_of(data)

    def handwritten_tasks(self) -> tuple[Task, ...]:
        """Read the tasks in YAML files, sorted by path.

        Raises:
            SpecError: A task is broken, or a glob matches nothing.
        """
        tasks = []
        for glob in self.tasks.files:
            paths = sorted(self.path.parent.glob(glob))
            if not paths:
                raise SpecError(self.path, "tasks.files", glob, "a glob that matches at least one file")
            tasks += [load_task(path, self.id) for path in paths]
        return tuple(tasks)


def load_spec(source: str) -> DomainSpec:
    """Load the spec of a domain, which is read once, or of a YAML file.

    Args:
        source: The name of a domain, the id of its environment, or the path of a YAML file; a colon and the name of a
            dialect may follow.

    >>> load_spec("terminal") is load_spec("AgentWorld/Terminal-v0")
    True

    Raises:
        SpecError: There is no such spec, or it is broken: the error names file, key, value and what was expected.
    """
    if (match := _WITH_DIALECT.fullmatch(str(source))) and not Path(source).exists():
        return load_spec(match["source"]).in_dialect(match["dialect"])
    domain = domain_of_env(str(source)) or str(source)
    if find_domain(domain) is not None:
        return _of_domain(domain)
    if not Path(source).exists():
        raise MissingFile(
            source, f"one of {', '.join(nearest(source, list(all_domains())))}, or the path of a YAML spec"
        )
    return _read(Path(source))


@lru_cache(maxsize=64)
def _check_template(text: str) -> None:
    """Check that a text is a Jinja template; a spec is validated again by every model that holds it.

    Raises:
        jinja2.TemplateSyntaxError: It is none.
    """
    BoundedEnvironment().parse(text)


@lru_cache(maxsize=64)
def _of_domain(name: str) -> DomainSpec:
    """Return the spec of a domain.

    Raises:
        SpecError: It is broken, or has other names than the domain.
    """
    domain = find_domain(name)
    assert domain is not None
    path = domain.spec or data_folder("domain_specs") / f"{name}.yaml"
    spec = _read(path)
    for key, named, registered in (("id", spec.id, domain.id), ("env_id", spec.env_id, domain.env_id)):
        if named != registered:
            raise SpecError(path, key, named, f"{registered}, as the domain is registered")
    return spec


def _read(path: Path) -> DomainSpec:
    data = read_yaml(path)
    if not isinstance(data, Mapping):
        raise SpecError(path, "the whole document", type(data).__name__, "a mapping")
    return validated(DomainSpec, {**data, "path": path.resolve()}, path)
