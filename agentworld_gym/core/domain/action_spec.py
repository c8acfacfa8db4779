"""How an agent of a domain writes an action: the part `action` of a spec."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import jsonschema_rs
from pydantic import AfterValidator, Field, field_validator

from agentworld_gym.base.documents.keys import nearest
from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.registration import all_domains, syntax_reference

SharedSyntax = Literal[
    "keystroke_batch",
    "command_line",
    "tool_call",
    "function_call",
    "json_object",
    "plain_text",
]
"""The ways to write an action that all domains have: a JSON array of keystrokes; a command line; `{"name": …,
"arguments": {…}}`; a call such as `click('12')`; a JSON object; any text."""


def _known(name: str) -> str:
    shared = get_args(SharedSyntax)
    if name in shared or syntax_reference(name) is not None:
        return name
    brought = [own for domain in all_domains().values() for own in domain.syntaxes]
    raise ValueError(f"one of {', '.join(map(repr, nearest(name, [*shared, *brought])))}")


Syntax = Annotated[str, AfterValidator(_known)]
"""A way to write an action: a shared one, or one of `Domain.syntaxes` of any domain."""


class FinishRule(Strict):
    """An action that means `finish` in this domain."""

    text: str | None = None
    """The whole action as it is written; with it, `when` does not count."""

    when: dict[str, Any] = Field(default_factory=dict)
    """Values by key, or by dotted path of keys, that the parsed action has to hold."""

    answer: str | None = None
    """The key of the parsed action that holds the agent's answer; None where there is none."""

    confirm: bool = False
    """Whether the action is sent to the world the first time, and finishes only when it is repeated."""


class ActionSpec(Strict):
    """How an agent writes an action, and how a world model is shown it."""

    syntax: tuple[Syntax, ...] = Field(min_length=1)
    """The ways of writing an action, tried in this order."""

    json_schema: dict[str, Any] = Field(default_factory=dict, alias="schema")
    """The JSON Schema that a parsed action has to meet; an empty one admits everything."""

    fence: Literal["json", "text", "python", "xml"] = "text"
    """The language of the fenced block in which a world model sees an action."""

    arguments_as_string: bool = False
    """Whether a world model sees the arguments of a tool call as a JSON text inside the JSON."""

    tools: tuple[dict[str, Any], ...] = ()
    """The tools of every task of the domain, each with a name, a description and the JSON Schema of its arguments."""

    bare_tool_names: bool = False
    """Whether a tool `<server>-<tool>` is called `<tool>`, for agents and for world models."""

    components: dict[str, str] = Field(default_factory=dict)
    """What an action names instead of the title of an app, by this title: `PACKAGE/ACTIVITY`."""

    few_shots: str | None = None
    """A file with recorded calls of tools, from the folder of the spec; full prompts show one of each tool. See
    `agentworld_gym.llm.prompting.few_shots`."""

    finish_when: tuple[FinishRule, ...] = ()
    """The domain's own ways of saying "done", beside `finish`."""

    examples: tuple[str, ...] = Field(min_length=1)
    """Actions that can be read; the action space samples from them."""

    errors: str = "Error: {{ problem }}"
    """A Jinja text over `problem`, `raw` and `shown` (what the agent was shown before, without the instruction): what
    the real counterpart prints for an action that cannot be read."""

    description: str = ""
    """The instruction of an agent on how to write an action."""

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            jsonschema_rs.validator_for(schema)
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise ValueError(f"a JSON Schema ({str(error).splitlines()[0]})") from error
        return schema
