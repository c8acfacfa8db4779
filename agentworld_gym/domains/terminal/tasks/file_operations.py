"""Tasks with whole files: the agent creates, copies, moves and archives them."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.terminal.tasks.scene import TerminalScene, family, prints, prints_names


@family
def create_files(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent makes the folder that a plan names, and writes a file in it with lines that stand elsewhere."""
    plan, other_plan, text, other_text = (scene.file("txt") for _ in range(4))
    folder, wrong_folder, spare, name = scene.folder(), scene.folder(), scene.folder(), scene.file("log")
    first, last, wrong = scene.line(), scene.line(), scene.line()
    scene.put(plan, scene.mixed([f"make {folder}"], [f"start {scene.word()}"]))
    scene.put(other_plan, scene.mixed([f"make {wrong_folder}"], [f"start {scene.word()}"]))
    scene.put(text, [first, *scene.lines(0, 1), last])
    scene.put(other_text, [wrong, *scene.lines(1, 2)])
    target = f"{folder}/{name}"
    expert = [f"grep make {plan}", f"mkdir {folder}", f"head -n 1 {text}", f"echo {first} > {target}"]
    instruction = scene.say(
        f"{plan} says which folder to make. Make it, and in it a file {name} with the first line of {text}",
        f"Make the folder that {plan} names. A file {name} in it shall hold only the first line of {text}",
    )
    if level == 1:
        checks = [prints(f"ls -1 {folder}", [name]), prints(f"cat {target}", first)]
        instruction += "."
    else:
        expert += [f"tail -n 1 {text}", f"echo {last} >> {target}"]
        checks = [prints(f"head -n 1 {target}", first), prints(f"cat {target}", [first, last])]
        instruction += f". Append the last line of {text} to it."
    if level == 3:
        expert += [f"mkdir {spare}", f"cp {target} {spare}/{name}"]
        checks.append(prints(f"cat {spare}/{name}", [first, last]))
        instruction += f" Last, make a folder {spare} and copy the complete file there."
    distractors = [
        f"mkdir {wrong_folder}",
        f"echo {wrong} > {target}",
        f"echo {last} > {target}" if level == 1 else f"echo {wrong} >> {target}",
        f"rm -r {folder}",
        f"echo {first} > {wrong_folder}/{name}",
        f"head -n 1 {other_text}",
        f"grep make {other_plan}",
        f"cat {other_text}",
        "ls",
    ]
    return scene.draft(instruction, expert, distractors, checks, found=(f"the first line of {text}", first))


@family
def copy_move(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent moves, copies and renames files that it knows by a word in them, in an order that matters."""
    word, other_word, folder, added = scene.word(), scene.word(), scene.folder(), scene.word()
    if level == 1:
        found, second, third = scene.siblings("txt", word)
        tempting = [f"mv {third} {folder}/{third}", f"mv {second} {folder}/{second}", f"rm {found}"]
    else:
        found, third = scene.siblings("txt", word, 2)
        second, fourth = scene.siblings("log", other_word, 2)
        tempting = [f"mv {third} {folder}/{third}", f"cp {fourth} {folder}/{fourth}", f"rm {found}"]
        if level == 3:
            tempting = [f"cp {third} {folder}/{third}", f"mv {fourth} {found}", f"mv {third} {second}"]
    content, other_content = scene.files[found], scene.files[second]
    expert = [f"mkdir {folder}", f"grep -l {word} *.txt"]
    kept, copied = f"{folder}/{found}", f"{folder}/{second}"
    if level == 1:
        expert.append(f"mv {found} {kept}")
        checks = [
            prints(f"cat {kept}", content),
            prints("ls -1", scene.listing(folder, without=[found])),
        ]
        instruction = scene.say(
            f"One of the txt files holds the word {word}. Make a folder {folder} and move that file there.",
            f"Find the txt file with {word} in it, and move it to a folder {folder} that you make.",
        )
    elif level == 2:
        expert += [f"mv {found} {kept}", f"grep -l {other_word} *.log", f"cp {second} {copied}"]
        checks = [
            prints(f"cat {kept}", content),
            prints(f"cat {copied}", other_content),
            prints("ls -1", scene.listing(folder, without=[found])),
        ]
        instruction = (
            f"Make a folder {folder}. Move the txt file that holds the word {word} there, and copy the log file that "
            f"holds {other_word} there. Delete nothing."
        )
    else:
        expert += [f"cp {found} {kept}", f"grep -l {other_word} *.log", f"mv {second} {found}"]
        expert.append(f"echo {added} >> {found}")
        checks = [
            prints(f"cat {kept}", content),
            prints(f"cat {found}", other_content + added),
            prints("ls -1", scene.listing(folder, without=[second])),
        ]
        instruction = (
            f"Make a folder {folder} and copy the txt file that holds the word {word} there. Then let the log file "
            f"that holds {other_word} take its place: move it onto the first file's name. Last, append the line "
            f"{added} to it."
        )
    distractors = [
        *tempting,
        f"mv {found} {second}",
        f"rm {second}",
        f"cp {third} {folder}/{third}",
        f"rm {third}",
        f"cat {third}",
        "ls",
    ]
    return scene.draft(instruction, expert, distractors, checks, found=(f"which txt file holds {word}", found))


@family
def archive(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent archives files that it knows by a word in them, and only then removes the originals."""
    word, other_word, folder = scene.word(), scene.word(), scene.folder()
    found, second, third = scene.siblings("log", word)
    tar, report = scene.file("tar"), f"{folder}/{scene.file('txt')}"
    expert, packed = [f"grep -l {word} *.log"], [found]
    if level == 3:
        scene.put(second, [*scene.files[second].splitlines()[:-1], scene.line(other_word)])
        expert.append(f"grep -l {other_word} *.log")
        packed.append(second)
    both = " ".join(packed)
    place = tar if level == 1 else f"{folder}/{tar}"
    move = [] if level == 1 else [f"mkdir {folder}", f"mv {tar} {place}"]
    expert += [f"tar -cf {tar} {both}", *move, f"rm {both}"]
    left = scene.listing(tar if level == 1 else folder, without=packed)
    lines = [line for name in packed for line in scene.files[name].splitlines()]
    checks = [prints_names(f"tar -tf {place}", packed), prints(f"tar -xOf {place}", lines), prints("ls -1", left)]
    instruction = {
        1: scene.say(
            f"Pack the log file that holds the word {word} into {tar}, then delete that log file.",
            f"Find the log file with {word} in it, put it into an archive {tar}, and delete the original.",
        ),
        2: f"Pack the log file that holds the word {word} into {tar}. Make a folder {folder}, move {tar} there, and "
        "delete the original log file.",
        3: f"Pack two log files into one archive {tar}: first the one that holds {word}, after it the one that holds "
        f"{other_word}. Make a folder {folder}, move the archive there, and delete the two log files. Last, write the "
        f"list of what the archive holds to {report}.",
    }[level]
    if level == 3:
        expert.append(f"tar -tf {place} > {report}")
        checks.append(prints_names(f"cat -v {report}", packed, long_form=True))
    distractors = [
        f"tar -cf {tar} {third}",
        f"tar -cf {tar} {second}" if level < 3 else f"tar -cf {tar} {second} {found}",
        f"rm {third}",
        f"rm {second}" if level < 3 else f"tar -cf {tar} {found} {third}",
        f"mv {found} {tar}",
        f"rm {tar}",
        f"cat {third}",
        "ls",
    ]
    return scene.draft(
        instruction, expert, distractors, checks, [report], found=(f"which log file holds {word}", found)
    )
