"""Runs every command of terminal_parity_cases.txt in the engine and in a real bash, and prints where they differ.

The real bash runs on a pseudo terminal of 80 columns, without line editing, in a throw-away folder that holds the same
files and is its home; paths of that folder are shown as the engine's home. What is compared is what appears on the
screen (without colours, tabs as spaces, no white space at line ends) and the exit status.

    python benchmarks/research/terminal_parity.py [--verbose] [--only TEXT]
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from datetime import UTC, datetime
from pathlib import Path

from agentworld_gym.domains.terminal.engine import EngineError, TerminalMachine

CASES = Path(__file__).with_name("terminal_parity_cases.txt")
HOME = "/home/dev"
OLD = "2024-05-06T07:08:09"
MARK = "@@status"
FILES = {
    "notes.txt": "alpha\nbeta\ngamma delta\nalpha beta\nend\n",
    "notes2.txt": "alpha\nBETA\ngamma delta\nend\nextra\n",
    "nums.txt": "10\n9\n2\n33\n1\n",
    "dup.txt": "b\na\nb\nc\na\nb\n",
    "mixed.txt": "banana\nApple\napple\nCherry\n",
    "table.txt": "carol 30 x\nalice  5 y\nbob 12 x\n",
    "tabs.tsv": "id\tname\n1\tann\n",
    "blank.txt": "one\n\n\ntwo\n\nthree\n",
    "nonl.txt": "no newline",
    "uni.txt": "h\u00e9llo\n",
    "sizes.txt": "10K\n2M\n500\n1G\n",
    "versions.txt": "v1.10\nv1.9\nv1.2\n",
    "paths.txt": "/usr/local/bin\n/tmp\n",
    "sorted1.txt": "a 1\nb 2\nd 4\n",
    "sorted2.txt": "b 3\nc 5\nd 4\n",
    "obj.json": '{"name": "box", "items": [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]}\n',
    "app.log": "09:00 INFO start\n09:01 ERROR disk\n09:02 WARN slow\n09:03 ERROR net\n09:04 ERROR disk\n",
    "app.conf": "# server\nhost=localhost\nport=80\n# end\n",
    "big.txt": "0123456789abcdef\n" * 300,
    "my file.txt": "spaces\n",
    "script.sh": '#!/bin/bash\necho "script $1"\n',
    ".hidden": "h\n",
    "data/a.csv": "name,age,city\nann,31,Rome\nbob,25,Oslo\ncy,42,Rome\n",
    "data/b.csv": "x,y\n1,2\n",
    "data/sub/deep.txt": "alpha deep\n",
    "docs/readme.md": "# Title\nalpha text\n",
}
MODES = {"script.sh": 0o755}
FOLDERS = ("empty_dir",)
LINKS = {"link": "notes.txt"}


def cases() -> list[str]:
    """The commands, in order."""
    found: list[str] = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("|") and not line.startswith("| "):
            found[-1] += "\n" + line[1:]
        elif line and not line.startswith("#"):
            found.append(line)
    return found


def in_engine(command: str, user: str) -> str:
    """What the engine shows."""
    state = {
        "user": user,
        "home": HOME,
        "clock": datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="seconds"),
        "files": {
            f"{HOME}/{name}": {"content": text, "mode": f"{MODES.get(name, 0o644):o}", "mtime": OLD}
            for name, text in FILES.items()
        },
        "dirs": [f"{HOME}/{name}" for name in FOLDERS],
        "links": {f"{HOME}/{name}": target for name, target in LINKS.items()},
        "env": {"LC_ALL": "C"},
    }
    machine = TerminalMachine.start(state, seed=0)
    try:
        first = machine.act([{"keystrokes": command + "\n"}])
        status = machine.act([{"keystrokes": "echo $?\n"}]).split("\n")[1]
    except EngineError as error:
        return f"EngineError: {error}"
    finally:
        machine.close()
    lines = first.split("\n")[command.count("\n") + 1 : -1]
    last = first.split("\n")[-1]
    tail = re.sub(re.escape(user) + r"@box:\S*[#$]$", "", last)
    return _trimmed("\n".join([*lines, tail])) + f"\n[{status}]"


def in_bash(command: str) -> str:
    """What a real bash shows."""
    folder = Path(tempfile.mkdtemp(prefix="parity-"))
    home = folder / "home"
    home.mkdir()
    try:
        _furnish(home)
        text = _interactive(command, home)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = text.replace(str(home), HOME).replace("\r\n", "\n")
    body, _, status = text.rpartition(MARK)
    return _trimmed(body) + f"\n[{status.strip()}]"


def _furnish(home: Path) -> None:
    then = datetime.fromisoformat(OLD).replace(tzinfo=UTC).timestamp()
    for name, text in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(MODES.get(name, 0o644))
        os.utime(path, (then, then))
    for name in FOLDERS:
        (home / name).mkdir()
    for name, target in LINKS.items():
        (home / name).symlink_to(target)


def _interactive(command: str, home: Path) -> str:
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LC_ALL": "C",
        "TERM": "dumb",
        "TZ": "UTC",
        "USER": os.environ.get("USER", "root"),
        "PS1": "",
        "PS2": "",
        "HISTFILE": "/dev/null",
    }
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(home)
        os.execve("/bin/bash", ["bash", "--noediting", "--norc", "--noprofile", "-i"], environment)
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 80, 0, 0))
    try:
        os.write(terminal, b"PS1= PS2=; printf '%s\\n' @@begin\n")
        _until(terminal, b"@@begin\r\n")
        os.write(terminal, command.encode() + f'\necho "{MARK}$?"\n'.encode())
        return _until(terminal, MARK.encode() + rb"\d+\r\n").decode("utf-8", "replace")
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(child, 0)


def _until(terminal: int, pattern: bytes, seconds: float = 5.0) -> bytes:
    seen, limit = b"", time.monotonic() + seconds
    while not re.search(pattern + rb"\Z", seen) and time.monotonic() < limit:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    return seen


def _trimmed(text: str) -> str:
    """Without colours, with tabs as a screen shows them, without white space at line ends."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text).expandtabs(8)
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def main() -> int:
    """Run all cases; the exit status tells whether at least 95% agree."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--verbose", action="store_true", help="print every case as it runs")
    options.add_argument("--only", default="", help="only commands that contain this text")
    chosen = options.parse_args()
    user = "root" if os.getuid() == 0 else os.environ.get("USER", "dev")
    total = agreed = 0
    for command in cases():
        if chosen.only not in command:
            continue
        total += 1
        ours, real = in_engine(command, user), in_bash(command)
        if ours == real:
            agreed += 1
            if chosen.verbose:
                print(f"same   {command}")
            continue
        print(f"DIFFER {command}\n  bash:   {real!r}\n  engine: {ours!r}")
    print(f"{agreed} of {total} commands agree ({agreed / max(total, 1):.1%})")
    return 0 if agreed >= 0.95 * total else 1


if __name__ == "__main__":
    sys.exit(main())
