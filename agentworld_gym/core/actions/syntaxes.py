"""The ways of writing an action, each with a reader that gives plain data.

A reader returns None where the text does not have its shape, and raises `UnreadableAction` where it has and is broken.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import is_valid
from agentworld_gym.core.actions.function_calls import read_call_text
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction, first_line
from agentworld_gym.core.actions.writing import keystroke_text
from agentworld_gym.core.registration import resolved, syntax_reference

MAX_DEPTH = 64
"""How deep the JSON of an action may nest."""

MAX_DIGITS = 300
"""How many digits an integer in an action may have: what a double can hold."""

_TEST = re.compile(r"\s*\[\[?[ \t]+[^\s\[\]{]")
"""How a test of the shell begins, `[ WORD` or `[[ WORD`, which no array of objects does."""

Reader = Callable[[str, Toolset], Any]


class ActionSyntax(NamedTuple):
    """One way of writing an action; `Domain.syntaxes` refers to those that one domain brings."""

    read: Reader
    """The reader."""

    called: str
    """How the syntax is called in an error."""

    write: Callable[[Any, str], str] | None = None
    """A writer, which gets a parsed action and the text of the screen on which the agent acts. Without one an action is
    shown as JSON or as it was written."""

    rewrites_own: bool = False
    """Whether the writer also writes what was written in the syntax itself, which otherwise is shown as it stands."""

    show_call: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """The call that a full prompt shows as JSON, of the call that was read."""

    as_written: bool = False
    """Whether a full prompt shows the JSON of an action with the keys that the agent wrote, where reading gives others.
    It counts wherever the syntax stands among those of a spec."""

    shows_as_text: Callable[[str], bool] | None = None
    """Whether a full prompt shows a written action in a block of text, although the fence of the spec is Python."""

    calls_tools: bool = False
    """Whether an action calls a tool and may be written as JSON."""

    takes: Literal["shell", "python", "text"] | None = None
    """What the syntax takes almost any text for; None where it takes texts of its own shape only."""

    own_only: bool = False
    """Whether the syntax is read in the dialect in force alone, as it would take the actions of other dialects."""


def keystroke_batch(text: str, _tools: Toolset) -> list[dict[str, Any]] | None:
    r"""Read a JSON array of keystrokes with how long to wait after each, in seconds that are no integers.

    >>> keystroke_batch('[{"duration": 2, "keystrokes": "ls\\n"}]', Toolset((), "spec.yaml"))
    [{'keystrokes': 'ls\n', 'duration': 2.0}]
    """
    if not text.lstrip().startswith("[") or _TEST.match(text):
        return None
    batch: list[Any] = read_json(text)
    for index, item in enumerate(batch):
        if not isinstance(item, dict) or not isinstance(item.get("keystrokes"), str):
            raise UnreadableAction(f"item {index} must be an object with a string 'keystrokes'")
        duration = item.pop("duration", 1.0)
        if isinstance(duration, bool) or not isinstance(duration, int | float):
            raise UnreadableAction(f"item {index}: 'duration' must be a number of seconds")
        batch[index] = {"keystrokes": item.pop("keystrokes"), "duration": float(duration), **item}
    return batch


def command_line(text: str, _tools: Toolset) -> list[dict[str, Any]] | None:
    """Read a text that is typed and followed by Enter: any that does not start with `[`, or starts as a test does.

    >>> tools = Toolset((), "spec.yaml")
    >>> command_line("[ -f a ] && echo yes", tools)
    [{'keystrokes': '[ -f a ] && echo yes\\n', 'duration': 1.0}]
    >>> command_line('[ {"keystrokes": "ls"', tools) is None
    True
    """
    if text.lstrip().startswith("[") and not _TEST.match(text):
        return None
    return [{"keystrokes": text.rstrip("\r\n") + "\n", "duration": 1.0}]


def tool_call(text: str, tools: Toolset) -> dict[str, Any] | None:
    """Read `{"name": …, "arguments": {…}}`, with the arguments as an object or as its JSON text."""
    call = json_object(text, tools)
    if call is None:
        return None
    name, arguments = call.get("name"), call.get("arguments")
    if not isinstance(name, str):
        raise UnreadableAction("a tool call needs a string 'name'")
    if isinstance(arguments, str):
        arguments = read_json(arguments, "'arguments'") if arguments.strip() else None
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise UnreadableAction("'arguments' must be an object")
    return tools.call(name, arguments)


def function_call(text: str, tools: Toolset) -> dict[str, Any] | None:
    """Read a call such as `click('12')` or `click(bid="12", twice=true)`, with literals of Python or JSON as arguments.

    >>> tools = Toolset([{"name": "click", "parameters": {"properties": {"bid": {}}}}], "spec.yaml")
    >>> function_call("click('12')", tools)
    {'name': 'click', 'arguments': {'bid': '12'}}
    """
    source = text.strip()
    if not source.endswith(")") or not source[0].isidentifier():
        return None
    if (parts := read_call_text(source)) is not None:
        return tools.call(parts[0], {name: read_json(value, f"'{name}'") for name, value in parts[1].items()})
    try:
        call = ast.parse(source, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        name = call.func.id
        call = _JsonNames().visit(call)
        positional = [_literal(argument) for argument in call.args]
        if any(word.arg is None for word in call.keywords):
            raise ValueError("** is not one")
        named = {str(word.arg): _literal(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise UnreadableAction(f"not a call with literal arguments: {first_line(error)}") from None
    arguments = tools.bind(name, positional)
    for parameter in named:
        if parameter in arguments:
            raise UnreadableAction(f"{name}() got multiple values for argument '{parameter}'")
    return tools.call(name, _plain({**arguments, **named}))


def json_object(text: str, _tools: Toolset) -> dict[str, Any] | None:
    """Read any JSON object."""
    if not text.lstrip().startswith("{"):
        return None
    value: dict[str, Any] = read_json(text)
    return value


def any_text(text: str, _tools: Toolset) -> str | None:
    """Read any text that is not blank."""
    return text if text.strip() else None


SYNTAXES: Mapping[str, ActionSyntax] = {
    "keystroke_batch": ActionSyntax(
        keystroke_batch,
        "a JSON array of keystrokes",
        lambda batch, _screen: keystroke_text(batch),
        rewrites_own=True,
    ),
    "command_line": ActionSyntax(command_line, "a command line", takes="shell"),
    "tool_call": ActionSyntax(tool_call, 'a tool call {"name": ..., "arguments": {...}}', calls_tools=True),
    "function_call": ActionSyntax(function_call, "a function call"),
    "json_object": ActionSyntax(json_object, "a JSON object"),
    "plain_text": ActionSyntax(any_text, "a text", takes="text"),
}
"""The syntaxes that all domains have."""


def find_syntax(name: str) -> ActionSyntax:
    """Return a syntax, which all domains have or one.

    Raises:
        SpecError: No domain has it.

    >>> find_syntax("plain_text").called, find_syntax("droidrun_call").called
    ('a text', 'a call <invoke name="phone">')
    """
    if name in SYNTAXES:
        return SYNTAXES[name]
    reference = syntax_reference(name)
    if reference is None:
        raise SpecError("action", "syntax", name, "a syntax of all domains, or one that a domain brings")
    found: ActionSyntax = resolved(reference)
    return found


def calls_tools(names: Iterable[str]) -> bool:
    """Return whether an action in one of some syntaxes calls a tool and may be written as JSON.

    >>> calls_tools(["tool_call"]), calls_tools(["keystroke_batch", "command_line"])
    (True, False)
    """
    return any(find_syntax(name).calls_tools for name in names)


def read_json(text: str, what: str = "the action") -> Any:
    """Read JSON of bounded depth and finite numbers, which can be written as UTF-8 again.

    Raises:
        UnreadableAction: The text is something else.
    """
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableAction(f"{what} is not valid JSON: {first_line(error)}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise UnreadableAction(f"{what} nests deeper than {MAX_DEPTH} levels")
    if "\\u" in text and not is_valid(json.dumps(value, ensure_ascii=False)):
        raise UnreadableAction(f"{what} is not valid Unicode: it holds a lone surrogate")
    return value


def _literal(node: ast.expr) -> Any:
    """Return the value of a literal. For any other expression Python's own message would tell a memory address."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError("texts in quotes, numbers, lists and the like, as in click('e17')") from None


class _JsonNames(ast.NodeTransformer):
    """Replaces JSON's constants by Python's."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the constant that a name means in JSON, or the name."""
        return ast.Constant(_JSON_NAMES[node.id]) if node.id in _JSON_NAMES else node


_JSON_NAMES = {"true": True, "false": False, "null": None}


def _plain(value: Any) -> Any:
    """Return the JSON data that Python literals are closest to."""
    try:
        return read_json(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UnreadableAction(f"an argument is not plain data: {first_line(error)}") from None


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _constant(digits[:20])


def _int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_constant=_constant, parse_float=_float, parse_int=_int)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
    return depth
