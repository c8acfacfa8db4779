"""Lines of the shell as coding agents write them: they look at files, change them, run programs, and use git."""

from __future__ import annotations

import random
from posixpath import basename, dirname, join, relpath
from shlex import quote
from typing import Protocol

from agentworld_gym.agents.policies.exploring.free.contents import Contents

_UNKNOWN = (
    "npm",
    "node",
    "make",
    "cargo",
    "docker",
    "ruff",
    "black",
    "mypy",
    "tox",
    "poetry",
    "vim",
    "rg",
    "fd",
    "gcc",
)


class Things(Protocol):
    """What lines are about."""

    @property
    def root(self) -> str:
        """The folder of the repository."""
        ...

    @property
    def file(self) -> str:
        """A file, which at times is not there."""
        ...

    @property
    def folder(self) -> str:
        """A folder, which at times is not there."""
        ...

    @property
    def fresh(self) -> str:
        """A path that is not taken."""
        ...

    def text_of(self, path: str) -> str:
        """Return the text that a file had when it was last seen."""
        ...

    def symbol(self) -> str:
        """Return a name that stands in some file."""
        ...

    def made(self, path: str) -> str:
        """Note that a file may have been made, and return its path."""
        ...

    def spelled(self, path: str) -> str:
        """Return a path as a word of a command."""
        ...


class ShellLines:
    """A source of lines.

    Args:
        things: What they are about.
        contents: The source of names and contents.
        rng: The source of all random draws.
    """

    def __init__(self, things: Things, contents: Contents, rng: random.Random) -> None:
        self._things, self._contents, self._rng = things, contents, rng

    def look(self, path: str) -> str:
        """Return a line that shows something of a file."""
        rng, name, folder = self._rng, self._things.spelled(path), self._things.spelled(dirname(path))
        n = rng.randint(1, 8)
        plain = rng.choice(
            (f"cat {name}",) * 8
            + (f"head -n {n} {name}", f"head -{n} {name}", f"tail -n {n} {name}", f"wc -l {name}", f"wc {name}")
            + (f"ls {folder}", f"ls -la {folder}", f"ls -l {name}", f"cat -n {name}", f"sed -n '{n},{n + 3}p' {name}")
            + (f"grep -n {quote(self._things.symbol())} {name}", f"stat -c %s {name}", f"test -f {name} && echo yes")
            + ("git status --short", "git diff", f"git diff {name}", "git status", f"sort {name}", f"nl {name}")
        )
        return self._dressed(plain, reads=True)

    def reading(self) -> str:
        """Return a line that reads files, which may be several programs."""
        rng, things = self._rng, self._things
        name, other, folder = things.spelled(things.file), things.spelled(things.file), things.spelled(things.folder)
        symbol, n = quote(things.symbol()), rng.randint(1, 9)
        plain = rng.choice(
            (
                "pwd",
                "ls",
                "ls -la",
                "ls -1",
                f"ls {folder}",
                f"ls -la {folder}",
                f"ls {name} {other}",
                f"cat {name} {other}",
                f"head -n {n} {name} {other}",
                f"wc -l {name} {other}",
                f"cat {name} | head -n {n}",
                f"cat {name} | wc -l",
                f"cat {name} | grep {symbol}",
                f"grep -rn {symbol} {folder}",
                f"grep -c {symbol} {name}",
                f"grep -rl {symbol} .",
                f"grep -rn {symbol} --include=*.py . | head -n {n}",
                "find . -name '*.py'",
                "find . -type f -not -path './.git/*' | sort",
                f"find {folder} -type f | sort",
                f"find . -name {quote(basename(things.file))}",
                f"sort {name} | uniq -c",
                f"cut -d, -f1 {name}",
                f"tail -n +{n} {name}",
                f"diff {name} {other}",
                "wc -l *.md",
                "cat *.toml",
                "echo $HOME; whoami; date",
                f"echo {self._contents.line}",
                f"[ -f {name} ] && echo there || echo missing",
                f"which python {rng.choice(_UNKNOWN)}",
                f"cat {name}; echo; cat {other}",
                "tree",
                f"du -sh {folder}",
                f"for f in {folder}/*; do echo $f; done",
                "python --version",
            )
        )
        return self._dressed(plain, reads=True)

    def changing(self) -> tuple[str, list[str]]:
        """Return a line that changes files, and the paths to look at afterwards."""
        rng = self._rng
        kinds = (self._writes, self._writes, self._document, self._arranges, self._arranges, self._substitutes)
        line, paths = rng.choice(kinds)()
        while rng.random() < 0.15:
            more, others = rng.choice(kinds[:-1])()
            if "\n" in line:
                break
            line, paths = f"{line} {rng.choice(('&&', '&&', ';'))} {more}".replace(" ; ", "; "), paths + others
        if "\n" not in line and rng.random() < 0.25:
            shown = self.look(rng.choice(paths)) if paths else "ls"
            line = f"{line} && {shown}" if not shown.startswith("cd ") else line
        return self._dressed(line, reads=False), paths

    def versioning(self) -> str:
        """Return commands of git."""
        rng, things = self._rng, self._things
        name, symbol, word = things.spelled(things.file), quote(things.symbol()), self._contents.word
        message = quote(self._message())
        n = rng.randint(1, 4)
        plain = rng.choice(
            ("git status",) * 2
            + ("git status --short", "git diff", "git diff --stat", "git log --oneline", f"git log --oneline -n {n}")
            + (
                f"git log -{n}",
                "git branch",
                "git show --stat",
                "git show HEAD",
                f"git diff {name}",
                "git diff --cached",
            )
            + ("git add -A", "git add .", f"git add {name}", f"git add {name} && git status --short") * 2
            + (f"git commit -m {message}", f"git commit -am {message}", f"git add -A && git commit -m {message}") * 2
            + (f"git add {name} && git commit -m {message}", f"git add . && git commit -qm {message} && git log -1")
            + (f"git checkout -- {name}", f"git restore {name}", f"git checkout -b {word}", f"git branch {word}")
            + (
                "git stash",
                "git stash pop",
                "git stash list",
                f"git checkout {word}",
                "git switch main",
                "git remote -v",
            )
            + (f"git rm {name}", f"git mv {name} {things.spelled(things.fresh)}", f"git blame {name}", "git checkout .")
            + (f"git log --oneline -- {name}", f"git grep -n {symbol}", "git rev-parse --abbrev-ref HEAD", "git reset")
            + (f"git restore --staged {name}", f"git reset {name}", f"git {word}", "git ls-files", "git reset --hard")
        )
        return self._dressed(plain, reads=True)

    def executing(self) -> str:
        """Return a line that runs Python, tests, or a program that is not there."""
        rng, things = self._rng, self._things
        name, a, b = things.spelled(things.file), rng.randint(0, 99), rng.randint(1, 99)
        phrase, word = self._contents.line, self._contents.word
        plain = rng.choice(
            (
                f"python {name}",
                f"python3 {name}",
                f'python -c "print({a} {rng.choice("+-*")} {b})"',
                f"python -c \"print('{phrase}')\"",
                f'python -c "import {word}"',
                f"python -c \"print(len(open('{relpath(things.file, things.root)}').read()))\"",
                f"python3 -c 'print([x * {a} for x in range({b % 6})])'",
                "python -m pytest -q",
                "python -m pytest",
                f"pytest -q {name}",
                f"python -m pytest -q {things.spelled(things.folder)}",
                "python -m pytest -q -x",
                f"python -m py_compile {name}",
                "python -m unittest",
                "pip list",
                f"pip install {word}",
                *(f"{rng.choice(_UNKNOWN)} {rng.choice((word, 'test', '--version', name))}" for _ in range(8)),
                f"{word} {name}",
                word,
                f"./{word}.sh",
                f"bash {name}",
                "echo $?",
                "env | sort | head -n 3",
                "true && echo ok",
                "false || echo failed",
                "exit 3",
            )
        )
        return self._dressed(plain, reads=True)

    def _writes(self) -> tuple[str, list[str]]:
        """Redirect what programs print into a file."""
        rng, things = self._rng, self._things
        path = things.made(things.fresh if rng.random() < 0.65 else things.file)
        name, source = things.spelled(path), things.spelled(things.file)
        text, more = self._quoted(self._contents.line), self._quoted(self._contents.line)
        sign = rng.choice((">", ">", ">>"))
        line = rng.choice(
            (f"echo {text} {sign} {name}",) * 8
            + (f"printf '%s\\n' {text} {more} {sign} {name}", f"echo -n {text} {sign} {name}", f"> {name}")
            + (f"printf {quote(self._contents.word + chr(92) + 'n')} {sign} {name}",)
            + (f"echo {text} > {name} && echo {more} >> {name}", f"echo {text} > {name}; cat {name}")
            + (f"cat {source} {sign} {name}", f"head -n 2 {source} {sign} {name}", f"sort {source} {sign} {name}")
            + (
                f"grep -n {quote(things.symbol())} {source} {sign} {name}",
                f"ls {sign} {name}",
                f"wc -l {source} > {name}",
            )
            + (f"echo {text} | tee {name}", f"git diff > {name}", f"cat {source} | tail -n 2 {sign} {name}")
            + (f"mkdir -p {quote(relpath(dirname(path), things.root))} && echo {text} > {name}",) * 2
        )
        return line, [path]

    def _document(self) -> tuple[str, list[str]]:
        """Write a file with a here-document."""
        rng, things = self._rng, self._things
        path = things.made(things.fresh if rng.random() < 0.75 else things.file)
        name, text = things.spelled(path), self._contents.text(basename(path)).rstrip("\n")
        end, sign = rng.choice(("EOF", "EOF", "END", "PY")), rng.choice((">", ">", ">", ">>"))
        mark = rng.choice((end, f"'{end}'", f"'{end}'", f'"{end}"'))
        head = rng.choice(
            (f"cat {sign} {name} <<{mark}", f"cat <<{mark} {sign} {name}", f"cat {sign} {name} << {mark}")
        )
        tail = rng.choice(("", "", "", f"\ncat {name}", f"\nwc -l {name}", f"\npython {name}", f"\nls -la {name}"))
        return f"{head}\n{text}\n{end}{tail}" if text else f"{head}\n{end}{tail}", [path]

    def _arranges(self) -> tuple[str, list[str]]:
        """Make, copy, move and remove files and folders."""
        rng, things = self._rng, self._things
        old, path, folder = things.file, things.fresh, things.folder
        made = join(things.root if rng.random() < 0.7 else folder, self._contents.word)
        a, b, c, d = (things.spelled(one) for one in (old, path, folder, made))
        lines: list[tuple[str, list[str]]] = [
            (f"mkdir {d}", [join(made, "x")]),
            (f"mkdir -p {d}", [join(made, "x")]),
            (f"mkdir -p {d}/{self._contents.word}/{self._contents.word}", [join(made, "x")]),
            (f"mkdir {d} && cd {d} && touch {self._contents.name} && ls", []),
            (f"mkdir {d} && mv {a} {d}/ && ls {d}", [join(made, basename(old))]),
            (f"mkdir -p {d} && cp {a} {d} && ls -la {d}", [join(made, basename(old))]),
            (f"touch {b}", [path]),
            (f"touch {b} {things.spelled(things.fresh)}", [path]),
            (f"rm {a}", [old]),
            (f"rm {a}", [old]),
            (f"rm -f {a}", [old]),
            (f"rm -rf {c if folder != things.root else d}", [join(folder, "x")]),
            (f"rm -rf {d}", [join(made, "x")]),
            (f"rm {a} {things.spelled(things.file)}", [old]),
            (f"rm {c}", [join(folder, "x")]),
            ("rm *.txt", [join(things.root, "x")]),
            (f"rmdir {d if rng.random() < 0.5 else c}", [join(made, "x")]),
            (f"mv {a} {b}", [path, old]),
            (f"mv {a} {b}", [path, old]),
            (f"mv {a} {c}", [join(folder, basename(old)), old]),
            (f"mv {c if folder != things.root else a} {d}", [join(made, "x")]),
            (f"cp {a} {b}", [path]),
            (f"cp {a} {b} && rm {a}", [path, old]),
            (f"cp {a} {c}", [join(folder, basename(old))]),
            (f"cp -r {c if folder != things.root else a} {d}", [join(made, "x")]),
            (f"cp {a} {a}.bak", [f"{old}.bak"]),
            (f"chmod +x {a}", [old]),
            (f"chmod {rng.choice(('644', '755', '600', '444'))} {a}", [old]),
        ]
        line, looks = rng.choice(lines)
        for made_path in looks[:1]:
            if basename(made_path) != "x":
                things.made(made_path)
        return line, looks

    def _substitutes(self) -> tuple[str, list[str]]:
        """Replace or delete lines in place."""
        rng, things = self._rng, self._things
        path, word = things.file, self._contents.word
        text = things.text_of(path)
        known = sorted(set(text.split())) if text and rng.random() < 0.6 else []
        old = next((one for one in rng.sample(known, len(known)) if one.isalnum()), things.symbol())
        name, n = things.spelled(path), rng.randint(1, 5)
        script = rng.choice(
            (f"s/{old}/{word}/",) * 4
            + (f"s/{old}/{word}/g",) * 4
            + (f"{n}d", "$d", f"/{old}/d", f"{n}s/{old}/{word}/", f"{n}i {word}", f"$a {word}", f"s/^/{word} /")
        )
        return f"sed -i {self._rng.choice((quote, repr))(script)} {name}", [path]

    def _quoted(self, text: str) -> str:
        """Return a text as an argument in one of the ways in which it can be quoted."""
        if text.replace(" ", "").isalnum() and self._rng.random() < 0.5:
            return text
        return f'"{text}"' if self._rng.random() < 0.7 else quote(text)

    def _message(self) -> str:
        verb = self._rng.choice(("Add", "Fix", "Update", "Remove", "Rename", "wip", "Refactor", "feat: add"))
        return f"{verb} {self._contents.word}"

    def _dressed(self, line: str, *, reads: bool) -> str:
        """Return a line as a language model likes to write it."""
        chance = self._rng.random()
        if chance < 0.1 and not line.startswith("cd "):
            return f"cd {self._things.root} && {line}"
        if reads and chance < 0.2 and not line.endswith("HEAD"):
            return line + self._rng.choice(
                (" 2>&1", " 2>/dev/null", " | head -n 20", " && echo ok", "; echo done", "; pwd")
            )
        return line
