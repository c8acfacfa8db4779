"""From a short string to a world."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentworld_gym.contracts import Generator, World
from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.documents.strict import validated
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.domain.spec import DOMAINS, DomainSpec, Form, SamplingSpec
from agentworld_gym.engines import EngineError
from agentworld_gym.engines.catalog import ENGINES
from agentworld_gym.errors import SpecError, WorldNotConfigured
from agentworld_gym.fingerprint import Fingerprint, Part, digest_of, installed
from agentworld_gym.generators import open_generator
from agentworld_gym.prompting.prompt import Profile, Prompts
from agentworld_gym.worlds.grounded import GroundedWorld
from agentworld_gym.worlds.language import Demonstrations, LanguageWorld
from agentworld_gym.worlds.recorded import RecordedWorld, RecordingWorld
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

MODELS = "vllm:MODEL, a server's URL such as http://localhost:8000/v1, or transformers:DIR"
KINDS = f"grounded, chromium (Web), tiny, {MODELS}, scripted, recorded:PATH, record:PATH+WORLD, or a registered name"

BUNDLED = Path(__file__).resolve().parent.parent / "models"

TINY_SAMPLING: Mapping[str, Any] = {"temperature": 0.0, "thinking": False, "max_tokens": 2048}
"""How a bundled model is asked; an observation may be a screen of more than a hundred elements."""

TINY_PROFILE: Profile = "compact"
"""The prompts that a bundled model reads."""


@dataclass(frozen=True)
class WorldOptions:
    """What a world needs beside its name: the domain, its prompts, and how to sample.

    `sampling` replaces fields of the spec's sampling; `profile` None takes the world's own (compact for `tiny`);
    `generator` goes to the generator's class (a server's `deadline_s`, vLLM's `max_model_len`); `form` None takes the
    world's own form of an observation (for `tiny` the change form of screens), or else the spec's; `retrieval` is the
    path of an index of recorded steps, or a mapping with `path`, `k` and `max_chars`; `ledger` says whether the world
    writes what changed in the hidden state behind each observation, and None means that it does not.
    """

    spec: DomainSpec
    profile: Profile | None = None
    prompts: Path | None = None
    system_prompt: str | None = None
    sampling: Mapping[str, Any] | None = None
    generator: Mapping[str, Any] | None = None
    form: Form | None = None
    retrieval: str | Mapping[str, Any] | None = None
    ledger: bool | None = None

    def open_generator(self, handle: str) -> Generator:
        """The generator that a handle names, with the user's options.

        Raises:
            GeneratorError: it cannot be made.
        """
        return open_generator(handle, **(self.generator or {}))

    def templates(self, profile: Profile = "full", form: Form | None = None) -> Prompts:
        """The prompt templates in use: those that the user asked for, or else those that the world prefers."""
        return Prompts(
            self.spec,
            self.prompts,
            self.profile or profile,
            self.system_prompt,
            self.form or form,
            ledger=bool(self.ledger),
        )

    def language(
        self, generator: Generator, profile: Profile = "full", form: Form | None = None, **sampling: Any
    ) -> LanguageWorld:
        """A language world over a generator, with the profile, form and sampling that it prefers.

        Raises:
            SpecError: a sampling field that does not exist, or no such index of recorded steps.
        """
        prompts = self.templates(profile, form)
        sampled = self.chosen_sampling(**sampling)
        return LanguageWorld(self.spec, prompts, generator, sampled, self._demonstrations(prompts))

    def _demonstrations(self, prompts: Prompts) -> Demonstrations | None:
        if self.retrieval is None:
            return None
        from agentworld_gym.retrieval.demonstrations import open_demonstrations

        return open_demonstrations(self.retrieval, prompts, self.prompts)

    def chosen_sampling(self, **defaults: Any) -> Sampling:
        """The spec's sampling with what the world prefers, and over both what the user asked for.

        Raises:
            SpecError: a field that does not exist, or a value that does not fit.
        """
        fields = {**self.spec.sampling.model_dump(), **defaults, **(self.sampling or {})}
        return validated(SamplingSpec, fields, "options.sampling").sampling()


WorldFactory = Callable[[WorldOptions], World[Any]]


class WorldRegistry:
    """Names that a user gave to worlds.

    >>> registry = WorldRegistry()
    >>> registry.register("mine", lambda options: ScriptedWorld())
    >>> "mine" in registry.factories
    True
    """

    def __init__(self) -> None:
        self.factories: dict[str, WorldFactory] = {}

    def register(self, name: str, factory: WorldFactory) -> None:
        """Make `world=name` call `factory(options)`; a later factory of that name replaces an earlier one.

        Raises:
            SpecError: the name could be taken for another kind of world.
        """
        if not name.isidentifier() or name in {"auto", "chromium", "grounded", "tiny", "scripted"}:
            raise SpecError("register_world", "name", name, "an identifier that is not the name of a built-in world")
        self.factories[name] = factory


REGISTRY = WorldRegistry()


def register_world(name: str, factory: WorldFactory) -> None:
    """Make `gym.make(..., world=name)` use `factory(options)`."""
    REGISTRY.register(name, factory)


def open_world(handle: str, options: WorldOptions) -> World[Any]:
    """The world that a handle names.

    Raises:
        WorldNotConfigured: the domain has no such world, or the handle names none.
        GeneratorError: its generator cannot be made.
        RecordingError: its recording cannot be read.
    """
    if handle == "auto":
        handle = os.environ.get("AGENTWORLD_WORLD") or "grounded"
    kind, _, rest = handle.partition(":")
    if handle in REGISTRY.factories:
        return REGISTRY.factories[handle](options)
    if kind == "grounded":
        return _grounded(options.spec, rest)
    if handle == "chromium":
        return _grounded(options.spec, handle)
    if handle == "scripted":
        return _scripted(options)
    if handle == "tiny":
        return _tiny(options)
    if kind in {"http", "https", "vllm", "transformers"} and rest:
        return options.language(options.open_generator(handle))
    if kind == "recorded" and rest:
        return RecordedWorld(Path(rest))
    if kind == "record" and rest:
        path, plus, inner = rest.partition("+")
        if path and plus and inner:
            return RecordingWorld(open_world(inner, options), Path(path))
    raise WorldNotConfigured(f"world={handle!r} names no world; pass {KINDS}")


def _grounded(spec: DomainSpec, variant: str) -> World[Any]:
    entry = ENGINES.get(spec.id)
    if entry is None:
        raise WorldNotConfigured(
            f"{spec.env_id} has no grounded world; pass world={MODELS}, 'scripted' or 'recorded:PATH', "
            "or set AGENTWORLD_WORLD"
        )
    if variant and variant not in entry.variants:
        known = ", ".join(f"grounded:{name}" for name in entry.variants if name) or "grounded alone"
        raise WorldNotConfigured(f"world='grounded:{variant}' does not exist for {spec.env_id}; there is {known}")
    try:
        engine = entry.load(variant or entry.variants[0])
    except EngineError as error:
        raise WorldNotConfigured(f"world='grounded:{variant}' cannot run here: {error}") from error
    actual = getattr(engine, "variant", variant)
    parts = {
        "world": Part("grounded", True),
        "engine": Part(":".join(filter(None, (spec.id, actual))), True),
        "spec": Part(spec.digest(), True),
        "scenarios": Part(_scenarios_digest((spec.id, *entry.scenarios)), True),
        "agentworld-gym": Part(installed("agentworld-gym"), True),
    }
    parts |= {library: Part(installed(library), True) for library in entry.libraries}
    parts |= {name: Part(version, True) for name, version in entry.versions(actual).items()}
    return GroundedWorld(engine, Fingerprint(parts), spec)


@lru_cache(maxsize=len(ENGINES))
def _scenarios_digest(domains: tuple[str, ...]) -> str:
    """Digest of the data that the engine's episodes are made of, as it was when it was first asked for.

    What lies beside the folders of the domains is shared by all of them.
    """
    folder = data_folder("domain_specs") / "scenarios"
    folders = [folder.iterdir(), *((folder / domain).rglob("*") for domain in domains)]
    files = sorted(path for paths in folders for path in paths if path.is_file())
    return digest_of([[path.relative_to(folder).as_posix(), path.read_bytes().hex()] for path in files])


def _scripted(options: WorldOptions) -> World[Any]:
    first = options.templates().first_observation
    parts = {"spec": Part(options.spec.digest(), True)}
    return ScriptedWorld(lambda task, actions: echo(task, actions) if actions else first(task), parts=parts)


def _tiny(options: WorldOptions) -> World[Any]:
    folder = tiny_model(options.spec.id)
    if folder is None:
        raise WorldNotConfigured(f"no small world model of {options.spec.env_id} is bundled; pass world={MODELS}")
    generator = options.open_generator(f"transformers:{folder}")
    return options.language(generator, TINY_PROFILE, tiny_form(options.spec), **TINY_SAMPLING)


def tiny_form(spec: DomainSpec) -> Form | None:
    """How a bundled model writes an observation; None is the spec's own way."""
    return "change" if spec.observation.restate else None


def tiny_model(domain: str | None = None) -> Path | None:
    """The folder of a bundled small world model, if there is one.

    Args:
        domain: what it shall know. A model of that domain alone goes before the one of all seven; None asks for that.
    """
    if domain is not None and domain not in DOMAINS:
        return None
    folders = [BUNDLED / "tiny"] if domain is None else [BUNDLED / f"tiny-{domain}", BUNDLED / "tiny"]
    return next((folder for folder in folders if (folder / "config.json").is_file()), None)


def is_bundled(handle: str) -> bool:
    """Whether the handle of a model names a bundled one, by name or by folder.

    >>> is_bundled("tiny"), is_bundled(f"transformers:{tiny_model()}"), is_bundled("transformers:runs/mine/model")
    (True, True, False)
    """
    kind, _, path = handle.partition(":")
    return handle == "tiny" or (kind == "transformers" and BUNDLED in Path(path).expanduser().resolve().parents)
