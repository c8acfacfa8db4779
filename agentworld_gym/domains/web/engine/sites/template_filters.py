"""The Jinja filters of sites: money, dates, light markup, and the difference of two texts."""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

_INLINE = re.compile(r"\[\[([^\[\]|]{1,120})(?:\|([^\[\]|]{1,120}))?\]\]|\*\*([^*]{1,300})\*\*|`([^`]{1,300})`")


def money(amount: Any) -> str:
    """Return an amount of money as text.

    >>> money(1234.5), money(None)
    ('€1,234.50', '')
    """
    return "" if amount is None else f"€{float(amount):,.2f}"


def day(stamp: Any) -> str:
    """Return the date of a timestamp as text.

    >>> day("2026-03-04T09:30:00Z"), day("soon"), day(None)
    ('4 March 2026', 'soon', '')
    """
    text = "" if stamp is None else str(stamp)
    try:
        date = datetime.date.fromisoformat(text[:10])
    except ValueError:
        return text
    return f"{date.day} {date:%B} {date.year}"


def moment(stamp: Any) -> str:
    """Return a timestamp to the minute as text.

    >>> moment("2026-03-04T09:30:00Z"), moment("soon")
    ('4 March 2026, 09:30', 'soon')
    """
    text = "" if stamp is None else str(stamp)
    return f"{day(text)}, {text[11:16]}" if text[10:11] == "T" else day(text)


def counted(number: Any, word: str, words: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "item"), counted(3, "item"), counted(2, "entry", "entries")
    ('1 item', '3 items', '2 entries')
    """
    return f"{number} {word if number == 1 else words or word + 's'}"


@lru_cache(maxsize=4096)
def rich(text: str | None, linked: bool = False) -> Markup:
    """Return a text with light markup as HTML; all other markup in it is escaped.

    Blocks: `## ` headings, `- ` lists, `> ` quotations, paragraphs between empty lines. In a line: `**strong**`,
    `` `code` ``, and where texts are `linked` also `[[Page]]` and `[[Page|shown]]` for a link to `/wiki/Page`.

    >>> print(rich("## Rules\\n\\nBe **kind**, see [[House rules|rules]].\\n- <b>\\n- `x`", linked=True))
    <h2>Rules</h2>
    <p>Be <strong>kind</strong>, see <a href="/wiki/House_rules">rules</a>.</p>
    <ul><li>&lt;b&gt;</li><li><code>x</code></li></ul>
    """
    blocks: list[str] = []
    run: list[str] = []
    kind = ""

    def end() -> None:
        nonlocal run
        if run:
            if kind == "-":
                blocks.append("<ul>" + "".join(f"<li>{line}</li>" for line in run) + "</ul>")
            else:
                paragraph = f"<p>{' '.join(run)}</p>"
                blocks.append(f"<blockquote>{paragraph}</blockquote>" if kind == ">" else paragraph)
            run = []

    for line in (text or "").splitlines():
        line = line.strip()
        begins = "#" if line.startswith("## ") else line[0] if line[:2] in ("- ", "> ") else "p" if line else ""
        if begins != kind or begins == "#":
            end()
            kind = begins
        if begins == "#":
            blocks.append(f"<h2>{_inline(line[3:], linked)}</h2>")
        elif begins:
            run.append(_inline(line[2:] if begins in "->" else line, linked))
    end()
    return Markup("\n".join(blocks))


def _inline(line: str, linked: bool) -> str:
    parts: list[str] = []
    at = 0
    for match in _INLINE.finditer(line):
        parts.append(str(escape(line[at : match.start()])))
        target, text, strong, code = match.groups()
        if target is not None and not linked:
            parts.append(str(escape(match[0])))
        elif target is not None:
            parts.append(f'<a href="/wiki/{slashed(target)}">{escape(text or target)}</a>')
        elif strong is not None:
            parts.append(f"<strong>{escape(strong)}</strong>")
        else:
            parts.append(f"<code>{escape(code)}</code>")
        at = match.end()
    parts.append(str(escape(line[at:])))
    return "".join(parts)


def slashed(title: Any) -> str:
    """Return a title as a part of a URL.

    >>> slashed("House rules?")
    'House_rules%3F'
    """
    return quote(str(title).strip().replace(" ", "_").encode("utf-8", "replace"), safe="()!,':")


def quoted(text: Any) -> str:
    """Return a text as a quotation in light markup.

    >>> quoted("One\\nTwo")
    '> One\\n> Two'
    """
    return "\n".join(f"> {line}" for line in str(text or "").splitlines())


def changes(old: Any, new: Any) -> list[tuple[str, str]]:
    """Return the lines of two texts as pairs of `same`, `removed` or `added` and a line.

    Equal lines are left out unless they are near a change.

    >>> changes("a\\nb", "a\\nc")
    [('same', 'a'), ('removed', 'b'), ('added', 'c')]
    """
    kinds = {" ": "same", "-": "removed", "+": "added"}
    before, after = str(old or "").splitlines()[:400], str(new or "").splitlines()[:400]
    lines = list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]
    return [(kinds[line[0]], line[1:]) for line in lines if line[:1] in kinds]


FILTERS: Mapping[str, Callable[..., Any]] = {
    "money": money,
    "day": day,
    "moment": moment,
    "counted": counted,
    "rich": rich,
    "slashed": slashed,
    "quoted": quoted,
    "changes": changes,
}
