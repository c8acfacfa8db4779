"""The server of the playground: who is answered, one request after the other, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.playground import GameChoice, PlayedGame, Playground, PlayServer


def opened(domain: str, world: str, split: str) -> EpisodeRunner:
    return EnvOptions(spec=domain, world=world, split=split).runner()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PlayServer]:
    desk = Playground(PlayedGame(opened), tmp_path, GameChoice("terminal", ("scripted",)))
    thread = threading.Thread(target=desk.run)
    thread.start()
    with PlayServer(desk) as served:
        yield served
        desk.end()
        thread.join()


def asked(address: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, dict[str, str]]:
    """The status, the body and the headers of an answer; JSON is read."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Content-Type": "application/json"} if data is not None else {}
        connection.request("GET" if data is None else "POST", parts.path + path, data, {**own, **headers})
        answer = connection.getresponse()
        text = answer.read()
        kind = answer.headers.get_content_type()
        return answer.status, json.loads(text) if kind == "application/json" else text, dict(answer.headers)
    finally:
        connection.close()


def begin(address: str, **choice: Any) -> dict[str, Any]:
    state = asked(address, "state", {})[1]
    request = {"version": state["version"], "domain": "terminal", "worlds": ["scripted"], "seed": 3, **choice}
    status, begun, _ = asked(address, "begin", request)
    assert status == 200, begun
    return begun


def test_the_page_has_a_policy_that_allows_its_own_script_alone(server: PlayServer) -> None:
    status, page, headers = asked(server.address, "")
    assert status == 200
    assert b"<script>" in page
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert server.address.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("path", ["/", "/state", "/wrong/", "/%F0%9F%98%80/", "//", "/a/b/c"])
def test_a_request_without_the_token_is_refused(path: str, server: PlayServer) -> None:
    root = server.address.replace(f"/{server.token}/", "")
    assert asked(root, path)[0] == 403
    assert asked(root, path, {})[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost.:80"])
def test_another_name_of_this_machine_is_refused(host: str, server: PlayServer) -> None:
    assert asked(server.address, "", Host=host)[0] == 403
    assert asked(server.address, "state", {}, Host=host)[0] == 403


@pytest.mark.parametrize("host", ["localhost:8888", "127.0.0.1", "[::1]:9"])
def test_a_tunnel_may_have_another_port(host: str, server: PlayServer) -> None:
    assert asked(server.address, "", Host=host)[0] == 200


def test_another_page_is_refused(server: PlayServer) -> None:
    assert asked(server.address, "state", {}, Origin="http://evil.example")[0] == 403
    assert asked(server.address, "state", {}, Origin="null")[0] == 403
    own = server.address.split(f"/{server.token}")[0]
    assert asked(server.address, "state", {}, Origin=own)[0] == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[1]", {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Length": "99999999"}, 413),
        (b"{}", {"Content-Length": "-1"}, 413),
        (b"{}", {"Content-Length": "many"}, 411),
    ],
)
def test_a_broken_request_is_told_what_is_wrong(
    body: bytes, headers: dict[str, str], status: int, server: PlayServer
) -> None:
    got, answer, _ = asked(server.address, "act", body, **headers)
    assert got == status
    assert answer["error"]["kind"] == "request"


@pytest.mark.parametrize(
    ("path", "request_", "kind"),
    [
        ("dance", {}, "SpecError"),
        ("run", {}, "SpecError"),
        ("act", {"action": 3}, "SpecError"),
        ("act", {}, "SpecError"),
        ("back", {"turn": 7}, "SpecError"),
        ("back", {"turn": True}, "SpecError"),
        ("point", {"side": 0, "gesture": "click", "x": 1, "y": 1}, "SpecError"),
        ("point", {"side": 4, "gesture": "click", "x": 1, "y": 1}, "SpecError"),
        ("write", {"side": 0, "text": "x"}, "SpecError"),
        ("agent", {"agent": "nobody"}, "SpecError"),
        ("again", {}, "AgentWorldError"),
        ("begin", {"domain": "terminal", "worlds": [], "seed": 0}, "SpecError"),
        ("begin", {"domain": "terminal", "worlds": ["scripted"], "seed": -1}, "SpecError"),
        ("begin", {"domain": "nowhere", "worlds": ["scripted"], "seed": 0}, "MissingFile"),
    ],
)
def test_what_cannot_be_done_is_a_typed_error_and_changes_nothing(
    path: str, request_: dict[str, Any], kind: str, server: PlayServer
) -> None:
    before = begin(server.address)
    status, answer, _ = asked(server.address, path, {"version": before["version"], **request_})
    assert (status, answer["error"]["kind"]) == (400, kind)
    assert asked(server.address, "state", {})[1] == before


def test_actions_forks_and_saving_go_by_the_page(server: PlayServer) -> None:
    state = begin(server.address, worlds=["scripted", "grounded"])
    for name, more in (("act", {"action": "ls"}), ("act", {"action": "pwd"}), ("back", {"turn": 1}), ("save", {})):
        status, state, _ = asked(server.address, name, {"version": state["version"], **more})
        assert status == 200, state
    game = state["game"]
    assert [turn.get("action") for turn in game["sides"][0]["turns"]] == [None, "ls"]
    assert Path(game["saved"]).is_dir()
    status, page, headers = asked(server.address, "saved")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>left" in page


def test_of_actions_that_come_at_once_one_is_done(server: PlayServer) -> None:
    version = begin(server.address)["version"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(
                lambda number: asked(server.address, "act", {"version": version, "action": f"echo {number}"}), range(8)
            )
        )
    assert sorted(status for status, _, _ in answers) == [200, *[409] * 7]
    assert asked(server.address, "state", {})[1]["game"]["turn"] == 1


def test_requests_are_done_one_after_the_other(server: PlayServer) -> None:
    """Eight pages begin again and again; each answer is a whole game."""
    begin(server.address)

    def beginning(seed: int) -> str:
        while True:
            version = asked(server.address, "state", {})[1]["version"]
            choice = {"version": version, "domain": "terminal", "worlds": ["scripted"], "seed": seed}
            status, answer, _ = asked(server.address, "begin", choice)
            if status == 200:
                return str(answer["game"]["seed"])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(beginning, range(8))) == [str(seed) for seed in range(8)]


def test_a_picture_is_served_for_a_screen_that_is_shown_and_for_no_other(server: PlayServer) -> None:
    pytest.importorskip("PIL")
    state = begin(server.address, domain="android", worlds=["grounded"])
    name = state["game"]["sides"][0]["turns"][0]["screen"]
    status, picture, headers = asked(server.address, f"picture/{name}")
    assert (status, headers["Content-Type"], picture[8:12]) == (200, "image/webp", b"WEBP")
    for wrong in ("picture/0123", "picture/..%2f..%2fetc%2fpasswd", "picture/", "saved", "etc/passwd"):
        assert asked(server.address, wrong)[0] == 404


def test_a_lone_surrogate_of_a_world_does_not_break_the_answer(server: PlayServer) -> None:
    state = begin(server.address)
    status = asked(server.address, "act", b'{"version": %d, "action": "echo \\ud800"}' % state["version"])[0]
    assert status in (200, 400)
    assert asked(server.address, "state", {})[0] == 200


def test_who_asks_when_the_desk_has_ended_is_told_so(tmp_path: Path) -> None:
    desk = Playground(PlayedGame(opened), tmp_path, GameChoice("terminal", ("scripted",)))
    with PlayServer(desk) as served, ThreadPoolExecutor(1) as pool:
        desk.end()
        waiting = pool.submit(asked, served.address, "state", {})
        time.sleep(0.2)  # So that the request waits behind the end.
        desk.run()
        for status, answer, _ in (waiting.result(), asked(served.address, "state", {})):
            assert (status, answer["error"]["kind"]) == (503, "ClosedError")


def test_ctrl_c_ends_the_command_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agentworld_gym", "play", "terminal", "--browser", "--world", "scripted"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert asked(address, "choices", {})[1]["first"]["worlds"] == ["scripted"]
    assert begin(address)["game"]["turn"] == 0
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert (process.returncode, told.strip()) == (130, "Stopped.")
