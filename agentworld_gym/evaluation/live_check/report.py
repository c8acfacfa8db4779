"""What a check of a live system found, and the page that tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.evaluation.live_check.coverage import Coverage, lines_of

FIT = 0.99
"""The share of answers that has to repeat for a system to be called fit for training."""


class VariedPiece(Strict):
    """What two equal plays showed otherwise."""

    kind: str
    """What it is, see `agentworld_gym.kit.live.masks.Varied`."""

    first: str
    """What the first play showed."""

    second: str
    """What another one showed."""

    mask: str | None
    """The pattern that marks it; None where there is none."""

    times: int
    """How many times such a piece was met."""


class Plays(Strict):
    """How many answers were the same as in the first play."""

    answers: int
    """How many were compared."""

    equal: int
    """How many were equal, letter by letter."""

    masked: int
    """How many were equal without what varies."""

    @property
    def share(self) -> float:
        """The share that was equal."""
        return self.equal / self.answers if self.answers else 1.0

    @property
    def masked_share(self) -> float:
        """The share that was equal without what varies."""
        return self.masked / self.answers if self.answers else 1.0


class LiveReport(Strict):
    """What a check found."""

    system: str
    """What the system says that it is."""

    domain: str
    """The domain."""

    episodes: int
    """How many episodes were played first, and then again."""

    actions: int
    """How many actions they have."""

    again: Plays
    """The same actions again, one episode after the other."""

    load: Plays
    """The same actions again, many episodes at a time."""

    at_a_time: int
    """How many."""

    after: Plays
    """The first episode again, after all others: where it differs, something stays from one episode to the next."""

    varied: tuple[VariedPiece, ...]
    """What varied, the most frequent first."""

    masks: tuple[str, ...]
    """The patterns that were learned, beside those of the configuration."""

    forks: str
    """Whether forks are `exact`, `exact, by playing again`, `not exact`, or `refused`."""

    fork_seconds: float | None
    """How long a fork took in the middle."""

    start_seconds: float
    """How long a session took to start, in the middle."""

    steps_per_second: float
    """How many steps one episode took in a second."""

    steps_per_second_load: float
    """How many all episodes took together, at a time."""

    memory_mb: float | None
    """The resident memory of a session, in MiB, in the middle; None where its processes are not known."""

    failures: dict[str, int]
    """The failures of the system by kind."""

    why: str = ""
    """What the first failure was, in words."""

    reset: str
    """How sessions go back to their start."""

    coverage: Coverage
    """What the explorer met."""

    read_only: int
    """How many answers name a read-only file system, which is that of the sandbox."""

    @property
    def repeats(self) -> float:
        """The least share of answers that repeat without what varies."""
        return min(self.again.masked_share, self.load.masked_share)

    def learned(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys that a configuration gets from what was found, with the masks that it has."""
        masks = [*dict.fromkeys([*(known.get("masks") or ()), *self.masks])]
        return {"masks": masks, "deterministic": self.deterministic}

    @property
    def deterministic(self) -> bool:
        """Whether all answers repeated, letter by letter."""
        return min(self.again.share, self.load.share) == 1.0

    @property
    def cannot_write(self) -> bool:
        """Whether more than a tenth of its answers name a read-only file system."""
        return self.read_only > self.actions // 10

    @property
    def verdict(self) -> str:
        """What the system is fit for, in a sentence."""
        failed = sum(self.failures.values())
        if failed > self.actions // 10:
            return f"Not fit for training: {failed} failures in {3 * self.actions} actions."
        if self.cannot_write:
            why = f"{self.read_only} of {self.actions} answers name a read-only file system"
            return f"Not fit for training: {why}. Let the system write below /tmp, by `env` or an option of its own."
        if self.after.masked_share < 1 <= self.again.masked_share:
            return "Not fit for training: what one episode changes, the next one meets. See the key `reset`."
        if self.repeats < FIT:
            why = "it draws at random, or what one episode changes, the next one meets (see the key `reset`)"
            rest = "Fit to act in; forks, probes and fidelity are not to be trusted."
            return f"It repeats {self.repeats:.1%} of its answers: {why}. {rest}"
        if self.forks == "not exact":
            return "It repeats itself, but its forks are not exact: fit to act in, and for fidelity."
        fit = "Fit for training"
        if self.coverage.refused:
            fit = f"As far as it was tested ({', '.join(self.coverage.refused[:3])} did nothing), fit for training"
        if self.masks:
            return f"{fit}, with the masks below in its configuration."
        if not self.deterministic:
            return f"{fit}, with the masks that its configuration has."
        return f"{fit}, with `deterministic: true` in its configuration."


def page_of(report: LiveReport) -> str:
    """Return a page that tells what was found."""
    return "\n".join(_lines(report))


def _lines(report: LiveReport) -> Iterator[str]:
    rows = {
        "system": f"{report.system} ({report.domain})",
        "played": f"{report.episodes} episodes, {report.actions} actions, and all of them twice again",
        "repeats": _plays(report.again),
        "under load": f"{_plays(report.load)}, {report.at_a_time} sessions at a time",
        "reset": f"{report.reset}; the first episode again after all others: {_plays(report.after)}",
        "forks": report.forks + ("" if report.fork_seconds is None else f", {report.fork_seconds:.3f} s each"),
        "start": f"{report.start_seconds:.2f} s a session",
        "speed": f"{report.steps_per_second:.0f} steps/s alone, {report.steps_per_second_load:.0f} under load",
        "memory": "not known" if report.memory_mb is None else f"{report.memory_mb:.0f} MiB a session",
        "failures": ", ".join(f"{kind} {count}" for kind, count in sorted(report.failures.items())) or "none",
        **dict(lines_of(report.coverage)),
    }
    for name, text in rows.items():
        yield f"{name:<11} {text}"
    if report.why:
        yield f"{'the first':<11} {report.why}"
    if report.read_only:
        yield ""
        yield f"{report.read_only} answers name a read-only file system: the system wants to write where it cannot."
        yield "It can write to its home and to /tmp. Tell it so, as by a variable under `env`."
    if report.varied:
        yield ""
        yield "What varies:"
        for piece in report.varied[:12]:
            yield f"  {piece.times:>4} x {piece.kind}: {_short(piece.first)} / {_short(piece.second)}" + (
                "" if piece.mask else "  (no pattern marks it)"
            )
        if len(report.varied) > 12:
            yield f"  ... and {len(report.varied) - 12} other pieces"
    if report.masks:
        yield ""
        yield "masks:"
        for mask in report.masks:
            yield f"  - '{mask.replace(chr(39), 2 * chr(39))}'"
    yield ""
    yield report.verdict


def _plays(plays: Plays) -> str:
    said = f"{plays.share:.1%} of {plays.answers} answers"
    return said if plays.masked == plays.equal else f"{said}, {plays.masked_share:.1%} without what varies"


def _short(text: str) -> str:
    text = text.replace("\n", "\\n")
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
