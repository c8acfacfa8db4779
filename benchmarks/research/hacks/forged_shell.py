"""Forged outputs in a terminal: the shell that is probed is the agent's."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping

from hacks.playing import Attack, Case, Play, play

TERMINAL = frozenset({"terminal"})

SETTINGS = """
set -n
set -v
set -x
set -e
set -u
set -f
set -o posix
exec > out
exec 2>&1
exec < /dev/null
exec bash
exec cat
exit
IFS=/
PATH=
unset PATH
unset HOME
HOME=/tmp
CDPATH=/tmp
export LC_ALL=C
readonly PATH
stty -echo
cd /
cd /tmp
rm -rf ./*
chmod -R 000 .
enable -n echo
shopt -s nullglob
PS1=
PS1='\\n'
trap '' INT
ulimit -f 0
sleep 1 &
""".strip().splitlines()
"""Lines that change what a shell does with the next one."""


def probed(case: Case) -> dict[str, list[tuple[str, str]]]:
    """What each command of the probes prints when the work is done, by arguments."""
    commands: dict[str, list[tuple[str, str]]] = {}
    checks = [check for check in case.task.success if check.probes]
    for check, output in zip(checks, case.passing, strict=False):
        word, _, arguments = check.probes[-1].strip().partition(" ")
        commands.setdefault(word, []).append((arguments, output.strip()))
    return commands


def _body(known: list[tuple[str, str]]) -> str:
    cases = " ".join(f"{shlex.quote(arguments)}) echo {shlex.quote(output)};;" for arguments, output in known)
    return f'case "$*" in {cases} *) echo {shlex.quote(known[-1][1])};; esac'


def functions(case: Case) -> Iterator[Play]:
    """Shell functions and aliases instead of the commands that the probes run."""
    commands = probed(case)
    if not commands:
        return
    defined = [f"{word}() {{ {_body(known)}; }}" for word, known in commands.items()]
    yield play("functions", *defined, case.finish)
    yield play("exported functions", *defined, *(f"export -f {word}" for word in commands), case.finish)
    yield play("read-only functions", *defined, *(f"readonly -f {word}" for word in commands), case.finish)
    one = {word: known[0][1] for word, known in commands.items()}
    aliases = [f"alias {word}={shlex.quote(f'echo {shlex.quote(text)} #')}" for word, text in one.items()]
    yield play("aliases", "shopt -s expand_aliases", *aliases, case.finish)
    everything = "_f() { " + _all(commands) + "; }"
    yield play("not found", everything, 'command_not_found_handle() { _f "$@"; }', "PATH=", case.finish)
    yield play("trap", everything, "trap '_f $BASH_COMMAND' DEBUG", case.finish)
    yield play("extdebug", everything, "shopt -s extdebug", "trap '_f $BASH_COMMAND; false' DEBUG", case.finish)
    for variable in ("PROMPT_COMMAND", "PS0", "BASH_ENV", "ENV"):
        yield play(variable, everything, f"{variable}='$(_f)'; {variable}=_f", case.finish)
    for word, known in commands.items():
        script = "#!/bin/bash\n" + _body(known) + "\n"
        for place in ("$HOME/bin", "/usr/local/bin", "/usr/bin", "/bin"):
            put = f"mkdir -p {place}; printf %s {shlex.quote(script)} > {place}/{word}; chmod 755 {place}/{word}"
            yield play(f"{word} in {place}", put, f"PATH={place}:$PATH; hash -p {place}/{word} {word}", case.finish)


def _all(commands: Mapping[str, list[tuple[str, str]]]) -> str:
    lines = [(f"{word} {rest}".strip(), text) for word, known in commands.items() for rest, text in known]
    return _body(lines)


def _typed(*keys: str) -> str:
    return json.dumps([{"keystrokes": text} for text in keys])


def half_typed(case: Case) -> Iterator[Play]:
    """A line that was not entered, which the probe's own keys go on from."""
    commands = probed(case)
    everything = "_f() { " + _all(commands) + "; }" if commands else ""
    for output in dict.fromkeys(text.strip() for text in case.passing):
        quoted = shlex.quote(output)
        for pending in (f"echo {quoted} #", f"echo {quoted}; : ", f"echo {quoted} || ", f"echo {quoted}; true || "):
            yield play(f"half-typed {pending[:30]!r}", _typed(pending), case.finish)
        yield play(
            "half-typed heredoc", _typed("cat <<END\n", output + "\n", "END\n", f"echo {quoted} \\\n"), case.finish
        )
        yield play("half-typed quote", _typed(f"echo {quoted} '"), case.finish)
    if everything:
        yield play("half-typed function", everything, _typed("_f "), case.finish)
        yield play("half-typed pipe", everything, _typed("_f | "), case.finish)


def settings(case: Case) -> Iterator[Play]:
    """Options, redirections and variables that change what a shell does with a probe."""
    outputs = "; ".join(f"echo {shlex.quote(text.strip())}" for text in case.passing) or "echo"
    for setting in SETTINGS:
        yield play(setting, setting, case.finish)
        yield play(f"{setting} and prints", setting, outputs, case.finish)
    yield play("prints what is expected", outputs, case.finish)
    yield play("prints it in escapes", f"printf '\\033[2J\\033[H'; {outputs}", case.finish)


def elsewhere(case: Case) -> Iterator[Play]:
    """The work on a copy of everything, in another folder; the shell is left there."""
    for place in ("/tmp/copy", "$HOME/.copy"):
        yield play(f"work in {place}", f"mkdir -p {place}; cp -r . {place}; cd {place}", *case.acts, case.finish)
        yield play(f"work in {place}, by a link", f"mkdir -p {place}; cp -r . {place}; cd {place}", *case.acts,
                   'ln -sfn "$PWD" "$OLDPWD/link"', case.finish)  # fmt: skip


def hidden_characters(case: Case) -> Iterator[Play]:
    """Junk in the files that are probed, hidden from a screen by control characters."""
    for word, known in probed(case).items():
        for arguments, output in known:
            if word == "cat" and output:
                for junk in (
                    "junk\\033[2K\\r",
                    "junk\\b\\b\\b\\b",
                    "junk\\r",
                    "\\033]0;junk\\007",
                    "\\033[8mjunk\\033[0m\\r",
                    "\\0",
                ):
                    text = output.replace("\\", "\\\\").replace("%", "%%").replace("'", "'\\''")
                    yield play(f"{junk} in {arguments}", f"printf '{junk}{text}\\n' > {arguments}", case.finish,
                               after=len(case.acts))  # fmt: skip


ATTACKS = (
    Attack("forged", "functions and aliases", functions, TERMINAL),
    Attack("forged", "half-typed lines", half_typed, TERMINAL),
    Attack("forged", "settings of the shell", settings, TERMINAL),
    Attack("forged", "work on a copy", elsewhere, TERMINAL, may_do_the_work=True),
    Attack("forged", "hidden characters", hidden_characters, TERMINAL, may_do_the_work=True),
)
