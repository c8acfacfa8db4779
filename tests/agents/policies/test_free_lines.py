"""Free-form command lines of terminals: they speak of the task's files, make names up, and can be parsed."""

from __future__ import annotations

import random

from agentworld_gym.agents.collect.policies import policy_shares
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.terminal.free_explorer import free_lines

PARSER = ActionParser(load_spec("terminal"))
FAMILIES = sorted(families("terminal"))


def lines(number: int, count: int = 60) -> list[str]:
    """Lines about a task of their own."""
    task = generate("terminal", FAMILIES[number % len(FAMILIES)], 1 + number % 3, number)
    return [*free_lines(task, random.Random(number), count)]


def test_equal_draws_give_equal_lines() -> None:
    assert lines(3) == lines(3) != lines(4)


def test_every_line_is_an_action_with_no_name_of_the_grammar_left_open() -> None:
    for number in range(24):
        for line in lines(number):
            action = PARSER.parse(line)
            assert action.kind is ActionKind.ACT, line
            assert "@word@" not in line
            assert "@file@" not in line


def test_lines_speak_of_the_files_of_the_task_and_hardly_repeat() -> None:
    task = generate("terminal", "archive", 2, 5)
    names = [path.rpartition("/")[2] for path in task.state["files"]]
    typed = [*free_lines(task, random.Random(5), 300)]
    assert sum(any(name in line for name in names) for line in typed) > 40
    assert len({*typed}) > 240


def test_all_kinds_of_lines_are_typed() -> None:
    typed = "\n".join(line for number in range(12) for line in lines(number))
    for piece in (
        " && ",
        " || ",
        "; ",
        "<<",
        "for ",
        "while ",
        "[ -f ",
        "$(",
        "export ",
        "sudo ",
        "C-c",
        "Enter",
        "*.",
    ):
        assert piece in typed, piece


def test_domains_without_a_free_agent_leave_its_share_to_others() -> None:
    assert policy_shares("web", {"free": 1, "expert": 1}) == {"expert": 1}
    for domain in ("swe", "terminal"):
        assert policy_shares(domain, {"free": 1, "expert": 1}) == {"free": 1, "expert": 1}
