"""`git config` and `git init`."""

from __future__ import annotations

import re

from agentworld_gym.domains.swe.engine.git.call import GitCall

MAX_SETTINGS = 200
_KEY = re.compile(r"[A-Za-z0-9-]+\.(?:.+\.)?[A-Za-z][A-Za-z0-9-]*", re.DOTALL)


def config(call: GitCall, argv: list[str]) -> None:
    """`git config`: shows, sets and removes settings. Those that steer no command here are kept all the same."""
    words = [
        word for word in argv if word not in ("--global", "--local", "--get", "--system", "--add", "--replace-all")
    ]
    history = call.history
    name, address = history.person
    settings = {"user.name": name, "user.email": address, "init.defaultbranch": "main"}
    if history.url:
        settings[f"remote.{history.remote}.url"] = history.url
    settings |= history.settings
    if words in (["--list"], ["-l"], ["list"]):
        call.say("".join(f"{key}={value}\n" for key, value in settings.items()))
    elif len(words) == 2 and words[0] in ("--unset", "--unset-all"):
        history.settings = {key: value for key, value in history.settings.items() if key != _plain(words[1])}
        call.status = 0 if _plain(words[1]) in settings else 5
    elif len(words) == 1 and not words[0].startswith("-"):
        if _plain(words[0]) not in settings:
            call.status = 1
            return
        call.say(f"{settings[_plain(words[0])]}\n")
    elif len(words) == 2 and words[0] in ("user.name", "user.email"):
        value = words[1].replace("<", "").replace(">", "").replace("\n", " ").strip()
        history.user = f"{value} <{address}>" if words[0] == "user.name" else f"{name} <{value}>"
    elif len(words) == 2 and _KEY.fullmatch(words[0]) and len(history.settings) < MAX_SETTINGS:
        history.settings = {**history.settings, _plain(words[0]): words[1]}


def _plain(key: str) -> str:
    """Return a key as it is kept: its first and its last part do not depend on case."""
    section, _, rest = key.partition(".")
    middle, dot, last = rest.rpartition(".")
    return f"{section.lower()}.{middle}{dot}{last.lower()}"


def init(call: GitCall, argv: list[str]) -> None:
    """`git init` in a repository that exists already."""
    call.say(f"Reinitialized existing Git repository in {call.root}/.git/\n")
