"""The seam between the desktop and its programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypedDict

from agentworld_gym.engines import Controls, Scalar
from agentworld_gym.engines.gui import Message, Widget

if TYPE_CHECKING:
    from agentworld_gym.engines.desktop.filesystem import FileSystem
    from agentworld_gym.engines.desktop.state import DesktopState


class Window(TypedDict):
    """One window, as plain data. `data` is the program's own: dictionaries, lists, fields and scalars.

    `focus` is the key of the widget that takes the keys, `scroll` how far each scrolling widget is scrolled. `box` is
    x, y, width and height of the frame, title bar included.
    """

    id: int
    program: str
    title: str
    box: list[int]
    maximized: bool
    minimized: bool
    focus: str
    scroll: dict[str, int]
    dialogs: list[dict[str, Any]]
    ready: int
    version: int
    data: dict[str, Any]


class Entry(NamedTuple):
    """One line of a menu; `message` goes to the program's `update`, or opens a menu where it starts with `menu`."""

    label: str
    message: Message = ()
    enabled: bool = True
    checked: bool = False


class ToolError(Exception):
    """What a helper object raises; it reaches the agent's code as an exception of that `kind`."""

    def __init__(self, message: str, kind: str = "RuntimeError") -> None:
        self.kind = kind
        super().__init__(message)


class Resource(Protocol):
    """What a program keeps that is no plain data (a shell, the sites of a browser)."""

    def fork(self) -> Resource:
        """An exact copy."""
        ...

    def state(self) -> Mapping[str, Scalar]:
        """What of it actions can change."""
        ...

    def close(self) -> None:
        """Free it; twice is fine."""
        ...


class DesktopServices(Protocol):
    """What a program may use of the desktop."""

    files: FileSystem
    given: DesktopState
    seed: int
    controls: Controls
    hidden: Mapping[str, Any]
    resources: dict[str, Resource]
    programs: Mapping[str, Program]

    @property
    def action(self) -> int:
        """The number of the agent's action that is carried out."""
        ...

    @property
    def now(self) -> datetime:
        """The time of the desktop's clock."""
        ...

    @property
    def clipboard(self) -> str:
        """The text in the clipboard."""
        ...

    @clipboard.setter
    def clipboard(self, text: str) -> None: ...

    @property
    def copied_files(self) -> tuple[tuple[str, ...], bool]:
        """The files in the clipboard, and whether they are to be moved."""
        ...

    def copy_files(self, paths: Sequence[str], cut: bool = False) -> None:
        """Put files into the clipboard."""
        ...

    @property
    def recent(self) -> list[str]:
        """The files that were opened, the last one first."""
        ...

    def attempt(self, window: Window, title: str, change: Callable[[], Any]) -> bool:
        """Do something with files; False after a dialog that says why it could not be done."""
        ...

    def setting(self, name: str) -> Scalar:
        """A setting by its path, such as `appearance/dark`; None where there is none."""
        ...

    def change_setting(self, window: Window, name: str, value: Scalar) -> bool:
        """Change a setting; False after a dialog where that is not permitted."""
        ...

    def window(self, data: dict[str, Any], title: str) -> Window:
        """A fresh window of the program that is being opened, for `open` to return."""
        ...

    def windows(self, program: str) -> list[Window]:
        """The windows of a program, the one in front first."""
        ...

    def launch(self, program: str, *arguments: str) -> Window | None:
        """Start a program, or open another window of it."""
        ...

    def opener(self, path: str) -> str | None:
        """Return the id of the program that opens a file or a folder; None if there is none."""
        ...

    def open_file(self, path: str) -> Window | None:
        """Open a file or a folder with the program of its type; a dialog where there is none."""
        ...

    def close(self, window: Window, ask: bool = True) -> None:
        """Close a window; with `ask` its program may refuse or ask first (see `Program.closing`)."""
        ...

    def dialog(
        self,
        window: Window,
        title: str,
        text: str = "",
        buttons: Sequence[tuple[str, str]] = (("ok", "OK"),),
        message: Message = (),
        entries: Mapping[str, str] | None = None,
    ) -> None:
        """A dialog over a window that takes all its input.

        Args:
            window: the window.
            title: its heading.
            text: what it says.
            buttons: id and label of each; Enter presses the last one, Escape the one called `cancel` (or the only one).
            message: what `update` gets once a button is pressed, followed by its id and the tuple of the entries'
                texts; nothing where it is empty.
            entries: labels of text entries and what they hold at first.
        """
        ...

    def choose_file(
        self,
        window: Window,
        title: str,
        message: Message,
        mode: str = "open",
        path: str = "",
        types: Sequence[str] = (),
    ) -> None:
        """The file dialog; `update` gets `message` followed by the path that was chosen, nothing when it is cancelled.

        Args:
            window: the window it belongs to.
            title: its heading.
            message: what `update` gets.
            mode: `open`, `save` (asks before it replaces a file) or `folder`.
            path: the folder it starts in, for `save` with the suggested name.
            types: endings of the files that are listed, such as `.csv`; all if empty.
        """
        ...

    def write_file(self, window: Window, path: str, text: str) -> bool:
        """Write a text into a file; False after a dialog where that is not permitted or possible."""
        ...

    def notify(self, title: str, text: str = "") -> None:
        """A notification below the top bar."""
        ...

    def focus(self, window: Window, key: str) -> None:
        """Give the focus of a window to a widget."""
        ...

    def touch(self, window: Window) -> None:
        """Say that a window's data changed outside `update` and `key`, so that it is drawn again."""
        ...

    def ordered(self, items: Sequence[Any]) -> list[Any]:
        """The entries of a list in their order, or in another one where a control has mixed them."""
        ...


class Program:
    """A program: pure functions over the data of its windows.

    An input becomes a message of the widget it is for (`Widget.on`) and goes to `update`. What is not overridden here
    does what most programs do.
    """

    id: ClassVar[str] = ""
    """Its name in the model: `files`."""
    name: ClassVar[str] = ""
    """Its name on the dock and in the top bar."""
    commands: ClassVar[tuple[str, ...]] = ()
    """The names of its executables; arguments that do not begin with `-` are passed on."""
    types: ClassVar[tuple[str, ...]] = ()
    """The endings of the files that it opens, such as `.csv`, the best program first by the order of `PROGRAMS`."""
    size: ClassVar[tuple[int, int]] = (1080, 720)
    """Width and height of a fresh window."""
    maximized: ClassVar[bool] = False
    """Whether a fresh window fills the screen."""
    watches: ClassVar[frozenset[str]] = frozenset()
    """What its view depends on besides its window: `files`, `settings`, `clock`."""
    settings: ClassVar[Mapping[str, Scalar]] = {}
    """The settings that it brings, with their defaults."""
    tools: ClassVar[str] = ""
    """The name of its helper object, such as `CalcTools`; its methods are those of `tool_methods`."""

    def targets(self, words: Sequence[str], folder: str) -> list[str]:
        """The arguments of `open` from the words of a command (without options): paths, from the folder it runs in."""
        from agentworld_gym.engines.desktop.filesystem import absolute

        return [absolute(word, folder) for word in words]

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """A window for these arguments: a fresh one (`desktop.window`), one that is there already, or none."""
        raise NotImplementedError

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """What the window shows below its title bar (the title bar is the desktop's)."""
        raise NotImplementedError

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Change the window's data as a message says."""

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """A key such as `ctrl+s`, `f2`, `enter` or `shift+tab`; whether the program takes it.

        It is asked before the field or button with the focus gets the key (which `window["focus"]` names).
        """
        return False

    def type(self, desktop: DesktopServices, window: Window, text: str) -> bool:
        """Printable characters while no field has the focus; whether the program takes them."""
        return False

    def menu(self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]) -> Sequence[Entry]:
        """The lines of a menu; asked for by a message `("menu", name, *arguments)`."""
        return ()

    def closing(self, desktop: DesktopServices, window: Window) -> bool:
        """Whether the window may close; a program with unsaved changes opens a dialog and says no."""
        return True

    def unsaved(self, desktop: DesktopServices, window: Window) -> bool:
        """Whether the window holds changes that were not saved."""
        return False

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """The methods of its helper object by name; each is called with the desktop, then with the code's arguments."""
        return {}
