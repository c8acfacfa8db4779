"""The first code in a monty session: a loader for the program's own modules, and builtins that the subset lacks.

This file is written in the subset itself; its text is fed to the interpreter and never imported on the host.
"""
# ruff: noqa: B004, D102, D103, RUF059
# mypy: ignore-errors

import sys

SOURCES: dict = {}
SPACES: dict = {}
MODULES: dict = {}
READY: dict = {}
STREAMS: dict = {"stdin": "", "capture": None}
REAL_PRINT = print


class Module:
    """A module of the program; its attributes are the names of its namespace after its text had run."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}>"


class Stream:
    """`sys.stdout` or `sys.stderr`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, text: str) -> int:
        show(text, self.name)
        return len(text)

    def flush(self) -> None:
        return None

    def isatty(self) -> bool:
        return False


class Input:
    """`sys.stdin`."""

    def read(self) -> str:
        text = STREAMS["stdin"]
        STREAMS["stdin"] = ""
        return text

    def readline(self) -> str:
        line, end, rest = STREAMS["stdin"].partition("\n")
        STREAMS["stdin"] = rest
        return line + end

    def readlines(self) -> list:
        return self.read().splitlines(True)

    def __iter__(self):
        return iter(self.read().splitlines(True))


def show(text: str, name: str) -> None:
    capture = STREAMS["capture"]
    if capture is not None:
        capture[name].append(text)
    elif name == "stderr":
        REAL_PRINT(text, end="", file=sys.stderr)
    else:
        REAL_PRINT(text, end="")


def print_(*values, sep=" ", end="\n", file=None, flush=False) -> None:
    text = (" " if sep is None else sep).join([str(value) for value in values]) + ("\n" if end is None else end)
    if file is None:
        show(text, "stdout")
    else:
        file.write(text)


def input_(prompt: str = "") -> str:
    show(str(prompt), "stdout")
    line = STDIN.readline()
    if not line:
        raise RuntimeError("\x01EOFError\x01EOF when reading a line")
    return line.removesuffix("\n")


def system_exit(code=None):
    """Return the exception that ends a program; the letter before its argument tells a number from a text."""
    if code is None or isinstance(code, int):
        return SystemExit(f"\x01exit\x01i{0 if code is None else int(code)}")
    return SystemExit(f"\x01exit\x01s{code}")


def exit_(code=None) -> None:
    raise system_exit(code)


def callable_(value) -> bool:
    return hasattr(value, "__call__") or repr(value).startswith(("<function", "<class", "<built-in", "<bound"))


def import_module(name: str, shown: str):
    load(name)
    return MODULES[shown]


def import_names(name: str, *names: str) -> list:
    load(name)
    space = SPACES[name]
    values = []
    for wanted in names:
        if wanted not in space and f"{name}.{wanted}" in SOURCES:
            load(f"{name}.{wanted}")
        if wanted in space:
            values.append(space[wanted])
        elif f"{name}.{wanted}" in MODULES:
            values.append(MODULES[f"{name}.{wanted}"])
        elif READY[name]:
            raise ImportError(f"cannot import name {wanted!r} from {name!r} ({SOURCES[name][1]})")
        else:
            raise ImportError(
                f"cannot import name {wanted!r} from partially initialized module {name!r} "
                f"(most likely due to a circular import) ({SOURCES[name][1]})"
            )
    return values


def import_all(name: str, own: dict) -> None:
    load(name)
    space = SPACES[name]
    for key in space.get("__all__") or [key for key in space if not key.startswith("_")]:
        own[key] = space[key]


def load(name: str) -> None:
    if name in MODULES:
        return
    parent, _, last = name.rpartition(".")
    if parent:
        load(parent)
    if name in MODULES:
        return
    if name not in SOURCES:
        tail = f"; {parent!r} is not a package" if parent and not SOURCES[parent][2] else ""
        raise ModuleNotFoundError(f"No module named {name!r}{tail}")
    execute(name, name)
    if parent:
        setattr(MODULES[parent], last, MODULES[name])
        SPACES[parent][last] = MODULES[name]


def forget() -> None:
    """Drop the modules whose text did not run to its end, so that the next import tries again."""
    for name in [name for name in MODULES if not READY[name]]:
        MODULES.pop(name)


def execute(name: str, shown: str) -> None:
    """Run the text of a module under a `__name__`."""
    _, path, package, text, error = SOURCES[name]
    module = Module(shown)
    space = {**BUILTINS, "__name__": shown, "__file__": path}
    space["__own__"] = space
    MODULES[name] = module
    SPACES[name] = space
    READY[name] = False
    if error:
        raise SyntaxError("\x01syntax\x01" + name)
    exec(text, space)
    READY[name] = True
    for key, value in list(space.items()):
        if key not in BUILTINS:
            setattr(module, key, value)


def make_sys(argv: list):
    module = Module("sys")
    module.argv = argv
    module.stdout = Stream("stdout")
    module.stderr = Stream("stderr")
    module.stdin = STDIN
    module.exit = exit_
    module.path = [""]
    module.platform = "linux"
    module.maxsize = 9223372036854775807
    module.version = "3.11.9 (main)"
    module.version_info = (3, 11, 9, "final", 0)
    module.executable = "/usr/bin/python3"
    MODULES["sys"] = module
    SPACES["sys"] = {key: getattr(module, key) for key in SYS_NAMES}
    READY["sys"] = True


SYS_NAMES = ("argv", "stdout", "stderr", "stdin", "exit", "path", "platform", "maxsize", "version", "version_info")
STDIN = Input()
BUILTINS = {
    "print": print_,
    "input": input_,
    "exit": exit_,
    "quit": exit_,
    "callable": callable_,
    "__system_exit__": system_exit,
    "__import_module__": import_module,
    "__import_names__": import_names,
    "__import_all__": import_all,
}
