"""Worlds by handle: short strings, so that the options of an environment stay JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.base.fingerprint import Part
from agentworld_gym.core.contracts import World
from agentworld_gym.core.registration import BUILT_IN_WORLDS, all_domains
from agentworld_gym.llm.bundled_models import TINY, bundled_model, bundled_models, carded_model
from agentworld_gym.llm.worldbook import BookFirst, Worldbook, read_worldbook
from agentworld_gym.llm.worldbook.pages import must_be_of
from agentworld_gym.worlds.grounded_variants import MODELS, engine_variants, open_grounded
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.live import open_live
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.own_tasks import (
    ADOPTED,
    RECORDED,
    TASKS,
    is_live,
    language_part,
    opener_of,
    schemes,
    unfolded,
)
from agentworld_gym.worlds.recorded_tasks import open_recorded_tasks
from agentworld_gym.worlds.recordings.recorded_world import RecordedWorld
from agentworld_gym.worlds.recordings.recording_world import RecordingWorld
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

WorldFactory = Callable[[WorldOptions], World[Any]]


class WorldRegistry:
    """The names that a user gave to worlds.

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
            SpecError: The name could be taken for another kind of world.
        """
        if not name.isidentifier() or name in BUILT_IN_WORLDS or name in engine_variants():
            raise SpecError("register_world", "name", name, "an identifier that is not the name of a built-in world")
        self.factories[name] = factory


REGISTRY = WorldRegistry()


def kinds() -> str:
    """Return the handles that there are, for messages.

    >>> kinds().partition(",")[0], "awm:DIR" in kinds()
    ('grounded', True)
    """
    variants = [f"{name} ({', '.join(map(_short, ids))})" for name, ids in engine_variants().items()]
    own = [
        f"{scheme}:DIR or {scheme}:DIR+WORLD ({_short(all_domains()[domain].env_id)})"
        for scheme, domain in schemes().items()
    ]
    recordings = ("recorded:PATH", "record:PATH+WORLD", "nearest:FILE", "worldbook:FILE or worldbook:FILE+WORLD")
    named = ("grounded", *variants, TINY, MODELS, "live or live:FILE", *own, "scripted", *recordings)
    return ", ".join((*named, "the folder `world` that `agentworld adopt` left", "or a registered name"))


def _short(env_id: str) -> str:
    return env_id.partition("/")[2].rpartition("-v")[0]


def register_world(name: str, factory: WorldFactory) -> None:
    """Make `gym.make(..., world=name)` use `factory(options)`, whose argument is a `WorldOptions`.

    Raises:
        SpecError: The name could be taken for another kind of world.
    """
    REGISTRY.register(name, factory)


def is_registered(handle: str) -> bool:
    """Return whether a handle names a registered world, or a recording of one.

    >>> is_registered("grounded"), is_registered("record:a.jsonl+scripted")
    (False, False)
    """
    if handle == "auto":
        handle = os.environ.get("AGENTWORLD_WORLD", "")
    inner = handle.partition("+")[2] if handle.startswith(("record:", "worldbook:")) else handle
    return inner in REGISTRY.factories


def open_world(handle: str, options: WorldOptions) -> World[Any]:
    """Open the world that a handle names.

    Args:
        handle: The handle: `grounded`, `live`, `live:FILE` and either with `+WORLD` (see `agentworld_gym.worlds.live`),
            the variant of an engine such as `chromium` (Web), `tiny` or the name of a bundled model, `scripted`,
            `vllm:MODEL`, a server's URL, `transformers:DIR`, `nearest:FILE`, `worldbook:FILE` or `worldbook:FILE+WORLD`
            (the book answers what it is sure of), `awm:DIR` (MCP), `awm:DIR+WORLD` with a language world,
            `tasks:FILE+WORLD` (see `agentworld_gym.worlds.recorded_tasks`), a folder that `agentworld adopt` left,
            `recorded:PATH`, `record:PATH+WORLD`, a registered name, or `auto`, which is the environment variable
            AGENTWORLD_WORLD or else `grounded`.
        options: The domain, and how a language world of it is prompted and sampled.

    Raises:
        WorldNotConfigured: The domain has no such world, or the handle names none.
        SpecError: Options ask of a bundled model what it does not do.
        GeneratorError: The world's generator cannot be made.
        RecordingError: The world's recording cannot be read.
    """
    if handle == "auto":
        handle = os.environ.get("AGENTWORLD_WORLD") or "grounded"
    handle = unfolded(handle)
    kind, _, rest = handle.partition(":")
    if handle in REGISTRY.factories:
        return REGISTRY.factories[handle](options)
    if is_live(handle):
        return open_live(handle, options, open_world)
    if handle.startswith(TASKS):
        return open_recorded_tasks(handle, options, open_world)
    if kind == "grounded":
        return open_grounded(options.spec, rest, options.scenario)
    if handle in engine_variants():
        return open_grounded(options.spec, handle, options.scenario)
    if handle == "scripted":
        return _scripted(options)
    if handle == TINY or handle in bundled_models():
        return _bundled(handle, options)
    if kind in {"http", "https", "vllm", "transformers"} and rest:
        return _language(handle, options)
    if kind == "nearest" and rest:
        return _nearest(handle, options)
    if kind == "worldbook" and rest:
        file, plus, inner = rest.partition("+")
        book = read_worldbook(file)
        return (
            _book_first(book, open_world(language_part(inner), options), handle) if plus else options.by_worldbook(book)
        )
    if kind == "recorded" and rest:
        return RecordedWorld(Path(rest))
    if kind == "record" and rest:
        path, plus, inner = rest.partition("+")
        if path and plus and inner:
            return RecordingWorld(open_world(inner, options), Path(path))
    opener = opener_of(kind) if rest else None
    if opener is not None:
        return opener(handle, rest, options)
    raise WorldNotConfigured(f"world={handle!r} {_wrong(handle)}; pass {kinds()}")


def _wrong(handle: str) -> str:
    """Return what is wrong with a handle that names no world."""
    path = Path(handle).expanduser()
    if not handle or ":" in handle or not path.exists():
        return "names no world" + (", and no folder that is there" if "/" in handle else "")
    if path.is_file():
        return f"is a file; where it configures a live system, say live:{handle}"
    if unfolded(f"./{handle}") != f"./{handle}":
        return f"is a folder; say ./{handle}"
    return f"is a folder without {ADOPTED} or {RECORDED}, and so no adopted world"


def _scripted(options: WorldOptions) -> World[Any]:
    first = options.templates().first_observation
    parts = {"spec": Part(options.spec.digest(), True)}
    return ScriptedWorld(lambda task, actions: echo(task, actions) if actions else first(task), parts=parts)


def _language(handle: str, options: WorldOptions) -> World[Any]:
    """Open a language world; a model in a folder with a card is asked as the card says, where no option differs."""
    card = carded_model(handle)
    if card is None or not card.knows(options.spec):
        return options.language(options.open_generator(handle))
    # The forms of a card are about the prompts that it names.
    form = card.form(options.spec) if options.profile in (None, card.profile) else None
    return options.language(options.open_generator(handle), card.profile, form, card.unseen, card.pays, **card.sampling)


def _book_first(book: Worldbook, world: World[Any], handle: str) -> World[Any]:
    """Return a language world in which a worldbook answers what it is sure of.

    Raises:
        SpecError: The book is one of another domain or dialect.
        WorldNotConfigured: It is no language world that writes whole observations, or only one of both tells rewards
            and ends.
    """
    try:
        form = world.prompts.form if isinstance(world, LanguageWorld) else None
        if not isinstance(world, LanguageWorld) or form != "full":
            expected = "a language world that writes whole observations, as in worldbook:FILE+transformers:DIR"
            written = f"; this one writes in the form {form!r}" if form else ""
            raise WorldNotConfigured(f"world={handle!r}: behind the plus stands {expected}{written}")
        must_be_of(book, world.spec)
        if book.pays != world.pays:
            told = f"the book tells {book.pays or 'no reward'} and the model {world.pays or 'no reward'}"
            raise WorldNotConfigured(f"world={handle!r}: {told}, expected the same of both")
    except BaseException:
        world.close()
        raise
    return replace(world, generator=BookFirst(book, world.generator))


def _nearest(handle: str, options: WorldOptions) -> World[Any]:
    """Return a world that a table plays; it is asked like the bundled model of the domain, if options say nothing."""
    model = next((model for model in bundled_models().values() if model.knows(options.spec)), None)
    generator = options.open_generator(handle)
    if model is None:
        return options.language(generator, "compact", thinking=False)
    return options.language(generator, model.profile, model.form(options.spec), **{**model.sampling, "reasks": 0})


def _bundled(name: str, options: WorldOptions) -> World[Any]:
    asked = {"profile": options.profile, "form": options.form}
    model = bundled_model(name, options.spec, asked)
    generator = options.open_generator(f"transformers:{model.folder}")
    return options.language(generator, model.profile, model.form(options.spec), model.unseen, **model.sampling)
