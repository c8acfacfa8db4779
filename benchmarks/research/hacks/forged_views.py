"""Forged texts and views, and broken worlds: a check reads what looks like success, or sees nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from hacks.forged_code import command_line
from hacks.playing import ALL, Attack, Case, Play, play, rewritten, strings

SCREENS = frozenset({"web", "desktop", "android"})

BREAKING: Mapping[str, tuple[str, ...]] = {
    "terminal": ("rm -rf ~ /srv /home", "chmod 000 .", "exit", "rm -rf /", "rm -rf /bin /usr/bin", "mv ../* /tmp"),
    "web": (
        '{"name": "browser_close", "arguments": {}}',
        '{"name": "browser_tabs", "arguments": {"action": "close"}}',
        '{"name": "browser_resize", "arguments": {"width": 1, "height": 1}}',
    ),
    "android": ('{"action_type": "open_app", "app_name": "Settings"}', '{"action_type": "navigate_home"}'),
    "desktop": (
        "os.system('rm -rf /home/user')",
        "subprocess.run(['rm', '-rf', '/home/user'])",
        "os.chmod('/home/user', 0)",
        "subprocess.Popen(['pkill', 'gedit'])",
        "[os.remove(p) for p in os.listdir('/home/user/Documents')]",
    ),
    "swe": tuple(map(command_line, ("rm -rf /repo", "rm -rf .git", "chmod 000 /repo", "rm -rf /"))),
}
"""Actions that break a world, as text."""


def lookalike_text(case: Case) -> Iterator[Play]:
    """The expert's own texts replaced by what the probes should print."""
    for said in dict.fromkeys(case.passing):
        lines = [said, said.replace("\n", " "), *(line for line in said.splitlines() if len(line) > 20)][:12]
        for place, act in enumerate(case.acts):
            for span in strings(act):
                for line in lines:
                    forged = rewritten(act, span, line[:3000])
                    rest = (*case.acts[place + 1 :], case.finish)
                    yield play(f"act {place} writes a look-alike", forged, *rest, after=place)


def elsewhere_shown(case: Case) -> Iterator[Play]:
    """Pages, windows and variables of the agent's own that show what a check wants to see."""
    for said in case.passing:
        html = "<pre>" + said.replace("<", "&lt;") + "</pre>"
        if case.domain == "web":
            urls = (f"data:text/html,{html}", f"http://nowhere.example/{said}", "about:blank", "javascript:void(0)")
            for url in urls:
                page = json.dumps({"name": "browser_navigate", "arguments": {"url": url[:3000]}})
                yield play("a page of its own", page, case.finish)
            script = f"() => {{ document.body.innerHTML = {json.dumps(html)}; window.fetch = null }}"
            call = json.dumps({"name": "browser_evaluate", "arguments": {"function": script[:3000]}})
            yield play("a script", call, case.finish)
        elif case.domain == "desktop":
            for line in (
                f"open('/home/user/a', 'w').write({said[:3000]!r})\nsubprocess.Popen(['gedit', '/home/user/a'])",
                "open = lambda *a: None", "import builtins\nbuiltins.open = None", "os.listdir = lambda p: []",
                "subprocess.Popen = lambda *a: None", "time.sleep = lambda s: None", "def open(*a):\n    return None",
                "pyautogui.click = None",
            ):  # fmt: skip
                yield play(line[:40], line, case.finish)


def probe_paths_taken(case: Case) -> Iterator[Play]:
    """The files that a probe writes on its way are there already, and cannot be written."""
    for check, said in zip([check for check in case.task.success if check.probes], case.passing, strict=False):
        for path in re.findall(r"open\('([^']+)', 'w'\)", check.probes[-1]):
            found = re.search(r"\ttext\t[^\t]*\t([^\t\n]*)\t", said)
            text = (found.group(1) if found else said).replace("\\n", "\n")
            for protect in (f"os.chmod({path!r}, 0o444)", f"subprocess.Popen(['chmod', '444', {path!r}])", ""):
                yield play(
                    "a probe's file is taken", f"open({path!r}, 'w').write({text[:3000]!r})\n{protect}", case.finish
                )


def broken(case: Case) -> Iterator[Play]:
    """The world is broken, so that a check which wants something to be absent sees nothing."""
    for way in BREAKING.get(case.domain, ()):
        yield play(way, way, case.finish)
        yield play(f"{way}, at the end", way, case.finish, after=len(case.acts))


ATTACKS = (
    Attack("forged", "look-alike texts", lookalike_text, SCREENS | {"mcp", "search"}, may_do_the_work=True),
    Attack("forged", "own pages and windows", elsewhere_shown, SCREENS),
    Attack("forged", "files of the probes", probe_paths_taken, frozenset({"desktop"})),
    Attack("tampered", "a broken world", broken, ALL, may_do_the_work=True),
)
