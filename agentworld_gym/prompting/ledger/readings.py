"""What an observation shows of entries of the hidden state: contents that were read whole, by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from agentworld_gym.prompting.ledger.notations import Told
from agentworld_gym.screens.terminal import PROMPT, echo_of

NAME = r"[\w.,+@%/-]*[\w.,+@%]"
"""The pattern of a name that stands in a command without quotes."""

CAT = re.compile(rf"cat ({NAME})")
"""The command that prints one file; its group is the name of the file."""

_MISSING = re.compile(
    r"[\w-]+: (?:cd: )?(?:cannot (?:statx?|access|remove|open|read:) |can't read )?"
    r"'?([\w.,+@%/*?-]+)'?(?: for reading)?: No such file or directory"
)
"""An error of a program or of the shell that names what is not there."""

_COMPOUND = re.compile(r"[;|&$`()\"'\\{}\[\]\n]")
"""What makes more of a command than one program, or other names than those that stand there."""

_NOTE = re.compile(r"([\w.-]+): (.*)", re.DOTALL)
UNKNOWN_KEY = "Key not found"
"""What a memory says of a key that it does not hold."""


def shown_entries(domain: str, action: str, observation: str, home: str = "") -> dict[str, Any]:
    r"""Return the entries that an observation shows whole, by name; `Told.GONE` for one that is not there.

    Only what can be read without doubt is told: a file that `cat FILE` prints, and a note that is retrieved alone.

    Args:
        domain: The id of the domain.
        action: The action as the agent wrote it.
        observation: What the action showed.
        home: The home folder of a terminal.

    >>> shown_entries("terminal", "cat a.txt", "dev@box:/srv$ cat a.txt\nhi\ndev@box:/srv$")
    {'/srv/a.txt': 'hi\n'}
    >>> call = '{"name": "dict_memory", "arguments": {"operation": "retrieve", "key_list": ["depth"]}}'
    >>> shown_entries("search", call, "depth: 112 m")
    {'memory/depth': '112 m'}
    """
    read = _READERS.get(domain)
    return {} if read is None else read(action, observation, home)


def _printed(action: str, observation: str, home: str) -> dict[str, Any]:
    """The file that `cat FILE` printed in a terminal, from the prompt before it to the one behind it."""
    echo = echo_of(action)
    named = CAT.fullmatch(echo) if echo else None
    first, *lines = observation.split("\n")
    begun = PROMPT.match(first)
    if named is None or begun is None or first[begun.end() :] != f" {echo}":
        return {}
    name = absolute(named[1], begun[0].partition(":")[2][:-1], home)
    # What ends without a line feed has the prompt right behind it.
    text, prompt, rest = "\n".join(lines).rpartition(begun[0])
    if name is None or not prompt or rest:
        return {}
    if text.startswith("cat: "):
        return {name: Told.GONE} if text.endswith(": No such file or directory\n") and text.count("\n") == 1 else {}
    return {name: text} if text.replace("\n", "").isprintable() else {}


def missing_names(action: str, observation: str, home: str = "") -> list[str]:
    r"""Return the absolute names of which a terminal says that they are not there; one may hold `*` and `?`.

    Only one program alone is read, and of `rm` one operand alone: what came before may have removed the others. Where a
    file cannot be written, its folder is not there.

    Args:
        action: The action as the agent wrote it.
        observation: What the action showed.
        home: The home folder.

    >>> idle, error = "dev@box:/srv$", "No such file or directory"
    >>> missing_names("mv a b", f"{idle} mv a b\nmv: cannot stat 'a': {error}\n{idle}")
    ['/srv/a']
    >>> missing_names("echo hi > d/a", f"{idle} echo hi > d/a\nbash: d/a: {error}\n{idle}")
    ['/srv/d/']
    >>> missing_names("rm a; cat a", f"{idle} rm a; cat a\ncat: a: {error}\n{idle}")
    []
    """
    echo = echo_of(action)
    first, *lines = observation.split("\n")
    begun = PROMPT.match(first)
    if not echo or begun is None or first[begun.end() :] != f" {echo}" or _COMPOUND.search(echo):
        return []
    words = echo.split()
    if words[0] == "rm" and len(words) != 2:
        return []
    folder = begun[0].partition(":")[2][:-1]
    found = [match[1] for match in map(_MISSING.fullmatch, lines) if match and words.count(match[1]) == 1]
    written = {after for sign, after in pairwise(words) if sign in {">", ">>"}}
    named = [(name, absolute(name, folder, home)) for name in found]
    return [whole[: whole.rindex("/") + 1] if name in written else whole for name, whole in named if whole]


def absolute(name: str, folder: str, home: str) -> str | None:
    """Return the absolute name of a file that was named in a folder; None for a name with steps up or on the spot.

    >>> absolute("a.txt", "~/docs", "/home/dev"), absolute("../a.txt", "/srv", "/home/dev")
    ('/home/dev/docs/a.txt', None)
    """
    folder = home + folder.removeprefix("~") if folder.startswith("~") else folder
    name = name if name.startswith("/") else f"{folder.rstrip('/')}/{name.removeprefix('./')}"
    return None if {"", ".", ".."}.intersection(name.split("/")[1:]) else name


def retrieved_key(action: str) -> str | None:
    """Return the key of a note that is retrieved from a memory alone; None for any other action.

    >>> retrieved_key('{"name": "dict_memory", "arguments": {"operation": "retrieve", "key_list": ["depth"]}}')
    'depth'
    """
    try:
        arguments = json.loads(action)["arguments"]
        key = arguments["key_list"][0] if len(arguments["key_list"]) == 1 else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return key if isinstance(key, str) and arguments.get("operation") == "retrieve" else None


def _retrieved(action: str, observation: str, _home: str) -> dict[str, Any]:
    """The note that a memory gave back for a single key."""
    key = retrieved_key(action)
    if key is None:
        return {}
    if observation == UNKNOWN_KEY:
        return {f"memory/{key}": Told.GONE}
    note = _NOTE.fullmatch(observation)
    return {f"memory/{key}": note[2]} if note and note[1] == key else {}


_READERS: Mapping[str, Callable[[str, str, str], dict[str, Any]]] = {"search": _retrieved, "terminal": _printed}
