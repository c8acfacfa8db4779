"""`benchmarks/research/claims` runs from end to end."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "benchmarks" / "research" / "claims"))


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "runs"), [("dream_first", 2), ("with_controls", 2), ("fooled", 1), ("unlearned", 1)])
def test_a_claim_runs_from_end_to_end(claim: str, runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib")
    arguments = [claim, "--quick", "--out", str(tmp_path / "runs.jsonl")]
    if claim == "dream_first":
        arguments += ["--folder", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", arguments)
    importlib.import_module(claim).main()
    kept = importlib.import_module("agents").Kept(tmp_path / "runs.jsonl").runs()
    assert len(kept) == runs
