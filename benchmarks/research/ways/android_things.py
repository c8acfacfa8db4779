"""Ways of the tasks in the settings, the shop, the files and the lists of the phone."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.android.tasks.actions import BACK, HOME, app, enter_text, hold, tap
from ways.android_screens import (
    SEND,
    SHADE,
    conversation,
    nodes,
    said_by,
    schedule,
    short,
    texts,
    tomorrow,
)
from ways.playing import Ways, first, parts

PAGES = {
    "Mobile data": "Network & internet",
    "Wi-Fi hotspot": "Network & internet",
    "Bluetooth": "Connected devices",
    "NFC": "Connected devices",
    "Battery Saver": "Battery",
    "Adaptive Battery": "Battery",
    "Dark theme": "Display",
    "Night Light": "Display",
    "Auto-rotate screen": "Display",
    "Vibrate for calls": "Sound & vibration",
    "Touch sounds": "Sound & vibration",
    "Notification history": "Notifications",
    "Do Not Disturb": "Notifications",
}
"""The switches, and the pages on which a person who looks around finds them."""
TILES = {
    "Auto-rotate screen": "Auto-rotate",
    "Bluetooth": "",
    "Battery Saver": "",
    "Dark theme": "",
    "Do Not Disturb": "",
}


# change_settings


def _changes(instruction: str, screen: str) -> ActionStream:
    """Return the switches with `on` or `off`, and the screen timeout, which is empty where it stays."""
    if "on their pages" in instruction:
        told = parts(r"^Switch (.+?), and nothing|^Change two settings: (.+?)\. Leave", instruction)[0]
        return re.findall(r"([A-Z][\w -]+?) (on|off)(?: and|,|$)", told), ""
    if "note '" in instruction:
        mode = parts(r"note '(.+?)'", instruction)[0]
    else:
        day = short(tomorrow(screen))
        planned = schedule((yield app("Calendar")))
        mode = first(title for at, title, times in planned if at == day and "PM" in times)
    yield app("Notes")
    note = "\n".join(texts((yield tap(mode))))
    return re.findall(r"^([A-Z][\w -]+?) (on|off)$", note, re.MULTILINE), parts(r"^Screen timeout (.+)$", note)[0]


def _toggled(name: str, wanted: str, screen: str) -> ActionStream:
    """Turn a switch of the page that is shown, where it is not as wanted."""
    switch = first(node for node in nodes(screen) if node.role == "Switch" and name in (node.text, node.description))
    if ("checked" in switch.flags) != (wanted == "on"):
        yield tap(name, "Switch")


def _timeout(choice: str) -> ActionStream:
    if choice:
        yield app("Settings")
        yield tap("Display")
        yield tap("Screen timeout")
        yield tap(choice)


def _said(instruction: str, timeout: str) -> str:
    return f"finish: {timeout}" if timeout else "finish"


def settings_timeout_first(instruction: str, screen: str) -> ActionStream:
    """Set the timeout first, and each switch from the top of the settings."""
    switches, timeout = yield from _changes(instruction, screen)
    yield from _timeout(timeout)
    for name, wanted in reversed(switches):
        yield app("Settings")
        yield from _toggled(name, wanted, (yield tap(PAGES[name])))
    yield _said(instruction, timeout)


def settings_from_the_shade(instruction: str, screen: str) -> ActionStream:
    """Turn what quick settings have from there, the rest in the settings."""
    switches, timeout = yield from _changes(instruction, screen)
    for name, wanted in switches:
        yield HOME
        if name in TILES:
            yield from _toggled(TILES[name] or name, wanted, (yield SHADE))
        else:
            yield app("Settings")
            yield from _toggled(name, wanted, (yield tap(PAGES[name])))
    yield from _timeout(timeout)
    yield _said(instruction, timeout)


def settings_turned_twice(instruction: str, screen: str) -> ActionStream:
    """Turn the last switch three times, and go back with the button of the phone."""
    switches, timeout = yield from _changes(instruction, screen)
    yield app("Settings")
    for place, (name, wanted) in enumerate(switches):
        yield from _toggled(name, wanted, (yield tap(PAGES[name])))
        if place == len(switches) - 1:
            yield tap(name, "Switch")
            yield tap(name, "Switch")
        yield BACK
    yield from _timeout(timeout)
    yield f"finish: {timeout.lower()}" if timeout else "finish"


# order_goods


def _order(instruction: str, screen: str) -> ActionStream:
    """Return the goods with their counts and the delivery time; goods in brackets stand in for what is sold out."""
    slot = re.search(r"(?:delivered |Delivery time: )tomorrow (\d+:00-\d+:00)", instruction)
    if "Groceries" not in instruction:
        found = re.search(r"^Order two (.+?) and one (.+?) in the|^Buy (.+?) once and (.+?) twice", instruction)
        two, one = (found[1] or found[4], found[2] or found[3]) if found else ("", "")
        return {two: 2, one: 1}, f"Tomorrow {slot[1] if slot else ''}"
    yield app("Notes")
    page = yield tap("Groceries")
    wanted = [node.description for node in nodes(page) if node.role == "CheckBox" and "checked" not in node.flags]
    if slot is None:
        day = short(tomorrow(screen))
        busy = [times for at, _, times in schedule((yield app("Calendar"))) if at == day]
        free = {"8:00-10:00": "8:00 AM", "12:00-14:00": "12:00 PM", "18:00-20:00": "6:00 PM"}
        time = first(told for told, start in free.items() if not any(times.startswith(start) for times in busy))
    else:
        time = slot[1]
    goods = {}
    for item in wanted:
        if found := re.fullmatch(r"(.+?) \(if sold out: (.+)\)", item):
            item = found[2] if _is_sold_out((yield app("Pantry")), found[1]) else found[1]
        goods[item] = 1
    return goods, f"Tomorrow {time}"


def _is_sold_out(screen: str, good: str) -> bool:
    """Whether the shop does not let a product into the basket. The words below it may be off the screen."""
    button = first(node for node in nodes(screen) if node.description == f"Add {good} to basket")
    return "clickable" not in button.flags


def _basket() -> str:
    return tap("Basket", "TextView", part=True)


def _placed(slot: str) -> ActionStream:
    """Order what is in the basket; returns the total."""
    yield tap("Choose a time")
    page = yield tap(slot)
    (total,) = parts(r'"Total (€[\d.]+)"', page)
    yield tap("Order", "Button")
    yield tap("Place order")
    return total


def _paid(instruction: str, total: str) -> str:
    return f"finish: {total}" if "Finish with" in instruction else "finish"


def order_backwards(instruction: str, screen: str) -> ActionStream:
    """Put the goods in from the last one on, and raise counts in the basket."""
    goods, slot = yield from _order(instruction, screen)
    yield app("Pantry")
    for good in reversed(goods):
        yield tap(f"Add {good} to basket")
    yield _basket()
    for good, count in goods.items():
        for _ in range(count - 1):
            yield tap(f"More {good}")
    total = yield from _placed(slot)
    yield _paid(instruction, total)


def order_with_one_too_many(instruction: str, screen: str) -> ActionStream:
    """Put one too many in, and take it out of the basket."""
    goods, slot = yield from _order(instruction, screen)
    yield app("Pantry")
    for good, count in goods.items():
        for _ in range(count):
            yield tap(f"Add {good} to basket")
    yield _basket()
    good = first(goods)
    yield tap(f"More {good}")
    yield tap(f"Less {good}")
    total = yield from _placed(slot)
    yield _paid(instruction, total.removeprefix("€"))


def order_in_two_visits(instruction: str, screen: str) -> ActionStream:
    """Choose the time after the first product, go on shopping, and order then."""
    goods, slot = yield from _order(instruction, screen)
    names = [good for good, count in goods.items() for _ in range(count)]
    yield app("Pantry")
    yield tap(f"Add {names[0]} to basket")
    yield _basket()
    yield tap("Choose a time")
    yield tap(slot)
    yield tap("Products")
    for good in names[1:]:
        yield tap(f"Add {good} to basket")
    page = yield _basket()
    (total,) = parts(r'"Total (€[\d.]+)"', page)
    yield tap("Order", "Button")
    yield tap("Place order")
    yield _paid(instruction, f"{total.removeprefix('€')} euros")


# sort_papers


def _paper(instruction: str, screen: str) -> ActionStream:
    """Return the file, its folder and the sum that it is about; the list of downloads is shown then."""
    found = re.search(
        r"Move the file (\S+) from Downloads to the folder (\w+)\.|^(\S+) lies in .+ into the folder (\w+)\.",
        instruction,
    )
    amount = ""
    name, folder = (found[1] or found[3], found[2] or found[4]) if found else ("", "")
    firm = re.search(
        r"is the bill of (.+?)\. Move it to the folder (\w+)|bill of (.+?) among .+ into the folder (\w+)", instruction
    )
    words = (firm[1] or firm[3]) if firm else ""
    if firm:
        folder = firm[2] or firm[4]
    if not name and not words:
        payer = parts(r"^(.+?) paid one of the bills", instruction)[0]
        words = parts(r"over ([\d.]+) euros", "\n".join(said_by((yield from conversation(payer)), payer)))[0]
        yield app("Notes")
        folder = parts(r"paid bills go to (\w+)", (yield tap("Papers")))[0]
    yield app("Files")
    page = yield tap("Downloads")
    if not name:
        for name in [text for text in texts(page) if text.endswith(".pdf")]:
            told = yield tap(name)
            yield BACK
            if words in told:
                (amount,) = parts(r"Total ([\d.]+) euros", told)
                break
    return name, folder, amount


def _filed(instruction: str, name: str, amount: str) -> str:
    if "Finish with the sum" in instruction:
        return f"finish: {amount} euros"
    return f"finish: {name}" if "Finish with the name" in instruction else "finish"


def _moved(folder: str) -> ActionStream:
    """Move what is open or selected, by the menu that is shown."""
    yield tap("Move to")
    yield tap(folder)
    yield tap("Move here")


def file_by_a_long_press(instruction: str, screen: str) -> ActionStream:
    """Select the file by a long press, and move what is selected."""
    name, folder, amount = yield from _paper(instruction, screen)
    page = yield hold(name)
    if "Move to" not in texts(page):
        page = yield tap("More options")
    yield from _moved(folder)
    yield _filed(instruction, name, amount)


def file_after_cancelling(instruction: str, screen: str) -> ActionStream:
    """Begin the move, cancel it, and move it then."""
    name, folder, amount = yield from _paper(instruction, screen)
    yield tap(name)
    yield tap("More options")
    yield tap("Move to")
    yield tap("Cancel")
    yield tap("More options")
    yield from _moved(folder)
    yield _filed(instruction, name, amount)


def file_and_look(instruction: str, screen: str) -> ActionStream:
    """Move it, and look into the folder in the end."""
    name, folder, amount = yield from _paper(instruction, screen)
    yield tap(name)
    yield tap("More options")
    yield from _moved(folder)
    yield app("Files")
    yield tap(folder)
    yield _filed(instruction, name, amount)


# tick_list


def _list(instruction: str) -> ActionStream:
    """Return the list, what is to be ticked, what is to be added, and to whom it is sent."""
    (title,) = parts(r"(?<!\w)'(.+?)'", instruction)
    told = re.search(r"You bought (.+?) and (.+?): tick|tick off (.+?) and (.+?) only", instruction)
    if told is not None:
        return title, [part for part in told.groups() if part], "", ""
    if "with what" in instruction or "went shopping" in instruction:
        buyer = parts(r"with what (.+?) wrote|^(.+?) went shopping", instruction)[0]
        letter = "\n".join(said_by((yield from conversation(buyer)), buyer))
        got = parts(r"from the shop with (.+?) and (.+?)\. We", letter)
        return title, list(got), parts(r"We also need (.+?)!", letter)[0], ""
    buyer, other = parts(r"^(.+?) and (.+?) wrote about", instruction)
    letter = "\n".join(said_by((yield from conversation(buyer)), buyer))
    wish = "\n".join(said_by((yield from conversation(other)), other))
    return title, [parts(r"only had (.+?) left", letter)[0]], parts(r"Put (.+?) on it please", wish)[0], other


def _tick(got: list[str], screen: str) -> ActionStream:
    for word in got:
        yield tap(first(text for text in texts(screen) if text.lower() == word.lower()))


def _add(extra: str) -> ActionStream:
    if extra:
        yield enter_text("List item", extra[0].upper() + extra[1:])
        yield tap("Add item")
        yield BACK  # The keyboard covers a part of the list.


def _posted(person: str) -> ActionStream:
    if person:
        yield tap("More options")
        yield tap("Send")
        yield tap("Messages")
        yield tap(person)
        yield SEND


def _sent_and_counted(instruction: str, title: str, person: str) -> ActionStream:
    """Look at the list again, send it where that is wanted, and return how to finish."""
    yield app("Notes")
    page = yield tap(title)
    yield from _posted(person)
    if "Finish with" not in instruction:
        return "finish"
    return f"finish: {sum(node.role == 'CheckBox' and 'checked' not in node.flags for node in nodes(page))}"


def add_before_ticking(instruction: str, screen: str) -> ActionStream:
    """Add first, and tick then from the last one on."""
    title, got, extra, person = yield from _list(instruction)
    yield app("Notes")
    page = yield tap(title)
    yield from _add(extra)
    yield from _tick(got[::-1], page)
    yield (yield from _sent_and_counted(instruction, title, person))


def tick_with_a_mistake(instruction: str, screen: str) -> ActionStream:
    """Tick another item first, and take that back."""
    title, got, extra, person = yield from _list(instruction)
    yield app("Notes")
    page = yield tap(title)
    other = first(
        node.description
        for node in nodes(page)
        if node.role == "CheckBox" and "checked" not in node.flags and node.description.lower() not in got
    )
    yield tap(other)
    yield tap(other)
    yield from _tick(got, page)
    yield from _add(extra)
    yield (yield from _sent_and_counted(instruction, title, person))


def tick_and_come_back(instruction: str, screen: str) -> ActionStream:
    """Tick, leave the list, and add on a second visit."""
    title, got, extra, person = yield from _list(instruction)
    yield app("Notes")
    page = yield tap(title)
    yield from _tick(got, page)
    yield BACK
    yield tap(title)
    yield from _add(extra)
    yield (yield from _sent_and_counted(instruction, title, person))


WAYS: Ways = {
    "change_settings": [settings_timeout_first, settings_from_the_shade, settings_turned_twice],
    "order_goods": [order_backwards, order_with_one_too_many, order_in_two_visits],
    "sort_papers": [file_by_a_long_press, file_after_cancelling, file_and_look],
    "tick_list": [add_before_ticking, tick_with_a_mistake, tick_and_come_back],
}
