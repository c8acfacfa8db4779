"""How a prompt shows an action: the text, and a fence that nothing in it can close."""

from __future__ import annotations

from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Action
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.templates import ticks

LONGEST = 600
"""The largest number of characters of an action that is shown as a whole where long ones are abridged."""
BEGINNING = 480
"""The number of characters of its beginning that are shown of any longer one."""


class ActionBlocks:
    r"""The action blocks of one domain.

    A compact prompt shows what a batch of keystrokes types. In the form `state` a long action is shown without its
    middle: answers name what an action gives, and no letter of it has to be copied.

    Args:
        spec: The domain.
        options: The profile and the form of the prompts.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> blocks = ActionBlocks(load_spec("terminal"), PromptOptions("compact"))
    >>> blocks.variables(Action("echo '```'"))["ticks"], blocks.variables(Action("echo\n```"))["ticks"]
    ('```', '````')
    """

    def __init__(self, spec: DomainSpec, options: PromptOptions) -> None:
        self._profile, self._abridged = options.profile, options.form == "state"
        self._parser = ActionParser(spec)

    def variables(self, action: Action, other: str = "", screen: str = "") -> dict[str, str]:
        """Return the variables of an action block, with a fence that neither the action nor the other text can close.

        Rows have three ticks, also around a text that holds some. A line that begins with ticks could close them, so
        the lines of an action count that do; the state above it, whose snapshot has fences of its own, does not.

        Args:
            action: The action.
            other: A text that stands in a fence of the same length.
            screen: What the agent acted on.
        """
        raw = self._parser.raw(action) if self._profile == "full" else self._parser.typed(action)
        raw = abridged(raw) if self._abridged else raw
        text = self._parser.action_block(action, screen) if self._profile == "full" else raw
        return {
            "action": escape(text),
            "raw": escape(raw),
            "fence": self._parser.fence(action) if text != raw or action.error is None else "text",
            "ticks": ticks("\n".join([*_fences(text), other])),
        }


def abridged(text: str) -> str:
    """Return a text without its middle where it is long.

    >>> abridged("echo hi"), len(abridged("x" * 5000)), abridged("x" * 5000)[475:510]
    ('echo hi', 625, 'xxxxx[... 4400 characters ...]xxxxx')
    """
    if len(text) <= LONGEST:
        return text
    return f"{text[:BEGINNING]}[... {len(text) - LONGEST} characters ...]{text[BEGINNING - LONGEST :]}"


def _fences(text: str) -> list[str]:
    """Return the lines of a text that could close a fence around it."""
    return [line for line in text.splitlines() if line.lstrip().startswith("```")] if "```" in text else []
