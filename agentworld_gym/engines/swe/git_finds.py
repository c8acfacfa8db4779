"""The commands of git that find lines and files: blame, grep, ls-files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from agentworld_gym.engines.swe.diff import hunks, lines, under
from agentworld_gym.engines.swe.git import Command, GitCall, options
from agentworld_gym.engines.swe.history import GitError
from agentworld_gym.engines.swe.objects import Commit, blob_id
from agentworld_gym.engines.swe.search import BadPattern, Pattern


def blame(call: GitCall, argv: list[str]) -> None:
    """`git blame`."""
    found = options(
        "blame",
        argv,
        "short -s; shape -w; long -l",
        "lines -L",
    )
    words = [*found.operands, *(found.paths or [])]
    if not words:
        raise GitError("usage: git blame [<options>] [<rev-opts>] [<rev>] [--] <file>\n", 129)
    path = call.place(words[-1])
    start = call.history.resolve(words[0]) if len(words) > 1 else call.history.head
    if path not in start.tree:
        raise GitError(f"fatal: no such path '{path}' in HEAD\n")
    text = start.tree[path] if len(words) > 1 else call.work.get(path, start.tree[path])
    first, last = _line_range(found.chosen.get("lines", ""), len(lines(text)))
    rows = [(commit, line) for commit, line in _blamed(call, start, path, text)]
    width = max((len(_author(commit)) for commit, _ in rows[first:last]), default=0)
    digits = len(str(last))
    for number, (commit, line) in enumerate(rows[first:last], first + 1):
        name = "0" * 8 if commit is None else commit.id[:8] if commit.parents else f"^{commit.id[:7]}"
        when = call.now if commit is None else commit.when
        who = "" if "short" in found else f"{_author(commit):<{width}} {_moment(when)} "
        call.say(f"{name} {'' if 'short' in found else '('}{who}{number:>{digits}}) {line.rstrip(chr(10))}\n")


def _blamed(call: GitCall, start: Commit, path: str, text: str) -> Iterator[tuple[Commit | None, str]]:
    """The lines of a text, each with the commit it came in with; None for lines that are not committed."""
    current = lines(text)
    owners: list[Commit | None] = [None] * len(current)
    open_lines = dict(enumerate(range(len(current))))
    at: Commit | None = None
    body = current
    for commit in call.history.ancestors(start.id):
        if path not in commit.tree or not open_lines:
            break
        old = lines(commit.tree[path])
        kept = _kept(old, body)
        below: dict[int, int] = {}
        for line, final in open_lines.items():
            if line in kept:
                below[kept[line]] = final
            else:
                owners[final] = at
        open_lines, body, at = below, old, commit
    for final in open_lines.values():
        owners[final] = at
    yield from zip(owners, current, strict=True)


def _kept(old: list[str], new: list[str]) -> dict[int, int]:
    """Lines of the new text that come from the old one, by their numbers."""
    found: dict[int, int] = {}
    a = b = 0
    for a1, a2, b1, b2 in [*hunks(old, new), (len(old), len(old), len(new), len(new))]:
        found.update({b + step: a + step for step in range(a1 - a)})
        a, b = a2, b2
        del b1
    return found


def _author(commit: Commit | None) -> str:
    return "Not Committed Yet" if commit is None else commit.author.partition(" <")[0]


def _moment(when: int) -> str:
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M:%S +0000}"


def _line_range(text: str, count: int) -> tuple[int, int]:
    if not text:
        return 0, count
    first, _, last = text.partition(",")
    start = int(first) if first.isdigit() else 1
    end = (
        start + int(last[1:]) - 1 if last[:1] == "+" and last[1:].isdigit() else int(last) if last.isdigit() else count
    )
    if start > count:
        raise GitError(f"fatal: file has only {count} lines\n")
    return max(start - 1, 0), min(end, count)


def ls_files(call: GitCall, argv: list[str]) -> None:
    """`git ls-files`."""
    found = options(
        "ls-files",
        argv,
        "modified -m --modified; others -o --others; deleted -d --deleted; "
        "shape --exclude-standard -c --cached; stage -s; error --error-unmatch",
    )
    if "others" in found:
        paths = call.untracked()
    elif "modified" in found or "deleted" in found:
        paths = [change.path for change in call.unstaged() if "modified" in found or change.new is None]
    else:
        paths = sorted(call.history.index)
    names = [*found.operands, *(found.paths or [])]
    if names:
        paths, missing = call.select(names, paths)
        if missing and "error" in found:
            raise GitError(
                f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n"
                "Did you forget to 'git add'?\n",
                1,
            )
    here = "" if call.cwd == call.root else call.place(".")
    for path in (path for path in paths if under(path, [here] if here else [])):
        stage = (
            f"100644 {blob_id(call.history.index[path])} 0\t" if "stage" in found and path in call.history.index else ""
        )
        call.say(f"{stage}{call.shown(path)}\n")


def grep(call: GitCall, argv: list[str]) -> None:
    """`git grep`."""
    found = options(
        "grep",
        argv,
        "number -n --line-number; files -l --name-only; case -i; count -c --count; shape -E -P -I; fixed -F; word -w",
        "pattern -e",
    )
    words = list(found.operands)
    if "pattern" not in found and not words:
        raise GitError("fatal: no pattern given\n")
    text = found.chosen.get("pattern") or words.pop(0)
    plain = "".join(f"\\{char}" if char in "\\^$.|?*+()[]{}" else char for char in text) if "fixed" in found else text
    try:
        pattern = Pattern(rf"\b(?:{plain})\b" if "word" in found else plain, ignore_case="case" in found)
    except BadPattern:
        raise GitError(f"fatal: command line, '{text}': Invalid regular expression\n") from None
    tree = call.tracked()
    chosen, _ = call.select([*words, *(found.paths or [])], tree) if words or found.paths else (sorted(tree), [])
    call.status = 1
    for path in chosen:
        rows = [(n, line) for n, line in enumerate(tree[path].split("\n"), 1) if line and pattern.matches(line)]
        if not rows:
            continue
        call.status = 0
        name = call.shown(path)
        if "files" in found:
            call.say(f"{name}\n")
        elif "count" in found:
            call.say(f"{name}:{len(rows)}\n")
        else:
            call.say("".join(f"{name}:{f'{n}:' if 'number' in found else ''}{line}\n" for n, line in rows))


COMMANDS: dict[str, Command] = {"blame": blame, "grep": grep, "ls-files": ls_files}
