"""Folders whose owner was killed are removed by the next start, and no other ones."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agentworld_gym.kit.live.owned_folder import OwnedFolder

OWNER = """
import time
from agentworld_gym.kit.live.owned_folder import OwnedFolder
folder = OwnedFolder()
print(folder.path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for temporary files is one of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_a_folder_outlives_the_starts_of_others_until_its_owner_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        left = Path(owner.stdout.readline().strip())
        (left / "inside").mkdir()
        mine = OwnedFolder()
        assert left.is_dir() and left.parent == tmp_path
        owner.kill()
        owner.wait()
    with OwnedFolder() as other:
        assert not left.exists() and mine.path.is_dir() and other.is_dir()
    assert not other.exists()
    mine.close()
    mine.close()
    assert not [*tmp_path.iterdir()]


def test_folders_of_others_stay(tmp_path: Path) -> None:
    for name in ("agentworld-live-unlocked", "agentworld-live-linked", "else"):
        (tmp_path / name).mkdir()
    (tmp_path / "agentworld-live-linked" / ".owner").symlink_to(tmp_path / "else")
    (tmp_path / "agentworld-live-file").write_text("")
    OwnedFolder().close()
    assert len([*tmp_path.iterdir()]) == 4
