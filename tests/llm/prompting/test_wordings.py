"""Ten wordings of each system prompt: other words, the same facts."""

from __future__ import annotations

import pickle
import re
from functools import cache
from pathlib import Path

import pytest

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import Form, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.wordings import FILE, WORDINGS, drawn_wording, read_wordings

every_domain = pytest.mark.parametrize("domain", DOMAINS)
CODE = re.compile(r"`[^`\n]+`|\{\{.*?\}\}|\d+")
FACTS = {
    "terminal": ("bash", "tmux", "echo", "standard error", "prompt", "aliases", "exit statuses"),
    "mcp": ("Model Context Protocol", "database", "filter", "join", "default", "created", "sums"),
    "search": ("search engine", "memory", "reference works", "priority", "conclusion", "top"),
    "swe": ("interpreter", "test runner", "version control", "exceptions", "for good", "praise"),
    "web": ("Playwright", "accessibility tree", "document order", "cart", "dialog", "admit", "form value"),
    "desktop": ("GNOME", "LibreOffice", "complete", "table", "focus", "subprocess", "clipboard", "undo histories"),
    "android": ("launcher", "index", "point", "complete", "back stacks", "permissions", "typed text"),
}
"""What every wording of a domain has to say, in whatever letter case."""

SHARED = (
    "<predicted_observation></predicted_observation>",
    "**Environment Observation:**",
    "time never runs backwards",
)


@cache
def prompts(domain: str, wording: int, form: Form | None = None) -> Prompts:
    return Prompts(load_spec(domain), PromptOptions(wording=wording, form=form))


@cache
def tasks(domain: str) -> tuple[Task, ...]:
    return load_spec(domain).handwritten_tasks()


@every_domain
def test_there_are_ten_and_all_differ(domain: str) -> None:
    task = tasks(domain)[0]
    systems = [prompts(domain, number).system(task) for number in range(WORDINGS)]
    assert len(set(systems)) == WORDINGS == 10
    assert systems[0] == Prompts(load_spec(domain)).system(task)
    assert len({prompts(domain, number).digest for number in range(WORDINGS)}) == WORDINGS
    assert prompts(domain, 0).digest == Prompts(load_spec(domain)).digest


@every_domain
def test_a_wording_changes_many_words_and_no_turn(domain: str) -> None:
    shipped = prompts(domain, 0)
    plain = set(shipped.system(tasks(domain)[0]).split("\n"))
    for number in range(1, WORDINGS):
        found = prompts(domain, number)
        lines = found.system(tasks(domain)[0]).split("\n")
        assert sum(line not in plain for line in lines) >= 8
        assert (found.closing, found.observation("x")) == (shipped.closing, shipped.observation("x"))


@every_domain
def test_all_say_the_same_facts(domain: str) -> None:
    task = tasks(domain)[0]
    for number in range(WORDINGS):
        system = prompts(domain, number).system(task)
        missing = [fact for fact in (*FACTS[domain], *SHARED) if fact.lower() not in system.lower()]
        assert not missing, f"wording {number}"


@every_domain
def test_no_wording_loses_a_name_a_number_or_a_part_of_the_template(domain: str) -> None:
    for part in (domain, "shared"):
        folder = data_folder("prompts") / part
        for template, lines in read_wordings(folder / FILE).items():
            source = (folder / template).read_text(encoding="utf-8").split("\n")
            for start, texts in lines.items():
                (line,) = (line for line in source if re.sub(r"^(\d+\. |- )", "", line).startswith(start))
                needed = set(CODE.findall(re.sub(r"^\d+\. ", "", line)))
                for text in texts:
                    assert needed <= set(CODE.findall(text)), (start, text)


@every_domain
def test_all_render_for_all_tasks(domain: str) -> None:
    """What a task brings along (tools, state, simulation) is the same in all of them."""
    for task in tasks(domain):
        parts = {
            re.split("## Initial state|## Output rules", prompts(domain, n).system(task))[1] for n in range(WORDINGS)
        }
        assert len(parts) == 1


@every_domain
def test_all_render_in_the_change_form(domain: str) -> None:
    task = tasks(domain)[0]
    systems = {prompts(domain, number, "change").system(task) for number in (1, 5, 9)}
    assert len(systems) == 3
    assert all("@@ change" in system for system in systems)


def test_they_are_drawn_by_a_key_and_all_come_up() -> None:
    drawn = [drawn_wording(f"terminal-train-0-{number}") for number in range(400)]
    assert set(drawn) == set(range(WORDINGS))
    assert max(map(drawn.count, range(WORDINGS))) < 80
    assert drawn == [drawn_wording(f"terminal-train-0-{number}") for number in range(400)]


def test_prompts_keep_their_wording_in_another_process() -> None:
    task = tasks("mcp")[0]
    assert pickle.loads(pickle.dumps(prompts("mcp", 4))).system(task) == prompts("mcp", 4).system(task)


def test_a_number_beyond_the_ten_and_other_prompts_are_refused(tmp_path: Path) -> None:
    spec = load_spec("terminal")
    for wrong in (10, -1):
        with pytest.raises(SpecError, match="a number from 0 to 9"):
            Prompts(spec, PromptOptions(wording=wrong))
    with pytest.raises(SpecError, match="wording"):
        Prompts(spec, PromptOptions(profile="compact", wording=1))
    with pytest.raises(SpecError, match="wording"):
        Prompts(spec, PromptOptions(system="You are a shell.", wording=1))


def test_a_line_that_is_not_in_the_template_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "terminal"
    folder.mkdir()
    texts = "".join(f"  - text {number}\n" for number in range(9))
    (folder / FILE).write_text(f"system.j2:\n  You are nobody:\n{texts}")
    with pytest.raises(SpecError, match="start of just one line, not of 0"):
        Prompts(load_spec("terminal"), PromptOptions(folder=tmp_path, wording=2))
    (folder / FILE).write_text("system.j2:\n  You are the environment:\n  - only one\n")
    with pytest.raises(SpecError, match="9 different texts"):
        Prompts(load_spec("terminal"), PromptOptions(folder=tmp_path, wording=2))
