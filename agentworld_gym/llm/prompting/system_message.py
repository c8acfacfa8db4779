"""The system message of a world model: its task, the controls in force, the tools, and recorded calls of them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.text.escaping import escape, escape_all
from agentworld_gym.core.actions.naming import callable_tools, called
from agentworld_gym.core.contracts import Action
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.user import without_ask
from agentworld_gym.llm.prompting.action_block import ActionBlocks
from agentworld_gym.llm.prompting.few_shots import FewShot, choose_few_shots, few_shots_of
from agentworld_gym.llm.prompting.official import filled
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.templates import Templates, escaped_fields, render

FEW_SHOTS = "shared/few_shots.j2"
"""The template of recorded calls, behind the system message."""

EPISODE = "shared/episode.j2"
"""The template of what stands behind an official system prompt."""

TOOLS = "shared/tools.j2"
"""The template of the definitions of tools."""


class SystemMessage:
    """The system message of one domain.

    Args:
        spec: The domain.
        templates: The templates; this loads its own.
        blocks: What shows the actions of recorded calls.
        options: How the model is prompted; their form is that of the spec where the user named none.

    Raises:
        SpecError: A template is missing or broken; the form is `change` and the template does not read it; or the
            options ask for what no official prompt tells of.
    """

    def __init__(self, spec: DomainSpec, templates: Templates, blocks: ActionBlocks, options: PromptOptions) -> None:
        self._spec, self._blocks, self._ready = spec, blocks, options.system
        self._form = form = options.form
        self._fields = spec.model_dump(exclude={"path"})
        self._official = self._tools = None
        self._template = None
        if options.official is not None:
            _require_plain(options)
            self._official = options.official.system(spec.id)
            self._tools = templates.load(TOOLS)
            self._template = templates.load(EPISODE)
        elif options.system is None:
            full = options.profile == "full"
            self._template = templates.load_own_or_shared("system.j2" if full else "compact/system.j2")
            if form == "change" and not templates.reads("form"):
                file = self._template.filename
                raise SpecError(file, "observation.form", form, f"a prompt that explains the {form} form")
        self._controls = {
            name: templates.inline(control.sentence, f"controls.{name}.sentence")
            for name, control in spec.controls.items()
        }
        shows_calls = options.profile == "full" and options.system is None
        self._calls: tuple[FewShot, ...] = few_shots_of(spec) if shows_calls else ()
        self._few_shots = templates.load(FEW_SHOTS) if self._calls else None
        self.digests = self._digests()

    def _digests(self) -> dict[str, str]:
        """Return the digests of what the message holds beside templates, by the names of parts of a digest."""
        digests = {}
        if self._calls:
            digests["demonstrations"] = digest_of([call.model_dump() for call in self._calls])
        if self._official is not None:
            digests["official"] = digest_of(self._official)
        return digests

    def render(self, task: Task, controls: Mapping[str, float] | None = None, *, indexed: bool = False) -> str:
        """Render the system message of an episode.

        Args:
            task: The task of the episode.
            controls: The faults in force: their strengths by name.
            indexed: Whether an index prints the pages of the task.

        Raises:
            SpecError: The domain has no such control.
        """
        if self._template is None:
            return self._ready or ""
        tools = escape_all(callable_tools(self._spec.action, without_ask(task.tools)))
        role = render(
            self._template,
            task=escaped_fields(task),
            spec=self._fields,
            form=self._form,
            indexed=indexed,
            viewed=self._form == "state",
            controls=self.sentences(controls or {}),
            tools=tools,
        )
        few_shots = self.few_shots(task)
        if self._official is None or self._tools is None:
            return role.rstrip("\n") + f"\n\n{few_shots}" if few_shots else role
        definitions = render(self._tools, tools=tools).strip("\n")
        official = filled(self._official, definitions, few_shots and "\n" + few_shots)
        episode = role.strip("\n")
        return f"{official}\n\n{episode}" if episode else official

    def few_shots(self, task: Task) -> str:
        """Render the recorded calls of the tools of an episode; empty where none are shown, or there are none."""
        calls = choose_few_shots(self._calls, task, [*self._spec.action.tools, *task.tools])
        if self._few_shots is None or not calls:
            return ""
        examples = [
            {
                "tool": escape(called(call.tool, self._spec.action)),
                "observation": escape(call.observation),
                **self._blocks.variables(Action(json.dumps(call.action, ensure_ascii=False), call.action)),
            }
            for call in calls
        ]
        return render(self._few_shots, examples=examples)

    def sentences(self, controls: Mapping[str, float]) -> list[str]:
        """Render the sentences about the controls in force.

        Raises:
            SpecError: The domain has no such control.
        """
        for name in controls:
            if name not in self._controls:
                expected = ", ".join(sorted(self._controls)) or "none in this domain"
                raise SpecError(self._spec.path, "controls", name, f"one of: {expected}")
        return [render(self._controls[name], strength=strength) for name, strength in controls.items() if strength > 0]


def _require_plain(options: PromptOptions) -> None:
    """Require that nothing is asked for which no official prompt tells of.

    Raises:
        SpecError: Something is.
    """
    given = {"profile": options.profile, "form": options.form, "system_prompt": options.system}
    for key, expected in {"profile": "full", "form": "full", "system_prompt": None}.items():
        if given[key] != expected:
            raise SpecError("prompts", key, given[key], f"{expected}, beside official prompts")
