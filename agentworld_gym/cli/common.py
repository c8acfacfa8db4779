"""What the commands share: how errors end a run, how an environment is named, the options it is made with."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from typer.core import TyperGroup

from agentworld_gym.base.documents.strict import expectation
from agentworld_gym.base.errors import AgentWorldError, SpecError, WorldNotConfigured, install
from agentworld_gym.cli.outputs import writable_out

FAILED, USAGE, INTERRUPTED = 1, 2, 130

SEEDS = 10_000_000
"""The number of seeds from which that of test tasks is drawn."""

EnvironmentName = Annotated[
    str, typer.Argument(metavar="ENV", help="A domain (terminal), an id (AgentWorld/Terminal-v0) or a spec (my.yaml).")
]
AGENTS = (
    "Who plays: expert, mixed (an expert that errs), menu (random choices from the task's menu), explore (tries what "
    "can be done), nothing (finish at once), a saved MaskablePPO (agent.zip), python:MODULE:FACTORY, or a language "
    "model (http://HOST:PORT/v1, vllm:MODEL, transformers:DIR)"
)
"""The handles of `agentworld_gym.agents.policies.registry`, in the help of a command."""

AgentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-option",
        metavar="KEY=VALUE",
        help="An option of a language model that plays: of its sampling (temperature=0.7), of its generator "
        "(deadline_s=600), overflow=drop, or calls=text; or deterministic=false of a MaskablePPO; repeatable.",
    ),
]
WorldOption = Annotated[
    str,
    typer.Option(
        "--world",
        help="Who plays the environment: what `gym.make(..., world=…)` takes, as `agentworld envs` lists it, such "
        "as live:FILE for your own system.",
    ),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        help="Only the tasks of this scenario: its name in a world awm:DIR, or the folder of scenarios of your own.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the first episode; the others count up.")]
FamilyOption = Annotated[
    list[str] | None, typer.Option("--family", help="Only tasks of this family; may be given several times.")
]
LevelOption = Annotated[
    list[int] | None, typer.Option("--level", min=1, max=5, help="Only this level; may be given several times.")
]
SplitOption = Annotated[str, typer.Option("--split", help="Which tasks: train, validation or test.")]
EvaluatedSplitOption = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="Which tasks: validation to choose by, test for figures to report, or train. Tasks of "
        "AWM's worlds have no splits.",
        show_default="validation",
    ),
]
EvaluatedSeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Seed of the recorded sessions or of the first task; the others count up. For test tasks "
        "each run draws a new one, which the result tells.",
        show_default="0; test tasks draw a new one",
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", help="Prompts: full or compact; else those that the card of the model names, or full."),
]
PromptsOption = Annotated[
    str | None,
    typer.Option(
        "--prompts",
        metavar="official:DIR",
        help="`official`, the prompts of Qwen-AgentWorld from the cache; `official:DIR`, from their "
        "folder; or a folder of your own templates.",
    ),
]
DialectOption = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        help="The dialect in which actions are written and observations are shown, such as "
        "claude-code; else the domain's first one.",
    ),
]
FormOption = Annotated[
    str | None,
    typer.Option(
        "--form",
        help="How a world model writes the next state: full, as a change of the screen, or as the "
        "state; else the domain's own form.",
    ),
]
RetrievalOption = Annotated[
    Path | None,
    typer.Option(
        "--retrieval",
        file_okay=False,
        help="Show the world model the recorded steps most like the next one, from this index.",
    ),
]
WorldbookOption = Annotated[
    Path | None,
    typer.Option(
        "--worldbook",
        dir_okay=False,
        help="Show the world model what this worldbook tells of its next action; `agentworld worldbook` writes one.",
    ),
]
SamplingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sampling",
        metavar="KEY=VALUE",
        help="How the world model samples, such as temperature=0 or max_tokens=512; repeatable.",
    ),
]
GeneratorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--generator",
        metavar="KEY=VALUE",
        help="An option of the world model's generator, such as confidence=true or deadline_s=600; repeatable.",
    ),
]
ControlOption = Annotated[
    list[str] | None,
    typer.Option("--control", metavar="NAME=STRENGTH", help="A control, such as intermittent-errors=0.3; repeatable."),
]
JudgeOption = Annotated[
    str,
    typer.Option(
        "--judge", help="Who scores rubrics: same (the world's own model), none (no verdict), or a generator's handle."
    ),
]
LockOption = Annotated[
    Path | None,
    typer.Option("--lock", dir_okay=False, help="Stop if the world is another one than this lock pins."),
]
TensorBoardOption = Annotated[
    Path | None,
    typer.Option(
        "--tensorboard", metavar="DIR", file_okay=False, help="Show the progress in TensorBoard too, from this folder."
    ),
]
WandbOption = Annotated[
    str | None,
    typer.Option(
        "--wandb",
        metavar="PROJECT",
        help="Show the progress in Weights & Biases too, as a run of this project; WANDB_MODE=offline keeps it here.",
    ),
]
TracesOption = Annotated[
    Path | None,
    typer.Option("--out", file_okay=False, callback=writable_out, help="Record world and agent traces in this folder."),
]


def evaluated_split(world: str, asked: str | None) -> str:
    """Return the split whose tasks an evaluation plays: the validation split, if no other one is asked for.

    Args:
        world: The handle of the world.
        asked: The split that is asked for.

    Raises:
        SpecError: A split is asked for, and the world brings tasks of its own, which have none.

    >>> evaluated_split("tiny", None), evaluated_split("tiny", "train"), evaluated_split("awm:worlds+tiny", None)
    ('validation', 'train', 'train')
    """
    from agentworld_gym.worlds.own_tasks import brings_tasks

    if not brings_tasks(world):
        return asked or "validation"
    if asked is not None:
        raise SpecError("command line", "--split", asked, f"nothing: the tasks of {world} have no splits")
    return "train"


def evaluated_seed(split: str, asked: int | None) -> int:
    """Return the seed of the tasks of an evaluation: that which is asked for, or else 0, or a new one for test tasks.

    Figures of test tasks say something only if nothing was chosen by these tasks before. So no two evaluations have the
    same ones, unless a user says so.

    >>> evaluated_seed("validation", None), evaluated_seed("test", 7), evaluated_seed("test", None) < SEEDS
    (0, 7, True)
    """
    if asked is not None or split != "test":
        return asked or 0
    return secrets.randbelow(SEEDS)


class Commands(TyperGroup):
    """Commands whose known errors are one line on stderr and an exit code, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except AgentWorldError as error:
            complain(self._as_typed(ctx, error))
            raise typer.Exit(USAGE if isinstance(error, SpecError | WorldNotConfigured) else FAILED) from error
        except typer.BadParameter as error:
            if not isinstance(error.__cause__, ValidationError) or error.param is None:
                raise
            [first, *_] = error.__cause__.errors(include_url=False)
            complain(SpecError("command line", max(error.param.opts, key=len), first["input"], _wanted(first)))
            raise typer.Exit(USAGE) from error
        except (OSError, ImportError) as error:
            explained = not isinstance(error, ImportError) or "pip install" in str(error)
            hint = "" if explained else f"; install it with {install('all')}"
            complain(AgentWorldError(f"{error}{hint}"))
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as error:
            stderr().print("Stopped.", style="yellow")
            raise typer.Exit(INTERRUPTED) from error

    def _as_typed(self, ctx: Any, error: AgentWorldError) -> AgentWorldError:
        """Return the error of an environment's option or of an agent under the name by which the user gave it."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        if command is None or type(error) is not SpecError:
            return error
        place, _, part = str(error.file).partition(".language.")
        if place != "options":
            return error
        names = {one.name: max(one.opts, key=len) for one in command.params if one.param_type_name == "option"}
        whole = f"{part}.{error.key}" if part else error.key.removeprefix("language.").removeprefix("world_options.")
        key, _, rest = whole.partition(".")
        option = next((names[name] for name in (key, *_PARAMETERS.get(key, ())) if name in names), None)
        if "world_option" in names and (option is None or whole != error.key):
            option, rest = names["world_option"], f"language.{whole}" if part else error.key
        if option is None:
            return error
        return SpecError("command line", f"{option} {rest}".rstrip(), error.value, error.expected)

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the group itself."""
        return _flags_without_value(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name, whose help shows no value for its flags."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _flags_without_value(command.get_params(ctx))
        return command


def _flags_without_value(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def _wanted(error: Mapping[str, Any]) -> str:
    """Return what a value of the command line should have been, from the error of its validation.

    >>> _wanted({"type": "less_than_equal", "ctx": {"le": 3}, "msg": "Input should be less than or equal to 3"})
    'a number of at most 3'
    >>> _wanted({"type": "value_error", "msg": "Value error, 'x' is not one of 'a', 'b'."})
    "one of 'a', 'b'"
    """
    if (words := _WANTED.get(error["type"])) is not None:
        return words.format_map(error.get("ctx", {}))
    _, listed, choices = error["msg"].partition(" is not one of ")
    return f"one of {choices.rstrip('.')}" if listed else expectation(error)


_WANTED = {
    "int_parsing": "an integer",
    "float_parsing": "a number",
    "greater_than_equal": "a number of at least {ge}",
    "less_than_equal": "a number of at most {le}",
}


def stdout() -> Console:
    """The console for results."""
    return Console()


def stderr() -> Console:
    """The console for errors and progress, so that results can be piped."""
    return Console(stderr=True)


def complain(error: AgentWorldError) -> None:
    """Print an error, whatever characters its message holds."""
    message = printable(f"Error: {error}").replace("\n", " ")
    stderr().print(message, style="red", markup=False, highlight=False, soft_wrap=True)


def examples(*lines: str) -> str:
    """Return the end of a help text, with one example on each line.

    >>> print(examples("agentworld envs"))
    Examples:
    <BLANKLINE>
    $ agentworld envs
    """
    return "\n\n".join(["Examples:", *(f"$ {line}" for line in lines)])


def spec_source(name: str, option: str = "ENV") -> str:
    """Return the value of an environment's `spec` option: the domain's name, or the path of a custom spec. `custom` is
    the spec of a text environment of which nothing more is known.

    Args:
        name: The name of the environment.
        option: What the user gave it by, for the error.

    Raises:
        SpecError: Nothing has that name.

    >>> spec_source("terminal"), spec_source("AgentWorld/MCP-v0"), spec_source("swe-v0"), spec_source("my.yaml")
    ('terminal', 'mcp', 'swe', 'my.yaml')
    >>> spec_source("AgentWorld/Android-v0:droidrun")
    'android:droidrun'
    """
    from agentworld_gym.core.registration import CUSTOM_ID, all_domains
    from agentworld_gym.kit.live.environments import ENVIRONMENT_SPEC

    if name.endswith((".yaml", ".yml")):
        return name
    if CUSTOM_ID.lower() in (name.lower(), f"agentworld/{name.lower()}", f"agentworld/{name.lower()}-v0"):
        return ENVIRONMENT_SPEC
    name, colon, dialect = name.partition(":")
    if colon:
        return f"{spec_source(name, option)}:{dialect}"
    for domain in all_domains().values():
        short = domain.env_id.removeprefix("AgentWorld/")
        if name.lower() in {domain.id, domain.env_id.lower(), short.lower()}:
            return domain.id
    expected = f"one of {', '.join(all_domains())}, custom, an id, or the path of a .yaml spec"
    raise SpecError("command line", option, name, expected)


def refuse_other_options(context: typer.Context, known: Collection[str], expected: str) -> None:
    """Refuse what was typed and has no meaning beside the rest of a command line.

    Args:
        context: The context of the command.
        known: The names of the parameters that have a meaning.
        expected: What is expected instead of another one.

    Raises:
        SpecError: Another one was typed.
    """
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in known:
            is_argument = parameter.param_type_name == "argument"
            typed = getattr(parameter, "metavar", None) if is_argument else None
            raise SpecError("command line", typed or max(parameter.opts, key=len), context.params[name], expected)


def source_in_dialect(name: str, dialect: str | None, option: str = "ENV") -> str:
    """Return what `load_spec` loads an environment's spec from, in a dialect; None takes that of the name.

    Raises:
        SpecError: Nothing has that name, or the domain has no such dialect.

    >>> source_in_dialect("swe", None), source_in_dialect("swe", "claude-code"), source_in_dialect("swe:cli", None)
    ('swe', 'swe:claude-code', 'swe')
    """
    from agentworld_gym.core.domain.spec import load_spec

    source = spec_source(name, option)
    named = load_spec(source)
    spec = named if dialect is None else named.in_dialect(dialect)
    plain = source.removesuffix(f":{named.dialect}")
    return plain if spec.speaks_first_dialect else f"{plain}:{spec.dialect}"


def env_options(name: str, **options: Any) -> dict[str, Any]:
    """Return the keyword arguments of `agentworld_gym.envs.options.EnvOptions` that a user asked for.

    Args:
        name: The environment: a domain, an id, or the path of a spec.
        options: The other options as the command line has them, those that are nested beside the others. What is
            None or an empty list was not asked for and keeps its default; texts KEY=VALUE become values by key, and
            paths become texts, so that all of it can be written as JSON.

    Raises:
        SpecError: Nothing has that name, or a text is not KEY=VALUE.

    >>> env_options("AgentWorld/MCP-v0", world="tiny", levels=None, sampling=["top_p=0.9"], traces=Path("runs"))
    {'spec': 'mcp', 'world': 'tiny', 'traces': 'runs', 'language': {'sampling': {'top_p': 0.9}}}
    """
    from agentworld_gym.worlds.options import LanguageOptions

    asked = {key: value for key, value in options.items() if value is not None and value != []}
    named = {key: pairs(asked[key], option) for key, option in _BY_KEY.items() if key in asked}
    texts = {key: str(value) if isinstance(value, Path) else value for key, value in asked.items()}
    asked = {**texts, **named}
    nested = {"world_options": ("scenario",), "language": tuple(LanguageOptions.model_fields)}
    inner = {option: {key: asked.pop(key) for key in keys if key in asked} for option, keys in nested.items()}
    return {"spec": spec_source(name), **asked, **{option: given for option, given in inner.items() if given}}


_PARAMETERS = {
    "families": ("family",),
    "levels": ("level",),
    "controls": ("control",),
    "traces": ("out",),
    "policy": ("agent", "watch"),
}
"""The options of an environment that commands call otherwise, and the names that they have for an agent."""

_BY_KEY = {"sampling": "--sampling", "generator": "--generator", "controls": "--control"}
"""The options of an environment that are given as KEY=VALUE any number of times, and their names for a user."""


def pairs(texts: list[str] | None, option: str) -> dict[str, Any] | None:
    """Return the values by key of an option that is given as KEY=VALUE any number of times; None without any.

    >>> pairs(["temperature=0.5", "thinking=false"], "--sampling"), pairs([], "--sampling")
    ({'temperature': 0.5, 'thinking': False}, None)

    Raises:
        SpecError: A text has no `=`.
    """
    return dict(pair(text, option) for text in texts) if texts else None


def pair(text: str, option: str) -> tuple[str, Any]:
    """Return a key and its value, which is JSON where it can be.

    Raises:
        SpecError: The text is not KEY=VALUE.

    >>> pair("temperature=0.5", "-o"), pair("thinking=false", "-o"), pair("stop=END", "-o")
    (('temperature', 0.5), ('thinking', False), ('stop', 'END'))
    """
    import json

    key, equals, value = text.partition("=")
    if not equals:
        raise SpecError("command line", option, text, "KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


@contextmanager
def counting(what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Show on stderr how much of some work is done, and yield a function that takes the count.

    Args:
        what: The name of the work.
        total: How much there is to do.
        unit: The word for what is counted.
    """
    from agentworld_gym.agents.progress import Meter, TerminalProgress

    meter = Meter(total, unit)
    meter.reached(0)
    with TerminalProgress(what, meter, stderr()) as view:

        def show(done: int) -> None:
            meter.reached(done)
            view.show()

        yield show


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "task"), counted(2, "task")
    ('1 task', '2 tasks')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def tokens_text(number: int | None) -> str:
    """Return a number of tokens; a server that does not tell of its tokens leaves it open.

    >>> tokens_text(12345), tokens_text(None)
    ('12,345', 'unknown')
    """
    return "unknown" if number is None else f"{number:,}"


def printable(text: str) -> str:
    r"""Return a text that cannot move the cursor or change the terminal: control characters are shown as pictures.

    >>> printable("a\x1b[2J\tb\n")
    'a␛[2J\tb\n'
    """
    return text.translate(_PICTURES).encode("utf-8", "backslashreplace").decode()


_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_PICTURES |= dict.fromkeys(range(0x7F, 0xA0), 0xFFFD)
