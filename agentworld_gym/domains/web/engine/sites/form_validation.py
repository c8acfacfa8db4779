"""Validation of the fields of a form, and of the parameters of a URL."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping, Sequence

from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.web.engine.sites.site_schema import FieldSpec

MAX_TEXT = 4000
"""The largest number of characters in a field that states no limit of its own."""

_EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[A-Za-z]{2,}")


class InvalidValue(ValueError):
    """A field refuses a value; the message is for the visitor."""


def validated_form(
    specs: Mapping[str, FieldSpec], form: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Scalar], dict[str, str]]:
    """Return the values of a form by field, and the error messages by field.

    >>> validated_form({"n": FieldSpec(type="integer", label="Number", min=1)}, {"n": ["0"]})
    ({'n': 0}, {'n': 'Number must be at least 1.'})
    """
    values: dict[str, Scalar] = {}
    errors: dict[str, str] = {}
    for name, spec in specs.items():
        texts = form.get(name, ())
        try:
            values[name] = _read(name, spec, texts)
            _within(name, spec, values[name])
        except InvalidValue as error:
            values.setdefault(name, None)
            errors[name] = spec.error or str(error)
    return values, errors


def parameters(specs: Mapping[str, FieldSpec], query: Mapping[str, Sequence[str]]) -> dict[str, Scalar]:
    """Return the parameters of a URL; an invalid one counts as missing.

    >>> parameters({"page": FieldSpec(type="integer", default=1)}, {"page": ["x"]})
    {'page': 1}
    """
    values, errors = validated_form(specs, query)
    for name in errors:
        values[name] = specs[name].default
    return values


def _read(name: str, spec: FieldSpec, texts: Sequence[str]) -> Scalar:
    label = spec.label or name.replace("_", " ").capitalize()
    if spec.type == "flag":
        ticked = bool(texts) and texts[-1] not in ("", "0")
        if spec.required and not ticked:
            raise InvalidValue(f"{label} must be ticked.")
        return int(ticked)
    if spec.type == "many":
        if spec.required and not texts:
            raise InvalidValue(f"Select at least one of {label}.")
        return json.dumps(list(dict.fromkeys(texts)), ensure_ascii=False)
    text = texts[-1].replace("\r\n", "\n").strip() if texts else ""
    if not text:
        if spec.required:
            raise InvalidValue(f"{label} is required.")
        return spec.default if spec.default is not None else "" if spec.type in ("text", "email") else None
    if spec.choices and text not in map(str, spec.choices):
        raise InvalidValue(f"{label} is not one of the choices.")
    match spec.type:
        case "integer" | "number":
            return _number(label, spec.type, text)
        case "email" if not _EMAIL.fullmatch(text):
            raise InvalidValue(f"{label} is not a valid e-mail address.")
        case "date":
            try:
                return datetime.date.fromisoformat(text).isoformat()
            except ValueError:
                raise InvalidValue(f"{label} is not a valid date.") from None
    if spec.pattern is not None and not re.fullmatch(spec.pattern, text[:MAX_TEXT]):
        raise InvalidValue(f"{label} is not valid.")
    return text


def _number(label: str, kind: str, text: str) -> int | float:
    try:
        number = int(text) if kind == "integer" and len(text) <= 12 else float(text)
    except ValueError:
        raise InvalidValue(f"{label} must be a number.") from None
    if not math.isfinite(number) or abs(number) > 1e12:
        raise InvalidValue(f"{label} must be a number.")
    if kind == "integer" and number != int(number):
        raise InvalidValue(f"{label} must be a whole number.")
    return int(number) if kind == "integer" else number


def _within(name: str, spec: FieldSpec, value: Scalar) -> None:
    label = spec.label or name.replace("_", " ").capitalize()
    if isinstance(value, (int, float)) and spec.type in ("integer", "number"):
        if spec.min is not None and value < spec.min:
            raise InvalidValue(f"{label} must be at least {spec.min:g}.")
        if spec.max is not None and value > spec.max:
            raise InvalidValue(f"{label} must be at most {spec.max:g}.")
    elif isinstance(value, str) and value and spec.type in ("text", "email"):
        if spec.min is not None and len(value) < spec.min:
            raise InvalidValue(f"{label} must have at least {spec.min:g} characters.")
        longest = MAX_TEXT if spec.max is None else spec.max
        if len(value) > longest:
            raise InvalidValue(f"{label} must have at most {longest:g} characters.")
