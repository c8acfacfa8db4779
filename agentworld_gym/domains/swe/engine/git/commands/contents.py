"""Commands that show what a repository holds: `git diff`, `grep`, `ls-files`, `rev-list`, `rev-parse` and `show`."""

from __future__ import annotations

from collections.abc import Mapping

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import compare, under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import blob_id
from agentworld_gym.domains.swe.engine.git.options import exists, paths_of, read_options, split
from agentworld_gym.domains.swe.engine.git.pretty import FORMS, UNFORMATTED, shown_changes, shown_commit
from agentworld_gym.domains.swe.engine.patterns import BadPattern, LinearPattern


def diff(call: GitCall, argv: list[str]) -> None:
    """`git diff`."""
    options = read_options(
        "diff",
        argv,
        f"{FORMS}; {UNFORMATTED}; cached --cached --staged; quiet --quiet -q; exit-code --exit-code; "
        "shape -w -b --text --check",
        "context -U --unified; filter --diff-filter",
    )
    history = call.history
    revisions, names = split(call, options)
    paths = paths_of(call, names)
    if len(revisions) > 2 or (len(revisions) == 2 and "cached" in options):
        raise GitError("usage: git diff [<options>] [<commit>] [--] [<path>...]\n", 129)
    if len(revisions) == 2:
        changes = compare(revisions[0].tree, revisions[1].tree, paths)
    elif "cached" in options:
        changes = compare((revisions or [history.head])[0].tree, history.index, paths)
    elif revisions:
        work = {path: call.work[path] for path in {*history.index, *revisions[0].tree} & call.work.keys()}
        changes = compare(revisions[0].tree, work, paths)
    else:
        changes = call.unstaged(paths)
    letters = options.values.get("filter", "")
    changes = [change for change in changes if not letters or change.letter in letters]
    if "quiet" not in options:
        call.say(shown_changes(changes, options))
    if "quiet" in options or "exit-code" in options:
        call.status = int(bool(changes))


def grep(call: GitCall, argv: list[str]) -> None:
    """`git grep`."""
    options = read_options(
        "grep",
        argv,
        "number -n --line-number; files -l --name-only; case -i; count -c --count; shape -E -P -I; fixed -F; word -w",
        "pattern -e",
    )
    words = list(options.operands)
    if "pattern" not in options and not words:
        raise GitError("fatal: no pattern given\n")
    text = options.values.get("pattern") or words.pop(0)
    plain = "".join(f"\\{char}" if char in "\\^$.|?*+()[]{}" else char for char in text) if "fixed" in options else text
    try:
        pattern = LinearPattern(rf"\b(?:{plain})\b" if "word" in options else plain, ignore_case="case" in options)
    except BadPattern:
        raise GitError(f"fatal: command line, '{text}': Invalid regular expression\n") from None
    tree = call.tracked()
    chosen, _ = call.select([*words, *(options.paths or [])], tree) if words or options.paths else (sorted(tree), [])
    call.status = 1
    for path in chosen:
        rows = [(n, line) for n, line in enumerate(tree[path].split("\n"), 1) if line and pattern.matches(line)]
        if not rows:
            continue
        call.status = 0
        name = call.relative_path(path)
        if "files" in options:
            call.say(f"{name}\n")
        elif "count" in options:
            call.say(f"{name}:{len(rows)}\n")
        else:
            call.say("".join(f"{name}:{f'{n}:' if 'number' in options else ''}{line}\n" for n, line in rows))


def ls_files(call: GitCall, argv: list[str]) -> None:
    """`git ls-files`."""
    options = read_options(
        "ls-files",
        argv,
        "modified -m --modified; others -o --others; deleted -d --deleted; "
        "shape --exclude-standard -c --cached; stage -s; error --error-unmatch",
    )
    if "others" in options:
        paths = call.untracked()
    elif "modified" in options or "deleted" in options:
        paths = [change.path for change in call.unstaged() if "modified" in options or change.new is None]
    else:
        paths = sorted(call.history.index)
    names = [*options.operands, *(options.paths or [])]
    if names:
        paths, missing = call.select(names, paths)
        if missing and "error" in options:
            raise GitError(
                f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n"
                "Did you forget to 'git add'?\n",
                1,
            )
    here = "" if call.cwd == call.root else call.place(".")
    for path in (path for path in paths if under(path, [here] if here else [])):
        stage = (
            f"100644 {blob_id(call.history.index[path])} 0\t"
            if "stage" in options and path in call.history.index
            else ""
        )
        call.say(f"{stage}{call.relative_path(path)}\n")


def rev_parse(call: GitCall, argv: list[str]) -> None:
    """`git rev-parse`."""
    top = call.cwd == call.root
    answers = {
        "--show-toplevel": call.root,
        "--is-inside-work-tree": "true",
        "--git-dir": ".git" if top else f"{call.root}/.git",
        "--show-prefix": "" if top else f"{call.place('.')}/",
        "--is-bare-repository": "false",
    }
    short = abbreviated = False
    for word in argv:
        if word in answers:
            call.say(f"{answers[word]}\n")
        elif word.startswith("--short"):
            short = True
        elif word == "--abbrev-ref":
            abbreviated = True
        elif word in ("--verify", "-q", "--quiet", "--"):
            continue
        elif abbreviated and word in ("HEAD", "@"):
            call.say(f"{call.history.branch or 'HEAD'}\n")
        elif abbreviated and word in call.history.branches:
            call.say(f"{word}\n")
        else:
            id = call.history.resolve(word).id
            call.say(f"{id[:7] if short else id}\n")


def rev_list(call: GitCall, argv: list[str]) -> None:
    """`git rev-list`."""
    options = read_options(
        "rev-list",
        argv,
        "count --count; all --all; reverse --reverse",
        "limit -n --max-count",
    )
    hidden: set[str] = set()
    ids: dict[str, None] = {}
    for word in options.operands or (["HEAD"] if "all" in options else []):
        first, dots, second = word.partition("..")
        if dots:
            hidden |= {commit.id for commit in call.history.ancestors(call.history.resolve(first or "HEAD").id)}
        ids.update(
            dict.fromkeys(
                c.id for c in call.history.ancestors(call.history.resolve((second if dots else first) or "HEAD").id)
            )
        )
    if not ids and not hidden:
        raise GitError("usage: git rev-list [<options>] <commit>... [--] [<path>...]\n", 129)
    rows = [id for id in ids if id not in hidden]
    limit = options.values.get("limit", "")
    rows = rows[: int(limit)] if limit.isdigit() else rows
    call.say(
        f"{len(rows)}\n"
        if "count" in options
        else "".join(f"{id}\n" for id in (reversed(rows) if "reverse" in options else rows))
    )


def show(call: GitCall, argv: list[str]) -> None:
    """`git show`."""
    options = read_options(
        "show",
        argv,
        f"{FORMS}; {UNFORMATTED}; oneline --oneline; no-patch -q",
        "format --format --pretty; context -U --unified",
    )
    names: list[str] = list(options.paths or [])
    objects: list[str] = []
    for word in options.operands:
        (names if objects and exists(call, word) else objects).append(word)
    for index, word in enumerate(objects or ["HEAD"]):
        revision, colon, path = word.partition(":")
        if colon:
            tree = call.history.resolve(revision).tree if revision else call.history.index
            _show_content(call, tree, revision, call.place(path) if path.startswith("./") else path.rstrip("/"))
            continue
        commit = call.history.resolve(revision)
        if index:
            call.say("\n")
        call.say(shown_commit(call, commit, options, paths_of(call, names), default=True))


def _show_content(call: GitCall, tree: Mapping[str, str], revision: str, path: str) -> None:
    if path in tree:
        call.say(tree[path])
        return
    start = f"{path}/" if path else ""
    inside = {name[len(start) :].partition("/") for name in tree if name.startswith(start)}
    if not inside:
        where = f"in '{revision}'" if revision else "in the index"
        if path in call.work:
            raise GitError(f"fatal: path '{path}' exists on disk, but not {where}\n")
        raise GitError(f"fatal: path '{path}' does not exist {where}\n")
    call.say(
        f"tree {revision}:{path}\n\n"
        + "".join(f"{name}{slash}\n" for name, slash in sorted({(n, s) for n, s, _ in inside}))
    )
