"""The small world models that the package brings along, and how each of them, or one of a user's own, is asked.

Each is a folder of `agentworld_gym/models` with a file `world.yaml` beside its weights, which says what it knows. A
further one needs a folder and no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.contracts.verdict import Told
from agentworld_gym.core.domain.spec import DomainSpec, Form, Profile, SamplingSpec
from agentworld_gym.llm.training_coverage import Seen, Unseen

BUNDLED = Path(__file__).resolve().parent.parent / "models"

CARD = "world.yaml"
"""The file in the folder of a model that says what the model knows."""

TINY = "tiny"
"""The handle that takes the bundled model of a domain. It is the name of none."""


class BundledModel(Strict):
    """What a bundled model knows, as its `world.yaml` says, and where it lies.

    >>> model = bundled_models()["tiny-android-state"]
    >>> model.domains, model.profile, model.forms
    (('android',), 'compact', {'android': 'state'})
    """

    folder: Path
    """The folder of the model. It is not written in the file."""

    domains: tuple[str, ...] = Field(min_length=1)
    """The domains that the model was trained on."""

    sessions: int | None = Field(default=None, ge=1)
    """The number of recorded sessions that the model was trained on; None where that is not known."""

    profile: Profile = "compact"
    """The prompts that the model reads."""

    forms: Mapping[str, Form] = Field(default_factory=dict)
    """How the model writes a next state, by domain; `full` where a domain is not named."""

    seen: Seen = Seen()
    """What the training data of the model held."""

    pays: Told | None = None
    """What it writes behind an observation, in a line: rewards and ends, or success too; None where it writes none."""

    sampling: Mapping[str, Any] = Field(default_factory=dict)
    """How the model samples: the fields of `agentworld_gym.core.domain.spec.SamplingSpec` that differ from those of the
    domain."""

    @field_validator("domains")
    @classmethod
    def _once(cls, domains: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(domains)) < len(domains):
            raise ValueError("each domain once")
        return domains

    @field_validator("sampling")
    @classmethod
    def _samples(cls, sampling: Mapping[str, Any]) -> Mapping[str, Any]:
        SamplingSpec.model_validate(sampling)
        return sampling

    @model_validator(mode="after")
    def _are_known(self) -> BundledModel:
        if unknown := sorted(set(self.forms).difference(self.domains)):
            raise ValueError(f"forms.{unknown[0]}: one of the domains of the model: {', '.join(self.domains)}")
        if self.profile == "full" and (stated := [domain for domain, form in self.forms.items() if form == "state"]):
            raise ValueError(f"forms.{stated[0]}: full or change, which the profile full has")
        return self

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.folder.name

    def form(self, spec: DomainSpec) -> Form:
        """Return how the model writes a next state of a domain."""
        return self.forms.get(spec.id, "full")

    @property
    def unseen(self) -> Unseen:
        """What tells of tasks and actions that the model never saw."""
        return Unseen(self.name, self.seen)

    def knows(self, spec: DomainSpec) -> bool:
        """Whether the model was trained on a domain; structured states are printed in the first dialect alone."""
        return spec.id in self.domains and (self.form(spec) != "state" or spec.speaks_first_dialect)

    def options(self, spec: DomainSpec) -> dict[str, Any]:
        """Return how the model is asked in a domain: the option `language` of `gym.make`."""
        form = self.form(spec)
        return {
            "profile": self.profile,
            **({} if form == spec.observation.form else {"form": form}),
            "sampling": dict(self.sampling),
        }

    def contrary(self, spec: DomainSpec, asked: Mapping[str, Any]) -> SpecError | None:
        """Return the error of an option that asks for what the model does not do; None where there is no such option.

        Args:
            spec: The domain.
            asked: The options `profile` and `form`; None where the user named none.
        """
        own = {"profile": self.profile, "form": self.form(spec)}
        for option, does in own.items():
            if asked.get(option) not in (None, does):
                expected = f"{does!r}, as the bundled model {self.name} was trained in {spec.env_id}"
                return SpecError("options", f"language.{option}", asked[option], expected)
        return None


def bundled_models(folder: Path = BUNDLED) -> dict[str, BundledModel]:
    """Return the models of a folder by name, in the order in which `world="tiny"` takes them.

    Specialists come first, and of these the ones in the state form.

    Raises:
        SpecError: The `world.yaml` of a model is wrong.

    >>> list(bundled_models())[-1]
    'tiny-search'
    """
    cards = (path for path in folder.glob(f"*/{CARD}") if (path.parent / "config.json").is_file())
    models = [_read(path) for path in cards]
    models.sort(key=lambda model: (len(model.domains), not model.forms, model.name))
    return {model.name: model for model in models}


def carded_model(handle: str) -> BundledModel | None:
    """Return what the card in the folder of a handle says of its model; None where there is no such folder or card.

    >>> carded_model(f"transformers:{tiny_model('terminal')}").forms
    {'terminal': 'state'}
    >>> carded_model("http://localhost:8000/v1") is None
    True

    Raises:
        SpecError: The card is wrong.
    """
    if handle.startswith("worldbook:"):  # The model behind a book.
        handle = handle.partition("+")[2]
    kind, _, path = handle.partition(":")
    if kind not in ("transformers", "vllm") or not path:
        return None
    card = Path(path).expanduser() / CARD
    return _read(card.resolve()) if card.is_file() else None


def _read(path: Path) -> BundledModel:
    said = read_yaml(path)
    if not isinstance(said, dict):
        raise SpecError(path, "file", said, "keys such as `domains`")
    if "folder" in said:
        raise SpecError(path, "folder", said["folder"], "no such key: the folder is that of the file")
    return validated(BundledModel, {**said, "folder": path.parent}, path)


def bundled_model(name: str, spec: DomainSpec, asked: Mapping[str, Any]) -> BundledModel:
    """Return the bundled model that plays a domain.

    `tiny` takes the first that knows the domain. Any other name takes that model.

    Args:
        name: `tiny`, or the name of a model.
        spec: The domain.
        asked: The options `profile` and `form`; None where the user named none.

    Raises:
        WorldNotConfigured: No such model knows the domain, or the dialect in which it is spoken.
        SpecError: The options ask for what the model does not do.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> bundled_model("tiny", load_spec("android"), {}).name
    'tiny-android-state'
    >>> bundled_model("tiny", load_spec("android"), {"form": "change"})
    Traceback (most recent call last):
    agentworld_gym.base.errors.SpecError: options: language.form: got 'change', expected 'state', as the bundled model \
tiny-android-state was trained in AgentWorld/Android-v0
    """
    models = bundled_models()
    named = [model for model in models.values() if name in (TINY, model.name) and spec.id in model.domains]
    if not named:
        raise WorldNotConfigured(f"world={name!r} does not know {spec.env_id}; {_there_are(models)}")
    if not spec.speaks_first_dialect:
        known = f"no small model knows the dialect {spec.dialect!r} of {spec.env_id}"
        raise WorldNotConfigured(f"world={name!r}: {known}; {named[0].name} knows the first one, without a `dialect`")
    model = named[0]
    if (error := model.contrary(spec, asked)) is not None:
        raise error
    return model


def _there_are(models: Mapping[str, BundledModel]) -> str:
    told = "; ".join(f"{name} for {', '.join(model.domains)}" for name, model in models.items())
    return f"bundled are: {told}" if told else "no small world model is bundled"


def tiny_model(domain: str) -> Path | None:
    """Return the folder of the model that `world="tiny"` takes in a domain, if there is one."""
    return next((model.folder for model in bundled_models().values() if domain in model.domains), None)


def named_model(handle: str) -> BundledModel | None:
    """Return the bundled model that the handle of a model names, by its name or by its folder; None for another model.

    >>> named_model("tiny-search").name, named_model(f"transformers:{tiny_model('terminal')}").name
    ('tiny-search', 'tiny-terminal-state')
    >>> named_model("transformers:runs/mine/model") is None
    True
    """
    models = bundled_models()
    kind, _, path = handle.partition(":")
    if kind != "transformers" or not path:
        return models.get(handle)
    folder = Path(path).expanduser().resolve()
    return next((model for model in models.values() if model.folder == folder), None)


def sessions_of(handle: str, spec: DomainSpec) -> int | None:
    """Return how many recorded sessions the model of a world was trained on; None where that is not known.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> sessions_of("tiny", load_spec("web")), sessions_of("grounded", load_spec("web"))
    (7300, None)
    """
    if handle == TINY:
        return next((one.sessions for one in bundled_models().values() if one.knows(spec)), None)
    model = named_model(handle)
    return None if model is None else model.sessions
