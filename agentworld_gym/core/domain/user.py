"""The user of a task, who answers questions: what an agent writes to ask, and what a script answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Regex, Strict

ASK = "ask"

ASK_TOOL: Mapping[str, Any] = {
    "name": ASK,
    "description": "Asks the user who gave the task one question. It changes nothing else.",
    "parameters": {
        "type": "object",
        "properties": {"question": {"type": "string", "description": "The question."}},
        "required": ["question"],
        "additionalProperties": False,
    },
}
"""The verb as a tool. A task with a user has it, and a task without one does not."""

NOTHING_TO_ADD = "I have nothing to add to that. Ask me one thing at a time, and say which job you mean."
"""What a user says to a question that none of the answers is for."""

_SAYS = "The user says: "

_LOOSE = re.compile(rf"{ASK}\s*:\s*(.+)", re.IGNORECASE | re.DOTALL)


class Reply(Strict):
    """What the user answers to a question."""

    about: Regex
    """The regular expression that has to be found in the question, in any case of letters."""

    says: str = Field(min_length=1)
    """The answer."""


def answer_to(question: str, user: Sequence[Reply]) -> str:
    """Return what the user says to a question: the first answer that is for it. Equal questions get equal answers.

    >>> user = [Reply(about="folder", says="It is maple.")]
    >>> answer_to("Which folder do you mean?", user), answer_to("Hello?", user) == f"The user says: {NOTHING_TO_ADD}"
    ('The user says: It is maple.', True)
    """
    found = (reply.says for reply in user if re.search(reply.about, question, re.IGNORECASE))
    return said(next(found, NOTHING_TO_ADD))


def said(answer: str) -> str:
    """Return what an agent sees of an answer of the user.

    >>> said("It is maple.")
    'The user says: It is maple.'
    """
    return f"{_SAYS}{answer}"


def without_says(shown: str) -> str:
    """Return the answer of what `said` shows.

    >>> without_says(said("It is maple."))
    'It is maple.'
    """
    return shown.removeprefix(_SAYS)


def has_user(tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some tools are those of a task with a user.

    >>> has_user([ASK_TOOL]), has_user([{**ASK_TOOL, "description": "Asks a colleague."}])
    (True, False)
    """
    return any(tool == ASK_TOOL for tool in tools)


def without_ask(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return tools without the one that asks the user, which never reaches a world.

    >>> without_ask([ASK_TOOL, {"name": "add"}])
    [{'name': 'add'}]
    """
    return [tool for tool in tools if tool != ASK_TOOL]


def read_question(text: str) -> str | None:
    """Read a question to the user, as text or as the call of a tool; None for any other action.

    A call without a question in words asks nothing: the text is empty.

    >>> read_question("ask: Which folder?"), read_question("Ask : a"), read_question("ask"), read_question("asking: a")
    ('Which folder?', 'a', None, None)
    >>> read_question('{"name": "ask", "arguments": {"question": "Which folder?"}}')
    'Which folder?'
    """
    stripped = text.strip()
    if found := _LOOSE.fullmatch(stripped):
        return found[1].strip()
    if not stripped.startswith("{") or ASK not in stripped:
        return None
    try:
        call = json.loads(stripped)
        if call.get("name") != ASK:
            return None
        arguments = call.get("arguments")
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    question = arguments.get("question") if isinstance(arguments, dict) else None
    return question if isinstance(question, str) else ""
