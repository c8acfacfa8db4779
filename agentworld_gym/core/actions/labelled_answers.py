r"""Reads the final answer that a text marks as such: `Answer: X`, `<answer>X</answer>`, `\boxed{X}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_LABEL = re.compile(
    r"^[ \t]*(?:\*\*)?(?:final[ \t]+)?answer(?:\*\*)?[ \t]*:(?:\*\*)?(.*)", re.IGNORECASE | re.MULTILINE
)
_TAG = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.IGNORECASE | re.DOTALL)
_BOX = re.compile(r"\\boxed[ \t]*\{")
_TEXT = re.compile(r"\\text(?:bf|it|rm)?\{([^{}]*)\}")
_AROUND = re.compile(r"(\*\*|\*|`|\$)(.+)\1", re.DOTALL)
_LONGEST_BOX, _MOST_BOXES = 10_000, 8
_INTENT = re.compile(
    r"(?:(?:first|next|now|so|okay),?\s+)?"
    r"(?:let['’]?s?\b|(?:I|we)(?:['’](?:ll|m|re|d)\b|\s+(?:will|would|should|shall|must|need|have|had|am|are|do|don['’]t|"
    r"can|can['’]t|cannot|could|want|think|look|try)\b))",
    re.IGNORECASE,
)
"""How a sentence begins that says what its writer does, and answers nothing."""


def labelled_answer(text: str) -> str | None:
    r"""Return the final answer that a text marks as such; None where it marks none, or several that differ.

    A label begins the last line, or the one before where nothing stands behind it. A sentence about what its writer
    does is no answer.

    >>> labelled_answer("I counted.\n\n**Answer:** 42"), labelled_answer("So <answer>\n42\n</answer>")
    ('42', '42')
    >>> labelled_answer(r"It is $\boxed{\frac{1}{2}}$."), labelled_answer("Answer: I will look it up.")
    ('\\frac{1}{2}', None)
    """
    labels = list(_LABEL.finditer(text))
    marked = [*_TAG.findall(text), *_boxed(text)]
    if len(labels) == 1:
        said, *behind = [line.strip() for line in text[labels[0].start(1) :].split("\n", 1)[:2]] or [""]
        rest = [line for line in "".join(behind).splitlines() if line.strip()]
        if said.strip("*") and not rest:
            marked.append(said.removesuffix("**"))
        elif not said.strip("*") and len(rest) == 1:
            marked.append(rest[0])
    answers = {answer for one in marked if (answer := _plain(one))}
    if len(labels) > 1 or len(answers) != 1:
        return None
    (answer,) = answers
    return None if _INTENT.match(answer) else answer


def _boxed(text: str) -> Iterator[str]:
    for box in islice(_BOX.finditer(text), _MOST_BOXES):
        depth = 1
        for place in range(box.end(), min(len(text), box.end() + _LONGEST_BOX)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if not depth:
                yield text[box.end() : place]
                break


def _plain(answer: str) -> str:
    """Return an answer without the tags, the box and the marks of Markdown and LaTeX around it."""
    answer = answer.strip()
    for form in (_TAG, _AROUND):
        if (found := form.fullmatch(answer)) is not None:
            answer = found[found.re.groups].strip()
    if _BOX.match(answer) and (inner := [*_boxed(answer)]):
        answer = inner[0].strip()
    return _TEXT.sub(r"\1", answer)
