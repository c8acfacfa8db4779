"""Names and words of recorded sessions are replaced by made-up ones, so that a model has to copy what it reads.

Tasks draw their names from short lists, which a small model learns by heart: it then writes a name that it knows in the
place of one that it has never seen. A session whose names mean nothing can only be continued by copying them. The idea
is that of symbol tuning (Wei et al. 2023, arXiv 2305.08298), where labels are replaced by arbitrary words.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from agentworld_gym.core.contracts import Message
from agentworld_gym.core.registration import find_domain, shipped_domains
from agentworld_gym.kit.tables.word_lists import common_words
from agentworld_gym.llm.rows.samples import Sample

MOST = 0.8
"""The share of the content words of a chosen session that are replaced; the others stay beside them, as known names
stand beside unknown ones in other sessions."""

_LABELS = {"button", "mirror", "window"}
"""The words of the lists that programs show as well."""

_TOKEN = re.compile(r"\\[nrt\"\\]|[^\W\d_]+…?")
"""An escape of JSON, whose letter belongs to no word, or a word, which an ellipsis may cut off."""

_TRIES = 200


@lru_cache(maxsize=1)
def content_words() -> frozenset[str]:
    """Return the names and content words that tasks draw from lists, in lower case.

    >>> sorted(content_words() & {"milo", "okafor", "window", "corran"})
    ['corran', 'milo', 'okafor']
    """
    lists = common_words()
    entries = [*lists["first_names"], *lists["last_names"]]
    for name in shipped_domains():
        domain = find_domain(name)
        own = None if domain is None else domain.part("content_words")
        entries += [] if own is None else own()
    return frozenset(entry.lower() for entry in entries if len(entry) > 2) - _LABELS


class MadeUpWords:
    """Makes words that look like those of a list and do not stand in it, by which letters follow which two.

    >>> words = MadeUpWords(["marlow", "corran", "harwick", "arden", "elsing"])
    >>> made = words.like("marlow", random.Random(2))
    >>> made[0], len(made), made == "marlow"
    ('m', 6, False)
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._next: defaultdict[str, list[str]] = defaultdict(list)
        for word in sorted(self._words):
            for place in range(1, len(word)):
                for begin in range(max(0, place - 2), place):
                    self._next[word[begin:place]].append(word[place])
        self._letters = sorted({letter for word in self._words for letter in word})

    def like(self, word: str, rng: random.Random) -> str:
        """Make a word with the first letter and the length of another one.

        The first letter keeps most of the order in sorted lists, and the length keeps columns and places in a text.
        """
        made = word
        for _ in range(_TRIES):
            made = word[0]
            while len(made) < len(word):
                made += rng.choice(self._next.get(made[-2:]) or self._next.get(made[-1]) or self._letters)
            if made != word and made not in self._words:
                break
        return made


@lru_cache(maxsize=1)
def _made_up() -> MadeUpWords:
    return MadeUpWords(content_words())


def renamed(sample: Sample, share: float) -> Sample:
    """Replace the content words of a sample, each by one made-up word wherever it stands, or leave the sample as it is.

    Args:
        sample: The sample.
        share: The probability that it is changed. The sample's id is the seed of the draw.

    >>> messages = [{"role": "system", "content": "users: milo"}, {"role": "assistant", "content": "MILO, Mil…"}]
    >>> [system, answer] = renamed(Sample(id="a", domain="web", messages=messages, weights=[1]), 1.0).messages
    >>> new = system["content"].removeprefix("users: ")
    >>> new == "milo", answer["content"] == f"{new.upper()}, {new[:3].title()}…"
    (False, True)
    """
    rng = random.Random(f"/renamed/{sample.id}")
    if rng.random() >= share:
        return sample
    texts = [message["content"] for message in sample.messages]
    standing = {token.lower() for text in texts for token in _TOKEN.findall(text)}
    names: dict[str, str] = {}
    for word in sorted(standing & content_words()):
        if rng.random() < MOST:
            made = _made_up().like(word, rng)
            if made not in standing and made not in names.values():
                names[word] = made
    messages = tuple(
        Message(role=message["role"], content=_replaced(text, names))
        for message, text in zip(sample.messages, texts, strict=True)
    )
    return sample.model_copy(update={"messages": messages})


def _replaced(text: str, names: dict[str, str]) -> str:
    def new(match: re.Match[str]) -> str:
        token = match.group()
        word = token.lower()
        if word.endswith("…") and len(word) > 2:
            word = word[:-1]
            begun = [name[: len(word)] for old, name in names.items() if old.startswith(word)]
            return _cased(begun[0], token[:-1]) + "…" if begun else token
        return _cased(names[word], token) if word in names else token

    return _TOKEN.sub(new, text)


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[0].isupper() else word
