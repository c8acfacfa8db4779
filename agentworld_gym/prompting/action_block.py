"""How a prompt shows an action: the text, and a fence that nothing in it can close."""

from __future__ import annotations

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import Action
from agentworld_gym.domain.spec import DomainSpec, Profile
from agentworld_gym.prompting.templates import ticks
from agentworld_gym.text.escaping import escape


class ActionBlocks:
    """The action blocks of one domain and profile.

    Args:
        spec: The domain.
        profile: The profile of the prompts; a compact prompt shows what a batch of keystrokes types.

    >>> from agentworld_gym.domain.spec import load_spec
    >>> blocks = ActionBlocks(load_spec("terminal"), "compact")
    >>> blocks.variables(Action("ls"))["ticks"], blocks.variables(Action("echo '```'"))["ticks"]
    ('```', '````')
    """

    def __init__(self, spec: DomainSpec, profile: Profile) -> None:
        self._profile = profile
        self._parser = ActionParser(spec)

    def variables(self, action: Action, other: str = "", screen: str = "") -> dict[str, str]:
        """Return the variables of an action block, with a fence that neither the action nor the other text can close.

        The state above an action has fences of its own, as a snapshot has, and does not count: rows have three ticks.

        Args:
            action: The action.
            other: A text that stands in a fence of the same length.
            screen: What the agent acted on.
        """
        raw = self._parser.raw(action) if self._profile == "full" else self._parser.typed(action)
        text = self._parser.shown(action, screen) if self._profile == "full" else raw
        return {
            "action": escape(text),
            "raw": escape(raw),
            "fence": self._parser.fence(action) if text != raw or action.error is None else "text",
            "ticks": ticks(text + "\n" + other),
        }
