"""Fresh names and contents of files, such as people and language models write them."""

from __future__ import annotations

import random
import string

from agentworld_gym.agents.policies.exploring.base import RandomWords

_SUFFIXES = ("txt", "py", "md", "json", "csv", "cfg", "log", "sh", "toml", "yaml", "ini", "html")
_BARE = ("Makefile", "NOTES", "TODO", "Dockerfile", ".gitignore", ".env", "VERSION")
LONGEST = 60
"""The largest number of lines of a long content."""


class Contents:
    """A source of names and contents.

    Args:
        words: The words of the task, of which many are made up.
        rng: The source of all random draws.
    """

    def __init__(self, words: RandomWords, rng: random.Random) -> None:
        self._words, self._rng = words, rng

    @property
    def word(self) -> str:
        """A word in small letters: one of the task, or letters that mean nothing."""
        if self._rng.random() < 0.6:
            return self._words.word.lower()
        return "".join(self._rng.choices(string.ascii_lowercase, k=self._rng.randint(1, 9)))

    @property
    def name(self) -> str:
        """A name of a file."""
        chance = self._rng.random()
        if chance < 0.06:
            return self._rng.choice(_BARE)
        if chance < 0.16:
            return self.word
        joint = self._rng.choice(("", "", "_", "-"))
        stem = f"{self.word}{joint}{self.word}" if joint else self.word
        return f"{stem}{self._rng.choice(('', '', '', '2', '1'))}.{self._rng.choice(_SUFFIXES[:4] * 3 + _SUFFIXES)}"

    @property
    def line(self) -> str:
        """A line of some kind of file, without quotes and signs that mean something to a shell."""
        rng, number = self._rng, self._rng.randint(0, 2000)
        return rng.choice(
            (
                self._words.phrase,
                self._words.phrase,
                self.word,
                f"{self.word} {self.word}",
                f"{self.word} = {number}",
                f"{self.word}={self.word}",
                f"{self.word},{number},{self.word}",
                f"- {self._words.phrase}",
                f"# {self._words.phrase}",
                f"{self.word}: {number}",
                str(number),
            )
        )

    def text(self, name: str) -> str:
        """Return the content of a file of a name, mostly in the way of its kind."""
        rng = self._rng
        count = rng.randint(12, LONGEST) if rng.random() < 0.03 else rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 8))
        if name.endswith(".py") and rng.random() < 0.85:
            lines = self._python(count)
        elif name.endswith(".json") and rng.random() < 0.85:
            entries = [f'  "{self.word}": {rng.randint(0, 99)}' for _ in range(max(count, 1))]
            lines = ["{", *(f"{entry}," for entry in entries[:-1]), entries[-1], "}"]
        elif name.endswith(".csv"):
            lines = [",".join((self.word, str(rng.randint(0, 99)), self.word)) for _ in range(count)]
        else:
            lines = [self.line if rng.random() < 0.9 else "" for _ in range(count)]
        end = "" if not lines or rng.random() < 0.15 else "\n"
        return "\n".join(lines) + end

    def _python(self, count: int) -> list[str]:
        rng, name, value = self._rng, self.word, self.word
        number = rng.randint(0, 99)
        forms = (
            [f'print("{self._words.phrase}")'],
            [f"{name} = {number}", f"print({name})"],
            [f"def {name}({value}):", f"    return {value} + {number}"],
            [
                f"def {name}({value}):",
                f'    """{self._words.phrase}."""',
                f"    return {value}",
                "",
                f"print({name}(3))",
            ],
            ["import os", "", f'print(os.path.join("{name}", "{value}"))'],
            [f"class {name.title()}:", f"    {value} = {number}"],
            [f"def test_{name}():", f"    assert {number} + 1 == {number + rng.choice((1, 1, 2))}"],
            [f"for {name[:1]} in range({rng.randint(1, 5)}):", f"    print({name[:1]})"],
        )
        lines = list(rng.choice(forms))
        for _ in range(max(0, count - 4)):
            lines.append(f"# {self._words.phrase}")
        return lines
