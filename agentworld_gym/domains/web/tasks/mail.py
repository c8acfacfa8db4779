"""Tasks in the mail: the agent sorts messages into folders, and answers with what other messages say."""

from __future__ import annotations

import re

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.web.tasks.actions import ACCEPT, BACK, DISMISS, choose, click, fill_in, go, press, write
from agentworld_gym.domains.web.tasks.scene import Person, WebScene, euros, family, paragraph
from agentworld_gym.kit.vocabulary import common_pool

FOLDERS = ("Bills", "Travel", "Garden", "School", "House")
LABELS = ("important", "later", "paid", "private")
OCCASIONS = ("Choir", "Book club", "Hike", "Board games", "Yoga", "Pottery")
PLACES = ("the town hall", "the old mill", "the library", "the boat house", "the school", "the market hall")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
SMALL_TALK = (
    ("Photos", "Hello,\n\nthe photos of last summer are on the way to you."),
    ("Recipe", "Hello,\n\nhere is the soup: leeks, potatoes, nutmeg, and patience."),
    ("Bicycle", "Hello,\n\nyour bicycle is ready, the brakes are new."),
    ("Umbrella", "Hello,\n\nyou have left your umbrella at our place."),
)


class TaskMail:
    """The mail of a task while it is being filled."""

    def __init__(self, scene: WebScene) -> None:
        self.scene = scene
        self.people = scene.people(5)
        scene.site("mail")
        self.number = scene.rng.randint(100, 500)
        self.folders = scene.some(FOLDERS, 3)
        for folder in self.folders:
            scene.add("mail", "folders", owner=scene.me.username, folder=folder)
        for label in LABELS:
            scene.add("mail", "labels", owner=scene.me.username, label=label)
        for person in self.people:
            scene.add("mail", "contacts", owner=scene.me.username, name=person.name, address=person.address)

    def message(self, sender: Person, subject: str, text: str, days: float, place: str = "") -> None:
        """Add a message to me that came so many days ago, in a folder."""
        self.number += 1
        signed = f"{sender.first}, from {place}" if place else sender.first
        me = self.scene.me
        self.scene.add("mail", "messages", message_id=self.number, owner=me.username, sender=sender.address,
                       sender_name=sender.name, recipients=me.address, subject=subject,
                       text=f"{text}\n\n{signed}", sent_at=self.scene.moment(days))  # fmt: skip

    def small_talk(self, count: int) -> list[str]:
        """Add messages that do not matter; return their subjects."""
        talk = self.scene.some(SMALL_TALK, count)
        for subject, text in talk:
            self.message(self.scene.pick(self.people), subject, text, self.scene.rng.uniform(1, 20))
        return [subject for subject, _ in talk]


def tick(subject: str) -> str:
    """Return the action that selects a message of a list."""
    return click(f"Select {subject}", "checkbox")


def folder_page(folder: str) -> str:
    """Return the action that opens a folder."""
    return go(f"mail/folders/{folder}")


@family
def sort_mail(scene: WebScene, level: int) -> TaskDraft:
    """The agent moves messages to the folder where they belong, by hand or by a rule."""
    box = TaskMail(scene)
    firms = scene.some([firm for firm in common_pool("companies").of(scene.split) if "&" not in firm], 3)
    numbers = scene.some(range(1000, 9999), 3)
    sums = [euros(scene.rng.randrange(2000, 40000) / 100) for _ in range(3)]
    scene.need(len(set(sums)) == 3)
    folder, unlike, _ = box.folders
    scene.start("mail/folders/inbox")
    subjects = [f"Invoice {number}" for number in numbers]
    right, stray, last = subjects
    move = [choose("Selected messages", "Move to folder"), choose("Folder", folder), press("Apply")]
    sender, other, friend, *_ = box.people
    if level == 1:
        talks = box.small_talk(2)
        for place in scene.mixed(range(3)):
            box.message(
                box.people[place], subjects[place], f"Please pay {sums[place]} to {firms[place]}.", 1 + place / 3
            )
        expert = [tick(right), *move]
        goal = scene.say(f"Move the message '{right}' to the folder {folder}.",
                         f"'{right}' lies in your inbox: put it into the folder {folder}.")  # fmt: skip
        checks = [
            scene.shows(folder_page(folder), f'link "{right}"', lacking=[f'link "{name}"' for name in (stray, last)])
        ]
        turns = [tick(stray), choose("Folder", unlike), choose("Selected messages", "Star"), tick(talks[0]), BACK]
        return scene.draft(f"{goal} Finish with the name of its sender.", expert, turns, checks, sender.name,
                           [other.name, friend.name, box.people[3].name], 13)  # fmt: skip
    for place in scene.mixed(range(3)):
        text = f"Hello,\n\nthe work for you is done. {firms[place]} asks for {sums[place]}. Thank you!"
        box.message(scene.pick(box.people[:3]), subjects[place], text, scene.rng.uniform(1, 6))
    (talk,) = box.small_talk(1)
    label, odd = scene.some(LABELS, 2)
    read = [click(stray), BACK, click(right)]
    if level == 2:
        expert = [*read, choose("Label", label), press("Set label"), choose("Move to", folder), press("Move")]
        checks = [
            scene.shows(folder_page(folder), rf'link "{right}"[^\n]*\n(?:(?!- row\b).)*, {label}\b',
                        lacking=[f'link "{name}"' for name in (stray, last)])
        ]  # fmt: skip
        instruction = scene.say(
            f"One of the invoices in your inbox is from {firms[0]}. Label it {label} and move it to the folder"
            f" {folder}. Finish with its sum.",
            f"Find the invoice of {firms[0]} in your mail, give it the label {label}, and put it into {folder}. Finish"
            " with its sum.",
        )
        turns = [choose("Move to", unlike), click(last), choose("Label", odd), press("Delete"), click(talk)]
        return scene.draft(instruction, expert, turns, checks, sums[0], sums[1:], 14)
    paid = f"Hello,\n\nI have paid the one over {sums[0]} for you, you need not care."
    box.message(friend, "Your bills", paid, 0.3)
    box.message(other, "The bills", f"Hello,\n\nwhat about {sums[1]}? Somebody should pay that.", 0.5)
    fresh = scene.pick([name for name in FOLDERS if name not in box.folders])
    expert = [
        click("Your bills"),
        click("Settings"),
        write("New folder", fresh),
        press("Make folder"),
        click("Rules"),
        write("Text", right),
        choose("Move to", fresh),
        choose("Label", label),
        press("Make rule"),
        click("Apply the rule", "button", part=True),
    ]
    scene.rows("mail", "messages").sort(key=lambda row: str(row["sent_at"]))
    # If the subjects held the sums, nobody would have to open the invoices.
    for row in scene.rows("mail", "messages"):
        if row["subject"] in subjects:
            row["subject"] += f" over {sums[subjects.index(row['subject'])]}"
    landed = rf'link "{right} over [^\n]*\n(?:(?!- row\b).)*, {label}\b'
    checks = [
        scene.shows(folder_page(fresh), landed, lacking=[f'link "{name} over' for name in (stray, last)]),
        scene.shows(go("mail/rules"), rf"subject contains {right}: move to {fresh} label {label}"),
    ]
    instruction = (
        f"{friend.name} has paid one of your invoices and wrote you which. Make a folder {fresh}, and a rule for mails"
        f" whose subject contains 'Invoice' and the number of that invoice: it moves them to {fresh} and labels them"
        f" {label}. Apply it to your inbox. Finish with the number of the invoice."
    )
    turns = [write("Text", stray), write("Text", last), scene.pick([choose("Move to", folder), click("The bills")])]
    return scene.draft(instruction, expert, turns, checks, str(numbers[0]), [str(n) for n in numbers[1:]], 16)


@family
def answer_mail(scene: WebScene, level: int) -> TaskDraft:
    """The agent answers a question by other messages, of which the newest counts, and tells others too."""
    box = TaskMail(scene)
    asker, host, rival, friend, _ = box.people
    what, other = scene.some(OCCASIONS, 2)
    day, unlike, third = scene.some(DAYS, 3)
    where, elsewhere, nowhere = scene.some(PLACES, 3)
    scene.start("mail/folders/inbox")
    talk = box.small_talk(1 if level == 3 else 2)
    sent = folder_page("sent")
    text = f"It is on {day}"
    wrong_texts = [f"It is on {name}" for name in (unlike, third)]
    reply = [click("Reply"), write("Text", text), press("Send")]

    def letter(subject: str, to: Person, sentence: str) -> tuple[list[str], list[str]]:
        return [sent, click(subject)], [rf"definition [^\n]*: {re.escape(to.address)}\n", paragraph(sentence)]

    subject = "A question"
    path, wants = letter(f"Re: {subject}", asker, text)
    if level == 1:
        cities = scene.words("cities", 4)
        ask = f"Hello,\n\nwhen do we meet for {what}, on {day} or on {unlike}?"
        box.message(asker, subject, ask, 0.2, cities[0])
        box.message(rival, "Another question", f"Hello,\n\nis {other} on {unlike}, at {elsewhere}?", 0.4, cities[1])
        goal = scene.say(f"Answer the mail of {asker.name} with '{text}'.",
                         f"{asker.name} has asked you something: reply '{text}'.")  # fmt: skip
        expert = [click(subject), *reply]
        turns = [click("Another question"), write("Text", wrong_texts[0]), click("Forward"), press("Save draft"), BACK]
        return scene.draft(f"{goal} Finish with the city that {asker.first} writes from.", expert, turns,
                           [scene.shows(path, *wants)], cities[0], cities[1:], 13)  # fmt: skip
    ask = f"Hello,\n\nyou go to {what} too, don't you? On which day of next week is it?"
    box.message(asker, subject, ask, 0.2)
    tells = [
        (host, f"{what} next week", f"Hello,\n\nnext week {what} is on {day}, at {where}."),
        (rival, f"{other} next week", f"Hello,\n\nnext week {other} is on {unlike}, at {elsewhere}."),
    ]
    for who, title, body in scene.mixed(tells):
        box.message(who, title, body, scene.rng.uniform(2, 5))
    places = [elsewhere, nowhere]
    if level == 2:
        expert = [click(subject), click("Inbox", part=True), click(f"{what} next week"), click("Inbox", part=True),
                  click(subject), *reply]  # fmt: skip
        instruction = scene.say(
            f"{asker.name} asks you for a day. Another mail in your inbox has it: reply 'It is on' and the day. Finish"
            " with the place of that meeting, such as 'the church'.",
            f"Answer {asker.name}'s question with 'It is on' and the day, which somebody else wrote you. Finish with"
            " where that meeting is, such as 'the church'.",
        )
        turns = [*(write("Text", sentence) for sentence in wrong_texts), click(f"{other} next week"), click("Forward"),
                 click(talk[0]), press("Save draft")]  # fmt: skip
        return scene.draft(instruction, expert, turns, [scene.shows(path, *wants)], where, places, 13)
    shifted = f"Hello,\n\n{what} has to move: it is on {third}, not on {day}. The place stays."
    box.message(host, "A change", shifted, 0.4)
    box.message(rival, "The change", f"Hello,\n\n{other} moves to {day}. The place stays.", 0.6)
    sentence = f"It is on {third}"
    note = f"See you at {where}"
    expert = [
        click(subject),
        BACK,
        click(f"{what} next week"),
        BACK,
        click("A change"),
        press("Delete"),
        click(subject),
        click("Reply"),
        write("Text", sentence),
        press("Send"),
        click("Write"),
        fill_in(("To", friend.address), ("Subject", what), ("Text", note)),
        press("Send"),
    ]
    path, wants = letter(f"Re: {subject}", asker, sentence)
    more, needs = letter(what, friend, note)
    checks = [
        scene.shows(path, *wants),
        scene.shows(more, *needs),
        scene.shows(folder_page("trash"), 'link "A change"'),
    ]
    instruction = (
        f"{asker.name} asks you for a day, which stands in mails of {host.name}. Reply 'It is on' and the day that"
        f" holds now, delete the mail with the change, and write to {friend.address} with the subject '{what}':"
        " 'See you at' and the place. Finish with the day."
    )
    turns = [
        write("Text", text),
        fill_in(("To", friend.address), ("Subject", what), ("Text", f"See you at {elsewhere}")),
        click("The change"),
        ACCEPT,
        DISMISS,
    ]
    return scene.draft(instruction, expert, turns, checks, third, [day, unlike], 16)
