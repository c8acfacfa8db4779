"""Lines that overflow the stack of the shell's interpreter, abort it, or take all memory, by kind."""

from __future__ import annotations

SCRIPTS = {
    "by its path": "./r",
    "through PATH": "r",
    "behind env": "env ./r",
    "behind timeout": "timeout 9 ./r",
    "behind nice": "nice ./r",
    "behind command": "command ./r",
    "behind time": "time ./r",
    "behind exec": "exec ./r",
    "behind eval": "eval ./r",
    "for each file found": "find r -exec ./r \\;",
    "for each word": "echo a | xargs ./r",
    "in a pipe": "cat r | ./r",
    "in a substitution": "echo $(./r)",
    "as a file that is read": "cat <(./r)",
    "by way of another script": "./q",
    "from awk": "awk 'BEGIN {system(\"./r\")}'",
    "from a function": "f() { ./r; }; f",
}
"""What a script does that runs itself without end."""


def calling_itself(call: str) -> str:
    """Return a line that writes the script `r`, which makes a call, and runs it."""
    return f"cat > r << 'END'\n{call}\nEND\necho './r' > q\nchmod +x r q; PATH=$PATH:. ./r"


LINES = {
    **{f"a script that runs itself {how}": calling_itself(call) for how, call in SCRIPTS.items()},
    "a deep value of jq": "jq -n 'reduce range(20000) as $i (0;[.])'",
    "a deep program of jq": f"jq -n '{'[' * 9000}{']' * 9000}'",
    "many signs": f"echo $(({'+1' * 9000}))",
    "many negations": f"[ {'! ' * 9000} 1 ]",
    "many negations of find": f"find . {'! ' * 9000} -name x",
    "negations from a variable": 'v="$(yes ! | head -n 9000 | tr "\\n" " ")"; find . $v $v $v $v $v $v $v $v -name y',
    "many brackets": f"({'(' * 9000}",
    **{f"many times {name}": f"{f'{name} ' * 9000}ls" for name in ("time", "env", "nice", "xargs", "command")},
    "a width that no memory holds": "find . -printf '%99999999999999999999p'",
    "such a width in a variable": "w=%99999999999999999999p; find . -printf $w",
    "a row that no memory holds": "n=30000000000; xxd -c $n r",
}
"""The lines by what is wrong with them."""

FEW = (
    "a script that runs itself by its path",
    "many times time",
    "such a width in a variable",
)
"""Some of them, for what takes the same way through the shell."""
