"""Grades an episode: whether tests pass over its files, however these came to be what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import basename, join

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.engine import faults
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.programs import PYTHON_SECONDS, is_text
from agentworld_gym.domains.swe.engine.python.grading.grader import grade

STEERING = ("conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")
"""The files that decide which tests run and how."""


def passes(episode: RepositoryEpisode, tests: Mapping[str, str | None]) -> bool:
    """Return whether all tests of these files pass, and the files of the start that they rely on are unchanged.

    The files that must be unchanged are test files without a text and those that configure the test run.

    Raises:
        EngineError: a path names no file of the start, or its tests cannot be judged from outside.
    """
    texts: dict[str, str] = {}
    for path, text in tests.items():
        there = join(episode.root, path)
        if text is None and there not in episode.initial:
            raise EngineError(f"{path} is none of the files at the start")
        texts[path] = episode.initial[there] if text is None else text
        if text is None and there not in _same(episode, [there]):
            return False
    steering = [path for path in {*episode.files, *episode.initial} if basename(path) in STEERING]
    if set(_same(episode, steering)) != set(steering):
        return False
    files = faults.executed_texts(episode, {path: file.text for path, file in episode.files.items()}, [])
    readable = {path: text for path, text in files.items() if is_text(text)}
    return grade(episode.sandbox, readable, texts, root=episode.root, timeout_s=PYTHON_SECONDS).whole


def _same(episode: RepositoryEpisode, paths: list[str]) -> Iterator[str]:
    """Yield those of the given files that are as they were at the start."""
    for path in paths:
        file = episode.files.get(path)
        if file is not None and file.text == episode.initial.get(path):
            yield path
