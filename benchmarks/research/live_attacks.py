"""Attacks from inside a live system's sandbox, each a function; `live_safety.py` runs them in systems of all kinds.

    python3 live_attacks.py HINTS.json [NAME ...]

It imports the standard library alone, so that any interpreter inside runs it. Each attack returns what it won, or
None; an error is a refusal. None of them goes on without end: what fills or multiplies stops at a number.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Attack = Callable[[dict[str, Any]], str | None]
ATTACKS: dict[str, Attack] = {}
SECONDS = 15
"""How long one attack may take."""

LIBC = ctypes.CDLL(None, use_errno=True)
X86_64 = os.uname().machine == "x86_64"


def attack(function: Attack) -> Attack:
    """Enter an attack under its name."""
    ATTACKS[function.__name__.replace("_", " ")] = function
    return function


def call(number: int, *arguments: Any) -> int:
    """Make a system call of x86-64.

    Raises:
        OSError: The kernel refuses it.
    """
    if not X86_64:
        raise OSError("the numbers of system calls are those of x86-64")
    ctypes.set_errno(0)
    result: int = LIBC.syscall(
        number, *[one if not isinstance(one, bytes) else ctypes.c_char_p(one) for one in arguments]
    )
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def apart(function: Callable[[], str | None]) -> str | None:
    """Do something in a process of its own, and return what it won."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        won = None
        with suppress(BaseException):
            won = function()
        os.write(writing, (won or "").encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        told = answer.read()
    os.waitpid(pid, 0)
    return told.decode("utf-8", "replace") or None


def first_of(tries: list[Callable[[], str | None]]) -> str | None:
    """Return what the first of several ways wins."""
    for one in tries:
        with suppress(OSError, ValueError, subprocess.SubprocessError, MemoryError):
            if (won := one()) is not None:
                return won
    return None


def read(path: str, most: int = 1 << 16) -> str:
    """Read the beginning of a file, and do not wait for a writer."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(number, most).decode("utf-8", "replace")
    finally:
        os.close(number)


def secret_in(text: str, hints: dict[str, Any]) -> str | None:
    """Return where a secret of the host is in a text."""
    return f"read {text[:60]!r}" if hints["token"] in text else None


# Files of the host


@attack
def read_a_file_of_the_user(hints):
    names = [hints["secret"], "../" * 30 + hints["secret"].lstrip("/"), f"/proc/self/root{hints['secret']}"]
    names += [f"/proc/1/root{hints['secret']}", f"/proc/1/cwd/../../..{hints['secret']}"]
    return first_of([lambda name=name: secret_in(read(name), hints) for name in names])


@attack
def read_through_a_symbolic_link(hints):
    link = os.path.join(hints["home"], "link")
    with suppress(FileExistsError):
        os.symlink(hints["secret"], link)
    return secret_in(read(link), hints)


@attack
def make_a_hard_link_out_of_the_home(hints):
    for source in (hints["secret"], "/etc/passwd", "/usr/bin/env"):
        with suppress(OSError):
            os.link(source, os.path.join(hints["home"], "hard"))
            return f"a second name of {source}"
    return None


@attack
def list_the_folders_of_users(hints):
    places = ("/root", "/home", hints["folder"], "/var", "/opt", "/mnt", "/srv")
    shown = {part for path in hints["read"] for part in path.split("/")}
    strange = [name for place in places for name in listed(place) if name not in shown | {"user"}]
    return f"sees {strange[:5]}" if strange else None


def listed(place: str) -> list[str]:
    """Return the names in a folder; none where there is no such folder."""
    with suppress(OSError):
        return os.listdir(place)
    return []


@attack
def read_passwords_and_keys(hints):
    names = (
        "/etc/shadow",
        "/etc/ssh/ssh_host_rsa_key",
        "/root/.ssh/id_rsa",
        "/root/.netrc",
        "/run/secrets",
        "/etc/sudoers",
    )
    return first_of([lambda name=name: f"read {name}" if read(name) else None for name in names])


@attack
def write_to_the_system(hints):
    places = ["/usr", "/etc", "/", "/bin", "/lib", "/dev", "/proc/sys/kernel", "/sys", *hints["read"]]
    for place in places:
        with suppress(OSError):
            with open(os.path.join(place, "agentworld-attack"), "w") as file:
                file.write("x")
            return f"wrote to {place}"
    return None


@attack
def change_a_file_that_is_shown(hints):
    for name in ("/usr/bin/env", "/etc/passwd", *hints["shown"]):
        for way in (lambda n=name: os.chmod(n, 0o777), lambda n=name: os.truncate(n, 0), lambda n=name: os.unlink(n)):
            with suppress(OSError):
                way()
                return f"changed {name}"
    return None


@attack
def change_a_file_behind_a_descriptor(hints):
    for name in ("/proc/1/exe", "/proc/self/exe", f"/proc/{os.getppid()}/exe"):
        with suppress(OSError):
            os.close(os.open(name, os.O_RDWR))
            return f"opened {name} to write"
    return None


@attack
def go_out_through_a_descriptor_that_was_left_open(hints):
    for number in map(int, listed("/proc/self/fd")):
        with suppress(OSError):
            if stat.S_ISDIR(os.fstat(number).st_mode):
                inside = os.open("../" * 20 + hints["secret"].lstrip("/"), os.O_RDONLY, dir_fd=number)
                if won := secret_in(os.read(inside, 1000).decode("utf-8", "replace"), hints):
                    return won
    return None


@attack
def open_a_file_by_its_handle(hints):
    buffer = ctypes.create_string_buffer(8 + 128)
    ctypes.memmove(buffer, (128).to_bytes(4, "little"), 4)
    mount = ctypes.c_int()
    call(303, -100, b"/usr", ctypes.byref(buffer), ctypes.byref(mount), 0)
    root = os.open("/usr", os.O_RDONLY)
    number = call(304, root, ctypes.byref(buffer), os.O_RDONLY)
    os.close(number)
    return "opened a file by its handle"


# What the process knows


@attack
def find_a_key_in_variables(hints):
    return secret_in("\n".join(f"{name}={value}" for name, value in os.environ.items()), hints)


@attack
def find_a_key_in_other_processes(hints):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for part in ("environ", "cmdline", "mountinfo", "stack", "maps"):
            with suppress(OSError):
                if won := secret_in(read(f"/proc/{pid}/{part}"), hints):
                    return f"{won} in /proc/{pid}/{part}"
    return None


@attack
def see_other_processes(hints):
    seen = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
    outside = [pid for pid in seen if pid in hints["pids"]]
    return f"sees {outside}" if outside or len(seen) > 40 else None


@attack
def read_where_the_host_keeps_its_files(hints):
    return secret_in(read("/proc/self/mountinfo"), hints) or secret_in(read("/proc/mounts"), hints)


# Other processes


@attack
def signal_a_process_of_the_host(hints):
    for pid in hints["pids"]:
        for way in (lambda p=pid: os.kill(p, 0), lambda p=pid: os.killpg(p, 0), lambda p=pid: os.pidfd_open(p)):
            with suppress(OSError):
                way()
                if pid > 400:  # A lower number may be a process inside.
                    return f"reached process {pid}"
    return None


@attack
def signal_everybody(hints):
    with suppress(OSError):
        os.kill(-1, signal.SIGWINCH)  # Those of the host would tell.
    return None


@attack
def end_the_first_process(hints):
    if os.getpid() == 1:
        return None
    for name in ("SIGKILL", "SIGSTOP", "SIGTERM"):
        with suppress(OSError):
            os.kill(1, getattr(signal, name))
    time.sleep(0.2)
    state = read("/proc/1/stat").rpartition(")")[2].split()[0]
    return None if state in "RSD" else f"the first process is in state {state}"


@attack
def trace_a_process_outside(hints):
    for pid in hints["pids"]:
        with suppress(OSError):
            call(101, 16, pid, 0, 0)
            return f"traces process {pid}"
    return None


@attack
def read_the_memory_of_a_process_outside(hints):
    piece, far = ctypes.create_string_buffer(64), (ctypes.c_size_t * 2)(0x400000, 64)
    near = (ctypes.c_size_t * 2)(ctypes.addressof(piece), 64)
    for pid in hints["pids"]:
        with suppress(OSError):
            call(310, pid, near, 1, far, 1, 0)
            return f"read the memory of {pid}"
        with suppress(OSError):
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))
            return f"opened the memory of {pid}"
    return None


@attack
def give_a_process_outside_another_priority(hints):
    for pid in hints["pids"]:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, 19)
            return f"changed the priority of {pid}"
    return None


@attack
def raise_its_own_priority(hints):
    os.nice(-5)
    return "has a higher priority"


# Network


def connected(family: int, kind: int, address: Any) -> str | None:
    """Connect to somewhere."""
    with socket.socket(family, kind) as link:
        link.settimeout(1)
        link.connect(address)
        return f"reached {address!r}"


@attack
def connect_to_a_server_of_the_host(hints):
    places = [("127.0.0.1", hints["port"]), *((host, hints["port"]) for host in hints["addresses"])]
    return first_of([lambda one=one: connected(socket.AF_INET, socket.SOCK_STREAM, one) for one in places])


@attack
def connect_to_the_internet(hints):
    places = [("1.1.1.1", 53), ("8.8.8.8", 443), ("169.254.169.254", 80)]
    return first_of([lambda one=one: connected(socket.AF_INET, socket.SOCK_STREAM, one) for one in places])


@attack
def send_a_datagram(hints):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.sendto(b"x", ("1.1.1.1", 53))
    return "sent a datagram"


@attack
def look_up_a_name(hints):
    return f"found {socket.gethostbyname('example.com')}"


@attack
def connect_to_a_socket_without_a_file(hints):
    return connected(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + hints["abstract"])


@attack
def connect_to_a_socket_of_the_host(hints):
    names = [hints["socket"], "/run/dbus/system_bus_socket", "/var/run/docker.sock", "/tmp/.X11-unix/X0", "/dev/log"]
    return first_of([lambda name=name: connected(socket.AF_UNIX, socket.SOCK_STREAM, name) for name in names])


@attack
def open_a_raw_socket(hints):
    ways = [(socket.AF_INET, socket.SOCK_RAW, 1), (17, socket.SOCK_RAW, 3)]
    return first_of([lambda way=way: f"has socket {socket.socket(*way)}" for way in ways])


@attack
def reach_the_host_of_a_virtual_machine(hints):
    return connected(40, socket.SOCK_STREAM, (2, 1024))


@attack
def see_interfaces_of_the_host(hints):
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    return f"sees {names}" if names else None


# Rights


@attack
def mount_a_file_system(hints):
    kinds = [(b"tmpfs", b"none"), (b"proc", b"proc"), (b"sysfs", b"sysfs"), (b"overlay", b"none")]
    tries = [lambda k=k, s=s: f"mounted {k!r}" if call(165, s, b"/tmp", k, 0, 0) == 0 else None for k, s in kinds]
    tries += [lambda: "bound a folder" if call(165, b"/usr", b"/tmp", 0, 4096, 0) == 0 else None]
    return first_of(tries)


@attack
def make_a_folder_writable_again(hints):
    return first_of(
        [
            lambda p=p: f"remounted {p!r}" if call(165, 0, p, 0, 32 | 4096, 0) == 0 else None
            for p in (b"/", b"/usr", b"/etc")
        ]
    )


@attack
def take_a_mount_away(hints):
    places = (b"/usr", b"/etc/passwd", b"/proc", b"/dev")
    return first_of([lambda p=p: f"unmounted {p!r}" if call(166, p, 2) == 0 else None for p in places])


@attack
def mount_in_the_new_way(hints):
    tries = [
        lambda: f"a file system {call(430, b'tmpfs', 0)}",
        lambda: f"a copy of a mount {call(428, -100, b'/', 1)}",
        lambda: f"other properties {call(442, -100, b'/usr', 0, b'x' * 32, 32)}",
    ]
    return first_of(tries)


@attack
def make_a_user_namespace(hints):
    return apart(lambda: "has a user namespace" if call(272, 0x10000000) == 0 else None)


@attack
def make_other_namespaces(hints):
    kinds = (0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000)
    return apart(lambda: first_of([lambda k=k: f"has namespace {k:x}" if call(272, k) == 0 else None for k in kinds]))


@attack
def enter_the_namespaces_of_another_process(hints):
    def entered() -> str | None:
        for pid in (1, *hints["pids"]):
            for kind in ("user", "mnt", "net", "pid"):
                with suppress(OSError):
                    number = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
                    if call(308, number, 0) == 0:
                        return f"entered {kind} of {pid}"
        return None

    return apart(entered)


@attack
def change_the_root(hints):
    def changed() -> str | None:
        os.chroot("/tmp")
        return "has another root"

    return apart(changed) or apart(lambda: "turned the root" if call(155, b"/tmp", b"/tmp") == 0 else None)


@attack
def become_root(hints):
    def became() -> str | None:
        os.setuid(0)
        return "is root"

    return apart(became)


@attack
def win_rights_by_a_program(hints):
    lines = (
        ["su", "-c", "id -u"],
        ["sudo", "-n", "id", "-u"],
        ["mount", "-t", "tmpfs", "none", "/tmp"],
        ["newuidmap", "1", "0", "0", "1"],
    )
    for line in lines:
        with suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(line, capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL)
            if done.returncode == 0 and line[0] != "su":
                return f"{line[0]} worked"
            if done.stdout.strip() == "0":
                return f"{line[0]} made root"
    return None


@attack
def make_a_program_with_rights(hints):
    place = os.path.join(hints["home"], "tool")
    with open("/usr/bin/env", "rb") as source, open(place, "wb") as copy:
        copy.write(source.read())
    os.chmod(place, 0o6755)
    if os.geteuid() == 0:
        return "is root"
    return first_of(
        [lambda: "gave it capabilities" if os.setxattr(place, "security.capability", bytes(20)) is None else None]
    )


@attack
def hold_capabilities(hints):
    told = dict(line.split(":\t") for line in read("/proc/self/status").splitlines() if ":\t" in line)
    held = {name: told[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(told[name], 16)}
    if told.get("NoNewPrivs") != "1":
        return "may win rights by a program"
    return f"holds {held}" if held else None


# Devices and the kernel


@attack
def make_a_device(hints):
    for kind, major, minor in ((stat.S_IFCHR, 1, 1), (stat.S_IFBLK, 8, 0), (stat.S_IFCHR, 10, 229)):
        for place in (hints["home"], "/tmp", "/dev/shm", "/dev"):
            with suppress(OSError):
                os.mknod(f"{place}/device", kind | 0o666, os.makedev(major, minor))
                return f"made device {major}:{minor} in {place}"
    return None


@attack
def open_a_device_of_the_host(hints):
    usual = {
        "null",
        "zero",
        "full",
        "random",
        "urandom",
        "tty",
        "console",
        "ptmx",
        "fd",
        "stdin",
        "stdout",
        "stderr",
        "core",
    }
    strange = [name for name in listed("/dev") if name not in usual | {"pts", "shm"}]
    return f"sees {strange}" if strange else None


@attack
def read_the_log_of_the_kernel(hints):
    buffer = ctypes.create_string_buffer(100)
    tries = [lambda: f"read {call(103, 3, buffer, 100)} bytes", lambda: f"read {read('/proc/kmsg', 10)!r}"]
    return first_of([*tries, lambda: f"read {read('/dev/kmsg', 10)!r}"])


@attack
def read_the_memory_of_the_kernel(hints):
    tries = [
        lambda n=n: f"read {n}" if read(n, 64) else None for n in ("/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port")
    ]
    return first_of(tries)


@attack
def find_where_the_kernel_lies(hints):
    places = [line.split()[0] for line in read("/proc/kallsyms", 4000).splitlines()[:20] if line.strip()]
    return "reads addresses of the kernel" if any(int(place, 16) for place in places[:-1]) else None


@attack
def load_a_program_into_the_kernel(hints):
    buffer = ctypes.create_string_buffer(128)
    tries = [
        lambda: f"has a map {call(321, 0, buffer, 72)}",
        lambda: "loaded a module" if call(175, buffer, 10, b"") == 0 else None,
        lambda: "loaded a kernel" if call(246, 0, 0, 0, 0) == 0 else None,
    ]
    return first_of(tries)


@attack
def measure_the_kernel(hints):
    event = ctypes.create_string_buffer(128)
    ctypes.memmove(event, (0).to_bytes(4, "little") + (128).to_bytes(4, "little"), 8)
    return f"measures events of all {call(298, event, -1, 0, -1, 0)}"


@attack
def change_the_clock_or_the_name(hints):
    tries = [
        lambda: "set the clock" if time.clock_settime(time.CLOCK_REALTIME, time.time()) is None else None,
        lambda: "named the machine" if socket.sethostname("attacked") is None else None,
        lambda: f"a limit of the kernel: {os.open('/proc/sys/vm/drop_caches', os.O_WRONLY)}",
    ]
    return first_of(tries)


@attack
def restart_the_machine(hints):
    # With this number the kernel only asks whether one may: Ctrl-Alt-Del stays as it is.
    return "may restart" if call(169, 0xFEE1DEAD, 672274793, 0x89ABCDEF, 0) == 0 else None


@attack
def find_keys_in_the_kernel(hints):
    for ring in (-1, -2, -3, -4, -5):
        with suppress(OSError):
            key = call(250, 10, ring, b"user", hints["key"].encode(), 0)
            buffer = ctypes.create_string_buffer(200)
            size = call(250, 11, key, buffer, 200)
            if won := secret_in(buffer.raw[:size].decode("utf-8", "replace"), hints):
                return f"{won} in a ring of keys"
    return None


@attack
def find_memory_that_is_shared(hints):
    LIBC.shmget.restype = ctypes.c_int
    number = LIBC.shmget(hints["shared"], 0, 0o600)
    if number < 0:
        return None
    return f"found shared memory {number}"


# The terminal


@attack
def type_into_another_terminal(hints):
    for number in (0, 1, 2):
        with suppress(OSError):
            if os.isatty(number) and hints["kind"] != "shell":
                fcntl.ioctl(number, termios.TIOCSTI, b" ")
                return "types into a terminal"
    for name in listed("/dev/pts"):
        if hints["kind"] != "shell" and name not in ("ptmx", "0"):
            return f"sees terminal {name}"
    return None


# More than it may


@attack
def fill_the_disk(hints):
    most = (hints["disk_mb"] << 20) + (64 << 20)
    for place in (hints["home"], "/tmp", "/dev/shm", "/", "/dev", "/etc"):
        written, name = 0, os.path.join(place, "filling")
        with suppress(OSError), open(name, "wb") as file:
            while written < most:
                written += file.write(bytes(1 << 20))
        with suppress(OSError):
            os.unlink(name)
        if written >= most:
            return f"wrote {written >> 20} MiB to {place}"
    return None


@attack
def open_too_many_files(hints):
    held = []
    try:
        for _ in range(6000):
            held.append(os.open("/dev/null", os.O_RDONLY))
        return "opened 6000 files"
    finally:
        for number in held:
            os.close(number)


@attack
def lock_memory(hints):
    return "locked 64 MiB of memory" if LIBC.mlock(ctypes.create_string_buffer(64 << 20), 64 << 20) == 0 else None


@attack
def leave_names_that_are_hard_to_read(hints):
    place = os.path.join(hints["home"], "names")
    os.makedirs(place, exist_ok=True)
    before = os.getcwd()
    try:
        os.chdir(place)
        for number in range(15):
            os.mkdir("d" * 200 + str(number))
            os.chdir("d" * 200 + str(number))
    except OSError:
        pass
    finally:
        os.chdir(before)
    for name in ("n" * 255, "-rf", "a\nb", "\x1b[2J", "\udcff\udcfe", "..."):
        with suppress(OSError):
            os.close(os.open(os.path.join(place, name), os.O_CREAT))
    with suppress(OSError):
        os.mkfifo(os.path.join(place, "fifo"))
    with suppress(OSError), socket.socket(socket.AF_UNIX) as link:
        link.bind(os.path.join(place, "socket"))
    with suppress(OSError):
        os.symlink("/", os.path.join(place, "root"))
    return None


def run(name: str, hints: dict[str, Any]) -> dict[str, str]:
    """Run one attack, and say what became of it. Where the secret is there, nothing confines it: no attack is run."""
    if os.path.exists(hints["secret"]):
        return {"name": name, "verdict": "won", "why": "there is no sandbox"}
    try:
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(SECONDS)
    except ValueError:  # It is not the first thread.
        pass
    try:
        won = ATTACKS[name](hints)
    except BaseException as error:
        return {"name": name, "verdict": "refused", "why": f"{type(error).__name__}: {error}"[:120]}
    finally:
        with suppress(ValueError):
            signal.alarm(0)
    return (
        {"name": name, "verdict": "refused", "why": "nothing won"}
        if won is None
        else {"name": name, "verdict": "won", "why": won[:120]}
    )


class Attacked:
    """A text environment whose actions are attacks."""

    def __init__(self, hints: str) -> None:
        with open(hints, encoding="utf-8") as file:
            self._hints = json.load(file)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        """Begin."""
        return "Attack.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Run the attack of a name."""
        return json.dumps(run(action, self._hints)), 0.0, False, False, {}


def _late(*_: object) -> None:
    raise TimeoutError("it took too long")


def main() -> None:
    """Run some attacks, or all of them, and print a line of JSON each."""
    with open(sys.argv[1], encoding="utf-8") as file:
        hints = json.load(file)
    for name in sys.argv[2:] or ATTACKS:
        print("ATTACK " + json.dumps(run(name, hints)), flush=True)
    print("ATTACKS END", flush=True)


if __name__ == "__main__":
    main()
