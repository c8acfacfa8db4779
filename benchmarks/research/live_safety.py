"""What can be reached from inside a live system: attacks in a shell, a tool server, a repository and an environment.

    python benchmarks/research/live_safety.py [--systems shell ...]

On this machine there are a file with a secret, a variable with it, a process that was started with it, a key of the
kernel and shared memory, and sockets of three kinds that listen. `live_attacks.py` tries from inside to reach these
and others, and to win rights; then systems flood, hang, and take more memory, processes and disk than they may, all of
it within a number. The table counts what was refused. What got through stands below it; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import live_attacks

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.live import open_live as open_repository
from agentworld_gym.domains.terminal.live import open_live as open_shell
from agentworld_gym.kit.live import Confinement, LiveConfig, LiveSource
from agentworld_gym.kit.live.environments import open_live as open_environment
from agentworld_gym.kit.live.process_watch import family_of

DISK_MB, MEMORY_MB, PROCESSES = 64, 256, 32
LIMITS = {
    "disk_mb": DISK_MB,
    "memory_mb": MEMORY_MB,
    "processes": PROCESSES,
    "step_seconds": 240,
    "output_chars": 100_000,
}
SHORT = {**LIMITS, "step_seconds": 5, "output_chars": 2000}
ATTACKS = Path(live_attacks.__file__)
NAMES = tuple(live_attacks.ATTACKS)
Told = dict[str, dict[str, str]]
"""What became of each attack, by its name."""


class Host:
    """What there is on this machine to be reached, and whether it was."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.token = folder, secrets.token_hex(12)
        self.secret = folder / "outside" / "secret"
        self.secret.parent.mkdir()
        self.secret.write_text(self.token)
        os.environ["AGENTWORLD_SECRET"] = self.token
        self.sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)", self.token])
        self.touched: list[str] = []
        self._opened = ExitStack()
        signal.signal(signal.SIGWINCH, lambda *_: self.touched.append("a signal"))
        self.port = self._listen(socket.AF_INET, ("0.0.0.0", 0))
        self.abstract = f"agentworld-{secrets.token_hex(4)}"
        self._listen(socket.AF_UNIX, "\0" + self.abstract)
        self.socket = str(folder / "outside" / "s")
        self._listen(socket.AF_UNIX, self.socket)
        self.shared = secrets.randbelow(1 << 30)
        libc = ctypes.CDLL(None, use_errno=True)
        self._shared = libc.shmget(self.shared, 4096, 0o1666)
        self._libc = libc
        self.key = f"agentworld-{secrets.token_hex(4)}"
        kept = ctypes.c_char_p(self.token.encode())
        ring = ctypes.c_int(-3)  # that of the session, which processes inherit
        self.has_key = live_attacks.X86_64 and libc.syscall(248, b"user", self.key.encode(), kept, 24, ring) > 0

    def _listen(self, family: int, address: Any) -> int:
        server = self._opened.enter_context(socket.socket(family))
        server.bind(address)
        server.listen()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    server.accept()[0].close()
                    self.touched.append(f"a connection to {address!r}")

        threading.Thread(target=accept, daemon=True).start()
        return int(server.getsockname()[1]) if family == socket.AF_INET else 0

    def hints(self, kind: str, home: str, read: tuple[str, ...]) -> dict[str, Any]:
        """Return all that an attacker could wish to know."""
        addresses = {one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        return {
            "kind": kind,
            "home": home,
            "read": read,
            "shown": [str(ATTACKS)] if read else [],
            "secret": str(self.secret),
            "folder": str(self.secret.parent),
            "token": self.token,
            "pids": [os.getpid(), os.getppid(), self.sleeper.pid],
            "port": self.port,
            "addresses": sorted(addresses),
            "abstract": self.abstract,
            "socket": self.socket,
            "shared": self.shared,
            "key": self.key,
            "disk_mb": DISK_MB,
        }

    def harmed(self) -> list[str]:
        """Return what an attack did to this machine."""
        found = [*dict.fromkeys(self.touched)]
        if self.secret.read_text() != self.token or sorted(os.listdir(self.secret.parent)) != ["s", "secret"]:
            found.append("the secret was changed")
        if self.sleeper.poll() is not None or os.getpriority(os.PRIO_PROCESS, self.sleeper.pid) > os.nice(0):
            found.append("another process was reached")
        return found

    def close(self) -> None:
        """Take all of it away."""
        self.sleeper.kill()
        self.sleeper.wait()
        self._opened.close()
        if self._shared >= 0:
            self._libc.shmctl(self._shared, 0, None)


def told_in(text: str) -> Told:
    """Read what the attacks printed."""
    lines = [json.loads(line.removeprefix("ATTACK ")) for line in text.splitlines() if line.startswith("ATTACK {")]
    return {line["name"]: line for line in lines}


def prefixes() -> list[str]:
    """The folders of this interpreter that a sandbox does not show by itself."""
    places = [sys.prefix, sys.base_prefix]
    return [place for place in dict.fromkeys(places) if not place.startswith("/usr/")]


@contextmanager
def files_of(host: Host, kind: str, home: str) -> Iterator[Path]:
    """A folder with the attacks and their hints."""
    folder = host.folder / kind
    folder.mkdir()
    shutil.copy(ATTACKS, folder)
    (folder / "hints.json").write_text(json.dumps(host.hints(kind, home, ())))
    yield folder


def tool_server(host: Host) -> Told:
    """A server is a command in the sandbox."""
    with files_of(host, "server", "/home/user") as folder:
        config = LiveConfig(limits=LIMITS, read=(*prefixes(), str(folder)))
        hints = host.hints("server", "/home/user", config.read)
        (folder / "hints.json").write_text(json.dumps(hints))
        with Confinement(config, "live_safety", folder) as confinement:
            words = [sys.executable, str(folder / ATTACKS.name), str(folder / "hints.json")]
            done = subprocess.run(
                confinement.command(words),
                env=confinement.environment(),
                capture_output=True,
                text=True,
                timeout=400,
                stdin=subprocess.DEVNULL,
            )
    return told_in(done.stdout)


def shell(host: Host) -> Told:
    """The attacks are typed into a shell; then it is copied and asked, with what they left in its files."""
    with files_of(host, "shell", "/home/user") as folder:
        engine = open_shell(LiveSource.of({"folder": str(folder), "ahead": 0, "limits": LIMITS}))
        with closing(engine):
            machine = engine.start({}, 0)
            line = f"python3 {ATTACKS.name} hints.json > ~/told.txt 2>&1; echo finished"
            machine.act([{"keystrokes": f"{line}\n", "duration": 200.0}])
            until = time.monotonic() + 300
            while time.monotonic() < until and "ATTACKS END" not in machine.inspect("cat ~/told.txt").output:
                time.sleep(1)
            told = told_in(machine.inspect("cat ~/told.txt").output)
            twin = machine.fork()
            kept = twin.inspect("ls -la ~ ~/names | cat -v; cat ~/link").output
            if host.token in kept:
                told["what a copy of the files holds"] = {"verdict": "won", "why": kept[:100]}
            twin.close()
    return told


def repository(host: Host) -> Told:
    """The attacks are the tests of a repository."""
    with files_of(host, "repository", "/home/user") as folder:
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(folder)]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "attack"]):
            subprocess.run([*git, *words], check=True)
        tests = f"python3 {ATTACKS.name} hints.json"
        keys = {"repository": str(folder), "tests": tests, "ahead": 0, "limits": LIMITS}
        with closing(open_repository(LiveSource.of(keys))) as engine:
            machine = engine.start({}, 0)
            return told_in(machine.inspect(tests).output)


def environment(host: Host) -> Told:
    """The attacks are actions of a text environment, in its own process."""
    with files_of(host, "environment", "/home/user") as folder:
        (folder / "hints.json").write_text(
            json.dumps(host.hints("environment", "/home/user", (str(folder), *prefixes())))
        )
        with closing(attacker(folder)) as engine:
            machine = engine.start({}, 0)
            told: Told = {}
            for name in NAMES:
                try:
                    told |= told_in(f"ATTACK {machine.act(name)}")
                except EngineError as error:  # What is lost with its process has won nothing.
                    told[name] = {"name": name, "verdict": "refused", "why": f"{type(error).__name__}: {error}"[:120]}
                    machine.close()
                    machine = engine.start({}, 0)
            return told


def attacker(folder: Path, limits: dict[str, int] = LIMITS) -> Any:
    """The engine of an environment whose actions are attacks."""
    keys = {"env": f"python:{ATTACKS.stem}:Attacked", "path": str(folder), "ahead": 0, "limits": limits}
    return open_environment(LiveSource.of({**keys, "settings": {"hints": str(folder / "hints.json")}}))


FLOODS = {
    "more output than is shown": "head -c 60000000 /dev/zero | tr '\\0' a",
    "output without end": "yes",
    "a program that hangs": "sleep 1000",
    "more memory than it may": "python3 -c 'x = bytearray(500 << 20); import time; time.sleep(30)'",
    "more processes than it may": "for i in $(seq 60); do sleep 30 & done; wait",
    "a file that is too large": "head -c 200000000 /dev/zero > ~/big; ls -s ~/big",
    "a process that goes on alone": "(setsid sleep 1000 >/dev/null 2>&1 &); echo left",
    "the end of all processes": "kill -9 -1",
}


def floods(host: Host) -> Told:
    """Take more than one may, in a shell; each has to end in time, with a bounded answer or a typed failure."""
    told: Told = {}
    with files_of(host, "floods", "/home/user") as folder:
        keys = {"folder": str(folder), "ahead": 0, "limits": SHORT, "wait_seconds": 1}
        with closing(open_shell(LiveSource.of(keys))) as engine:
            for name, line in FLOODS.items():
                machine, began = engine.start({}, 0), time.perf_counter()
                family = family_of(machine.pids[0])
                try:
                    shown = machine.act([{"keystrokes": f"{line}\n", "duration": 3.0}])
                    why = f"{len(shown)} characters"
                except EngineError as error:
                    shown, why = "", f"{type(error).__name__}: {error}"
                family = [*family, *(family_of(family[0]))]
                spent = time.perf_counter() - began
                machine.close()
                until = time.monotonic() + 20
                while (left := [pid for pid in family if runs(pid)]) and time.monotonic() < until:
                    time.sleep(0.05)
                fine = len(shown) <= SHORT["output_chars"] + 200 and spent < 60 and not left
                verdict = "refused" if fine else "won"
                told[name] = {
                    "name": name,
                    "verdict": verdict,
                    "why": f"{why}, {spent:.1f} s, {len(left)} processes left",
                }
    return told


def runs(pid: int) -> bool:
    """Whether a process is there, and not only waits to be taken note of."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


SYSTEMS: dict[str, Callable[[Host], Told]] = {
    "shell": shell,
    "tool server": tool_server,
    "repository": repository,
    "environment": environment,
    "floods": floods,
}


def main() -> int:
    """Attack, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--all", action="store_true", help="say of each attack why it was refused")
    asked = parser.parse_args()
    through: list[str] = []
    print("| system | attacks | refused | won |\n|---|---|---|---|", flush=True)
    for name in asked.systems:
        with tempfile.TemporaryDirectory(prefix="agentworld-attack-") as place, closing(Host(Path(place))) as host:
            told = SYSTEMS[name](host)
            expected = FLOODS if name == "floods" else NAMES
            missing = [one for one in expected if one not in told]
            won = [one for one in told.values() if one["verdict"] == "won"]
            through += [f"{name}: {one.get('name')}: {one['why']}" for one in won]
            through += [f"{name}: this machine: {harm}" for harm in host.harmed()]
            through += [f"{name}: {one}: it did not run to its end" for one in missing]
            print(f"| {name} | {len(told)} | {len(told) - len(won)} | {len(won)} |", flush=True)
            if asked.all:
                for one in told.values():
                    print(f"    {one['name']}: {one['why']}")
            if not host.has_key:
                print("    (this machine lets nobody make a key of the kernel, so that none could be found)")
    print("\n".join(through) or "nothing got through")
    return 1 if through else 0


if __name__ == "__main__":
    sys.exit(main())
