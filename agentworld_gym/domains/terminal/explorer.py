"""Exploring a terminal: commands that look at the files of a task, and commands whose output has to be computed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from posixpath import relpath

from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, mixed_policy
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.kit.vocabulary import STEMS, WORDS

UNKNOWN_COMMANDS = ("lls", "gti status", "pythn", "cta", "greo x", "mkdr new", "hepl")
ADMINISTRATION = ("whoami", "hostname", "pwd", "echo $HOME", "echo $USER", "echo $?", "true", "false")


_FILE = re.compile(r"[A-Za-z][\w./-]*\.[a-z]+")


def explore(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Look at the files of a task with a few commands."""
    return explore_policy(task, rng, rng.randint(4, 10))


def compute(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Take a few commands whose output has to be computed."""
    return compute_policy(task, rng, rng.randint(4, 12))


def blend(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Play an expert, a mixed policy or a menu policy, and look in between at what was there and at the files that it
    touches.

    Args:
        task: The task.
        rng: The source of the random draws.
        slip: The probability of an error of the mixed policy.
    """
    streams = (expert_policy(task), mixed_policy(task, rng, slip), menu_policy(task, rng))
    return _blend(task, rng, rng.choice(streams))


def _blend(task: Task, rng: random.Random, actions: ActionStream) -> ActionStream:
    touched: list[str] = []
    finish: list[str] = []
    for action in actions:
        if finishes(action):
            finish.append(action)
        else:
            yield action
            touched += _FILE.findall(action)
        while rng.random() < 0.4:
            if touched and rng.random() < 0.6:
                yield _look(rng, touched)
            else:
                yield from explore_policy(task, rng, 2 if rng.random() < 0.2 else 1)
    # `yield from` would send what the action showed to the list.
    for action in finish:
        yield action


def _look(rng: random.Random, names: Sequence[str]) -> str:
    """Return a command that shows the state of one of some files."""
    name = rng.choice(names)
    return rng.choice([f"cat {name}"] * 5 + [f"wc -l {name}", f"head -n 1 {name}", "ls", "ls -1", f"stat -c %a {name}"])


def explore_actions(task: Task, rng: random.Random, n: int) -> list[str]:
    """Return plausible commands over the files of a terminal task that change no file.

    Names and words come from the task's initial state, and at times from what its checks read. Some of the commands
    fail because of a missing file, a folder instead of a file, or an unknown command. Other actions of the menu
    may come between them, except between a `cd` and the `cd` back that follows it.

    Args:
        task: The task.
        rng: The source of the random draws.
        n: The number of commands.

    >>> from agentworld_gym.core.tasks import generate
    >>> len(explore_actions(generate("terminal", "archive", 1, 0), random.Random(0), 5))
    5
    """
    things = _Things(task, rng)
    actions: list[str] = []
    while len(actions) < n:
        step = rng.choice(_EXPLORE)(things)
        if len(actions) + len(step) <= n:
            actions += step
    return actions


def explore_policy(task: Task, rng: random.Random, n: int) -> ActionStream:
    """Take the actions of `explore_actions`, whatever they show."""
    # `yield from` would send what the action showed to the list.
    for action in explore_actions(task, rng, n):  # noqa: UP028
        yield action


def compute_policy(task: Task, rng: random.Random, n: int) -> ActionStream:
    """Select, sort, change and count lines, and write what comes out into a file in about half of the cases.

    What such a file holds is shown later, so that a world model has to compute it. The commands take the files of the
    task, and those that they have made.

    Args:
        task: The task.
        rng: The source of the random draws.
        n: The number of commands.

    >>> from agentworld_gym.core.tasks import generate
    >>> for command in compute_policy(generate("terminal", "archive", 1, 0), random.Random(3), 3):
    ...     print(command)
    tail -n 2 base.log > base.txt
    cat base.txt
    cut -d, -f3 base.txt > chart.log
    """
    things = _Things(task, rng)
    actions: list[str] = []
    while len(actions) < n:
        actions += _computing(things)
    # `yield from` would send what the action showed to the list.
    for action in actions[:n]:  # noqa: UP028
        yield action


def _computing(things: _Things) -> list[str]:
    """Return a command on a file, and a look at the file that it writes."""
    rng = things.rng
    source = rng.choice(list(things.files) or [things.missing])
    words = sorted(set(things.files.get(source, "").replace(",", " ").replace("=", " ").split()))
    word = rng.choice(words) if words and rng.random() < 0.85 else things.word
    if rng.random() < 0.15:
        return [f"sed -i s/{word}/{things.word}/ {source}", f"cat {source}"]
    command = rng.choice(_COMPUTE)(things, source, word)
    if rng.random() < 0.5:
        return [command]
    target = things.missing
    things.files[target] = things.files.get(source, "")
    return [f"{command} > {target}", *([f"cat {target}"] if rng.random() < 0.7 else [])]


class _Things:
    """A source of random names and words of a task."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        cwd = task.state.get("cwd", "/")
        files: dict[str, str] = {
            path: file if isinstance(file, str) else str(file.get("content", ""))
            for path, file in task.state.get("files", {}).items()
        }
        self.rng = rng
        self.cwd: str = cwd
        self.files = {relpath(path, cwd): text for path, text in files.items()}
        probed = {probe.split()[-1] for check in task.success for probe in check.probes}
        self.read_later = sorted(name for name in probed if "." in name and not name.endswith(".tar"))
        self.named = " ".join((*task.menu, *self.files))
        self.folders = sorted({name.rsplit("/", 1)[0] for name in self.files if "/" in name})
        self.words = sorted(
            {word for text in files.values() for word in text.replace(",", " ").replace("=", " ").split()}
        )

    @property
    def file(self) -> str:
        if self.read_later and self.rng.random() < 0.25:
            return self.rng.choice(self.read_later)
        return self.rng.choice(list(self.files)) if self.files else self.missing

    @property
    def table(self) -> str:
        return self.rng.choice([name for name in self.files if name.endswith(".csv")] or [self.file])

    @property
    def extension(self) -> str:
        return self.file.rsplit(".", 1)[-1]

    @property
    def folder(self) -> str:
        return self.rng.choice(self.folders or ["."])

    @property
    def word(self) -> str:
        return self.rng.choice(self.words) if self.words and self.rng.random() < 0.85 else self.rng.choice(WORDS)

    @property
    def missing(self) -> str:
        names = [f"{stem}.{end}" for stem in STEMS for end in ("txt", "log")]
        # The files of a composed task may have all of these names.
        left = [name for name in names if name not in self.named] or [f"no-{name}" for name in names]
        return self.rng.choice(left)

    @property
    def count(self) -> int:
        return self.rng.randint(1, 3)

    def way(self) -> list[str]:
        if not self.folders:
            return ["cd ~", f"cd {self.cwd}"]
        folder = self.folder
        return [f"cd {folder}", f"cd {'/'.join('..' for _ in folder.split('/'))}"]


_EXPLORE: tuple[Callable[[_Things], list[str]], ...] = (
    lambda t: ["ls"],
    lambda t: ["ls -1"],
    lambda t: [f"ls {t.folder}"],
    lambda t: [f"ls *.{t.extension}"],
    lambda t: [f"cat {t.file}"],
    lambda t: [f"cat {t.file}"],
    lambda t: [f"cat {t.file} {t.file}"],
    lambda t: [f"wc -l {t.file}"],
    lambda t: [f"wc -l < {t.file}"],
    lambda t: [f"grep {t.word} {t.file}"],
    lambda t: [f"grep -v {t.word} {t.file}"],
    lambda t: [f"grep -c {t.word} {t.file}"],
    lambda t: [f"grep -n {t.word} {t.file}"],
    lambda t: [f"grep -l {t.word} *.{t.extension}"],
    lambda t: [f"grep {t.word} *.{t.extension}"],
    lambda t: [f"head -n {t.count} {t.file}"],
    lambda t: [f"tail -n {t.count} {t.file}"],
    lambda t: [f"sort {t.file}"],
    lambda t: [f"sort -r {t.file}"],
    lambda t: [f"sort -u {t.file}"],
    lambda t: [f"cut -d, -f{t.count} {t.table}"],
    lambda t: [f"cat {t.file} | tr a-z A-Z"],
    lambda t: [f"sed s/{t.word}/{t.word}/ {t.file}"],
    lambda t: [f"find . -name {t.file.rsplit('/', 1)[-1]}"],
    lambda t: [f"stat -c %a {t.file}"],
    lambda t: [f"echo {t.word} {t.word}"],
    lambda t: [t.rng.choice(ADMINISTRATION)],
    lambda t: t.way(),
    lambda t: [f"cat {t.missing}"],
    lambda t: [f"cat {t.folder}"],
    lambda t: [f"cp {t.missing} {t.file}"],
    lambda t: [f"rm {t.missing}"],
    lambda t: [f"ls {t.missing}"],
    lambda t: [f"cd {t.missing}"],
    lambda t: [f"grep {t.word} {t.missing}"],
    lambda t: [t.rng.choice(UNKNOWN_COMMANDS)],
    lambda t: [f"mkdir {t.folder}"],
)

_COMPUTE: tuple[Callable[[_Things, str, str], str], ...] = (
    lambda t, file, word: f"grep {word} {file}",
    lambda t, file, word: f"grep {word} {file}",
    lambda t, file, word: f"grep -v {word} {file}",
    lambda t, file, word: f"grep -n {word} {file}",
    lambda t, file, word: f"grep -c {word} {file}",
    lambda t, file, word: f"grep -l {word} *.{file.rsplit('.', 1)[-1]}",
    lambda t, file, word: f"grep -l {word} *.{file.rsplit('.', 1)[-1]}",
    lambda t, file, word: f"grep {word} *.{file.rsplit('.', 1)[-1]}",
    lambda t, file, word: f"sort {file}",
    lambda t, file, word: f"sort -r {file}",
    lambda t, file, word: f"sort -u {file}",
    lambda t, file, word: f"cat {file} {t.file} | sort",
    lambda t, file, word: f"grep {word} {file} | sort",
    lambda t, file, word: f"grep -v {word} {file} | wc -l",
    lambda t, file, word: f"wc -l {file}",
    lambda t, file, word: f"cut -d, -f{t.count} {t.table}",
    lambda t, file, word: f"cat {file} | tr a-z A-Z",
    lambda t, file, word: f"sed s/{word}/{t.word}/ {file}",
    lambda t, file, word: f"head -n {t.count} {file}",
    lambda t, file, word: f"tail -n {t.count} {file}",
)
