"""`git config` and `git init`."""

from __future__ import annotations

from agentworld_gym.engines.swe.git.call import GitCall


def config(call: GitCall, argv: list[str]) -> None:
    """`git config`, for the user's name and address."""
    words = [word for word in argv if word not in ("--global", "--local", "--get", "--system")]
    name, address = call.history.person
    settings = {"user.name": name, "user.email": address, "init.defaultbranch": "main"}
    if call.history.url:
        settings[f"remote.{call.history.remote}.url"] = call.history.url
    if words in (["--list"], ["-l"], ["list"]):
        call.say("".join(f"{key}={value}\n" for key, value in settings.items()))
    elif len(words) == 1 and not words[0].startswith("-"):
        if words[0].lower() not in settings:
            call.status = 1
            return
        call.say(f"{settings[words[0].lower()]}\n")
    elif len(words) == 2 and words[0] in ("user.name", "user.email"):
        value = words[1].replace("<", "").replace(">", "").replace("\n", " ").strip()
        call.history.user = f"{value} <{address}>" if words[0] == "user.name" else f"{name} <{value}>"


def init(call: GitCall, argv: list[str]) -> None:
    """`git init` in a repository that exists already."""
    call.say(f"Reinitialized existing Git repository in {call.root}/.git/\n")
