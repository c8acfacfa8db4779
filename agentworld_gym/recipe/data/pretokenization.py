"""Pre-tokenization for a small tokenizer: the pattern that cuts texts into pieces, which are one token each if
frequent.

What all screens, tables and tool calls have in common (tags, keys, indentation, frames of numbers) is cut into long
pieces, which cost a token or two a line. What differs from one to the next (words, names, digits) is cut alike wherever
it stands, so that copying a text means copying its tokens.
"""

from __future__ import annotations

PROMPT = r"\n?[a-z][a-z0-9_-]*@[a-z][a-z0-9_-]*:"
"""A shell prompt up to its directory."""

LABEL = r"\n?[0-9]{1,3}\|(?= )|\n[-+@] ?(?=[0-9s])|(?<=[-+.@ ])[0-9]{1,3}(?=\||\.\.[0-9]|\n|~)|\|(?= )|\.\.(?=[0-9])"
"""Numbers of lines, and the operations on them."""

_BOUNDS = r" class=[\w.]+(?: [a-z_]+)* bounds=\[[0-9]{1,4},"
ANDROID = (
    r'(?: |\n\[[0-9]{1,3}\] )text="'
    rf'|" content_desc="(?:"{_BOUNDS})?|"{_BOUNDS}'
    r"|(?<=\[[0-9]{1,4},)[0-9]{1,4}(?=\])|\]\[[0-9]{1,4},(?=[0-9]{1,4}\])|(?<=,)[0-9]{1,4}\](?=\n|\Z|<)"
)
"""An element of a phone's screen, without its texts and its corners."""

DESKTOP = (
    r"[ \n][a-z]+(?:-[a-z]+)*\t|\t[\t\"]*\((?=[0-9])|\t[\t\"]+|(?<=\()[0-9]{1,4}, (?=[0-9]{1,4}\))"
    r"|(?<=, )[0-9]{1,4}(?=\)\t)|\)\t\([0-9]{1,4}, [0-9]{1,4}\)"
)
"""A row of a desktop's table: its tag, the frame of its cells, its position and its size."""

WEB = (
    r"[ \n] *- /?[a-z]+(?::(?: |(?=\n))| [\"']|(?=[ :]))"
    r"|\"? \[[a-z]+(?:=(?:\+?[0-9]{1,2}|[a-z]+))?\](?::(?: \"?)?)?|\"?:(?= |\n)"
)
"""An item of a page's snapshot: indentation, role, attributes."""

JSON = r'(?:["\]}]*, |[\[{]+)?\\?"[A-Za-z_]+\\?": [\[{]*(?:\\?")?|\\?["\]}]{2,}'
"""A key with the marks around it, and closing marks."""

DATE = (
    r"(?:19|20)[0-9]{2}-(?=[0-9]{2}-[0-9]{2})|(?<=[0-9]{4}-)[0-9]{2}-|(?<=[0-9]{2}-)[0-9]{2}(?![0-9])"
    r"|T?(?<![0-9])[0-9]{2}:(?=[0-9]{2})|(?<=:)[0-9]{2}Z?(?![0-9])"
)
"""Parts of dates and times."""

CODE = r"\n? +[0-9]{1,3}\t"
"""The number of a line of code."""

WORDS = (
    r"|[ \n]?-[A-Za-z]+"  # an option
    r"|\.[A-Za-z]+"  # an extension
    r"| ?[A-Za-z]+(?:_[A-Za-z]+)*"
    r"|[ \n]?[0-9]"
    r"|[ \n]?[^\sA-Za-z0-9]"
    r"| +(?= )|\n+|\s"
)
"""Everything else: options, extensions, words, single digits and marks, and white space."""

PATTERN = "|".join((PROMPT, LABEL, ANDROID, CODE, DESKTOP, WEB, JSON, DATE)) + WORDS
"""The whole pattern."""
