"""The generator over an OpenAI-compatible server: it sends a wave of requests at once, over lasting connections."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import traceback
import weakref
from asyncio import Task
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import orjson

from agentworld_gym.base.errors import ClosedError, GeneratorError, SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.base.process.open_files import allowed_files
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.flow.request_stream import Deliver
from agentworld_gym.core.flow.streams import submit_to
from agentworld_gym.llm.generators.server.background_loop import Answered, ServerStream, background_loop
from agentworld_gym.llm.generators.server.bodies import (
    ACCEPTED,
    ERROR_BYTES,
    LOOKUP_BYTES,
    STREAMED,
    BodyError,
    answer_bytes,
    read_body,
)
from agentworld_gym.llm.generators.server.key_masking import masked, masked_bytes
from agentworld_gym.llm.generators.server.protocol import (
    malformed,
    read_answer,
    read_error,
    request_body,
    request_fields,
    retry_after,
)
from agentworld_gym.llm.generators.server.server_limits import ServerLimits
from agentworld_gym.llm.generators.special_tokens import TokenRule, rule_in

log = logging.getLogger(__name__)

_KEEPALIVE_S = 60.0
_OTHER_FILES = 128
_LONGEST_PAUSE_S = 30.0
_LOOKUP_S = 10.0
_NAME_ONE = 'name one, as in http://HOST:PORT/v1#NAME or language={"generator": {"model": "NAME"}}'
_LESSONS = 8
"""The number of times that one request may be refused for another limit or field of the server."""


class _Reply(NamedTuple):
    """A response: its status, its body without the key, and its header Retry-After."""

    status: int
    data: bytes
    wait: str | None


class ServerGenerator:
    """A generator that asks a server with the OpenAI chat protocol, above all vLLM's server.

    >>> generator = ServerGenerator("http://localhost:8000/v1", "my-model")
    >>> generator
    ServerGenerator('http://localhost:8000/v1', 'my-model')
    >>> generator.close()

    Args:
        base_url: The address up to `/v1`, which is added where there is no path.
        model: The name of one of the server's models; None takes the first that `/v1/models` lists.
        concurrency: The number of requests that are open at once, over all waves of this generator.
        deadline_s: The seconds that a wave may take; members that are still open then fail and may be tried again.
        connect_timeout_s: The seconds that a connection may take to open.
        retries: The number of times a request is repeated after 429, 408, 5xx, or a lost or refused connection.
        backoff_s: The pause before the first repetition in seconds; it doubles each time, with jitter. The header
            `Retry-After` goes before it.
        api_key_env: The environment variable that holds the key, if the server wants one.
        extra_body: The further fields of each request; None takes a field out. They are part of the fingerprint.
        confidence: Whether to ask for log-probabilities, which makes answers several times as long on the wire.
        tokenizer: The folder with the `tokenizer.json` of the server's model: no content of a message then becomes one
            of its special tokens. Without it only the tokens of the common families are escaped, in the messages.
    """

    supports_schema = True
    deterministic = False

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        *,
        concurrency: int = 1024,
        deadline_s: float = 1800.0,
        connect_timeout_s: float = 10.0,
        retries: int = 4,
        backoff_s: float = 0.5,
        api_key_env: str = "AGENTWORLD_API_KEY",
        extra_body: Mapping[str, Any] | None = None,
        confidence: bool = False,
        tokenizer: str | None = None,
    ) -> None:
        self.base_url, self._model = _address(base_url), model
        for name, value, fits, expected in (
            ("concurrency", concurrency, concurrency >= 1, "an integer of at least 1"),
            ("retries", retries, retries >= 0, "an integer of at least 0"),
            ("deadline_s", deadline_s, deadline_s > 0, "a number above 0"),
        ):
            if not fits:
                raise SpecError("generator", name, value, expected)
        self._concurrency, self._retries, self._backoff_s = concurrency, retries, backoff_s
        self._deadline_s, self._connect_timeout_s = deadline_s, connect_timeout_s
        self._key_env, self._extra = api_key_env, dict(extra_body or {})
        self._fields = dict(self._extra)
        self._rule = TokenRule(()) if tokenizer is None else rule_in(tokenizer)
        if confidence:
            self._extra.setdefault("logprobs", True)
        self._limits = ServerLimits(self.base_url, self._extra)
        # vLLM on a CPU cannot honour seeds; `extra_body={"seed": None}` does not send them.
        self.supports_seed = "seed" not in self._extra
        self._streams: weakref.WeakSet[ServerStream] = weakref.WeakSet()
        self._session: aiohttp.ClientSession | None = None
        self._inherited: aiohttp.ClientSession | None = None
        self._pid, self._chance = os.getpid(), random.SystemRandom()
        self._version: str | None = None
        self._closed = False
        self.calls_tools = True

    def __repr__(self) -> str:
        return self._without_key(f"ServerGenerator({self.base_url!r}, {self._model!r})")

    @property
    def addresses(self) -> tuple[str, ...]:
        """The address of the server."""
        return (self.base_url,)

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Send all requests now; answers are yielded as they come."""
        return submit_to(self.stream, requests)

    def stream(self, deliver: Deliver) -> ServerStream:
        """Open a stream of requests, each of which is sent at once; see `StreamingGenerator`."""
        if self._closed:
            raise ClosedError("this ServerGenerator is closed")
        stream = ServerStream(background_loop(), self._wave, deliver)
        self._streams.add(stream)
        return stream

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the model's name, the server's version, and `extra_body`, if any.

        Name and version are only declared, because a server cannot prove its weights.

        Raises:
            GeneratorError: The server cannot be reached or lists no model.
        """
        if self._version is None:
            failure = background_loop().run(self._look_up(retries=0))
            if failure is not None:
                raise GeneratorError(failure.message)
        parts = {"generator": (f"server {self._version}".strip(), False), "model": (str(self._model), False)}
        if self._rule.tokens:
            parts["special_tokens"] = (digest_of(self._rule.tokens), True)
        if self._fields:
            parts["extra_body"] = (json.dumps(self._fields, sort_keys=True), True)
        return {name: (self._without_key(value), verified) for name, (value, verified) in parts.items()}

    def sent(self, sampling: Sampling) -> dict[str, Any]:
        """Return the fields of a request that say how to sample.

        >>> generator = ServerGenerator("http://localhost:8000/v1", "m", extra_body={"top_p": None, "temperature": 1})
        >>> generator.sent(Sampling(max_tokens=8))
        {'temperature': 1, 'max_tokens': 8, 'thinking': True}
        >>> generator.close()
        """
        body = request_fields(ChatRequest([], sampling), "", self._extra)
        template = body.pop("chat_template_kwargs", None)
        if isinstance(template, dict) and "enable_thinking" in template:
            body["thinking"] = template["enable_thinking"]
        return {name: body[name] for name in sampling.as_dict() if name in body}

    def refuse_tools(self, message: str) -> None:
        """Take no more tools, because the server refuses them, and log that once."""
        if self.calls_tools:
            log.warning("%s refuses tools, which stand in the prompt from now on (%s)", self.base_url, message)
        self.calls_tools = False

    def choose_model(self, model: str) -> None:
        """Ask for a model by its name, where none was named before."""
        self._model = self._model or model

    def close(self) -> None:
        """Cancel the open requests and close the connections. A second call does nothing."""
        self._closed = True
        for stream in list(self._streams):
            stream.close()
        if self._session is not None and self._pid == os.getpid():
            background_loop().run(self.aclose(), timeout=10)

    async def aclose(self) -> None:
        """Close the connections; this runs on the background loop."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    # The methods below run on the background loop.

    def _connected(self) -> aiohttp.ClientSession:
        if self._pid != os.getpid():
            # Collecting the parent's session here would close connections inside the parent's selector.
            self._pid, self._inherited, self._session = os.getpid(), self._session, None
        if self._session is None:
            # One connection carries one request at a time, so the connector's limit bounds the open requests.
            connector = aiohttp.TCPConnector(
                limit=_affordable(self._concurrency),
                keepalive_timeout=_KEEPALIVE_S,
                ttl_dns_cache=300,
                enable_cleanup_closed=False,
            )
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout_s)
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False)
            background_loop().close_at_exit(self)
        return self._session

    def _key(self) -> str:
        return os.environ.get(self._key_env, "").strip()

    def _headers(self) -> dict[str, str]:
        key = self._key()
        headers = {"Content-Type": "application/json", "Accept-Encoding": ACCEPTED}
        return headers | ({"Authorization": f"Bearer {key}"} if key else {})

    async def _wave(self, requests: list[ChatRequest], answered: Answered) -> None:
        if not requests:
            return
        last: dict[int, Failure] = {}
        ready = asyncio.create_task(self._look_up(self._retries)) if self._model is None else None
        members = {asyncio.create_task(self._member(i, r, answered, ready, last)): i for i, r in enumerate(requests)}
        try:
            _, late = await asyncio.wait(members, timeout=self._deadline_s)
        except asyncio.CancelledError:
            await _cancel([*members, *([ready] if ready else [])])
            raise
        await _cancel([*late, *([ready] if ready else [])])
        for index in sorted(members[task] for task in late):
            before = f" (before: {last[index].message})" if index in last else ""
            spent = last[index].spent if index in last else Usage()
            message = f"no answer within {self._deadline_s:g} s{before}"
            answered(index, Failure(FailureKind.TIMEOUT, message, retryable=True, spent=spent))

    async def _member(
        self,
        index: int,
        request: ChatRequest,
        answered: Answered,
        ready: Task[Failure | None] | None,
        last: dict[int, Failure],
    ) -> None:
        try:
            failure = None if ready is None else await asyncio.shield(ready)
            answer = failure or await self._ask(request, index, last)
        except Exception as error:  # A defect costs one request, not those that were sent with it.
            log.error("an unexpected error in a request: %s", self._without_key(traceback.format_exc()))
            answer = Failure(FailureKind.SERVER, self._without_key(f"{type(error).__name__}: {error}"))
        answered(index, answer)

    async def _ask(self, request: ChatRequest, index: int, last: dict[int, Failure]) -> Completion | Failure:
        guarded = replace(request, messages=self._rule.messages(request.messages))
        fields = request_fields(guarded, str(self._model), self._extra)
        asked = [self._extra.get(name) for name in ("max_tokens", "max_completion_tokens")]
        tokens = max([request.sampling.max_tokens, *(number for number in asked if isinstance(number, int))])
        limit = answer_bytes(tokens, bool(self._extra.get("logprobs")))
        pause, lost = 0.0, Usage()
        for attempt in range(self._retries + 1):
            if attempt:
                await asyncio.sleep(pause)
            answer, wanted = await self._adapted(fields, limit)
            if isinstance(answer, Completion):
                calls = [replace(one, arguments=self._rule.unescape(one.arguments)) for one in answer.calls]
                text = self._rule.unescape(answer.text)
                return replace(answer, text=text, calls=tuple(calls), lost=lost + answer.lost)
            lost += answer.spent
            last[index] = replace(answer, spent=lost)
            if not answer.retryable or answer.kind in (FailureKind.MALFORMED, FailureKind.EMPTY):
                return last[index]
            log.debug("attempt %d failed: %s", attempt + 1, answer.message)
            pause = self._pause(attempt) if wanted is None else wanted
        return replace(last[index], message=f"{last[index].message} ({self._retries + 1} attempts)")

    async def _adapted(self, fields: dict[str, Any], limit: int) -> tuple[Completion | Failure, float | None]:
        """Send a request, and send it again where a refusal tells what this server can hold or does not know."""
        size, room = len(request_body({name: fields[name] for name in ("messages", "tools") if name in fields})), None
        sent, lost = self._limits.adapted(fields, size), Usage()
        for _ in range(_LESSONS):
            answer, wanted = await self._attempt(request_body(sent), limit)
            if isinstance(answer, Completion):
                self._limits.counted(size, answer.usage.prompt_tokens)
                left = self._limits.left(answer, fields, sent)
                answer = replace(answer, filled=left == 0, lost=lost)
                room = left + answer.usage.completion_tokens if left else None
                spent = answer.usage
            else:
                room, spent = self._limits.learn(answer, sent, size), answer.spent
                answer = replace(answer, spent=lost + spent)
            again = self._limits.adapted(fields, size, room)
            final = isinstance(answer, Completion) or answer.kind is FailureKind.OVERFLOW
            if again == sent or (final and room is None):
                break
            sent, lost = again, lost + spent
        return answer, wanted

    def _pause(self, attempt: int) -> float:
        longest: float = min(self._backoff_s * 2.0**attempt, _LONGEST_PAUSE_S)
        return longest * self._chance.uniform(0.5, 1.0)

    async def _attempt(self, body: bytes, limit: int) -> tuple[Completion | Failure, float | None]:
        """Send a request once; return the answer, and the seconds that the server asks to wait before another."""
        reply = await self._exchange("POST", f"{self.base_url}/chat/completions", limit, data=body)
        if isinstance(reply, Failure):
            return reply, None
        if reply.status == 200:
            return read_answer(reply.data), None
        return read_error(reply.status, reply.data, self._key_env), retry_after(reply.wait)

    async def _exchange(self, method: str, url: str, limit: int, **options: Any) -> _Reply | Failure:
        """Ask once and read up to `limit` bytes. Redirects are not followed, and the key is masked in the body."""
        if not all(" " <= character <= "~" for character in self._key()):
            reason = f"the key in the environment variable {self._key_env} holds characters that no header can hold"
            return Failure(FailureKind.REJECTED, reason)
        try:
            async with self._connected().request(
                method, url, headers=self._headers(), allow_redirects=False, **options
            ) as response:
                status, wait = response.status, response.headers.get("Retry-After")
                longest = limit * (STREAMED if response.content_type == "text/event-stream" else 1)
                try:
                    data = await read_body(response, longest if status == 200 else ERROR_BYTES)
                except BodyError as error:
                    if status == 200:
                        return malformed(self._without_key(str(error)))
                    data = f"(its body is {error})".encode()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            return self._unreachable(error)
        return _Reply(status, masked_bytes(data, self._key()), wait)

    def _without_key(self, text: str) -> str:
        return masked(text, self._key())

    def _unreachable(self, error: Exception) -> Failure:
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            advice = "start one there (`agentworld serve MODEL`, `vllm serve MODEL`) or correct the address"
            message = f"no server answers at {self.base_url}: {advice}"
        else:
            message = f"the connection to {self.base_url} was lost"
        reason = str(error) or type(error).__name__
        return Failure(FailureKind.CONNECTION, self._without_key(f"{message} ({reason})"), retryable=True)

    async def _look_up(self, retries: int) -> Failure | None:
        """Find out the model and the server's version; return a failure where that is not possible."""
        listed = await self._get(f"{self.base_url}/models", retries)
        if isinstance(listed, Failure) and listed.kind is FailureKind.CONNECTION:
            return listed
        models = _models(listed.data) if isinstance(listed, _Reply) and listed.status == 200 else {}
        if self._model is None:
            if isinstance(listed, Failure):
                return listed
            if not models:
                refused = "" if listed.status == 200 else read_error(listed.status, listed.data, self._key_env).message
                where = f"{self.base_url}/models lists no model: {_NAME_ONE}, or check that the address ends in /v1"
                return Failure(FailureKind.REJECTED, self._without_key(f"{where} {refused}".strip()))
            self._model, *others = models
            if others:
                log.warning("%s serves %d models; taking %s", self.base_url, len(models), self._model)
        if (length := models.get(self._model)) is not None:
            self._limits.hold(length)
        reply = await self._get(f"{self.base_url.removesuffix('/v1')}/version", retries)
        try:
            named = isinstance(reply, _Reply) and reply.status == 200
            self._version = f"vllm {orjson.loads(reply.data)['version']}" if named else ""  # type: ignore[union-attr]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            self._version = ""
        return None

    async def _get(self, url: str, retries: int) -> _Reply | Failure:
        timeout = aiohttp.ClientTimeout(total=_LOOKUP_S, sock_connect=self._connect_timeout_s)
        for attempt in range(retries + 1):
            if attempt:
                await asyncio.sleep(self._pause(attempt - 1))
            reply = await self._exchange("GET", url, LOOKUP_BYTES, timeout=timeout)
            if isinstance(reply, _Reply) or reply.kind is not FailureKind.CONNECTION:
                break
        return reply


def _models(data: bytes) -> dict[str, int | None]:
    """Return the names in a list of models, each with the tokens of its context where the server tells."""
    try:
        entries = [(str(entry["id"]), entry.get("max_model_len")) for entry in orjson.loads(data)["data"]]
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return {}
    return {name: length if type(length) is int and length > 0 else None for name, length in entries}


async def _cancel(tasks: Any) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _affordable(connections: int) -> int:
    """Return as many connections as the process may open files for."""
    allowed = allowed_files(connections + _OTHER_FILES)
    room = allowed - _OTHER_FILES
    if connections <= room:
        return connections
    log.warning("%d open requests instead of %d: the limit of open files is %d (ulimit -n)", room, connections, allowed)
    return max(1, room)


def _address(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise SpecError("generator", "address", base_url, "the address of a server, such as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query:
        expected = "an address without a key and a query: put the key into an environment variable"
        raise SpecError("generator", "address", f"{parts.scheme}://…{parts.hostname}…", expected)
    return base_url.rstrip("/") + ("" if parts.path.strip("/") else "/v1")
