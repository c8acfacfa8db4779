"""Rows as AgentWorldBench lays them out, written by hand, and the same sessions rendered by this package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action, Message
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.llm.prompting.parsing import MARKER
from agentworld_gym.llm.prompting.prompt import Prompts

FOLDER = Path(__file__).parents[1] / "golden" / "rows"
_ACTION = re.compile(r"\*\*Action:\*\*\n(`{3,})(\w*)\n(.*)\n\1", re.DOTALL)


class Golden:
    """A row written by hand; `domain` may name a dialect, as in `desktop:autoglm`."""

    def __init__(self, file: str, domain: str) -> None:
        row: dict[str, Any] = read_yaml(FOLDER / file)
        assert row["turn_idx"] == len(row["response"]) == len(row["prompt"]) + 1 <= row["total_turns"]
        self.spec = load_spec(domain)
        self.turns: list[str] = [*row["prompt"], row["current_prompt"]]
        self.responses: list[str] = row["response"]

    @property
    def actions(self) -> list[Action]:
        """The actions of the session, read from the fences of its turns."""
        parser = ActionParser(self.spec)
        found = [_ACTION.search(turn) for turn in self.turns]
        return [parser.parse(match[3]) for match in found if match]

    @property
    def observations(self) -> list[str]:
        """What each action showed."""
        assert all(response.startswith(f"{MARKER}\n") for response in self.responses)
        return [response.removeprefix(f"{MARKER}\n") for response in self.responses]

    def rendered(self, task: Task) -> Sequence[Message]:
        """The messages of the last turn as this package renders them, without that of the system."""
        actions, observations = self.actions, self.observations
        turns = list(zip(actions[:-1], observations[:-1], strict=True))
        return Prompts(self.spec).messages(task, turns, actions[-1])[1:]

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the last turn as the row has them, without that of the system."""
        messages: list[Message] = []
        for turn, response in zip(self.turns[:-1], self.responses, strict=False):
            messages += [Message(role="user", content=turn), Message(role="assistant", content=response)]
        closing = Prompts(self.spec).closing
        assert closing.startswith("\n\n")
        return [*messages, Message(role="user", content=self.turns[-1] + closing)]
