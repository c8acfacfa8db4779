"""One engine for all tests of this folder: its sandboxes take a second to start."""

from __future__ import annotations

from collections.abc import Iterator

import awm_attacks
import awm_background
import awm_factory
import awm_menu
import awm_styles
import awm_worlds
import pytest

from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.files import AwmFiles

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
    nasty = awm_worlds.attacks(awm_attacks.BODIES, top=awm_attacks.TOP)
    shared = awm_worlds.attacks(SHARED, "shared")
    ticking = awm_worlds.attacks(
        {"note": SHARED["note"]},
        "ticking",
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n",
    )
    loaded = [awm_worlds.attacks({}, name, top=f"{code}\n") for name, (code, _) in awm_attacks.AT_IMPORT.items()]
    peeking = awm_worlds.attacks({"list_files": "return {'found': FOUND}"}, "peeking", awm_attacks.OPEN_FILES)
    timely = awm_worlds.attacks({tool: SHARED[tool] for tool in ("tell_time", "note")}, "timely")
    worlds = (
        awm_worlds.library(),
        awm_worlds.harbor(),
        nasty,
        shared,
        timely,
        awm_factory.factory(),
        awm_factory.kept_session(),
        ticking,
        peeking,
        awm_background.background(),
        awm_styles.clinic(),
        awm_styles.diary(),
        awm_styles.accounts(),
        awm_menu.menu(),
        *loaded,
    )
    engine = AwmEngine(AwmFiles(awm_worlds.write(tmp_path_factory.mktemp("awm"), *worlds)))
    yield engine
    engine.close()
