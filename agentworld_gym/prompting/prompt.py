"""Chat messages for a world model and for a judge, rendered from Jinja templates.

Only the templates, the spec and a ready system prompt are ours; everything else is data and is escaped before it enters
a message. Histories are append-only: the user message of a turn stays as it was, but for the closing request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import Action, Message
from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.domain.spec import DomainSpec, Form
from agentworld_gym.domain.task import Task
from agentworld_gym.errors import SpecError
from agentworld_gym.fingerprint import digest_of
from agentworld_gym.prompting.changes import apply, diff, numbered, plain_diff, renumbers
from agentworld_gym.prompting.ledger import StateChange, with_ledger
from agentworld_gym.prompting.parsing import MARKER
from agentworld_gym.prompting.references import SOURCES, References, references_of
from agentworld_gym.prompting.shorthand import restore, shorten
from agentworld_gym.prompting.templates import Templates, render, ticks
from agentworld_gym.screens.pointing import pointed_lines
from agentworld_gym.screens.sight import current
from agentworld_gym.text.escaping import escape, escape_all

Profile = Literal["full", "compact"]

REFERENCES = 1
"""How references are written, to the state and to the screen before: counts for the digest of the prompts whose answers
may hold some."""

LEDGER = "shared/ledger.j2"
"""How a ledger is written in a domain that has no `ledger.j2` of its own."""


class Prompts:
    """The messages of one domain.

    Templates are `<folder>/<spec.prompts>/{system,turn,judge}.j2`; the compact profile takes the first two from the
    folder `compact` in there. An `observation.j2` beside `turn.j2` is optional. `folder` may hold only some of them:
    the rest comes from the folder `prompts` beside the spec's file, then from the shipped one. A ready `system` prompt
    replaces `system.j2` as it is. `form` is how a next state is written; None takes the spec's. `wording` picks one of
    ten system prompts that say the same (profile `full`); see `agentworld_gym.prompting.wordings`. With `ledger` a
    model writes what changed in the hidden state behind each observation; see `agentworld_gym.prompting.ledger`. Its
    notation is the template `ledger.j2` of the domain, or the shared one.

    >>> from agentworld_gym.domain.spec import load_spec
    >>> prompts = Prompts(load_spec("terminal"))
    >>> print(prompts.observation("a.txt"))
    **Environment Observation:**
    a.txt

    Raises:
        SpecError: a template is missing, broken, or makes histories that are not append-only; or the form is `change`
            and the system prompt does not explain it.
    """

    def __init__(
        self,
        spec: DomainSpec,
        folder: Path | str | None = None,
        profile: Profile = "full",
        system: str | None = None,
        form: Form | None = None,
        wording: int = 0,
        ledger: bool = False,
    ) -> None:
        if wording and (profile != "full" or system is not None):
            raise SpecError("prompts", "wording", wording, "0, but for the shipped system prompts of the full profile")
        self.spec, self.profile = spec, profile
        self._shown = spec.model_dump(exclude={"path"})
        self.form: Form = form or spec.observation.form
        self._actions = ActionParser(spec)
        self._arguments = (spec, folder, profile, system, form, wording, ledger)
        folders = [Path(folder)] if folder is not None else []
        folders += [spec.path.parent / "prompts", data_folder("prompts")]
        self._templates = templates = Templates(spec, folders, profile, wording)
        base = spec.prompts if profile == "full" else f"{spec.prompts}/compact"
        self._ready = system
        self._system = templates.load(f"{base}/system.j2") if system is None else None
        if self.form == "change" and self._system is not None and not templates.reads("form"):
            raise SpecError(f"{base}/system.j2", "observation.form", "change", "a prompt that explains the change form")
        self._turn = templates.load(f"{base}/turn.j2")
        self._observation = templates.load(f"{base}/observation.j2", optional=True)
        self._judge = templates.load(f"{spec.prompts}/judge.j2", optional=True)
        self._controls = {
            name: templates.inline(control.sentence, f"controls.{name}.sentence")
            for name, control in spec.controls.items()
        }
        self._first = templates.inline(spec.observation.first, "observation.first")
        self._ledger = None
        if ledger:
            own = templates.load(f"{base}/ledger.j2", optional=True)
            self._ledger = own or templates.load(LEDGER)
        self.closing = self._closing()
        form_part: dict[str, Any] = {} if self.form == "full" else {"form": self.form}
        if ledger:
            form_part["ledger"] = True
        if self.refers or self.form == "change":
            form_part["references"] = REFERENCES
        self.digest = digest_of({"templates": templates.sources, "system": system, "profile": profile, **form_part})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments

    @property
    def restates(self) -> bool:
        """Whether every turn shows the current state again."""
        return self.spec.observation.restate or self.form == "change"

    def system(self, task: Task, controls: Mapping[str, float] | None = None) -> str:
        """The system message of an episode; `controls` (strength by name) are the perturbations in force."""
        if self._system is None:
            return self._ready or ""
        return render(
            self._system,
            task=_data(task),
            spec=self._shown,
            form=self.form,
            ledger=self.keeps_ledger,
            controls=self.sentences(controls or {}),
            tools=escape_all([*self.spec.action.tools, *task.tools]),
        )

    def sentences(self, controls: Mapping[str, float]) -> list[str]:
        """What a language world is told about the controls in force.

        Raises:
            SpecError: the domain has no such control.
        """
        for name in controls:
            if name not in self._controls:
                known = ", ".join(sorted(self._controls)) or "none in this domain"
                raise SpecError(self.spec.path, "controls", name, f"one of: {known}")
        return [render(self._controls[name], strength=strength) for name, strength in controls.items() if strength > 0]

    def turn(self, task: Task, turn: int, action: Action, state: str | None = None, before: str | None = None) -> str:
        """The user message of a turn, counted from 1, as it stays in the history.

        `state` is what the agent saw before it acted, and `before` what it saw a turn earlier. The state is shown in
        the first turn, and in every turn where the spec says so or the form is `change`, where its lines are numbered;
        in the compact profile only in the first one, and where the last change has moved the numbers. The last user
        message is this one followed by `closing`.
        """
        shown = turn == 1 or self._restated(task, before, state or "")
        return self._user(task.instruction, turn, action, state, shown=shown, closing=False)

    def observation(self, text: str) -> str:
        """The assistant message of a turn that is over."""
        if self._observation is None:
            return f"{MARKER}\n{escape(text)}"
        return render(self._observation, observation=escape(text))

    def answer(self, task: Task | None, before: str, observation: str) -> str:
        """What a model should write for an observation, without tags: in the form of these prompts, not escaped.

        `before` is what was on the screen. The compact profile shortens screens, and refers to what the initial state
        of the task holds (see `agentworld_gym.prompting.references`); without a task there is nothing to refer to.
        """
        if self.profile == "full":
            return diff(before, observation) if self.form == "change" else observation
        known = self._known(task)
        if known is not None:
            return known.refer(observation)
        before, observation = shorten(self.spec.id, before), shorten(self.spec.id, observation)
        return plain_diff(before, observation) if self.form == "change" else observation

    def read(self, task: Task | None, before: str, answer: str) -> str:
        """The observation that an answer means: the inverse of `answer`.

        Raises:
            AnswerError: the answer is a change that does not fit the screen, or refers to what the state does not hold.
        """
        if self.profile == "full":
            return apply(before, answer) if self.form == "change" else answer
        known = self._known(task)
        if known is not None:
            return known.resolve(answer)
        if self.form == "change":
            answer = apply(shorten(self.spec.id, before), answer)
        return restore(self.spec.id, answer)

    def past(self, task: Task | None, before: str, observation: str, ledger: str = "") -> str:
        """The assistant message of a turn that is over, on a screen, with what the ledger says of it.

        In the compact profile it is the answer itself, so that a history costs little; what was on the screen then is
        told by the turns, and what a reference means by the system message.
        """
        shown = self.observation(self.answer(task, before, observation) if self.profile == "compact" else observation)
        return with_ledger(shown, escape(ledger), closed=self.profile == "full")

    @property
    def keeps_ledger(self) -> bool:
        """Whether a model writes a ledger behind each observation."""
        return self._ledger is not None

    def ledger(self, task: Task, changes: Sequence[StateChange]) -> str:
        """What the ledger says of some changes, not escaped; empty where it says nothing, or none is kept."""
        return "" if self._ledger is None else render(self._ledger, task=task.model_dump(), changes=changes)

    def first_observation(self, task: Task) -> str:
        """What an agent sees before it acts, not escaped."""
        return render(self._first, task=task.model_dump())

    def messages(
        self,
        task: Task,
        turns: Sequence[tuple[Action, str]],
        action: Action,
        controls: Mapping[str, float] | None = None,
    ) -> list[Message]:
        """All messages for one prediction: turns that are over, as (action, observation), and the next action."""
        found: list[Message] = [{"role": "system", "content": self.system(task, controls)}]
        before = state = self.first_observation(task)
        for number, (past, observation) in enumerate(turns, 1):
            found.append({"role": "user", "content": self.turn(task, number, past, state, before)})
            found.append({"role": "assistant", "content": self.past(task, state, observation)})
            before, state = state, current(self.spec.id, state, observation)
        last = self.turn(task, len(turns) + 1, action, state, before) + self.closing
        return [*found, {"role": "user", "content": last}]

    def judge(
        self,
        task: Task,
        turns: Sequence[tuple[Action, str]],
        criteria: Mapping[str, str] | Sequence[str] | None = None,
        answer: str | None = None,
    ) -> list[Message]:
        """The messages for a rubric judge, who sees the task, the turns and the agent's answer, never thinking.

        `criteria` stand in for the spec's rubric: texts by the name of their score, or questions, whose scores are
        named "1", "2" and so on.

        Raises:
            SpecError: the domain has no `judge.j2`.
        """
        if self._judge is None:
            raise self._templates.missing(f"{self.spec.prompts}/judge.j2")
        content = render(
            self._judge,
            task=_data(task),
            spec=self._shown,
            criteria=escape_all(criteria) if criteria is not None else dict(self.spec.rubric),
            first=escape(self.first_observation(task)),
            answer=None if answer is None else escape(answer),
            turns=[
                {"turn": number, "observation": escape(observation), **self._block(action, observation)}
                for number, (action, observation) in enumerate(turns, 1)
            ],
        )
        return [{"role": "user", "content": content}]

    @property
    def refers(self) -> bool:
        """Whether answers may refer to the state of a task."""
        return self.profile == "compact" and self.form == "full" and self.spec.id in SOURCES

    def _known(self, task: Task | None) -> References | None:
        return references_of(self.spec.id, task.state) if self.refers and task is not None else None

    def _restated(self, task: Task, before: str | None, state: str) -> bool:
        if self.profile == "full":
            return self.restates
        return self.form == "change" and (before is None or renumbers(self.answer(task, before, state)))

    def _user(
        self, instruction: str, turn: int, action: Action, state: str | None, *, shown: bool, closing: bool
    ) -> str:
        targets: list[str] = []
        if state and self.profile == "compact":
            pointed = pointed_lines(self.spec.id, action.parsed, state)
            state = shorten(self.spec.id, state)
            lines = (numbered(state) if self.form == "change" else state).split("\n")
            targets = [lines[line] for line in pointed]
        if not shown or not state:
            state = None
        elif self.form == "change":
            state = numbered(state)
        return render(
            self._turn,
            turn=turn,
            instruction=escape(instruction) if turn == 1 else None,
            state=None if state is None else escape(state),
            closing=closing,
            form=self.form,
            targets=escape_all(targets),
            **self._block(action, state or ""),
        )

    def _block(self, action: Action, other: str) -> dict[str, str]:
        """The action, with a fence that neither it nor the other text can close."""
        raw = self._actions.raw(action) if self.profile == "full" else self._actions.typed(action)
        text = self._actions.shown(action) if self.profile == "full" else raw
        return {
            "action": escape(text),
            "raw": escape(raw),
            "fence": self.spec.action.fence if text != raw or action.error is None else "text",
            "ticks": ticks(text + "\n" + other),
        }

    def _closing(self) -> str:
        """The closing request, which must follow the message and be the same whatever the turn holds."""
        samples = (("Say hi.", 1, Action("echo hi"), "$ "), ("x", 2, Action("a\n```\nb", error="no"), None))
        name = self._turn.name or "turn.j2"
        found = set()
        for instruction, turn, action, state in samples:
            still = self._user(instruction, turn, action, state, shown=True, closing=False)
            closed = self._user(instruction, turn, action, state, shown=True, closing=True)
            if not closed.startswith(still):
                raise SpecError(name, "closing", closed[-80:], "the request at the very end")
            found.add(closed[len(still) :])
        if len(found) > 1:
            raise SpecError(name, "closing", sorted(found)[0][-80:], "the same request every turn")
        return found.pop()


def _data(task: Task) -> dict[str, Any]:
    """A task as templates see it: every text escaped."""
    data: dict[str, Any] = escape_all(task.model_dump())
    return data
