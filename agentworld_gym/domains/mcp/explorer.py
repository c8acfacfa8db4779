"""The explorer of tool servers."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from agentworld_gym.agents.policies.exploring.base import Explorer, RandomWords, call
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import without_ask

READING = ("get", "list", "find", "search", "count", "spending", "describe", "read", "show", "report", "summary")
_PAGING = ("limit", "offset", "cursor")
_SPANS = (("start", "end"), ("from_day", "to_day"), ("first_day", "last_day"), ("after", "before"))
_EXAMPLE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}Z?)?")
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")


class ToolExplorer(Explorer):
    """An explorer that reads what tools show of the tables, changes some of it, looks again, and errs at times."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        tools = without_ask(task.tools)
        self._tools: dict[str, Mapping[str, Any]] = {tool["name"]: tool.get("parameters", {}) for tool in tools}
        self._used: Counter[str] = Counter()
        self._words = RandomWords(task, rng)
        self._tables: Mapping[str, list[Any]] = task.state.get("tables", {})
        self._values: dict[str, dict[Any, None]] = {}
        self._shown: dict[str, dict[Any, None]] = {}
        self._recent: dict[str, dict[Any, None]] = {}
        self._remember(self._values, self._tables)

    def see(self, action: str, observation: str) -> None:
        """Remember the values in an answer by their names."""
        try:
            answer = json.loads(observation)
        except ValueError:
            return
        if isinstance(answer, dict) and answer.get("status") == "error":
            return
        self._recent = {}
        for values in (self._recent, self._shown, self._values):
            self._remember(values, answer)

    def draft(self) -> str:
        """Draft one call, mostly a valid one that reads."""
        if not self._tools:
            return call(self._words.word)
        name = self.weighted((name, self._share(name)) for name in self._tools)
        self._used[name] += 1
        arguments = self._arguments(name)
        if self.chance(0.1 if arguments else 0.04):
            return self._wrong(name, arguments)
        if not _reads(name) and self.chance(0.6):
            self._look_after(arguments)
        return call(name, **arguments)

    def _share(self, name: str) -> float:
        """Return how likely a tool is: less after every use, and less if it needs an identifier that was not shown."""
        needed = [key for key in self._tools[name].get("required", ()) if key.endswith(("_id", "_ids"))]
        sure = all(_singular(key) in self._shown for key in needed)
        return (2.0 if _reads(name) else 1.0) * (1.0 if sure else 0.25) / (1 + 2 * self._used[name])

    def _look_after(self, arguments: Mapping[str, Any]) -> None:
        """Plan to read what a call has just changed."""
        looks = []
        for name, schema in self._tools.items():
            needed = schema.get("required", [])
            if _reads(name) and needed and all(key in arguments for key in needed):
                looks.append(call(name, **{key: arguments[key] for key in needed}))
        if looks:
            self.plan(self.rng.choice(looks))

    def _arguments(self, name: str) -> dict[str, Any]:
        schema = self._tools[name]
        needed = schema.get("required", [])
        arguments: dict[str, Any] = {}
        for key, value in schema.get("properties", {}).items():
            share = 1.0 if key in needed else 0.12 if key in _PAGING else 0.35
            if share == 1.0 or self.chance(share):
                drawn = self._value(name, key, value)
                if drawn is not None:
                    arguments[key] = drawn
        for first, last in _SPANS:
            both = first in arguments and last in arguments
            if both and str(arguments[first]) > str(arguments[last]) and self.chance(0.9):
                arguments[first], arguments[last] = arguments[last], arguments[first]
        return arguments

    def _value(self, tool: str, key: str, schema: Mapping[str, Any]) -> Any:
        """Draw a value for a parameter; return None if none is known."""
        kind = schema.get("type")
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if kind == "boolean":
            return self.chance(0.5)
        if kind == "array":
            inner = {"description": schema.get("description", ""), **schema.get("items", {})}
            drawn = [self._value(tool, _singular(key), inner) for _ in range(self.weighted(((1, 3.0), (2, 1.0))))]
            return [item for place, item in enumerate(drawn) if item is not None and item not in drawn[:place]] or None
        if kind == "object":
            parts = schema.get("properties", {})
            return {part: self._value(tool, part, inner) for part, inner in parts.items() if self.chance(0.7)}
        if key == "cursor":
            return self._draw_known_value("next_cursor", schema)
        if key == "offset":
            return self.rng.randint(1, 4)
        if key == "limit" and kind == "integer":
            return min(self.rng.randint(1, 5), schema.get("maximum", 5))
        value = self._draw_known_value(key, schema)
        if kind in ("integer", "number"):
            sure = value is not None and (key.endswith("id") or self.chance(0.5))
            return value if sure else self._number(value, schema)
        if key in ("query", "text", "search", "q"):
            return self._query(tool)
        free = "maxLength" in schema or "minLength" in schema
        if value is not None and not (free and self.chance(0.6)):
            return value
        return self._text(schema)

    def _draw_known_value(self, key: str, schema: Mapping[str, Any]) -> Any:
        """Draw a value of the column that a parameter is named after; return None if there is no such column."""
        for column in self._columns(key, str(schema.get("description", ""))):
            # Values that were shown may mostly be read; the tables also hold what belongs to others.
            first = self.weighted(((self._recent, 0.4), (self._shown, 0.45), (self._values, 0.15)))
            for source in (first, self._shown, self._values):
                fitting = [value for value in source.get(column, ()) if _fits(value, schema)]
                if fitting:
                    return self.rng.choice(fitting)
        return None

    def _columns(self, key: str, description: str) -> Iterator[str]:
        yield key
        parts = key.split("_")
        for start in range(1, len(parts)):
            if "_".join(parts[start:]) != "id":
                yield "_".join(parts[start:])
        lower = description.lower()
        for column in self._values:
            if column.endswith("_id") and column[:-3].replace("_", " ") in lower:
                yield column
        if "address" in lower or "e-mail" in lower:
            yield "email"
        if key not in ("title", "subject", "body"):
            yield f"{key}_id"

    def _number(self, known: Any, schema: Mapping[str, Any]) -> int | float:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        if isinstance(known, int | float) and self.chance(0.5):
            low = max(low, known)
        high = min(schema.get("maximum", low + 20), low + 20)
        if schema.get("type") == "integer":
            return self.rng.randint(int(low), max(int(high), int(low)))
        return round(self.rng.uniform(low, max(high, low)), self.rng.choice((0, 2)))

    def _query(self, tool: str) -> str:
        """Draw a word or a text of the table that a tool is about."""
        told = tool.rpartition("-")[2]
        about = [rows for name, rows in self._tables.items() if rows and _singular(name) in told]
        if about and self.chance(0.85):
            row = self.rng.choice(self.rng.choice(about))
            texts = [text for text in row.values() if isinstance(text, str) and text and not _DATED.match(text)]
            if texts:
                text = self.rng.choice(texts)
                return text if self.chance(0.3) and len(text) < 40 else self.rng.choice(text.split() or [text])
        return self._words.word

    def _text(self, schema: Mapping[str, Any]) -> str:
        """Draw a text of the pattern or the kind that a schema asks for."""
        pattern, description = schema.get("pattern"), str(schema.get("description", ""))
        if pattern:
            fitting = [value for value in self._strings() if re.search(pattern, value)]
            if fitting:
                return self.rng.choice(fitting)
        if example := _EXAMPLE.search(description) or _EXAMPLE.match(_date_like(pattern)):
            return self._time(len(example[0]))
        if any(word in description.lower() for word in ("time", "day", "date")) and "number" not in description.lower():
            return self._time(10)
        return self._words.phrase[: schema.get("maxLength", 60)]

    def _time(self, length: int) -> str:
        """Draw a time of a given number of characters, near one that was seen or after the server's own."""
        today = str(self.task.state.get("now", ""))[:10]
        if _DATED.fullmatch(today) and self.chance(0.6):
            day = str(date.fromisoformat(today) + timedelta(days=self.rng.randint(0, 30)))
        else:
            day = self.rng.choice([value for value in self._strings() if _DATED.match(value)] or ["2026-05-18"])[:10]
        clock = f"T{self.rng.randint(8, 17):02d}:00:00"
        return (day + clock + "Z")[:length]

    def _strings(self) -> list[str]:
        return [value for values in self._values.values() for value in values if isinstance(value, str)]

    def _wrong(self, name: str, arguments: dict[str, Any]) -> str:
        """Draft a call that the server most often cannot carry out."""
        keys = list(arguments)
        slip = self.rng.choice(("unknown", "missing", "type", "extra", "tool") if keys else ("extra", "tool"))
        if slip == "tool":
            return call(name + self.rng.choice(("s", "_all", "2")), **arguments)
        if slip == "extra":
            return call(name, **{**arguments, self._words.word.lower(): self.rng.randint(1, 9)})
        key = next((key for key in keys if key.endswith("id")), None) or self.rng.choice(keys)
        if slip == "missing":
            return call(name, **{other: value for other, value in arguments.items() if other != key})
        value = arguments[key]
        if slip == "type":
            return call(name, **{**arguments, key: [value] if isinstance(value, str) else str(value) + "x"})
        unknown: Any = value + self.rng.randint(500, 900) if type(value) in (int, float) else f"{self._words.word}-0"
        return call(name, **{**arguments, key: unknown})

    def _remember(self, into: dict[str, dict[Any, None]], value: Any, key: str = "") -> None:
        if isinstance(value, Mapping):
            for inner, part in value.items():
                self._remember(into, part, str(inner))
        elif isinstance(value, list | tuple):
            for part in value:
                self._remember(into, part, _singular(key))
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and key and value != "":
            into.setdefault(key, {})[value] = None


def _reads(tool: str) -> bool:
    return tool.rpartition("-")[2].startswith(READING)


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    if kind == "integer":
        return isinstance(value, int)
    if kind == "number":
        return isinstance(value, int | float)
    if kind == "string":
        return isinstance(value, str) and ("pattern" not in schema or re.search(schema["pattern"], value) is not None)
    return True


def _singular(name: str) -> str:
    """Return a name without the ending of the plural.

    >>> _singular("message_ids"), _singular("categories"), _singular("to")
    ('message_id', 'category', 'to')
    """
    if name.endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and len(name) > 2 else name


def _date_like(pattern: Any) -> str:
    """Return an example for a pattern of dates or times; it is empty for other patterns."""
    if not isinstance(pattern, str) or not pattern.startswith(r"^\d{4}-\d{2}-\d{2}"):
        return ""
    return "2026-05-18T10:00:00Z" if "T" in pattern else "2026-05-18"
