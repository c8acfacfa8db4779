"""The view of a repository: it prints what a call shows of a structured state.

The engine computes the usual effect of a call; a model decides whether and where it stands. `named_values` and `places`
run `cp`, `mv`, `rm`, `sed`, `git add` and output into files on a copy of the engine's episode, for the names of what
they would leave; `noted` enters the call and what stands where it points; `view` shows a call with its usual effect
where the state says nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.view import Choices, Entries, StructuredState, View, predicted
from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.machine import SweMachine, flat_state
from agentworld_gym.domains.swe.engine.python.sandbox import NO_SANDBOX
from agentworld_gym.domains.swe.engine.structured_state.call_answers import READING, noted_call, reasons_of, text_of
from agentworld_gym.domains.swe.engine.structured_state.call_context import context_lines
from agentworld_gym.domains.swe.engine.structured_state.episode import episode_of, marked_files, timed_files
from agentworld_gym.domains.swe.engine.structured_state.known_values import found_values, given_values, named_places
from agentworld_gym.domains.swe.engine.structured_state.read_only import only_reads
from agentworld_gym.domains.swe.engine.tools import SHELL


class SweView(View):
    r"""Prints the answers of a repository: what files show follows from the files, and what a call does to them not.

    >>> view = SweView()
    >>> state = view.begin({"files": {"/repo/a.py": "print(6 * 7)\n"}}, seed=0)
    >>> read = {"name": "read_file", "arguments": {"absolute_path": "/repo/a.py"}}
    >>> view.view(view.noted(state, read))
    'print(6 * 7)'
    """

    names_places = True
    knows_fields = True

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a repository at the start.

        Raises:
            SpecError: The state of the task is wrong.
        """
        return SweMachine.start(state, seed, Controls(controls or {}, control_seed), NO_SANDBOX).visible_state()

    def view(self, shown: StructuredState) -> str:
        """Return the last answer.

        Raises:
            AnswerError: This is no state of a repository, or a call shows nothing in it.
        """
        with predicted():
            return text_of(_episode(shown), shown["said"])

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of the answer."""
        return ("said",)

    def noted(self, shown: StructuredState, action: Any) -> StructuredState:
        """Return the state with the call noted that is about to be answered, and counted.

        The note names the tool and what stands at the path of the call. What follows from the call is not said.

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            note = noted_call(_episode(shown), action)
            return {**shown, "step": shown["step"] + 1, "said": note}

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar]:
        """Return the fields of a state by name, as `SweMachine.state` tells its own.

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            return flat_state(_episode(shown))

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return what stands at the paths that a call names.

        What the call does to it, and whether it is refused, is not said.

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            return "\n".join(context_lines(_episode(shown), action))

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        r"""Return the values to which a change can refer: what a call gives, and what it finds.

        >>> view = SweView()
        >>> state = view.begin({"files": {"/repo/a.py": "print(6 * 7)\n"}}, seed=0)
        >>> arguments = {"file_path": "/repo/a.py", "old_string": "7", "new_string": "9"}
        >>> view.named_values(state, {"name": "edit", "arguments": arguments})[0]["edited"]
        'print(6 * 9)\n'

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            episode = _episode(shown)
            return given_values(episode, action), found_values(episode, action)

    def places(self, shown: StructuredState, action: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the places of the files that a call names.

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            return named_places(_episode(shown), action)

    def choices(self, shown: StructuredState, path: tuple[str, ...]) -> Choices | None:
        """Return why a call can be refused; how a command ends is no text, and any other one may be anything.

        Raises:
            AnswerError: This is no state of a repository.
        """
        if path in (("said", "exit"), ("said", "signal")):
            return ((),)
        if path != ("said", "refused"):
            return None
        with predicted():
            return (reasons_of(shown["said"].get("tool", "")),)

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after a call that only reads; None after any other action.

        Raises:
            AnswerError: This is no state of a repository.
        """
        noted = self.noted(shown, action)
        note = noted["said"]
        reads = note.get("tool") in READING or (note.get("tool") == SHELL and only_reads(note.get("command", "")))
        if not reads:
            return None
        try:
            self.view(noted)
        except AnswerError:
            return None
        return noted

    def marked(self, shown: StructuredState, after: StructuredState) -> StructuredState:
        """Return the state after a change with its text alone instead of each file that has been written.

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            return marked_files(shown, after)

    def summed(self, after: StructuredState) -> StructuredState:
        """Return a state with the time of the call beside each text that stands alone.

        Raises:
            AnswerError: This is no state of a repository.
        """
        with predicted():
            return timed_files(after)

    def completed(self, shown: StructuredState, path: tuple[str, ...], entries: Entries, entry: Any) -> Any:
        """Return a commit that is added, with its number, its time, its author, and the commit before it.

        Raises:
            AnswerError: This is no state of a repository.
        """
        if path != ("git", "commits") or not isinstance(entry, dict):
            return entry
        with predicted():
            git, now = shown["git"], _episode(shown).now
            tip = git["branches"][git["branch"]] if "branch" in git else git["detached"]
            usual = {"id": len(entries) + 1, "parents": [tip], "author": git["user"], "when": now}
            return {**usual, "message": entry.get("message"), "files": entry.get("files"), **entry}


def _episode(shown: Mapping[str, Any]) -> RepositoryEpisode:
    return episode_of(shown, NO_SANDBOX)
