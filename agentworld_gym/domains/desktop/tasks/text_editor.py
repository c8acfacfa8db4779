"""Tasks in the text editor: the agent replaces words in a note."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, SAVE, click, double, enter, icon, joined, keys, write
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, DesktopScene, family
from agentworld_gym.domains.desktop.tasks.vocabulary import PEOPLE, TOWNS

SIZE = 16
REPLACE_ALL = click("push-button 'Replace All'")


def replacing(old: str, new: str) -> list[str]:
    """Return the actions that replace a word everywhere in the editor."""
    return [keys("ctrl", "h"), write(old), click("entry 'Replace with'"), write(new), REPLACE_ALL]


@family
def correct_note(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent replaces a word wherever it stands in a note; at higher levels another note tells which word."""
    old, new, spare, elsewhere = scene.several(TOWNS, 4)
    host, guest, other, present = scene.several(PEOPLE, 4)
    lines = [
        f"Dear {guest},",
        f"we meet in {old} on Friday.",
        f"Trains to {old} leave at nine; {spare} is on the way.",
        f"Yours, {host}",
    ]
    letter = scene.put("Documents/invitation.txt", *lines)
    path = f"{DOCUMENTS}/{letter}"
    corrected = "".join(line.replace(old, new) + "\n" for line in lines)
    tempting = [write(elsewhere), write(spare), click("push-button 'Replace'"), write(guest), CLOSE]
    if level == 1:
        scene.open("editor", path)
        instruction = scene.say(
            f"In the letter that is open, replace {old} by {new} wherever it stands, and save.",
            f"The letter that is open says {old} where it should say {new}. Correct that everywhere and save it.",
        )
        return scene.draft(instruction, [*replacing(old, new), SAVE], tempting, [scene.holds(path, corrected)], size=12)
    scene.show()
    news = scene.put(
        "Documents/news.txt",
        *scene.mixed([f"We do not meet in {old} but in {new}.", f"The dinner stays in {elsewhere}."]),
        *scene.mixed([f"{other} cannot come.", f"{present} comes late."]),
    )
    read = [double(icon(news)), CLOSE]
    if level == 2:
        expert = [*read, double(icon(letter)), *replacing(old, new), SAVE]
        instruction = scene.say(
            f'"{news}" tells of a change. Correct "{letter}" accordingly, wherever the place is mentioned, and save '
            "it.",
            f'The place of the meeting in "{letter}" is no longer right, see "{news}". Correct it everywhere and save.',
        )
        return scene.draft(instruction, expert, tempting[:4], [scene.holds(path, corrected)], size=16)
    list_ = scene.put("Documents/absent.txt", "Cannot come:", scene.fresh(PEOPLE))
    before = scene.files[f"{DOCUMENTS}/{list_}"]

    def seek(word: str) -> str:
        return joined(keys("ctrl", "h"), write(word))

    def put(word: str) -> str:
        return joined(click("entry 'Replace with'"), write(word))

    expert = [*read, double(icon(letter)), seek(old), put(new), REPLACE_ALL, SAVE]
    expert += [CLOSE, double(icon(list_)), keys("ctrl", "end"), enter(other), SAVE]
    instruction = (
        f'"{news}" tells of changes. Correct the place in "{letter}" wherever it is mentioned and save it. Then add '
        f'who cannot come as a line at the end of "{list_}", and save that.'
    )
    distractors = [put(elsewhere), enter(present), seek(spare), put(spare), enter(guest)]
    checks = [scene.holds(path, corrected), scene.holds(f"{DOCUMENTS}/{list_}", f"{before}{other}\n")]
    return scene.draft(instruction, expert, distractors, checks, size=SIZE, found=("who cannot come", other))
