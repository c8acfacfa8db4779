"""Tasks in the file manager: the agent renames and moves documents, and restores one from the trash."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, click, double, enter, icon, joined, keys, press
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, HOME, DesktopScene, family
from agentworld_gym.domains.desktop.tasks.vocabulary import FOLDERS, PEOPLE, STEMS, SURNAMES, TOWNS
from agentworld_gym.kit.vocabulary import WORDS

TRASH = ".local/share/Trash/files"
CUT, COPY, PASTE = keys("ctrl", "x"), keys("ctrl", "c"), keys("ctrl", "v")
NEW_FOLDER = keys("ctrl", "shift", "n")
SIZE = 16


def renaming(name: str, new: str) -> list[str]:
    """Return the actions that give a file another name."""
    return [click(icon(name)), press("f2"), enter(new, clear=True)]


def called(new: str) -> str:
    """Return the action that gives the selected file another name."""
    return joined(press("f2"), enter(new, clear=True))


def _dated(scene: DesktopScene, stem: str) -> str:
    return f"{stem}-2026-{scene.rng.randint(1, 12):02}.txt"


@family
def file_document(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent renames and moves a document; at higher levels it has to find the document, or a note tells how."""
    scene.show()
    return (_file_named, _file_by_content, _file_by_rules)[level - 1](scene)


def _file_named(scene: DesktopScene) -> TaskDraft:
    folder = scene.folder(f"Documents/{scene.fresh(FOLDERS)}")
    stems = scene.several(STEMS, 3)
    old, second, third = (scene.put(f"Documents/{stem}.txt", scene.line()) for stem in stems)
    new, *wrong = (_dated(scene, stem) for stem in stems)
    distractors = [
        click(icon(second)),
        click(icon(third)),
        *(enter(name, clear=True) for name in wrong),
        press("delete"),
        double(icon(folder)),
        click("list-item 'Downloads'"),
    ]
    instruction = scene.say(
        f'Rename the file "{old}" in Documents to "{new}".',
        f'The document "{old}" in the folder that is open shall be called "{new}".',
    )
    checks = [scene.lists(DOCUMENTS, [folder, new, second, third])]
    return scene.draft(instruction, renaming(old, new), distractors, checks, size=10)


def _file_by_content(scene: DesktopScene) -> TaskDraft:
    folder, other = (scene.folder(f"Documents/{name}") for name in scene.several(FOLDERS, 2))
    word = scene.fresh(WORDS)
    stems = scene.several(STEMS, 3)
    wrong, right, third = (
        scene.put(
            f"Documents/{stem}.txt", *scene.mixed([scene.line(), scene.line(*([word] if stem == stems[1] else []))])
        )
        for stem in stems
    )
    new, bad = _dated(scene, word), _dated(scene, stems[0])
    expert = [
        double(icon(wrong)),
        CLOSE,
        double(icon(right)),
        CLOSE,
        *renaming(right, new),
        CUT,
        double(icon(folder)),
        PASTE,
    ]
    distractors = [
        click(icon(wrong)),
        click(icon(third)),
        enter(bad, clear=True),
        double(icon(other)),
        COPY,
        double(icon(third)),
    ]
    instruction = scene.say(
        f'One of the three text documents in Documents mentions "{word}". Rename that one to "{new}" and move it into '
        f"the folder {folder}.",
        f'Find the text in Documents in which the word "{word}" stands. It gets the name "{new}" and goes into the '
        f"folder {folder}.",
    )
    checks = [scene.lists(f"{DOCUMENTS}/{folder}", [new]), scene.lists(DOCUMENTS, [folder, other, wrong, third])]
    return scene.draft(instruction, expert, distractors, checks, size=SIZE)


def _file_by_rules(scene: DesktopScene) -> TaskDraft:
    folder, other = scene.several(FOLDERS, 2)
    client, stranger = scene.several(SURNAMES, 2)
    number, stray = scene.rng.sample(range(100, 999), 2)
    kind, spare = scene.several(STEMS, 2)
    rules = scene.put(
        "Documents/filing rules.txt",
        *scene.mixed(
            [
                f"A finished {kind} goes into the folder {folder}.",
                f"A finished {spare} goes into the folder {other}.",
            ]
        ),
        "Make the folder if it is not there.",
        "The name of the file is the client and the number, such as Client-123.txt.",
    )
    document = scene.put(
        f"Documents/{kind}.txt",
        *scene.mixed([f"Client: {client}", f"Number: {number}", f"Page: {stray}", f"Written by: {stranger}"]),
    )
    distractor = scene.put(f"Documents/{spare}.txt", f"Client: {stranger}", f"Number: {stray}")
    new = f"{client}-{number}.txt"
    expert = [
        double(icon(rules)),
        CLOSE,
        double(icon(document)),
        CLOSE,
        NEW_FOLDER,
        enter(folder),
        click(icon(document)),
        called(new),
        CUT,
        double(icon(folder)),
        PASTE,
    ]
    others = [f"{name}-{value}.txt" for name in (client, stranger) for value in (number, stray)][1:]
    distractors = [enter(other), double(icon(other)), *map(called, scene.mixed(others))]
    instruction = scene.say(
        f'The document "{document}" is finished. File it as "{rules}" says.',
        f'Read "{rules}" and do with "{document}" what it asks for; the document is finished.',
    )
    checks = [scene.lists(f"{DOCUMENTS}/{folder}", [new]), scene.lists(DOCUMENTS, [folder, rules, distractor])]
    return scene.draft(
        instruction, expert, distractors, checks, size=SIZE, found=("the number of that client", str(number))
    )


@family
def restore_document(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent restores a deleted document from the trash, and renames and moves it."""
    scene.show()
    people = scene.several(PEOPLE, 4)
    towns = scene.several(TOWNS, 4)
    names = [scene.put(f"{TRASH}/{stem}.txt", f"{person}, {town}")
             for stem, person, town in zip(scene.several(STEMS, 4), people, towns, strict=True)]  # fmt: skip
    lost, wrong, *others = names
    text = f"{people[0]}, {towns[0]}\n"
    new, bad, worse, _ = (f"{person.lower()}-{town.lower()}.txt" for person, town in zip(people, towns, strict=True))
    back = [click("list-item 'Trash'"), click(icon(lost)), click("push-button 'Restore'"), click("list-item 'Home'")]
    if level == 1:
        expert = [*back, *renaming(lost, new)]
        distractors = [click(icon(wrong)), enter(bad, clear=True), press("delete"), click("list-item 'Downloads'")]
        distractors += [click(icon(others[0])), double(icon("Documents"))]
        instruction = scene.say(
            f'"{lost}" was deleted by mistake. Restore it from the trash (it comes back to the home folder) and '
            f'rename it to "{new}".',
            f'Get "{lost}" back out of the trash into the home folder, and name it "{new}" there.',
        )
        return scene.draft(instruction, expert, distractors, [scene.holds(f"{HOME}/{new}", text)], size=14)
    folder, other = (scene.folder(f"Documents/{name}") for name in scene.several(FOLDERS, 2))
    place = [CUT, click("list-item 'Documents'"), double(icon(folder)), PASTE]
    checks = [scene.lists(f"{DOCUMENTS}/{folder}", [new]), scene.holds(f"{DOCUMENTS}/{folder}/{new}", text)]
    if level == 2:
        expert = [*back, *renaming(lost, new), *place]
        distractors = [click(icon(wrong)), double(icon(other)), enter(bad, clear=True), COPY]
        instruction = scene.say(
            f'Restore "{lost}" from the trash (it comes back to the home folder), rename it to "{new}" and move it '
            f"into the folder {folder} in Documents.",
            f'"{lost}" lies in the trash. It belongs into the folder {folder} in Documents, named "{new}". What is '
            "restored comes back to the home folder first.",
        )
        return scene.draft(instruction, expert, distractors, checks, size=SIZE)
    lines = [f"{person}: {name}" for person, name in zip(people, names, strict=True)]
    register = scene.put("Documents/register.txt", *scene.mixed(lines))
    wanted = scene.put(
        "Documents/request.txt", f"The paper of {people[0]} is needed again.", f"It belongs to {folder}."
    )

    def prepare(name: str, new: str) -> str:
        return joined(click(icon(name)), called(new), CUT)

    def deliver(folder: str) -> str:
        return joined(double(icon(folder)), PASTE)

    expert = [double(icon(wanted)), CLOSE, double(icon(register)), CLOSE, *back, prepare(lost, new)]
    expert += [click("list-item 'Documents'"), deliver(folder)]
    distractors = [deliver(other), click(icon(wrong)), prepare(wrong, bad), click(icon(others[0]))]
    distractors += [prepare(others[0], worse)]
    instruction = (
        f'Do what "{wanted}" asks for: "{register}" tells which document is whose. They are all in the trash, and '
        "what is restored comes back to the home folder. Move the document into the folder in Documents that is "
        "named in the request, and rename it to the person and the town it mentions, in small letters, such as "
        "anna-paris.txt."
    )
    return scene.draft(
        instruction, expert, distractors, checks, size=SIZE, found=("which document that was in the trash", lost)
    )
