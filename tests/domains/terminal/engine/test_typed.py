"""What is typed is what is run: words that name a clock or a source of chance are written as they stand."""

from __future__ import annotations

import shlex

import pytest

from agentworld_gym.domains.terminal.engine import TerminalMachine

NAMES = [
    "/dev/urandom",
    "/dev/random is a file",
    "/proc/uptime",
    "/proc/sys/kernel/random/uuid",
    "SRANDOM",
    "$SRANDOM ${SRANDOM}",
    "it is %(%F)T",
    "srand() systime() strftime(x)",
    "now or never",
    "ls",
    "touch -d now",
]


def printed(machine: TerminalMachine, line: str) -> list[str]:
    """The lines that a command prints."""
    return machine.act([{"keystrokes": line + "\n"}]).split("\n")[1 + line.count("\n") : -1]


@pytest.mark.parametrize("text", NAMES)
def test_a_word_is_written_as_it_was_typed(text: str) -> None:
    machine = TerminalMachine.start({}, 0)
    machine.act([{"keystrokes": f"echo {shlex.quote(text)} > n; printf '%s\\n' {shlex.quote(text)} >> n\n"}])
    machine.act([{"keystrokes": f'x={shlex.quote(text)}; echo "$x" >> n; mkdir -p d; echo x > d/a\n'}])
    assert machine.files()["/home/dev/n"].split("\n") == [text, text, text, ""]


@pytest.mark.parametrize("text", NAMES)
def test_a_script_is_written_as_it_was_typed(text: str) -> None:
    machine = TerminalMachine.start({}, 0)
    machine.act([{"keystrokes": f"cat > run.sh << 'END'\n{text}\nEND\n"}])
    assert machine.files()["/home/dev/run.sh"] == f"{text}\n"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("awk 'BEGIN {print \"srand() systime()\"}'", "srand() systime()"),
        ("awk -v x='systime()' 'BEGIN {print x}'", "systime()"),
        ('awk "BEGIN {print \\"systime()\\"}"', "systime()"),
        ("awk 'BEGIN {print systime(), srand()}' /dev/null", "1772442000 0"),
        ("jq -n '\"it is now time\"'", '"it is now time"'),
        ("jq -cn '{now: 1} | .now'", "1"),
        ("jq -n --arg x now '$x'", '"now"'),
        ("jq -n 'now | floor'", "1772442000"),
        ("jq -n '\"\\(now | floor)\"'", '"1772442000"'),
        ("printf '%s\\n' '%(%F)T'", "%(%F)T"),
        ("printf '%(%F)T\\n'", "2026-03-02"),
        ("printf '%(%F)T\\n' -1", "2026-03-02"),
        ("printf '%(%F)T\\n' 86400", "1970-01-02"),
        ("printf '%s %(%F)T 100%%\\n' on -1", "on 2026-03-02 100%"),
        ("printf '%(%F)T %s\\n' -1 \"$USER\"", "2026-03-02 dev"),
        ("printf -v day '%(%d)T'; echo $day", "02"),
        ("printf '[%5s]%(%Y)T\\n'", "[     ]2026"),
        ("echo \"it's $((SRANDOM >= 0)) \\$SRANDOM\" '$SRANDOM'", "it's 1 $SRANDOM $SRANDOM"),
        ("cut -d. -f1 /proc/uptime", "300"),
    ],
)
def test_only_what_asks_for_time_or_chance_is_answered_by_the_terminal(line: str, shown: str) -> None:
    assert printed(TerminalMachine.start({}, 0), line) == [shown]


LOOKS = [
    "head -c 8 /dev/urandom | od -An -tx1",
    "f=/dev/urandom; head -c 8 < $f | od -An -tx1; dd if=/dev/random bs=4 count=1 2> /dev/null | od -An -tx1",
    "echo 'head -c 4 /dev/urandom | od -An -tx1; cat /proc/uptime' > a.sh; bash a.sh",
    'cat /proc/sys/kernel/random/uuid; cat /proc/uptime; echo $SRANDOM "$SRANDOM" ${SRANDOM} $((SRANDOM % 100))',
    "cd /dev; head -c 4 u* | od -An -tx1; cd /proc/sys/kernel/random; cat *; cd",
    "g() { head -c 4 /dev/random | od -An -tx1; }; g; g",
]


@pytest.mark.parametrize("line", LOOKS)
def test_chance_follows_the_seed(line: str) -> None:
    one, same, other = (TerminalMachine.start({}, seed) for seed in (1, 1, 2))
    shown = printed(one, line)
    assert shown == printed(same, line)
    assert shown != printed(other, line)
    assert printed(one.fork(), line) == printed(one, line)


def test_devices_are_those_of_before_where_chance_is_asked_for() -> None:
    machine = TerminalMachine.start({}, 0)
    usual = printed(
        machine, "ls /dev /proc; cat /proc/version; head -c 3 /dev/zero | od -An -tx1; readlink /proc/self/exe"
    )
    again = printed(
        machine, "ls /dev /proc; cat /proc/version; head -c 3 /dev/zero | od -An -tx1; readlink /proc/self/exe #random"
    )
    assert usual == again
    assert printed(machine, "echo x > /dev/null; cat /dev/null; diff <(echo a) <(echo a); echo $?") == ["0"]
