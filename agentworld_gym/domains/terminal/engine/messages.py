"""Rewrites the sandbox's messages in the words of a real interactive bash and its tools."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE = re.compile(r"^bash: line \d+: ", re.MULTILINE)
_HINT = re.compile(r"(: command not found)\. .*$", re.MULTILINE)
_FOREVER = ("maximum command count", "maximum loop iterations")
_ERROR_FIRST = ("ls: ", "sort: ", "du: ", "tar: ", "bash: printf: ", "tee: ")
_HELPFUL = (
    r"missing operand|missing file operand|unrecognized option '[^']*'|invalid option -- '.'"
    r"|option requires an argument -- '.'|missing operand after '[^']*'|extra operand '[^']*'"
)
_USAGE = re.compile(
    rf"^(basename|cat|comm|cut|dirname|du|expr|head|ln|mkdir|nl|paste|readlink|realpath|rmdir|seq|sort|tac|tail|tee"
    rf"|touch|tr|truncate|uniq|wc|xargs|md5sum|sha1sum|sha256sum|base64|fold|split|join|env|printf): "
    rf"(?:{_HELPFUL})\n(?!Try)",
    re.MULTILINE,
)
_CLAP = re.compile(
    r"error: unexpected argument '(-[^']*)' found\n(?:\n  tip: .*\n)?\n"
    r"Usage: (\w+) .*\n\nFor more information, try '--help'\.\n"
)
_CANNOT_OPEN = re.compile(r"^(head|tail): ((?!cannot )[^\n]*?): No such file or directory$", re.MULTILINE)
_CANNOT_READ = re.compile(r"^sort: ((?!cannot )[^\n]*?): No such file or directory$", re.MULTILINE)
_REV = re.compile(r"^rev: ((?!cannot )[^\n]*?): No such file or directory$", re.MULTILINE)
_SPACED = re.compile(
    r"^(cat|tac|nl|wc|cut|paste|fold|od): ([^':\n]* [^':\n]*)(?=: (?:No such file or directory|Is a directory)$)",
    re.MULTILINE,
)
_IO = re.compile(r": io error: (?:file )?not found$", re.MULTILINE)
_IO_FOLDER = re.compile(r": io error: parent directory not found$", re.MULTILINE)
_TIMED = re.compile(r"^(real|user|sys)(\t| )(?:\S+)$", re.MULTILINE)
_BRACKET = re.compile(r"^missing \]$", re.MULTILINE)
_EXIT_TOLD = re.compile(
    r"^(tar: [^\n]*: Cannot open: No such file or directory\n)(?!tar: Error is not rec)", re.MULTILINE
)
_TAR_FAILED = re.compile(r"^(tar: [^\n]*: Cannot stat: No such file or directory\n)\Z", re.MULTILINE)


def bash_output(chunks: Sequence[tuple[str, str]], error: str, script: str, cwd: str) -> tuple[str, bool | None]:
    """Return the printed text of a script, and whether it would run for ever (`None`: the wall clock stopped it)."""
    parts: list[str] = []
    redirected = "2>" in script or "&>" in script or "|&" in script
    for out, err in chunks:
        if redirected and out:
            out = repaired(out, script, cwd)
        if err:
            if "execution timeout" in err or "execution timed out" in err or "request closed" in err:
                return "", None
            err = repaired(err, script, cwd)
            if err.startswith("wc: "):
                head, total = (out[: out.rfind("\n", 0, -1) + 1], out[out.rfind("\n", 0, -1) + 1 :])
                parts.extend((head, err, total))
            else:
                parts.append(err + out if err.startswith(_ERROR_FIRST) else out + err)
        else:
            parts.append(out)
    if error:
        if "timeout" in error or "cancelled" in error:
            return "", None
        if any(limit in error for limit in _FOREVER):
            return "".join(parts), True
        parts.append(_given_up(error, script))
    return "".join(parts), False


def repaired(text: str, script: str = "", cwd: str = "/") -> str:
    """Return standard error as an interactive bash and coreutils would have written it.

    >>> repaired("bash: line 1: foo: command not found. Did you mean: fg?\\n")
    'bash: foo: command not found\\n'
    >>> repaired("wc: /home/dev/x: No such file or directory\\n", "wc x", "/home/dev")
    'wc: x: No such file or directory\\n'
    """
    if len(text) > 100_000:
        text = text[:100_000]
    if "bash: line" in text:
        text = _HINT.sub(r"\1", _LINE.sub("bash: ", text))
        if "resource limit exceeded" in text:
            text = re.sub(
                r"^bash: resource limit exceeded: .*$",
                "bash: fork: retry: Resource temporarily unavailable",
                text,
                flags=re.MULTILINE,
            )
            text = "".join(text.splitlines(keepends=True)[:4])
    base = cwd.rstrip("/") + "/"
    if f": {base}" in text and f" {base}" not in script and base not in ("/",):
        text = text.replace(f": {base}", ": ")
    if "io error" in text:
        text = _IO_FOLDER.sub(": No such file or directory", _IO.sub(": No such file or directory", text))
        text = text.replace(": io error: is a directory", ": Is a directory")
    if "error: unexpected" in text:
        text = _CLAP.sub(_refusal, text)
    if "No such file" in text:
        text = _CANNOT_OPEN.sub(r"\1: cannot open '\2' for reading: No such file or directory", text)
        text = _CANNOT_READ.sub(r"sort: cannot read: \1: No such file or directory", text)
        text = _SPACED.sub(r"\1: '\2'", text)
        text = _REV.sub(r"rev: cannot open \1: No such file or directory", text)
        text = _TAR_FAILED.sub(r"\1tar: Exiting with failure status due to previous errors\n", text)
        text = _EXIT_TOLD.sub(r"\1tar: Error is not recoverable: exiting now\n", text)
    if text.startswith(("real", "\nreal")):
        text = _TIMED.sub(_timed, text)
    if "missing ]" in text:
        text = _BRACKET.sub("bash: [: missing `]'", text)
    return _USAGE.sub(_with_hint, text)


def _with_hint(match: re.Match[str]) -> str:
    return f"{match.group()}Try '{match.group(1)} --help' for more information.\n"


def _refusal(match: re.Match[str]) -> str:
    option, name = match.groups()
    wrong = f"unrecognized option '{option}'" if option.startswith("--") else f"invalid option -- '{option[1:2]}'"
    return f"{name}: {wrong}\nTry '{name} --help' for more information.\n"


def _timed(match: re.Match[str]) -> str:
    name, gap = match.group(1), match.group(2)
    if gap == " ":
        return f"{name} 0.00"
    return f"{name}\t0m0.00{2 if name == 'real' else 1}s"


def _given_up(error: str, script: str) -> str:
    if "function depth" in error:
        return "bash: maximum function nesting level exceeded (16)\n"
    if "io error" in error:
        return repaired(f"bash: {error.removeprefix('execution error: ')}\n")
    if "parse error" in error or "syntax error" in error:
        first = script.strip().partition("\n")[0][:200]
        return f"bash: syntax error near `{first}'\n"
    return "Killed\n"
