"""A lock pins a world: the same world is let in, another one is refused with the parts that differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from aiohttp import web
from fault_server import FaultServer, answer
from loopback import servers
from typer.testing import CliRunner
from worlds import make, predicted

from agentworld_gym import Fingerprint, FingerprintMismatch, Part, SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.lock import Lock
from agentworld_gym.core.traces import read_header
from agentworld_gym.envs.options import EnvOptions


async def talk(server: FaultServer, body: dict[str, Any], request: web.Request) -> web.StreamResponse:
    return answer(predicted("dev@box:~$"))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with servers(FaultServer) as start:
        yield start(talk).url


def agentworld(*arguments: str) -> Any:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)


def locked(path: Path, **options: Any) -> str:
    EnvOptions(spec="terminal", **options).locked().write(path)
    return str(path)


@pytest.mark.parametrize("world", ["grounded", pytest.param("tiny", marks=pytest.mark.slow), "server", "recorded"])
def test_every_kind_of_world_fits_its_own_lock_and_no_other(world: str, url: str, tmp_path: Path) -> None:
    make(world=f"record:{tmp_path}/r.jsonl+grounded").reset(seed=1)
    handle = {"server": url, "recorded": f"recorded:{tmp_path}/r.jsonl"}.get(world, world)
    path = locked(tmp_path / "world.lock.yaml", world=handle)
    make(world=handle, lock=path).close()
    gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world=handle, lock=path).close()
    with pytest.raises(FingerprintMismatch, match=r"world\.lock\.yaml.*world: locked \w+, here scripted"):
        make(world="scripted", lock=path)


def test_a_recording_fits_the_lock_of_the_world_that_was_recorded(tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world="grounded")
    make(world=f"record:{tmp_path}/r.jsonl+grounded", lock=path).reset(seed=1)
    make(world=f"recorded:{tmp_path}/r.jsonl", lock=path).close()


def test_the_error_names_the_field_of_the_sampling_and_a_part_that_is_absent(url: str, tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world=url, language={"sampling": {"temperature": 0.6}})
    with pytest.raises(FingerprintMismatch) as caught:
        make(
            world=url,
            lock=path,
            language={"sampling": {"temperature": 1.0}, "generator": {"extra_body": {"user": "me"}}},
        )
    told = str(caught.value)
    assert "sampling: temperature locked 0.6, here 1.0" in told
    assert "extra_body: locked absent, here" in told


def test_a_field_of_the_sampling_that_the_lock_does_not_know_is_named_too() -> None:
    env = "AgentWorld/Terminal-v0"
    locked, found = (Fingerprint({"sampling": Part(digest, True)}) for digest in ("a1", "b2"))
    lock = Lock.of(env, "tiny", locked, {"temperature": 0.0})
    with pytest.raises(FingerprintMismatch, match=r"sampling: min_p locked None, here 0\.1"):
        lock.check(env, found, {"temperature": 0.0, "min_p": 0.1})


def test_what_is_only_declared_is_said_to_be_so(url: str, tmp_path: Path) -> None:
    lock = EnvOptions(spec="terminal", world=url).locked()
    assert lock.declared == ("generator", "model")
    elsewhere = {**lock.fingerprint.parts, "model": Part("another", False)}
    Lock.of(lock.env, lock.world, Fingerprint(elsewhere)).write(tmp_path / "lock.yaml")
    with pytest.raises(FingerprintMismatch, match=r"model: locked another \(declared\), here world-model \(declared\)"):
        make(world=url, lock=str(tmp_path / "lock.yaml"))


def test_a_judge_of_its_own_is_pinned_too(url: str, tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world="grounded", judge=url)
    with pytest.raises(FingerprintMismatch, match=r"judge model: locked world-model \(declared\), here absent"):
        make(world="grounded", lock=path)


def test_the_lock_of_another_environment_is_named_as_such(tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world="grounded")
    with pytest.raises(FingerprintMismatch, match=r"pins AgentWorld/Terminal-v0, this is AgentWorld/MCP-v0"):
        make("AgentWorld/MCP-v0", world="grounded", lock=path)


def test_traces_carry_the_lock(tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world="grounded")
    make(world="grounded", lock=path, traces=str(tmp_path / "pinned")).close()
    make(world="grounded", traces=str(tmp_path / "free")).close()
    pinned, free = ([read_header(log) for log in (tmp_path / name).iterdir()] for name in ("pinned", "free"))
    assert [header["lock"] for header in pinned] == [Lock.read(Path(path)).digest] * 2
    assert all("lock" not in header for header in free)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda text: text.replace("grounded", "tiny"), "digest"),
        (lambda text: text.replace("agentworld-lock-1", "agentworld-lock-9"), "format"),
        (lambda text: "- 1\n", "the whole document"),
        (lambda text: "episodes: 5\n", "the whole document: got .* expected a lock that `agentworld lock` wrote"),
        (lambda text: text + "more: 1\n", "more"),
    ],
)
def test_a_lock_that_was_changed_or_is_none_is_refused(change: Callable[[str], str], key: str, tmp_path: Path) -> None:
    path = Path(locked(tmp_path / "lock.yaml", world="grounded"))
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(SpecError, match=rf"lock\.yaml: {key}"):
        make(world="grounded", lock=str(path))


def test_a_lock_that_is_not_there_is_named_before_a_world_is_opened(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.yaml: no such file, expected a lock"):
        make(world="http://127.0.0.1:1/v1", lock=str(tmp_path / "none.yaml"))


def test_the_command_writes_a_lock_and_holds_a_world_against_it(url: str, tmp_path: Path) -> None:
    path = str(tmp_path / "locks" / "world.lock.yaml")
    written = agentworld("lock", "terminal", "--world", url, "--out", path)
    assert written.exit_code == 0, written.stderr
    assert "Only declared, and so not proved: generator, model." in written.stdout
    assert f"{path}: written, " in written.stdout
    assert f"{path}: replaced, " in agentworld("lock", "terminal", "--world", url, "--out", path).stdout
    assert agentworld("lock", "terminal", "--world", url, "--check", path).exit_code == 0
    other = agentworld("lock", "terminal", "--world", url, "--sampling", "temperature=1", "--check", path)
    assert other.exit_code == 1
    assert "temperature locked" in other.stderr
    assert agentworld("lock", "terminal", "--check", str(tmp_path / "none.yaml")).exit_code == 2


def test_a_rollout_that_meets_another_world_stops_before_it_plays(tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world="scripted")
    done = agentworld("rollout", "terminal", "-n", "1", "--lock", path, "--out", str(tmp_path / "traces"))
    assert done.exit_code == 1 and "this is another world than the lock pins" in done.stderr
    assert not (tmp_path / "traces").exists()


def test_a_rollout_fits_the_lock_of_a_world_with_other_prompts(url: str, tmp_path: Path) -> None:
    path = str(tmp_path / "lock.yaml")
    assert agentworld("lock", "terminal", "--world", url, "--profile", "compact", "--out", path).exit_code == 0
    asked = ("rollout", "terminal", "-n", "1", "--policy", "nothing", "--world", url, "--lock", path)
    assert agentworld(*asked, "--profile", "compact").exit_code == 0
    assert "prompts: locked" in agentworld(*asked).stderr


def test_an_environment_is_made_again_with_its_lock(tmp_path: Path) -> None:
    path = locked(tmp_path / "lock.yaml", world="grounded")
    env = gym.make("AgentWorld/Terminal-v0", world="grounded", lock=path)
    assert env.spec is not None and json.loads(env.spec.to_json())["kwargs"]["lock"] == path
