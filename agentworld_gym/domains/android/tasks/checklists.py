"""Tasks in checklists: the agent ticks off items that were bought."""

from __future__ import annotations

from agentworld_gym.core.domain.task import Check
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import BACK, app, enter_text, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, checked, family, line, words


def ticked(item: str, done: bool) -> str:
    """Return a regular expression for an item of a checklist that is ticked or not."""
    return line("", item, checked(done))


@family
def tick_list(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent ticks the items that the task, one message or two messages name, and at level 3 sends the list on."""
    names = background(scene, 5, 1)
    buyer, other, third = scene.some(names, 3)
    scene.silence(buyer, other)
    titles = scene.some(list(words().lists), 2)
    title = titles[0]
    things = scene.some(words().lists[title], 10)
    # The number of items left must not tell how many items there were.
    left, marked = scene.rng.randint(1, 5), scene.rng.randint(0, 1)
    count = 2 + marked + left
    items, extra, wrong_extra = things[:count], things[8], things[9]
    bought, done, kept = items[:2], items[2 : 2 + marked], items[2 + marked :]
    listed = scene.some(items, count)
    scene.note(title, items=[(item, item in done) for item in listed], pinned=scene.rng.random() < 0.3)
    scene.note(titles[1], items=[(item, False) for item in scene.some(words().lists[titles[1]], 4)])
    scene.note("Meter readings", "All taken at the beginning of the month.")
    opened = [app("Notes"), tap(title)]
    first = buyer.split()[0]
    distractors = [tap(kept[0]), *map(tap, kept[1:2]), tap(titles[1]), *map(tap, done), tap("Meter readings")]
    distractors.append(tap("Uncheck all items"))
    got, same = bought, [*(ticked(item, True) for item in done), *(ticked(item, False) for item in kept)]
    more: list[Check] = []
    if level == 1:
        expert = [*opened, *(tap(item) for item in bought)]
        goal = scene.say(
            f"You bought {bought[0].lower()} and {bought[1].lower()}: tick them off in the list '{title}', and nothing"
            " else.",
            f"In your note '{title}', tick off {bought[0].lower()} and {bought[1].lower()} only.",
        )
    else:
        left += 1
        add = [enter_text("List item", extra), tap("Add item")]
        more.append(scene.shows(opened, ticked(extra, False)))
        distractors.insert(1, enter_text("List item", wrong_extra))
        if level == 2:
            says = f"Back from the shop with {bought[0].lower()} and {bought[1].lower()}. We also need {extra.lower()}!"
            scene.thread(buyer, f"I am on my way to get things for the {title.lower()} list.", says, unread=2)
            expert = [app("Messages"), tap(buyer), *opened, *(tap(item) for item in bought), *add]
            goal = scene.say(
                f"Bring your list '{title}' up to date with what {buyer} wrote: tick what was bought, add what is"
                " missing.",
                f"{buyer} went shopping and wrote about it. Tick off in '{title}' what {first} got, and add what"
                f" {first} says is needed too.",
            )
        else:
            left += 1
            got, same = bought[:1], [*same, ticked(bought[1], False)]
            scene.thread(buyer, f"I am on my way to get things for the {title.lower()} list.",
                         f"They only had {bought[0].lower()} left, the rest another time.", unread=2)  # fmt: skip
            scene.thread(
                other, f"Good that you keep the {title.lower()} list!", f"Put {extra.lower()} on it please.", unread=2
            )
            expert = [app("Messages"), tap(buyer), BACK, tap(other), *opened, tap(bought[0]), *add]
            expert += [tap("More options"), tap("Send"), tap("Messages"), tap(other), tap("Send SMS")]
            distractors = [enter_text("List item", wrong_extra), tap(bought[1]), tap(third)]
            goal = (
                f"{buyer} and {other} wrote about your list '{title}': tick off what was bought, add what is wanted"
                f" (with a capital letter), and then send the list to {other.split()[0]}."
            )
            marks = [f"[{'x' if item in (*done, bought[0]) else ' '}] {item}" for item in listed] + [f"[ ] {extra}"]
            more.append(scene.sent(other, "\n".join([title, *marks])))
        if level == 2:
            goal += " Write it with a capital letter."
    scene.mix()
    checks = [scene.shows(opened, ticked(item, True), *same) for item in got]
    return scene.draft(
        goal,
        expert,
        distractors,
        [*checks, *more],
        "Finish with the number of items that are not ticked then.",
        str(left),
        [
            str(number)
            for number in scene.some([n for n in range(level, level + 5) if n != left], 3 if level < 3 else 1)
        ],
        menu_max={2: 14, 3: 16}.get(level),
    )
