"""Ways through a task that need no learning: for data collection, baselines and tests.

No policy yields more actions than the step limit of the task allows. Actions are yielded as the task writes them; in a
graphical domain `screens.sight.on_screen` resolves their locators and tells a policy what is not on the screen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from posixpath import relpath
from typing import TYPE_CHECKING, Any, SupportsFloat

from agentworld_gym.actions.finish import finishes
from agentworld_gym.domain.task import Task
from agentworld_gym.screens import NotOnScreen
from agentworld_gym.screens.sight import Way, on_screen
from agentworld_gym.tasks.words import STEMS, WORDS

if TYPE_CHECKING:
    from gymnasium import Env

UNKNOWN_COMMANDS = ("lls", "gti status", "pythn", "cta", "greo x", "mkdr new", "hepl")
ADMINISTRATION = ("whoami", "hostname", "pwd", "echo $HOME", "echo $USER", "echo $?", "true", "false")


def follow(env: Env[str, str], way: Way) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]] | None:
    """Go a way in an environment that was reset, until the episode ends.

    Locators are resolved on what was shown last.

    Returns:
        What the last `step` gave; None if the way ends without one.

    >>> from agentworld_gym.env import AgentWorldEnv
    >>> env = AgentWorldEnv(spec="web", world="grounded")
    >>> observation, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = follow(env, expert_policy(env.task))
    >>> info["success"]
    True
    >>> env.close()
    """
    bare: Any = env.unwrapped
    going = on_screen(way, bare.task.domain, bare.episode.observation)
    action, result = next(going, None), None
    while action is not None and not bare.episode.over:
        result = env.step(action)
        try:
            # Not what `step` gave: a wrapper may have changed that.
            action = going.send(bare.episode.observation)
        except StopIteration:
            break
    going.close()
    return result


def expert_policy(task: Task) -> Way:
    """The expert's actions, up to `finish`; where one is not possible on the screen, it stops."""
    # Not `yield from`: it would send the tuple what the action showed.
    for action in task.expert:  # noqa: UP028
        yield action


def nothing_policy() -> Way:
    """Finish at once."""
    yield "finish"


def menu_policy(task: Task, rng: random.Random) -> Way:
    """Random entries of the menu that are on the screen, up to one that finishes or the step limit."""
    for _ in range(_limit(task)):
        action = yield from _possible(task.menu, rng)
        if action is None or finishes(action):
            return


def mixed_policy(task: Task, rng: random.Random, slip: float) -> Way:
    """The expert, who before each step errs with probability `slip`, and then goes on as planned.

    An error is a random entry of the menu that does not finish. Where a step is not possible on the screen that the
    errors led to, it is left out.

    >>> task = Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "x"}}],
    ...             menu=("a", "b", "finish"), expert=("a", "finish"))
    >>> list(mixed_policy(task, random.Random(0), 0.0))
    ['a', 'finish']
    """
    mistakes = [action for action in task.menu if not finishes(action)]
    left = _limit(task)
    for action in task.expert:
        while left and mistakes and rng.random() < slip:
            left -= (yield from _possible(mistakes, rng)) is not None
        if not left:
            return
        try:
            yield action
            left -= 1
        except NotOnScreen:
            continue


def _possible(actions: Sequence[str], rng: random.Random) -> Generator[str, str, str | None]:
    """Do one of some actions, each that is on the screen as likely as the others; None if none is."""
    choices = list(actions)
    while choices:
        action = rng.choice(choices)
        try:
            yield action
        except NotOnScreen:
            choices = [other for other in choices if other != action]
        else:
            return action
    return None


def _limit(task: Task) -> int:
    return task.max_steps or 2 * len(task.expert) + 2


def explore_actions(task: Task, rng: random.Random, n: int) -> list[str]:
    """Plausible commands over the files of a terminal task that change no file.

    Names and words come from the task's initial state, and at times from what its checks read; some of the commands
    fail as commands do (a missing file, a folder where a file is wanted, an unknown command). They stay harmless when
    other actions of the menu come between them, but for a `cd` and the way back, which follows at once.

    >>> from agentworld_gym.tasks import generate
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


def explore_policy(task: Task, rng: random.Random, n: int) -> Way:
    """`explore_actions` as a way."""
    # Not `yield from`: it would send the list what the action showed.
    for action in explore_actions(task, rng, n):  # noqa: UP028
        yield action


class _Things:
    """Names and words of a task, drawn at random."""

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
        return self.rng.choice([name for name in names if name not in self.named])

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
