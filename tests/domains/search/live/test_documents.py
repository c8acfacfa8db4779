"""A folder of documents, and a search engine, as live worlds of searches."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.domains.search.live.documents import markdown_of, pages_in
from agentworld_gym.envs.env import AgentWorldEnv


def call(name: str, **arguments: Any) -> str:
    """Return a call of a tool."""
    return json.dumps({"name": name, "arguments": arguments})


@contextmanager
def opened(**live: Any) -> Iterator[AgentWorldEnv]:
    """Open a live search, and begin an episode."""
    env = gym.make("AgentWorld/Search-v0", live=live)
    try:
        env.reset(seed=0)
        core: Any = env.unwrapped
        yield core
    finally:
        env.close()


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A handbook of three documents, with what is none of them."""
    folder = tmp_path / "handbook"
    (folder / "travel").mkdir(parents=True)
    (folder / "travel" / "trains.md").write_text("---\ndate: 2024-05-11\n---\n# Trains\n\nBook trains a week ahead.\n")
    (folder / "leave.html").write_text("<title>Leave</title><nav>Home</nav><h1>Leave</h1><p>30 days &amp; holidays.")
    (folder / "notes.txt").write_text("The kitchen key hangs behind the door.\n")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / ".secret.md").write_text("kitchen password")
    (tmp_path / "outside.md").write_text("kitchen outside")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    return folder


def test_documents_are_searched_opened_and_noted(handbook: Path) -> None:
    with opened(documents=str(handbook)) as env:
        shown = env.step(call("web_search", query="trains"))[0]
        assert shown.startswith("[1] https://documents.example/travel/trains.md\nTitle: Trains\n")
        assert "Date: May 11, 2024" in shown
        assert env.step(call("web_extractor", url="https://documents.example/leave.html"))[0] == (
            "# Leave\n\n30 days & holidays."
        )
        assert "password" not in env.step(call("web_search", query="kitchen"))[0]
        assert env.world.deterministic


def test_the_text_of_a_pdf_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    drawn = b"BT /F1 12 Tf 20 100 Td (The boiler wants two bars.) Tj ET"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    file, places = b"%PDF-1.4\n", list[int]()
    for number, part in enumerate(parts, 1):
        places.append(len(file))
        file += b"%d 0 obj%s endobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    ending = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(file)
    (tmp_path / "boiler.pdf").write_bytes(file + b"xref\n0 6\n0000000000 65535 f \n" + table + ending)
    [page] = pages_in(tmp_path, "https://documents.example")
    assert "The boiler wants two bars." in page.body


def test_a_fork_has_its_own_notes(handbook: Path) -> None:
    with opened(documents=str(handbook)) as env:
        twin = env.fork()
        env.step(call("dict_memory", operation="add", dict={"a": "1"}))
        assert env.step(call("dict_memory", operation="retrieve_all"))[0] == "a: 1"
        assert twin.step(call("dict_memory", operation="retrieve_all"))[0] == "Memory is empty."
        twin.close()


def test_a_task_is_an_answer_that_stands_in_the_documents(handbook: Path) -> None:
    task = {"id": "key", "instruction": "Where is the key?", "success": [{"answer": {"equals": "behind the door"}}]}
    with opened(documents=str(handbook), tasks=[task]) as env:
        assert env.step("finish: behind the door")[1] == 1.0


@pytest.mark.parametrize(
    "keys",
    [{"trusted": True}, {"read": "."}, {"env": {"A": "b"}}, {"network": "localhost"}, {"limits": {"disk_mb": 1}}],
)
def test_keys_that_would_do_nothing_for_documents_are_refused(handbook: Path, keys: dict[str, Any]) -> None:
    (name,) = keys
    with (
        pytest.raises(SpecError, match=rf"{name}.*: got .*, expected nothing: searches"),
        opened(documents="x", **keys),
    ):
        pass


def test_a_folder_that_is_none_is_named_by_its_key(handbook: Path) -> None:
    for place in (handbook.parent / "nowhere", next(path for path in handbook.iterdir() if path.is_file())):
        with pytest.raises(MissingFile, match=r"documents: .*: no such folder"), opened(documents=str(place)):
            pass


@pytest.mark.parametrize("pattern", ["TASKS/*.yaml", "tasks/**/*.yaml", "TASKS/key.yaml"])
def test_tasks_are_named_by_patterns_from_the_folder_or_from_the_root(handbook: Path, pattern: str) -> None:
    task = {"instruction": "Where is the key?", "success": [{"answer": {"equals": "behind the door"}}]}
    (handbook.parent / "tasks").mkdir()
    (handbook.parent / "tasks" / "key.yaml").write_text(json.dumps(task))
    file = handbook.parent / "my.yaml"
    named = pattern.replace("TASKS", str(handbook.parent / "tasks"))
    file.write_text(json.dumps({"documents": "handbook", "tasks": named}))
    env = gym.make("AgentWorld/Search-v0", live=str(file))
    assert env.reset(seed=0)[1]["task_id"] == "key"
    env.close()


def test_the_paths_of_a_configuration_within_a_task_count_from_the_folder_of_the_task(handbook: Path) -> None:
    file = handbook.parent / "key.yaml"
    state = {"live": {"documents": "handbook"}}
    file.write_text(json.dumps({"instruction": "Look.", "family": "free_play", "success": [], "state": state}))
    env = gym.make("AgentWorld/Search-v0", world="live", task=str(file))
    env.reset(seed=0)
    assert "Trains" in env.step(call("web_search", query="trains"))[0]
    env.close()


def test_what_is_no_folder_of_documents_is_refused(tmp_path: Path) -> None:
    for gone in (str(tmp_path / "none"), "~nouser/handbook"):
        with pytest.raises(MissingFile), opened(documents=gone):
            pass
    with pytest.raises(SpecError, match="Markdown"), opened(documents=str(tmp_path)):
        pass


def test_a_document_whose_name_is_no_text_is_shown_too(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("Coffee at nine.")
    (page,) = pages_in(tmp_path, "documents.example")
    assert (page.url, page.title) == ("https://documents.example/caf%E9.txt", "caf\ufffd")


def test_pages_in_html_are_shown_as_markdown() -> None:
    page = (
        "<div role='navigation'><div>up</div>x</div><h2>A¶</h2><ul><li>b<li>c</ul><pre>d\n  e</pre><script>f</script>"
    )
    assert markdown_of(page) == ("", "## A¶\n\n- b\n- c\n\n```\nd\n  e\n```")


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<p>a<![foo[ x ]]>b", "ab"),
        ("<p>a<![if x]>b<![endif]>c", "abc"),
        ("<p>a <a href='http://[x/'>link</a>", "a link"),
        ("<p>a<![foo[ x ]]", "a"),
    ],
)
def test_odd_pages_are_shown_as_a_browser_would(page: str, shown: str) -> None:
    assert markdown_of(page, "https://h/")[1].startswith(shown)


@given(st.text(alphabet="<>![]/ -ab='&#;?\n", max_size=60))
def test_every_text_is_a_page(page: str) -> None:
    markdown_of(page, "https://h/")


class Web(BaseHTTPRequestHandler):
    """A stand-in for a SearXNG server, and for a page that it finds."""

    def do_GET(self) -> None:
        """Answer."""
        parts = urlsplit(self.path)
        if parts.path == "/search":
            query = parse_qs(parts.query)["q"][0]
            found = {
                "url": f"http://localhost:{self.server.server_address[1]}/lake",
                "title": query,
                "content": "112 m",
            }
            self._answer("application/json", json.dumps({"results": [found] * 12}))
        elif parts.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.2/other")
            self.end_headers()
        else:
            self._answer("text/html", "<h1>Lake</h1><p>112 m deep.")

    def _answer(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Write no log."""


@pytest.fixture
def port() -> Iterator[int]:
    """The port of the stand-in."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_a_search_engine_finds_pages_and_only_named_hosts_are_opened(port: int) -> None:
    with opened(searxng=f"http://localhost:{port}", network="localhost") as env:
        shown = env.step(call("web_search", query="lake depth"))[0]
        assert shown.startswith(f"[1] http://localhost:{port}/lake\nTitle: lake depth\nSnippet: 112 m\nDate: N/A")
        assert shown.count("Title:") == 10
        assert env.step(call("web_extractor", url=f"http://localhost:{port}/lake"))[0] == "# Lake\n\n112 m deep."
        for url in (f"http://127.0.0.1:{port}/lake", f"http://localhost:{port}/moved", "file:///etc/passwd"):
            assert env.step(call("web_extractor", url=url))[0].startswith("Error")
        assert not env.world.deterministic


def test_a_search_engine_acts_out_no_controls(port: int) -> None:
    with (
        opened(searxng=f"http://localhost:{port}") as env,
        pytest.raises(SpecError, match=r"controls of free_play: slow-service: .* expected none"),
    ):
        env.reset(seed=0, options={"controls": {"slow-service": 0.5}})


@pytest.mark.parametrize("network", [False, True])
def test_this_machine_is_no_page_of_the_web(port: int, network: bool) -> None:
    with opened(searxng=f"http://localhost:{port}", network=network) as env:
        told = env.step(call("web_extractor", url=f"http://localhost:{port}/lake"))[0]
        assert told == "Error: the host localhost is not allowed here"


def test_a_server_that_cannot_be_reached_is_a_failure_of_the_world() -> None:
    with opened(searxng="http://localhost:9") as env:
        _, reward, _, truncated, info = env.step(call("web_search", query="lake"))
        assert (reward, truncated, info["failure"]["kind"]) == (0.0, True, "connection")
