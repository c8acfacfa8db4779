"""Tasks in the files app: the agent sorts papers into folders."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import BACK, app, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line
from agentworld_gym.kit.vocabulary import common_pool

FOLDERS = ("Bills", "Archive", "Taxes", "Letters", "Insurance")


@family
def sort_papers(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent finds a file by its name, by its text, or by what a message says of it, and moves it."""
    names = background(scene, 5, 1)
    sender, other = scene.some(names, 2)
    scene.silence(sender, other)
    firms = scene.some(common_pool("companies").of(scene.split), 3)
    folders = scene.some(FOLDERS, 3)
    numbers = scene.some(range(1000, 9999), 3)
    sums = [f"{scene.rng.randrange(20, 400)}.{scene.rng.randrange(10, 99)}" for _ in range(3)]
    files = [f"scan_{number}.pdf" for number in sorted(numbers)]
    order = scene.some(range(3), 3)
    scene.state["files"] = {
        "folders": ["Downloads", *sorted(folders)],
        "files": [
            {"path": "Downloads", "name": files[place], "size": 80 + place, "changed": scene.today.isoformat(),
             "text": f"{firms[row]}. Total {sums[row]} euros."}
            for row, place in enumerate(order)
        ],
    }  # fmt: skip
    scene.state["permissions"] = {"files/files": "allowed"}
    name, wrong_name = files[order[0]], files[order[1]]
    firm, folder = firms[0], folders[0]
    find = [app("Files"), tap("Downloads"), tap(name)]
    move = [tap("More options"), tap("Move to"), tap(folder), tap("Move here")]
    landed = [app("Files"), tap(folder)]
    alone = scene.shows(landed, line(name), lacking=[line(other) for other in files if other != name])
    distractors = [
        tap(wrong_name),
        tap(folders[1]),
        tap(files[order[2]]),
        tap("Cancel"),
        tap("Delete"),
        tap(folders[2]),
    ]
    closing, answer, wrong = "Finish with the sum it is about.", sums[0], sums[1:]
    if level == 1:
        expert = [*find, *move]
        checks = [alone]
        goal = scene.say(
            f"Move the file {name} from Downloads to the folder {folder}.",
            f"{name} lies in Downloads, but belongs into the folder {folder}. Put it there.",
        )
    else:
        # The expert opens the other files too, because only their texts tell whose they are.
        expert = [app("Files"), tap("Downloads"), tap(wrong_name), BACK, tap(name), *move]
        checks = [alone]
        goal = scene.say(
            f"One of the scans in Downloads is the bill of {firm}. Move it to the folder {folder}.",
            f"Find the bill of {firm} among the scans in Downloads, and put it into the folder {folder}.",
        )
        if level == 3:
            scene.thread(sender, f"The bill that I paid for you was the one over {sums[0]} euros.", unread=1)
            scene.thread(other, f"I wrote down {sums[1]} euros for the other one.")
            rules = scene.some(
                (f"paid bills go to {folder}", f"open bills go to {folders[1]}", f"post goes to {folders[2]}"), 3
            )
            scene.note("Papers", "\n".join(["How I keep all my papers in order this year:", *rules]))
            expert = [app("Messages"), tap(sender), app("Notes"), tap("Papers"), *expert]
            goal = (
                f"{sender} paid one of the bills that lie as scans in Downloads, and wrote you which. Move that scan to"
                " where your note 'Papers' wants it."
            )
            distractors = [tap(folders[1]), tap(files[order[2]]), tap(folders[2])]
            closing, answer, wrong = "Finish with the name of the file.", name, [wrong_name]
    scene.mix()
    return scene.draft(goal, expert, distractors, checks, closing, answer, wrong, {1: 12, 2: 15, 3: 16}[level])
