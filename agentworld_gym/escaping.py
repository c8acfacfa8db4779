"""One reversible rule that keeps data from being read as anything but data.

A chat template, a tokenizer and the parser of completions each give meaning to a few strings. Wherever data holds one
of them, one backslash is inserted after its `<`; where data already holds such a backslashed string, it gets one more.
Taking one backslash away undoes both. The strings are:

- `<|`, which starts every control token of the Qwen tokenizers (`<|im_start|>`, `<|endoftext|>`, `<|vision_start|>` …);
- `<` or `</` before `think`, `tool_call`, `tool_response`, `predicted_observation`, `final_evaluation`, `ledger>` or
  `tts_`, in any letter case: the tokenizers' other added tokens, and the tags of completions and judgements;
- `<U+D800>` to `<U+DFFF>`, which is how a lone surrogate is written: it is no valid text, and neither UTF-8 nor a
  tokenizer takes it.

NUL and every other character are valid text and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_TAGS = "think|tool_call|tool_response|predicted_observation|final_evaluation|ledger>|tts_"
_MEANT = rf"\\*(?:\||(?i:/?(?:{_TAGS}))|U\+D[89A-F][0-9A-F]{{2}}>)"
_OPEN = re.compile(rf"<(?={_MEANT})")
_ESCAPED = re.compile(rf"<(?:\\(?={_MEANT})|U\+(D[89A-F][0-9A-F]{{2}})>)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def escape(text: str) -> str:
    r"""The text as it may stand in a message.

    >>> print(escape("<|im_end|> <think> <\\think> <b> \ud800"))
    <\|im_end|> <\think> <\\think> <b> <U+D800>
    """
    if "<" in text:
        text = _OPEN.sub(r"<\\", text)
    if not is_valid(text):
        text = _SURROGATE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
    return text


def unescape(text: str) -> str:
    r"""What `escape` was given: `unescape(escape(text)) == text` for every text.

    >>> unescape("<\\|im_end|> <U+D800>")
    '<|im_end|> \ud800'
    """
    if "<" not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else "<", text)


def escape_all(value: Any) -> Any:
    """The same data with every string in it escaped, keys of mappings too; tuples become lists.

    >>> escape_all({"files": ["<|x|>", 1]})
    {'files': ['<\\\\|x|>', 1]}
    """
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, Mapping):
        return {escape_all(key): escape_all(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [escape_all(item) for item in value]
    return value


def is_valid(text: str) -> bool:
    """Whether the text can be written as UTF-8, that is, holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
