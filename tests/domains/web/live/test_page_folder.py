"""A folder with pages: what is served of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentworld_gym.domains.web.live.page_folder import PageFolder
from agentworld_gym.domains.web.live.requests import ask, read_request


@pytest.fixture
def pages(tmp_path: Path) -> PageFolder:
    folder = tmp_path / "site"
    for place in (folder / "shelf", folder / ".git", folder / "linked"):
        place.mkdir(parents=True)
    (tmp_path / "secret.html").write_text("sesame")
    (folder / "index.html").write_text("<h1>Lamp</h1>")
    (folder / "shelf" / "book.html").write_text("Emma")
    (folder / "same.html").symlink_to("shelf/book.html")
    (folder / ".env").write_text("sesame")
    (folder / ".git" / "config").write_text("sesame")
    (folder / "out.html").symlink_to(tmp_path / "secret.html")
    (folder / "up").symlink_to(tmp_path)
    (folder / "linked" / "index.html").symlink_to(tmp_path / "secret.html")
    return PageFolder(folder)


def asked(pages: PageFolder, path: str) -> tuple[int, str]:
    """The status and the text of a page."""
    return ask(read_request(path, "http://localhost:8000/"), 20, connect=pages.connect)


@pytest.mark.parametrize(
    ("path", "text"), [("/", "<h1>Lamp</h1>"), ("/shelf/book.html?a=b", "Emma"), ("/same.html", "Emma")]
)
def test_pages_are_served_by_their_paths(pages: PageFolder, path: str, text: str) -> None:
    assert asked(pages, path) == (200, text)


@pytest.mark.parametrize(
    "path",
    [
        "/gone",
        "/shelf/",
        "/.env",
        "/.git/config",
        "/out.html",
        "/up/secret.html",
        "/linked/",
        "/../secret.html",
        "/%00",
    ],
)
def test_hidden_files_lists_and_what_lies_outside_are_not_there(pages: PageFolder, path: str) -> None:
    status, text = asked(pages, path)
    assert status == 404 and "sesame" not in text


def test_a_browser_that_asks_for_an_icon_gets_none(pages: PageFolder) -> None:
    assert asked(pages, "/favicon.ico") == (204, "")
