"""The options that shape a language world, which every command that opens one takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from agentworld_gym.cli.common import (
    DialectOption,
    FormOption,
    GeneratorOption,
    ProfileOption,
    PromptsOption,
    RetrievalOption,
    SamplingOption,
    WorldbookOption,
)


def _shared(
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    prompts: PromptsOption = None,
    form: FormOption = None,
    retrieval: RetrievalOption = None,
    worldbook: WorldbookOption = None,
    sampling: SamplingOption = None,
    generator: GeneratorOption = None,
) -> None:
    """Do nothing: `with_language_options` reads the parameters, which are the options that a command shares."""


def with_language_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that also takes the shared options; it gets them by name in its last parameter, `**language`.

    >>> @with_language_options
    ... def show(world: str, **language: Any) -> None:
    ...     print(world, language["form"], len(language))
    >>> show("tiny", form="change")
    tiny change 8
    >>> list(inspect.signature(show).parameters)[:3]
    ['world', 'dialect', 'profile']
    """
    own, shared = (inspect.signature(one, eval_str=True) for one in (command, _shared))
    *kept, rest = own.parameters.values()
    assert rest.kind is rest.VAR_KEYWORD
    parameters = [*kept, *shared.parameters.values()]
    defaults = {name: parameter.default for name, parameter in shared.parameters.items()}

    @functools.wraps(command)
    def taking(*args: Any, **given: Any) -> None:
        command(*args, **{**defaults, **given})

    taking.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taking
