"""Tasks that turn text into other text: the agent sorts lines, sums columns, and builds pipelines."""

from __future__ import annotations

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.terminal.tasks.scene import TerminalScene, family, numbers, prints


@family
def sort_unique(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent sorts lines and writes down which comes first or last, or how many there are."""
    if level == 3:
        return _sort_numbers(scene)
    words = [scene.word() for _ in range(scene.rng.randint(3, 4))]
    source, other, result, note = scene.file("txt"), scene.file("txt"), scene.file("out"), scene.file("num")
    if level == 1:
        scene.put(source, scene.mixed(words, [scene.rng.choice(words)]))
        scene.put(other, scene.lines(2, 3))
        ordered = sorted(words)
        expert = [f"sort -u {source} > {result}", f"tail -n 1 {result}", f"echo {ordered[-1]} > {note}"]
        expert.append(f"rm {source}")
        checks = [
            prints(f"cat {result}", ordered),
            prints(f"cat {note}", ordered[-1]),
            prints("ls -1", scene.listing(result, note, without=[source])),
        ]
        instruction = scene.say(
            f"Sort {source} into {result}, each line once. Write the last line of {result} to {note}, then delete "
            f"{source}.",
            f"Put the lines of {source} into {result}, sorted and without repetitions. Then {note} shall hold the "
            f"last line of {result}, and {source} shall be deleted.",
        )
        distractors = [
            f"sort {source} > {result}",
            f"sort -u {other} > {result}",
            *(f"echo {word} > {note}" for word in ordered[:2]),
            f"rm {other}",
            f"rm {result}",
            f"cp {source} {result}",
            f"cat {other}",
            "ls",
        ]
        return scene.draft(instruction, expert, distractors, checks)
    extra = scene.word()
    scene.put(source, scene.mixed(words[:2], [scene.rng.choice(words[:2])]))
    scene.put(other, scene.mixed(words[1:], [extra]))
    ordered, joined = sorted({*words, extra}), scene.file("tmp")
    size = len(ordered)
    both = scene.files[source] + scene.files[other]
    expert = [
        f"cat {source} {other} > {joined}",
        f"sort -u {joined} > {result}",
        f"wc -l {result}",
        f"echo {size} > {note}",
        f"rm {joined}",
    ]
    checks = [
        prints(f"cat {result}", ordered),
        prints(f"cat {note}", str(size)),
        prints("ls -1", scene.listing(result, note)),
    ]
    instruction = (
        f"Join {source} and {other} into {joined}, sort that into {result} with each line once, write the number of "
        f"lines of {result} to {note}, and delete {joined}."
    )
    distractors = [
        f"sort {joined} > {result}",
        *numbers(dict.fromkeys([n for n in (both.count("\n"), size - 1) if n != size]), f"echo {{}} > {note}"),
        f"sort -u {source} > {result}",
        f"rm {result}",
        f"rm {source}",
        f"cat {other} > {joined}",
        f"wc -l {other}",
        "ls",
    ]
    return scene.draft(instruction, expert, distractors, checks)


def _sort_numbers(scene: TerminalScene) -> TaskDraft:
    source, other, result, note = scene.file("dat"), scene.file("dat"), scene.file("out"), scene.file("num")
    folder, key = scene.folder(), scene.word()
    values = scene.rng.sample(range(1, 100), 4)
    ordered = sorted(values)
    scene.put(source, map(str, values))
    scene.put(other, map(str, scene.rng.sample(range(1, 100), 3)))
    naming = scene.put(scene.file("txt"), scene.mixed([f"{key} {source}"], [f"{scene.word()} {other}"]))
    low, high = ordered[0], ordered[-1]
    expert = [
        f"grep {key} {naming}",
        f"sort -n {source} > {result}",
        f"head -n 1 {result}",
        f"echo {low} > {note}",
        f"tail -n 1 {result}",
        f"echo {high} >> {note}",
        f"mkdir {folder}",
        f"mv {result} {folder}/{result}",
    ]
    checks = [
        prints(f"cat {note}", [str(low), str(high)]),
        prints(f"cat {folder}/{result}", map(str, ordered)),
    ]
    instruction = (
        f"{naming} says which file belongs to {key}. Sort that file by number into {result}. Write its smallest "
        f"number to {note} and append its largest. Then make a folder {folder} and move {result} there."
    )
    distractors = [
        f"sort -n {other} > {result}",
        f"echo {ordered[1]} > {note}",
        f"echo {ordered[2]} >> {note}",
        f"rm {result}",
        f"cat {other}",
    ]
    return scene.draft(instruction, expert, distractors, checks, found=("the largest number of that file", str(high)))


@family
def aggregate_csv(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent keeps, sums and counts the rows of one person."""
    person, second, third = scene.name(), scene.name(), scene.name()
    amounts = [scene.rng.randint(1, 9) for _ in range(scene.rng.randint(2, 3))]
    rows = scene.mixed(
        [f"{person},{amount}" for amount in amounts], [f"{name},{scene.rng.randint(1, 9)}" for name in (second, third)]
    )
    source, part, result = scene.put(scene.file("csv"), rows), scene.file("out"), scene.file("num")
    scene.put(scene.file("csv"), [f"{second},{scene.rng.randint(1, 9)}", f"{person},{scene.rng.randint(1, 9)}"])
    mine = [row for row in rows if row.startswith(person)]
    total, count = sum(amounts), len(mine)
    who, expert = person, []
    if level > 1:
        note = scene.put(scene.file("txt"), scene.mixed([f"open {person}"], [f"closed {second}"]))
        who, expert = f"the person whom {note} calls open", [f"grep open {note}"]
    folder = scene.folder()
    if level == 3:
        result = f"{folder}/{result}"
    totals = "awk -F, '{s+=$2} END {print s}'"
    expert += [f"grep {person} {source} > {part}", f"{totals} {part}"]
    expert += [f"mkdir {folder}"] if level == 3 else []
    expert += [f"echo {total} > {result}", f"wc -l {part}", f"echo {count} >> {result}"]
    checks = [
        prints(f"cat {part}", mine),
        prints(f"head -n 1 {result}", str(total)),
        prints(f"cat {result}", [str(total), str(count)]),
    ]
    inside = f" in a folder {folder} that you make" if level == 3 else ""
    instruction = scene.say(
        f"Put the rows of {who} from {source} into {part}. Write the sum of their numbers to {result}{inside}, and "
        f"append how many rows there are.",
        f"Select the rows of {who} in {source}: {part} shall hold them, and {result}{inside} the sum of their "
        f"numbers, then on a second line how many they are.",
    )
    if level == 3:
        expert.append(f"mv {part} {folder}/{part}")
        checks[0] = prints(f"cat {folder}/{part}", mine)
        instruction += f" Last, move {part} there too."
    wrong_totals, wrong_counts = scene.other_numbers(total), scene.other_numbers(count)
    distractors = [
        f"grep {second} {source} > {part}",
        *numbers(wrong_totals, f"echo {{}} > {result}"),
        *numbers(wrong_counts[:1], f"echo {{}} >> {result}"),
        f"grep {third} {source} > {part}",
        f"rm {part}",
        f"{totals} {source}",
        f"wc -l {source}",
        *numbers(wrong_counts[1:], f"echo {{}} >> {result}"),
    ]
    return scene.draft(instruction, expert, distractors, checks, found=("the sum of those numbers", str(total)))


@family
def pipeline(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent finds the most frequent value of a column and keeps what belongs to it."""
    often, rare, rarer = scene.word(), scene.word(), scene.word()
    values = scene.mixed([often] * (2 if level == 1 else scene.rng.randint(2, 3)), [rare, rarer])
    people = [scene.name() for _ in values]
    source = scene.put(scene.file("csv"), [f"{who},{what}" for who, what in zip(people, values, strict=True)])
    scene.put(scene.file("txt"), scene.lines(2, 3))
    column, result = scene.file("tmp"), scene.file("out")
    if level == 1:
        rows = [f"{who},{often}" for who, what in zip(people, values, strict=True) if what == often]
        short = scene.file("num")
        expert = [
            f"cut -d, -f2 {source} > {column}",
            f"sort {column} | uniq -d",
            f"grep {often} {source} > {result}",
            f"sort -u {column} > {short}",
        ]
        checks = [prints(f"cat {result}", rows), prints(f"cat {short}", sorted({often, rare, rarer}))]
        instruction = scene.say(
            f"Cut the second column of {source} into {column} and find the value that occurs twice in it. Put the rows "
            f"of {source} with this value into {result}, and the sorted values, each once, into {short}.",
            f"One value occurs twice in the second column of {source}; cut that column into {column} to see which. "
            f"{result} shall hold the rows with it, and {short} all values of {column}, sorted and each once.",
        )
        distractors = [
            f"grep {rare} {source} > {result}",
            f"grep {rarer} {source} > {result}",
            f"cut -d, -f1 {source} > {column}",
            f"sort {column} > {short}",
            f"rm {source}",
            f"rm {result}",
            f"grep {often} {column} > {result}",
            "ls",
        ]
        return scene.draft(instruction, expert, distractors, checks)
    owners = sorted(who for who, what in zip(people, values, strict=True) if what == often)
    note, folder, loud = scene.file("num"), scene.folder(), scene.file("big")
    if level == 3:
        note = f"{folder}/{note}"
    expert = [
        f"cut -d, -f2 {source} | sort | uniq -c | sort -n | tail -n 1",
        *([f"mkdir {folder}"] if level == 3 else []),
        f"echo {often} > {note}",
        f"grep {often} {source} | cut -d, -f1 | sort > {result}",
        f"head -n 1 {result}",
        f"echo {owners[0]} >> {note}",
    ]
    checks = [
        prints(f"cat {result}", owners),
        prints(f"head -n 1 {note}", often),
        prints(f"cat {note}", [often, owners[0]]),
    ]
    inside = f" in a folder {folder} that you make" if level == 3 else ""
    instruction = (
        f"Find the most frequent value in the second column of {source} and write it to {note}{inside}. Put the sorted "
        f"first column of the rows with it into {result}, and append the first line of {result} to {note}."
    )
    if level == 3:
        expert.append(f"tr a-z A-Z < {result} > {folder}/{loud}")
        checks.append(prints(f"cat {folder}/{loud}", map(str.upper, owners)))
        instruction += f" Last, write {result} in capital letters to {folder}/{loud}."
    distractors = [
        f"echo {rare} > {note}",
        f"grep {rare} {source} | cut -d, -f1 | sort > {result}",
        f"echo {owners[-1]} >> {note}",
        f"grep {often} {source} | cut -d, -f2 | sort > {result}",
        f"rm {result}",
        f"echo {rarer} > {note}",
        f"grep {rarer} {source} | cut -d, -f1 | sort > {result}",
        "ls",
    ]
    return scene.draft(
        instruction, expert, distractors, checks, found=("the most frequent value of that column", often)
    )
