"""Tasks in the call log: the agent returns missed calls."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import app, enter_text, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line
from agentworld_gym.kit.vocabulary import common_pool


@family
def return_calls(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent answers missed calls by a message, or calls a number, saves it under a name and blocks another one."""
    names = background(scene, 5, 2)
    first, second, third = scene.some(names, 3)
    scene.silence(first, second)
    minutes = scene.some(range(5, 55), 4)
    firms = scene.some(common_pool("companies").of(scene.split), 3)
    numbers = [scene.number() for _ in range(2)]
    texts = scene.some(
        ("I call you back at noon", "Was in the train, what is up?", "In a meeting until ten", "Call you tonight"), 4
    )
    scene.call(third, "incoming", 6, minutes[3], 75)
    if level == 1:
        scene.call(first, "missed", 6, minutes[1])
        scene.call(second, "outgoing", 6, minutes[0], 64)
        expert = [app("Phone"), tap(first), tap("Send message"), enter_text("Text message", texts[0]), tap("Send SMS")]
        goal = scene.say(
            f"Send '{texts[0]}' to the person whose call you missed this morning.",
            f"You missed a call this morning. Answer it with the message '{texts[0]}'.",
        )
        distractors = [
            tap(second),
            *(enter_text("Text message", text) for text in texts[1:]),
            tap(third),
            tap(f"Call {scene.pick((first, second))}"),
            tap("Keypad"),
        ]
        return scene.draft(goal, expert, distractors, [scene.sent(first, texts[0])], menu_max=13)
    scene.call(numbers[0], "missed", 6, minutes[0])
    scene.call(numbers[1], "missed", 6, minutes[1])
    if level == 3:
        scene.call(numbers[1], "missed", 6, minutes[2])
    jobs = scene.some(("Plumber", "Carpenter", "Electrician", "Tiler", "Painter"), 3)
    scene.note(
        "Repairs",
        f"Who promised to call about the bathroom:\n{firms[0]}, {jobs[0]}: {numbers[0]}\nTiles are in the cellar.",
    )
    scene.note("Old flat", f"Who we had there in the last years:\n{firms[1]}, {jobs[1]}: {scene.number()}")
    save = [
        app("Phone"),
        tap(numbers[0]),
        tap("More options"),
        tap("Add contact"),
        enter_text("Name", firms[0]),
        tap("Save", "Button"),
        tap(numbers[0]),
        tap("End call"),
    ]
    saved = scene.shows([app("Contacts"), tap(firms[0])], line(numbers[0]))
    called = scene.shows([app("Phone"), tap(firms[0])], line("Outgoing call"))
    distractors = [
        tap(numbers[1]),
        enter_text("Name", firms[1]),
        tap("Old flat"),
        tap(f"Call {numbers[1]}"),
        tap("Delete calls"),
    ]
    goal = scene.say(
        "One of the unknown numbers that you missed a call from this morning stands in your note 'Repairs'. Save it as"
        " a contact under the name of the firm, and call it.",
        "Your note 'Repairs' knows one of the numbers whose calls you missed. Make it a contact, named like the firm,"
        " and call back.",
    )
    checks = [saved, called]
    expert = [app("Notes"), tap("Repairs"), *save]
    if level == 3:
        scene.thread(
            first, f"Somebody from {numbers[1]} calls everyone about a prize. Do not pick up, block it!", unread=1
        )
        scene.thread(second, "Did the firm call about the bathroom?")
        expert = [
            app("Messages"),
            tap(first),
            *expert,
            app("Phone"),
            tap(numbers[1]),
            tap("More options"),
            tap("Block number"),
        ]
        block = [app("Phone"), tap(numbers[1]), tap("More options")]
        checks.append(scene.shows(block, line("Unblock number")))
        goal += f" {first} warns you of a number in a message: block that one."
        distractors = [enter_text("Name", firms[1]), tap("Old flat"), tap("Delete calls")]
    scene.mix()
    return scene.draft(
        goal,
        expert,
        distractors,
        checks,
        "Finish with what the firm is.",
        jobs[0],
        jobs[1:],
        menu_max={2: 14, 3: 16}[level],
    )
