#!/usr/bin/env python3
"""A stand-in for `adb` with a small phone behind it, for tests: no emulator runs where they do.

It answers what a live phone asks, and dumps screens in the format of `uiautomator dump`: the attributes, their order,
the words of its errors and the way in which `input text` reads `%s` are those of Android's sources. The screens are
written by hand. What the phone holds lies in a file beside `PHONES`, by serial:

- a launcher with Notes, Settings and a film (which turns the screen);
- Notes, which keeps what is written; Settings with one switch;
- `restless`: how many dumps fail with "could not get idle state"; `rootless`: likewise, "null root node";
- `shade`: how many screens differ before they rest; `xml`: a dump to give as it is; `offline`, `hang`.
"""

import base64
import fcntl
import json
import os
import re
import shlex
import sys
import time

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
FIRST = {"front": "home", "notes": [], "draft": "", "focus": False, "lamp": False, "keyboard": "com.android.latin/.Ime"}
PACKAGES = {"home": "com.android.launcher3", "notes": "org.example.notes", "settings": "com.android.settings",
            "film": "org.example.film", "lock": "com.android.systemui"}  # fmt: skip
ACTIVITIES = ["org.example.notes/.MainActivity", "com.android.settings/.Settings", "org.example.film/.Film"]


def node(name, text="", box=(0, 0, 10, 10), *inner, desc="", on=(), off=(), res="", package="", **more):
    """A node as uiautomator writes it."""
    flags = {**dict.fromkeys(("checkable", "checked", "clickable"), "false"), "enabled": "true"}
    flags |= dict.fromkeys(("focusable", "focused", "scrollable", "long-clickable", "password", "selected"), "false")
    flags |= dict.fromkeys(on, "true") | dict.fromkeys(off, "false")
    values = {"index": "0", "text": text, "resource-id": res, "class": name, "package": package, "content-desc": desc}
    values |= flags | {"bounds": "[{},{}][{},{}]".format(*box)} | more
    told = " ".join(f'{key}="{escaped(value)}"' for key, value in values.items())
    return f"<node {told}>{''.join(inner)}</node>" if inner else f"<node {told} />"


def escaped(text):
    """A text as the serializer of Android escapes it, characters beyond 65,535 as two references."""
    out = []
    for letter in text:
        code = ord(letter)
        if letter in '&<>"\n\t':
            out.append({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;"}[letter])
        elif code > 0xFFFF:
            out.append(f"&#{0xD800 + (code - 0x10000 >> 10)};&#{0xDC00 + (code - 0x10000 & 0x3FF)};")
        else:
            out.append(letter)
    return "".join(out)


def screen(phone):
    """The screen of a phone: its rotation, its nodes, and what a touch of some boxes does."""
    front, touch = phone["front"], []

    def button(text, box, does, **more):
        touch.append((box, does))
        on = (*more.pop("on", ()), "clickable")
        return node(more.pop("name", "android.widget.Button"), text, box, package=PACKAGES[front], on=on, **more)

    def label(text, box, name="android.widget.TextView"):
        return node(name, text, box, package=PACKAGES[front])

    if front == "home":
        inside = [
            label(phone.get("clock", "12:30"), (40, 100, 400, 200), "android.widget.TextClock"),
            button("Notes", (40, 300, 240, 500), "open notes", name="android.widget.TextView", on=("long-clickable",)),
            button("Settings", (280, 300, 480, 500), "open settings", name="android.widget.TextView"),
            button("Film", (40, 600, 240, 800), "open film", name="android.widget.TextView"),
        ]
    elif front == "notes":
        told = phone["draft"] or "New note"
        focus = ("focused",) if phone["focus"] else ()
        inside = [
            node("android.view.View", "", (0, 0, 720, 0), package=PACKAGES[front]),  # It has no height.
            button(told, (40, 100, 520, 200), "focus", name="android.widget.EditText", on=focus, hint="New note"),
            button("", (540, 100, 680, 200), "add", name="android.widget.ImageButton", desc="Add"),
            node("androidx.recyclerview.widget.RecyclerView", "", (0, 240, 720, 1600), *[
                label(text, (40, 260 + 100 * at - phone.get("at", 0), 680, 340 + 100 * at - phone.get("at", 0)))
                for at, text in enumerate(phone["notes"])
            ], on=("scrollable",), package=PACKAGES[front]),
        ]  # fmt: skip
    elif front == "settings":
        on = ("checkable", *(("checked",) if phone["lamp"] else ()))
        inside = [
            label("Lamp", (40, 100, 400, 200)),
            button("", (560, 100, 680, 200), "lamp", name="android.widget.Switch", on=on),
            node("android.widget.Button", "Erase all", (40, 300, 680, 400), package=PACKAGES[front], off=("enabled",),
                 on=("clickable",)),
        ]  # fmt: skip
    elif front == "lock":
        inside = [button("", (0, 0, 720, 1600), "nothing", name="android.view.View", desc="PIN area")]
    else:
        inside = [button("Play", (1500, 600, 1600, 720), "play")]
    wide = (0, 0, 1600, 720) if front == "film" else (0, 0, 720, 1600)
    if phone.get("shade"):
        inside.append(label(f"Loading {phone['shade']}", (40, 1500, 680, 1600)))
    tree = node("android.widget.FrameLayout", "", wide, *inside, package=PACKAGES[front])
    return f'{HEAD}<hierarchy rotation="{int(front == "film")}">{tree}</hierarchy>', touch


def tap(phone, x, y):
    """Touch a point."""
    _, touch = screen(phone)
    hit = [does for (left, top, right, bottom), does in touch if left <= x < right and top <= y < bottom]
    verb, _, name = (hit[-1] if hit else "nothing").partition(" ")
    if verb == "open":
        phone["front"] = name
    elif verb == "focus":
        phone["focus"] = True
    elif verb == "add" and phone["draft"]:
        phone.update(notes=[*phone["notes"], phone["draft"]], draft="", focus=False)
    elif verb == "lamp":
        phone["lamp"] = not phone["lamp"]


def write(phone, text):
    """Type characters, as the keys of a keyboard do."""
    if phone["focus"]:
        phone["draft"] += text


def press(phone, key):
    """Press a key."""
    if key == 3:
        phone.update(front="home", focus=False)
    elif key == 4:
        phone.update(focus=False) if phone["focus"] else phone.update(front="home")
    elif key == 66:
        write(phone, "\n")
    elif key == 67:
        phone["draft"] = phone["draft"][:-1] if phone["focus"] else phone["draft"]


def typed(text):
    """What `input text` makes of its argument; the loop is that of Android's `InputShellCommand.sendText`."""
    letters, escape, at = list(text), False, 0
    while at < len(letters):
        if escape:
            escape = False
            if letters[at] == "s":
                letters[at] = " "
                at -= 1
                del letters[at]
        if letters[at] == "%":
            escape = True
        at += 1
    return "".join(letters)


def one(phone, words):
    """Run one command of the shell, and return what it prints and its status."""
    match words:
        case ["wm", "size"]:
            return "Physical size: 720x1600\n", 0
        case ["getprop", name]:
            values = {"ro.product.model": "Stand-in", "ro.build.version.release": "14", "sys.boot_completed": "1"}
            return values.get(name, "") + "\n", 0
        case ["settings", "get", "secure", "default_input_method"]:
            return phone["keyboard"] + "\n", 0
        case ["cmd", "package", "query-activities", *_]:
            listed = "".join(f"  Activity #{at}:\n    {name}\n" for at, name in enumerate(ACTIVITIES))
            return f"{len(ACTIVITIES)} activities found:\n{listed}", 0
        case ["uiautomator", "dump", path]:
            for key, said in (("restless", "could not get idle state."),
                              ("rootless", "null root node returned by UiTestAutomationBridge.")):  # fmt: skip
                if phone.get(key):
                    phone[key] -= 1
                    return f"ERROR: {said}\n", 0
            phone["dump"] = phone.get("xml") or screen(phone)[0]
            phone["shade"] = max(0, phone.get("shade", 0) - 1)
            return f"UI hierchary dumped to: {path}\n", 0
        case ["cat", _]:
            return (phone["dump"], 0) if phone.get("dump") else ("", 1)
        case ["rm", "-f", _]:
            phone["dump"] = ""
        case ["input", "tap", x, y]:
            tap(phone, int(x), int(y))
        case ["input", "swipe", x, y, to_x, to_y, _]:
            if (x, y) == (to_x, to_y):
                return "", 0
            if phone["front"] == "notes":
                phone["at"] = max(0, phone.get("at", 0) + int(y) - int(to_y))
        case ["input", "text", text]:
            if not text.isascii():
                return "java.lang.NullPointerException: Attempt to get length of null array\n", 255
            write(phone, typed(text))
        case ["input", "keyevent", *keys]:
            for key in keys:
                press(phone, int(key))
        case ["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", told]:
            write(phone, base64.b64decode(told).decode())
            return "Broadcast completed: result=0\n", 0
        case ["am", "start", *_, component]:
            package = component.partition("/")[0]
            names = [name for name, its in PACKAGES.items() if its == package]
            if component not in ACTIVITIES:
                return "Error type 3\nError: Activity class does not exist.\n", 0
            phone.update(front=names[0], focus=False, draft="")
            return "Starting: Intent { act=android.intent.action.MAIN }\n", 0
        case ["am", "force-stop", package]:
            if PACKAGES[phone["front"]] == package:
                phone.update(front="home", focus=False)
            if package == PACKAGES["notes"]:
                phone.update(draft="", at=0)
        case ["pm", "clear", package]:
            phone.update(notes=[] if package == PACKAGES["notes"] else phone["notes"])
            return ("Success\n", 0) if package in PACKAGES.values() else ("Failed\n", 1)
        case ["notes"]:
            return "".join(f"{text}\n" for text in phone["notes"]), 0
        case ["false"]:
            return "", 1
        case ["wm", "dismiss-keyguard"] | ["true"]:
            pass
        case _:
            return f"/system/bin/sh: {words[0]}: inaccessible or not found\n", 127
    return "", 0


def shell(phone, line):
    """Run a line of the phone's shell: commands with `;` between them."""
    output, status, words = "", 0, []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";")
    lexer.whitespace_split = True
    for word in [*lexer, ";"]:
        if word != ";":
            words += [] if re.fullmatch(r"\d?>(?:&1|/dev/null)", word) else [word]
        elif words:
            said, status = one(phone, words)
            output, words = output + said, []
    return output, status


def main(serial, words):
    """Run `adb -s SERIAL WORDS`."""
    place = os.path.join(os.environ["PHONES"], f"{serial}.json")
    with open(place, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        told = file.read()
        phone = json.loads(told) if told else dict(FIRST)
        phone.setdefault("calls", []).append(words)
        if phone.get("hang"):
            time.sleep(60)
        if phone.get("offline"):
            sys.stderr.write(f"error: device '{serial}' not found\n")
            return 1
        output, status = "", 0
        if words == ["get-state"]:
            output = "device\n"
        elif words[0] == "shell":
            output, status = shell(phone, words[1])
        elif words[:4] == ["emu", "avd", "snapshot", "load"]:
            saved = {**FIRST, "calls": phone["calls"], **phone.get("saved", {})}
            phone, output = (saved, "OK\n") if words[4] == "clean" else (phone, "KO: Snapshot not found\n")
        file.seek(0)
        file.truncate()
        json.dump(phone, file)
    sys.stdout.write(output)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[2], sys.argv[3:]))
