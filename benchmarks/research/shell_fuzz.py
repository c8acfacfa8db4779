"""Types nested lines of the shell, jq, awk, sed, find and bc into its interpreter, each in a process of its own.

    python benchmarks/research/shell_fuzz.py --lines 10000

Every line is run by the interpreter alone, in a child with the usual stack and bounded memory and time. What kills the
child there is what the interpreter does to a process; the table counts it by kind. Lines that count as harmless run in
the process of a training run, so none of them may kill its child, and none may run a script: the folder holds scripts
that leave a trace and run themselves, and it is on `PATH`. The exit status is 1 if one does either.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.parser import Incomplete, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.script_safety import is_safe_script
from agentworld_gym.domains.terminal.engine.shell import Shell
from agentworld_gym.domains.terminal.engine.state import TerminalState

MEMORY = 2 << 30
SECONDS = 8.0
TRACE = "/home/dev/trace"
SCRIPT = f"echo run >> {TRACE}\n./r\n"
STATE = {
    "files": {
        **{f"/home/dev/{name}": {"content": SCRIPT, "mode": "755"} for name in ("r", "q", "cat2")},
        "/home/dev/a.txt": "x 1\ny 2\n" * 20,
        "/home/dev/b.json": '{"a": [{"b": 1}, {"b": [2, 3]}]}',
    }
}

Maker = Callable[[random.Random], str]


def depth(rng: random.Random) -> int:
    """How deep: as often below 10 as between 1,000 and 10,000."""
    return int(10 ** rng.uniform(0, 4))


def nested(rng: random.Random, pairs: Sequence[tuple[str, str]], core: str, most: int = 40_000) -> str:
    """Brackets of some kinds around a text."""
    chosen = rng.sample(pairs, rng.randint(1, min(3, len(pairs))))
    left, right, size = [], [], 0
    for _ in range(depth(rng)):
        opener, closer = rng.choice(chosen)
        size += len(opener) + len(closer)
        if size > most:
            break
        left.append(opener)
        right.append(closer)
    return "".join(left) + core + "".join(reversed(right))


def quoted(program: str) -> str:
    return "'" + program.replace("'", '"') + "'"


COMMANDS = (
    "ls",
    "cat a.txt",
    "./r",
    "r",
    "wc -l *",
    "true",
    "echo $x",
    "bash -c ./r",
    "f",
    "q",
    "[ 1 -lt 2 ]",
    "find .",
)
SHELL = [
    ("( ", " )"), ("{ ", "; }"), ("if true; then ", "; fi"), ("for i in 1; do ", "; done"), ("while ",
    "; do break; done"),
    ("echo $(", ")"), ("cat <(", ")"), ("! ", ""), ("time ", ""), ("true && ", ""), ("f() { ", "; }; f"), ("true | ",
    ""),
    ("case x in x) ", ";; esac"), ("[[ a == a ]] && ", ""), ('eval "', '"'), ("x=$(", "); echo $x"), ("ls; ", ""),
]  # fmt: skip
WRAPPERS = [
    (f"{name} ", "")
    for name in (
        *("env", "nice", "timeout 9", "xargs", "command", "builtin", "exec", "eval", "nohup", "time", "sudo"),
        *("busybox", "watch", "find a.txt -exec", "bash -c", "retry", "x=1", "coproc", "xargs -n 1", "trap"),
    )
]
NUMBERS = [
    ("(", ")"), ("1+", ""), ("-", ""), ("!", ""), ("~", ""), ("1?", ":1"), ("a[", "]"), ("2**", ""), ("a=", ""), ("1,",
    ""),
    ("${x:-", "}"), ("$((", "))"), ("x<<", ""),
]  # fmt: skip
JQ = [
    ("[", "]"), ("(", ")"), ("1+", ""), (".|", ""), ("if 1 then ", " else 2 end"), ('{"a":', "}"), ("map(", ")"), ("-",
    ""),
    ("def f: ", "; f"), ("reduce range(9) as $i (0; [.]) | ", ""), ("try ", ""), (". as $x | ", ""), ("[.[]?, ", "]"),
]  # fmt: skip
AWK = [
    ("(", ")"), ("!", ""), ("-", ""), ("1+", ""), ("1?", ":1"), ("$", ""), ("a[", "]"), ("1^", ""), ("x=", ""), ("1 ",
    ""),
    ("length(", ")"), ("substr(", ",1)"), ("f(", ")"), ("1~", ""), ("1&&", ""),
]  # fmt: skip
AWK_STATEMENTS = [
    ("{", "}"),
    ("if(1)", ""),
    ("while(0)", ""),
    ("for(i in a)", ""),
    ("do ", ";while(0)"),
    ("print 1;", ""),
]
SED = [("{", "}"), ("1!", ""), ("/x/", ""), ("p;", ""), ("s/x/y/;", ""), (":a;", ""), ("$!{", "}"), ("y/x/y/;", "")]
GROUPS = [("(", ")"), ("a*", ""), ("(a|", ")"), ("[a", "]"), ("(?:", ")"), ("a{1,9}", ""), (".?", ""), ("^", "")]
FIND = [("! ", ""), ("\\( ", " \\)"), ("-name x -o ", ""), ("-type f ", ""), ("-not ", ""), ("-name a -a ", "")]
TEST = [("! ", ""), ("\\( ", " \\)"), ("1 -a ", ""), ("x -o ", ""), ("-n x -a ", "")]
BC = [("(", ")"), ("-", ""), ("1+", ""), ("2^", ""), ("{", "}"), ("if(1)", ""), ("sqrt(", ")"), ("x=", ""), ("a[", "]")]
WIDE = (
    "find . -printf '%{}p'", "w=%{}p; find . -printf $w", "date +%{}d", "stat -c %{}n a.txt", "printf '%{}d' 1",
    "printf '%.{}f' 1", "printf '%*d' {} 1", "xxd -c {} a.txt", "n={}; xxd -c $n a.txt", "seq -f '%{}g' 2",
    "od -w{} a.txt",
    "fold -w {} a.txt", "nl -w {} a.txt", "expand -t {} a.txt", "head -c {} /dev/zero | wc -c", "truncate -s {} f",
    "dd if=/dev/zero of=f bs={} count=1", "seq {} | wc -l", "echo {{1..{}}} | wc -c",
    "awk 'BEGIN{{printf \"%{}d\",1}}'",
    "awk '{{NF={}}}1' a.txt | wc -c", "shuf -i 1-{} -n 3", "base64 -w {} a.txt", "numfmt --padding={} 5",
    "a[{}]=1; echo ${{#a[@]}}",
    "jq -n '[range({})]|length'", "jq -n '\"a\"*{}|length'", "echo $((2**{})) ${{x:{}}}", "yes | head -n {} | wc -c",
    "cut -c {}- a.txt",
    "sleep {}", "sort -S {} a.txt", "split -n {} a.txt", "tail -c {} a.txt", "echo 'scale={}; 1/3' | bc | wc -c",
    "bc <<< '2^{}'",
)  # fmt: skip
USUAL = (
    "ls -la {0}", "cat {0} | sort | uniq -c", "for f in *; do wc -l $f; done", "find . -name '{0}' -exec {1} {{}} \\;",
    "awk '{{print $1}}' {0}", "x=$({1}); echo $x", "grep -rn x . | xargs {1}", "if [ -f {0} ]; then {1}; fi",
    "{1} && {1} || {1}",
    "while read l; do {1}; done < {0}", "sed -i 's/x/{0}/g' {0}", "cat << E > o\n{1}\nE", "{1} > {0}; {1}",
    "PATH=.; {1}",
    "[[ -f {0} && {0} == *t ]] && {1}", "echo $(( {2} + (3 * 4) ))", "case {0} in *) {1};; esac", "({1}) | tee {0}",
    "{0}() {{ {1}; }}; {1}",
    "echo `{1}` ${{x:-{0}}}", "jq '.a[] | .b' {0}", "xargs -I % {1} % < {0}", "export x={0}; env; {1}",
    "\\{1}; ((x = {2})); {1} &",
)  # fmt: skip
WORDS = (
    "a.txt",
    "r",
    "./r",
    "b.json",
    "$x",
    '"$x"',
    "*",
    "{a,b}",
    "'q'",
    "cat2",
    "`r`",
    "$(r)",
    "<(r)",
    "@(r)",
    "(",
    "#",
    "\\",
)


def usual(rng: random.Random) -> str:
    """What people type, with scripts and brackets where they may hide; often bent in one place."""
    parts = [
        rng.choice(USUAL).format(rng.choice(WORDS), rng.choice((*COMMANDS, "cat", "grep x", "sh")), rng.choice(WORDS))
        for _ in range(rng.randint(1, 3))
    ]
    line = rng.choice(["; ", " && ", " | ", "\n"]).join(parts)
    if rng.random() < 0.4:
        at = rng.randrange(len(line))
        line = (
            line[:at]
            + rng.choice(["((", "))", "'", '"', "`", "$(", ")", "\n", ";", "#", "\\", "<<", "./r;", " r\n"])
            + line[at:]
        )
    return line


def from_variable(rng: random.Random) -> str:
    """Words that only an expansion makes."""
    piece, use = rng.choice(
        [("!", "find . $x -name y"), ("!", "[ $x 1 ]"), ("(", "[ $x 1 ]"), ("1 +", "expr $x 1"), ("-",
        "echo $(($x 1))"),
         ("*a", "case aaaa in $x) ;; esac"), ("(", "grep -E \"$x\" a.txt"), ("env", "$x ls"), ("a.txt",
         "cat $x | wc -c"),
         ("(", "echo \"$x 1\" | bc"), ("{", "sed \"$x\" a.txt"), ("-k1", "sort $x a.txt"), ("[", "echo \"$x\" | jq .")]
    )  # fmt: skip
    words = use.replace("$x", "$x" + " $x" * rng.randint(0, 8))
    return f"x=\"$(yes '{piece}' | head -n {depth(rng)} | tr '\\n' ' ')\"; {words}"


def script(rng: random.Random) -> str:
    """A script that runs itself, by a way of its own."""
    wrapped = nested(rng, [*WRAPPERS, *SHELL], rng.choice(("./r", "r", "./q")), 200)
    return f"cat > q << 'END'\n{wrapped}\nEND\nchmod +x q; ./q"


KINDS: dict[str, Maker] = {
    "shell": lambda rng: nested(rng, SHELL, rng.choice(COMMANDS)),
    "wrappers": lambda rng: nested(rng, WRAPPERS, rng.choice(COMMANDS)),
    "scripts": script,
    "arithmetic": lambda rng: f"echo $(({nested(rng, NUMBERS, '1')}))",
    "jq": lambda rng: f"jq {quoted(nested(rng, JQ, '1'))} {rng.choice(('-n', 'b.json'))}",
    "awk": lambda rng: f"awk {quoted('BEGIN{' + nested(rng, AWK_STATEMENTS, 'print ' + nested(rng, AWK, '1')) + '}')}",
    "sed and grep": lambda rng: rng.choice(
        [
            f"sed {quoted(nested(rng, SED, 'p'))} a.txt",
            f"grep -{rng.choice('EP')} {quoted(nested(rng, GROUPS, 'a'))} a.txt",
        ]
    ),
    "find and test": lambda rng: rng.choice(
        [f"find . {nested(rng, FIND, '-name x')}", f"[ {nested(rng, TEST, '1')} ]", f"[[ {nested(rng, TEST, '1')} ]]"]
    ),
    "bc": lambda rng: f"echo {quoted(nested(rng, BC, '1'))} | bc",
    "numbers": lambda rng: rng.choice(WIDE).replace("{}", str(int(10 ** rng.uniform(2, 22)))),
    "variables": from_variable,
    "usual, bent": usual,
}


def run(line: str) -> dict[str, Any]:
    """Run a line in a child of this process, and tell how that ended."""
    reader, writer = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        os.close(reader)
        _child(line, writer)
    os.close(writer)
    data = b""
    while select.select([reader], [], [], max(0.0, began + SECONDS - time.monotonic()))[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            break
        data += part
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(reader)
    _, status, used = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    told = json.loads(data) if data else {"said": "", "traced": False}
    late = time.monotonic() - began > SECONDS
    died = "" if code == 0 else "too long" if late else signal.Signals(-code).name if code < 0 else f"code {code}"
    return {**told, "died": died, "seconds": time.monotonic() - began, "mib": used.ru_maxrss / 1024}


def _child(line: str, writer: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    shell = Shell.start(TerminalState.of(STATE), 0)
    shell.execute_here("PATH=$PATH:.; x='[ r'")
    try:
        said = shell.run_here(EnteredScript(f"{line}\n", tuple(parsed(line) or ())), 0).text[-200:]
    except EngineError as error:
        said = str(error)
    traced = bool(shell.files.exists(TRACE))
    os.write(writer, json.dumps({"said": said, "traced": traced}).encode())
    os._exit(0)


def parsed(line: str) -> Sequence[Any] | None:
    try:
        return parse(f"{line}\n")
    except (Incomplete, TooDeep, Unexpected, RecursionError):
        return None


def is_harmless(line: str) -> bool:
    commands = parsed(line)
    return commands is not None and is_safe_script(f"{line}\n", commands)


def main() -> int:
    """Print a table and the shortest lines that kill; 1 if a harmless line kills its child or runs a script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--harmless", action="store_true", help="run the harmless lines alone")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    most: dict[str, dict[str, float]] = defaultdict(lambda: {"mib": 0.0, "seconds": 0.0})
    shortest: dict[tuple[str, str], str] = {}
    wrong: list[str] = []
    for number in range(options.lines):
        kind = options.kinds[number % len(options.kinds)]
        line = KINDS[kind](random.Random(f"{options.seed} {number}"))
        here = is_harmless(line)
        counts[kind]["lines"] += 1
        counts[kind]["harmless"] += here
        if options.harmless and not here:
            continue
        ended = run(line)
        if ended["died"]:
            counts[kind][ended["died"]] += 1
            shortest[kind, ended["died"]] = min(shortest.get((kind, ended["died"]), line), line, key=len)
        if here:
            most[kind] = {name: max(value, ended[name]) for name, value in most[kind].items()}
        if here and (ended["died"] or ended["traced"]):
            wrong.append(line)
            print(f"WRONG: harmless, and {ended['died'] or 'ran a script'}: {line[:300]!r}", flush=True)
    print("| kind | lines | harmless | kill the interpreter | most memory of a harmless one, MiB | slowest one, s |")
    print("|---|---|---|---|---|---|")
    for kind, count in counts.items():
        deaths = ", ".join(f"{n} {how}" for how, n in count.items() if how not in ("lines", "harmless")) or "none"
        peak = most[kind]
        print(
            f"| {kind} | {count['lines']} | {count['harmless']} | {deaths} "
            f"| {peak['mib']:.0f} | {peak['seconds']:.1f} |"
        )
    for (kind, how), line in shortest.items():
        print(f"{kind}, {how}: {line[:160]!r}{f' … {len(line):,} characters' if len(line) > 160 else ''}")
    print(f"harmless lines that kill or run a script: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
