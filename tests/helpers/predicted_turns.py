"""Rows of plain texts, made by hand."""

from __future__ import annotations

from agentworld_gym.llm.rows.row import Row

PROMPT = "dev@box:/srv$"


def turn(observation, *, task="terminal", earlier=(), spans=(), changes=None, controls=None, action="act"):
    """A row of plain texts: earlier observations, then the one to predict."""
    shown = [*earlier, observation]
    return Row(
        task=task,
        id="a",
        system_str="",
        prompt=[action] * len(shown),
        response=shown,
        current_prompt=action,
        turn_idx=len(shown),
        total_turns=len(shown),
        actions=[action] * len(shown),
        first_observation=PROMPT,
        observations=shown,
        spans=[[]] * len(earlier) + [list(spans)],
        changes=changes or [[]] * len(shown),
        controls=controls or {},
    )
