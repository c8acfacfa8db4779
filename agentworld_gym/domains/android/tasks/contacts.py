"""Tasks in the contacts: the agent saves or replaces a number that came in a message."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import app, enter_text, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line, words
from agentworld_gym.kit.vocabulary import common_pool

GREETINGS = ("See you soon!", "Got it", "Welcome to the new number", "All saved", "Hello on the new phone")


@family
def save_number(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent saves an unknown sender as a contact, or gives a known person a new number."""
    names = background(scene)
    numbers = [scene.number() for _ in range(2)]
    firms = scene.some(common_pool("companies").of(scene.split), 3)
    if level == 3:
        return _new_number(scene, numbers, names)
    senders = [scene.name() for _ in range(2)]
    topics = scene.some(words().messages, 2)
    for number, sender, firm, (_, text) in zip(numbers, senders, firms[:2], topics, strict=True):
        scene.thread(number, text, f"Best wishes, {sender}, {firm}", unread=1)
    scene.mix()
    number, name, firm = numbers[0], senders[0], firms[0]
    add = [app("Messages"), tap(number), tap("More options"), tap("Add contact"), enter_text("Name", name)]
    company = [enter_text("Company", firm)] if level == 2 else []
    having = [line(number), line(firm)][:level]
    distractors = [
        tap(numbers[1]),
        enter_text("Name", senders[1]),
        tap("Delete"),
        enter_text("Name", firms[2]),
        tap("Call"),
    ]
    if level == 1:
        distractors[2:2] = [enter_text("Phone", numbers[1], clear=True), enter_text("Name", scene.pick(names))]
        instruction = scene.say(
            f"A message came from {number}. Save the number as a contact under the name that the message is signed"
            " with.",
            f"Who is {number}? Read the message, and make the number a contact with the sender's name.",
        )
    else:
        distractors.insert(1, enter_text("Company", firms[1]))
        instruction = scene.say(
            f"Somebody who is not among your contacts wrote about {topics[0][0]}. Save the number with the name and the"
            " company of the sender.",
            f"There is a message about {topics[0][0]} from an unknown number. Add its sender to your contacts, with"
            " name and company.",
        )
    return scene.draft(
        instruction,
        [*add, *company, tap("Save", "Button")],
        distractors,
        [scene.shows([app("Contacts"), tap(name)], pattern, lacking=[line(numbers[1])]) for pattern in having],
        "Finish with the company the sender works for.",
        firm,
        [firms[1]],
        menu_max=13,
    )


def _new_number(scene: AndroidScene, numbers: list[str], names: list[str]) -> TaskDraft:
    """Draft a task in which two people have new numbers and the agent deals with one of them."""
    name, other = scene.some(names, 2)
    old = {person["name"]: person["phone"] for person in scene.state["contacts"]["people"]}
    for number, sender in zip(numbers, (name, other), strict=True):
        scene.thread(
            number,
            f"New phone and new number! Please use this one. {sender}",
            "The old one is gone for good.",
            unread=2,
        )
    scene.mix()
    number, text, wrong_text = numbers[0], *scene.some(GREETINGS, 2)
    first = name.split()[0]
    expert = [
        app("Messages"),
        tap(number),
        app("Contacts"),
        tap(name),
        tap("Edit contact"),
        enter_text("Phone", number, clear=True),
        tap("Save", "Button"),
        tap("Add to favorites"),
        tap("Send text message"),
        enter_text("Text message", text),
        tap("Send SMS"),
    ]
    instruction = scene.say(
        f"{name} has a new number and wrote to you from it. Put it into {first}'s contact instead of the old one, make "
        f"{first} a favorite, and send '{text}' to the new number.",
        f"Find the message in which {name} tells of a new number. Change the contact, add it to your favorites and"
        f" write '{text}' to the new number.",
    )
    return scene.draft(
        instruction,
        expert,
        [
            tap(numbers[1]),
            enter_text("Phone", numbers[1], clear=True),
            tap(other),
            enter_text("Text message", wrong_text),
        ],
        [
            scene.shows([app("Contacts"), tap(name)], line(number)),
            scene.shows([app("Contacts"), tap(name)], 'desc="Remove from favorites"'),
            scene.sent(name, text),
        ],
        f"Finish with the number that {first} had before.",
        old[name],
        [old[other]],
        menu_max=16,
    )
