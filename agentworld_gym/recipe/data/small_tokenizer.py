"""The tokenizer of small models: whole words where they are frequent, byte pairs for everything else.

A text is cut into pieces (see `pretokenization`): words with the space before them, single digits, punctuation, and the
frames of screens and tables. A piece that many texts hold is one token. Any other piece falls back to byte pairs, so
that every text can be decoded exactly.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.recipe.data.pretokenization import PATTERN

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

ROLES = ("system", "user", "assistant")
END = "<|end|>"
PAD = "<|pad|>"
SPECIALS = (PAD, END, *(f"<|{role}|>" for role in ROLES))
"""The special tokens: padding, the end of an observation, and one token that opens each role."""

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|' ~ message['role'] ~ '|>' ~ message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ '" + END + "' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)

_BYTE_PAIRS = 96
"""The number of merges for rare pieces."""

_WORDS_FROM = len(SPECIALS) + 256 + _BYTE_PAIRS
"""The number of the first token that is a whole piece; special tokens, bytes and byte pairs come before it."""


def build_tokenizer(texts: Iterable[str], vocab_size: int, spelled: Collection[str] = ()) -> Tokenizer:
    """Build a tokenizer whose vocabulary holds the bytes, some byte pairs, and the pieces that most of the texts hold.

    Args:
        texts: The texts.
        vocab_size: The number of tokens.
        spelled: Words in lower case that are no tokens.

    >>> tokenizer = build_tokenizer(["ls\\nnotes.txt"] * 9, 400)
    >>> tokenizer.encode("\\nnotes.txt").tokens
    ['Ċ', 'notes', '.txt']
    >>> tokenizer.decode(tokenizer.encode("naïve 🐚\\t<|x").ids)
    'naïve 🐚\\t<|x'

    Raises:
        SpecError: The vocabulary is smaller than bytes, byte pairs and special tokens need.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    if vocab_size < _WORDS_FROM:
        raise SpecError("tokenizer", "vocab_size", vocab_size, f"at least {_WORDS_FROM}")
    cut = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({piece for piece, _span in cut.pre_tokenize_str(text)})
    pairs = Tokenizer(models.BPE())
    pairs.train_from_iterator(
        # Each word counts once, because frequent ones become tokens anyway. Digits stay single, so that numbers copy.
        (piece for piece in counts if piece.strip("Ġ").isalpha()),
        trainers.BpeTrainer(
            vocab_size=256 + _BYTE_PAIRS,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    fallback: dict[str, Any] = json.loads(pairs.to_str())["model"]
    names = [*SPECIALS, *sorted(fallback["vocab"], key=fallback["vocab"].__getitem__)]
    taken = set(names)
    for piece, _count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if len(names) >= vocab_size:
            break
        if piece not in taken and not _is_word(piece, spelled):
            names.append(piece)
    merges = [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in fallback["merges"]]
    tokenizer = Tokenizer(
        models.BPE(vocab={name: index for index, name in enumerate(names)}, merges=merges, ignore_merges=True)
    )
    tokenizer.pre_tokenizer = cut
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in SPECIALS])
    return tokenizer


def spelled_out(tokenizer: Tokenizer, words: Collection[str]) -> Tokenizer:
    """Return a tokenizer of this kind that spells some words in pieces. All other texts have the same tokens as before.

    Args:
        tokenizer: A tokenizer that `build_tokenizer` has built.
        words: The words, in lower case.

    >>> tokenizer = build_tokenizer(["to Milo"], 400)
    >>> spelled_out(tokenizer, {"milo"}).get_vocab_size() == tokenizer.get_vocab_size()
    True

    Raises:
        SpecError: The tokenizer is of another kind.
    """
    data: dict[str, Any] = json.loads(tokenizer.to_str())
    if not data["model"].get("ignore_merges"):
        raise SpecError("tokenizer", "spelled", True, "a tokenizer of whole words, as small models from scratch have")
    data["model"]["vocab"] = {
        f"<|unused {number}|>" if number >= _WORDS_FROM and _is_word(piece, words) else piece: number
        for piece, number in data["model"]["vocab"].items()
    }
    same: Tokenizer = type(tokenizer).from_str(json.dumps(data))
    return same


def _is_word(piece: str, words: Collection[str]) -> bool:
    return piece.strip("Ġ").lower() in words


def wrap(tokenizer: Tokenizer, max_length: int) -> PreTrainedTokenizerFast:
    """Wrap a tokenizer as transformers and vLLM use it, with its chat template."""
    import transformers

    make: Any = transformers.PreTrainedTokenizerFast  # untyped
    wrapped: PreTrainedTokenizerFast = make(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        chat_template=CHAT_TEMPLATE,
        model_max_length=max_length,
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )
    return wrapped
