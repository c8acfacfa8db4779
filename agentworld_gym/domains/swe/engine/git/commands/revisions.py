"""`git rev-parse` and `git rev-list`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options


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
