"""Programs that make the kernel hold memory which the limits of a process do not count.

Each prints `done` if nothing stopped it, and waits so that somebody may look.
"""

from __future__ import annotations

_ENTRIES = """
import os
wide = "x" * 240
places = ("/tmp", "/home/user", "/w")
os.close(os.open("/tmp/first", os.O_CREAT))
for number in range(150_000):
    for place in places:
        {act}
print("done")
"""

_WAIT = """
import threading
threading.Event().wait(0.3)
print("done")
"""

_FILL = """
def fill(end):
    end.setsockopt(1, 7, 1 << 26)
    end.setsockopt(1, 8, 1 << 26)
    end.setblocking(False)
    try:
        while True:
            end.send(bytes(1 << 16))
    except BlockingIOError:
        pass
"""

HOLDING: dict[str, str] = {
    "empty files": _ENTRIES.format(act="os.close(os.open(f'{place}/{number}', os.O_CREAT))"),
    "empty files with long names": _ENTRIES.format(act="os.close(os.open(f'{place}/{wide}{number}', os.O_CREAT))"),
    "links to nothing": _ENTRIES.format(act="os.symlink(wide[:120], f'{place}/{wide}{number}')"),
    "names of one file": _ENTRIES.format(act="os.link('/tmp/first', f'/tmp/{place[1:2]}{wide}{number}')"),
    "folders": _ENTRIES.format(act="os.mkdir(f'{place}/{number}')"),
    "extended attributes": """
import os
kept = 0
for number in range(20_000):
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
    try:
        os.setxattr(f"/tmp/{number}", "user.a", bytes(60_000))
    except OSError:
        break
    kept += 1
print("done" if kept else "refused")
""",
    "threads": """
import ctypes, mmap, os, platform, sys, time
if platform.machine() != "x86_64":
    sys.exit("this machine's clone takes no address from the stack")
# Threads that share one stack and only wait: none of their memory is the process's.
libc = ctypes.PyDLL(None)
stack = mmap.mmap(-1, 1 << 16)
top = (ctypes.addressof(ctypes.c_char.from_buffer(stack)) + (1 << 16) - 64) & ~15
code = mmap.mmap(-1, 4096, prot=7)
code.write(b"\\xb8\\x22\\0\\0\\0\\x0f\\x05\\xeb\\xf7")  # pause, again and again
start = ctypes.addressof(ctypes.c_char.from_buffer(code))
ctypes.c_uint64.from_address(top).value = start
made = 0
while made < 30_000 and libc.syscall(56, 0x50F00, ctypes.c_void_p(top), 0, 0, 0) > 0:
    made += 1
time.sleep(2)
print("done" if made == 30_000 else made, flush=True)
os._exit(0)
""",
    "connections": f"""
import socket
{_FILL}
ends = []
server = socket.create_server(("127.0.0.1", 0), backlog=1)
for number in range(60):
    ends.append(socket.create_connection(server.getsockname()))
    ends.append(server.accept()[0])
    fill(ends[-1])
    fill(ends[-2])
{_WAIT}""",
    "connected pairs": f"""
import socket
{_FILL}
ends = []
for number in range(60):
    ends += socket.socketpair()
    fill(ends[-1])
    fill(ends[-2])
{_WAIT}""",
    "full pipes": f"""
import fcntl, os
ends = []
for number in range(60):
    ends.append(os.pipe())
    try:
        fcntl.fcntl(ends[-1][1], 1031, 1 << 20)
    except OSError:
        pass
    os.set_blocking(ends[-1][1], False)
    try:
        while True:
            os.write(ends[-1][1], bytes(1 << 16))
    except BlockingIOError:
        pass
{_WAIT}""",
    "pipes in letters": f"""
import os, socket
one, other = socket.socketpair()
one.setblocking(False)
try:
    while True:
        ends = os.pipe()
        os.set_blocking(ends[1], False)
        try:
            while True:
                os.write(ends[1], bytes(1 << 16))
        except BlockingIOError:
            pass
        socket.send_fds(one, [b"x"], ends)
        os.close(ends[0])
        os.close(ends[1])
except OSError:
    pass
{_WAIT}""",
    "large pages lent to pipes": f"""
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
ends, size = [os.pipe() for _ in range(40)], 2 << 20
for number in range(40 * 16):
    memory = mmap.mmap(-1, 2 * size)
    memory.madvise(14)
    at = (ctypes.addressof(ctypes.c_char.from_buffer(memory)) + size - 1) // size * size
    ctypes.memset(at, 1, size)
    page = (ctypes.c_size_t * 2)(at, 4096)
    libc.vmsplice(ends[number % 40][1], page, 1, 2)
    libc.madvise(ctypes.c_void_p(at), size, 4)
{_WAIT}""",
    "timers": f"""
import ctypes
libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
for number in range(1_000_000):
    if libc.timer_create(1, None, ctypes.byref(timer)):
        break
{_WAIT}""",
    "who looks at folders": f"""
import ctypes, os
libc = ctypes.CDLL(None)
looking = libc.inotify_init()
for number in range(60_000):
    os.mkdir(f"/tmp/{{number}}")
    if libc.inotify_add_watch(looking, f"/tmp/{{number}}".encode(), 0xFFF) < 0:
        break
{_WAIT}""",
    "locks": f"""
import fcntl, threading
files = [open(f"/tmp/{{number}}", "wb") for number in range(100)]
try:
    for number in range(20_000):
        for file in files:
            fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * number)
except OSError:
    pass
{_WAIT}""",
    "parts of memory with other rights": f"""
import ctypes, mmap
libc, memory = ctypes.CDLL(None), mmap.mmap(-1, 400 << 20)
at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for number in range(0, 400 << 8, 2):
    if libc.mprotect(ctypes.c_void_p(at + number * 4096), 4096, 1):
        break
{_WAIT}""",
}
"""What makes the kernel hold memory: by what it is, the program."""
