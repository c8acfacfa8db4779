"""A generator whose answers a function returns, for tests, examples and worlds without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agentworld_gym.base.errors import ClosedError
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure


class ScriptedGenerator:
    """A generator that asks a function in place of a model.

    >>> from agentworld_gym.core.domain.sampling import Sampling
    >>> echo = ScriptedGenerator(lambda request: request.messages[-1]["content"].upper())
    >>> [(index, answer.text) for index, answer in echo.submit([ChatRequest([{"role": "user", "content": "hi"}],
    ...                                                                      Sampling())])]
    [(0, 'HI')]

    Args:
        answer: The function, which is called once a request and returns a text, a `Completion` or a `Failure`.
        name: The name of the script in fingerprints.
        deterministic: Whether equal requests get equal answers.
    """

    supports_seed = True
    supports_schema = False

    def __init__(
        self,
        answer: Callable[[ChatRequest], str | Completion | Failure],
        *,
        name: str = "scripted",
        deterministic: bool = True,
    ) -> None:
        self._answer, self._name, self._closed = answer, name, False
        self.deterministic = deterministic

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Answer each request in order."""
        if self._closed:
            raise ClosedError("this ScriptedGenerator is closed")
        return ((index, self._one(request)) for index, request in enumerate(requests))

    def _one(self, request: ChatRequest) -> Completion | Failure:
        answer = self._answer(request)
        return Completion(answer) if isinstance(answer, str) else answer

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the name of the script, which is only declared."""
        return {"generator": ("scripted", True), "model": (self._name, False)}

    def close(self) -> None:
        """Refuse further requests."""
        self._closed = True
