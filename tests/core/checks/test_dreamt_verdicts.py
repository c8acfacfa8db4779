"""A language world in any dialect judges as the grounded world does in the first, or says that it cannot.

The model is a script that shows what the engine shows. `benchmarks/research/dreamt_verdicts.py` compares all tasks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import generate
from agentworld_gym.envs.options import EnvOptions

sys.path.append(str(Path(__file__).parents[3] / "benchmarks" / "research"))

from dreamt_verdicts import verdicts

UNTOLD = "unjudged"
SAMPLE = [
    ("mcp:mcpmark", "pay_bill", 1, "told"),
    ("swe:claude-code", "off_by_one", 1, "told"),
    ("web:browsergym", "sort_mail", 2, "told"),
    ("android:droidbot", "set_alarms", 1, "told"),
    ("android:droidrun", "change_settings", 1, "untold"),
]
"""A dialect, a family and a level, and whether the dialect tells all that the checks ask for."""


@pytest.mark.parametrize(("source", "family", "level", "tells"), SAMPLE)
def test_a_dream_has_the_grounded_verdict_or_none(source: str, family: str, level: int, tells: str) -> None:
    spec = load_spec(source)
    grounded = EnvOptions(spec=spec.id, world="grounded").runner()
    found = list(verdicts(spec, grounded, generate(spec.id, family, level, 0)))
    grounded.close()
    assert found[0][:2] == ("expert", "1.0000") and float(found[-1][1]) < 1.0
    for _, true, dreamt in found:
        assert dreamt == true if tells == "told" else dreamt.startswith(UNTOLD)
