"""Whether tests pass over the files of an episode, however these came to be what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import basename, join

from agentworld_gym.engines import EngineError
from agentworld_gym.engines.swe import perturbations
from agentworld_gym.engines.swe.episode import Episode
from agentworld_gym.engines.swe.programs import PYTHON_SECONDS, is_text
from agentworld_gym.engines.swe.python.grading.grader import judge

STEERING = ("conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")
"""Files that decide which tests run and how."""


def passes(episode: Episode, tests: Mapping[str, str | None]) -> bool:
    """Whether all tests of these files pass, and those of the start, and what steers them, are as they were.

    Raises:
        EngineError: a file is none of the start, or its tests cannot be judged from outside.
    """
    texts: dict[str, str] = {}
    for path, text in tests.items():
        there = join(episode.root, path)
        if text is None and there not in episode.given:
            raise EngineError(f"{path} is none of the files at the start")
        texts[path] = episode.given[there] if text is None else text
        if text is None and there not in _same(episode, [there]):
            return False
    steering = [path for path in {*episode.files, *episode.given} if basename(path) in STEERING]
    if set(_same(episode, steering)) != set(steering):
        return False
    files = perturbations.executed(episode, {path: file.text for path, file in episode.files.items()}, [])
    readable = {path: text for path, text in files.items() if is_text(text)}
    return judge(episode.sandbox, readable, texts, root=episode.root, timeout_s=PYTHON_SECONDS).whole


def _same(episode: Episode, paths: list[str]) -> Iterator[str]:
    """Those of some files that are as they were at the start."""
    for path in paths:
        file = episode.files.get(path)
        if file is not None and file.text == episode.given.get(path):
            yield path
