"""The page of the command line, docs/cli.md, made from the help of the commands.

`python docs/_hooks/commands.py` makes it anew; a test compares the page with the commands. What stands above the mark
is written by hand.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from agentworld_gym.cli.app import app

PAGE = Path(__file__).resolve().parents[1] / "cli.md"
BEGIN = "<!-- made by docs/_hooks/commands.py: begin -->\n"
WIDTH = 120

MORE = {
    "agentworld envs": "[menus](agents/stable_baselines3.md#menus-by-id), [several agents](agents/many_agents.md)",
    "agentworld specs": "[specs](extend/prompts.md), [your own domain](extend/domains.md)",
    "agentworld play": "[tasks in a file](extend/domains.md#tasks-in-a-file), [elements by "
    "name](extend/domains.md#elements-by-name), [dialects](extend/prompts.md#dialects), [official "
    "prompts](extend/prompts.md#official-prompts), [forms](extend/prompts.md#how-a-language-world-answers), "
    "[retrieval](worlds/generators.md#retrieval), [controls](worlds/index.md#controls-worlds-with-faults), "
    "[a playground](evaluation/runs.md#a-playground)",
    "agentworld rollout": "[many nodes](agents/environments.md#many-nodes), [locks](worlds/recordings.md#locks), "
    "[progress](evaluation/runs.md#progress)",
    "agentworld collect": "[what a row holds](world_models/data.md), [who plays](world_models/data.md#who-plays), "
    "[AWM's worlds](worlds/awm.md#in-a-language-world), [progress](evaluation/runs.md#progress)",
    "agentworld export": "[exports](agents/trl.md#exports)",
    "agentworld import": "[sessions from other systems](world_models/data.md#from-other-systems)",
    "agentworld lock": "[locks](worlds/recordings.md#locks)",
    "agentworld samples": "[training data](world_models/data.md#training-data), "
    "[filters](world_models/data.md#filters), [the change form](extend/prompts.md#the-change-form)",
    "agentworld index": "[retrieval](worlds/generators.md#retrieval)",
    "agentworld worldbook": "[worldbooks](worlds/generators.md#a-worldbook)",
    "agentworld serve": "[the small world models](world_models/world_model.md), [generators](worlds/generators.md)",
    "agentworld train": "[the recipe](world_models/recipe.md)",
    "agentworld train queue": "[a queue of runs](world_models/recipe.md#a-queue-of-runs)",
    "agentworld train rl": "[reinforcement learning](world_models/rl.md)",
    "agentworld eval bench": "[AgentWorldBench](evaluation/agent_world_bench.md)",
    "agentworld eval fidelity": "[fidelity](evaluation/fidelity.md), [the nearest "
    "answer](evaluation/fidelity.md#the-nearest-answer), [to choose and to "
    "report](evaluation/fidelity.md#to-choose-and-to-report)",
    "agentworld eval transfer": "[transfer](evaluation/fidelity.md#does-it-transfer), [to choose and to "
    "report](evaluation/fidelity.md#to-choose-and-to-report)",
    "agentworld cost": "[cost](evaluation/runs.md#cost)",
    "agentworld think": "[thinking traces](world_models/rl.md#thinking-traces)",
    "agentworld models": "[weights in eight bits](world_models/world_model.md#eight-bits)",
    "agentworld prompts": "[official prompts](extend/prompts.md#official-prompts)",
    "agentworld trace view": "[a page of a run](evaluation/runs.md#a-page-of-a-run)",
    "agentworld mcp": "[tool servers](worlds/mcp.md), [AWM's worlds](worlds/awm.md), [agent "
    "programs](agents/clients.md#agent-programs)",
    "agentworld synth": "[make your own tool worlds](worlds/synth.md)",
    "agentworld web": "[the five sites](worlds/web.md)",
}
"""Where a command's subject is explained."""


def sections(command: Any, path: str, told: dict[str, str]) -> Iterator[str]:
    """Yield the sections of a command and of those in it, in the order in which the program lists them.

    Args:
        command: The command.
        path: Its full name.
        told: What was said of options so far, with the command that said it; of these only the names are repeated.
    """
    children = getattr(command, "commands", None)
    level = "#" * len(path.split())
    if path != "agentworld":
        parts = [f"{level} {path}", *map(_wrapped, _paragraphs(command.help))]
        if not children:
            parts += _own(command, path, told)
        if path in MORE:
            parts.append(_wrapped(f"More: {MORE[path]}."))
        yield "\n\n".join(parts)
    for name, child in (children or {}).items():
        yield from sections(child, f"{path} {name}", told)


def _own(command: Any, path: str, told: dict[str, str]) -> Iterator[str]:
    """Yield the options and the examples of a command that does something."""
    again: dict[str, list[str]] = {}
    lines = []
    for one in command.params:
        line = _option(one) if one.param_type_name == "option" else f"- `{_argument(one)}`: {one.help}"
        if told.setdefault(line, path) == path:
            lines.append(line)
        else:
            names = [_argument(one)] if one.param_type_name == "argument" else one.opts
            again.setdefault(told[line], []).extend(f"`{name}`" for name in names)
    lines += [f"- {', '.join(names)}: as in [{where}](#{where.replace(' ', '-')})." for where, names in again.items()]
    if lines:
        yield "\n".join(_wrapped(line, "  ") for line in lines)
    yield "\n".join(["```console", *(line for line in command.epilog.split("\n") if line.startswith("$ ")), "```"])


def _argument(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _option(option: Any) -> str:
    """Return the line of an option: its names, what it takes, its help, and its default."""
    names = ", ".join(f"`{name}`" for name in option.opts)
    notes = []
    choices = _choices(option.type_descriptor.annotation)
    if choices and not all(choice in option.help for choice in choices):
        notes.append("one of " + ", ".join(f"`{choice}`" for choice in choices))
    if option.secondary_opts:
        notes.append(f"`{option.secondary_opts[0]}` is the opposite")
    elif option.required:
        notes.append("required")
    if (default := _default(option)) is not None:
        notes.append(f"default {default}")
    if option.multiple and not any(word in option.help for word in ("several times", "repeatable")):
        notes.append("repeatable")
    takes = f" `{option.metavar}`" if option.metavar else ""
    said = option.help.rstrip(".")
    return f"- {names}{takes}: {said}" + (f" ({'; '.join(notes)})." if notes else ".")


def _choices(annotation: Any) -> list[str]:
    """Return the values that an option may have, where its type lists them."""
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(choice.value) for choice in annotation]
    return [choice for part in get_args(annotation) for choice in _choices(part)]


def _default(option: Any) -> str | None:
    if isinstance(option.show_default, str):
        return option.show_default
    value = option.default.value if isinstance(option.default, Enum) else option.default
    if callable(value) or value is None or value is False or value in ("", []):
        return None
    if value is True:
        return f"`{option.opts[0]}`"
    return f"`{value}`"


def _paragraphs(text: str | None) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n")]


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def renewed(page: str) -> str:
    """Return the page with the sections of the commands as they are."""
    head = page.split(BEGIN)[0]
    return f"{head}{BEGIN}\n" + "\n\n".join(sections(get_command(app), "agentworld", {})) + "\n"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
