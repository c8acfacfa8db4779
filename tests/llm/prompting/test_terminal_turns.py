"""The turns of a terminal in the compact profile: a command, and in the state form the outline above it."""

from __future__ import annotations

import pytest

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.terminal.engine.view import TerminalView
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions


def turn_of(line: str) -> str:
    """The turn of a command in the state form."""
    spec, view = load_spec("terminal"), TerminalView()
    screen = compact(view.begin(generate("terminal", "create_files", 1, 0).state, 0))
    task = generate("terminal", "create_files", 1, 0)
    action = ActionParser(spec).parse(line)
    assert Prompts(spec, PromptOptions(profile="compact")).turn(task, 2, action, "dev@box:~$") == line
    return Prompts(spec, PromptOptions(profile="compact", form="state", view=view)).turn(task, 2, action, screen)


@pytest.mark.parametrize(
    ("line", "shown"), [("ls", "reads\nls"), ("echo a > b.txt", "reads\n> -\necho a > b.txt"), ("cd x", "1 -\ncd x")]
)
def test_a_command_of_one_line_stands_below_its_outline_as_it_is(line: str, shown: str) -> None:
    assert turn_of(line) == shown


@pytest.mark.parametrize(
    "line", ["reads\nls", "cat > f <<'E'\nreads\n> -\n\tE\nE", "case x in\nreads\n;\nls", "ls\n\nls"]
)
def test_no_further_line_of_a_command_looks_like_one_of_the_outline(line: str) -> None:
    outline, first, rest = turn_of(line).partition(line.split("\n")[0] + "\n\t")
    assert first + rest == line.replace("\n", "\n\t")
    assert not any(told.startswith("\t") for told in outline.splitlines())
