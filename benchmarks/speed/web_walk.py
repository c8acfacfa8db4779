"""Random walks over the web sites, made from what the browser shows: shared by the measurements of the web engine."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.sites.site import load_site, site_names

Action = dict[str, Any]

_NODE = re.compile(r"- '?(\w+)(?: \"((?:[^\"\\]|\\.)*)\")?((?: \[[^\]]*\])*)")
_REF = re.compile(r"\[ref=(e\d+)\]")
_OPTION = re.compile(r'- \'?option "((?:[^"\\]|\\.)*)"')
WORDS = (
    "lamp",
    "tomato",
    "blue",
    "login",
    "7",
    "2026-04-01",
    "ana@example.org",
    "",
    "Müller",
    "a longer text, with: signs",
)
KEYS = ("Tab", "Tab", "Shift+Tab", "Enter", "Escape", "ArrowDown", "ArrowUp", "Backspace", "Control+a", "a", "Space")
CLICKED = {"link", "button", "checkbox", "radio", "tab", "menuitem", "generic"}
FIELDS = {"textbox", "searchbox", "spinbutton"}


def state_of(site: str, seed: int, signed_in: bool) -> dict[str, Any]:
    """The state of a session on one site; a person of that site may be signed in."""
    host = load_site(site).about.host
    state: dict[str, Any] = {"open": f"http://{host}/", "seed": seed, "sites": {site: None}}
    if not signed_in:
        return state
    machine = WebMachine.start(state, seed)
    users = [key.split("/")[2] for key in machine.state() if re.fullmatch(rf"{site}/users/[^/]+/username", key)]
    machine.close()
    return state | {"signed_in": {site: random.Random(f"{site}{seed}").choice(sorted(users))}}


def states(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """That many states, the sites in turn, half of them signed in; few seeds, since rows take long to make."""
    names = site_names()
    for place in range(count):
        yield state_of(names[place % len(names)], seed + place // len(names) % 8, place // len(names) % 2 == 1)


def signing_in(site: str, machine: WebMachine, right: bool) -> list[Callable[[str], Action]]:
    """How a person signs in at a site, with the right password or a wrong one: each step from what is shown."""
    fields = machine.state()
    name = next(key.split("/")[2] for key in fields if re.fullmatch(rf"{site}/users/[^/]+/password", key))
    password = str(fields[f"{site}/users/{name}/password"]) if right else "wrong"
    url = f"http://{load_site(site).about.host}/login"

    def box(observation: str, place: int) -> str:
        lines = [line for line in observation.split("\n") if "- textbox" in line]
        return _ref(lines[place]) if len(lines) > place else "e0"

    return [
        lambda observation: _call("browser_navigate", url=url),
        lambda observation: _call("browser_type", ref=box(observation, 0), text=name),
        lambda observation: _call("browser_snapshot"),
        lambda observation: _call("browser_type", ref=box(observation, 1), text=password, submit=True),
    ]


def next_action(observation: str, rng: random.Random) -> Action:
    """Something that a person might do on what is shown."""
    if "### Modal state" in observation:
        if "File chooser" in observation:
            return _call("browser_file_upload", paths=["/tmp/notes.txt"])
        return _call("browser_handle_dialog", accept=rng.random() < 0.7, promptText="a reason")
    nodes = [(line, match) for line in observation.split("\n") if (match := _NODE.match(line.strip()))]
    found = [(match[1], match[2] or "", ref[1]) for line, match in nodes if (ref := _REF.search(line))]
    draw = rng.random()
    if not found or draw < 0.04:
        return _call("browser_snapshot")
    if draw < 0.10:
        return _call("browser_navigate_back")
    if draw < 0.12:
        return _call("browser_navigate_forward")
    if draw < 0.20:
        return _call("browser_press_key", key=rng.choice(KEYS))
    if draw < 0.22:
        return _call("browser_tabs", action=rng.choice(["list", "new", "select", "close"]), index=rng.randrange(2))
    fields = [ref for role, _, ref in found if role in FIELDS]
    if fields and draw < 0.42:
        text = rng.choice(WORDS)
        return _call("browser_type", ref=rng.choice(fields), text=text, submit=rng.random() < 0.3)
    boxes = [ref for role, _, ref in found if role == "combobox"]
    if boxes and draw < 0.55:
        ref = rng.choice(boxes)
        options = _options(observation, ref)
        if options:
            return _call("browser_select_option", ref=ref, values=[rng.choice(options)])
    hands = [ref for line, match in nodes if match[1] in CLICKED and "cursor=pointer" in line and (ref := _ref(line))]
    if not hands:
        return _call("browser_hover", ref=rng.choice(found)[2])
    later = hands[len(hands) // 3 :]
    return _call("browser_click", ref=rng.choice(later if later and rng.random() < 0.7 else hands))


def _ref(line: str) -> str:
    match = _REF.search(line)
    return match[1] if match else ""


def _options(observation: str, ref: str) -> list[str]:
    below = observation.split(f"[ref={ref}]", 1)[1].split("\n")[1:]
    labels: list[str] = []
    for line in below:
        match = _OPTION.match(line.strip())
        if match is None:
            break
        if "[disabled]" not in line:
            labels.append(match[1].replace('\\"', '"'))
    return labels


def _call(name: str, **arguments: Any) -> Action:
    return {"name": name, "arguments": arguments}
