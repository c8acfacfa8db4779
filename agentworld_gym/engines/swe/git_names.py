"""The commands of git about the names of things: branch, rev-parse, rev-list, config, tag, init."""

from __future__ import annotations

from agentworld_gym.engines.swe.git import Command, GitCall, options
from agentworld_gym.engines.swe.git_trees import check_branch, create_branch
from agentworld_gym.engines.swe.history import GitError


def branch(call: GitCall, argv: list[str]) -> None:
    """`git branch`."""
    found = options(
        "branch",
        argv,
        "all -a --all; remote -r; verbose -v -vv; current --show-current; delete -d --delete; force -D; "
        "move -m -M; list --list -l; shape -f",
        "format --format; contains --contains",
    )
    history = call.history
    if "current" in found:
        call.say(f"{history.branch}\n" if history.branch is not None else "")
    elif "delete" in found or "force" in found:
        for name in found.operands:
            if name not in history.branches:
                raise GitError(f"error: branch '{name}' not found.\n", 1)
            if name == history.branch:
                raise GitError(f"error: Cannot delete branch '{name}' checked out at '{call.root}'\n", 1)
            tip = history.branches[name]
            if "delete" in found and tip not in {commit.id for commit in history.ancestors(history.head.id)}:
                raise GitError(
                    f"error: The branch '{name}' is not fully merged.\n"
                    f"If you are sure you want to delete it, run 'git branch -D {name}'.\n", 1
                )  # fmt: skip
            history.branches = {other: id for other, id in history.branches.items() if other != name}
            call.say(f"Deleted branch {name} (was {tip[:7]}).\n")
    elif "move" in found and found.operands:
        old, new = (
            (found.operands + found.operands)[:2]
            if len(found.operands) > 1
            else (history.branch or "", found.operands[0])
        )
        if old not in history.branches:
            raise GitError(f"error: refname refs/heads/{old} not found\nfatal: Branch rename failed\n")
        check_branch(history, new)
        history.branches = {new if name == old else name: id for name, id in history.branches.items()}
        history.branch = new if history.branch == old else history.branch
    elif found.operands and "list" not in found:
        create_branch(call, found.operands[0], found.operands[1:2])
    else:
        _list(call, found.chosen)


def _list(call: GitCall, chosen: dict[str, str]) -> None:
    history = call.history
    rows = (
        []
        if "remote" in chosen
        else [(name, id, name == history.branch) for name, id in sorted(history.branches.items())]
    )
    if history.branch is None and "remote" not in chosen:
        rows.insert(0, (f"(HEAD detached at {history.detached[:7]})", history.detached, True))
    if "remote" in chosen or "all" in chosen:
        start = "remotes/" if "all" in chosen else ""
        rows += [(f"{start}{history.remote}/{name}", id, False) for name, id in sorted(history.tracking.items())]
    if "contains" in chosen:
        wanted = history.resolve(chosen["contains"] or "HEAD").id
        rows = [row for row in rows if wanted in {commit.id for commit in history.ancestors(row[1])}]
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, id, current in rows:
        tail = f"{name:<{width}} {id[:7]} {history.commits[id].subject}" if "verbose" in chosen else name
        call.say(f"{'*' if current else ' '} {tail}\n")


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
    found = options(
        "rev-list",
        argv,
        "count --count; all --all; reverse --reverse",
        "limit -n --max-count",
    )
    hidden: set[str] = set()
    ids: dict[str, None] = {}
    for word in found.operands or (["HEAD"] if "all" in found else []):
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
    limit = found.chosen.get("limit", "")
    rows = rows[: int(limit)] if limit.isdigit() else rows
    call.say(
        f"{len(rows)}\n"
        if "count" in found
        else "".join(f"{id}\n" for id in (reversed(rows) if "reverse" in found else rows))
    )


def config(call: GitCall, argv: list[str]) -> None:
    """`git config`, of the user's name and address."""
    words = [word for word in argv if word not in ("--global", "--local", "--get", "--system")]
    name, address = call.history.person
    known = {"user.name": name, "user.email": address, "init.defaultbranch": "main"}
    if call.history.url:
        known[f"remote.{call.history.remote}.url"] = call.history.url
    if words in (["--list"], ["-l"], ["list"]):
        call.say("".join(f"{key}={value}\n" for key, value in known.items()))
    elif len(words) == 1 and not words[0].startswith("-"):
        if words[0].lower() not in known:
            call.status = 1
            return
        call.say(f"{known[words[0].lower()]}\n")
    elif len(words) == 2 and words[0] in ("user.name", "user.email"):
        value = words[1].replace("<", "").replace(">", "").replace("\n", " ").strip()
        call.history.user = f"{value} <{address}>" if words[0] == "user.name" else f"{name} <{value}>"


def init(call: GitCall, argv: list[str]) -> None:
    """`git init`: there is a repository already."""
    call.say(f"Reinitialized existing Git repository in {call.root}/.git/\n")


def tag(call: GitCall, argv: list[str]) -> None:
    """`git tag`: there are none, and none can be made."""
    if [word for word in argv if not word.startswith("-")]:
        raise GitError("fatal: cannot lock ref: Read-only file system\n")


COMMANDS: dict[str, Command] = {
    "branch": branch,
    "config": config,
    "init": init,
    "rev-list": rev_list,
    "rev-parse": rev_parse,
    "tag": tag,
}
