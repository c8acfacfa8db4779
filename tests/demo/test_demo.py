"""The demo from its prompts to its report, with a handful of steps and a scripted dream."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

pytest.importorskip("sb3_contrib")

from agentworld_gym.demo import run


def test_the_report_is_one_page_with_everything_that_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    register_world("echoing", lambda options: ScriptedWorld(echo))
    found = run(tmp_path / "report.html", steps=1024, episodes=6, world="echoing")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe)|\b(src|href)=", html)
    assert "<title>AgentWorld Gym: demo report</title>" in html and "JSON result" not in html

    assert found.transfer.tasks == 6 and found.transfer.grounded.world == "grounded"
    said = " ".join(capsys.readouterr().out.split())
    assert found.transfer.verdict in html and found.transfer.verdict in said

    assert len(found.shown) == 7 and all(one.env_id in html for one in found.shown)
    assert found.curve and "Success over training steps" in html and html.count("<polyline") == 1
    exact = sum(row.equal for row in found.rows)
    assert exact < len(found.rows) and f"{exact} of {len(found.rows)} observations are exact" in html
