"""`agentworld play`: a person is the agent."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import (
    AgentOption,
    ControlOption,
    FamilyOption,
    LevelOption,
    ScenarioOption,
    SeedOption,
    SplitOption,
    TracesOption,
    WorldOption,
    counted,
    env_options,
    examples,
    pairs,
    printable,
    spec_source,
    stdout,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.playground import play_in_browser

if TYPE_CHECKING:
    from agentworld_gym.agents.policies.playing import Policy
    from agentworld_gym.envs.env import AgentWorldEnv

HELP = """\
Whatever you type is the action, as an agent would write it. Besides:
  finish, finish: ANSWER   you are done
  :undo                    take the last step back
  :again                   start this episode over
  :task                    show the instruction again
  :screen, :raw            show the screen again, or the observation itself
  :tools                   list what can be called, or how actions look
  :quit, Ctrl-D            leave
"""

WORDS = (":undo", ":again", ":task", ":screen", ":raw", ":tools", ":help", ":quit")
"""The words of the command itself."""


@with_language_options
def play(
    context: typer.Context,
    env: Annotated[
        str | None,
        typer.Argument(
            metavar="ENV",
            help="A domain (terminal), an id (AgentWorld/Terminal-v0) or a spec (my.yaml); with --browser it may be "
            "left out.",
            show_default=False,
        ),
    ] = None,
    world: WorldOption = "auto",
    scenario: ScenarioOption = None,
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "train",
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            help="This task: an id such as rotate-log or sort_unique-2-11, or a YAML file. The last number "
            "of a generated task's id counts the tasks of a family over all splits, and --seed those "
            "of the split.",
        ),
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option("--watch", metavar="AGENT", help="Watch an agent play, as in `agentworld rollout --policy`."),
    ] = None,
    agent_option: AgentOption = None,
    control: ControlOption = None,
    out: TracesOption = None,
    browser: Annotated[
        bool, typer.Option("--browser", help="Play on a page in the browser, in one world or in two side by side.")
    ] = False,
    beside: Annotated[
        str | None,
        typer.Option(
            "--beside",
            metavar="WORLD",
            help="With --browser: the second world; else a small world model beside the grounded world, where there "
            "is one.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="With --browser: the port to listen on; 0 takes a free one.")
    ] = 0,
    **language: Any,
) -> None:
    """Play one episode yourself: what you type is the action, as an agent would write it.

    `finish` or `finish: ANSWER` ends the episode and tests its success. Words with a colon are for the command itself:
    `:undo` takes the last step back, `:again` starts over, `:task` shows the instruction, `:tools` lists what can be
    called, `:help` lists these words, and `:quit` or Ctrl-D leaves.

    With --watch an agent plays instead, and what it does and sees is shown.

    A graphical domain shows its screen as a drawing, with the reference, index or point of what can be acted on; an
    action may name an element instead. `:screen` shows the screen again, and `:raw` the observation itself.

    `--browser` serves a page on this machine alone, and prints its address, which nobody else knows. There you choose
    the episode, type or click the actions, see two worlds side by side, step back, let an agent play on, and save the
    episode as a trace in the folder of `--out`. Ctrl-C ends it.
    """
    chosen = {"scenario": scenario, "controls": control, **language}
    if browser:
        if watch is not None:
            raise SpecError("command line", "--watch", watch, "nothing with --browser, whose page names agents")
        play_in_browser(
            domain=spec_source(env) if env is not None else None,
            worlds=(world, beside),
            episode={"task": task, "families": family, "levels": level, "seed": seed, "split": split},
            options=chosen,
            agent_options=agent_option,
            out=out,
            port=port,
        )
        return
    for parameter in ("beside", "port"):
        source = context.get_parameter_source(parameter)
        if source is not None and source.name == "COMMANDLINE":
            raise SpecError("command line", f"--{parameter}", context.params[parameter], "nothing without --browser")
    if env is None:
        raise SpecError("command line", "ENV", None, "a domain, an id or a spec; or --browser")
    from agentworld_gym.envs.env import AgentWorldEnv

    if agent_option and watch is None:
        raise SpecError("command line", "--agent-option", agent_option[0], "--watch beside it, the agent that plays")
    episodes = {"families": family, "levels": level, "split": split, "task": task}
    made = AgentWorldEnv(**env_options(env, world=world, traces=out, **episodes, **chosen))
    try:
        if watch is None:
            Game(made, seed).run()
        else:
            _watch(made, seed, watch, pairs(agent_option, "--agent-option"))
    finally:
        made.close()


def _watch(env: AgentWorldEnv, seed: int, agent: str, options: dict[str, Any] | None) -> None:
    from agentworld_gym.agents.policies.registry import opened_policy

    with opened_policy(agent, env.domain, options=options) as policy:
        Game(env, seed).watch(policy)


class Game:
    """One episode between a person and an environment, with a way back after every step."""

    def __init__(self, env: AgentWorldEnv, seed: int) -> None:
        self.env, self.seed = env, seed
        self.console = stdout()
        self.current = env
        self.before: list[AgentWorldEnv] = []
        self.gained = [0.0]

    def run(self) -> None:
        """Play until the episode ends or the person leaves."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  line editing and history for input()
        try:
            self._begin()
            if sys.stdin.isatty():
                self.console.print(Text("\n:help lists what can be typed beside actions", style="dim"))
            while True:
                line = self._read()
                if line is None or line == ":quit":
                    self._conclude(Text("no success: the episode was left", style="yellow"))
                    return
                if line.startswith(":"):
                    self._meta(line)
                elif self._step(line):
                    return
        finally:
            self._forget()

    def watch(self, policy: Policy) -> None:
        """Show how an agent plays until the episode ends.

        Raises:
            AgentLost: The model that plays cannot be asked.
        """
        try:
            self._begin()
            kept, over = policy.begin(self.env.episode), False
            while not over:
                [action] = policy.act([self.current.episode], [kept])
                self.console.print()
                self.console.print(Text(f"» {printable(action)}", style="cyan"))
                over = self._step(action)
        finally:
            self._forget()

    def _begin(self) -> None:
        self._forget()
        observation, _ = self.env.reset(seed=self.seed)
        self._show(observation)

    def _forget(self) -> None:
        """Close every fork; the environment itself stays open."""
        for fork in (*self.before, self.current):
            if fork is not self.env:
                fork.close()
        self.before, self.current, self.gained = [], self.env, [0.0]

    def _read(self) -> str | None:
        interactive = sys.stdin.isatty()
        if interactive:
            self.console.print()
        try:
            return input("\x01\x1b[36m\x02» \x01\x1b[0m\x02" if interactive else "")
        except EOFError:
            return None

    def _meta(self, line: str) -> None:
        if line == ":undo":
            if not self.before:
                self._write("nothing to undo")
                return
            if self.current is not self.env:
                self.current.close()
            self.current = self.before.pop()
            self.gained.pop()
            self._show(self.current.episode.observation)
        elif line == ":screen":
            from agentworld_gym.kit.rendering import latest

            episode = self.current.episode
            self._show(latest(episode.task.domain, episode.observations))
        elif line == ":raw":
            self._write(self.current.episode.observation)
        elif line == ":again":
            self._begin()
        elif line == ":tools":
            for tool in self.current.tools:
                names = ", ".join((tool.get("parameters") or {}).get("properties", ()))
                self.console.print(Text(printable(f"{tool['name']}({names})"), style="bold"))
                self.console.print(Text(printable(f"  {tool.get('description', '')}")))
            if not self.current.tools:
                self._write("\n".join(["no tools here; actions look like this:", *self.current.domain.action.examples]))
        elif line == ":task":
            self.console.print(Text(printable(self.current.task.instruction), style="bold"))
        elif line != ":help":
            self._write(f"{line} is unknown; the words are {', '.join(WORDS)}, and anything else is the action")
        else:
            self.console.print(Text(HELP.rstrip(), style="dim"))
            from agentworld_gym.core.screens import screen_of

            if (screen := screen_of(self.current.task.domain)) is not None:
                self.console.print(Text(f"An element of the screen by its name: {screen.example}", style="dim"))

    def _step(self, action: str) -> bool:
        """Do one action, and return whether the episode is over."""
        from agentworld_gym.core.screens.sight import Sight

        episode = self.current.episode
        try:
            resolved = Sight(episode.task.domain, episode.observations).resolve(action)
        except ValueError as error:
            self.console.print(Text(f"expected {error}", style="red"))
            return False
        if resolved is None:
            self.console.print(Text("nothing on the screen is called that", style="red"))
            return False
        self.before.append(self.current.fork())
        observation, reward, terminated, truncated, info = self.current.step(resolved)
        self.gained.append(reward)
        self._show(observation)
        if info.get("failure"):
            self.console.print(Text(f"the world failed: {info['failure']['message']}", style="red"))
        if not (terminated or truncated):
            return False
        verdict = Text("success was not tested", style="dim")
        if "success" in info:
            verdict = Text("success", style="green") if info["success"] else Text("no success", style="yellow")
        self._conclude(verdict)
        return True

    def _conclude(self, verdict: Text) -> None:
        """Print what the episode came to."""
        steps = counted(self.current.episode.steps, "step")
        self.console.print(Text.assemble(verdict, f", {steps}, return {sum(self.gained):+.2f}"))

    def _show(self, observation: str) -> None:
        """Print an observation; that of a graphical domain as a drawing of its screen."""
        from agentworld_gym.kit.rendering import MODAL, latest
        from agentworld_gym.kit.rendering.text import drawing

        task = self.current.task
        if MODAL in observation:
            observation = latest(task.domain, self.current.episode.observations)
        screen = drawing(task.domain, observation, self.console.width - 1)
        if screen is None:
            self._write(observation)
            return
        if not self.current.episode.steps:
            self.console.print(Text(printable(task.instruction), style="bold"))
            self.console.print()
        text = Text(printable(screen))
        text.highlight_regex(r"‹[ef]?\d[\d,]*›|(?<![\w‹])\d+:(?=\S)", "cyan")
        self.console.print(text, soft_wrap=True)

    def _write(self, text: str) -> None:
        self.console.print(Text(printable(text)), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld play terminal",
            "agentworld play terminal --family sort_unique --level 2 --seed 9",
            "agentworld play android --task two-of-the-same",
            "agentworld play web --watch http://localhost:8001/v1",
            "agentworld play web --world http://localhost:8000/v1 --out traces",
            "agentworld play swe --world http://localhost:8000/v1 --dialect claude-code --prompts official",
            "agentworld play web --browser --world grounded --beside http://localhost:8000/v1",
        )
    )(play)
