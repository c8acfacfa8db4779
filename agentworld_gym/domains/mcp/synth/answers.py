"""Reads what a generator wrote: the fenced block of an answer, with or without prose and thinking around it."""

from __future__ import annotations

import datetime
import re
from typing import Any, TypeVar

from pydantic import BaseModel

from agentworld_gym.base.documents.plain_yaml import load_yaml
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.domains.mcp.synth.faults import AnswerFault, spec_errors_as_faults
from agentworld_gym.llm.prompting.parsing import strip_thinking

M = TypeVar("M", bound=BaseModel)

MAX_CHARS = 400_000
"""How long an answer may be."""

ANSWER = "answer"
"""How errors call the document that an answer holds."""

# What is taken is not given back (`++`), so that a line without end takes no time that grows with its square.
_FENCE = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)[^\n]*+\n(.*?)(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.DOTALL | re.MULTILINE
)


def block(text: str, *languages: str) -> str:
    r"""Return the last fenced block in one of some languages, or in none; without any fence it is the whole text.

    >>> block("Here it is:\n```sql\nSELECT 1;\n```\nDone.", "sql")
    'SELECT 1;'
    >>> block("SELECT 1;", "sql")
    'SELECT 1;'

    Raises:
        Fault: The text is empty, too long, holds half a character, or has blocks in other languages only.
    """
    answer = _whole_characters(unescape(strip_thinking(text)))
    if not answer.strip():
        raise AnswerFault("the answer is empty")
    if len(answer) > MAX_CHARS:
        raise AnswerFault(f"the answer has {len(answer)} characters, at most {MAX_CHARS} are read")
    blocks = [(match.group(2).lower(), match.group(3)) for match in _FENCE.finditer(answer)]
    if not blocks:
        return answer.strip()
    named = [body for language, body in blocks if language in languages]
    found = named or [body for language, body in blocks if not language]
    if not found:
        raise AnswerFault(f"the answer has no block that begins with ```{languages[0]}")
    return found[-1].strip()


def document(text: str, model: type[M]) -> M:
    r"""Return the document of an answer, which is written in YAML or JSON.

    Dates and times are texts, also where YAML takes them for more because they have no quotes. Two escapes that make
    one character, as JSON has them, become that character.

    >>> from agentworld_gym.domains.mcp.synth.draft import Sentences
    >>> document("```yaml\ntasks: [Pay the bill of March.]\n```", Sentences).tasks
    ('Pay the bill of March.',)

    Raises:
        Fault: The document cannot be read, or does not fit the model.
    """
    with spec_errors_as_faults():
        data = _as_texts(load_yaml(block(text, "yaml", "yml", "json"), ANSWER))
        if not isinstance(data, dict):
            raise AnswerFault(f"the answer is no mapping but {type(data).__name__}")
        return validated(model, data, ANSWER)


def _as_texts(value: Any) -> Any:
    """Return data with texts instead of dates and times, and with whole characters in all texts.

    >>> _as_texts({"due": [datetime.date(2026, 1, 9)]})
    {'due': ['2026-01-09']}

    Raises:
        Fault: A text holds half a character.
    """
    if isinstance(value, dict):
        return {_as_texts(key): _as_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_texts(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat().replace("+00:00", "Z")
    return _whole_characters(value) if isinstance(value, str) else value


def _whole_characters(text: str) -> str:
    r"""Return a text in which each pair of surrogates is the character that it stands for.

    >>> _whole_characters("\ud83d\ude00") == "\U0001f600"
    True

    Raises:
        Fault: A surrogate stands alone: neither a file nor a database can hold it.
    """
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise AnswerFault("the answer holds half a character (a lone surrogate)") from error
