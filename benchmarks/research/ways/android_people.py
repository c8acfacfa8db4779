"""Ways of the tasks in the messages, the contacts and the calls of the phone."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.android.tasks.actions import BACK, app, enter_text, hold, tap
from ways.android_screens import (
    SAVE,
    SEND,
    conversation,
    new_chat,
    said_by,
    texts,
)
from ways.playing import Ways, first, given, only_if, parts

NUMBER = r"07700 900\d{3}"


def _sent(person: str, text: str) -> ActionStream:
    """Send a message."""
    yield from conversation(person)
    yield enter_text("Text message", text)
    return (yield SEND)


# answer_question


def _code(instruction: str, screen: str) -> ActionStream:
    """Find the code that somebody asks for; returns who asks, the code, and the note and its text to correct."""
    asker = parts(r"^(.+?) (?:asked you|needs a code)", instruction)[0]
    asked = "\n".join(said_by((yield from conversation(asker)), asker))
    door = parts(r"code of the (.+?)(?: again)?\?", asked)[0]
    house, changed = "", ""
    if "says in a message where" in instruction:
        page = texts((yield app("Calendar")))
        name = first(text for text in page if text == f"Lunch with {asker.split()[0]}")
        page = texts((yield tap(name)))
        house = page[page.index("Location") - 1]
    if "If a code was changed" in instruction:
        keeper = parts(r"changed since, (\w+) has written", instruction)[0]
        page = texts((yield app("Messages")))
        told = yield tap(first(text for text in page if text.startswith(f"{keeper} ")))
        lock = re.search(r"The (.+?) of the (.+?) has a new lock\.", told)
        if lock and lock[1] == door and lock[2] == house.lower():
            changed = parts(r"Its code is (\d+) from now on", told)[0]
    page = texts((yield app("Notes")))
    title = f"Codes {house}" if house else first(text for text in page if text.startswith("Codes "))
    page = texts((yield tap(title)))
    text = first(text for text in page if f"{door.capitalize()}: " in text)
    code = parts(rf"{door.capitalize()}: (\d+)", text)[0]
    corrected = text.replace(code, changed) if changed else ""
    return asker, changed or code, title, corrected


def _told(instruction: str, code: str) -> str:
    return f"finish: {code}" if "Finish with" in instruction else "finish"


def code_after_the_note(instruction: str, screen: str) -> ActionStream:
    """Correct the note first, where it is to be corrected, and answer from the start of a chat."""
    asker, code, _, corrected = yield from _code(instruction, screen)
    if corrected:
        yield enter_text("Note", corrected, clear=True)
        yield BACK
    yield app("Messages")
    yield from new_chat(asker)
    yield enter_text("Text message", code)
    yield SEND
    yield _told(instruction, code)


def code_before_the_note(instruction: str, screen: str) -> ActionStream:
    """Answer first, and correct the note last."""
    asker, code, title, corrected = yield from _code(instruction, screen)
    yield from _sent(asker, code)
    if corrected:
        yield app("Notes")
        yield tap(title)
        yield enter_text("Note", corrected, clear=True)
        yield BACK
    yield _told(instruction, code)


def code_from_the_contact(instruction: str, screen: str) -> ActionStream:
    """Write from the page of the contact."""
    asker, code, _, corrected = yield from _code(instruction, screen)
    if corrected:
        yield enter_text("Note", corrected, clear=True)
    yield app("Contacts")
    yield tap(asker)
    yield tap("Send text message")
    yield enter_text("Text message", code)
    yield SEND
    yield _told(instruction, code)


# pass_on


def _news(instruction: str, screen: str) -> ActionStream:
    """Return who wrote, the message, who wants it, the occasion, and the event's title where a place belongs there."""
    event = ""
    if "in your calendar has a guest" in instruction:
        what = parts(r"Tomorrow's (.+?) in your calendar", instruction)[0]
        event = what.capitalize()
        yield app("Calendar")
        page = texts((yield tap(event)))
        sender = page[page.index("Guest") - 1]
    else:
        who, what = parts(r"what (\w+) wrote about the (.+?) to|about the .+?: forward (\w+)'s ()", instruction)
        what = what or parts(r"know about the (.+?):", instruction)[0]
        page = texts((yield app("Messages")))
        sender = first(text for text in page if text.startswith(f"{who} "))
    if "whose call you missed" in instruction:
        page = texts((yield app("Phone")))
        target = page[page.index(first(text for text in page if text.startswith("Missed, "))) - 1]
    else:
        target = parts(r"the .+? to (\w+ \w+)\.$|^(.+?) wants to know", instruction)[0]
    told = said_by((yield from conversation(sender)), sender)
    text = first(text for text in told if text.lower().startswith(what))
    return sender, text, target, event


def _closed(instruction: str, text: str, event: str) -> ActionStream:
    """Put the place into the event where that is wanted; returns how the episode is finished."""
    if event:
        yield app("Calendar")
        yield tap(event)
        yield tap("Edit event")
        yield enter_text("Add location", parts(r"Place this time: (.+)", text)[0])
        yield SAVE
    (time,) = parts(r"starts at (\d+:\d\d)", text)
    return f"finish: {time}" if "Finish with" in instruction else "finish"


def forward_by_the_menu(instruction: str, screen: str) -> ActionStream:
    """See to the event first, and forward the message then."""
    sender, text, target, event = yield from _news(instruction, screen)
    end = yield from _closed(instruction, text, event)
    yield from conversation(sender)
    yield hold(text)
    yield tap("Forward")
    yield tap(target)
    yield SEND
    yield end


def forward_by_typing(instruction: str, screen: str) -> ActionStream:
    """Type the message anew."""
    _, text, target, event = yield from _news(instruction, screen)
    yield from _sent(target, text)
    yield (yield from _closed(instruction, text, event))


def forward_from_the_contact(instruction: str, screen: str) -> ActionStream:
    """Write from the page of the contact, and look at the conversation in the end."""
    _, text, target, event = yield from _news(instruction, screen)
    yield app("Contacts")
    yield tap(target)
    yield tap("Send text message")
    yield enter_text("Text message", text)
    yield SEND
    yield (yield from _closed(instruction, text, event))


# return_calls


def _reply(instruction: str) -> str:
    found = re.search(r"Send '(.+?)' to the person whose call|with the message '(.+?)'", instruction)
    return "" if found is None else found[1] or found[2]


def _missed() -> ActionStream:
    page = texts((yield app("Phone")))
    return page[page.index(first(text for text in page if text.startswith("Missed, "))) - 1]


def reply_from_the_messages(instruction: str, screen: str) -> ActionStream:
    """Write in the messages."""
    if text := _reply(instruction):
        yield from _sent((yield from _missed()), text)
        yield "finish"


def reply_from_the_contact(instruction: str, screen: str) -> ActionStream:
    """Write from the page of the contact."""
    if text := _reply(instruction):
        person = yield from _missed()
        yield app("Contacts")
        yield tap(person)
        yield tap("Send text message")
        yield enter_text("Text message", text)
        yield SEND
        yield "finish"


def reply_with_the_keyboard(instruction: str, screen: str) -> ActionStream:
    """Write from the log of calls, after another text that is cleared."""
    if text := _reply(instruction):
        yield tap((yield from _missed()))
        yield tap("Send message")
        yield enter_text("Text message", "One moment")
        yield enter_text("Text message", text, clear=True)
        yield SEND
        yield "finish"


def _is_firm(instruction: str) -> bool:
    return "'Repairs'" in instruction


def _firm(instruction: str) -> ActionStream:
    """Return the firm, its trade and its number, and the number that is to be blocked, which may be empty."""
    yield app("Notes")
    note = "\n".join(texts((yield tap("Repairs"))))
    firm, trade, number = parts(rf"^(.+?), (\w+): ({NUMBER})$", note)
    bad = ""
    if found := re.search(r"\. ([^.]+?) warns you of a number", instruction):
        told = "\n".join(said_by((yield from conversation(found[1])), found[1]))
        bad = parts(rf"({NUMBER})", told)[0]
    return firm, trade, number, bad


def _blocked(number: str) -> ActionStream:
    if number:
        yield app("Phone")
        yield tap(number)
        yield tap("More options")
        yield tap("Block number")


@only_if(_is_firm)
def call_before_saving(instruction: str, screen: str) -> ActionStream:
    """Block first, call from the log, and make the contact with the contacts app."""
    firm, trade, number, bad = yield from _firm(instruction)
    yield from _blocked(bad)
    yield app("Phone")
    yield tap(f"Call {number}")
    yield tap("End call")
    yield app("Contacts")
    yield tap("Create contact")
    yield enter_text("Name", firm)
    yield enter_text("Phone", number)
    yield SAVE
    yield f"finish: {trade}"


@only_if(_is_firm)
def call_from_the_contact(instruction: str, screen: str) -> ActionStream:
    """Make the contact with the contacts app, its number without spaces, and call from its page."""
    firm, trade, number, bad = yield from _firm(instruction)
    yield app("Contacts")
    yield tap("Create contact")
    yield enter_text("Phone", number)
    yield enter_text("Name", firm)
    yield SAVE
    yield app("Contacts")
    yield tap(firm)
    yield tap("Mobile")
    yield tap("End call")
    yield from _blocked(bad)
    yield f"finish: a {trade.lower()}"


@only_if(_is_firm)
def call_by_the_keypad(instruction: str, screen: str) -> ActionStream:
    """Save the number from the log, and call it by the keypad."""
    firm, trade, number, bad = yield from _firm(instruction)
    yield app("Phone")
    yield tap(number)
    yield tap("More options")
    yield tap("Add contact")
    yield enter_text("Name", firm)
    yield SAVE
    yield app("Phone")
    yield tap("Keypad")
    yield enter_text("Number", number)
    yield BACK
    yield tap("Call", "Button")
    yield tap("End call")
    yield from _blocked(bad)
    yield f"finish: the {trade}"


# save_number


def _sender(instruction: str) -> ActionStream:
    """Return number, name and company of an unknown sender, whose conversation is open then; None for other tasks."""
    found = re.search(rf"message came from ({NUMBER})|Who is ({NUMBER})\?", instruction)
    if found is not None:
        number = found[1] or found[2]
        told = yield from conversation(number)
    else:
        topic = re.search(r"wrote about (.+?)\. Save|message about (.+?) from an unknown", instruction)
        if topic is None:
            return None
        page = texts((yield app("Messages")))
        word = (topic[1] or topic[2]).split()[-1]
        for number in [text for text in page if re.fullmatch(NUMBER, text)]:
            told = yield tap(number)
            if word in told.lower():
                break
            yield BACK
    name, company = parts(r"Best wishes, (.+?), (.+?)\"", told)
    return number, name, company


def _ended(instruction: str, company: str) -> str:
    return f"finish: {company}" if "Finish with" in instruction else "finish"


def save_in_the_contacts(instruction: str, screen: str) -> ActionStream:
    """Make the contact with the contacts app."""
    known = yield from _sender(instruction)
    if known is None:
        return
    number, name, company = known
    yield app("Contacts")
    yield tap("Create contact")
    yield enter_text("Phone", number)
    if "company of the sender" in instruction or "name and company" in instruction:
        yield enter_text("Company", company)
    yield enter_text("Name", name)
    yield SAVE
    yield _ended(instruction, company)


def save_and_edit(instruction: str, screen: str) -> ActionStream:
    """Save the first name alone, and edit the contact then."""
    known = yield from _sender(instruction)
    if known is None:
        return
    _number, name, company = known
    yield tap("More options")
    yield tap("Add contact")
    yield enter_text("Name", name.split()[0])
    yield SAVE
    yield app("Contacts")
    yield tap(name.split()[0])
    yield tap("Edit contact")
    yield enter_text("Name", name, clear=True)
    if "company of the sender" in instruction or "name and company" in instruction:
        yield enter_text("Company", company)
    yield SAVE
    yield _ended(instruction, company)


def save_with_the_company_always(instruction: str, screen: str) -> ActionStream:
    """Save from the conversation, the name last."""
    known = yield from _sender(instruction)
    if known is None:
        return
    _, name, company = known
    yield tap("More options")
    yield tap("Add contact")
    if "company of the sender" in instruction or "name and company" in instruction:
        yield enter_text("Company", company)
    yield enter_text("Name", name)
    yield SAVE
    yield _ended(instruction, f"{company}.")


def _renewed(instruction: str) -> tuple[str, str] | None:
    """Return who has a new number, and the message that goes there."""
    found = re.search(
        r"^(.+?) has a new number .+ send '(.+?)' to"
        r"|message in which (.+?) tells of a new number\. .+ write '(.+?)' to",
        instruction,
    )
    return None if found is None else (found[1] or found[3], found[2] or found[4])


def _new_number(person: str) -> ActionStream:
    """Find the conversation in which somebody tells of a new number; it is open then."""
    page = texts((yield app("Messages")))
    for number in [text for text in page if re.fullmatch(NUMBER, text)]:
        if f"Please use this one. {person}" in (yield tap(number)):
            return number
        yield BACK
    raise LookupError(person)


def _changed(person: str, number: str) -> ActionStream:
    """Change the number of a contact; returns the old one."""
    yield app("Contacts")
    page = texts((yield tap(person)))
    old = first(text for text in page if re.fullmatch(NUMBER, text))
    yield tap("Edit contact")
    yield enter_text("Phone", number, clear=True)
    yield SAVE
    return old


@given(_renewed)
def greet_before_the_change(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Write to the new number first, and change the contact then."""
    person, greeting = wish
    number = yield from _new_number(person)
    yield enter_text("Text message", greeting)
    yield SEND
    old = yield from _changed(person, number)
    yield app("Contacts")
    yield tap(person)
    yield tap("Add to favorites")
    yield f"finish: {old}"


@given(_renewed)
def favorite_first(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Make the favorite first, and write in the messages last."""
    person, greeting = wish
    number = yield from _new_number(person)
    yield app("Contacts")
    yield tap(person)
    yield tap("Add to favorites")
    old = yield from _changed(person, number)
    yield from _sent(person, greeting)
    yield f"finish: {old}"


@given(_renewed)
def greet_from_the_contact(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Write from the page of the contact before it becomes a favorite."""
    person, greeting = wish
    number = yield from _new_number(person)
    old = yield from _changed(person, number)
    yield app("Contacts")
    yield tap(person)
    yield tap("Send text message")
    yield enter_text("Text message", greeting)
    yield SEND
    yield app("Contacts")
    yield tap(person)
    yield tap("Add to favorites")
    yield f"finish: {old}."


WAYS: Ways = {
    "answer_question": [code_after_the_note, code_before_the_note, code_from_the_contact],
    "pass_on": [forward_by_the_menu, forward_by_typing, forward_from_the_contact],
    "return_calls": [
        reply_from_the_messages,
        reply_from_the_contact,
        reply_with_the_keyboard,
        call_before_saving,
        call_from_the_contact,
        call_by_the_keypad,
    ],
    "save_number": [
        save_in_the_contacts,
        save_and_edit,
        save_with_the_company_always,
        greet_before_the_change,
        favorite_first,
        greet_from_the_contact,
    ],
}
