"""One episode that several roles share: who may do what, who has written to whom, and what each is paid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentworld_gym.agents.teams.team import Role, Team
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.checks.checks import score
from agentworld_gym.core.contracts import Action, ActionKind
from agentworld_gym.core.domain.task import Task
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Moment, Transition

WAIT = "wait"
"""The action that takes a turn and does nothing, in a team with a channel."""

_MESSAGE = re.compile(r"(?s)\s*message(?:[ \t]+(?P<to>[a-z][a-z0-9_]*))?[ \t]*:(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Letter:
    """One message between roles.

    >>> str(Letter("reviewer", "A test fails:\\ntest_bulk"))
    '[reviewer] A test fails:\\n  test_bulk'
    """

    sender: str
    """The role that wrote it."""

    text: str
    """What it says."""

    def __str__(self) -> str:
        # Further lines are indented, so that no message can pass for one of another role.
        return f"[{self.sender}] " + "\n  ".join(self.text.splitlines())


@dataclass(frozen=True, slots=True)
class RoleTurn:
    """What one action of a role brought about."""

    rewards: dict[str, float]
    """The reward of each role."""

    terminated: bool
    """Whether the episode ended by `finish` or by success."""

    truncated: bool
    """Whether the episode ended by the step limit or by a failure of the world."""

    info: dict[str, Any]
    """The `info` of the role that acted."""


@dataclass
class SharedEpisode:
    """An episode with all that is known of each role in it; a fork is exact."""

    runner: EpisodeRunner
    """What plays the episode."""

    team: Team
    """The roles."""

    episode: Episode
    """The episode."""

    tools: dict[str, tuple[dict[str, Any], ...]]
    """The tools that each role can call."""

    shown: dict[str, str]
    """What each role was shown last, beside messages."""

    inbox: dict[str, tuple[Letter, ...]]
    """The messages to each role that it has not read."""

    info: dict[str, Any]
    """The `info` of the start."""

    confirming: frozenset[str] = frozenset()
    """The roles that were asked to confirm that they are done."""

    paid: dict[str, float] = field(default_factory=dict)
    """The score of its own checks that each role was paid for."""

    def fork(self) -> SharedEpisode:
        """Return an exact copy that goes its own way."""
        return replace(
            self,
            episode=self.runner.fork(self.episode),
            shown=dict(self.shown),
            inbox=dict(self.inbox),
            paid=dict(self.paid),
        )

    def observation(self, name: str) -> str:
        """Return what a role sees: the messages that it has not read, and what it was shown."""
        letters = "\n".join(map(str, self.inbox[name]))
        shown = self.shown[name]
        if self.team.roles[name].sees == "world" and self.episode.taken:
            shown = self.episode.session.observation
        return "\n\n".join(part for part in (letters, shown) if part)

    def first_info(self, name: str) -> dict[str, Any]:
        """Return the `info` of a role after a reset, with its own instruction and its own tools."""
        info = {key: value for key, value in self.info.items() if key != "tools"}
        info["instruction"] = self.team.roles[name].role_instruction(
            self.episode.task, f"{self.team.path}: roles.{name}"
        )
        if self.tools[name]:
            info["tools"] = [dict(tool) for tool in self.tools[name]]
        return info

    def told_messages(self, name: str) -> dict[str, Any]:
        """Return the entry of `info` for messages that a role has not read; there is none without such messages."""
        letters = [{"from": letter.sender, "text": letter.text} for letter in self.inbox[name]]
        return {"messages": letters} if letters else {}

    def offers(self, name: str) -> tuple[str, ...]:
        """Return actions that make sense for a role, to draw from."""
        texts = [*self.runner.offers(self.episode)]
        if self.team.channel is not None and self.team.colleagues(name):
            texts += [*self.team.channel.examples, WAIT]
        return tuple(dict.fromkeys(text for text in texts if self._read(name, text)[0].error is None))

    def mark_read(self, name: str) -> None:
        """Empty the inbox of a role, whose observation held the messages."""
        self.inbox[name] = ()

    def act(self, name: str, text: str) -> RoleTurn:
        """Do what a role wrote: send its message, refuse what it may not do, or ask the world.

        Args:
            name: The role.
            text: What its agent wrote.
        """
        action, recipients, words = self._read(name, text)
        self.episode.confirming = name in self.confirming
        [result] = self.runner.advance([self.episode], [action])
        if result.answered:
            self.shown[name] = result.observation
        self.confirming = self.confirming | {name} if self.episode.confirming else self.confirming - {name}
        for other in recipients:
            self.inbox[other] += (Letter(name, words),)
        return self._turn(name, bool(recipients), result)

    def _turn(self, name: str, wrote: bool, result: Transition) -> RoleTurn:
        info: dict[str, Any] = dict(result.info)
        own = {} if "failure" in info else self._own_scores(result, info)
        if "failure" in info:
            return RoleTurn(dict.fromkeys(self.team.roles, 0.0), False, True, info)
        rewards = {}
        for other, role in self.team.roles.items():
            pay = role.reward
            rewards[other] = pay.shared * result.reward + pay.own * own.get(other, 0.0)
            if other == name:
                rewards[other] -= pay.action_cost + pay.message_cost * wrote
        return RoleTurn(rewards, result.terminated, result.truncated, info)

    def _own_scores(self, result: Transition, info: dict[str, Any]) -> dict[str, float]:
        """Test the own checks of each role; return what each gained, and enter the scores or a failure into `info`."""
        moment = Moment.END if result.terminated or result.truncated else Moment.STEP
        if result.terminated and self.episode.taken[-1].kind is ActionKind.FINISH:
            moment = Moment.FINISH
        gained = {}
        for name, role in self.team.roles.items():
            if not role.success:
                continue
            task = _with_own_checks(self.episode.task, role)
            results = self.runner.test(self.episode, task, moment)
            if results is None:
                continue
            if results.failure is not None:
                info["failure"] = results.failure.as_dict()
                self.episode.over = True
                return {}
            reached = score(task, results.passed)
            gained[name] = reached - self.paid.get(name, 0.0)
            self.paid[name] = reached
        if gained:
            info["own_scores"] = dict(self.paid)
        return gained

    def _read(self, name: str, text: str) -> tuple[Action, tuple[str, ...], str]:
        """Read what a role wrote: the action, whom it writes to, and the words of the message."""
        parser, role = self.runner.parser, self.team.roles[name]
        shown = self.episode.session.observation
        if self.team.channel is not None and text.strip() == WAIT:
            return Action(text, kind=ActionKind.MESSAGE, agent=name), (), ""
        colleagues = self.team.colleagues(name)
        if colleagues and (found := _MESSAGE.fullmatch(text)):
            words, to = found["text"].strip(), found["to"]
            if problem := self._message_problem(words, to, colleagues):
                return Action(text, error=parser.refused(problem, text, shown), agent=name), (), ""
            recipients = colleagues if to is None else (to,)
            return Action(text, kind=ActionKind.MESSAGE, agent=name), recipients, words
        action = self.runner.reader.parse(text, self.episode.task.tools, name, shown)
        if action.error is None and (problem := self._problem(action, role)):
            refused = parser.refused(problem, action.raw, shown)
            action = Action(action.raw, error=refused, agent=name, written=action.written)
        return action, (), ""

    def _message_problem(self, words: str, to: str | None, colleagues: tuple[str, ...]) -> str | None:
        channel = self.team.channel
        assert channel is not None
        if to is not None and to not in colleagues:
            return f"message: you can write to {', '.join(colleagues)}, not to {to}"
        if not words:
            return "message: the message is empty"
        if len(words) > channel.max_chars:
            return f"message: {len(words)} characters, at most {channel.max_chars} are allowed"
        return None

    def _problem(self, action: Action, role: Role) -> str | None:
        """Return why a role may not do an action that could be read; None where it may."""
        if action.kind is ActionKind.ASK:
            return None
        if action.kind is not ActionKind.ACT:
            finishers = [name for name, other in self.team.roles.items() if other.finishes]
            return None if role.finishes else f"finish: only {' and '.join(finishers)} can end the work"
        if calls_tools(self.runner.spec.action.syntax):
            call = action.parsed if isinstance(action.parsed, Mapping) else {}
            tool = str(call.get("name"))
            if not role.may_call(tool):
                return f"Unknown tool: {tool}"
            refused = role.refuses(tool, call.get("arguments") or {})
            return None if refused is None else f"{tool}: this value of {refused} is not allowed in your role"
        return None if role.may_write(action.raw) else "this action is not among those of your role"


def begin_shared(runner: EpisodeRunner, team: Team, seed: int, options: Mapping[str, Any]) -> SharedEpisode:
    """Begin an episode; each role is shown its own instruction, a blank line, and what the world shows.

    Args:
        runner: The runner of the team's domain.
        team: The team.
        seed: The seed of the task, the initial state and the world's requests.
        options: The options of `reset`, as `EpisodeRunner.start` takes them.

    Raises:
        SpecError: An option does not fit, or a role's instruction does not fit the task.
        AgentWorldError: The world cannot begin.
    """
    [(episode, _, info)] = runner.start([seed], options, len(team.roles))
    tools = {name: _tools_of(runner, episode.task, role) for name, role in team.roles.items()}
    shared = SharedEpisode(runner, team, episode, tools, {}, dict.fromkeys(team.roles, ()), dict(info))
    for name, role in team.roles.items():
        told = role.role_instruction(episode.task, f"{team.path}: roles.{name}")
        shared.shown[name] = "\n\n".join(part for part in (told, episode.session.observation) if part)
    return shared


def _tools_of(runner: EpisodeRunner, task: Task, role: Role) -> tuple[dict[str, Any], ...]:
    names = [str(tool.get("name")) for tool in (*runner.spec.action.tools, *task.tools)]
    return tuple(tool for name, tool in zip(names, runner.tools(task), strict=True) if role.may_call(name))


def _with_own_checks(task: Task, role: Role) -> Task:
    """Return a task over the same state with the checks of a role, and without an expert to compare with."""
    return task.model_copy(update={"success": role.success, "expert": ()})
