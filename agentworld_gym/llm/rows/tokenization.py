"""The tokenization of samples, through the chat template that the tokenizer brings along.

Where an answer stands in the text is found by rendering the same conversation once more with placeholders in the place
of its contents. So no template needs marks for it, and one that drops old thinking, strips white space or adds an empty
thought is followed as it is: the tokens are those of a request at inference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts import Message
from agentworld_gym.llm.generators.special_tokens import rule_of
from agentworld_gym.llm.rows.samples import TEXT, Sample

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_AT_ONCE = 64
_THOUGHT = re.compile(r"\s*<think>(.*?)</think>\s*(.*)", re.DOTALL)
_PROBE = (Message(role="user", content="u"), Message(role="assistant", content="<think>\nt\n</think>\n\na"))
_FIRST, _LAST = "\ue000", "\ue001"
_PLACE = re.compile(f"{_FIRST}([0-9]+)([ta]){_LAST}")


@dataclass(frozen=True, slots=True)
class TokenizedSample:
    """The tokens of a sample."""

    sample: Sample
    """The sample."""

    ids: NDArray[np.uint32]
    """The tokens."""

    weights: NDArray[np.float32]
    """The weight of each token as a target."""

    observed: NDArray[np.bool_]
    """Whether each token is part of an answer."""

    turns: tuple[int, ...]
    """The end of each answer, as the place of the token after its last one."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of text that is learned with one weight; `turn` counts answers from 0 and is None outside of answers."""

    text: str
    weight: float
    turn: int | None


class SampleTokenizer:
    """Turns samples into tokens.

    Args:
        tokenizer: The tokenizer, which must be a fast one with a chat template.

    Raises:
        SpecError: The tokenizer has no chat template, or is not a fast one.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        if not tokenizer.is_fast:
            raise SpecError(_name(tokenizer), "tokenizer", type(tokenizer).__name__, "a fast tokenizer")
        if not tokenizer.chat_template:
            raise SpecError(_name(tokenizer), "chat_template", None, "a tokenizer with a chat template")
        self._rule = rule_of(tokenizer)
        self._skeleton = lru_cache(maxsize=256)(self._skeleton_of)
        specials = {str(token) for token in tokenizer.get_added_vocab()} | set(tokenizer.all_special_tokens)
        names = sorted(specials, key=len, reverse=True)
        # Templates take thinking out of the content, leave it there, or want it in a field of its own.
        self._apart = False
        self._apart = self._rendered(_PROBE, "chat template").count("</think>") > 1
        self._end = re.compile(rf"\s*(?:{'|'.join(map(re.escape, names)) or '(?!)'})")

    def encode(self, samples: Iterable[Sample]) -> Iterator[TokenizedSample]:
        """Yield the tokens of each sample, in order.

        Raises:
            SpecError: The chat template refuses the messages, or changes more of them than white space at their ends.
        """
        rest = iter(samples)
        backend = self._tokenizer.backend_tokenizer
        while some := list(islice(rest, _AT_ONCE)):
            parts = [self.parts(sample) for sample in some]
            texts = ["".join(part.text for part in found) for found in parts]
            items = backend.encode_batch(texts, add_special_tokens=False)
            for sample, found, item in zip(some, parts, items, strict=True):
                starts = np.fromiter((start for start, _ in item.offsets), dtype=np.int64, count=len(item.ids))
                yield _encoded(sample, found, np.array(item.ids, dtype=np.uint32), starts)

    def parts(self, sample: Sample) -> list[_Part]:
        """Return the text of a sample in pieces, with no special token of the tokenizer in its contents."""
        guarded = self._rule.messages(sample.messages)
        if guarded[0]["role"] == TEXT:
            end = self._tokenizer.eos_token or ""
            return [_Part(guarded[0]["content"] + str(end), sample.context_weight, None)]
        messages = [_laid_out(message) for message in guarded]
        contents = [_contents(message) for message in messages]
        shape = tuple((message["role"], "t" in found) for message, found in zip(messages, contents, strict=True))
        text = self._rendered(messages, sample.id)
        parts: list[_Part] = []
        at = 0
        for piece in self._skeleton(shape):
            forms = [piece.text]
            if piece.message is not None:
                content = contents[piece.message][piece.kind]
                forms = [content, content.strip()]
            shown = next((form for form in forms if text.startswith(form, at)), None)
            if shown is None:
                raise SpecError(sample.id, "messages", text[at : at + 80], "a chat template that keeps messages")
            weight = sample.context_weight if piece.turn is None else sample.weights[piece.turn]
            parts.append(_Part(shown, weight, piece.turn))
            at += len(shown)
        return parts

    def _skeleton_of(self, shape: tuple[tuple[str, bool], ...]) -> tuple[_Piece, ...]:
        """What the template puts around and between the contents of messages of these roles."""
        places, turns = [], list[int | None]()
        for number, (role, thinks) in enumerate(shape):
            content = f"{_FIRST}{number}a{_LAST}"
            if thinks:
                content = f"<think>\n{_FIRST}{number}t{_LAST}\n</think>\n\n{content}"
            places.append(Message(role=role, content=content))
            turns.append(sum(turn is not None for turn in turns) if role == "assistant" else None)
        text = self._rendered(places, "chat template")
        begun = self._begun(places, shape[-1][1]) if turns[-1] is not None else ""
        pieces: list[_Piece] = []
        at, before = 0, -1
        for place in _PLACE.finditer(text):
            number = int(place[1])
            gap = text[at : place.start()]
            if number == before:
                pieces.append(_Piece(gap, turn=turns[number]))
            else:
                if before >= 0 and turns[before] is not None:
                    gap = self._ended(gap, turns[before], pieces)
                # In the last answer a template may leave the tag that opens thinking to the model, or write it itself.
                start = place.start() - len(gap)
                last = number == len(shape) - 1 and text.startswith(begun)
                cut = min(max(len(begun) - start, 0), len(gap)) if last and begun else len(gap)
                pieces += [_Piece(gap[:cut]), _Piece(gap[cut:], turn=turns[number])]
            pieces.append(_Piece("", turns[number], number, place[2]))
            at, before = place.end(), number
        rest = text[at:] if before < 0 or turns[before] is None else self._ended(text[at:], turns[before], pieces)
        return tuple(piece for piece in (*pieces, _Piece(rest)) if piece.text or piece.message is not None)

    def _ended(self, gap: str, turn: int | None, pieces: list[_Piece]) -> str:
        """Return what follows an answer, without the token that ends it, which is part of the answer."""
        end = self._end.match(gap)
        if end is not None:
            pieces.append(_Piece(end[0], turn))
        return gap[end.end() :] if end is not None else gap

    def _begun(self, places: Sequence[Message], thinks: bool) -> str:
        """Return the text that a model is given to write the last message."""
        return self._rendered(places[:-1], "chat template", add_generation_prompt=True, enable_thinking=thinks)

    def _rendered(self, messages: Sequence[Message], name: str, **options: Any) -> str:
        from jinja2 import TemplateError

        try:
            plain = [_fields(message, self._apart) for message in messages]
            return str(self._tokenizer.apply_chat_template(plain, tokenize=False, **options))
        except (TemplateError, TypeError, ValueError) as error:
            expected = f"what the chat template of {_name(self._tokenizer)} takes"
            raise SpecError(name, "messages", str(error), expected) from error


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text of the template, or the place of a message's content (kind `a`) or thinking (kind `t`).

    The field `turn` is the number of the answer that the piece is part of, counted from 0.
    """

    text: str
    turn: int | None = None
    message: int | None = None
    kind: str = "a"


def tokenization_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return a digest of all that decides which tokens a sample becomes: vocabulary, rules and chat template."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    rules = tokenizer.get_vocab() if backend is None else backend.to_str()
    return digest_of({"rules": rules, "template": tokenizer.chat_template, "eos": tokenizer.eos_token})


def _encoded(
    sample: Sample, parts: Sequence[_Part], ids: NDArray[np.uint32], starts: NDArray[np.int64]
) -> TokenizedSample:
    """Give each token the weight and the turn of the part in which it starts."""
    stops = np.cumsum([len(part.text) for part in parts])
    place = np.searchsorted(stops, starts, side="right").clip(max=len(parts) - 1)
    weights = np.array([part.weight for part in parts], dtype=np.float32)[place]
    turn = np.array([-1 if part.turn is None else part.turn for part in parts], dtype=np.int64)[place]
    if len(weights):
        weights[0] = 0  # nothing stands before it, so that nothing can predict it
    last = [np.flatnonzero(turn == number) for number in range(len(sample.weights))]
    turns = tuple(int(found[-1]) + 1 if len(found) else 0 for found in last)
    return TokenizedSample(sample, ids, weights, turn >= 0, turns)


def _laid_out(message: Message) -> Message:
    """Return the message with its thinking laid out as the templates of the Qwen family do."""
    thought = _THOUGHT.fullmatch(message["content"]) if message["role"] == "assistant" else None
    if thought is None:
        return message
    return Message(role=message["role"], content=f"<think>\n{thought[1].strip()}\n</think>\n\n{thought[2].lstrip()}")


def _fields(message: Message, apart: bool) -> dict[str, str]:
    """Return the message as a chat template takes it, with its thinking in a field of its own or not."""
    thought = _THOUGHT.fullmatch(message["content"]) if apart and message["role"] == "assistant" else None
    if thought is None:
        return {"role": message["role"], "content": message["content"]}
    return {"role": message["role"], "content": thought[2], "reasoning_content": thought[1].strip()}


def _contents(message: Message) -> dict[str, str]:
    """Return the parts of a message: its thinking, if it has any, and the rest."""
    thought = _THOUGHT.fullmatch(message["content"]) if message["role"] == "assistant" else None
    return {"a": message["content"]} if thought is None else {"t": thought[1].strip(), "a": thought[2]}


def _name(tokenizer: PreTrainedTokenizerBase) -> str:
    return str(getattr(tokenizer, "name_or_path", "") or "tokenizer")
