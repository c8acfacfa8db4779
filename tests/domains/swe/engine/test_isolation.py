"""What a program in bubblewrap asks the kernel for, and does not get: namespaces, and memory that no limit counts."""

from __future__ import annotations

import platform
import subprocess

import pytest
from kernel_attacks import HOLDING

from agentworld_gym.base.process.bubblewrap import HostPython, knows, sandbox_command
from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.bubblewrap import MAX_FILE_BYTES, MAX_FILES_BYTES, usable

pytestmark = pytest.mark.skipif(not usable(), reason="bubblewrap cannot run here")

LIBC = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tell(value):
    print(value, ctypes.get_errno())
"""
MAX_ENTRIES = 65_536
"""How many files and folders a program may have: as many as count for all of its memory."""
MACHINE = {"x86_64": 0, "aarch64": 1}
CALLS = {
    "a namespace of users": "libc.unshare(0x10000000)",
    "namespaces of users and of the network": "libc.unshare(0x50000000)",
    "a namespace of mounts": "libc.unshare(0x00020000)",
    "another namespace": "libc.setns(os.open('/proc/self/ns/user', 0), 0)",
    "a mount": "libc.mount(b'x', b'/tmp', b'tmpfs', 0, None)",
    "a mount of the other kind": "libc.syscall(430, b'tmpfs', 0)",
    "shared memory": "libc.shmget(0, 100 << 20, 0o1600)",
    "a queue of messages": "libc.msgget(0, 0o1600)",
    "semaphores": "libc.semget(0, 1, 0o1600)",
    "a queue of messages by name": "libc.mq_open(b'/x', 0o102, 0o600, None)",
    "a file in memory": "libc.memfd_create(b'x', 0)",
    "a secret file in memory": "libc.syscall(447, 0)",
    "io_uring": "libc.syscall(425, 8, ctypes.create_string_buffer(200))",
    "entering io_uring": "libc.syscall(426, 3, 1, 1, 0, None, 0)",
    "a key": "libc.syscall([248, 217][K], b'user', b'a', b'x', 1, -3)",
    "faults handled by the program": "libc.syscall([323, 282][K], 1)",
    "programs in the kernel": "libc.syscall([321, 280][K], 0, None, 0)",
    "counters of the processor": "libc.syscall([298, 241][K], None, 0, 0, -1, 0)",
    "tracing": "libc.ptrace(0, 0, 0, 0)",
    "memory of another process": "libc.syscall([310, 270][K], 1, None, 0, None, 0, 0)",
    "a file by its handle": "libc.syscall([304, 265][K], 0, None, 0)",
    "an extended attribute of a file": "libc.setxattr(b'/w/a.py', b'user.a', b'x', 1, 0)",
    "an extended attribute of a link": "libc.lsetxattr(b'/w/a.py', b'user.a', b'x', 1, 0)",
    "an extended attribute of an open file": "libc.fsetxattr(os.open('/w/a.py', 0), b'user.a', b'x', 1, 0)",
    "an extended attribute by the newer call": "libc.syscall(463, -100, b'/w/a.py', 0, b'user.a', b'x', 1)",
    "a look at files": "libc.inotify_init1(0)",
    "a look at file systems": "libc.fanotify_init(0, 0)",
    "rules of its own for files": "libc.syscall(444, None, 0, 1)",
    "a filter of system calls": "libc.syscall([317, 277][K], 1, 0, None)",
    "a filter by the older call": "libc.prctl(22, 2, None, 0, 0)",
    "requests for later": "libc.syscall([206, 0][K], 128, ctypes.byref(ctypes.c_long(0)))",
    "a page lent to a pipe": "libc.vmsplice(os.pipe()[1], None, 0, 0)",
    "the messages of the kernel": "libc.syscall([103, 116][K], 10, None, 0)",
    "memory that stays": "libc.syscall([149, 228][K], ctypes.create_string_buffer(8192), 8192)",
}


@pytest.mark.parametrize("name", CALLS)
def test_the_kernel_refuses_what_a_program_has_no_use_for(name: str) -> None:
    text = f"{LIBC}K = {MACHINE}[os.uname().machine]\ntell({CALLS[name]})\n"
    result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w")
    assert result.stdout == "-1 1\n", (result.stdout, result.stderr)


def test_there_are_sockets_of_files_and_of_the_empty_internet_and_no_others() -> None:
    """Not even those that an empty network leaves, such as AF_VSOCK, at which another machine could listen."""
    text = """
import ctypes, errno, itertools
libc, made, errors = ctypes.CDLL(None, use_errno=True), set(), set()
for family, kind in itertools.product([*range(64), -1, 1 << 16], (1, 2, 3, 5)):
    for number in (libc.socket(family, kind, 0), libc.socketpair(family, kind, 0, (ctypes.c_int * 2)())):
        if number >= 0:
            made.add(family)
        elif family not in (1, 2, 10):
            errors.add(errno.errorcode[ctypes.get_errno()])
print(sorted(made), sorted(errors))
"""
    result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w")
    assert result.stdout == "[1, 2, 10] ['EAFNOSUPPORT']\n", (result.stdout, result.stderr)


def test_a_server_and_its_client_in_one_program_talk_and_keep_the_size_of_their_buffers() -> None:
    text = """
import http.server, socket, threading, urllib.request
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"page" * 50_000)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
    print(answer.status, len(answer.read()))
with socket.socket() as end:
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        before = end.getsockopt(socket.SOL_SOCKET, option)
        end.setsockopt(socket.SOL_SOCKET, option, 1 << 26)
        print(end.getsockopt(socket.SOL_SOCKET, option) == before)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(end.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), end.getsockopt(6, socket.TCP_NODELAY))
"""
    result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w")
    assert result.stdout == "200 200000\nTrue\nTrue\n1 1\n", (result.stdout, result.stderr)


STOPPED = ("empty files", "empty files with long names", "links to nothing", "names of one file", "folders")


@pytest.mark.parametrize("name", STOPPED)
def test_files_without_content_count_as_memory(name: str) -> None:
    result = open_sandbox("bubblewrap").run({"/w/a.py": HOLDING[name]}, ["a.py"], cwd="/w", timeout_s=60)
    assert (result.stdout, result.exit_code) == ("", 137), (result.stdout, result.stderr)
    assert len(result.files) <= 2 * MAX_ENTRIES
    assert sum(map(len, result.files)) <= 4 * MAX_FILE_BYTES + 4096


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the program is one of x86-64")
def test_threads_count_as_memory_even_if_they_have_no_stack_of_their_own() -> None:
    result = open_sandbox("bubblewrap").run({"/w/a.py": HOLDING["threads"]}, ["a.py"], cwd="/w", timeout_s=60)
    assert (result.stdout, result.exit_code) == ("", 137), (result.stdout, result.stderr)


def test_a_program_that_broke_a_limit_counts_as_killed_even_if_it_had_just_ended() -> None:
    # What exceeds the limit fits into the pipe, so that the program does not wait until it is read.
    text = "import os\nos.write(1, b'x' * 1_000_000)\nos.write(2, b'x' * 50_000)\nos._exit(0)\n"
    for _ in range(5):
        result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w")
        assert result.exit_code == 137, (len(result.stdout), len(result.stderr))


def test_what_waits_in_connections_counts_as_memory() -> None:
    text = HOLDING["connections"].replace("import socket\n", "import socket\nheld = b'x' * (int(MIB) << 20)\n", 1)
    for mib, code in (("300", 137), ("1", 0)):
        few = text.replace("MIB", mib).replace("range(60)", "range(40)" if mib == "300" else "range(4)")
        result = open_sandbox("bubblewrap").run({"/w/a.py": few}, ["a.py"], cwd="/w", timeout_s=60)
        assert result.exit_code == code, (mib, result.stdout, result.stderr)


def test_there_is_a_bound_on_timers() -> None:
    text = f"{LIBC}timer, made = ctypes.c_void_p(), 0\nwhile libc.timer_create(1, None, ctypes.byref(timer)) == 0:\n"
    text += "    made += 1\nprint(0 < made <= 1024)\n"
    result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w")
    assert result.stdout == "True\n", (result.stdout, result.stderr)


@pytest.mark.skipif(not knows("--disable-userns"), reason="this bwrap is too old")
def test_no_more_namespaces_of_users_can_be_made() -> None:
    """Not even by the first process in a sandbox, which no filter watches."""
    text = f"{LIBC}tell(libc.unshare(0x10000000))\n"
    interpreter = HostPython.current()
    command = [*sandbox_command(interpreter), "--", interpreter.inside, "-I", "-S", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "-1 28\n", done.stderr


def test_all_folders_together_hold_no_more_than_they_may() -> None:
    files = {f"/top{number}/a.txt": "x" * 10_000 for number in range(150)}
    text = """
import os
total = 0
for top in ["/tmp", "/home/user", "/opt/inside", "/w", *sorted(f"/{name}" for name in os.listdir("/"))]:
    try:
        for number in range(100):
            with open(f"{top}/f{number}", "wb") as file:
                total += file.write(bytes(1 << 20))
    except OSError:
        pass
print(total)
"""
    result = open_sandbox("bubblewrap").run({**files, "/w/a.py": text}, ["a.py"], cwd="/w", timeout_s=20)
    assert 0 < int(result.stdout) <= MAX_FILES_BYTES + 150 * 10_000


def test_one_limit_holds_for_all_that_a_program_keeps_in_memory() -> None:
    """What it holds itself and what it writes to files, which lie in memory, too."""
    text = """
import sys, threading
held = bytearray(int(sys.argv[1]) << 20)
held[::4096] = b"x" * (len(held) // 4096)
for folder in ("/tmp", "/home/user", "/opt/inside", "/w"):
    for number in range(4 * (len(sys.argv) - 2)):
        try:
            with open(f"{folder}/f{number}", "wb") as file:
                file.write(bytes(4 << 20))
        except OSError:
            break
threading.Event().wait(0.3)
print("there")
"""
    for words, code in ((["440"], 0), (["100", "files"], 0), (["440", "files"], 137)):
        result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py", *words], cwd="/w")
        assert result.exit_code == code, (words, result.stdout, result.stderr)


@pytest.mark.parametrize(
    ("act", "code"), [("threading.Event().wait(60)", 124), ("held = bytearray(470 << 20)\nfill()", 137)]
)
def test_who_closes_its_ends_is_watched_as_before(act: str, code: int) -> None:
    text = f"""
import os, threading
def fill():
    held[::4096] = b"x" * (len(held) // 4096)
    for number in range(12):
        with open(("/tmp", "/home/user", "/opt/inside", "/w")[number % 4] + f"/f{{number}}", "wb") as file:
            file.write(bytes(4 << 20))
    threading.Event().wait(60)
os.closerange(0, 3)
{act}
"""
    result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w", timeout_s=3)
    assert result.exit_code == code


def test_what_programs_do_use_is_there() -> None:
    text = """
import asyncio, concurrent.futures, mmap, queue, random, select, socket, sqlite3, subprocess, tempfile, time
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: n * n, range(10))))
one, other = socket.socketpair()
one.sendall(b"hello")
print(other.recv(5).decode(), len(mmap.mmap(-1, 1 << 16)))
print(sqlite3.connect(":memory:").execute("select 6 * 7").fetchone()[0])
with tempfile.TemporaryFile() as file:
    print(file.write(b"abc"))
async def soon():
    await asyncio.sleep(1)
    return "soon"
print(asyncio.run(soon()))
"""
    result = open_sandbox("bubblewrap").run({"/w/a.py": text}, ["a.py"], cwd="/w")
    assert (result.stdout, result.stderr) == ("285\nhello 65536\n42\n3\nsoon\n", "")
