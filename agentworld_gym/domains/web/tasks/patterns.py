"""Regular expressions for what a page shows, as the checks of web tasks need them."""

from __future__ import annotations

import re


def in_row(*texts: str) -> str:
    """Return a regular expression for texts that follow one another in one row of a table."""
    return r"(?:(?!- row\b).)*".join(re.escape(text) for text in texts)


def in_article(*texts: str) -> str:
    """Return a regular expression for texts that follow one another in one article."""
    return r"(?:(?!- article\b).)*".join(re.escape(text) for text in texts)


def term(name: str, value: str) -> str:
    """Return a regular expression for a term and its definition."""
    return rf"- term [^\n]*: {re.escape(name)}\n(?:(?!- term\b).)*?(?<![\w.,]){re.escape(value)}(?![\w.,])"


def paragraph(text: str) -> str:
    r"""Return a regular expression for a paragraph of just this text; a full stop at its end does not matter.

    In an answer to a mail, the line that introduces the quoted mail may follow.

    >>> bool(re.search(paragraph("Yes."), '- paragraph [ref=e6]: "Yes On 4 March 2026, 08:00 Ada Brandt wrote:"\n'))
    True
    """
    said = f"{re.escape(text.rstrip('.!'))}[.!]?"
    return rf'\]: (?:{said}|"{said} On \d[^\n]* wrote:")\n'


def euros(amount: float) -> str:
    """Return an amount as pages show it.

    >>> euros(4.9)
    '€4.90'
    """
    return f"€{amount:,.2f}"
