"""Tasks that search files: the agent finds a file, counts lines, or keeps the lines that matter."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.terminal.tasks.scene import TerminalScene, family, numbers, prints


@family
def find_file(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent finds a file in a subfolder and copies it before it is overwritten; from level 2 on another file names
    it."""
    places = [f"{scene.folder()}/{scene.folder()}", scene.folder(), scene.folder()]
    scene.rng.shuffle(places)
    names = [scene.file("txt") for _ in range(3)]
    for place, name in zip(places, names, strict=True):
        scene.put(f"{place}/{name}", scene.lines(2, 2))
    (target, other, _), copy, mark = names, scene.file("bak"), scene.word()
    path, *lost = (f"./{place}/{target}" for place in places)
    elsewhere = f"./{places[1]}/{other}"
    content = scene.files[path[2:]]
    expert = [f"find . -name {target}"]
    if level > 1:
        scene.put(elsewhere[2:], [f"see {target}", scene.word()])
        expert = [f"find . -name {other}", f"cat {elsewhere}", *expert]
    what = target if level == 1 else f"the file that {other} names"
    where = "somewhere below this folder"
    if level < 3:
        expert += [f"cp {path} {copy}", f"echo {mark} > {path}"]
        checks = [prints(f"cat {copy}", content), prints(f"cat {path}", mark)]
        instruction = scene.say(
            f"Find {what}, {where}. Copy it here as {copy}, then overwrite the original with the single line {mark}.",
            f"Save {what} ({where}) here as {copy}. After that, the original shall hold only the line {mark}.",
        )
    else:
        folder = scene.folder()
        kept, note = f"{folder}/{copy}", f"{folder}/{scene.file('txt')}"
        expert += [f"mkdir {folder}", f"cp {path} {kept}", f"echo {path} > {note}", f"echo {mark} > {path}"]
        checks = [
            prints(f"cat {kept}", content),
            prints(f"cat {note}", path),
            prints(f"cat {path}", mark),
        ]
        instruction = (
            f"Find {what}, {where}. Make a folder {folder} and copy that file there as {copy}; write its path, as "
            f"find . prints it, to {note}. Then overwrite the original with the single line {mark}."
        )
        copy = kept
    distractors = [
        *(f"cp {wrong} {copy}" for wrong in lost),
        *(f"echo {mark} > {wrong}" for wrong in lost),
        f"mv {path} {copy}",
        f"rm {path}",
        f"cp {elsewhere} {copy}",
        f"echo {mark} >> {path}",
        f"cat {elsewhere}",
        "ls",
    ]
    return scene.draft(instruction, expert, distractors, checks, found=("the name of that file", target))


@family
def count_lines(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent counts lines and writes the numbers down."""
    word, mark, folder = scene.word(), scene.word(), scene.folder()
    source, other = scene.file("log"), scene.file("log")
    hits = scene.rng.randint(1, 3)
    wanted = [scene.line(word) for _ in range(hits)]
    lines = scene.mixed(wanted, [scene.line(mark)], scene.lines(1, 2))
    scene.put(source, lines)
    scene.put(other, [*scene.lines(1, 3), scene.line(word)])
    result = scene.file("txt")
    total, path = len(lines), f"{folder}/{result}" if level == 3 else result
    first, then = f"echo {{}} > {path}", f"echo {{}} >> {path}"
    count_all, count_word = f"wc -l {source}", f"grep -c {word} {source}"
    write, append = numbers([total], first)[0], numbers([hits], then)[0]
    subject = source if level == 1 else f"the log file that holds {mark}"
    expert = [] if level == 1 else [f"grep -l {mark} *.log"]
    expert += [count_all, *([f"mkdir {folder}"] if level == 3 else []), write, count_word, append]
    checks = [prints(f"head -n 1 {path}", str(total)), prints(f"cat {path}", [str(total), str(hits)])]
    into = f"{result} in a new folder {folder}" if level == 3 else result
    instruction = scene.say(
        f"Count the lines of {subject} and write the number to {into}. Then count how many of its lines contain "
        f"{word}, and append that number to {path}.",
        f"Write two numbers to {into}, one a line: how many lines are in {subject}, and how many of them contain "
        f"{word}.",
    )
    if level == 3:
        expert.append(f"mv {source} {folder}/{source}")
        checks.append(prints(f"cat {folder}/{source}", lines))
        instruction += f" Last, move that log file to {folder}."
    distractors = [
        *numbers(scene.other_numbers(total), first),
        *numbers(scene.other_numbers(hits), then),
        f"rm {source}",
        f"wc -l {other}",
        f"grep -c {word} {other}",
        numbers([hits], first)[0],
        "ls",
    ]
    return scene.draft(
        instruction,
        expert,
        distractors,
        checks,
        found=(f"how many lines the log file that holds {mark} has", str(total)),
    )


@family
def filter_lines(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent keeps the lines that a note asks for, and counts them."""
    keep, drop, wrong, folder = scene.word(), scene.word(), scene.word(), scene.folder()
    note, source, other = scene.file("txt"), scene.file("log"), scene.file("log")
    kept = [scene.line(keep) for _ in range(scene.rng.randint(1, 3))]
    dropped = [] if level == 1 else [scene.line(keep, drop)]
    lines = scene.mixed(kept, dropped, [scene.line(wrong), scene.line()])
    scene.put(source, lines)
    scene.put(other, [scene.line(keep), scene.line(wrong)])
    result, count, part = scene.file("out"), scene.file("num"), scene.file("tmp")
    if level == 3:
        result, count = f"{folder}/{result}", f"{folder}/{count}"
    first = [line for line in lines if keep in line]
    final = [line for line in first if drop not in line]
    expert = [f"cat {note}"]
    if level == 1:
        scene.put(note, [f"keep {keep}"])
        expert.append(f"grep {keep} {source} > {result}")
        checks = []
    else:
        scene.put(note, [*([f"file {source}"] if level == 3 else []), f"keep {keep}", f"drop {drop}"])
        expert += [f"mkdir {folder}"] if level == 3 else []
        expert += [f"grep {keep} {source} > {part}", f"grep -v {drop} {part} > {result}"]
        checks = [prints(f"cat {part}", first)]
    expert += [f"wc -l {result}", f"echo {len(final)} > {count}"]
    checks += [prints(f"cat {result}", final), prints(f"cat {count}", str(len(final)))]
    target = "the log file it names" if level == 3 else source
    inside = f"Make a folder {folder}. " if level == 3 else ""
    if level == 1:
        what = f"{note} says which word to keep. Put the lines of {target} with that word into {result}"
    else:
        what = (
            f"{inside}{note} says which word to keep and which to drop. Put the lines of {target} with the first word "
            f"into {part}, and of these the lines without the second word into {result}"
        )
    instruction = f"{what}. Then write to {count} how many lines {result} has."
    distractors = [
        f"grep {wrong} {source} > {part if level > 1 else result}",
        *numbers(scene.other_numbers(len(final)), f"echo {{}} > {count}"),
        f"grep {keep} {other} > {part if level > 1 else result}",
        f"grep -v {keep} {source} > {result}",
        f"rm {source}",
        f"grep -v {wrong} {part} > {result}" if level > 1 else f"cp {source} {result}",
        f"cat {other}",
        "ls",
    ]
    return scene.draft(instruction, expert, distractors, checks, found=("the word that is kept", keep))
