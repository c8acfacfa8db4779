"""Acts out the controls of the repository."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from agentworld_gym.domains.swe.engine.episode import BEGIN, RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import READ_ONLY, File, relative
from agentworld_gym.domains.swe.engine.git.history import GitHistory

LONG_OUTPUT = 60
KEPT_LINES = 20
LEAST_MATCHES = 1
DEFAULT_TIMEOUT = 120_000

_FLAKY_NAME = "test_timing.py"
_FLAKY = """\
import time


def elapsed():
    started = time.perf_counter()
    sum(range(1000))
    return time.perf_counter() - started


def test_sum_is_quick():
    assert elapsed() < 0.05
"""


def lay_out(episode: RepositoryEpisode) -> None:
    """Change the start of an episode as the controls say: read-only files, stale caches, a flaky test."""
    controls = episode.controls
    if controls.strength("partial-failure"):
        _add_flaky_test(episode)
    files = dict(episode.files.items())
    sources = _source_folders(episode)
    for path, file in list(files.items()):
        name = relative(path, episode.root)
        outside = name.partition("/")[0] not in sources if "/" in name else True
        if outside and controls.strikes("permission-denied", name):
            files[path] = File(file.text, file.mtime, READ_ONLY)
        folder, _, base = path.rpartition("/")
        module = base.endswith(".py") and not base.startswith("test_")
        if module and controls.strikes("stale-data", name):
            compiled = f"{folder}/__pycache__/{base[:-3]}.cpython-{''.join(episode.version.split('.')[:2])}.pyc"
            files[compiled] = File(f"\udca7\r\r\n\0\0\0\0{digest_of({path: file.text})}", BEGIN - 600)
            episode.stale = {**episode.stale, compiled: (path, file.text)}
    episode.files.replace(files, episode.files.folders)


def _source_folders(episode: RepositoryEpisode) -> set[str]:
    """Return the top-level folders that hold Python files."""
    names = (relative(path, episode.root) for path in episode.files)
    return {
        name.partition("/")[0] for name in names if name.endswith(".py") and "/" in name and not name.startswith("/")
    }


def _add_flaky_test(episode: RepositoryEpisode) -> None:
    tests = sorted(path for path in episode.files.below(episode.root) if path.rpartition("/")[2].startswith("test_"))
    if not tests:
        return
    episode.flaky = f"{tests[0].rpartition('/')[0]}/{_FLAKY_NAME}"
    if episode.flaky in episode.files:
        episode.flaky = ""
        return
    episode.files.write(episode.flaky, _FLAKY, BEGIN - 600)
    if episode.history is not None:
        _commit_flaky_test(episode, episode.history)


def _commit_flaky_test(episode: RepositoryEpisode, history: GitHistory) -> None:
    """Write the flaky test into every commit, so that it has always existed."""
    from agentworld_gym.domains.swe.engine.git.objects import make_commit

    name = relative(episode.flaky, episode.root)
    renamed: dict[str, str] = {}
    made = {}
    for commit in history.commits.values():
        parents = [renamed[parent] for parent in commit.parents]
        twin = make_commit(parents, commit.author, commit.when, commit.message, {**commit.tree, name: _FLAKY})
        renamed[commit.id], made[twin.id] = twin.id, twin
    history.commits = made
    history.branches = {branch: renamed[tip] for branch, tip in history.branches.items()}
    history.tracking = {branch: renamed[tip] for branch, tip in history.tracking.items()}
    history.server = {branch: renamed[tip] for branch, tip in history.server.items()}
    history.index = {**history.index, name: _FLAKY}


def digest_of(texts: Mapping[str, str]) -> str:
    """Return a digest of some files."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(texts):
        digest.update(f"{path}\0{texts[path]}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def code_digest(texts: Mapping[str, str]) -> str:
    """Return a digest of the Python files among some files."""
    return digest_of({path: text for path, text in texts.items() if path.endswith(".py")})


def reachable(episode: RepositoryEpisode) -> bool:
    """Return whether the network answers; it never fails twice in a row."""
    episode.attempts += 1
    failed = episode.reached and episode.controls.strikes("intermittent-errors", episode.attempts)
    episode.reached = not failed
    return not failed


def executed_texts(episode: RepositoryEpisode, texts: dict[str, str], argv: Sequence[str]) -> dict[str, str]:
    """Return the texts that Python really runs.

    A module is stale where its old compiled file is left, and the flaky test has the outcome of this run.
    """
    changed = texts
    for compiled, (path, text) in episode.stale.items():
        if compiled in texts and path in texts and texts[path] != text:
            changed = {**changed, path: text}
    if episode.flaky and texts.get(episode.flaky) == _FLAKY:
        fails = False
        if _runs(episode.flaky, argv, episode.root):
            state = code_digest(texts)
            fails = state != episode.tested and episode.controls.strikes("partial-failure", state)
            episode.tested = state
        steady = _FLAKY.replace("import time", "time = None").replace("started = time.perf_counter()", "started = 0.0")
        seconds = "0.0731" if fails else "0.0004"
        changed = {**changed, episode.flaky: steady.replace("time.perf_counter() - started", seconds)}
    return changed


def is_test_run(argv: Sequence[str]) -> bool:
    """Return whether a command line of Python runs tests."""
    return list(argv[:2]) in (["-m", "pytest"], ["-m", "unittest"])


def _runs(path: str, argv: Sequence[str], root: str) -> bool:
    """Return whether a test run includes the tests of a file."""
    if not is_test_run(argv):
        return False
    named = [
        word.partition("::")[0].rstrip("/")
        for word in argv[2:]
        if "/" in word or word.endswith(".py") or word == "tests"
    ]
    return not named or any(
        f"{path}/".startswith(f"{name if name.startswith('/') else f'{root}/{name}'}/") for name in named
    )


def is_stopped(episode: RepositoryEpisode, texts: Mapping[str, str], timeout: int | None) -> bool:
    """Return whether a test run is stopped by its timeout; a longer timeout or another try prevents it."""
    if not episode.controls.strength("slow-service"):
        return False
    state = code_digest(texts)
    fresh, patient = state != episode.stopped, timeout is not None and timeout > DEFAULT_TIMEOUT
    episode.stopped = state
    return fresh and not patient and episode.controls.strikes("slow-service", state)


def kept_matches(episode: RepositoryEpisode, count: int, *key: object) -> int:
    """Return how many of its matches a search returns."""
    if count <= LEAST_MATCHES or not episode.controls.strikes("incomplete-results", *key):
        return count
    return max(LEAST_MATCHES, count // 2)


def cut(episode: RepositoryEpisode, text: str, *key: object) -> str:
    """Return a long text without its middle, if the control strikes."""
    if not episode.controls.strength("truncated-output"):
        return text
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= LONG_OUTPUT or not episode.controls.strikes("truncated-output", *key):
        return text
    left_out = len(lines) - 2 * KEPT_LINES
    return "\n".join([*lines[:KEPT_LINES], f"[... {left_out} lines left out ...]", *lines[-KEPT_LINES:]])
