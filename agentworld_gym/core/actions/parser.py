"""Reads the text that an agent wrote as an action of its domain, and writes the action as a world model sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson
from jinja2 import StrictUndefined, TemplateError

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.text.escaping import is_valid
from agentworld_gym.core.actions.finish import read_finish
from agentworld_gym.core.actions.naming import called, full_names, renamed, with_component
from agentworld_gym.core.actions.syntaxes import find_syntax, read_json
from agentworld_gym.core.actions.toolset import CompiledSchema, Toolset, UnreadableAction, example_call
from agentworld_gym.core.actions.writing import with_json_arguments
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.action_spec import FinishRule
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.user import ASK, has_user, read_question
from agentworld_gym.core.screens import is_graphical
from agentworld_gym.core.screens.locate import has_whole_locator

_CACHED_TOOLSETS = 256
_AS_OBJECT, _AS_STRING = '"arguments": {...}', '"arguments": "{...}"'
"""How errors show the arguments of a call, where a world model sees them as an object and as a JSON text."""
_UNRESOLVED = (
    "@{...} names an element of the screen and has to be resolved first: "
    "see env.unwrapped.menu and agentworld_gym.core.screens.resolve, which takes what read_screen reads"
)


class ActionParser:
    r"""Reads the actions of one domain. A text that cannot be read is an action with an `error`; it raises nothing.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> parser = ActionParser(load_spec("terminal"))
    >>> parser.parse("ls").parsed
    [{'keystrokes': 'ls\n', 'duration': 1.0}]
    >>> parser.parse("finish: 42").answer
    '42'
    """

    def __init__(self, spec: DomainSpec) -> None:
        self.spec = spec
        self._limit = spec.limits.max_action_chars
        self._error = BoundedEnvironment(undefined=StrictUndefined).from_string(spec.action.errors)
        schema = spec.action.json_schema
        self._schema = CompiledSchema(schema, spec.path, "action.schema") if schema else None
        self._grammars = [_Grammar(dialect, dialect.dialect == spec.dialect) for dialect in spec.in_every_dialect()]
        syntaxes = [find_syntax(name) for name in spec.action.syntax]
        expected = " or ".join(syntax.called for syntax in syntaxes)
        written = _AS_STRING if spec.action.arguments_as_string else _AS_OBJECT
        self._expected = expected.replace(_AS_OBJECT, written)
        self._syntax = syntaxes[0]
        self._as_written = any(syntax.as_written for syntax in syntaxes)
        self._finish = [(rule, _array(rule.text)) for rule in spec.action.finish_when]
        self._finishing = {rule.text for rule in spec.action.finish_when if not rule.confirm}
        self._graphical = is_graphical(spec.id)
        self._keystrokes = "keystroke_batch" in spec.action.syntax

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec,)

    def parse(
        self, text: str, tools: Sequence[Mapping[str, Any]] = (), agent: str | None = None, shown: str = ""
    ) -> Action:
        """Read the action that a text stands for, in the dialect in force or in another one of the domain.

        Args:
            text: What the agent wrote.
            tools: The tools of the task, beside those of the domain.
            agent: The name of the agent, where there are several.
            shown: What the agent was shown before, without the instruction.

        Raises:
            SpecError: A tool of the task is broken.
        """
        toolsets = [grammar.toolset(tools) for grammar in self._grammars]
        try:
            return self._parse(text, toolsets, agent, tools)
        except UnreadableAction as problem:
            return Action(text, error=self.refused(str(problem), text, shown), agent=agent)

    def tool_names(self, tools: Sequence[Mapping[str, Any]] = ()) -> frozenset[str]:
        """Return the names by which tools may be called, in the dialect in force or in another one of the domain.

        Args:
            tools: The tools of the task, beside those of the domain.

        Raises:
            SpecError: A tool of the task is broken.
        """
        return frozenset().union(*(grammar.toolset(tools).names for grammar in self._grammars))

    def action_block(self, action: Action, screen: str = "") -> str:
        """Return an action as the block of a full prompt shows it.

        The first syntax of the dialect in force writes it, where that has a writer. Otherwise, where the fence of the
        domain is JSON, this is the action as JSON with an indent of 2; elsewhere it is `raw`.

        Args:
            action: The action.
            screen: What was on the screen when the agent acted.
        """
        parsed, spec = action.parsed, self.spec.action
        if parsed is not None and (write := self._syntax.write) is not None:
            if not self._syntax.rewrites_own and self._is_own(action.raw):
                return self.raw(action)
            return write(with_component(parsed, spec), screen)
        if spec.bare_tool_names and isinstance(parsed, dict) and isinstance(parsed.get("name"), str):
            parsed = {**parsed, "name": called(parsed["name"], spec)}
        if parsed is None and action.error is not None and spec.fence == "json" and len(action.raw) <= self._limit:
            parsed = _json_in(action.raw)  # A call that a tool refuses is a call all the same.
        if spec.fence != "json" or parsed is None or isinstance(parsed, str):
            return self.raw(action)
        if self._as_written and action.raw.lstrip().startswith("{"):
            with suppress(UnreadableAction):
                parsed = read_json(action.raw)
        if isinstance(parsed, dict) and isinstance(parsed.get("arguments"), dict):
            if (show_call := self._syntax.show_call) is not None:
                parsed = dict(show_call(parsed))
            if spec.arguments_as_string:
                parsed = with_json_arguments(parsed, action.raw)
        return json.dumps(parsed, indent=2, ensure_ascii=False)

    def fence(self, action: Action) -> str:
        """Return the language of the fenced block in which a full prompt shows an action.

        Where that of the domain is Python, the syntax of the dialect in force may show an action as a text.
        """
        fence, shows_as_text = self.spec.action.fence, self._syntax.shows_as_text
        if fence == "python" and shows_as_text is not None and shows_as_text(self.action_block(action).strip()):
            return "text"
        return fence

    def raw(self, action: Action) -> str:
        """Return the text as the agent wrote it; beyond the limit it ends with how much was cut."""
        return _cut(action.raw, self._limit)

    def typed(self, action: Action) -> str:
        """Return the text that a batch of keystrokes types, without the last Enter; for any other action return
        `raw`."""
        if not self._keystrokes or action.error is not None or not action.parsed:
            return self.raw(action)
        text = "".join(key["keystrokes"] for key in action.parsed).removesuffix("\n")
        return _cut(text, self._limit)

    def _is_own(self, text: str) -> bool:
        """Whether the first syntax of the dialect in force reads a text."""
        try:
            return self._grammars[0].readers[0](text, self._grammars[0].toolset(())) is not None
        except UnreadableAction:
            return False

    def _parse(
        self, text: str, known: Sequence[Toolset], agent: str | None, tools: Sequence[Mapping[str, Any]]
    ) -> Action:
        if len(text) > self._limit:
            raise UnreadableAction(f"the action has {len(text)} characters, the limit is {self._limit}")
        if not is_valid(text):
            raise UnreadableAction("the action is not valid Unicode: it holds a lone surrogate")
        asks = has_user(tools)
        if asks and (question := read_question(text)) is not None:
            return _asking(text, question, agent)
        if (finish := read_finish(text)) is not None:
            return Action(text, kind=ActionKind.FINISH, answer=finish.answer, agent=agent)
        if text.strip() in self._finishing:
            return Action(text, kind=ActionKind.FINISH, agent=agent)
        if self._graphical and has_whole_locator(text):
            raise UnreadableAction(_UNRESOLVED)
        parsed = self._read(text, known, tools)
        if asks and isinstance(parsed, dict) and parsed.get("name") == ASK:  # A call in the domain's own notation.
            given = [*parsed["arguments"].values()] if isinstance(parsed.get("arguments"), dict) else []
            if len(given) == 1 and isinstance(given[0], str):
                return _asking(text, given[0], agent)
            raise UnreadableAction(f"{ASK} takes one argument, 'question', which is a text")
        return self._classified(text, parsed, agent)

    def _read(self, text: str, known: Sequence[Toolset], offered: Sequence[Mapping[str, Any]]) -> Any:
        """Read the text in the first syntax that can, those of the dialect in force first.

        Raises:
            UnreadableAction: None can; it is the problem of the first syntax that has one.
        """
        first: UnreadableAction | None = None
        for grammar, tools in zip(self._grammars, known, strict=True):
            for reader in grammar.readers:
                try:
                    parsed = reader(text, tools)
                    if parsed is None:
                        continue
                    if self._schema is not None and (problems := self._schema.problems(parsed)):
                        raise UnreadableAction("; ".join(problems))
                    return parsed
                except UnreadableAction as problem:
                    first = first or problem
        own = offered and not self.spec.action.arguments_as_string
        example = example_call(offered[0]) if own else self.spec.action.examples[0]
        raise first or UnreadableAction(f"expected {self._expected}, such as {example}")

    def _classified(self, text: str, parsed: Any, agent: str | None) -> Action:
        for rule, array in self._finish:
            if _matches(rule, array, text, parsed):
                answer = None if rule.answer is None else _at(parsed, rule.answer)
                if answer is not None and not isinstance(answer, str):
                    answer = json.dumps(answer, ensure_ascii=False)
                kind = ActionKind.CONFIRM if rule.confirm else ActionKind.FINISH
                return Action(text, parsed, kind=kind, answer=answer, agent=agent)
        return Action(text, parsed, agent=agent)

    def refused(self, problem: str, raw: str, shown: str = "") -> str:
        """Return the error that the domain prints for an action that it does not take.

        Args:
            problem: What is wrong with the action.
            raw: The text that the agent wrote.
            shown: What the agent was shown before, without the instruction.
        """
        try:
            return self._error.render(problem=problem, raw=_cut(raw, self._limit), shown=shown)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError):
            return problem


class _Grammar:
    """The syntaxes and tools of one dialect.

    Args:
        spec: The spec in this dialect.
        in_force: Whether it is the dialect in force.
    """

    def __init__(self, spec: DomainSpec, in_force: bool) -> None:
        syntaxes = [find_syntax(name) for name in spec.action.syntax]
        self.readers = [syntax.read for syntax in syntaxes if in_force or not syntax.own_only]
        self._spec = spec
        self._own = self._made(())
        self._toolsets: dict[int, tuple[Sequence[Mapping[str, Any]], Toolset]] = {}
        self._compiled: dict[bytes, Toolset] = {}

    def toolset(self, tools: Sequence[Mapping[str, Any]]) -> Toolset:
        """Return the tools of the dialect and of a task."""
        if not tools:
            return self._own
        # The key is an identity: the value keeps the sequence alive, so that its id is not given to another one.
        entry = self._toolsets.get(id(tools))
        if entry is None:
            if len(self._toolsets) >= _CACHED_TOOLSETS:
                self._toolsets.clear()
            entry = tools, self._compile(tools)
            self._toolsets[id(tools)] = entry
        return entry[1]

    def _compile(self, tools: Sequence[Mapping[str, Any]]) -> Toolset:
        """Make the toolset of some tools. Every task of a family brings a list of its own, so equal tools share one."""
        try:
            key = orjson.dumps(tools)
        except TypeError:
            return self._made(tools)
        if key not in self._compiled:
            if len(self._compiled) >= _CACHED_TOOLSETS:
                self._compiled.clear()
            self._compiled[key] = self._made(tools)
        return self._compiled[key]

    def _made(self, tools: Sequence[Mapping[str, Any]]) -> Toolset:
        spec, there = self._spec.action, [*self._spec.action.tools, *tools]
        return Toolset(renamed(there, spec), self._spec.path, full_names(there, spec))


def _matches(rule: FinishRule, array: list[Any] | None, text: str, parsed: Any) -> bool:
    if rule.text is not None:
        return text.strip() == rule.text or (array is not None and array == parsed)
    return bool(rule.when) and all(_at(parsed, key) == wanted for key, wanted in rule.when.items())


def _array(text: str | None) -> list[Any] | None:
    """Return the JSON array that the text of a rule is; None where it is none. White space in it does not matter."""
    value = _json_in(text or "")
    return value if isinstance(value, list) else None


def _json_in(text: str) -> Any:
    """Return the JSON object or array that a text is; None where it is neither, or where it is beyond the limits."""
    try:
        value = read_json(text)
    except UnreadableAction:
        return None
    return value if isinstance(value, dict | list) else None


def _at(parsed: Any, key: str) -> Any:
    """Return the value at a key, or at a dotted path of keys; None where there is none."""
    for part in key.split("."):
        parsed = parsed.get(part) if isinstance(parsed, dict) else None
    return parsed


def _cut(raw: str, limit: int) -> str:
    return raw if len(raw) <= limit else f"{raw[:limit]}\n[cut: {len(raw) - limit} more characters]"


def _asking(text: str, question: str, agent: str | None) -> Action:
    """Return a question to the user, in whatever form it was written."""
    return Action(text, {"name": ASK, "arguments": {"question": question}}, kind=ActionKind.ASK, agent=agent)
