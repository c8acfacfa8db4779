"""Rule verifiers: executable checks of one predicted observation against the grounded truth of a recorded turn.

Every check compares with the truth, so that the truth passes all of them. These checks are common to the domains:

- `form`: the text has the form of the domain (a snapshot that can be read, JSON, a prompt at the end, ...);
- `content`: deterministic text is that of the truth, character for character (in MCP: value for value);
- `pre-existing`, `metadata`: what could not be known is plausible (`agentworld_gym.kit.matching.plausibility`): it has
  the shape of what stands there, such as a date for a date, or a number of that order of size;
- `errors`: an invalid action gives an error, and a valid one gives none;
- `consistency`: what earlier turns wrote and the truth shows again is shown;
- `controllability`: where controls are in force, the observation bears the marks of those that struck, and of no other.

The last three are the axes of Qwen-AgentWorld (arXiv 2606.24597). Each domain adds checks of its form. A turn is
skipped where the truth is one of several: a control that strikes at times did or did not strike, which nobody can
foresee, or a control in force leaves no mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentworld_gym.core.registration import find_domain
from agentworld_gym.kit.matching.compare import is_valid
from agentworld_gym.kit.matching.gaps import gaps_of, right_gaps
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.rl.verifiers.truth import RuleVerdict, RuleVerifier, Truth

__all__ = ["RuleVerdict", "RuleVerifier", "Truth", "unverifiable", "verifier_of", "verify"]


def verifier_of(domain: str) -> RuleVerifier | None:
    """Return the rules of a domain; None where it has none.

    >>> verifier_of("chess") is None
    True
    """
    found = find_domain(domain)
    rules: RuleVerifier | None = None if found is None else found.part("verifier")
    return rules


def unverifiable(row: Row) -> str:
    """Say why no prediction of a row's last observation can be verified; an empty text where the rules can verify it.

    >>> row = Row(task="terminal", id="a", system_str="", prompt=["ls"], response=["a.txt"], current_prompt="ls",
    ...           turn_idx=1, total_turns=1)
    >>> unverifiable(row)
    'no grounded truth in the row'
    """
    if verifier_of(row.domain) is None:
        return f"no rules for the domain {row.domain}"
    if not (row.observations and row.spans and row.actions):
        return "no grounded truth in the row"
    if not foreseeable(row.controls, row.domain):
        return "a control in force leaves no mark where it strikes"
    return ""


def verify(row: Row, prediction: str) -> RuleVerdict:
    r"""Check a prediction of the last observation of a row against the one that was recorded.

    It is skipped where the turn is `unverifiable`, or where it differs from the truth in the mark of a control that
    strikes by chance.

    Args:
        row: A recorded session up to the turn in question (`row.at(turn)` gives any).
        prediction: The observation that a model predicts, as plain text, without tags, thinking or escaping.

    >>> row = Row(task="terminal", id="a", system_str="", prompt=["wc -l a"], response=["…"], current_prompt="wc -l a",
    ...           turn_idx=1, total_turns=1, actions=["wc -l a"], observations=["$ wc -l a\n3 a\n$"], spans=[[]])
    >>> verify(row, "$ wc -l a\n3 a\n$").passed, dict(verify(row, "$ wc -l a\n4 a\n$").checks)
    (True, {'form': True, 'content': False, 'errors': True, 'echo': True, 'prompt': True, 'lines': True})
    """
    truth, reason, verifier = Truth.of(row), unverifiable(row), verifier_of(row.domain)
    if truth is None or verifier is None or reason:
        return RuleVerdict(False, skipped=reason)
    true, predicted = (visible_controls(row.controls, row.domain, text) for text in (truth.text, prediction))
    if true != predicted and any_by_chance(row.controls, true ^ predicted):
        return RuleVerdict(False, skipped="a control strikes by chance")
    checks = _content(truth, prediction)
    checks["errors"] = bool(verifier.error.search(prediction)) == bool(verifier.error.search(truth.text))
    if expected := [line for line in truth.written_lines if line in truth.text]:
        checks["consistency"] = all(line in prediction for line in expected)
    if row.controls:
        checks["controllability"] = true == predicted
    return RuleVerdict.of(checks | verifier.checks(truth, prediction))


def _content(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check the form, the deterministic content, and each other kind of content that the truth has."""
    gaps = gaps_of(truth.text, truth.spans)
    if prediction == truth.text:
        return {"form": True, "content": True, **{str(gap.kind): True for gap in gaps}}
    right, kinds = right_gaps(prediction, truth.text, gaps)
    form = is_valid(truth.row.domain, prediction, truth.text, truth.before)
    return {"form": form, "content": right, **{str(kind): fits for kind, fits in kinds.items()}}


def _marks(domain: str) -> Mapping[str, re.Pattern[str]]:
    """Return what an observation bears where a control has struck, by the control."""
    found = find_domain(domain)
    marks = {} if found is None else found.control_marks
    return {control: re.compile(pattern) for control, pattern in marks.items()}  # `re` keeps what it compiled.


def foreseeable(controls: Mapping[str, float], domain: str) -> bool:
    """Whether every control in force either always strikes or leaves a mark where it does.

    >>> foreseeable({"pagination": 0.3}, "mcp"), foreseeable({"stale-data": 0.3}, "mcp"), foreseeable({}, "web")
    (True, False, True)
    """
    marks = _marks(domain)
    return all(strength in (0.0, 1.0) or name in marks for name, strength in controls.items())


def visible_controls(controls: Mapping[str, float], domain: str, observation: str) -> frozenset[str]:
    """Return the controls in force whose mark an observation bears.

    >>> sorted(visible_controls({"pagination": 0.3}, "mcp", '{"rows": [], "next_cursor": "p2"}'))
    ['pagination']
    """
    marks = _marks(domain)
    return frozenset(
        name
        for name, strength in controls.items()
        if strength > 0 and name in marks and marks[name].search(observation)
    )


def any_by_chance(controls: Mapping[str, float], names: frozenset[str]) -> bool:
    """Whether some of these controls strike only at times."""
    return any(controls[name] < 1 for name in names)
