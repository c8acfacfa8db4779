"""Lines of the shell in the state form of a repository: they are told by what they leave in files."""

from __future__ import annotations

import json

import pytest

from agentworld_gym.core.domain.view import compact
from tests.helpers.repositories import ANSWERS, STATE, VIEW, call, change, edit, shell, started


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo hi > note", ['{to} = "{}"']),
        ("echo hi >> notes.md; cat notes.md", ['{to} = "{}"']),
        ("cat > a.py <<'EOF'\nprint($x)\nEOF\nwc -l a.py", ['{to} = "{}"']),
        ("mkdir -p a/b && echo c > a/b/d && ls a/b", ['{to/1} = "{}"']),
        ("mkdir a; touch a/b; cp shop.py a; ls a", ['{to/1} = "{}"', '{to/2} = "{}"']),
        ("mv shop.py store.py && ls", ['{to} = "{}"', "-{from}"]),
        ("mv tests specs", ['{to} = "{}"', "-{from}"]),
        ("rm -r tests *.md; ls", ["-{from}", "-{from/1}"]),
        ("cd tests && sed -i s/mean/average/ test_shop.py && grep -c average test_shop.py", ['{to} = "{}"']),
        ("grep -n def shop.py | head -n 1 > out.txt", ['{to} = "{}"']),
        ("cat none > out.txt", ['{to} = "{}"']),
        ("echo a > new; git add new && git status --short", ['{to} = "{}"', 'git/staged = "{}"']),
        (
            "git rm -q notes.md && git commit -m 'No notes' && git log --oneline",
            ["-{from}", "git/branches/main = 3", '+git/commits {"message":"{}","files":"{}"}'],
        ),
        ("rm -f none", ["same"]),
        ("npm test; ls", ["same"]),
        ("echo $((6 * 7)) $(cat notes.md)", ["same"]),
        ("ls none && echo a > b", ["same"]),
        ("cd none && echo a > b", ["same"]),
        ("date; python --version", ["same"]),
    ],
)
def test_a_line_of_plain_steps_is_told_by_what_it_leaves(command: str, expected: list[str]) -> None:
    assert change(started(), shell(command)) == expected


@pytest.mark.parametrize(
    "command",
    [
        "echo a > none/b",
        "cat notes.md && echo a >> notes.md && cat notes.md",
        "for name in a b; do touch $name; done",
        "mkdir tests",
        "rm tests && ls",
        "echo a | tee b",
        "rm -v notes.md",
        "python shop.py > out.txt",
        "echo a > $(basename a/b)",
        "cat > a <<A; cat > b <<B\n1\nA\n2\nB",
        "sed -i.bak s/a/b/ notes.md",
        "(cd tests && rm test_shop.py)",
        "echo '[a commit]'; git commit -qm None",
        "> 'a{b}'; touch x/a y/a",
        "git mv shop.py store.py; git add -A .; git commit -am Moved; git show --stat",
        "cp -r tests specs; rm -rf tests; mv specs tests",
    ],
)
def test_any_other_line_is_told_exactly_too(command: str) -> None:
    machine = started()
    change(machine, shell(command))
    change(machine, shell("ls; git status --short"))


def test_what_a_line_leaves_is_named_and_not_done() -> None:
    shown = VIEW.begin(STATE, 0)
    before = json.dumps(shown)
    given, _ = VIEW.named_values(shown, shell("echo a > b/c; rm notes.md"))
    assert given["c"] == "a\n"
    assert VIEW.places(shown, shell("echo a > b/c; rm notes.md"))["to"] == ("files", "b", "c")
    assert VIEW.describe_for_model(shown, shell("echo a > b/c; rm notes.md")).split("\n") == [
        "b/c nowhere",
        'notes.md {"lines":3}',
    ]
    assert json.dumps(shown) == before
    state = ANSWERS.read(None, compact(shown), "same", json.dumps(shell("rm notes.md; ls")))
    assert "notes.md" in ANSWERS.printed(state)


def test_a_command_cannot_run_in_a_folder_that_is_not_there() -> None:
    machine = started()
    assert change(machine, call("run_shell_command", command="python a.py", directory="none")) == ["same"]
    assert machine.observation == "Directory not found: /repo/none"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from shop import mean, total", "from shop import mean, totals"),
        ("from shop import mean, total", "from shop import (\n    mean,\n    median,\n)"),
        ("from shop import mean, total", "import shop.none\nfrom shop import mean, total"),
        ("import pytest\n", "import pytest\nimport kiosk\n"),
        ("import pytest\n", "import pytest\nfrom kiosk import open_it\n"),
        ("import pytest\n", "import pytest\nfrom kiosk.till import *\n"),
    ],
)
def test_an_import_that_finds_nothing_is_named_as_the_test_run_tells_it(old: str, new: str) -> None:
    kiosk = {"/repo/kiosk/__init__.py": "import os\nfrom .till import Till\n", "/repo/kiosk/till.py": "Tills = 1\n"}
    machine = started({**STATE, "files": {**STATE["files"], **kiosk}})
    change(machine, edit(old, new, "/repo/tests/test_shop.py"))
    (line,) = change(machine, shell("python -m pytest -q"))
    assert line == 'failures/tests~1test_shop.py = "{}"'
