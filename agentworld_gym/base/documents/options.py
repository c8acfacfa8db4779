"""Options that are passed as keyword arguments; their errors name the option, its value and what was expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agentworld_gym.base.documents.strict import expectation
from agentworld_gym.base.errors import SpecError, UnknownOption, one_of


@dataclass(frozen=True)
class ExpectedValue:
    """What the value of an option must be, in the words that an error uses. It annotates a field."""

    words: str


class Options(BaseModel):
    """A frozen set of options that converts no value: a number is no text, and True is no number.

    A field that is annotated with `ExpectedValue` says in its errors what was expected; of another one pydantic says
    it.

    >>> class Limits(Options):
    ...     steps: int = 10
    >>> Limits(steps="many")
    Traceback (most recent call last):
    agentworld_gym.base.errors.SpecError: options: steps: got 'many', expected a valid integer

    Raises:
        SpecError: A value does not fit, or an option that has no default is missing.
        UnknownOption: There is no such option.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = str(first["loc"][0])
            field = type(self).model_fields.get(key)
            if field is None:
                known = type(self).model_fields
                raise UnknownOption(
                    type(self).__name__, self.named(key), options[key], known, one_of(key, known)
                ) from error
            words = [part.words for part in field.metadata if isinstance(part, ExpectedValue)]
            expected = words[0] if words else expectation(first)
            raise SpecError("options", self.named(key), options.get(key), expected) from error

    @classmethod
    def named(cls, field: str) -> str:
        """Return the name that errors have for a field, or for one that does not exist."""
        return field
