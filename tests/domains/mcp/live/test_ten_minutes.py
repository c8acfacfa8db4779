"""The page on live worlds, followed word by word: its files are written, its commands and its program are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from live_servers import needs_live_servers
from processes import ROOT
from typer.testing import CliRunner

from agentworld_gym.cli.app import app

_BLOCK = re.compile(r"(?:`([\w.]+)`[^`]*?)?```(\w+)\n(.*?)```", re.DOTALL)


def test_the_page_leads_from_a_server_to_an_agent_that_was_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_live_servers()
    monkeypatch.chdir(tmp_path)
    # As where the environment is active.
    monkeypatch.setenv("PATH", f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}")
    page = (ROOT / "docs" / "worlds" / "live.md").read_text(encoding="utf-8")
    part = page.partition("## Ten minutes")[2].partition("\n## ")[0]
    blocks = _BLOCK.findall(part)
    assert [name for name, kind, _ in blocks if kind != "console"] == [
        "shelf.py",
        "shelf.yaml",
        "lend_emma.yaml",
        "play.py",
    ]
    for name, kind, text in blocks:
        if kind != "console":
            (tmp_path / name).write_text(text)
    for line in next(text for _, kind, text in blocks if kind == "console").splitlines():
        done = CliRunner().invoke(app, shlex.split(line.removeprefix("$ agentworld ")))
        assert done.exit_code == 0, done.output
        assert "error" not in done.output.lower() or "live check" in line
    assert "deterministic: true" in (tmp_path / "shelf.yaml").read_text()
    played = subprocess.run([sys.executable, "play.py"], capture_output=True, text=True, check=True, timeout=120)
    assert "Emma: lent to Bo" in played.stdout and played.stdout.endswith("1.0 True\n")
