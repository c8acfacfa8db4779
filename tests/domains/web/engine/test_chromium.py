"""The browser in process and an installed Chromium answer alike; `world="chromium"` runs the same tasks."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from web_pages import BODIES, HANDS, SCRIPTS, Pages, call, ref, step

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls, EngineError
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.core.tasks import generate
from agentworld_gym.domains.web.engine.chromium import driver as driving
from agentworld_gym.domains.web.engine.chromium import playwright_tools as realscript
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.sites.site import load_site, site_names
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world

pytest.importorskip("playwright")
chromium = pytest.importorskip("agentworld_gym.domains.web.engine.chromium.machine")


def is_installed() -> bool:
    try:
        return bool(driving.find_chromium())
    except EngineError:
        return False


needs_chromium = pytest.mark.skipif(not is_installed(), reason="needs an installed Chromium")
HOST = "http://pages.example"
SHORT = {"questions", "a notice at load", "what unfolds"}


def both(path: str, **more: Any) -> tuple[WebMachine, Any]:
    url = f"{HOST}/{path}"
    return WebMachine(Pages(BODIES), url, **more), chromium.ChromiumMachine(
        driving.driver(), Pages(BODIES), url, **more
    )


def compared(answer: str) -> str:
    """An answer without the code that ran; of an error the first line."""
    answer = re.sub(r"### Ran Playwright code\n```js\n.*?\n```\n?", "", answer, count=1, flags=re.S)
    return answer.split("\n")[1] if answer.startswith("### Error") else answer


def acted(ours: WebMachine, theirs: Any, action: Any, where: Any) -> str:
    """Act in both worlds and compare the answers, and the pages behind an answer that shows none."""
    for done in (action, call("snapshot")):
        mine, real = ours.act(done), theirs.act(done)
        assert compared(mine) == compared(real), where
        if not real.startswith("### Ran Playwright code") or "### Page" in real:
            break
    return str(real)


def run(name: str) -> None:
    """Do a script in both worlds."""
    path, steps = SCRIPTS[name]
    ours, theirs = both(path)
    try:
        seen = theirs.observation
        for number, (tool, shown, *rest) in enumerate([("snapshot", ""), *steps]):
            action = step(seen, tool, shown, **(rest[0] if rest else {}))
            seen = acted(ours, theirs, action, f"step {number} of {name!r}: {action}")
    finally:
        ours.close()
        theirs.close()


@pytest.mark.slow
@needs_chromium
def test_scripts_end_alike() -> None:
    run_all(SHORT)


@pytest.mark.slow
@needs_chromium
def test_longer_scripts_end_alike() -> None:
    run_all(SCRIPTS.keys() - SHORT)


def run_all(names: Collection[str]) -> None:
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(run, names))


def alike(path: str, actions: list[Any]) -> None:
    """Do actions in both worlds; one that is a function is made from what is shown."""
    ours, theirs = both(path)
    try:
        seen = theirs.observation
        for action in actions:
            action = action(seen) if callable(action) else action
            seen = acted(ours, theirs, action, action)
    finally:
        ours.close()
        theirs.close()


@needs_chromium
def test_browsergyms_calls_end_alike() -> None:
    def on(name: str, shown: str, **more: Any) -> Any:
        return lambda seen: {"name": name, "arguments": {"bid": ref(seen, shown), **more}}

    def plain(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "arguments": more}

    alike(
        "form",
        [
            plain("noop", wait_ms=100),
            plain("send_msg_to_user", text="Hi"),
            plain("report_infeasible", reason="No"),
            plain("scroll", delta_x=0, delta_y=200),
            on("fill", 'textbox "Name"', value="Ann"),
            on("select_option", 'combobox "Size"', options="Small"),
            on("focus", 'textbox "Mail"'),
            on("press", 'textbox "Mail"', key_comb="a"),
            plain("keyboard_press", key="b"),
            on("clear", 'textbox "Name"'),
            on("hover", 'textbox "Name"'),
            on("dblclick", 'checkbox "Gift"'),
            on("click", 'checkbox "Gift"'),
            plain("fill", bid="e999", value="x"),
            plain("goto", url="http://pages.example/links"),
            plain("go_back"),
            plain("go_forward"),
            plain("new_tab"),
            plain("tab_focus", index=0),
            plain("tab_close"),
            plain("no_such_call"),
        ],
    )


@needs_chromium
def test_addresses_end_alike() -> None:
    places = (
        f"{HOST}/./a/../form",
        f"{HOST}/echo?q=it's",
        f"{HOST}\\echo?q=a\\b",
        f"{HOST}/a/%2e%2e/form",
        "http://ann:secret@pages.example/form",
        f"{HOST}:81/form",
        f"{HOST}:99999/",
        "https://pages.example/form",
        "https://nowhere.example/",
        "",
        "?q=x",
        "view-source:http://pages.example/",
    )
    alike("form", [action for url in places for action in (call("navigate", url=url), call("snapshot"))])


@needs_chromium
def test_the_caret_and_other_mouse_buttons_end_alike() -> None:
    def on(name: str, shown: str, **more: Any) -> Any:
        return lambda seen: step(seen, name, shown, **more)

    def key(name: str) -> dict[str, Any]:
        return call("press_key", key=name)

    count, name = 'spinbutton "Count"', 'textbox "Name"'
    alike(
        "form",
        [
            on("type", count, text="34", slowly=True),
            on("type", count, text="20"),
            *map(key, ("ArrowUp", "ArrowDown")),
            on("type", count, text="0"),
            *map(key, ("ArrowDown", "ArrowUp")),
            on("type", name, text="abc"),
            *map(key, ("Home", "x", "End", "y", "ArrowLeft", "z", "Backspace", "Delete", "Shift+a", "é")),
            call("snapshot"),
            on("click", 'button "Start over"', button="right"),
            on("type", name, text="de", slowly=True),
            lambda seen: call("drag", startRef=ref(seen, 'button "Start over"'), endRef=ref(seen, name)),
        ],
    )


@needs_chromium
def test_sites_look_alike() -> None:
    def visit(site: str) -> None:
        state = {"open": f"http://{load_site(site).about.host}/", "sites": {site: None}, "seed": 1}
        ours, theirs = WebMachine.start(state, 1), chromium.ChromiumEngine().start(state, 1)
        rng = random.Random(site)
        try:
            for _ in range(3):
                assert compared(ours.observation) == compared(theirs.observation)
                links = re.findall(r"- link .*\[ref=(e\d+)\]", ours.observation)
                action = call("click", ref=rng.choice(links)) if links else call("navigate_back")
                ours.act(action)
                theirs.act(action)
        finally:
            ours.close()
            theirs.close()

    with ThreadPoolExecutor(len(site_names())) as pool:
        list(pool.map(visit, site_names()))


@needs_chromium
def test_recorded_snapshots_are_those_of_the_installed_chromium() -> None:
    cases = yaml.safe_load((Path(__file__).parent / "web_snapshots.yaml").read_text(encoding="utf-8"))
    style = f"<style>{HANDS} {{ cursor: pointer }}</style>"
    pages = Pages({str(place): style + case["html"] for place, case in enumerate(cases)})
    machine = chromium.ChromiumMachine(driving.driver(), pages, f"{HOST}/0")
    for place, case in enumerate(cases):
        machine.act(call("navigate", url=f"{HOST}/{place}"))
        shown = machine.observation.split("```yaml\n")[1].split("\n```")[0]
        assert shown == case["snapshot"], case["name"]
    machine.close()


@needs_chromium
class TestTheMachine:
    def test_a_fork_does_everything_again(self) -> None:
        _, machine = both("form")
        page = machine.observation
        machine.act(step(page, "type", 'textbox "Name"', text="Ann"))
        twin = machine.fork()
        assert twin.observation == machine.observation
        assert twin.state() == machine.state()
        twin.act(step(page, "click", 'button "Order"'))
        assert twin.state() != machine.state()
        twin.close()
        machine.close()

    def test_a_picture(self) -> None:
        _, machine = both("links")
        assert machine.screenshot().startswith(b"\x89PNG")
        machine.close()

    def test_a_redrawn_page_has_other_references(self) -> None:
        _, machine = both("links", controls=Controls({"stale-element": 1.0}))
        action = call("click", ref=ref(machine.observation, "Moved"))
        with suspended():
            assert "not found" not in machine.fork().act(action)
        assert "not found in the current page snapshot" in machine.act(action)
        machine.act(call("snapshot"))
        assert call("click", ref=ref(machine.observation, "Moved")) != action
        machine.close()

    def test_whatever_is_sent_is_answered(self) -> None:
        _, machine = both("links")
        for action in (
            None,
            {},
            {"name": 5},
            {"name": "browser_click"},
            call("click", ref={}),
            call("evaluate", function="("),
        ):
            assert machine.act(action).startswith("### Error\n")
        machine.close()
        machine.close()
        with pytest.raises(EngineError):
            machine.act(call("snapshot"))

    def test_a_script_that_does_not_end_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(realscript, "SCRIPT_S", 0.3)
        _, machine = both("links")
        for script in ("() => { while (true) {} }", "() => new Promise(done => {})"):
            assert "TimeoutError: page.evaluate" in machine.act(call("evaluate", function=script))
            assert "### Snapshot" in machine.act(call("snapshot"))
        assert '["alert" dialog' in machine.act(call("evaluate", function="() => { alert('Hm?'); return 5 }"))
        machine.close()

    def test_other_servers_of_this_machine_are_out_of_reach(self) -> None:
        _, machine = both("links")
        port = driving.driver()._port
        for host in ("127.0.0.1", "localhost", "127.1", "[::1]"):
            answer = machine.act(call("navigate", url=f"http://{host}:{port}/"))
            assert "net::ERR_NAME_NOT_RESOLVED" in answer, host
        machine.close()

    def test_it_speaks_the_dialect_of_playwright_alone(self) -> None:
        world = open_world("chromium", WorldOptions(load_spec("web:browsergym")))
        task = generate("web", "buy_goods", 1, 3)
        with pytest.raises(SpecError, match="dialect"):
            world.begin([task], [0])


@needs_chromium
def test_the_world_names_its_browser() -> None:
    world = open_world("chromium", WorldOptions(load_spec("web")))
    assert {"chromium", "playwright"} <= world.fingerprint.parts.keys()
    assert world.fingerprint.parts["engine"].value == "web:chromium"


def test_without_a_browser_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(driving.VARIABLE, "/nonexistent/browser")
    with pytest.raises(WorldNotConfigured, match="apt-get install chromium"):
        open_world("chromium", WorldOptions(load_spec("web")))


def test_only_the_web_has_it() -> None:
    with pytest.raises(WorldNotConfigured, match="does not exist"):
        open_world("chromium", WorldOptions(load_spec("terminal")))
