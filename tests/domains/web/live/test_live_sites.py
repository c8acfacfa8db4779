"""A real Chromium on a user's own site: what it shows and reaches, resets, checks, forks, and who fails alone."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import yaml
from live_site import Shop
from processes import wait_until
from web_pages import call, ref
from worlds import make, predicted

from agentworld_gym.agents.collect.config import SmallModelSessions
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import AgentWorldError, MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import EngineError, InexactFork, SystemLate, SystemLost
from agentworld_gym.domains.web.engine.chromium import driver as driving
from agentworld_gym.domains.web.engine.chromium.machine import ChromiumEngine
from agentworld_gym.domains.web.live import SiteEngine, open_live
from agentworld_gym.domains.web.live.browsers import LiveBrowsers
from agentworld_gym.domains.web.live.engine import SiteMachine
from agentworld_gym.kit.live import LiveLimits, LiveMachine, LiveSource, LiveStart
from agentworld_gym.kit.live.process_watch import family_of, resident_bytes
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world

WEB = "AgentWorld/Web-v0"
PROGRAM = Path(__file__).parents[3] / "helpers" / "live_site.py"
PAGES = {
    "index.html": """<title>Lamp</title><h1>Lamp</h1>
        <button onclick="document.title = 'On'; this.textContent = 'Off'">On</button><a href=busy.html>Busy</a><a href=http://localhost:9/>Port</a>""",
    "busy.html": "<title>Busy</title><button onclick='while (true) {}'>Spin</button>",
    "game.html": """<title>Game</title><p id=asked></p><input aria-label=Word><button onclick="
        game = {reward: document.querySelector('input').value === game.word ? 1 : -0.5, over: true}">Send</button>
        <script>var game = {reward: 0, over: false};</script>""",
}
EPISODE = {
    "begin": "(seed) => { game.word = 'w' + seed; asked.textContent = 'Type \"' + game.word + '\"'; }",
    "instruction": "() => asked.textContent",
    "verdict": "() => ({reward: game.reward, terminated: game.over, success: game.over && game.reward > 0})",
}


ESCAPES = """async () => {
    const wait = (start) => Promise.race([new Promise(start), new Promise((go) => setTimeout(go, 400))]);
    const place = (tag, key, url) => wait((go) => {
        const element = document.createElement(tag);
        element.onload = element.onerror = go;
        element[key] = url;
        document.body.append(element);
    });
    const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:EARS'}]});
    peer.createDataChannel('out');
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    navigator.sendBeacon('http://127.0.0.1:PORT/beacon', 'x');
    await Promise.all([
        fetch('http://127.0.0.1:PORT/fetch', {mode: 'no-cors'}).catch(() => 0),
        fetch('http://localhost:PORT/fetch', {mode: 'no-cors'}).catch(() => 0),
        place('img', 'src', 'http://0.0.0.0:PORT/image'),
        place('iframe', 'src', 'http://[::ffff:127.0.0.1]:PORT/frame'),
        place('script', 'src', 'http://2130706433:PORT/script'),
        wait((go) => { const line = new WebSocket('ws://localhost:PORT/'); line.onopen = line.onerror = go; }),
        wait(() => {}),
    ]);
    return {tried: true};
}"""
"""A script that tries to reach a server of this machine at a port that is not the site's."""


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    pytest.importorskip("playwright")
    try:
        driving.find_chromium()
    except EngineError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        (place / name).write_text(text)
    return place


@pytest.fixture(scope="module")
def lamp(folder: Path) -> Iterator[SiteEngine]:
    yield from served(folder=str(folder), limits={"step_seconds": 8})


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    server = Shop()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def shared(shop: Shop) -> Iterator[SiteEngine]:
    yield from served(url=shop.url, reset={"request": f"{shop.url}reset", "verify": "/api/items"})


def served(**keys: Any) -> Iterator[SiteEngine]:
    engine = open_live(LiveSource.of({"ahead": 0, "settle_seconds": 0.05, **keys}))
    yield engine
    engine.close()
    assert not engine.site.browsers._all


def started(engine: SiteEngine, **state: Any) -> SiteMachine:
    machine = engine.start(state, 0)
    assert isinstance(machine, SiteMachine)
    return machine


def click(machine: LiveMachine, text: str) -> str:
    return machine.act(call("click", ref=ref(machine.observation, text)))


def test_a_site_that_does_not_answer_is_named() -> None:
    with pytest.raises(WorldNotConfigured, match=r"http://localhost:9/ does not answer"):
        make("AgentWorld/Web-v0", live={"url": "http://localhost:9/"})


def test_a_page_is_shown_as_playwrights_tools_show_it_and_acted_on_by_its_references(lamp: SiteEngine) -> None:
    machine = started(lamp)
    assert machine.observation.startswith("### Page\n- Page URL: http://localhost:8000/\n- Page Title: Lamp")
    assert machine.inspect("GET /busy.html").passed
    assert "- Page Title: On" in click(machine, 'button "On"')
    machine.close()


def test_the_same_page_is_told_in_the_form_of_browsergym(lamp: SiteEngine) -> None:
    machine = started(lamp)
    tree = machine.observation_in("browsergym")
    assert tree.startswith("URL: http://localhost:8000/\n\nRootWebArea 'Lamp', focused\n\t[2] heading 'Lamp'")
    machine.act({"name": "click", "arguments": {"bid": "e3"}})
    assert "Focused element: 6\n\nRootWebArea 'On'\n" in machine.observation_in("browsergym")
    assert "button 'Off', focused" in machine.observation_in("browsergym")
    machine.close()


def test_a_fork_plays_the_episode_again_and_pictures_are_those_of_the_page(lamp: SiteEngine) -> None:
    machine = started(lamp)
    click(machine, 'button "On"')
    twin = machine.fork()
    assert twin.observation == machine.observation and machine.exact_forks
    assert (machine.screenshot() or b"").startswith(b"\x89PNG")
    twin.close()
    machine.close()


@pytest.mark.parametrize("address", ["http://elsewhere.example/", "http://localhost:8001/", "http://[::1]:8000/"])
def test_no_host_and_no_other_port_is_reached_that_is_not_named(lamp: SiteEngine, address: str) -> None:
    machine = started(lamp)
    assert "net::ERR_SOCKS_CONNECTION_FAILED" in machine.act(call("navigate", url=address))
    machine.close()


def test_scripts_of_a_page_reach_nothing_else_of_this_machine(lamp: SiteEngine, shop: Shop) -> None:
    port, seen = shop.server_address[1], shop.asked
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ears:
        ears.bind(("127.0.0.1", 0))
        ears.setblocking(False)
        machine = started(lamp)
        script = ESCAPES.replace("PORT", str(port)).replace("EARS", str(ears.getsockname()[1]))
        answer = machine.act(call("evaluate", function=script))
        machine.close()
        assert '"tried"' in answer and shop.asked == seen
        with pytest.raises(BlockingIOError):
            ears.recv(1)


def test_no_file_of_this_machine_is_opened(lamp: SiteEngine) -> None:
    machine = started(lamp)
    assert 'Access to "file:" protocol is blocked' in machine.act(call("navigate", url="file:///etc/passwd"))
    machine.act(call("evaluate", function="() => { location.href = 'file:///etc/passwd' }"))
    assert "Page Title: Lamp" in machine.act(call("snapshot"))
    machine.close()


def test_a_page_that_hangs_ends_its_own_episode(lamp: SiteEngine) -> None:
    machine, other = started(lamp, open="/busy.html"), started(lamp)
    lamp.config.limits.__dict__["step_seconds"] = 1.0
    try:
        with pytest.raises(SystemLate):
            click(machine, "Spin")
            machine.act(call("snapshot"))
    finally:
        lamp.config.limits.__dict__["step_seconds"] = 8.0
    assert "- Page Title: On" in click(other, 'button "On"')
    machine.close()
    other.close()


def test_one_browser_that_nobody_uses_is_kept_for_the_next_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Browser:
        alive, members, closed = True, 0, False

        def close(self) -> None:
            self.closed = True

    monkeypatch.setattr(LiveBrowsers, "_start", lambda self: Browser())
    browsers = LiveBrowsers(LiveLimits(), most=1)
    first, second, third = (browsers.join() for _ in range(3))
    for one in (first, second, third):
        browsers.leave(one)
    assert [one.closed for one in (first, second, third)] == [False, True, True]
    assert browsers.join() is first
    first.alive = False
    browsers.leave(first)
    assert first.closed, "what has ended is not kept"


@pytest.mark.parametrize("killed", [0, 1], ids=["what-drives-it", "the-browser"])
def test_a_killed_browser_ends_its_own_members_and_the_next_episode_has_another_one(folder: Path, killed: int) -> None:
    engine = open_live(LiveSource.of({"folder": str(folder), "ahead": 0, "per_browser": 1}))
    try:
        machine, other = started(engine), started(engine)
        (pid,) = machine.pids
        family = family_of(pid)
        assert [pid] != other.pids
        os.kill(family[killed], signal.SIGKILL)
        with pytest.raises(SystemLost, match="the browser ended"):
            machine.act(call("snapshot"))
        assert "Lamp" in other.act(call("snapshot"))
        assert "Lamp" in started(engine).observation
        family += [one for open_session in engine._pool._all for pid in open_session.pids for one in family_of(pid)]
    finally:
        engine.close()
    wait_until(lambda: not any(map(resident_bytes, family)), 20)


def test_a_page_that_ends_its_episodes_is_paid_as_it_says_and_its_instruction_is_the_tasks(folder: Path) -> None:
    live = {"folder": str(folder), "episode": EPISODE, "ahead": 0, "settle_seconds": 0.05}
    task = {
        "instruction": "Play.",
        "state": {"open": "/game.html", "seed": 7},
        "family": "free_play",
        "success": [],
    }
    env = make(WEB, world="live", live=live)
    try:
        shown, info = env.reset(seed=0, options={"task": task})
        assert shown.startswith('Type "w7"\n\n### Page') and info["instruction"] == 'Type "w7"'
        typed = [one for one in info["admissible"] if '"text": "w7"' in one]
        assert len(typed) == 1 and "browser_type" in typed[0]
        _, reward, terminated, _, info = env.step('browser_evaluate(function="() => { game.over = true }")')
        assert (reward, terminated) == (0.0, False)
        env.step(typed[0])
        _, reward, terminated, _, info = env.step(next(one for one in info["admissible"] if "Send" in one))
        assert (reward, terminated, info["success"]) == (1.0, True, True)
        assert info["reward_parts"]["environment"] == 1.0
        env.reset(seed=0, options={"task": task})
        _, reward, terminated, _, info = env.step('browser_navigate(url="http://localhost:8000/")')
        assert (reward, terminated, info["success"]) == (0.0, True, False)
    finally:
        env.close()


def test_a_dream_of_such_a_page_asks_what_the_page_asks_and_reads_what_can_be_done_from_its_screens(
    folder: Path, tmp_path: Path
) -> None:
    free = {"instruction": "Play.", "state": {"open": "/game.html"}, "family": "free_play", "success": []}
    live = {"folder": str(folder), "tasks": [free], "episode": EPISODE, "ahead": 0, "settle_seconds": 0.05}

    def answer(request: ChatRequest) -> str:
        if "Send button" in request.messages[-1]["content"]:
            return predicted("### Page\n[reward 1; over; success]")
        return predicted('### Page\n- Page URL: http://a/\n### Snapshot\n```yaml\n- button "Send" [ref=e9]\n```')

    register_world("player", lambda options: options.language(ScriptedGenerator(answer), pays="success"))
    env = make(WEB, world="player", live=live)
    try:
        shown, info = env.reset(seed=0)
        asked = info["instruction"]
        assert re.fullmatch('Type "w[0-9]+"', asked) and shown.startswith(f"{asked}\n\n### Page")
        typed = next(one for one in info["admissible"] if asked.split('"')[1] in one)
        send = '{"name": "browser_click", "arguments": {"element": "Send button", "ref": "e9"}}'
        assert env.step(typed)[4]["admissible"] == [send]
        assert env.fork().episode.offers == (send,)
        _, reward, terminated, _, info = env.step(send)
        assert (reward, terminated, info["success"]) == (1.0, True, True)
    finally:
        env.close()
    file, sessions = tmp_path / "page.yaml", tmp_path / "sessions.jsonl"
    file.write_text(yaml.safe_dump({"domain": "web", **live}))
    collect([load_spec("web")], sessions, 2, 0, SmallModelSessions(world=f"live:{file}"), "train")
    for row in read_rows(sessions):
        assert row.instruction.startswith('Type "w') and row.instruction in row.first_observation


def test_a_page_whose_episode_cannot_begin_is_lost_as_one_that_did_not_load_whole(folder: Path) -> None:
    engine = next(served(folder=str(folder), episode={**EPISODE, "begin": "() => Math.seedrandom(1)"}, ahead=0))
    try:
        with pytest.raises(SystemLost, match=r"its episode cannot begin: .*Math[.]seedrandom"):
            started(engine, open="/game.html", seed=1)
    finally:
        engine.close()


def test_a_shared_site_is_reset_and_verified_when_an_episode_begins(shared: SiteEngine, shop: Shop) -> None:
    shop.items[:] = ["left over"]
    machine = started(shared, requests=["POST /add name=milk"])
    assert 'heading "Items: 1"' in machine.observation
    machine.act(call("type", ref=ref(machine.observation, "textbox"), text="tea", submit=True))
    assert machine.inspect("/api/items") == (True, '["milk", "tea"]')
    assert machine.inspect("GET /whoami").output == "visitor=ada"
    assert not machine.inspect("/nothing").passed
    with pytest.raises(InexactFork, match="share this system"):
        machine.fork()
    following = started(shared)
    assert 'heading "Items: 0"' in following.observation
    with pytest.raises(SystemLost, match="another episode has reset this site"):
        machine.act(call("snapshot"))
    machine.close()
    following.close()
    shop.forgets, shop.items[:] = False, ["stays"]
    try:
        with pytest.raises(EngineError, match="did not bring the site back"):
            started(shared)
    finally:
        shop.forgets = True


def test_dialogs_are_answered_tabs_are_listed_and_downloads_go_nowhere(shared: SiteEngine) -> None:
    machine = started(shared)
    assert '["alert" dialog with message "Hello"]' in click(machine, "Greet")
    assert "### Snapshot" in machine.act(call("handle_dialog", accept=True))
    assert "- 1: [Shop]" in click(machine, "Again")
    click(machine, "File")
    assert "Shop" in machine.act(call("snapshot"))
    machine.close()


def test_a_request_of_a_task_that_fails_is_a_mistake_of_the_task(shared: SiteEngine) -> None:
    with pytest.raises(SpecError, match=r"requests\.0.*404"):
        started(shared, requests=["/nothing"])


def test_without_a_request_that_verifies_it_a_reset_has_to_show_the_same_first_page_again(shop: Shop) -> None:
    engine = open_live(LiveSource.of({"url": shop.url, "reset": f"{shop.url}reset", "settle_seconds": 0.05}))
    started(engine, requests=["POST /add name=milk"]).close()
    started(engine).close()
    shop.forgets, shop.items[:] = False, ["stays"]
    try:
        with pytest.raises(EngineError, match=r"first page shows '.*Items: 1.*', and at first '.*Items: 0"):
            started(engine)
    finally:
        shop.forgets = True
        engine.close()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_server_of_its_own_runs_in_a_sandbox_and_forks_are_exact_with_it() -> None:
    live = {
        "command": [sys.executable, str(PROGRAM), "{port}"],
        "url": "http://localhost:3000/",
        "ahead": 0,
        "settle_seconds": 0.05,
    }
    probe = {"probe": '{"name": "browser_navigate", "arguments": {"url": "http://localhost:3000/"}}'}
    task = {
        "instruction": "Add tea.",
        "state": {"requests": ["POST /add name=milk"]},
        "success": [
            {"run": "/api/items", "expect": {"contains": "tea"}},
            {**probe, "expect": {"contains": "Items: 2"}},
        ],
    }
    env = make(WEB, world="live", live=live)
    try:
        shown, _ = env.reset(seed=0, options={"task": task})
        shown, *_ = env.step(f'browser_type(ref="{ref(shown, "textbox")}", text="tea", submit=true)')
        _, reward, _, _, info = env.step("finish")
        assert (reward, info["success"]) == (1.0, True)
        shown, _ = env.reset(seed=0, options={"task": {**task, "state": {}}})
        assert "Items: 0" in shown
        os.kill(env._episode.session.machine.pids[0], signal.SIGKILL)
        _, _, _, truncated, info = env.step("browser_snapshot()")
        assert truncated and info["failure"]["kind"] == "connection"
    finally:
        env.close()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_shipped_site_is_a_live_site_like_any_other_and_shows_what_world_chromium_shows() -> None:
    serve = ["web", "serve", "--site", "shop", "--size", "small", "--seed", "3", "--port", "{port}"]
    path = os.pathsep.join(sorted({str(Path(place).resolve()) for place in sys.path if place}))
    keys = {
        "command": [sys.executable, "-m", "agentworld_gym", *serve],
        "url": "http://shop.localhost:8000",
        "read": [place for place in path.split(os.pathsep) if Path(place).exists()],
        "env": {"PYTHONPATH": path},
        "limits": {"start_seconds": 120},
    }
    start = {"open": "http://shop.example/", "sites": {"shop": None}, "size": "small", "seed": 3}
    for engine in served(**keys):
        live, shipped = engine.start({}, 0), ChromiumEngine().start(start, seed=3)
        for link in ("See all products", "Returns policy", "Contact"):
            shown = live.observation.replace("shop.localhost:8000", "shop.example")
            assert page_of(shown) == page_of(shipped.observation)
            click = call("click", element=link, ref=ref(shipped.observation, f'link "{link}"'))
            for machine in (live, shipped):
                machine.act(click)
        shown = live.observation.replace("shop.localhost:8000", "shop.example")
        assert "Contact" in shown and page_of(shown) == page_of(shipped.observation)
        for machine in (live, shipped):
            machine.close()


def page_of(observation: str) -> str:
    return observation[observation.index("### Page") :]


def test_a_trusted_command_of_a_reset_reaches_the_server_of_its_session() -> None:
    ask = "import os, urllib.request; urllib.request.urlopen(f'http://localhost:{os.environ[\"PORT\"]}/reset')"
    live = {
        "command": [sys.executable, str(PROGRAM), "{port}"],
        "trusted": True,
        "reset": {"command": [sys.executable, "-c", ask], "verify": "/api/items"},
        "settle_seconds": 0.05,
    }
    engine = open_live(LiveSource.of(live))
    try:
        session = engine.open_session()
        assert "Items: 1" in session.begin(LiveStart({"requests": ["POST /add name=milk"]}))
        assert session.reset() and "Items: 0" in session.begin(LiveStart())
        session.close()
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, "one of url, command, folder, miniwob"),
        ({"url": "http://a.example", "folder": "pages"}, "one of url, command, folder, miniwob"),
        ({"url": "http://a.example"}, "network"),
        ({"url": "http://localhost:1", "reset": "restart"}, "only the site of a `command` is started again"),
        ({"url": "http://localhost:1", "reset": "nonsense"}, "a request, such as"),
        ({"folder": "pages", "reset": "/reset"}, r"reset: got '/reset', expected nothing: a folder"),
        ({"url": "http://localhost:99999/"}, r"url: got .*, expected a URL"),
        ({"url": "http://localhost:1", "reset": {"verify": "/"}}, r"expected one of restart, \{request: "),
        (
            {"url": "http://localhost:1", "reset": {"command": ["true"]}},
            r"reset\.command: got 'true', expected network",
        ),
        ({"command": ["true"], "reset": "/reset"}, r"reset\.verify: got None, expected a request"),
        ({"folder": "nowhere"}, "folder with the pages"),
        ({"url": "http://localhost:1", "colour": "red"}, "colour"),
    ],
)
def test_a_wrong_configuration_is_refused_by_the_name_of_its_key(keys: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        open_live(LiveSource.of(keys))


def test_without_chromium_or_playwright_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    live = {"url": "http://localhost:1"}
    with monkeypatch.context() as patch:
        patch.setenv(driving.VARIABLE, "/nonexistent/browser")
        with pytest.raises(WorldNotConfigured, match="apt-get install chromium"):
            open_world("live", WorldOptions(load_spec("web"), live=live))
    monkeypatch.setattr("agentworld_gym.domains.web.live.engine.find_spec", lambda name: None)
    with pytest.raises(AgentWorldError, match=r"live-web"):
        open_live(LiveSource.of(live))


@pytest.fixture(scope="module")
def miniwob() -> Iterator[Any]:
    if find_spec("miniwob") is None:
        pytest.skip("needs the package miniwob")
    live = {"miniwob": "click-button", "ahead": 0, "settle_seconds": 0.02}
    env = gym.make("AgentWorld/WebMenu-v0", world="live", live=live)
    yield env
    env.close()


def test_a_seed_of_miniwob_is_an_episode_and_the_reward_is_the_pages(miniwob: Any) -> None:
    _, first = miniwob.reset(seed=3)
    _, again = miniwob.reset(seed=3)
    assert first["text"] == again["text"] and first["instruction"].startswith("Click on the ")
    asked = first["instruction"].split('"')[1]
    right = [
        place for place, action in enumerate(miniwob.get_wrapper_attr("menu").actions) if f'"{asked} button"' in action
    ]
    _, reward, terminated, _, info = miniwob.step(right[0])
    assert (reward, terminated, info["is_success"]) == (1.0, True, True)
    miniwob.reset(seed=3)
    wrong = [
        p for p, action in enumerate(miniwob.get_wrapper_attr("menu").actions) if " button" in action and p not in right
    ]
    _, reward, terminated, _, info = miniwob.step(wrong[0])
    assert (reward, terminated, info["is_success"]) == (-1.0, True, False)


def test_splits_of_miniwob_share_no_episode(miniwob: Any) -> None:
    texts = set()
    for split in ("train", "test"):
        miniwob.unwrapped.runner.world.tasks.draw_from(split)
        texts.add(miniwob.reset(seed=3)[1]["text"])
    assert len(texts) == 2


def test_an_unknown_task_of_miniwob_is_refused(miniwob: Any) -> None:
    with pytest.raises(MissingFile, match="a task of MiniWoB"):
        open_live(LiveSource.of({"miniwob": "click-nothing"}))
