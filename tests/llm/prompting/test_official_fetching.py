"""The official texts, fetched by digest from a server into the cache, and taken from there."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gymnasium as gym
import pytest
from fault_server import FaultServer, answer
from loopback import servers
from typer.testing import CliRunner

from agentworld_gym.base.errors import GeneratorError
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.registration import official_name
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.prompting import official_fetching
from agentworld_gym.llm.prompting.official import JUDGE, SCRIPT, SYSTEM, VARIABLE, OfficialPrompts
from agentworld_gym.llm.prompting.official_fetching import COMMIT, FILES, fetch_official, official_folder
from agentworld_gym.worlds.options import WorldOptions, _advise

CHECKOUT = Path(__file__).resolve().parents[4] / "shared/official/prompts"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTWORLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE, raising=False)
    _advise.cache_clear()


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out as the repository, in other words; their digests stand in for the official ones."""
    folder = tmp_path / "repository"
    for path in FILES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# {path}\n")
    (folder / SCRIPT).write_text('JUDGE_USER_PROMPT = """{context}"""\n')
    digests = {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in FILES}
    monkeypatch.setattr(fetch_official, "__defaults__", (*fetch_official.__defaults__[:-1], digests))
    return folder


class Quiet(SimpleHTTPRequestHandler):
    asked: list[str]

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()


@pytest.fixture
def site(texts: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of a server of that folder, and what it was asked."""
    asked: list[str] = []
    handler = type("Handler", (Quiet,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(texts)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_every_domain_has_its_two_texts_of_one_commit() -> None:
    names = [official_name(domain) for domain in DOMAINS]
    assert set(FILES) == {f"prompts/{n}/{f}" for n in names for f in (SYSTEM, JUDGE)} | {SCRIPT, "LICENSE"}
    assert len(COMMIT) == 40 and COMMIT in official_fetching.ADDRESS
    assert all(len(digest) == 64 for digest in FILES.values())


@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="no official prompts beside the repository")
def test_the_digests_are_those_of_the_official_texts() -> None:
    for path, digest in FILES.items():
        if path.startswith("prompts/"):
            assert hashlib.sha256((CHECKOUT.parent / path).read_bytes()).hexdigest() == digest


def test_the_texts_are_fetched_once_and_official_takes_them(site: tuple[str, list[str]], texts: Path) -> None:
    address, asked = site
    command = ["prompts", "get", "qwen-agentworld", "--from", address]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(official_folder()) and len(asked) == len(FILES)
    assert CliRunner().invoke(app, command).stdout == done.stdout and len(asked) == len(FILES)
    assert [path.name for path in official_folder().parents[1].iterdir()] == ["qwen-agentworld"]
    official = OfficialPrompts.named("official")
    assert official is not None and official.folder == official_folder()
    assert official.judge_request() == "{context}"
    for domain in DOMAINS:
        named = official_name(domain)
        assert official.system(domain) == f"# prompts/{named}/{SYSTEM}\n"
    prompts = WorldOptions(load_spec("web"), prompts="official").templates()
    assert prompts.system(load_spec("web").handwritten_tasks()[0]).startswith(f"# prompts/web/{SYSTEM}\n")


@pytest.mark.parametrize("fault", ["changed", "missing", "huge"])
def test_a_text_that_is_not_the_official_one_leaves_nothing_behind(
    fault: str, site: tuple[str, list[str]], texts: Path
) -> None:
    victim = texts / "prompts" / "swe" / SYSTEM
    if fault == "missing":
        victim.unlink()
    else:
        victim.write_bytes(b"# other words" if fault == "changed" else b"x" * 2**21)
    with pytest.raises(GeneratorError, match=f"prompts/swe/{SYSTEM}"):
        fetch_official(site[0])
    assert not official_folder().exists() and not list(official_folder().parents[1].iterdir())


def test_no_server_at_the_address_is_named(texts: Path) -> None:
    with pytest.raises(GeneratorError, match=r"http://127\.0\.0\.1:9/LICENSE cannot be downloaded"):
        fetch_official("http://127.0.0.1:9")


async def _chat(*_: object) -> object:
    return answer("<predicted_observation>x</predicted_observation>")


@pytest.fixture
def serve() -> Iterator[Callable[..., FaultServer]]:
    with servers(FaultServer) as start:
        yield start


@pytest.mark.parametrize("name", ["Qwen/Qwen-AgentWorld-35B-A3B", "qwen-agentworld-397b", "Qwen/Qwen3-32B"])
def test_a_user_of_the_model_that_was_trained_with_them_is_told_once(
    name: str, serve: Callable[..., FaultServer], caplog: pytest.LogCaptureFixture, site: tuple[str, list[str]]
) -> None:
    server = serve(_chat)
    server.models = [{"id": name}]
    for domain in ("Terminal", "Web"):
        gym.make(f"AgentWorld/{domain}-v0", world=server.url).close()
    told = [record.getMessage() for record in caplog.records if "official" in record.getMessage()]
    assert len(told) == (0 if "Qwen3" in name else 1)
    assert all(name in one and "agentworld prompts get qwen-agentworld" in one for one in told)
    _advise.cache_clear()
    caplog.clear()
    fetch_official(site[0])
    gym.make("AgentWorld/Terminal-v0", world=server.url, language={"prompts": "official"}).close()
    gym.make("AgentWorld/Terminal-v0", world=server.url, language={"system_prompt": "You are."}).close()
    assert "official prompts" not in caplog.text and caplog.get_records("call") == caplog.records
