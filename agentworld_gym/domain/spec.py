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

import jsonschema_rs
from jinja2 import TemplateSyntaxError
from pydantic import Field, field_validator, model_validator

from agentworld_gym.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.documents.keys import nearest
from agentworld_gym.documents.strict import Strict, read_yaml, validated
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.domain.task import Task, load_task
from agentworld_gym.errors import MissingFile, SpecError
from agentworld_gym.fingerprint import digest_of
from agentworld_gym.registration import ENV_IDS

DOMAINS = ("mcp", "search", "terminal", "swe", "web", "desktop", "android")

Syntax = Literal[
    "keystroke_batch", "command_line", "tool_call", "function_call", "json_object", "python_code", "plain_text"
]
"""Ways an agent may write an action: a JSON array of keystrokes; a command line; `{"name": …, "arguments": {…}}`;
a call such as `click('12')`; a JSON object; Python source; any text."""


Form = Literal["full", "change"]
"""How a world model writes the next state: in full, or as the change of the state before."""

Profile = Literal["full", "compact"]
"""How much a prompt explains: everything, or what a small trained model needs."""
"""How a world model writes the next state: all of it, or the change against the current one."""


class ActionSpec(Strict):
    """How an agent writes an action, and how the world is told.

    `syntax` is tried in order. `schema` (JSON Schema) tests what was parsed; `fence` is the language of the block the
    world model sees; `arguments_as_string` marks tool calls whose arguments travel as a JSON string. `finish_when`
    maps the domain's own way of saying "done" to `finish`; `examples` are parseable actions that `sample()` draws from.
    `errors` is a Jinja text over `problem` and `raw`: what the real counterpart prints for an action it cannot read.
    """

    syntax: tuple[Syntax, ...] = Field(min_length=1)
    json_schema: dict[str, Any] = Field(default_factory=dict, alias="schema")
    fence: Literal["json", "text", "python", "xml"] = "text"
    arguments_as_string: bool = False
    tools: tuple[dict[str, Any], ...] = ()
    finish_when: tuple[FinishRule, ...] = ()
    examples: tuple[str, ...] = Field(min_length=1)
    errors: str = "Error: {{ problem }}"
    description: str = ""

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            jsonschema_rs.validator_for(schema)
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise ValueError(f"a JSON Schema ({str(error).splitlines()[0]})") from error
        return schema


class FinishRule(Strict):
    """An action that means `finish` in this domain: every key of `when` must match; `answer` names the key to keep.

    `text` matches the whole raw action instead; `confirm` sends it to the world once, and finishes when repeated.
    """

    text: str | None = None
    when: dict[str, Any] = Field(default_factory=dict)
    answer: str | None = None
    confirm: bool = False


class ObservationSpec(Strict):
    """What the world shows.

    `form` is how a world model writes it: `full`, or as the `change` against the current state (see
    `agentworld_gym.prompting.changes`); agents, histories, judges and traces have the full one either way. `first` is a
    Jinja text over `task`: the observation before any action. `restate` shows the current state again in
    every turn (the GUI domains). `output` is a regular expression whose group `output` is what a probe tests; without
    one a probe tests the whole observation. `kinds` names kinds of content for people and judges.
    """

    form: Form = "full"
    first: str = "{{ task.first_observation or '' }}"
    restate: bool = False
    output: str | None = None
    kinds: dict[str, Literal["deterministic", "pre-existing", "metadata"]] = Field(default_factory=dict)
    examples: tuple[str, ...] = ()

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


class Limits(Strict):
    """Bounds of an episode: steps, characters of one action and one observation, tokens of the model's context."""

    max_steps: int = Field(default=30, ge=1)
    max_action_chars: int = Field(default=4000, ge=1)
    max_observation_chars: int = Field(default=16000, ge=1)
    context_tokens: int = Field(default=32768, ge=256)


class SamplingSpec(Strict):
    """How the world model samples by default."""

    temperature: float = Field(default=0.6, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    max_tokens: int = Field(default=4096, ge=1)
    thinking: bool = True
    stop: tuple[str, ...] = ()

    def sampling(self) -> Sampling:
        """The typed configuration that generators take."""
        return Sampling(**self.model_dump())


class RewardSpec(Strict):
    """Weights: reward = checks x score + rubric x judged score - step_cost."""

    checks: float = Field(default=1.0, ge=0)
    rubric: float = Field(default=0.0, ge=0)
    step_cost: float = Field(default=0.0, ge=0)


class OutcomeSpec(Strict):
    """Which of the state that an episode leaves is compared with the one that the task's expert leaves.

    All are patterns over a machine's flat fields: `*` is anything but `/`, `**` anything at all, a part `#` a number.
    `free` fields count for nothing (what is on the screen, the clock). Of `free_values` it counts that they were
    changed, made or removed where the expert does so; what they hold is left to the task's checks (the words of a
    letter), unless the expert writes there what the instruction quotes. Fields of `free_made` may be made where there
    was nothing (a further test). `rows` are names of rows or things that are numbered as they are made, so that their
    number says nothing, and `numbers` the fields that hold such numbers. A task adds to the first two under the same
    names.
    """

    free: tuple[str, ...] = ()
    free_values: tuple[str, ...] = ()
    free_made: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


class Control(Strict):
    """A perturbation of the world: the sentence a language world is told.

    `free` are patterns of fields that count for nothing where it is in force, beside those of `OutcomeSpec`.
    """

    sentence: str = Field(min_length=1)
    free: tuple[str, ...] = ()


class TaskSources(Strict):
    """Where tasks come from: names of seeded families, and globs of YAML files beside the spec."""

    families: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class DomainSpec(Strict):
    """One domain, whole.

    >>> load_spec("terminal").env_id
    'AgentWorld/Terminal-v0'
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    env_id: str = Field(pattern=r"^AgentWorld/[A-Za-z0-9]+-v\d+$")
    title: str
    description: str
    prompts: str = Field(min_length=1)
    action: ActionSpec
    observation: ObservationSpec = ObservationSpec()
    limits: Limits = Limits()
    sampling: SamplingSpec = SamplingSpec()
    reward: RewardSpec = RewardSpec()
    outcome: OutcomeSpec = OutcomeSpec()
    rubric: dict[str, str] = Field(default_factory=dict)
    controls: dict[str, Control] = Field(default_factory=dict)
    tasks: TaskSources = TaskSources()
    path: Path = Path()

    @model_validator(mode="after")
    def _templates_compile(self) -> DomainSpec:
        for key, text in (("action.errors", self.action.errors), ("observation.first", self.observation.first)):
            try:
                BoundedEnvironment().parse(text)
            except TemplateSyntaxError as error:
                raise ValueError(f"{key}: a Jinja template ({error.message})") from error
        return self

    def digest(self) -> str:
        """Digest of everything but where the file lies and which tasks it names."""
        return digest_of(self.model_dump(mode="json", exclude={"path", "tasks", "description"}))

    def handwritten_tasks(self) -> tuple[Task, ...]:
        """The tasks in YAML files, sorted by path.

        Raises:
            SpecError: a task is broken, or a glob matches nothing.
        """
        found = []
        for glob in self.tasks.files:
            paths = sorted(self.path.parent.glob(glob))
            if not paths:
                raise SpecError(self.path, "tasks.files", glob, "a glob that matches at least one file")
            found += [load_task(path, self.id) for path in paths]
        return tuple(found)


ActionSpec.model_rebuild()


def load_spec(source: str) -> DomainSpec:
    """A spec: a domain's by its name or the id of its environment (read once), or a YAML file's by its path.

    >>> load_spec("terminal") is load_spec("AgentWorld/Terminal-v0")
    True

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    domain = ENV_IDS.get(str(source).removeprefix("agentworld_gym:"), source)
    if domain in DOMAINS:
        return _shipped(domain)
    if not Path(source).exists():
        raise MissingFile(source, f"one of {', '.join(nearest(source, DOMAINS))}, or the path of a YAML spec")
    return _read(Path(source))


@lru_cache(maxsize=len(DOMAINS))
def _shipped(domain: str) -> DomainSpec:
    return _read(data_folder("domain_specs") / f"{domain}.yaml")


def _read(path: Path) -> DomainSpec:
    data = read_yaml(path)
    if not isinstance(data, Mapping):
        raise SpecError(path, "the whole document", type(data).__name__, "a mapping")
    return validated(DomainSpec, {**data, "path": path.resolve()}, path)
