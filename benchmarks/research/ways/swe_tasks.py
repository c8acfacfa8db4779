"""Ways of the hand-written tasks of repositories."""

from __future__ import annotations

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Ways, fixed, read
from ways.swe_calls import call, output_of, shell

SUITE = shell("python -m pytest -q")


def edit(path: str, old: str, new: str) -> str:
    """Return the call that replaces a piece of a file of the repository."""
    return call("edit", file_path=f"/repo/{path}", old_string=old, new_string=new)


def write(path: str, text: str) -> str:
    """Return the call that writes a file of the repository."""
    return call("write_file", file_path=f"/repo/{path}", content=text)


def compute_the_hours(instruction: str, screen: str) -> ActionStream:
    """Let the package compute, and write what it prints."""
    seen = yield shell("python -c 'from kiln import hours; print(hours(20, 1000, thick=True))' | tee THICK.txt")
    yield f"finish: {output_of(seen).strip()}"


def compute_as_a_whole_number(instruction: str, screen: str) -> ActionStream:
    """Write the number without its decimal."""
    seen = yield shell("python -c 'import kiln; print(kiln.hours(20, 1000, True))'")
    yield write("THICK.txt", f"{float(output_of(seen)):g}")
    yield f"finish: {float(output_of(seen)):g} hours"


def compute_in_the_repository(instruction: str, screen: str) -> ActionStream:
    """Compute the stages by hand."""
    seen = yield shell("python -c 'from kiln.program import stages; print(stages(20, 1000, thick=True))'")
    stages = [tuple(map(int, one.split(","))) for one in read(r"\[\((.*)\)\]", output_of(seen)).split("), (")]
    total = round(sum((end - begin) / rate for begin, end, rate in stages), 1)
    yield shell(f"echo {total} > THICK.txt; git status --short")
    yield f"finish: {total}"


def ask_blame(instruction: str, screen: str) -> ActionStream:
    """Ask who wrote the line last, and set it back with `sed`."""
    seen = yield shell("git blame levy/rates.py | grep books")
    author = read(r"\((\w+ \w+) ", output_of(seen))
    yield shell("sed -i 's/books=5/books=7/' levy/rates.py && git diff")
    yield f"finish: {author}"


def ask_the_log_for_the_change(instruction: str, screen: str) -> ActionStream:
    """Ask for the commit that wrote the number."""
    seen = yield shell("git log --format='%an' -S'books=5' -- levy/rates.py")
    yield shell(
        "python - <<'END'\np = 'levy/rates.py'\nt = open(p).read()\nopen(p, 'w').write(t.replace('5', '7', 1))\nEND"
    )
    yield f"finish: {output_of(seen).strip()}"


MEDIAN = '''

def median(values):
    """The middle one, or the mean of the middle two."""
    if not values:
        raise ValueError("median of nothing")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
'''
INIT = (
    '"""Statistics without dependencies."""\n\n'
    "from figures.middle import mean, median\n"
    "from figures.width import spread\n\n"
)
MONTHS = "    return date.replace(year=year, month=month)"
JOINED = '        return "".join(words)\n    return ", ".join(words[:-1]) + "and " + words[-1]'
NOTE = "- Fix add_months at the end of a month."
SLUG = 'from slug import slug\n\n\ndef test_words():\n    assert slug("Green Tea") == "green-tea"\n'

WAYS: Ways = {
    "duty-roster": [
        fixed(
            "with None and a copy",
            edit("roster/duty.py", "plan={}):", "plan=None):"),
            edit("roster/duty.py", "    for number, day", "    plan = dict(plan or {})\n    for number, day"),
            edit("roster/text.py", '"and "', '" and "'),
            SUITE,
        ),
        fixed(
            "with sed",
            shell('sed -i \'s/"and "/" and "/\' roster/text.py'),
            shell(
                "sed -i -e 's/plan={}/plan=None/' -e 's/^    for number/    if plan is None:\\n "
                "       plan = {}\\n&/' roster/duty.py"
            ),
            shell("python -m pytest -q; git diff"),
        ),
        fixed(
            "another sentence",
            edit(
                "roster/text.py",
                JOINED,
                '        return "".join(words)\n    *others, last = words\n'
                "    return f\"{', '.join(others)} and {last}\"",
            ),
            edit("roster/duty.py", "plan={}):", "plan=()):"),
            edit("roster/duty.py", "    for number, day", "    plan = dict(plan)\n    for number, day"),
        ),
    ],
    "ignore-logs": [
        fixed(
            "at the end",
            shell(
                "echo '*.log' >> .gitignore && git add .gitignore && git commit -qm 'Leave logs "
                "out' && git status --short"
            ),
        ),
        fixed(
            "at the top",
            shell("sed -i '1i *.log' .gitignore"),
            shell("git status --short"),
            shell("git commit -am 'Do not track the logs of the nightly run'"),
        ),
        fixed(
            "in the whole",
            write(".gitignore", "*.tmp\n*.log\ndist/\n"),
            shell("git add -A && git commit -m ignore"),
        ),
    ],
    "kiln-hours": [compute_the_hours, compute_as_a_whole_number, compute_in_the_repository],
    "missing-median": [
        fixed(
            "by halves",
            shell("cat tests/test_median.py figures/*.py"),
            shell(f"cat >> figures/middle.py <<'END'{MEDIAN}END"),
            write("figures/__init__.py", f'{INIT}__all__ = ["mean", "median", "spread"]\n'),
            SUITE,
        ),
        fixed(
            "by two indices",
            edit(
                "figures/middle.py",
                "    return sum(values) / len(values)\n",
                "    return sum(values) / len(values)\n\n\n"
                'def median(values):\n    """The middle."""\n'
                "    if len(values) == 0:\n"
                '        raise ValueError("median of nothing")\n    ranked, n = sorted(values), len(values)\n'
                "    return (ranked[(n - 1) // 2] + ranked[n // 2]) / 2\n",
            ),
            edit("figures/__init__.py", "import mean\n", "import mean, median\n"),
            edit("figures/__init__.py", '["mean", "spread"]', '["mean", "spread", "median"]'),
        ),
        fixed(
            "with an import of its own",
            shell(
                "sed -i -e 's/^from figures.width/from figures.middle import median\\n&/' -e "
                '\'s/"spread"/"median", &/\' figures/__init__.py'
            ),
            shell(f"cat >> figures/middle.py <<'END'{MEDIAN}END"),
            shell("python -m pytest -q; git status --short"),
        ),
    ],
    "month-overflow": [
        fixed(
            "right below",
            edit(
                "duedate/calendar.py",
                MONTHS,
                "    return date.replace(year=year, month=month, day=min(date.day, last_day(year, month)))",
            ),
            shell(f"sed -i '/^## Unreleased/a {NOTE}' CHANGES.md"),
            SUITE,
        ),
        fixed(
            "with blank lines",
            edit("CHANGES.md", "## Unreleased\n", f"## Unreleased\n\n{NOTE}\n"),
            edit(
                "duedate/calendar.py",
                MONTHS,
                "    day = date.day\n    if day > last_day(year, month):\n"
                "        day = last_day(year, month)\n    return datetime.date(year, month, day)",
            ),
        ),
        fixed(
            "with two blank lines",
            shell(f"sed -i 's/^## Unreleased$/&\\n\\n{NOTE}\\n/' CHANGES.md && cat CHANGES.md"),
            edit(
                "duedate/calendar.py",
                MONTHS,
                "    most = last_day(year, month)\n    return date.replace(year=year, month=month, "
                "day=most if date.day > most else date.day)",
            ),
            shell("python -m pytest -q tests/test_calendar.py && python -m pytest -q"),
        ),
    ],
    "refuse-to-overdraw": [
        fixed(
            "with get",
            edit(
                "depot/stock.py",
                "        left = self.counts[article] - count\n",
                "        there = self.counts.get(article, 0)\n"
                '        if count > there:\n            raise ValueError(f"only {there} of {article}")\n'
                "        left = there - count\n",
            ),
            SUITE,
            shell("git commit -am 'Refuse to overdraw'"),
        ),
        fixed(
            "after the subtraction",
            edit(
                "depot/stock.py",
                "        left = self.counts[article] - count\n",
                "        left = self.counts.get(article, 0) - count\n"
                '        if left < 0:\n            raise ValueError(f"only {left + count} of '
                '{article}")\n',
            ),
            shell("git add depot && git commit -m 'Refuse to overdraw' && git log --oneline"),
        ),
        fixed(
            "with a test more",
            edit(
                "depot/stock.py",
                "        left = self.counts[article] - count\n",
                "        if article not in self.counts or self.counts[article] < count:\n"
                '            raise ValueError(f"only {self.counts.get(article, 0)} of {article}")\n'
                "        left = self.counts[article] - count\n",
            ),
            write(
                "tests/test_more.py",
                "from depot import Stock\n\n\ndef test_all():\n    assert Stock({1: 1}).take(1, 1) == 0\n",
            ),
            SUITE,
            shell("git add -A; git commit -qm 'Refuse to overdraw'; git status"),
        ),
    ],
    "release-1-3-1": [
        fixed(
            "without a blank line",
            shell("sed -i 's/1.3.0/1.3.1/' pyproject.toml parcel/__init__.py"),
            shell("sed -i 's/^## 1.3.0/## 1.3.1\\n- Two kilograms are a small parcel.\\n\\n&/' CHANGELOG.md"),
            shell("git commit -am 'Release 1.3.1' && git push origin main"),
        ),
        fixed(
            "the changelog first",
            edit("CHANGELOG.md", "## 1.3.0", "## 1.3.1\n\n- Two kilograms are a small parcel.\n\n## 1.3.0"),
            edit("parcel/__init__.py", '"1.3.0"', '"1.3.1"'),
            edit("pyproject.toml", '"1.3.0"', '"1.3.1"'),
            SUITE,
            shell("git add -A && git commit -qm 'Release 1.3.1' && git push -q origin HEAD:main"),
        ),
        fixed(
            "set right before the push",
            shell(
                "sed -i '/version/s/1.3.0/1.3.1/' pyproject.toml parcel/__init__.py && git commit -qam 'Release 1.3.1'"
            ),
            edit("CHANGELOG.md", "# Changes\n", "# Changes\n\n## 1.3.1\n\n- Two kilograms are a small parcel.\n"),
            shell("git add CHANGELOG.md && git commit -q --amend -m 'Release 1.3.1' && git push && git log --oneline"),
        ),
    ],
    "rename-function": [
        fixed(
            "with sed",
            shell("grep -rlw fmt tariff README.md | xargs sed -i 's/\\bfmt\\b/format_price/g'"),
            SUITE,
            shell("git commit -am 'Rename fmt'"),
        ),
        fixed(
            "file by file",
            shell(
                "sed -i 's/tariff.fmt(/tariff.format_price(/' README.md; sed -i 's/def fmt/def "
                "format_price/' tariff/money.py"
            ),
            shell("sed -i 's/fmt/format_price/g' tariff/__init__.py tariff/receipt.py; git diff"),
            shell("git add -A && git commit -m 'Rename fmt' && python -m pytest -q"),
        ),
        fixed(
            "with an own order in __all__",
            write(
                "tariff/__init__.py",
                '"""Prices of a small shop."""\n\nfrom tariff.money import format_price\n'
                'from tariff.receipt import receipt\n\n__all__ = ["receipt", "format_price"]\n',
            ),
            edit("tariff/money.py", "def fmt(", "def format_price("),
            shell(
                "sed -i 's/fmt/format_price/' README.md tariff/receipt.py && sed -i 's/{fmt(/{format_price(/' "
                "tariff/receipt.py"
            ),
            shell(
                "grep -rn fmt tariff README.md; python -m pytest -q; git commit -qam 'Rename fmt'; git status --short"
            ),
        ),
    ],
    "revert-the-culprit": [
        fixed(
            "by its name",
            shell("git log --oneline -- watch/shifts.py"),
            shell("git revert --no-edit $(git log --format=%h --grep=Simplify) && python -m pytest -q"),
        ),
        fixed(
            "in own words",
            shell("git log -p -3"),
            shell("git revert --no-commit HEAD~1 && git commit -m 'Undo the simplification of next_watch'"),
            SUITE,
        ),
        fixed("without a look", shell("git revert HEAD~1 --no-edit; git status --short; python -m pytest -q")),
    ],
    "single-dashes": [
        fixed(
            "with a variable in the test",
            write(
                "tests/test_slug.py",
                f'{SLUG}\n\ndef test_single_dashes():\n    title = "Salt & Pepper, 2nd!"\n'
                f'    assert slug(title) == "salt-pepper-2nd"\n',
            ),
            edit("slug/make.py", "[^a-z0-9]", "[^a-z0-9]+"),
            SUITE,
        ),
        fixed(
            "the test at the top, in other quotes",
            edit(
                "tests/test_slug.py",
                "def test_words",
                "def test_single_dashes():\n    assert 'salt-pepper-2nd' == slug('Salt & Pepper, "
                "2nd!')\n\n\ndef test_words",
            ),
            edit(
                "slug/make.py",
                'return re.sub(r"[^a-z0-9]", "-", title.lower()).strip("-")',
                'return "-".join(re.findall(r"[a-z0-9]+", title.lower()))',
            ),
            SUITE,
        ),
        fixed(
            "in the shell",
            shell(
                "cat >> tests/test_slug.py <<'END'\n\n\n"
                'def test_single_dashes():\n    assert slug("Salt & Pepper, 2nd!") == "salt-pepper-2nd"\n'
                "END\npython -m pytest -q"
            ),
            shell("sed -i 's/\\[^a-z0-9\\]/&+/' slug/make.py && python -m pytest -q"),
        ),
    ],
    "who-changed-the-rate": [
        ask_blame,
        ask_the_log_for_the_change,
        fixed(
            "commit by commit",
            shell("git show HEAD; git show HEAD~1; git show HEAD~2"),
            edit("levy/rates.py", "books=5, other", "books=7, other"),
            "finish: Ines Moreau",
        ),
    ],
}
"""Hand-written task → its ways."""
