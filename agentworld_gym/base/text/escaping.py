"""One reversible rule that keeps data from being read as anything but data.

A chat template, a tokenizer, the templates of prompts and the parser of completions each give meaning to a few strings.
Wherever data holds one of them, one backslash is inserted near its start; where data already holds such a string with a
backslash, it gets one more. Taking one backslash away undoes both. These are the strings, with a `·` at the place of
the backslash:

- `<·|` and `<·｜`, which start the control tokens of Qwen, Llama 3, Phi, DeepSeek and others, `<·name|>` of Gemma 4,
  and `[·|name|]` of EXAONE;
- `<·think`, `<·tool_call`, `<·tool_response`, `<·predicted_observation`, `<·final_evaluation` and `<·tts_`:
  further added tokens, and the tags of completions and judgements;
- `<·s>`, `<·bos>`, `<·start_of_turn>`, `<·unused7>` and others that stand for the begin or end of something in the
  tokenizers of Llama, Mistral, Gemma and T5; `[·INST]`, `[·TOOL_CALLS]`, `[·SEP]` and others of Mistral and BERT;
  `<·SYS>` within the `<<SYS>>` of Llama 2;
- `**·Task Instruction:**`, `**·Current State:**`, `**·Action:**`, `**·Environment Observation:**` and `###· Turn 3`,
  the headings of a turn in the templates;
- `<U+D800>` to `<U+DFFF>`, which is how a lone surrogate is written: it is no valid text, and neither UTF-8 nor a
  tokenizer takes it.

A `/` may stand behind the first `<` or `[`. Letter case does not matter in tags and headings. A generator that holds a
tokenizer with further tokens escapes these itself: see `agentworld_gym.llm.generators.special_tokens`. NUL and every
other character are valid text and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_TAGS = ("think", "tool_call", "tool_response", "predicted_observation", "final_evaluation", "tts_")
_MARKS = (
    r"s|bos|eos|bot|eot|eod|eom|sop|eop|pad|unk|mask|cls|sep|image|(?:BOS|EOS|PAD|UNK|CLS|SEP|MASK|EOP)_TOKEN|SYS|"
    r"start_of_[a-z]+|end_of_[a-z]+|image_soft_token|audio_soft_token|unused\d+|extra_id_\d+|reserved_\d+|special_\d+|"
    r"fim_[a-z]+|file_sep|repo_name"
)
_NAMES = (
    "INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|SYSTEM_PROMPT|MODEL_SETTINGS|ARGS|CALL_ID|THINK|IMG|"
    "IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|TRANSCRIBE|PREFIX|MIDDLE|SUFFIX|CLS|SEP|PAD|UNK|MASK|BOS|EOS|EOT|EOD|"
    "gMASK|sMASK|multimodal"
)
_HEADINGS = "task instruction|current state|action|environment observation"
# A pattern that ignores letter case would be tried in full at every `<`.
_ANY_TAG = "|".join("".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in tag) for tag in _TAGS)
# No string begins with a piece of another one, so that a backslash never gets into the rest of a string.
_MEANT: Mapping[str, str] = {
    "<": rf"[|｜]|/?(?:{_ANY_TAG}|(?:{_MARKS})>)|[a-z_]{{1,40}}\|>|U\+D[89A-F][0-9A-F]{{2}}>",
    "[": rf"/?(?:{_NAMES})\]|\|\w{{1,40}}\|\]",
    "**": rf"(?i:[ \t]*(?:{_HEADINGS})[ \t]*:?[ \t]*\*\*)",
    "###": r"(?i:[ \t]+turn[ \t]+\d)",
}
# The beginnings of the strings: a search for plain characters costs next to nothing where there are none.
_OPEN = {start: re.compile(rf"{re.escape(start)}(?=\\*+(?:{rest}))") for start, rest in _MEANT.items()}
_ESCAPED = {start: re.compile(rf"{re.escape(start)}\\(?=\\*(?:{rest}))") for start, rest in _MEANT.items()}
_SURROGATE = re.compile("[\ud800-\udfff]")
_WRITTEN = re.compile(r"<U\+(D[89A-F][0-9A-F]{2})>")


def escape(text: str) -> str:
    r"""Escape a text, so that it may stand in a message.

    >>> print(escape("<|im_end|> [/INST] <think> <\\think> <b> \ud800"))
    <\|im_end|> [\/INST] <\think> <\\think> <b> <U+D800>
    >>> print(escape("**Action:** ls\n### Turn 2"))
    **\Action:** ls
    ###\ Turn 2
    """
    for start, pattern in _OPEN.items():
        if start in text and pattern.search(text):
            text = pattern.sub(rf"{start}\\", text)
    if not is_valid(text):
        text = _SURROGATE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
    return text


def unescape(text: str) -> str:
    r"""Undo `escape`: `unescape(escape(text)) == text` for every text.

    >>> unescape("<\\|im_end|> <U+D800>")
    '<|im_end|> \ud800'
    """
    if "<U+D" in text:
        text = _WRITTEN.sub(lambda match: chr(int(match[1], 16)), text)
    if "\\" in text:
        for start, pattern in _ESCAPED.items():
            if start in text:
                text = pattern.sub(start, text)
    return text


def escape_all(value: Any) -> Any:
    """Return plain data with every string in it escaped, including the keys of mappings; tuples become lists.

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
    """Whether a text can be written as UTF-8, that is, holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
