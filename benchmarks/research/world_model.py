"""How faithful a world is in every domain, beside two baselines that need no model.

Its tables stand in docs/world_models/world_model.md.

    python benchmarks/research/world_model.py                      # the bundled models, all domains
    python benchmarks/research/world_model.py terminal --tasks 20  # a sample
    python benchmarks/research/world_model.py --world transformers:runs/mine/model --profile compact \\
        --out runs/mine.json

Runs `agentworld eval fidelity` and writes its result also as Markdown, beside the JSON and the page.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentworld_gym.cli.app import app
from agentworld_gym.evaluation.results.fidelity import Cell, DomainFidelity, FidelityResult, FidelityRun, Measures

HEAD = ("domain", "steps", "exact, true history", "own history", "copy", "nearest", "probes agree", "consistency ratio")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/world_model.json"), help="the JSON result")
    known, others = parser.parse_known_args()
    out: Path = known.out
    began = time.perf_counter()
    app(["eval", "fidelity", "--out", str(out), *others], standalone_mode=False)
    seconds = time.perf_counter() - began
    result = FidelityResult.read(out)
    rows = [_row(domain) for domain in result.domains]
    parts = [f"{result.world}: {result.source}; {seconds:.0f} s in all.", table(HEAD, rows)]
    for domain in result.domains:
        run = domain.taught or domain.free
        for name in ("fields changed", "action", "policy") if run else ():
            parts += [f"{domain.domain}, by {name}:", _groups(run.groups[name], name)]  # type: ignore[union-attr]
    text = "\n\n".join(parts) + "\n"
    out.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(domain: DomainFidelity) -> tuple[str, ...]:
    copied, nearest = (domain.baselines.get(name) for name in ("copy", "nearest"))
    probes = domain.free.probes if domain.free else None
    plans = domain.consistency
    return (
        domain.domain,
        str(domain.steps),
        _exact(domain.taught),
        _exact(domain.free),
        _of(copied),
        _of(nearest),
        str(probes.agreement) if probes else "–",
        f"{plans.ratio:.2f} [{plans.low:.2f}, {plans.high:.2f}]" if plans and plans.ratio is not None else "–",
    )


def _exact(run: FidelityRun | None) -> str:
    return _of(run.measures if run else None)


def _of(measures: Measures | None) -> str:
    return str(measures.deterministic) if measures else "–"


def _groups(cells: Mapping[str, Cell], name: str) -> str:
    rows = [(key, str(cell.deterministic), str(cell.exact.count)) for key, cell in cells.items()]
    return table((name, "exact, true history", "steps"), rows)


if __name__ == "__main__":
    main()
