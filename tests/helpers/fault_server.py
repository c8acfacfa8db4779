"""A chat server on loopback whose behaviour a test scripts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from agentworld_gym.llm.generators.server.background_loop import background_loop

Handler = Callable[["FaultServer", dict[str, Any], web.Request], Awaitable[web.StreamResponse]]


class FaultServer:
    """A chat server on loopback whose behaviour a test scripts. It counts what it sees."""

    def __init__(self, chat: Handler) -> None:
        self.chat, self.port = chat, 0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.open = self.most_open = 0
        self.models: list[dict[str, Any]] | Callable[[], web.Response] = [{"id": "world-model"}]
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        background_loop().run(self._start())

    def stop(self) -> None:
        background_loop().run(self.runner.cleanup())

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/version", self._version)
        self.runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self.runner.addresses[0][1]

    async def _models(self, request: web.Request) -> web.Response:
        return self.models() if callable(self.models) else web.json_response({"data": self.models})

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.32.0"})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            return await self.chat(self, body, request)
        finally:
            self.open -= 1


def answer(text: str, tells: bool = True, **choice: Any) -> web.Response:
    """Return an answer; a server that does not `tell` leaves out the tokens that it took."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
    first = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", **choice}
    return web.json_response({"choices": [first], **({"usage": usage} if tells else {})})
