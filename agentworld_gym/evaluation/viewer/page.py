"""Writes the page: its data packed into the file, its style and its script beside them."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agentworld_gym.core.traces.diff import pairs
from agentworld_gym.core.traces.log import TraceEpisode, agent_logs, read_header, read_trace
from agentworld_gym.evaluation.viewer.records import NumberedTexts, Record, detail, domain_of, summary
from agentworld_gym.evaluation.viewer.screenshots import Screens

STEPS_IN_CHUNK = 400
"""How many steps a chunk holds at least; the page unpacks only the chunks of what it shows."""

SCREENS = 100
"""How many different screens are drawn, if nothing else is asked for."""

STYLE = "style.css"
SCRIPTS = ("data.js", "diff.js", "list.js", "episode.js", "main.js")


@dataclass(frozen=True)
class ViewerPage:
    """What a page shows, and what it left out."""

    episodes: int
    """How many episodes there are."""

    steps: int
    """How many steps they have."""

    screens: int
    """How many screens were drawn."""

    skipped: int
    """How many different screens were not drawn."""


def write_view(path: Path, out: Path, twin: Path | None = None, screens: int = SCREENS) -> ViewerPage:
    """Write the page of a trace.

    Args:
        path: The folder of the trace, or one of the files of a run.
        out: The HTML file.
        twin: A trace of the same tasks in another world, which is shown beside; None shows none.
        screens: How many different screens are drawn at most.

    Raises:
        MissingFile: There is nothing.
        TraceError: It is no trace.
        OSError: The file cannot be written.
    """
    logs = agent_logs(path)
    others = [] if twin is None else list(read_trace(twin))
    drawing = Screens(screens)
    summaries: list[Record] = []
    chunks: list[str] = []
    texts = NumberedTexts()
    details: list[Record] = []
    for key, number, domain, episode, other in _episodes(logs, others):
        record = summary(key, number, domain, episode, other)
        shown = detail(episode, other, texts)
        _draw(shown, domain, texts, drawing)
        summaries.append({**record, "chunk": len(chunks), "place": len(details)})
        details.append(shown)
        if sum(len(one["steps"]) + 1 for one in details) >= STEPS_IN_CHUNK:
            chunks.append(_chunk(texts, details))
            texts, details = NumberedTexts(), []
    if details:
        chunks.append(_chunk(texts, details))
    index = {
        "title": _title(path),
        "twin": None if twin is None else _title(twin),
        "runs": [_run(log) for log in logs],
        "episodes": summaries,
        "skippedScreens": drawing.skipped,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_html(index, chunks, drawing.images), encoding="utf-8")
    steps = sum(record["steps"] for record in summaries)
    return ViewerPage(len(summaries), steps, len(drawing.images), drawing.skipped)


def _episodes(
    logs: Sequence[Path], others: Iterable[TraceEpisode]
) -> Iterator[tuple[str, int, str, TraceEpisode, TraceEpisode | None]]:
    """Yield each episode with its name in links, the number of its run, its domain, and its twin."""
    own = [(number, domain_of(read_header(log)["env"]), log) for number, log in enumerate(logs)]
    found = [(number, domain, episode) for number, domain, log in own for episode in read_trace(log)]
    matched = pairs((episode for _, _, episode in found), others)
    for (number, domain, episode), (_, twin) in zip(found, matched, strict=False):
        yield (episode.id if len(logs) == 1 else f"{number}.{episode.id}"), number, domain, episode, twin


def _draw(shown: Record, domain: str, texts: NumberedTexts, drawing: Screens) -> None:
    """Enter the numbers of drawings into the start and the steps of an episode."""
    by_number = list(texts.numbers)
    for part in (shown["start"], *shown["steps"]):
        image = drawing.number(domain, by_number[part["shown"]])
        if image is not None:
            part["screen"] = image


def _run(log: Path) -> Record:
    header = read_header(log)
    names = ("run", "env", "fingerprint", "lock")
    return {name: header[name] for name in names if name in header}


def _title(path: Path) -> str:
    named = path.resolve() if path.is_dir() else path.with_suffix("").with_suffix("")
    return named.name


def _chunk(texts: NumberedTexts, details: Sequence[Record]) -> str:
    return packed({"texts": list(texts.numbers), "episodes": details})


def packed(value: Any) -> str:
    """Return data as JSON, compressed and in base64, so that nothing in it can be taken for HTML.

    >>> import base64
    >>> gzip.decompress(base64.b64decode(packed({"a": "</script>"})))
    b'{"a":"</script>"}'
    """
    return b64encode(gzip.compress(orjson.dumps(value), 6, mtime=0)).decode()


def _html(index: Record, chunks: Sequence[str], images: Sequence[str]) -> str:
    loader = PackageLoader("agentworld_gym.evaluation", "viewer")
    templates = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    style, *sources = (loader.get_source(templates, name)[0] for name in (STYLE, *SCRIPTS))
    script = "\n".join(["", *sources, ""])
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return templates.get_template("page.html.j2").render(
        title=index["title"],
        style=Markup(style),
        script=Markup(script),
        digest=digest,
        index=packed(index),
        chunks=chunks,
        images=images,
    )
