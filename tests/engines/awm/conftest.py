"""One engine for all tests of this folder: its sandboxes take a second to start."""

from __future__ import annotations

from collections.abc import Iterator

import awm_factory
import awm_worlds
import pytest

from agentworld_gym.engines.awm.engine import AwmEngine
from agentworld_gym.engines.awm.files import AwmFiles

BODIES = {
    # What a generated app does, and what one does that nobody should trust.
    "plain": "return {'word': word}",
    "leave_process": "import sys\nsys.exit(3)",
    "kill_process": "os._exit(1)",
    "hang": "while True:\n    pass",
    "hang_stubbornly": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "eat_memory": "kept = []\nwhile True:\n    kept.append(bytearray(64 << 20))",
    "eat_memory_in_sql": (
        "session = SessionLocal()\nfrom sqlalchemy import text\n"
        "session.execute(text('CREATE TABLE big (b)'))\n"
        "for n in range(100):\n    session.execute(text('INSERT INTO big VALUES (zeroblob(8000000))'))\n"
        "session.commit()\nreturn {}"
    ),
    "answer_much": "return {'word': 'x' * 5_000_000}",
    "read_host": "return {'found': [p for p in ('/root', '/home', '/etc/passwd', '/var') if os.path.exists(p)]}",
    "write_file": "open('/tmp/note', 'w').write(word)\nreturn {}",
    "write_usr": "open('/usr/note', 'w').write(word)\nreturn {}",
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', 22), timeout=1)\nreturn {}",
    "listen": "import socket\nsocket.socket().bind(('127.0.0.1', 8123))\nreturn {}",
    "fork": "return {'pid': os.fork()}",
    "run_program": "import subprocess\nreturn {'code': subprocess.run(['/bin/ls', '/']).returncode}",
    "thread_works": "import threading\nt = threading.Thread(target=list)\nt.start()\nt.join()\nreturn {'ok': True}",
    "kill_others": "for pid in range(1, 40):\n    if pid != os.getpid(): os.kill(pid, 9)\nreturn {}",
    "read_others": (
        "found = []\nfor pid in os.listdir('/proc'):\n    if not pid.isdigit() or int(pid) == os.getpid(): continue\n"
        "    for name in ('mem', 'environ', 'maps', 'fd/0', 'fd/3', 'fd/4', 'cwd/usr', 'root/usr'):\n"
        "        try:\n            os.open(f'/proc/{pid}/{name}', os.O_RDONLY)\n"
        "            found.append(name)\n        except OSError: pass\nreturn {'found': found}"
    ),
    "trace_others": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "return {'result': libc.ptrace(16, 1, 0, 0), 'errno': ctypes.get_errno()}"
    ),
    "new_namespace": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "return {'result': libc.unshare(0x10000000), 'errno': ctypes.get_errno()}"
    ),
    "raise_limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nreturn {}",
    "remember": "SEEN.append(word)\nreturn {'seen': SEEN}",
    "see_sessions": (
        "import gc, sqlite3\nnames = [c for c in gc.get_objects() if isinstance(c, sqlite3.Connection)]\n"
        "found = []\nfor c in names:\n    try:\n        found += c.execute('SELECT title FROM books').fetchall()\n"
        "    except Exception: pass\nreturn {'titles': [str(row[0]) for row in found]}"
    ),
    "attach": (
        "from sqlalchemy import text\nsession = SessionLocal()\n"
        "session.execute(text(\"ATTACH DATABASE 'file:/x?vfs=memdb' AS other\"))\nreturn {}"
    ),
    "stop_clock": "import time\ntime.time = lambda: 0.0\ntime.monotonic = lambda: 0.0\nwhile True:\n    pass",
    "forge_reply": (
        "for number in range(3, 32):\n    try:\n        os.write(number, b'\\0\\0\\0\\2\\0\\0\\0\\0[]')\n"
        "    except OSError: pass\nreturn {}"
    ),
}


SHARED = {
    "note": (
        "session = SessionLocal()\nfrom sqlalchemy import text\n"
        "session.execute(text('INSERT INTO books (title) VALUES (:word)'), {'word': word})\nsession.commit()\n"
        "titles = [row[0] for row in session.execute(text('SELECT title FROM books WHERE id > 3'))]\n"
        "session.close()\nreturn {'titles': titles}"
    ),
    "leak": (
        "session = SessionLocal()\nfrom sqlalchemy import text\n"
        "session.execute(text('INSERT INTO books (title) VALUES (:word)'), {'word': word})\nraise ValueError(word)"
    ),
    "two_at_once": (
        "from sqlalchemy import text\none, other = SessionLocal(), SessionLocal()\n"
        "one.execute(text('INSERT INTO books (title) VALUES (:word)'), {'word': word})\n"
        "seen = other.execute(text('SELECT count(*) FROM books')).scalar()\nother.close()\none.commit()\n"
        "now = one.execute(text('SELECT count(*) FROM books')).scalar()\none.close()\nreturn {'seen': seen, 'now': now}"
    ),
    "endless_sql": (
        "from sqlalchemy import text\nreturn {'n': SessionLocal().execute(text("
        "'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c')).scalar()}"
    ),
    "tell_time": "return {'time': str(datetime.utcnow()), 'day': str(datetime.now().date())}",
    "draw": "import random, uuid\nreturn {'id': str(uuid.uuid4()), 'number': random.random()}",
}
"""What code that keeps nothing does; its sessions share a process."""


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwmEngine]:
    """Return an engine with all worlds of the tests."""
    reason = awm_worlds.unplayable()
    if reason:
        pytest.skip(reason)
    nasty, shared = awm_worlds.attacks(BODIES), awm_worlds.attacks(SHARED, "shared")
    timely = awm_worlds.attacks({tool: SHARED[tool] for tool in ("tell_time", "note")}, "timely")
    worlds = (
        awm_worlds.library(),
        awm_worlds.harbor(),
        nasty,
        shared,
        timely,
        awm_factory.factory(),
        awm_factory.kept_session(),
    )
    engine = AwmEngine(AwmFiles(awm_worlds.write(tmp_path_factory.mktemp("awm"), *worlds)))
    yield engine
    engine.close()
