"""Tasks in the terminal: the agent finds files by their contents."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, SAVE, cell, click, double, enter, icon, keys
from agentworld_gym.domains.desktop.tasks.file_manager import renaming
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, DesktopScene, family
from agentworld_gym.domains.desktop.tasks.text_editor import SIZE
from agentworld_gym.domains.desktop.tasks.vocabulary import PEOPLE, STEMS, SURNAMES, TOWNS
from agentworld_gym.kit.vocabulary import WORDS


@family
def search_by_terminal(scene: DesktopScene, level: int) -> TaskDraft:
    """The agent finds something out by commands that would take long by hand, and acts on it in other programs."""
    scene.show()
    scene.open("terminal", DOCUMENTS)
    return (_rename_found, _enter_count, _enter_found)[level - 1](scene)


def _notes(scene: DesktopScene, word: str, count: int) -> list[str]:
    """Write notes with names in random order, of which the first one holds a word; return the names."""
    names = []
    for i, stem in enumerate(scene.several(STEMS, count)):
        lines = [scene.line(), scene.line(word) if i == 0 else scene.line()]
        names.append(scene.put(f"Documents/{stem}.txt", *scene.mixed(lines)))
    return names


def _rename_found(scene: DesktopScene) -> TaskDraft:
    word, other = scene.several(WORDS, 2)
    found, second, third, *_ = _notes(scene, word, 6)
    new, bad = f"{word}.txt", f"{other}.txt"
    text = scene.files[f"{DOCUMENTS}/{found}"]
    expert = [enter(f"grep -l {word} *.txt"), CLOSE, *renaming(found, new)]
    distractors = [
        enter(f"grep -l {other} *.txt"),
        click(icon(second)),
        enter(bad, clear=True),
        click(icon(third)),
        enter("ls"),
        press_delete(),
    ]
    instruction = scene.say(
        f'One of the notes in Documents mentions "{word}". Find it with the terminal and rename it to "{new}".',
        f'Which file in Documents holds the word "{word}"? Search with the terminal, and give that file the name '
        f'"{new}".',
    )
    return scene.draft(instruction, expert, distractors, [scene.holds(f"{DOCUMENTS}/{new}", text)], size=12)


def press_delete() -> str:
    """Return the code for the key that moves the selected file to the trash."""
    return "pyautogui.press('delete')"


def _enter_count(scene: DesktopScene) -> TaskDraft:
    towns, people = scene.several(TOWNS, 4), PEOPLE.of(scene.split)
    counts = scene.rng.sample(range(3, 12), 4)
    visits = scene.mixed(town for town, count in zip(towns, counts, strict=True) for _ in range(count))
    journal = scene.put("Documents/journal.txt", *(f"{scene.rng.choice(people)} {town}" for town in visits))
    rows = scene.mixed(range(4))
    missing = rows[0]
    order = scene.mixed(range(4))
    table = scene.put(
        "Documents/visits.ods", "Town,Visits", *(f"{towns[i]},{'' if i == missing else counts[i]}" for i in order)
    )
    where, count = f"B{order.index(missing) + 2}", counts[missing]
    beside = f"B{order.index(rows[1]) + 2}"
    expert = [
        enter(f"grep -c {towns[missing]} {journal}"),
        CLOSE,
        double(icon(table)),
        click(cell(where)),
        enter(str(count)),
        SAVE,
    ]
    # The right number may be the least, the middle or the greatest of its neighbours.
    least = count - scene.rng.randrange(3)
    near = [number for number in range(least, least + 3) if number != count]
    numbers = dict.fromkeys([*near, *(counts[i] for i in rows[1:3])])
    distractors = [
        *(enter(str(number)) for number in numbers),
        enter(f"grep -c {towns[rows[1]]} {journal}"),
        click(cell(beside)),
        enter(f"wc -l {journal}"),
        enter(str(len(visits))),
        keys("ctrl", "z"),
    ]
    instruction = (
        f'Each line of "{journal}" is one visit. Count with the terminal how often {towns[missing]} was visited, and '
        f'enter the number where it is missing in "{table}". Save the table.'
    )
    return scene.draft(
        instruction, expert, distractors, [scene.cells(f"{DOCUMENTS}/{table}", {where: str(count)})], size=SIZE
    )


def _enter_found(scene: DesktopScene) -> TaskDraft:
    client, stranger = scene.several(SURNAMES, 2)
    number, stray = scene.rng.sample(range(120, 980), 2)
    names = _notes(scene, client, 6)
    found, second = names[:2]
    scene.put(f"Documents/{found}", *scene.mixed([f"Client {client}", f"Sum {number}", scene.line()]))
    scene.put(f"Documents/{second}", *scene.mixed([f"Client {stranger}", f"Sum {stray}", scene.line()]))
    people = scene.mixed([client, stranger])
    table = scene.put("Documents/ledger.ods", "Client,Sum", *(f"{person}," for person in people))
    where, beside = (f"B{people.index(person) + 2}" for person in (client, stranger))
    new, bad = f"{client.lower()}-done.txt", f"{stranger.lower()}-done.txt"
    text = scene.files[f"{DOCUMENTS}/{found}"]
    expert = [
        enter(f"grep -l {client} *.txt"),
        enter(f"cat {found}"),
        CLOSE,
        double(icon(table)),
        click(cell(where)),
        enter(str(number)),
        SAVE,
        CLOSE,
        *renaming(found, new),
    ]
    distractors = [
        enter(f"cat {second}"),
        enter(str(stray)),
        click(cell(beside)),
        click(icon(second)),
        enter(bad, clear=True),
    ]
    instruction = (
        f"One of the notes in Documents is about the client {client}. Find it with the terminal, enter the sum it "
        f'tells on the line of {client} in "{table}" and save. Then rename the note to "{new}".'
    )
    checks = [
        scene.cells(f"{DOCUMENTS}/{table}", {where: str(number), beside: ""}),
        scene.holds(f"{DOCUMENTS}/{new}", text),
    ]
    return scene.draft(instruction, expert, distractors, checks, size=SIZE, found=("that sum", str(number)))
