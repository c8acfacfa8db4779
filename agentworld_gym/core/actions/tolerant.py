"""Reads the action that a language model meant: past its thinking, its fences and its prose, or written loosely."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from agentworld_gym.core.actions.finish import VERB, read_finish
from agentworld_gym.core.actions.labelled_answers import labelled_answer
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.server_names import with_known_tools
from agentworld_gym.core.actions.syntaxes import find_syntax
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.user import ASK, has_user, read_question

Reading = Literal["tolerant", "exact"]
"""How an environment reads what an agent writes."""

_MAX_CHARS = 200_000
"""How long a text without its thinking may be that is searched for an action."""

_MAX_PIECES = 64
"""How many places of a text are tried as an action."""

_SHELLS = re.compile(r"|bash|sh|shell|zsh|console|terminal|text|txt|plaintext|json")
"""The languages of a fence that holds a command line or keystrokes."""

_OPENED = re.compile(r"\s*<(think|thinking|thought|reasoning)\s*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_UNCLOSED = re.compile(r"\s*<(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?tool_call>")
_FENCE = re.compile(r"^[ \t]*(`{3,})([\w+-]*)[ \t]*\n(.*?)(?:^[ \t]*\1`*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE_IN_A_LINE = re.compile(r"`{3}([^`\n]+)`{3}")
_WRONG_ARGUMENTS = f"{VERB} takes one argument, 'answer'"
_LAST_FENCES = re.compile(r"(?:\s*`{3})+\s*\Z")
_MARKS = re.compile(
    rf"```|<(?:/?think|/?thought|/?reasoning|tool_call|function=)|^\s*\$ |\b{VERB}\b|\bDONE\b|\bFAIL\b|keystrokes", re.I
)
"""What a text has to hold that could mean anything but what it says."""

_THOUGHT = re.compile(r"\s*\**(?:thought|thinking|reasoning|reflection|action)\s*:", re.IGNORECASE)
_LABEL = re.compile(r"^[ \t]*\**action\s*:\**[ \t]*", re.IGNORECASE | re.MULTILINE)
_INPUT = re.compile(r"^[ \t]*\**action input\s*:\**", re.IGNORECASE | re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*\**observation\s*:", re.IGNORECASE | re.MULTILINE)
_MARKED = re.compile(r"\s*(?:\**(?:final\s+)?answer\**\s*:|<answer>|\\boxed)", re.IGNORECASE)
"""How a text begins that is an answer as a whole."""

_FUNCTION = re.compile(r"<function=([\w.:-]+)>(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_WITH_COLON = re.compile(rf"{VERB}\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(rf"{VERB}[.!]?", re.IGNORECASE)
_AS_CALL = re.compile(rf"{VERB}\s*(\(.*\))", re.IGNORECASE | re.DOTALL)
_CALL = re.compile(r"[A-Za-z_][\w.]*\(.*\)")
_WITHOUT_COLON = re.compile(rf"{VERB}[ \t]+([^\s\-|&;<>=(){{}}\[\]+*/%.,].*)", re.IGNORECASE)
_ASKING = re.compile(rf"\s*[`*]*{ASK}\s*:[`*]*\s*", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"(?:all?|an?|and|as|at|by|for|from|here|if|in|is|its?|my|now|of|off|on|or|our|so|that|the|their|then|these|this|to|"
    r"up|we|when|with|work|working|your|tasks?)\b",
    re.IGNORECASE,
)
"""The words after `finish` that go on a sentence."""

_PROSE = re.compile(r"(?:[-*#>]+\s+|\d+[.)]\s+)?[*_\"'(]*[A-Z][A-Za-z'’]*(?:[ ,.:;!?*_)\"—-].*)?")
_OPERATORS = re.compile(r"<<|\s[|>]|&&|\|\||\$\(|[;\\{]\s*$")
_OPENERS = re.compile(
    r"(?:I(?:['’](?:ll|m|ve|d))?|Let(?:['’]s)?|The|This|That|These|Those|Now|First|Next|Then|Finally|To|We(?:['’](?:ll|ve))?|"
    r"(?:It|There|Here)(?:['’]s)?|Okay|OK|Ok|Sure|My|You|Your|Since|Because|After|Before|As|If|In|On|What|How|Based|"
    r"Looking|Please|Thank|Thanks|Sorry|Hello|Hi|Yes|No|Great|Certainly|All|Everything|Done|Unfortunately)[,:!.]?"
)
"""Words that begin a sentence and are the name of no program."""

_WORD = re.compile(r"[A-Za-z0-9'’,.\-]+")


class TolerantParser:
    r"""Reads what language models write as the action that they meant, and anything else as an `ActionParser` does.

    The `raw` of an action is what the exact parser reads as the same action, so that a log replays without this
    reader. `written` then is what the agent wrote. What the exact parser reads beyond doubt stays as it is. Where
    actions are calls, a text that holds none may end the episode with the answer that it marks as such.

    Args:
        parser: The exact parser of the domain.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> read = TolerantParser(ActionParser(load_spec("terminal"))).parse
    >>> read("<think>Look first.</think>\n```bash\nls -la\n```").raw, read("Done.\nFinish: 16.34").answer
    ('ls -la', '16.34')
    >>> read("ls -la").written is None, read("I will now list the files.").error is None
    (True, False)
    """

    def __init__(self, parser: ActionParser) -> None:
        self._parser = parser
        spec = parser.spec
        syntaxes = [find_syntax(name) for name in spec.action.syntax]
        for dialect in spec.in_every_dialect():
            syntaxes += [one for one in map(find_syntax, dialect.action.syntax) if not one.own_only]
        self._free = next((one.takes for one in syntaxes if one.takes is not None), None)
        self._ends = {rule.text for rule in spec.action.finish_when if rule.text is not None and not rule.confirm}

    def parse(
        self, text: str, tools: Sequence[Mapping[str, Any]] = (), agent: str | None = None, shown: str = ""
    ) -> Action:
        """Read the action that a text means. The arguments are those of `ActionParser.parse`.

        Raises:
            SpecError: A tool of the task is broken.
        """
        action = self._read(text, tools, agent, shown)
        if action.error is None:
            return action
        if len(text) > _MAX_CHARS:
            return action
        names = self._parser.tool_names(tools)
        known = with_known_tools(text, names | {VERB, ASK} if names else names, _objects)
        if known != text:
            return replace(self._read(known, tools, agent, shown), written=text)
        if self._free is None and VERB not in names and (answer := self._answered(text)) is not None:
            return replace(self._parser.parse(_finish(answer), tools, agent, shown), written=text)
        return action

    def _answered(self, text: str) -> str | None:
        """Return the final answer in a text that holds no call."""
        said = self.visible(text).strip()
        if (block := _FENCE.fullmatch(said)) is not None:
            said = block[3]
        calls = _TAG.search(said) or _FUNCTION.search(said) or next(_objects(said), None)
        lines = [line.strip() for line in said.splitlines()]
        if calls or any(_CALL.fullmatch(line) for line in lines):
            return None
        return labelled_answer(said)

    def _read(self, text: str, tools: Sequence[Mapping[str, Any]], agent: str | None, shown: str) -> Action:
        def exact(one: str) -> Action:
            return self._parser.parse(one, tools, agent, shown)

        action, takes_finish = exact(text), all(tool.get("name") != VERB for tool in tools)
        if action.kind is ActionKind.ASK and not _LAST_FENCES.search(text):
            return action
        body = text
        try:
            if self._stands(text, action, takes_finish):
                return action
            body = self._without_thinking(text)
            asked = _asking(body) if ASK in body.lower() and has_user(tools) else None
            meant = self._meant(body, exact, takes_finish) if asked is None else asked
        except UnreadableAction as problem:
            error = self._parser.refused(str(problem), body, shown)
            return Action(body, error=error, agent=agent, written=None if body == text else text)
        return action if meant == text else replace(exact(meant), written=text)

    def visible(self, text: str) -> str:
        """Return a text without its thinking; it is empty where there is nothing else."""
        try:
            return self._without_thinking(text)
        except UnreadableAction:
            return ""

    def _stands(self, text: str, action: Action, takes_finish: bool) -> bool:
        """Whether the exact reading is beyond doubt."""
        if read_finish(text) is not None:
            return not _LAST_FENCES.search(text)
        if self._free is None:  # Without any tool, a call of `finish` is read as one of a tool.
            return action.error is None and not (takes_finish and VERB in text and _finishing(text) is not None)
        start = text.lstrip()[:1]
        if self._free == "shell" and start == "[":
            return action.error is None
        if self._free != "text" and _MARKED.match(text):
            return False
        if not _MARKS.search(text) and not (self._free != "text" and (start.isupper() or start == "{")):
            return True
        return self._free == "python" and _is_python(text) and not (takes_finish and _finishing(text) is not None)

    def _meant(self, body: str, exact: Callable[[str], Action], takes_finish: bool) -> str:
        """Return what the exact parser reads as the action that a text without its thinking means.

        Raises:
            UnreadableAction: No action is meant, or none can be told.
        """
        if len(body) > _MAX_CHARS:
            return body
        body = _labelled(_as_call(body, exact))
        if takes_finish and (finish := _finishing(_TAG.sub("", body), spaced=self._free != "text")) is not None:
            return finish
        if self._free is None:
            return body if exact(body).error is None else self._found(body, exact, takes_finish)
        if self._free != "text" and _MARKED.match(body) and labelled_answer(body) is not None:
            raise UnreadableAction(f"this is an answer and no action; {VERB}: ANSWER ends the task with one")
        if self._free == "text" or (self._free == "python" and _is_python(body)):
            return body
        if self._free == "shell" and body.lstrip().startswith("[") and exact(body).error is None:
            return body
        if (found := self._in_prose(body, exact, takes_finish)) is not None:
            return found
        if self._free == "shell":
            body = _typed(body)
        self._refuse(body)
        return body

    def _without_thinking(self, text: str) -> str:
        """Return a text without the thinking before its action; the opening tag may stand in the prompt of the model.

        Raises:
            UnreadableAction: There is nothing but thinking.
        """
        rest = text
        while (thought := _OPENED.match(rest)) is not None:
            rest = rest[thought.end() :]
        if _UNCLOSED.match(rest):
            raise UnreadableAction("the thinking does not end, and no action stands behind it")
        for tag in reversed(list(_CLOSING.finditer(rest))):
            before, after = rest[: tag.start()], rest[tag.end() :]
            ends_a_line = not after.strip() or after.lstrip(" \t").startswith("\n")
            if self._free is None or (ends_a_line and "<think" not in before and not _is_quoting(before)):
                rest = after
                break
        if rest == text:
            return text
        if not rest.strip():
            raise UnreadableAction("no action stands behind the thinking")
        return rest.strip()

    def _found(self, body: str, exact: Callable[[str], Action], takes_finish: bool) -> str:
        """Return the one action in a text of a domain that takes none but actions; the text itself, if there is none.

        Raises:
            UnreadableAction: There are several.
        """
        found: dict[str, str] = {}
        broken: list[str] = []

        def add(piece: str) -> bool:
            finish = _finishing(piece, spaced=False) if takes_finish else None
            action = exact(piece if finish is None else finish)
            if action.error is None:
                found.setdefault(repr((action.kind, action.answer, action.parsed)), action.raw)
            return action.error is None

        rest, end = [], 0
        for start, stop, value in _objects(body):
            piece = _call_in(value) or body[start:stop]
            if not add(piece):
                broken.append(piece)
            rest.append(body[end:start])
            end = stop
        prose = _TAG.sub("\n", "\n".join([*rest, body[end:]]))
        blocks = [block[3].strip() for block in _FENCE.finditer(prose)]
        taken = [block for block in blocks[:_MAX_PIECES] if block and add(block)]
        for block in taken:
            prose = prose.replace(block, "")
        lines = [line.strip() for line in prose.splitlines()]
        for place, line in enumerate(lines[:_MAX_PIECES]):
            if _WITH_COLON.fullmatch(line) or _ALONE.fullmatch(line):
                add("\n".join(lines[place:]))
                break
            if line and not line.startswith("```") and not add(line) and _CALL.fullmatch(line):
                return body  # A call that cannot be read beside one that can: the error names it.
        return _only(list(found.values()) or broken[:1] or [body])

    def _in_prose(self, body: str, exact: Callable[[str], Action], takes_finish: bool) -> str | None:
        """Return the action that stands between fences or behind prose, where a domain takes almost any text.

        Raises:
            UnreadableAction: There are several, or it is of another language.
        """
        blocks = list(_FENCE.finditer(body))
        if blocks and not (self._free == "shell" and _is_quoting(body[: blocks[0].start()])):
            return self._in_fences(blocks, exact, takes_finish)
        if (block := _FENCE_IN_A_LINE.fullmatch(body.strip())) is not None:
            return block[1].strip()
        if body.rstrip().endswith("\n```") and body.count("```") == 1 and not _is_quoting(body):
            return body.rstrip().removesuffix("```").rstrip()
        for start, _, value in _objects(body):
            if not _is_prose(_TAG.sub("", body[:start])):
                break
            if takes_finish and (finish := _finish_call(value)) is not None:
                return finish
            if self._free == "shell" and (command := _command_in(value)) is not None:
                return command
        lines = body.splitlines()
        for place, line in enumerate(lines):
            if not _is_prose("\n".join(lines[:place])):
                break
            rest = "\n".join(lines[place:])
            if takes_finish and (_WITH_COLON.fullmatch(line.strip()) or _ALONE.fullmatch(line.strip())):
                return _finishing(rest)
            if rest.strip() in self._ends:
                return rest.strip()
            keys = _TAG.sub("", rest).strip()
            if keys.startswith("[") and '"keystrokes"' in keys and exact(keys).error is None:
                return keys
        return None

    def _in_fences(self, blocks: Sequence[re.Match[str]], exact: Callable[[str], Action], takes_finish: bool) -> str:
        if self._free == "shell" and (other := [one[2] for one in blocks if not _SHELLS.fullmatch(one[2].lower())]):
            raise UnreadableAction(f"a block of {other[0]} is no command line")
        inner = _only([one[3].removesuffix("\n").removesuffix("```").rstrip() for one in blocks])
        if not inner.strip():
            raise UnreadableAction("the block is empty")
        if takes_finish and (finish := _finishing(inner)) is not None:
            return finish
        if self._free == "shell" and (inner.lstrip().startswith("{")):
            for start, stop, value in _objects(inner.strip()):
                command = _command_in(value) if (start, stop) == (0, len(inner.strip())) else None
                inner = inner if command is None else command
        if self._free == "shell" and inner.startswith("$ ") and "\n" not in inner:
            inner = inner.removeprefix("$ ")
        self._refuse(inner)
        return inner

    def _refuse(self, text: str) -> None:
        """Raise an error for a sentence, and in a shell for a JSON object, which cannot be run."""
        if _is_sentence(text):
            raise UnreadableAction(f"this is a sentence and no {'command' if self._free == 'shell' else 'Python code'}")
        plain = _TAG.sub("", text).strip()
        if self._free == "shell" and any((start, stop) == (0, len(plain)) for start, stop, _ in _objects(plain)):
            raise UnreadableAction("this is a JSON object and no command")


def _labelled(text: str) -> str:
    r"""Return what stands behind the only `Action:` of a text that begins with a thought, as in ReAct (arXiv
    2210.03629), with its `Action Input:` as a call or an answer; any other text as it is.

    >>> _labelled("Thought: I look.\nAction: ls"), _labelled('Action: read\nAction Input: {"path": "a"}')
    ('ls', '{"name": "read", "arguments": {"path": "a"}}')
    >>> _labelled("Action: Finish\nAction Input: 16.34"), _labelled("Action: bash\nAction Input: ls -a")
    ('finish: 16.34', 'ls -a')
    """
    labels = list(_LABEL.finditer(text)) if _THOUGHT.match(text) else []
    if len(labels) != 1:
        return text
    meant = _NEXT.split(text[labels[0].end() :])[0].strip()
    named, *inputs = _INPUT.split(meant)
    if len(inputs) != 1:
        return meant
    name, plain = named.strip().strip("`"), inputs[0].strip()
    for start, _, value in _objects(plain):
        if start == 0 and isinstance(value, Mapping):
            return json.dumps({"name": name, "arguments": value}, ensure_ascii=False)
    return _finish(plain) if name.lower() == VERB else plain or name


def _as_call(text: str, exact: Callable[[str], Action]) -> str:
    r"""Return a text with its only call in tags, `<function=NAME><parameter=KEY>VALUE</parameter></function>`, as JSON.

    Values are read as JSON where the exact parser takes that, and are texts elsewhere.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> text = "I look.\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>"
    >>> _as_call(text, ActionParser(load_spec("terminal")).parse)
    'I look.\n{"name": "bash", "arguments": {"command": "ls"}}'
    """
    calls = list(_FUNCTION.finditer(text))
    if len(calls) != 1:
        return text
    texts = dict(_PARAMETER.findall(calls[0][2]))
    values = {}
    for key, value in texts.items():
        try:
            values[key] = json.loads(value)
        except (ValueError, RecursionError):
            values[key] = value
    written = [json.dumps({"name": calls[0][1], "arguments": one}, ensure_ascii=False) for one in (values, texts)]
    call = next((one for one in written if exact(one).error is None), written[1])
    return text[: calls[0].start()] + call + text[calls[0].end() :]


def _typed(text: str) -> str:
    r"""Return a command without the prompt before it, and without a sentence that a blank line parts from it.

    >>> _typed("$ ls"), _typed("Let me look around first.\n\nls -la")
    ('ls', 'ls -la')
    """
    said, blank, rest = text.strip().partition("\n\n")
    if blank and rest.strip() and all(_is_sentence(line) for line in said.splitlines()) and not _is_prose(rest):
        return rest.strip()
    line = text.strip()
    return line.removeprefix("$ ") if "\n" not in line else text


def _only(texts: Sequence[str]) -> str:
    """Return the only one of some texts, which may repeat it.

    Raises:
        UnreadableAction: They differ.
    """
    if (count := len(set(texts))) > 1:
        raise UnreadableAction(f"the text holds {count} actions; write one at a time")
    return texts[0]


def _finishing(text: str, spaced: bool = True) -> str | None:
    """Return a whole text that means `finish` as the exact parser reads it; None for any other text.

    Args:
        text: The text.
        spaced: Whether an answer may follow without a colon.

    >>> [_finishing(text) for text in ("Finish: 16.34", "finish 16.34", "finish(answer='a')", "finished")]
    ['finish: 16.34', 'finish: 16.34', 'finish: a', None]
    """
    plain = _LAST_FENCES.sub("", text.strip())
    for mark in ("**", "`"):
        if plain.startswith(mark) and plain.endswith(mark):
            plain = plain.strip(mark)
    if _ALONE.fullmatch(plain):
        return VERB
    if (found := _WITH_COLON.fullmatch(plain)) is not None:
        return _finish(found[1])
    if (found := _AS_CALL.fullmatch(plain)) is not None:
        return _finish_of_call(found[1])
    if (found := _WITHOUT_COLON.fullmatch(plain)) is not None and spaced:
        return None if _NO_ANSWER.match(found[1]) else _finish(found[1])
    for start, stop, value in _objects(plain) if plain.startswith("{") else ():
        return _finish_call(value) if (start, stop) == (0, len(plain)) else None
    return None


def _asking(text: str) -> str | None:
    r"""Return a question to the user as the exact parser reads it; None for any other text.

    >>> _asking("I have to ask.\nAsk: Which folder?"), _asking("```\nask: Which folder?\n```"), _asking("ask me")
    ('ask: Which folder?', 'ask: Which folder?', None)
    """
    plain = _TAG.sub("", text).strip()
    if (block := _FENCE.fullmatch(plain)) is not None:
        plain = block[3].strip()
    if (question := read_question(_LAST_FENCES.sub("", plain))) is not None:
        return f"{ASK}: {question}"
    lines = plain.splitlines()
    for place, line in enumerate(lines):
        if _ASKING.match(line) and _is_prose("\n".join(lines[:place])):
            return f"{ASK}: {_ASKING.sub('', ' '.join(lines[place:]), count=1)}"
    for start, _, value in _objects(plain):
        question = read_question(json.dumps(value, ensure_ascii=False))
        return f"{ASK}: {question}" if question is not None and _is_prose(plain[:start]) else None
    return None


def _finish(answer: str) -> str:
    answer = _LAST_FENCES.sub("", answer).strip()
    return f"{VERB}: {answer}" if answer else VERB


def _finish_of_call(arguments: str) -> str | None:
    """Return `finish` with the answer between brackets, where that is at most one literal."""
    try:
        call = ast.parse(f"f{arguments}", mode="eval").body
        if not isinstance(call, ast.Call) or any(word.arg != "answer" for word in call.keywords):
            return None
        values = [ast.literal_eval(one) for one in [*call.args, *(word.value for word in call.keywords)]]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return _finish(_as_answer(values[0]) if values else "") if len(values) < 2 else None


def _finish_call(value: Any) -> str | None:
    """Return `finish` where a value is a call of it as of a tool, and None for any other one.

    Raises:
        UnreadableAction: It is called with other arguments.
    """
    if not isinstance(value, Mapping) or value.get("name") != VERB:
        return None
    arguments = value.get("arguments")
    if isinstance(arguments, str) and arguments.strip():
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            raise UnreadableAction(_WRONG_ARGUMENTS) from None
    arguments = arguments or {}
    if not isinstance(arguments, Mapping) or arguments.keys() - {"answer"}:
        raise UnreadableAction(_WRONG_ARGUMENTS)
    return _finish(_as_answer(arguments.get("answer")))


def _command_in(value: Any) -> str | None:
    """Return the command line or the keystrokes of a call of a shell as of a tool; None for any other value.

    Keystrokes may also stand as `commands` beside an analysis and a plan, as in Terminus.

    >>> _command_in({"name": "bash", "arguments": {"command": "ls"}}), _command_in({"name": "bash", "arguments": {}})
    ('ls', None)
    """
    if not isinstance(value, Mapping):
        return None
    if _is_batch(value.get("commands")):
        keys = [{key: one[key] for key in ("keystrokes", "duration") if key in one} for one in value["commands"]]
        if not keys and value.get("task_complete") is True:
            return VERB
        return json.dumps(keys or [{"keystrokes": ""}], ensure_ascii=False)
    arguments = value["arguments"] if value.keys() == {"name", "arguments"} else value
    if not isinstance(arguments, Mapping):
        return None
    if isinstance(arguments.get("keystrokes"), str) and not arguments.keys() - {"keystrokes", "duration"}:
        return json.dumps([arguments], ensure_ascii=False)
    command = arguments.get("command")
    return command if isinstance(command, str) and len(arguments) == 1 and command.strip() else None


def _is_batch(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("keystrokes"), str) for one in value
    )


def _call_in(value: Any) -> str | None:
    """Return a call whose arguments are called `args` or `input`, as in the interfaces of Gemini and Claude, as the
    exact parsers read it; None for any other value.

    >>> _call_in({"functionCall": {"name": "read", "args": {"path": "a"}}}), _call_in({"name": "read"})
    ('{"name": "read", "arguments": {"path": "a"}}', None)
    """
    inner = value.get("functionCall", value) if isinstance(value, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str) or "arguments" in inner:
        return None
    arguments = inner.get("args", inner.get("input"))
    if not isinstance(arguments, Mapping):
        return None
    return json.dumps({"name": inner["name"], "arguments": arguments}, ensure_ascii=False)


def _as_answer(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _objects(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the JSON objects in a text that lie in no other one, each with its place."""
    decoder, place = json.JSONDecoder(), text.find("{")
    for _ in range(_MAX_PIECES):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield place, end, value
        place = text.find("{", end)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _is_quoting(before: str) -> bool:
    """Whether a command that begins so has opened a document or a quote, in which anything may stand."""
    without_apostrophes = re.sub(r"(?<=\w)['’](?=\w)", "", before)
    return "<<" in before or any(without_apostrophes.count(quote) % 2 for quote in "\"'")


def _is_prose(text: str) -> bool:
    """Whether each line begins as a sentence does and has no operator of a shell; so does an empty text."""
    lines = [line.strip() for line in text.splitlines()]
    return all(not line or (_PROSE.fullmatch(line) and not _OPERATORS.search(line)) for line in lines)


def _is_sentence(text: str) -> bool:
    """Whether a text is plain English beyond doubt, and so no command.

    >>> [_is_sentence(text) for text in ("I will now list the files.", "echo Hello World.", "Rscript a.R")]
    [True, False, False]
    """
    words = text.split()
    if len(words) < 3 or not _is_prose(text):
        return False
    if _OPENERS.fullmatch(words[0]) or words[0].endswith(","):
        return True
    plain = all(_WORD.fullmatch(word) for word in words[:-1])
    return plain and len(words) > 3 and re.fullmatch(r"[A-Za-z0-9]+[.!?]", words[-1]) is not None
