"""Whether an observation has the form of its domain, and what of its form means nothing."""

from __future__ import annotations

import re

from agentworld_gym.core.screens import observations_of, screen_of
from agentworld_gym.core.screens.sight import shows

_HEADINGS = re.compile(r"(?m)^### [^\n]*")


def normalised(domain: str, text: str) -> str:
    """Return a text without what means nothing, for a comparison.

    In every domain: the kind of line ends, blanks at the end of a line, runs of blanks within one (an indentation
    stays, and so do the tabs of a table), empty lines around the text and repeated ones within. In tools' answers also
    the order of keys and the spacing of JSON, in search also letter case.

    >>> normalised("terminal", "a   b \\r\\n\\n\\n\\n$ "), normalised("mcp", '{"b": 1,"a":2}')
    ('a b\\n\\n$', '{"a": 2, "b": 1}')
    """
    return observations_of(domain).normalised(text)


def is_valid(domain: str, predicted: str, truth: str, before: str = "") -> bool:
    """Return whether a prediction has the form that is due where the truth stands, whatever it says.

    Due is: something, where the truth is something; a screen whose every line can be read, where the truth shows one;
    the same kind of JSON; the prompt of the same user and host at the end; the same labels of a tool's envelope;
    numbered lines; hits that count from 1.

    >>> truth = "dev@box:/srv$ pwd\\ndev@box:/srv$"
    >>> is_valid("terminal", "dev@box:~$ ls\\ndev@box:~$", truth), is_valid("terminal", "dev@box:~$ ls\\n", truth)
    (True, False)
    """
    if not predicted.strip() or not truth.strip():
        return not predicted.strip() and not truth.strip()
    screen = screen_of(domain)
    if screen is None:
        return observations_of(domain).has_form(predicted, truth, before)
    if not shows(domain, truth):
        return not _HEADINGS.search(truth) or bool(_HEADINGS.search(predicted))
    return shows(domain, predicted) and screen.is_readable(predicted)
