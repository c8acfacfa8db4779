"""A text environment in a process of its own: the program that runs there, with nothing but the standard library.

It speaks JSON lines over the socket that is its standard input. Where the process has a single thread and no children,
each episode runs in a fork of it, so that nothing that an episode changes is seen by the next one; an episode is copied
by a fork as well, which is exact. Elsewhere the environment's own `reset` begins each episode. All forks share the
files of their sandbox, so that a process in which files were written plays no other episode, and no copy goes on in it.
"""

from __future__ import annotations

import array
import ctypes
import glob
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import math
import os
import random
import re
import socket
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

SUBREAPER = 36
"""The number of `PR_SET_CHILD_SUBREAPER` for `prctl`."""

TOLD = ("admissible_commands", "admissible_actions", "valid_actions", "available_actions", "legal_actions", "valid")
"""The keys under which environments tell in their infos which actions can be done."""

WON = ("won", "success", "is_success")
"""The keys under which they tell whether their goal is reached."""


class PlayedEnvironment:
    """An environment as this program plays it; it speaks that of Gymnasium.

    Args:
        make: The function that makes the environment.
        actions: The names of the actions of an environment that takes their numbers.
    """

    parts: Mapping[str, str] = {}
    """What decides its answers, by name."""

    options: Sequence[str] | None = ()
    """The options that a task may state; None for any."""

    cache: str | None = None
    """A folder whose files are the same whoever writes them; None where there is none."""

    def __init__(self, make: Callable[[], Any], actions: Sequence[str] = ()) -> None:
        self.env, self.actions = make(), list(actions)
        if missing := [name for name in ("reset", "step") if not callable(getattr(self.env, name, None))]:
            raise TypeError(f"expected an environment, got {self.env!r:.100} without {' and '.join(missing)}")
        space: Any = getattr(self.env, "action_space", None)
        if type(space).__name__ == "Discrete" and not self.actions:
            start = int(getattr(space, "start", 0))
            self.actions = [str(number) for number in range(start, start + int(space.n))]
        self._start = int(getattr(space, "start", 0))
        self.options = None if "options" in _parameters(self.env.reset) else ()
        count = getattr(space, "n", None)
        if actions and count is not None and len(actions) != count:
            raise ValueError(f"actions: {len(actions)} names; the environment has {count} actions")

    def begin(self, seed: int, index: int, split: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode.

        Args:
            seed: The seed of the episode, which is that of no other split.
            index: The number of the episode in its split.
            split: The split.
            state: What the task states: the options of a reset.
        """
        taken = _parameters(self.env.reset)
        options: dict[str, Any] = {"seed": seed} if "seed" in taken else {}
        if state and "options" in taken:
            options["options"] = dict(state)
        shown = self.env.reset(**options)
        text, info = shown if isinstance(shown, tuple) and len(shown) == 2 else (shown, {})
        return self.told(text, info)

    def act(self, action: str) -> dict[str, Any]:
        """Do an action."""
        shown = self.env.step(self._number(action) if self.actions else action)
        if not isinstance(shown, tuple):
            return self.told(shown, {})
        if len(shown) == 5:
            text, reward, terminated, truncated, info = shown
            return self.told(text, info, reward, terminated, truncated)
        if len(shown) in (3, 4):
            text, reward, done, *rest = shown
            return self.told(text, rest[0] if rest else {}, reward, done)
        raise TypeError(f"step returned {len(shown)} values; expected 5, as in Gymnasium, or 4, 3 or one text")

    def _number(self, action: str) -> int:
        name = action.strip()
        if name in self.actions:
            return self.actions.index(name) + self._start
        raise UnknownCommand(f"There is no action {name!r}. The actions are: {', '.join(self.actions[:50])}")

    def told(
        self, text: Any, info: Any, reward: Any = None, terminated: Any = False, truncated: Any = False
    ) -> dict[str, Any]:
        """Return what an answer says, as plain data."""
        info = info if isinstance(info, Mapping) else {}
        offers = next((info[key] for key in TOLD if isinstance(info.get(key), list | tuple)), None)
        won = next((info[key] for key in WON if info.get(key) is not None), None)
        return {
            "text": _text(text),
            "reward": None if reward is None else float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "success": None if won is None else bool(won),
            "offers": (self.actions or None) if offers is None else [str(offer) for offer in offers],
        }


class UnknownCommand(Exception):
    """An action that the environment does not have; the agent is told so, and nothing happens."""


def _parameters(function: Any) -> set[str]:
    """Return the names of a function's parameters; those of a Gymnasium environment where it takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    names = {one.name for one in parameters}
    return names | ({"seed", "options"} if any(one.kind is one.VAR_KEYWORD for one in parameters) else set())


def _text(shown: Any) -> str:
    if isinstance(shown, str):
        return shown
    if isinstance(shown, Mapping):
        texts = [value for value in shown.values() if isinstance(value, str)]
        if texts:
            return "\n".join(texts)
    if hasattr(shown, "tolist"):
        shown = shown.tolist()
    try:
        return json.dumps(shown, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(shown)


class TextWorldGame(PlayedEnvironment):
    """Games of TextWorld: those of a challenge, or files.

    Args:
        name: The name of a challenge (`tw-coin_collector`), `custom`, or a pattern of files of games.
        settings: The settings of the challenge, as `tw-make` takes them; of `custom` those of `GameOptions`.
    """

    defaults: Mapping[str, Mapping[str, Any]] = {
        "tw-coin_collector": {"level": 5},
        "tw-treasure_hunter": {"level": 5},
        "tw-simple": {"rewards": "dense", "goal": "detailed"},
        "tw-cooking": {"recipe": 1, "take": 1},
    }
    """The settings where there are none."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        import textworld
        import textworld.challenges

        self._textworld, self._name = textworld, name
        self._challenges = textworld.challenges.CHALLENGES
        self._settings = {**self.defaults.get(name, {}), **settings}
        self._files = sorted(glob.glob(os.path.expanduser(name), recursive=True))
        self.cache = self._folder = tempfile.mkdtemp(prefix="games-")
        self._infos = textworld.EnvInfos(admissible_commands=True, won=True, lost=True, max_score=True)
        self._score = 0
        self.env: Any = None
        if name not in self._challenges and name != "custom" and not self._files:
            raise ValueError(f"no game {name!r}; expected {', '.join(self._challenges)}, custom, or files (*.z8)")
        self.parts = {one: importlib.metadata.version(one) for one in ("textworld", "jericho")}

    def begin(self, seed: int, index: int, split: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode; see `PlayedEnvironment.begin`."""
        path = file_of(self._files, index, split) if self._files else self._made(seed, split)
        if self.env is not None:
            self.env.close()
        self.env, self._score = self._textworld.start(path, self._infos), 0
        return self._said(self.env.reset(), None, False)

    def _made(self, seed: int, split: str) -> str:
        path = os.path.join(self._folder, f"{split}-{seed}.z8")
        if os.path.exists(path):
            return path
        options = self._textworld.GameOptions()
        options.seeds, options.path = seed, path
        if self._name == "custom":
            for name, value in self._settings.items():
                if not hasattr(options, name):
                    raise ValueError(f"settings: no {name} in textworld.GameOptions")
                setattr(options, name, value)
            game = self._textworld.generator.make_game(options)
        else:
            _, make, add_arguments = self._challenges[self._name]
            game = make(self._of_challenge(add_arguments, split), options)
        made: str = self._textworld.generator.compile_game(game, options)
        return made

    def _of_challenge(self, add_arguments: Any, split: str) -> dict[str, Any]:
        """Return the settings of the challenge, with its own defaults, as `tw-make` reads them."""
        parser, given = ArgumentParser(exit_on_error=False), dict(self._settings)
        add_arguments(parser)
        if any(action.dest == "split" for action in parser._actions):
            given.setdefault("split", {"validation": "valid"}.get(split, split))
        words = []
        for name, value in given.items():
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        return vars(parser.parse_args([word for word in words if word != "False"]))

    def act(self, action: str) -> dict[str, Any]:
        """Do an action."""
        # At a zero byte the interpreter waits for ever, and a backslash begins a command to itself.
        typed = re.sub(r"[^ -\[\]-~]+", " ", action)[:200].strip() or "wait"
        state, _, done = self.env.step(typed)
        if state.feedback is None:
            raise RuntimeError("the interpreter of the game ended")
        reward, self._score = state.score - self._score, state.score
        return self._said(state, reward, done)

    def _said(self, state: Any, reward: int | None, done: bool) -> dict[str, Any]:
        lines = state.feedback.rstrip().split("\n")
        while lines and lines[-1].startswith(">"):  # The prompt of the interpreter, with its status line.
            lines.pop()
        lines = [line for line in lines if not line.strip() or set(line) - set(r" _|\/$")]  # The picture of its name.
        told = {"won": state.won, "admissible_commands": [] if done else state.admissible_commands}
        return self.told("\n".join(lines).strip(), told, reward, done)


def file_of(files: Sequence[str], index: int, split: str) -> str:
    """Return a file of a split: of every ten the last one tests, and the last but one validates; so do those of fewer
    than ten. One or two are those of all splits.

    >>> [file_of("abcd", index, "train") for index in range(3)], file_of("abcd", 5, "test")
    (['a', 'b', 'a'], 'd')
    """
    of = min(10, len(files))
    place = {"validation": (of - 2,), "test": (of - 1,)}.get(split, range(of - 2))
    mine = [file for number, file in enumerate(files) if of < 3 or number % of in place]
    return mine[index % len(mine)]


class ScienceWorldGame(PlayedEnvironment):
    """A task of ScienceWorld, which runs on Java: its variations are the episodes, in the splits that it has itself.

    Args:
        name: The name of the task.
        settings: `simplification`, a text as in `load`, and `steps`, its own limit.
    """

    ordered = "-XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
    """The options with which Java gives all objects the same hash. Elsewhere ScienceWorld lists what lies in a room in
    another order each time, and names other things of the same kind."""

    options = ("variation",)

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        from scienceworld import ScienceWorldEnv

        unknown = set(settings) - {"simplification", "steps"}
        if unknown:
            raise ValueError(f"settings: no {sorted(unknown)[0]}; expected simplification, steps")
        options = os.environ.get("JAVA_TOOL_OPTIONS", "")
        os.environ["JAVA_TOOL_OPTIONS"] = f"{options} {self.ordered}".strip()
        self.env, self._name = ScienceWorldEnv("", envStepLimit=settings.get("steps", 100)), name
        self._simplification, self.actions = str(settings.get("simplification", "")), []
        self.parts = {"scienceworld": importlib.metadata.version("scienceworld")}
        self.env.load(name, 0, self._simplification)

    def begin(self, seed: int, index: int, split: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode; see `PlayedEnvironment.begin`."""
        kind = {"validation": "dev"}.get(split, split)
        variations = getattr(self.env, f"get_variations_{kind}")()
        self.env.load(self._name, state.get("variation", variations[index % len(variations)]), self._simplification)
        text, info = self.env.reset()
        told = self.told(f"{self.env.get_task_description()}\n\n{text}", info)
        return {**told, "offers": sorted(told["offers"] or [])}

    def act(self, action: str) -> dict[str, Any]:
        """Do an action."""
        text, reward, done, info = self.env.step(action)
        told = self.told(text, {**info, "won": info["score"] >= 100}, reward / 100, done)
        over = done and info["moves"] > self.env.envStepLimit and 0 <= info["score"] < 100
        offers = [] if done else sorted(told["offers"] or [])
        return {**told, "terminated": done and not over, "truncated": over, "offers": offers}


class TextArenaGame(PlayedEnvironment):
    """A game of TextArena for one player.

    Args:
        name: The id of the game.
        settings: What `textarena.make` takes beside it.
    """

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        import textarena

        self.env, self.actions = textarena.make(env_id=name, **settings), []
        self.parts = {"textarena": importlib.metadata.version("textarena")}

    def begin(self, seed: int, index: int, split: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode; see `PlayedEnvironment.begin`."""
        self.env.reset(num_players=1, seed=seed)
        return self.told(self.env.get_observation()[1], {})

    def act(self, action: str) -> dict[str, Any]:
        """Do an action."""
        done, _ = self.env.step(action=action)
        if not done:
            return self.told(self.env.get_observation()[1], {}, 0.0)
        rewards, info = self.env.close()
        reward = float((rewards or {}).get(0, 0.0))
        reason = (info or {}).get(0, {}).get("reason", "The game is over.")
        return self.told(reason, {"won": reward >= 1}, reward, True)


def open_game(environment: str, settings: Mapping[str, Any], actions: Sequence[str]) -> PlayedEnvironment:
    """Open the environment of a name: `textworld:`, `scienceworld:`, `textarena:`, `python:MODULE:FACTORY`, or the id
    of a Gymnasium environment.
    """
    scheme, _, rest = environment.partition(":")
    known = {"textworld": TextWorldGame, "scienceworld": ScienceWorldGame, "textarena": TextArenaGame}
    if scheme in known and rest:
        if importlib.util.find_spec(scheme) is None:
            raise ModuleNotFoundError(f"pip install {scheme} for {sys.executable}, or name an interpreter by `python`")
        return known[scheme](rest, settings)
    if scheme == "python":
        module, _, name = rest.partition(":")
        factory = getattr(importlib.import_module(module), name)
        return PlayedEnvironment(lambda: factory(**settings), actions)
    import gymnasium

    game = PlayedEnvironment(lambda: gymnasium.make(environment, disable_env_checker=True, **settings), actions)
    game.parts = {"gymnasium": gymnasium.__version__}
    return game


def code_of(environment: str, path: Sequence[str]) -> dict[str, str]:
    """Return the digest of a user's own code, as far as it is loaded: the modules below some folders, and the one that
    is named as `python:MODULE:FACTORY`.
    """
    folders = tuple(os.path.join(os.path.realpath(place), "") for place in path)
    named = environment.split(":")[1] if environment.startswith("python:") else ""
    digest, found = hashlib.sha256(), False
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and os.path.isfile(file) and (name == named or os.path.realpath(file).startswith(folders)):
            with open(file, "rb") as code:
                digest.update(f"{name} ".encode() + hashlib.sha256(code.read()).digest())
            found = True
    return {"code": digest.hexdigest()[:16]} if found else {}


class Line:
    """JSON lines over a socket, which may carry the socket of a copy."""

    def __init__(self, link: socket.socket) -> None:
        self.link, self._buffer, self.sockets = link, b"", list[int]()

    def read(self) -> dict[str, Any] | None:
        """Return the next request; None where the other side has closed."""
        while b"\n" not in self._buffer:
            data, ancillary, _, _ = self.link.recvmsg(1 << 16, socket.CMSG_SPACE(4))
            for level, kind, carried in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self.sockets += array.array("i", carried[:4])
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        request: dict[str, Any] = json.loads(line)
        return request

    def write(self, **answer: Any) -> None:
        """Send an answer."""
        self.link.sendall(json.dumps(answer).encode("utf-8", "replace") + b"\n")


class Worker:
    """The loop of this program.

    Args:
        line: The line to the process that started it.
    """

    def __init__(self, line: Line) -> None:
        self._line, self._begun = line, dict[str, Any]()
        self._game: PlayedEnvironment | None = None
        self._forks = self._in_fork = self._copied = False
        self._first: dict[str, Any] = {}
        self._folders, self._files = list[str](), set[tuple[Any, ...]]()

    def run(self) -> None:
        """Answer requests until the other side closes."""
        while (request := self._line.read()) is not None:
            self._answer(request)

    def _answer(self, request: Mapping[str, Any]) -> None:
        try:
            match request["do"]:
                case "open":
                    self._open(request)
                case "begin" if self._forks and not self._in_fork:
                    self._play(request)
                case "begin":
                    self._begin(request)
                case "act":
                    self._line.write(ok=self._alone(request["action"]))
                case "copy":
                    self._copy()
                case "reset" if self._in_fork:
                    os._exit(0)
                case "reset":
                    same = bool(self._begun) and not self._wrote() and self._shown(self._begun) == self._first
                    self._line.write(ok={"certain": same})
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # A command line parser of an environment raises SystemExit.
            import traceback

            where = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}, line {where.lineno})"
            self._line.write(error=told[:2000])

    def _open(self, request: Mapping[str, Any]) -> None:
        sys.path[:0] = request["path"]
        random.seed(0)
        self._game = open_game(request["environment"], request["settings"], request["actions"])
        self._forks = request["forks"] and alone()
        self._folders = request["folders"]
        self._files = self._found()
        parts = {**self._game.parts, **code_of(request["environment"], request["path"])}
        self._line.write(ok={"parts": parts, "forks": self._forks, "options": self._game.options})

    def _play(self, request: Mapping[str, Any]) -> None:
        """Play an episode in a fork, and go on when it ends."""
        if self._wrote():
            self._line.write(lost="holds files that another episode wrote")
            return
        copied = _has_children()
        child = os.fork()
        if not child:
            self._in_fork, self._copied = True, copied
            self._line.write(note="begun")
            self._answer(request)
            return
        while True:
            ended, status = os.waitpid(-1, 0)
            if ended == child:
                break
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            self._line.write(ok={"certain": not self._wrote()})
        else:
            self._line.write(lost=f"ended with status {code}" if code > 0 else f"was ended by signal {-code}")

    def _begin(self, request: Mapping[str, Any]) -> None:
        self._begun, self._first = dict(request), self._shown(request)
        self._line.write(ok=self._first)

    def _shown(self, request: Mapping[str, Any]) -> dict[str, Any]:
        seed = request["seed"]
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)
        assert self._game is not None
        return self._game.begin(seed, request["index"], request["split"], request["state"])

    def _found(self) -> set[tuple[Any, ...]]:
        """Return the files that lie in the folders of the sandbox, each with when and how it was changed last."""
        cache = None if self._game is None else self._game.cache
        found, waiting = set[tuple[Any, ...]](), [*self._folders]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        if entry.path == cache or entry.name.startswith("hsperfdata_"):  # Java's own.
                            continue
                        info = entry.stat(follow_symlinks=False)
                        found.add((entry.path, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except OSError:  # It went meanwhile.
                continue
        return found

    def _wrote(self) -> bool:
        """Return whether a file was written since the environment was opened."""
        return self._found() != self._files

    def _alone(self, action: str) -> dict[str, Any]:
        """Do an action, unless another copy of the episode could have changed what it sees, or it changes what that
        one sees.
        """
        if self._copied and self._wrote():
            return {"shared": True}
        told = self._act(action)
        return {"shared": True} if self._copied and self._wrote() else told

    def _act(self, action: str) -> dict[str, Any]:
        assert self._game is not None
        try:
            told = self._game.act(action)
        except UnknownCommand as refused:
            return self._game.told(str(refused), {}, 0.0)
        if told["reward"] is not None and not math.isfinite(told["reward"]):
            raise ValueError(f"a reward of {told['reward']}")
        return told

    def _copy(self) -> None:
        """Copy the episode by a fork, which answers at the socket that came with the request."""
        other = self._line.sockets.pop()
        if not (self._in_fork and alone(sockets=2)) or self._wrote():
            os.close(other)
            self._line.write(ok={"copied": False})
            return
        self._copied = True
        between = os.fork()
        if between:
            os.close(other)
            os.waitpid(between, 0)
            self._line.write(ok={"copied": True})
        elif os.fork():
            os._exit(0)
        else:
            self._line.link.close()
            self._line = Line(socket.socket(fileno=other))
            self._line.write(ok={})


def _has_children() -> bool:
    """Return whether this process has a child that runs, such as a copy of an earlier episode."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def alone(sockets: int = 1) -> bool:
    """Return whether a fork of this process is a copy of all of it: it has one thread, no child, and no other socket
    than those that this program knows.
    """
    if not sys.platform.startswith("linux"):
        return False
    threads = os.listdir("/proc/self/task")
    with open(f"/proc/self/task/{threads[0]}/children", encoding="ascii") as file:
        children = file.read().split()
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
        except OSError:
            continue
    return len(threads) == 1 and not children and found == sockets


def main() -> NoReturn:
    """Run the program."""
    link = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # What an environment prints is none of its answers.
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    Worker(Line(link)).run()
    os._exit(0)


if __name__ == "__main__":
    main()
