"""What hostile code of worlds and verifiers tries. Bodies are those of endpoints with an argument `word`."""

from __future__ import annotations

from typing import Any

LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
CHECKED = "\nif result < 0:\n    raise OSError(ctypes.get_errno(), 'refused')\nreturn {}"
SQL = "from sqlalchemy import text\nsession = SessionLocal()\n"


def system_call(*numbers: int) -> str:
    """Return a body that makes a system call of x86-64 with some arguments, and raises an error if it is refused."""
    return f"{LIBC}result = libc.syscall({', '.join(map(str, numbers))}){CHECKED}"


REFUSED: dict[str, str] = {
    # The host's files.
    "write_file": "open('/tmp/note', 'w').write(word)\nreturn {}",
    "write_usr": "open('/usr/note', 'w').write(word)\nreturn {}",
    "write_own_libraries": "import fastapi\nopen(fastapi.__file__, 'a').write('x')\nreturn {}",
    "write_shared_memory_folder": "open('/dev/shm/note', 'w').write(word)\nreturn {}",
    "link": "os.symlink('/usr', '/tmp/usr')\nreturn {}",
    "remove": "os.remove('/usr/bin/env')\nreturn {}",
    "open_memory_of_the_machine": "open('/dev/mem', 'rb').read(1)\nreturn {}",
    "mount": f"{LIBC}result = libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0){CHECKED}",
    "change_root": "os.chroot('/usr')\nreturn {}",
    "become_root": "os.setuid(0)\nreturn {}",
    "raise_limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nreturn {}",
    "escape_the_killer": "open('/proc/self/oom_score_adj', 'w').write('-1000')\nreturn {}",
    "set_up_the_kernel": (
        "name = open('/proc/sys/kernel/core_pattern').read()\n"
        "open('/proc/sys/kernel/core_pattern', 'w').write(name)\nreturn {}"
    ),
    "rename_the_machine": "open('/proc/sys/kernel/hostname', 'w').write('x')\nreturn {}",
    # The network.
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', 22), timeout=1)\nreturn {}",
    "listen": "import socket\nsocket.socket().bind(('127.0.0.1', 8123))\nreturn {}",
    "connect_by_the_loop": "import asyncio\nawait asyncio.open_connection('127.0.0.1', 22)\nreturn {}",
    # Other processes.
    "fork": "return {'pid': os.fork()}",
    "fork_with_terminal": "return {'pid': os.forkpty()[0]}",
    "run_program": "import subprocess\nreturn {'code': subprocess.run(['/bin/ls', '/']).returncode}",
    "spawn": "return {'pid': os.posix_spawn('/bin/ls', ['ls'], {})}",
    "multiprocess": "import multiprocessing\nmultiprocessing.get_context('fork').Process().start()\nreturn {}",
    "clone": system_call(56, 17, 0, 0, 0, 0),
    "kill_others": "for pid in range(1, 40):\n    if pid != os.getpid(): os.kill(pid, 9)\nreturn {}",
    "kill_by_handle": "return {'handle': os.pidfd_open(1)}",
    "slow_others": "os.setpriority(os.PRIO_PROCESS, 1, 19)\nreturn {}",
    "read_memory_of_others": (
        f"{LIBC}place, at = (ctypes.c_size_t * 2)(), (ctypes.c_size_t * 2)(4096, 8)\n"
        f"result = libc.process_vm_readv(1, place, 1, at, 1, 0){CHECKED}"
    ),
    # Notes to other sessions.
    "shared_memory": f"{LIBC}result = libc.shmget(77, 4096, 0o1666){CHECKED}",
    "message_queue": f"{LIBC}result = libc.msgget(77, 0o1666){CHECKED}",
    "semaphore": f"{LIBC}result = libc.semget(77, 1, 0o1666){CHECKED}",
    "file_in_memory": "return {'file': os.memfd_create('note')}",
    "shared_pages": "import mmap\nmmap.mmap(-1, 4096)\nreturn {}",
    "pipe": "return {'ends': os.pipe()}",
    "socket_pair": "import socket\nsocket.socketpair()\nreturn {}",
    "event_file": "return {'file': os.eventfd(0)}",
    "poll_file": "import select\nselect.epoll()\nreturn {}",
    "watch_files": f"{LIBC}result = libc.inotify_init(){CHECKED}",
    "lock_file": "import fcntl\nfcntl.flock(open('/usr/bin/env', 'rb'), fcntl.LOCK_EX)\nreturn {}",
    "lock_range": "import fcntl\nfcntl.lockf(open('/usr/bin/env', 'rb'), fcntl.LOCK_SH)\nreturn {}",
    "key_ring": system_call(250, 0, -3, 0, 0, 0),
    "io_ring": system_call(425, 1, 0),
    "program_of_the_kernel": system_call(321, 0, 0, 0),
    # The database, memory and files.
    "attach": f"{SQL}session.execute(text(\"ATTACH DATABASE 'file:/x?vfs=memdb' AS other\"))\nreturn {{}}",
    "vacuum_into": f"{SQL}session.execute(text(\"VACUUM INTO '/tmp/copy.db'\"))\nreturn {{}}",
    "load_extension": f"{SQL}session.execute(text(\"SELECT load_extension('/usr/lib/x.so')\"))\nreturn {{}}",
    "eat_memory_in_sql": (
        f"{SQL}session.execute(text('CREATE TABLE big (b)'))\n"
        "for n in range(100):\n    session.execute(text('INSERT INTO big VALUES (zeroblob(8000000))'))\n"
        "session.commit()\nreturn {}"
    ),
    "one_large_value": f"{SQL}session.execute(text('SELECT zeroblob(900000000)')).all()\nreturn {{}}",
    "open_many_files": "kept = [open('/usr/bin/env', 'rb') for _ in range(100)]\nreturn {}",
    "recurse": "def again():\n    return again()\nreturn again()",
}
"""Attempts that the system refuses: the code gets an error, and its client a plain 500."""

ANSWERED: dict[str, tuple[str, Any]] = {
    "plain": ("return {'word': word}", {"word": ""}),
    "read_host": (
        "return {'found': [p for p in ('/root', '/home', '/etc/passwd', '/var', '/work') if os.path.exists(p)]}",
        {"found": []},
    ),
    "read_environment": (
        "return {'found': sorted(k for k in os.environ if 'AGENTWORLD' in k or 'KEY' in k or k == 'PATH')}",
        {"found": []},
    ),
    "name_of_the_machine": ("return {'name': os.uname().nodename}", {"name": "sandbox"}),
    "read_others": (
        "found = []\nfor pid in os.listdir('/proc'):\n"
        "    if not pid.isdigit() or int(pid) == os.getpid(): continue\n"
        "    for name in ('mem', 'environ', 'maps', 'fd/0', 'fd/3', 'fd/4', 'cwd/usr', 'root/usr'):\n"
        "        try:\n            os.open(f'/proc/{pid}/{name}', os.O_RDONLY)\n"
        "            found.append(name)\n        except OSError: pass\nreturn {'found': found}",
        {"found": []},
    ),
    "trace_others": (
        f"{LIBC}return {{'result': libc.ptrace(16, 1, 0, 0), 'errno': ctypes.get_errno()}}",
        {"result": -1, "errno": 1},
    ),
    "new_namespace": (
        f"{LIBC}return {{'result': libc.unshare(0x10000000), 'errno': ctypes.get_errno()}}",
        {"result": -1, "errno": 1},
    ),
    "thread_works": (
        "import threading\nt = threading.Thread(target=list)\nt.start()\nt.join()\nreturn {'ok': True}",
        {"ok": True},
    ),
    "print_much": ("print('x' * 20_000_000)\nreturn {'ok': True}", {"ok": True}),
    "sleep_for_years": ("import time\ntime.sleep(1e9)\nreturn {'ok': True}", {"ok": True}),
}
"""Attempts that are answered, as there is nothing to see and nothing to lose."""

STOPPED: dict[str, tuple[str, str]] = {
    "leave_process": ("import sys\nsys.exit(3)", "tried to end its process"),
    "kill_process": ("os._exit(1)", "ended with exit code 1"),
    "crash": ("import ctypes\nctypes.string_at(0)", "ended by signal SIGSEGV"),
    "become_program": ("os.execv('/bin/true', ['true'])", "wrote what is no answer"),
    "hang": ("while True:\n    pass", "took longer than 0.7 s"),
    "hang_stubbornly": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "took longer than 0.7 s",
    ),
    "hang_in_c": ("return {'digits': len(str(9 ** 9 ** 9))}", "took longer than 0.7 s"),
    "hang_in_a_pattern": (
        "import re\nreturn {'found': bool(re.match(r'(a+)+$', 'a' * 60 + 'b'))}",
        "took longer than 0.7 s",
    ),
    "wait_deaf_to_signals": (
        "import signal, threading\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nthreading.Event().wait()",
        "took longer than 0.7 s",
    ),
    "stop_clock": (
        "import time\ntime.time = lambda: 0.0\ntime.monotonic = lambda: 0.0\nwhile True:\n    pass",
        "took longer than 0.7 s",
    ),
    "copy_itself": (system_call(56, 0x8000 | 17, 0, 0, 0, 0), "took longer than 0.7 s"),
    "ask_for_a_socket": (system_call(56, 0x8000, 0, 0, 0, 0), "took longer than 0.7 s"),
    "eat_memory": ("kept = []\nwhile True:\n    kept.append(bytearray(64 << 20))", "more memory than it may have"),
    "answer_much": (
        "return {'word': 'x' * 5_000_000}",
        "an answer of answer_much has .* bytes or more, the limit is 1000000",
    ),
    "answer_without_end": (
        "from fastapi.responses import StreamingResponse\nreturn StreamingResponse(iter(lambda: b'x' * 65536, None))",
        "an answer of answer_without_end has .* bytes or more, the limit is 1000000",
    ),
    "forge_reply": (
        "for number in range(3, 64):\n    try:\n        os.write(number, b'\\0\\0\\0\\2\\0\\0\\0\\0[]')\n"
        "    except OSError: pass\nreturn {}",
        "wrote what is no answer",
    ),
}
"""Attempts for which the code is stopped, with the reason."""

KEEPING = {
    "remember": "SEEN.append(word)\nreturn {'seen': SEEN}",
    "see_sessions": (
        "import gc, sqlite3\nnames = [c for c in gc.get_objects() if isinstance(c, sqlite3.Connection)]\n"
        "found = []\nfor c in names:\n    try:\n        found += c.execute('SELECT title FROM books').fetchall()\n"
        "    except Exception: pass\nreturn {'titles': [str(row[0]) for row in found]}"
    ),
    "leave_task": (
        f"import asyncio\n{SQL}async def later():\n    try: await asyncio.Event().wait()\n    finally:\n"
        "        session.execute(text(\"INSERT INTO books (title) VALUES ('late')\"))\n        session.commit()\n"
        "await asyncio.wait([asyncio.create_task(later())], timeout=0)\nreturn {}"
    ),
    "note_at_file": "return {'place': NOTE.seek(NOTE.tell() + 1)}",
    "count_processes": "return {'count': sum(map(str.isdigit, os.listdir('/proc')))}",
    "let_copies_hang": (
        "from agentworld_gym.domains.mcp.awm.engine.inside import process_copies\n"
        "def copy(self):\n    pid = self._called(copies.COPY)\n    while pid == 0: pass\n"
        "copies.Copier.copy = copy\nreturn {}"
    ),
}
"""What the same world does beside them."""

BODIES = {
    **REFUSED,
    **{name: body for name, (body, _) in (*ANSWERED.items(), *STOPPED.items())},
    **KEEPING,
}
"""All endpoints of the hostile world."""

TOP = "NOTE = open('/usr/bin/env', 'rb')\n"
"""What the hostile world does when it is loaded: it opens a file, whose place copies of its process would share."""

OPEN_FILES = """
FOUND = []
for number in range(3, 64):
    try:
        os.fstat(number)
        FOUND.append(number)
    except OSError:
        pass
"""
"""Code that looks for open files when it is loaded; one of them is the socket to its host."""

AT_IMPORT: dict[str, tuple[str, str]] = {
    "import_fork": ("os.fork()", "cannot be loaded: (PermissionError|BlockingIOError)"),
    "import_exit": ("os._exit(4)", "ended with exit code 4"),
    "import_hang": ("while True: pass", "took longer than 2 s"),
    "import_memory": ("kept = bytearray(4 << 30)", "cannot be loaded: MemoryError"),
}
"""What code does when it is loaded, and how loading it fails."""

VERIFIERS = {
    "reads the host": ("return {'result': os.listdir('/root')}", "raised FileNotFoundError"),
    "writes": ("open(final_db_path, 'w')", "raised PermissionError"),
    "writes after it changed the mode": (
        "os.chmod(final_db_path, 0o666)\n    open(final_db_path, 'ab', buffering=0).write(b'x')",
        "raised PermissionError",
    ),
    "writes after it changed who may write": (
        "import ctypes, struct\n    from contextlib import suppress\n"
        "    name, call = 'system.posix_acl_access', ctypes.CDLL(None).syscall\n"
        "    every = b''.join(struct.pack('<HHI', tag, 6, 2**32 - 1) for tag in (1, 4, 32))\n"
        "    value = ctypes.create_string_buffer(struct.pack('<I', 2) + every, 28)\n"
        "    described = struct.pack('<QII', ctypes.addressof(value), 28, 0)\n"
        "    with suppress(OSError): os.setxattr(final_db_path, name, value.raw)\n"
        "    with suppress(OSError): os.setxattr(final_db_path, name, value.raw, follow_symlinks=False)\n"
        "    with suppress(OSError): os.setxattr(os.open(final_db_path, os.O_RDONLY), name, value.raw)\n"
        "    call(463, -100, final_db_path.encode(), 0, name.encode(), described, ctypes.c_size_t(16))\n"  # setxattrat
        "    open(final_db_path, 'ab', buffering=0).write(b'x')",
        "raised PermissionError",
    ),
    "writes outside its folder": ("open('/note', 'w')", "raised OSError"),
    "writes without end": ("open(final_db_path + '.x', 'wb').truncate(1 << 30)", "raised OSError"),
    "leaves a way out": ("os.symlink('/usr', final_db_path + '.usr')\n    raise KeyError", "raised KeyError"),
    "changes the database": ("sqlite3.connect(final_db_path).execute('DROP TABLE loans')", "raised OperationalError"),
    "forks": ("os.fork()", "raised (BlockingIOError|PermissionError)"),
    "runs a program": (
        "import subprocess\n    subprocess.run(['/bin/true'])",
        "raised (BlockingIOError|PermissionError)",
    ),
    "connects": ("import socket\n    socket.create_connection(('127.0.0.1', 1))", "raised PermissionError"),
    "kills": ("os.kill(1, 9)", "raised PermissionError"),
    "leaves": ("os._exit(0)", "wrote no result"),
    "leaves by an exit": ("raise SystemExit(0)", "raised SystemExit"),
    "crashes the interpreter": ("import ctypes\n    ctypes.string_at(0)", "ended by signal SIGSEGV"),
    "eats memory": ("x = bytearray(4 << 30)", "raised MemoryError"),
    "answers without end": ("return {'result': 'x' * 3_000_000}", "the result has 30000.. bytes"),
    "returns what is no verdict": ("return 'complete'", "returned"),
    "crashes": ("raise KeyError('x')", "raised KeyError: 'x'"),
    "hangs": ("while True: pass", "took longer than"),
}
"""What verifiers try, and how it ends."""

LEFT = {
    "a folder": "os.mkdir(final_db_path + '.note')",
    "a closed folder": "os.mkdir(final_db_path + '.note', 0)",
    "closed folders in one that cannot be listed": (
        "os.mkdir(final_db_path + '.note', 0o300)\n    os.mkdir(final_db_path + '.note/a', 0o300)\n"
        "    os.mkdir(final_db_path + '.note/a/b', 0)\n    os.symlink('/usr', final_db_path + '.note/a/usr')"
    ),
    "folders with numbers": (
        "os.makedirs('/verdict/0/1')\n    os.makedirs('/verdict/1/0/2')\n    open('/verdict/2', 'w')"
    ),
    "a very deep folder": (
        "os.chdir(os.path.dirname(final_db_path))\n    for _ in range(5000): os.mkdir('d', 0o300), os.chdir('d')"
    ),
}
"""What verifiers leave in their folder."""

assert len({*REFUSED, *ANSWERED, *STOPPED, *AT_IMPORT, *VERIFIERS}) >= 60
