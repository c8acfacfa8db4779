"""One episode in a world of AWM."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.engines import EngineError, Scalar, Span
from agentworld_gym.domains.mcp.awm.engine.meta_tools import META_TOOLS, Texts, meta_call
from agentworld_gym.domains.mcp.awm.engine.process_limit import ProcessLimit
from agentworld_gym.domains.mcp.awm.engine.server import (
    CALL_SECONDS,
    AwmAnswer,
    AwmCall,
    ScenarioProcess,
    ScenarioServer,
    ServerPlace,
)
from agentworld_gym.domains.mcp.engine.sdk_server import ServerCard


class AwmMachine:
    """One episode of a scenario.

    The machine keeps the calls that it made. Where its process is lost (another session of it was stopped, a call
    failed half-way, or there were too many processes), it makes them again in another one: seed, clock and database are
    the same, and so is the result. That the answers are the same is tested.

    Args:
        server: The player of the scenario.
        seed: The seed of what the world draws.
        meta: Whose texts the agent reads of AWM's two meta tools, by which it calls the tools; None where it calls them
            themselves.

    Raises:
        EngineError: The scenario cannot be loaded.
    """

    spans: Sequence[Span] = ()

    def __init__(self, server: ScenarioServer, seed: int, meta: Texts | None = None) -> None:
        self.server, self.seed, self.meta = server, seed, meta
        self._calls: list[AwmCall] = []
        self._answers = hashlib.blake2b(digest_size=16)
        self._place: ServerPlace | None = server.begin(seed)
        self._closed = False
        self._observation, self.refused = "", False
        self.raised = ""
        """What the code raised in the last call; see `AwmAnswer.raised`."""

    @property
    def observation(self) -> str:
        """The answer to the last call."""
        return self._observation

    @property
    def steps(self) -> int:
        """How many calls were made."""
        return len(self._calls)

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools that the agent calls: name, description, and the JSON Schema of the arguments."""
        return META_TOOLS if self.meta else self.server.about.tools

    @property
    def card(self) -> ServerCard:
        """What a server of this machine tells of itself."""
        scenario = self.server.scenario
        return ServerCard(scenario.name, scenario.title, scenario.description, self.tools)

    def act(self, action: Any, check: bool = True) -> str:
        """Make one call `{"name": ..., "arguments": {...}}` and return what an MCP client reads.

        Args:
            action: The call.
            check: Whether the arguments may not fit the schema of the tool.

        Raises:
            EngineError: The code of the world was stopped, or ended; the machine is as before and can go on.
        """
        [answer] = act_all([self], [(action, check)])
        if isinstance(answer, EngineError):
            raise answer
        return answer.text

    def understood(self, action: Any, check: bool) -> AwmCall | AwmAnswer:
        """Return the call that an action is, or the answer that needs no call."""
        name = action.get("name") if isinstance(action, dict) else None
        arguments = action.get("arguments", {}) if isinstance(action, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            problem = "Invalid params: a tool call needs a 'name' and an object of 'arguments'"
            return AwmAnswer(f"MCP error -32602: {problem}", True)
        if self.meta:
            called = meta_call(name, arguments, self.server.about.tools, self.meta)
            return called if isinstance(called, AwmAnswer) else AwmCall(*called, check=True)
        return AwmCall(name, arguments, check or name in self.server.about.checked)

    def place(self) -> ServerPlace:
        """Return where the machine is played; if its process was lost, the calls so far are made again.

        Raises:
            EngineError: The machine is closed, or the calls cannot be made again, or are answered otherwise.
        """
        if self._closed:
            raise EngineError("the world was used after close()")
        while self._place is None or self._place.worker.dead:
            with deferred_interrupt():
                self._place = self._played_again()
        self.server.use(self._place)
        return self._place

    def _played_again(self) -> ServerPlace:
        place, answers = self.server.begin(self.seed), hashlib.blake2b(digest_size=16)
        for call in self._calls:
            told = _exchanged(self.server, place, call)
            if isinstance(told, EngineError):
                self.server.leave(place)
                raise EngineError(f"the calls so far cannot be made again: {told}") from told
            answers.update(_bytes_of(told))
        if answers.digest() != self._answers.digest():
            self.server.leave(place)
            raise EngineError(
                f"{self.server.scenario.name} cannot go on: its process was ended, and in another one it answers the "
                "calls so far otherwise"
            )
        return place

    @property
    def is_placed(self) -> bool:
        """Whether the machine has a process, so that no call has to be made again."""
        return self._place is not None and not self._place.worker.dead

    def enter(self, call: AwmCall | None, answer: AwmAnswer | EngineError) -> None:
        """Enter a call with its answer; after an error the call was never made."""
        if isinstance(answer, EngineError):
            place, self._place = self._place, None
            if place is not None:
                self.server.leave(place)
            return
        if call is not None:
            self._calls.append(call)
            self._answers.update(_bytes_of(answer))
        self._observation, self.refused, self.raised = answer

    def database(self) -> bytes:
        """Return the bytes of an SQLite file with everything that is stored.

        Raises:
            EngineError: The process is lost.
        """
        place = self.place()
        return self.server.ask(place.worker, {"do": "image", "session": place.session})[1]

    def state(self) -> dict[str, Scalar]:
        """Return everything stored, as values by `table/primary key/column`."""
        place = self.place()
        told, _ = self.server.ask(place.worker, {"do": "fields", "session": place.session})
        fields: dict[str, Scalar] = told["fields"]
        return fields

    def save(self, path: Path) -> None:
        """Write the database as an SQLite file."""
        path.write_bytes(self.database())

    def fork(self) -> AwmMachine:
        """Return an exact copy: equal actions on both copies give equal observations.

        The database is copied. Where the code keeps something beside it, its process is copied, or else the copy makes
        all calls again.

        Raises:
            EngineError: The copy differs, because the code depends on more than its calls.
        """
        with deferred_interrupt():
            place = self.place()
            twin = object.__new__(type(self))
            twin.__dict__.update(self.__dict__)
            twin._calls, twin._answers = list(self._calls), self._answers.copy()
            twin._place = self.server.fork(place)
            if twin._place is None and twin.database() != self.database():
                twin.close()
                raise EngineError(f"{self.server.scenario.name} cannot be forked: equal calls left another database")
        return twin

    def close(self) -> None:
        """Free what the machine holds; a second call does nothing."""
        place, self._place, self._closed = self._place, None, True
        if place is not None:
            with deferred_interrupt():
                self.server.leave(place)


def act_all(machines: Sequence[AwmMachine], actions: Sequence[tuple[Any, bool]]) -> list[AwmAnswer | EngineError]:
    """Act on several machines at once; each process gets its calls together, and all processes work side by side.

    Args:
        machines: The machines, each once.
        actions: For each machine the action, and whether its arguments may not fit the schema of the tool.

    Returns:
        For each machine its answer, or why there is none.
    """
    answers: dict[int, AwmAnswer | EngineError] = {}
    calls: dict[int, AwmCall] = {}
    for number, (machine, (action, check)) in enumerate(zip(machines, actions, strict=True)):
        understood = machine.understood(action, check)
        if isinstance(understood, AwmAnswer):
            machine.enter(None, understood)
            answers[number] = understood
        else:
            calls[number] = understood
    while waiting := [number for number in calls if number not in answers]:
        with deferred_interrupt():  # A wave of many rounds can be stopped between them.
            _round(machines, calls, waiting, answers)
    return [answers[number] for number in range(len(machines))]


def _round(
    machines: Sequence[AwmMachine],
    calls: dict[int, AwmCall],
    waiting: Sequence[int],
    answers: dict[int, AwmAnswer | EngineError],
) -> None:
    """Make the calls that wait; those whose process is lost by the call of another session wait for the next round."""
    queues: dict[ScenarioProcess, list[int]] = {}
    places: dict[int, ServerPlace] = {}
    for number in _at_once(machines, waiting):
        try:
            places[number] = machines[number].place()
        except EngineError as error:
            answers[number] = error
    for number, place in places.items():
        if not place.worker.dead:
            queues.setdefault(place.worker, []).append(number)
    for worker, numbers in queues.items():
        asked = [_message(places[number], calls[number]) for number in numbers]
        try:
            machines[numbers[0]].server.tell(worker, {"do": "call", "calls": asked})
        except EngineError as error:
            answers[numbers[0]] = error
            machines[numbers[0]].enter(None, error)
            numbers.clear()
    for worker, numbers in queues.items():
        for number in numbers:
            if worker.dead:
                break
            machine = machines[number]
            answer = _heard(machine.server, worker)
            answers[number] = answer
            machine.enter(calls[number], answer)


def _at_once(machines: Sequence[AwmMachine], waiting: Sequence[int]) -> Iterator[int]:
    """Yield those machines that can act without ending each other's processes, first those that have a process."""
    alone, worlds = Counter[ProcessLimit](), defaultdict[ProcessLimit, set[ScenarioServer]](set)
    for number in sorted(waiting, key=lambda number: not machines[number].is_placed):
        server = machines[number].server
        processes, others = server.limits.processes, worlds[server.limits.worlds]
        if server not in others and len(others) >= server.limits.worlds.most:
            continue
        if server.about.alone:
            if alone[processes] >= processes.most:
                continue
            alone[processes] += 1
        others.add(server)
        yield number


def _message(place: ServerPlace, call: AwmCall) -> dict[str, Any]:
    return {"session": place.session, "name": call.name, "arguments": call.arguments, "check": call.check}


def _bytes_of(answer: AwmAnswer) -> bytes:
    return repr((answer.text, answer.refused)).encode()


def _heard(server: ScenarioServer, worker: ScenarioProcess) -> AwmAnswer | EngineError:
    try:
        told, _ = server.hear(worker, CALL_SECONDS)
    except EngineError as error:
        return error
    if "changed" in told:
        server.set_apart(f"{told['changed']} was changed by a call")
    if "stopped" in told:
        return EngineError(f"the code of {server.scenario.name} was stopped: {told['stopped']}")
    return AwmAnswer(str(told.get("text", "")), bool(told.get("refused")), str(told.get("raised", "")))


def _exchanged(server: ScenarioServer, place: ServerPlace, call: AwmCall) -> AwmAnswer | EngineError:
    try:
        server.tell(place.worker, {"do": "call", "calls": [_message(place, call)]})
    except EngineError as error:
        return error
    return _heard(server, place.worker)
