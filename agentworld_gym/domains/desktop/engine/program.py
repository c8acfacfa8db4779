"""The interface between the desktop and its programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypedDict

from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.kit.gui import Message, Widget

if TYPE_CHECKING:
    from agentworld_gym.domains.desktop.engine.filesystem import FileSystem
    from agentworld_gym.domains.desktop.engine.state import DesktopState


class Window(TypedDict):
    """One window, as plain data."""

    id: int
    """The number of the window."""
    program: str
    """The id of its program."""
    title: str
    """The text of the title bar."""
    box: list[int]
    """The x, y, width and height of the frame, including the title bar."""
    maximized: bool
    """Whether it fills the screen."""
    minimized: bool
    """Whether it is hidden."""
    focus: str
    """The key of the widget that receives the keys."""
    scroll: dict[str, int]
    """The scroll offset of each scrolling widget, by key."""
    dialogs: list[dict[str, Any]]
    """The dialogs over the window, the one in front last."""
    ready: int
    """The number of the action at which the window appears."""
    version: int
    """A number that changes with everything that the window shows."""
    data: dict[str, Any]
    """The program's own data: dictionaries, lists, text fields and scalars."""


class MenuEntry(NamedTuple):
    """One entry of a menu."""

    label: str
    """The text of the entry."""
    message: Message = ()
    """The message for the program's `update`; one that begins with `menu` opens a menu."""
    enabled: bool = True
    """Whether the entry is listed."""
    checked: bool = False
    """Whether the entry has a check mark."""


class ToolError(Exception):
    """An error of a helper object; it reaches the agent's code as an exception of that `kind`."""

    def __init__(self, message: str, kind: str = "RuntimeError") -> None:
        self.kind = kind
        super().__init__(message)


class Resource(Protocol):
    """The state of a program that is no plain data (a shell, the sites of a browser)."""

    def fork(self) -> Resource:
        """Return an exact copy."""
        ...

    def state(self) -> Mapping[str, Scalar]:
        """Return what actions can change in it."""
        ...

    def fields(self) -> dict[str, Any]:
        """Return all that it is, as plain JSON data, beside what a window of its program shows."""
        ...

    def close(self) -> None:
        """Free it. It may be called twice."""
        ...


class DesktopServices(Protocol):
    """What a program may use of the desktop."""

    files: FileSystem
    initial_state: DesktopState
    seed: int
    controls: Controls
    hidden: Mapping[str, Any]
    resources: dict[str, Resource]
    programs: Mapping[str, Program]

    @property
    def action(self) -> int:
        """The number of the agent's action that is being carried out."""
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
        """The files that were opened, the latest first."""
        ...

    def attempt(self, window: Window, title: str, change: Callable[[], Any]) -> bool:
        """Change files, and return True; where that fails, open a dialog with the reason and return False."""
        ...

    def setting(self, name: str) -> Scalar:
        """Return a setting by its path, such as `appearance/dark`; None where there is none."""
        ...

    def change_setting(self, window: Window, name: str, value: Scalar) -> bool:
        """Change a setting, and return True; where that is not permitted, open a dialog and return False."""
        ...

    def window(self, data: dict[str, Any], title: str) -> Window:
        """Return another window of the program that is being started, for `open` to return."""
        ...

    def windows(self, program: str) -> list[Window]:
        """Return the windows of a program, the one in front first."""
        ...

    def launch(self, program: str, *arguments: str) -> Window | None:
        """Start a program, or open another window of it."""
        ...

    def opener(self, path: str) -> str | None:
        """Return the id of the program that opens a file or a folder; None if there is none."""
        ...

    def open_file(self, path: str) -> Window | None:
        """Open a file or a folder with the program for its type; open a dialog where there is none."""
        ...

    def close(self, window: Window, ask: bool = True) -> None:
        """Close a window. With `ask`, its program may refuse or ask the user first (see `Program.closing`)."""
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
        """Open a dialog over a window; it receives all the window's input.

        Args:
            window: The window below the dialog.
            title: The heading of the dialog.
            text: The text of the dialog.
            buttons: The id and the label of each button. Enter presses the last one, Escape `cancel` (or the only one).
            message: The message that `update` gets once a button is pressed, followed by the button's id and the tuple
                of the entries' texts; an empty message is not sent.
            entries: The labels of text entries, and their initial texts.
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
        """Open a file chooser dialog.

        Once a path is chosen, `update` gets `message` followed by the path; cancelling sends nothing.

        Args:
            window: The window below the dialog.
            title: The heading of the dialog.
            message: The message for `update`.
            mode: `open`, `save` (asks before it replaces a file) or `folder`.
            path: The folder in which it starts; for `save`, with the suggested name.
            types: The endings of the files to list, such as `.csv`; empty for all.
        """
        ...

    def write_file(self, window: Window, path: str, text: str) -> bool:
        """Write a text into a file, and return True; where that fails, open a dialog and return False."""
        ...

    def notify(self, title: str, text: str = "") -> None:
        """Show a notification below the top bar."""
        ...

    def focus(self, window: Window, key: str) -> None:
        """Give the focus of a window to a widget."""
        ...

    def touch(self, window: Window) -> None:
        """Note that a window's data changed outside `update` and `key`, so that it is drawn again."""
        ...

    def ordered(self, items: Sequence[Any]) -> list[Any]:
        """Return the entries of a list, in another order where the control `reordered-menu` has struck."""
        ...


class Program:
    """A program: pure functions over the data of its windows.

    An input becomes a message of the widget under it (`Widget.on`), and goes to `update`. The methods here do what most
    programs do, and a program overrides those that differ.
    """

    id: ClassVar[str] = ""
    """The program's id in the model, such as `files`."""
    name: ClassVar[str] = ""
    """The program's name on the dock and in the top bar."""
    commands: ClassVar[tuple[str, ...]] = ()
    """The names of its executables. Arguments that do not begin with `-` are passed on."""
    types: ClassVar[tuple[str, ...]] = ()
    """The endings of the files that it opens, such as `.csv`.

    Of several programs, the first one in `PROGRAMS` opens a file.
    """
    size: ClassVar[tuple[int, int]] = (1080, 720)
    """The width and height of a window when it opens."""
    maximized: ClassVar[bool] = False
    """Whether a window fills the screen when it opens."""
    watches: ClassVar[frozenset[str]] = frozenset()
    """What its view depends on besides its window: `files`, `settings`, `clock`."""
    settings: ClassVar[Mapping[str, Scalar]] = {}
    """The settings that it adds, with their defaults."""
    fields: ClassVar[frozenset[str]] = frozenset()
    """The keys of its text fields. What else has the focus is not seen."""
    first_field: ClassVar[str] = ""
    """The key of the text field that has the focus when a window opens; empty where none has."""
    derived: ClassVar[frozenset[str]] = frozenset()
    """The keys of a window's data that follow from the rest, and are None until they are needed."""
    tools: ClassVar[str] = ""
    """The name of its helper object, such as `CalcTools`; `tool_methods` gives the methods."""

    def targets(self, words: Sequence[str], folder: str) -> list[str]:
        """Return the arguments of `open` for the words of a command without options: paths, relative to its folder."""
        from agentworld_gym.domains.desktop.engine.filesystem import absolute

        return [absolute(word, folder) for word in words]

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return a window for these arguments: a new one (`desktop.window`), an existing one, or none."""
        raise NotImplementedError

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the content of the window below its title bar, which the desktop draws."""
        raise NotImplementedError

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Change the window's data as a message says."""

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return what the view reads of the window's data, as plain JSON data in few words."""
        raise NotImplementedError

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data and the title of the window of which `shown` tells; the desktop has its files already.

        Raises:
            LookupError, TypeError, ValueError, AttributeError: No window looks like this.
        """
        raise NotImplementedError

    def fields_of(self, data: Mapping[str, Any]) -> Collection[str]:
        """Return the keys of a window's text fields."""
        return self.fields

    def focus_of(self, shown: Mapping[str, Any]) -> str:
        """Return the key of the text field that has the focus where nothing else is known; empty where none has."""
        return self.first_field

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on a key such as `ctrl+s`, `f2`, `enter` or `shift+tab`, and return whether the program takes it.

        It is called before the focused field or button gets the key (`window["focus"]` names that).
        """
        return False

    def type(self, desktop: DesktopServices, window: Window, text: str) -> bool:
        """Act on printable characters while no field has the focus, and return whether the program takes them."""
        return False

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the entries of a menu, which a message `("menu", name, *arguments)` asks for."""
        return ()

    def closing(self, desktop: DesktopServices, window: Window) -> bool:
        """Return whether the window may close; a program with unsaved changes opens a dialog and returns False."""
        return True

    def unsaved(self, desktop: DesktopServices, window: Window) -> bool:
        """Return whether the window holds unsaved changes."""
        return False

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """Return the methods of its helper object by name; each is called with the desktop and the code's arguments."""
        return {}
