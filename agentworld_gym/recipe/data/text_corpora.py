"""Corpora of plain text that are mixed into the sessions: what a world model should know, as samples without turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.llm.rows.samples import TEXT, Sample

DOMAIN = "knowledge"
SUFFIXES = (".txt", ".md", ".jsonl")


class Knowledge(Strict):
    """Files or folders of texts, and the share of all characters that they shall make up.

    A `.txt` or `.md` file is one document; a line of a `.jsonl` file is a document in its key `text`.
    """

    files: tuple[str, ...] = ()
    """The files and folders."""

    share: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """The share of all characters that the texts make up."""

    piece: Annotated[int, Field(ge=100)] = 8000
    """The number of characters of the pieces that documents are cut into, at ends of paragraphs."""


def knowledge_samples(knowledge: Knowledge) -> Iterator[Sample]:
    """Yield a sample for each piece of text, with the loss on all of it.

    Raises:
        SpecError: There is no such file, or a line of one holds no text; the error names file and line.
    """
    for name in knowledge.files:
        for file in _files(Path(name)):
            for place, text in _documents(file):
                for number, piece in enumerate(text_pieces(text, knowledge.piece)):
                    yield Sample(
                        id=f"{place}/{number}",
                        domain=DOMAIN,
                        messages=({"role": TEXT, "content": escape(piece)},),
                        weights=(),
                        context_weight=1.0,
                        group=f"{DOMAIN}/{place}",
                    )


def mixed_with_texts(samples: Iterable[Sample], texts: Iterable[Sample], share: float) -> Iterator[Sample]:
    """Yield samples with texts in between, so that at any time texts make up about that share of all characters.

    Texts that are not needed are left out; where there are too few, the share is smaller.

    >>> message = {"role": "user", "content": "four"}
    >>> some = [Sample(id=f"s{i}", domain="d", messages=[message], weights=[]) for i in range(4)]
    >>> text = {"role": "text", "content": "text"}
    >>> texts = [Sample(id=f"t{i}", domain="d", messages=[text], weights=[]) for i in range(9)]
    >>> [sample.id for sample in mixed_with_texts(some, texts, 0.5)]
    ['s0', 't0', 's1', 't1', 's2', 't2', 's3', 't3']
    """
    rest = iter(texts)
    own = others = 0
    for sample in samples:
        yield sample
        own += character_count(sample)
        while others < share * (own + others):
            text = next(rest, None)
            if text is None:
                break
            yield text
            others += character_count(text)


def character_count(sample: Sample) -> int:
    """Return the number of characters of all messages."""
    return sum(len(message["content"]) for message in sample.messages)


def text_pieces(text: str, length: int) -> Iterator[str]:
    r"""Cut a text into pieces of at most `length` characters, after paragraphs, else after lines, words or anywhere.

    >>> list(text_pieces("one two\n\nthree", 10)), "".join(text_pieces("abc def " * 9, 10)) == "abc def " * 9
    (['one two\n\n', 'three'], True)
    """
    start = 0
    while start < len(text):
        stop = len(text)
        if stop - start > length:
            cuts = (text.rfind(mark, start, start + length) + len(mark) for mark in ("\n\n", "\n", " "))
            stop = next((cut for cut in cuts if cut > start + length // 4), start + length)
        yield text[start:stop]
        start = stop


def _files(path: Path) -> list[Path]:
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise SpecError("knowledge", "files", str(path), f"files that end with {', '.join(SUFFIXES)}")
    return files


def _documents(file: Path) -> Iterator[tuple[str, str]]:
    if file.suffix != ".jsonl":
        try:
            yield file.name, file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise SpecError(file, "file", str(error), "a UTF-8 text") from error
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                text = orjson.loads(line)["text"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                excerpt = line[:80].decode("utf-8", "replace")
                raise SpecError(file, f"line {number}", excerpt, "a JSON object with the key `text`") from error
            if not isinstance(text, str):
                raise SpecError(file, f"line {number}: text", text, "a text")
            yield f"{file.name}:{number}", text
