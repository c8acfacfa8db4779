"""Tasks that change files in place: the agent replaces words, permissions and settings."""

from __future__ import annotations

from agentworld_gym.core.domain.task import Expect
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.terminal.tasks.scene import TerminalScene, family, prints
from agentworld_gym.kit.vocabulary import KEYS

MODES = ("600", "640", "660", "700", "740", "750", "755", "770")
"""Modes that always let the owner read and write, so that no later step depends on who enforces permissions."""


@family
def edit_in_place(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent saves a copy of the file that holds a word, then replaces the word."""
    old, replacement, wrong, folder = scene.word(), scene.word(), scene.word(), scene.folder()
    found, second, third = scene.siblings("txt", old)
    saved = f"{folder}/{found}" if level == 3 else scene.file("bak")
    content, added = scene.files[found], scene.word()
    changed = content.replace(old, replacement)
    note = scene.file("note")
    expert = [*([f"mkdir {folder}"] if level == 3 else []), f"grep -l {old} *.txt", f"cp {found} {saved}"]
    expert += [f"cat {note}"] if level > 1 else []
    expert.append(f"sed -i s/{old}/{replacement}/ {found}")
    if level > 1:
        scene.put(note, scene.mixed([f"{old} becomes {replacement}"], [f"add {added}"]))
        changed += f"{added}\n"
        expert.append(f"echo {added} >> {found}")
    checks = [prints(f"cat {saved}", content), prints(f"cat {found}", changed)]
    save = f"under the same name in a folder {folder} that you make" if level == 3 else f"as {saved}"
    instruction = {
        1: scene.say(
            f"One txt file holds the word {old}. Save a copy of it as {saved}, then replace {old} by {replacement} "
            "in it.",
            f"Replace {old} by {replacement} in the txt file that holds it, but first copy that file to {saved}.",
        ),
        2: f"{note} says what {old} becomes and which line to add. Find the txt file that holds {old}, save a copy of "
        f"it {save}, replace the word in it, and append the line.",
        3: f"{note} says what {old} becomes and which line to add. Find the txt file that holds {old}, save a copy "
        f"{save}, replace the word, and append the line.",
    }[level]
    if level == 3:
        log = f"{folder}/{scene.file('log')}"
        expert.append(f"echo {found} > {log}")
        checks.append(prints(f"cat {log}", found))
        instruction += f" Last, write the name of the changed file to {log}."
    distractors = [
        f"cp {second} {saved}",
        f"sed -i s/{old}/{replacement}/ {second}",
        f"cp {third} {saved}",
        f"sed -i s/{old}/{replacement}/ {third}",
        f"sed -i s/{old}/{wrong}/ {found}",
        f"mv {found} {saved}",
        f"rm {found}",
        f"cat {third}",
        "ls",
    ]
    return scene.draft(instruction, expert, distractors, checks, found=(f"which txt file holds {old}", found))


@family
def permissions(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent copies a script and gives the copy, and at higher levels the script, the mode that a policy names."""
    word, folder = scene.word(), scene.folder()
    found, second, third = scene.siblings("sh", word)
    for name in (found, second, third):
        scene.put(name, [f"echo {line}" for line in scene.files[name].splitlines()])
    policy, other_policy = scene.file("txt"), scene.file("txt")
    mode, copy_mode, wrong, wrong_copy = scene.rng.sample(MODES, 4)
    scene.put(policy, scene.mixed([f"script {mode}"], [f"copy {copy_mode}"]))
    scene.put(other_policy, scene.mixed([f"script {wrong}"], [f"copy {wrong_copy}"]))
    copy = scene.file("run")
    if level == 3:
        copy = f"{folder}/{copy}"
    expert = [f"mkdir {folder}"] if level == 3 else []
    expert += [f"grep -l {word} *.sh"] if level > 1 else []
    expert += [f"cp {found} {copy}", f"grep copy {policy}", f"chmod {copy_mode} {copy}"]
    subject = found if level == 1 else f"the script that holds {word}"
    inside = f"Make a folder {folder}. " if level == 3 else ""
    if level == 1:
        checks = [prints(f"cat {copy}", scene.files[found]), prints(f"stat -c %a {copy}", copy_mode)]
        instruction = scene.say(
            f"Copy {subject} to {copy}. Then give the copy the mode that {policy} names.",
            f"{policy} says which mode a copy gets. Copy {subject} to {copy}, then set the mode.",
        )
    else:
        expert += [f"grep script {policy}", f"chmod {mode} {found}"]
        checks = [prints(f"stat -c %a {copy}", copy_mode), prints(f"stat -c %a {found}", mode)]
        instruction = scene.say(
            f"{inside}Copy {subject} to {copy}. Then give the copy and the script the modes that {policy} names.",
            f"{inside}{policy} says which modes a copy and its script get. Copy {subject} to {copy}, then set both.",
        )
    free_values: list[str] = []
    if level == 3:
        report = f"{folder}/{scene.file('out')}"
        expert.append(f"stat -c %a {copy} {found} > {report}")
        checks.append((f"cat -v {report}", Expect(matches=rf"\A0?{copy_mode}\n0?{mode}\s*\Z")))
        free_values = [report]
        instruction += f" Last, write the octal modes of copy and script, in this order and one a line, to {report}."
    distractors = [
        f"chmod {mode} {copy}",
        f"chmod {wrong} {copy}",
        f"cp {second} {copy}",
        f"chmod {copy_mode} {found}",
        f"chmod {wrong_copy} {found}",
        f"rm {copy}",
        f"cp {third} {copy}",
        f"grep copy {other_policy}",
        "ls",
    ]
    return scene.draft(
        instruction, expert, distractors, checks, free_values, found=(f"which script holds {word}", found)
    )


@family
def change_config(scene: TerminalScene, level: int) -> TaskDraft:
    """The agent saves a copy of the configuration in use, then changes a value in it."""
    key, other_key, third_key = (scene.fresh(KEYS) for _ in range(3))
    wanted, found, second = scene.word(), scene.file("conf"), scene.file("conf")
    value, other_value, target, foreign, wrong = scene.rng.sample(range(10, 100), 5)
    entries = scene.mixed([f"{key}={value}"], [f"{other_key}={other_value}", f"mode={scene.word()}"])
    scene.put(found, entries)
    scene.put(second, scene.mixed([f"{key}={foreign}"], [f"mode={scene.word()}"]))
    active = scene.put(scene.file("txt"), scene.mixed([f"{wanted} {found}"], [f"{scene.word()} {second}"]))
    folder = scene.folder()
    saved = f"{folder}/{found}" if level == 3 else scene.file("bak")
    original = scene.files[found]
    changed = original.replace(f"{key}={value}", f"{key}={target}")
    expert = [f"grep {wanted} {active}"]
    expert += [f"mkdir {folder}"] if level == 3 else []
    expert += [f"cp {found} {saved}", f"grep {key} {found}"]
    goal, request = str(target), scene.file("note")
    if level > 1:
        scene.put(request, scene.mixed([f"{key} {target}"], [f"{other_key} {wrong}"]))
        expert.append(f"grep {key} {request}")
        goal = f"the value that {request} names"
    expert.append(f"sed -i s/{key}={value}/{key}={target}/ {found}")
    save = f"under the same name in a folder {folder} that you make" if level == 3 else f"as {saved}"
    instruction = scene.say(
        f"{active} says which configuration belongs to {wanted}. Save a copy of it {save}, then change its {key} to "
        f"{goal}.",
        f"In the configuration of {wanted} (see {active}) set {key} to {goal}, but first save a copy of it {save}.",
    )
    if level == 3:
        expert.append(f"echo {third_key}={target} >> {found}")
        changed += f"{third_key}={target}\n"
        instruction += f" Last, append a setting {third_key} with the same value."
    checks = [prints(f"cat {saved}", original), prints(f"cat {found}", changed)]
    distractors = [
        f"cp {second} {saved}",
        f"sed -i s/{key}={foreign}/{key}={target}/ {second}",
        f"sed -i s/{key}={value}/{key}={wrong}/ {found}",
        f"mv {found} {saved}",
        f"rm {found}",
        f"echo {key}={target} >> {found}",
        f"grep {key} {second}",
        f"sed -i s/{other_key}={other_value}/{other_key}={target}/ {found}",
        "ls",
    ]
    return scene.draft(
        instruction, expert, distractors, checks, found=(f"which configuration belongs to {wanted}", found)
    )
