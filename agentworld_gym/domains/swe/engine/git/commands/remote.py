"""`git remote`, `clone`, `fetch`, `pull` and `push`: the commands that talk to another repository."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.worktree import fast_forward


def _reach(call: GitCall, name: str, push: bool = False) -> None:
    history = call.history
    if not history.remote or name not in ("", history.remote):
        raise GitError(
            f"fatal: '{name or 'origin'}' does not appear to be a git repository\n"
            "fatal: Could not read from remote repository.\n\n"
            "Please make sure you have the correct access rights\nand the repository exists.\n"
        )
    url = history.reached_at(push)
    if not call.network() or url != history.url:  # No other host can be reached.
        host = url.partition("://")[2].partition("/")[0]
        raise GitError(f"fatal: unable to access '{url}/': Could not resolve host: {host}\n")


def _fetched(call: GitCall) -> None:
    history = call.history
    for name, tip in sorted(history.server.items()):
        old = history.tracking.get(name)
        if old == tip:
            continue
        if not call.errors:
            call.complain(f"From {history.url.removesuffix('.git')}\n")
        what = f"   {old[:7]}..{tip[:7]}  " if old else " * [new branch]      "
        call.complain(f"{what}{name:<10} -> {history.remote}/{name}\n")
        history.tracking = {**history.tracking, name: tip}


def fetch(call: GitCall, argv: list[str]) -> None:
    """`git fetch`."""
    options = read_options(
        "fetch",
        argv,
        "shape --all -p --prune --tags -q --quiet -v",
    )
    if not call.history.remote and not options.operands:
        return
    _reach(call, (options.operands or [""])[0])
    _fetched(call)


def pull(call: GitCall, argv: list[str]) -> None:
    """`git pull`, where it is a fast-forward."""
    options = read_options(
        "pull",
        argv,
        "shape --ff-only --rebase -r -q --quiet --no-rebase --no-edit --ff",
    )
    history = call.history
    if not history.remote:
        raise GitError(
            "There is no tracking information for the current branch.\n"
            "Please specify which branch you want to merge with.\nSee git-pull(1) for details.\n\n"
            "    git pull <remote> <branch>\n\n"
            "If you wish to set tracking information for this branch you can do so with:\n\n"
            f"    git branch --set-upstream-to=<remote>/<branch> {history.branch}\n\n", 1
        )  # fmt: skip
    _reach(call, (options.operands or [""])[0])
    _fetched(call)
    name = options.operands[1] if len(options.operands) > 1 else history.branch or ""
    if name not in history.tracking:
        raise GitError(f"fatal: couldn't find remote ref {name or 'HEAD'}\n", 1)
    fast_forward(call, history.commits[history.tracking[name]])


def push(call: GitCall, argv: list[str]) -> None:
    """`git push`."""
    options = read_options(
        "push",
        argv,
        "upstream -u --set-upstream; quiet -q --quiet; force -f --force --force-with-lease; "
        "shape --tags -v; dry --dry-run -n",
    )
    history = call.history
    if not history.remote and not options.operands:
        raise GitError(
            "fatal: No configured push destination.\n"
            "Either specify the URL from the command-line or configure a remote repository using\n\n"
            "    git remote add <name> <url>\n\nand then push using the remote name\n\n    git push <name>\n\n"
        )
    name, goal = _refspec(call, options.operands[1:])
    if name not in history.tracking and not options.operands and "upstream" not in options:
        raise GitError(
            f"fatal: The current branch {name} has no upstream branch.\n"
            "To push the current branch and set the remote as upstream, use\n\n"
            f"    git push --set-upstream {history.remote} {name}\n\n"
        )
    _reach(call, (options.operands or [""])[0], push=True)
    tip, old = history.resolve(name).id, history.server.get(goal)
    if tip == old:
        call.complain("Everything up-to-date\n")
    elif old and "force" not in options and old not in {commit.id for commit in history.ancestors(tip)}:
        raise GitError(
            f"To {history.url}\n ! [rejected]        {name} -> {goal} (fetch first)\n"
            f"error: failed to push some refs to '{history.url}'\n"
            "hint: Updates were rejected because the remote contains work that you do\n"
            "hint: not have locally. This is usually caused by another repository pushing\n"
            "hint: to the same ref. You may want to first integrate the remote changes\n"
            "hint: (e.g., 'git pull ...') before pushing again.\n"
            "hint: See the 'Note about fast-forwards' in 'git push --help' for details.\n", 1
        )  # fmt: skip
    else:
        what = f"   {old[:7]}..{tip[:7]}  " if old else " * [new branch]      "
        call.complain(f"To {history.url}\n{what}{name} -> {goal}\n")
        if "dry" not in options:
            history.server = {**history.server, goal: tip}
            history.tracking = {**history.tracking, goal: tip}
    if "upstream" in options:
        call.say(f"branch '{name}' set up to track '{history.remote}/{goal}'.\n")


def _refspec(call: GitCall, words: list[str]) -> tuple[str, str]:
    name, colon, goal = (words[0] if words else "HEAD").removeprefix("+").partition(":")
    if name == "HEAD":
        if call.history.branch is None:
            raise GitError("fatal: You are not currently on a branch.\n")
        name = call.history.branch
    if name not in call.history.branches:
        raise GitError(
            f"error: src refspec {name} does not match any\nerror: failed to push some refs to '{call.history.url}'\n",
            1,
        )
    return name, goal if colon and goal else name


def remote(call: GitCall, argv: list[str]) -> None:
    """`git remote`."""
    history = call.history
    words = [word for word in argv if word not in ("-v", "--verbose")]
    if not words:
        if history.remote:
            verbose = len(words) < len(argv)
            ways = (("fetch", history.reached_at(False)), ("push", history.reached_at(True)))
            rows = [f"{history.remote}\t{url} ({direction})\n" for direction, url in ways]
            call.say("".join(rows) if verbose else f"{history.remote}\n")
    elif words[0] == "get-url":
        names = [word for word in words[1:] if word not in ("--push", "--all")]
        if names != [history.remote]:
            raise GitError(f"error: No such remote '{(names or [''])[0]}'\n", 2)
        call.say(f"{history.reached_at('--push' in words)}\n")
    elif words[0] == "set-url":
        names = [word for word in words[1:] if word != "--push"]
        if len(names) != 2 or names[0] != history.remote:
            raise GitError(f"error: No such remote '{(names or [''])[0]}'\n", 2)
        key = f"remote.{history.remote}.{'pushurl' if '--push' in words else 'url'}"
        history.settings = {**history.settings, key: names[1]}
    elif words[0] == "add" and len(words) == 3:
        if words[1] == history.remote:
            raise GitError(f"error: remote {words[1]} already exists.\n", 3)
        raise GitError("error: could not lock config file .git/config: Read-only file system\n", 255)
    else:
        raise GitError(f"error: unknown subcommand: `{words[0]}'\nusage: git remote [-v | --verbose]\n", 129)


def clone(call: GitCall, argv: list[str]) -> None:
    """`git clone`, which fails because no other host can be reached."""
    url = next((word for word in argv if not word.startswith("-")), "")
    name = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    host = url.partition("://")[2].partition("/")[0]
    raise GitError(f"Cloning into '{name}'...\nfatal: unable to access '{url}/': Could not resolve host: {host}\n")
