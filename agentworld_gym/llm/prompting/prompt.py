"""Chat messages for a world model and for a judge, rendered from Jinja templates.

Only the templates, the spec and a ready system prompt are trusted; everything else is data and is escaped before it
enters a message. Histories are append-only: the user message of a turn stays as it was, but for the closing request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape, escape_all
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, Message
from agentworld_gym.core.domain.spec import DomainSpec, Form
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.pointing import pointed_lines
from agentworld_gym.core.screens.sight import folds
from agentworld_gym.llm.prompting.action_block import ActionBlocks
from agentworld_gym.llm.prompting.answers import IndexedAnswers, answer_codec
from agentworld_gym.llm.prompting.parsing import MARKER, in_output_tag
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.system_message import SystemMessage
from agentworld_gym.llm.prompting.templates import Templates, escaped_fields, render

REFERENCES = 1
"""The version of the notations of references and changes, in the digest of prompts that have either."""

SEARCHES = 1
"""The version of the notation of searches, in the digest of prompts whose hits an index prints."""


class Prompts:
    """The messages of one domain.

    Templates are `<folder>/<spec.prompts>/{system,turn,judge}.j2`; the compact profile takes the first two from the
    folder `compact` in there. Where the domain has none, that of the folder `shared` serves. `observation.j2` beside
    `turn.j2` is optional. In the profile `full` system messages end with one recorded call of each tool, where the spec
    names some; see `agentworld_gym.llm.prompting.few_shots`.

    Args:
        spec: The domain.
        options: How the model is prompted.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> prompts = Prompts(load_spec("terminal"))
    >>> print(prompts.observation("a.txt"))
    **Environment Observation:**
    a.txt

    Raises:
        SpecError: A template is missing or broken, or it makes histories that are not append-only; or the form is
            `change` and the system prompt does not read it, or it is `state` and there is no view.
    """

    def __init__(self, spec: DomainSpec, options: PromptOptions | None = None) -> None:
        options = options or PromptOptions()
        official = options.official
        if options.wording and (options.profile != "full" or options.system is not None or official is not None):
            expected = "0, but for the shipped system prompts of the full profile"
            raise SpecError("prompts", "wording", options.wording, expected)
        self.spec, self.profile = spec, options.profile
        self.form: Form = options.form or spec.observation.form
        if self.form == "state" and not spec.speaks_first_dialect:
            raise SpecError(spec.path, "observation.form", self.form, "full or change in this dialect")
        self.options = options = replace(options, form=self.form)
        parser = ActionParser(spec) if options.view is not None else None
        self.answers = answer_codec(spec.id, options, parser)
        self._templates = templates = Templates(spec, options)
        self._blocks = ActionBlocks(spec, options)
        self.system_message = SystemMessage(spec, templates, self._blocks, options)
        inner = "" if self.profile == "full" else "compact/"
        self._turn = templates.load_own_or_shared(f"{inner}turn.j2")
        self._observation = templates.load(f"{spec.prompts}/{inner}observation.j2", optional=True)
        self._judge = templates.load(f"{spec.prompts}/judge.j2", optional=True)
        self._first = templates.inline(spec.observation.first, "observation.first")
        self.closing = self._closing()
        request = official.closing_request(spec.id) if official is not None else None
        if request is not None:
            self.closing = f"\n\n{request}"
        form_part: dict[str, Any] = {} if self.form == "full" else {"form": self.form}
        if self.answers.refers or self.form == "change":
            form_part["references"] = REFERENCES
        if self.asks_index:
            form_part["index"] = SEARCHES
        form_part |= self.system_message.digests
        if request is not None:
            form_part["closing"] = request
        parts = {"templates": templates.sources, "system": options.system, "profile": self.profile, **form_part}
        self.digest = digest_of(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec, self.options)

    def system(self, task: Task, controls: Mapping[str, float] | None = None) -> str:
        """Render the system message of an episode.

        Args:
            task: The task of the episode.
            controls: The faults in force: their strengths by name.

        Raises:
            SpecError: The domain has no such control.
        """
        indexed = isinstance(self.answers, IndexedAnswers) and self.answers.prints(task)
        return self.system_message.render(task, controls, indexed=indexed)

    def turn(
        self, task: Task, turn: int, action: Action, state: str | None = None, displayed: str | None = None
    ) -> str:
        """Render the user message of a turn as it stays in the history.

        In the profile `full` the message shows the instruction and the state where the spec says so (`spec.turn`), in
        the profile `compact` the state of the first turn; and always a state whose lines answers name. The last user
        message of a request is this one followed by `closing`.

        Args:
            task: The task of the episode.
            turn: The number of the turn, counted from 1.
            action: The action of the turn.
            state: What was on the screen when the agent acted.
            displayed: What a prompt shows of it, where that is known already; None leaves it to the codec.
        """
        first, shown = turn == 1, self.spec.turn
        instruction = task.instruction if first and shown.instruction == "first" else None
        by_spec = shown.restates or (first and shown.state == "first") if self.profile == "full" else first
        if displayed is None:
            displayed = self.answers.display(state, action.parsed) if state else ""
        shows = by_spec or self.answers.shows_screen
        return self._user(instruction, turn, action, state, displayed, shows=shows, closing=False)

    def observation(self, text: str) -> str:
        """Render an observation as the assistant message of a turn that is over."""
        if self._observation is not None:
            return render(self._observation, observation=escape(text))
        return f"{MARKER}\n{escape(text)}" if self.profile == "full" else escape(text)

    def answer(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Return what a model should write for an observation: see `AnswerCodec.write`."""
        return self.answers.write(task, before, observation, action)

    def read(self, task: Task | None, before: str, answer: str, action: str | None = None) -> str:
        """Return the observation that an answer stands for: see `AnswerCodec.read`.

        Raises:
            AnswerError: The answer is a change that does not fit the screen, or it refers to what the state does not
                hold.
        """
        return self.answers.read(task, before, answer, action)

    def past(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Render the assistant message that a turn leaves in the history of a language world.

        In the full profile it holds the whole observation. In the compact profile it is the answer itself, so that a
        history costs little: the turns tell what was on the screen, and the system message what a reference means.

        Args:
            task: The task of the episode, whose state an answer may refer to.
            before: What was on the screen before the action.
            observation: What the action showed.
            action: The action as the agent wrote it; None where it is not known.
        """
        if self.profile == "compact":
            return self.answer_message(task, before, observation, action)
        return self.observation(observation)

    def answer_message(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Render an assistant message that holds the answer itself; the arguments are those of `past`."""
        return self.observation(self.answer(task, before, observation, action))

    def completion(self, task: Task | None, before: str, observation: str, action: str | None = None) -> str:
        """Render what a model should write to a request: the answer, in tags where the closing request asks for them.

        The arguments are those of `past`.
        """
        if not self.closing:
            return self.answer_message(task, before, observation, action)
        return in_output_tag(self.answer(task, before, observation, action))

    @property
    def asks_index(self) -> bool:
        """Whether the index of the domain prints what a model says that a search is about."""
        return isinstance(self.answers, IndexedAnswers)

    def first_observation(self, task: Task) -> str:
        """Render what an agent sees before its first action, not escaped."""
        return render(self._first, task=task.model_dump())

    def messages(
        self,
        task: Task,
        turns: Sequence[tuple[Action, str]],
        action: Action,
        controls: Mapping[str, float] | None = None,
    ) -> list[Message]:
        """Render all messages of one request.

        Args:
            task: The task of the episode.
            turns: Each action and observation of the turns that are over. A look at the screen is no turn of its own:
                what it showed replaces the observation before it.
            action: The action whose observation is to be predicted.
            controls: The faults in force: their strengths by name.
        """
        messages: list[Message] = [{"role": "system", "content": self.system(task, controls)}]
        history = ScreenHistory[Action](self.spec.id, self.first_observation(task))
        for past, observation in turns:
            if folds(self.spec.id, past.parsed, observation):
                history.fold(observation)
                if history.turns:
                    done = history.turns[-1][0].raw
                    messages[-1]["content"] = self.past(task, history.screen_before, observation, action=done)
                continue
            messages.append({"role": "user", "content": self._next_turn(task, history, past)})
            told = self.past(task, history.screen, observation, action=past.raw)
            messages.append({"role": "assistant", "content": told})
            history.append(past, observation)
        return [*messages, {"role": "user", "content": self._next_turn(task, history, action) + self.closing}]

    def _next_turn(self, task: Task, history: ScreenHistory[Action], action: Action) -> str:
        return self.turn(task, history.next_turn, action, history.screen)

    def judge(
        self,
        task: Task,
        turns: Sequence[tuple[Action, str]],
        criteria: Mapping[str, str] | Sequence[str] | None = None,
        answer: str | None = None,
        classes: Sequence[str] = (),
    ) -> list[Message]:
        """Render the messages for a rubric judge, who sees the task, the turns and the answer, but no thinking.

        Args:
            task: The task of the episode.
            turns: Each action and observation.
            criteria: What stands in for the rubric of the spec: texts by the name of their score, or questions, whose
                scores are named "1", "2" and so on.
            answer: The agent's answer; None where it gave none.
            classes: The answers to the question of `criteria` that the judge chooses from in place of scores.

        Raises:
            SpecError: The domain has no `judge.j2`.
        """
        if self._judge is None:
            raise self._templates.missing(f"{self.spec.prompts}/judge.j2")
        first = self.first_observation(task)
        screens = [first, *(observation for _, observation in turns)]
        content = render(
            self._judge,
            task=escaped_fields(task),
            spec=self.spec.model_dump(exclude={"path"}),
            criteria=escape_all(criteria) if criteria is not None else dict(self.spec.rubric),
            first=escape(first),
            answer=None if answer is None else escape(answer),
            classes=list(classes),
            turns=[
                {
                    "turn": number,
                    "observation": escape(observation),
                    **self._blocks.variables(action, observation, screen),
                }
                for number, ((action, observation), screen) in enumerate(zip(turns, screens, strict=False), 1)
            ],
        )
        return [{"role": "user", "content": content}]

    @property
    def refers(self) -> bool:
        """Whether answers may refer to the state of a task."""
        return self.answers.refers

    def _user(
        self,
        instruction: str | None,
        turn: int,
        action: Action,
        state: str | None,
        display: str,
        *,
        shows: bool,
        closing: bool,
    ) -> str:
        targets: list[str] = []
        if state and self.profile == "compact" and self.form != "state":
            lines = display.split("\n")
            targets = [lines[line] for line in pointed_lines(self.spec.id, action.parsed, state)]
        return render(
            self._turn,
            turn=turn,
            instruction=None if instruction is None else escape(instruction),
            state=escape(display) if display and shows else None,
            closing=closing,
            form=self.form,
            targets=escape_all(targets),
            **self._blocks.variables(action, screen=state or ""),
        )

    def _closing(self) -> str:
        """Return the closing request, which must stand at the end of a message and be the same in every turn."""
        samples = (("Say hi.", 1, Action("echo hi"), "$ "), (None, 2, Action("a\n```\nb", error="no"), None))
        name = self._turn.filename or "turn.j2"
        found = set()
        for instruction, turn, action, state in samples:
            display = self.answers.display(state, action.parsed) if state else ""
            still = self._user(instruction, turn, action, state, display, shows=True, closing=False)
            closed = self._user(instruction, turn, action, state, display, shows=True, closing=True)
            if not closed.startswith(still):
                raise SpecError(name, "closing", closed[-80:], "the request at the very end")
            found.add(closed[len(still) :])
        if len(found) > 1:
            raise SpecError(name, "closing", sorted(found)[0][-80:], "the same request every turn")
        return found.pop()
