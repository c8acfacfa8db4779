"""The demo from its prompts to its report, with a handful of steps and a scripted dream."""

from __future__ import annotations

import re
from pathlib import Path

import ctrl_c
import pytest

from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.scripted import ScriptedWorld, echo

pytest.importorskip("sb3_contrib")

from agentworld_gym.cli.demo import run


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
    assert f"… {len(found.rows) - 6} more rows, in the report." in said
    assert "training: 1024 of 1024 steps success" in said
    assert "dream" not in (said + html).lower() and "stopped by hand" not in said + html


def test_a_training_that_is_stopped_is_said_to_be_once(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    register_world("echoing", lambda options: ScriptedWorld(echo))
    monkeypatch.setattr(
        "agentworld_gym.integrations.sb3.ppo.CurveCallback._on_rollout_end", lambda self: ctrl_c.pressed()
    )
    run(tmp_path / "report.html", steps=100_000, episodes=2, world="echoing")
    assert "<strong>The training was stopped by hand" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (capsys.readouterr().out + caplog.text).count("stopped by hand") == 1


def test_a_demo_that_is_stopped_leaves_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentworld_gym.cli.demo.tour.load_spec", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
