"""The special tokens of one tokenizer, kept out of the contents of messages.

`agentworld_gym.base.text.escaping` covers the common tokens. A tokenizer may have others, which are known to whoever
holds the tokenizer: an engine in this process, a trainer, or a user who says where the tokenizer of a server lies.
Contents are escaped once more by these tokens on their way in, and what the model wrote is unescaped on its way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.errors import GeneratorError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import Message


class TokenRule:
    r"""Escapes, by a backslash within each, the tokens that `agentworld_gym.base.text.escaping` leaves alone.

    The rule is reversible on every text. A token of one character, or one that holds a backslash, cannot be broken by a
    backslash and is left alone.

    >>> rule = TokenRule(["<|end|>", "<human>", "@@bot"])
    >>> print(rule.escape("<human> <\\human> @@bot <b>"), rule.unescape("<\\human>"))
    <\human> <\\human> @@\bot <b> <human>
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        left = sorted({token for token in tokens if len(token) > 1 and "\\" not in token and escape(token) == token})
        starts = {token[0] for token in left}
        rests: dict[str, list[str]] = {}
        for token in left:
            # No later character of the token could begin one, so that no backslash gets into the rest.
            cut = max(place for place, letter in enumerate(token[:-1]) if letter in starts)
            rests.setdefault(token[cut], []).append(re.escape(token[cut + 1 :]))
        self.tokens = tuple(left)
        self._open, self._escaped = (
            re.compile(
                "|".join(rf"{re.escape(start)}{slash}(?=\\*(?:{'|'.join(rest)}))" for start, rest in rests.items())
            )
            for slash in ("", r"\\")
        )

    def escape(self, text: str) -> str:
        """Return the text with no token of the tokenizer in it."""
        return self._open.sub(r"\g<0>\\", text) if self.tokens else text

    def unescape(self, text: str) -> str:
        """Return the text that `escape` was given."""
        return self._escaped.sub(lambda match: match[0][:-1], text) if self.tokens else text

    def messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the same messages with their contents escaped."""
        if not self.tokens:
            return messages
        return [{**message, "content": self.escape(message["content"])} for message in messages]


def rule_of(tokenizer: Any) -> TokenRule:
    """Return the rule of a tokenizer that is loaded, by transformers or vLLM.

    Its special tokens are those that it calls special, and the other added tokens that its chat template writes.
    """
    added = [
        (str(token), bool(getattr(token, "special", False)))
        for token in getattr(tokenizer, "added_tokens_decoder", {}).values()
    ]
    named = [str(token) for token in getattr(tokenizer, "all_special_tokens", ())]
    return TokenRule([*_special(added, str(getattr(tokenizer, "chat_template", "") or "")), *named])


def rule_in(folder: Path | str) -> TokenRule:
    """Return the rule of a tokenizer from its files: `tokenizer.json`, and the chat template where there is one.

    Raises:
        GeneratorError: There is no `tokenizer.json`, or it cannot be read.
    """
    folder = Path(folder).expanduser()
    try:
        data = orjson.loads((folder / "tokenizer.json").read_bytes())
        added = [(str(token["content"]), bool(token["special"])) for token in data["added_tokens"]]
        texts = [folder / name for name in ("chat_template.jinja", "tokenizer_config.json")]
        template = "".join(path.read_text(encoding="utf-8") for path in texts if path.is_file())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GeneratorError(f"{folder}: no tokenizer can be read there: tokenizer.json: {error}") from error
    return TokenRule(_special(added, template))


def _special(added: Iterable[tuple[str, bool]], template: str) -> list[str]:
    """Return the added tokens that mean something to a model.

    The others are pieces of text: tokenizers also add line breaks, blanks and tags of HTML.

    Args:
        added: The added tokens, each with whether the tokenizer calls it special.
        template: The chat template.
    """
    return [token for token, special in added if special or (token[:1] in "<[" and token in template)]
