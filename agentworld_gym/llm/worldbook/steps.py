"""One step as a worldbook sees it: what was called, what came before, and its answer as a template.

A template is a text with slots for what the step gives, such as `{path}`, and a mark for what differs.
"""

from __future__ import annotations

import errno
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.actions.naming import verb

JsonType = Literal["string", "integer", "number", "boolean", "object", "array", "null"]

MISSING: Any = object()
"""What stands where an object lacks a key."""

LONGEST = 400
"""How many characters of a text tell its kind."""

WILD = "\N{HORIZONTAL ELLIPSIS}"
"""What stands in a template for words that differ from answer to answer."""

_NAME = re.compile(r"\w*\d\w*|[\w.-]*[._/][\w./-]*")
"""What changes from answer to answer of one kind: numbers, paths and file names."""

_SLOT = re.compile(r"\{([A-Za-z_$][\w$-]*(?:\.[\w$-]+|\[\])*)(:q|:0|:2(?:\+\d)?)?\}")
_TOKEN = re.compile(r"\w+|\W")
_MOST_SLOTS = 200
_COMPARED = 50
_FORMATS: dict[str, dict[str, Any]] = {"": {}, ":0": {"separators": (",", ":")}, ":2": {"indent": 2}}
_DEPTHS = (2, 4, 6, 8)
"""How far JSON may be indented in which a value stands."""

_PART = re.compile(r"\[\]|[^.\[\]]+")
_KEY = re.compile(r"[\w$-]+")
_WORD = re.compile(r"[^\s'\"(),=;|&<>]+")
_FAILED = re.compile(
    r"\b(error|errno|invalid|not found|no such|not exist|cannot|can't|could not|couldn't|unable|denied|unknown|failed|"
    r"failure|refused|forbidden|illegal|already exists|not a directory|traceback|exception|usage:|"
    rf"(?-i:(?:{'|'.join(sorted(errno.errorcode.values()))})[:,]))",
    re.IGNORECASE,
)


class Effects(Strict):
    """What actions do to the system, as far as recordings tell."""

    idle: tuple[str, ...] = ()
    """The actions that change nothing: what one shows holds until another action comes."""

    makes: tuple[tuple[str, str], ...] = ()
    """The actions that make things, each with the place in its arguments that names them."""

    removes: tuple[tuple[str, str], ...] = ()
    """The actions that remove things, each with the place that names them."""


NO_EFFECTS = Effects()
"""Nothing is known of what actions do."""


class Made(NamedTuple):
    """A thing that was made."""

    by: str
    """The action that made it, or that first showed that it is there."""

    of: Mapping[str, Any]
    """The object in its arguments that the name stands in."""

    last: str
    """The last action that named it and may have changed something."""

    change: Mapping[str, Any]
    """The object in the arguments of that one that the name stands in."""


NOTHING = Made("", {}, "", {})
"""What stands for a thing that was not made."""


@dataclass(frozen=True)
class Step:
    """An action with what came before it.

    >>> step = Step.of('{"name": "read", "arguments": {"path": "a.txt"}}', "Connected.", [("ls", "b.txt")])
    >>> step.name, step.arguments, step.has_seen("a.txt"), step.has_seen("b.txt"), sorted(step.done)
    ('read', {'path': 'a.txt'}, False, True, ['ls'])
    >>> repeated = Step.of("ls", "$", [("cd src", "$"), ("ls", "a.py"), ("pwd", "/src")], Effects(idle=("ls", "pwd")))
    >>> repeated.state, repeated.again
    ('$', 'a.py')
    """

    name: str
    """What the action does, in one word: its tool, its type, or its first word."""

    arguments: Mapping[str, Any]
    """The arguments of a call. Of any other action the words behind the first one, under the name `words`."""

    action: str
    """The action as the agent wrote it."""

    first: str = ""
    """What was shown before the first action."""

    turns: Sequence[tuple[str, str]] = field(default=(), repr=False)
    """The turns before, each an action and what it showed."""

    state: str = ""
    """What the last action showed that may have changed something and did not fail; or else `first`."""

    again: str | None = None
    """What the same idle action showed, if nothing but idle actions came since; None where it is new."""

    done: frozenset[str] = frozenset()
    """The names of the actions that were done before."""

    things: Mapping[str, Made] = field(default_factory=dict)
    """The things that were made before, and not removed since, by name."""

    _known: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, action: str, first: str, turns: Sequence[tuple[str, str]], effects: Effects = NO_EFFECTS) -> Step:
        """Read an action after some turns, in a system whose actions have some effects."""
        *_, step = steps_of([*turns, (action, "")], first, effects)
        return step

    @property
    def before(self) -> str:
        """What was shown last."""
        return self.turns[-1][1] if self.turns else self.first

    @property
    def shown(self) -> str:
        """All that was shown and done before."""
        return "\n".join((self.first, *(text for turn in self.turns for text in turn)))

    @cached_property
    def given(self) -> dict[str, Any]:
        """What a template or a condition may name: the arguments, the whole action and all behind its first word, the
        last line that was shown, the state, and what is known of the first thing that the arguments name."""
        line, rest = self.before.rpartition("\n")[2], self.action.partition(self.name)[2].strip()
        named = (value for _, value in places(self.arguments) if isinstance(value, str) and value in self.things)
        made = self.things.get(next(named, ""), NOTHING)
        said = {"$action": self.action, "$rest": rest, "$line": line, "$state": self.state}
        of = {"$maker": made.by, "$made": made.of, "$last": made.last, "$change": made.change}
        return {**self.arguments, **said, **of}

    def has_seen(self, text: str) -> bool:
        """Return whether a text was shown or written before, as it is or as JSON writes it."""
        if (known := self._known.get(text)) is None:
            forms = {text, json.dumps(text)[1:-1]}
            shown = (self.first, *(one for turn in self.turns for one in turn))
            known = self._known[text] = any(form in one for one in shown for form in forms)
        return known


def steps_of(turns: Sequence[tuple[str, str]], first: str, effects: Effects = NO_EFFECTS) -> Iterator[Step]:
    """Yield the actions of a session, each with what came before it.

    Args:
        turns: The turns, each an action and what it showed.
        first: What was shown before the first action.
        effects: What actions do.
    """
    state, again, done, things = first, dict[str, str](), frozenset[str](), dict[str, Made]()
    for number, (action, shown) in enumerate(turns):
        name, arguments = read_call(action)
        yield Step(name, arguments, action, first, turns[:number], state, again.get(action), done, things)
        failed = is_error(shown, action)
        if name in effects.idle:
            again[action] = shown
        else:
            again.clear()
            state = state if failed else shown
        done |= {name}
        if not failed:
            made = {text: Made(name, of, name, of) for text, of in _named(arguments, name, effects.makes)}
            gone = {text for text, _ in _named(arguments, name, effects.removes)}
            if name not in effects.idle:
                changed = {text: of for text, of in _texts_in(arguments, arguments) if text in things}
                things = things | {text: things[text]._replace(last=name, change=of) for text, of in changed.items()}
            things = {text: one for text, one in (made | things).items() if text not in gone}


def _named(
    arguments: Mapping[str, Any], name: str, by: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the texts at the places that some actions name, each with the object that it stands in."""
    for action, path in by:
        if action == name:
            inside, _, key = path.rpartition(".")
            holders = values_at(arguments, inside) if inside else [arguments]
            for holder in holders:
                for value in values_at(holder, key) if isinstance(holder, Mapping) else ():
                    if isinstance(value, str):
                        yield value, holder


def _texts_in(value: Any, holder: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the texts in a document, each with the object that it stands in."""
    if isinstance(value, str):
        yield value, holder
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_in(inner, value)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner, holder)


def read_call(action: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of an action, in whatever form it is written.

    >>> read_call('{"name": "add", "arguments": "{\\\\"a\\\\": 1}"}'), read_call('{"action_type": "click", "index": 3}')
    (('add', {'a': 1}), ('click', {'index': 3}))
    >>> read_call("mv a.txt notes"), read_call('[{"keystrokes": "cat a\\\\n"}]')
    (('mv', {'words': ['a.txt', 'notes']}), ('cat', {'words': ['a']}))
    """
    value = _json(action)
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict) and "keystrokes" in value:
        action, value = str(value["keystrokes"]), None
    if isinstance(value, dict):
        given = value.get("arguments", MISSING)
        given = _json(given) if isinstance(given, str) else given
        if isinstance(given, dict):
            return verb(action), given
        return verb(action), {key: one for key, one in value.items() if key not in ("name", "action_type", "arguments")}
    name = verb(action)
    _, _, rest = action.partition(name)
    return name, {"words": _WORD.findall(rest)} if rest.strip() else {}


def is_error(observation: str, action: str = "") -> bool:
    r"""Return whether an answer says that the action failed, as far as its first line or its keys tell.

    A first line that only repeats the action, as that of a shell does, does not count.

    >>> is_error("cat: a.txt: No such file or directory"), is_error('{"error": "full"}'), is_error('[{"error": 1}]')
    (True, True, False)
    >>> is_error("$ cat error.txt\nwell", "cat error.txt"), is_error("$ cat a\ncat: a: No such file", "cat a")
    (False, True)
    """
    value = _json(observation)
    if value is None:
        line, _, rest = observation.lstrip().partition("\n")
        if rest and action and line.endswith(action):
            line = rest.partition("\n")[0]
        return _FAILED.search(line[:200]) is not None
    return isinstance(value, dict) and bool(
        value.get("error") or value.get("errors") or value.get("isError") or value.get("success") is False
    )


def values_at(value: Any, path: str) -> list[Any]:
    """Return the values at a path, with `MISSING` for each object that lacks the last key.

    >>> values_at({"files": [{"path": "a"}, {"path": "b"}]}, "files[].path")
    ['a', 'b']
    """
    level = [value]
    for part in _parts(path):
        if part == "[]":
            level = [inner for one in level if isinstance(one, list) for inner in one]
        else:
            level = [one.get(part, MISSING) for one in level if isinstance(one, Mapping)]
    return level


@lru_cache(maxsize=4096)
def _parts(path: str) -> list[str]:
    return _PART.findall(path)


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of everything in a document, without the document itself.

    >>> [path for path, _ in places({"files": [{"path": "a"}]})]
    ['files', 'files[]', 'files[].path']
    """
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if _KEY.fullmatch(key):
                yield from places(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from places(inner, f"{path}[]")


def json_type(value: Any) -> JsonType:
    """Return what JSON Schema calls the type of a value.

    >>> [json_type(value) for value in ("a", 1, 1.5, True, {}, [], None)]
    ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']
    """
    match value:
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "number"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
    return "null"


def answer_kind(action: str, observation: str) -> str:
    """Return what kind of answer an observation is: what the action did, and what the answer holds beside values.

    Of JSON the names and types count, not how often they stand there. Of a text its words count, without those that
    the action had, numbers and paths.

    >>> ask = '{"name": "get", "arguments": {"name": "Emma"}}'
    >>> answer_kind(ask, '[{"name": "Emma", "age": 3}]') == answer_kind(ask, '[{"age": 4, "name": "x"}, {"age": 1}]')
    True
    >>> answer_kind(ask, "no Emma, 3 others") == answer_kind(ask.replace("Emma", "Dune"), "no Dune, 14 others")
    True
    >>> answer_kind(ask, "[]") == answer_kind(ask, "[3]")
    False
    """
    try:
        shape = " ".join(sorted(set(_paths(json.loads(observation), ""))))
    except (ValueError, RecursionError):
        given = set(re.findall(r"\w+", action))
        words = re.findall(r"\w+", _NAME.sub("*", observation[:LONGEST]))
        shape = " ".join(dict.fromkeys("*" if word in given else word for word in words))
    return f"{verb(action)}: {shape}"


def _paths(value: Any, place: str) -> Iterator[str]:
    """Yield the names and the types in a document."""
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _paths(inner, f"{place}.{key}")
        case list() if value:
            for inner in value:
                yield from _paths(inner, f"{place}[]")
        case _:
            empty = isinstance(value, str | dict | list) and not value
            yield f"{place} {type(value).__name__}{' empty' if empty else ''}"


def templated(answer: str, step: Step) -> str:
    """Return an answer with slots for what its action gave.

    `{path}` stands for a text or for JSON in one line, `{path:0}` for JSON without spaces, `{path:2}` for JSON on
    several lines, and `{path:2+4}` for such lines four deeper. In an answer that is JSON, `{path:q}` stands for a text
    as JSON quotes it.

    >>> templated("cat: a.txt: No such file", Step.of("cat a.txt", "", []))
    'cat: {words[]}: No such file'
    """
    if answer and answer == step.state:
        return "{$state}"
    slots, quoted = dict[str, str](), _json(answer) is not None
    for path, value in places({**step.given, "$state": None}):
        for name, text in _written(value, quoted):
            if (len(text) > 1 or text == step.given["$line"] == text.strip()) and text and len(slots) < _MOST_SLOTS:
                slots.setdefault(text, f"{{{path}{name}}}")
    texts = sorted((text for text in slots if text in answer), key=len, reverse=True)
    if not texts:
        return answer
    return re.sub("|".join(map(_whole, texts)), lambda found: slots[found[0]], answer)


def rendered(template: str, step: Step) -> str | None:
    """Return the answer that a template stands for; None where a part of it is not known.

    A slot stands for the first value at its place that names no thing which was made, or that nothing has shown, or
    else for the first.

    >>> step = Step.of("rm a.txt b.txt", "a.txt", [])
    >>> rendered("rm: {words[]}: no such file", step), rendered("{path}", step), rendered("at … o'clock", step)
    ('rm: b.txt: no such file', None, None)
    """
    if WILD in template:
        return None
    try:
        return _SLOT.sub(lambda found: _filled(found, step), template)
    except LookupError:
        return None


def common(templates: Sequence[str]) -> str:
    """Return the template of most answers, or else what they have in common.

    >>> common(["saved a.txt", "saved a.txt", "saved {path}"]), common(["took 3 s", "took 4 s"]), common(["ab", "c d"])
    ('saved a.txt', 'took … s', '…')
    """
    counts = Counter(templates)
    first, count = counts.most_common(1)[0]
    if (2 * count >= len(templates) and count > 1) or len(counts) == 1:
        return first
    texts = [_TOKEN.findall(text) for text in list(counts)[:_COMPARED]]
    if len(set(map(len, texts))) == 1:
        columns = [set(column) for column in zip(*texts, strict=True)]
        tokens = [next(iter(column)) if len(column) == 1 else WILD for column in columns]
    else:
        begin = _alike(texts)
        end = _alike([text[begin:][::-1] for text in texts])
        tokens = [*texts[0][:begin], WILD, *texts[0][len(texts[0]) - end :]]
    return re.sub(f"{WILD}(?:[^\\w\\n{{}}]*{WILD})+", WILD, "".join(tokens))


def _alike(texts: Sequence[Sequence[str]]) -> int:
    """Return how many tokens all texts begin with."""
    return next((n for n, column in enumerate(zip(*texts, strict=False)) if len(set(column)) > 1), min(map(len, texts)))


def _written(value: Any, quoted: bool) -> Iterator[tuple[str, str]]:
    """Yield how a value may be written, each with the name of the format; texts as JSON quotes them, if asked."""
    if isinstance(value, str):
        yield (":q", _quoted(value)) if quoted else ("", value)
    elif value is not None and not isinstance(value, bool):
        for name, asked in _FORMATS.items():
            yield name, json.dumps(value, ensure_ascii=False, **asked)
        if "\n" in (lines := json.dumps(value, ensure_ascii=False, **_FORMATS[":2"])):
            for depth in _DEPTHS:
                yield f":2+{depth}", _deeper(lines, depth)


def _quoted(text: str) -> str:
    """Return a text as it stands between the quotes of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _deeper(text: str, depth: int) -> str:
    """Return lines of JSON as they stand where the document around them is so deep."""
    return text.replace("\n", "\n" + " " * depth)


def _whole(text: str) -> str:
    """Return a pattern that finds a text where it is no part of a longer word."""
    before, after = (r"(?<!\w)" if text[0].isalnum() else ""), (r"(?!\w)" if text[-1].isalnum() else "")
    return before + re.escape(text) + after


def _filled(slot: re.Match[str], step: Step) -> str:
    values = [value for value in values_at(step.given, slot[1]) if value is not MISSING]
    texts = [value for value in values if isinstance(value, str)]
    tests = (step.things.__contains__, step.has_seen) if step.things else (step.has_seen,)
    fresh = (value for known in tests for value in texts if not known(value))
    value = next(fresh, values[0]) if values else MISSING
    if value is MISSING:
        raise LookupError(slot[1])
    form = slot[2] or ""
    if isinstance(value, str):
        return _quoted(value) if form == ":q" else value
    text = json.dumps(value, ensure_ascii=False, **_FORMATS["" if form == ":q" else form[:2]])
    return _deeper(text, int(form[3:])) if form[3:] else text


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
