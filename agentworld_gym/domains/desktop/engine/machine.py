"""The machine of the grounded desktop: Python code goes in, the table of the accessibility tree comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, Controls, EngineError, RestorableMachine, Scalar, Span
from agentworld_gym.domains.desktop.engine import faults
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.filesystem import clean
from agentworld_gym.domains.desktop.engine.flat_state import compared, flat_state
from agentworld_gym.domains.desktop.engine.geometry import reachable
from agentworld_gym.domains.desktop.engine.interpreter import Interpreter, names
from agentworld_gym.domains.desktop.engine.interpreter.pyautogui import PyAutoGui
from agentworld_gym.domains.desktop.engine.interpreter.values import ActionBudget
from agentworld_gym.domains.desktop.engine.keyboard import Keyboard
from agentworld_gym.domains.desktop.engine.mouse import Mouse
from agentworld_gym.domains.desktop.engine.programs import programs
from agentworld_gym.domains.desktop.engine.screen import RenderedScreen
from agentworld_gym.domains.desktop.engine.shell_data import shell_settings
from agentworld_gym.domains.desktop.engine.spans import SpanTracker, in_four_columns
from agentworld_gym.domains.desktop.engine.state import DesktopState, seconds
from agentworld_gym.domains.desktop.engine.structured_state.desktop import (
    complete,
    hidden_state,
    restored,
    visible_state,
)
from agentworld_gym.domains.desktop.screen_texts import four_columns

TRACEBACK = 'Traceback (most recent call last):\n  File "<action>", line {line}, in <module>\n{problem}'
_NOTHING = frozenset(("", "WAIT", "None", "pass"))


class DesktopMachine(RestorableMachine[Desktop]):
    """One desktop of a user, with windows, files and a clock of its own.

    The observation is always the table of the screen; what code prints or raises does not appear there. `problem` is
    the traceback of the last action, empty if it succeeded.

    >>> machine = DesktopMachine.start({"files": {"/home/user/Documents/todo.txt": "Milk"}}, seed=0)
    >>> table = machine.act("subprocess.Popen(['gedit', '/home/user/Documents/todo.txt'])")
    >>> [line for line in table.split("\\n") if "Milk" in line][0].split("\\t")[:3]
    ['text', 'todo.txt', 'Milk']
    >>> machine.act("pyautogui.fly()") == table, machine.problem.split("\\n")[-1]
    (True, "AttributeError: module 'pyautogui' has no attribute 'fly'")
    """

    noun = "desktop"
    concurrent = True

    def __init__(self, desktop: Desktop, screen: RenderedScreen, span_tracker: SpanTracker) -> None:
        super().__init__(desktop, screen.table())
        self._screen = screen
        self._span_tracker = span_tracker
        self.problem = ""
        self._code: tuple[PyAutoGui, ActionBudget, dict[str, Any], dict[str, Any]] | None = None

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Self:
        """Return a desktop in the state that a task states.

        Args:
            state: The initial state, see `DesktopState`.
            seed: The seed of what the state leaves open.
            controls: The faults in force.
            hidden: What the desktop knows and the agent is never shown.

        Raises:
            SpecError: The state is wrong. The error names the key, its value and what was expected.
        """
        initial_state = DesktopState.of(state)
        desktop = Desktop(initial_state, seed, controls, hidden, programs())
        _furnish(desktop)
        _open_windows(desktop)
        faults.prepare(desktop)
        return cls(desktop, RenderedScreen(desktop), SpanTracker(initial_state))

    def observation_in(self, dialect: str) -> str:
        """Return the table of the screen as agents of another dialect see it.

        Raises:
            EngineError: There is no such dialect.
        """
        if dialect != "autoglm":
            raise EngineError(f"a desktop has no dialect {dialect!r}, only autoglm beside its own")
        return four_columns(self._observation)

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the pieces of the table in another dialect that are not deterministic.

        Raises:
            EngineError: There is no such dialect.
        """
        return in_four_columns(self._observation, self.observation_in(dialect), self.spans)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The pieces of the observation that are not deterministic: the clock, and contents that were not stated."""
        return self._span_tracker.spans(self._observation)

    def act(self, source: Any) -> str:
        """Run code, and return the table of the screen after it.

        An action that is not a text, or holds no code, changes nothing.
        """
        desktop = self._open()
        before = self._observation
        self._span_tracker.see(before, source if isinstance(source, str) else "")
        self.problem = ""
        desktop.model["action"] += 1
        faults.before(desktop)
        if isinstance(source, str) and source.strip() not in _NOTHING:
            self._run(desktop, clean(source))
        faults.after(desktop)
        self._observation = self._screen.table()
        if self._observation != before and desktop.advance(1.0):
            self._observation = self._screen.table()
        return self._observation

    def _run(self, desktop: Desktop, source: str) -> None:
        if self._code is None:
            mouse = Mouse(desktop, self._screen)
            pyautogui, budget = PyAutoGui(desktop, mouse, Keyboard(desktop, self._screen)), ActionBudget()
            self._code = (pyautogui, budget, *names(desktop, pyautogui, budget))
        pyautogui, budget, names_of_code, modules = self._code
        pyautogui.rest()
        budget.fill()
        interpreter = Interpreter(names_of_code, modules, budget)
        problem = interpreter.run(source)
        if problem:
            self.problem = TRACEBACK.format(line=interpreter.line, problem=problem)

    def state(self) -> dict[str, Scalar]:
        """Return everything that an action can change: files, windows, settings, clipboard."""
        return flat_state(self._open())

    @staticmethod
    def compared(state: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """Return the fields of a state as outcomes are compared: a spreadsheet is what its cells show."""
        return compared(state)

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        own = {"problem": self.problem, "spans": self._span_tracker.fields()}
        return {"desktop": hidden_state(self._open(), shown), **own}

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        return visible_state(self._open())

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> DesktopMachine:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""
        inner = structured_state["kept"]
        desktop = complete(structured_state["shown"], inner["desktop"])
        machine = cls(desktop, RenderedScreen(desktop), SpanTracker.restore(inner["spans"]))
        machine.problem = inner["problem"]
        return machine

    @classmethod
    def viewed(cls, shown: Mapping[str, Any]) -> DesktopMachine:
        """Return the machine of what the view reads, which is good for nothing but to open what is there."""
        desktop = restored(shown)
        return cls(desktop, RenderedScreen(desktop), SpanTracker(desktop.initial_state))

    def _part_from(self, system: Desktop) -> None:
        self._system = system.fork()
        self._screen = self._screen.fork(self._system)
        self._span_tracker = self._span_tracker.copy()
        self._code = None

    def _free(self, system: Desktop) -> None:
        for resource in system.resources.values():
            resource.close()
        self._code = None
        self._screen = None  # type: ignore[assignment]


def _furnish(desktop: Desktop) -> None:
    initial_state, files, model = desktop.initial_state, desktop.files, desktop.model
    model["settings"] = shell_settings()
    for program in desktop.programs.values():
        model["settings"].update(program.settings)
    for name, value in initial_state.settings.items():
        if name not in model["settings"]:
            raise SpecError("task state", f"settings.{name}", value, f"one of {', '.join(sorted(model['settings']))}")
        model["settings"][name] = value
    place = ""
    try:
        for place in initial_state.folders:
            if not files.is_folder(place):
                files.place(place, None, 0o755, files.now)
        for place, file in initial_state.files.items():
            modified = files.now if file.modified is None else seconds(file.modified)
            files.place(place, file.content, int(file.mode, 8), modified)
    except OSError as error:
        raise SpecError("task state", f"files.{place}", error.strerror, "a path that can be made") from error


def _open_windows(desktop: Desktop) -> None:
    for number, opened in enumerate(desktop.initial_state.open):
        if opened.program not in desktop.programs:
            raise SpecError(
                "task state", f"open.{number}.program", opened.program, f"one of {', '.join(sorted(desktop.programs))}"
            )
        window = desktop.launch(opened.program, *opened.arguments)
        if window is None:
            raise SpecError("task state", f"open.{number}.arguments", opened.arguments, "something that can be opened")
        window["ready"] = 0
        if opened.box is not None:
            window["box"], window["maximized"] = reachable(list(opened.box)), False
        if opened.maximized is not None:
            window["maximized"] = opened.maximized
