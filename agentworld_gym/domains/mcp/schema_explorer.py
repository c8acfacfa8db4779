"""An explorer of tool servers that knows nothing of them but the schemas of their tools and what their answers show."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.agents.policies.exploring.base import Explorer, call
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.shown_paths import ShownPaths, takes_path
from agentworld_gym.kit.vocabulary import WORDS

DEEPEST = 4
"""How many levels of a schema that refers to itself are filled in."""

KEPT = 64
"""How many values are remembered of one name."""

LONGEST = 120
"""The longest text that is remembered as a value."""

LATEST, BACK = 2, 0.4
"""To how many calls the explorer comes back, and in which share of its calls, so that what they changed is seen."""

_NAMED = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
"""A word of a name, as `task_id` and `taskId` have two."""

UNREADY = 0.15
"""How much less often a tool is called as long as no answer showed an id or a path for it."""

_TOKEN = re.compile(r"\"([^\"\n]{1,80})\"|(/[\w./-]{1,80})|([\w.-]{2,60})")
_REFUSAL = re.compile(r"\b(?i:cannot|denied|error|exception|failed|illegal|invalid|no|not|unknown)\b|\bE[A-Z]{4,}\b")
"""What answers say that refuse a call."""

_PIECE = re.compile(r"[:|,;\t\n]+| - ")
"""What stands between the values on a line, as between a key and its value."""
_QUOTED = re.compile(r"'([^'\s]{1,80})'|\"([^\"\n]{1,80})\"")
"""An example in the description of a parameter."""

_DATES = {"date": "2026-05-18", "date-time": "2026-05-18T10:00:00Z", "time": "10:00:00Z", "email": "ada@example.com"}


class SchemaExplorer(Explorer):
    """An explorer that calls every tool, rarely used ones first, with values that it met or made up.

    A parameter takes a value that an answer, or an earlier call, had under a like name; else what its schema says, or a
    word. An id is mostly one that was shown, and a path one that was shown or listed, or of something new beside it;
    tools that need one are rarely called before. A value whose calls are refused, or answered as most calls of their
    tool are, is taken ever less. Two in five calls come back to the values of the latest others. At times a call breaks
    the schema.

    >>> schema = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    >>> tools = [{"name": "a-greet", "parameters": schema}]
    >>> task = Task(id="t", domain="mcp", instruction="i", family="free_play", success=(), tools=tools)
    >>> json.loads(SchemaExplorer(task, random.Random(0)).draft())["name"]
    'a-greet'
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self._tools: dict[str, Mapping[str, Any]] = {
            str(tool["name"]): tool.get("parameters") or {} for tool in task.tools
        }
        self._needs = {tool: tuple(_needs(tool, schema)) for tool, schema in self._tools.items()}
        self._used: Counter[str] = Counter()
        self._told: dict[str, dict[Any, None]] = {}
        self._given: dict[str, dict[Any, None]] = {}
        self._latest: deque[dict[str, dict[Any, None]]] = deque(maxlen=LATEST)
        self._words: dict[str, None] = {}
        self._paths = ShownPaths()
        self._answers: dict[str, Counter[str]] = {}
        self._dull: Counter[Any] = Counter()
        self._tool, self._coming_back = "", False

    def see(self, action: str, observation: str) -> None:
        """Remember the values of a call and of its answer, by their names; of a plain text, its pieces and words."""
        made = _read(action)
        name, arguments = (str(made.get("name")), made.get("arguments")) if isinstance(made, dict) else ("", None)
        leaves = [one for one in _leaves(arguments) if isinstance(one, str | int | float)]
        answers = self._answers.setdefault(name, Counter())
        kind = _kind(observation, leaves)
        answers[kind] += 1
        told = _read(observation)
        refused = bool(leaves) and _REFUSAL.search(observation[:LONGEST]) is not None
        self._paths.see(observation, told, leaves, refused)
        if refused or answers[kind] > max(2, answers.total() / 2):
            self._dull.update(leaves)
            self._dull.update((name, one) for one in leaves)
            return
        self._done.clear()  # It may have changed what other calls show.
        if any(isinstance(one, str) and len(one) > 1 and one in observation for one in leaves):
            self._latest.append({})
            _remember(self._latest[-1], "", arguments)
            _remember(self._told, "", arguments)
        _remember(self._given, "", arguments)
        if told is not None:
            _remember(self._told, "", told)
            pieces, words = [one for one in _leaves(told) if isinstance(one, str)], []
        else:
            pieces = [one.strip() for one in _PIECE.split(observation[: KEPT * LONGEST])]
            words = [next(filter(None, match.groups())) for match in list(_TOKEN.finditer(observation))[:KEPT]]
        self._words.update(dict.fromkeys([one for one in pieces if 0 < len(one) <= LONGEST // 2][:KEPT] + words))
        while len(self._words) > 4 * KEPT:
            del self._words[next(iter(self._words))]

    def draft(self) -> str:
        """Draft one call, mostly one that its schema admits."""
        if not self._tools:
            return call(self.rng.choice(WORDS))
        name = self.weighted((one, self._readiness(one) / (1 + 2 * self._used[one])) for one in self._tools)
        self._used[name] += 1
        self._coming_back = self.chance(BACK)
        arguments = self.arguments_of(name)
        if self.chance(0.06):
            arguments = self._broken(arguments)
        return call(name, **arguments)

    def arguments_of(self, tool: str) -> dict[str, Any]:
        """Draw arguments that the schema of a tool admits."""
        self._tool = tool
        return self._object(self._tools[tool], self._tools[tool], DEEPEST)

    def _readiness(self, tool: str) -> float:
        """Return how much can be expected of a call: little where it needs an id or a path, and none was shown."""
        unknown = (not (is_path and self._paths) and not _like(self._told, stem) for stem, is_path in self._needs[tool])
        return UNREADY if any(unknown) else 1.0

    def _broken(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments of which one is missing, or of another type."""
        if not arguments:
            return {self.rng.choice(WORDS): 1}
        key = self.rng.choice(sorted(arguments))
        broken = dict(arguments)
        if self.chance(0.5):
            del broken[key]
        else:
            broken[key] = [] if not isinstance(broken[key], list) else 7
        return broken

    def _object(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required") or ()
        properties = schema.get("properties") or {}
        found = {}
        for key, inner in properties.items():
            if key in needed or (depth > 0 and self.chance(0.3)):
                found[key] = self._value(key, inner, root, depth - 1)
        for key in needed:
            if key not in properties:
                found[key] = self.rng.choice(WORDS)
        return found

    def _value(self, name: str, schema: Any, root: Mapping[str, Any], depth: int) -> Any:
        """Draw a value of a schema."""
        schema = resolved_schema(schema, root)
        for key in ("anyOf", "oneOf"):
            if schema.get(key):
                choices = list(schema[key])
                return self._value(name, choices[-1] if depth <= 0 else self.rng.choice(choices), root, depth - 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.rng.choice(list(schema["enum"]))
        if (given := [*_list(schema.get("examples")), *([schema["default"]] if "default" in schema else [])]) and (
            self.chance(0.4)
        ):
            return self.rng.choice(given)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if not isinstance(kind, str):
            kind = self.rng.choice(list(kind))
        match kind:
            case "object":
                return self._object(schema, root, depth) if schema.get("properties") else {}
            case "array":
                least = int(schema.get("minItems") or 0)
                count = least if depth <= 0 else max(least, self.weighted(((0, 0.1), (1, 0.6), (2, 0.3))))
                return [self._value(_stem(name), schema.get("items"), root, depth - 1) for _ in range(count)]
            case "boolean":
                return self.chance(0.5)
            case "null":
                return None
            case "integer" | "number":
                return self._number(name, schema, kind)
        return self._text(name, schema)

    def _number(self, name: str, schema: Mapping[str, Any], kind: str) -> int | float:
        lowest = schema.get("minimum", schema.get("exclusiveMinimum", 0) + ("exclusiveMinimum" in schema))
        highest = schema.get("maximum", max(lowest, 10))
        known = [*_like(self._told, _stem(name)), *self._given.get(_stem(name), ())]
        met = [one for one in known if isinstance(one, int | float)]
        fitting = [one for one in met if lowest <= one <= highest and (kind == "number" or isinstance(one, int))]
        if fitting and self.chance(0.7):
            return self.rng.choice(fitting)
        if kind == "integer":
            return self.rng.randint(int(lowest), int(highest))
        return round(self.rng.uniform(lowest, highest), 2)

    def _text(self, name: str, schema: Mapping[str, Any]) -> str:
        def fits(text: Any) -> bool:
            return isinstance(text, str) and len(text) <= most and (pattern is None or _matches(pattern, text))

        pattern, most, stem = schema.get("pattern"), int(schema.get("maxLength") or 10 * LONGEST), _stem(name)
        latest = [one for values in self._latest for one in _like(values, stem)] if self._coming_back else []
        if fitting := list(filter(fits, latest)):
            return str(self.rng.choice(fitting))
        if self._paths and "format" not in schema and takes_path(name, self._tool) and self.chance(0.8):
            path = self._paths.draw(self._tool, self._dull, self.rng)
            if fits(path):
                return path
        told, given = (list(filter(fits, _like(values, stem))) for values in (self._told, self._given))
        quoted = [one or other for one, other in _QUOTED.findall(str(schema.get("description", "")))]
        if schema.get("format") in _DATES:
            quoted.append(_DATES[schema["format"]])
        if schema.get("format") in ("uri", "url"):
            quoted.append(f"https://example.com/{self.rng.choice(WORDS)}")
        others = 0.1 if told and _is_id(name) else 1.0
        sources = [
            (told, 0.6),
            (given, (0.1 if told else 0.6) * others),
            (quoted, 0.5 * others),
            (list(filter(fits, self._words)), 0.0 if "format" in schema else 0.25 * others),
        ]
        chosen = self.weighted(
            [*((source, share * min(1.0, self._worth(source))) for source, share in sources), ([], 0.1 * others)]
        )
        if chosen:
            return str(self.weighted((one, self._interest(one)) for one in chosen))
        text = " ".join(self.rng.choice(WORDS) for _ in range(self.weighted(((1, 0.6), (2, 0.3), (4, 0.1)))))
        least = int(schema.get("minLength") or 0)
        return (text if len(text) >= least else text + "x" * (least - len(text)))[:most]

    def _interest(self, value: Any) -> float:
        return 1.0 / (1 + self._dull[value]) ** 2

    def _worth(self, values: Sequence[Any]) -> float:
        return sum(map(self._interest, values))


def _needs(tool: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the stem of each parameter that a tool needs and nobody can guess, and whether it is a path.

    >>> schema = {"properties": {"taskId": {"type": "integer"}, "paid": {}}, "required": ["taskId", "paid"]}
    >>> list(_needs("close", schema))
    [('taskid', False)]
    """
    properties = schema.get("properties") or {}
    for name in map(str, schema.get("required") or ()):
        own = resolved_schema(properties.get(name), schema)
        is_path = takes_path(name, tool)
        if (is_path or _is_id(name)) and own.get("type") in ("string", "integer") and not own.get("enum"):
            yield _stem(name), is_path


def _is_id(name: str) -> bool:
    """Return whether a parameter takes an id, which is never a word.

    >>> _is_id("taskId"), _is_id("task_ids"), _is_id("paid")
    (True, True, False)
    """
    words = _NAMED.findall(name)
    return bool(words) and words[-1].lower() in ("id", "ids", "uuid", "uuids")


def _remember(values: dict[str, dict[Any, None]], name: str, value: Any) -> None:
    """Add what a document holds to the values by their names."""
    match value:
        case dict():
            for key, inner in value.items():
                _remember(values, _stem(str(key)), inner)
        case list():
            for inner in value:
                _remember(values, name, inner)
        case str() | int() | float() if name and len(str(value)) <= LONGEST and value != "":
            kept = values.setdefault(name, {})
            kept[value] = None
            if len(kept) > KEPT:
                del kept[next(iter(kept))]
            if len(values) > 4 * KEPT:
                del values[next(iter(values))]


def _like(values: Mapping[str, Mapping[Any, None]], stem: str) -> list[Any]:
    """Return the values under a name, else under names like it, as `name` is like `entityName`."""
    if stem in values:
        return list(values[stem])
    like = [kept for other, kept in values.items() if stem.endswith(other) or other.endswith(stem)]
    return [one for kept in like for one in kept]


def _read(text: str) -> Any:
    """Return what a text is as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what a document holds, without the keys."""
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield value


def _kind(observation: str, values: Sequence[Any]) -> str:
    """Return an answer without what the call had in it, and without numbers.

    >>> _kind("'Emma' is not in", ["Emma"]) == _kind("'Dune' is not in", ["Dune"])
    True
    """
    text = observation[: 4 * LONGEST]
    for value in sorted((one for one in values if isinstance(one, str) and len(one) > 1), key=len, reverse=True):
        text = text.replace(value, "*")
    return re.sub(r"\d+", "0", text)


def resolved_schema(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with what it refers to in its document, and with the parts of its `allOf`.

    >>> root = {"$defs": {"n": {"type": "integer"}}}
    >>> resolved_schema({"$ref": "#/$defs/n"}, root), resolved_schema(True, root)
    ({'type': 'integer'}, {})
    """
    for _ in range(16):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        found: Any = root
        for part in reference[1:].strip("/").split("/") if reference != "#" else ():
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        schema = found
    if not isinstance(schema, Mapping):
        return {}
    merged: dict[str, Any] = dict(schema)
    for part in _list(merged.pop("allOf", None)):
        inner = resolved_schema(part, root)
        merged = {
            **merged,
            **inner,
            "properties": {**(merged.get("properties") or {}), **(inner.get("properties") or {})},
            "required": [*(merged.get("required") or ()), *(inner.get("required") or ())],
        }
    return merged


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


def _stem(name: str) -> str:
    """Return what names of one thing have in common, in one number and without what joins words.

    >>> _stem("entityNames"), _stem("entity_name"), _stem("entities")
    ('entityname', 'entityname', 'entity')
    """
    name = re.sub(r"[^a-z0-9]", "", name.lower())
    if name.endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and len(name) > 2 else name
