"""The documentation keeps up with the code: every command and option is described, and the README's code runs."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.tasks import families
from agentworld_gym.domains.android.engine import scenario as android_scenario
from agentworld_gym.domains.desktop.engine.state import DesktopState
from agentworld_gym.domains.web.engine.sites import initial_state as web_start
from agentworld_gym.worlds import LanguageOptions

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "docs" / "_hooks"))

from commands import BEGIN, renewed  # noqa: E402

CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    if not getattr(command, "commands", None):
        yield path, command
        return
    for name, child in command.commands.items():
        yield from commands(child, f"{path} {name}")


ALL = dict(commands(get_command(app), "agentworld"))


def section(title: str) -> str:
    """What stands under a heading, up to the next heading."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", without_code(CLI), re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def without_code(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("-")} - {"--help"}


@pytest.mark.parametrize("name", ALL)
def test_every_command_and_option_is_documented(name: str) -> None:
    described = section(name)
    assert described, f"docs/cli.md has no section {name!r}"
    assert options(ALL[name]) - set(re.findall(r"`(-[-a-z]+)", described)) == set()


@pytest.mark.parametrize("name", ALL)
def test_no_documented_option_is_missing(name: str) -> None:
    listed = [line for line in section(name).splitlines() if line.startswith("- `-")]
    assert {option for line in listed for option in re.findall(r"`(--?[a-z-]+)`", line.partition(":")[0])} <= options(
        ALL[name]
    )


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_help_and_an_example(name: str) -> None:
    assert ALL[name].help
    assert f"$ {name}" in ALL[name].epilog
    assert all(parameter.help for parameter in ALL[name].params if parameter.name != "context")


def test_the_page_of_the_command_line_is_what_the_commands_say() -> None:
    assert renewed(CLI) == CLI, "run: python docs/_hooks/commands.py"


def test_what_stands_above_the_mark_is_kept_and_what_stands_below_is_made_anew() -> None:
    head, mark, _ = CLI.partition(BEGIN)
    assert mark and renewed(f"{head}By hand.\n{mark}old") == CLI.replace(mark, f"By hand.\n{mark}")


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[str]:
    """The Python of a page; a line `<!-- not run: why -->` before a block takes it out."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"(<!-- not run:.*-->\n+)?^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [code for skipped, code in found if not skipped]


TRAINING = {"stable_baselines3", "trl"}
"""Pages whose code trains for minutes, or downloads a model; what it uses is tested elsewhere."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in TRAINING], ids=lambda page: page.stem)
def test_python_that_trains_names_what_there_is(page: Path) -> None:
    tree = ast.parse("\n".join(blocks(page)))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = [node for node in imports if str(node.module).startswith("agentworld_gym")]
    assert own
    for node in own:
        module = importlib.import_module(str(node.module))
        assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


RUNNING = [page for page in PAGES if blocks(page) and page.stem not in TRAINING]


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    """The program that runs the code of pages, each in a process of its own."""
    command = [sys.executable, str(ROOT / "tests" / "helpers" / "pasted.py")]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield program


def run(program: subprocess.Popen[str], code: str, folder: Path) -> dict[str, Any]:
    """The exit status of some code, and what it printed to its standard error."""
    assert program.stdin is not None and program.stdout is not None
    print(json.dumps({"code": code, "folder": str(folder)}), file=program.stdin, flush=True)
    done: dict[str, Any] = json.loads(program.stdout.readline())
    return done


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.stem)
def test_python_of_the_pages_runs_as_pasted(page: Path, program: subprocess.Popen[str], tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = "\n".join(blocks(page))
    done = run(program, code, tmp_path)
    assert done["status"] == 0, f"{code}\n{done['errors']}"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import gymnasium\ngymnasium.make('AgentWorld/Terminal-v0')", "NamespaceNotFound"),
        ("import agentworld_gym\nagentworld_gym.nothing", "AttributeError"),
        ("import sys\nsys.exit(2)", "SystemExit"),
    ],
)
def test_python_that_would_not_run_is_told(
    code: str, error: str, program: subprocess.Popen[str], tmp_path: Path
) -> None:
    done = run(program, code, tmp_path)
    assert done["status"] == 1 and error in done["errors"]


LINK = re.compile(r"(?<!\\)!?\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The places of a page that a link may name, as GitHub derives them from headings."""
    titles = re.findall(r"^#+ (.+)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        path, _, place = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not place or place in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_lines_of_prose_are_at_most_120_characters(page: Path) -> None:
    lines = without_code(page.read_text(encoding="utf-8")).splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_readme_is_at_most_100_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_readme_says_how_good_an_agent_is() -> None:
    assert "agentworld eval agent --agent " in (ROOT / "README.md").read_text(encoding="utf-8")


FOLDERS = "agentworld_gym|benchmarks|domain_specs|examples|notebooks|prompts|tests"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", without_code(page.read_text(encoding="utf-8")))
    assert [path for path in named if not (ROOT / path).exists()] == []


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            place: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            if not hasattr(place, attribute):
                return False
            place = getattr(place, attribute)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_modules_and_names_of_the_package_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`(agentworld_gym(?:\.\w+)+)", without_code(page.read_text(encoding="utf-8")))
    assert [name for name in named if not exists(name)] == []


def test_pictures_are_small_and_shown() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*"))
    assert pictures
    shown = {Path(link).name for page in PAGES for link in LINK.findall(page.read_text(encoding="utf-8"))}
    for picture in pictures:
        assert picture.read_bytes().startswith((b"\x89PNG", b"GIF89a"))
        assert picture.stat().st_size < (300_000 if picture.suffix == ".gif" else 120_000), picture
        assert picture.name in shown, picture


GROUNDED = {
    "android": android_scenario._state_model().model_fields,
    "desktop": DesktopState.model_fields,
    "web": web_start._State.model_fields,
}
"""The graphical domains, each with the keys of its tasks' state."""


@pytest.mark.parametrize("domain", GROUNDED)
def test_page_of_a_graphical_domain_names_families_controls_and_keys(domain: str) -> None:
    text = (ROOT / "docs" / "worlds" / f"{domain}.md").read_text(encoding="utf-8")
    spec = load_spec(domain)
    wanted = {*families(domain), *spec.controls, *GROUNDED[domain]}
    assert {name for name in wanted if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("domain", engine_names())
def test_readme_tells_of_every_grounded_world(domain: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines() if line.startswith(f"| `{load_spec(domain).env_id}` |")]
    page = "docs/worlds/index.md#office-work" if domain == "work" else f"docs/worlds/{domain}.md"
    assert f"({page})" in line
    assert re.search(rf"\b{len(families(domain))} famil(y|ies)", line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_options_of_a_language_world_stand_under_language(page: Path) -> None:
    names = "|".join(LanguageOptions.model_fields)
    assert re.findall(rf"`(?:{names})=[^`]+`", page.read_text(encoding="utf-8")) == []
