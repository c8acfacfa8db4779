"""The picture of the floors in docs/design.md, drawn from the contract in `.importlinter`.

`python docs/_hooks/floors.py` draws it anew; a test compares the page with the contract.
"""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- floors: begin -->\n", "<!-- floors: end -->\n"


def floors(contract: str) -> list[list[str]]:
    """The floors from the highest to the lowest, each with the names of its rooms.

    Args:
        contract: The text of `.importlinter`.
    """
    return [line.split(" | ") for line in _lines(contract, "layers")]


def plugged_in(contract: str) -> list[str]:
    """The rooms that stand on no floor, as no other room imports them.

    Args:
        contract: The text of `.importlinter`.
    """
    ignored = _lines(contract, "exhaustive_ignores")
    return [room for room in ignored if (ROOT / "agentworld_gym" / room / "__init__.py").is_file()]


def _lines(contract: str, key: str) -> list[str]:
    """The lines of an entry of the contract."""
    parser = configparser.ConfigParser()
    parser.read_string(contract)
    return [line for line in parser["importlinter:contract:floors"][key].split("\n") if line.strip()]


def purpose(room: str) -> str:
    """The first line of the docstring of a room, which is a module or a package."""
    path = ROOT / "agentworld_gym" / room
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0]


def picture(contract: str) -> str:
    """A drawing of the floors and a table that says what each room is."""
    rows = floors(contract)
    texts = ["   ".join(rooms) for rooms in rows]
    width = max(map(len, texts))
    lines = [f"{len(rows) - number:>2} │ {text:^{width}} │" for number, text in enumerate(texts)]
    edge = f"───{'─' * (width + 2)}"
    beside = f"   ↑ plugged in: {', '.join(plugged_in(contract))}"
    drawing = "\n".join(["```text", f"   ┌{edge[3:]}┐", *lines, f"   └{edge[3:]}┘", beside, "```"])
    table = [
        f"| {len(rows) - number} | `{room}` | {purpose(room)} |" for number, rooms in enumerate(rows) for room in rooms
    ]
    table += [f"| – | `{room}` | {purpose(room)} |" for room in plugged_in(contract)]
    return "\n".join([drawing, "", "| floor | room | what it is |", "|---|---|---|", *table, ""])


def redrawn(page: str, contract: str) -> str:
    """The page with the picture that the contract gives."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{picture(contract)}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    contract = (ROOT / ".importlinter").read_text(encoding="utf-8")
    PAGE.write_text(redrawn(PAGE.read_text(encoding="utf-8"), contract), encoding="utf-8")
