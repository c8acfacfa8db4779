"""Chat messages for a world model and for a judge, rendered from Jinja templates.

Only the templates, the spec and a ready system prompt are ours; everything else is data and is escaped before it enters
a message. Histories are append-only: the user message of a turn stays as it was, but for the closing request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import Action, Message
from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.domain.spec import DomainSpec, Form, Profile
from agentworld_gym.domain.task import Task
from agentworld_gym.errors import SpecError
from agentworld_gym.fingerprint import digest_of
from agentworld_gym.prompting.answers import answer_codec
from agentworld_gym.prompting.ledger import StateChange, with_ledger
from agentworld_gym.prompting.parsing import MARKER, in_output_tag
from agentworld_gym.prompting.templates import Templates, render, ticks
from agentworld_gym.screens.history import History
from agentworld_gym.screens.pointing import pointed_lines
from agentworld_gym.text.escaping import escape, escape_all

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
        self.answers = answer_codec(spec.id, profile, self.form)
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
        if self.answers.refers or self.form == "change":
            form_part["references"] = REFERENCES
        self.digest = digest_of({"templates": templates.sources, "system": system, "profile": profile, **form_part})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments

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
        restated = turn == 1 or (self.profile == "full" and self.spec.observation.restate)
        displayed = restated or self.answers.outdates(before, state or "")
        return self._user(task.instruction, turn, action, state, displayed=displayed, closing=False)

    def observation(self, text: str) -> str:
        """The assistant message of a turn that is over."""
        if self._observation is None:
            return f"{MARKER}\n{escape(text)}"
        return render(self._observation, observation=escape(text))

    def answer(self, task: Task | None, before: str, observation: str) -> str:
        """Return what a model should write for an observation: see `AnswerCodec.write`."""
        return self.answers.write(task, before, observation)

    def read(self, task: Task | None, before: str, answer: str) -> str:
        """Return the observation that an answer stands for: see `AnswerCodec.read`.

        Raises:
            AnswerError: The answer is a change that does not fit the screen, or it refers to what the state does not
                hold.
        """
        return self.answers.read(task, before, answer)

    def past(self, task: Task | None, before: str, observation: str, ledger: str = "") -> str:
        """The assistant message of a turn that is over, on a screen, with what the ledger says of it.

        In the compact profile it is the answer itself, so that a history costs little; what was on the screen then is
        told by the turns, and what a reference means by the system message.
        """
        if self.profile == "compact":
            return self.answer_message(task, before, observation, ledger)
        return self._with_ledger(self.observation(observation), ledger)

    def answer_message(self, task: Task | None, before: str, observation: str, ledger: str = "") -> str:
        """The assistant message that holds an answer, with what the ledger says of it."""
        return self._with_ledger(self.observation(self.answer(task, before, observation)), ledger)

    def completion(self, task: Task | None, before: str, observation: str, ledger: str = "") -> str:
        """What a model should write to a request: an answer, in tags where the closing request asks for them."""
        if not self.closing:
            return self.answer_message(task, before, observation, ledger)
        return self._with_ledger(in_output_tag(self.answer(task, before, observation)), ledger)

    def _with_ledger(self, message: str, ledger: str) -> str:
        return with_ledger(message, escape(ledger), closed=self.profile == "full")

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
        messages: list[Message] = [{"role": "system", "content": self.system(task, controls)}]
        history = History[Action](self.spec.id, self.first_observation(task))
        for past, observation in turns:
            messages.append({"role": "user", "content": self._next_turn(task, history, past)})
            messages.append({"role": "assistant", "content": self.past(task, history.screen, observation)})
            history.append(past, observation)
        return [*messages, {"role": "user", "content": self._next_turn(task, history, action) + self.closing}]

    def _next_turn(self, task: Task, history: History[Action], action: Action) -> str:
        return self.turn(task, history.next_turn, action, history.screen, history.screen_before)

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
        return self.answers.refers

    def _user(
        self, instruction: str, turn: int, action: Action, state: str | None, *, displayed: bool, closing: bool
    ) -> str:
        display = self.answers.display(state) if state else ""
        targets: list[str] = []
        if state and self.profile == "compact":
            lines = display.split("\n")
            targets = [lines[line] for line in pointed_lines(self.spec.id, action.parsed, state)]
        if not displayed:
            display = ""
        return render(
            self._turn,
            turn=turn,
            instruction=escape(instruction) if turn == 1 else None,
            state=escape(display) if display else None,
            closing=closing,
            form=self.form,
            targets=escape_all(targets),
            **self._block(action, display),
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
            still = self._user(instruction, turn, action, state, displayed=True, closing=False)
            closed = self._user(instruction, turn, action, state, displayed=True, closing=True)
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
