"""The page of a trace, read in a real browser: what it shows, how fast it opens, and that no text becomes HTML."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from worlds import dream, make, predicted

from agentworld_gym import Fingerprint, Part
from agentworld_gym.core.contracts import Completion, Failure, FailureKind, Usage
from agentworld_gym.core.engines import EngineError
from agentworld_gym.core.traces import TraceLogs
from agentworld_gym.domains.web.engine.chromium.driver import find_chromium
from agentworld_gym.evaluation.viewer import write_view

playwright = pytest.importorskip("playwright.sync_api")

try:
    CHROMIUM = find_chromium()
except EngineError:
    pytest.skip("needs an installed Chromium", allow_module_level=True)

FLAGS = [
    f"--{flag}"
    for flag in (
        "no-sandbox",
        "headless",
        "disable-gpu",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    )
]
HOSTILE = (
    "</script><script>window.hit = 1</script>",
    '<img src=x onerror="window.hit = 1">',
    "<!-- <script>",
    "{{ 7 * 7 }} {% raw %}",
    "&lt;b&gt; \u2028 \x00 ]]>",
)
Open = Callable[..., Any]
COUNTED = Usage(50, 7)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens a page and waits until it is ready; a request to anything but the file fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    errors: list[str] = []

    def opened(file: Path, address: str = "") -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"file://{file}#{address}")
        page.wait_for_selector("html[data-ready]", state="attached")
        page.wait_for_selector(".step, .none")
        return page

    yield opened
    context.close()
    assert not errors
    assert all(url.startswith(("file:", "data:")) for url in asked)


def played(folder: Path, texts: dict[int, str], usage: Usage = COUNTED, **options: Any) -> Path:
    """The trace of one episode for each seed, in whose world every action shows a text."""
    shown = iter([])

    def answer(request: Any) -> Completion | Failure:
        text = next(shown)
        if text == "FAIL":
            return Failure(FailureKind.TIMEOUT, "no answer within 1 s")
        return Completion(predicted(text), usage=usage, reasoning=f"thinking of {text}")

    env = make(world=dream("viewed", answer), traces=str(folder), **options)
    for seed, text in texts.items():
        shown = iter([text] * 3)
        env.reset(seed=seed)
        for action in (f"echo {seed}", "ls"):
            if env.step(action)[3]:
                break
    env.close()
    return folder


def test_a_step_shows_what_was_asked_thought_written_and_seen(tmp_path: Path, open_page: Open) -> None:
    write_view(played(tmp_path / "run", {3: "hello there", 4: "other"}), tmp_path / "run.html")
    page = open_page(tmp_path / "run.html", "e0/1")
    step = page.locator("#step-1")
    assert step.locator(".action").inner_text() == "echo 3"
    assert step.locator(".body").inner_text() == "hello there"
    assert "50 → 7 tok" in step.locator(".numbers").inner_text()
    for tab, said in {"Prompt": "**Action:**", "Thinking": "thinking of hello", "Completion": "<predicted_obs"}.items():
        step.get_by_role("tab", name=tab).click()
        assert said in step.locator(".body").inner_text()
    step.get_by_role("tab", name="Change").click()
    assert "+ hello there" in step.locator(".body .add").all_inner_texts()


def test_tokens_that_a_server_does_not_tell_of_are_unknown(tmp_path: Path, open_page: Open) -> None:
    write_view(played(tmp_path / "run", {3: "hello"}, Usage(known=False)), tmp_path / "run.html")
    assert "unknown tok" in open_page(tmp_path / "run.html", "e0/1").locator("#step-1 .numbers").inner_text()


def test_filters_and_search_find_episodes_and_steps(tmp_path: Path, open_page: Open) -> None:
    write_view(played(tmp_path / "run", {3: "a needle\nin hay", 4: "hay", 5: "FAIL"}), tmp_path / "run.html")
    page = open_page(tmp_path / "run.html")
    assert page.locator(".row").count() == 3
    page.get_by_role("button", name="failure").click()
    assert page.locator(".row .about").all_inner_texts()[0].startswith("e2")
    page.get_by_role("button", name="failure").click()
    page.get_by_label("failure").select_option("timeout")
    assert page.locator("#count").inner_text() == "1 of 3 episodes · 1 step"
    page.get_by_label("failure").select_option("")
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    playwright.expect(page.locator("#count")).to_have_text("1 of 3 episodes · 2 steps")
    assert page.locator(".hits").inner_text() == "2"
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert page.locator(".step.current mark").first.inner_text() == "needle"
    assert page.evaluate("location.hash") == "#e0/1"


def test_the_keyboard_goes_through_steps_and_episodes(tmp_path: Path, open_page: Open) -> None:
    write_view(played(tmp_path / "run", {3: "x", 4: "y"}), tmp_path / "run.html")
    page = open_page(tmp_path / "run.html", "e0")
    for key, current in (("j", "#e0/1"), ("j", "#e0/2"), ("j", "#e0/2"), ("k", "#e0/1"), ("]", "#e1"), ("[", "#e0")):
        page.keyboard.press(key)
        assert page.evaluate("location.hash") == current
    playwright.expect(page.locator(".head .facts").first).to_contain_text("seed 3")
    for key in "][][]":
        page.keyboard.press(key)
    playwright.expect(page.locator(".head .facts").first).to_contain_text("seed 4")
    page.keyboard.press("[")
    playwright.expect(page.locator(".head .facts").first).to_contain_text("seed 3")
    page.keyboard.press("Shift+Digit6")
    # A step is drawn when the page has seen that it is near, which is a moment after the key.
    playwright.expect(page.locator("#step-1 .body")).to_contain_text("thinking of x", use_inner_text=True)


def test_a_link_leads_to_a_step_and_a_wrong_one_says_so(tmp_path: Path, open_page: Open) -> None:
    write_view(played(tmp_path / "run", {3: "x", 4: "y"}), tmp_path / "run.html")
    assert open_page(tmp_path / "run.html", "e1/2").locator(".step.current .action").inner_text() == "ls"
    assert "no episode e9" in open_page(tmp_path / "run.html", "e9/1").locator("#episode").inner_text()


def test_a_twin_stands_beside_with_its_difference(tmp_path: Path, open_page: Open) -> None:
    dreamed, true = played(tmp_path / "dream", {3: "a\nb"}), played(tmp_path / "true", {3: "a\nc"})
    write_view(dreamed, tmp_path / "run.html", twin=true)
    page = open_page(tmp_path / "run.html", "e0/1")
    assert page.locator(".departs").inner_text() == "⇄ 1"
    page.keyboard.press("3")
    assert page.locator("#step-1 .body .del").all_inner_texts() == ["− true", "- c"]
    assert page.locator("#step-1 .body .add").all_inner_texts() == ["+ dream", "+ b"]


def test_hostile_text_stays_text(tmp_path: Path, open_page: Open) -> None:
    logs = TraceLogs(tmp_path / "run", "AgentWorld/Terminal-v0", Fingerprint({"world": Part(HOSTILE[0], True)}))
    for text in HOSTILE:
        start = {"episode": text, "turn": 0, "task_id": text, "seed": 0, "observation": text, "family": text}
        row = {"episode": text, "turn": 1, "action": text, "observation": f"{text}{text}"}
        info = {"action_error": text, "reward_parts": {text: 1.0}, "failure": {"kind": text, "message": text}}
        ended = {"reward": 0.5, "terminated": False, "truncated": True, "info": info}
        written = {"prompt": text, "completion": text, "reasoning": text, "failure": info["failure"]}
        logs.write([{**start, "system": text}, {**row, **written}], [start, {**row, **ended}])
    logs.close()
    write_view(tmp_path / "run", tmp_path / "run.html")
    page = open_page(tmp_path / "run.html")
    for number, text in enumerate(HOSTILE):
        page.locator(".row").nth(number).click()
        for _ in range(100):
            body = page.locator("#step-1 .body")
            if page.locator("h2").first.text_content() == text and body.count() and body.text_content() == text + text:
                break
            page.wait_for_timeout(50)
        assert page.locator(".row[aria-selected=true] .task").text_content() == text
        assert page.locator("h2").first.text_content() == text
        assert page.locator("#step-1 .action").text_content() == text
        assert page.locator("#step-1 .body").text_content() == text + text
        for tab in page.locator("#step-1").get_by_role("tab").all():
            tab.click()
        page.locator("#text").fill(text[:3])
        playwright.expect(page.locator("#step-1 .action mark").first).to_have_text(text[:3], use_inner_text=False)
        page.locator("#text").fill("")
        playwright.expect(page.locator("#count")).to_contain_text(f"{len(HOSTILE)} of")
    assert page.evaluate("window.hit") is None
    assert page.locator("img, script:not([type='text/plain'])").count() == 1, "the page's own script alone"


def test_screens_are_drawn_once_and_only_so_many(tmp_path: Path, open_page: Open) -> None:
    env = make("AgentWorld/Android-v0", world="grounded", traces=str(tmp_path / "run"))
    env.reset(seed=3)
    for action in ('{"action_type": "open_app", "app_name": "Clock"}', '{"action_type": "wait"}', "no action"):
        env.step(action)
    env.close()
    shown = write_view(tmp_path / "run", tmp_path / "run.html", screens=0)
    assert (shown.screens, shown.skipped) == (0, 2)
    shown = write_view(tmp_path / "run", tmp_path / "run.html")
    assert (shown.screens, shown.skipped) == (2, 0), "the wait shows the same screen, the error none"
    page = open_page(tmp_path / "run.html", "e0/1")
    page.keyboard.press("4")
    assert page.locator("#step-1 img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 432


def long_run(folder: Path, episodes: int, steps: int) -> Path:
    """A trace with texts of the size that language worlds have."""
    logs = TraceLogs(folder, "AgentWorld/Terminal-v0", Fingerprint({"world": Part("language", True)}))
    words = random.Random(0)
    line = "drwxr-xr-x 2 dev dev {size} Jan  1 00:00 folder-{name}\n"
    for number in range(episodes):
        start = {"episode": f"e{number}", "turn": 0, "task_id": f"copy_move-1-{number}", "seed": number}
        start |= {"family": ["copy_move", "archive"][number % 2], "level": 1 + number % 3, "observation": "do it\n\n$"}
        world, agent = [{**start, "observation": "$", "system": "You are a terminal. " * 200}], [start]
        for turn in range(1, steps + 1):
            text = "".join(
                line.format(size=words.getrandbits(30), name=f"{number}-{turn}.{place}") for place in range(25)
            )
            row = {"episode": f"e{number}", "turn": turn, "action": f"ls -la {turn}", "observation": text}
            tokens = {"tokens": {"prompt": 900 * turn, "completion": 600, "cached": 0}}
            world.append({**row, "wave_s": 0.4, **tokens, "prompt": "Turn " * 100, "completion": predicted(text)})
            world[-1]["reasoning"] = f"I list folder {number}-{turn}. " * 30
            ended = {"terminated": turn == steps, "truncated": False, "info": {**tokens, "success": number % 3 == 0}}
            agent.append({**row, "reward": -0.01, **ended})
        logs.write(world, agent)
    logs.close()
    return folder


def test_a_long_episode_is_made_step_by_step_as_it_is_scrolled(tmp_path: Path, open_page: Open) -> None:
    write_view(long_run(tmp_path / "run", 1, 400), tmp_path / "run.html")
    page = open_page(tmp_path / "run.html", "e0/300")
    assert page.locator(".step.current .action").inner_text() == "ls -la 300"
    assert page.locator(".head").count() == 0, "the head of the episode is far above"
    assert page.locator(".step").count() < 400
    for _ in range(40):
        page.locator("#episode").evaluate("pane => pane.scrollTo(0, 0)")
        page.wait_for_timeout(50)
        if page.locator(".head").count():
            break
    assert page.locator(".step .turn").all_inner_texts()[:3] == ["start", "1", "2"]


@pytest.mark.parametrize(("episodes", "steps", "limit"), [(1000, 10, 3), (100, 100, 3), (1, 10_000, 6)])
@pytest.mark.slow
def test_ten_thousand_steps_open_within_three_seconds(
    episodes: int, steps: int, limit: float, tmp_path: Path, open_page: Open
) -> None:
    """One episode of 10,000 steps, which no domain has, may take twice as long."""
    write_view(long_run(tmp_path / "run", episodes, steps), tmp_path / "run.html")
    pages = [open_page(tmp_path / "run.html") for _ in range(3)]
    page = pages[-1]
    took = min(page.evaluate("Number(document.documentElement.dataset.ready)") for page in pages) / 1000
    begun = time.monotonic()
    page.locator("#text").fill(f"folder {episodes - 1}-{steps}.")
    playwright.expect(page.locator("#count")).to_have_text(re.compile(r"^1 of .*steps?$"))
    print(f"{episodes} × {steps}: {took:.2f} s to open, {time.monotonic() - begun:.2f} s to search, ", end="")
    print(f"{(tmp_path / 'run.html').stat().st_size / 1e6:.1f} MB")
    assert took < limit
