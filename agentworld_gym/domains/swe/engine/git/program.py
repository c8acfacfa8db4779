"""The program `git`: it reads a command line and answers as git 2.39 does."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.domains.swe.engine.files import absolute
from agentworld_gym.domains.swe.engine.git.call import Command, GitCall
from agentworld_gym.domains.swe.engine.git.commands.blame import blame
from agentworld_gym.domains.swe.engine.git.commands.branches import branch, checkout, merge, switch, tag
from agentworld_gym.domains.swe.engine.git.commands.commit import commit, revert
from agentworld_gym.domains.swe.engine.git.commands.config import config, init
from agentworld_gym.domains.swe.engine.git.commands.contents import diff, grep, ls_files, rev_list, rev_parse, show
from agentworld_gym.domains.swe.engine.git.commands.index_and_files import add, clean, move, remove, reset, restore
from agentworld_gym.domains.swe.engine.git.commands.log import log
from agentworld_gym.domains.swe.engine.git.commands.remote import clone, fetch, pull, push, remote
from agentworld_gym.domains.swe.engine.git.commands.stash import stash
from agentworld_gym.domains.swe.engine.git.commands.status import status
from agentworld_gym.domains.swe.engine.git.history import GitError

VERSION = "git version 2.39.5\n"
NO_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git\n"
USAGE = "usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]\n           <command> [<args>]\n"
GLOBAL_WITH_VALUE = ("-c", "--git-dir", "--work-tree", "--namespace")
COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "add": add,
        "blame": blame,
        "branch": branch,
        "checkout": checkout,
        "clean": clean,
        "clone": clone,
        "commit": commit,
        "config": config,
        "diff": diff,
        "fetch": fetch,
        "grep": grep,
        "init": init,
        "log": log,
        "ls-files": ls_files,
        "merge": merge,
        "mv": move,
        "pull": pull,
        "push": push,
        "remote": remote,
        "reset": reset,
        "restore": restore,
        "rev-list": rev_list,
        "rev-parse": rev_parse,
        "revert": revert,
        "rm": remove,
        "show": show,
        "stash": stash,
        "status": status,
        "switch": switch,
        "tag": tag,
    }
)
"""The commands by the names with which they are called."""


def run_git(call: GitCall, argv: list[str], repository: bool = True) -> GitCall:
    """Run `git ARGV` and return the call with its output; `repository` is false where there is no `.git`."""
    words = list(argv)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("--version", "-v"):
            call.say(VERSION)
            return call
        if word in ("--help", "-h"):
            call.say(USAGE)
            return call
        if word == "-C" and words:
            call.cwd = absolute(words.pop(0), call.cwd)
        elif word in GLOBAL_WITH_VALUE and words:
            words.pop(0)
        elif word == "-C" or not word.startswith(("--", "-p", "-P")):
            call.complain(f"unknown option: {word}\nusage: git [-v | --version] [-h | --help] [-C <path>]\n")
            call.status = 129
            return call
    if not words:
        call.say(USAGE)
        call.status = 1
        return call
    name, rest = words[0], words[1:]
    if name == "version":
        call.say(VERSION)
        return call
    command = COMMANDS.get(name)
    if command is None:
        call.complain(f"git: '{name}' is not a git command. See 'git --help'.\n")
        call.status = 1
        return call
    inside = call.cwd == call.root or call.cwd.startswith(call.root + "/")
    if not repository or not inside:
        call.complain(NO_REPOSITORY)
        call.status = 128
        return call
    try:
        command(call, rest)
    except GitError as error:
        call.complain(str(error))
        call.status = error.status
    return call
