"""Repairs of the bugs of generated repositories that are not written as the expert writes them.

Each is found by a phrase of the symptom, as a person knows from it what is wrong, and changes what stands in the file.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Repair(NamedTuple):
    """One way to repair a bug."""

    symptom: str
    """A phrase of the symptom."""
    file: str
    """The name of the module within the package."""
    wrong: str
    """A pattern of the text to replace."""
    right: str
    """What stands there instead, with the groups of the pattern."""


REPAIRS = (
    # board
    Repair("right edge by one", "grid.py", r"return 0 <= x <= WIDTH and (.*)", r"return x in range(WIDTH) and \1"),
    Repair("too small, at times even", "grid.py", r"return abs\(a.*", "return sum(abs(p - q) for p, q in zip(a, b))"),
    Repair("run down the columns", "grid.py", r"return index_of\(.*", "return index_of(*square)"),
    Repair("nearest square ends", "grid.py", r"return min\(squares, (.*)\)", r"return min(squares, \1, default=None)"),
    Repair("a step costs", "robot.py", r"cost=\d+\):", "cost=COST):"),
    Repair(
        "A step over the edge",
        "robot.py",
        r"raise IndexError\((.*)\)",
        r"problem = \1\n            raise ValueError(problem)",
    ),
    Repair("although their battery", "robot.py", r"( +)square = target", r"\1self.square = (target[0], target[1])"),
    Repair(
        "merged into grid",
        "robot.py",
        r"from (\w+)\.metric import distance, inside",
        r"from .grid import distance, inside",
    ),
    # jobs
    Repair("one attempt too early", "retry.py", r"return attempt < .*", "return attempt + 1 <= MAX_ATTEMPTS"),
    Repair("should be a power of the base", "retry.py", r"base \* attempt", "pow(base, attempt)"),
    Repair("powers of", "retry.py", r"base=\d+\):", "base=BASE):"),
    Repair(
        "An attempt number of 0",
        "retry.py",
        r"    return min\(CAP",
        '    if not attempt >= 1:\n        raise ValueError("attempts are counted from '
        '1, not %s" % attempt)\n    return min(CAP',
    ),
    Repair(
        "second job to the queue",
        "waiting.py",
        r"self\.insert\(entry, place\)",
        "self.insert(place=place, entry=entry)",
    ),
    Repair("wait for an IndexError", "waiting.py", r"raise KeyError\((.*)\)", r"raise IndexError(f\1)"),
    Repair("never holds more than one", "waiting.py", r"self\.done = \[job\]", "self.done.append(job)"),
    Repair(
        "a constant of the retries", "__init__.py", r"from (\w+)\.retry import LIMIT, ", r"from .retry import CAP, "
    ),
    Repair("claims that there is something", "waiting.py", r"return len\(self\.entries\).*", "return not self.entries"),
    # ledger
    Repair(
        "uses the overdraft to the last",
        "book.py",
        r"if self\.balances\[source\] - amount <= -OVERDRAFT",
        "if amount > self.balances[source] + OVERDRAFT",
    ),
    Repair(
        "makes both sides poorer",
        "book.py",
        r"self\.balances\[target\] -= amount",
        "self.balances[target] = self.balances[target] + amount",
    ),
    Repair(
        "Settling a debt",
        "book.py",
        r"self\.transfer\(creditor, debtor, amount\)",
        "self.transfer(source=debtor, target=creditor, amount=amount)",
    ),
    Repair("account that is not there", "book.py", r"raise RuntimeError\(", "raise LookupError("),
    Repair(
        "only ever holds what was entered last",
        "book.py",
        r"( +)self\.balances\[name\] = amount",
        r"\1self.balances.setdefault(name, 0)\n\1self.balances[name] += amount",
    ),
    Repair("charges the old fee", "report.py", r"each=\d+\):", "each=FEE):"),
    Repair(
        "month without entries",
        "report.py",
        r"return sum\(amounts\) / len\(amounts\)",
        "return sum(amounts) / len(amounts) if amounts else 0",
    ),
    Repair(
        "a function of the report", "__init__.py", r"from (\w+)\.report import average, ", r"from .report import mean, "
    ),
    Repair(
        "begins with the poorest",
        "report.py",
        r"return sorted\(.*",
        "names = sorted(balances)\n    return sorted(names, key=lambda name: balances[name], reverse=True)",
    ),
    # settings
    Repair("name the line before it", "reading.py", r"splitlines\(\), 0\)", "splitlines(), start=1)"),
    Repair("come out as False", "reading.py", r'if text not in \("yes", "no"\)', 'if text == "yes" or text == "no"'),
    Repair(
        "comments and empty lines",
        "reading.py",
        r"        name, sign, text",
        '        if line.startswith("#") or line.isspace() or line == "":\n'
        "            continue\n        name, sign, text",
    ),
    Repair("A line without a value", "reading.py", r"raise KeyError\(", "raise ValueError("),
    Repair(
        "the defaults win",
        "layers.py",
        r"return merged\(given, DEFAULTS\)",
        "return merged(above=given, below=DEFAULTS)",
    ),
    Repair("workers of the last release", "layers.py", r'"workers": \d+', '"workers": WORKERS'),
    Repair(
        "inside a group of settings",
        "layers.py",
        r"( +)merged\(result\[name\], value\)",
        r"\1inner = merged(result[name], value)\n\1result[name] = inner",
    ),
    Repair("the module that reads files", "__init__.py", r"from (\w+)\.reader import", r"from .reading import"),
    # texts
    Repair(
        "would just fit into a line",
        "paragraph.py",
        r"len\(line\) \+ 1 \+ len\(word\) >= width",
        'len(f"{line} {word}") > width',
    ),
    Repair("cells of a table are far too wide", "tables.py", r"return text \+ .*", "return text.ljust(width)"),
    Repair(
        "empty table ends", "tables.py", r"    widths = ", '    if len(rows) == 0:\n        return ""\n    widths = '
    ),
    Repair("Making a table ends", "tables.py", r"joined\(gap, cells\)", "joined(gap=gap, cells=cells)"),
    Repair("columns of a table stand closer", "tables.py", r"gap=\d+\):", "gap=GAP):"),
    Repair(
        "A width below 1", "paragraph.py", r"raise AssertionError\(.*\)", 'raise ValueError(f"too narrow: {width}")'
    ),
    Repair("only the end is left", "paragraph.py", r"lines = \[line\]", "lines.append(line)"),
    Repair("renamed to paragraph", "__init__.py", r"from (\w+)\.paragraphs import", r"from .paragraph import"),
    # till
    Repair("exactly", "pricing.py", r"if count > BULK", "if not count < BULK"),
    Repair("cost more than the same items", "pricing.py", r"total = total \+ (total .*)", r"total -= \1"),
    Repair("shipping costs", "pricing.py", r"fee=\d+\):", "fee=FEE):"),
    Repair(
        "saved several hundred",
        "pricing.py",
        r"return percent_of\(full, saved\)",
        "return percent_of(whole=full, part=saved)",
    ),
    Repair(
        "empty basket ends", "pricing.py", r"return 100 \* part // whole", "return 100 * part // whole if whole else 0"
    ),
    Repair("item without a price", "basket.py", r"raise ValueError\(item\)", 'raise KeyError(f"no price for {item}")'),
    Repair("renamed to pricing", "basket.py", r"from (\w+)\.prices import", r"from .pricing import"),
    Repair(
        "bills only what was scanned last",
        "basket.py",
        r"self\.counts\[item\] = count",
        "self.counts[item] = count + self.counts.get(item, 0)",
    ),
)
"""The repairs of all bugs."""

NAMED = {
    "COST": r"a step costs (\d+)",
    "BASE": r"powers of (\d+)",
    "FEE": r"it is (\d+) now|costs (\d+) cents",
    "WORKERS": r"should start (\d+)",
    "GAP": r"than the (\d+) spaces",
}
"""The numbers that a symptom tells, by the constant that a repair names."""


def repairs_of(instruction: str) -> list[Repair]:
    """Return a repair of each bug that an instruction tells of."""
    return [repair for repair in REPAIRS if repair.symptom in instruction]


def repaired(repair: Repair, instruction: str, text: str) -> tuple[str, str]:
    """Return the piece of a file that is wrong, and what stands there instead.

    Raises:
        ValueError: The file does not hold such a piece.
    """
    match = re.search(repair.wrong, text)
    if match is None:
        raise ValueError(f"{repair.wrong!r} is not in {repair.file}")
    right = match.expand(repair.right)
    for name, told in NAMED.items():
        if re.search(rf"={name}\)|: {name}\b", right):
            number = next(group for group in re.search(told, instruction).groups() if group)  # type: ignore[union-attr]
            right = right.replace(name, number)
    return match[0], right
