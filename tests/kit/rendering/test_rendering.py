"""Pictures and drawings of screens: made of the observation alone, the same every time, whatever it says."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import AddRenderObservation, RecordVideo
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner
from worlds import DOMAIN_IDS, make

from agentworld_gym.agents.policies.following import follow
from agentworld_gym.agents.policies.scripted import expert_policy
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.envs.pictures import Pictures
from agentworld_gym.kit.rendering import from_png, latest, picture
from agentworld_gym.kit.rendering.glyphs import DRAWINGS, WORDS, drawing_of
from agentworld_gym.kit.rendering.style import fitted, width_of, wrapped
from agentworld_gym.kit.rendering.text import drawing
from agentworld_gym.worlds import register_world
from agentworld_gym.worlds.scripted import ScriptedWorld

GRAPHICAL = ("web", "desktop", "android")

HEADER = "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)"
DESKTOP = f"""\
{HEADER}
menu\tActivities\t""\t\t\t(0, 0)\t(88, 27)
push-button\tFiles\t""\t\t\t(0, 33)\t(70, 64)
dialog\tSave?\t""\t\t\t(700, 400)\t(400, 200)
heading\tSave changes?\tSave changes?\t\t\t(720, 410)\t(300, 34)
push-button\tSave\t""\t\t\t(720, 540)\t(141, 40)
frame\tbudget.ods - Calc\t""\t\t\t(420, 160)\t(1080, 720)
push-button\tClose\t""\t\t\t(1468, 170)\t(24, 34)
menu\tFile\t""\t\t\t(424, 210)\t(52, 30)
entry\tName Box\tB2\t\tfocused\t(424, 250)\t(120, 34)
check-box\tGrid\t""\t\tchecked\t(560, 250)\t(120, 34)
combo-box\tFont\tSans\t\t\t(700, 250)\t(200, 34)
page-tab\tSheet1\t""\t\tselected\t(424, 830)\t(90, 30)
table-cell\tA1\tTea\t\t\t(464, 333)\t(104, 24)
table-cell\tB1\t4.50\t\tselected\t(568, 333)\t(104, 24)
table-cell\tC1\t""\t\t\t(672, 333)\t(104, 24)
text\tnotes.txt\tone\\ntwo\t\t\t(900, 300)\t(400, 300)
terminal\tTerminal\t$ ls\\na.txt\t\t\t(900, 620)\t(400, 200)
slider\tVolume\t40\t\t\t(1200, 250)\t(200, 34)
icon\tHome\t""\t\t\t(82, 41)\t(100, 100)"""
PAGE = """\
### Page
- Page URL: http://shop.example/cart
- Page Title: Cart - Shop

### Snapshot
```yaml
- generic [ref=e1]:
  - banner [ref=e2]:
    - link "Shop" [ref=e3] [cursor=pointer]:
      - /url: /
    - navigation "Main" [ref=e4]:
      - list [ref=e5]:
        - listitem [ref=e6]:
          - link "Cart" [ref=e7]
  - main [ref=e8]:
    - heading "Your cart" [level=1] [ref=e9]
    - status [ref=e10]: Added to cart
    - table [ref=e11]:
      - row "Item Number" [ref=e12]:
        - columnheader "Item" [ref=e13]
        - columnheader "Number" [ref=e14]
      - row "Tea 2" [ref=e15]:
        - cell "Tea" [ref=e16]
        - cell [ref=e17]:
          - spinbutton "Quantity" [ref=e18]: "2"
          - button "Remove" [ref=e19]
    - paragraph [ref=e20]:
      - text: Send by
      - combobox "Delivery" [ref=e21]:
        - option "Post" [selected]
        - option "Courier"
      - checkbox "Gift" [checked] [ref=e22]
    - list [ref=e23]:
      - listitem [ref=e24]: free from 50
    - tablist [ref=e25]:
      - tab "Notes" [selected] [ref=e26]
    - textbox "Notes" [active] [ref=e27]: fast please
    - button "Pay" [disabled] [ref=e28]
  - dialog "Cookies" [ref=e29]:
    - paragraph [ref=e30]: We use cookies.
    - button "Accept" [ref=e31]
```"""
PHONE = "\n".join(
    f'[{number:2}] | android.{kind} | text="{text}" desc="{description}" | bounds={bounds}{flags}'
    for number, (text, description, kind, flags, bounds) in enumerate(
        [
            ("Alarm", "", "widget.TextView", "", "[48,128][954,256]"),
            ("", "More options", "widget.ImageButton", " | clickable", "[954,128][1080,256]"),
            ("", "", "view.ViewGroup", " | clickable", "[0,256][1080,508]"),
            ("Early train", "", "widget.TextView", "", "[48,270][800,328]"),
            ("6:30 AM", "", "widget.TextView", "", "[48,330][800,388]"),
            ("", "6:30 AM alarm", "widget.Switch", " | clickable, checked", "[864,310][1020,454]"),
            ("Bread", "", "widget.CheckBox", " | clickable", "[0,520][1080,652]"),
            ("Label", "Label", "widget.EditText", " | clickable, focused, editable", "[48,700][1032,868]"),
            ("Save", "", "widget.Button", " | clickable", "[700,900][900,1026]"),
            ("", "Add alarm", "widget.ImageButton", " | clickable", "[852,1300][1020,1468]"),
            ("Alarm set", "", "widget.Toast", "", "[140,1400][940,1510]"),
            ("", "Keyboard", "widget.FrameLayout", "", "[0,1547][1080,2400]"),
        ]
    )
)
SCREENS = {"web": PAGE, "desktop": DESKTOP, "android": PHONE}
SIZES = {"web": (800, 1280, 3), "desktop": (1080, 1920, 3), "android": (2400, 1080, 3)}
TASKS = [task for domain in GRAPHICAL for task in load_spec(domain).handwritten_tasks() if task.first_observation]


# Pictures


@pytest.mark.parametrize("domain", SCREENS)
def test_a_screen_has_the_size_of_the_real_one_and_always_looks_the_same(domain):
    shown = picture(domain, SCREENS[domain])
    assert shown.shape == SIZES[domain] and shown.dtype == np.uint8
    assert np.array_equal(shown, picture(domain, SCREENS[domain]))
    assert len(np.unique(shown.reshape(-1, 3)[::101], axis=0)) > 30, "there is something to see"
    small = picture(domain, SCREENS[domain], scale=0.25)
    assert small.shape == (SIZES[domain][0] // 4, SIZES[domain][1] // 4, 3)


@pytest.mark.parametrize(
    ("domain", "old", "new", "box"),
    [
        ("desktop", "checked\t(560", "\t(560", (560, 250, 680, 284)),
        ("desktop", "4.50", "9.75", (568, 333, 672, 357)),
        ("desktop", 'Save\t""', 'Quit\t""', (720, 540, 861, 580)),
        ("android", "clickable, checked", "clickable", (864, 310, 1020, 454)),
        ("android", '6:30 AM"', '7:45 AM"', (48, 310, 1020, 454)),
    ],
)
def test_an_edit_of_one_element_changes_its_box_and_nothing_else(domain, old, new, box):
    before, after = picture(domain, SCREENS[domain]), picture(domain, SCREENS[domain].replace(old, new))
    rows, columns = np.nonzero((before != after).any(2))
    left, top, right, bottom = box
    assert len(rows), "the edit can be seen"
    assert left <= columns.min() and columns.max() < right and top <= rows.min() and rows.max() < bottom


def test_windows_lie_over_each_other_as_the_table_says():
    back = f'{HEADER}\nframe\tBack\t""\t\t\t(300, 200)\t(600, 400)\nlabel\tX\tXXXX\t\t\t(500, 380)\t(90, 30)'
    front = f'{HEADER}\nframe\tFront\t""\t\t\t(400, 300)\t(600, 400)'
    alone, both = picture("desktop", front), picture("desktop", front + back.removeprefix(HEADER))
    inside = np.s_[360:690, 410:990]
    assert np.array_equal(alone[inside], both[inside]), "the window in front hides the one behind"
    assert not np.array_equal(alone, both)


def test_a_page_is_as_high_as_it_needs_and_a_dialog_dims_it():
    start = "    - list [ref=e23]:\n"
    long = PAGE.replace(start, start + "".join(f"      - listitem [ref=e{n}]: entry {n}\n" for n in range(100, 160)))
    assert picture("web", long).shape[0] > 1200
    without = PAGE[: PAGE.index("  - dialog")] + "```"
    assert picture("web", without)[780, 5].tolist() == [255, 255, 255]
    assert picture("web", PAGE)[780, 5].max() < 150


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_first_screens_of_shipped_tasks_can_be_drawn(task):
    shown = picture(task.domain, task.first_observation or "", 0.5)
    assert len(np.unique(shown.reshape(-1, 3)[::101], axis=0)) > 30


def test_a_text_is_drawn_as_a_terminal():
    assert picture("terminal", "user@host:~$ ls\na.txt").shape == picture("mcp", "x" * 5000).shape
    assert not np.array_equal(picture("terminal", "$ a"), picture("terminal", "$ b"))


BROKEN = st.lists(
    st.one_of(
        st.sampled_from([line for text in SCREENS.values() for line in text.splitlines()]),
        st.text(max_size=40),
        st.builds(
            lambda role, name, x, y, w, h: f'{role}\t{name}\t""\t\tchecked, selected\t({x}, {y})\t({w}, {h})',
            st.sampled_from(["frame", "icon", "text", "terminal", "slider", "menu-item", "nonsense"]),
            st.text(st.characters(codec="utf-8", exclude_characters="\n\t"), max_size=30),
            *[st.integers(-50, 999_999)] * 2,
            *[st.integers(0, 999_999)] * 2,
        ),
        st.builds(
            lambda role, name, x, y, w, h: (
                f'[ 0] | a.{role} | text="{name}" desc="Keyboard" | bounds=[{x},{y}][{w},{h}] | clickable, checked'
            ),
            st.sampled_from(["Switch", "EditText", "ProgressBar", "ImageView", "SeekBar", "Odd"]),
            st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30),
            *[st.integers(-50, 999_999)] * 4,
        ),
    ),
    max_size=12,
).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(SCREENS)), BROKEN)
def test_whatever_a_dream_shows_can_be_drawn(domain, text):
    text = f"### Snapshot\n{text}" if domain == "web" else text
    assert picture(domain, text, 0.1).ndim == 3
    shown = drawing(domain, text, 90)
    assert (shown is None) == (not read_screen(domain, text))
    assert all(len(line) <= 90 for line in (shown or "").splitlines())


def test_names_have_their_drawings():
    assert {drawing for _, drawing in WORDS} <= set(DRAWINGS)
    assert [drawing_of(name) for name in ("Navigate up", "a.ods", "Trash", "Add alarm", "Qwx")] == [
        "back",
        "sheet",
        "trash",
        "plus",
        None,
    ]


@given(st.text(max_size=60), st.integers(8, 60), st.integers(0, 400))
def test_a_text_fits_where_it_is_put(text, size, room):
    assert width_of(fitted(text, size, room), size) <= max(room, 0)
    assert all(width_of(line, size) <= room for line in wrapped(text, size, room))


# Environments


@pytest.mark.parametrize("env_id", DOMAIN_IDS)
def test_every_domain_can_be_looked_at(env_id):
    env = make(env_id, world="scripted", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().ndim == 3
    env.close()
    envs = gym.make_vec(env_id, num_envs=2, world="scripted", render_mode="rgb_array")
    envs.reset(seed=0)
    assert [shown.dtype for shown in envs.render()] == [np.uint8] * 2
    envs.close()


WEB_FRAME = (1200, 1280, 3)


def test_an_environment_of_the_web_has_frames_of_one_size():
    """`RecordVideo` and `AddRenderObservation` take no others."""
    heights: set[int] = set()
    env = AddRenderObservation(make("AgentWorld/Web-v0", render_mode="rgb_array"), render_only=True)
    core: AgentWorldEnv = env.unwrapped  # type: ignore[assignment]
    for seed in (0, 1):
        env.reset(seed=seed)
        for entry in core.task.expert:
            frame = env.step(Sight("web", core.episode.observations).resolve(entry) or entry)[0]
            assert frame in env.observation_space and frame.shape == WEB_FRAME
            drawn = picture("web", latest("web", core.episode.observations))
            high = min(len(drawn), len(frame))
            assert np.array_equal(frame[:high], drawn[:high])
            heights.add(len(drawn))
    env.close()
    assert len(heights) > 1


class Film:
    """What writes a film in MoviePy, as far as `RecordVideo` needs it: it takes frames of one size alone."""

    def __init__(self, frames: list[np.ndarray], fps: int) -> None:
        self.frames = np.stack(frames)

    def write_videofile(self, path: str, logger: str | None) -> None:
        Path(path).write_text(repr(self.frames.shape))


def test_gymnasiums_own_recorder_makes_a_film_of_pages_of_any_height(tmp_path, monkeypatch):
    names = ["moviepy", "moviepy.video", "moviepy.video.io", "moviepy.video.io.ImageSequenceClip"]
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[names[-1]].ImageSequenceClip = Film  # type: ignore[attr-defined]
    env = RecordVideo(make("AgentWorld/Web-v0", render_mode="rgb_array"), str(tmp_path / "film"), lambda episode: True)
    env.reset(seed=0)
    steps = follow(env, expert_policy(env.unwrapped.task))
    env.close()
    assert steps is not None and steps[-1]["success"]
    film = tmp_path / "film" / "rl-video-episode-0.mp4"
    assert film.read_text() == repr((steps[-1]["steps"] + 1, *WEB_FRAME))


def test_a_page_that_is_too_high_is_cut_and_a_text_is_padded():
    pictures = Pictures()
    page = "".join(f'  - heading "{number}" [level=1] [ref=e{number}]\n' for number in range(2, 90))
    long = f"### Snapshot\n```yaml\n- generic [ref=e1]:\n{page}```"
    assert len(picture("web", long)) > WEB_FRAME[0]
    assert pictures.drawn("web", long).shape == pictures.drawn("web", "[1] no page").shape == WEB_FRAME


@pytest.mark.parametrize("domain", GRAPHICAL)
def test_a_text_has_the_frame_of_its_domain(domain):
    frames = [Pictures().drawn(domain, text) for text in (SCREENS[domain], "no screen")]
    assert frames[0].shape == frames[1].shape


def test_gymnasium_accepts_it():
    check_env(make("AgentWorld/Android-v0", world="scripted"))


def test_after_an_error_the_last_screen_is_shown():
    assert latest("web", [PAGE, "### Error\nError: Ref e99 not found"]) == PAGE
    assert latest("web", ["a", "b"]) == "b"


def test_a_dialog_of_the_browser_is_shown_over_the_page():
    modal = (
        '### Ran Playwright code\n\n### Modal state\n- ["confirm" dialog with message "Leave?"]: can be handled by …'
    )
    shown = latest("web", [PAGE, modal])
    assert read_screen("web", shown) == read_screen("web", PAGE)
    assert not np.array_equal(picture("web", shown), picture("web", PAGE))
    assert 'dialog with message "Leave?"' in (drawing("web", shown) or "")


def test_a_world_with_a_screenshot_is_shown_by_it():
    from PIL import Image

    png = io.BytesIO()
    Image.new("RGB", (4, 3), (1, 2, 3)).save(png, "PNG")
    assert from_png(png.getvalue()).tolist() == [[[1, 2, 3]] * 4] * 3

    class Photographed(ScriptedWorld):
        def begin(self, tasks, seeds):
            sessions = super().begin(tasks, seeds)
            for session in sessions:
                session.screenshot = png.getvalue
            return sessions

    register_world("photographed", lambda options: Photographed())
    env = make("AgentWorld/Web-v0", world="photographed", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape == (3, 4, 3)
    png.seek(0)
    Image.new("RGB", (2, 5), (4, 5, 6)).save(png, "PNG")
    png.truncate()
    assert env.render().tolist() == [[[4, 5, 6]] * 4] * 3  # The first screenshot decides the size of all.
    env.close()


def test_without_pillow_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "import gymnasium as gym, agentworld_gym\n"
        "env = gym.make('AgentWorld/Terminal-v0', world='scripted', render_mode='rgb_array').unwrapped\n"
        "env.reset(seed=0); env.step('ls'); env.render()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-1].endswith("Pillow: pip install -e '.[render]' in a clone of agentworld-gym")


# Drawings of characters


def test_a_phone_in_the_terminal_tells_every_index():
    shown = drawing("android", PHONE, 80)
    assert shown is not None
    for piece in (
        "1:[More options]",
        "2:▸",
        "5:(on) 6:30 AM alarm",
        "6:[ ] Bread",
        "7:‹Label›_",
        "8:[Save]",
        "« Alarm set »",
    ):
        assert piece in shown


def test_a_desktop_in_the_terminal_tells_where_to_click():
    shown = drawing("desktop", DESKTOP, 120)
    assert shown is not None
    for piece in (
        "[Save]‹790,560›",
        "┌─ Save? ─",
        "┌─ budget.ods - Calc ─",
        "[x] Grid‹620,267›",
        "Name Box ‹B2›_",
        "│ one",
        "*4.50*",
    ):
        assert piece in shown
    assert shown.index("┌─ Save?") < shown.index("┌─ budget.ods")


def test_a_page_in_the_terminal_tells_every_reference():
    shown = drawing("web", PAGE, 100)
    assert shown is not None
    for piece in (
        "http://shop.example/cart",
        "_Cart_ ‹e7›",
        "# Your cart",
        "| Tea | Quantity [ 2 ] ‹e18›  [Remove] ‹e19›",
        "Delivery [ Post ▾ ] ‹e21›",
        "[x] Gift ‹e22›",
        "[*Notes] ‹e26›",
        "Notes [ fast please_ ] ‹e27›",
        "[Pay] ‹e28› (disabled)",
        "dialog: Cookies",
    ):
        assert piece in shown


@pytest.mark.parametrize(
    "page",
    [
        '- heading "A" [level=99999999999999] [ref=e1]',
        '- heading "A" [level=x] [ref=e1]',
        '- table:\n  - row [ref=e1]\n  - row:\n    - cell "A"',
    ],
)
def test_what_no_page_holds_can_still_be_drawn(page):
    shown = drawing("web", f"### Snapshot\n{page}", 80)
    assert shown is not None and "A" in shown and len(shown) < 100
    assert picture("web", f"### Snapshot\n{page}").ndim == 3


@pytest.mark.parametrize("width", [40, 79, 200])
@pytest.mark.parametrize("domain", SCREENS)
def test_a_drawing_fits_the_terminal(domain, width):
    shown = drawing(domain, SCREENS[domain], width)
    assert shown is not None and max(map(len, shown.splitlines())) <= width


def test_play_shows_the_screen_and_takes_locators():
    typed = "pyautogui.click(@{icon 'Archive'})\n:raw\n:screen\nclick(@{icon 'Nope'})\nclick(@{)\n:quit\n"
    arguments = ["play", "desktop", "--world", "scripted", "--task", "rename-minutes"]
    done = CliRunner(env={"COLUMNS": "120", "AGENTWORLD_WORLD": ""}).invoke(app, arguments, input=typed)
    assert done.exit_code == 0
    assert done.stdout.count("┌─ Documents ─") == 2, "at the start and for :screen"
    assert len(re.findall(r"\[1\] pyautogui\.click\(\d+, \d+\)", done.stdout)) == 2, "what was done, and :raw"
    assert "nothing on the screen is called that" in done.stdout
    assert "expected a locator such as" in done.stdout


def test_play_tells_how_actions_look_where_there_are_no_tools():
    arguments = ["play", "android", "--world", "scripted", "--task", "early-alarm"]
    done = CliRunner(env={"COLUMNS": "120", "AGENTWORLD_WORLD": ""}).invoke(app, arguments, input=":tools\n:quit\n")
    assert '{"action_type": "click", "index": 3}' in done.stdout


def test_a_name_that_the_page_writes_beside_a_field_is_drawn_once():
    page = '### Snapshot\n```yaml\n- group [ref=e1]:\n  - checkbox "Unread only" [ref=e2]\n  - text: Unread only\n```'
    shown = drawing("web", page)
    assert shown is not None and shown.count("Unread only") == 1 and "[ ] ‹e2›" in shown
    alone = drawing("web", page.replace("  - text: Unread only\n", ""))
    assert alone is not None and "[ ] Unread only ‹e2›" in alone


def test_the_status_bar_of_a_phone_makes_nothing_up():
    pixels = picture("android", '[ 0] | android.widget.TextView | text="Hi" | bounds=[48,300][900,400]')
    assert pixels is not None and (pixels[:110] == pixels[0, 0]).all()


def test_a_phone_without_elements_is_drawn_as_an_empty_screen() -> None:
    blank = "**Current Phone State:**\n• **App:** Clock\n\nCurrent Clickable UI elements:\n"
    shown = '[ 3] | android.widget.Button | text="OK" | bounds=[0,0][200,90]'
    assert latest("android", [shown, blank]) == blank
    assert picture("android", blank, 0.1).shape == picture("android", shown, 0.1).shape == (240, 108, 3)
