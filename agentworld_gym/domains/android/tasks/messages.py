"""Tasks in the messages: the agent answers a question from a note, or passes a message on."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import BACK, app, enter_text, hold, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line, words

HOUSES = ("Flat", "Cabin", "Boathouse", "Studio", "Farm")
DOORS = ("gate", "cellar", "shed", "letter box", "garage", "attic")
PREFACE = "Only for the family and friends, not for posting."
OCCASIONS = ("Rehearsal", "Regatta", "Quiz night", "Book club", "Flea market", "Pottery class", "Chess evening")
HALLS = ("Small hall", "Boathouse", "Room Cedar", "Old mill", "School gym", "Tea garden")


@family
def answer_question(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent sends somebody a code from a note; the calendar and messages tell which note, and whether it still
    holds."""
    names = background(scene, 5)
    asker, keeper, friend = scene.some(names, 3)
    scene.silence(asker, keeper)
    houses = scene.some(HOUSES, 1 if level == 1 else 3)
    doors = scene.some(DOORS, 3)
    codes = [f"{number:04}" for number in scene.some(range(1000, 9999), 3 * len(houses) + 2)]
    texts = {}
    for place, house in enumerate(houses):
        lines = [f"{door.capitalize()}: {code}" for door, code in zip(doors, codes[3 * place :], strict=False)]
        texts[f"Codes {house}"] = "\n".join([PREFACE, *scene.some(lines, len(lines))])
    for title, text in texts.items():
        scene.note(title, text)
    scene.note("Soup", "Two leeks, a potato, nutmeg.")
    house, note = houses[0], f"Codes {houses[0]}"
    code, wrong = codes[0], codes[1:] if level == 1 else [codes[3], codes[1]]
    door = doors[0]
    see = [app("Messages"), tap(asker)]
    look: list[str] = []
    checks = []
    if level == 1:
        scene.thread(asker, f"What was the code of the {door} again?", unread=1)
        request = f"{asker} asked you for a code"
    else:
        day = scene.tomorrow
        scene.thread(asker, f"I am at the place where we meet tomorrow. What is the code of the {door}?", unread=1)
        scene.event(f"Lunch with {asker.split()[0]}", day, 12, place=house)
        scene.event(f"Tea with {friend.split()[0]}", day, 16, place=houses[1])
        look = [app("Calendar")]
        request = f"{asker} needs a code and says in a message where"
    instruction = scene.say(f"{request}. Your notes have it: send {asker.split()[0]} the code and nothing else.",
                            f"{request}. Look the code up in your notes and send just that.")  # fmt: skip
    distractors = [tap(f"Codes {houses[1]}")] if level > 1 else [tap("Soup")]
    if level == 3:
        code, wrong = codes[9], [codes[3], codes[0]]
        scene.thread(
            keeper, f"The {door} of the {house.lower()} has a new lock.", f"Its code is {code} from now on.", unread=2
        )
        corrected = texts[note].replace(codes[0], code)
        look = [BACK, tap(keeper), app("Calendar")]
        spoiled = texts[note].replace(codes[0], codes[3])
        distractors += [enter_text("Note", spoiled, clear=True)]
        checks.append(scene.shows([app("Notes"), tap(note)], line(corrected)))
        instruction += (
            f" If a code was changed since, {keeper.split()[0]} has written to you about it: then correct the note too."
        )
    distractors += [
        *(enter_text("Text message", number) for number in wrong),
        tap(friend),
        *([tap(f"Codes {houses[2]}")] if level > 1 else [tap("Delete")]),
        tap("Call"),
    ]
    expert = [*see, *look, app("Notes"), tap(note)]
    if level == 3:
        expert.append(enter_text("Note", corrected, clear=True))
    expert += [*see, enter_text("Text message", code), tap("Send SMS")]
    scene.mix()
    return scene.draft(
        instruction,
        expert,
        distractors,
        [*checks, scene.sent(asker, code)],
        "Finish with the code.",
        code,
        wrong,
        menu_max={1: 14, 2: 13, 3: 16}[level],
    )


@family
def pass_on(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent forwards one of several messages; the call log tells to whom, and the calendar from whom."""
    names = background(scene, 6, 1)
    scene.state["messages"]["threads"].clear()
    sender, target, stranger = scene.some(names, 3)
    scene.thread(stranger, *scene.pick(words().small_talk))
    occasions, halls = scene.some(OCCASIONS, 3), scene.some(HALLS, 3)
    hours = scene.some(range(14, 22), 3)
    texts = [
        f"{what} starts at {hour}:30. Place this time: {hall}"
        for what, hour, hall in zip(occasions, hours, halls, strict=True)
    ]
    order = scene.some(range(3), 3)
    scene.thread(sender, *(texts[place] for place in order), unread=1)
    what, text = occasions[0], texts[0]
    send = [app("Messages"), tap(sender), hold(text), tap("Forward"), tap(target), tap("Send SMS")]
    distractors = [hold(texts[1]), tap(stranger), hold(texts[2]), tap("Delete")]
    checks = [scene.sent(target, text)]
    first = sender.split()[0]
    subject = f"what {first} wrote about the {what.lower()}"
    if level == 1:
        expert = send
        others = [name for name in names if name not in (sender, target, stranger)]
        distractors[1:1] = [*map(tap, others[:2]), enter_text("Text message", texts[1])]
        distractors.append(tap("Copy"))
        instruction = scene.say(
            f"Forward {subject} to {target}.",
            f"{target} wants to know about the {what.lower()}: forward {first}'s message.",
        )
    else:
        missed = scene.rng.randint(10, 50)
        scene.call(target, "missed", 6, missed)
        scene.call(stranger, "incoming", 6, missed - 7, 95)
        scene.call(scene.pick([n for n in names if n not in (target, stranger)]), "outgoing", 6, missed + 5, 60)
        expert = [app("Phone"), *send]
        instruction = f"Forward {subject} to the person whose call you missed this morning."
        distractors.insert(1, tap(f"Call {scene.pick((target, stranger))}"))
    if level == 3:
        scene.event(what, scene.tomorrow, 19, guests=[sender])
        scene.event(occasions[1], scene.tomorrow, 15, guests=[stranger])
        planned = [app("Calendar"), tap(what)]
        put = [tap("Edit event"), enter_text("Add location", halls[0]), tap("Save", "Button")]
        expert = [*planned, *expert, *planned, *put]
        checks.append(scene.shows(planned, line(halls[0])))
        distractors = [hold(texts[1]), enter_text("Add location", halls[1]), tap(stranger), tap(occasions[1])]
        instruction = (
            f"Tomorrow's {what.lower()} in your calendar has a guest, who wrote to you about it. Forward that message"
            " to the person whose call you missed this morning, and put the place it names into the event as its"
            " location."
        )
    scene.mix()
    return scene.draft(
        f"{instruction}",
        expert,
        distractors,
        checks,
        f"Finish with the time at which the {what.lower()} starts.",
        f"{hours[0]}:30",
        [f"{hours[1]}:30"],
        menu_max={1: 14, 2: 13, 3: 16}[level],
    )
