"""The page of the playground in a real browser: clicks, differences, steps back, agents, and hostile texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from worlds import dream, predicted

from agentworld_gym.core.contracts import Completion, Failure, FailureKind, Usage
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.web.engine.chromium.driver import find_chromium
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.playground import GameChoice, PlayedGame, Playground, PlayServer

playwright = pytest.importorskip("playwright.sync_api")
pytest.importorskip("PIL")

try:
    CHROMIUM = find_chromium()
except EngineError:
    pytest.skip("needs an installed Chromium", allow_module_level=True)

FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
HOSTILE = (
    "</script><script>window.hit = 1</script>",
    '<img src=x onerror="window.hit = 1">',
    "javascript:window.hit=1 &lt;b&gt; \u2028 \x00 ]]> \u202e",
)
Open = Callable[..., Any]


def opened(domain: str, world: str, split: str) -> EpisodeRunner:
    return EnvOptions(spec=domain, world=world, split=split).runner()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        playwright.expect.set_options(timeout=30_000)  # Other tests run beside these.
        yield opened
        playwright.expect.set_options(timeout=5_000)
        opened.close()


@pytest.fixture
def play(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the page and begins an episode; a request to another server, or an error of the script, fails the test."""
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    errors: list[str] = []
    asked: list[str] = []
    running: list[tuple[PlayServer, Playground, threading.Thread]] = []

    def opening(domain: str, *worlds: str, **choice: Any) -> Any:
        desk = Playground(PlayedGame(opened), tmp_path, GameChoice(domain, worlds, **choice))
        thread = threading.Thread(target=desk.run)
        thread.start()
        served = PlayServer(desk).__enter__()
        running.append((served, desk, thread))
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(served.address)
        page.wait_for_selector("html[data-ready]", state="attached")
        page.get_by_role("button", name="Begin").click()
        playwright.expect(page.locator(".pane")).to_have_count(len(worlds))
        page.served, page.desk, page.thread = served, desk, thread
        return page

    yield opening
    context.close()
    for served, desk, thread in running:
        desk.end()
        thread.join()
        served.__exit__()
    assert not errors
    assert all(url.startswith(tuple(served.address for served, _, _ in running)) for url in asked)


def does(page: Any, action: str) -> None:
    turn = page.locator(".turn-row").count()
    page.get_by_label("Action", exact=True).fill(action)
    page.keyboard.press("Enter")
    playwright.expect(page.locator(".turn-row")).to_have_count(turn + 1)


def test_what_differs_in_the_second_world_is_marked(play: Open) -> None:
    answer = Completion(predicted("dev@box:~/work$ echo a\nb\ndev@box:~/work$"), usage=Usage(50, 7), logprob=-0.05)
    page = play("terminal", "grounded", dream("other", lambda request: answer), seed=3)
    does(page, "echo a")
    left, right = page.locator(".pane").all()
    assert left.locator(".differs").all_inner_texts() == ["a"]
    assert right.locator(".differs").all_inner_texts() == ["b"]
    assert "50 → 7 tok" in right.locator(".numbers").inner_text()
    assert right.locator(".badge").all_inner_texts() == ["differs", "p 0.70", "a guard at 0.90 would ground this"]
    page.get_by_text("How actions look, and a guard").click()
    page.get_by_label("Least probability").fill("0.5")
    playwright.expect(right.locator(".guard")).to_have_count(0)


def test_steps_are_taken_back_and_played_on_by_an_agent_to_the_end(play: Open) -> None:
    page = play("terminal", "grounded", task="rotate-log")
    does(page, "pwd")
    does(page, "ls")
    page.locator(".turn-row").nth(1).click()
    playwright.expect(page.locator("#past")).to_contain_text("Turn 1 of 2")
    page.get_by_role("button", name="Go on from here").click()
    playwright.expect(page.locator(".turn-row")).to_have_count(2)
    page.get_by_role("button", name="Play on").click()
    playwright.expect(page.locator(".pane .badge.success")).to_have_text("success")
    assert page.locator(".turn-row .by").first.inner_text() == "expert"
    playwright.expect(page.get_by_role("button", name="Do it")).to_be_disabled()


@pytest.mark.parametrize("width", [1300, 390])
def test_the_picture_is_clicked_where_the_element_is(width: int, play: Open) -> None:
    page = play("android", "grounded", "grounded", seed=3)
    page.set_viewport_size({"width": width, "height": 844})
    picture = page.locator(".pane.front .picture[data-ready]")
    picture.wait_for()
    seen = picture.locator("img").bounding_box()
    place = {"x": seen["width"] * 912 / 1080, "y": seen["height"] * 1425 / 2400}
    picture.locator("img").hover(position=place)
    playwright.expect(picture.locator(".label")).to_have_text("TextView Settings")
    picture.locator("img").click(position=place)
    playwright.expect(page.locator("#done code")).to_have_text('{"action_type": "click", "index": 5}')
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_field_of_the_picture_is_written_into(play: Open) -> None:
    page = play("web", "grounded", seed=3)
    picture = page.locator(".picture[data-ready]")
    picture.wait_for()
    scale = picture.locator("img").bounding_box()["width"] / 1280
    picture.locator("img").click(position={"x": 600 * scale, "y": 118 * scale})
    page.locator("#write input").fill('a "quoted" word')
    page.get_by_role("button", name="Write").click()
    playwright.expect(page.locator("#done code")).to_have_text(r'browser_type(ref="e16", text="a \"quoted\" word")')


def test_a_failure_of_a_world_is_shown_by_its_kind_and_tried_again(play: Open) -> None:
    answers = iter([Failure(FailureKind.SERVER, "503 <b>busy</b>", retryable=True), predicted("there")])
    page = play("terminal", dream("shaky", lambda request: next(answers)), seed=3)
    does(page, "ls")
    told = page.locator(".pane > .error")
    playwright.expect(told).to_have_text("The world failed (server, may pass): 503 <b>busy</b>")
    page.get_by_role("button", name="Try again").click()
    playwright.expect(page.locator(".session")).to_contain_text("there")


def test_hostile_text_stays_text(play: Open) -> None:
    said = iter(HOSTILE)
    world = dream("hostile", lambda request: Completion(predicted(next(said)), reasoning=HOSTILE[0]))
    page = play("terminal", world, "scripted", seed=3)
    for text in HOSTILE:
        does(page, f"echo {text}")
        pane = page.locator(".pane").first
        for tab in ("Text", "Change", "Model", "Session"):
            pane.get_by_role("tab", name=tab).click()
        shown = pane.locator("pre").last.text_content()
        assert shown in (text, text.replace("\x00", "\ufffd"))
    assert page.evaluate("window.hit") is None
    assert page.locator("script").count() == 1
    assert page.locator(".table img").count() == 0


def test_what_is_saved_opens_in_the_viewer(play: Open) -> None:
    page = play("terminal", "grounded", "scripted", seed=3)
    does(page, "echo kept")
    page.get_by_role("button", name="Save", exact=True).click()
    with page.context.expect_page() as tab:
        page.get_by_role("link", name="Open in the viewer").click()
    viewer = tab.value
    viewer.wait_for_selector("html[data-ready]", state="attached")
    playwright.expect(viewer.locator("#step-1 .action")).to_have_text("echo kept")


def test_another_page_of_the_same_game_follows(play: Open) -> None:
    page = play("terminal", "scripted", seed=3)
    other = page.context.new_page()
    other.goto(page.served.address)
    playwright.expect(other.locator(".turn-row")).to_have_count(1)
    does(page, "ls")
    playwright.expect(other.locator(".turn-row")).to_have_count(2)


def test_a_page_that_lost_its_server_says_so(play: Open) -> None:
    page = play("terminal", "scripted", seed=3)
    playwright.expect(page.locator("#lost")).to_be_hidden()
    page.desk.end()
    playwright.expect(page.locator("#lost")).to_be_visible()
    playwright.expect(page.locator("#lost")).to_contain_text("has ended")
