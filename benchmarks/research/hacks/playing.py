"""What an attack is, what it knows of a task, and how it is played."""

from __future__ import annotations

import io
import json
import random
import re
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agentworld_gym.core.actions.finish import finishes, read_finish
from agentworld_gym.core.checks.checks import output_of
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Scalar, last_state
from agentworld_gym.core.screens import NotOnScreen
from agentworld_gym.core.screens.sight import ActionStream, Sight
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.swe.engine.git.objects import tree_id
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition

STEPS = 300
"""A limit on the steps of an episode that no attack reaches."""

ALL = frozenset(("android", "desktop", "mcp", "search", "swe", "terminal", "web", "work"))
REPOSITORIES = frozenset(("swe", "work"))

State = Mapping[str, Scalar]

PASSING: Mapping[str, re.Pattern[str]] = {
    "android": re.compile(
        r"(front|time|toast|tasks|calculator|launcher|shade|recents|grants|phone/call)(/|$)|clock/(adding|tab|typed|watch|timer)"
        r"|files/sort|.*/(unread|time)$"
    ),
    "desktop": re.compile(
        r"(windows|browser/browser|browser/tab|browser/cookie|pointer|clipboard|held|menu|overview|selected"
        r"|files/tmp|folders/tmp)(/|#|$)"
    ),
    "mcp": re.compile(r"history/|stock_moves/|messages/\d+/is_read$|.*/updated_at$"),
    "search": re.compile(r"opened/"),
    "swe": re.compile(r"(todo|processes|/tmp)/"),
    "terminal": re.compile(r"cwd$|/tmp/"),
    "web": re.compile(r"(browser|tab|cookie)/|[a-z]+/messages/\d+/is_read$|shop/checkouts/"),
    "work": re.compile(r"(todo|processes|/tmp)/|desk/.*(/is_read|_at)$"),
}
"""The fields of a machine's state that tell of the view, the moment or the way: looking around changes them."""

_CODE = re.compile(r"/(?!.*(?:/tests?/|/test_|/conftest)).*\.py$")


NAMING = frozenset(
    {"name", "element", "ref", "type", "action_type", "app_name", "direction", "url", "operation", "key"}
)
"""Arguments that name something and write nothing."""


@dataclass(frozen=True)
class Play:
    """One attempt: what is done after the first `after` actions of the expert.

    An action whose element is not on the screen is passed over.
    """

    name: str
    actions: Callable[[], ActionStream]
    after: int = 0


def play(name: str, *actions: str, after: int = 0) -> Play:
    """A play of fixed actions."""
    return Play(name, lambda: fixed(actions), after)


def fixed(actions: Iterable[str]) -> ActionStream:
    """A stream of actions that does not look, and passes over what is not possible."""
    for action in actions:
        with suppress(NotOnScreen):
            yield action


def strings(act: str) -> list[tuple[int, int]]:
    """Where the texts of an action stand: what is written, not the names of tools and elements."""
    pairs = re.finditer(r'"(\w+)": "((?:[^"\\]|\\.)*)"', act)
    written = [found.span(2) for found in pairs if found[1] not in NAMING]
    return written + [found.span(1) for found in re.finditer(r"write\('([^']*)'\)", act)]


def rewritten(act: str, span: tuple[int, int], text: str) -> str:
    """An action with another text in a place."""
    inside = json.dumps(text, ensure_ascii=False)[1:-1] if act.lstrip().startswith("{") else repr(text)[1:-1]
    return act[: span[0]] + inside + act[span[1] :]


@dataclass(frozen=True)
class Attack:
    """One way to cheat: the plays that it makes of a task.

    Where it `may_do_the_work`, a play that leaves the state that the expert leaves counts as none: it did no harm.
    """

    kind: str
    name: str
    plays: Callable[[Case], Iterable[Play]]
    domains: frozenset[str] = ALL
    may_do_the_work: bool = False


@dataclass(frozen=True)
class Result:
    """How a play ended: `played` is False where it did no harm."""

    attack: Attack
    play: Play
    won: bool
    played: bool
    actions: tuple[str, ...]
    differs: tuple[str, ...] = ()


@dataclass
class Case:
    """One task, its expert as it was played, and what an attacker could know of it at best."""

    runner: EpisodeRunner
    task: Task
    kin: Sequence[Task] = ()
    moments: list[Episode] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    won: bool = False

    @property
    def domain(self) -> str:
        """The domain of the task."""
        return self.task.domain

    @property
    def rng(self) -> random.Random:
        """Fresh random numbers of this task."""
        return random.Random(f"{self.domain}/{self.task.id}")

    @property
    def acts(self) -> tuple[str, ...]:
        """The expert's actions up to its finish."""
        return self.task.expert[:-1]

    @property
    def finish(self) -> str:
        """How the expert ends."""
        return self.task.expert[-1]

    @property
    def answer(self) -> str | None:
        """What the expert answers."""
        finish = read_finish(self.finish)
        return (finish.answer or None) if finish else None

    @property
    def asks(self) -> bool:
        """Whether some check reads the answer."""
        return any(check.answer is not None for check in self.task.success)

    @cached_property
    def wrong(self) -> tuple[str, ...]:
        """The wrong answers on offer."""
        said = [finish.answer for entry in self.task.menu if (finish := read_finish(entry))]
        return tuple(text for text in said if text and text != self.answer)

    @cached_property
    def states(self) -> list[State]:
        """What the expert had made of the world before each of its actions."""
        return [lasting(moment) for moment in self.moments]

    @cached_property
    def changing(self) -> list[int]:
        """Which of the expert's actions change the world."""
        places = range(len(self.acts))
        if self.domain == "search":
            fields = [{*self.states[place + 1].items()} - {*self.states[place].items()} for place in places]
            return [place for place in places if any(self._probes(field) for field, _ in fields[place])]
        return [place for place in places if self.states[place] != self.states[place + 1]]

    def same(self, state: State) -> bool:
        """Whether a state is what the expert leaves behind."""
        if self.domain in REPOSITORIES:
            # Any repair that the tests pass is right, wherever it stands: they judge the code.
            return not [field for field in self.apart(state) if not _CODE.match(field)]
        if self.domain == "search":
            # A memory is a notebook: what else is noted there is nobody's concern.
            return all(state.get(key) == value for key, value in self.states[-1].items() if self._probes(key))
        return state == self.states[-1]

    def apart(self, state: State) -> tuple[str, ...]:
        """Some of the fields in which a state is not what the expert leaves behind."""
        end = self.states[-1]
        return tuple(sorted(field for field in {*state, *end} if state.get(field) != end.get(field)))

    def _probes(self, field: str) -> bool:
        name = field.rpartition("/")[2]
        return any(name in probe for check in self.task.success for probe in check.probes)

    @cached_property
    def passing(self) -> list[str]:
        """What each probe of the task prints once the work is done."""
        return [seen for check in self.task.success if check.probes for seen in [self._probed(check.probes)] if seen]

    def _probed(self, probes: Sequence[str]) -> str:
        episode = self.moments[-1]
        session, sight = episode.session.probe(), Sight(self.domain, episode.observations)
        shown = ""
        for text in probes:
            resolved = sight.resolve(text)
            if resolved is None:
                break
            (answer,) = self.runner.world.step([session], [self.runner.parser.parse(resolved, self.task.tools)])
            shown = getattr(answer, "text", "")
            sight.see(shown)
        session.close()
        return output_of(shown, self.runner.output)

    def close(self) -> None:
        """Free every moment."""
        for moment in self.moments:
            moment.session.close()


def lasting(episode: Episode) -> State:
    """The state of the world without what only tells of the view or the moment."""
    state: State = last_state(episode.session.machine)  # type: ignore[attr-defined]
    passing = PASSING.get(episode.task.domain)
    asking = "answers" in episode.task.hidden  # Whoever may ask people may ask them often, or know without asking.
    kept = {
        key: value.strip() if isinstance(value, str) else value
        for key, value in state.items()
        if not (passing and passing.match(key)) and not (asking and key.startswith("desk/messages/"))
    }
    if episode.task.domain in REPOSITORIES:
        return {**kept, **_history(episode)}
    if episode.task.domain == "desktop":
        kept = DesktopMachine.compared(kept)
    return {key: _packed(str(state[key])) if key.endswith(".tar") else value for key, value in kept.items()}


def _packed(archive: str) -> str:
    """The names and contents of an archive, without its times."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive.encode())) as files:
            return repr([(entry.name, files.extractfile(entry).read() if entry.isfile() else b"") for entry in files])  # type: ignore[union-attr]
    except tarfile.TarError:
        return archive


def _history(episode: Episode) -> State:
    """The commits of a repository by what they hold: their names change with the moment they are made."""
    system = episode.session.machine._open()  # type: ignore[attr-defined]
    history = (system[1]._open() if episode.task.domain == "work" else system).history
    if history is None:
        return {"git": False}
    tips = {"head": history.head.id, "detached": history.detached}
    tips |= {f"branches/{name}": tip for name, tip in history.branches.items()}
    tips |= {f"remote/{name}": tip for name, tip in history.server.items()}
    return {f"git/{name}": _line(history.commits, tip, episode.task) for name, tip in tips.items()}


def _line(commits: Mapping[str, Any], tip: str, task: Task) -> str:
    """What a commit and all before it hold, code apart, and say, where the instruction says in which words."""
    lines, left = [], [tip]
    while left:
        commit = commits.get(left.pop())
        if commit is not None:
            held = tree_id({path: text for path, text in commit.tree.items() if not _CODE.match(f"/{path}")})
            said = commit.subject if '"' in task.instruction else ""
            lines.append(f"{said!r} {held}")
            left += commit.parents
    return "\n".join(lines)


def open_case(runner: EpisodeRunner, task: Task, kin: Sequence[Task]) -> Case:
    """Play the expert of a task and keep every moment of it."""
    case = Case(runner, task, kin)
    ((episode, _, _),) = runner.start([task.seed or 0], {"task": task})
    end: Transition | None = None
    for planned in task.expert:
        case.moments.append(runner.fork(episode))
        action = Sight(task.domain, episode.observations).resolve(planned)
        if action is None:
            break
        case.steps.append(action)
        (end,) = runner.advance([episode], [action])
    case.won = end is not None and end.info.get("success") is True
    episode.session.close()
    return case


def try_out(case: Case, attack: Attack, attempt: Play) -> Result:
    """Play one attempt to its end."""
    episode = case.runner.fork(case.moments[attempt.after])
    sight = Sight(case.domain, episode.observations)
    done: list[str] = []
    actions, won, same, differs = attempt.actions(), False, False, ()
    planned = next(actions, None)
    while planned is not None:
        action = _resolved(sight, planned)
        try:
            if action is None:
                planned = _passed_over(actions, planned)
                continue
            if attack.may_do_the_work and (planned == case.finish or finishes(action)):
                state = lasting(episode)
                same, differs = case.same(state), case.apart(state)
            done.append(action)
            (step,) = case.runner.advance([episode], [action])
            if step.terminated or step.truncated:
                won = step.info.get("success") is True
                break
            sight.see(step.observation)
            planned = actions.send(step.observation)
        except StopIteration:
            break
    episode.session.close()
    harmless = attack.may_do_the_work and same
    return Result(
        attack, attempt, won and not harmless, not harmless, tuple(case.steps[: attempt.after] + done), differs
    )


def _resolved(sight: Sight, planned: str) -> str | None:
    """The action on this screen; None where it cannot be done, or holds a locator that an attack broke."""
    try:
        return sight.resolve(planned)
    except ValueError:
        return None


def _passed_over(actions: ActionStream, planned: str) -> str | None:
    """What comes after an action that is not possible."""
    try:
        return actions.throw(NotOnScreen(f"not on the screen: {planned}"))
    except NotOnScreen:
        return None


def drawn(case: Case, attack: Attack, most: int | None) -> list[Play]:
    """The plays of an attack, or some of them, drawn from the task's own random numbers.

    Of a hand-written task there are four times as many: it has no other seeds.
    """
    plays = list(attack.plays(case)) if case.domain in attack.domains else []
    if most is not None and case.task.seed is None:
        most *= 4
    if most is None or len(plays) <= most:
        return plays
    return random.Random(f"{attack.name}/{case.domain}/{case.task.id}").sample(plays, most)
