"""Agents by handle: who plays, named by a short text, in every command and from Python."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from agentworld_gym.agents.policies.exploring.policy import ExplorerPolicy
from agentworld_gym.agents.policies.language_agent import Calls, LanguageAgent, Overflow
from agentworld_gym.agents.policies.playing import FunctionPolicy, Policy, ScriptedPolicy, WaitingPolicy
from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, mixed_policy, nothing_policy
from agentworld_gym.agents.policies.users_policy import UsersPolicy
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import MissingFile, SpecError, one_of
from agentworld_gym.core.domain.spec import DomainSpec, SamplingSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.llm.generators import HANDLES as GENERATORS
from agentworld_gym.llm.generators.handles import generator_options, open_generator

SLIP = 0.3
"""The probability that the policy `mixed` errs before a step."""

MAX_TOKENS = 4096
"""The most tokens of an answer of a language model, unless an option says otherwise."""

HANDLES: Mapping[str, str] = {
    "expert": "the scripted solution of the task",
    "mixed": "an expert that errs",
    "menu": "random choices from the menu of the task",
    "explore": "tries what can be done, which needs no menu and no expert",
    "nothing": "an agent that finishes at once",
    "agent.zip": "the path of a MaskablePPO that was saved; its weights alone are read",
    "python:MODULE:FACTORY": "a function that takes the DomainSpec and returns a Policy or a function of an Episode",
    **{form: meaning for form, meaning in GENERATORS.items() if not form.startswith("nearest:")},
}
"""The handles that `open_policy` accepts, with what they mean."""

_SCRIPTS: Mapping[str, Callable[[Task, random.Random], ActionStream]] = {
    "expert": lambda task, rng: expert_policy(_with(task, "expert")),
    "mixed": lambda task, rng: mixed_policy(_with(task, "expert"), rng, SLIP),
    "menu": lambda task, rng: menu_policy(_with(task, "menu"), rng),
    "nothing": lambda task, rng: nothing_policy(),
}
_CHOICES: Mapping[str, tuple[str, ...]] = {"overflow": get_args(Overflow), "calls": get_args(Calls)}


def open_policy(handle: str, spec: DomainSpec, draw: int = 0, options: Mapping[str, Any] | None = None) -> Policy:
    """Return the policy that a handle names; one that holds a generator has a method `close`.

    Args:
        handle: The handle, in one of the forms of `HANDLES`.
        spec: The domain.
        draw: The number of the draw; another one gives other actions for each task, where the policy draws any.
        options: The options of a language model, by name: those of `SamplingSpec`, `overflow` and `calls` of
            `LanguageAgent`, and those of its generator. A MaskablePPO takes `deterministic`, which is true unless it
            is to draw its choices.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> open_policy("expert", load_spec("terminal")).name
    'expert'

    Raises:
        SpecError: The handle names no policy, or a file that holds none; or an option does not fit.
        GeneratorError: The model is not there, or what runs it is not installed.
        ImportError: An agent needs the extra `sb3`.
    """
    if is_model(handle):
        return _language_agent(handle, spec, draw, options or {})
    path = Path(handle)
    saved = path.suffix == ".zip" and path.is_file()
    if options and not (saved and options.keys() <= {"deterministic"}):
        expected = f"none: {handle} is no language model" if not saved else "deterministic, the option of a MaskablePPO"
        raise SpecError("command line", "agent's options", dict(options), expected)
    if handle in _SCRIPTS:
        return ScriptedPolicy(handle, _SCRIPTS[handle], draw)
    if handle == "explore":
        return ExplorerPolicy(draw)
    if handle.startswith("python:"):
        return _from_python(handle, spec)
    if path.suffix == ".zip" and not saved:
        raise MissingFile(path, "a MaskablePPO that was saved")
    if not saved:
        raise SpecError("options", "policy", handle, f"one of {', '.join(HANDLES)}")
    from agentworld_gym.agents.policies.menu_agent import MenuAgent
    from agentworld_gym.agents.policies.saved_policy import SavedPolicy

    deterministic = (options or {}).get("deterministic", True)
    if not isinstance(deterministic, bool):
        raise SpecError("command line", "agent's option deterministic", deterministic, "true or false")
    return MenuAgent(path.stem, SavedPolicy(path), spec, deterministic=deterministic, draw=draw)


@contextmanager
def opened_policy(
    handle: str, spec: DomainSpec, draw: int = 0, options: Mapping[str, Any] | None = None
) -> Iterator[Policy]:
    """Open a policy as `open_policy` does, and close what it holds at the end."""
    policy = open_policy(handle, spec, draw, options)
    try:
        yield policy
    finally:
        getattr(policy, "close", lambda: None)()


def is_model(handle: str) -> bool:
    """Whether a handle names a language model."""
    return handle.partition(":")[0] in ("http", "https", "vllm", "transformers")


def _language_agent(handle: str, spec: DomainSpec, draw: int, options: Mapping[str, Any]) -> LanguageAgent:
    of_generator = generator_options(handle)
    known = {*_CHOICES, *SamplingSpec.model_fields, *(of_generator or ())}
    for name in () if of_generator is None else options.keys() - known:
        raise SpecError("command line", f"agent's option {name}", options[name], one_of(name, known))
    kept = dict(options)
    chosen = {name: kept.pop(name) for name in _CHOICES if name in kept}
    for name, value in chosen.items():
        if value not in _CHOICES[name]:
            raise SpecError("command line", name, value, f"one of {', '.join(_CHOICES[name])}")
    fields = {name: kept.pop(name) for name in SamplingSpec.model_fields if name in kept}
    sampling = validated(SamplingSpec, {"max_tokens": MAX_TOKENS, **fields}, "command line").sampling()
    return LanguageAgent(open_generator(handle, **kept), spec, sampling, name=handle, draw=draw, **chosen)


def _from_python(handle: str, spec: DomainSpec) -> Policy:
    """Call the factory of a policy in a module that can be imported here, or from the folder of the command.

    Raises:
        SpecError: There is no such factory, or it raises, or returns something else.
    """
    _, _, rest = handle.partition(":")
    module, _, factory = rest.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        made = getattr(importlib.import_module(module), factory)(spec)
    except Exception as error:
        raise SpecError("options", "policy", handle, f"python:MODULE:FACTORY ({error})") from error
    finally:
        sys.path.remove(here)
    if hasattr(made, "begin") and hasattr(made, "act"):
        policy: Policy = made
        return policy if isinstance(policy, ScriptedPolicy | WaitingPolicy) else UsersPolicy(handle, policy)
    if not callable(made):
        raise SpecError("options", "policy", handle, "a factory of a Policy or of a function of an Episode")
    return UsersPolicy(handle, FunctionPolicy(rest, made))


def _with(task: Task, part: str) -> Task:
    """Return a task that has an expert or a menu.

    Raises:
        SpecError: It has none.
    """
    if not getattr(task, part):
        other = "menu" if task.menu else "explore"
        raise SpecError(f"task {task.id}", part, None, f"a task that has one; try the agent {other}")
    return task
