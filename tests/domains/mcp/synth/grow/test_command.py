"""`agentworld synth grow`, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentworld_gym.cli.app import app

runner = CliRunner()


def test_a_second_run_goes_on_where_the_first_one_ended(tmp_path: Path) -> None:
    command = [
        "synth",
        "grow",
        "hr",
        "--out",
        str(tmp_path),
        "--family",
        "settle_leave",
        "--level",
        "1",
        "--tasks",
        "1",
    ]
    first = runner.invoke(app, [*command, "--seed", "8", "--split", "test"])
    second = runner.invoke(app, [*command, "--seed", "8", "--count", "2"])
    assert "Grew 1 world in" in first.output
    assert "Grew 1 world in" in second.output
    assert "1 world was there" in second.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hr_8", "hr_9"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["zoo"], "got 'zoo', expected one of bank, hr"),
        (["hr", "--family", "pay_bill"], "got 'pay_bill', expected one of settle_leave"),
    ],
)
def test_what_does_not_exist_is_named(tmp_path: Path, wrong: list[str], named: str) -> None:
    result = runner.invoke(app, ["synth", "grow", *wrong, "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert named in " ".join(result.output.split())
    assert "0/1" not in result.output, "no empty bar above the error"
