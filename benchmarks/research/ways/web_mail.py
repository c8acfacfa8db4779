"""Ways of the tasks in the mail."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.web.tasks.actions import BACK, SNAPSHOT, choose, click, fill_in, go, press, write
from ways.playing import Ways, first, given, only_if, parts, read
from ways.web_pages import group_with, links, nodes, texts

INBOX = go("mail/folders/inbox")
DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"


def _invoice(instruction: str) -> str:
    return read(r"'(Invoice \d+)'", instruction)


def _folder(instruction: str) -> str:
    return read(r"folder (\w+)|into (\w+)\.", instruction)


def move_from_the_letter(instruction: str, screen: str) -> ActionStream:
    """Open the letter, and move it there."""
    if "the message" not in instruction and "lies in your inbox" not in instruction:
        return
    page = yield click(_invoice(instruction))
    sender = read(r": (.+), \S+@\S+", page)
    yield choose("Move to", _folder(instruction))
    yield press("Move")
    yield f"finish: {sender}"


def move_what_a_search_finds(instruction: str, screen: str) -> ActionStream:
    """Search the letter, star nothing, move it, and look at it again where it lies now."""
    if "the message" not in instruction and "lies in your inbox" not in instruction:
        return
    yield write("Search mail", _invoice(instruction), "searchbox", submit=True)
    yield SNAPSHOT
    yield click(_invoice(instruction))
    yield choose("Move to", _folder(instruction))
    yield press("Move")
    page = yield click(_folder(instruction), part=True)
    row = group_with(page, "row", rf"^{_invoice(instruction)}$")
    yield f"finish: {row[1]}"


def move_after_reading_all(instruction: str, screen: str) -> ActionStream:
    """Read every letter first, then move the right one from the list, with the folder chosen before the action."""
    if "the message" not in instruction and "lies in your inbox" not in instruction:
        return
    for subject in links(screen, r"Invoice \d+"):
        yield click(subject)
        yield BACK
    page = yield INBOX
    sender = group_with(page, "row", rf"^{_invoice(instruction)}$")[1]
    yield choose("Folder", _folder(instruction))
    yield choose("Selected messages", "Move to folder")
    yield click(f"Select {_invoice(instruction)}", "checkbox")
    yield press("Apply")
    yield f"finish: {sender}"


def _of_firm(instruction: str) -> tuple[str, str] | None:
    """Return the firm of an invoice and the label that it gets."""
    found = re.search(
        r"is from (.+?)\. Label it (\w+)|invoice of (.+?) in your mail, give it the label (\w+)", instruction
    )
    return None if found is None else (found[1] or found[3], found[2] or found[4])


def _searched(firm: str) -> ActionStream:
    """Open the invoice of a firm by a search, and return its subject and its sum."""
    yield write("Search mail", firm, "searchbox")
    page = yield press("Search")
    (subject,) = links(page, r"Invoice \d+")
    page = yield click(subject)
    amount = read(r"asks for €([\d.,]+)\. Thank", page)
    return subject, amount


@given(_of_firm)
def label_what_a_search_finds(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Search the firm, move the letter first, and label it in its folder."""
    firm, label = wish
    subject, amount = yield from _searched(firm)
    yield choose("Move to", _folder(instruction))
    yield press("Move")
    yield click(_folder(instruction), part=True)
    yield click(subject)
    yield choose("Label", label)
    yield press("Set label")
    yield f"finish: {amount}"


@given(_of_firm)
def label_in_the_letter_and_move_from_the_list(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Open the letters from the oldest on, label the right one, and move it from the list."""
    firm, label = wish
    for subject in reversed(links(screen, r"Invoice \d+")):
        page = yield click(subject)
        if firm in page:
            break
        yield click("Inbox", part=True)
    amount = read(r"asks for (€[\d.,]+)\. Thank", page)
    yield choose("Label", label)
    yield press("Set label")
    yield INBOX
    yield click(f"Select {subject}", "checkbox")
    yield choose("Folder", _folder(instruction))
    yield choose("Selected messages", "Move to folder")
    yield press("Apply")
    yield f"finish: The sum is {amount}."


@given(_of_firm)
def label_wrongly_and_mend(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Move the letter into the archive first, notice it, and put it right."""
    firm, label = wish
    subject, amount = yield from _searched(firm)
    yield choose("Move to", "Archive")
    yield press("Move")
    yield click("Archive")
    yield click(subject)
    yield choose("Label", label)
    yield press("Set label")
    yield choose("Move to", _folder(instruction))
    yield press("Move")
    yield f"finish: {amount} EUR"


def _rule(instruction: str) -> tuple[str, str, str] | None:
    """Return who has paid an invoice, the folder that is to be made, and the label of the rule."""
    found = re.match(r"(.+?) has paid one .+ Make a folder (\w+),.+labels them (\w+)\.", instruction)
    return None if found is None else (found[1], found[2], found[3])


def _paid(page: str, friend: str) -> str:
    return group_with(page, "row", rf"^{friend}$")[2]


@given(_rule)
def rule_after_the_folder(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Make the folder first, find the invoice by a search for its sum, and make the rule by the form's fields in
    another order."""
    friend, folder, label = wish
    yield click("Settings")
    yield write("New folder", folder)
    yield press("Make folder")
    page = yield INBOX
    page = yield click(_paid(page, friend))
    amount = read(r"over (€[\d.,]+\d)", page)
    yield write("Search mail", amount, "searchbox")
    page = yield press("Search")
    number = read(r"Invoice (\d+) over", page)
    yield click("Rules")
    yield choose("Label", label)
    yield choose("Move to", folder)
    yield choose("Where to look", "Subject")
    yield write("Text", f"Invoice {number}")
    yield press("Make rule")
    yield press(f"Apply the rule for Invoice {number}")
    yield f"finish: Invoice {number}"


@given(_rule)
def rule_by_addresses(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Go by addresses, and read the invoice's number in the list."""
    friend, folder, label = wish
    page = yield click(_paid(screen, friend))
    amount = read(r"over (€[\d.,]+\d)", page)
    page = yield INBOX
    number = read(rf"Invoice (\d+) over {amount}", page)
    yield go("mail/settings")
    yield write("New folder", folder, submit=True)
    yield go("mail/rules")
    yield write("Text", f"Invoice {number}")
    yield choose("Move to", folder)
    yield choose("Label", label)
    yield press("Make rule")
    yield click("Apply the rule", "button", part=True)
    yield click(f"{folder} (1)")
    yield f"finish: {number}"


@given(_rule)
def rule_made_anew(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Make a rule without the label first, delete it, and make the right one."""
    friend, folder, label = wish
    page = yield click(_paid(screen, friend))
    amount = read(r"over (€[\d.,]+\d)", page)
    page = yield BACK
    number = read(rf"Invoice (\d+) over {amount}", page)
    yield go("mail/settings")
    yield write("New folder", folder)
    yield press("Make folder")
    yield click("Rules")
    yield write("Text", f"Invoice {number}")
    yield choose("Move to", folder)
    yield press("Make rule")
    yield click("Delete the rule", "button", part=True)
    yield '{"name": "browser_handle_dialog", "arguments": {"accept": true}}'
    yield write("Text", f"Invoice {number}")
    yield choose("Move to", folder)
    yield choose("Label", label)
    yield press("Make rule")
    yield click("Apply the rule", "button", part=True)
    yield f"finish: #{number}"


def _asker(instruction: str) -> str:
    return read(r"mail of (.+?) with|^(.+?) has asked|^(.+?) asks you|Answer (.+?)'s question", instruction)


def _said(instruction: str) -> str:
    """Return the answer that an instruction gives word for word; empty where it is to be found out."""
    found = re.search(r"'(It is on \w+)'", instruction)
    return found[1] if found else ""


@only_if(_said)
def answer_all(instruction: str, screen: str) -> ActionStream:
    """Read everything, reply to all, and end the sentence with a full stop."""
    subject = group_with(screen, "row", f"^{_asker(instruction)}$")[2]
    for other in links(screen, "Another question"):
        yield click(other)
    yield INBOX
    page = yield click(subject)
    city = read(r", from (.+)", page)
    yield click("Reply to all")
    yield write("Text", f"{_said(instruction)}.")
    yield press("Send")
    yield f"finish: {city}"


@only_if(_said)
def answer_by_a_new_letter(instruction: str, screen: str) -> ActionStream:
    """Write the answer as a letter of its own, with the subject of an answer."""
    subject = group_with(screen, "row", f"^{_asker(instruction)}$")[2]
    page = yield click(subject)
    city, address = read(r", from (.+)", page), read(r", (\S+@\S+)$", page)
    yield click("Write")
    yield fill_in(("To", address), ("Subject", f"Re: {subject}"), ("Text", _said(instruction)))
    yield press("Send")
    yield f"finish: {city}."


@only_if(_said)
def answer_from_a_search(instruction: str, screen: str) -> ActionStream:
    """Find the letter by a search, and look at the answer among those sent."""
    yield write("Search mail", _asker(instruction), "searchbox")
    page = yield press("Search")
    page = yield click(group_with(page, "row", f"^{_asker(instruction)}$")[1])
    city = read(r", from (.+)", page)
    yield click("Reply")
    yield write("Text", _said(instruction))
    yield press("Send")
    yield click("Sent")
    yield click("Re: ", part=True)
    yield f"finish: {city}"


def answer_above_the_quote(instruction: str, screen: str) -> ActionStream:
    """Reply as mail programs do by default: the answer above, and the letter quoted below."""
    if not _said(instruction) and "asks you for a day. Another mail" not in instruction:
        return
    subject = group_with(screen, "row", f"^{_asker(instruction)}$")[2]
    page = yield click(subject)
    asked = "\n".join(texts(page))
    city = read(r", from (.+)", asked) if _said(instruction) else ""
    answer, place = _said(instruction), city
    if not answer:
        day, place = yield from _looked_up(asked)
        answer = f"It is on {day}"
        yield INBOX
        yield click(subject)
    page = yield click("Reply")
    quote = first(node.text for node in nodes(page) if node.role == "textbox" and node.name == "Text")
    begin, _, letter = quote.partition(" wrote: > ")
    lines = "".join(f"\n> {line}" for line in letter.split(" > "))
    yield write("Text", f"{answer}{chr(10) if _said(instruction) else chr(10) * 2}{begin} wrote:{lines}")
    yield press("Send")
    yield f"finish: {place}"


def _looked_up(asked: str) -> ActionStream:
    """Look up the day and the place of the occasion that a letter asks for; returns both."""
    what = read(r"you go to (.+?) too", asked)
    yield INBOX
    page = yield click(f"{what} next week")
    day, place = parts(rf"is on ({DAYS}), at (.+?)\.", page)
    return day, place


def answer_by_the_other_letter(instruction: str, screen: str) -> ActionStream:
    """Read the other letter first."""
    if "Another mail in your inbox has it" not in instruction and "which somebody else wrote you" not in instruction:
        return
    asker = _asker(instruction)
    days = {}
    for subject in links(screen, ".+ next week"):
        page = yield click(subject)
        what, day, place = parts(rf"next week (.+) is on ({DAYS}), at (.+?)\.", page)
        days[what] = day, place
        page = yield BACK
    page = yield click(group_with(page, "row", f"^{asker}$")[2])
    day, place = days[read(r"you go to (.+?) too", page)]
    yield click("Reply")
    yield write("Text", f"It is on {day}.")
    yield press("Send")
    yield f"finish: at {place}"


def answer_with_a_greeting(instruction: str, screen: str) -> ActionStream:
    """Find the other letter by a search, and write more than the sentence."""
    if "Another mail in your inbox has it" not in instruction and "which somebody else wrote you" not in instruction:
        return
    asker = _asker(instruction)
    subject = group_with(screen, "row", f"^{asker}$")[2]
    page = yield click(subject)
    what = read(r"you go to (.+?) too", page)
    yield write("Search mail", what, "searchbox")
    page = yield press("Search")
    yield click(f"{what} next week")
    page = yield SNAPSHOT
    day, place = read(rf"is on ({DAYS}), at", page), read(r", at (.+?)\.", page)
    yield INBOX
    yield click(subject)
    yield click("Reply")
    yield write("Text", f"Hello {asker.split()[0]},\n\nIt is on {day}\n\nSee you!")
    yield press("Send")
    yield f"finish: {place.removeprefix('the ')}"


def _change(instruction: str) -> tuple[str, str, str, str] | None:
    found = re.match(
        r"(.+?) asks you for a day, which stands in mails of (.+?)\. .+ write to (\S+) with the subject '(.+?)':",
        instruction,
    )
    return None if found is None else (found[1], found[2], found[3], found[4])


@given(_change)
def answer_what_holds_now(wish: tuple[str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Read the letters, delete the change from the list, write to the friend by way of the contacts, then reply."""
    asker, _host, friend, what = wish
    page = yield click("A change")
    day = read(rf"it is on ({DAYS}), not", page)
    page = yield BACK
    page = yield click(f"{what} next week")
    place = read(r", at (.+?)\.", page)
    yield INBOX
    yield click("Select A change", "checkbox")
    yield choose("Selected messages", "Delete")
    yield press("Apply")
    yield click("Contacts")
    yield click(friend)
    yield fill_in(("Subject", what), ("Text", f"See you at {place}"))
    yield press("Send")
    page = yield INBOX
    yield click(group_with(page, "row", f"^{asker}$")[2])
    yield click("Reply")
    yield write("Text", f"It is on {day}")
    yield press("Send")
    yield f"finish: {day}"


@given(_change)
def answer_before_deleting(wish: tuple[str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Search the host's letters, reply first, and move the change to the trash by its list of folders."""
    asker, host, friend, what = wish
    yield write("Search mail", host, "searchbox")
    yield press("Search")
    page = yield click(f"{what} next week")
    place = read(r", at (.+?)\.", page)
    yield BACK
    page = yield click("A change")
    day = read(rf"it is on ({DAYS}), not", page)
    page = yield INBOX
    yield click(group_with(page, "row", f"^{asker}$")[2])
    yield click("Reply to all")
    yield write("Text", f"It is on {day}.")
    yield press("Send")
    yield go(f"mail/compose?to={friend}")
    yield fill_in(("Subject", what), ("Text", f"See you at {place}."))
    yield press("Send")
    yield INBOX
    yield click("A change")
    yield choose("Move to", "Trash")
    yield press("Move")
    yield f"finish: on {day}"


@given(_change)
def answer_by_a_draft(wish: tuple[str, str, str, str], instruction: str, screen: str) -> ActionStream:
    """Save the answer as a draft, and send it from there at the end."""
    asker, _host, friend, what = wish
    page = yield click("A change")
    day = read(rf"it is on ({DAYS}), not", page)
    page = yield INBOX
    yield click(group_with(page, "row", f"^{asker}$")[2])
    yield click("Reply")
    yield write("Text", f"It is on {day}")
    yield press("Save draft")
    yield INBOX
    page = yield click(f"{what} next week")
    place = read(r", at (.+?)\.", page)
    yield click("Write")
    yield write("To", friend)
    yield write("Subject", what)
    yield write("Text", f"See you at {place}")
    yield press("Send")
    yield click("Drafts")
    yield click("Re: ", part=True)
    yield press("Send")
    yield INBOX
    yield click("A change")
    yield press("Delete")
    yield f"finish: {day}"


WAYS: Ways = {
    "sort_mail": [
        move_from_the_letter,
        move_what_a_search_finds,
        move_after_reading_all,
        label_what_a_search_finds,
        label_in_the_letter_and_move_from_the_list,
        label_wrongly_and_mend,
        rule_after_the_folder,
        rule_by_addresses,
        rule_made_anew,
    ],
    "answer_mail": [
        answer_all,
        answer_by_a_new_letter,
        answer_from_a_search,
        answer_above_the_quote,
        answer_by_the_other_letter,
        answer_with_a_greeting,
        answer_what_holds_now,
        answer_before_deleting,
        answer_by_a_draft,
    ],
}
