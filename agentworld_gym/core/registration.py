"""Domains: what one is made of, which there are, and the ids under which `gym.make` knows them."""

from __future__ import annotations

import importlib
import re
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

import gymnasium as gym

from agentworld_gym.base.errors import SpecError

ENTRY_POINTS = "agentworld_gym.domains"
"""The group of entry points in which an installed package names its domains."""

SHIPPED = "agentworld_gym.domains"
"""The package that holds a folder for every domain that ships."""

BUILT_IN_WORLDS = frozenset(
    {
        "auto",
        "grounded",
        "http",
        "https",
        "live",
        "nearest",
        "record",
        "recorded",
        "scripted",
        "tiny",
        "transformers",
        "vllm",
        "worldbook",
    }
)
"""The words with which the handles of worlds begin that belong to no domain."""

CUSTOM_ID = "AgentWorld/Custom-v0"
"""The id of the environment that plays any spec."""

_ID = re.compile(r"[a-z][a-z0-9_]*")
_ENV_ID = re.compile(r"AgentWorld/[A-Za-z0-9]+-v\d+")
_TEXTS = ("agentworld_gym.envs.env:AgentWorldEnv", "agentworld_gym.envs.vector:AgentWorldVectorEnv")
_MENUS = ("agentworld_gym.envs.menu_env:menu_env", "agentworld_gym.envs.menu_env:menu_vector_env")


@dataclass(frozen=True, kw_only=True, slots=True)
class Domain:
    """What a domain is made of: its spec, and code by reference, none of which is imported before it is used.

    A reference is `module:name`. All references are optional: a domain without an engine has no grounded world, one
    without families has hand-written tasks only, one without a screen is text.

    >>> terminal = find_domain("terminal")
    >>> terminal.env_id, terminal.engine is not None, terminal.screen is None
    ('AgentWorld/Terminal-v0', True, True)
    """

    id: str
    """The name of the domain, such as `terminal`."""

    env_id: str
    """The id of its environments, such as `AgentWorld/Terminal-v0`."""

    spec: Path | None = None
    """The YAML file of its spec, beside which lies the folder `prompts`; None for a domain that ships."""

    official_name: str = ""
    """The name that AgentWorldBench has for the domain, where it is another one."""

    engine: str | None = None
    """A function that takes the name of a variant and returns an `agentworld_gym.core.engines.Engine`."""

    variants: tuple[str, ...] = ("",)
    """The names of the engine's variants, the default one first."""

    libraries: tuple[str, ...] = ()
    """The packages that decide what the engine shows; their versions enter the world's fingerprint."""

    versions: str | None = None
    """A function that takes the name of a variant and returns the versions of other such parts, by name."""

    scenarios: tuple[str, ...] = ()
    """Other domains that ship, whose data the engine uses beside its own."""

    worlds: Mapping[str, str] = field(default_factory=dict)
    """Functions that open further worlds of the domain, by scheme: `world="awm:worlds"` calls that of `awm` with the
    handle, the rest behind the colon, and an `agentworld_gym.worlds.options.WorldOptions`. Such a world brings its
    tasks: it is an `agentworld_gym.worlds.own_tasks.BringsTasks`."""

    live: str | None = None
    """A function that opens a user's own system for `world="live"`: it takes an `agentworld_gym.kit.live.LiveSource`,
    which holds the configuration, and returns an `agentworld_gym.kit.live.LiveEngine`."""

    scenario_tasks: str | None = None
    """The class of the tasks that lie in a user's folder, beside what the engine plays them on; called with the folder
    and the spec, it returns an `agentworld_gym.core.tasks.source.TaskPool`. Its `digest` is that of a folder."""

    content_words: str | None = None
    """A function that returns the names and words that the domain's tasks draw from lists. Trainings read those of the
    domains that ship alone: what they make must not depend on installed packages."""

    commands: tuple[str, ...] = ()
    """Functions that add the domain's own commands to the command line; each takes the `typer.Typer`."""

    view: str | None = None
    """A function that returns the `agentworld_gym.core.domain.view.View`, which prints the screens of states."""

    index: str | None = None
    """A function that returns the `agentworld_gym.core.domain.index.IndexBuilder`, which ranks and prints pages."""

    screen: str | None = None
    """A function that returns the `agentworld_gym.core.screens.screen.Screen`: the domain is graphical."""

    offers: str | None = None
    """A function of the text of a screen and of an instruction that returns the actions that can be done there, and
    None where the text is no screen: for dreams of screens that pay."""

    syntaxes: Mapping[str, str] = field(default_factory=dict)
    """The `agentworld_gym.core.actions.syntaxes.ActionSyntax` of each way to write an action that this domain brings,
    by the name that `action.syntax` of a spec gives."""

    programs: str | None = None
    """A function that returns the names of the programs of the domain's shell, for the prompt of an agent."""

    observations: str | None = None
    """A function that returns the `agentworld_gym.core.screens.observations.Observations`, which compares texts."""

    translations: Mapping[str, str] = field(default_factory=dict)
    """The `agentworld_gym.core.screens.observations.Translation` of each dialect that shows less than the first one."""

    families: str | None = None
    """The families of tasks by name: functions as `agentworld_gym.core.tasks.Family`."""

    composition: str | None = None
    """A function of a family's name that returns the family of the composed tasks, of levels 4 and 5, to which that
    family contributes a job."""

    control_cases: str | None = None
    """The `agentworld_gym.core.tasks.control_cases.ControlCase`s of the domain."""

    explorer: str | None = None
    """A function of a task and random numbers that returns an `agentworld_gym.agents.policies.exploring.Explorer`."""

    refusals: str | None = None
    """A function of a task and random numbers that returns an
    `agentworld_gym.agents.policies.exploring.refusals.Refusals`, who tries what cannot be done."""

    policies: Mapping[str, str] = field(default_factory=dict)
    """The policies `compute` and `free`, and `explore` and `blend` instead of those of the explorer, by name: functions
    of a task, random numbers and the probability of a slip, which return a stream of actions."""

    questions: str | None = None
    """A function of an action, as its parser reads it, and of the task's tools, which tells whether the action only
    asks: it changes nothing, and its answer follows from what is there."""

    unseen_names: str | None = None
    """A function that returns the `agentworld_gym.core.domain.unseen_names.UnseenNames`: what a task or an action names
    that a model may never have seen."""

    claim_recording: str | None = None
    """A function of an `agentworld_gym.recipe.importers.conversation.ImportedConversation` that says from 0 to 1 how
    surely it is a session of the domain. An import of sessions takes the domain that is surest."""

    session_formats: Mapping[str, str] = field(default_factory=dict)
    """The `agentworld_gym.recipe.importers.session_format.SessionFormat` of each format in which other systems record
    sessions of this domain alone, by the name that `agentworld import --format` takes."""

    explain: str | None = None
    """A function that explains a recorded turn, for reasoning traces."""

    verifier: str | None = None
    """The `agentworld_gym.recipe.rl.verifiers.RuleVerifier`: the rules that check a predicted observation."""

    control_marks: Mapping[str, str] = field(default_factory=dict)
    """The pattern of what an observation bears where a control has struck, by the control's name."""

    @property
    def menu_id(self) -> str:
        """The id of its environments for agents that choose from a menu and see vectors."""
        return menu_id_of(self.env_id)

    def part(self, name: str) -> Any:
        """Import what a field refers to; None where the field is empty.

        Raises:
            SpecError: There is nothing at the reference.

        >>> find_domain("search").part("view") is None, find_domain("web").part("screen")().read("")
        (True, [])
        """
        reference = getattr(self, name)
        return None if reference is None else resolved(reference)


@lru_cache(maxsize=512)
def resolved(reference: str) -> Any:
    """Import what stands at a reference, as `module:name`.

    Raises:
        SpecError: There is nothing.
    """
    try:
        return resolve_name(reference)
    except (AttributeError, ModuleNotFoundError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and not reference.startswith(error.name or "?"):
            raise
        raise SpecError(
            "domain", "reference", reference, f"module:name of something that is there ({error})"
        ) from error


def menu_id_of(env_id: str) -> str:
    """Return the id of the same domain for agents that choose from a menu.

    >>> menu_id_of("AgentWorld/Web-v0")
    'AgentWorld/WebMenu-v0'
    """
    name, dash, version = env_id.rpartition("-v")
    return f"{name}Menu{dash}{version}"


class _Registry:
    """The domains that there are, by name."""

    def __init__(self) -> None:
        self.domains: dict[str, Domain] = {}
        self.env_ids: dict[str, str] = {}
        self._lock = threading.RLock()
        self._is_read = self._is_reading = False

    def add(self, domain: Domain) -> None:
        with self._lock:
            if self.domains.get(domain.id) == domain:
                return
            self._check(domain)
            self.domains[domain.id] = domain
            self.env_ids[domain.env_id] = domain.id
            _register(domain.env_id, domain.id, _TEXTS)
            _register(domain.menu_id, domain.id, _MENUS)

    def _check(self, domain: Domain) -> None:
        """Raise an error where a domain has the name of another one, or nothing that can be loaded."""
        for key, value, pattern in (("id", domain.id, _ID), ("env_id", domain.env_id, _ENV_ID)):
            if not pattern.fullmatch(value):
                raise SpecError("register_domain", key, value, f"a name such as {pattern.pattern}")
        others = self.domains.values()
        if domain.id in {name for one in others for name in (one.id, one.official_name)}:
            raise SpecError("register_domain", "id", domain.id, "a name that no other domain has")
        taken = {CUSTOM_ID, menu_id_of(CUSTOM_ID), *(env_id for one in others for env_id in (one.env_id, one.menu_id))}
        if not taken.isdisjoint((domain.env_id, domain.menu_id)):
            raise SpecError("register_domain", "env_id", domain.env_id, "an id that no other domain has")
        if domain.official_name in {one.official_name for one in others if one.official_name}:
            raise SpecError("register_domain", "official_name", domain.official_name, "a name of no other domain")
        if domain.spec is not None and not isinstance(domain.spec, Path):
            raise SpecError("register_domain", "spec", domain.spec, "a pathlib.Path of a YAML file")
        if domain.spec is None and domain.id not in shipped_domains():
            raise SpecError("register_domain", "spec", None, "the path of the YAML file of its spec")
        for key in (one.name for one in fields(domain) if one.type == "str | None"):
            value = getattr(domain, key)
            if value is not None and not isinstance(value, str):
                raise SpecError("register_domain", key, value, "a reference, as module:name")
        for scheme, reference in domain.worlds.items():
            if scheme in BUILT_IN_WORLDS or any(scheme in one.worlds for one in others):
                raise SpecError("register_domain", "worlds", scheme, "a scheme that no other world has")
            if not isinstance(reference, str):
                raise SpecError("register_domain", f"worlds.{scheme}", reference, "a reference, as module:name")
        if not isinstance(domain.commands, tuple) or not all(isinstance(one, str) for one in domain.commands):
            raise SpecError("register_domain", "commands", domain.commands, "a tuple of references, as module:name")

    def find_syntax(self, name: str) -> str | None:
        """Return the reference of a syntax that one of the domains brings; None where none does."""
        return next((one.syntaxes[name] for one in list(self.domains.values()) if name in one.syntaxes), None)

    def read_shipped(self) -> None:
        """Add the domains that ship, and those that consist of them."""
        for name in (*shipped_domains(), *importlib.import_module(SHIPPED).COMPOSED):
            if name not in self.domains:
                self.add(importlib.import_module(f"{SHIPPED}.{name}.domain").DOMAIN)

    def read_installed(self) -> None:
        """Add the domains that ship, and those of installed packages.

        One that cannot be loaded is left out with a warning, so that it costs nobody the other ones.
        """
        if self._is_read:
            return
        with self._lock:
            if self._is_read or self._is_reading:
                return
            self._is_reading = True
            self.read_shipped()
            for point in entry_points(group=ENTRY_POINTS):
                try:
                    domain = point.load()
                    if not isinstance(domain, Domain):
                        raise SpecError(f"entry point {point.value}", point.name, domain, "an agentworld_gym.Domain")
                    self.add(domain)
                except Exception as error:
                    package = point.dist.name if point.dist is not None else point.value
                    warnings.warn(
                        f"the domain {point.name} of the package {package} is left out, as it cannot be loaded: "
                        f"{type(error).__name__}: {error}",
                        RuntimeWarning,
                        stacklevel=2,
                    )
            self._is_read, self._is_reading = True, False


_REGISTRY = _Registry()
ENV_IDS: Mapping[str, str] = MappingProxyType(_REGISTRY.env_ids)
"""The domain of each id that `gym.make` knows, without those of menus."""


def register_domain(domain: Domain) -> None:
    """Make a domain known: ids, menus, vectors, recording, training, evaluation and the command line then take it.

    A second call with an equal domain does nothing. The command line and processes that start anew know a domain of an
    installed package by its entry point, in the group `agentworld_gym.domains`.

    Args:
        domain: The domain.

    Raises:
        SpecError: Another domain has the name or the id.

    >>> register_domain(find_domain("web"))
    >>> register_domain(Domain(id="web", env_id="AgentWorld/MyWeb-v0"))
    Traceback (most recent call last):
    agentworld_gym.base.errors.SpecError: register_domain: id: got 'web', expected a name that no other domain has
    """
    _REGISTRY.add(domain)


def find_domain(name: str) -> Domain | None:
    """Return the domain of a name; None where there is none. An unknown name is looked for in installed packages.

    >>> find_domain("terminal").env_id, find_domain("chess") is None
    ('AgentWorld/Terminal-v0', True)
    """
    domain = _REGISTRY.domains.get(name)
    if domain is None and name:
        _REGISTRY.read_installed()
        domain = _REGISTRY.domains.get(name)
    return domain


def all_domains() -> Mapping[str, Domain]:
    """Return all domains by name, with those of installed packages; those that ship come first.

    >>> list(all_domains())[:7]
    ['mcp', 'search', 'terminal', 'swe', 'web', 'desktop', 'android']
    """
    _REGISTRY.read_installed()
    return dict(_REGISTRY.domains)


def shipped_domains() -> tuple[str, ...]:
    """Return the names of the domains that ship.

    >>> shipped_domains()[:2]
    ('mcp', 'search')
    """
    names: tuple[str, ...] = importlib.import_module(SHIPPED).DOMAINS
    return names


def syntax_reference(name: str) -> str | None:
    """Return the reference of a way to write an action that a domain brings; None where none does. An unknown name is
    looked for in installed packages. See `Domain.syntaxes`.

    >>> syntax_reference("droidbot_event"), syntax_reference("tool_call") is None
    ('agentworld_gym.domains.android.actions.droidbot:SYNTAX', True)
    """
    reference = _REGISTRY.find_syntax(name)
    if reference is None:
        _REGISTRY.read_installed()
        reference = _REGISTRY.find_syntax(name)
    return reference


def live_opener(spec_id: str) -> str | None:
    """Return the reference of what opens live systems of a domain, or of a user's spec that is no domain; None where
    there is none. See `Domain.live`.

    >>> live_opener("mcp") is None, live_opener("work") is None
    (False, True)
    """
    domain = find_domain(spec_id)
    if domain is not None:
        return domain.live
    of_specs: str | None = importlib.import_module(SHIPPED).LIVE_OF_SPECS
    return of_specs


def domain_of_env(env_id: str) -> str | None:
    """Return the domain of an id that `gym.make` knows, with or without a module before it; None where it is of no
    domain. An unknown id is looked for in installed packages.

    >>> domain_of_env("AgentWorld/Web-v0"), domain_of_env("agentworld_gym:AgentWorld/Web-v0"), domain_of_env("Chess-v0")
    ('web', 'web', None)
    """
    name = env_id.rpartition(":")[2]
    if name not in ENV_IDS and name.startswith("AgentWorld/"):
        _REGISTRY.read_installed()
    return ENV_IDS.get(name)


def find_by_official_name(name: str) -> Domain | None:
    """Return the domain that AgentWorldBench calls by a name of its own; None where there is none.

    >>> find_by_official_name("os").id, find_by_official_name("web"), find_by_official_name("")
    ('desktop', None, None)
    """
    _REGISTRY.read_shipped()
    return next((one for one in _REGISTRY.domains.values() if name and one.official_name == name), None)


def official_name(domain: str) -> str:
    """Return the name that AgentWorldBench has for a domain.

    >>> official_name("desktop"), official_name("web"), official_name("chess")
    ('os', 'web', 'chess')
    """
    found = find_domain(domain)
    return domain if found is None else found.official_name or domain


def register_envs() -> None:
    """Register the domains that ship and the custom one, and the same with menus. A second call does nothing."""
    _REGISTRY.read_shipped()
    _register(CUSTOM_ID, None, _TEXTS)
    _register(menu_id_of(CUSTOM_ID), None, _MENUS)


def _register(env_id: str, domain: str | None, entries: tuple[str, str]) -> None:
    """Register an id. Gymnasium's checker is off, because it calls `reset` without a seed, which costs a session of a
    world model.
    """
    if env_id not in gym.registry:
        single, many = entries
        gym.register(
            id=env_id,
            entry_point=single,
            vector_entry_point=many,
            kwargs={} if domain is None else {"spec": domain},
            disable_env_checker=True,
        )
