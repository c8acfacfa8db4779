"""Generators by handle: short strings, so that the options of an environment stay JSON."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agentworld_gym.base.errors import ClosedError, SpecError, one_of
from agentworld_gym.base.process.per_process import PerProcess
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, Generator
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.flow import stream_of
from agentworld_gym.core.flow.request_stream import Deliver, RequestStream
from agentworld_gym.llm.generators.pretrained.catalog import model_source
from agentworld_gym.llm.generators.pretrained.digests import files_stamp
from agentworld_gym.llm.generators.protocols import (
    CallingGenerator,
    ConstrainingGenerator,
    RemoteGenerator,
    SelectiveGenerator,
)

G = TypeVar("G", bound=Generator)

HANDLES: Mapping[str, str] = {
    "http://HOST:PORT/v1": "an OpenAI-compatible server, or https://; #MODEL at the end picks one of its models",
    "http://A/v1,http://B/v1": "several servers of one model: an episode stays with one, the least busy takes the next",
    "vllm:MODEL": "vLLM in this process, with the name of a model or a local directory",
    "transformers:DIR": "a local directory, or a name of `agentworld models list`, run by transformers",
    "nearest:FILE": "no model: the answer of the sample most alike, in a file that `agentworld samples` wrote",
}
"""The handles that `open_generator` accepts, with what they mean."""


def open_generator(handle: str, **options: Any) -> Lease:
    """Open the generator that a handle names.

    Equal handles with equal options share one engine, which closes with its last user. A model in a local directory
    whose files were written anew is another one.

    >>> one = open_generator("http://localhost:8000/v1")
    >>> other = open_generator("http://localhost:8000/v1")
    >>> one.generator is other.generator
    True
    >>> one.close(), other.close()
    (None, None)

    Args:
        handle: The handle, in one of the forms of `HANDLES`.
        options: The options of the generator's class.

    Raises:
        SpecError: The handle is not understood, or there is no such option, or it has a wrong value.
        GeneratorError: The engine cannot be made: what it needs is not installed, or the model is not there.
    """
    make = _maker(handle, options)
    key = f"{handle} {json.dumps(options, sort_keys=True, default=repr)} {_stamp(handle)}"
    return _POOL().lease(key, make)


def _stamp(handle: str) -> str:
    """Return what changes when the files of a model in a local directory are written anew; empty for other handles."""
    kind, _, rest = handle.partition(":")
    if kind not in ("vllm", "transformers") or not rest:
        return ""
    folder = Path(model_source(rest)).expanduser()
    return files_stamp(folder) if folder.is_dir() else ""


def generator_options(handle: str) -> frozenset[str] | None:
    """Return the names of the options that the generator of a handle takes; None where it takes any.

    >>> names = generator_options("http://localhost:8000/v1")
    >>> "deadline_s" in names, "temperature" in names
    (True, False)

    Raises:
        SpecError: The handle is not understood.
    """
    return _names(_kind(handle))


def _names(kind: Callable[..., Generator]) -> frozenset[str] | None:
    _, *parameters = inspect.signature(kind).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return frozenset(parameter.name for parameter in parameters)


def _kind(handle: str) -> Callable[..., Generator]:
    """Return the class or function that makes the generator of a handle.

    Raises:
        SpecError: The handle is not understood.
    """
    kind, _, rest = handle.partition(":")
    if kind in ("http", "https"):
        from agentworld_gym.llm.generators.server.generator import ServerGenerator

        return ServerGenerator
    if kind == "vllm" and rest:
        from agentworld_gym.llm.generators.vllm_engine import VLLMGenerator

        return VLLMGenerator
    if kind == "transformers" and rest:
        from agentworld_gym.llm.generators.transformers import TransformersGenerator

        return TransformersGenerator
    if kind == "nearest" and rest:
        from agentworld_gym.llm.generators.nearest import open_nearest

        return open_nearest
    accepted = "; ".join(f"{form} ({meaning})" for form, meaning in HANDLES.items())
    raise SpecError("generator", "handle", handle, f"one of {accepted}")


def _maker(handle: str, options: dict[str, Any]) -> Callable[[], Generator]:
    kind = _kind(handle)
    scheme, _, rest = handle.partition(":")
    if scheme in ("http", "https"):
        addresses, _, model = handle.partition("#")
        options = {"model": model or None, **options}
        if "," in addresses:
            return lambda: _replicas(addresses.split(","), options)
        return lambda: _made(kind, addresses, options)
    return lambda: _made(kind, rest if scheme == "nearest" else model_source(rest), options)


def _replicas(addresses: Sequence[str], options: dict[str, Any]) -> Generator:
    from agentworld_gym.llm.generators.server.generator import ServerGenerator
    from agentworld_gym.llm.generators.server.replicas import ReplicaGenerator

    # Where another server can answer, a request is not repeated for long at one that does not.
    return ReplicaGenerator(
        [_made(ServerGenerator, address.strip(), {"retries": 1, **options}) for address in addresses]
    )


def _made(kind: Callable[..., G], target: str, options: dict[str, Any]) -> G:
    known = _names(kind)
    for name in () if known is None else options.keys() - known:
        raise SpecError("generator", name, options[name], one_of(name, known or ()))
    try:
        return kind(target, **options)
    except TypeError as error:
        raise SpecError("generator", "options", options, f"values that it takes ({error})") from error


@dataclass
class _Shared:
    generator: Generator
    users: int = 0


class _Pool:
    """The engines of one process, by handle and options."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._shared: dict[str, _Shared] = {}

    def lease(self, key: str, make: Callable[[], Generator]) -> Lease:
        with self._lock:
            if key not in self._shared:
                self._shared[key] = _Shared(make())
            shared = self._shared[key]
            shared.users += 1
        return Lease(shared.generator, lambda: self._give_back(key))

    def _give_back(self, key: str) -> None:
        with self._lock:
            shared = self._shared[key]
            shared.users -= 1
            if shared.users:
                return
            del self._shared[key]
        shared.generator.close()


# There is a pool for each process, because the threads and children of an engine do not survive a fork.
_POOL = PerProcess(_Pool)


def sent_sampling(generator: Generator, sampling: Sampling) -> dict[str, Any]:
    """Return the fields of a request's sampling that a generator sends: all of them where it does not tell."""
    return generator.sent(sampling) if isinstance(generator, SelectiveGenerator) else sampling.as_dict()


def addresses_of(generator: Generator) -> tuple[str, ...]:
    """Return the addresses of the servers behind a generator; none for one that runs in this process."""
    return generator.addresses if isinstance(generator, RemoteGenerator) else ()


def unwrapped(generator: Generator) -> Generator:
    """Return the generator behind a lease; one that is not leased is returned as it is."""
    return generator.generator if isinstance(generator, Lease) else generator


class Lease:
    """One user's share in a generator. Closing it twice is safe; the generator closes with its last lease."""

    def __init__(self, generator: Generator, give_back: Callable[[], None]) -> None:
        self.generator = generator
        self.supports_seed = generator.supports_seed
        self.supports_schema = generator.supports_schema
        self.deterministic = generator.deterministic
        self.constrains = isinstance(generator, ConstrainingGenerator) and generator.constrains
        self._give_back: Callable[[], None] | None = give_back

    @property
    def calls_tools(self) -> bool:
        """Whether the generator takes tools."""
        return isinstance(self.generator, CallingGenerator) and self.generator.calls_tools

    def refuse_tools(self, message: str) -> None:
        """Take no more tools, because the server refuses them."""
        if isinstance(self.generator, CallingGenerator):
            self.generator.refuse_tools(message)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the servers behind the generator."""
        return addresses_of(self.generator)

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Pass the requests on to the generator."""
        if self._give_back is None:
            raise ClosedError("this generator is closed")
        return self.generator.submit(requests)

    def stream(self, deliver: Deliver) -> RequestStream:
        """Open a stream of requests to the generator."""
        if self._give_back is None:
            raise ClosedError("this generator is closed")
        return stream_of(self.generator, deliver)

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the generator's parts of a fingerprint."""
        return self.generator.describe()

    def sent(self, sampling: Sampling) -> dict[str, Any]:
        """Return the fields of a request's sampling that the generator sends."""
        return sent_sampling(self.generator, sampling)

    def close(self) -> None:
        """Give the share back."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()
