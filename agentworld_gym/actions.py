"""From the text an agent wrote to the action its domain understands."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from agentworld_gym.contracts import Action, ActionKind
from agentworld_gym.errors import SpecError
from agentworld_gym.escaping import is_valid
from agentworld_gym.spec import ActionSpec, DomainSpec, FinishRule, Syntax

MAX_DEPTH = 64
"""How deep the JSON of an action may nest."""

_MAX_PROBLEMS = 8


class Problem(Exception):
    """The text has the shape of a syntax but cannot be read; the message says why."""


class ActionParser:
    """Reads the actions of one domain. It never raises on a text: what cannot be read gets `Action.error`.

    >>> from agentworld_gym.spec import load_spec
    >>> parser = ActionParser(load_spec("terminal"))
    >>> parser.parse("ls").parsed
    [{'keystrokes': 'ls\\n', 'duration': 1.0}]
    >>> parser.parse("finish: 42").answer
    '42'
    """

    def __init__(self, spec: DomainSpec) -> None:
        self._spec = spec
        self._action = spec.action
        self._limit = spec.limits.max_action_chars
        self._error = SandboxedEnvironment(undefined=StrictUndefined).from_string(spec.action.errors)
        schema = spec.action.json_schema
        self._schema = compiled(schema, spec, "action.schema") if schema else None
        self._strings = schema.get("type") == "string"
        self._finish = [(rule, json_or_none(rule.text)) for rule in spec.action.finish_when]
        self._own_tools = self._tool_set(spec.action.tools)
        self._task_tools: dict[int, tuple[Sequence[Mapping[str, Any]], Tools]] = {}
        readers: dict[Syntax, Callable[[str, Tools], Any]] = {
            "keystroke_batch": _keystroke_batch,
            "command_line": _command_line,
            "tool_call": _tool_call,
            "function_call": _function_call,
            "json_object": _json_object,
            "python_code": _text,
            "plain_text": _text,
        }
        self._readers = [readers[syntax] for syntax in spec.action.syntax]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._spec,)

    def parse(self, text: str, tools: Sequence[Mapping[str, Any]] = (), agent: str | None = None) -> Action:
        """The action a text stands for; `tools` are those of the task, beside the domain's own."""
        known = self._tools(tools)
        try:
            if len(text) > self._limit:
                raise Problem(f"the action has {len(text)} characters, the limit is {self._limit}")
            if not is_valid(text):
                raise Problem("the action is not valid Unicode: it holds a lone surrogate")
            stripped = text.strip()
            if stripped.startswith("finish"):
                rest = stripped[6:].lstrip()
                if not rest:
                    return Action(text, kind=ActionKind.FINISH, agent=agent)
                if rest[0] == ":":
                    return Action(text, kind=ActionKind.FINISH, answer=rest[1:].strip(), agent=agent)
            return self._read(text, stripped, known, agent)
        except Problem as problem:
            return Action(text, error=self._rendered(str(problem), text), agent=agent)

    def shown(self, action: Action) -> str:
        """What stands in the action block of a prompt: JSON with indent 2 where the fence is JSON, else the text."""
        return shown(self._action, action, self._limit)

    def _read(self, text: str, stripped: str, known: Tools, agent: str | None) -> Action:
        for rule, _value in self._finish:
            if rule.text is not None and stripped == rule.text and not rule.confirm:
                return Action(text, kind=ActionKind.FINISH, agent=agent)
        problem: Problem | None = None
        for reader in self._readers:
            try:
                parsed = reader(text, known)
                if parsed is not None:
                    self._check(parsed)
                    return self._with_kind(text, stripped, parsed, agent)
            except Problem as found:
                problem = problem or found
        raise problem or Problem(f"expected {expected(self._action.syntax)}, such as {self._action.examples[0]}")

    def _check(self, parsed: Any) -> None:
        if self._schema is None or (isinstance(parsed, str) and not self._strings):
            return
        found = [f"{where(error)}{error.message}" for error in islice(errors(self._schema, parsed), _MAX_PROBLEMS)]
        if found:
            raise Problem("; ".join(found))

    def _with_kind(self, text: str, stripped: str, parsed: Any, agent: str | None) -> Action:
        for rule, value in self._finish:
            if not _matches(rule, value, stripped, parsed):
                continue
            kind = ActionKind.CONFIRM if rule.confirm else ActionKind.FINISH
            answer = _at(parsed, rule.answer) if rule.answer else None
            return Action(text, parsed, None, kind, None if answer is None else _as_text(answer), agent)
        return Action(text, parsed, agent=agent)

    def _rendered(self, problem: str, raw: str) -> str:
        try:
            return self._error.render(problem=problem, raw=_cut(raw, self._limit))
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError):
            return problem

    def _tools(self, tools: Sequence[Mapping[str, Any]]) -> Tools:
        if not tools:
            return self._own_tools
        # Keyed by identity, and the value keeps the list alive, so that the key cannot be reused meanwhile.
        entry = self._task_tools.get(id(tools))
        if entry is None:
            if len(self._task_tools) >= 256:
                self._task_tools.clear()
            entry = self._task_tools[id(tools)] = (tools, self._tool_set([*self._action.tools, *tools]))
        return entry[1]

    def _tool_set(self, tools: Sequence[Mapping[str, Any]]) -> Tools:
        return Tools(tools, self._spec)


def shown(self, action: Action) -> str:
        """What stands in the action block of a prompt: JSON with indent 2 where the fence is JSON, else the text."""
        return shown(self._action, action, self._limit)

    def _read(self, text: str, stripped: str, known: Tools, agent: str | None) -> Action:
        for rule, _value in self._finish:
            if rule.text is not None and stripped == rule.text and not rule.confirm:
                return Action(text, kind=ActionKind.FINISH, agent=agent)
        problem: Problem | None = None
        for reader in self._readers:
            try:
                parsed = reader(text, known)
                if parsed is not None:
                    self._check(parsed)
                    return self._with_kind(text, stripped, parsed, agent)
            except Problem as found:
                problem = problem or found
        raise problem or Problem(f"expected {expected(self._action.syntax)}, such as {self._action.examples[0]}")

    def _check(self, parsed: Any) -> None:
        if self._schema is None or (isinstance(parsed, str) and not self._strings):
            return
        found = [f"{where(error)}{error.message}" for error in islice(errors(self._schema, parsed), _MAX_PROBLEMS)]
        if found:
            raise Problem("; ".join(found))

    def _with_kind(self, text: str, stripped: str, parsed: Any, agent: str | None) -> Action:
        for rule, value in self._finish:
            if not _matches(rule, value, stripped, parsed):
                continue
            kind = ActionKind.CONFIRM if rule.confirm else ActionKind.FINISH
            answer = _at(parsed, rule.answer) if rule.answer else None
            return Action(text, parsed, None, kind, None if answer is None else _as_text(answer), agent)
        return Action(text, parsed, agent=agent)

    def _rendered(self, problem: str, raw: str) -> str:
        try:
            return self._error.render(problem=problem, raw=_cut(raw, self._limit))
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError):
            return problem

    def _tools(self, tools: Sequence[Mapping[str, Any]]) -> Tools:
        if not tools:
            return self._own_tools
        # Keyed by identity, and the value keeps the list alive, so that the key cannot be reused meanwhile.
        entry = self._task_tools.get(id(tools))
        if entry is None:
            if len(self._task_tools) >= 256:
                self._task_tools.clear()
            entry = self._task_tools[id(tools)] = (tools, self._tool_set([*self._action.tools, *tools]))
        return entry[1]

    def _tool_set(self, tools: Sequence[Mapping[str, Any]]) -> Tools:
        return Tools(tools, self._spec)


class Tools:
    """The tools that can be called, with their compiled parameter schemas; without any, every name is one."""

    def __init__(self, tools: Sequence[Mapping[str, Any]], spec: DomainSpec) -> None:
        self.parameters: dict[str, list[str]] = {}
        self._schemas: dict[str, jsonschema_rs.Validator] = {}
        for index, tool in enumerate(tools):
            name = tool.get("name")
            if not isinstance(name, str):
                raise SpecError(spec.path, f"tools.{index}.name", name, "a name")
            schema = tool.get("parameters") or tool.get("inputSchema") or {}
            self._schemas[name] = compiled(schema, spec, f"tools.{index}.parameters ({name})")
            self.parameters[name] = list(schema.get("properties", ()))

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The call, if there is such a tool and the arguments fit it."""
        schema = self._schemas.get(name)
        if schema is None:
            if self._schemas:
                raise Problem(f"Unknown tool: {name}")
        elif problems := _lines(schema, arguments):
            count = f"{len(problems)} validation error{'s' if len(problems) > 1 else ''}"
            raise Problem(f"Error executing tool {name}: {count} for {name}Arguments\n" + "\n".join(problems))
        return {"name": name, "arguments": arguments}


def shown(spec: ActionSpec, action: Action, limit: int) -> str:
    """What stands in the action block of a prompt; of a text beyond the limit only the start, saying so."""
    if spec.fence == "json" and action.parsed is not None and not isinstance(action.parsed, str):
        parsed = action.parsed
        if spec.arguments_as_string and isinstance(parsed, dict) and isinstance(parsed.get("arguments"), dict):
            parsed = {**parsed, "arguments": json.dumps(parsed["arguments"], ensure_ascii=False)}
        return json.dumps(parsed, indent=2, ensure_ascii=False)
    return _cut(action.raw, limit)


def _cut(raw: str, limit: int) -> str:
    return raw if len(raw) <= limit else f"{raw[:limit]}\n[cut: {len(raw) - limit} more characters]"


def _matches(rule: FinishRule, value: Any, stripped: str, parsed: Any) -> bool:
    if rule.text is not None:
        return stripped == rule.text or (isinstance(value, list | dict) and value == parsed)
    return bool(rule.when) and all(_at(parsed, key) == wanted for key, wanted in rule.when.items())


def _at(parsed: Any, key: str) -> Any:
    """The value at a key, or at a dotted path of keys."""
    for part in key.split("."):
        parsed = parsed.get(part) if isinstance(parsed, dict) else None
    return parsed


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


